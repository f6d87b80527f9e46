/*
 * sctp: what the kernel's messages mean, built by hand as it builds them; and both loops of the
 * engine over a socketpair that keeps message borders as SCTP does.
 *
 * A stand-in socket ignores SCTP's control messages, so what is tested of sending is the message.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netload/engine.h"
#include "netload/sctp.h"

struct example {
	const char *what;
	int flags;
	const void *data;
	size_t size;
	enum zm_sctp_event event;
};

#define CHANGE(state)                                                                              \
	(&(const struct sctp_assoc_change){ .sac_type = SCTP_ASSOC_CHANGE,                         \
					    .sac_state = state,                                    \
					    .sac_length = sizeof(struct sctp_assoc_change) })
#define CHANGE_SIZE sizeof(struct sctp_assoc_change)

static void notifications_are_told_from_data(void **state)
{
	static const struct sctp_shutdown_event bye = { .sse_type = SCTP_SHUTDOWN_EVENT,
							.sse_length = sizeof(bye) };
	static const struct sctp_paddr_change address = { .spc_type = SCTP_PEER_ADDR_CHANGE };
	const struct example examples[] = {
		{ "a message", MSG_EOR, "hello", 5, ZM_SCTP_DATA },
		{ "a piece of one", 0, "hello", 5, ZM_SCTP_PIECE },
		{ "data like a notification", MSG_EOR, &bye, sizeof(bye), ZM_SCTP_DATA },
		{ "comes up", MSG_NOTIFICATION | MSG_EOR, CHANGE(SCTP_COMM_UP), CHANGE_SIZE,
		  ZM_SCTP_OTHER },
		{ "restarts", MSG_NOTIFICATION | MSG_EOR, CHANGE(SCTP_RESTART), CHANGE_SIZE,
		  ZM_SCTP_OTHER },
		{ "is lost", MSG_NOTIFICATION | MSG_EOR, CHANGE(SCTP_COMM_LOST), CHANGE_SIZE,
		  ZM_SCTP_BROKEN },
		{ "cannot start", MSG_NOTIFICATION | MSG_EOR, CHANGE(SCTP_CANT_STR_ASSOC),
		  CHANGE_SIZE, ZM_SCTP_BROKEN },
		{ "is shut down", MSG_NOTIFICATION | MSG_EOR, CHANGE(SCTP_SHUTDOWN_COMP),
		  CHANGE_SIZE, ZM_SCTP_ENDED },
		{ "says goodbye", MSG_NOTIFICATION | MSG_EOR, &bye, sizeof(bye), ZM_SCTP_ENDED },
		{ "another address", MSG_NOTIFICATION | MSG_EOR, &address, sizeof(address),
		  ZM_SCTP_OTHER },
		{ "cut goodbye", MSG_NOTIFICATION, &bye, sizeof(bye) - 1, ZM_SCTP_GARBLED },
		{ "cut change", MSG_NOTIFICATION, CHANGE(SCTP_COMM_UP), 8, ZM_SCTP_GARBLED },
		{ "one byte", MSG_NOTIFICATION, "x", 1, ZM_SCTP_GARBLED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct msghdr msg = { .msg_flags = examples[i].flags };
		void *data = malloc(examples[i].size);

		memcpy(data, examples[i].data, examples[i].size);
		if (zm_sctp_classify(&msg, data, examples[i].size) != examples[i].event)
			fail_msg("%s", examples[i].what);
		free(data);
	}
}

static void what_is_sent_is_ordered_on_stream_0(void **state)
{
	struct zm_sctp_header header;
	struct zm_net_address to;
	struct sctp_sndrcvinfo info;
	struct cmsghdr *cmsg;

	char data[] = "abc";

	(void)state;
	zm_net_address_loopback(&to, ZM_NET_IPV4);
	zm_sctp_prepare_send(&header, &to, data, 3);
	cmsg = CMSG_FIRSTHDR(&header.msg);
	assert_non_null(cmsg);
	assert_int_equal(cmsg->cmsg_level, IPPROTO_SCTP);
	assert_int_equal(cmsg->cmsg_type, SCTP_SNDRCV);
	assert_int_equal(cmsg->cmsg_len, CMSG_LEN(sizeof(info)));
	memcpy(&info, CMSG_DATA(cmsg), sizeof(info));
	assert_int_equal(info.sinfo_stream, 0);
	assert_int_equal(info.sinfo_flags, 0);
	assert_null(CMSG_NXTHDR(&header.msg, cmsg));
	assert_int_equal(header.msg.msg_namelen, sizeof(struct sockaddr_in));
	assert_int_equal(header.msg.msg_iov[0].iov_len, 3);
}

/* The engine's own loops, over a socket that keeps borders too. */
static void messages_keep_their_borders(void **state)
{
	static const size_t sizes[] = { 1, 100, 10240, 60000 };
	struct zm_net_options options = { 0 };
	struct zm_flow from, to;
	struct zm_moved moved = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	zm_flow_init(&from, &zm_family_sctp_many, &options);
	zm_flow_init(&to, &zm_family_sctp_many, &options);
	from.fd = fds[0];
	to.fd = fds[1];
	assert_int_equal(zm_ring_open(&from.out, 2, 60000, 0, NULL), 0);
	assert_int_equal(zm_ring_open(&to.in, 2, 100000, 0, NULL), 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct iovec message = *zm_ring_take(&from.out);
		struct zm_piece piece;

		message.iov_len = sizes[i];
		memset(message.iov_base, (int)i + 1, sizes[i]);
		assert_int_equal(zm_net_engine_syscall.send(&from, &message, 1, &moved), 0);
		assert_int_equal(zm_net_engine_syscall.recv(&to, &piece), 1);
		assert_int_equal(piece.size, sizes[i]);
		assert_memory_equal(piece.data, message.iov_base, sizes[i]);
	}
	assert_int_equal(moved.messages, 4);
	assert_int_equal(moved.bytes, 1 + 100 + 10240 + 60000);
	zm_flow_release(&from);
	assert_int_equal(zm_net_engine_syscall.recv(&to, &(struct zm_piece){ 0 }), 0);
	zm_flow_release(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(notifications_are_told_from_data),
		cmocka_unit_test(what_is_sent_is_ordered_on_stream_0),
		cmocka_unit_test(messages_keep_their_borders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
