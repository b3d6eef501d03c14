/* What stands against moving a program, as far as it can be known before. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/place.h"
#include "launcher/place_elf.h"

/* "TracerPid:\tN\n" of /proc/self/status; false where there is no such file. */
static bool read_tracer(int *tracer)
{
	char text[4096];
	cleanup_fd int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t size = read(fd, text, sizeof(text) - 1);
	if (size <= 0)
		return false;
	text[size] = '\0';
	const char *line = strstr(text, "\nTracerPid:");
	if (line)
		*tracer = (int)strtol(line + strlen("\nTracerPid:"), NULL, 10);
	return true;
}

static void read_program(struct place_facts *facts, const char *path)
{
	Elf64_Ehdr header;
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	/* A file that is not there is execve's to report. */
	if (fd < 0) {
		facts->unreadable = errno == EACCES || errno == EPERM;
		return;
	}
	ssize_t size = read(fd, &header, sizeof(header));
	/* What is no ELF file at all may be run by a binfmt_misc handler that is one. */
	if (size >= SELFMAG && !memcmp(header.e_ident, ELFMAG, SELFMAG))
		facts->foreign =
			size < (ssize_t)sizeof(header) || !place_elf_header(&header);
}

void place_facts_read(struct place_facts *facts, const char *path)
{
	struct rlimit limit;
	unsigned int size;

	*facts = (struct place_facts){0};
	facts->address_limit =
		!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
	facts->no_proc = !read_tracer(&facts->tracer);
	facts->no_numbers = prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) != 0;
	read_program(facts, path);
}

const char *place_facts_obstacle(const struct place_facts *facts)
{
	if (facts->no_proc)
		return "/proc is not mounted, and moving the program needs it";
	if (facts->unreadable)
		return "the program is execute-only: its memory may not be read";
	if (facts->foreign)
		return "it is no 64-bit x86 program";
	if (facts->address_limit)
		return "the address space is limited ('ulimit -v') and moving the "
		       "program "
		       "takes a terabyte of it (no memory)";
	if (facts->no_numbers)
		return "the kernel has no PR_SET_MM_MAP (CONFIG_CHECKPOINT_RESTORE), or "
		       "prctl is refused";
	if (facts->tracer)
		return "a debugger or tracer is attached, and moving the program needs "
		       "to trace it";
	return NULL;
}

bool place_will_move(char *const *options, size_t count, bool persona_refused)
{
	static const char name[] = "--place=";
	const char *place = "auto";

	for (size_t i = 0; i < count; i++)
		if (!strncmp(options[i], name, strlen(name)))
			place = options[i] + strlen(name);
		else if (!strcmp(options[i], "--place") && i + 1 < count)
			place = options[i + 1];
	return !strcmp(place, "move") || (!strcmp(place, "auto") && persona_refused);
}
