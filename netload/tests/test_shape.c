/* shape: a capture's sizes and gaps, read, walked, and sent again. */
#include "netload/tests/try.h"

#include "netload/tests/pcap_file.h"

extern const struct zm_workload wl_netload_udp_stream;
extern const struct zm_workload wl_netload_tcp_stream;
extern const struct zm_workload wl_netload_unix_stream;

static void a_cursor_walks_round_and_round(void **state)
{
	static const struct {
		uint64_t at_ns;
		uint32_t size;
	} points[] = { { 0, 100 }, { 1000, 200 }, { 500, 300 }, { 3000, 50 } };
	struct zm_shape shape = { 0 };
	struct zm_shape_cursor cursor = { .shape = &shape };
	uint64_t start_ns = 5000000;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(zm_shape_add(&shape, points[i].at_ns, points[i].size), 0);
	zm_shape_close(&shape);
	assert_int_equal(shape.smallest, 50);
	assert_int_equal(shape.largest, 300);
	assert_int_equal(shape.lap_ns, 4000); /* a span of 3,000 in three gaps, and one more */
	for (uint64_t lap = 0; lap < 3; lap++) {
		/* The clock that was set back makes no gap. */
		static const uint64_t due_ns[] = { 0, 1000, 1000, 3000 };

		for (size_t i = 0; i < 4; i++) {
			assert_int_equal(zm_shape_due_ns(&cursor, start_ns),
					 start_ns + lap * 4000 + due_ns[i]);
			assert_int_equal(zm_shape_next_size(&cursor), points[i].size);
		}
	}
	zm_shape_release(&shape);
	assert_null(shape.points);
}

static void very_many_points(void **state)
{
	struct zm_shape shape = { 0 };

	(void)state;
	for (size_t i = 0; i < ZM_SHAPE_MAX; i++)
		assert_int_equal(zm_shape_add(&shape, i, 1), 0);
	assert_int_equal(zm_shape_add(&shape, ZM_SHAPE_MAX, 1), -ENOSPC);
	zm_shape_close(&shape);
	assert_int_equal(shape.lap_ns, ZM_SHAPE_MAX);
	zm_shape_release(&shape);
}

#ifdef ZM_HAVE_PCAP
/* Three messages, a millisecond apart, and one empty that is none. */
static const char *write_capture(struct tree *tree)
{
	static struct pcap_file file;

	tree_make(tree);
	pcap_begin(&file);
	pcap_add_udp(&file, 7000000000, 1000);
	pcap_add_udp(&file, 7001000000, 0);
	pcap_add_udp(&file, 7001000000, 40);
	pcap_add_udp(&file, 7002000000, 9000);
	tree_write_bytes(tree, "three.pcap", file.data, file.size);
	return tree_path(tree, "three.pcap");
}

static void a_file_is_read(void **state)
{
	struct zm_shape shape;
	struct tree tree;

	(void)state;
	assert_int_equal(zm_shape_read(write_capture(&tree), &shape, NULL), 0);
	assert_int_equal(shape.nr, 3);
	assert_int_equal(shape.points[0].size, 1000);
	assert_int_equal(shape.points[1].size, 40);
	assert_int_equal(shape.points[1].at_ns, 1000000);
	assert_int_equal(shape.points[2].size, 9000);
	assert_int_equal(shape.lap_ns, 3000000);
	zm_shape_release(&shape);
	tree_remove(&tree);
}

