/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_lines.c - the table, and its filling from answers.
 */
#include "symbols/client/code_lines.h"

#include "symbols/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX ((size_t)64 << 20) /* limit for all images */
#define TEXT_BYTES_MAX ((size_t)64 << 20) /* limit for one answer */
#define WHOLE_IMAGE UINT64_MAX /* pseudo offset: the state of all unknown offsets */

struct code_lines_slot {
	uint64_t offset;
	uint32_t key;
	uint32_t frames; /* index of the first of n_frames */
	uint16_t n_frames;
	uint8_t used, state; /* enum symbols_state */
	uint32_t pad;
};

struct code_lines_frame {
	uint32_t function, file; /* string indexes */
	uint32_t line;
	uint16_t column;
	uint16_t inlined;
};

void code_lines_fini(struct code_lines *lines)
{
	free(lines->slots);
	free(lines->frames);
	strings_fini(&lines->strings);
	*lines = (struct code_lines){0};
}

/* Returns the slot, or the free one in its place. */
static struct code_lines_slot *find_slot(
	struct code_lines_slot *slots, size_t cap, uint32_t key, uint64_t offset)
{
	const uint64_t hash = (offset ^ (uint64_t)key << 40) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 32) & (cap - 1);

	while (slots[i].used && (slots[i].offset != offset || slots[i].key != key))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static const struct code_lines_slot *look(
	const struct code_lines *lines, uint32_t key, uint64_t offset)
{
	const struct code_lines_slot *slot =
		lines->cap ? find_slot(lines->slots, lines->cap, key, offset) : NULL;

	return slot && slot->used ? slot : NULL;
}

static int grow(struct code_lines *lines)
{
	const size_t cap = lines->cap ? lines->cap * 2 : 1024;

	if (lines->n < lines->cap / 2)
		return 0;
	struct code_lines_slot *slots = calloc(cap, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < lines->cap; i++)
		if (lines->slots[i].used)
			*find_slot(slots, cap, lines->slots[i].key, lines->slots[i].offset) =
				lines->slots[i];
	free(lines->slots);
	lines->slots = slots;
	lines->cap = cap;
	return 0;
}

static struct code_lines_slot *make_slot(struct code_lines *lines, uint32_t key, uint64_t offset)
{
	if (grow(lines) < 0)
		return NULL;
	struct code_lines_slot *slot = find_slot(lines->slots, lines->cap, key, offset);
	if (!slot->used) {
		*slot = (struct code_lines_slot){
			.offset = offset, .key = key, .used = 1, .state = SYMBOLS_UNASKED};
		lines->n++;
	}
	return slot;
}

bool code_lines_given_up(const struct code_lines *lines, uint32_t key)
{
	const struct code_lines_slot *whole = look(lines, key, WHOLE_IMAGE);

	return whole && whole->state != SYMBOLS_UNASKED;
}

int code_lines_add(struct code_lines *lines, uint32_t key, uint64_t offset)
{
	if (offset == WHOLE_IMAGE)
		return 0;
	struct code_lines_slot *slot = make_slot(lines, key, offset);
	if (!slot)
		return -ENOMEM;
	if (slot->state != SYMBOLS_UNASKED)
		return 0;
	slot->state = SYMBOLS_PENDING;
	lines->n_pending++;
	return 1;
}

void code_lines_unask(struct code_lines *lines)
{
	for (size_t i = 0; i < lines->cap; i++)
		if (lines->slots[i].state == SYMBOLS_PENDING)
			lines->slots[i].state = SYMBOLS_UNASKED;
	lines->n_pending = 0;
}

void code_lines_refresh(struct code_lines *lines, uint32_t key)
{
	for (size_t i = 0; i < lines->cap; i++) {
		struct code_lines_slot *slot = &lines->slots[i];
		if (slot->used && slot->key == key &&
			(slot->state == SYMBOLS_NONE || slot->state == SYMBOLS_UNREADABLE))
			slot->state = SYMBOLS_UNASKED;
	}
}

