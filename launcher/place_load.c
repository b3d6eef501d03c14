/* Loading a program into this very process: the kernel's loader (fs/binfmt_elf.c) in a
 * process of its own.
 *
 * The program and its interpreter are mapped wherever there is room, and looked at as if
 * the kernel had put them there; place_layout and place_calls say how they get to their
 * places. The calls are made by the same code on a page of its own (place_load_page.c), here
 * as there, after others that remove all that is the launcher's; it leaves through an
 * instruction of the program's that unmaps the page and returns to where the program
 * begins. */
#include "launcher/place_load.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/place_load_steps.h"

enum {
	PAGE = 4096,
	TEXT_MOST = 64 << 10,
	STACK_ROOM = 256 << 10,
	/* As glibc registers it (sysdeps/unix/sysv/linux/rseq-internal.h). */
	RSEQ_AREA = 32,
};

const char place_load_cost[] =
	"/proc/PID/exe names stablerun (but with CAP_CHECKPOINT_RESTORE), "
	"programs that look for their files by it fail, and a debugger does not "
	"know the program's symbols";

static const char *read_interpreter(struct load *load)
{
	char path[PATH_MAX];
	const struct place_elf *program = &load->program.elf;
	size_t size = program->path_size;

	if (!program->interpreter)
		return NULL;
	if (size == 0 || size > sizeof(path) ||
		pread(load->program.fd, path, size, (off_t)program->path) !=
			(ssize_t)size ||
		path[size - 1] != '\0')
		return "the name of its interpreter cannot be read";
	if (load_file_read(&load->interpreter, path))
		return "its interpreter is not there or of an unknown kind";
	return load->interpreter.elf.fixed
		       ? "its interpreter is linked for fixed addresses"
		       : NULL;
}

/* The program's interpreter, or where there is none the program, has the way out. */
static bool find_gadget(struct load *load)
{
	load->gadget = load_file_gadget(
		load->program.elf.interpreter ? &load->interpreter : &load->program);
	return load->gadget != 0;
}

static ssize_t read_maps(char *text)
{
	size_t size = 0;
	ssize_t count;
	cleanup_fd int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	while ((count = read(fd, text + size, TEXT_MOST - size)) > 0)
		size += (size_t)count;
	return count < 0 || size == TEXT_MOST ? -1 : (ssize_t)size;
}

/* Whose a mapping is: the program's and the kernel's become the image, the others are
 * the launcher's. */
static bool is_kept(const struct load *load, const struct place_map *map)
{
	return map->kind != PLACE_PLAIN || load_file_has(&load->program, map) ||
	       load_file_has(&load->interpreter, map);
}

static const char *read_image(struct load *load)
{
	struct place_maps *others = load->others;
	size_t count = 0;
	ssize_t size = read_maps(load->text);

	if (size < 0 || place_maps_parse(others, load->text, (size_t)size))
		return "the launcher's own memory maps cannot be read";
	load->image.maps.count = 0;
	for (size_t i = 0; i < others->count; i++) {
		const struct place_map *map = &others->items[i];

		if (is_kept(load, map))
			load->image.maps.items[load->image.maps.count++] = *map;
		else
			others->items[count++] = *map;
	}
	others->count = count;
	load->image.program = load->program.elf;
	load->image.program_bias = load->program.bias;
	/* Where it is now is only for now. */
	load->image.loaded = true;
	if (load->program.elf.interpreter) {
		load->image.interpreter = load->interpreter.elf;
		load->image.interpreter_bias = load->interpreter.bias;
	}
	load->image.vdso = getauxval(AT_SYSINFO_EHDR);
	return NULL;
}

/* The places, and with them all addresses. A kernel that has sealed the vdso shows when
 * its first mapping is to move: there and back. */
static bool is_sealed(const struct place_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct place_map *map = &maps->items[i];
		size_t size = map->end - map->start;

		if (map->kind != PLACE_VVAR)
			continue;
		void *room =
			mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED)
			return false;
		void *moved = mremap((void *)map->start, size, size,
			MREMAP_MAYMOVE | MREMAP_FIXED, room);
		if (moved == MAP_FAILED) {
			munmap(room, size);
			return errno == EPERM;
		}
		mremap(moved, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
			(void *)map->start);
		return false;
	}
	return false;
}

