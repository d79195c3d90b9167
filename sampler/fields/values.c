/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.c - interns tuples of field values and their texts; see values.h.  Sampling thread, except
 * for readers.
 *
 * A tuple is one packed block: its numbers, the images if any value has one, and the kind of each
 * value.  The number of a text is its id.  A free entry has no references; its first word has the
 * next free one.
 */
#include "sampler/fields/values.h"

#include "sampler/base/chunks.h"
#include "sampler/base/idtable.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BLOCK_OVERHEAD 16u /* approximate bytes per allocation */

enum what { IS_NUMBER, IS_TEXT, IS_PLACE };

struct tuple {
	uint32_t n; /* in a free entry, the next free one */
	uint32_t refs; /* 0 if free */
	uint32_t hash;
	uint32_t bytes;
	uint64_t *block;
};

struct text {
	uint32_t len; /* in a free entry, the next free one */
	uint32_t refs; /* from values of tuples; 0 without bytes: free */
	uint32_t hash;
	char *bytes; /* terminated */
};

struct values {
	struct chunks tuples, texts;
	struct idtable tuple_ids, text_ids;
	uint32_t free_tuple, free_text; /* 0: none */
	uint32_t tuples_used, texts_used;
	size_t block_bytes; /* bytes of all blocks and texts */
	uint64_t seed; /* protects the hash tables: texts come from other users' programs */
};

/* A tuple in the layout of its block. */
struct packed {
	uint64_t block[VALUES_FIELDS_MAX * 2];
	uint32_t bytes;
	uint32_t hash;
};

static struct tuple *tuple_at(const struct values *values, uint32_t id)
{
	return CHUNKS_AT(&values->tuples, struct tuple, id);
}

static struct text *text_at(const struct values *values, uint32_t id)
{
	return CHUNKS_AT(&values->texts, struct text, id);
}

int values_new(struct values **out)
{
	struct values *values = calloc(1, sizeof(*values));
	uint32_t id;

	*out = NULL;
	if (!values)
		return -ENOMEM;
	chunks_init(&values->tuples, sizeof(struct tuple));
	chunks_init(&values->texts, sizeof(struct text));
	if (getrandom(&values->seed, sizeof(values->seed), GRND_NONBLOCK) < 0)
		values->seed = (uintptr_t)values;
	/* The entries with id 0, which mean none. */
	if (chunks_add(&values->tuples, &id) || chunks_add(&values->texts, &id)) {
		values_free(values);
		return -ENOMEM;
	}
	*out = values;
	return 0;
}

void values_free(struct values *values)
{
	if (!values)
		return;
	for (uint32_t id = 1; id < values->tuples.count; id++)
		free(tuple_at(values, id)->block);
	for (uint32_t id = 1; id < values->texts.count; id++)
		free(text_at(values, id)->bytes);
	chunks_fini(&values->tuples);
	chunks_fini(&values->texts);
	idtable_fini(&values->tuple_ids);
	idtable_fini(&values->text_ids);
	free(values);
}

/* --- texts --- */

/* Frees a text without references, which only a tuple being made has used. */
static void text_drop(struct values *values, uint32_t id)
{
	struct text *text = text_at(values, id);

	if (text->refs)
		return;
	idtable_remove(&values->text_ids, text->hash, id);
	values->block_bytes -= text->len + 1 + BLOCK_OVERHEAD;
	values->texts_used--;
	free(text->bytes);
	text->bytes = NULL;
	text->len = values->free_text;
	values->free_text = id;
}

static void text_unref(struct values *values, uint32_t id)
{
	text_at(values, id)->refs--;
	text_drop(values, id);
}

size_t value_cut(char *out, size_t len, const void *whole, size_t whole_len)
{
	return len +
		(size_t)sprintf(out + len, "\xe2\x80\xa6%016" PRIx64,
			(uint64_t)XXH3_64bits(whole, whole_len));
}

