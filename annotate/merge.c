/* Merging runs. */
#include "annotate/merge.h"
#include "annotate/disasm.h"
#include "launcher/base.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_TABLE = 256,
	TOLD = 3,	  /* refusals that are told one by one */
	FEWEST_AGREE = 2, /* of as many as … */
	OF = 3, /* … code objects that must agree for runs to be of one program */
};

struct node {
	struct function *function;
	struct node *next;
};

struct merge {
	struct node **table;
	size_t size, count;
	size_t refused, by_offset;
};

struct merge *merge_new(void)
{
	struct merge *merge = xcalloc(1, sizeof(*merge));

	merge->size = FIRST_TABLE;
	merge->table = xcalloc(merge->size, sizeof(*merge->table));
	return merge;
}

void merge_free(struct merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->size; i++)
		while (merge->table[i]) {
			struct node *node = merge->table[i];
			merge->table[i] = node->next;
			free(node);
		}
	free(merge->table);
	free(merge);
}

static size_t hash(const char *name)
{
	size_t value = 14695981039346656037u; /* FNV-1a */

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 1099511628211u;
	return value ^ value >> 32;
}

static void grow(struct merge *merge)
{
	struct node **old = merge->table;
	size_t old_size = merge->size;

	merge->size *= 2;
	merge->table = xcalloc(merge->size, sizeof(*merge->table));
	for (size_t i = 0; i < old_size; i++)
		while (old[i]) {
			struct node *node = old[i];
			struct node **head = &merge->table[hash(node->function->name) &
							   (merge->size - 1)];
			old[i] = node->next;
			node->next = *head;
			*head = node;
		}
	free(old);
}

void merge_add(struct merge *merge, struct function *function)
{
	if (++merge->count > merge->size)
		grow(merge);
	struct node *node = xmalloc(sizeof(*node));
	struct node **head = &merge->table[hash(function->name) & (merge->size - 1)];
	*node = (struct node){function, *head};
	*head = node;
}

static const uint8_t *bytes_of_code(const struct code *code, bool final)
{
	return final ? code->final : code->bytes;
}

/* The same instructions with other numbers in them: what a JIT emits at another address.
 */
static int64_t compare_instructions(
	const uint8_t *left, const uint8_t *right, uint64_t size, unsigned machine)
{
	static struct disasm_instruction a, b;
	struct disasm *disasm = disasm_new(machine ? machine : EM_X86_64, false);
	int64_t difference = -1;

	for (uint64_t at = 0; disasm && at < size && difference < 0;) {
		disasm_decode(disasm, left + at, size - at, 0, &a);
		disasm_decode(disasm, right + at, size - at, 0, &b);
		size_t word = strcspn(a.text, " ");
		if (a.size != b.size || strncmp(a.text, b.text, word + 1) != 0)
			difference = (int64_t)at;
		at += a.size;
	}
	disasm_free(disasm);
	return difference;
}

int64_t merge_difference(const struct code *left, const struct code *right)
{
	bool final = !left->bytes || !right->bytes;
	const uint8_t *a = bytes_of_code(left, final), *b = bytes_of_code(right, final);

	/* Without bytes name, address and size must do. */
	if (!a || !b)
		return left->address == right->address && left->size == right->size ? -1
										    : 0;
	if (left->size == right->size && memcmp(a, b, left->size) == 0)
		return -1;
	if (left->size == right->size)
		return compare_instructions(a, b, left->size, left->machine);
	for (uint64_t i = 0; i < left->size && i < right->size; i++)
		if (a[i] != b[i])
			return (int64_t)i;
	return (int64_t)(left->size < right->size ? left->size : right->size);
}

/* Whether `input` had this code object where `code` is, sampled or not. */
static bool stood_there(const struct input *input, const struct code *code)
{
	for (size_t i = 0; i < input->set_count; i++) {
		const struct code_place *place =
			spans_find_later(&input->sets[i]->spans, code->address, 0);
		if (place && place->address == code->address &&
			strcmp(place->code->name, code->name) == 0 &&
			merge_difference(place->code, code) < 0)
			return true;
	}
	return false;
}

