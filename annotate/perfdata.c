/* Opening perf.data and walking its records. */
#include "annotate/perfdata.h"
#include "annotate/features.h"
#include "annotate/gperf.h"
#include "annotate/unpack.h"
#include "launcher/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEADER_PIPE = 16,
	HEADER_FILE = 104, /* magic, size, attr_size, three sections, 256 feature bits */
	RECORD_HEADER = 8,
	SECTION = 16,
	ATTR_VER0 = 64, /* PERF_ATTR_SIZE_VER0 */

	HEADER_ATTR = 64,
	HEADER_TRACING_DATA = 66,
	HEADER_BUILD_ID = 67,
	AUXTRACE = 71,
	EVENT_UPDATE = 78,
	HEADER_FEATURE = 80,
	COMPRESSED = 81,
	COMPRESSED2 = 83,

	WINDOW = 1 << 22, /* bytes of the file that are given back at once */

	EVENT_UPDATE_NAME = 2,
	FEATURE_HOSTNAME = 3,
};

static const uint64_t MAGIC = 0x32454c4946524550;     /* "PERFILE2" */
static const uint64_t MAGIC_OLD = 0x454c494646524550; /* "PERFFILE", before Linux 3.0 */

static void mark_cut(struct perfdata *data, const char *what, uint64_t offset)
{
	if (!data->cut)
		fault_set(&data->fault, "%s at byte %llu of %zu", what,
			(unsigned long long)offset, data->file.size);
	data->cut = true;
}

static struct attr *add_attr(struct perfdata *data, struct bytes bytes)
{
	data->attrs =
		xreallocarray(data->attrs, data->attr_count + 1, sizeof(*data->attrs));
	struct attr *attr = &data->attrs[data->attr_count++];

	attr_read(attr, bytes);
	return attr;
}

static void add_ids(struct perfdata *data, struct bytes bytes, uint32_t event)
{
	size_t count = bytes_left(&bytes) / 8;

	data->ids_sorted = false;
	data->ids = xreallocarray(data->ids, data->id_count + count, sizeof(*data->ids));
	for (size_t i = 0; i < count; i++) {
		data->ids[data->id_count++] =
			(struct perfdata_id){.id = bytes_u64(&bytes), .event = event};
	}
}

static int compare_ids(const void *a, const void *b)
{
	const struct perfdata_id *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

/* A part of the file, or a failed cursor where the file is too short for it. */
static struct bytes section(struct perfdata *data, uint64_t offset, uint64_t size)
{
	struct bytes whole = bytes_of(data->file.data, data->file.size, data->swap);

	bytes_skip(&whole, offset);
	return bytes_part(&whole, size);
}

static int read_attrs(struct perfdata *data, uint64_t each, uint64_t offset,
	uint64_t size, struct fault *fault)
{
	struct bytes attrs = section(data, offset, size);

	if (attrs.failed)
		return fault_set(fault,
			"the file is cut: its event descriptions end at "
			"byte %llu, the file at %zu",
			(unsigned long long)(offset + size), data->file.size);
	if (each < ATTR_VER0 + SECTION || size < each)
		return fault_set(fault,
			"its event descriptions of %llu bytes each are not valid",
			(unsigned long long)each);
	for (uint64_t i = 0; i < size / each; i++) {
		struct bytes one = bytes_part(&attrs, each - SECTION);
		uint64_t ids_at = bytes_u64(&attrs), ids_size = bytes_u64(&attrs);
		struct bytes ids = section(data, ids_at, ids_size);

		add_attr(data, one);
		if (ids.failed)
			return fault_set(fault,
				"the file is cut: the sample ids of event %llu end at "
				"byte "
				"%llu, the file at %zu",
				(unsigned long long)i,
				(unsigned long long)(ids_at + ids_size), data->file.size);
		add_ids(data, ids, (uint32_t)i);
	}
	return 0;
}

/* Feature sections stand behind the data, one descriptor for each bit that is set. */
static void read_features(struct perfdata *data, struct bytes map)
{
	uint64_t at = data->data_offset + data->data_size;
	uint64_t words[4];

	const uint8_t *raw = map.at;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = bytes_u64(&map);
	/* The map is made of the writer's longs. Every writer sets the host's name:
	 * without it the longs were of 32 bits. */
	if (data->swap && !(words[0] >> FEATURE_HOSTNAME & 1)) {
		struct bytes halves = bytes_of(raw, 32, true);
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			words[i] = bytes_u32(&halves);
			words[i] |= (uint64_t)bytes_u32(&halves) << 32;
		}
	}
	for (unsigned bit = 0; bit < 256; bit++) {
		if (!(words[bit / 64] >> (bit % 64) & 1))
			continue;
		struct bytes descriptor = section(data, at, SECTION);
		uint64_t offset = bytes_u64(&descriptor), size = bytes_u64(&descriptor);
		struct bytes body = section(data, offset, size);

		at += SECTION;
		if (descriptor.failed || body.failed) {
			mark_cut(data, "the file is cut in its feature sections",
				data->file.size);
			return;
		}
		features_read(data, bit, body);
	}
}

