/* memused: two lines of proc/meminfo. */
#include "runner/memused.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int zm_memused_open(struct zm_memused *memused, const struct zm_sysroot *root)
{
	int r;

	*memused = (struct zm_memused){ 0 };
	r = zm_sysfile_open(&memused->file, root, "proc/meminfo");
	memused->is_open = r == 0;
	return r;
}

static int find_kb(const char *text, const char *name, uint64_t *ret_bytes)
{
	const char *line = strstr(text, name);
	uint64_t kb;

	if (!line || sscanf(line + strlen(name), " %" SCNu64, &kb) != 1)
		return -ENOENT;
	*ret_bytes = kb * 1024;
	return 0;
}

int zm_memused_read(struct zm_memused *memused)
{
	uint64_t total, free_bytes;
	int r = memused->is_open ? zm_sysfile_read(&memused->file) : -EBADF;

	if (r < 0)
		return r;
	r = find_kb(memused->file.text, "MemTotal:", &total);
	if (r == 0)
		r = find_kb(memused->file.text, "MemFree:", &free_bytes);
	if (r < 0)
		return r;
	memused->used_bytes = total > free_bytes ? total - free_bytes : 0;
	if (memused->used_bytes > memused->peak_bytes)
		memused->peak_bytes = memused->used_bytes;
	memused->last[memused->nr_reads++ % ZM_MEMUSED_LAST] = memused->used_bytes;
	return 0;
}

void zm_memused_release(struct zm_memused *memused)
{
	if (memused->is_open)
		zm_sysfile_release(&memused->file);
	memused->is_open = false;
}

bool zm_memused_is_settled(const struct zm_memused *memused, unsigned int nr, uint64_t within_bytes)
{
	uint64_t least = UINT64_MAX, most = 0;

	if (memused->nr_reads < nr)
		return false;
	for (unsigned int i = 1; i <= nr; i++) {
		uint64_t used = memused->last[(memused->nr_reads - i) % ZM_MEMUSED_LAST];

		least = used < least ? used : least;
		most = used > most ? used : most;
	}
	return most - least <= within_bytes;
}

void zm_memused_restart(struct zm_memused *memused)
{
	memused->nr_reads = 0;
}
