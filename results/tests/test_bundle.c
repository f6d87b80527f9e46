/*
 * bundle: what was written is whole; whatever is then changed, cut off or put in is refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "results/bundle.h"
#include "workloads/base/tests/tree.h"

static struct tree tree;
static char paths[3][64];
static const struct zm_bundle_source sources[] = { { "one.txt", paths[0] },
						   { "empty", paths[1] },
						   { "store.db", paths[2] } };
#define NR_SOURCES (sizeof(sources) / sizeof(sources[0]))

static struct zm_signer *signer;
static unsigned char *bytes; /* of a good bundle */
static size_t size;

static void write_bytes(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	char key[64];
	char data[1500];
	FILE *out;
	long end;

	(void)state;
	if (zm_bundle_possible(NULL) < 0)
		exit(77);
	tree_make(&tree);
	for (size_t i = 0; i < NR_SOURCES; i++)
		(void)snprintf(paths[i], sizeof(paths[i]), "%s/%zu", tree.path, i);
	memset(data, 'x', sizeof(data));
	write_bytes(paths[0], "hello\n", 6);
	write_bytes(paths[1], "", 0);
	write_bytes(paths[2], data, sizeof(data));
	(void)snprintf(key, sizeof(key), "%s/key", tree.path);
	if (zm_signer_make(key, NULL) < 0 || zm_signer_open(key, &signer, NULL) < 0)
		return -1;
	out = tmpfile();
	assert_int_equal(zm_bundle_write(out, sources, NR_SOURCES, UINT64_C(1777636800000000000),
					 signer, NULL),
			 0);
	assert_int_equal(fseek(out, 0, SEEK_END), 0);
	end = ftell(out);
	assert_true(end > 0);
	size = (size_t)end;
	bytes = malloc(size);
	rewind(out);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, size, out), size);
	return fclose(out);
}

static int tear_down(void **state)
{
	(void)state;
	zm_signer_free(signer);
	free(bytes);
	tree_remove(&tree);
	return 0;
}

static int open_bytes(const void *data, size_t length)
{
	int fd = memfd_create("bundle", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, length), length);
	return fd;
}

static int check(const void *data, size_t length, struct zm_bundle *ret_bundle, struct zm_why *why)
{
	int fd = open_bytes(data, length);
	int r = zm_bundle_check(fd, ret_bundle, why);

	(void)close(fd);
	return r;
}

static void what_was_written_is_whole(void **state)
{
	static struct zm_bundle bundle;

	(void)state;
	assert_int_equal(check(bytes, size, &bundle, NULL), 0);
	assert_int_equal(bundle.nr_files, NR_SOURCES);
	for (size_t i = 0; i < NR_SOURCES; i++)
		assert_string_equal(bundle.files[i].name, sources[i].name);
	assert_int_equal(bundle.files[0].bytes, 6);
	assert_int_equal(bundle.files[2].bytes, 1500);
	assert_memory_equal(bundle.signer.bytes, zm_signer_public(signer)->bytes,
			    sizeof(bundle.signer.bytes));
}

static void its_files_come_out_again(void **state)
{
	int fd = open_bytes(bytes, size);
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_non_null(out);
	assert_int_equal(zm_bundle_extract(fd, "one.txt", out, NULL), 0);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "hello\n");
	free(text);
	assert_int_equal(zm_bundle_extract(fd, "two.txt", stderr, NULL), -ENOENT);
	(void)close(fd);
}

/* One bit of each byte, another one each time. */
static void a_changed_byte_is_refused_wherever_it_is(void **state)
{
	static struct zm_bundle bundle;
	unsigned char *copy = malloc(size);
	struct zm_why why;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	for (size_t i = 0; i < size; i++) {
		why.text[0] = '\0';
		copy[i] = (unsigned char)(copy[i] ^ 1u << i % 8);
		assert_int_equal(check(copy, size, &bundle, &why), -EBADMSG);
		assert_true(why.text[0] && !strchr(why.text, '\n'));
		copy[i] = bytes[i];
	}
	assert_int_equal(check(copy, size, &bundle, &why), 0);
	free(copy);
}

static void a_cut_or_longer_one_is_refused(void **state)
{
	static struct zm_bundle bundle;
	unsigned char *longer = calloc(1, size + 2048);
	struct zm_why why;

	(void)state;
	assert_non_null(longer);
	for (size_t length = 0; length < size; length += length < 2048 ? 1 : 61)
		assert_int_equal(check(bytes, length, &bundle, &why), -EBADMSG);
	memcpy(longer, bytes, size);
	for (size_t more = 1; more <= 2048; more += 73)
		assert_int_equal(check(longer, size + more, &bundle, &why), -EBADMSG);
	assert_int_equal(check(longer, size + 512, &bundle, &why), -EBADMSG);
	memcpy(longer + 512, bytes, size); /* a block in front */
	assert_int_equal(check(longer, size + 512, &bundle, &why), -EBADMSG);
	free(longer);
}

static void names_that_are_no_plain_names_are_not_packed(void **state)
{
	static const char *const names[] = { "",    ".hidden",  "../up",     "a/b",
					     "a b", "MANIFEST", "SIGNATURE", "caf\xc3\xa9" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct zm_bundle_source source = { names[i], paths[0] };
		FILE *out = tmpfile();

		assert_non_null(out);
		assert_int_equal(zm_bundle_write(out, &source, 1, 0, signer, NULL), -EINVAL);
		assert_int_equal(fclose(out), 0);
	}
}

static void a_file_that_is_not_there_is_said(void **state)
{
	const struct zm_bundle_source source = { "x", "/nonexistent/x" };
	FILE *out = tmpfile();
	struct zm_why why;

	(void)state;
	assert_non_null(out);
	assert_int_equal(zm_bundle_write(out, &source, 1, 0, signer, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/nonexistent/x"));
	assert_int_equal(fclose(out), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_whole),
		cmocka_unit_test(its_files_come_out_again),
		cmocka_unit_test(a_changed_byte_is_refused_wherever_it_is),
		cmocka_unit_test(a_cut_or_longer_one_is_refused),
		cmocka_unit_test(names_that_are_no_plain_names_are_not_packed),
		cmocka_unit_test(a_file_that_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
