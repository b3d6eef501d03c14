/* Memory for code. The only mapping is readable and executable; bytes are written through
 * /proc/self/mem, which ignores the missing write permission of one's own private pages.
 *
 * Why not otherwise: a second, writable view needs a shared mapping, which a forked child
 * would share with its parent; and each mprotect() of executable memory is an mmap event
 * to perf, which then forgets the symbols that a jitdump gave for those pages. Measured
 * in a virtual machine, per 4-byte patch: 2 us through /proc/self/mem, 50 us by mprotect
 * there and back. */
#include "jit/codemem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	ARENA = 1 << 20, /* bytes mapped at a time, at least */
	INT3 = 0xcc,
	FILL_PIECES = 16,
};

/* All blocks, free and used, ascending and without gaps within what is mapped together.
 */
struct block {
	uintptr_t start;
	size_t size;
	bool used;
};

struct arena {
	uintptr_t start;
	size_t size;
};

struct codemem {
	enum codemem_method method;
	int descriptor; /* of /proc/self/mem, or -1 */
	/* A page that the kernel clears in a forked child: 0 says that `descriptor` is
	 * the parent's memory and must not be used. Holds for every kind of fork and for
	 * vfork. */
	int *ours;
	struct block *blocks;
	size_t block_count, block_room;
	size_t first_free; /* no block before this index is free */
	struct arena *arenas;
	size_t arena_count, arena_room;
	uintptr_t next; /* where the next arena is tried */
	size_t used, mapped;
	unsigned fail_in;
};

static bool inject(struct codemem *memory)
{
	if (memory->fail_in == 0 || --memory->fail_in > 0)
		return false;
	errno = ENOMEM;
	return true;
}

static bool open_descriptor(struct codemem *memory)
{
	if (memory->descriptor >= 0)
		close(memory->descriptor);
	memory->descriptor = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	*memory->ours = memory->descriptor >= 0;
	return memory->descriptor >= 0;
}

struct codemem *codemem_new(enum codemem_method method)
{
	struct codemem *memory = calloc(1, sizeof(*memory));
	void *page;

	if (!memory)
		return NULL;
	memory->descriptor = -1;
	memory->next = CODEMEM_BASE;
	memory->method = method;
	page = mmap(
		NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		free(memory);
		return NULL;
	}
	memory->ours = page;
	if (method != CODEMEM_MPROTECT &&
		(madvise(page, PAGE, MADV_WIPEONFORK) != 0 || !open_descriptor(memory)))
		memory->method = CODEMEM_MPROTECT;
	return memory;
}

void codemem_free(struct codemem *memory)
{
	if (!memory)
		return;
	for (size_t i = 0; i < memory->arena_count; i++)
		munmap((void *)memory->arenas[i].start, memory->arenas[i].size);
	if (memory->descriptor >= 0)
		close(memory->descriptor);
	munmap(memory->ours, PAGE);
	free(memory->arenas);
	free(memory->blocks);
	free(memory);
}

