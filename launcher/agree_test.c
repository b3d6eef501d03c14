/* Machines that agree and machines that do not, and which of them are left. */
#include "launcher/agree.h"

#include <string.h>

#include "launcher/base.h"
#include "launcher/check.h"
#include "launcher/run.h"
#include "launcher/strv.h"

const char program_name[] = "agree_test";

static struct run_info machine(const char *kernel, const char *features)
{
	struct run_info info = {0};

	info.kernel = xstrdup(kernel);
	info.cpu_features = xstrdup(features);
	info.ld_so_cache_size = 20000;
	run_pairs_set(&info.build_ids, "/lib/libc.so.6", "0123456789abcdef");
	run_pairs_set(&info.build_ids, "/bin/x", "aa");
	return info;
}

static void test_same(void)
{
	struct run_info a = machine("6.1", "sse avx"), b = machine("6.1", "avx sse");
	struct strv differences;

	strv_init(&differences);
	b.ld_so_cache_size = 20400;			     /* as many pages */
	run_pairs_set(&b.build_ids, "/lib/libz.so.1", "bb"); /* only one has loaded it */
	agree_compare(&a, &b, &differences);
	CHECK(differences.count == 0);
	strv_release(&differences);
	run_info_release(&a);
	run_info_release(&b);
}

static void test_differences(void)
{
	struct run_info a = machine("6.1", "sse avx"),
			b = machine("5.10", "sse a b c d e f");
	struct strv differences;

	strv_init(&differences);
	a.ld_so_cache_size = 40000;
	run_pairs_set(&a.build_ids, "/lib/libc.so.6", "fedcba9876543210");
	a.place = xstrdup("move");
	a.exec = xstrdup("/bin/x"); /* the other does not say */
	b.place = xstrdup("personality");
	agree_compare(&a, &b, &differences);
	CHECK(differences.count == 5);
	CHECK_STRING(differences.items[0], "kernel 6.1, not 5.10");
	CHECK_STRING(differences.items[1],
		"cpu features with avx, without a b c d and 2 more");
	CHECK_STRING(differences.items[2], "ld.so.cache of 10 pages, not 5");
	CHECK_STRING(differences.items[3], "addresses fixed by move, not personality");
	CHECK_STRING(differences.items[4],
		"build-id of '/lib/libc.so.6' fedcba987654, not 0123456789ab");
	strv_release(&differences);
	run_info_release(&a);
	run_info_release(&b);
}

static void test_groups(void)
{
	struct run_info a = machine("1", ""), b = machine("2", ""), c = machine("3", "");
	const struct run_info *infos[] = {&a, &b, &c, &b, &a, &b};
	size_t groups[ARRAY_SIZE(infos)];

	CHECK(agree_group(infos, 6, groups) == 1);
	CHECK(groups[0] == 0 && groups[1] == 1 && groups[2] == 2);
	CHECK(groups[3] == 1 && groups[4] == 0 && groups[5] == 1);
	/* Of equal ones the first. */
	CHECK(agree_group(infos, 2, groups) == 0);
	CHECK(agree_group(infos, 1, groups) == 0 && groups[0] == 0);
	run_info_release(&a);
	run_info_release(&b);
	run_info_release(&c);
}

static void test_program(void)
{
	struct run_info a = {.exec = xstrdup("/bin/x")}, b = {.exec = xstrdup("/bin/y")};
	struct strv differences;

	strv_init(&differences);
	agree_compare(&a, &b, &differences);
	CHECK(differences.count == 1);
	CHECK_STRING(differences.items[0], "program /bin/x, not /bin/y");
	strv_release(&differences);
	run_info_release(&a);
	run_info_release(&b);
}

int main(void)
{
	test_program();
	test_same();
	test_differences();
	test_groups();
	return 0;
}
