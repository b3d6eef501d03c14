/* The threads and processes of a supervised run. */
#include "launcher/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "launcher/base.h"

static struct task **bucket(struct tasks *tasks, pid_t tid)
{
	return &tasks->table[(unsigned)tid % TASK_BUCKETS];
}

static struct task *task_new(struct tasks *tasks, struct process *process, pid_t tid,
	const struct seed_key *key)
{
	struct task *task = xcalloc(1, sizeof(*task));

	*task = (struct task){
		.next_in_table = *bucket(tasks, tid),
		.next_in_process = process->tasks,
		.process = process,
		.tid = tid,
		.key = *key,
	};
	*bucket(tasks, tid) = task;
	process->tasks = task;
	return task;
}

static void births_free(struct task *task)
{
	while (task->births) {
		struct birth *birth = task->births;

		task->births = birth->next;
		free(birth);
	}
}

static void task_free(struct tasks *tasks, struct task *task)
{
	struct task **link = bucket(tasks, task->tid);

	while (*link != task)
		link = &(*link)->next_in_table;
	*link = task->next_in_table;
	link = &task->process->tasks;
	while (*link != task)
		link = &(*link)->next_in_process;
	*link = task->next_in_process;
	births_free(task);
	free(task);
}

static struct task *process_new(struct tasks *tasks, pid_t pid, const struct birth *birth,
	const struct process *parent)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = pidfd};

	if (pidfd < 0)
		return NULL;
	if (epoll_ctl(tasks->poll, EPOLL_CTL_ADD, pidfd, &event)) {
		base_close_descriptor(&pidfd);
		return NULL;
	}
	struct process *process = xcalloc(1, sizeof(*process));
	*process = (struct process){
		.next = tasks->processes,
		.pid = pid,
		.alive = pid,
		.pidfd = pidfd,
		.memory = -1,
		.maps = -1,
		.pagemap = -1,
	};
	process->borrows_memory = birth->borrows_memory;
	if (parent) {
		/* It begins as a copy, and may stay one. */
		process->started = parent->started;
		process->clock_began = parent->clock_began;
		memcpy(process->start_bytes, parent->start_bytes,
			sizeof(process->start_bytes));
	}
	tasks->processes = process;
	return task_new(tasks, process, pid, &birth->key);
}

static void process_close(struct process *process)
{
	base_close_descriptor(&process->memory);
	base_close_descriptor(&process->maps);
	base_close_descriptor(&process->pagemap);
	process->memory = process->maps = process->pagemap = -1;
}

static struct process *find_process(const struct tasks *tasks, pid_t pid)
{
	struct process *process = tasks->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

struct process *tasks_find_pidfd(const struct tasks *tasks, int pidfd)
{
	struct process *process = tasks->processes;

	while (process && process->pidfd != pidfd)
		process = process->next;
	return process;
}

int tasks_init(struct tasks *tasks, int poll, pid_t pid, uint64_t seed)
{
	struct birth root = {0};

	*tasks = (struct tasks){.poll = poll};
	seed_root(&root.key, seed);
	seed_derive(&tasks->lost_key, &root.key, SEED_PROCESS, UINT64_MAX);
	return process_new(tasks, pid, &root, NULL) ? 0 : -1;
}

struct process *tasks_drop(struct tasks *tasks, pid_t pid)
{
	struct process *kept = NULL;

	for (struct process *process = tasks->processes; process;
		process = process->next) {
		process_close(process);
		if (process->pid == pid)
			kept = process;
		else
			close(process->pidfd);
	}
	return kept;
}

/* What /proc/TID/status tells of a task. */
struct identity {
	pid_t process;
	pid_t parent;
	pid_t own_tid; /* in the task's own pid namespace */
};

static pid_t number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	return at ? (pid_t)strtol(at + strlen(label), NULL, 10) : 0;
}

static pid_t last_number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);
	pid_t number = 0;

	if (!at)
		return 0;
	at += strlen(label);
	while (*at == '\t' || *at == ' ') {
		char *end;
		number = (pid_t)strtol(at, &end, 10);
		at = end;
	}
	return number;
}

static int identify(struct identity *identity, pid_t tid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	cleanup_fd int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	if (size <= 0)
		return -1;
	text[size] = '\0';
	*identity = (struct identity){
		.process = number_after(text, "\nTgid:"),
		.parent = number_after(text, "\nPPid:"),
		.own_tid = last_number_after(text, "\nNSpid:"),
	};
	return identity->process > 0 ? 0 : -1;
}

