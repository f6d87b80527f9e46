/* perf: a ring's records come out whole and once, also those that go round its end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner/monitors/perf.h"

#define DATA_BYTES 4096

struct record {
	struct perf_event_header header;
	uint64_t number;
	char rest[64];
};

static struct zm_perf_ring ring;
static char *memory;
static uint64_t next_number;

static int set_up(void **state)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	memory = aligned_alloc(page_bytes, page_bytes + DATA_BYTES);
	if (!memory)
		return -ENOMEM;
	memset(memory, 0, page_bytes + DATA_BYTES);
	ring = (struct zm_perf_ring){ .fd = -1, .head = (void *)memory, .bytes = DATA_BYTES };
	next_number = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

/* As the kernel does: byte by byte round the end. */
static void write_record(const void *record, size_t size)
{
	for (size_t i = 0; i < size; i++)
		memory[(size_t)sysconf(_SC_PAGESIZE) + (ring.head->data_head + i) % DATA_BYTES] =
			((const char *)record)[i];
	ring.head->data_head += size;
}

static void take(void *user, const struct perf_event_header *header)
{
	const struct record *record = (const void *)header;

	assert_int_equal(record->number, next_number);
	for (size_t i = 0; i + sizeof(*header) + sizeof(record->number) < header->size; i++)
		assert_int_equal(record->rest[i], (char)(next_number + i));
	next_number++;
	(*(unsigned int *)user)++;
}

static void test_round_and_round(void **state)
{
	unsigned int nr_taken = 0, nr_written = 0;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		for (unsigned int i = 0; i < round % 40; i++) {
			struct record record = { .number = nr_written };

			record.header.size = (uint16_t)(16 + 8 * (nr_written % 8));
			for (size_t k = 0; k < sizeof(record.rest); k++)
				record.rest[k] = (char)(nr_written + k);
			write_record(&record, record.header.size);
			nr_written++;
		}
		zm_perf_ring_drain(&ring, take, &nr_taken);
		assert_int_equal(nr_taken, nr_written);
		assert_int_equal(ring.head->data_tail, ring.head->data_head);
	}
}

/* A broken size ends it; nothing is read twice, or from beyond the head. */
static void test_broken(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 65535 };
	unsigned int nr_taken = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct record record = { .header.size = sizes[i] };

		write_record(&record, 32);
		zm_perf_ring_drain(&ring, take, &nr_taken);
		assert_int_equal(nr_taken, 0);
		assert_int_equal(ring.head->data_tail, ring.head->data_head);
	}
}

static void test_not_open(void **state)
{
	struct zm_perf_ring none = { .fd = -1 };

	(void)state;
	zm_perf_ring_drain(&none, take, NULL);
	zm_perf_ring_close(&none);
}

static void test_reasons(void **state)
{
	static const struct {
		int error;
		const char *word;
	} rows[] = {
		{ -ENOENT, "no CPU performance counters" },
		{ -EACCES, "perf_event_paranoid" },
		{ -EMFILE, "ulimit -n" },
		{ -ENOSYS, "seccomp" },
	};
	struct zm_why why;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(zm_perf_why(&why, rows[i].error, "cycles"), rows[i].error);
		assert_non_null(strstr(why.text, rows[i].word));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_and_round, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
		cmocka_unit_test(test_not_open),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