/* Returns the index of a table's string; -ENOMEM; or -E2BIG if the answer's text is too large. */
static int64_t take_text(struct code_lines *lines, const char *text, size_t *room)
{
	const size_t len = strnlen(text, *room);

	if (len == *room)
		return -E2BIG;
	*room -= len + 1;
	return strings_add(&lines->strings, text);
}

/* Appends the frames of an entry.  Returns 0, -ENOMEM or -E2BIG.  In a hostile answer frames and
 * strings may overlap, so that it gets larger than any honest one. */
static int take_frames(struct code_lines *lines, const struct codetab *table,
	const struct codetab_entry *entry, size_t *room)
{
	const size_t needed = lines->n_frames + entry->n_frames;

	if (needed > FRAMES_MAX)
		return -E2BIG;
	if (array_grow(&lines->frames, &lines->frames_cap, needed, sizeof(*lines->frames)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < entry->n_frames; i++) {
		const struct codetab_frame *frame = &table->frames[entry->frames + i];
		const int64_t function = take_text(lines, table->pool + frame->function, room);
		const int64_t file = take_text(lines, table->pool + frame->file, room);
		if (function < 0 || file < 0)
			return (int)(function < 0 ? function : file);
		lines->frames[lines->n_frames + i] = (struct code_lines_frame){
			.function = (uint32_t)function,
			.file = (uint32_t)file,
			.line = frame->line,
			.column = frame->column,
			.inlined = frame->inlined,
		};
	}
	return 0;
}

static enum symbols_state state_of(int error)
{
	return error == 0 || error == ENODATA ? SYMBOLS_NONE : SYMBOLS_UNREADABLE;
}

int code_lines_take(struct code_lines *lines, const struct loader_job *job)
{
	const struct codetab *table = &job->table;
	size_t room = TEXT_BYTES_MAX;
	int ret = 0;

	for (size_t i = 0; i < job->n_offsets; i++) {
		struct code_lines_slot *slot =
			find_slot(lines->slots, lines->cap, job->key, job->offsets[i]);
		if (!slot->used || slot->state != SYMBOLS_PENDING)
			continue;
		const int64_t at = job->error == 0 ? codetab_find(table, job->offsets[i]) : -1;
		lines->n_pending--;
		slot->state = (uint8_t)state_of(job->error);
		if (at < 0 || table->entries[at].n_frames == 0)
			continue;
		const int error = take_frames(lines, table, &table->entries[at], &room);
		if (error == -ENOMEM)
			ret = error;
		if (error < 0)
			continue;
		slot->state = SYMBOLS_READY;
		slot->frames = (uint32_t)lines->n_frames;
		slot->n_frames = table->entries[at].n_frames;
		lines->n_frames += table->entries[at].n_frames;
	}
	/* The error is the image's fault, unless memory or processes ran out: asking again is
	 * useless. */
	if (job->error && job->error != ENOMEM && job->error != ECHILD) {
		struct code_lines_slot *slot = make_slot(lines, job->key, WHOLE_IMAGE);
		if (slot)
			slot->state = (uint8_t)state_of(job->error);
	}
	return ret;
}

size_t code_lines_find(const struct code_lines *lines, uint32_t key, uint64_t offset,
	struct symbols_frame *out, size_t max, enum symbols_state *state)
{
	const struct code_lines_slot *slot = look(lines, key, offset);

	if (!slot || slot->state == SYMBOLS_UNASKED) {
		const struct code_lines_slot *whole = look(lines, key, WHOLE_IMAGE);
		*state = whole ? (enum symbols_state)whole->state : SYMBOLS_UNASKED;
		return 0;
	}
	*state = (enum symbols_state)slot->state;
	for (size_t i = 0; i < slot->n_frames && i < max; i++) {
		const struct code_lines_frame *frame = &lines->frames[slot->frames + i];
		out[i] = (struct symbols_frame){
			.function = lines->strings.texts[frame->function],
			.file = lines->strings.texts[frame->file],
			.line = frame->line,
			.column = frame->column,
			.inlined = frame->inlined,
		};
	}
	return slot->n_frames;
}
