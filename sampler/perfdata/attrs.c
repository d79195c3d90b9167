// SPDX-License-Identifier: GPL-3.0-or-later
/* attrs.c - attributes, their names and the ids of their records; see attrs.h. */
#include "sampler/perfdata/attrs.h"

#include "sampler/base/grow.h"
#include "sampler/events/event.h"
#include "sampler/kernel/sys.h"
#include "sampler/perfdata/swap.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void attrs_fini(struct attrs *attrs)
{
	for (size_t i = 0; i < attrs->n; i++)
		free(attrs->list[i].ids);
	free(attrs->list);
	idmap_fini(&attrs->by_id);
	*attrs = (struct attrs){0};
}

/* Returns config without the PMU type in its upper half.  Hybrid machines put it there
 * (PERF_PMU_TYPE_SHIFT). */
static uint64_t generic_config(const struct perf_event_attr *attr)
{
	bool extended = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;

	return extended ? attr->config & UINT32_MAX : attr->config;
}

static const char *generic_name(const struct perf_event_attr *attr)
{
	size_t n;
	const struct event_info *info = event_catalogue(&n);

	for (size_t i = 0; i < n; i++)
		if (info[i].type == attr->type && info[i].config == generic_config(attr))
			return info[i].name;
	return NULL;
}

/* Names a cache event like perf: "L1-dcache-load-misses". */
static bool cache_name(char *out, size_t size, uint64_t config)
{
	static const char *const caches[] = {
		"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
	static const char *const ops[][2] = {{"loads", "load-misses"}, {"stores", "store-misses"},
		{"prefetches", "prefetch-misses"}};
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16;

	if (cache >= sizeof(caches) / sizeof(*caches) || op >= sizeof(ops) / sizeof(*ops) ||
		result > 1)
		return false;
	snprintf(out, size, "%s-%s", caches[cache], ops[op][result]);
	return true;
}

static void add_letter(char *out, size_t size, bool wanted, char letter)
{
	size_t len = strlen(out);

	if (wanted && len + 1 < size) {
		out[len] = letter;
		out[len + 1] = '\0';
	}
}

/* Follows perf's evsel__add_modifiers(): after any other modifier, excluding guests is the
 * default. */
static void add_modifiers(char *out, size_t size, const struct perf_event_attr *attr)
{
	bool sides = attr->exclude_kernel || attr->exclude_user || attr->exclude_hv;
	bool hosts = attr->exclude_host || (bool)attr->exclude_guest == (sides || attr->precise_ip);
	char letters[16] = ":";

	add_letter(letters, sizeof(letters), sides && !attr->exclude_kernel, 'k');
	add_letter(letters, sizeof(letters), sides && !attr->exclude_user, 'u');
	add_letter(letters, sizeof(letters), sides && !attr->exclude_hv, 'h');
	for (unsigned int i = 0; i < attr->precise_ip; i++)
		add_letter(letters, sizeof(letters), true, 'p');
	add_letter(letters, sizeof(letters), hosts && !attr->exclude_host, 'H');
	add_letter(letters, sizeof(letters), hosts && !attr->exclude_guest, 'G');
	if (letters[1])
		strncat(out, letters, size - strlen(out) - 1);
}

static void name_breakpoint(char *out, size_t size, const struct perf_event_attr *attr)
{
	snprintf(out, size, "mem:0x%llx:", (unsigned long long)attr->bp_addr);
	add_letter(out, size, attr->bp_type & HW_BREAKPOINT_R, 'r');
	add_letter(out, size, attr->bp_type & HW_BREAKPOINT_W, 'w');
	add_letter(out, size, attr->bp_type & HW_BREAKPOINT_X, 'x');
}

/* Names an event from its attribute, like perf script. */
static void make_name(struct reader_attr *entry)
{
	const struct perf_event_attr *attr = &entry->attr;
	char *out = entry->name;
	const char *generic = generic_name(attr);
	const size_t size = sizeof(entry->name);
	unsigned long long config = attr->config;

	if (generic)
		snprintf(out, size, "%s", generic);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		snprintf(out, size, "tracepoint:%llu", config);
	else if (attr->type == PERF_TYPE_BREAKPOINT)
		name_breakpoint(out, size, attr);
	else if (attr->type == PERF_TYPE_RAW || attr->type == PERF_TYPE_HARDWARE ||
		attr->type == PERF_TYPE_SOFTWARE)
		snprintf(out, size, "%s 0x%llx",
			attr->type == PERF_TYPE_RAW		   ? "raw"
				: attr->type == PERF_TYPE_HARDWARE ? "hardware"
								   : "software",
			config);
	else if (attr->type != PERF_TYPE_HW_CACHE || !cache_name(out, size, generic_config(attr)))
		snprintf(out, size, "type %u 0x%llx", attr->type, config);
	if (attr->type != PERF_TYPE_TRACEPOINT)
		add_modifiers(out, size, attr);
}

static int grow(struct attrs *attrs)
{
	if (attrs->n >= ATTRS_MAX)
		return -E2BIG;
	return grow_items(&attrs->list, &attrs->capacity, attrs->n + 1, sizeof(*attrs->list));
}

static int take_ids(struct attrs *attrs, struct reader_attr *entry, const uint8_t *ids,
	size_t n_ids, bool swapped)
{
	if (!n_ids)
		return 0;
	if (n_ids > ATTRS_IDS_MAX - attrs->n_ids)
		return -E2BIG;
	entry->ids = reallocarray(NULL, n_ids, sizeof(*entry->ids));
	if (!entry->ids)
		return -ENOMEM;
	for (size_t i = 0; i < n_ids; i++) {
		uint64_t id = swap_get_64(ids + i * 8, swapped);
		int ret = idmap_set(&attrs->by_id, id, (void *)(uintptr_t)(attrs->n + 1));

		if (ret)
			return ret;
		entry->ids[i] = id;
	}
	entry->n_ids = n_ids;
	attrs->n_ids += n_ids;
	return 0;
}

/* Trusts the build-id bits of all events.  perf sets the attribute in one event only, and
 * synthesized mappings have no event's id. */
static void believe_build_ids(struct attrs *attrs)
{
	attrs->has_build_ids = true;
	for (size_t i = 0; i < attrs->n; i++)
		attrs->list[i].format.no_build_ids = false;
}

int attrs_add(struct attrs *attrs, const void *bytes, size_t len, const void *ids, size_t n_ids,
	bool swapped)
{
	struct reader_attr *entry;
	size_t size;
	int ret;

	if (len < PERF_ATTR_SIZE_VER0)
		return -EBADMSG;
	ret = grow(attrs);
	if (ret)
		return ret;
	entry = &attrs->list[attrs->n];
	memset(entry, 0, sizeof(*entry));
	size = swap_get_32((const uint8_t *)bytes + 4, swapped);
	if (!size) /* old attribute without a size */
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0)
		return -EBADMSG;
	if (size > len)
		size = len;
	memcpy(&entry->attr, bytes, size < sizeof(entry->attr) ? size : sizeof(entry->attr));
	if (swapped)
		swap_attr(&entry->attr);
	sys_format_of(&entry->format, &entry->attr);
	entry->format.no_build_ids = !attrs->has_build_ids;
	make_name(entry);
	ret = take_ids(attrs, entry, ids, n_ids, swapped);
	if (ret) {
		free(entry->ids);
		return ret;
	}
	attrs->n++;
	attrs->has_last = false;
	if (entry->attr.build_id)
		believe_build_ids(attrs);
	return 0;
}

