/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_lines.h - a table of source lines by image and offset.
 *
 * Used in the client's thread.  Frames and strings are kept until the end, each string once.
 */
#ifndef SYMBOLS_CLIENT_CODE_LINES_H
#define SYMBOLS_CLIENT_CODE_LINES_H

#include "symbols/client/code.h"
#include "symbols/loader/loader_code.h"
#include "symbols/wire/strings.h"

struct code_lines_slot;
struct code_lines_frame;

/* Initialize with zeroes. */
struct code_lines {
	struct code_lines_slot *slots; /* open addressing, at most half full */
	size_t n, cap;
	size_t n_pending;
	struct code_lines_frame *frames;
	size_t n_frames, frames_cap;
	struct strings strings;
};

void code_lines_fini(struct code_lines *lines);

/* Returns true if no more can be found out about this image. */
bool code_lines_given_up(const struct code_lines *lines, uint32_t key);

/* Makes an offset pending.  Returns 1; 0 if it is or was pending already; or -ENOMEM. */
int code_lines_add(struct code_lines *lines, uint32_t key, uint64_t offset);

/* Takes an answer or its error.  Returns 0, or -ENOMEM: some lines are left out. */
int code_lines_take(struct code_lines *lines, const struct loader_job *job);

/* Makes the failed offsets of an image unasked. */
void code_lines_refresh(struct code_lines *lines, uint32_t key);

/* Makes all pending offsets unasked. */
void code_lines_unask(struct code_lines *lines);

/* See symbols_lines(). */
size_t code_lines_find(const struct code_lines *lines, uint32_t key, uint64_t offset,
	struct symbols_frame *out, size_t max, enum symbols_state *state);

#endif
