/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_private.h - the parser of -e while it works; private to event_*.c.
 *
 * Each function that parses starts at parser->at and leaves it behind what it took.  All return 0, -EINVAL with
 * *parser->error filled, or -ENOMEM.
 */
#ifndef SAMPLER_EVENT_PRIVATE_H
#define SAMPLER_EVENT_PRIVATE_H

#include "sampler/event.h"
#include "sampler/pmu.h"

#define EVENT_ITEMS_MAX 4096 /* of one text */
#define EVENT_DELIMITERS ",/{}: \t\n"

/* A piece of the text that is parsed. */
struct event_piece {
	const char *at;
	size_t len;
};

struct event_modifiers {
	bool user, kernel, hv, guest, host, idle;
	bool most, sample, pinned, exclusive, weak;
	unsigned int precise;
	size_t leader_at; /* of the first letter that only a leader may have */
};

/* An event before the modifiers of its group are known. */
struct event_item {
	struct event_spec spec; /* name: without modifiers, unless is_named */
	struct event_modifiers modifiers;
	bool is_named; /* by name= */
	bool no_exclusion; /* of a PMU that cannot tell hosts from guests, and refuses to be asked */
};

struct event_parser {
	const struct event_system *system;
	const char *text;
	size_t at;
	struct event_error *error;
	struct event_item *items;
	size_t n, room;
	uint16_t groups;
};

typedef int event_parse_fn(struct event_parser *parser);
/* Parse a whole text with fn: event_parse_list_in(). */
int event_parse_with(event_parse_fn *parse, const struct event_system *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error);

int event_fail(struct event_parser *parser, enum event_error_kind kind, size_t offset);
/* An empty item at the end of all; *out is good until the next one. */
int event_add(struct event_parser *parser, struct event_item **out);
__attribute__((format(printf, 2, 3))) void event_set_name(
	struct event_spec *spec, const char *format, ...);

/* Letters of modifiers, with what is before them, at the end of the name. */
void event_add_letters(struct event_spec *spec, const char *letters);
/* Bytes of a probe or breakpoint up to its function, address or length: slashes and commas in
 * these are no delimiters; 0: it is none. */
size_t event_place_len(const char *text);

/* To the first of EVENT_DELIMITERS, or the end. */
struct event_piece event_word(const char *text);
bool event_piece_is(struct event_piece piece, const char *text);
/* A decimal or, after 0x, hexadecimal number, whole. */
bool event_number(struct event_piece piece, uint64_t *out);
/* "name+0x10": the offset behind the last plus; false where it is no number or too large. */
bool event_take_offset(struct event_piece *piece, uint64_t *offset);

/* --- families --- */

/* Generic, cache and raw events. *found: whether it is one. */
int event_parse_named(struct event_parser *parser, struct event_piece word, bool *found);
/* "1:5": type and config. */
int event_parse_numbers(struct event_parser *parser, struct event_piece word, bool *found);
/* "pmu/terms/". */
int event_parse_pmu(struct event_parser *parser, struct event_piece word);
/* An event of that name in events/ of PMUs. */
int event_parse_alias(struct event_parser *parser, struct event_piece word, bool *found);
/* "subsystem:name"; *found false: there is none, and parser->error is not filled. */
int event_parse_tracepoint(struct event_parser *parser, struct event_piece subsystem,
	struct event_piece name, bool *found);
/* "mem:...", "kprobe:..." and so on; *found false: the text begins with none of them. */
int event_parse_breakpoint(struct event_parser *parser, bool *found);
int event_parse_probe(struct event_parser *parser, bool *found);
/* A name of libpfm4; *found false: it has none such. */
int event_parse_pfm(struct event_parser *parser, struct event_piece name, bool *found);

/* --- terms --- */

/* "period=100,call-graph=no/" with the parser behind the first slash, for all items from `first` on; terms of the PMU
 * besides where pmu is not NULL, which the caller has read with PMU_FORMATS. */
int event_parse_terms(struct event_parser *parser, size_t first, const struct pmu *pmu);
/* The terms of an event in events/, as if they were written. */
int event_expand(struct event_parser *parser, struct event_item *item, const struct pmu *pmu,
	const struct pmu_event *event, size_t offset);

/* --- modifiers --- */

bool event_are_modifiers(struct event_piece text);
/* Letters at parser->at, to a delimiter: into *out, which may hold some already. */
int event_parse_modifiers(struct event_parser *parser, struct event_modifiers *out);
void event_apply_modifiers(struct event_item *item);
/* Those of a group join those of a member. */
int event_join_modifiers(
	struct event_parser *parser, struct event_item *item, const struct event_modifiers *group);

/* --- suggestions --- */

struct event_near {
	struct event_piece asked;
	unsigned int least; /* only names that differ in fewer letters */
	char best[EVENT_NAME_MAX]; /* empty: none */
};
void event_near_begin(struct event_near *near, struct event_piece asked);
void event_near_try(struct event_near *near, const char *name);
/* Into parser->error->near. */
void event_near_event(struct event_parser *parser, struct event_piece asked);
void event_near_tracepoint(struct event_parser *parser, struct event_piece subsystem,
	struct event_piece name, bool *subsystem_known);
void event_near_pmu(struct event_parser *parser, struct event_piece asked);
/* Cache events' canonical names, one after the other: false at the end. */
bool event_cache_name(size_t i, char *out, size_t size);

#endif
