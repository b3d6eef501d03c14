/* What a program that is stopped in its execve consists of. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/place_steps.h"

enum {
	TEXT_MOST = 32 << 10,
	BLOCK_MOST = 8 << 20, /* pointers on the stack; the kernel allows 6 MiB in all */
	CODE_BLOCK = 16 << 10,
	CODE_MOST = 4 << 20, /* what is searched */
	INT3 = 0xcc,
};

int place_read_memory(struct move *move)
{
	if (!remote_open(&move->remote, move->remote.pid))
		return 0;
	if (errno == EACCES || errno == EPERM)
		return place_fail(move, 0,
			"its memory may not be read, as a program's that is "
			"execute-only");
	return place_fail(move, errno, "cannot open its memory in /proc");
}

/* The whole of a small file of /proc/PID. Returns the size or -1. */
static ssize_t read_proc(struct move *move, const char *name, char *text)
{
	char path[64];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)move->remote.pid, name);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return place_fail(move, errno, "cannot open '%s'", path);
	while (size < TEXT_MOST) {
		ssize_t count = read(fd, text + size, TEXT_MOST - size);
		if (count < 0 && errno != EINTR)
			return place_fail(move, errno, "cannot read '%s'", path);
		if (count == 0)
			return (ssize_t)size;
		size += count > 0 ? (size_t)count : 0;
	}
	return place_fail(move, 0, "'%s' is too long", path);
}

int place_read_maps(struct move *move)
{
	struct place_maps *maps = &move->image->maps;
	char text[TEXT_MOST];
	ssize_t size = read_proc(move, "maps", text);

	if (size < 0)
		return -1;
	if (place_maps_parse(maps, text, (size_t)size))
		return place_fail(
			move, 0, "its memory maps have an unknown form or are too many");
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].kind == PLACE_VDSO)
			move->vdso = (struct place_range){
				.start = maps->items[i].start, .end = maps->items[i].end};
	size = read_proc(move, "stat", text);
	if (size < 0)
		return -1;
	if (place_marks_parse(&move->image->marks, text, (size_t)size) ||
		move->image->marks.start_stack != move->regs.rsp)
		return place_fail(move, 0, "its 'stat' in /proc has an unknown form");
	return 0;
}

int place_read_stack(struct move *move)
{
	uint64_t rsp = move->regs.rsp, strings = move->image->marks.arg_start;

	if (strings <= rsp || strings - rsp > BLOCK_MOST)
		return place_fail(move, 0, "its stack begins in an unknown way");
	size_t size = strings - rsp;
	move->block = xmalloc(size + sizeof(uint64_t));
	move->rebuilt = xmalloc(size);
	if (remote_read(&move->remote, rsp, move->block, size))
		return place_fail(move, errno, "cannot read its stack");
	const char *cause =
		place_stack_parse(&move->stack, move->block, size, rsp, strings);
	if (cause)
		return place_fail(move, 0, "%s", cause);
	/* The kernel's word for a program that got privileges in execve. */
	if (place_stack_auxv(&move->stack, AT_SECURE))
		return place_fail(move, 0, "it has privileges that its caller has not");
	move->image->vdso = place_stack_auxv(&move->stack, AT_SYSINFO_EHDR);
	return 0;
}

/* Finds a gadget and a trap in one block of code. Reading the file instead of memory
 * leaves the program's pages untouched: moving those that it has takes long. */
static bool find_gadget_in(
	struct move *move, int fd, const Elf64_Phdr *phdr, uint64_t bias, uint64_t from)
{
	unsigned char code[CODE_BLOCK];
	uint64_t left = phdr->p_filesz - from;
	size_t wanted = left < sizeof(code) ? left : sizeof(code);
	ssize_t size = pread(fd, code, wanted, (off_t)(phdr->p_offset + from));
	uint64_t start = phdr->p_vaddr + from + bias;

	if (size <= 0)
		return false;
	size_t gadget = remote_find_gadget(code, (size_t)size);
	const unsigned char *trap = memchr(code, INT3, (size_t)size);
	if (gadget == (size_t)size || !trap)
		return false;
	move->gadget = start + gadget;
	move->trap = start + (uint64_t)(trap - code);
	return true;
}

/* From the end on, where C libraries have what is written in assembler. */
static void find_gadget(
	struct move *move, int fd, const Elf64_Phdr *phdrs, size_t count, uint64_t bias)
{
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *phdr = &phdrs[i];
		uint64_t from = phdr->p_filesz, searched = 0;

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		while (from > 0 && searched < CODE_MOST) {
			uint64_t step = from < CODE_BLOCK ? from : CODE_BLOCK;

			from -= step;
			searched += step;
			if (find_gadget_in(move, fd, phdr, bias, from))
				return;
		}
	}
	move->gadget = move->trap = 0;
}

/* Returns a descriptor or -1. */
static int open_interpreter(const struct place_elf *program, int fd)
{
	char path[PATH_MAX];
	size_t size = program->path_size;

	if (size == 0 || size > sizeof(path) ||
		pread(fd, path, size, (off_t)program->path) != (ssize_t)size ||
		path[size - 1] != '\0')
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* From the file, as program headers need not be in memory. */
int place_read_program(struct move *move)
{
	char path[64];
	Elf64_Ehdr header;
	struct place_image *image = move->image;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)move->remote.pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return place_fail(move, errno, "cannot read the program's file");
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
		!place_elf_header(&header))
		return place_fail(move, 0, "it is no 64-bit x86 program");
	size_t size = header.e_phnum * sizeof(Elf64_Phdr);
	cleanup_free Elf64_Phdr *phdrs = xmalloc(size);
	if (pread(fd, phdrs, size, (off_t)header.e_phoff) != (ssize_t)size ||
		!place_elf_parse(&image->program, &header, phdrs, header.e_phnum))
		return place_fail(move, 0, "its program headers cannot be read");
	image->program_bias =
		place_stack_auxv(&move->stack, AT_ENTRY) - image->program.entry;
	if (image->program.interpreter)
		move->interpreter = open_interpreter(&image->program, fd);
	else
		find_gadget(move, fd, phdrs, header.e_phnum, image->program_bias);
	return 0;
}

