/* A JIT of two loops that does to its code what JITs do: puts other code at an address
 * that was used before, moves code, patches it while it runs. Writes a jitdump
 * (jit-PID.dump in the current directory) and says on stdout what it did when, for tests
 * to check against.
 *
 *   minijit reuse|move|patch|fork|clock|two [MILLISECONDS]
 *
 * In mode patch also jit-PID.patches and, at exit, jit-PID.elf, as build/jit -p leaves them.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	REGION = 1 << 16,
	PAGE = 4096,
	TURNS = 20000, /* of the loop in one call */
	BODY = 64,     /* bytes of the loop's body */
	RECORD_LOAD = 0,
	RECORD_MOVE = 1,
	RECORD_DEBUG_INFO = 2,
};

struct code {
	uint8_t bytes[256];
	size_t size;
};

static FILE *dump;
static uint8_t *region;
static uint64_t next_index;
static clockid_t stamp_clock = CLOCK_MONOTONIC;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(stamp_clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t cpu_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void emit(struct code *code, const char *bytes, size_t size)
{
	memcpy(code->bytes + code->size, bytes, size);
	code->size += size;
}

/* push rbp; mov rbp, rsp; mov ecx, TURNS; body; dec ecx; jnz body; pop rbp; ret */
static struct code make_loop(const char *body, size_t size)
{
	struct code code = {.size = 0};
	uint32_t turns = TURNS;

	emit(&code, "\x55\x48\x89\xe5\xb9", 5);
	emit(&code, (const char *)&turns, 4);
	size_t top = code.size;
	for (size_t used = 0; used < BODY; used += size)
		emit(&code, body, size);
	emit(&code, "\xff\xc9\x75", 3);
	char back = (char)(int8_t)((int)top - (int)(code.size + 1));
	emit(&code, &back, 1);
	emit(&code, "\x5d\xc3", 2);
	return code;
}

static void put32(uint32_t value)
{
	fwrite(&value, sizeof(value), 1, dump);
}

static void put64(uint64_t value)
{
	fwrite(&value, sizeof(value), 1, dump);
}

static void open_dump(void)
{
	char name[64];

	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	dump = fopen(name, "w+e");
	if (!dump) {
		perror(name);
		exit(1);
	}
	put32(0x4a695444); /* "JiTD" */
	put32(1);
	put32(40);
	put32(EM_X86_64);
	put32(0);
	put32((uint32_t)getpid());
	put64(now());
	put64(0);
	fflush(dump);
	/* The mapping tells perf where the dump is. */
	mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
}

static void say(const char *what, const char *name, const void *address, size_t size,
	uint64_t time)
{
	printf("%s %s %p %zu %llu\n", what, name, address, size,
		(unsigned long long)time);
	fflush(stdout);
}

static void record_lines(const void *address, const char *file)
{
	size_t length = strlen(file) + 1;

	put32(RECORD_DEBUG_INFO);
	put32((uint32_t)(16 + 16 + 16 + length + 16 + 2));
	put64(now());
	put64((uint64_t)(uintptr_t)address);
	put64(2);
	put64((uint64_t)(uintptr_t)address);
	put32(10);
	put32(0);
	fwrite(file, 1, length, dump);
	put64((uint64_t)(uintptr_t)address + 9);
	put32(11);
	put32(0);
	fwrite("\xff", 1, 2, dump); /* the same file again */
}

static void load(const char *name, void *address, const struct code *code)
{
	size_t length = strlen(name) + 1;

	memcpy(address, code->bytes, code->size);
	record_lines(address, "minijit.mini");
	uint64_t time = now();
	put32(RECORD_LOAD);
	put32((uint32_t)(16 + 40 + length + code->size));
	put64(time);
	put32((uint32_t)getpid());
	put32((uint32_t)getpid());
	put64((uint64_t)(uintptr_t)address);
	put64((uint64_t)(uintptr_t)address);
	put64(code->size);
	put64(next_index++);
	fwrite(name, 1, length, dump);
	fwrite(code->bytes, 1, code->size, dump);
	fflush(dump);
	say("load", name, address, code->size, time);
}

static void move(const char *name, uint8_t *from, uint8_t *to, size_t size)
{
	uint64_t time = now();

	memcpy(to, from, size);
	memset(from, 0xcc, size);
	put32(RECORD_MOVE);
	put32(16 + 48);
	put64(time);
	put32((uint32_t)getpid());
	put32((uint32_t)getpid());
	put64((uint64_t)(uintptr_t)to);
	put64((uint64_t)(uintptr_t)from);
	put64((uint64_t)(uintptr_t)to);
	put64(size);
	put64(next_index - 1);
	fflush(dump);
	say("move", name, to, size, time);
}

/* Rewrites `size` bytes of live code and logs that. */
static void patch(
	FILE *log, uint8_t *address, const char *bytes, size_t size, const char *why)
{
	uint64_t time = now();

	fprintf(log, "patch %llu %llx ", (unsigned long long)time,
		(unsigned long long)(uintptr_t)address);
	for (size_t i = 0; i < size; i++)
		fprintf(log, "%02x", address[i]);
	fputc(' ', log);
	for (size_t i = 0; i < size; i++)
		fprintf(log, "%02x", (unsigned char)bytes[i]);
	fprintf(log, " %s\n", why);
	fflush(log);
	memcpy(address, bytes, size);
	say("patch", why, address, size, time);
}

/* The code as it is now: one segment, one section, one symbol. */
static void write_elf(const char *name, const uint8_t *address, size_t size)
{
	static const char names[] = "\0.text\0.symtab\0.strtab\0adds";
	char path[64];
	Elf64_Addr at = (Elf64_Addr)(uintptr_t)address;
	uint64_t symbols = PAGE + size, strings = symbols + 2 * sizeof(Elf64_Sym);
	uint64_t sections = strings + sizeof(names);
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = sections,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3};
	Elf64_Phdr segment = {.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = PAGE,
		.p_vaddr = at,
		.p_paddr = at,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = PAGE};
	Elf64_Sym table[2] = {{0}, {.st_name = 23,
					   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					   .st_shndx = 1,
					   .st_value = at,
					   .st_size = size}};
	Elf64_Shdr list[4] = {{0},
		{.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = at,
			.sh_offset = PAGE,
			.sh_size = size},
		{.sh_name = 7,
			.sh_type = SHT_SYMTAB,
			.sh_offset = symbols,
			.sh_size = sizeof(table),
			.sh_link = 3,
			.sh_info = 1,
			.sh_entsize = sizeof(Elf64_Sym)},
		{.sh_name = 15,
			.sh_type = SHT_STRTAB,
			.sh_offset = strings,
			.sh_size = sizeof(names)}};

	snprintf(path, sizeof(path), "jit-%d.%s", (int)getpid(), name);
	FILE *file = fopen(path, "we");
	fwrite(&header, sizeof(header), 1, file);
	fwrite(&segment, sizeof(segment), 1, file);
	fseek(file, PAGE, SEEK_SET);
	fwrite(address, 1, size, file);
	fwrite(table, sizeof(table), 1, file);
	fwrite(names, sizeof(names), 1, file);
	fwrite(list, sizeof(list), 1, file);
	fclose(file);
}

