// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * terms.c - terms between slashes.
 *
 * Some terms apply to any event; others come from a PMU's formats and events.
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/events/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MAX 64
#define FREQ_MAX 10000000u

struct term {
	struct event_piece name, value; /* value.at NULL: no value */
	size_t at, value_at; /* offsets in the text */
};

struct terms {
	struct term list[TERMS_MAX];
	size_t n;
};

/* Splits terms up to the end of the text or a slash, which is not consumed. */
static int split(struct event_parser *parser, const char *text, size_t offset, struct terms *out)
{
	size_t at = 0;

	out->n = 0;
	if (!text[0] || text[0] == '/')
		return 0;
	for (;;) {
		struct term *term = &out->list[out->n];
		size_t len = strcspn(text + at, ",/="), skip = strspn(text + at, " ");

		if (skip > len)
			skip = len;
		*term = (struct term){
			.name = {text + at + skip, len - skip}, .at = offset + at + skip};
		at += len;
		while (term->name.len && term->name.at[term->name.len - 1] == ' ')
			term->name.len--;
		if (text[at] == '=') {
			at++;
			term->value = (struct event_piece){text + at, strcspn(text + at, ",/")};
			term->value_at = offset + at;
			at += term->value.len;
		}
		if (!term->name.len)
			return event_fail(parser, EVENT_ERROR_SYNTAX, term->at);
		for (size_t i = 0; i < out->n; i++)
			if (out->list[i].name.len == term->name.len &&
				!memcmp(out->list[i].name.at, term->name.at, term->name.len))
				return event_fail(parser, EVENT_ERROR_TERM_TWICE, term->at);
		out->n++;
		if (text[at] != ',')
			return 0;
		if (out->n == TERMS_MAX)
			return event_fail(parser, EVENT_ERROR_TOO_LONG, offset + at);
		at++;
	}
}

static const struct term *find_term(const struct terms *terms, struct event_piece name)
{
	for (size_t i = 0; i < terms->n; i++)
		if (terms->list[i].name.len == name.len &&
			!memcmp(terms->list[i].name.at, name.at, name.len))
			return &terms->list[i];
	return NULL;
}

/* --- terms of any event --- */

static const char *const common[] = {"name", "period", "freq", "call-graph", "max-stack"};

/* Terms of perf for its own recording, or for modes of sampling that strobe sets for all events. */
static const char *const foreign[] = {"time", "percore", "branch_type", "stack-size", "inherit",
	"no-inherit", "nr", "overwrite", "no-overwrite", "driver-config", "aux-output",
	"aux-sample-size", "aux-action", "metric-id", "sigtrap"};

static bool is_one_of(struct event_piece name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (event_piece_is(name, list[i]))
			return true;
	return false;
}

static int apply_chain(
	struct event_parser *parser, struct event_spec *spec, const struct term *term)
{
	if (event_piece_is(term->value, "no"))
		spec->chain = EVENT_CHAIN_OFF;
	else if (event_piece_is(term->value, "fp") || event_piece_is(term->value, "yes"))
		spec->chain = EVENT_CHAIN_ON;
	else
		return event_fail(parser, EVENT_ERROR_VALUE, term->value_at);
	return 0;
}

static int apply_common(struct event_parser *parser, struct event_item *item,
	const struct terms *terms, const struct term *term)
{
	struct event_spec *spec = &item->spec;
	uint64_t value = 0;
	bool is_number = term->value.at && event_number(term->value, &value);

	if (!term->value.at || !term->value.len)
		return event_fail(parser, EVENT_ERROR_VALUE, term->at);
	if (event_piece_is(term->name, "call-graph"))
		return apply_chain(parser, spec, term);
	if (event_piece_is(term->name, "name")) {
		if (term->value.len >= EVENT_NAME_MAX)
			return event_fail(parser, EVENT_ERROR_TOO_LONG, term->value_at);
		event_set_name(spec, "%.*s", (int)term->value.len, term->value.at);
		item->is_named = true;
		return 0;
	}
	if (!is_number || !value)
		return event_fail(parser, EVENT_ERROR_VALUE, term->value_at);
	if (event_piece_is(term->name, "max-stack")) {
		if (value > UINT16_MAX)
			return event_fail(parser, EVENT_ERROR_VALUE, term->value_at);
		spec->attr.sample_max_stack = (uint16_t)value;
		return 0;
	}
	if (spec->span)
		return event_fail(parser, EVENT_ERROR_TERM_FOREIGN, term->at);
	if (event_piece_is(term->name, "freq")) {
		if (find_term(terms, (struct event_piece){"period", 6}))
			return event_fail(parser, EVENT_ERROR_TERM_TWICE, term->at);
		if (value > FREQ_MAX)
			return event_fail(parser, EVENT_ERROR_VALUE, term->value_at);
		spec->attr.freq = 1;
		spec->attr.sample_freq = value;
	} else {
		if (value > INT64_MAX)
			return event_fail(parser, EVENT_ERROR_VALUE, term->value_at);
		spec->attr.sample_period = value;
	}
	spec->has_rate = true;
	return 0;
}