static const char *build_stack(struct load *load)
{
	/* Less than the most: more data is put behind. */
	uint64_t auxv[PLACE_AUXV_MOST - 16];
	const struct place_layout *layout = &load->layout;
	const struct load_file *program = &load->program;
	cleanup_fd int fd = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, auxv, sizeof(auxv));

	if (size <= 0 || size == sizeof(auxv) || !getauxval(AT_PLATFORM) ||
		!getauxval(AT_RANDOM))
		return "the launcher's own auxiliary vector cannot be read";
	load->entry = place_layout_shift(
		layout, program->elf.interpreter
				? load->interpreter.elf.entry + load->interpreter.bias
				: program->elf.entry + program->bias);
	for (size_t i = 0; i < (size_t)size / sizeof(auxv[0]); i += 2) {
		uint64_t *value = &auxv[i + 1];

		switch (auxv[i]) {
		case AT_PHDR: *value = load_file_phdrs(program); break;
		case AT_PHNUM: *value = program->header.e_phnum; break;
		case AT_ENTRY: *value = program->elf.entry + program->bias; break;
		case AT_BASE:
			*value = program->elf.interpreter ? load->interpreter.bias : 0;
			break;
		case AT_SYSINFO_EHDR: break;
		default: continue;
		}
		if (*value)
			*value = place_layout_shift(layout, *value);
	}
	load->auxv_words = (size_t)size / sizeof(auxv[0]);
	load_stack_build(
		&load->stack, &(struct load_stack_input){
				      .top = PLACE_STACK_TOP,
				      .path = load->path,
				      .argv = load->argv,
				      .envp = load->envp,
				      .auxv = auxv,
				      .auxv_words = load->auxv_words,
				      .platform = (const char *)getauxval(AT_PLATFORM),
				      .random = (const uint8_t *)getauxval(AT_RANDOM),
			      });
	return NULL;
}

/* The launcher's stack becomes the program's: its mapping begins where a new program's
 * would. The kernel lets it grow when it is touched; what is below is removed later. */
static const char *size_stack(struct load *load)
{
	/* What may be in arguments and environment under any limit (ARG_MAX). */
	enum { STRINGS_LEAST = 128 << 10 };
	struct place_range *top = &load->layout.parts[PLACE_TOP];
	struct load_stack *stack = &load->stack;
	uint64_t strings = PLACE_STACK_TOP - stack->arg_start;
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit))
		return "the stack's limit cannot be read";
	/* All that the limit allows where that is less than usual. */
	if (limit.rlim_cur < PLACE_STACK_TOP - stack->low)
		stack->low = load_ceiling(PLACE_STACK_TOP - limit.rlim_cur);
	if (stack->low > load_floor(stack->rsp - sizeof(uint64_t)) ||
		(strings > limit.rlim_cur / 4 && strings > STRINGS_LEAST))
		return "its arguments and environment do not fit the stack's limit";
	uint64_t low = stack->low - top->shift;
	for (uint64_t at = top->start; at > low; at -= PAGE)
		*(volatile char *)(at - PAGE) = 0;
	return NULL;
}

/* Descriptors that an execve closes, but for the program's, which is needed to the end. */
static const char *list_descriptors(struct load *load)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!directory)
		return "/proc is not mounted";
	while ((entry = readdir(directory))) {
		int fd = atoi(entry->d_name);
		int flags = entry->d_name[0] == '.' ? -1 : fcntl(fd, F_GETFD);

		if (flags < 0 || !(flags & FD_CLOEXEC) || fd == load->program.fd ||
			fd == dirfd(directory))
			continue;
		load->closed = xreallocarray(
			load->closed, load->closed_count + 1, sizeof(*load->closed));
		load->closed[load->closed_count++] = fd;
	}
	closedir(directory);
	return NULL;
}

/* A filter may refuse it, and then it must not begin. */
static const char *try_moving(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return "there is no memory for it";
	void *moved =
		mremap(pages, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, pages + PAGE);
	munmap(pages, 2 * PAGE);
	return moved == MAP_FAILED ? "its mappings cannot be moved (mremap is refused)"
				   : NULL;
}

