/* meet: one way to meet for each kind of family. */
#include "netload/meet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "netload/sctp.h"
#include "workloads/base/cleanup.h"
#include "workloads/base/clock.h"

#define MAX_HANDED 2

/* A connection wakes its waiter at once; this is how soon a failed other end is noticed. */
#define LOOK_UP_MS 500

static int await(const struct zm_meet *place, enum zm_pair_stage stage, uint64_t deadline_ns,
		 struct zm_why *why)
{
	const struct zm_pair_end *other = &place->pair->ends[!place->end];
	int r = zm_pair_hear(place->pair, !place->end, stage, deadline_ns);

	if (r == -ECONNABORTED)
		return zm_why_set(why, r, "%s",
				  other->why.text[0]
					  ? other->why.text
					  : "the other end of the pair could not be set up");
	if (r < 0)
		return zm_why_set(why, r, "the other end of the pair did not come in time");
	return 0;
}

/* --- addresses --- */

static int own_address(int fd, struct zm_net_address *ret_address)
{
	ret_address->length = sizeof(ret_address->storage);
	if (getsockname(fd, (struct sockaddr *)&ret_address->storage, &ret_address->length) < 0)
		return -errno;
	return 0;
}

static int publish(const struct zm_meet *place, int fd, enum zm_pair_stage stage,
		   struct zm_why *why)
{
	int r = own_address(fd, &place->pair->ends[place->end].address);

	if (r < 0)
		return zm_why_errno(why, r, "getsockname");
	zm_pair_say(place->pair, place->end, stage);
	return 0;
}

static bool is_same(const struct zm_net_address *a, const struct zm_net_address *b)
{
	return zm_net_address_port(a) == zm_net_address_port(b) &&
	       a->storage.ss_family == b->storage.ss_family;
}

static int connect_to(int fd, const struct zm_net_address *address, struct zm_why *why)
{
	char text[80];

	if (connect(fd, (const struct sockaddr *)&address->storage, address->length) == 0)
		return 0;
	return zm_why_errno(why, -errno, "connect to %s",
			    zm_net_address_print(address, text, sizeof(text)));
}

/* --- waiting for a connection --- */

/* Until somebody has connected; looks up now and then, since the other end may have failed. */
static int poll_accept(const struct zm_meet *place, int listener, uint64_t deadline_ns,
		       struct zm_net_address *ret_peer, struct zm_why *why)
{
	struct pollfd wish = { .fd = listener, .events = POLLIN };

	for (;;) {
		uint32_t stage = atomic_load(&place->pair->ends[!place->end].stage);

		if (stage == ZM_PAIR_FAILED)
			return await(place, ZM_PAIR_CONNECTED, deadline_ns, why);
		if (zm_clock_now_ns() >= deadline_ns)
			return zm_why_set(why, -ETIMEDOUT,
					  "the other end of the pair did not connect in time");
		if (poll(&wish, 1, LOOK_UP_MS) <= 0)
			continue;
		ret_peer->length = sizeof(ret_peer->storage);
		int fd = accept4(listener, (struct sockaddr *)&ret_peer->storage, &ret_peer->length,
				 SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
			return zm_why_errno(why, -errno, "accept");
	}
}

/* A stranger may have found the port: only the pair's own other end is let in. */
static int accept_peer(const struct zm_meet *place, int listener, uint64_t deadline_ns,
		       struct zm_why *why)
{
	for (;;) {
		struct zm_net_address peer;
		int fd = poll_accept(place, listener, deadline_ns, &peer, why);
		int r;

		if (fd < 0)
			return fd;
		r = await(place, ZM_PAIR_CONNECTED, deadline_ns, why);
		if (r == 0 && is_same(&peer, &place->pair->ends[!place->end].address))
			return fd;
		(void)close(fd);
		if (r < 0)
			return r;
	}
}

/* --- one way to meet for each kind of family --- */

static int meet_listening(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
			  struct zm_why *why)
{
	int r = zm_flow_socket(flow, place->local, &flow->control_fd, why);

