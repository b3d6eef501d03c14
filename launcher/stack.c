/* A stack of our own where the caller's limit leaves too little of the kernel's: the limit
 * is the program's business, and not ours. */
#include "launcher/stack.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "launcher/base.h"

enum {
	ENOUGH = 512 << 10,
	SIZE = 2 << 20,
};

/* What makecontext(3) cannot hand over: its arguments are ints. */
struct call {
	ucontext_t back;
	int (*run)(int argc, char **argv);
	int argc, status;
	char **argv;
};

static void enter(unsigned low, unsigned high)
{
	struct call *call = (struct call *)((uintptr_t)high << 32 | low);

	call->status = call->run(call->argc, call->argv);
}

int stack_run(int (*run)(int argc, char **argv), int argc, char **argv)
{
	struct call *call;
	struct rlimit limit;
	ucontext_t context;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= ENOUGH)
		return run(argc, argv);
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	call = xcalloc(1, sizeof(*call));
	*call = (struct call){.run = run, .argc = argc, .argv = argv};
	if (memory == MAP_FAILED || getcontext(&context))
		return run(argc, argv);
	context.uc_stack.ss_sp = memory;
	context.uc_stack.ss_size = SIZE;
	context.uc_link = &call->back;
	makecontext(&context, (void (*)(void))enter, 2, (unsigned)(uintptr_t)call,
		(unsigned)((uintptr_t)call >> 32));
	if (swapcontext(&call->back, &context))
		return run(argc, argv);
	return call->status;
}
