/* The GDB JIT interface. */
#include "jit/gdbjit.h"

#include "jit/code_elf.h"
#include "jit/code_info.h"

#include "jit/codemem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Code that begins in the same window shares an image: large enough that there are few,
 * small enough that building one again for each new code object is cheap. */
enum { WINDOW = 16384 };

/* Each event costs a gdb that is attached about a millisecond, which 5,000 code objects
 * would make seconds. So when gdb is seen to be there (an event takes long), and after
 * the first PROMPT of them, events are kept back: until there are enough of them, or
 * until gdb's last work was long enough ago. */
enum {
	PROMPT = 256,
	ATTACHED_NS = 30000,
	PENDING_MIN = 16,
	PENDING_SHARE = 16, /* of all code objects: one in so many may be pending */
	PAUSE = 20,	    /* times what the last event took */
};

/* When an image is built follows the clock, and no block of malloc()'s may: code holds
 * addresses of those that are made later. So an image has a place of its own, as far from
 * the first as its window's code is times SPREAD, where nothing else is ever mapped; and
 * what it is built in is as large from the start as it gets. What does not fit is
 * malloc()'s. */
enum {
	SPREAD = 16,
	PLACE_SIZE = WINDOW * SPREAD,
	SCRATCH = 64 << 10,
};
#define PLACES_BEGIN 0x10000000000UL

/* These four declarations are the interface: gdb looks for the names. */
enum jit_actions { JIT_NOACTION, JIT_REGISTER_FN, JIT_UNREGISTER_FN };

struct jit_code_entry {
	struct jit_code_entry *next_entry;
	struct jit_code_entry *prev_entry;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct jit_descriptor {
	uint32_t version;
	uint32_t action_flag; /* enum jit_actions */
	struct jit_code_entry *relevant_entry;
	struct jit_code_entry *first_entry;
};

extern struct jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code(void);

struct jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, NULL, NULL};

/* Not gdb's: a debugger that waits for code at an address sets it to 1, and then no new
 * code object goes without a call of __jit_debug_register_code(). */
extern volatile int __jit_debug_watch;
volatile int __jit_debug_watch = 0;

/* gdb has a breakpoint here. */
__attribute__((noinline)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" : : : "memory");
}

struct window {
	uintptr_t start;
	struct jit_code_entry entry;
	char *image;   /* NULL: nothing is registered */
	size_t mapped; /* bytes of the image's own mapping; 0: it is malloc()'s */
	bool dirty;    /* its code is not as registered */
};

struct gdbjit {
	char *directory;
	struct window **windows; /* ascending */
	size_t count, room;
	size_t updates, pending;
	uint64_t last, took; /* in ns: when gdb was told last, and how long that took */
	struct code_elf elf;
	struct buffer image;
};

struct gdbjit *gdbjit_new(const char *directory)
{
	struct gdbjit *gdb = calloc(1, sizeof(*gdb));

	if (!gdb)
		return NULL;
	gdb->directory = strdup(directory);
	if (!gdb->directory) {
		free(gdb);
		return NULL;
	}
	buffer_reserve(&gdb->image, PLACE_SIZE);
	code_elf_reserve(&gdb->elf, SCRATCH);
	return gdb;
}

static void tell(enum jit_actions action, struct jit_code_entry *entry)
{
	__jit_debug_descriptor.relevant_entry = entry;
	__jit_debug_descriptor.action_flag = action;
	__jit_debug_register_code();
	__jit_debug_descriptor.action_flag = JIT_NOACTION;
	__jit_debug_descriptor.relevant_entry = NULL;
}

void gdbjit_announce(void)
{
	tell(JIT_NOACTION, NULL);
}

static void unregister(struct window *window)
{
	struct jit_code_entry *entry = &window->entry;

	if (!window->image)
		return;
	if (entry->prev_entry)
		entry->prev_entry->next_entry = entry->next_entry;
	else
		__jit_debug_descriptor.first_entry = entry->next_entry;
	if (entry->next_entry)
		entry->next_entry->prev_entry = entry->prev_entry;
	tell(JIT_UNREGISTER_FN, entry);
	if (window->mapped)
		munmap(window->image, window->mapped);
	else
		free(window->image);
	window->image = NULL;
}

