/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.h - distinct tuples of field values, with reference counts.
 *
 * A sample's fields (fields.h) are interned, as stacks.h does with chains, and cells of the store
 * hold the tuple's id.  Texts are interned separately.  The sampling thread adds and drops.
 *
 * Entries never move, and one with references is immutable.  So another thread may read the entries
 * that it reaches through a snapshot of the store, without a lock.  The snapshot holds the slice,
 * and the slice holds the reference.  Freed ids are reused.
 */
#ifndef SAMPLER_FIELDS_VALUES_H
#define SAMPLER_FIELDS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUES_NONE 0u
#define VALUES_FIELDS_MAX 64
/* bytes of a text with its NUL: any path fits; longer texts are cut, see value_cut() */
#define VALUE_TEXT_MAX 4096
#define VALUE_CUT_BYTES 19u

struct value {
	uint64_t number; /* for an address: itself, or its offset in the image */
	uint32_t image; /* images.h, if has_image */
	bool has_image;
	const char *text; /* FIELD_TEXT and FIELD_BYTES: terminated; otherwise NULL */
	size_t text_len;
};

/* Ends a text that is cut at len with an ellipsis and a hash of its whole, so that different texts
 * stay different.  out has room for VALUE_CUT_BYTES and a NUL after len.  Returns the new
 * length. */
size_t value_cut(char *out, size_t len, const void *whole, size_t whole_len);

struct values;

int values_new(struct values **out);
void values_free(struct values *values); /* NULL is a no-op */

/* --- the sampling thread --- */

/* Finds or adds a tuple of n values, and takes a reference.  Texts need no NUL and are copied.
 * Returns 0; -ENOMEM, or -EINVAL if n is 0 or above VALUES_FIELDS_MAX, with *out VALUES_NONE. */
int values_intern(struct values *values, const struct value *tuple, size_t n, uint32_t *out);
void values_ref(struct values *values, uint32_t id, uint32_t n);
/* frees it with the last reference */
void values_unref(struct values *values, uint32_t id, uint32_t n);
uint32_t values_tuples(const struct values *values); /* number in use */
uint32_t values_texts(const struct values *values);
/* Return the bytes of the tables, which are reused but never returned, and of their contents; and
 * the bytes in use. */
size_t values_memory(const struct values *values);
size_t values_memory_used(const struct values *values);

/* --- any thread --- */

/* Returns the number of values in a tuple; 0 for VALUES_NONE. */
size_t values_count(const struct values *values, uint32_t id);
/* Reads value i of a tuple.  Returns false if there is none. */
bool values_get(const struct values *values, uint32_t id, size_t i, struct value *out);

#endif