/* Finds or adds a text.  A new one has no reference. */
static int text_intern(struct values *values, const char *bytes, size_t len, uint32_t *out)
{
	uint32_t hash = (uint32_t)XXH3_64bits_withSeed(bytes, len, values->seed), id;
	struct text *text;
	char *copy;
	int err;

	IDTABLE_FOR_EACH(&values->text_ids, hash, id)
	{
		text = text_at(values, id);
		if (text->len == len && !memcmp(text->bytes, bytes, len)) {
			*out = id;
			return 0;
		}
	}
	if (!values->free_text) {
		err = chunks_add(&values->texts, &id);
		if (err)
			return err;
		values->free_text = id;
	}
	id = values->free_text;
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	err = idtable_put(&values->text_ids, hash, id);
	if (err) {
		free(copy);
		return err;
	}
	memcpy(copy, bytes, len);
	copy[len] = '\0';
	text = text_at(values, id);
	values->free_text = text->len;
	*text = (struct text){.len = (uint32_t)len, .hash = hash, .bytes = copy};
	values->block_bytes += len + 1 + BLOCK_OVERHEAD;
	values->texts_used++;
	*out = id;
	return 0;
}

/* --- tuples --- */

static const uint32_t *images_of(const uint64_t *block, size_t n)
{
	return (const uint32_t *)(block + n);
}

/* The kinds follow the images, if there are any; the size shows that. */
static const uint8_t *whats_of(const uint64_t *block, size_t n, size_t bytes)
{
	bool has_images = bytes > n * sizeof(*block) + n;

	return (const uint8_t *)(images_of(block, n) + (has_images ? n : 0));
}

static void drop_fresh(struct values *values, const uint64_t *block, const uint8_t *whats, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (whats[i] == IS_TEXT && text_at(values, (uint32_t)block[i])->bytes)
			text_drop(values, (uint32_t)block[i]);
}

/* text_intern() for a text of any length. */
static int text_intern_any(struct values *values, const char *bytes, size_t len, uint32_t *out)
{
	const size_t kept = VALUE_TEXT_MAX - 1 - VALUE_CUT_BYTES;
	char cut[VALUE_TEXT_MAX];

	if (len < VALUE_TEXT_MAX)
		return text_intern(values, bytes, len, out);
	memcpy(cut, bytes, kept);
	return text_intern(values, cut, value_cut(cut, kept, bytes, len), out);
}

static int pack(struct values *values, const struct value *tuple, size_t n, struct packed *packed)
{
	uint32_t images[VALUES_FIELDS_MAX] = {0}, text;
	uint8_t whats[VALUES_FIELDS_MAX];
	bool has_images = false;
	uint8_t *end;
	int err;

	for (size_t i = 0; i < n; i++) {
		packed->block[i] = tuple[i].number;
		whats[i] = IS_NUMBER;
		if (tuple[i].text) {
			err = text_intern_any(values, tuple[i].text, tuple[i].text_len, &text);
			if (err) {
				drop_fresh(values, packed->block, whats, i);
				return err;
			}
			packed->block[i] = text;
			whats[i] = IS_TEXT;
		} else if (tuple[i].has_image) {
			images[i] = tuple[i].image;
			whats[i] = IS_PLACE;
			has_images = true;
		}
	}
	end = (uint8_t *)(packed->block + n);
	if (has_images) {
		memcpy(end, images, n * sizeof(*images));
		end += n * sizeof(*images);
	}
	memcpy(end, whats, n);
	packed->bytes = (uint32_t)(end + n - (uint8_t *)packed->block);
	packed->hash =
		(uint32_t)XXH3_64bits_withSeed(packed->block, packed->bytes, values->seed + 1);
	return 0;
}

static int tuple_add(struct values *values, const struct packed *packed, size_t n, uint32_t *out)
{
	struct tuple *tuple;
	uint64_t *block;
	uint32_t id;
	int err;

	if (!values->free_tuple) {
		err = chunks_add(&values->tuples, &id);
		if (err)
			return err;
		values->free_tuple = id;
	}
	id = values->free_tuple;
	block = malloc(packed->bytes);
	if (!block)
		return -ENOMEM;
	err = idtable_put(&values->tuple_ids, packed->hash, id);
	if (err) {
		free(block);
		return err;
	}
	memcpy(block, packed->block, packed->bytes);
	tuple = tuple_at(values, id);
	values->free_tuple = tuple->n;
	*tuple = (struct tuple){.n = (uint32_t)n,
		.refs = 1,
		.hash = packed->hash,
		.bytes = packed->bytes,
		.block = block};
	values->block_bytes += packed->bytes + BLOCK_OVERHEAD;
	values->tuples_used++;
	*out = id;
	return 0;
}

