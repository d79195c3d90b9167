// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * event.c - explains why a text is no event, and the position of the error.
 *
 * Pure functions of their arguments; any thread.
 */
#include "sampler/events/parse.h"
#include "tui/base/clean.h"
#include "tui/explain/explain.h"
#include "tui/explain/text.h"

#include <errno.h>
#include <string.h>

#define EXCERPT_BYTES 72 /* most bytes of the text to quote, for one line */
#define SPOT_BYTES 60

/* The word at the error, up to SPOT_BYTES of it. */
struct spot {
	const char *at;
	int len;
};

static int at_most(size_t len, int most)
{
	return len < (size_t)most ? (int)len : most;
}

static struct spot spot_of(const char *text, const struct event_error *error)
{
	size_t all = strlen(text), offset = error->offset < all ? error->offset : all;

	return (struct spot){text + offset, at_most(strcspn(text + offset, ","), SPOT_BYTES)};
}

/* A part of the text around its error that fits one line. */
struct excerpt {
	char text[EXCERPT_BYTES + 1];
	size_t offset; /* offset of the error in text */
};

static void excerpt_of(const char *text, size_t offset, struct excerpt *out)
{
	static const char cut[] = "...";
	const size_t most = EXCERPT_BYTES - 2 * (sizeof(cut) - 1);
	size_t all = strlen(text), begin = 0, end = all;

	if (all > EXCERPT_BYTES) {
		begin = offset > most / 2 ? offset - most / 2 : 0;
		if (begin > all - most)
			begin = all - most;
		end = begin + most;
		/* Do not cut within a character. */
		while (begin < end && ((unsigned char)text[begin] & 0xc0) == 0x80)
			begin++;
		while (end > begin && end < all && ((unsigned char)text[end] & 0xc0) == 0x80)
			end--;
	}
	snprintf(out->text, sizeof(out->text), "%s%.*s%s", begin ? cut : "", (int)(end - begin),
		text + begin, end < all ? cut : "");
	out->offset = (begin ? sizeof(cut) - 1 : 0) + (offset > begin ? offset - begin : 0);
}

static void add_near(struct text *sentence, const struct event_error *error)
{
	if (error->near[0])
		text_add(sentence, "; did you mean '%.*s'?", EVENT_NAME_MAX, error->near);
}

/* Returns the length of a term's name. */
static int term_len(struct spot spot)
{
	return at_most(strcspn(spot.at, "=,/"), SPOT_BYTES);
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
		if (!strncmp(spot.at, "sigtrap", 7)) {
			text_add(sentence,
				"sigtrap sends the sampled thread a signal at each overflow, which "
				"is for programs that monitor themselves: another program would "
				"die of it. Leave it out: samples tell the same");
			break;
		}
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
			at_most(strcspn(spot.at, ":,/"), SPOT_BYTES), spot.at);
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
			at_most(strcspn(spot.at, "/,"), SPOT_BYTES), spot.at);
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
	struct excerpt excerpt;

	excerpt_of(text, (size_t)(spot.at - text), &excerpt);
	text_add(&sentence, "%s '%s': ", option, excerpt.text);
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
	struct excerpt excerpt;
	size_t len;

	excerpt_of(text, (size_t)(spot_of(text, error).at - text), &excerpt);
	out[0] = '\0';
	if (size < 2 * strlen(excerpt.text) + 16)
		return;
	for (size_t i = 0; excerpt.text[i]; i++)
		if (excerpt.text[i] < ' ' || excerpt.text[i] > '~')
			return;
	len = (size_t)snprintf(out, size, "\n    %s\n    ", excerpt.text);
	memset(out + len, ' ', excerpt.offset);
	memcpy(out + len + excerpt.offset, "^", 2);
}

/* --- events together --- */

void explain_clash(struct text *text, const struct event_clash *clash)
{
	switch (clash->kind) {
	case EVENT_CLASH_COUNTED:
		text_add(
			text, "'%s' is sampled, not counted: strobe report shows it", clash->event);
		break;
	case EVENT_CLASH_RECORDED:
		text_add(text,
			"'%s' is made of other events as they are sampled: the screen and strobe "
			"report show it; record cpu-clock,off-cpu,preempted",
			clash->event);
		break;
	case EVENT_CLASH_FLIGHT:
		text_add(text,
			"--flight-recorder and '%s' contradict each other: between switches that "
			"were overwritten nothing is known",
			clash->event);
		break;
	case EVENT_CLASH_FLIGHT_GROUP:
		text_add(text,
			"--flight-recorder and '%s' contradict each other: what a group counted "
			"between two samples is not known where others were overwritten",
			clash->event);
		break;
	case EVENT_CLASH_GROUP:
		text_add(text, "'%s' cannot be in a group, which stands still at times",
			clash->event);
		break;
	case EVENT_CLASH_SWITCHES:
		text_add(text,
			"'%s' and '%s' cannot be told apart where both are open: the kernel gives "
			"their samples one number",
			clash->event, clash->other);
		break;
	case EVENT_CLASH_INHERITED:
		text_add(text,
			"the rate of '%s' cannot change: it is inherited, and processes that run "
			"would keep theirs. Choose the rate with -F or -c",
			clash->event);
		break;
	default:
		text_add(text, "nothing contradicts");
		break;
	}
}

void explain_event_clash(const struct event_clash *clash, char *out, size_t size)
{
	struct text text = {0};

	explain_clash(&text, clash);
	clean_string(out, size, text.bytes);
}
