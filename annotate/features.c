/* Feature sections of perf.data; numbers are the HEADER_* of tools/perf/util/header.h. */
#include "annotate/features.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	RECORD_HEADER = 8,
	BUILD_ID_FIELD =
		24, /* 20 bytes, then the size where misc says so, then padding */
};

/* perf's strings: a length, then that many bytes padded with NULs. */
static const char *read_string(struct bytes *body)
{
	struct bytes part = bytes_part(body, bytes_u32(body));

	return bytes_string(&part);
}

void features_read_build_id(struct perfdata *data, struct bytes body, uint16_t misc)
{
	struct perfdata_build_id entry = {.size = PERFDATA_BUILD_ID_ROOM};

	entry.pid = (int)bytes_u32(&body);
	const uint8_t *id = bytes_take(&body, BUILD_ID_FIELD);
	entry.path = bytes_string(&body);
	if (body.failed)
		return;
	if (misc & PERFDATA_MISC_BUILD_ID_SIZE && id[PERFDATA_BUILD_ID_ROOM] <= 20)
		entry.size = id[PERFDATA_BUILD_ID_ROOM];
	memcpy(entry.id, id, entry.size);
	data->build_ids = xreallocarray(
		data->build_ids, data->build_id_count + 1, sizeof(*data->build_ids));
	data->build_ids[data->build_id_count++] = entry;
}

static void read_build_ids(struct perfdata *data, struct bytes body)
{
	while (bytes_left(&body) >= RECORD_HEADER) {
		bytes_skip(&body, 4);
		uint16_t misc = bytes_u16(&body), size = bytes_u16(&body);
		if (size < RECORD_HEADER)
			return;
		struct bytes entry = bytes_part(&body, size - RECORD_HEADER);
		if (entry.failed)
			return;
		features_read_build_id(data, entry, misc);
	}
}

/* Names of events, in the order of the attrs; in a pipe also their ids once more. */
static void read_event_names(struct perfdata *data, struct bytes body)
{
	uint32_t count = bytes_u32(&body), size = bytes_u32(&body);

	for (uint32_t i = 0; i < count && !body.failed; i++) {
		bytes_skip(&body, size);
		uint32_t ids = bytes_u32(&body);
		const char *name = read_string(&body);
		bytes_skip(&body, (uint64_t)ids * 8);
		if (!name || i >= data->attr_count)
			return;
		free(data->attrs[i].name);
		data->attrs[i].name = xstrdup(name);
	}
}

static void read_command(struct perfdata *data, struct bytes body)
{
	uint32_t count = bytes_u32(&body);
	char *line = xstrdup("");

	for (uint32_t i = 0; i < count; i++) {
		const char *word = read_string(&body);
		if (!word)
			break;
		char *longer = xasprintf("%s%s%s", line, i ? " " : "", word);
		free(line);
		line = longer;
	}
	free(data->command);
	data->command = line;
}

void features_read(struct perfdata *data, unsigned feature, struct bytes body)
{
	switch (feature) {
	case FEATURE_BUILD_ID: read_build_ids(data, body); break;
	case FEATURE_HOSTNAME: data->hostname = read_string(&body); break;
	case FEATURE_OSRELEASE: data->release = read_string(&body); break;
	case FEATURE_ARCH: data->arch = read_string(&body); break;
	case FEATURE_CMDLINE: read_command(data, body); break;
	case FEATURE_EVENT_DESC: read_event_names(data, body); break;
	}
}
