/* Where rules stand, and which one a program gets. */
#include "launcher/rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/rule_match.h"
#include "launcher/sibling.h"

enum {
	RULE_MOST = 64 << 10, /* bytes of a rule file */
};

static const char suffix[] = ".rule";

/* ---- directories ---- */

static char *user_directory(void)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	/* The XDG specification: a relative path is to be ignored. */
	if (config && *config == '/')
		return xasprintf("%s/stablerun/rules", config);
	return home && *home ? xasprintf("%s/.config/stablerun/rules", home) : NULL;
}

/* PREFIX/share/stablerun/rules beside PREFIX/bin; in a build directory rules/. */
static char *installed_directory(void)
{
	cleanup_free char *own = sibling_own_path();
	char *slash = strrchr(own, '/');

	if (!slash)
		return NULL;
	*slash = '\0';
	size_t length = strlen(own);
	if (length >= 4 && strcmp(own + length - 4, "/bin") == 0)
		return xasprintf("%.*s/share/stablerun/rules", (int)(length - 4), own);
	return xasprintf("%s/rules", own);
}

/* A rule file of one of the two directories. */
struct entry {
	char *name; /* with .rule */
	bool user;
};

struct catalogue {
	char *directories[2]; /* [true] is the user's */
	int descriptors[2];
	struct entry *entries; /* by name; the user's before the installed one */
	size_t count;
};

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->user != b->user)
		return a->user ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_rule_name(const char *name)
{
	size_t length = strlen(name);

	return *name != '.' && length > sizeof(suffix) - 1 &&
	       strcmp(name + length - (sizeof(suffix) - 1), suffix) == 0;
}

static bool has_entry(const struct catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->count; i++) {
		if (strcmp(catalogue->entries[i].name, name) == 0)
			return true;
	}
	return false;
}

static void list_directory(struct catalogue *catalogue, bool user)
{
	const char *path = catalogue->directories[user];

	if (!path)
		return;
	DIR *stream = opendir(path);
	struct dirent *found;
	if (!stream)
		return;
	catalogue->descriptors[user] = fcntl(dirfd(stream), F_DUPFD_CLOEXEC, 0);
	while ((found = readdir(stream)) != NULL) {
		if (!is_rule_name(found->d_name) || has_entry(catalogue, found->d_name))
			continue;
		catalogue->entries = xreallocarray(catalogue->entries,
			catalogue->count + 1, sizeof(*catalogue->entries));
		catalogue->entries[catalogue->count++] =
			(struct entry){.name = xstrdup(found->d_name), .user = user};
	}
	closedir(stream);
}

static void catalogue_init(struct catalogue *catalogue)
{
	*catalogue = (struct catalogue){
		.directories = {installed_directory(), user_directory()},
		.descriptors = {-1, -1}};
	list_directory(catalogue, true);
	list_directory(catalogue, false);
	if (catalogue->count)
		qsort(catalogue->entries, catalogue->count, sizeof(*catalogue->entries),
			compare_entries);
}

static void catalogue_release(struct catalogue *catalogue)
{
	for (int i = 0; i < 2; i++) {
		free(catalogue->directories[i]);
		if (catalogue->descriptors[i] >= 0)
			close(catalogue->descriptors[i]);
	}
	for (size_t i = 0; i < catalogue->count; i++)
		free(catalogue->entries[i].name);
	free(catalogue->entries);
}

/* ---- reading ---- */

/* Most rules are for other programs: one read into the caller's buffer, no more. */
static ssize_t read_rule(int directory, const char *name, char *text, size_t size)
{
	cleanup_fd int fd =
		openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return -1;
	ssize_t got = read(fd, text, size);
	if (got == (ssize_t)size) {
		errno = EFBIG;
		return -1;
	}
	return got;
}

static int read_entry(struct rule *rule, const struct catalogue *catalogue,
	const struct entry *entry, struct rule_evidence *evidence,
	char message[RULE_MESSAGE])
{
	/* Not on the stack: a small limit on that is no reason to fail. */
	cleanup_free char *text = xmalloc(RULE_MOST);
	ssize_t size = read_rule(
		catalogue->descriptors[entry->user], entry->name, text, RULE_MOST);
	cleanup_free char *path =
		xasprintf("%s/%s", catalogue->directories[entry->user], entry->name);

	*rule = (struct rule){0};
	if (size < 0) {
		snprintf(message, RULE_MESSAGE, "cannot read '%s': %s", path,
			strerror(errno));
		return -1;
	}
	int result = rule_parse(rule, path, text, (size_t)size, evidence, message);
	rule->user = entry->user;
	return result;
}

/* ---- finding ---- */

static int find_named(
	struct rule *rule, const struct catalogue *catalogue, const char *name)
{
	char message[RULE_MESSAGE];

	for (size_t i = 0; i < catalogue->count; i++) {
		const struct entry *entry = &catalogue->entries[i];
		if (strncmp(entry->name, name, strlen(name)) != 0 ||
			strcmp(entry->name + strlen(name), suffix) != 0)
			continue;
		if (read_entry(rule, catalogue, entry, NULL, message) > 0)
			return 1;
		warn("%s", message);
		return -1;
	}
	warn("no rule is named '%s'; 'stablerun rules' lists them", name);
	return -1;
}

static int find_matching(struct rule *rule, const struct catalogue *catalogue,
	const struct rule_subject *subject)
{
	struct rule_evidence evidence;
	char message[RULE_MESSAGE];
	int found = 0;

	rule_evidence_init(&evidence, subject);
	for (size_t i = 0; i < catalogue->count && found != 1; i++) {
		found = read_entry(
			rule, catalogue, &catalogue->entries[i], &evidence, message);
		if (found < 0)
			warn("warning: rule ignored: %s", message);
		if (found != 1)
			rule_release(rule);
	}
	rule_evidence_release(&evidence);
	return found == 1;
}

int rules_find(struct rule *rule, const struct rule_subject *subject, const char *name)
{
	struct catalogue catalogue;

	*rule = (struct rule){0};
	catalogue_init(&catalogue);
	int found = name ? find_named(rule, &catalogue, name)
			 : find_matching(rule, &catalogue, subject);
	catalogue_release(&catalogue);
	return found;
}

int rules_walk(void (*each)(void *context, const struct rule *rule), void *context)
{
	struct catalogue catalogue;
	char message[RULE_MESSAGE];
	int broken = 0;

	catalogue_init(&catalogue);
	for (size_t i = 0; i < catalogue.count; i++) {
		struct rule rule;
		if (read_entry(&rule, &catalogue, &catalogue.entries[i], NULL, message) >
			0)
			each(context, &rule);
		else
			broken++, warn("%s", message);
		rule_release(&rule);
	}
	catalogue_release(&catalogue);
	return broken;
}
