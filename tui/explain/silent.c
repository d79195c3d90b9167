// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * silent.c - explains why an event that the kernel accepted never occurs, and the remedy.
 */
#include "sampler/events/silent.h"

#include "sampler/control/note.h"
#include "tui/explain/explain.h"
#include "tui/explain/text.h"

void explain_silent(struct text *text, const struct engine_note *note)
{
	static const char *const whys[] = {
		[SILENT_BREAKPOINTS] =
			"this machine, a virtual one, accepts breakpoints and never reports a hit",
		[SILENT_IN_KERNEL] = "it happens in the kernel alone, which is left out. Leave out "
				     "the modifier u",
		[SILENT_PROBES_OFF] = "probes of the kernel are switched off. Switch them on, as "
				      "root, with: echo 1 > /sys/kernel/debug/kprobes/enabled",
		[SILENT_SCHEDSTATS_OFF] = "the scheduler does not take these times. Switch them on "
					  "with: sudo sysctl kernel.sched_schedstats=1",
	};

	text_add(text, "'%.*s' ", EVENT_NAME_MAX, note->text);
	if (note->value == SILENT_FTRACE_OFF)
		text_add(text,
			"may count nothing: ftrace, which carries probes at the start of "
			"functions, is switched off. Switch it on with: sudo sysctl "
			"kernel.ftrace_enabled=1");
	else
		text_add(text, "counts nothing here: %s", whys[note->value]);
}