int values_intern(struct values *values, const struct value *tuple, size_t n, uint32_t *out)
{
	struct packed packed;
	const uint8_t *whats;
	uint32_t id;
	int err;

	*out = VALUES_NONE;
	if (!n || n > VALUES_FIELDS_MAX)
		return -EINVAL;
	err = pack(values, tuple, n, &packed);
	if (err)
		return err;
	IDTABLE_FOR_EACH(&values->tuple_ids, packed.hash, id)
	{
		struct tuple *have = tuple_at(values, id);

		if (have->n == n && have->bytes == packed.bytes &&
			!memcmp(have->block, packed.block, packed.bytes)) {
			have->refs++;
			*out = id;
			return 0;
		}
	}
	whats = whats_of(packed.block, n, packed.bytes);
	err = tuple_add(values, &packed, n, out);
	if (err) {
		drop_fresh(values, packed.block, whats, n);
		return err;
	}
	for (size_t i = 0; i < n; i++)
		if (whats[i] == IS_TEXT)
			text_at(values, (uint32_t)packed.block[i])->refs++;
	return 0;
}

static void tuple_release(struct values *values, uint32_t id)
{
	struct tuple *tuple = tuple_at(values, id);
	const uint8_t *whats = whats_of(tuple->block, tuple->n, tuple->bytes);

	for (uint32_t i = 0; i < tuple->n; i++)
		if (whats[i] == IS_TEXT)
			text_unref(values, (uint32_t)tuple->block[i]);
	idtable_remove(&values->tuple_ids, tuple->hash, id);
	values->block_bytes -= tuple->bytes + BLOCK_OVERHEAD;
	values->tuples_used--;
	free(tuple->block);
	*tuple = (struct tuple){.n = values->free_tuple};
	values->free_tuple = id;
}

void values_ref(struct values *values, uint32_t id, uint32_t n)
{
	if (id != VALUES_NONE)
		tuple_at(values, id)->refs += n;
}

void values_unref(struct values *values, uint32_t id, uint32_t n)
{
	if (id == VALUES_NONE || !n)
		return;
	tuple_at(values, id)->refs -= n;
	if (!tuple_at(values, id)->refs)
		tuple_release(values, id);
}

/* --- sizes --- */

uint32_t values_tuples(const struct values *values)
{
	return values->tuples_used;
}

uint32_t values_texts(const struct values *values)
{
	return values->texts_used;
}

size_t values_memory(const struct values *values)
{
	return sizeof(*values) + chunks_memory(&values->tuples) + chunks_memory(&values->texts) +
		idtable_memory(&values->tuple_ids) + idtable_memory(&values->text_ids) +
		values->block_bytes;
}

size_t values_memory_used(const struct values *values)
{
	return values->block_bytes +
		values->tuples_used * (sizeof(struct tuple) + 2 * sizeof(struct idtable_slot)) +
		values->texts_used * (sizeof(struct text) + 2 * sizeof(struct idtable_slot));
}

/* --- any thread --- */

size_t values_count(const struct values *values, uint32_t id)
{
	return id == VALUES_NONE ? 0 : tuple_at(values, id)->n;
}

bool values_get(const struct values *values, uint32_t id, size_t i, struct value *out)
{
	const struct tuple *tuple;
	const struct text *text;

	*out = (struct value){0};
	if (i >= values_count(values, id))
		return false;
	tuple = tuple_at(values, id);
	switch (whats_of(tuple->block, tuple->n, tuple->bytes)[i]) {
	case IS_TEXT:
		text = text_at(values, (uint32_t)tuple->block[i]);
		out->text = text->bytes;
		out->text_len = text->len;
		break;
	case IS_PLACE:
		out->has_image = true;
		out->image = images_of(tuple->block, tuple->n)[i];
		out->number = tuple->block[i];
		break;
	default:
		out->number = tuple->block[i];
		break;
	}
	return true;
}
