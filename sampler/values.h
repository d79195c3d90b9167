/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.h - tuples of field values, each distinct one once, counted by reference.
 *
 * As stacks.h for chains: a sample's fields (fields.h) are interned, and cells of the store hold the tuple's id.  The sampling
 * thread adds and drops; other threads read tuples by ids that they reached through a snapshot, without a lock.
 * Texts are interned once more, apart from the tuples.
 */
#ifndef SAMPLER_VALUES_H
#define SAMPLER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUES_NONE 0u
#define VALUES_FIELDS_MAX 64
#define VALUE_TEXT_MAX 256 /* longer ones are cut */

struct value {
	uint64_t
		number; /* of FIELD_CODE and FIELD_DATA: the address, or with an image the offset in it */
	uint32_t image; /* images.h, or IMAGE_NONE-like 0 where none is known: see has_image */
	bool has_image;
	const char *text; /* of FIELD_TEXT and FIELD_BYTES, terminated; else NULL */
	size_t text_len;
};

struct values;

int values_new(struct values **out);
void values_free(struct values *values);

/* --- the sampling thread --- */

/* The id of a tuple of n values, with a reference more.  0, -ENOMEM, -ENOSPC (more than 2^32 - 2). */
int values_intern(struct values *values, const struct value *tuple, size_t n, uint32_t *out);
void values_ref(struct values *values, uint32_t id, uint32_t n);
void values_unref(struct values *values, uint32_t id, uint32_t n); /* freed with the last one */
size_t values_memory(const struct values *values);

/* --- any thread --- */

/* How many values a tuple has; 0 of VALUES_NONE. */
size_t values_count(const struct values *values, uint32_t id);
/* Value i of a tuple; false: it has no such. */
bool values_get(const struct values *values, uint32_t id, size_t i, struct value *out);

#endif
