/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.h - tuples of field values, each distinct one once, counted by reference.
 *
 * As stacks.h for chains: a sample's fields (fields.h) are interned, and cells of the store hold the tuple's id.  Texts are
 * interned once more, apart from the tuples.  The sampling thread adds and drops.  Entries never move, and one with references
 * is immutable, so another thread reads what it reached through a snapshot of the store, without a lock: the snapshot
 * holds the slice, and the slice the reference.  Freed ids are given out again.
 */
#ifndef SAMPLER_VALUES_H
#define SAMPLER_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUES_NONE 0u
#define VALUES_FIELDS_MAX 64
#define VALUE_TEXT_MAX \
	4096 /* of a text with its end: any path fits; longer ones are cut, see value_cut() */
#define VALUE_CUT_BYTES 19u

struct value {
	uint64_t number; /* of an address: itself, or with an image the offset in it */
	uint32_t image; /* images.h, where has_image is set */
	bool has_image;
	const char *text; /* of FIELD_TEXT and FIELD_BYTES, terminated; else NULL */
	size_t text_len;
};

/* Ends a text that is cut at len with an ellipsis and with digits of its whole, so that
 * different ones stay different; out has VALUE_CUT_BYTES and a byte for its end behind len.
 * Returns the new length. */
size_t value_cut(char *out, size_t len, const void *whole, size_t whole_len);

struct values;

int values_new(struct values **out);
void values_free(struct values *values); /* NULL is a no-op */

/* --- the sampling thread --- */

/* The id of a tuple of n values, with a reference more; texts need no end and are copied.  0; -ENOMEM, or -EINVAL where n is 0
 * or above VALUES_FIELDS_MAX, and *out is VALUES_NONE. */
int values_intern(struct values *values, const struct value *tuple, size_t n, uint32_t *out);
void values_ref(struct values *values, uint32_t id, uint32_t n);
void values_unref(struct values *values, uint32_t id, uint32_t n); /* freed with the last one */
uint32_t values_tuples(const struct values *values); /* in use */
uint32_t values_texts(const struct values *values);
/* Bytes of the tables, which are reused but never returned, and of what they hold; and those of what is in use. */
size_t values_memory(const struct values *values);
size_t values_memory_used(const struct values *values);

/* --- any thread --- */

/* How many values a tuple has; 0 of VALUES_NONE. */
size_t values_count(const struct values *values, uint32_t id);
/* Value i of a tuple; false: it has no such. */
bool values_get(const struct values *values, uint32_t id, size_t i, struct value *out);

#endif
