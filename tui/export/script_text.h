/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script_text.h - lines of samples and frames as `perf script` prints them.
 *
 * Any thread that may use the given names.
 */
#ifndef TUI_EXPORT_SCRIPT_TEXT_H
#define TUI_EXPORT_SCRIPT_TEXT_H

#include "tui/export/profile.h"

/* Start of a sample's line.  The sample's fields and stack follow on the same line. */
struct script_head {
	const struct task_label *label;
	const struct profile_event *event;
	bool has_chain;
	int cpu; /* -1 if unknown */
	uint64_t time_ns, period;
};

void script_head(FILE *out, const struct script_head *head);

/* Context for printing stacks. */
struct script_text {
	FILE *out;
	const struct stacks *stacks;
	struct names *names;
	bool inlines; /* print inlined functions before their frame */
	/* whether an image's names may be used; NULL: always */
	bool (*knows_image)(void *ctx, uint32_t image);
	void *ctx;
};

/* Writes a frame of a chain.  after: distance from the looked-up address to the return address, 1
 * after a call. */
void script_frame(const struct script_text *text, uint32_t frame, unsigned int after);
/* Writes the frame of a sample without a chain.  ip: the address in the process, which perf script
 * prints. */
void script_ip(const struct script_text *text, uint32_t frame, uint64_t ip);
/* Writes the frames of a stack, the leaf first, a line each, and an empty line. */
void script_stack(const struct script_text *text, uint32_t node);

#endif
