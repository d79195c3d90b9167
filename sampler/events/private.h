/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.h - the state of the parser of -e; private to event_*.c.
 *
 * Each parsing function starts at parser->at and moves it past the parsed text.  All return 0;
 * -EINVAL with *parser->error filled in; or -ENOMEM.
 */
#ifndef SAMPLER_EVENTS_PRIVATE_H
#define SAMPLER_EVENTS_PRIVATE_H

#include "sampler/events/parse.h"
#include "sampler/events/spec.h"
#include "sampler/machine/pmu.h"

#define EVENT_ITEMS_MAX 4096 /* most events in one text */
#define EVENT_DELIMITERS ",/{}: \t\n"

/* A piece of the parsed text. */
struct event_piece {
	const char *at;
	size_t len;
};

struct event_modifiers {
	bool user, kernel, hv, guest, host, idle;
	bool most, sample, pinned, exclusive, weak;
	unsigned int precise;
	size_t leader_at; /* offset of the first letter that only a leader may have */
};

/* An event before the modifiers of its group are known. */
struct event_item {
	struct event_spec spec; /* name: without modifiers, unless is_named */
	struct event_modifiers modifiers;
	bool is_named; /* named by name= */
	bool no_exclusion; /* the PMU cannot distinguish hosts from guests and refuses exclusions */
};

struct event_parser {
	const struct system_dirs *system;
	const char *text;
	size_t at;
	struct event_error *error;
	struct event_item *items;
	size_t n, room;
	uint16_t groups;
};

typedef int event_parse_fn(struct event_parser *parser);
/* Parses a whole text with `parse`; otherwise like event_parse_list_in(). */
int event_parse_with(event_parse_fn *parse, const struct system_dirs *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error);

int event_fail(struct event_parser *parser, enum event_error_kind kind, size_t offset);
/* Appends an empty item; *out is valid until the next call. */
int event_add(struct event_parser *parser, struct event_item **out);
__attribute__((format(printf, 2, 3))) void event_set_name(
	struct event_spec *spec, const char *format, ...);

/* Appends modifier letters, including the colon if needed, to the name. */
void event_add_letters(struct event_spec *spec, const char *letters);
/* Returns the length in bytes of a probe or breakpoint up to its function, address or length.
 * Slashes and commas in these are no delimiters.  0: neither a probe nor a breakpoint. */
size_t event_place_len(const char *text);

/* Returns the text up to the first of EVENT_DELIMITERS or the end. */
struct event_piece event_word(const char *text);
bool event_piece_is(struct event_piece piece, const char *text);
/* Parses a whole piece as a decimal or, after 0x, hexadecimal number. */
bool event_number(struct event_piece piece, uint64_t *out);
/* Splits the offset after the last plus off the piece: "name+0x10".  False if the offset is invalid
 * or too large. */
bool event_take_offset(struct event_piece *piece, uint64_t *offset);

/* --- families --- */

/* Parses generic, cache and raw events; sets *found if it is one. */
int event_parse_named(struct event_parser *parser, struct event_piece word, bool *found);
/* Parses type and config: "1:5". */
int event_parse_numbers(struct event_parser *parser, struct event_piece word, bool *found);
/* Parses "pmu/terms/". */
int event_parse_pmu(struct event_parser *parser, struct event_piece word);
/* Parses an event by its name in a PMU's events/. */
int event_parse_alias(struct event_parser *parser, struct event_piece word, bool *found);
/* Parses "subsystem:name"; *found false: it does not exist, and parser->error is not set. */
int event_parse_tracepoint(struct event_parser *parser, struct event_piece subsystem,
	struct event_piece name, bool *found);
/* Parse "mem:...", "kprobe:..." and the like; *found false: no such prefix. */
int event_parse_breakpoint(struct event_parser *parser, bool *found);
int event_parse_probe(struct event_parser *parser, bool *found);
/* Parses a name of libpfm4; *found false: it has no such event. */
int event_parse_pfm(struct event_parser *parser, struct event_piece name, bool *found);

/* --- terms --- */

/* Parses terms such as "period=100,call-graph=no/" for all items from `first` on.  The parser is
 * after the first slash.  If pmu is not NULL, its terms are valid too; the caller read it with
 * PMU_FORMATS. */
int event_parse_terms(struct event_parser *parser, size_t first, const struct pmu *pmu);
/* Applies the terms of an event in events/, as if the user had written them. */
int event_expand(struct event_parser *parser, struct event_item *item, const struct pmu *pmu,
	const struct pmu_event *event, size_t offset);

/* --- modifiers --- */

bool event_are_modifiers(struct event_piece text);
/* Parses letters at parser->at, up to a delimiter, into *out, which may already have some. */
int event_parse_modifiers(struct event_parser *parser, struct event_modifiers *out);
void event_apply_modifiers(struct event_item *item);
/* Adds a group's modifiers to those of a member. */
int event_join_modifiers(
	struct event_parser *parser, struct event_item *item, const struct event_modifiers *group);

/* --- suggestions --- */

struct event_near {
	struct event_piece asked;
	unsigned int least; /* only names with a smaller edit distance qualify */
	char best[EVENT_NAME_MAX]; /* empty: none */
};
void event_near_begin(struct event_near *near, struct event_piece asked);
void event_near_try(struct event_near *near, const char *name);
/* Fill in parser->error->near. */
void event_near_event(struct event_parser *parser, struct event_piece asked);
void event_near_tracepoint(struct event_parser *parser, struct event_piece subsystem,
	struct event_piece name, bool *subsystem_known);
void event_near_pmu(struct event_parser *parser, struct event_piece asked);
/* Writes the canonical name of the i-th cache event; false past the end. */
bool event_cache_name(size_t i, char *out, size_t size);

#endif