int attrs_add_id(struct attrs *attrs, uint64_t i, uint64_t id)
{
	if (i >= attrs->n)
		return -EBADMSG;
	if (attrs->n_ids >= ATTRS_IDS_MAX)
		return -E2BIG;
	attrs->n_ids++;
	attrs->has_last = false;
	return idmap_set(&attrs->by_id, id, (void *)(uintptr_t)(i + 1));
}

void attrs_name(struct attrs *attrs, const uint64_t *id, size_t i, const char *text, size_t len)
{
	uintptr_t found = id && attrs->by_id.n ? (uintptr_t)idmap_find(&attrs->by_id, *id) : 0;

	if (found)
		i = found - 1;
	len = strnlen(text, len);
	if (i >= attrs->n || !len)
		return;
	event_fit_name(attrs->list[i].name, EVENT_NAME_MAX, text, len);
	attrs->list[i].is_named = true;
}

void attrs_name_tracepoints(struct attrs *attrs, const struct tracing *tracing)
{
	for (size_t i = 0; i < attrs->n; i++) {
		struct reader_attr *entry = &attrs->list[i];

		if (entry->attr.type == PERF_TYPE_TRACEPOINT && !entry->is_named)
			(void)tracing_name(
				tracing, entry->attr.config, entry->name, sizeof(entry->name));
	}
}

/* --- cgroups --- */

struct words_piece {
	const char *at;
	size_t len;
};

/* Iterates over the values of -G and --cgroup, up to the recorded command. */
struct cgroup_words {
	char *const *words;
	size_t n, at;
	const char *rest; /* rest of the current value; NULL: take the next one */
};

static const char *next_value(struct cgroup_words *in)
{
	static const char option[] = "--cgroup";
	const size_t len = sizeof(option) - 1;

	while (in->at < in->n && strcmp(in->words[in->at], "--") != 0) {
		const char *word = in->words[in->at++];
		bool is_long = !strncmp(word, option, len), is_short = !strncmp(word, "-G", 2);

		if (is_long && word[len] == '=')
			return word + len + 1;
		if (is_short && word[2])
			return word + 2;
		if ((is_long && !word[len]) || is_short)
			return in->at < in->n ? in->words[in->at++] : NULL;
	}
	return NULL;
}

