/*
 * nights: what the tests of nightly and tonight share: a store into which one night after the other is put.
 */
#ifndef ZM_RESULTS_TESTS_NIGHTS_H
#define ZM_RESULTS_TESTS_NIGHTS_H

#include "results/tests/fixture.h"

#define NIGHT_NS (UINT64_C(86400) * 1000000000)

/* A run to be put; what is 0 is the usual. */
struct put {
	unsigned int invocation; /* a number, which makes its UUID */
	const char *label;       /* "nightly" */
	unsigned int cell;       /* a number of tasks, 1 */
	unsigned int repeat;
	double value,
		share; /* of the primary figure, and of one in percent that is neither better nor worse */
	enum zm_status status; /* ZM_STATUS_OK when 0 */
	const char *machine, *reason, *metric;
	uint64_t wall_ns; /* the invocation's number in days behind FIXTURE_WALL_NS */
};

/* As fixture_setup, but where nothing has to reach a disk: there are many small writes. */
static inline int nights_setup(void **state)
{
	struct fixture *fixture;

	if (fixture_setup(state))
		return -1;
	fixture = *state;
	if (access("/dev/shm", W_OK) || rmdir(fixture->folder))
		return 0;
	(void)snprintf(fixture->folder, sizeof(fixture->folder), "/dev/shm/zm-results-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/store.db", fixture->folder);
	return 0;
}

static inline const char *night_uuid(unsigned int invocation, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%08x-0000-4000-8000-000000000000", invocation);
	return buf;
}

static inline void put_figure(struct zm_recorder *recorder, const struct put *put)
{
	const struct zm_result primary = { .metric = put->metric ? put->metric : "pages",
					   .unit = "pages/s",
					   .source = "engine",
					   .better = ZM_BETTER_MORE,
					   .is_primary = true,
					   .value = put->value,
					   .count = put->value };
	const struct zm_result share = { .metric = "share",
					 .unit = "%",
					 .source = "engine",
					 .better = ZM_BETTER_NEITHER,
					 .is_primary = true,
					 .value = put->share,
					 .count = put->share };
	const struct zm_result other = {
		.metric = "other", .unit = "pages", .source = "engine", .value = 1, .count = 1
	};

	assert_int_equal(zm_recorder_result(recorder, &primary), 0);
	assert_int_equal(zm_recorder_result(recorder, &share), 0);
	assert_int_equal(zm_recorder_result(recorder, &other), 0);
}

static inline void put_run(struct zm_store *store, const struct put *put)
{
	enum zm_status status = put->status ? put->status : ZM_STATUS_OK;
	struct zm_run_record record = fixture_record();
	struct zm_recorder *recorder = NULL;
	struct zm_why why = { "" };
	char uuid[40], cell[64];

	(void)snprintf(cell, sizeof(cell), "{\"mode\":\"process\",\"nr_task\":\"%u\"}",
		       put->cell ? put->cell : 1);
	record.invocation = night_uuid(put->invocation, uuid, sizeof(uuid));
	record.label = put->label ? put->label : "nightly";
	record.cell = cell;
	record.repeat = put->repeat;
	record.wall_ns = put->wall_ns ? put->wall_ns : FIXTURE_WALL_NS + put->invocation * NIGHT_NS;
	if (put->machine)
		record.machine_id = put->machine;
	if (zm_recorder_begin(store, &record, &recorder, &why))
		fail_msg("%s", why.text);
	if (status == ZM_STATUS_OK)
		put_figure(recorder, put);
	if (zm_recorder_end(recorder, status, put->reason, &why))
		fail_msg("%s", why.text);
}

/* Nights first … last - 1, one launch each, around value by up to 1 %. */
static inline void put_nights(struct zm_store *store, unsigned int first, unsigned int last,
			      double value)
{
	for (unsigned int i = first; i < last; i++)
		put_run(store, &(struct put){ .invocation = i,
					      .value = value * (1 + (double)(i * 7 % 11) / 1000),
					      .share = 40 + (double)(i * 5 % 7) / 100 });
}

/* So many launches of a confirmation, around value by up to half a percent. */
static inline void put_confirmation(struct zm_store *store, unsigned int invocation,
				    unsigned int nr, double value)
{
	for (unsigned int i = 0; i < nr; i++)
		put_run(store, &(struct put){ .invocation = invocation,
					      .label = "nightly confirmation",
					      .repeat = i,
					      .value = value * (1 + (double)(i * 3 % 5) / 1000),
					      .share = 40 });
}

#endif
