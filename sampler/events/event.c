// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * event.c - parses the text of -e into perf_event_attr: lists, groups, and the family of an event.
 *
 * The start of an event's text selects its family; each family has its parser (event_*.c).  Terms
 * and modifiers follow in the same way for all families.
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"

#include "sampler/base/grow.h"
#include "sampler/events/private.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int event_fail(struct event_parser *parser, enum event_error_kind kind, size_t offset)
{
	parser->error->kind = kind;
	parser->error->offset = offset;
	return -EINVAL;
}

int event_add(struct event_parser *parser, struct event_item **out)
{
	if (parser->n == EVENT_ITEMS_MAX)
		return event_fail(parser, EVENT_ERROR_TOO_MANY, parser->at);
	if (grow_items(&parser->items, &parser->room, parser->n + 1, sizeof(**out)))
		return -ENOMEM;
	*out = &parser->items[parser->n++];
	memset(*out, 0, sizeof(**out));
	(*out)->spec.attr.size = sizeof((*out)->spec.attr);
	return 0;
}

void event_set_name(struct event_spec *spec, const char *format, ...)
{
	char *text = NULL;
	va_list list;
	int len;

	va_start(list, format);
	len = vasprintf(&text, format, list);
	va_end(list);
	if (len < 0)
		return;
	event_fit_name(spec->name,
		(size_t)len < sizeof(spec->name) ? sizeof(spec->name) : EVENT_FIT_BYTES, text,
		(size_t)len);
	free(text);
}

struct event_piece event_word(const char *text)
{
	return (struct event_piece){text, strcspn(text, EVENT_DELIMITERS)};
}

bool event_piece_is(struct event_piece piece, const char *text)
{
	return text && strlen(text) == piece.len && !memcmp(piece.at, text, piece.len);
}

