// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * explain_event.c - why a text is no event, and where in it.
 *
 * Pure functions of their arguments; any thread.
 */
#include "tui/clean.h"
#include "tui/explain.h"
#include "tui/explain_text.h"

#include <errno.h>
#include <string.h>

/* What the error is at: to the end of a word. */
struct spot {
	const char *at;
	int len;
};

static struct spot spot_of(const char *text, const struct event_error *error)
{
	size_t all = strlen(text), offset = error->offset < all ? error->offset : all;

	return (struct spot){text + offset, (int)strcspn(text + offset, ",")};
}

static void add_near(struct text *sentence, const struct event_error *error)
{
	if (error->near[0])
		text_add(sentence, "; did you mean '%.*s'?", EVENT_NAME_MAX, error->near);
}

/* Of a term: to its value or the end of terms. */
static int term_len(struct spot spot)
{
	return (int)strcspn(spot.at, "=,/");
}

static void explain_terms(struct text *sentence, const struct event_error *error, struct spot spot)
{
	int len = term_len(spot);

	switch (error->kind) {
	case EVENT_ERROR_TERM:
		text_add(sentence, "there is no term '%.*s' of this event", len, spot.at);
		add_near(sentence, error);
		break;
	case EVENT_ERROR_VALUE:
		text_add(sentence,
			"the value '%.*s' is none that fits there: numbers are decimal or "
			"hexadecimal after 0x, within the term's bits, and call-graph is fp, yes "
			"or no",
			len, spot.at);
		break;
	case EVENT_ERROR_TERM_TWICE:
		text_add(sentence, "the term '%.*s' contradicts another, or stands there twice",
			len, spot.at);
		break;
	case EVENT_ERROR_TERM_NEEDED:
		text_add(sentence, "the event '%.*s' needs the term '%.*s=', which is not given",
			len, spot.at, EVENT_NAME_MAX, error->near);
		break;
	default:
		text_add(sentence,
			"'%.*s' is a term of perf that has no meaning here: the terms of any event "
			"are period, freq, call-graph, max-stack and name",
			len, spot.at);
		break;
	}
}

static void explain_lookup(struct text *sentence, const struct event_error *error)
{
	text_add(sentence, "tracepoints cannot be looked up: ");
	if (error->error)
		text_add(sentence, "%s",
			error->error == ENOENT ? "tracefs is not mounted (mount -t tracefs tracefs "
						 "/sys/kernel/tracing)"
					       : "tracefs may not be read by this user (be root, "
						 "or remount it with a group: mount -o "
						 "remount,gid=GROUP /sys/kernel/tracing)");
	else
		text_add(sentence, "tracefs cannot be read");
}

static void explain_place(struct text *sentence, const struct event_error *error, struct spot spot)
{
	switch (error->kind) {
	case EVENT_ERROR_ADDRESS:
		text_add(sentence,
			"a breakpoint is mem:ADDRESS or mem:SYMBOL[+OFFSET], and '%.*s' is "
			"neither",
			spot.len, spot.at);
		break;
	case EVENT_ERROR_ACCESS:
		text_add(sentence, "a breakpoint waits for r, w, rw or x, not for '%.*s'", spot.len,
			spot.at);
		break;
	case EVENT_ERROR_LENGTH:
		text_add(sentence, "a breakpoint is 1, 2, 4 or 8 bytes long, not '%.*s'",
			(int)strcspn(spot.at, ":,/"), spot.at);
		break;
	case EVENT_ERROR_NO_PROBES:
		text_add(sentence, "this kernel has no %s (%s)",
			*spot.at == 'k' ? "kprobes" : "uprobes",
			*spot.at == 'k' ? "CONFIG_KPROBE_EVENTS" : "CONFIG_UPROBE_EVENTS");
		break;
	default:
		text_add(sentence,
			"a probe is kprobe:FUNCTION[+OFFSET] or uprobe:BINARY:FUNCTION[+OFFSET] "
			"(or :OFFSET), the same with kretprobe and uretprobe; that is not so "
			"at '%.*s'",
			spot.len, spot.at);
		break;
	}
}