static void run(void *address, uint64_t milliseconds)
{
	void (*function)(void);
	uint64_t end = cpu_ms() + milliseconds;

	memcpy(&function, &address, sizeof(function));
	while (cpu_ms() < end)
		function();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "reuse";
	uint64_t time = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
	struct code adds = make_loop("\x48\x83\xc0\x01", 4); /* add rax, 1 */
	struct code muls = make_loop("\x48\x0f\xaf\xc2", 4); /* imul rax, rdx */

	region = mmap(NULL, REGION, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	if (strcmp(mode, "clock") == 0)
		stamp_clock = CLOCK_REALTIME;
	open_dump();
	if (strcmp(mode, "reuse") == 0) {
		load("adds", region, &adds);
		run(region, time);
		load("muls", region, &muls);
		run(region, 2 * time);
	} else if (strcmp(mode, "move") == 0) {
		load("adds", region, &adds);
		run(region, time);
		move("adds", region, region + PAGE, adds.size);
		load("muls", region, &muls);
		run(region + PAGE, time);
		run(region, time);
	} else if (strcmp(mode, "patch") == 0 || strcmp(mode, "patch-back") == 0) {
		/* The body begins behind push, mov and mov ecx; the other mode begins with
		 * its second instruction. */
		uint8_t *body = region + 9, *next = region + 13;
		bool back = strcmp(mode, "patch-back") == 0;
		char path[64];
		snprintf(path, sizeof(path), "jit-%d.patches", (int)getpid());
		FILE *log = fopen(path, "we");
		fprintf(log, "# stablerun patches 1 pid %d\n", (int)getpid());
		fprintf(log, "object %llu 4e20 int 20000\n", (unsigned long long)now());
		load("adds", region, &adds);
		run(region, time);
		patch(log, back ? next : body, "\x48\x0f\xaf\xc2", 4, "first");
		run(region, 2 * time);
		patch(log, back ? body : next, "\x48\x0f\xaf\xc2", 4, "second");
		run(region, time);
		write_elf("elf", region, adds.size);
		fclose(log);
	} else if (strcmp(mode, "fork") == 0) {
		load("adds", region, &adds);
		pid_t child = fork();
		if (child == 0) {
			run(region, time);
			_exit(0);
		}
		run(region, time);
		waitpid(child, NULL, 0);
	} else {
		load("adds", region, &adds);
		load("muls", region + PAGE, &muls);
		run(region, time);
		run(region + PAGE, time);
	}
	return 0;
}
