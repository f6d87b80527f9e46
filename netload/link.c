/*
 * link: namespaces by unshare, the veth pair and its addresses by rtnetlink.
 *
 *     unshare -> the space of end 1; unshare -> that of end 0: the pair is made there, its far end put
 *     into the other; addresses, up; the same in the other; back home
 */
#include "netload/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/base/cleanup.h"

#define OWN_SPACE "/proc/thread-self/ns/net"
#define LO_INDEX  1

/* IPv4's range for benchmarks, and a local one of IPv6's. */
static const char *const names[2] = { "zm-link0", "zm-link1" };
static const char *const addresses[2][2] = {
	[ZM_NET_IPV4] = { "198.18.0.1", "198.18.0.2" },
	[ZM_NET_IPV6] = { "fd5a:6d::1", "fd5a:6d::2" },
};
static const unsigned char prefixes[2] = { [ZM_NET_IPV4] = 30, [ZM_NET_IPV6] = 64 };

/* --- requests --- */

struct request {
	struct nlmsghdr header;
	char body[512];
};

static void *body_end(struct request *request)
{
	return (char *)request + NLMSG_ALIGN(request->header.nlmsg_len);
}

static void *put(struct request *request, const void *data, size_t size)
{
	void *place = body_end(request);

	memcpy(place, data, size);
	request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + (uint32_t)size;
	return place;
}

static void begin(struct request *request, uint16_t type, uint16_t flags, const void *head,
		  size_t size)
{
	memset(request, 0, sizeof(*request));
	request->header = (struct nlmsghdr){
		.nlmsg_len = NLMSG_HDRLEN,
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags,
	};
	(void)put(request, head, size);
}

/* An attribute that holds others is begun with no data and ended when they are in it. */
static struct rtattr *put_attribute(struct request *request, uint16_t type, const void *data,
				    size_t size)
{
	const struct rtattr attribute = { .rta_len = (uint16_t)RTA_LENGTH(size), .rta_type = type };
	struct rtattr *place = put(request, &attribute, sizeof(attribute));

	if (size > 0)
		(void)put(request, data, size);
	return place;
}

static void end_attribute(struct request *request, struct rtattr *attribute)
{
	attribute->rta_len = (uint16_t)((char *)body_end(request) - (char *)attribute);
}

