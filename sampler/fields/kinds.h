/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds.h - extension table of sample kinds: raw data of a PMU (AMD IBS is the first) as fields.
 *
 * To add a kind, write kinds_NAME.c with a struct sample_kind, and add a line to the table in
 * kinds.c.  Nothing else changes.  The engine asks fields.h, which looks up the PMU's name in this
 * table.  It adds sample_type to the attribute and decodes each sample's raw bytes into the kind's
 * fields.  Samples can be grouped by these like by any other field.
 *
 * All data is constant, and decoding is a pure function on bytes.  Any thread.
 */
#ifndef SAMPLER_FIELDS_KINDS_H
#define SAMPLER_FIELDS_KINDS_H

#include "sampler/fields/fields.h"

#include <stddef.h>
#include <stdint.h>

#define KIND_OUTCOMES_MAX 4

struct kind_field {
	struct field field;
	const char *const *names; /* FIELD_ENUM: names by number; NULL for a number without one */
	size_t n_names;
};

struct sample_kind {
	const char *name; /* "AMD IBS op" */
	const char *const *pmus; /* PMUs with samples of this kind; NULL at the end */
	uint64_t sample_type; /* PERF_SAMPLE_RAW and other bits that the attribute must set */
	const struct kind_field *fields;
	size_t n_fields;
	/* Sets numbers[n_fields], which are all 0 before.  Returns an index into outcomes. */
	size_t (*decode)(const void *raw, size_t len, uint64_t *numbers);
	/* names of the results by which samples are counted: "decoded", "too short"; NULL at the
	 * end */
	const char *const *outcomes;
};

/* Returns the kind of a PMU's samples; NULL if none. */
const struct sample_kind *kinds_find(const char *pmu);

extern const struct sample_kind kind_ibs_op, kind_ibs_fetch; /* in kinds_ibs.c */

#endif
