/* The pinned environment: what is dropped, in which order the rest comes. */
#include "launcher/environment.h"

#include <string.h>

#include "launcher/base.h"
#include "launcher/check.h"

const char program_name[] = "environment_test";

static void check_all(const struct strv *got, const char *const *want, size_t count)
{
	CHECK(got->count == count);
	for (size_t i = 0; i < count; i++)
		CHECK_STRING(got->items[i], want[i]);
	CHECK(!got->items[count]);
}

static void test_pinned(void)
{
	static const char *const caller[] = {"ZED=1", "_=/usr/bin/x", "SHLVL=2",
		"OLDPWD=/", "LINES=1", "COLUMNS=2", "PREFIX=/usr", "PERF_BUILDID_DIR=/x",
		"PERF_EXEC_PATH=/y", "DEBUGINFOD_URLS=http://x", "STABLERUN_PAD=xxx",
		"STABLERUN_PAD_EVEN=",
		"PATH=/usr/lib/perf-core:/usr/libexec/perf-core:/bin:/a/perf-core",
		"PWD=/old", "PREFIXES=kept", "LINE=kept", "__=kept", "odd", "A=first",
		"A=second", "A", NULL};
	static const char *const want[] = {"A=first", "A=second", "A", "LINE=kept",
		"PATH=/bin:/a/perf-core", "PREFIXES=kept", "PWD=/new", "ZED=1", "__=kept",
		"odd"};
	struct strv out, dropped;

	strv_init(&out);
	strv_init(&dropped);
	environment_pin(&out, &dropped, (char *const *)caller, "/new");
	environment_sort(&out);
	check_all(&out, want, ARRAY_SIZE(want));
	CHECK(dropped.count == 12);
	strv_release(&out);
	strv_release(&dropped);
}

static void test_no_directory(void)
{
	static const char *const caller[] = {"B=1", "PWD=/gone", NULL};
	static const char *const want[] = {"B=1"};
	struct strv out, dropped;

	strv_init(&out);
	strv_init(&dropped);
	environment_pin(&out, &dropped, (char *const *)caller, NULL);
	check_all(&out, want, ARRAY_SIZE(want));
	strv_release(&out);
	strv_release(&dropped);
}

static void test_clean(void)
{
	static const char *const caller[] = {
		"HOME=/home/u", "LANG=de_DE.UTF-8", "SECRET=1", NULL};
	static const char *const want[] = {"HOME=/home/u", "LANG=C.UTF-8",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"PWD=/x"};
	struct strv out;

	strv_init(&out);
	environment_clean(&out, (char *const *)caller, "/x");
	environment_sort(&out);
	check_all(&out, want, ARRAY_SIZE(want));
	strv_release(&out);
}

/* Names are compared without their '=', which sorts after '-' and digits. */
static void test_order(void)
{
	static const char *const want[] = {
		"A=z", "A-=y", "A1=x", "AB=w", "B", "B=v", "\xff=u"};
	static const unsigned char shuffle[] = {4, 6, 1, 3, 0, 5, 2};
	struct strv out;

	strv_init(&out);
	for (size_t i = 0; i < ARRAY_SIZE(shuffle); i++)
		strv_add(&out, xstrdup(want[shuffle[i]]));
	environment_sort(&out);
	check_all(&out, want, ARRAY_SIZE(want));
	strv_release(&out);
}

static void test_set(void)
{
	static const char *const start[] = {"A=1", "B=2", "A=3", "AA=4", NULL};
	static const char *const want[] = {"B=2", "AA=4", "A=new"};
	struct strv out;

	strv_init(&out);
	strv_copy(&out, (char *const *)start);
	environment_set(&out, "A", "new");
	check_all(&out, want, ARRAY_SIZE(want));
	CHECK_STRING(environment_get(out.items, "AA"), "4");
	CHECK(!environment_get(out.items, "C"));
	strv_release(&out);
}

int main(void)
{
	test_pinned();
	test_no_directory();
	test_clean();
	test_order();
	test_set();
	return 0;
}
