/* Reading patches.log. */
#include "annotate/patches.h"
#include "jit/patchlog.h"
#include "launcher/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more in an array that doubles. */
static void *grow(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	return xreallocarray(list, count ? count * 2 : 1, size);
}

static void *own(struct patches *patches, size_t size)
{
	patches->owned =
		grow(patches->owned, patches->owned_count, sizeof(*patches->owned));
	return patches->owned[patches->owned_count++] = xmalloc(size);
}

static char *join(struct patches *patches, const char *first, size_t first_size,
	const char *second, size_t second_size)
{
	char *text = own(patches, first_size + second_size + 2);
	char *at = text;

	if (first_size)
		at = mempcpy(at, first, first_size);
	if (first_size && second_size)
		*at++ = ' ';
	if (second_size)
		at = mempcpy(at, second, second_size);
	*at = '\0';
	return text;
}

static void add(struct patches *patches, const struct patchlog_event *event)
{
	switch (event->kind) {
	case PATCHLOG_PATCH: {
		uint8_t *bytes = own(patches, (size_t)event->size * 2);
		patchlog_bytes(event->old, event->size, bytes);
		patchlog_bytes(event->new, event->size, bytes + event->size);
		patches->list =
			grow(patches->list, patches->count, sizeof(*patches->list));
		patches->list[patches->count++] = (struct patch){event->clock,
			event->address, event->size, bytes, bytes + event->size,
			join(patches, NULL, 0, event->text, event->text_length),
			patches->count - 1, 0};
		break;
	}
	case PATCHLOG_UNLOAD:
		patches->unloads = grow(patches->unloads, patches->unload_count,
			sizeof(*patches->unloads));
		patches->unloads[patches->unload_count++] = (struct patches_unload){
			event->clock, event->address, event->size};
		break;
	case PATCHLOG_OBJECT:
		patches->objects = grow(patches->objects, patches->object_count,
			sizeof(*patches->objects));
		patches->objects[patches->object_count++] =
			(struct patches_object){event->address,
				join(patches, event->type, event->type_length,
					event->text, event->text_length),
				patches->object_count - 1};
		break;
	}
}

static int compare_patches(const void *a, const void *b)
{
	const struct patch *left = a, *right = b;

	if (left->clock != right->clock)
		return left->clock < right->clock ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static int compare_objects(const void *a, const void *b)
{
	const struct patches_object *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

/* An address may have had several objects one after the other: the last one counts. */
static void index_objects(struct patches *patches)
{
	struct patches_object *list = patches->objects;
	size_t kept = 0;

	qsort(list, patches->object_count, sizeof(*list), compare_objects);
	for (size_t i = 0; i < patches->object_count; i++) {
		if (kept && list[kept - 1].address == list[i].address)
			kept--;
		list[kept++] = list[i];
	}
	patches->object_count = kept;
}

int patches_open(struct patches *patches, const char *path, struct fault *fault)
{
	struct patchlog_event event;
	int result;

	*patches = (struct patches){0};
	if (file_open(&patches->file, path) < 0)
		return fault_set(fault, "%s", strerror(errno));
	const char *text = (const char *)patches->file.data;
	size_t size = patches->file.size;
	while ((result = patchlog_next(&text, &size, &event)) != 0) {
		if (result < 0)
			patches->bad++;
		else
			add(patches, &event);
	}
	patches->cut = size > 0;
	if (patches->count)
		qsort(patches->list, patches->count, sizeof(*patches->list),
			compare_patches);
	if (patches->object_count)
		index_objects(patches);
	return 0;
}

void patches_close(struct patches *patches)
{
	for (size_t i = 0; i < patches->owned_count; i++)
		free(patches->owned[i]);
	free(patches->owned);
	free(patches->list);
	free(patches->unloads);
	free(patches->objects);
	file_close(&patches->file);
	*patches = (struct patches){0};
}

const char *patches_object(const struct patches *patches, uint64_t address)
{
	size_t low = 0, high = patches->object_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (patches->objects[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < patches->object_count && patches->objects[low].address == address
		       ? patches->objects[low].text
		       : NULL;
}
