/* Why a file is not executed: the causes by their files, and thousands of broken files that
 * must be explained without a crash (the sanitizers look on where this is built with them). */
#include "launcher/binary.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/check.h"

const char program_name[] = "binary_test";

enum { IMAGE_SIZE = 512 };

/* A file in memory: there are thousands to write. */
static int file = -1;
static char path[64];

static const int errors[] = {ENOEXEC, ENOENT, EACCES, EINVAL, ELIBBAD, EIO};

static void make_file(void)
{
	file = memfd_create("binary_test", MFD_CLOEXEC);
	CHECK(file >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
}

static void write_file(const void *bytes, size_t size)
{
	CHECK(!ftruncate(file, 0) && pwrite(file, bytes, size, 0) == (ssize_t)size);
}

/* A valid header, an interpreter and one loaded segment. */
static void make_image(unsigned char image[IMAGE_SIZE])
{
	static const char interpreter[] = "/no/such/ld.so";
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr segments[2] = {
		{.p_type = PT_LOAD, .p_filesz = IMAGE_SIZE},
		{.p_type = PT_INTERP, .p_offset = 256, .p_filesz = sizeof(interpreter)},
	};

	memset(image, 0, IMAGE_SIZE);
	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), segments, sizeof(segments));
	memcpy(image + 256, interpreter, sizeof(interpreter));
}

static void check_cause(const void *bytes, size_t size, int error, const char *part)
{
	write_file(bytes, size);
	cleanup_free char *cause = binary_explain(path, error);

	if (!strstr(cause, part))
		fprintf(stderr, "got '%s'\n", cause);
	CHECK(strstr(cause, part));
}

static void test_causes(void)
{
	unsigned char image[IMAGE_SIZE];
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;

	check_cause("", 0, ENOEXEC, "empty");
	check_cause("echo\n", 5, ENOEXEC, "without a '#!' line");
	check_cause("\0\1", 2, ENOEXEC, "neither an ELF file nor a script");
	make_image(image);
	check_cause(image, IMAGE_SIZE, ENOENT, "'/no/such/ld.so' does not exist");
	check_cause(image, IMAGE_SIZE, ENOEXEC, "rejects its ELF headers");
	check_cause(image, 63, ENOEXEC, "truncated ELF file (63 bytes)");
	check_cause(image, 64 + 2 * 56 - 1, ENOEXEC, "program headers at 0x40");
	header->e_type = ET_REL;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "never linked");
	header->e_type = 77;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "type is 77");
	header->e_machine = EM_RISCV;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "architecture: RISC-V");
	header->e_machine = 4711;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "ELF machine 4711");
	image[EI_DATA] = ELFDATA2MSB;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "big-endian");
	make_image(image);
	header->e_phnum = 0;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "without program headers");
	make_image(image);
	header->e_phoff = UINT64_MAX - 8;
	check_cause(image, IMAGE_SIZE, ENOEXEC, "truncated");
	check_cause(image, IMAGE_SIZE, ENOENT, "No such file");
	cleanup_free char *cause = binary_explain("/no/such/file", ENOENT);
	CHECK_STRING(cause, "No such file or directory");
}

static void explain_all(const unsigned char *bytes, size_t size)
{
	write_file(bytes, size);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		cleanup_free char *cause = binary_explain(path, errors[i]);

		CHECK(*cause);
	}
}

static uint64_t number(uint64_t below)
{
	static uint64_t state = 2463534242;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static void test_broken(void)
{
	static const unsigned char borders[] = {0, 1, 2, 0x7f, 0x80, 0xff};
	unsigned char image[IMAGE_SIZE];

	make_image(image);
	for (size_t size = 0; size <= IMAGE_SIZE; size += 3)
		explain_all(image, size);
	for (int round = 0; round < 3000; round++) {
		make_image(image);
		for (uint64_t n = 1 + number(6); n > 0; n--)
			image[number(64 + 2 * 56)] =
				number(2) ? borders[number(sizeof(borders))]
					  : (unsigned char)number(256);
		explain_all(image, number(4) ? IMAGE_SIZE : number(IMAGE_SIZE));
	}
}

int main(void)
{
	make_file();
	test_causes();
	test_broken();
	return 0;
}
