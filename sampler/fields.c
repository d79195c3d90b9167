/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.c - see fields.h: a schema, and samples read and written by it.
 */
#include "sampler/fields_private.h"

#include "sampler/tracefs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int add_tracepoint(struct fields *fields, const struct perf_event_attr *attr,
	const struct event_system *system, const char *format)
{
	char subsystem[EVENT_NAME_MAX], event[EVENT_NAME_MAX], *text = NULL;
	size_t len;
	int err = 0;

	if (!format) {
		if (!system)
			return -ENOENT;
		err = tracefs_name_of(system, attr->config, subsystem, event);
		if (!err)
			err = tracefs_format(system, subsystem, event, &text, &len);
		format = text;
	}
	if (!err)
		err = fields_parse_tracepoint(fields, format);
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
	const struct event_system *system, const char *format)
{
	const struct sample_kind *kind = kinds_find(pmu);
	struct fields *fields = calloc(1, sizeof(*fields));
	int err = fields ? 0 : -ENOMEM;

	*out = NULL;
	if (!err && attr->type == PERF_TYPE_TRACEPOINT)
		err = add_tracepoint(fields, attr, system, format);
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
	for (size_t i = 0; i < fields->n; i++)
		field_names_free(fields->how[i].names);
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

struct bytes {
	const uint8_t *at;
	size_t len;
};

static uint64_t read_number(const uint8_t *at, size_t size, bool is_signed)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} word = {.u64 = 0};

	memcpy(&word, at, size < sizeof(word) ? size : sizeof(word));
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)word.u8 : word.u8;
	case 2:
		return is_signed ? (uint64_t)(int16_t)word.u16 : word.u16;
	case 4:
		return is_signed ? (uint64_t)(int32_t)word.u32 : word.u32;
	default:
		return word.u64;
	}
}

/* The bytes of a field, as many as there are. */
static struct bytes find_bytes(const struct field_how *how, struct bytes raw)
{
	uint32_t offset = how->offset, len = how->len;

	if (how->place != FIELD_FIXED) {
		uint32_t where;

		if (offset > raw.len || raw.len - offset < sizeof(where))
			return (struct bytes){raw.at, 0};
		memcpy(&where, raw.at + offset, sizeof(where));
		len = where >> 16;
		offset = (where & 0xffff) +
			(how->place == FIELD_REL_LOC ? offset + (uint32_t)sizeof(where) : 0);
	}
	if (offset > raw.len)
		return (struct bytes){raw.at, 0};
	return (struct bytes){raw.at + offset, raw.len - offset < len ? raw.len - offset : len};
}

/* Elements of more than one byte as numbers, with a blank between. */
static size_t write_array(struct bytes bytes, size_t element, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	if (element != 2 && element != 4 && element != 8)
		element = 1;
	for (size_t i = 0; i + element <= bytes.len && len + 20 < size; i += element) {
		uint64_t number = read_number(bytes.at + i, element, false);

		len += (size_t)snprintf(out + len, size - len,
			element == 1 ? "%s%02" PRIx64 : "%s%" PRIx64, element > 1 && i ? " " : "",
			number);
	}
	return len;
}

static void read_raw(
	const struct fields *fields, size_t i, struct bytes raw, char *text, struct value *out)
{
	const struct field_how *how = &fields->how[i];
	struct bytes bytes = find_bytes(how, raw);

	switch (fields->at[i].kind) {
	case FIELD_TEXT:
		out->text = (const char *)bytes.at;
		out->text_len = bytes.len ? strnlen(out->text, bytes.len) : 0;
		if (!out->text_len)
			out->text = "";
		break;
	case FIELD_BYTES:
		out->text = text;
		out->text_len = write_array(bytes, how->element, text, VALUE_TEXT_MAX);
		break;
	default:
		if (bytes.len >= how->len)
			out->number = read_number(bytes.at, how->len, how->element);
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
	bytes = find_bytes(how, (struct bytes){record->sample.raw, record->sample.raw_len});
	if (bytes.len < how->len)
		return false;
	*out = read_number(bytes.at, how->len, how->element);
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
	char texts[FIELDS_MAX][VALUE_TEXT_MAX];
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
		if (part == PART_NONE)
			read_raw(fields, i, raw, texts[i], value);
		else if (part == PART_KIND)
			value->number = numbers[i - fields->kind_first];
		else
			value->number = sample_part_read(part, &record->sample);
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
		field_names_format(how->names, number, out, size);
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