/* Writes all of `pieces`, which are changed. */
static int write_pieces(
	struct codemem *memory, uintptr_t address, struct iovec *pieces, int count)
{
	if (!*memory->ours && !open_descriptor(memory))
		return -1;
	while (count > 0) {
		ssize_t done = pwritev(memory->descriptor, pieces, count, (off_t)address);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		address += (size_t)done;
		while (count > 0 && (size_t)done >= pieces->iov_len) {
			done -= (ssize_t)pieces->iov_len;
			pieces++;
			count--;
		}
		if (count > 0) {
			pieces->iov_base = (char *)pieces->iov_base + done;
			pieces->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* The page range around some bytes becomes writable and not executable, or the reverse.
 */
static int protect(uintptr_t address, size_t size, int protection)
{
	uintptr_t start = address & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = (address + size + PAGE - 1) & ~(uintptr_t)(PAGE - 1);

	return mprotect((void *)start, end - start, protection);
}

static int write_protected(uintptr_t address, const void *bytes, size_t size)
{
	if (protect(address, size, PROT_READ | PROT_WRITE) != 0)
		return -1;
	/* One store for what a patchpoint can be, so that nobody sees half of it. */
	if (size == 8 && address % 8 == 0) {
		uint64_t value;

		memcpy(&value, bytes, 8);
		__atomic_store_n((uint64_t *)address, value, __ATOMIC_RELEASE);
	} else if (size == 4 && address % 4 == 0) {
		uint32_t value;

		memcpy(&value, bytes, 4);
		__atomic_store_n((uint32_t *)address, value, __ATOMIC_RELEASE);
	} else {
		memcpy((void *)address, bytes, size);
	}
	return protect(address, size, PROT_READ | PROT_EXEC);
}

static int write_bytes(
	struct codemem *memory, uintptr_t address, const void *bytes, size_t size)
{
	if (memory->method == CODEMEM_PROC_MEM) {
		struct iovec piece = {(void *)(uintptr_t)bytes, size};

		return write_pieces(memory, address, &piece, 1);
	}
	return write_protected(address, bytes, size);
}

/* Fills memory with one byte. */
static int fill(struct codemem *memory, uintptr_t address, size_t size, uint8_t byte)
{
	uint8_t filling[PAGE];

	memset(filling, byte, size < PAGE ? size : PAGE);
	while (size > 0) {
		struct iovec pieces[FILL_PIECES];
		size_t total = 0;
		int count = 0;

		while (count < FILL_PIECES && total < size) {
			size_t length = size - total < PAGE ? size - total : PAGE;

			pieces[count++] = (struct iovec){filling, length};
			total += length;
		}
		if (memory->method == CODEMEM_PROC_MEM) {
			if (write_pieces(memory, address, pieces, count) != 0)
				return -1;
		} else {
			if (protect(address, total, PROT_READ | PROT_WRITE) != 0)
				return -1;
			memset((void *)address, byte, total);
			if (protect(address, total, PROT_READ | PROT_EXEC) != 0)
				return -1;
		}
		address += total;
		size -= total;
	}
	return 0;
}

/* A new block is int3, so that a stray jump stops at once, and so is a little behind it;
 * the rest of the room is zeroes, which disassemblers pass over. */
static int prepare(struct codemem *memory, const struct block *block, size_t wanted)
{
	size_t zeroes = CODEMEM_ROOM - CODEMEM_ALIGN;

	if (fill(memory, block->start, wanted - zeroes, INT3) != 0)
		return -1;
	return fill(memory, block->start + wanted - zeroes, zeroes, 0);
}

static bool grow(void **array, size_t *room, size_t count, size_t element)
{
	size_t wanted = *room ? *room * 2 : 64;
	void *grown;

	if (count < *room)
		return true;
	grown = reallocarray(*array, wanted, element);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

/* Whether writing past the page protection works here: hardened kernels can refuse it. */
static void choose_method(struct codemem *memory, uintptr_t arena)
{
	uint8_t probe = INT3;

	if (memory->method != CODEMEM_AUTO)
		return;
	memory->method = CODEMEM_PROC_MEM;
	if (write_bytes(memory, arena, &probe, 1) != 0 || *(uint8_t *)arena != INT3)
		memory->method = CODEMEM_MPROTECT;
}

static void *map_at(uintptr_t address, size_t size)
{
	void *place = mmap((void *)address, size, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	/* Kernels before 4.17 take the flag for a hint. */
	if (place != MAP_FAILED && place != (void *)address) {
		munmap(place, size);
		errno = EEXIST;
		return MAP_FAILED;
	}
	return place;
}

static void join_next(struct codemem *memory, size_t index);

/* Maps one more arena of at least `size` bytes, which becomes (part of) a free block. */
static bool add_arena(struct codemem *memory, size_t size)
{
	void *place = MAP_FAILED;

	size = (size + ARENA - 1) & ~(size_t)(ARENA - 1);
	if (!grow((void **)&memory->arenas, &memory->arena_room, memory->arena_count,
		    sizeof(struct arena)) ||
		!grow((void **)&memory->blocks, &memory->block_room,
			memory->block_count + 1, sizeof(struct block)))
		return false;
	while (size <= CODEMEM_LIMIT - memory->next) {
		place = map_at(memory->next, size);
		if (place != MAP_FAILED || errno != EEXIST)
			break;
		memory->next += ARENA;
	}
	if (place == MAP_FAILED) {
		errno = ENOMEM;
		return false;
	}
	memory->arenas[memory->arena_count++] = (struct arena){memory->next, size};
	memory->blocks[memory->block_count++] = (struct block){memory->next, size, false};
	memory->mapped += size;
	choose_method(memory, memory->next);
	memory->next += size;
	if (memory->block_count > 1)
		join_next(memory, memory->block_count - 2);
	return true;
}

/* Makes one of two neighbours where both are free and touch. */
static void join_next(struct codemem *memory, size_t index)
{
	struct block *block = memory->blocks + index;

	if (index + 1 >= memory->block_count || block[0].used || block[1].used ||
		block[0].start + block[0].size != block[1].start)
		return;
	block->size += block[1].size;
	memory->block_count--;
	memmove(block + 1, block + 2,
		(memory->block_count - index - 1) * sizeof(struct block));
}

/* The first free block of at least `size` bytes, or the number of blocks. */
static size_t find_free(struct codemem *memory, size_t size)
{
	while (memory->first_free < memory->block_count &&
		memory->blocks[memory->first_free].used)
		memory->first_free++;
	for (size_t i = memory->first_free; i < memory->block_count; i++) {
		if (!memory->blocks[i].used && memory->blocks[i].size >= size)
			return i;
	}
	return memory->block_count;
}

/* Bytes of a block for `size` bytes of code. */
static size_t block_size(size_t size)
{
	return ((size + CODEMEM_ALIGN - 1) & ~(size_t)(CODEMEM_ALIGN - 1)) + CODEMEM_ROOM;
}

void *codemem_reserve(struct codemem *memory, size_t size)
{
	size_t wanted, index;
	struct block *block;

	if (inject(memory))
		return NULL;
	if (size == 0 || size > CODEMEM_LIMIT - CODEMEM_BASE) {
		errno = EINVAL;
		return NULL;
	}
	wanted = block_size(size);
	index = find_free(memory, wanted);
	if (index == memory->block_count) {
		if (!add_arena(memory, wanted))
			return NULL;
		index = find_free(memory, wanted);
		assert(index < memory->block_count);
	}
	if (!grow((void **)&memory->blocks, &memory->block_room, memory->block_count,
		    sizeof(struct block)))
		return NULL;
	block = memory->blocks + index;
	if (block->size > wanted) {
		memmove(block + 2, block + 1,
			(memory->block_count - index - 1) * sizeof(struct block));
		memory->block_count++;
		block[1] = (struct block){
			block->start + wanted, block->size - wanted, false};
	}
	block->size = wanted;
	block->used = true;
	memory->used += wanted;
	return (void *)block->start;
}

static size_t find_block(const struct codemem *memory, uintptr_t address);

void *codemem_allocate(struct codemem *memory, size_t size)
{
	void *address = codemem_reserve(memory, size);
	size_t index;

	if (!address)
		return NULL;
	index = find_block(memory, (uintptr_t)address);
	if (prepare(memory, memory->blocks + index, memory->blocks[index].size) == 0)
		return address;
	codemem_release(memory, address);
	return NULL;
}

/* Index of the block that contains an address, or the number of blocks. */
static size_t find_block(const struct codemem *memory, uintptr_t address)
{
	size_t low = 0, high = memory->block_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct block *block = memory->blocks + middle;

		if (address < block->start)
			high = middle;
		else if (address - block->start >= block->size)
			low = middle + 1;
		else
			return middle;
	}
	return memory->block_count;
}

void codemem_release(struct codemem *memory, void *address)
{
	size_t index = find_block(memory, (uintptr_t)address);
	struct block *block = memory->blocks + index;

	assert(index < memory->block_count && block->used &&
		block->start == (uintptr_t)address);
	/* Where filling fails the old bytes stay, which nobody executes any more. */
	(void)fill(memory, block->start, block->size, INT3);
	block->used = false;
	memory->used -= block->size;
	join_next(memory, index);
	if (index > 0) {
		size_t before = memory->block_count;

		join_next(memory, index - 1);
		if (memory->block_count < before)
			index--;
	}
	if (index < memory->first_free)
		memory->first_free = index;
}

int codemem_write(struct codemem *memory, void *address, const void *bytes, size_t size)
{
	size_t index = find_block(memory, (uintptr_t)address);

	assert(index < memory->block_count && memory->blocks[index].used &&
		(uintptr_t)address + size <=
			memory->blocks[index].start + memory->blocks[index].size);
	if (inject(memory))
		return -1;
	return write_bytes(memory, (uintptr_t)address, bytes, size);
}

int codemem_fill(struct codemem *memory, void *address, const void *bytes, size_t size)
{
	uint8_t tail[2 * CODEMEM_ALIGN + CODEMEM_ROOM] = {0};
	size_t stops = -size & (CODEMEM_ALIGN - 1);
	struct iovec pieces[] = {
		{(void *)(uintptr_t)bytes, size},
		{tail, block_size(size) - size},
	};

	if (memory->method != CODEMEM_PROC_MEM)
		return codemem_write(memory, address, bytes, size);
	if (inject(memory))
		return -1;
	memset(tail, INT3, stops + CODEMEM_ALIGN);
	return write_pieces(memory, (uintptr_t)address, pieces, 2);
}

int codemem_each(struct codemem *memory,
	int (*visit)(void *context, const void *address, size_t size), void *context)
{
	for (size_t i = 0; i < memory->arena_count; i++) {
		int status = visit(context, (const void *)memory->arenas[i].start,
			memory->arenas[i].size);

		if (status != 0)
			return status;
	}
	return 0;
}

bool codemem_contains(const struct codemem *memory, const void *address)
{
	size_t index = find_block(memory, (uintptr_t)address);

	return index < memory->block_count && memory->blocks[index].used;
}

enum codemem_method codemem_method(const struct codemem *memory)
{
	return memory->method;
}

size_t codemem_used(const struct codemem *memory)
{
	return memory->used;
}

size_t codemem_mapped(const struct codemem *memory)
{
	return memory->mapped;
}

void codemem_fail(struct codemem *memory, unsigned count)
{
	memory->fail_in = count;
}
