// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * pmu.c - events of a named PMU ("cpu/event=0x3c/"), and named events of any PMU ("tsc").
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/events/private.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Sets the properties that all events of a PMU share. */
static int begin(struct event_item *item, const struct pmu *pmu)
{
	struct event_spec *spec = &item->spec;

	spec->attr.type = pmu->type;
	spec->pmu = event_text(pmu->name, strlen(pmu->name));
	spec->cpus = pmu->cpus ? event_text(pmu->cpus, strlen(pmu->cpus)) : NULL;
	spec->core_cpus =
		pmu->core_cpus ? event_text(pmu->core_cpus, strlen(pmu->core_cpus)) : NULL;
	/* PMUs outside of the cores refuse any exclusion; probes and cores do not. */
	item->no_exclusion =
		!pmu->core && pmu->type > PERF_TYPE_BREAKPOINT && !event_is_probe(spec);
	return !spec->pmu || (pmu->cpus && !spec->cpus) || (pmu->core_cpus && !spec->core_cpus)
		? -ENOMEM
		: 0;
}

/* Parses one PMU's event; the parser is after the first slash and stays there. */
static int parse_one(struct event_parser *parser, const char *name)
{
	size_t at = parser->at, first = parser->n;
	const char *terms = parser->text + at;
	struct event_item *item;
	struct pmu *pmu;
	int err = pmu_read(&pmu, parser->system, name, PMU_FORMATS);

	if (err)
		return err == -ENOMEM ? err : event_fail(parser, EVENT_ERROR_NO_PMU, at);
	err = event_add(parser, &item);
	if (!err)
		err = begin(item, pmu);
	if (!err && event_is_probe(&item->spec))
		err = event_fail(parser, EVENT_ERROR_PROBE, at);
	if (!err) {
		event_set_name(&item->spec, "%s/%.*s/", pmu->name, (int)strcspn(terms, "/"), terms);
		err = event_parse_terms(parser, first, pmu);
	}
	if (err && parser->n > first)
		parser->n = first;
	parser->at = at;
	pmu_free(pmu);
	return err;
}

int event_parse_pmu(struct event_parser *parser, struct event_piece word)
{
	struct sysfile_names names;
	struct event_error refused = {0};
	size_t at = parser->at, matches = 0, taken = 0;
	char asked[EVENT_NAME_MAX];
	bool exact = false;
	int err = pmu_names(parser->system, &names);

	if (err == -ENOMEM)
		return err;
	memcpy(asked, word.at,
		word.len); /* the caller has checked that the length is below EVENT_NAME_MAX */
	asked[word.len] = '\0';
	for (size_t i = 0; i < names.n; i++)
		exact |= !strcmp(names.names[i], asked);
	err = 0;
	parser->at = at + word.len + 1;
	for (size_t i = 0; i < names.n && err != -ENOMEM; i++) {
		if (!word.len ||
			(exact ? strcmp(names.names[i], asked) != 0
			       : !pmu_name_matches(names.names[i], asked)))
			continue;
		/* If several PMUs match the name, one that has the event is enough. */
		if (!matches++)
			err = 0;
		err = parse_one(parser, names.names[i]);
		if (err == -EINVAL && !refused.kind)
			refused = *parser->error;
		taken += !err;
	}
	sysfile_names_fini(&names);
	memset(parser->error, 0, sizeof(*parser->error));
	if (err == -ENOMEM)
		return err;
	if (!matches) {
		event_near_pmu(parser, word);
		return event_fail(parser, EVENT_ERROR_NO_PMU, at);
	}
	if (!taken) {
		*parser->error = refused;
		return -EINVAL;
	}
	parser->at += strcspn(parser->text + parser->at, "/") + 1;
	return 0;
}

static int add_alias(
	struct event_parser *parser, const char *pmu_name, const struct pmu_event *event)
{
	struct event_item *item;
	struct pmu *pmu;
	int err = pmu_read(&pmu, parser->system, pmu_name, PMU_FORMATS);

	if (err)
		return err;
	err = event_add(parser, &item);
	if (!err)
		err = begin(item, pmu);
	if (!err) {
		event_set_name(&item->spec, "%s", event->name);
		err = event_expand(parser, item, pmu, event, parser->at);
	}
	pmu_free(pmu);
	return err;
}

int event_parse_alias(struct event_parser *parser, struct event_piece word, bool *found)
{
	struct sysfile_names names;
	char asked[EVENT_NAME_MAX];
	int err = pmu_names(parser->system, &names);

	*found = false;
	if (err)
		return err == -ENOMEM ? err : 0;
	memcpy(asked, word.at, word.len);
	asked[word.len] = '\0';
	for (size_t i = 0; i < names.n && !err; i++) {
		struct pmu_event event;

		err = pmu_event_read(&event, parser->system, names.names[i], asked);
		if (err == -ENOMEM)
			break;
		if (err) {
			err = 0;
			continue;
		}
		err = add_alias(parser, names.names[i], &event);
		*found = *found || !err;
		pmu_event_fini(&event);
		if (err != -ENOMEM && err != -EINVAL)
			err = 0;
	}
	sysfile_names_fini(&names);
	if (!err && *found)
		parser->at += word.len;
	return err;
}