static void explain_form(
	struct text *sentence, const char *text, const struct event_error *error, struct spot spot)
{
	switch (error->kind) {
	case EVENT_ERROR_EMPTY:
		text_add(sentence, "an event is missing at character %zu",
			(size_t)(spot.at - text) + 1);
		break;
	case EVENT_ERROR_TOO_LONG:
		text_add(sentence, "an event's name is at most %d bytes long", EVENT_NAME_MAX - 1);
		break;
	case EVENT_ERROR_GROUP:
		text_add(sentence,
			"a group is {EVENT,EVENT...} with both braces, at least one event, and no "
			"group within: see character %zu",
			(size_t)(spot.at - text) + 1);
		break;
	case EVENT_ERROR_LEADER:
		text_add(sentence,
			"only the first event of a group is pinned or exclusive (%.1s), for all of "
			"it: put the letter behind the brace",
			spot.at);
		break;
	case EVENT_ERROR_TOO_MANY:
		text_add(sentence, "more events than can be open at one time");
		break;
	default:
		if (*spot.at)
			text_add(sentence, "'%.*s' is not understood (character %zu)",
				spot.len ? spot.len : 1, spot.at, (size_t)(spot.at - text) + 1);
		else
			text_add(sentence, "the slash that ends the terms is missing");
		break;
	}
}

static void explain_name(struct text *sentence, const struct event_error *error, struct spot spot)
{
	switch (error->kind) {
	case EVENT_ERROR_UNKNOWN:
		text_add(sentence, "there is no event '%.*s'", spot.len, spot.at);
		add_near(sentence, error);
		break;
	case EVENT_ERROR_MODIFIER:
		text_add(sentence,
			"unknown or contradicting modifier at '%.*s': they are u k h G H I p P S D "
			"e W",
			spot.len, spot.at);
		break;
	case EVENT_ERROR_NO_PMU:
		text_add(sentence, "there is no PMU '%.*s' on this machine",
			(int)strcspn(spot.at, "/,"), spot.at);
		add_near(sentence, error);
		break;
	case EVENT_ERROR_NO_MATCH:
		text_add(sentence, "no tracepoint matches '%.*s'", spot.len, spot.at);
		break;
	case EVENT_ERROR_NO_LIBRARY:
		text_add(sentence,
			"names of processors' manuals need libpfm4, which is not installed "
			"(Debian: "
			"libpfm4)");
		break;
	default:
		text_add(sentence, "'%.*s' is not an event of this version", spot.len, spot.at);
		break;
	}
}

void explain_event_error(const char *text, const struct event_error *error, char *out, size_t size)
{
	explain_option_error("-e", text, error, out, size);
}

void explain_option_error(const char *option, const char *text, const struct event_error *error,
	char *out, size_t size)
{
	struct text sentence = {0};
	struct spot spot = spot_of(text, error);

	text_add(&sentence, "%s '%.300s': ", option, text);
	switch (error->kind) {
	case EVENT_ERROR_TERM:
	case EVENT_ERROR_VALUE:
	case EVENT_ERROR_TERM_TWICE:
	case EVENT_ERROR_TERM_NEEDED:
	case EVENT_ERROR_TERM_FOREIGN:
		explain_terms(&sentence, error, spot);
		break;
	case EVENT_ERROR_NO_TRACEFS:
		explain_lookup(&sentence, error);
		break;
	case EVENT_ERROR_ADDRESS:
	case EVENT_ERROR_ACCESS:
	case EVENT_ERROR_LENGTH:
	case EVENT_ERROR_PROBE:
	case EVENT_ERROR_NO_PROBES:
		explain_place(&sentence, error, spot);
		break;
	case EVENT_ERROR_EMPTY:
	case EVENT_ERROR_TOO_LONG:
	case EVENT_ERROR_GROUP:
	case EVENT_ERROR_LEADER:
	case EVENT_ERROR_TOO_MANY:
	case EVENT_ERROR_SYNTAX:
		explain_form(&sentence, text, error, spot);
		break;
	case EVENT_ERROR_NONE:
	case EVENT_ERROR_UNKNOWN:
	case EVENT_ERROR_MODIFIER:
	case EVENT_ERROR_UNSUPPORTED:
	case EVENT_ERROR_NO_PMU:
	case EVENT_ERROR_NO_MATCH:
	case EVENT_ERROR_NO_LIBRARY:
		explain_name(&sentence, error, spot);
		break;
	}
	clean_string(out, size, sentence.bytes);
}

void explain_event_caret(const char *text, const struct event_error *error, char *out, size_t size)
{
	size_t offset = (size_t)(spot_of(text, error).at - text), len;

	out[0] = '\0';
	/* A line that a terminal would fold shows nothing. */
	if (strlen(text) > 72 || size < 2 * strlen(text) + 16)
		return;
	for (size_t i = 0; text[i]; i++)
		if (text[i] < ' ' || text[i] > '~')
			return;
	len = (size_t)snprintf(out, size, "\n    %s\n    ", text);
	memset(out + len, ' ', offset);
	memcpy(out + len + offset, "^", 2);
}
