/* The GDB JIT interface. */
#include "jit/gdbjit.h"

#include "jit/code_elf.h"
#include "jit/code_info.h"

#include <stdlib.h>
#include <string.h>
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
	char *image; /* owned; NULL: nothing is registered */
	bool dirty;  /* its code is not as registered */
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
	free(window->image);
	window->image = NULL;
}

/* Takes the image. */
static void enter(struct window *window, char *image, size_t size)
{
	struct jit_code_entry *first = __jit_debug_descriptor.first_entry;

	window->image = image;
	window->entry = (struct jit_code_entry){
		.next_entry = first,
		.symfile_addr = image,
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
	char *image;

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
	image = malloc(gdb->image.size);
	if (!image)
		return;
	memcpy(image, gdb->image.bytes, gdb->image.size);
	enter(window, image, gdb->image.size);
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
