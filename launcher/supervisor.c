/* The supervisor's loop: waits for the kernel's requests and for the ends of things. */
#include "launcher/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/detach.h"
#include "launcher/filter.h"
#include "launcher/passing.h"
#include "launcher/settle.h"

/* include/uapi/linux/seccomp.h, from Linux 6.6 on: the two sides of a request take turns
 * on one CPU, which saves a wake-up of another. */
#define NOTIF_SET_FLAGS _IOW('!', 4, uint64_t) /* the flags themselves, no pointer */
enum { NOTIF_SYNC_WAKE_UP = 1 };

void supervisor_warn(struct supervisor *supervisor, const char *format, ...)
{
	char line[1024];
	va_list list;

	if (!supervisor->tasks.processes)
		return;
	/* Any process of the run will do, the oldest is the program itself. */
	struct process *process = supervisor->tasks.processes;
	while (process->next)
		process = process->next;
	cleanup_fd int stream =
		(int)syscall(SYS_pidfd_getfd, process->pidfd, STDERR_FILENO, 0);
	if (stream < 0)
		return;
	size_t used = (size_t)snprintf(line, sizeof(line), "%s: warning: ", program_name);
	va_start(list, format);
	int length = vsnprintf(line + used, sizeof(line) - used - 1, format, list);
	va_end(list);
	used += length > 0 ? (size_t)length : 0;
	used = used < sizeof(line) - 2 ? used : sizeof(line) - 2;
	line[used++] = '\n';
	if (write(stream, line, used) < 0)
		errno = 0;
}

void supervisor_warn_memory(struct supervisor *supervisor, const struct process *process)
{
	int error = errno;

	if (supervisor->warned_memory || error == ESRCH)
		return;
	supervisor->warned_memory = true;
	supervisor_warn(supervisor,
		"process %d cannot be supervised, as its memory is out of reach: %s",
		(int)process->pid, strerror(error));
}

static void send_answer(struct supervisor *supervisor, uint64_t id, struct answer *answer)
{
	struct seccomp_notif_resp response = {.id = id};

	if (answer->kind == ANSWER_NONE)
		return;
	if (answer->kind == ANSWER_OPEN) {
		struct seccomp_notif_addfd addfd = {
			.id = id,
			.flags = SECCOMP_ADDFD_FLAG_SEND,
			.srcfd = (uint32_t)answer->descriptor,
			.newfd_flags = answer->close_on_exec ? O_CLOEXEC : 0,
		};
		int result =
			ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addfd);
		int error = errno;
		close(answer->descriptor);
		if (result >= 0 || error == ENOENT)
			return;
		/* EMFILE: the caller's table is full. */
		answer->kind = ANSWER_VALUE;
		answer->value = -error;
	}
	if (answer->kind == ANSWER_CONTINUE)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (answer->value < 0)
		response.error = (int)answer->value;
	else
		response.val = answer->value;
	/* ENOENT: the caller was killed meanwhile. */
	ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void serve_request(struct supervisor *supervisor)
{
	struct seccomp_notif *request = supervisor->request;
	struct answer answer = {.kind = ANSWER_CONTINUE};

	/* The kernel wants it zero. The watchdog reads the number of the last one here.
	 */
	memset(request, 0, sizeof(*request));
	if (ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_RECV, request))
		return;
	struct task *task = tasks_find(&supervisor->tasks, (pid_t)request->pid);
	if (task && task->process->clock_held)
		settle(task->process, task->tid);
	if (task)
		answer_find(supervisor, task, request->id, &request->data, &answer);
	send_answer(supervisor, request->id, &answer);
	image_prepare(supervisor);
	kept_idle(supervisor);
}

static const char unseen[] = "the program was killed and could not be held (no ptrace)";