/* The file that the program names as its interpreter may be another by now. */
static bool is_mapped(const struct move *move, int fd, uint64_t address)
{
	const struct place_map *map = place_maps_find(&move->image->maps, address);
	struct stat status;

	return map && map->inode && !fstat(fd, &status) && map->inode == status.st_ino &&
	       map->device ==
		       ((uint64_t)major(status.st_dev) << 32 | minor(status.st_dev));
}

/* Bytes of its image: from the file, or from memory where it is another file. */
static int read_image(
	const struct move *move, int fd, uint64_t offset, void *data, size_t size)
{
	if (fd >= 0)
		return pread(fd, data, size, (off_t)offset) == (ssize_t)size ? 0 : -1;
	return remote_read(
		&move->remote, move->image->interpreter_bias + offset, data, size);
}

static int read_interpreter(struct move *move, int fd)
{
	struct place_image *image = move->image;
	Elf64_Ehdr header;

	if (read_image(move, fd, 0, &header, sizeof(header)) ||
		!place_elf_header(&header))
		return place_fail(
			move, 0, "its program interpreter is of an unknown kind");
	size_t size = header.e_phnum * sizeof(Elf64_Phdr);
	cleanup_free Elf64_Phdr *phdrs = xmalloc(size);
	if (read_image(move, fd, header.e_phoff, phdrs, size) ||
		!place_elf_parse(&image->interpreter, &header, phdrs, header.e_phnum))
		return place_fail(move, 0,
			"the program headers of its interpreter are not in memory");
	if (fd >= 0)
		find_gadget(move, fd, phdrs, header.e_phnum, image->interpreter_bias);
	return 0;
}

int place_read_interpreter(struct move *move)
{
	struct place_image *image = move->image;
	cleanup_fd int fd = move->interpreter;

	move->interpreter = -1;
	if (!image->program.interpreter)
		return 0;
	image->interpreter_bias = place_stack_auxv(&move->stack, AT_BASE);
	return read_interpreter(
		move, fd >= 0 && is_mapped(move, fd, image->interpreter_bias) ? fd : -1);
}

/* Any two bytes that are a `syscall`; it is executed from there and nowhere else. */
static uint64_t find_in(const struct move *move, const struct place_map *map)
{
	unsigned char bytes[4096];

	for (uint64_t at = map->start; at < map->end; at += sizeof(bytes)) {
		if (remote_read(&move->remote, at, bytes, sizeof(bytes)))
			return 0;
		const unsigned char *found = memmem(bytes, sizeof(bytes), "\x0f\x05", 2);
		if (found)
			return at + (uint64_t)(found - bytes);
	}
	return 0;
}

/* In the vdso, or where a kernel has none, in any code. */
int place_read_syscall(struct move *move)
{
	const struct place_maps *maps = &move->image->maps;
	uint64_t found = 0;

	for (int vdso = 1; vdso >= 0 && !found; vdso--)
		for (size_t i = 0; i < maps->count && !found; i++) {
			const struct place_map *map = &maps->items[i];
			if (map->protection & PROT_EXEC && map->kind != PLACE_VSYSCALL &&
				(map->kind == PLACE_VDSO) == vdso)
				found = find_in(move, map);
		}
	move->result->instruction = found;
	return found ? 0 : place_fail(move, 0, "it has no 'syscall' instruction");
}

/* Checked before, but a program's own child may have got one since. */
int place_read_limit(struct move *move)
{
	struct rlimit limit;

	if (prlimit(move->remote.pid, RLIMIT_AS, NULL, &limit) ||
		limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return place_fail(move, 0, "its address space is limited ('ulimit -v')");
}

/* Readable for root only; 0 leaves it to what the addresses themselves show. */
static unsigned read_random_bits(void)
{
	char text[16] = "";
	cleanup_fd int fd = open("/proc/sys/vm/mmap_rnd_bits", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	return (unsigned)strtoul(text, NULL, 10);
}

/* Where this process's own vdso and the program's parent's parts are: more draws. A
 * parent that may not be looked at tells nothing. */
int place_read_draws(struct move *move)
{
	struct place_image *image = move->image;
	Elf64_auxv_t auxv[PLACE_AUXV_MOST / 2];
	char path[64];

	image->random_bits = read_random_bits();
	if (image->random_bits)
		return 0;
	image->draws[image->draw_count++] = getauxval(AT_SYSINFO_EHDR);
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)image->marks.parent);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, auxv, sizeof(auxv));
	for (size_t i = 0; size > 0 && i < (size_t)size / sizeof(auxv[0]); i++)
		if ((auxv[i].a_type == AT_SYSINFO_EHDR || auxv[i].a_type == AT_PHDR) &&
			image->draw_count < PLACE_DRAWS)
			image->draws[image->draw_count++] = auxv[i].a_un.a_val;
	return 0;
}
