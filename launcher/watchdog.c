/* The watchdog: sleeps until the supervisor dies, then lets every call through. */
#include "launcher/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

#include "launcher/answer.h"
#include "launcher/base.h"
#include "launcher/detach.h"
#include "launcher/filter.h"
#include "launcher/passing.h"
#include "launcher/supervisor.h"

struct seccomp_notif *watchdog_share(void)
{
	void *page = mmap(NULL, sizeof(struct seccomp_notif), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

enum { WRITERS = 1024 };

/* The watchdog's own side. */
struct watch {
	struct supervisor *state; /* what it knows of the supervisor's */
	struct process *program;  /* NULL when it has died */
	int poll;
	int listener;
	int supervisor; /* pidfd; -1 when it has died */
	int link;
	int writers
		[WRITERS]; /* of devices; no memory is allocated beside the supervisor */
	size_t writer_count;
};

static int add(int poll, int descriptor, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = descriptor};

	return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

static void let_through(const struct watch *watch, const struct seccomp_notif *request)
{
	const struct supervisor_job *job = watch->state->job;
	struct seccomp_notif_resp response = {
		.id = request->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	/* A held clock is let go by its own limit only; until then waits are to last. */
	if (job->wants & FILTER_CLOCK && request->pid)
		answer_unsupervised((pid_t)request->pid, job->began, &request->data);
	ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* In a child: memory was shared with a supervisor that may have died anywhere. */
static void finish_run(struct watch *watch)
{
	if (!watch->program)
		return;
	const struct kept *kept = &watch->state->kept;
	/* A fork costs as much as a program's start. */
	pid_t child = kept->directory < 0 || kept->finished ? -1 : fork();
	if (child == 0) {
		kept_died(watch->state, watch->program, "the supervisor was killed");
		kept_tidy(&watch->state->kept);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	close(watch->program->pidfd);
	watch->program = NULL;
}

static void serve_listener(struct watch *watch, uint32_t events)
{
	struct seccomp_notif request = {0};

	if (events & EPOLLIN) {
		if (!ioctl(watch->listener, SECCOMP_IOCTL_NOTIF_RECV, &request))
			let_through(watch, &request);
	} else if (events & EPOLLHUP) {
		finish_run(watch);
		_exit(0);
	}
}

static void take_over(struct watch *watch)
{
	close(watch->supervisor);
	watch->supervisor = -1;
	/* What it had received and not answered; an answered one is refused. */
	let_through(watch, watch->state->request);
	if (add(watch->poll, watch->listener, EPOLLIN))
		_exit(1);
	if (watch->program)
		add(watch->poll, watch->program->pidfd, EPOLLIN);
	for (size_t i = 0; i < watch->writer_count; i++) {
		struct epoll_event event = {
			.events = EPOLLOUT, .data.fd = watch->writers[i]};
		epoll_ctl(watch->poll, EPOLL_CTL_MOD, watch->writers[i], &event);
	}
	/* It ends before us whenever the last program has ended. */
	struct pollfd polled = {.fd = watch->listener, .events = POLLIN};
	if (poll(&polled, 1, 0) <= 0 || !(polled.revents & POLLHUP))
		supervisor_warn(watch->state,
			"the supervisor was killed; the program goes on without");
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

static void serve_device(struct watch *watch, int writer, uint32_t events)
{
	if (!(events & EPOLLERR)) {
		fill(writer);
		return;
	}
	close(writer);
	for (size_t i = 0; i < watch->writer_count; i++)
		if (watch->writers[i] == writer)
			watch->writers[i--] = watch->writers[--watch->writer_count];
}

/* Only its readers' end is of interest (EPOLLERR is always told), and room in it once
 * nobody else fills it. */
static void adopt(struct watch *watch, int writer)
{
	if (watch->writer_count == WRITERS) {
		/* These end with the supervisor: reads of them then find an end. */
		close(writer);
		return;
	}
	add(watch->poll, writer, watch->supervisor < 0 ? EPOLLOUT : 0);
	watch->writers[watch->writer_count++] = writer;
}

static void serve_link(struct watch *watch)
{
	int writer = passing_receive(watch->link, NULL);

	if (writer >= 0) {
		adopt(watch, writer);
	} else if (!errno) {
		kept_drop(&watch->state->kept);
	} else {
		close(watch->link);
		watch->link = -1;
	}
}

static void serve_one(struct watch *watch, const struct epoll_event *event)
{
	int descriptor = event->data.fd;

	if (descriptor == watch->link)
		serve_link(watch);
	else if (descriptor == watch->supervisor)
		take_over(watch);
	else if (descriptor == watch->listener)
		serve_listener(watch, event->events);
	else if (watch->program && descriptor == watch->program->pidfd)
		finish_run(watch);
	else
		serve_device(watch, descriptor, event->events);
}

_Noreturn static void serve(struct watch *watch)
{
	/* The link is read to its end before the supervisor's death is acted upon: they
	 * become ready together, and the link was added first. */
	if (watch->poll < 0 || add(watch->poll, watch->link, EPOLLIN) ||
		add(watch->poll, watch->supervisor, EPOLLIN))
		_exit(1);
	for (;;) {
		struct epoll_event event;
		if (epoll_wait(watch->poll, &event, 1, -1) == 1)
			serve_one(watch, &event);
	}
}

void watchdog_run(
	const struct supervisor_job *job, int listeners, int link, int supervisor)
{
	struct supervisor state = {.job = job, .request = job->request};
	struct process program = {.pid = job->program, .memory = -1, .maps = -1};
	struct watch watch = {
		.state = &state,
		.program = &program,
		.supervisor = supervisor,
		.link = link,
	};
	int descriptors[5] = {listeners, link, supervisor, -1, -1};

	kept_init(&state.kept, job);
	kept_descriptors(&state.kept, descriptors + 3);
	detach_session();
	detach_descriptors(descriptors, ARRAY_SIZE(descriptors));
	watch.listener = state.listener = passing_receive(listeners, NULL);
	if (watch.listener < 0)
		_exit(1);
	close(listeners);
	program.pidfd = (int)syscall(SYS_pidfd_open, job->program, 0);
	if (program.pidfd < 0)
		watch.program = NULL;
	state.tasks.processes = watch.program;
	watch.poll = epoll_create1(EPOLL_CLOEXEC);
	serve(&watch);
}

/* In a fork of the supervisor, whose descriptors it has. */
_Noreturn static void run_again(struct supervisor *supervisor, int pidfd, int link)
{
	struct watch watch = {
		.state = supervisor,
		.program = tasks_drop(&supervisor->tasks, supervisor->job->program),
		.poll = epoll_create1(EPOLL_CLOEXEC),
		.listener = supervisor->listener,
		.supervisor = pidfd,
		.link = link,
	};

	close(supervisor->poll);
	close(supervisor->crash.signals);
	for (struct device *device = supervisor->devices.list; device;
		device = device->next)
		adopt(&watch, device->writer);
	serve(&watch);
}

static void forget(struct supervisor *supervisor)
{
	struct watchdog *watchdog = &supervisor->watchdog;

	if (watchdog->pid > 0)
		waitpid(watchdog->pid, NULL, 0);
	if (watchdog->link >= 0)
		close(watchdog->link);
	*watchdog = (struct watchdog){.link = -1};
}

int watchdog_restart(struct supervisor *supervisor)
{
	struct watchdog *watchdog = &supervisor->watchdog;
	int ends[2];

	forget(supervisor);
	cleanup_fd int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (own < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	watchdog->pid = fork();
	if (watchdog->pid == 0) {
		close(ends[0]);
		run_again(supervisor, own, ends[1]);
	}
	close(ends[1]);
	if (watchdog->pid < 0) {
		base_close_descriptor(&ends[0]);
		return -1;
	}
	watchdog->link = ends[0];
	return add(supervisor->poll, watchdog->link, EPOLLIN);
}

void watchdog_release_run(struct watchdog *watchdog)
{
	if (watchdog->link >= 0)
		passing_send(watchdog->link, -1, 0);
}

void watchdog_adopt(struct watchdog *watchdog, int writer)
{
	if (watchdog->link >= 0)
		passing_send(watchdog->link, writer, 0);
}