	if (r < 0)
		return r;
	if (listen(flow->control_fd, 16) < 0)
		return zm_why_errno(why, -errno, "%s: listen", flow->family->name);
	r = publish(place, flow->control_fd, ZM_PAIR_BOUND, why);
	if (r < 0)
		return r;
	r = accept_peer(place, flow->control_fd, deadline_ns, why);
	if (r < 0)
		return r;
	flow->fd = r;
	if (!place->keeps_listener) {
		(void)close(flow->control_fd);
		flow->control_fd = -1;
	}
	return 0;
}

static int meet_connecting(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
			   struct zm_why *why)
{
	int r = await(place, ZM_PAIR_BOUND, deadline_ns, why);

	if (r == 0)
		r = zm_flow_socket(flow, NULL, &flow->fd, why);
	if (r == 0)
		r = connect_to(flow->fd, &place->pair->ends[!place->end].address, why);
	return r == 0 ? publish(place, flow->fd, ZM_PAIR_CONNECTED, why) : r;
}

static int subscribe(const struct zm_flow *flow, struct zm_why *why)
{
	int r = flow->family->call == ZM_CALL_SCTP ? zm_sctp_subscribe(flow->fd) : 0;

	return r < 0 ? zm_why_errno(why, r, "sctp: SCTP_EVENTS") : 0;
}

/* The listening socket of one-to-many SCTP is the one that receives. */
static int meet_many_listening(const struct zm_meet *place, struct zm_flow *flow,
			       uint64_t deadline_ns, struct zm_why *why)
{
	int r = zm_flow_socket(flow, place->local, &flow->fd, why);

	if (r < 0)
		return r;
	if (listen(flow->fd, 16) < 0)
		return zm_why_errno(why, -errno, "sctp: listen");
	r = publish(place, flow->fd, ZM_PAIR_BOUND, why);
	return r == 0 ? await(place, ZM_PAIR_CONNECTED, deadline_ns, why) : r;
}

static int meet_by_address(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
			   struct zm_why *why)
{
	int r = zm_flow_socket(flow, place->local, &flow->fd, why);

