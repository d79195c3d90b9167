/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.c - see fields.h: schemas, and reading and formatting samples by them.
 */
#include "sampler/fields/private.h"

#include "sampler/base/sysfile.h"
#include "sampler/events/enumerators.h"
#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* least room for a text, which may be cut to it */
#define TEXT_LEAST 64u

struct field *fields_add(struct fields *fields, const char *name, size_t len, enum field_kind kind,
	const struct field_how *how)
{
	struct field *field;

	if (fields->n == FIELDS_MAX)
		return NULL;
	field = &fields->at[fields->n];
	fields->how[fields->n++] = *how;
	*field = (struct field){.kind = kind};
	snprintf(field->name, sizeof(field->name), "%.*s", (int)len, name);
	return field;
}

/* Returns the ticks per second of the running kernel: a coarse clock advances by one tick. */
static unsigned int get_ticks_per_s(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
		return 0;
	return (unsigned int)((1000000000 + tick.tv_nsec / 2) / tick.tv_nsec);
}

/* Reads the texts that samples of this machine, or of the recording, point to. */
static int add_texts(
	struct fields *fields, const struct system_dirs *system, const struct fields_source *source)
{
	bool points = false;
	char *text = NULL;
	size_t len = 0;
	int err;

	for (size_t i = 0; i < fields->n && !points; i++)
		points = fields->how[i].is_text_pointer;
	if (!points || !fields->print || !strstr(fields->print, "%s"))
		return 0;
	if (source && source->format)
		return source->texts
			? fields_texts_new(&fields->texts, source->texts, source->texts_len)
			: 0;
	if (!system || !system->tracefs ||
		sysfile_read(&text, &len, "%s/printk_formats", system->tracefs))
		return 0;
	err = fields_texts_new(&fields->texts, text, len);
	free(text);
	return err;
}

static int add_tracepoint(struct fields *fields, const struct perf_event_attr *attr,
	const struct system_dirs *system, const struct fields_source *source)
{
	char subsystem[EVENT_NAME_MAX], event[EVENT_NAME_MAX], *text = NULL;
	const char *format = source ? source->format : NULL;
	size_t len;
	int err = 0;

	if (!format) {
		if (!system)
			return -ENOENT;
		err = tracefs_name_of(system, attr->config, subsystem, event);
		if (!err)
			err = tracefs_format(system, subsystem, event, &text, &len);
		if (!err)
			err = enumerators_resolve(system, &text, &len);
		format = text;
	} else if (source->is_here && system) {
		len = strlen(format);
		text = strdup(format);
		err = text ? enumerators_resolve(system, &text, &len) : -ENOMEM;
		format = text;
	}
	fields->is_tracepoint = true;
	fields->swapped = source && source->swapped;
	if (!source || !source->format || source->is_here)
		fields->ticks_per_s = get_ticks_per_s();
	if (source && (source->long_bytes == 4 || source->long_bytes == 8))
		fields->long_bytes = source->long_bytes;
	if (!err)
		err = fields_parse_tracepoint(fields, format);
	if (!err)
		err = add_texts(fields, system, source);
	if (!err && fields->print)
		err = fields_parse_print(fields);
	if (!err && fields->n)
		fields->sample_type |= PERF_SAMPLE_RAW;
	free(text);
	return err;
}

static void add_kind(struct fields *fields, const struct sample_kind *kind)
{
	const struct field_how how = {.part = PART_KIND};

	fields->kind = kind;
	fields->kind_first = fields->n;
	fields->sample_type |= kind->sample_type;
	for (size_t i = 0; i < kind->n_fields; i++) {
		const struct field *of = &kind->fields[i].field;
		struct field *field =
			fields_add(fields, of->name, strlen(of->name), of->kind, &how);

		if (field)
			field->unit = of->unit;
	}
}

int fields_new(struct fields **out, const struct perf_event_attr *attr, const char *pmu,
	const struct system_dirs *system, const char *format)
{
	const struct fields_source source = {.format = format};

	return fields_new_from(out, attr, pmu, system, &source);
}

int fields_new_from(struct fields **out, const struct perf_event_attr *attr, const char *pmu,
	const struct system_dirs *system, const struct fields_source *source)
{
	const struct sample_kind *kind = kinds_find(pmu);
	struct fields *fields = calloc(1, sizeof(*fields));
	int err = fields ? 0 : -ENOMEM;

	*out = NULL;
	if (!err)
		fields->long_bytes = sizeof(long);
	if (!err && attr->type == PERF_TYPE_TRACEPOINT)
		err = add_tracepoint(fields, attr, system, source);
	if (!err && kind)
		add_kind(fields, kind);
	if (!err)
		fields_add_sample(fields, attr);
	if (err || !fields->n) {
		fields_free(fields);
		return err;
	}
	*out = fields;
	return 0;
}

