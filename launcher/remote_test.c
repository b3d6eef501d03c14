/* What is taken for a way out of a page of calls, and what lies on one. */
#include "launcher/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher/check.h"

const char program_name[] = "remote_test";

struct row {
	const char *name;
	const char *code;
	size_t size, at; /* at == size: none */
};

#define ROW(name, code, at)                      \
	{                                        \
		name, code, sizeof(code) - 1, at \
	}
#define NONE(code) (sizeof(code) - 1)

/* The bytes are what gas makes of the names. */
static const struct row rows[] = {
	ROW("syscall; ret", "\x90\x0f\x05\xc3", 1),
	ROW("syscall; cmp $-4096, %rax; ja; ret",
		"\x0f\x05\x48\x3d\x00\xf0\xff\xff\x77\x11\xc3", 0),
	ROW("syscall; cmp $-4095, %rax; jae; ret",
		"\x0f\x05\x48\x3d\x01\xf0\xff\xff\x73\x11\xc3", 0),
	/* A limit that successes reach too. */
	ROW("syscall; cmp $-4095, %rax; ja; ret",
		"\x0f\x05\x48\x3d\x01\xf0\xff\xff\x77\x11\xc3",
		NONE("\x0f\x05\x48\x3d\x01\xf0\xff\xff\x77\x11\xc3")),
	ROW("syscall; cmp $0, %rax; ja; ret",
		"\x0f\x05\x48\x3d\x00\x00\x00\x00\x77\x11\xc3",
		NONE("\x0f\x05\x48\x3d\x00\x00\x00\x00\x77\x11\xc3")),
	/* The jump is taken when there is no error. */
	ROW("syscall; cmp $-4096, %rax; jbe; ret",
		"\x0f\x05\x48\x3d\x00\xf0\xff\xff\x76\x11\xc3",
		NONE("\x0f\x05\x48\x3d\x00\xf0\xff\xff\x76\x11\xc3")),
	ROW("syscall; hlt", "\x0f\x05\xf4\xc3", NONE("\x0f\x05\xf4\xc3")),
	ROW("the second one", "\x0f\x05\xf4\xc3\x0f\x0f\x05\xc3", 5),
	ROW("cut off", "\x90\x0f\x05", NONE("\x90\x0f\x05")),
	ROW("cut off in a comparison", "\x0f\x05\x48\x3d\x00\xf0\xff\xff\x77\x11",
		NONE("\x0f\x05\x48\x3d\x00\xf0\xff\xff\x77\x11")),
	ROW("nothing", "", 0),
};

static void check_build(void)
{
	static const uint64_t data[3] = {1, 2, 3};
	static const struct remote_call calls[2] = {{7, {1, 2, 3, 4, 5, 0}}, {8, {0}}};
	struct remote_page page = {
		.address = 0x10000,
		.room = 4096,
		.data = data,
		.data_size = sizeof(data),
		.calls = calls,
		.count = 2,
		.gadget = 0x1234,
		.stack = 0x5678,
	};
	unsigned char bytes[4096];
	struct remote_call made[3];
	size_t size = remote_build(&page, bytes, sizeof(bytes));

	CHECK(size == remote_room(sizeof(data), 2));
	CHECK(!memcmp(bytes + REMOTE_DATA, data, sizeof(data)));
	memcpy(made, bytes + REMOTE_DATA + sizeof(data), sizeof(made));
	for (int i = 0; i < 2; i++) {
		CHECK(made[i].number == calls[i].number);
		CHECK(!memcmp(made[i].args, calls[i].args, 5 * sizeof(uint64_t)));
		CHECK(made[i].args[5] == REMOTE_MARK);
	}
	CHECK(made[2].number == -1 && made[2].args[0] == 0x1234 &&
		made[2].args[1] == 0x5678 && made[2].args[2] == 0x10000 &&
		made[2].args[3] == 4096);
	/* mmap takes whole pages only. */
	CHECK(REMOTE_MARK % 4096 == 0);

	errno = 0;
	CHECK(!remote_build(&page, bytes, size - 1) && errno == E2BIG);
	page.count = (size_t)-1;
	CHECK(!remote_build(&page, bytes, sizeof(bytes)));
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		/* Of its very size, so that reading beyond shows under a sanitizer. */
		unsigned char code[64];

		memset(code, 0xc3, sizeof(code));
		memcpy(code + sizeof(code) - row->size, row->code, row->size);
		size_t at =
			remote_find_gadget(code + sizeof(code) - row->size, row->size);
		if (at != row->at)
			fprintf(stderr, "%s: at %zu, not %zu\n", row->name, at, row->at);
		CHECK(at == row->at);
	}
	check_build();
	return 0;
}
