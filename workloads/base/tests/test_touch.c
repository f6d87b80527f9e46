/* touch: which bytes it writes, for strides that divide a page and not; which words; what a page given up holds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/base/touch.h"

#define AREA 4096

static void test_each_stride_once(void **state)
{
	static const uint64_t strides[] = { 1, 3, 64, 1000, 2048, 4000 };
	char area[AREA];

	(void)state;
	for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++)
		for (uint64_t n = 0; n * strides[i] <= AREA; n++) {
			memset(area, 'x', sizeof(area));
			zm_touch_write(area, area + n * strides[i], strides[i]);
			for (uint64_t at = 0; at < AREA; at++)
				assert_int_equal(area[at],
						 at % strides[i] == 0 && at < n * strides[i] ? 0
											     : 'x');
		}
}

#define WORDS 300

/* From one word to another: their numbers there, and nothing else touched. */
static void test_words(void **state)
{
	uint64_t words[WORDS];

	(void)state;
	for (uint64_t from = 0; from <= WORDS; from += 37)
		for (uint64_t end = from; end <= WORDS; end += 29) {
			memset(words, 'x', sizeof(words));
			zm_touch_write_words(words, from, end);
			zm_touch_read_words(words, from, end);
			for (uint64_t i = 0; i < WORDS; i++)
				assert_true(
					words[i] ==
					(i >= from && i < end ? i : UINT64_C(0x7878787878787878)));
		}
}

/* Anonymous memory holds zeroes again, a shared file what was written; what lies behind the end stays. */
static void test_flush(void **state)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int flags[] = { MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED };
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)(8 * page)), 0);
	for (uint64_t i = 0; i < 2; i++)
		for (uint64_t n = 0; n < 8; n++) {
			char *base = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, flags[i],
					  i ? fileno(file) : -1, 0);
			uint64_t sum = 77;

			assert_true(base != MAP_FAILED);
			memset(base, 9, 8 * page);
			assert_int_equal(zm_touch_flush(base, base + n * page, page, &sum), 0);
			assert_int_equal(sum, i * n);
			assert_int_equal(base[n * page], 9);
			(void)munmap(base, 8 * page);
		}
	(void)fclose(file);
	assert_int_equal(zm_touch_flush(NULL, NULL, page, &(uint64_t){ 5 }), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_stride_once),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
