/*
 * sctp: SCTP's messages through the plain socket calls, so that no library is needed.
 *
 * Sending carries an SCTP_SNDRCV control message (stream 0, ordered, as the originals send), and
 * what is received is either data, possibly a piece of a longer message, or one of the kernel's
 * notifications about the association, which arrive in the same queue.
 */
#ifndef ZM_NETLOAD_SCTP_H
#define ZM_NETLOAD_SCTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Takes uint16_t and struct sockaddr_storage for known. */
#include <linux/sctp.h>

#include "netload/flow.h"

enum zm_sctp_event {
	ZM_SCTP_DATA,    /* the end of a message, or all of it */
	ZM_SCTP_PIECE,   /* data, and more of the same message follows */
	ZM_SCTP_OTHER,   /* a notification that changes nothing */
	ZM_SCTP_ENDED,   /* the peer has closed its side in order */
	ZM_SCTP_BROKEN,  /* the association is lost, or could not be made */
	ZM_SCTP_GARBLED, /* too short for what it says it is */
};

/* A message header with room for its parts. Points into itself: not to be copied. */
struct zm_sctp_header {
	struct msghdr msg;
	struct iovec iov;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct sctp_sndrcvinfo))];
};

/* Ready for sendmsg: one message to this address (NULL: the connected one). */
void zm_sctp_prepare_send(struct zm_sctp_header *header, const struct zm_net_address *to,
			  void *data, size_t size);

/* Ready for recvmsg. To be made anew before each call, which changes it. */
void zm_sctp_prepare_recv(struct zm_sctp_header *header, void *data, size_t size);

/* What a recvmsg that returned `size` bytes (at least 1) has brought. */
enum zm_sctp_event zm_sctp_classify(const struct msghdr *msg, const void *data, size_t size);

/* Asks for notifications of the association's changes and of the peer's shutdown. */
int zm_sctp_subscribe(int fd);

#endif
