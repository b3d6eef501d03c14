/* Descriptors passed between processes: unix(7), SCM_RIGHTS. */
#include "launcher/passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int passing_send(int socket, int descriptor, int64_t number)
{
	union control control = {0};
	struct iovec payload = {&number, sizeof(number)};
	struct msghdr message = {.msg_iov = &payload, .msg_iovlen = 1};

	if (descriptor >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(descriptor));
		memcpy(CMSG_DATA(header), &descriptor, sizeof(descriptor));
	}
	ssize_t sent;
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == sizeof(number) ? 0 : -1;
}

int passing_receive(int socket, int64_t *number)
{
	union control control = {0};
	int64_t received = 0;
	struct iovec payload = {&received, sizeof(received)};
	struct msghdr message = {
		.msg_iov = &payload,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t size;

	do
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (size < 0 && errno == EINTR);
	if (size != sizeof(received)) {
		errno = ECONNRESET;
		return -1;
	}
	if (number)
		*number = received;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_level != SOL_SOCKET ||
		header->cmsg_type != SCM_RIGHTS) {
		errno = 0;
		return -1;
	}
	int descriptor;
	memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
	return descriptor;
}
