/*
 * elf: every offset is checked against the file's length before it is used.
 */
#include "runner/vm/elf.h"

#include <elf.h>
#include <string.h>

#define PVH_NOTE 18 /* XEN_ELFNOTE_PHYS32_ENTRY */

static bool fits(size_t length, uint64_t offset, uint64_t size)
{
	return offset <= length && size <= length - offset;
}

bool zm_vm_elf_is_one(const uint8_t *bytes, size_t length)
{
	return length >= sizeof(Elf64_Ehdr) && memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
	       bytes[EI_CLASS] == ELFCLASS64;
}

/* The nth program header; false behind the last. */
static bool segment(const uint8_t *bytes, size_t length, unsigned int n, Elf64_Phdr *ret_segment)
{
	Elf64_Ehdr header;

	if (!zm_vm_elf_is_one(bytes, length))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (n >= header.e_phnum || header.e_phentsize != sizeof(*ret_segment) ||
	    !fits(length, header.e_phoff, ((uint64_t)n + 1) * sizeof(*ret_segment)))
		return false;
	memcpy(ret_segment, bytes + header.e_phoff + n * sizeof(*ret_segment),
	       sizeof(*ret_segment));
	return fits(length, ret_segment->p_offset, ret_segment->p_filesz);
}

const char *zm_vm_elf_loader(const uint8_t *bytes, size_t length)
{
	Elf64_Phdr part;

	for (unsigned int n = 0; segment(bytes, length, n, &part); n++) {
		const char *name = (const char *)bytes + part.p_offset;

		if (part.p_type == PT_INTERP && part.p_filesz && memchr(name, '\0', part.p_filesz))
			return name;
	}
	return NULL;
}

static bool has_note(const uint8_t *notes, size_t length, uint32_t type, const char *name)
{
	size_t at = 0;

	while (fits(length, at, sizeof(Elf64_Nhdr))) {
		Elf64_Nhdr note;
		size_t name_at = at + sizeof(note);

		memcpy(&note, notes + at, sizeof(note));
		if (!fits(length, name_at, note.n_namesz))
			return false;
		if (note.n_type == type && note.n_namesz == strlen(name) + 1 &&
		    memcmp(notes + name_at, name, note.n_namesz) == 0)
			return true;
		at = name_at + (((size_t)note.n_namesz + 3) & ~(size_t)3);
		at += ((size_t)note.n_descsz + 3) & ~(size_t)3;
	}
	return false;
}

bool zm_vm_elf_has_pvh(const uint8_t *bytes, size_t length)
{
	Elf64_Phdr part;

	for (unsigned int n = 0; segment(bytes, length, n, &part); n++)
		if (part.p_type == PT_NOTE &&
		    has_note(bytes + part.p_offset, part.p_filesz, PVH_NOTE, "Xen"))
			return true;
	return false;
}

/* The nth section header; false behind the last. */
static bool section(const uint8_t *bytes, size_t length, unsigned int n, Elf64_Shdr *ret_section)
{
	Elf64_Ehdr header;

	if (!zm_vm_elf_is_one(bytes, length))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (n >= header.e_shnum || header.e_shentsize != sizeof(*ret_section) ||
	    !fits(length, header.e_shoff, ((uint64_t)n + 1) * sizeof(*ret_section)))
		return false;
	memcpy(ret_section, bytes + header.e_shoff + n * sizeof(*ret_section),
	       sizeof(*ret_section));
	return true;
}

/* "depends=a,b\0softdep=…\0" */
static const char *find_field(const char *text, size_t length, const char *field)
{
	size_t field_length = strlen(field), at = 0;

	while (at < length) {
		size_t word = strnlen(text + at, length - at);

		if (at + word == length)
			return NULL; /* not terminated */
		if (word > field_length && memcmp(text + at, field, field_length) == 0 &&
		    text[at + field_length] == '=')
			return text + at + field_length + 1;
		at += word + 1;
	}
	return NULL;
}

const char *zm_vm_elf_modinfo(const uint8_t *bytes, size_t length, const char *field)
{
	Elf64_Shdr names, part;
	Elf64_Ehdr header;

	if (!zm_vm_elf_is_one(bytes, length))
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (!section(bytes, length, header.e_shstrndx, &names) ||
	    !fits(length, names.sh_offset, names.sh_size))
		return NULL;
	for (unsigned int n = 0; section(bytes, length, n, &part); n++) {
		const char *name = (const char *)bytes + names.sh_offset + part.sh_name;

		if (!fits(names.sh_size, part.sh_name, sizeof(".modinfo")) ||
		    memcmp(name, ".modinfo", sizeof(".modinfo")) != 0 ||
		    !fits(length, part.sh_offset, part.sh_size))
			continue;
		return find_field((const char *)bytes + part.sh_offset, part.sh_size, field);
	}
	return NULL;
}

size_t zm_vm_elf_cut(uint8_t *bytes, size_t length)
{
	Elf64_Ehdr header;
	Elf64_Phdr part;
	uint64_t end = sizeof(header);

	if (!zm_vm_elf_is_one(bytes, length))
		return length;
	memcpy(&header, bytes, sizeof(header));
	end = header.e_phoff + (uint64_t)header.e_phnum * sizeof(part);
	for (unsigned int n = 0; n < header.e_phnum; n++) {
		if (!segment(bytes, length, n, &part))
			return length;
		if (part.p_offset + part.p_filesz > end)
			end = part.p_offset + part.p_filesz;
	}
	if (end > length)
		return length;
	header.e_shoff = 0;
	header.e_shnum = 0;
	header.e_shstrndx = SHN_UNDEF;
	memcpy(bytes, &header, sizeof(header));
	return (size_t)end;
}
