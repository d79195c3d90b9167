/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds.h - the extension table: sample kinds whose raw data a PMU lays out (AMD IBS is the first).
 *
 * To add one: a file kinds_NAME.c with a struct sample_kind, and a line in the table of kinds.c.  Nothing else changes: the
 * engine asks fields.h, which asks this table by the PMU's name, adds sample_type to the attribute, and has each sample's
 * raw bytes decoded into the kind's fields, which can then be grouped by as any others.
 * All is constant, and decoding a pure function on bytes; any thread.
 */
#ifndef SAMPLER_KINDS_H
#define SAMPLER_KINDS_H

#include "sampler/fields.h"

#include <stddef.h>
#include <stdint.h>

#define KIND_OUTCOMES_MAX 4

struct kind_field {
	struct field field;
	const char *const *names; /* of FIELD_ENUM: by number; NULL where a number has none */
	size_t n_names;
};

struct sample_kind {
	const char *name; /* "AMD IBS op" */
	const char *const *pmus; /* whose samples these are; NULL at the end */
	uint64_t sample_type; /* PERF_SAMPLE_RAW, and what else the attribute must ask for */
	const struct kind_field *fields;
	size_t n_fields;
	/* Set numbers[n_fields], all 0 before; returns what came of it: a place in outcomes. */
	size_t (*decode)(const void *raw, size_t len, uint64_t *numbers);
	const char *const *
		outcomes; /* what samples are counted under: "decoded", "too short"; NULL at the end */
};

/* The kind of a PMU's samples, or NULL. */
const struct sample_kind *kinds_find(const char *pmu);

extern const struct sample_kind kind_ibs_op, kind_ibs_fetch; /* kinds_ibs.c */

#endif
