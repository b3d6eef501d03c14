/* The watchdog: sleeps until the supervisor dies, then lets every call through. */
#include "launcher/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/passing.h"
#include "launcher/supervisor.h"

int watchdog_init(struct watchdog *watchdog)
{
	void *page = mmap(NULL, sizeof(struct seccomp_notif), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*watchdog = (struct watchdog){.pidfd = -1, .socket = -1};
	if (page == MAP_FAILED)
		return -1;
	watchdog->request = page;
	return 0;
}

/* What the watchdog works with, after the fork. */
struct watch {
	struct supervisor *state; /* as it was at the fork */
	struct process *program;  /* NULL when it has died */
	int poll;
	int listener;
	int supervisor; /* pidfd */
	int socket;
	const struct seccomp_notif *request;
	bool alone; /* the supervisor has died */
};

static int add(int poll, int descriptor, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = descriptor};

	return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

static void let_through(const struct watch *watch, uint64_t id)
{
	struct seccomp_notif_resp response = {
		.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void finish_run(struct watch *watch)
{
	kept_died(watch->state, watch->program, "the supervisor was killed");
	close(watch->program->pidfd);
	watch->program = NULL;
}

static void serve_listener(struct watch *watch, uint32_t events)
{
	struct seccomp_notif request = {0};

	if (events & EPOLLIN) {
		if (!ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_RECV, &request))
			let_through(watch, request.id);
	} else if (events & EPOLLHUP) {
		if (watch->program)
			finish_run(watch);
		_exit(0);
	}
}

static void take_over(struct watch *watch)
{
	watch->alone = true;
	close(watch->supervisor);
	watch->supervisor = -1;
	if (watch->program)
		add(watch->poll, watch->program->pidfd, EPOLLIN);
	/* What it had received and not answered; an answered one is refused. */
	let_through(watch, watch->request->id);
	if (add(watch->poll, watch->listener, EPOLLIN))
		_exit(1);
}

/* The stream's place is not known here: true randomness goes on where the seeded ended.
 */
static void fill(int writer)
{
	uint8_t bytes[256];

	do {
		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
			return;
	} while (write(writer, bytes, sizeof(bytes)) > 0);
}

static void serve_device(const struct watch *watch, int writer, uint32_t events)
{
	struct epoll_event event = {.events = EPOLLOUT, .data.fd = writer};

	if (events & EPOLLERR)
		close(writer);
	else if (watch->alone && events & EPOLLOUT)
		fill(writer);
	else if (watch->alone)
		epoll_ctl(watch->poll, EPOLL_CTL_MOD, writer, &event);
}

static void serve_socket(const struct watch *watch)
{
	int writer = passing_receive(watch->socket, NULL);

	/* Only its readers' end is of interest (EPOLLERR is always told), and room in it
	 * once nobody else fills it. */
	if (writer >= 0)
		add(watch->poll, writer, watch->alone ? EPOLLOUT : 0);
	else if (!errno)
		kept_drop(&watch->state->kept);
	else
		close(watch->socket);
}

static void wait_for_events(struct watch *watch)
{
	struct epoll_event events[16];
	int count = epoll_wait(watch->poll, events, ARRAY_SIZE(events), -1);

	for (int i = 0; i < count; i++) {
		int descriptor = events[i].data.fd;
		if (descriptor == watch->supervisor && !watch->alone)
			take_over(watch);
		else if (descriptor == watch->listener)
			serve_listener(watch, events[i].events);
		else if (descriptor == watch->socket)
			serve_socket(watch);
		else if (watch->program && descriptor == watch->program->pidfd)
			finish_run(watch);
		else
			serve_device(watch, descriptor, events[i].events);
	}
}

_Noreturn static void watch(struct supervisor *supervisor, int pidfd, int socket)
{
	struct watch watch = {
		.state = supervisor,
		.program = tasks_drop(&supervisor->tasks, supervisor->job->program),
		.poll = epoll_create1(EPOLL_CLOEXEC),
		.listener = supervisor->listener,
		.supervisor = pidfd,
		.socket = socket,
		.request = supervisor->watchdog.request,
	};

	for (struct device *device = supervisor->devices.list; device;
		device = device->next)
		add(watch.poll, device->writer, 0);
	close(supervisor->poll);
	if (add(watch.poll, pidfd, EPOLLIN) || add(watch.poll, socket, EPOLLIN))
		_exit(1);
	for (;;)
		wait_for_events(&watch);
}

int watchdog_start(struct supervisor *supervisor)
{
	struct watchdog *watchdog = &supervisor->watchdog;
	int ends[2];
	int own = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (own < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		close(own);
		return -1;
	}
	watchdog->pid = fork();
	if (watchdog->pid == 0) {
		close(ends[0]);
		watch(supervisor, own, ends[1]);
	}
	close(own);
	close(ends[1]);
	watchdog->socket = ends[0];
	watchdog->pidfd =
		watchdog->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, watchdog->pid, 0);
	if (watchdog->pidfd < 0) {
		base_close_descriptor(&ends[0]);
		watchdog->socket = -1;
		return -1;
	}
	return add(supervisor->poll, watchdog->pidfd, EPOLLIN);
}

void watchdog_reap(struct supervisor *supervisor)
{
	struct watchdog *watchdog = &supervisor->watchdog;

	waitpid(watchdog->pid, NULL, 0);
	epoll_ctl(supervisor->poll, EPOLL_CTL_DEL, watchdog->pidfd, NULL);
	close(watchdog->pidfd);
	close(watchdog->socket);
	watchdog->pidfd = watchdog->socket = -1;
}

void watchdog_release_run(struct watchdog *watchdog)
{
	if (watchdog->socket >= 0)
		passing_send(watchdog->socket, -1, 0);
}

void watchdog_adopt(struct watchdog *watchdog, int writer)
{
	if (watchdog->socket >= 0)
		passing_send(watchdog->socket, writer, 0);
}