static int read_file_header(
	struct perfdata *data, struct bytes header, struct fault *fault)
{
	uint64_t each = bytes_u64(&header);
	uint64_t attrs_at = bytes_u64(&header), attrs_size = bytes_u64(&header);

	data->data_offset = bytes_u64(&header);
	data->data_size = bytes_u64(&header);
	bytes_skip(&header, SECTION); /* event_types, not used any more */
	if (header.failed || bytes_left(&header) < 32)
		return fault_set(fault, "the file is cut in its header: %zu of %d bytes",
			data->file.size, HEADER_FILE);
	if (read_attrs(data, each, attrs_at, attrs_size, fault) < 0)
		return -1;
	if (data->data_offset > data->file.size) {
		mark_cut(data, "the file is cut before its records", data->file.size);
		data->data_offset = data->file.size;
		data->data_size = 0;
	} else if (data->data_size == 0 && data->data_offset < data->file.size) {
		/* What perf leaves when it is killed: the size is written last. */
		mark_cut(data, "the recording was not finished: records begin",
			data->data_offset);
		data->data_size = data->file.size - data->data_offset;
	} else if (data->data_size > data->file.size - data->data_offset) {
		mark_cut(data, "the file is cut in its records", data->file.size);
		data->data_size = data->file.size - data->data_offset;
	} else {
		read_features(data, header);
	}
	return 0;
}

static int read_header(struct perfdata *data, struct fault *fault)
{
	struct bytes header = bytes_of(data->file.data, data->file.size, false);
	uint64_t magic = bytes_u64(&header);

	if (magic == __builtin_bswap64(MAGIC))
		data->swap = header.swap = true;
	else if (magic == MAGIC_OLD || magic == __builtin_bswap64(MAGIC_OLD))
		return fault_set(fault,
			"it has the perf.data format of before Linux 3.0, "
			"which is not read");
	else if (header.failed && data->file.size &&
		 memcmp(data->file.data, "PERFILE2", data->file.size) == 0)
		return fault_set(fault, "the file is cut in its header: %zu of %d bytes",
			data->file.size, HEADER_FILE);
	else if (magic != MAGIC)
		return fault_set(fault,
			data->file.size ? "it is no perf.data file" : "it is empty");

	uint64_t size = bytes_u64(&header);
	if (header.failed)
		return fault_set(fault, "the file is cut in its header: %zu of %d bytes",
			data->file.size, HEADER_FILE);
	if (size == HEADER_PIPE) {
		data->pipe = true;
		data->data_offset = HEADER_PIPE;
		data->data_size = data->file.size - HEADER_PIPE;
		return 0;
	}
	if (size < HEADER_FILE)
		return fault_set(fault, "its header claims %llu bytes, less than %d",
			(unsigned long long)size, HEADER_FILE);
	return read_file_header(data, header, fault);
}

/* perf's own records that describe the recording; in a pipe all of it comes this way. */
static void read_description(struct perfdata *data, struct perfdata_record *record)
{
	struct bytes body = record->body;

	switch (record->type) {
	case HEADER_ATTR: {
		struct bytes peek = body;
		bytes_skip(&peek, 4);
		uint32_t size = bytes_u32(&peek);
		struct bytes attr = bytes_part(&body, size ? size : ATTR_VER0);
		if (attr.failed)
			mark_cut(data, "an event description is not valid",
				record->offset);
		else if (data->pipe) {
			add_attr(data, attr);
			add_ids(data, body, (uint32_t)data->attr_count - 1);
		}
		break;
	}
	case HEADER_BUILD_ID: features_read_build_id(data, body, record->misc); break;
	case HEADER_FEATURE: {
		uint64_t feature = bytes_u64(&body);
		if (feature < 256)
			features_read(data, (unsigned)feature, body);
		break;
	}
	case EVENT_UPDATE: {
		uint64_t kind = bytes_u64(&body), id = bytes_u64(&body);
		if (kind != EVENT_UPDATE_NAME)
			break;
		for (size_t i = 0; i < data->id_count; i++) {
			const char *name;
			if (data->ids[i].id != id || !(name = bytes_string(&body)))
				continue;
			struct attr *attr = &data->attrs[data->ids[i].event];
			free(attr->name);
			attr->name = xstrdup(name);
			break;
		}
		break;
	}
	}
}