/* An event of anything but the listener. */
static void serve_event(struct supervisor *supervisor, const struct epoll_event *event)
{
	int descriptor = event->data.fd;

	if (descriptor == supervisor->watchdog.link) {
		watchdog_restart(supervisor);
		return;
	}
	if (descriptor == supervisor->crash.signals) {
		crash_serve(supervisor);
		return;
	}
	struct process *process = tasks_find_pidfd(&supervisor->tasks, descriptor);
	if (process) {
		kept_died(supervisor, process, unseen);
		tasks_forget(&supervisor->tasks, process);
	} else {
		devices_serve(&supervisor->devices, descriptor, event->events);
	}
}

static void serve_events(struct supervisor *supervisor)
{
	struct epoll_event events[32];
	int count = epoll_wait(supervisor->poll, events, ARRAY_SIZE(events), 0);

	for (int i = 0; i < count; i++)
		serve_event(supervisor, &events[i]);
}

/* The listener is not one of epoll's: through that it would wake us on any CPU, which costs
 * several times as much as taking turns on the caller's (NOTIF_SYNC_WAKE_UP). */
static void serve(struct supervisor *supervisor)
{
	struct pollfd polled[] = {
		{.fd = supervisor->listener, .events = POLLIN},
		{.fd = supervisor->poll, .events = POLLIN},
	};

	for (;;) {
		int timeout = image_release_clocks(supervisor);
		int tidy = kept_tidy_in(&supervisor->kept);
		if (timeout < 0 || (tidy >= 0 && tidy < timeout))
			timeout = tidy;
		int ready = poll(polled, ARRAY_SIZE(polled), timeout);
		if (ready == 0)
			kept_tidy(&supervisor->kept);
		if (ready <= 0)
			continue;
		if (polled[1].revents)
			serve_events(supervisor);
		if (polled[0].revents & POLLIN)
			serve_request(supervisor);
		else if (polled[0].revents)
			return;
	}
}

/* A descriptor and more for each process of a large tree, and files of any size. */
static void raise_limits(void)
{
	static const int limits[] = {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA};
	struct rlimit limit;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (!getrlimit(limits[i], &limit) && limit.rlim_cur != limit.rlim_max) {
			limit.rlim_cur = limit.rlim_max;
			setrlimit(limits[i], &limit);
		}
}

static int add(const struct supervisor *supervisor, int descriptor)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};

	return epoll_ctl(supervisor->poll, EPOLL_CTL_ADD, descriptor, &event);
}

static int prepare(struct supervisor *supervisor, int listeners)
{
	supervisor->poll = epoll_create1(EPOLL_CLOEXEC);
	if (supervisor->poll < 0 ||
		tasks_init(&supervisor->tasks, supervisor->poll, supervisor->job->program,
			supervisor->job->seed) ||
		crash_init(&supervisor->crash, supervisor->poll))
		return -1;
	devices_init(&supervisor->devices, supervisor->poll);
	supervisor->listener = passing_receive(listeners, NULL);
	if (supervisor->listener < 0 || add(supervisor, supervisor->watchdog.link))
		return -1;
	close(listeners);
	/* Older kernels lack it: ENOTTY. */
	ioctl(supervisor->listener, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP);
	return 0;
}

/* The program may end, and the kernel say so, with its last event unread. */
static void finish(struct supervisor *supervisor)
{
	struct process *process = supervisor->tasks.processes;

	while (process && process->pid != supervisor->job->program)
		process = process->next;
	if (process)
		kept_died(supervisor, process, unseen);
	kept_tidy(&supervisor->kept);
}

void supervisor_run(const struct supervisor_job *job, int listeners, int link)
{
	struct supervisor supervisor = {
		.job = job,
		.request = job->request,
		.watchdog = {.link = link},
	};
	int descriptors[4] = {listeners, link, -1, -1};

	kept_init(&supervisor.kept, job);
	kept_descriptors(&supervisor.kept, descriptors + 2);
	detach_session();
	detach_descriptors(descriptors, ARRAY_SIZE(descriptors));
	raise_limits();
	if (prepare(&supervisor, listeners))
		_exit(1);
	serve(&supervisor);
	finish(&supervisor);
	_exit(0);
}
