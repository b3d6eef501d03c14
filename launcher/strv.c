/* A growing vector of strings, always ended by NULL. */
#include "launcher/strv.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"

static void reserve(struct strv *strv, size_t count)
{
	if (count + 1 <= strv->capacity)
		return;
	strv->capacity = strv->capacity ? strv->capacity * 2 : 32;
	if (strv->capacity < count + 1)
		strv->capacity = count + 1;
	strv->items = xreallocarray(strv->items, strv->capacity, sizeof(*strv->items));
}

void strv_init(struct strv *strv)
{
	*strv = (struct strv){0};
	reserve(strv, 0);
	strv->items[0] = NULL;
}

void strv_release(struct strv *strv)
{
	for (size_t i = 0; i < strv->count; i++)
		free(strv->items[i]);
	free(strv->items);
	*strv = (struct strv){0};
}

void strv_insert(struct strv *strv, size_t index, char *string)
{
	reserve(strv, strv->count + 1);
	memmove(strv->items + index + 1, strv->items + index,
		(strv->count - index) * sizeof(*strv->items));
	strv->items[index] = string;
	strv->items[++strv->count] = NULL;
}

void strv_add(struct strv *strv, char *string)
{
	strv_insert(strv, strv->count, string);
}

void strv_remove(struct strv *strv, size_t index)
{
	free(strv->items[index]);
	memmove(strv->items + index, strv->items + index + 1,
		(strv->count - index) * sizeof(*strv->items));
	strv->count--;
}

bool strv_has(const struct strv *strv, const char *string)
{
	for (size_t i = 0; i < strv->count; i++) {
		if (!strcmp(strv->items[i], string))
			return true;
	}
	return false;
}

void strv_copy(struct strv *strv, char *const *strings)
{
	for (; *strings; strings++)
		strv_add(strv, xstrdup(*strings));
}