bool event_number(struct event_piece piece, uint64_t *out)
{
	unsigned int base = 10;
	uint64_t value = 0;
	size_t i = 0;

	if (piece.len > 2 && piece.at[0] == '0' && (piece.at[1] | 0x20) == 'x') {
		base = 16;
		i = 2;
	}
	if (!piece.len)
		return false;
	for (; i < piece.len; i++) {
		int c = tolower((unsigned char)piece.at[i]);
		unsigned int digit;

		if (!isxdigit(c))
			return false;
		digit = (unsigned int)(isdigit(c) ? c - '0' : c - 'a' + 10);
		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*out = value;
	return true;
}

bool event_take_offset(struct event_piece *piece, uint64_t *offset)
{
	const char *plus = memrchr(piece->at, '+', piece->len);
	struct event_piece number;

	*offset = 0;
	if (!plus || !piece->len || plus + 1 == piece->at + piece->len ||
		!isdigit((unsigned char)plus[1]))
		return true;
	number.at = plus + 1;
	number.len = piece->len - (size_t)(plus + 1 - piece->at);
	if (!event_number(number, offset))
		return false;
	piece->len = (size_t)(plus - piece->at);
	return true;
}

static void skip_blanks(struct event_parser *parser)
{
	while (isspace((unsigned char)parser->text[parser->at]))
		parser->at++;
}

/* Reports an unknown name: why it is not a tracepoint, or the nearest known name. */
static int refuse_unknown(
	struct event_parser *parser, struct event_piece word, struct event_piece rest)
{
	bool pattern = memchr(word.at, '*', word.len) || memchr(word.at, '?', word.len) ||
		memchr(word.at, '[', word.len);
	bool known = false;

	/* A misspelt generic event with modifiers looks like a tracepoint. */
	if (!word.len || !rest.len || event_are_modifiers(rest)) {
		if (word.len)
			event_near_event(parser, word);
		return event_fail(parser, EVENT_ERROR_UNKNOWN, parser->at);
	}
	if (!parser->system->tracefs) {
		parser->error->error = ENOENT;
		return event_fail(parser, EVENT_ERROR_NO_TRACEFS, parser->at);
	}
	if (pattern || memchr(rest.at, '*', rest.len) || memchr(rest.at, '?', rest.len) ||
		memchr(rest.at, '[', rest.len))
		return event_fail(parser, EVENT_ERROR_NO_MATCH, parser->at);
	event_near_tracepoint(parser, word, rest, &known);
	return event_fail(parser, EVENT_ERROR_UNKNOWN, parser->at + (known ? word.len + 1 : 0));
}

/* Parses the events of one name, without terms and modifiers. */
static int parse_head(struct event_parser *parser)
{
	const char *text = parser->text + parser->at;
	struct event_piece word = event_word(text), rest = {text + word.len, 0};
	bool found = false;
	int err;

	err = event_parse_breakpoint(parser, &found);
	if (!found && !err)
		err = event_parse_probe(parser, &found);
	if (found || err)
		return err;
	if (word.len >= EVENT_NAME_MAX)
		return event_fail(parser, EVENT_ERROR_TOO_LONG, parser->at);
	err = event_parse_named(parser, word, &found);
	if (!found && !err)
		err = event_parse_numbers(parser, word, &found);
	if (found || err)
		return err;
	if (text[word.len] == '/')
		return event_parse_pmu(parser, word);
	if (word.len && text[word.len] == ':') {
		rest = event_word(text + word.len + 1);
		if (rest.len)
			err = event_parse_tracepoint(parser, word, rest, &found);
		if (found || err)
			return err;
	}
	if (word.len)
		err = event_parse_alias(parser, word, &found);
	if (word.len && !found && !err)
		err = event_parse_pfm(
			parser, (struct event_piece){text, strcspn(text, ",/{} \t\n")}, &found);
	return found || err ? err : refuse_unknown(parser, word, rest);
}

static int parse_item(struct event_parser *parser)
{
	size_t first = parser->n;
	struct event_modifiers modifiers = {0};
	char next;
	int err;

	if (!parser->text[parser->at] || strchr(",}", parser->text[parser->at]))
		return event_fail(parser, EVENT_ERROR_EMPTY, parser->at);
	err = parse_head(parser);
	if (err)
		return err;
	/* The parser of a PMU's terms has already consumed the slash. */
	if (parser->text[parser->at] == '/' && parser->text[parser->at - 1] != '/') {
		parser->at++;
		err = event_parse_terms(parser, first, NULL);
		if (err)
			return err;
	}
	next = parser->text[parser->at];
	if (next == ':')
		parser->at++;
	if (next == ':' || (parser->text[parser->at - 1] == '/' && !strchr(",} \t\n", next)))
		err = event_parse_modifiers(parser, &modifiers);
	for (size_t i = first; i < parser->n; i++)
		parser->items[i].modifiers = modifiers;
	return err;
}

/* Reports text that is not the end of an item. */
static int refuse_rest(struct event_parser *parser)
{
	char next = parser->text[parser->at];

	return event_fail(parser,
		next == '{' || next == '}' ? EVENT_ERROR_GROUP : EVENT_ERROR_SYNTAX, parser->at);
}

/* Parses a group such as "{a,b}:u"; the parser is at its brace. */
static int parse_group(struct event_parser *parser)
{
	size_t first = parser->n, brace = parser->at++;
	struct event_modifiers modifiers = {0}, member;
	int err;

	for (;;) {
		skip_blanks(parser);
		if (parser->text[parser->at] == '{')
			return event_fail(parser, EVENT_ERROR_GROUP, parser->at);
		if (!parser->text[parser->at] ||
			(parser->text[parser->at] == '}' && parser->n == first))
			return event_fail(parser, EVENT_ERROR_GROUP, brace);
		err = parse_item(parser);
		if (err)
			return err;
		skip_blanks(parser);
		if (parser->text[parser->at] == '}')
			break;
		if (!parser->text[parser->at])
			return event_fail(parser, EVENT_ERROR_GROUP, brace);
		if (parser->text[parser->at] != ',')
			return refuse_rest(parser);
		parser->at++;
	}
	if (parser->n - first > UINT16_MAX || parser->groups == UINT16_MAX)
		return event_fail(parser, EVENT_ERROR_TOO_MANY, brace);
	parser->groups++;
	parser->at++;
	if (parser->text[parser->at] == ':') {
		parser->at++;
		err = event_parse_modifiers(parser, &modifiers);
		if (err)
			return err;
	}
	/* Only a group's leader is pinned or exclusive, for the whole group. */
	member = modifiers;
	member.pinned = member.exclusive = false;
	for (size_t i = first; i < parser->n; i++) {
		struct event_item *item = &parser->items[i];

		if (i > first && item->modifiers.leader_at)
			return event_fail(parser, EVENT_ERROR_LEADER, item->modifiers.leader_at);
		err = event_join_modifiers(parser, item, i > first ? &member : &modifiers);
		if (err)
			return err;
		item->spec.group = parser->groups;
	}
	return 0;
}

static int parse_all(struct event_parser *parser)
{
	for (;;) {
		int err;

		skip_blanks(parser);
		err = parser->text[parser->at] == '{' ? parse_group(parser) : parse_item(parser);
		if (err)
			return err;
		skip_blanks(parser);
		if (!parser->text[parser->at])
			return 0;
		if (parser->text[parser->at] != ',')
			return refuse_rest(parser);
		parser->at++;
	}
}

int event_parse_with(event_parse_fn *parse, const struct system_dirs *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error)
{
	struct event_parser parser = {.system = system, .text = text, .error = error};
	int err;

	*specs = NULL;
	*n = 0;
	memset(error, 0, sizeof(*error));
	err = parse(&parser);
	if (!err) {
		*specs = calloc(parser.n, sizeof(**specs));
		if (!*specs)
			err = -ENOMEM;
	}
	for (size_t i = 0; !err && i < parser.n; i++) {
		event_apply_modifiers(&parser.items[i]);
		(*specs)[i] = parser.items[i].spec;
	}
	if (!err)
		*n = parser.n;
	free(parser.items);
	return err;
}

int event_parse_list_in(const struct system_dirs *system, const char *text,
	struct event_spec **specs, size_t *n, struct event_error *error)
{
	return event_parse_with(parse_all, system, text, specs, n, error);
}

int event_parse_list(
	const char *text, struct event_spec **specs, size_t *n, struct event_error *error)
{
	return event_parse_list_in(system_dirs(), text, specs, n, error);
}

void event_default(struct event_spec *out)
{
	memset(out, 0, sizeof(*out));
	event_set_name(out, "cycles");
	out->attr.size = sizeof(out->attr);
	out->attr.type = PERF_TYPE_HARDWARE;
	out->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	out->attr.exclude_guest = 1;
	out->by_default = true;
}

bool event_is_probe(const struct event_spec *spec)
{
	return spec->pmu && (!strcmp(spec->pmu, "kprobe") || !strcmp(spec->pmu, "uprobe"));
}

bool event_is_return_probe(const struct event_spec *spec)
{
	/* retprobe is config:0 of both PMUs in all kernels. */
	return event_is_probe(spec) && (spec->attr.config & 1);
}

void event_set_freq(struct event_spec *spec, uint64_t hz)
{
	if (spec->has_rate)
		return;
	if (spec->attr.type == PERF_TYPE_TRACEPOINT || spec->attr.type == PERF_TYPE_BREAKPOINT ||
		event_is_probe(spec)) {
		event_set_period(spec, 1);
		return;
	}
	spec->attr.freq = 1;
	spec->attr.sample_freq = hz;
}

void event_set_period(struct event_spec *spec, uint64_t period)
{
	if (spec->has_rate)
		return;
	spec->attr.freq = 0;
	spec->attr.sample_period = period;
}

/* Returns the type of the event's PMU; hybrid machines have it in the upper half of config. */
static uint64_t pmu_of(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return attr->config >> 32 ? attr->config >> 32 : PERF_TYPE_RAW;
	default:
		return attr->type;
	}
}

static bool goes_with_any(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
		attr->type == PERF_TYPE_BREAKPOINT;
}

bool event_may_share_group(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return goes_with_any(a) || goes_with_any(b) || pmu_of(a) == pmu_of(b);
}

/* Kernel addresses have their highest bit set on all 64-bit machines. */
bool event_is_in_kernel(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_BREAKPOINT && attr->bp_addr >> 63;
}

bool event_is_kernels_own(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_TRACEPOINT || event_is_in_kernel(attr))
		return true;
	return attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
			attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
			attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

bool event_fires_in_user(const struct event_spec *spec)
{
	return !event_is_kernels_own(&spec->attr) || spec->trace == TRACEFS_SYSCALL ||
		spec->trace == TRACEFS_UPROBE;
}