/* --- terms of a PMU --- */

static uint64_t *word_of(struct event_spec *spec, unsigned int word)
{
	switch (word) {
	case 0:
		return (uint64_t *)&spec->attr.config;
	case 1:
		return (uint64_t *)&spec->attr.config1;
	case 2:
		return (uint64_t *)&spec->attr.config2;
	default:
		return &spec->config3;
	}
}

static int place(struct event_parser *parser, struct event_item *item,
	const struct pmu_format *format, const struct term *term)
{
	uint64_t *target = word_of(&item->spec, format->word), word, value = 1;

	if (term->value.at && !event_number(term->value, &value))
		return event_fail(parser, EVENT_ERROR_VALUE, term->value_at);
	/* The attr uses the kernel's __u64, which may differ from uint64_t. */
	memcpy(&word, target, sizeof(word));
	if (!pmu_place(format->mask, value, &word))
		return event_fail(
			parser, EVENT_ERROR_VALUE, term->value.at ? term->value_at : term->at);
	memcpy(target, &word, sizeof(word));
	return 0;
}

/* Applies a whole word ("config", "config1", ...) or r1a8, which sets config. */
static bool literal(
	struct event_parser *parser, struct event_item *item, const struct term *term, int *err)
{
	static const char *const words[] = {"config", "config1", "config2", "config3"};
	struct pmu_format whole = {.mask = UINT64_MAX};
	uint64_t value = 0;

	for (unsigned int i = 0; i < 4; i++) {
		if (!event_piece_is(term->name, words[i]))
			continue;
		whole.word = i;
		*err = term->value.at ? place(parser, item, &whole, term)
				      : event_fail(parser, EVENT_ERROR_VALUE, term->at);
		return true;
	}
	if (term->value.at || term->name.len < 2 || term->name.len > 17 || term->name.at[0] != 'r')
		return false;
	for (size_t i = 1; i < term->name.len; i++) {
		const char digits[] = "0123456789abcdef";
		const char *digit = strchr(digits, term->name.at[i] | 0x20);

		if (!digit || !*digit)
			return false;
		value = value << 4 | (uint64_t)(digit - digits);
	}
	item->spec.attr.config = value;
	*err = 0;
	return true;
}

/* Applies the terms of a named event, except those that the user gives. */
static int expand(struct event_parser *parser, struct event_item *item, const struct pmu *pmu,
	const struct pmu_event *event, size_t offset, const struct terms *given)
{
	struct terms terms;
	struct event_spec *spec = &item->spec;
	int err = split(parser, event->terms, 0, &terms);

	for (size_t i = 0; !err && i < terms.n; i++) {
		const struct term *term = &terms.list[i];
		const struct pmu_format *format =
			pmu_find_format(pmu, term->name.at, term->name.len);

		if (given && find_term(given, term->name))
			continue;
		if (term->value.at && memchr(term->value.at, '?', term->value.len)) {
			if (term->name.len < EVENT_NAME_MAX)
				memcpy(parser->error->near, term->name.at, term->name.len);
			return event_fail(parser, EVENT_ERROR_TERM_NEEDED, offset);
		}
		if (format)
			err = place(parser, item, format, term);
		else if (!literal(parser, item, term, &err))
			err = event_fail(parser, EVENT_ERROR_TERM, offset);
	}
	if (err) {
		/* Offsets here refer to the kernel's text; report the event's offset in the user's
		 * text. */
		parser->error->offset = offset;
		return err;
	}
	spec->scale = event->scale > 1 || event->scale < 1 ? event->scale : 0;
	spec->unit = event->unit ? event_text(event->unit, strlen(event->unit)) : NULL;
	return event->unit && !spec->unit ? -ENOMEM : 0;
}