struct function *merge_find(struct merge *merge, const struct input *input,
	const struct code *code, struct warnings *warnings)
{
	struct node *node = merge->table[hash(code->name) & (merge->size - 1)];
	const struct function *other = NULL;
	struct function *elsewhere = NULL;
	int64_t difference = 0;

	for (; node; node = node->next) {
		struct function *function = node->function;
		if (function->input == input || !function->code ||
			strcmp(function->name, code->name) != 0)
			continue;
		int64_t at = merge_difference(function->code, code);
		if (at < 0 && function->address == code->address)
			return function;
		if (at < 0 && !elsewhere)
			elsewhere = function;
		if (at >= 0 && !other) {
			other = function;
			difference = at;
		}
	}
	/* One of the same name at the same address was there, too, but not sampled yet. */
	if (elsewhere && stood_there(elsewhere->input, code))
		return NULL;
	if (elsewhere) {
		merge->by_offset++;
		return elsewhere;
	}
	if (other && warnings && merge->refused++ < TOLD)
		warnings_add(warnings,
			"not merged: '%s' has other code in '%s' than in '%s', from byte "
			"%" PRId64 " on (%" PRIu64 " and %" PRIu64 " bytes)",
			code->name, input->path, other->input->path, difference,
			code->size, other->size);
	return NULL;
}

void merge_report(const struct merge *merge, struct warnings *warnings)
{
	if (merge->by_offset && warnings)
		warnings_add(warnings,
			"%zu code objects stand at other addresses than in the first "
			"run: "
			"merged by name and offset, since their instructions agree",
			merge->by_offset);
	if (merge->refused > TOLD)
		warnings_add(warnings,
			"not merged: %zu code objects with other code in all",
			merge->refused);
}

static int compare_codes(const void *a, const void *b)
{
	const struct code *left = *(struct code *const *)a;
	const struct code *right = *(struct code *const *)b;
	int order = strcmp(left->name, right->name);

	if (order)
		return order;
	return left->address < right->address ? -1 : left->address > right->address;
}

/* The dump's code objects of all processes whose name is theirs alone, by name; owned array. */
static struct code **list_codes(const struct input *input, size_t *count)
{
	struct code **list = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < input->set_count; i++)
		room += input->sets[i]->count;
	list = xreallocarray(NULL, room, sizeof(*list));
	for (size_t i = 0; i < input->set_count; i++)
		for (size_t k = 0; k < input->sets[i]->count; k++)
			if (input->sets[i]->list[k]->source == CODE_DUMP)
				list[(*count)++] = input->sets[i]->list[k];
	qsort(list, *count, sizeof(*list), compare_codes);
	size_t kept = 0;
	const char *last = "";
	for (size_t i = 0; i < *count; i++) {
		bool before = strcmp(last, list[i]->name) == 0;
		bool after =
			i + 1 < *count && strcmp(list[i + 1]->name, list[i]->name) == 0;
		last = list[i]->name;
		if (!before && !after)
			list[kept++] = list[i];
	}
	*count = kept;
	return list;
}

static int check_code(
	const struct input *first, const struct input *input, struct fault *fault)
{
	size_t left_count, right_count, agree = 0, both = 0;
	struct code **left = list_codes(first, &left_count);
	struct code **right = list_codes(input, &right_count);
	const struct code *other = NULL;
	int64_t difference = 0;

	for (size_t i = 0, k = 0; i < left_count && k < right_count;) {
		int order = strcmp(left[i]->name, right[k]->name);
		if (order == 0) {
			int64_t at = merge_difference(left[i], right[k]);
			both++;
			agree += at < 0;
			if (at >= 0 && !other) {
				other = right[k];
				difference = at;
			}
		}
		i += order <= 0;
		k += order >= 0;
	}
	int result = 0;
	if (both && agree * OF < both * FEWEST_AGREE)
		result = fault_set(fault,
			"%zu of the %zu code objects that both runs name have other "
			"code, "
			"'%.80s' for one, from byte %" PRId64 " on",
			both - agree, both, other ? other->name : "", difference);
	else if (!both && left_count && right_count)
		result = fault_set(fault, "no code object of one run is in the other");
	free(left);
	free(right);
	return result;
}

/* The build-id of the program itself, where the mappings tell it. */
static const struct mapping *program(const struct input *input)
{
	for (size_t i = 0; input->program && i < input->machine.all_count; i++) {
		const struct spans *maps = &input->machine.all[i]->maps;
		for (size_t k = 0; k < maps->count; k++) {
			const struct mapping *mapping = maps->list[k].value;
			if (strcmp(mapping->path, input->program) == 0)
				return mapping;
		}
	}
	return NULL;
}

int merge_check(const struct input *first, const struct input *input, struct fault *fault)
{
	const struct mapping *left = program(first), *right = program(input);

	if (first->program && input->program &&
		strcmp(first->program, input->program) != 0)
		return fault_set(fault, "it ran '%.100s', not '%.100s'", input->program,
			first->program);
	if (left && right && left->build_id_size && right->build_id_size &&
		(left->build_id_size != right->build_id_size ||
			memcmp(left->build_id, right->build_id, left->build_id_size) !=
				0))
		return fault_set(fault,
			"its '%.100s' is another build (build-ids differ)",
			input->program);
	return check_code(first, input, fault);
}
