/* Pipes in place of the random devices. */
#include "launcher/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "launcher/base.h"

void devices_init(struct devices *devices, int poll)
{
	*devices = (struct devices){.poll = poll};
}

static void close_first(struct devices *devices, struct device **link)
{
	struct device *device = *link;

	*link = device->next;
	/* The watchdog's copy would keep it polled. */
	epoll_ctl(devices->poll, EPOLL_CTL_DEL, device->writer, NULL);
	close(device->writer);
	free(device);
}

/* Writes until the pipe is full. False where nobody can read it. */
static bool fill(struct device *device)
{
	uint8_t bytes[4096];

	for (;;) {
		seed_bytes(&device->key, SEED_DEVICE, device->index, device->offset,
			bytes, sizeof(bytes));
		ssize_t written = write(device->writer, bytes, sizeof(bytes));
		if (written > 0)
			device->offset += (uint64_t)written;
		else
			return errno == EAGAIN || errno == EINTR;
	}
}

int devices_open(
	struct devices *devices, const struct seed_key *key, uint64_t index, int *writer)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	/* Only our end: the program's reads wait, as a device's would not have to. */
	struct epoll_event event = {.events = EPOLLOUT, .data.fd = ends[1]};
	if (fcntl(ends[1], F_SETFL, O_NONBLOCK) ||
		epoll_ctl(devices->poll, EPOLL_CTL_ADD, ends[1], &event)) {
		base_close_descriptor(&ends[0]);
		base_close_descriptor(&ends[1]);
		return -1;
	}
	struct device *device = xcalloc(1, sizeof(*device));
	*device = (struct device){devices->list, ends[1], *key, index, 0};
	devices->list = device;
	fill(device);
	*writer = ends[1];
	return ends[0];
}

bool devices_serve(struct devices *devices, int descriptor, uint32_t events)
{
	struct device **link = &devices->list;

	while (*link && (*link)->writer != descriptor)
		link = &(*link)->next;
	if (!*link)
		return false;
	if (events & EPOLLERR || !fill(*link))
		close_first(devices, link);
	return true;
}
