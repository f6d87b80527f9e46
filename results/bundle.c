/*
 * bundle: libarchive packs and unpacks, OpenSSL digests, and the rest is to accept one form only.
 *
 *     write   manifest -> entries -> an entry SIGNATURE of zeros -> digest of it all -> the digits put in
 *     check   the last blocks -> the digits taken out -> digest -> signature -> every entry as in the
 *             manifest; where the signature is wrong the entries are looked at all the same, to say
 *             which of them it was
 */
#include "results/bundle.h"

#include <errno.h>

#ifdef ZM_HAVE_ARCHIVE

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define FOLDER        "bundle/"
#define MANIFEST      "MANIFEST"
#define SIGNATURE     "SIGNATURE"
#define BLOCK         512
#define TRAILER       (3 * BLOCK) /* the block of SIGNATURE and the two that end an archive */
#define MANIFEST_MOST (ZM_BUNDLE_FILES * 160)
#define CHUNK         65536

/* Two lines: what they say, and where in them the signature's digits begin. */
#define KEY_WORD       "ed25519-public-key "
#define SIGNATURE_WORD "signature "
#define DIGITS_AT                                                                                  \
	(sizeof(KEY_WORD) - 1 + (size_t)2 * ZM_PUBLIC_KEY_SIZE + 1 + sizeof(SIGNATURE_WORD) - 1)
#define NR_DIGITS      ((size_t)2 * ZM_SIGNATURE_SIZE)
#define SIGNATURE_SIZE (DIGITS_AT + NR_DIGITS + 1)

int zm_bundle_possible(struct zm_why *why)
{
	(void)why;
	return 0;
}

static bool is_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t length = strlen(name);

	return length > 0 && length < ZM_BUNDLE_NAME && name[0] != '.' &&
	       strspn(name, allowed) == length && strcmp(name, MANIFEST) != 0 &&
	       strcmp(name, SIGNATURE) != 0;
}

/* --- digests --- */

/* The SHA-512 of `size` bytes from the beginning, with `nr` of them from `from` on as '0'. */
static int digest_file(int fd, uint64_t size, uint64_t from, size_t nr, uint8_t ret_digest[64])
{
	zm_autofree uint8_t *chunk = malloc(CHUNK);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_good = chunk && context && EVP_DigestInit_ex(context, EVP_sha512(), NULL) == 1;
	int r = is_good ? 0 : -ENOMEM;

	for (uint64_t at = 0; r == 0 && at < size;) {
		ssize_t n = pread(fd, chunk, CHUNK, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : -EIO;
			break;
		}
		for (size_t i = 0; i < (size_t)n; i++)
			if (at + i >= from && at + i < from + nr)
				chunk[i] = '0';
		if (EVP_DigestUpdate(context, chunk, (size_t)n) != 1)
			r = -EIO;
		at += (uint64_t)n;
	}
	if (r == 0 && EVP_DigestFinal_ex(context, ret_digest, NULL) != 1)
		r = -EIO;
	EVP_MD_CTX_free(context);
	return r;
}

struct message {
	char context[sizeof(ZM_BUNDLE_CONTEXT) - 1];
	uint8_t digest[64];
};

/* What is signed of a bundle of that size. */
static int make_message(int fd, uint64_t size, struct message *ret_message)
{
	memcpy(ret_message->context, ZM_BUNDLE_CONTEXT, sizeof(ret_message->context));
	return digest_file(fd, size, size - TRAILER + DIGITS_AT, NR_DIGITS, ret_message->digest);
}

/* --- writing --- */

static int measure(const char *path, struct zm_bundle_file *file, struct zm_why *why)
{
	zm_autofclose FILE *in = fopen(path, "re");
	zm_autofree uint8_t *chunk = malloc(CHUNK);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool is_good = chunk && context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
	size_t n;

	file->bytes = 0;
	while (in && is_good && (n = fread(chunk, 1, CHUNK, in)) > 0) {
		is_good = EVP_DigestUpdate(context, chunk, n) == 1;
		file->bytes += n;
	}
	is_good = in && is_good && !ferror(in) &&
		  EVP_DigestFinal_ex(context, file->sha256, NULL) == 1;
	EVP_MD_CTX_free(context);
	return is_good ? 0 : zm_why_errno(why, errno ? -errno : -EIO, "%s", path);
}

