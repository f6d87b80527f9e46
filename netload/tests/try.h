/*
 * try: one stream, started, waited for, stopped, and looked at from all sides.
 */
#ifndef ZM_NETLOAD_TESTS_TRY_H
#define ZM_NETLOAD_TESTS_TRY_H

#include "netload/net.h"
#include "netload/tests/live.h"

static inline const struct zm_net_kind *try_kind_of(const struct live *live)
{
	return live->run->workload->own;
}

static inline void assert_ends_count(const struct live *live)
{
	const struct zm_family *family = try_kind_of(live)->family;

	for (unsigned int i = 0; i < live->run->nr_tasks; i++) {
		const struct zm_slot *slot = &live->slots[i];
		bool sends = i % 2 == ZM_NET_SENDER;
		uint64_t bytes = slot->counters[sends ? ZM_NET_SENT_BYTES : ZM_NET_RECV_BYTES];
		uint64_t messages =
			slot->counters[sends ? ZM_NET_SENT_MESSAGES : ZM_NET_RECV_MESSAGES];

		assert_true(bytes > 0);
		assert_true(messages > 0);
		assert_int_equal(slot->counters[sends ? ZM_NET_RECV_BYTES : ZM_NET_SENT_BYTES], 0);
		assert_int_equal(slot->ops, family->keeps_borders ? messages : bytes);
		assert_true(slot->first_op_ns > 0);
		assert_int_equal(slot->error, 0);
	}
}

static inline void assert_pairs_agree(const struct live *live)
{
	bool may_lose = try_kind_of(live)->family->may_lose;

	for (unsigned int i = 0; i < live->run->nr_tasks; i += 2) {
		uint64_t sent = live->slots[i].counters[ZM_NET_SENT_BYTES];
		uint64_t received = live->slots[i + 1].counters[ZM_NET_RECV_BYTES];

		if (may_lose)
			assert_true(received <= sent);
		else
			assert_int_equal(received, sent);
	}
}

static inline void assert_all_reported(const struct live *live)
{
	const struct zm_metric *metrics = live->run->workload->metrics;

	for (size_t i = 0; metrics[i].name; i++)
		if (!metrics[i].is_optional)
			assert_true(live_figure(live, metrics[i].name) >= 0);
}

static inline void try_stream(const struct zm_workload *workload, enum zm_task_kind kind,
			      unsigned int nr_pairs, const char *options)
{
	struct live live;
	int r;

	live_open(&live, workload, kind, nr_pairs, options);
	r = live_go(&live);
	if (r == 0) {
		live_await(&live, ZM_NET_RECV_MESSAGES, 20 * nr_pairs);
		for (unsigned int i = 1; i < 2 * nr_pairs; i += 2)
			while (live.slots[i].counters[ZM_NET_RECV_MESSAGES] == 0)
				live_wait(&live, 1);
		r = live_end(&live);
	} else {
		(void)live_end(&live);
	}
	if (r < 0)
		fail_msg("%s %s: %d: %s", workload->name, options, r, live.why.text);
	assert_ends_count(&live);
	assert_pairs_agree(&live);
	live_report(&live);
	assert_all_reported(&live);
	live_close(&live);
}

static inline bool takes(const struct zm_workload *workload, const char *option)
{
	return zm_option_find(workload->options, option) != NULL;
}

#endif