/* Takes the first expected birth of a kind from one task; false where there is none. */
static bool take_birth(struct task *task, bool thread, struct birth *taken)
{
	struct birth **last = NULL;

	/* The newest stands first, the first to be born last. */
	for (struct birth **link = &task->births; *link; link = &(*link)->next)
		if ((*link)->thread == thread)
			last = link;
	if (!last)
		return false;
	struct birth *birth = *last;
	*taken = *birth;
	*last = birth->next;
	free(birth);
	return true;
}

/* The thread whose id the kernel stored where its creator asked for it; it does so before
 * the thread runs (kernel/fork.c, kernel_clone). */
static bool take_thread_by_address(
	struct process *process, pid_t own_tid, struct birth *taken)
{
	for (struct task *task = process->tasks; task; task = task->next_in_process)
		for (struct birth **link = &task->births; *link; link = &(*link)->next) {
			struct birth *birth = *link;
			pid_t stored = 0;

			if (!birth->thread || !birth->tid_address)
				continue;
			if (process_read(process, birth->tid_address, &stored,
				    sizeof(stored)) != sizeof(stored) ||
				stored != own_tid)
				continue;
			*taken = *birth;
			*link = birth->next;
			free(birth);
			return true;
		}
	return false;
}

/* Nobody is known to have made it. */
static void lose_birth(struct tasks *tasks, struct birth *birth)
{
	*birth = (struct birth){0};
	seed_derive(&birth->key, &tasks->lost_key, SEED_PROCESS, tasks->lost++);
}

static struct task *recognise_thread(
	struct tasks *tasks, struct process *process, pid_t tid, pid_t own_tid)
{
	struct birth birth;
	bool found = take_thread_by_address(process, own_tid, &birth);

	for (struct task *task = process->tasks; task && !found;
		task = task->next_in_process)
		found = take_birth(task, true, &birth);
	if (!found)
		lose_birth(tasks, &birth);
	return task_new(tasks, process, tid, &birth.key);
}

/* The children that the thread made, oldest first (fs/proc/array.c, children_seq_ops),
 * which a zombie is too. Returns their text, owned, or NULL where the kernel does not
 * tell. */
static char *read_children(pid_t pid, pid_t tid)
{
	char path[64];
	size_t used = 0, room = 256;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
	cleanup_fd int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	char *text = xmalloc(room);
	while ((size = read(file, text + used, room - used - 1)) > 0) {
		used += (size_t)size;
		if (used + 1 == room)
			text = xrealloc(text, room *= 2);
	}
	text[used] = '\0';
	return text;
}

static pid_t newest_child(const struct task *task)
{
	cleanup_free char *text = read_children(task->process->pid, task->tid);
	pid_t newest = 0;
	char *at = text, *end;

	while (at && *at) {
		long child = strtol(at, &end, 10);
		if (end == at)
			break;
		newest = (pid_t)child;
		at = end + (*end == ' ');
	}
	return newest;
}

static bool has_child(const struct task *task, pid_t child)
{
	cleanup_free char *text = read_children(task->process->pid, task->tid);
	char *at = text, *end;

	while (at && *at) {
		long number = strtol(at, &end, 10);
		if (end == at)
			return false;
		if (number == child)
			return true;
		at = end + (*end == ' ');
	}
	return false;
}

static bool expects_process(const struct task *task)
{
	for (const struct birth *birth = task->births; birth; birth = birth->next)
		if (!birth->thread)
			return true;
	return false;
}

/* Which thread of `parent` made the process `pid`? Reading the lists of children is only
 * needed where several wait for theirs. */
static struct task *find_creator(const struct process *parent, pid_t pid)
{
	struct task *only = NULL;
	unsigned count = 0;

	for (struct task *task = parent->tasks; task; task = task->next_in_process)
		if (expects_process(task)) {
			only = task;
			count++;
		}
	if (count < 2)
		return only;
	for (struct task *task = parent->tasks; task; task = task->next_in_process)
		if (expects_process(task) && has_child(task, pid))
			return task;
	return only;
}

static struct task *recognise_process(
	struct tasks *tasks, const struct identity *identity)
{
	struct process *parent = find_process(tasks, identity->parent);
	struct task *creator = parent ? find_creator(parent, identity->process) : NULL;
	struct birth birth;

	if (!creator || !take_birth(creator, false, &birth))
		lose_birth(tasks, &birth);
	return process_new(tasks, identity->process, &birth, parent);
}

struct task *tasks_find(struct tasks *tasks, pid_t tid)
{
	struct identity identity;
	struct task *task = *bucket(tasks, tid);

