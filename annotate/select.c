/* Choosing functions by what a user types. */
#include "annotate/select.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum match {
	MATCH_EXACT,
	MATCH_WORD, /* up to the first blank, or C++'s argument list */
	MATCH_LAST, /* behind the last dot or colon of that: "advance" of "nbody.advance"
		     */
	MATCH_PART,
	MATCH_KINDS,
};

static bool matches(const struct function *function, const char *wanted, enum match match)
{
	const char *name = function->name;
	size_t length = strlen(wanted), word = strcspn(name, " (");

	switch (match) {
	case MATCH_EXACT:
		return strcmp(name, wanted) == 0 ||
		       strcmp(function->raw_name, wanted) == 0;
	case MATCH_WORD: return word == length && strncmp(name, wanted, length) == 0;
	case MATCH_LAST:
		return word > length &&
		       strncmp(name + word - length, wanted, length) == 0 &&
		       strchr(".:~*", name[word - length - 1]);
	default: return strstr(name, wanted) != NULL;
	}
}

static struct function **by_address(
	const struct profile *profile, uint64_t address, size_t *count)
{
	struct function **list =
		xreallocarray(NULL, profile->function_count + 1, sizeof(*list));

	for (size_t i = 0; i < profile->function_count; i++) {
		struct function *function = profile->functions[i];
		if (function->samples && address - function->address < function->size)
			list[(*count)++] = function;
	}
	return list;
}

struct function **select_functions(
	const struct profile *profile, const char *wanted, size_t *count)
{
	char *end;
	uint64_t address = strtoull(wanted, &end, 16);

	*count = 0;
	if (strncmp(wanted, "0x", 2) == 0 && !*end)
		return by_address(profile, address, count);
	struct function **list =
		xreallocarray(NULL, profile->function_count + 1, sizeof(*list));
	for (enum match match = MATCH_EXACT; match < MATCH_KINDS && !*count; match++)
		for (size_t i = 0; i < profile->function_count; i++)
			if (profile->functions[i]->samples &&
				matches(profile->functions[i], wanted, match))
				list[(*count)++] = profile->functions[i];
	return list;
}

bool select_is_plain(const struct profile *profile, const char *wanted)
{
	char *end;
	uint64_t address = strtoull(wanted, &end, 16);
	bool by_address = strncmp(wanted, "0x", 2) == 0 && !*end;

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *function = profile->functions[i];
		bool found = by_address && address - function->address < function->size;
		for (enum match match = MATCH_EXACT; !by_address && match < MATCH_PART;
			match++)
			found |= matches(function, wanted, match);
		if (found && function->hits)
			return true;
	}
	return false;
}

struct function **select_sampled(
	const struct profile *profile, size_t limit, size_t *count)
{
	struct function **list =
		xreallocarray(NULL, profile->function_count + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < profile->function_count && *count < limit; i++)
		if (profile->functions[i]->samples)
			list[(*count)++] = profile->functions[i];
	return list;
}
