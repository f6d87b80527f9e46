/* scratch: the file has its size, no blocks and no name, and its directory is spoken of truthfully. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faultload/scratch.h"

static unsigned int count_names(const char *dir)
{
	DIR *listing = opendir(dir);
	unsigned int n = 0;

	assert_non_null(listing);
	while (readdir(listing))
		n++;
	closedir(listing);
	return n;
}

static void test_open(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 4096, 128 << 20 };
	char dir[] = "/tmp/zm_scratch.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct zm_why why;
		struct stat st;
		int fd = -1;

		assert_int_equal(zm_scratch_open(dir, sizes[i], &fd, &why), 0);
		assert_int_equal(count_names(dir), 2); /* . and .. */
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_size, sizes[i]);
		assert_int_equal(st.st_blocks, 0);
		assert_int_equal(st.st_nlink, 0);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
		close(fd);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void test_open_fails(void **state)
{
	struct zm_why why;
	int fd = 77;

	(void)state;
	assert_int_equal(zm_scratch_open("/nowhere", 1, &fd, &why), -ENOENT);
	assert_non_null(strstr(why.text, "dir=/nowhere"));
	assert_true(zm_scratch_open("/tmp", UINT64_MAX, &fd, &why) < 0);
	assert_non_null(strstr(why.text, "bytes"));
	assert_int_equal(fd, 77);
}

static void test_check(void **state)
{
	struct zm_why why;

	(void)state;
	assert_int_equal(zm_scratch_check("/tmp", &why), 0);
	assert_int_equal(zm_scratch_check("/nowhere", &why), -EINVAL);
	assert_int_equal(zm_scratch_check("/dev/null", &why), -EINVAL);
	if (geteuid() != 0)
		assert_int_equal(zm_scratch_check("/", &why), -EINVAL);
}

static void test_dir(void **state)
{
	(void)state;
	assert_string_equal(zm_scratch_dir("/x"), "/x");
	assert_int_equal(setenv("TMPDIR", "/var/tmp", 1), 0);
	assert_string_equal(zm_scratch_dir(NULL), "/var/tmp");
	assert_string_equal(zm_scratch_dir(""), "/var/tmp");
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_string_equal(zm_scratch_dir(NULL), "/tmp");
}

static void test_is_memory(void **state)
{
	(void)state;
	assert_false(zm_scratch_is_memory("/proc"));
	assert_false(zm_scratch_is_memory("/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),      cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_check),     cmocka_unit_test(test_dir),
		cmocka_unit_test(test_is_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
