/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields.h - data of an event's samples in addition to the stack: a schema and its reader.
 *
 * Fields come from three sources.  A tracepoint's format describes its raw data.  sample_type bits
 * add the address, data source, weight, transaction, page sizes, physical address, cgroup and
 * newest branch.  The extension table (kinds.h) describes raw data laid out by a PMU (AMD IBS).  A
 * schema is immutable after its creation; any thread may read it.
 */
#ifndef SAMPLER_FIELDS_FIELDS_H
#define SAMPLER_FIELDS_FIELDS_H

#include "sampler/events/spec.h"
#include "sampler/fields/values.h"
#include "sampler/kernel/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELDS_MAX 64 /* per event */
#define FIELD_NAME_MAX 48

enum field_kind {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_HEX, /* flags, and pointers of unknown use */
	FIELD_TEXT, /* raw bytes */
	/* an array as hexadecimal text; elements of several bytes with a blank between */
	FIELD_BYTES,
	FIELD_CODE, /* an address of code: image and offset, like a frame of stacks.h */
	FIELD_DATA, /* an address of data: image and offset */
	FIELD_ENUM, /* a number with a name, see fields_format() */
};

struct field {
	/* raw bytes; name from the format: "prev_comm", "data_src.level" */
	char name[FIELD_NAME_MAX];
	enum field_kind kind;
	const char *unit; /* "cycles"; NULL if none */
};

struct fields;

/* Creates the schema of an event opened with attr; *out is NULL if its samples have no fields.
 * format: text of a tracepoint's format file from a recording; NULL: read it from system->tracefs.
 * Returns 0; -ENOMEM; -EBADMSG for an invalid format; -errno of reading it. */
int fields_new(struct fields **out, const struct perf_event_attr *attr, const char *pmu,
	const struct system_dirs *system, const char *format);

/* The machine on which a tracepoint was recorded. */
struct fields_source {
	const char *format; /* text of the format file; NULL: read like in fields_new() */
	bool is_here; /* recorded by the kernel running here, so facts of this machine apply */
	bool swapped; /* numbers have the other byte order */
	unsigned int long_bytes; /* bytes of a long; 0: like here */
	const char *texts; /* text of printk_formats; NULL if unknown */
	size_t texts_len;
};

/* Like fields_new(), for samples of another machine. */
int fields_new_from(struct fields **out, const struct perf_event_attr *attr, const char *pmu,
	const struct system_dirs *system, const struct fields_source *source);
void fields_free(struct fields *fields); /* NULL is a no-op */

size_t fields_count(const struct fields *fields); /* NULL: 0 */
const struct field *fields_at(const struct fields *fields, size_t i);
/* Returns the index of the named field, or -1. */
int fields_find(const struct fields *fields, const char *name);

/* Returns the sample_type bits that the fields need. */
uint64_t fields_sample_type(const struct fields *fields);

/* Returns the number of decoding outcomes ("decoded", "too short") of samples that the extension
 * table decodes; 0 for other samples.  Sets *name and *samples of outcome i if it exists. */
size_t fields_outcome(const struct fields *fields, size_t i, const char **name, uint64_t *samples);

/* Resolves an address of a FIELD_CODE or FIELD_DATA field to (image, offset); returns false if it
 * cannot. */
typedef bool fields_locate(
	void *ctx, uint64_t address, bool data, uint32_t *image, uint64_t *offset);

/* Reads the fields of one sample as a tuple.  The caller owns a reference; VALUES_NONE if there are
 * no fields.  A field beyond the end of the raw data is 0.  Returns 0 or -ENOMEM. */
int fields_read(const struct fields *fields, const struct record *record, struct values *values,
	fields_locate *locate, void *ctx, uint32_t *out);

/* Reads a whole number of a tracepoint's raw data; false if the field is no number or missing. */
bool fields_number(
	const struct fields *fields, size_t i, const struct record *record, uint64_t *out);

/* Formats a value as text (raw bytes, cut to size): numbers by kind, names of FIELD_ENUM ("L3
 * hit"), flags.  Addresses become 0x..., which a caller with symbols may replace. */
void fields_format(
	const struct fields *fields, size_t i, const struct value *value, char *out, size_t size);

/* Names an address of code: "name+0x12", or "name" alone; false if unknown. */
struct fields_line_names {
	bool (*code)(void *ctx, uint64_t address, bool with_offset, char *out, size_t size);
	void *ctx;
};

/* How fields_line() made a line. */
enum fields_line {
	FIELDS_LINE_NONE, /* no tracepoint or no raw data; out is empty */
	FIELDS_LINE_FORMAT, /* by the print format */
	FIELDS_LINE_FIELDS, /* name=value of all fields: the print format is not understood */
};

/* Formats a tracepoint's sample by its print format, in raw bytes, like the kernel.  Addresses stay
 * numbers, like in perf script.  A value that only that kernel knows is shown as its expression.  A
 * line that does not fit ends in an ellipsis.  names may be NULL. */
enum fields_line fields_line(const struct fields *fields, const struct record *record,
	const struct fields_line_names *names, char *out, size_t size);

#endif
