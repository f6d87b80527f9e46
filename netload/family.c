/* family: the rows. */
#include "netload/family.h"

#include <netinet/in.h>
#include <sys/socket.h>

const struct zm_family zm_family_udp = {
	.name = "udp",
	.is_inet = true,
	.type = SOCK_DGRAM,
	.protocol = IPPROTO_UDP,
	.call = ZM_CALL_SENDTO,
	.ending = ZM_END_EMPTY,
	.meeting = ZM_MEET_ADDRESS,
	.keeps_borders = true,
	.may_lose = true,
};

const struct zm_family zm_family_tcp = {
	.name = "tcp",
	.is_inet = true,
	.type = SOCK_STREAM,
	.protocol = IPPROTO_TCP,
	.call = ZM_CALL_SEND,
	.ending = ZM_END_SHUTDOWN,
	.meeting = ZM_MEET_CONNECT,
};

const struct zm_family zm_family_sctp = {
	.name = "sctp",
	.is_inet = true,
	.type = SOCK_STREAM,
	.protocol = IPPROTO_SCTP,
	.call = ZM_CALL_SCTP,
	.ending = ZM_END_SHUTDOWN,
	.meeting = ZM_MEET_CONNECT,
	.keeps_borders = true,
};

const struct zm_family zm_family_sctp_many = {
	.name = "sctp",
	.is_inet = true,
	.type = SOCK_SEQPACKET,
	.protocol = IPPROTO_SCTP,
	.call = ZM_CALL_SCTP,
	.ending = ZM_END_CLOSE,
	.meeting = ZM_MEET_MANY,
	.keeps_borders = true,
};

const struct zm_family zm_family_unix = {
	.name = "unix",
	.type = SOCK_STREAM,
	.call = ZM_CALL_WRITE,
	.ending = ZM_END_SHUTDOWN,
	.meeting = ZM_MEET_HANDED,
};

const struct zm_family zm_family_unix_dgram = {
	.name = "unix",
	.type = SOCK_DGRAM,
	.call = ZM_CALL_SEND,
	.ending = ZM_END_EMPTY,
	.meeting = ZM_MEET_HANDED,
	.keeps_borders = true,
};

const struct zm_family zm_family_pipe = {
	.name = "pipe",
	.type = 0,
	.call = ZM_CALL_WRITE,
	.ending = ZM_END_CLOSE,
	.meeting = ZM_MEET_HANDED,
};