static void note_sample(struct perfdata *data, const struct perfdata_record *record)
{
	int offset = attr_time_offset(record->attr);
	struct bytes body = record->body;

	if (offset < 0)
		return;
	bytes_skip(&body, (uint64_t)offset);
	uint64_t time = bytes_u64(&body);
	if (time < data->first_sample)
		data->first_sample = time;
	if (time > data->last_sample)
		data->last_sample = time;
}

/* Samples are most of a recording: everything else is found again by its place. */
static void note_other(struct perfdata *data, const struct perfdata_record *record)
{
	if (data->other_count == data->other_room) {
		data->other_room = data->other_room ? data->other_room * 2 : 256;
		data->others = xreallocarray(
			data->others, data->other_room, sizeof(*data->others));
	}
	data->others[data->other_count++] = (struct perfdata_mark){
		record->offset - (data->in_unpacked ? 0 : data->data_offset),
		record->order, data->in_unpacked};
}

static void unpack_record(struct perfdata *data, struct unpack **unpack,
	const struct perfdata_record *record)
{
	struct bytes body = record->body;

	if (record->type == COMPRESSED2)
		body = bytes_part(&body, bytes_u64(&body));
	data->compressed = true;
	if (!*unpack)
		*unpack = unpack_new();
	if (body.failed || unpack_add(*unpack, body.at, bytes_left(&body)) < 0)
		mark_cut(data, "compressed records are damaged", record->offset);
}

/* One pass before any other: what describes the recording, and what is compressed. What that
 * holds follows as soon as perfdata_next() comes to the end of the file's own. */
static int read_ahead(struct perfdata *data, struct fault *fault)
{
	struct perfdata_record record;
	struct unpack *unpack = NULL;
	bool damaged = false;

	data->first_sample = UINT64_MAX;
	perfdata_rewind(data);
	for (;;) {
		if (!perfdata_next(data, &record)) {
			if (!unpack)
				break;
			data->unpacked = unpack_free(unpack, &data->unpacked_size);
			unpack = NULL;
			continue;
		}
		if (record.type == PERFDATA_SAMPLE) {
			if (record.attr)
				note_sample(data, &record);
			continue;
		}
		note_other(data, &record);
		if (record.type != COMPRESSED && record.type != COMPRESSED2) {
			read_description(data, &record);
		} else if (!damaged && !data->in_unpacked) {
			bool cut = data->cut;
			unpack_record(data, &unpack, &record);
			damaged = data->cut && !cut;
		}
	}
	if (data->attr_count == 0)
		return fault_set(fault,
			"the file is cut: it ends at byte %zu before any "
			"event is described",
			data->file.size);
	return 0;
}

int perfdata_open(
	struct perfdata *data, const char *path, uint32_t pid, struct fault *fault)
{
	bool cut = false;

	*data = (struct perfdata){0};
	if (file_open(&data->file, path) < 0)
		return fault_set(fault, "%s", strerror(errno));
	data->at_exit = gperf_is(&data->file);
	if (data->at_exit && gperf_convert(&data->file, pid, &cut, fault) < 0) {
		file_close(&data->file);
		return -1;
	}
	if (read_header(data, fault) < 0 || read_ahead(data, fault) < 0) {
		perfdata_close(data);
		return -1;
	}
	for (size_t i = 0; i < data->attr_count; i++)
		if (!data->attrs[i].name)
			data->attrs[i].name = attr_default_name(&data->attrs[i]);
	if (cut)
		mark_cut(data, "the profile is cut: its end is missing", data->file.size);
	perfdata_rewind(data);
	return 0;
}

void perfdata_close(struct perfdata *data)
{
	for (size_t i = 0; i < data->attr_count; i++)
		free(data->attrs[i].name);
	free(data->attrs);
	free(data->ids);
	free(data->build_ids);
	free(data->command);
	free(data->unpacked);
	free(data->others);
	file_close(&data->file);
	*data = (struct perfdata){0};
}

void perfdata_rewind(struct perfdata *data)
{
	data->position = data->order = data->passed = 0;
	data->in_unpacked = false;
}

