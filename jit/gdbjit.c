/* The GDB JIT interface. */
#include "jit/gdbjit.h"

#include "jit/code_elf.h"
#include "jit/code_info.h"

#include <stdlib.h>
#include <string.h>

/* Code that begins in the same window shares an image: large enough that there are few,
 * small enough that building one again for each new code object is cheap. */
enum { WINDOW = 32768 };

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

/* gdb has a breakpoint here. */
__attribute__((noinline, noclone)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" : : : "memory");
}

struct window {
	uintptr_t start;
	struct jit_code_entry entry;
	char *image; /* owned; NULL: nothing is registered */
};

struct gdbjit {
	char *directory;
	struct window **windows; /* ascending */
	size_t count, room;
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

void gdbjit_update(struct gdbjit *gdb, const struct code_table *table, uintptr_t address)
{
	struct window *window = find_window(gdb, address);
	size_t first, end;
	char *image;

	if (!window)
		return;
	first = code_table_find(table, window->start);
	while (first < table->count && table->codes[first]->address < window->start)
		first++;
	end = first;
	while (end < table->count && table->codes[end]->address < window->start + WINDOW)
		end++;
	unregister(window);
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