/* Memory for a window's image; false: out of memory. */
static bool allocate(struct window *window, size_t size)
{
	char *place = (char *)PLACES_BEGIN + (window->start - CODEMEM_BASE) * SPREAD;

	window->mapped = 0;
	window->image = MAP_FAILED;
	if (size <= PLACE_SIZE && window->start >= CODEMEM_BASE)
		window->image = mmap(place, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (window->image == place) {
		window->mapped = size;
		return true;
	}
	/* Kernels before 4.17 take the place for a wish. */
	if (window->image != MAP_FAILED)
		munmap(window->image, size);
	window->image = malloc(size);
	return window->image;
}

static void enter(struct window *window, size_t size)
{
	struct jit_code_entry *first = __jit_debug_descriptor.first_entry;

	window->entry = (struct jit_code_entry){
		.next_entry = first,
		.symfile_addr = window->image,
		.symfile_size = size,
	};
	if (first)
		first->prev_entry = &window->entry;
	__jit_debug_descriptor.first_entry = &window->entry;
	tell(JIT_REGISTER_FN, &window->entry);
}

/* Finds or adds the window of an address; NULL: out of memory. */
static struct window *find_window(struct gdbjit *gdb, uintptr_t address)
{
	uintptr_t start = address & ~(uintptr_t)(WINDOW - 1);
	size_t low = 0, high = gdb->count;
	struct window *window;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (gdb->windows[middle]->start < start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < gdb->count && gdb->windows[low]->start == start)
		return gdb->windows[low];
	if (gdb->count == gdb->room) {
		size_t room = gdb->room ? gdb->room * 2 : 16;
		struct window **grown = reallocarray(gdb->windows, room, sizeof(*grown));

		if (!grown)
			return NULL;
		gdb->windows = grown;
		gdb->room = room;
	}
	window = calloc(1, sizeof(*window));
	if (!window)
		return NULL;
	window->start = start;
	memmove(gdb->windows + low + 1, gdb->windows + low,
		(gdb->count - low) * sizeof(struct window *));
	gdb->windows[low] = window;
	gdb->count++;
	return window;
}

/* Builds the image of a window again from its code. */
static void renew(
	struct gdbjit *gdb, struct window *window, const struct code_table *table)
{
	size_t first = code_table_find(table, window->start), end;

	while (first < table->count && table->codes[first]->address < window->start)
		first++;
	end = first;
	while (end < table->count && table->codes[end]->address < window->start + WINDOW)
		end++;
	unregister(window);
	window->dirty = false;
	if (first == end)
		return;
	buffer_clear(&gdb->image);
	if (!code_elf_build(&gdb->elf, &gdb->image, table->codes + first, end - first,
		    gdb->directory, false))
		return;
	if (!allocate(window, gdb->image.size))
		return;
	memcpy(window->image, gdb->image.bytes, gdb->image.size);
	enter(window, gdb->image.size);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static bool is_due(const struct gdbjit *gdb, const struct code_table *table)
{
	return gdb->updates <= PROMPT || gdb->took < ATTACHED_NS ||
	       (gdb->pending >= PENDING_MIN &&
		       gdb->pending >= table->count / PENDING_SHARE) ||
	       now() - gdb->last >= PAUSE * gdb->took;
}

void gdbjit_update(struct gdbjit *gdb, const struct code_table *table, uintptr_t address)
{
	struct window *window = find_window(gdb, address);
	uint64_t start;

	if (!window)
		return;
	window->dirty = true;
	gdb->updates++;
	gdb->pending++;
	if (!is_due(gdb, table)) {
		if (__jit_debug_watch)
			gdbjit_announce();
		return;
	}
	start = now();
	for (size_t i = 0; i < gdb->count; i++) {
		if (gdb->windows[i]->dirty)
			renew(gdb, gdb->windows[i], table);
	}
	gdb->last = now();
	gdb->took = gdb->last - start;
	gdb->pending = 0;
}

void gdbjit_free(struct gdbjit *gdb)
{
	if (!gdb)
		return;
	for (size_t i = 0; i < gdb->count; i++) {
		unregister(gdb->windows[i]);
		free(gdb->windows[i]);
	}
	free(gdb->windows);
	code_elf_release(&gdb->elf);
	buffer_release(&gdb->image);
	free(gdb->directory);
	free(gdb);
}
