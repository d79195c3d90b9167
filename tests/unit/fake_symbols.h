/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_symbols.h - symbols/ without files and processes.
 *
 * A test program defines the library's functions here, and sets the answer of each image.
 * Included once in a program.
 */
#ifndef TESTS_FAKE_SYMBOLS_H
#define TESTS_FAKE_SYMBOLS_H

#include "symbols/client/code.h"
#include "symbols/client/data.h"
#include "symbols/client/moved.h"

#include <errno.h>
#include <string.h>

#define FAKE_IMAGES 16

struct fake_image {
	enum symbols_state state;
	enum symbols_mark mark;
	const struct symbol *symbols; /* sorted */
	size_t n_symbols;
	unsigned int requests;
	const char *jit_file;
	enum symbols_state data_state;
	const struct symbol *data; /* data symbols */
	size_t n_data;
	uint32_t version; /* grows with each table after the first */
	struct symbols_source source;
	const struct symbols_segment *segments;
	size_t n_segments;
	enum symbols_moved moved; /* answer of symbols_moved() */
	uint64_t bias;
	struct symbols_source moved_file; /* file of the question */
	struct symbols_piece piece;
};

/* Frames of one offset in the debug information; the last frame is the function itself. */
struct fake_lines {
	uint32_t key;
	uint64_t offset;
	const struct symbols_frame *frames;
	size_t n_frames;
};

struct symbols {
	struct fake_image images[FAKE_IMAGES];
	unsigned int changed; /* next result of symbols_collect() */
	const struct fake_lines *lines;
	size_t n_lines;
	bool lines_known; /* false: lines are only requested */
	unsigned int lines_asked;
	bool pretty; /* names have been demangled */
	unsigned int pretty_asked;
};

int symbols_new(struct symbols **out, const struct symbols_config *config)
{
	(void)config;
	*out = NULL;
	return -ENOSYS;
}

bool symbols_segment(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbols_segment *out)
{
	for (size_t i = 0; key < FAKE_IMAGES && i < symbols->images[key].n_segments; i++) {
		*out = symbols->images[key].segments[i];
		if (offset >= out->offset && offset - out->offset < out->len)
			return true;
	}
	return false;
}

bool symbols_change(
	const struct symbols *symbols, uint32_t key, uint32_t i, struct symbols_change *out)
{
	(void)symbols, (void)key, (void)i, (void)out;
	return false;
}

void symbols_free(struct symbols *symbols)
{
	(void)symbols;
}

int symbols_request(struct symbols *symbols, uint32_t key, const struct symbols_source *source)
{
	symbols->images[key].requests++;
	symbols->images[key].source = *source;
	return 0;
}

enum symbols_state symbols_state(const struct symbols *symbols, uint32_t key)
{
	return symbols->images[key].state;
}

bool symbols_find(const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out)
{
	const struct fake_image *image = &symbols->images[key];

	for (size_t i = 0; i < image->n_symbols; i++) {
		if (offset - image->symbols[i].start >= image->symbols[i].size)
			continue;
		*out = image->symbols[i];
		return true;
	}
	return false;
}

const char *symbols_jit_file(const struct symbols *symbols, uint32_t key)
{
	return symbols->images[key].jit_file;
}

uint32_t symbols_version(const struct symbols *symbols, uint32_t key)
{
	return symbols->images[key].state == SYMBOLS_UNASKED ||
			symbols->images[key].state == SYMBOLS_PENDING
		? 0
		: symbols->images[key].version + 1;
}

enum symbols_mark symbols_mark(const struct symbols *symbols, uint32_t key)
{
	return symbols->images[key].mark;
}

uint32_t symbols_twin(const struct symbols *symbols, uint32_t key)
{
	(void)symbols;
	return key;
}

const char *symbols_pretty(struct symbols *symbols, const char *name)
{
	symbols->pretty_asked++;
	return symbols->pretty && !strcmp(name, "_Z4workv") ? "work()" : name;
}

static struct symbols_rights fake_rights = {.kind = SYMBOLS_RIGHTS_OWN, .here = true};

struct symbols_rights symbols_source_rights(const struct symbols *symbols, uint32_t key)
{
	(void)symbols;
	(void)key;
	return fake_rights;
}

int symbols_lines_ask(struct symbols *symbols, uint32_t key, const uint64_t *offsets, size_t n)
{
	(void)key;
	(void)offsets;
	symbols->lines_asked += (unsigned int)n;
	return 0;
}

size_t symbols_lines(const struct symbols *symbols, uint32_t key, uint64_t offset,
	struct symbols_frame *out, size_t max, enum symbols_state *state)
{
	*state = symbols->lines_known ? SYMBOLS_NONE : SYMBOLS_UNASKED;
	for (size_t i = 0; symbols->lines_known && i < symbols->n_lines; i++) {
		const struct fake_lines *lines = &symbols->lines[i];

		if (lines->key != key || lines->offset != offset)
			continue;
		*state = SYMBOLS_READY;
		for (size_t j = 0; j < lines->n_frames && j < max; j++)
			out[j] = lines->frames[j];
		return lines->n_frames;
	}
	return 0;
}

int symbols_data_request(struct symbols *symbols, uint32_t key)
{
	symbols->images[key].data_state = SYMBOLS_PENDING;
	return 0;
}

enum symbols_state symbols_data_state(const struct symbols *symbols, uint32_t key)
{
	return symbols->images[key].data_state;
}

bool symbols_data_find(
	const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out)
{
	const struct fake_image *image = &symbols->images[key];

	for (size_t i = 0; image->data_state == SYMBOLS_READY && i < image->n_data; i++) {
		if (offset - image->data[i].start >= image->data[i].size)
			continue;
		*out = image->data[i];
		return true;
	}
	return false;
}

int symbols_moved_ask(struct symbols *symbols, uint32_t key, const struct symbols_source *file,
	const struct symbols_piece *piece)
{
	symbols->images[key].moved = SYMBOLS_MOVED_PENDING;
	symbols->images[key].moved_file = *file;
	symbols->images[key].piece = *piece;
	return 0;
}

enum symbols_moved symbols_moved(const struct symbols *symbols, uint32_t key, uint64_t *bias)
{
	*bias = symbols->images[key].bias;
	return symbols->images[key].moved;
}

int symbols_fd(const struct symbols *symbols)
{
	(void)symbols;
	return -1;
}

unsigned int symbols_collect(struct symbols *symbols)
{
	unsigned int changed = symbols->changed;

	symbols->changed = 0;
	return changed;
}

int symbols_wait(struct symbols *symbols, unsigned int timeout_ms)
{
	(void)timeout_ms;
	symbols->changed = 0;
	return 0;
}

void symbols_lack_memory(struct symbols *symbols)
{
	(void)symbols;
}

bool symbols_take_note(struct symbols *symbols, struct symbols_note *out)
{
	(void)symbols;
	(void)out;
	return false;
}

void symbols_status(const struct symbols *symbols, struct symbols_status *out)
{
	(void)symbols;
	memset(out, 0, sizeof(*out));
}

#endif