static void what_is_no_capture_is_said(void **state)
{
	static struct pcap_file file;
	struct zm_shape shape;
	struct tree tree;
	struct zm_why why;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "text", "this is no capture, and long enough to be looked at");
	assert_int_equal(zm_shape_read(tree_path(&tree, "text"), &shape, &why), -EINVAL);
	assert_non_null(strstr(why.text, "text: "));
	assert_non_null(strstr(why.text, "pcap or pcapng"));
	assert_int_equal(zm_shape_check(tree_path(&tree, "text"), &why), -EINVAL);
	assert_int_equal(zm_shape_check(tree_path(&tree, "gone"), &why), -EINVAL);
	assert_int_equal(mkfifo(tree_path(&tree, "pipe"), 0600), 0);
	assert_int_equal(zm_shape_check(tree_path(&tree, "pipe"), &why), -EINVAL);
	assert_non_null(strstr(why.text, "pipe: not a file"));
	assert_int_equal(zm_shape_read(tree_path(&tree, "gone"), &shape, &why), -EINVAL);
	assert_non_null(strstr(why.text, "gone: No such file"));
	pcap_begin(&file);
	tree_write_bytes(&tree, "empty.pcap", file.data, file.size);
	assert_int_equal(zm_shape_read(tree_path(&tree, "empty.pcap"), &shape, &why), -EINVAL);
	assert_non_null(strstr(why.text, "no packet"));
	assert_int_equal(zm_shape_check(tree_path(&tree, "empty.pcap"), &why), 0);
	pcap_add_udp(&file, 0, 10);
	tree_write_bytes(&tree, "cut.pcap", file.data, file.size - 5);
	assert_int_equal(zm_shape_read(tree_path(&tree, "cut.pcap"), &shape, &why), -EINVAL);
	tree_remove(&tree);
}

static void a_shape_is_sent(void **state)
{
	static const struct zm_workload *const workloads[] = { &wl_netload_udp_stream,
							       &wl_netload_tcp_stream,
							       &wl_netload_unix_stream };
	struct tree tree;
	const char *path = write_capture(&tree);
	char options[512];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(options, sizeof(options),
			       "shape=%s verify=full recv_size=64K send_size=1K", path);
		try_stream(workloads[i], ZM_TASK_PROCESS, 1, options);
		(void)snprintf(options, sizeof(options), "shape=%s pace=max", path);
		try_stream(workloads[i], ZM_TASK_THREAD, 2, options);
	}
	tree_remove(&tree);
}

/* At the recorded speed, a third of the messages has each size, and none comes before its time. */
static void the_recorded_speed_is_kept(void **state)
{
	struct live live;
	struct tree tree;
	char options[512];
	uint64_t most, sent, bytes;

	(void)state;
	(void)snprintf(options, sizeof(options), "shape=%s", write_capture(&tree));
	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_THREAD, 1, options);
	assert_int_equal(live_go(&live), 0);
	live_await(&live, ZM_NET_SENT_MESSAGES, 30);
	assert_int_equal(live_end(&live), 0);
	sent = live_sum(&live, ZM_NET_SENT_MESSAGES);
	bytes = live_sum(&live, ZM_NET_SENT_BYTES);
	most = (zm_clock_now_ns() - live.t0_ns) / ZM_NS_PER_MS + 2;
	assert_true(sent <= most);
	assert_in_range(bytes, sent / 3 * 10040, (sent / 3 + 1) * 10040);
	live_close(&live);
	tree_remove(&tree);
}

static void stamps_need_room(void **state)
{
	static struct pcap_file file;
	struct live live;
	struct tree tree;
	char options[512];

	(void)state;
	tree_make(&tree);
	pcap_begin(&file);
	pcap_add_udp(&file, 0, 31);
	tree_write_bytes(&tree, "small.pcap", file.data, file.size);
	(void)snprintf(options, sizeof(options), "verify=full shape=%s",
		       tree_path(&tree, "small.pcap"));
	live_open(&live, &wl_netload_tcp_stream, ZM_TASK_THREAD, 1, options);
	assert_int_equal(live_go(&live), -EINVAL);
	assert_non_null(strstr(live.why.text, "31 bytes"));
	live_close(&live);
	tree_remove(&tree);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cursor_walks_round_and_round),
		cmocka_unit_test(very_many_points),
#ifdef ZM_HAVE_PCAP
		cmocka_unit_test(a_file_is_read),
		cmocka_unit_test(what_is_no_capture_is_said),
		cmocka_unit_test(a_shape_is_sent),
		cmocka_unit_test(the_recorded_speed_is_kept),
		cmocka_unit_test(stamps_need_room),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