/* Sends it to the kernel of the calling thread's namespace. 0, or the kernel's -errno. */
static int ask(const struct request *request)
{
	zm_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[1024];
	} answer;
	ssize_t n;

	if (fd < 0 || sendto(fd, request, request->header.nlmsg_len, 0,
			     (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	do {
		n = recv(fd, &answer, sizeof(answer), 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n < offsetof(typeof(answer), rest) || answer.header.nlmsg_type != NLMSG_ERROR)
		return -EPROTO;
	return answer.error.error;
}

/* --- the pair --- */

static void put_link(struct request *request, unsigned int end, uint32_t mtu)
{
	(void)put_attribute(request, IFLA_IFNAME, names[end], strlen(names[end]) + 1);
	(void)put_attribute(request, IFLA_MTU, &mtu, sizeof(mtu));
}

/* In the space of end 0, with the far end in that of end 1. */
static int make_pair(const struct zm_link *link, uint32_t mtu)
{
	const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	uint32_t far = (uint32_t)link->spaces[1];
	struct rtattr *info, *data, *peer;
	struct request request;

	begin(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	put_link(&request, 0, mtu);
	info = put_attribute(&request, IFLA_LINKINFO, NULL, 0);
	(void)put_attribute(&request, IFLA_INFO_KIND, "veth", 4);
	data = put_attribute(&request, IFLA_INFO_DATA, NULL, 0);
	peer = put_attribute(&request, VETH_INFO_PEER, NULL, 0);
	(void)put(&request, &head, sizeof(head));
	put_link(&request, 1, mtu);
	(void)put_attribute(&request, IFLA_NET_NS_FD, &far, sizeof(far));
	end_attribute(&request, peer);
	end_attribute(&request, data);
	end_attribute(&request, info);
	return ask(&request);
}

static int set_up(unsigned int index)
{
	const struct ifinfomsg head = {
		.ifi_family = AF_UNSPEC,
		.ifi_index = (int)index,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};
	struct request request;

	begin(&request, RTM_NEWLINK, 0, &head, sizeof(head));
	return ask(&request);
}

/* Nobody else is on the link: IPv6 need not ask whether the address is taken. */
static int add_address(unsigned int index, unsigned int ip, unsigned int end)
{
	const struct ifaddrmsg head = {
		.ifa_family = ip == ZM_NET_IPV6 ? AF_INET6 : AF_INET,
		.ifa_prefixlen = prefixes[ip],
		.ifa_flags = IFA_F_NODAD,
		.ifa_index = index,
	};
	size_t size = ip == ZM_NET_IPV6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
	struct in6_addr address;
	struct request request;

	if (inet_pton(head.ifa_family, addresses[ip][end], &address) != 1)
		return -EINVAL;
	begin(&request, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	(void)put_attribute(&request, IFA_LOCAL, &address, size);
	(void)put_attribute(&request, IFA_ADDRESS, &address, size);
	return ask(&request);
}

static int furnish(unsigned int ip, unsigned int end)
{
	unsigned int index = if_nametoindex(names[end]);
	int r = index ? set_up(LO_INDEX) : -errno;

	if (r == 0)
		r = add_address(index, ip, end);
	return r == 0 ? set_up(index) : r;
}

/* --- the namespaces --- */

static int open_space(int *ret_fd)
{
	*ret_fd = open(OWN_SPACE, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int make_space(int *ret_fd)
{
	return unshare(CLONE_NEWNET) < 0 ? -errno : open_space(ret_fd);
}

static int build(struct zm_link *link, const struct zm_net_options *options)
{
	int r = make_space(&link->spaces[1]);

	if (r == 0)
		r = make_space(&link->spaces[0]);
	if (r == 0)
		r = make_pair(link, (uint32_t)options->mtu);
	if (r == 0)
		r = furnish(options->ip, 0);
	if (r == 0 && setns(link->spaces[1], CLONE_NEWNET) < 0)
		r = -errno;
	return r == 0 ? furnish(options->ip, 1) : r;
}

static int refuse(int error, const struct zm_net_options *options, struct zm_why *why)
{
	switch (error) {
	case -EPERM:
		return zm_why_set(why, -ENOTSUP,
				  "link=veth makes network namespaces, which needs root "
				  "(CAP_SYS_ADMIN and CAP_NET_ADMIN); link=lo does not");
	case -EOPNOTSUPP:
		return zm_why_set(why, -ENOTSUP,
				  "link=veth: this kernel has no veth pairs: load them (modprobe "
				  "veth), or boot one built with CONFIG_VETH");
	case -EACCES:
	case -EAFNOSUPPORT:
		if (options->ip == ZM_NET_IPV6)
			return zm_why_set(
				why, -ENOTSUP,
				"link=veth ip=ipv6: this kernel has no IPv6 (boot without "
				"ipv6.disable=1)");
		break;
	default:
		break;
	}
	return zm_why_errno(why, error, "link=veth: making the link");
}

int zm_link_open(struct zm_link *link, const struct zm_net_options *options, struct zm_why *why)
{
	zm_autoclose int home = -1;
	int r;

	*link = (struct zm_link){ .spaces = { -1, -1 } };
	if (options->link != ZM_NET_LINK_VETH)
		return 0;
	link->is_open = true;
	r = open_space(&home);
	if (r < 0)
		return refuse(r, options, why);
	r = build(link, options);
	/* A thread that stays in a foreign namespace would mislead whoever comes after. */
	if (setns(home, CLONE_NEWNET) < 0 && r == 0)
		r = -errno;
	if (r == 0)
		return 0;
	zm_link_close(link);
	return refuse(r, options, why);
}

int zm_link_check(const struct zm_net_options *options, struct zm_why *why)
{
	struct zm_link link;
	int r = zm_link_open(&link, options, why);

	zm_link_close(&link);
	return r;
}

int zm_link_enter(const struct zm_link *link, unsigned int end, struct zm_why *why)
{
	if (!link->is_open || setns(link->spaces[end], CLONE_NEWNET) == 0)
		return 0;
	return zm_why_errno(why, -errno, "link=veth: entering the network namespace");
}

void zm_link_close(struct zm_link *link)
{
	for (unsigned int end = 0; link->is_open && end < 2; end++)
		if (link->spaces[end] >= 0)
			(void)close(link->spaces[end]);
	link->is_open = false;
}

/* --- where the ends are --- */

void zm_link_address(const struct zm_net_options *options, unsigned int end,
		     struct zm_net_address *ret_address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret_address->storage;
	struct sockaddr_in *in = (struct sockaddr_in *)&ret_address->storage;

	zm_net_address_loopback(ret_address, options->ip);
	if (options->link != ZM_NET_LINK_VETH)
		return;
	if (options->ip == ZM_NET_IPV6)
		(void)inet_pton(AF_INET6, addresses[ZM_NET_IPV6][end], &in6->sin6_addr);
	else
		(void)inet_pton(AF_INET, addresses[ZM_NET_IPV4][end], &in->sin_addr);
}

const char *zm_link_interface(const struct zm_net_options *options, unsigned int end)
{
	return options->link == ZM_NET_LINK_VETH ? names[end] : "lo";
}
