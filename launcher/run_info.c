/* The lists that struct run_info is made of. */
#include "launcher/run.h"

#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

static struct run_pair *pairs_find(const struct run_pairs *pairs, const char *name)
{
	for (size_t i = 0; i < pairs->count; i++) {
		if (strcmp(pairs->items[i].name, name) == 0)
			return &pairs->items[i];
	}
	return NULL;
}

void run_pairs_set(struct run_pairs *pairs, const char *name, const char *value)
{
	struct run_pair *pair = pairs_find(pairs, name);

	if (pair) {
		free(pair->value);
		pair->value = xstrdup(value);
		return;
	}
	pairs->items =
		xreallocarray(pairs->items, pairs->count + 1, sizeof(*pairs->items));
	pairs->items[pairs->count++] =
		(struct run_pair){.name = xstrdup(name), .value = xstrdup(value)};
}

const char *run_pairs_get(const struct run_pairs *pairs, const char *name)
{
	const struct run_pair *pair = pairs_find(pairs, name);

	return pair ? pair->value : NULL;
}

static void pairs_release(struct run_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->items[i].name);
		free(pairs->items[i].value);
	}
	free(pairs->items);
}

void run_pid_add(struct run_info *info, pid_t pid)
{
	for (size_t i = 0; i < info->pid_count; i++) {
		if (info->pids[i] == pid)
			return;
	}
	info->pids = xreallocarray(info->pids, info->pid_count + 1, sizeof(*info->pids));
	info->pids[info->pid_count++] = pid;
}

void run_pin_add(
	struct run_info *info, const char *name, const char *value, const char *source)
{
	info->pins = xreallocarray(info->pins, info->pin_count + 1, sizeof(*info->pins));
	info->pins[info->pin_count++] = (struct run_pin){.name = xstrdup(name),
		.value = xstrdup(value),
		.source = xstrdup(source)};
}

struct run_code *run_code_add(struct run_info *info, pid_t pid, uint64_t address,
	uint64_t size, const char *fate, uint64_t time)
{
	/* Room for a power of two: there may be thousands. */
	if (!(info->code_count & (info->code_count - 1)))
		info->code = xreallocarray(info->code,
			info->code_count ? info->code_count * 2 : 1, sizeof(*info->code));
	struct run_code *code = &info->code[info->code_count++];
	*code = (struct run_code){pid, address, size, xstrdup(fate), time};
	return code;
}

void run_limit_add(struct run_info *info, const char *name, uint64_t soft, uint64_t hard)
{
	info->limits =
		xreallocarray(info->limits, info->limit_count + 1, sizeof(*info->limits));
	info->limits[info->limit_count++] =
		(struct run_limit){.name = xstrdup(name), .soft = soft, .hard = hard};
}

void run_info_release(struct run_info *info)
{
	char *strings[] = {info->stablerun, info->exec, info->cwd, info->end_unknown,
		info->place, info->rule, info->kernel, info->cpu_model,
		info->cpu_features, info->event, info->no_samples, info->maps_start,
		info->maps_exit};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		free(strings[i]);
	for (size_t i = 0; i < info->pin_count; i++) {
		free(info->pins[i].name);
		free(info->pins[i].value);
		free(info->pins[i].source);
	}
	free(info->pins);
	for (size_t i = 0; i < info->limit_count; i++)
		free(info->limits[i].name);
	free(info->limits);
	for (size_t i = 0; i < info->code_count; i++)
		free(info->code[i].fate);
	free(info->code);
	free(info->pids);
	pairs_release(&info->auxv);
	pairs_release(&info->marks);
	pairs_release(&info->build_ids);
	strv_release(&info->argv);
	strv_release(&info->env);
	strv_release(&info->lost_code);
	strv_release(&info->notes);
	*info = (struct run_info){0};
}