void fields_free(struct fields *fields)
{
	if (!fields)
		return;
	for (size_t i = 0; i < fields->n; i++) {
		free(fields->how[i].zero);
		free(fields->how[i].more);
	}
	fields_free_lists(fields);
	fields_texts_free(fields->texts);
	free(fields->print);
	free(fields);
}

size_t fields_count(const struct fields *fields)
{
	return fields ? fields->n : 0;
}

const struct field *fields_at(const struct fields *fields, size_t i)
{
	return &fields->at[i];
}

int fields_find(const struct fields *fields, const char *name)
{
	for (size_t i = 0; i < fields_count(fields); i++)
		if (!strcmp(fields->at[i].name, name))
			return (int)i;
	return -1;
}

uint64_t fields_sample_type(const struct fields *fields)
{
	return fields ? fields->sample_type : 0;
}

size_t fields_outcome(const struct fields *fields, size_t i, const char **name, uint64_t *samples)
{
	size_t n = 0;

	while (fields && fields->kind && n < KIND_OUTCOMES_MAX && fields->kind->outcomes[n])
		n++;
	if (i < n) {
		*name = fields->kind->outcomes[i];
		*samples = __atomic_load_n(&fields->outcomes[i], __ATOMIC_RELAXED);
	}
	return n;
}

/* --- reading --- */

uint64_t fields_load(const struct fields *fields, const uint8_t *at, size_t size, bool is_signed)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} word = {.u64 = 0};
	bool swapped = fields->swapped;

	memcpy(&word, at, size < sizeof(word) ? size : sizeof(word));
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)word.u8 : word.u8;
	case 2:
		word.u16 = swapped ? __builtin_bswap16(word.u16) : word.u16;
		return is_signed ? (uint64_t)(int16_t)word.u16 : word.u16;
	case 4:
		word.u32 = swapped ? __builtin_bswap32(word.u32) : word.u32;
		return is_signed ? (uint64_t)(int32_t)word.u32 : word.u32;
	default:
		return swapped ? __builtin_bswap64(word.u64) : word.u64;
	}
}

struct bytes fields_bytes(
	const struct fields *fields, const struct field_how *how, struct bytes raw)
{
	uint32_t offset = how->offset, len = how->len, where;

	if (how->place != FIELD_FIXED) {
		if (offset > raw.len || raw.len - offset < sizeof(where))
			return (struct bytes){raw.at, 0};
		where = (uint32_t)fields_load(fields, raw.at + offset, sizeof(where), false);
		len = where >> 16;
		offset = (where & 0xffff) +
			(how->place == FIELD_REL_LOC ? offset + (uint32_t)sizeof(where) : 0);
	} else if (how->is_array && !len) {
		/* "buf[]" extends to the end. */
		len = UINT32_MAX;
	}
	if (offset > raw.len)
		return (struct bytes){raw.at, 0};
	return (struct bytes){raw.at + offset, raw.len - offset < len ? raw.len - offset : len};
}

#define ARRAY_BYTES 256u /* most bytes of an array's text */

/* Writes an array in hexadecimal: bytes without blanks, larger elements as numbers with a blank
 * between. */
static size_t write_array(
	const struct fields *fields, struct bytes bytes, size_t element, char *out, size_t size)
{
	size_t len = 0, i = 0;

	out[0] = '\0';
	size = size < ARRAY_BYTES ? size : ARRAY_BYTES;
	if (element != 2 && element != 4 && element != 8)
		element = 1;
	for (; i + element <= bytes.len && len + 20 + VALUE_CUT_BYTES < size; i += element) {
		uint64_t number = fields_load(fields, bytes.at + i, element, false);

		len += (size_t)snprintf(out + len, size - len,
			element == 1 ? "%s%02" PRIx64 : "%s%" PRIx64, element > 1 && i ? " " : "",
			number);
	}
	return i + element <= bytes.len ? value_cut(out, len, bytes.at, bytes.len) : len;
}

void fields_read_raw(const struct fields *fields, size_t i, struct bytes raw, char *room,
	size_t size, struct value *out)
{
	const struct field_how *how = &fields->how[i];
	struct bytes bytes = fields_bytes(fields, how, raw);

	if (how->argument) {
		out->text = room;
		out->text_len = fields_name_by_others(fields, i, raw, room, size);
		return;
	}
	switch (fields->at[i].kind) {
	case FIELD_TEXT:
		out->text = (const char *)bytes.at;
		out->text_len = bytes.len ? strnlen(out->text, bytes.len) : 0;
		if (!out->text_len)
			out->text = "";
		break;
	case FIELD_BYTES:
		out->text = room;
		out->text_len = write_array(fields, bytes, how->element, room, size);
		break;
	default:
		if (bytes.len >= how->len)
			out->number = fields_load(fields, bytes.at, how->len, how->shows_sign);
		break;
	}
}