static const char *prepare(struct load *load)
{
	const char *cause = try_moving();

	if (!cause)
		cause = load_file_read(&load->program, load->path);

	if (!cause)
		cause = read_interpreter(load);
	if (!cause)
		cause = load_file_map(&load->program);
	if (!cause && load->program.elf.interpreter)
		cause = load_file_map(&load->interpreter);
	if (!cause && !find_gadget(load))
		cause = "it has no instruction to begin by";
	if (!cause && (load->program.executable_stack))
		cause = "it wants an executable stack";
	if (cause)
		return cause;
	load_file_marks(&load->program, &load->image.marks);
	cause = read_image(load);
	if (!cause)
		cause = place_layout_make(
			&load->layout, &load->image, is_sealed(&load->image.maps));
	if (!cause)
		cause = build_stack(load);
	if (!cause)
		cause = size_stack(load);
	if (!cause)
		cause = list_descriptors(load);
	return cause;
}

/* The last look at the mappings, after which there are to be no others, and what follows
 * from it. */
static const char *settle(struct load *load)
{
	struct place_range *top = &load->layout.parts[PLACE_TOP];
	const char *cause = load_page_reserve(load);

	if (!cause)
		cause = read_image(load);
	if (cause)
		return cause;
	for (size_t i = 0; i < load->image.maps.count; i++) {
		struct place_map *map = &load->image.maps.items[i];

		if (map->kind != PLACE_STACK)
			continue;
		top->start = map->start;
		map->start = load->stack.low - top->shift;
	}
	cause = load_page_calls(load);
	top->start = load->stack.low - top->shift;
	return cause ? cause : load_page_make(load);
}

/* What execve does besides. */
static void become(struct load *load)
{
	uint64_t all = ~(uint64_t)0, entry = load->entry;
	const char *slash = strrchr(load->path, '/');
	uint64_t rsp = load->stack.rsp - load->layout.parts[PLACE_TOP].shift;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	for (int signal = 1; signal < NSIG; signal++) {
		struct sigaction action;

		if (!sigaction(signal, NULL, &action) && action.sa_handler != SIG_IGN &&
			action.sa_handler != SIG_DFL) {
			action = (struct sigaction){.sa_handler = SIG_DFL};
			sigaction(signal, &action, NULL);
		}
	}
	for (size_t i = 0; i < load->closed_count; i++)
		close(load->closed[i]);
	prctl(PR_SET_NAME, slash ? slash + 1 : load->path, 0, 0, 0);
	memcpy((void *)rsp, load->stack.bytes, PLACE_STACK_TOP - load->stack.rsp);
	memcpy((void *)(rsp - sizeof(entry)), &entry, sizeof(entry));
	/* Last of all, as libc rests on it. */
	if (__rseq_size)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset,
			RSEQ_AREA, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

static _Noreturn void jump(uint64_t page, uint64_t table)
{
	__asm__ volatile("xor %%r13d, %%r13d\n\t"
			 "jmp *%0"
			 :
			 : "r"(page), "b"(table)
			 : "r13", "memory");
	__builtin_unreachable();
}

static const char *run(struct load *load)
{
	const char *cause = prepare(load);

	if (!cause)
		cause = settle(load);
	if (cause)
		return cause;
	become(load);
	jump(load->page.address, load->page.address + REMOTE_DATA + load->page.data_size);
}

/* Calls run() on a stack elsewhere: this one is to be the program's. */
static const char *run_on(char *stack_end, struct load *load)
{
	const char *cause;

	__asm__ volatile(
		"mov %%rsp, %%rbx\n\t"
		"mov %1, %%rsp\n\t"
		"call *%2\n\t"
		"mov %%rbx, %%rsp"
		: "=a"(cause)
		: "r"(stack_end), "r"(run), "D"(load)
		: "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
	return cause;
}

const char *place_load(const char *path, char *const *argv, char *const *envp)
{
	struct load *load = xcalloc(1, sizeof(*load));
	char *stack = mmap(NULL, STACK_ROOM, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return "there is no memory for it";
	load->path = path;
	load->argv = argv;
	load->envp = envp;
	load->program.fd = load->interpreter.fd = -1;
	load->others = xmalloc(sizeof(*load->others));
	load->moves = xmalloc(sizeof(*load->moves));
	load->text = xmalloc(TEXT_MOST);
	return run_on(stack + STACK_ROOM, load);
}