int event_expand(struct event_parser *parser, struct event_item *item, const struct pmu *pmu,
	const struct pmu_event *event, size_t offset)
{
	return expand(parser, item, pmu, event, offset, NULL);
}

/* Applies a term that is not one of any event. */
static int apply_pmu(struct event_parser *parser, struct event_item *item, const struct pmu *pmu,
	const struct terms *terms, const struct term *term)
{
	const struct pmu_format *format = pmu_find_format(pmu, term->name.at, term->name.len);
	struct pmu_event event;
	char name[EVENT_NAME_MAX];
	int err = -ENOENT;

	/* The prefix of the event determines retprobe. */
	if (format && event_is_probe(&item->spec) && !strcmp(format->name, "retprobe"))
		return event_fail(parser, EVENT_ERROR_TERM, term->at);
	if (!term->value.at && term->name.len < sizeof(name)) {
		memcpy(name, term->name.at, term->name.len);
		name[term->name.len] = '\0';
		err = pmu_event_read(&event, parser->system, pmu->name, name);
	}
	if (!err) {
		err = expand(parser, item, pmu, &event, term->at, terms);
		pmu_event_fini(&event);
		return err;
	}
	if (err == -ENOMEM)
		return err;
	if (format)
		return place(parser, item, format, term);
	if (!event_is_probe(&item->spec) && literal(parser, item, term, &err))
		return err;
	return -ENOENT;
}

static void suggest(struct event_parser *parser, const struct pmu *pmu, const struct term *term)
{
	struct event_near near;
	struct sysfile_names events;

	event_near_begin(&near, term->name);
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		event_near_try(&near, common[i]);
	for (size_t i = 0; pmu && i < pmu->n_formats; i++)
		event_near_try(&near, pmu->formats[i].name);
	if (pmu &&
		!sysfile_names(&events, "%s/bus/event_source/devices/%s/events",
			parser->system->sysfs, pmu->name)) {
		for (size_t i = 0; i < events.n; i++)
			event_near_try(&near, events.names[i]);
		sysfile_names_fini(&events);
	}
	strcpy(parser->error->near, near.best);
}

static int apply(struct event_parser *parser, struct event_item *item, const struct pmu *pmu,
	const struct terms *terms)
{
	/* Named events and whole words come first; single bit fields are then set on top. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < terms->n; i++) {
			const struct term *term = &terms->list[i];
			bool whole = !term->value.at ||
				(term->name.len >= 6 && !memcmp(term->name.at, "config", 6));
			int err;

			if (whole == pass)
				continue;
			if (is_one_of(term->name, common, sizeof(common) / sizeof(*common)))
				err = apply_common(parser, item, terms, term);
			else if (is_one_of(term->name, foreign, sizeof(foreign) / sizeof(*foreign)))
				err = event_fail(parser, EVENT_ERROR_TERM_FOREIGN, term->at);
			else
				err = pmu ? apply_pmu(parser, item, pmu, terms, term) : -ENOENT;
			if (err == -ENOENT) {
				suggest(parser, pmu, term);
				err = event_fail(parser, EVENT_ERROR_TERM, term->at);
			}
			if (err)
				return err;
		}
	return 0;
}

int event_parse_terms(struct event_parser *parser, size_t first, const struct pmu *pmu)
{
	struct terms terms;
	size_t len = strcspn(parser->text + parser->at, "/");
	int err;

	if (!parser->text[parser->at + len])
		return event_fail(parser, EVENT_ERROR_SYNTAX, parser->at + len);
	err = split(parser, parser->text + parser->at, parser->at, &terms);
	for (size_t i = first; !err && i < parser->n; i++)
		err = apply(parser, &parser->items[i], pmu, &terms);
	if (!err)
		parser->at += len + 1;
	return err;
}