static void print_manifest(const struct zm_bundle *bundle, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < bundle->nr_files && length < size; i++) {
		char digest[65];

		zm_hex_print(bundle->files[i].sha256, sizeof(bundle->files[i].sha256), digest);
		length += (size_t)snprintf(text + length, size - length, "%s  %" PRIu64 "  %s\n",
					   digest, bundle->files[i].bytes, bundle->files[i].name);
	}
}

static int archive_failed(struct archive *archive, struct zm_why *why)
{
	const char *text = archive_error_string(archive);

	return zm_why_set(why, archive_errno(archive) > 0 ? -archive_errno(archive) : -EIO,
			  "writing the bundle: %s", text ? text : "libarchive failed");
}

static int put_header(struct archive *archive, const char *name, uint64_t bytes, uint64_t wall_ns,
		      struct zm_why *why)
{
	struct archive_entry *entry = archive_entry_new();
	char path[sizeof(FOLDER) + ZM_BUNDLE_NAME];
	int r;

	if (!entry)
		return zm_why_errno(why, -ENOMEM, "writing the bundle");
	(void)snprintf(path, sizeof(path), FOLDER "%s", name);
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, (la_int64_t)bytes);
	archive_entry_set_mtime(entry, (time_t)(wall_ns / ZM_NS_PER_S), 0);
	r = archive_write_header(archive, entry);
	archive_entry_free(entry);
	return r == ARCHIVE_OK ? 0 : archive_failed(archive, why);
}

static int put_data(struct archive *archive, const void *data, size_t size, struct zm_why *why)
{
	return archive_write_data(archive, data, size) == (la_ssize_t)size
		       ? 0
		       : archive_failed(archive, why);
}

static int put_text(struct archive *archive, const char *name, const char *text, size_t size,
		    uint64_t wall_ns, struct zm_why *why)
{
	int r = put_header(archive, name, size, wall_ns, why);

	return r < 0 ? r : put_data(archive, text, size, why);
}

/* A file that changes meanwhile is found by the check of what was written. */
static int put_file(struct archive *archive, const char *path, const struct zm_bundle_file *file,
		    uint64_t wall_ns, struct zm_why *why)
{
	zm_autofclose FILE *in = fopen(path, "re");
	zm_autofree char *chunk = malloc(CHUNK);
	int r = put_header(archive, file->name, file->bytes, wall_ns, why);
	size_t n;

	if (r < 0)
		return r;
	if (!in || !chunk)
		return zm_why_errno(why, -errno, "%s", path);
	while (r == 0 && (n = fread(chunk, 1, CHUNK, in)) > 0)
		r = put_data(archive, chunk, n, why);
	return r;
}

/* All entries; SIGNATURE without its digits. */
static int put_all(struct archive *archive, const struct zm_bundle_source *sources,
		   const struct zm_bundle *bundle, uint64_t wall_ns, struct zm_why *why)
{
	char key[2 * ZM_PUBLIC_KEY_SIZE + 1], text[SIGNATURE_SIZE + 1], manifest[MANIFEST_MOST];
	int r;

	print_manifest(bundle, manifest, sizeof(manifest));
	r = put_text(archive, MANIFEST, manifest, strlen(manifest), wall_ns, why);
	for (size_t i = 0; r == 0 && i < bundle->nr_files; i++)
		r = put_file(archive, sources[i].path, &bundle->files[i], wall_ns, why);
	zm_hex_print(bundle->signer.bytes, sizeof(bundle->signer.bytes), key);
	(void)snprintf(text, sizeof(text), KEY_WORD "%s\n" SIGNATURE_WORD "%0*d\n", key,
		       (int)NR_DIGITS, 0);
	return r < 0 ? r : put_text(archive, SIGNATURE, text, SIGNATURE_SIZE, wall_ns, why);
}

