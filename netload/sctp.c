/* sctp: headers for sendmsg and recvmsg, and what the notifications mean. */
#include "netload/sctp.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

void zm_sctp_prepare_send(struct zm_sctp_header *header, const struct zm_net_address *to,
			  void *data, size_t size)
{
	struct cmsghdr *cmsg = (struct cmsghdr *)header->control;

	header->iov = (struct iovec){ .iov_base = data, .iov_len = size };
	header->msg = (struct msghdr){
		.msg_name = to ? (void *)(uintptr_t)&to->storage : NULL,
		.msg_namelen = to ? to->length : 0,
		.msg_iov = &header->iov,
		.msg_iovlen = 1,
		.msg_control = header->control,
		.msg_controllen = sizeof(header->control),
	};
	memset(header->control, 0, sizeof(header->control));
	cmsg->cmsg_level = IPPROTO_SCTP;
	cmsg->cmsg_type = SCTP_SNDRCV;
	cmsg->cmsg_len = CMSG_LEN(sizeof(struct sctp_sndrcvinfo));
}

void zm_sctp_prepare_recv(struct zm_sctp_header *header, void *data, size_t size)
{
	header->iov = (struct iovec){ .iov_base = data, .iov_len = size };
	header->msg = (struct msghdr){
		.msg_iov = &header->iov,
		.msg_iovlen = 1,
		.msg_control = header->control,
		.msg_controllen = sizeof(header->control),
	};
}

static enum zm_sctp_event association_changed(const void *data, size_t size)
{
	struct sctp_assoc_change change;

	/* Its last member is an array without length, which need not be there. */
	if (size < offsetof(struct sctp_assoc_change, sac_info))
		return ZM_SCTP_GARBLED;
	memset(&change, 0, sizeof(change));
	memcpy(&change, data, offsetof(struct sctp_assoc_change, sac_info));
	switch (change.sac_state) {
	case SCTP_COMM_LOST:
	case SCTP_CANT_STR_ASSOC:
		return ZM_SCTP_BROKEN;
	case SCTP_SHUTDOWN_COMP:
		return ZM_SCTP_ENDED;
	default:
		return ZM_SCTP_OTHER;
	}
}

static enum zm_sctp_event notification(const void *data, size_t size)
{
	uint16_t type;

	if (size < sizeof(type))
		return ZM_SCTP_GARBLED;
	memcpy(&type, data, sizeof(type));
	switch (type) {
	case SCTP_ASSOC_CHANGE:
		return association_changed(data, size);
	case SCTP_SHUTDOWN_EVENT:
		return size < sizeof(struct sctp_shutdown_event) ? ZM_SCTP_GARBLED : ZM_SCTP_ENDED;
	default:
		return ZM_SCTP_OTHER;
	}
}

enum zm_sctp_event zm_sctp_classify(const struct msghdr *msg, const void *data, size_t size)
{
	if (msg->msg_flags & MSG_NOTIFICATION)
		return notification(data, size);
	return msg->msg_flags & MSG_EOR ? ZM_SCTP_DATA : ZM_SCTP_PIECE;
}

int zm_sctp_subscribe(int fd)
{
	struct sctp_event_subscribe events;
	/* Kernels differ in how long the struct is; all take a shorter one. */
	socklen_t length = offsetof(struct sctp_event_subscribe, sctp_shutdown_event) + 1;

	memset(&events, 0, sizeof(events));
	events.sctp_association_event = 1;
	events.sctp_shutdown_event = 1;
	return setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &events, length) < 0 ? -errno : 0;
}
