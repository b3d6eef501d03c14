/* Answers about memory: before a mapping changes, the code in it is copied. */
#include <sys/mman.h>

#include "launcher/answer.h"
#include "launcher/supervisor.h"

static void going(const struct question *question, uint64_t from, uint64_t size,
	enum codekeep_fate fate)
{
	uint64_t to = size > UINT64_MAX - from ? UINT64_MAX : from + size;

	kept_going(question->supervisor, question->task->process, from, to, fate);
}

void answer_munmap(const struct question *question)
{
	going(question, question->arguments[0], question->arguments[1], CODE_UNMAPPED);
}

/* The old place is emptied, or cut to the new size; so is a new place that is asked for.
 */
void answer_mremap(const struct question *question)
{
	const uint64_t *arguments = question->arguments;

	going(question, arguments[0], arguments[1], CODE_MOVED);
	if (arguments[3] & MREMAP_FIXED)
		going(question, arguments[4], arguments[2], CODE_MAPPED);
}

/* Segments tell their size nowhere near: the mapping that begins there is looked up. */
void answer_shmdt(const struct question *question)
{
	kept_going_mapping(question->supervisor, question->task->process,
		question->arguments[0], CODE_UNMAPPED);
}

/* Only asked about where the new protection lacks execution. */
void answer_mprotect(const struct question *question)
{
	going(question, question->arguments[0], question->arguments[1], CODE_PROTECTED);
}

/* Only asked about with MAP_FIXED. */
void answer_mmap(const struct question *question)
{
	going(question, question->arguments[0], question->arguments[1], CODE_MAPPED);
}

/* Only asked about with SHM_REMAP. */
void answer_shmat(const struct question *question)
{
	kept_going_mapping(question->supervisor, question->task->process,
		question->arguments[1], CODE_MAPPED);
}

/* Only asked about with advice that gives pages back. */
void answer_madvise(const struct question *question)
{
	going(question, question->arguments[0], question->arguments[1], CODE_DISCARDED);
}