bool fields_number(
	const struct fields *fields, size_t i, const struct record *record, uint64_t *out)
{
	const struct field_how *how = &fields->how[i];
	struct bytes bytes;

	if (!record->sample.raw || how->part != PART_NONE || fields->at[i].kind == FIELD_TEXT ||
		fields->at[i].kind == FIELD_BYTES)
		return false;
	bytes = fields_bytes(
		fields, how, (struct bytes){record->sample.raw, record->sample.raw_len});
	if (bytes.len < how->len)
		return false;
	*out = fields_load(fields, bytes.at, how->len, how->shows_sign);
	return true;
}

static void read_kind(const struct fields *fields, struct bytes raw, uint64_t *numbers)
{
	size_t outcome = fields->kind->decode(raw.at, raw.len, numbers);
	uint64_t *count = (uint64_t *)(uintptr_t)&fields->outcomes[outcome % KIND_OUTCOMES_MAX];

	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

int fields_read(const struct fields *fields, const struct record *record, struct values *values,
	fields_locate *locate, void *ctx, uint32_t *out)
{
	struct bytes raw = {record->sample.raw, record->sample.raw_len};
	/* Few events have arrays, and none has many; each field has at least TEXT_LEAST left. */
	char texts[4 * VALUE_TEXT_MAX + FIELDS_MAX * TEXT_LEAST];
	size_t used = 0;
	struct value tuple[FIELDS_MAX];
	uint64_t numbers[FIELDS_MAX] = {0};

	*out = VALUES_NONE;
	if (!fields_count(fields))
		return 0;
	if (!raw.at)
		raw = (struct bytes){(const uint8_t *)"", 0};
	if (fields->kind)
		read_kind(fields, raw, numbers);
	for (size_t i = 0; i < fields->n; i++) {
		enum sample_part part = fields->how[i].part;
		enum field_kind kind = fields->at[i].kind;
		struct value *value = &tuple[i];
		uint64_t address;

		*value = (struct value){0};
		if (part == PART_NONE) {
			size_t left = sizeof(texts) - used - (FIELDS_MAX - 1 - i) * TEXT_LEAST;

			fields_read_raw(fields, i, raw, texts + used,
				left < VALUE_TEXT_MAX ? left : VALUE_TEXT_MAX, value);
			if (value->text == texts + used)
				used += value->text_len;
		} else if (part == PART_KIND) {
			value->number = numbers[i - fields->kind_first];
		} else {
			value->number = sample_part_read(part, &record->sample);
		}
		if (!locate || !value->number || (kind != FIELD_CODE && kind != FIELD_DATA))
			continue;
		address = value->number;
		value->has_image =
			locate(ctx, address, kind == FIELD_DATA, &value->image, &value->number);
		if (!value->has_image)
			value->number = address;
	}
	return values_intern(values, tuple, fields->n, out);
}

/* --- formatting --- */

static void format_enum(
	const struct fields *fields, size_t i, uint64_t number, char *out, size_t size)
{
	const struct field_how *how = &fields->how[i];
	const struct kind_field *kind;

	if (how->part == PART_NONE) {
		fields_format_named(fields, how, number, out, size);
		return;
	}
	if (how->part != PART_KIND) {
		sample_part_format(how->part, number, out, size);
		return;
	}
	kind = &fields->kind->fields[i - fields->kind_first];
	if (number < kind->n_names && kind->names[number])
		snprintf(out, size, "%s", kind->names[number]);
	else
		snprintf(out, size, "%" PRIu64, number);
}

void fields_format(
	const struct fields *fields, size_t i, const struct value *value, char *out, size_t size)
{
	size_t len;

	switch (fields->at[i].kind) {
	case FIELD_TEXT:
	case FIELD_BYTES:
		len = value->text_len < size ? value->text_len : size - 1;
		if (len)
			memcpy(out, value->text, len);
		out[len] = '\0';
		break;
	case FIELD_SIGNED:
		snprintf(out, size, "%" PRId64, (int64_t)value->number);
		break;
	case FIELD_UNSIGNED:
		snprintf(out, size, "%" PRIu64, value->number);
		break;
	case FIELD_ENUM:
		format_enum(fields, i, value->number, out, size);
		break;
	default:
		snprintf(out, size, "0x%" PRIx64, value->number);
		break;
	}
}
