/* Holding the program at its end, by ptrace. */
#include "launcher/crash.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/supervisor.h"

int crash_init(struct crash *crash, int poll)
{
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t set;

	*crash = (struct crash){.signals = -1};
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD); /* blocked, see detach_session() */
	crash->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	event.data.fd = crash->signals;
	return crash->signals < 0
		       ? -1
		       : epoll_ctl(poll, EPOLL_CTL_ADD, crash->signals, &event);
}

void crash_seize(struct crash *crash, pid_t program)
{
	if (!ptrace(PTRACE_SEIZE, program, NULL, PTRACE_O_TRACEEXIT))
		crash->seized = true;
	else if (!crash->seized)
		crash->refused = errno;
}

bool crash_let_go(struct crash *crash, const struct process *process)
{
	if (!crash->seized || ptrace(PTRACE_INTERRUPT, process->pid, NULL, NULL))
		return false;
	crash->leaving = true;
	return true;
}

/* The program's first thread is about to die, its memory still there. */
static void hold_end(struct supervisor *supervisor, struct process *process)
{
	unsigned long code = 0;

	ptrace(PTRACE_GETEVENTMSG, process->pid, NULL, &code);
	/* Another thread executes something, or the others go on without this one. */
	bool goes_on = process->first_ended ||
		       (process->executing && process->executing_tid != process->pid);
	if (!goes_on)
		kept_ending(supervisor, process, (int)code);
	/* Its parent is to see its end, not we. */
	ptrace(PTRACE_DETACH, process->pid, NULL, NULL);
	supervisor->crash.seized = supervisor->crash.leaving = false;
}

/* Lets the program go on from a stop, as it would have without us. */
static void go_on(struct crash *crash, const struct process *process, int status)
{
	int signal = status & 0xff, event = status >> 8;

	if (crash->leaving && event == PTRACE_EVENT_STOP && signal == SIGTRAP) {
		ptrace(PTRACE_DETACH, process->pid, NULL, NULL);
		crash->seized = crash->leaving = false;
		return;
	}
	/* ptrace(2), "Group-stop" and PTRACE_LISTEN: stopped by job control it stays so;
	 * SIGTRAP tells the end of that. */
	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		ptrace(PTRACE_LISTEN, process->pid, NULL, NULL);
	else if (event == PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, process->pid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, process->pid, NULL, (void *)(long)signal);
}

/* One change of the program; false where there is none. Stops are looked at and not taken
 * (WNOWAIT): should we die before going on, the signal is still delivered. */
static bool serve_one(struct supervisor *supervisor, struct process *process)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)process->pid, &info,
		    WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) ||
		!info.si_pid)
		return false;
	if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) {
		/* Taken by us, it becomes its parent's to wait for. */
		waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | __WALL);
		return false;
	}
	if (info.si_status >> 8 == PTRACE_EVENT_EXIT)
		hold_end(supervisor, process);
	else
		go_on(&supervisor->crash, process, info.si_status);
	return supervisor->crash.seized;
}

void crash_serve(struct supervisor *supervisor)
{
	struct signalfd_siginfo info;
	struct process *process = supervisor->tasks.processes;

	while (read(supervisor->crash.signals, &info, sizeof(info)) > 0)
		;
	while (process && process->pid != supervisor->job->program)
		process = process->next;
	if (process && supervisor->crash.seized)
		while (serve_one(supervisor, process))
			;
}
