/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fields_private.h - a schema's insides, for fields*.c alone.
 *
 * fields.c holds a schema together and reads samples, fields_tracepoint.c makes one of a tracepoint's format, fields_print.c
 * takes names and kinds of its fields from the print format, fields_sample.c does what sample_type tells.
 */
#ifndef SAMPLER_FIELDS_PRIVATE_H
#define SAMPLER_FIELDS_PRIVATE_H

#include "sampler/fields.h"
#include "sampler/kinds.h"

enum field_place { FIELD_FIXED, FIELD_DATA_LOC, FIELD_REL_LOC };

enum sample_part {
	PART_NONE, /* of the raw data */
	PART_KIND, /* of the kind's decoder */
	PART_ADDR,
	PART_OP,
	PART_LEVEL,
	PART_SNOOP,
	PART_TLB,
	PART_LOCK,
	PART_BLK,
	PART_HOPS,
	PART_WEIGHT,
	PART_WEIGHT_2,
	PART_WEIGHT_3,
	PART_TRANSACTION,
	PART_PHYS_ADDR,
	PART_CGROUP,
	PART_DATA_PAGE,
	PART_CODE_PAGE,
	PART_BRANCH_FROM,
	PART_BRANCH_TO,
	PART_BRANCH_PREDICTION,
	PART_BRANCH_IN_TX,
	PART_BRANCH_ABORT,
	PART_BRANCH_CYCLES,
	PART_BRANCH_TYPE,
	PART_BRANCH_SPEC,
	PART_BRANCH_PRIVILEGE,
};

struct field_name {
	uint64_t value;
	char *text;
};

/* Of a tracepoint's field, as its print format has them. */
struct field_names {
	bool flags; /* or'ed bits, else one of several */
	uint64_t mask; /* of the field, before it is looked for */
	char *zero; /* what 0 is called, or NULL */
	uint64_t more_mask; /* a bit that adds a text: the "+" of prev_state; 0: none */
	char *more;
	struct field_name *at;
	size_t n;
};

struct field_how {
	enum sample_part part;
	enum field_place place;
	uint32_t offset, len; /* in the raw data; len of the element, where there are many */
	uint32_t element;
	struct field_names *names;
};

struct fields {
	struct field at[FIELDS_MAX];
	struct field_how how[FIELDS_MAX];
	size_t n;
	uint64_t sample_type;
	const struct sample_kind *kind;
	size_t kind_first; /* the first of its fields */
	char *print; /* a tracepoint's print format; NULL: none */
	uint64_t outcomes[KIND_OUTCOMES_MAX]; /* atomic, relaxed */
};

/* One more field, or NULL where there are FIELDS_MAX. */
struct field *fields_add(struct fields *fields, const char *name, size_t len, enum field_kind kind,
	const struct field_how *how);

/* 0, -ENOMEM, -EBADMSG. */
int fields_parse_tracepoint(struct fields *fields, const char *format);

/* Names and kinds of fields out of what follows "print fmt:".  What cannot be understood changes nothing.  0 or -ENOMEM. */
int fields_parse_print(struct fields *fields, const char *print);
void field_names_free(struct field_names *names); /* NULL is a no-op */
void field_names_format(const struct field_names *names, uint64_t number, char *out, size_t size);

void fields_add_sample(struct fields *fields, const struct perf_event_attr *attr);
uint64_t sample_part_read(enum sample_part part, const struct record_sample *sample);
void sample_part_format(enum sample_part part, uint64_t number, char *out, size_t size);

#endif
