/* The newest bytes of every range of a process that ever held code without a file. */
#include "launcher/codekeep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/region.h"
#include "launcher/task.h"

enum { PAGE = 4096 };

/* More code than any runtime makes; a program that maps data executable is not to fill
 * the machine's memory through us. */
static const uint64_t most_bytes = UINT64_C(2) << 30;

const char *codekeep_fate_name(enum codekeep_fate fate)
{
	static const char *const names[] = {
		[CODE_LIVE] = "live at exit",
		[CODE_CRASHED] = "live at the fatal signal",
		[CODE_UNMAPPED] = "unmapped",
		[CODE_PROTECTED] = "made not executable",
		[CODE_MOVED] = "moved away",
		[CODE_MAPPED] = "mapped over",
		[CODE_DISCARDED] = "discarded",
		[CODE_EXECUTED] = "replaced by another program",
	};

	return names[fate];
}

void codekeep_release(struct codekeep *keep)
{
	for (size_t i = 0; i < keep->count; i++)
		free(keep->pieces[i].bytes);
	free(keep->pieces);
	*keep = (struct codekeep){0};
}

static uint64_t piece_end(const struct codekeep_piece *piece)
{
	return piece->address + piece->size;
}

/* The first piece that ends above `address`. */
static size_t find(const struct codekeep *keep, uint64_t address)
{
	size_t low = 0, high = keep->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (piece_end(&keep->pieces[middle]) > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint8_t *copy(const uint8_t *bytes, size_t size)
{
	uint8_t *new = xmalloc(size);

	memcpy(new, bytes, size);
	return new;
}

static void insert(struct codekeep *keep, size_t at, const struct codekeep_piece *piece)
{
	keep->pieces = xreallocarray(keep->pieces, keep->count + 1, sizeof(*piece));
	memmove(keep->pieces + at + 1, keep->pieces + at,
		(keep->count - at) * sizeof(*piece));
	keep->pieces[at] = *piece;
	keep->count++;
	keep->bytes += piece->size;
}

static void delete (struct codekeep *keep, size_t at)
{
	keep->bytes -= keep->pieces[at].size;
	free(keep->pieces[at].bytes);
	keep->count--;
	memmove(keep->pieces + at, keep->pieces + at + 1,
		(keep->count - at) * sizeof(*keep->pieces));
}

/* Cuts from..to out of what is kept. Returns where a piece of that range belongs. */
static size_t cut(struct codekeep *keep, uint64_t from, uint64_t to)
{
	size_t at = find(keep, from);

	if (at < keep->count && keep->pieces[at].address < from) {
		struct codekeep_piece *piece = &keep->pieces[at];
		size_t before = from - piece->address;
		if (piece_end(piece) > to) {
			struct codekeep_piece rest = *piece;
			rest.size = piece_end(piece) - to;
			rest.address = to;
			rest.bytes =
				copy(piece->bytes + (to - piece->address), rest.size);
			insert(keep, at + 1, &rest);
			piece = &keep->pieces[at];
			keep->bytes -= rest.size;
			piece->size -= rest.size;
		}
		keep->bytes -= piece->size - before;
		piece->size = before;
		at++;
	}
	while (at < keep->count && piece_end(&keep->pieces[at]) <= to)
		delete (keep, at);
	if (at < keep->count && keep->pieces[at].address < to) {
		struct codekeep_piece *piece = &keep->pieces[at];
		size_t gone = to - piece->address;
		memmove(piece->bytes, piece->bytes + gone, piece->size - gone);
		piece->address = to;
		piece->size -= gone;
		keep->bytes -= gone;
	}
	return at;
}

static void lose(struct codekeep *keep, uint64_t size, int error)
{
	keep->lost += size;
	if (!keep->error)
		keep->error = error;
}

/* Room for bytes of a range: the piece that is exactly there, as a JIT that keeps
 * toggling protection has it, or a new one. */
static struct codekeep_piece *make_room(
	struct codekeep *keep, uint64_t address, size_t size)
{
	size_t at = find(keep, address);

	if (at < keep->count && keep->pieces[at].address == address &&
		keep->pieces[at].size == size)
		return &keep->pieces[at];
	if (keep->bytes + size > most_bytes) {
		lose(keep, size, ENOMEM);
		return NULL;
	}
	at = cut(keep, address, address + size);
	insert(keep, at,
		&(struct codekeep_piece){
			.address = address, .size = size, .bytes = xmalloc(size)});
	return &keep->pieces[at];
}

void codekeep_add(struct codekeep *keep, uint64_t address, const uint8_t *bytes,
	size_t size, uint64_t time, enum codekeep_fate fate)
{
	struct codekeep_piece *piece = size ? make_room(keep, address, size) : NULL;

	if (!piece)
		return;
	memcpy(piece->bytes, bytes, size);
	piece->time = time;
	piece->fate = fate;
}

/* process_vm_readv() is the fast way; it does not read what may only be executed, which
 * /proc/PID/mem does. */
static ssize_t read_code(
	struct process *process, uint64_t address, uint8_t *bytes, size_t size)
{
	ssize_t done = process_read(process, address, bytes, size);

	if (done == (ssize_t)size)
		return done;
	int memory = process_memory(process);
	return memory < 0 ? -1 : pread(memory, bytes, size, (off_t)address);
}

static void copy_pages(struct codekeep *keep, struct process *process, uint64_t from,
	uint64_t to, uint64_t time, enum codekeep_fate fate)
{
	enum { CHUNK = 1 << 20 };

	for (uint64_t at = from, next; at < to; at = next) {
		next = to - at > CHUNK ? at + CHUNK : to;
		uint8_t *bytes = xmalloc(next - at);
		ssize_t done = read_code(process, at, bytes, next - at);
		if (done > 0)
			codekeep_add(keep, at, bytes, (size_t)done, time, fate);
		if (done != (ssize_t)(next - at))
			lose(keep, next - at - (done > 0 ? (uint64_t)done : 0), errno);
		free(bytes);
	}
}

void codekeep_copy(struct codekeep *keep, struct process *process, uint64_t from,
	uint64_t to, enum codekeep_fate fate)
{
	struct timespec now;
	struct region region;

	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	/* The kernel rounds what it is given in the same way. */
	from = from / PAGE * PAGE;
	to = to > UINT64_MAX - PAGE ? to / PAGE * PAGE : (to + PAGE - 1) / PAGE * PAGE;
	while (region_next(process, from, to, &region) > 0) {
		uint64_t at = region.begin > from ? region.begin : from;
		uint64_t end = region.end < to ? region.end : to;
		uint64_t first, last;
		for (; region_next_pages(process, &region, at, end, &first, &last) > 0;
			at = last)
			copy_pages(keep, process, first, last, time, fate);
		from = region.end;
	}
}
