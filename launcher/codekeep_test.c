/* Code that is put over other code, against a model that keeps every byte by itself; and
 * names, of which the last ones stay. */
#include "launcher/codekeep.h"

#include <stdint.h>
#include <string.h>

#include "launcher/check.h"
#include "launcher/codesym.h"

const char program_name[] = "codekeep_test";

enum { SPACE = 1 << 14, BASE = 0x10000, MOST = 700 };

struct model {
	uint8_t value[SPACE];
	uint8_t time[SPACE]; /* 0: never code */
};

static void compare(const struct codekeep *keep, const struct model *model)
{
	uint64_t at = 0, bytes = 0;

	for (size_t i = 0; i < keep->count; i++) {
		const struct codekeep_piece *piece = &keep->pieces[i];
		CHECK(piece->size > 0 && piece->address - BASE >= at);
		for (; at < piece->address - BASE; at++)
			CHECK(model->time[at] == 0);
		for (size_t j = 0; j < piece->size; j++, at++) {
			CHECK(model->value[at] == piece->bytes[j]);
			CHECK(model->time[at] == piece->time);
		}
		bytes += piece->size;
	}
	for (; at < SPACE; at++)
		CHECK(model->time[at] == 0);
	CHECK(keep->bytes == bytes && keep->lost == 0);
}

static void test_keep(void)
{
	static struct model model;
	struct codekeep keep = {0};

	srandom(7);
	for (int turn = 1; turn < 250; turn++) {
		uint8_t bytes[MOST];
		size_t size = (size_t)random() % MOST + 1;
		size_t at = (size_t)random() % (SPACE - size);
		/* Exactly there again, as a JIT that toggles protection has it. */
		if (turn % 5 == 0 && keep.count) {
			const struct codekeep_piece *piece =
				&keep.pieces[(size_t)random() % keep.count];
			at = piece->address - BASE;
			size = piece->size < MOST ? piece->size : MOST;
		}
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)random();
		codekeep_add(&keep, BASE + at, bytes, size, (uint64_t)turn, CODE_LIVE);
		memcpy(model.value + at, bytes, size);
		memset(model.time + at, turn, size);
		compare(&keep, &model);
	}
	codekeep_release(&keep);
	CHECK(keep.count == 0 && keep.bytes == 0);
}

static void test_names(void)
{
	static const char map[] = "1000 100 first\n"
				  "0x1200 10 second with spaces\n"
				  "1080 20 over the first\n"
				  "no line\n"
				  "1300 0 nothing\n"
				  "1400 8 cut";
	struct codesyms syms = {0};

	codesyms_read_map(&syms, map, sizeof(map) - 1);
	codesyms_settle(&syms);
	CHECK(syms.count == 3);
	CHECK(syms.items[0].address == 0x1080 && syms.items[0].size == 0x20);
	CHECK_STRING(syms.items[0].name, "over the first");
	CHECK_STRING(syms.items[1].name, "second with spaces");
	CHECK_STRING(syms.items[2].name, "cut");
	codesyms_release(&syms);
}

/* A header and one load record, whole and cut at every byte. */
static void test_jitdump(void)
{
	uint8_t dump[40 + 16 + 40 + 5 + 4] = {0};
	uint32_t magic = 0x4a695444, header = 40, length = sizeof(dump) - 40;
	uint64_t address = 0x7000, size = 4;

	memcpy(dump, &magic, 4);
	memcpy(dump + 8, &header, 4);
	memcpy(dump + 44, &length, 4);
	memcpy(dump + 40 + 32, &address, 8);
	memcpy(dump + 40 + 40, &size, 8);
	memcpy(dump + 40 + 56, "name", 5);
	for (size_t cut = 0; cut <= sizeof(dump); cut++) {
		struct codesyms syms = {0};
		uint8_t *copy = malloc(cut ? cut : 1);
		memcpy(copy, dump, cut);
		codesyms_read_jitdump(&syms, copy, cut);
		CHECK(syms.count == (cut == sizeof(dump)));
		if (syms.count) {
			CHECK(syms.items[0].address == address &&
				syms.items[0].size == 4);
			CHECK_STRING(syms.items[0].name, "name");
		}
		codesyms_release(&syms);
		free(copy);
	}
}

int main(void)
{
	test_keep();
	test_names();
	test_jitdump();
	return 0;
}
