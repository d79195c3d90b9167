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

/* A frame, after what is inlined there if that is wanted; its address is that of the sample or the return address. */
void script_frame(FILE *out, struct names *names, uint32_t frame, uint64_t address, bool inlines);

#endif