/* Takes the next name, which may be empty.  Returns false if there is none. */
static bool next_cgroup(struct cgroup_words *in, struct words_piece *out)
{
	if (!in->rest)
		in->rest = next_value(in);
	if (!in->rest)
		return false;
	*out = (struct words_piece){in->rest, strcspn(in->rest, ",")};
	in->rest = in->rest[out->len] ? in->rest + out->len + 1 : NULL;
	return true;
}

/* Returns the last part of a cgroup's path, or the whole path if another cgroup ends the same
 * way. */
static struct words_piece label_of(struct cgroup_words in, struct words_piece name)
{
	struct words_piece last = name, other;
	unsigned int n = 0;
	const char *slash;

	while (last.len > 1 && last.at[last.len - 1] == '/')
		last.len--;
	slash = memrchr(last.at, '/', last.len);
	if (!slash || slash + 1 == last.at + last.len)
		return last;
	last.len -= (size_t)(slash + 1 - last.at);
	last.at = slash + 1;
	while (next_cgroup(&in, &other))
		n += other.len >= last.len &&
			!memcmp(other.at + other.len - last.len, last.at, last.len);
	return n > 1 ? name : last;
}

static void add_cgroup(struct reader_attr *attr, struct words_piece label)
{
	size_t len = strlen(attr->name);

	if (!label.len || label.len > EVENT_NAME_MAX / 2)
		return;
	if (len > EVENT_NAME_MAX - 2 - label.len)
		len = EVENT_NAME_MAX - 2 - label.len;
	attr->name[len] = '@';
	memcpy(attr->name + len + 1, label.at, label.len);
	attr->name[len + 1 + label.len] = '\0';
}

/* Like in perf, cgroup n belongs to event n, and a single cgroup belongs to all events. */
void attrs_name_cgroups(struct attrs *attrs, char *const *words, size_t n)
{
	const struct cgroup_words begin = {.words = words, .n = n};
	struct cgroup_words in = begin;
	struct words_piece name, label = {"", 0};
	const char *program = n ? strrchr(words[0], '/') : NULL;
	size_t names = 0;

	program = program ? program + 1 : n ? words[0] : "";
	/* strobe writes cgroups into the names itself. */
	if (strncmp(program, "perf", 4) != 0)
		return;
	while (next_cgroup(&in, &name)) {
		label = label_of(begin, name);
		if (names < attrs->n)
			add_cgroup(&attrs->list[names], label);
		names++;
	}
	for (size_t i = 1; names == 1 && i < attrs->n; i++)
		if (attrs->list[i].attr.type != PERF_TYPE_SOFTWARE ||
			attrs->list[i].attr.config != PERF_COUNT_SW_DUMMY)
			add_cgroup(&attrs->list[i], label);
}

/* Reads the id from its word.  perf puts it at the same place for all attributes of a recording. */
static bool id_of(const struct record_format *format, const struct perf_event_header *header,
	bool swapped, uint64_t *id)
{
	const uint64_t *words = (const uint64_t *)(const void *)header;
	size_t n = header->size / 8, at = 1;
	uint64_t type = format->sample_type;

	if (header->type == PERF_RECORD_SAMPLE) {
		if (!(type & PERF_SAMPLE_IDENTIFIER))
			at += (size_t)__builtin_popcountll(type &
				(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					PERF_SAMPLE_ADDR));
		if (at >= n)
			return false;
	} else {
		at = 1;
		if (!(type & PERF_SAMPLE_IDENTIFIER))
			at += (size_t)__builtin_popcountll(
				type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
		if (n < at + 1)
			return false;
		at = n - at;
	}
	*id = swap_64(words[at], swapped);
	return true;
}

bool attrs_find(
	struct attrs *attrs, const struct perf_event_header *header, bool swapped, uint32_t *number)
{
	const struct record_format *format;
	uintptr_t found;
	uint64_t id;

	*number = 0;
	if (attrs->n <= 1)
		return attrs->n;
	format = &attrs->list[0].format;
	if (!(format->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) ||
		(header->type != PERF_RECORD_SAMPLE && !format->sample_id_all))
		return true;
	if (!id_of(format, header, swapped, &id))
		return false;
	if (!id) /* synthesized by perf, without an event */
		return true;
	if (attrs->has_last && attrs->last_id == id) {
		*number = attrs->last;
		return true;
	}
	found = attrs->by_id.n ? (uintptr_t)idmap_find(&attrs->by_id, id) : 0;
	if (!found)
		return false;
	*number = (uint32_t)(found - 1);
	attrs->last_id = id;
	attrs->last = *number;
	attrs->has_last = true;
	return true;
}
