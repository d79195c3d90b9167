/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.h - what an event's samples tell besides where they were: a schema, and how to read it from a record.
 *
 * Three sources give fields: the format of a tracepoint (its raw data), sample_type bits (address, data source, weight,
 * transaction, page sizes, physical address, cgroup, the newest branch), and the extension table (kinds.h) for raw data
 * that a PMU lays out (AMD IBS).  A schema is immutable once made; any thread may read it.
 */
#ifndef SAMPLER_FIELDS_H
#define SAMPLER_FIELDS_H

#include "sampler/event.h"
#include "sampler/record.h"
#include "sampler/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELDS_MAX 64 /* of one event */
#define FIELD_NAME_MAX 48

enum field_kind {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_HEX, /* flags, pointers of no known use */
	FIELD_TEXT, /* raw bytes */
	FIELD_BYTES, /* an array, as text: hexadecimal digits, elements of several bytes with a blank between */
	FIELD_CODE, /* an address of code: image and offset, as a frame of stacks.h */
	FIELD_DATA, /* an address of data: the same */
	FIELD_ENUM, /* a number with a name, see fields_format() */
};

struct field {
	char name
		[FIELD_NAME_MAX]; /* raw bytes; as the format names it: "prev_comm", "data_src.level" */
	enum field_kind kind;
	const char *unit; /* "cycles", or NULL */
};

struct fields;

/* The schema of an event that is opened with attr; NULL in *out where its samples have no fields.  format is the
 * text of a tracepoint's format file where the caller has it (a recording), else NULL: it is read from
 * system->tracefs.  0, -ENOMEM, -EBADMSG (a format that cannot be understood), -errno of reading it. */
int fields_new(struct fields **out, const struct perf_event_attr *attr, const char *pmu,
	const struct event_system *system, const char *format);

/* The machine that a tracepoint was recorded on. */
struct fields_source {
	const char *format; /* the text of its format file; NULL: read as for fields_new() */
	bool is_here; /* its kernel is the one that runs here: this one's facts are its, too */
	bool swapped; /* its numbers have the other byte order */
	unsigned int long_bytes; /* of a long; 0: as here */
	const char *texts; /* its printk_formats; NULL: not known */
	size_t texts_len;
};

/* The same of another machine's samples. */
int fields_new_from(struct fields **out, const struct perf_event_attr *attr, const char *pmu,
	const struct event_system *system, const struct fields_source *source);
void fields_free(struct fields *fields); /* NULL is a no-op */

size_t fields_count(const struct fields *fields); /* of NULL: 0 */
const struct field *fields_at(const struct fields *fields, size_t i);
/* The field of a name, or -1. */
int fields_find(const struct fields *fields, const char *name);

/* The sample_type bits the fields need. */
uint64_t fields_sample_type(const struct fields *fields);

/* Of samples that a kind of the extension table decodes: what came of how many ("decoded", "too short").  How many outcomes
 * there are, 0 for other samples; *name and *samples of outcome i where it is one. */
size_t fields_outcome(const struct fields *fields, size_t i, const char **name, uint64_t *samples);

/* Where an address lies, for fields of kind FIELD_CODE and FIELD_DATA: (image, offset), or false. */
typedef bool fields_locate(
	void *ctx, uint64_t address, bool data, uint32_t *image, uint64_t *offset);

/* The fields of one sample as a tuple; its reference is the caller's, VALUES_NONE where there are none.  Raw data shorter
 * than a field leaves it 0.  0 or -ENOMEM. */
int fields_read(const struct fields *fields, const struct record *record, struct values *values,
	fields_locate *locate, void *ctx, uint32_t *out);

/* A whole number of a tracepoint's raw data; false: it is none, or not there. */
bool fields_number(
	const struct fields *fields, size_t i, const struct record *record, uint64_t *out);

/* A value as text (raw bytes, cut to size): numbers by kind, names of FIELD_ENUM ("L3 hit"), flags; addresses as
 * 0x..., which whoever has symbols replaces. */
void fields_format(
	const struct fields *fields, size_t i, const struct value *value, char *out, size_t size);

/* What an address of code is called: "name+0x12", or "name" alone; false: not known. */
struct fields_line_names {
	bool (*code)(void *ctx, uint64_t address, bool with_offset, char *out, size_t size);
	void *ctx;
};

/* How a line was made. */
enum fields_line {
	FIELDS_LINE_NONE, /* not: no tracepoint, or no raw data; out is empty */
	FIELDS_LINE_FORMAT, /* by the print format */
	FIELDS_LINE_FIELDS, /* name=value of all fields: the print format is not understood */
};

/* A tracepoint's sample as its print format tells it, in raw bytes, as the kernel does, but for
 * addresses, which perf script shows as they are.  What only that kernel knows is shown as the
 * expression it is; a line that does not fit ends in an ellipsis.  names may be NULL. */
enum fields_line fields_line(const struct fields *fields, const struct record *record,
	const struct fields_line_names *names, char *out, size_t size);

#endif