struct perfdata_id *perfdata_find_id(struct perfdata *data, uint64_t id)
{
	struct perfdata_id key = {.id = id};

	if (!data->ids_sorted && data->id_count)
		qsort(data->ids, data->id_count, sizeof(*data->ids), compare_ids);
	data->ids_sorted = true;
	return !data->id_count ? NULL
			       : bsearch(&key, data->ids, data->id_count,
					 sizeof(*data->ids), compare_ids);
}

static uint32_t find_event(struct perfdata *data, uint64_t id)
{
	struct perfdata_id *found = perfdata_find_id(data, id);

	return found ? found->event : 0;
}

/* Whose record is it? With one event that is plain; with several, each sample says so by
 * its id, at a place that all of them share. */
static void find_attr(struct perfdata *data, struct perfdata_record *record)
{
	record->attr = NULL;
	record->event = 0;
	if (record->type >= HEADER_ATTR || !data->attr_count)
		return;
	const struct attr *first = &data->attrs[0];
	if (data->attr_count > 1) {
		struct bytes body = record->body;
		int offset = attr_id_offset(first);
		if (record->type != PERFDATA_SAMPLE) {
			bool last = first->sample_id_all &&
				    (first->sample_type & ATTR_IDENTIFIER);
			offset = last && bytes_left(&body) >= 8
					 ? (int)bytes_left(&body) - 8
					 : -1;
		}
		if (offset >= 0) {
			bytes_skip(&body, (uint64_t)offset);
			record->event = find_event(data, bytes_u64(&body));
		}
	}
	record->attr = &data->attrs[record->event];
}

/* What follows a record outside its declared size: the payload of hardware traces and of
 * tracepoint formats. */
static uint64_t payload(const struct perfdata_record *record)
{
	struct bytes body = record->body;

	if (record->type == AUXTRACE)
		return bytes_u64(&body);
	if (record->type == HEADER_TRACING_DATA)
		return ((uint64_t)bytes_u32(&body) + 7) & ~(uint64_t)7;
	return 0;
}

/* A recording is read from front to back: what was passed need not stay in memory. The
 * little that is borrowed from it comes back by itself. */
static void give_back(struct perfdata *data)
{
	uint64_t at = data->data_offset + data->position;

	if (data->in_unpacked || at < data->passed + WINDOW)
		return;
	uint64_t end = at & ~(uint64_t)(WINDOW - 1);
	file_forget(&data->file, data->passed, end - data->passed);
	data->passed = end;
}

int perfdata_next(struct perfdata *data, struct perfdata_record *record)
{
	give_back(data);
	for (;;) {
		const uint8_t *start = data->in_unpacked
					       ? data->unpacked
					       : data->file.data + data->data_offset;
		uint64_t size = data->in_unpacked ? data->unpacked_size : data->data_size;
		uint64_t left = size - data->position;

		if (left == 0 && !data->in_unpacked && data->unpacked) {
			data->in_unpacked = true;
			data->position = 0;
			continue;
		}
		if (left == 0)
			return 0;
		struct bytes bytes =
			bytes_of(start + data->position, (size_t)left, data->swap);
		record->type = bytes_u32(&bytes);
		record->misc = bytes_u16(&bytes);
		uint16_t length = bytes_u16(&bytes);
		record->offset =
			data->position + (data->in_unpacked ? 0 : data->data_offset);
		if (bytes.failed || length < RECORD_HEADER || length > left) {
			mark_cut(data,
				!bytes.failed && length < RECORD_HEADER
					? "a record is not valid"
					: "the file is cut in a record",
				record->offset);
			data->position = size;
			continue;
		}
		record->body = bytes_part(&bytes, (uint64_t)(length - RECORD_HEADER));
		data->position += length;
		uint64_t more = payload(record);
		if (more > size - data->position) {
			mark_cut(data, "the file is cut in a record", record->offset);
			data->position = size;
			continue;
		}
		data->position += more;
		record->order = ++data->order;
		find_attr(data, record);
		return 1;
	}
}

int perfdata_other(struct perfdata *data, size_t index, struct perfdata_record *record)
{
	if (index >= data->other_count)
		return 0;
	const struct perfdata_mark *mark = &data->others[index];
	data->position = mark->position;
	data->order = mark->order - 1;
	data->in_unpacked = mark->in_unpacked;
	data->passed = UINT64_MAX - WINDOW;
	return perfdata_next(data, record);
}
