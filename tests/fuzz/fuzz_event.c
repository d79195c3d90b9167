// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * fuzz_event.c - any text as the argument of -e, on a machine made of files.
 *
 * An event's canonical name must parse to an equal event.
 */
#include "sampler/events/parse.h"

#include "tests/unit/event_fixture.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct event_fixture machine;

static void end(void)
{
	fixture_remove(&machine);
}

static bool is_same(const struct event_spec *a, const struct event_spec *b)
{
	return a->attr.type == b->attr.type && a->attr.config == b->attr.config &&
		a->attr.config1 == b->attr.config1 && a->attr.config2 == b->attr.config2 &&
		a->config3 == b->config3 && a->attr.bp_type == b->attr.bp_type &&
		a->attr.exclude_user == b->attr.exclude_user &&
		a->attr.exclude_kernel == b->attr.exclude_kernel &&
		a->attr.exclude_guest == b->attr.exclude_guest &&
		a->attr.precise_ip == b->attr.precise_ip && a->probe == b->probe &&
		a->needs.kind == b->needs.kind && a->needs.symbol == b->needs.symbol &&
		a->needs.binary == b->needs.binary && a->needs.offset == b->needs.offset &&
		!strcmp(a->name, b->name);
}

/* Checks the canonical name; leaves out names given by the user and shortened names. */
static void check_name(const struct event_spec *spec, const char *text)
{
	struct event_spec *again;
	struct event_error error;
	bool found = false;
	size_t n;

	if (strstr(text, "name") || strstr(spec->name, "..#"))
		return;
	if (event_parse_list_in(&machine.system, spec->name, &again, &n, &error))
		abort();
	/* An event name that several PMUs have parses to the events of all these PMUs. */
	for (size_t i = 0; i < n; i++)
		found |= is_same(&again[i], spec);
	free(again);
	if (!found)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_spec *specs;
	struct event_error error;
	size_t n;
	char *text;

	if (!machine.root[0]) {
		fixture_make(&machine);
		atexit(end);
	}
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	if (event_parse_list_in(&machine.system, text, &specs, &n, &error)) {
		if (error.kind == EVENT_ERROR_NONE || error.offset > strlen(text))
			abort();
		free(text);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		check_name(&specs[i], text);
	free(specs);
	free(text);
	return 0;
}
