/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script_text.h - lines of samples and of frames as `perf script` prints them.
 *
 * Names are those of the thread that calls.
 */
#ifndef TUI_EXPORT_SCRIPT_TEXT_H
#define TUI_EXPORT_SCRIPT_TEXT_H

#include "tui/export/profile.h"

/* Of a sample; what it tells, and its stack, follow on the same line. */
struct script_head {
	const struct task_label *label;
	const struct profile_event *event;
	bool has_chain;
	int cpu; /* -1: not known */
	uint64_t time_ns, period;
};

void script_head(FILE *out, const struct script_head *head);

/* What stacks are printed with. */
struct script_text {
	FILE *out;
	const struct stacks *stacks;
	struct names *names;
	bool inlines; /* what is inlined at a frame comes before it */
	bool (*knows_image)(void *ctx, uint32_t image); /* NULL: each is known */
	void *ctx;
};

/* Writes a frame of a chain.  after: distance from the looked-up address to the return address, 1
 * after a call. */
void script_frame(const struct script_text *text, uint32_t frame, unsigned int after);
/* Writes the frame of a sample without a chain.  perf script prints ip there, its address in the
 * process. */
void script_ip(const struct script_text *text, uint32_t frame, uint64_t ip);
/* Its frames, the leaf first, a line each, and an empty one. */
void script_stack(const struct script_text *text, uint32_t node);

#endif
