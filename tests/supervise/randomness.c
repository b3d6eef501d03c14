/* Prints bytes from every source of randomness that a program has on Linux, in every kind
 * of task: the first thread, threads that race, children, their children, after an exec. */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, DRAWS = 25 };

static void hex(char *to, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sprintf(to + 2 * i, "%02x", ((const unsigned char *)bytes)[i]);
}

static void print(const char *name, const void *bytes, size_t size)
{
	char text[256];

	hex(text, bytes, size);
	printf("%s %s\n", name, text);
	fflush(stdout);
}

static void print_device(const char *path)
{
	unsigned char bytes[16];
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || read(file, bytes, sizeof(bytes)) != sizeof(bytes))
		exit(1);
	close(file);
	print(path, bytes, sizeof(bytes));
}

/* The vDSO's function, as a C library of 2024 calls it; the kernel's is called where the
 * vDSO has none. */
typedef ssize_t random_function(void *, size_t, unsigned, void *, size_t);

static random_function *find_vdso_random(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);

	if (!image)
		return NULL;
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		const char *names = image + sections[sections[i].sh_link].sh_offset;
		const Elf64_Sym *symbols =
			(const Elf64_Sym *)(image + sections[i].sh_offset);
		for (size_t j = 0; j < sections[i].sh_size / sizeof(*symbols); j++)
			if (!strcmp(names + symbols[j].st_name, "__vdso_getrandom"))
				return (random_function *)(image + symbols[j].st_value);
	}
	return NULL;
}

static void print_vdso(void)
{
	/* Room for the opaque state whose size the function tells for ~0. */
	static char state[4096];
	random_function *function = find_vdso_random();
	unsigned char bytes[16] = {0};
	ssize_t result = function ? function(bytes, sizeof(bytes), 0, state, 144) : -38;

	printf("vdso %zd\n", result == -38 ? result : 0);
	if (result == sizeof(bytes))
		print("vdso", bytes, sizeof(bytes));
}

static char drawn[THREADS][2 * 8 * DRAWS + 1];

static void *draw(void *argument)
{
	char *to = argument;

	for (int i = 0; i < DRAWS; i++) {
		unsigned char bytes[8];
		if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
			exit(1);
		hex(to + 16 * i, bytes, sizeof(bytes));
		if (rand() % 2)
			sched_yield();
	}
	return NULL;
}

static void print_threads(void)
{
	pthread_t threads[THREADS];

	srand((unsigned)syscall(SYS_getpid));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, draw, drawn[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		printf("thread %d %s\n", i, drawn[i]);
	fflush(stdout);
}

static void print_number(const char *name)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes))
		exit(1);
	print(name, bytes, sizeof(bytes));
}

/* Two children at a time, of which the second asks first. */
static void print_children(void)
{
	int gate[2];
	pid_t first, second;

	if (pipe(gate))
		exit(1);
	first = fork();
	if (first == 0) {
		char byte;
		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0)
			_exit(1);
		print_number("first child");
		if (fork() == 0) {
			print_number("grandchild");
			_exit(0);
		}
		wait(NULL);
		_exit(0);
	}
	second = fork();
	if (second == 0) {
		print_number("second child");
		_exit(0);
	}
	waitpid(second, NULL, 0);
	close(gate[1]);
	waitpid(first, NULL, 0);
}

int main(int argc, char **argv)
{
	unsigned long canary, guard;
	unsigned char many[100000];

	setvbuf(stdout, NULL, _IOLBF, 0);
	__asm__("mov %%fs:0x28, %0" : "=r"(canary));
	__asm__("mov %%fs:0x30, %0" : "=r"(guard));
	print("canary", &canary, sizeof(canary));
	print("guard", &guard, sizeof(guard));
	print("at_random", (void *)getauxval(AT_RANDOM), 16);
	print_number("getrandom");
	if (getrandom(many, sizeof(many), 0) != sizeof(many))
		return 1;
	print("many", many + sizeof(many) - 16, 16);
	print_device("/dev/urandom");
	print_device("/dev/random");
	print_device("/dev/../dev/urandom");
	print_vdso();
	print_threads();
	print_children();
	if (argc == 1) {
		fflush(stdout);
		execl(argv[0], argv[0], "again", NULL);
		return 1;
	}
	return 0;
}