	while (task && task->tid != tid)
		task = task->next_in_table;
	if (!task) {
		if (identify(&identity, tid))
			return NULL;
		struct process *process = find_process(tasks, identity.process);
		if (!process) {
			task = recognise_process(tasks, &identity);
			if (!task)
				return NULL;
			process = task->process;
		}
		process->alive = tid;
		if (tid != process->pid)
			task = recognise_thread(tasks, process, tid, identity.own_tid);
	}
	if (task)
		task->process->alive = tid;
	return task;
}

/* A process that the thread made and that has not asked for anything yet is recognised
 * from its creator's side, before the creator makes another or ends. */
static void settle_process(struct tasks *tasks, struct task *task)
{
	struct birth birth;

	if (!expects_process(task))
		return;
	pid_t child = newest_child(task);
	while (take_birth(task, false, &birth))
		if (child && !find_process(tasks, child)) {
			process_new(tasks, child, &birth, task->process);
			child = 0;
		}
}

void tasks_expect(
	struct tasks *tasks, struct task *task, uint64_t flags, uint64_t tid_address)
{
	bool thread = flags & CLONE_THREAD;

	if (!(flags & CLONE_PARENT_SETTID))
		tid_address = 0;
	if (!thread)
		settle_process(tasks, task);
	/* Who would have its id there is another thread now. */
	for (struct task *other = task->process->tasks; thread && tid_address && other;
		other = other->next_in_process)
		for (struct birth **link = &other->births; *link;) {
			struct birth *birth = *link;
			if (birth->thread && birth->tid_address == tid_address) {
				*link = birth->next;
				free(birth);
			} else {
				link = &birth->next;
			}
		}
	struct birth *birth = xcalloc(1, sizeof(*birth));
	birth->next = task->births;
	birth->thread = thread;
	birth->borrows_memory = !thread && flags & CLONE_VM;
	birth->tid_address = tid_address;
	if (thread)
		seed_derive(&birth->key, &task->key, SEED_THREAD, task->threads++);
	else
		seed_derive(&birth->key, &task->key, SEED_PROCESS, task->processes++);
	task->births = birth;
}

void tasks_end_thread(struct tasks *tasks, struct task *task)
{
	/* The first thread's id stays taken until the whole process ends. */
	if (task->tid == task->process->pid)
		return;
	settle_process(tasks, task);
	task_free(tasks, task);
}

void tasks_end_process(struct tasks *tasks, struct process *process)
{
	for (struct task *task = process->tasks; task; task = task->next_in_process)
		settle_process(tasks, task);
}

void tasks_forget(struct tasks *tasks, struct process *process)
{
	struct process **link = &tasks->processes;

	while (*link != process)
		link = &(*link)->next;
	*link = process->next;
	while (process->tasks)
		task_free(tasks, process->tasks);
	process_close(process);
	codekeep_release(&process->code);
	/* The watchdog may still hold a copy, which would keep it polled. */
	epoll_ctl(tasks->poll, EPOLL_CTL_DEL, process->pidfd, NULL);
	close(process->pidfd);
	free(process);
}

void tasks_begin_image(struct tasks *tasks, struct process *process)
{
	struct seed_key key;

	while (process->tasks)
		task_free(tasks, process->tasks);
	process_close(process);
	process->executing = false;
	process->started = true;
	process->borrows_memory = false;
	process->linked = process->first_ended = false;
	seed_derive(&key, &process->executing_key, SEED_IMAGE, process->images++);
	task_new(tasks, process, process->pid, &key);
}

static int open_of(const struct process *process, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)process->alive, name);
	return open(path, flags | O_CLOEXEC);
}

int process_memory(struct process *process)
{
	if (process->memory < 0)
		process->memory = open_of(process, "mem", O_RDWR);
	return process->memory;
}

int process_maps(struct process *process)
{
	if (process->maps < 0)
		process->maps = open_of(process, "maps", O_RDONLY);
	return process->maps;
}

int process_pagemap(struct process *process)
{
	if (process->pagemap < 0)
		process->pagemap = open_of(process, "pagemap", O_RDONLY);
	return process->pagemap;
}

ssize_t process_read(struct process *process, uint64_t address, void *bytes, size_t size)
{
	struct iovec local = {bytes, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(process->alive, &local, 1, &remote, 1, 0);
}

ssize_t process_write(
	struct process *process, uint64_t address, const void *bytes, size_t size)
{
	struct iovec local = {(void *)(uintptr_t)bytes, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};

	return process_vm_writev(process->alive, &local, 1, &remote, 1, 0);
}
