/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h - a sentence under construction; private to explain.
 */
#ifndef TUI_EXPLAIN_TEXT_H
#define TUI_EXPLAIN_TEXT_H

#include "sampler/events/clash.h"
#include "sampler/machine/proc.h"
#include "tui/explain/system.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Enough descriptors for an ordinary profile. */
#define EXPLAIN_NOFILE_ENOUGH 1024

struct engine_note;

struct text {
	char bytes[1024]; /* not yet cleaned */
	size_t len;
};

__attribute__((format(printf, 2, 3))) static inline void text_add(
	struct text *text, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(text->bytes + text->len, sizeof(text->bytes) - text->len, format, list);
	va_end(list);
	if (n > 0)
		text->len += (size_t)n;
	if (text->len >= sizeof(text->bytes))
		text->len = sizeof(text->bytes) - 1;
}

/* Explains why a process cannot be sampled: "process 12: it is a zombie ...". */
void explain_target_error(
	struct text *text, int32_t pid, int error, const struct proc_limits *limits);

/* Explains NOTE_SILENT. */
void explain_silent(struct text *text, const struct engine_note *note);

/* Explains NOTE_MAPS_UNREAD. */
void explain_unread(struct text *text, const struct engine_note *note);

/* Explains errors that any call may return.  threads: sampling fewer threads would help.  Returns
 * false if the error is another one. */
bool explain_scarce(struct text *text, int error, const struct proc_limits *limits, bool threads);

/* Adds a text and RLIMIT_AS if there is such a limit: "out of memory (RLIMIT_AS is ...)". */
void explain_no_memory(struct text *text, const char *what, const struct proc_limits *limits);
/* Like explain_scarce(), but explains any other errno, too. */
void explain_other(struct text *text, int error, const struct proc_limits *limits, bool threads);

/* Adds " (text of the errno)"; nothing if error is 0. */
void explain_add_error(struct text *text, int error);

bool explain_may_all(const struct proc_limits *limits);
void explain_paranoid(struct text *text, const struct proc_limits *limits);
/* Ends a sentence with the remedy to run as root.  setcap: another remedy; NULL if none. */
void explain_be_root(struct text *text, const struct proc_limits *limits, const char *setcap);

/* Returns the probed function of "kprobe:FUNCTION+8", or the path of "uprobe:FILE:FUNCTION"; NULL
 * if event is no probe. */
const char *explain_probe_of(const char *event, char *out, size_t size);

void explain_clash(struct text *text, const struct event_clash *clash);

void explain_open_text(struct text *text, const struct explain_request *request, int error,
	const struct proc_limits *limits, const struct explain_system *system);

#define EXPLAIN_SETCAP                                                         \
	"sudo setcap cap_perfmon,cap_sys_ptrace,cap_syslog=ep \"$(command -v " \
	"strobe)\""

#endif
