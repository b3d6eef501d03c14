/* The threads and processes of a supervised run, and the key that each one draws its
 * randomness from.
 *
 * A key depends on the path of creation alone: the third thread of the first child of the
 * program has the same key in every run, whichever thread asks first. Creation is seen
 * from the creator (clone and its like are asked about), the creature is recognised when
 * it first asks for something. */
#ifndef LAUNCHER_TASK_H
#define LAUNCHER_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/codekeep.h"
#include "launcher/seed.h"

struct process;

/* A clone that was seen and whose result has not shown itself yet. */
struct birth {
	struct birth *next;
	struct seed_key key;
	bool thread;
	bool borrows_memory;
	uint64_t tid_address; /* where the kernel stores the new thread's id, or 0 */
};

struct task {
	struct task *next_in_table;
	struct task *next_in_process;
	struct process *process;
	pid_t tid; /* in the supervisor's pid namespace */
	struct seed_key key;
	uint64_t drawn;	    /* bytes of getrandom */
	uint64_t devices;   /* random devices opened */
	uint64_t threads;   /* made */
	uint64_t processes; /* made */
	struct birth *births;
};

/* AT_RANDOM points to them. */
enum { PROCESS_START_BYTES = 16 };

struct process {
	struct process *next;
	struct task *tasks;
	pid_t pid;
	pid_t alive; /* the thread that asked last: /proc/PID of a process whose first
		      * thread has ended shows no memory, /proc/TID does */
	int pidfd;   /* readable when the process has died; polled by tasks->poll */
	int memory;  /* /proc/PID/mem of the present image, or -1 until it is needed */
	int pagemap;
	int maps; /* /proc/PID/maps of the present image, or -1 until it is needed */
	uint64_t images;  /* executed by the process since it was made */
	bool linked;	  /* the present image has its libraries */
	bool first_ended; /* its first thread has, others go on */
	pid_t executing_tid;
	bool executing; /* an execve was seen; whether it succeeded will show */
	struct seed_key executing_key; /* of the thread that called it */
	/* The present image's AT_RANDOM: the same bytes still there: the same image. */
	bool started;
	uint8_t start_bytes[PROCESS_START_BYTES];
	bool borrows_memory; /* its parent's, made by vfork, until it executes */
	struct codekeep code;
	uint64_t
		clock_held; /* ns that it may compute with its clock held; 0: that runs */
	uint64_t
		clock_began; /* CLOCK_MONOTONIC, ns, when this image's hold began, or 0 */
	uint64_t clock_switch; /* address of the byte that holds it */
};

enum { TASK_BUCKETS = 256 };

struct tasks {
	int poll; /* an epoll descriptor, borrowed; a process' event carries its pidfd */
	struct task *table[TASK_BUCKETS];
	struct process *processes;
	struct seed_key lost_key; /* for creatures whose creator is not known any more */
	uint64_t lost;
};

/* With the first process, which is there already. 0, or -1 with errno. */
int tasks_init(struct tasks *tasks, int poll, pid_t pid, uint64_t seed);

/* In a process forked from the supervisor: closes what the list holds, descriptors of
 * /proc hold on to a program's memory; but not the pidfd of `pid`, whose process it
 * returns, or NULL. */
struct process *tasks_drop(struct tasks *tasks, pid_t pid);

/* The task `tid`, found or recognised. NULL where it is gone or cannot be told. */
struct task *tasks_find(struct tasks *tasks, pid_t tid);

struct process *tasks_find_pidfd(const struct tasks *tasks, int pidfd);

/* `task` is about to make a thread, or a process, with these flags of clone(2). */
void tasks_expect(
	struct tasks *tasks, struct task *task, uint64_t flags, uint64_t tid_address);

/* The thread ends. */
void tasks_end_thread(struct tasks *tasks, struct task *task);

/* The process ends: children of it that did not ask yet are recognised while they can
 * be. */
void tasks_end_process(struct tasks *tasks, struct process *process);

/* The process has died: forgets it. */
void tasks_forget(struct tasks *tasks, struct process *process);

/* A new image began in the process: its first thread alone is left. */
void tasks_begin_image(struct tasks *tasks, struct process *process);

/* /proc/PID/mem and maps of the present image; -1 with errno. Owned by the process. */
int process_memory(struct process *process);
int process_maps(struct process *process);
int process_pagemap(struct process *process);

/* Reads or writes the process' memory. Bytes done, or -1 with errno. */
ssize_t process_read(struct process *process, uint64_t address, void *bytes, size_t size);
ssize_t process_write(
	struct process *process, uint64_t address, const void *bytes, size_t size);

#endif