	if (r == 0)
		r = publish(place, flow->fd, ZM_PAIR_BOUND, why);
	return r == 0 ? await(place, ZM_PAIR_BOUND, deadline_ns, why) : r;
}

/* --- descriptors without an address --- */

static int make_both(const struct zm_flow *flow, int ret_ends[2], struct zm_why *why)
{
	const struct zm_family *family = flow->family;
	int r;

	if (family == &zm_family_pipe)
		r = pipe2(ret_ends, O_CLOEXEC);
	else
		r = socketpair(AF_UNIX, family->type | SOCK_CLOEXEC, 0, ret_ends);
	if (r < 0)
		return zm_why_errno(why, -errno, "%s: making both ends", family->name);
	if (family == &zm_family_pipe)
		return 0;
	r = zm_flow_set_buffers(flow, ret_ends[0], why);
	return r == 0 ? zm_flow_set_buffers(flow, ret_ends[1], why) : r;
}

static int hand_over(int rendezvous, const int *fds, unsigned int nr, struct zm_why *why)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(MAX_HANDED * sizeof(int))] = { 0 };
	struct cmsghdr *cmsg = (struct cmsghdr *)control;
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(nr * sizeof(int)),
	};

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(nr * sizeof(int));
	memcpy(CMSG_DATA(cmsg), fds, nr * sizeof(int));
	while (sendmsg(rendezvous, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return zm_why_errno(why, -errno, "handing descriptors over");
	return 0;
}

/* Some may arrive and others not: what came is not left open. -ECONNABORTED: the other end left instead. */
static int take_over(int rendezvous, int *ret_fds, unsigned int nr, struct zm_why *why)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(MAX_HANDED * sizeof(int))] = { 0 };
	const struct cmsghdr *cmsg = (struct cmsghdr *)control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(nr * sizeof(int)),
	};
	size_t nr_taken = 0;
	ssize_t n;

	do {
		n = recvmsg(rendezvous, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return -ECONNABORTED;
	if (n < 0)
		return zm_why_errno(why, -errno, "taking descriptors over");
	if (msg.msg_controllen >= CMSG_LEN(0))
		nr_taken = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(ret_fds, CMSG_DATA(cmsg), nr_taken * sizeof(int));
	if (nr_taken == nr)
		return 0;
	while (nr_taken > 0)
		(void)close(ret_fds[--nr_taken]);
	return zm_why_set(
		why, -EMFILE,
		"the pair's descriptors did not arrive: the limit of open files (ulimit -n) "
		"is too small");
}

static bool is_of_our_user(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	       peer.uid == geteuid();
}

/* Binding to a nameless address makes the kernel choose an abstract one. */
static int open_rendezvous(const struct zm_meet *place, int *ret_fd, struct zm_why *why)
{
	struct sockaddr_un nameless = { .sun_family = AF_UNIX };
	zm_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0 || bind(fd, (struct sockaddr *)&nameless, sizeof(sa_family_t)) < 0 ||
	    listen(fd, 4) < 0)
		return zm_why_errno(why, -errno, "a rendezvous socket");
	r = publish(place, fd, ZM_PAIR_BOUND, why);
	if (r < 0)
		return r;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int accept_own(const struct zm_meet *place, int listener, uint64_t deadline_ns,
		      struct zm_why *why)
{
	for (;;) {
		struct zm_net_address peer;
		int fd = poll_accept(place, listener, deadline_ns, &peer, why);

		if (fd < 0 || is_of_our_user(fd))
			return fd;
		(void)close(fd);
	}
}

/* The maker is the receiver: it keeps the reading descriptors and hands the writing ones over. The
 * control pipe runs the other way. */
static int meet_making(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
		       struct zm_why *why)
{
	zm_autoclose int rendezvous = -1, visitor = -1, far = -1, far_control = -1;
	int data[2], control[2], handed[MAX_HANDED];
	int r = make_both(flow, data, why);

	if (r < 0)
		return r;
	flow->fd = data[0];
	far = data[1];
	if (place->has_ask && pipe2(control, O_CLOEXEC) < 0)
		return zm_why_errno(why, -errno, "a control pipe");
	if (place->has_ask) {
		far_control = control[0];
		flow->control_fd = control[1];
	}
	r = open_rendezvous(place, &rendezvous, why);
	if (r < 0)
		return r;
	visitor = accept_own(place, rendezvous, deadline_ns, why);
	if (visitor < 0)
		return visitor;
	handed[0] = far;
	handed[1] = far_control;
	return hand_over(visitor, handed, place->has_ask ? 2 : 1, why);
}

static int meet_visiting(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
			 struct zm_why *why)
{
	zm_autoclose int rendezvous = -1;
	int taken[MAX_HANDED] = { -1, -1 };
	int r = await(place, ZM_PAIR_BOUND, deadline_ns, why);

	if (r < 0)
		return r;
	rendezvous = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (rendezvous < 0)
		return zm_why_errno(why, -errno, "a rendezvous socket");
	r = connect_to(rendezvous, &place->pair->ends[!place->end].address, why);
	if (r == 0)
		r = take_over(rendezvous, taken, place->has_ask ? 2 : 1, why);
	if (r == -ECONNABORTED)
		return await(place, ZM_PAIR_FAILED, zm_clock_now_ns() + ZM_NS_PER_S, why);
	if (r < 0)
		return r;
	flow->fd = taken[0];
	flow->control_fd = taken[1];
	return 0;
}

static int meet(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
		struct zm_why *why)
{
	bool is_connector = place->end == place->connector;

	switch (flow->family->meeting) {
	case ZM_MEET_CONNECT:
		return is_connector ? meet_connecting(place, flow, deadline_ns, why)
				    : meet_listening(place, flow, deadline_ns, why);
	case ZM_MEET_MANY:
		return is_connector ? meet_connecting(place, flow, deadline_ns, why)
				    : meet_many_listening(place, flow, deadline_ns, why);
	case ZM_MEET_ADDRESS:
		return meet_by_address(place, flow, deadline_ns, why);
	case ZM_MEET_HANDED:
		break;
	}
	return is_connector ? meet_visiting(place, flow, deadline_ns, why)
			    : meet_making(place, flow, deadline_ns, why);
}

int zm_meet(const struct zm_meet *place, struct zm_flow *flow, uint64_t deadline_ns,
	    struct zm_why *why)
{
	int r = meet(place, flow, deadline_ns, why);

	if (r < 0)
		return r;
	r = subscribe(flow, why);
	if (r < 0)
		return r;
	if (flow->family->is_inet)
		flow->peer = place->pair->ends[!place->end].address;
	zm_pair_say(place->pair, place->end, ZM_PAIR_CONNECTED);
	return 0;
}