static int pack(int fd, const struct zm_bundle_source *sources, const struct zm_bundle *bundle,
		uint64_t wall_ns, struct zm_why *why)
{
	struct archive *archive = archive_write_new();
	int r = 0;

	if (!archive)
		return zm_why_errno(why, -ENOMEM, "writing the bundle");
	if (archive_write_set_format_ustar(archive) != ARCHIVE_OK ||
	    archive_write_add_filter_none(archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK ||
	    archive_write_open_fd(archive, fd) != ARCHIVE_OK)
		r = archive_failed(archive, why);
	if (r == 0)
		r = put_all(archive, sources, bundle, wall_ns, why);
	if (r == 0 && archive_write_close(archive) != ARCHIVE_OK)
		r = archive_failed(archive, why);
	(void)archive_write_free(archive);
	return r;
}

static int put_signature(int fd, const struct zm_signer *signer, struct zm_why *why)
{
	struct message message;
	struct zm_signature signature;
	char digits[NR_DIGITS + 1];
	struct stat info;
	int r = fstat(fd, &info) == 0 ? 0 : -errno;

	if (r == 0)
		r = make_message(fd, (uint64_t)info.st_size, &message);
	if (r < 0)
		return zm_why_errno(why, r, "reading the bundle back");
	r = zm_signer_sign(signer, &message, sizeof(message), &signature, why);
	if (r < 0)
		return r;
	zm_hex_print(signature.bytes, sizeof(signature.bytes), digits);
	if (pwrite(fd, digits, NR_DIGITS, info.st_size - TRAILER + (off_t)DIGITS_AT) !=
	    (ssize_t)NR_DIGITS)
		return zm_why_errno(why, errno ? -errno : -EIO, "writing the bundle");
	return 0;
}

int zm_bundle_write(FILE *out, const struct zm_bundle_source *sources, size_t nr_sources,
		    uint64_t wall_ns, const struct zm_signer *signer, struct zm_why *why)
{
	struct zm_bundle bundle = { .nr_files = nr_sources, .signer = *zm_signer_public(signer) };
	struct zm_bundle written;
	int r = 0;

	if (nr_sources > ZM_BUNDLE_FILES)
		return zm_why_set(why, -E2BIG, "a bundle has at most %d files", ZM_BUNDLE_FILES);
	for (size_t i = 0; r == 0 && i < nr_sources; i++) {
		if (!is_name(sources[i].name))
			return zm_why_set(why, -EINVAL, "%s: no name for a bundle's file",
					  sources[i].name);
		(void)snprintf(bundle.files[i].name, ZM_BUNDLE_NAME, "%s", sources[i].name);
		r = measure(sources[i].path, &bundle.files[i], why);
	}
	if (r == 0)
		r = pack(fileno(out), sources, &bundle, wall_ns, why);
	if (r == 0)
		r = put_signature(fileno(out), signer, why);
	if (r == 0)
		r = zm_bundle_check(fileno(out), &written, why);
	return r;
}

/* --- reading --- */

static int refuse(struct zm_why *why, const char *what)
{
	return zm_why_set(why, -EBADMSG, "%s", what);
}

static bool is_zero(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

/* The last blocks, which have one form only. */
static int read_trailer(int fd, uint64_t size, struct zm_public_key *ret_key,
			struct zm_signature *ret_signature, struct zm_why *why)
{
	static const char cut[] = "no bundle of zonemark's, or one that was cut or added to: no "
				  "signature at its end";
	char block[TRAILER], key[2 * ZM_PUBLIC_KEY_SIZE + 1], digits[NR_DIGITS + 1];
	ssize_t n;

	if (size < 2 * TRAILER || size % BLOCK)
		return refuse(why, cut);
	n = pread(fd, block, sizeof(block), (off_t)(size - TRAILER));
	if (n != (ssize_t)sizeof(block))
		return zm_why_errno(why, n < 0 ? -errno : -EIO, "reading the bundle");
	if (!is_zero(block + SIGNATURE_SIZE, sizeof(block) - SIGNATURE_SIZE) ||
	    memcmp(block, KEY_WORD, sizeof(KEY_WORD) - 1) != 0 ||
	    memcmp(block + DIGITS_AT - sizeof(SIGNATURE_WORD), "\n" SIGNATURE_WORD,
		   sizeof(SIGNATURE_WORD)) != 0 ||
	    block[SIGNATURE_SIZE - 1] != '\n')
		return refuse(why, cut);
	(void)snprintf(key, sizeof(key), "%.*s", (int)sizeof(key) - 1,
		       block + sizeof(KEY_WORD) - 1);
	(void)snprintf(digits, sizeof(digits), "%.*s", (int)NR_DIGITS, block + DIGITS_AT);
	if (zm_hex_parse(key, ret_key->bytes, sizeof(ret_key->bytes)) < 0 ||
	    zm_hex_parse(digits, ret_signature->bytes, sizeof(ret_signature->bytes)) < 0)
		return refuse(why, cut);
	return 0;
}

/* One line of the manifest; its end, or NULL when it is none. */
static const char *read_line(const char *line, struct zm_bundle_file *file)
{
	const char *end = strchr(line, '\n');
	char digest[65], name[ZM_BUNDLE_NAME];
	uint64_t bytes;
	int length = 0;

	if (!end || sscanf(line, "%64[0-9a-f]  %19" SCNu64 "  %63[^\n ]%n", digest, &bytes, name,
			   &length) != 3)
		return NULL;
	if (line + length != end || !is_name(name) ||
	    zm_hex_parse(digest, file->sha256, sizeof(file->sha256)) < 0)
		return NULL;
	file->bytes = bytes;
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	return end + 1;
}

/* Names are sorted by nobody, but there is each once; and it reads as it would be written. */
static int read_manifest(const char *text, struct zm_bundle *bundle, struct zm_why *why)
{
	static const char wrong[] = "its MANIFEST is not of the form that zonemark writes";
	char again[MANIFEST_MOST];
	const char *at = text;

	bundle->nr_files = 0;
	while (*at) {
		if (bundle->nr_files == ZM_BUNDLE_FILES)
			return refuse(why, wrong);
		at = read_line(at, &bundle->files[bundle->nr_files]);
		if (!at)
			return refuse(why, wrong);
		for (size_t i = 0; i < bundle->nr_files; i++)
			if (!strcmp(bundle->files[i].name, bundle->files[bundle->nr_files].name))
				return refuse(why, wrong);
		bundle->nr_files++;
	}
	print_manifest(bundle, again, sizeof(again));
	return strcmp(again, text) == 0 ? 0 : refuse(why, wrong);
}

struct walk {
	int fd;
	off_t at;
	char chunk[CHUNK];
	struct archive *archive;
};

static la_ssize_t give(struct archive *archive, void *context, const void **ret_data)
{
	struct walk *walk = context;
	ssize_t n;

	do {
		n = pread(walk->fd, walk->chunk, sizeof(walk->chunk), walk->at);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		archive_set_error(archive, errno, "the bundle cannot be read");
	else
		walk->at += n;
	*ret_data = walk->chunk;
	return n;
}

static int walk_open(int fd, struct walk **ret_walk, struct zm_why *why)
{
	struct walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return zm_why_errno(why, -ENOMEM, "reading the bundle");
	walk->fd = fd;
	walk->archive = archive_read_new();
	if (!walk->archive || archive_read_support_format_tar(walk->archive) != ARCHIVE_OK ||
	    archive_read_open(walk->archive, walk, NULL, give, NULL) != ARCHIVE_OK) {
		(void)archive_read_free(walk->archive);
		free(walk);
		return refuse(why, "no bundle: no tar archive");
	}
	*ret_walk = walk;
	return 0;
}

static void walk_close(struct walk *walk)
{
	if (walk)
		(void)archive_read_free(walk->archive);
	free(walk);
}
static void close_walk(struct walk **walk)
{
	walk_close(*walk);
}

/* The next entry's name, without the folder: NULL at the end or where it is not of the form. */
static int walk_next(struct walk *walk, const char **ret_name, uint64_t *ret_bytes,
		     struct zm_why *why)
{
	struct archive_entry *entry;
	const char *path;
	int r = archive_read_next_header(walk->archive, &entry);

	*ret_name = NULL;
	if (r == ARCHIVE_EOF)
		return 0;
	if (r != ARCHIVE_OK)
		return refuse(why, "a header of its tar archive is damaged");
	path = archive_entry_pathname(entry);
	if (!path || strncmp(path, FOLDER, sizeof(FOLDER) - 1) != 0 ||
	    archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) ||
	    archive_entry_sparse_count(entry) || archive_entry_size(entry) < 0)
		return refuse(why,
			      "it holds something that is no plain file of the folder " FOLDER);
	*ret_name = path + sizeof(FOLDER) - 1;
	*ret_bytes = (uint64_t)archive_entry_size(entry);
	return 0;
}

/* The entry's data into a digest and, where there is one, a file. */
static int walk_data(struct walk *walk, FILE *out, uint8_t ret_sha256[32], struct zm_why *why)
{
	zm_autofree char *chunk = malloc(CHUNK);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	la_ssize_t n = -1;
	int r = chunk && context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 ? 0
											: -ENOMEM;

	while (r == 0 && (n = archive_read_data(walk->archive, chunk, CHUNK)) > 0) {
		if (EVP_DigestUpdate(context, chunk, (size_t)n) != 1)
			r = -EIO;
		if (out && fwrite(chunk, 1, (size_t)n, out) != (size_t)n)
			r = -EIO;
	}
	if (r == 0 && (n < 0 || EVP_DigestFinal_ex(context, ret_sha256, NULL) != 1))
		r = -EBADMSG;
	EVP_MD_CTX_free(context);
	return r == 0 ? 0 : zm_why_errno(why, r, "reading the bundle");
}

static int walk_manifest(struct walk *walk, struct zm_bundle *bundle, struct zm_why *why)
{
	zm_autofree char *text = calloc(1, MANIFEST_MOST + 1);
	uint64_t bytes;
	const char *name;
	int r = walk_next(walk, &name, &bytes, why);

	if (r < 0)
		return r;
	if (!text)
		return zm_why_errno(why, -ENOMEM, "reading the bundle");
	if (!name || strcmp(name, MANIFEST) != 0 || bytes > MANIFEST_MOST)
		return refuse(why, "it does not begin with its MANIFEST");
	if (archive_read_data(walk->archive, text, MANIFEST_MOST) != (la_ssize_t)bytes ||
	    strlen(text) != bytes)
		return refuse(why, "its MANIFEST cannot be read");
	return read_manifest(text, bundle, why);
}

static int walk_file(struct walk *walk, const struct zm_bundle_file *file, struct zm_why *why)
{
	uint8_t sha256[32];
	uint64_t bytes;
	const char *name;
	int r = walk_next(walk, &name, &bytes, why);

	if (r < 0)
		return r;
	if (!name || strcmp(name, SIGNATURE) == 0)
		return zm_why_set(why, -EBADMSG, "%s is missing", file->name);
	if (strcmp(name, file->name) != 0)
		return zm_why_set(why, -EBADMSG, "%s stands where %s was: added, or moved", name,
				  file->name);
	if (bytes != file->bytes)
		return zm_why_set(why, -EBADMSG, "%s has %" PRIu64 " bytes, and had %" PRIu64,
				  file->name, bytes, file->bytes);
	r = walk_data(walk, NULL, sha256, why);
	if (r == 0 && memcmp(sha256, file->sha256, sizeof(sha256)) != 0)
		r = zm_why_set(why, -EBADMSG, "%s was changed", file->name);
	return r;
}

/* MANIFEST, the files in its order, SIGNATURE, nothing else. */
static int check_entries(int fd, struct zm_bundle *bundle, struct zm_why *why)
{
	__attribute__((cleanup(close_walk))) struct walk *walk = NULL;
	uint64_t bytes;
	const char *name;
	int r = walk_open(fd, &walk, why);

	if (r == 0)
		r = walk_manifest(walk, bundle, why);
	for (size_t i = 0; r == 0 && i < bundle->nr_files; i++)
		r = walk_file(walk, &bundle->files[i], why);
	if (r == 0)
		r = walk_next(walk, &name, &bytes, why);
	if (r < 0)
		return r;
	if (!name || strcmp(name, SIGNATURE) != 0)
		return zm_why_set(why, -EBADMSG, "%s is not in the manifest: it was added",
				  name ? name : "something");
	r = walk_next(walk, &name, &bytes, why);
	if (r == 0 && name)
		r = zm_why_set(why, -EBADMSG, "%s stands behind the signature: it was added", name);
	return r;
}

int zm_bundle_check(int fd, struct zm_bundle *ret_bundle, struct zm_why *why)
{
	struct zm_bundle bundle = { 0 };
	struct zm_signature signature;
	struct message message;
	struct stat info;
	int r = fstat(fd, &info) == 0 ? 0 : -errno;

	if (r < 0 || !S_ISREG(info.st_mode))
		return r < 0 ? zm_why_errno(why, r, "reading the bundle")
			     : refuse(why, "not a file");
	r = read_trailer(fd, (uint64_t)info.st_size, &bundle.signer, &signature, why);
	if (r < 0)
		return r;
	r = make_message(fd, (uint64_t)info.st_size, &message);
	if (r < 0)
		return zm_why_errno(why, r, "reading the bundle");
	r = check_entries(fd, &bundle, why);
	if (r == 0 && zm_signature_check(&bundle.signer, &message, sizeof(message), &signature) < 0)
		r = refuse(why,
			   "it is not what was signed: the signature, a date or a byte between "
			   "the files was changed");
	if (r == 0)
		*ret_bundle = bundle;
	return r;
}

int zm_bundle_extract(int fd, const char *name, FILE *out, struct zm_why *why)
{
	__attribute__((cleanup(close_walk))) struct walk *walk = NULL;
	uint8_t sha256[32];
	uint64_t bytes;
	const char *at;
	int r = walk_open(fd, &walk, why);

	while (r == 0) {
		r = walk_next(walk, &at, &bytes, why);
		if (r == 0 && !at)
			return zm_why_set(why, -ENOENT, "the bundle has no %s", name);
		if (r == 0 && strcmp(at, name) == 0)
			return walk_data(walk, out, sha256, why);
	}
	return r;
}

#else

int zm_bundle_possible(struct zm_why *why)
{
	return zm_why_set(why, -ENOTSUP,
			  "bundles: this zonemark was built without libarchive; install "
			  "libarchive-dev and build it again");
}

int zm_bundle_write(FILE *out, const struct zm_bundle_source *sources, size_t nr_sources,
		    uint64_t wall_ns, const struct zm_signer *signer, struct zm_why *why)
{
	(void)out;
	(void)sources;
	(void)nr_sources;
	(void)wall_ns;
	(void)signer;
	return zm_bundle_possible(why);
}

int zm_bundle_check(int fd, struct zm_bundle *ret_bundle, struct zm_why *why)
{
	(void)fd;
	(void)ret_bundle;
	return zm_bundle_possible(why);
}

int zm_bundle_extract(int fd, const char *name, FILE *out, struct zm_why *why)
{
	(void)fd;
	(void)name;
	(void)out;
	return zm_bundle_possible(why);
}

#endif
