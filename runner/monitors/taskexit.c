/*
 * taskexit: netlink by hand: ask for the family's number, register for all CPUs, take messages apart.
 *
 *     nlmsghdr | genlmsghdr | nlattr AGGR_PID [ nlattr PID | nlattr STATS: struct taskstats ] …
 *
 * A process whose last thread ends sends AGGR_TGID as well, which only has the sums of its delays and
 * is passed over.
 */
#include "runner/monitors/taskexit.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES  65536
#define HEAD_BYTES    sizeof(struct nlattr)
#define RECEIVE_BYTES (16 << 20) /* some ten thousand exits */

/* --- asking --- */

struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attribute;
	char text[1024];
};

static size_t aligned(size_t length)
{
	return (length + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

static int ask(int fd, uint16_t family, uint8_t command, uint16_t attribute, const char *text,
	       unsigned int flags)
{
	struct request request = { .header = { .nlmsg_type = family,
					       .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) },
				   .generic = { .cmd = command, .version = 1 } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t length = strlen(text) + 1;

	if (length > sizeof(request.text))
		return -ENAMETOOLONG;
	memcpy(request.text, text, length);
	request.attribute.nla_type = attribute;
	request.attribute.nla_len = (uint16_t)(HEAD_BYTES + length);
	request.header.nlmsg_len =
		(uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + aligned(HEAD_BYTES + length));
	if (sendto(fd, &request, request.header.nlmsg_len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	return 0;
}

/* <linux/netlink.h> does the same with a length that has a sign. */
static bool is_whole(const struct nlmsghdr *header, size_t left)
{
	return left >= NLMSG_LENGTH(GENL_HDRLEN) &&
	       header->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN) && header->nlmsg_len <= left;
}

static const struct nlmsghdr *next_message(const struct nlmsghdr *header, size_t *left)
{
	size_t length = aligned(header->nlmsg_len);

	length = length < *left ? length : *left;
	*left -= length;
	return (const void *)((const char *)header + length);
}

/* Walks through the attributes between two places. */
static const struct nlattr *next_attribute(const unsigned char **at, const unsigned char *end)
{
	const struct nlattr *attribute = (const void *)*at;
	size_t left = (size_t)(end - *at);

	if (left < HEAD_BYTES || attribute->nla_len < HEAD_BYTES || attribute->nla_len > left)
		return NULL;
	*at += aligned(attribute->nla_len) < left ? aligned(attribute->nla_len) : left;
	return attribute;
}

static int find_family(const struct nlmsghdr *header, uint16_t *ret_family)
{
	const unsigned char *at = (const unsigned char *)NLMSG_DATA(header) + GENL_HDRLEN;
	const unsigned char *end = (const unsigned char *)header + header->nlmsg_len;
	const struct nlattr *attribute;

	while (at < end && (attribute = next_attribute(&at, end))) {
		if (attribute->nla_type != CTRL_ATTR_FAMILY_ID ||
		    attribute->nla_len < HEAD_BYTES + sizeof(uint16_t))
			continue;
		memcpy(ret_family, (const char *)attribute + HEAD_BYTES, sizeof(uint16_t));
		return 0;
	}
	return -ENOTSUP;
}

/* The kernel's answer: an error (0 is one), or, with a family wanted, its number. */
static int hear(struct zm_taskexits *exits, uint16_t *ret_family)
{
	ssize_t n = recv(exits->fd, exits->buffer, BUFFER_BYTES, 0);
	const struct nlmsghdr *header = (const void *)exits->buffer;
	size_t left = n > 0 ? (size_t)n : 0;

	if (n < 0)
		return -errno;
	for (; is_whole(header, left); header = next_message(header, &left)) {
		const struct nlmsgerr *error = NLMSG_DATA(header);

		if (header->nlmsg_type == NLMSG_ERROR)
			return error->error;
		if (ret_family)
			return find_family(header, ret_family);
	}
	return -EBADMSG;
}

static int register_cpus(struct zm_taskexits *exits, const struct zm_sysroot *root)
{
	char cpus[512];
	int r = zm_sysroot_read_line(root, "sys/devices/system/cpu/possible", cpus, sizeof(cpus));

	if (r == 0)
		r = ask(exits->fd, exits->family, TASKSTATS_CMD_GET,
			TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus, NLM_F_ACK);
	return r == 0 ? hear(exits, NULL) : r;
}

static int open_socket(struct zm_taskexits *exits)
{
	struct sockaddr_nl self = { .nl_family = AF_NETLINK };
	int bytes = RECEIVE_BYTES;

	exits->buffer = malloc(BUFFER_BYTES);
	if (!exits->buffer)
		return -ENOMEM;
	exits->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (exits->fd < 0)
		return -errno;
	if (setsockopt(exits->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		(void)setsockopt(exits->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return bind(exits->fd, (struct sockaddr *)&self, sizeof(self)) < 0 ? -errno : 0;
}

int zm_taskexits_open(struct zm_taskexits *exits, const struct zm_sysroot *root, struct zm_why *why)
{
	int r;

	*exits = (struct zm_taskexits){ .fd = -1 };
	if (!root->is_live)
		return zm_why_set(why, -ENOTSUP, "taskstats: there is none on a recorded machine");
	r = open_socket(exits);
	if (r == 0)
		r = ask(exits->fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
			TASKSTATS_GENL_NAME, 0);
	if (r == 0)
		r = hear(exits, &exits->family);
	if (r == -ENOENT || r == -ENOTSUP)
		return zm_why_set(why, -ENOTSUP,
				  "taskstats: this kernel has none; it needs CONFIG_TASKSTATS");
	if (r == 0)
		r = register_cpus(exits, root);
	if (r == -EPERM || r == -EACCES)
		return zm_why_set(why, -EPERM, "taskstats: only root of the machine may listen");
	return r < 0 ? zm_why_errno(why, r, "taskstats") : 0;
}

void zm_taskexits_close(struct zm_taskexits *exits)
{
	if (exits->fd >= 0)
		(void)close(exits->fd);
	exits->fd = -1;
	free(exits->buffer);
	exits->buffer = NULL;
}

/* --- messages --- */

/* Kernels differ in how much of the struct they send; all have these fields. */
static void parse_stats(const unsigned char *bytes, size_t length,
			void (*each)(void *context, const struct zm_taskexit *task), void *context)
{
	struct taskstats stats = { 0 };
	struct zm_taskexit task;

	if (length < offsetof(struct taskstats, ac_utimescaled))
		return;
	memcpy(&stats, bytes, length < sizeof(stats) ? length : sizeof(stats));
	task = (struct zm_taskexit){ .tid = stats.ac_pid,
				     .faults = stats.ac_minflt + stats.ac_majflt,
				     .user_us = stats.ac_utime,
				     .system_us = stats.ac_stime,
				     .peak_rss_kb = stats.hiwater_rss,
				     .switches = stats.nvcsw + stats.nivcsw };
	task.tgid = length >= sizeof(stats) ? stats.ac_tgid : stats.ac_pid;
	(void)snprintf(task.comm, sizeof(task.comm), "%.*s", (int)sizeof(stats.ac_comm),
		       stats.ac_comm);
	each(context, &task);
}

static void parse_aggregate(const unsigned char *at, const unsigned char *end,
			    void (*each)(void *context, const struct zm_taskexit *task),
			    void *context)
{
	const struct nlattr *attribute;

	while (at < end && (attribute = next_attribute(&at, end))) {
		if (attribute->nla_type == TASKSTATS_TYPE_STATS)
			parse_stats((const unsigned char *)attribute + HEAD_BYTES,
				    (size_t)attribute->nla_len - HEAD_BYTES, each, context);
	}
}

static void parse_message(const struct nlmsghdr *header,
			  void (*each)(void *context, const struct zm_taskexit *task),
			  void *context)
{
	const unsigned char *end = (const unsigned char *)header + header->nlmsg_len;
	const unsigned char *at = (const unsigned char *)header + NLMSG_HDRLEN + GENL_HDRLEN;
	const struct nlattr *attribute;

	while (at < end && (attribute = next_attribute(&at, end))) {
		const unsigned char *inside = (const unsigned char *)attribute + HEAD_BYTES;

		if (attribute->nla_type == TASKSTATS_TYPE_AGGR_PID)
			parse_aggregate(inside,
					(const unsigned char *)attribute + attribute->nla_len, each,
					context);
	}
}

void zm_taskexits_parse(const void *packet, size_t length, uint16_t family,
			void (*each)(void *context, const struct zm_taskexit *task), void *context)
{
	const struct nlmsghdr *header = packet;

	while (is_whole(header, length)) {
		if (header->nlmsg_type == family)
			parse_message(header, each, context);
		header = next_message(header, &length);
	}
}

int zm_taskexits_fetch(struct zm_taskexits *exits,
		       void (*each)(void *context, const struct zm_taskexit *task), void *context)
{
	for (;;) {
		ssize_t n = recv(exits->fd, exits->buffer, BUFFER_BYTES, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			exits->nr_lost++;
			continue;
		}
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		zm_taskexits_parse(exits->buffer, (size_t)n, exits->family, each, context);
	}
}
