/* A JIT of one function: minijit KIND ROUTE. Puts code into memory of a KIND, runs it,
 * prints its address and bytes, and lets it go by a ROUTE, after which the same place holds
 * something else wherever that is possible. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 3 * 4096, BYTES = 64 };

static unsigned char *code;	/* where it runs */
static unsigned char *writable; /* where it is written */
static int segment = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *map(int protection, int flags, int file)
{
	void *memory = mmap(NULL, SIZE, protection, flags, file, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static void allocate(const char *kind)
{
	int rwx = PROT_READ | PROT_WRITE | PROT_EXEC;

	if (!strcmp(kind, "anonymous") || !strcmp(kind, "execute-only")) {
		code = writable = map(rwx, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	} else if (!strcmp(kind, "shared")) {
		code = writable = map(rwx, MAP_SHARED | MAP_ANONYMOUS, -1);
	} else if (!strcmp(kind, "memfd")) {
		int file = memfd_create("code", 0);
		if (file < 0 || ftruncate(file, SIZE))
			die("memfd_create");
		writable = map(PROT_READ | PROT_WRITE, MAP_SHARED, file);
		code = map(PROT_READ | PROT_EXEC, MAP_SHARED, file);
		close(file);
	} else if (!strcmp(kind, "deleted")) {
		char path[] = "./codeXXXXXX";
		int file = mkstemp(path);
		if (file < 0 || ftruncate(file, SIZE) || unlink(path))
			die(path);
		writable = map(PROT_READ | PROT_WRITE, MAP_SHARED, file);
		code = map(PROT_READ | PROT_EXEC, MAP_PRIVATE, file);
		close(file);
	} else if (!strcmp(kind, "segment")) {
		segment = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0700);
		code = writable = shmat(segment, NULL, SHM_EXEC);
		if (segment < 0 || code == (void *)-1 || shmctl(segment, IPC_RMID, NULL))
			die("shmat");
	} else {
		exit(2);
	}
}

/* mov $VALUE, %eax; ret; then bytes that never run. */
static void emit(uint32_t value)
{
	unsigned char bytes[BYTES] = {0xb8};

	memcpy(bytes + 1, &value, sizeof(value));
	bytes[5] = 0xc3;
	for (int i = 6; i < BYTES; i++)
		bytes[i] = (unsigned char)(value + (unsigned)i * 7);
	memcpy(writable + 4096 + 32, bytes, BYTES);
}

static void run(uint32_t value)
{
	if (((uint32_t(*)(void))(uintptr_t)(code + 4096 + 32))() != value)
		exit(3);
}

static void print(void)
{
	const unsigned char *bytes = writable + 4096 + 32;

	printf("%lx ", (unsigned long)(code + 4096 + 32));
	for (int i = 0; i < BYTES; i++)
		printf("%02x", bytes[i]);
	printf("\n");
	fflush(stdout);
}

static void scribble(void)
{
	memset(code, 0xee, SIZE);
}

static void *exit_thread(void *argument)
{
	(void)argument;
	syscall(SYS_exit_group, 0);
	return NULL;
}

static void *wait_and_end(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	return NULL;
}

static void need(int failed, const char *what)
{
	if (failed)
		die(what);
}

static void let_go(const char *route, char **argv)
{
	int rw = PROT_READ | PROT_WRITE;

	if (!strcmp(route, "exit_group")) {
		return;
	} else if (!strcmp(route, "exit")) {
		syscall(SYS_exit, 0);
	} else if (!strcmp(route, "thread")) {
		pthread_t thread;
		pthread_create(&thread, NULL, exit_thread, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(route, "pthread_exit")) {
		static pthread_t self;
		pthread_t thread;
		self = pthread_self();
		pthread_create(&thread, NULL, wait_and_end, &self);
		pthread_exit(NULL);
	} else if (!strcmp(route, "munmap")) {
		need(munmap(code, SIZE), route);
	} else if (!strcmp(route, "munmap-part")) {
		need(munmap(code + 4096, 4096), route);
	} else if (!strcmp(route, "mprotect-none")) {
		need(mprotect(code, SIZE, PROT_NONE), route);
	} else if (!strcmp(route, "mprotect-rw")) {
		need(mprotect(code, SIZE, rw), route);
		scribble();
	} else if (!strcmp(route, "pkey_mprotect")) {
		need((int)syscall(SYS_pkey_mprotect, code, SIZE, rw, -1), route);
		scribble();
	} else if (!strcmp(route, "mremap")) {
		void *to =
			mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void *moved = mremap(code, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		need(moved != to, route);
		need(mprotect(moved, SIZE, rw), route);
		memset(moved, 0xdd, SIZE);
	} else if (!strcmp(route, "mremap-over")) {
		void *from = mmap(NULL, SIZE, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		need(mremap(from, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, code) !=
				code,
			route);
		scribble();
	} else if (!strcmp(route, "mmap")) {
		need(mmap(code, SIZE, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			     0) != code,
			route);
		scribble();
	} else if (!strcmp(route, "dontneed")) {
		need(madvise(code, SIZE, MADV_DONTNEED), route);
	} else if (!strcmp(route, "free")) {
		need(madvise(code, SIZE, MADV_FREE), route);
	} else if (!strcmp(route, "shmdt")) {
		need(shmdt(code), route);
	} else if (!strcmp(route, "exec")) {
		execl("/bin/true", "true", NULL);
		exit(1);
	} else if (!strcmp(route, "exec-jit")) {
		/* Another image of this program, with other code at the same address. */
		execl(argv[0], argv[0], argv[1], "munmap", "4660", NULL);
		exit(1);
	} else if (!strcmp(route, "reuse")) {
		/* New code where freed code was: the later one wins. */
		unsigned char *before = code;
		need(munmap(code, SIZE), route);
		code = writable = mmap(before, SIZE, rw | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		need(code != before, route);
		emit(0x5555);
		run(0x5555);
		print();
		need(munmap(code, SIZE), route);
	} else if (!strcmp(route, "toggle")) {
		/* Code that is patched under W^X, and freed in its second form. */
		need(mprotect(code, SIZE, rw), route);
		emit(0x7777);
		need(mprotect(code, SIZE, PROT_READ | PROT_EXEC), route);
		run(0x7777);
		print();
		need(mprotect(code, SIZE, PROT_NONE), route);
		need(munmap(code, SIZE), route);
	} else if (!strcmp(route, "segv")) {
		*(volatile int *)16 = 0;
	} else if (!strcmp(route, "abort")) {
		abort();
	} else if (!strcmp(route, "kill")) {
		raise(SIGKILL);
	} else if (!strcmp(route, "pause")) {
		for (;;)
			pause();
	} else {
		exit(2);
	}
}

int main(int argc, char **argv)
{
	uint32_t value = argc > 3 ? (uint32_t)atoi(argv[3]) : 0x1234abcd;

	if (argc < 3)
		return 2;
	allocate(argv[1]);
	emit(value);
	if (!strcmp(argv[1], "execute-only") && mprotect(code, SIZE, PROT_EXEC))
		die("mprotect");
	run(value);
	if (strcmp(argv[1], "execute-only")) {
		print();
	} else {
		/* The bytes as emit() made them: they cannot be read back. */
		unsigned char copy[SIZE];
		writable = copy;
		emit(value);
		print();
		writable = code;
	}
	let_go(argv[2], argv);
	return 0;
}
