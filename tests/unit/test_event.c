// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * test_event.c - the grammar of -e, as tables.
 */
#include "sampler/event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct event_spec one(const char *text)
{
	struct event_spec *specs, spec;
	struct event_error error;
	size_t n;

	if (event_parse_list(text, &specs, &n, &error))
		fail_msg("%s: error %d at %zu", text, error.kind, error.offset);
	assert_int_equal(n, 1);
	spec = specs[0];
	free(specs);
	return spec;
}

static void catalogue_is_whole(void **state)
{
	bool hw[PERF_COUNT_HW_MAX] = {0}, sw[PERF_COUNT_SW_MAX] = {0};
	size_t n;
	const struct event_info *info = event_catalogue(&n);

	(void)state;
	assert_int_equal(n, PERF_COUNT_HW_MAX + PERF_COUNT_SW_MAX);
	for (size_t i = 0; i < n; i++) {
		bool *seen = info[i].type == PERF_TYPE_HARDWARE ? hw : sw;
		struct event_spec spec = one(info[i].name);

		assert_in_range(info[i].config, 0,
			(info[i].type == PERF_TYPE_HARDWARE ? PERF_COUNT_HW_MAX
							    : PERF_COUNT_SW_MAX) -
				1);
		assert_false(seen[info[i].config]);
		seen[info[i].config] = true;
		assert_true(strlen(info[i].description) > 5);
		assert_string_equal(spec.name, info[i].name);
		assert_int_equal(spec.attr.type, info[i].type);
		assert_int_equal(spec.attr.config, info[i].config);
		assert_false(spec.by_default);
		assert_int_equal(spec.attr.sample_freq, 0);
		if (info[i].alias) {
			spec = one(info[i].alias);
			assert_string_equal(spec.name, info[i].name);
			assert_int_equal(spec.attr.config, info[i].config);
		}
	}
}

static void modifiers(void **state)
{
	const struct {
		const char *text, *name;
		bool no_user, no_kernel, no_hv, no_guest, no_host, no_idle;
		unsigned int precise;
	} cases[] = {
		{"faults", "page-faults", 0, 0, 0, 1, 0, 0, 0},
		{"faults:u", "page-faults:u", 0, 1, 1, 1, 0, 0, 0},
		{"cycles:k", "cycles:k", 1, 0, 1, 1, 0, 0, 0},
		{"cycles:h", "cycles:h", 1, 1, 0, 1, 0, 0, 0},
		{"cycles:ku", "cycles:uk", 0, 0, 1, 1, 0, 0, 0},
		{"cycles:hku", "cycles:ukh", 0, 0, 0, 1, 0, 0, 0},
		{"cycles:p", "cycles:p", 0, 0, 0, 1, 0, 0, 1},
		{"cycles:pp", "cycles:pp", 0, 0, 0, 1, 0, 0, 2},
		{"cycles:pupp", "cycles:uppp", 0, 1, 1, 1, 0, 0, 3},
		{"cs:I", "context-switches:I", 0, 0, 0, 1, 0, 1, 0},
		{"cpu-cycles:G", "cycles:G", 0, 0, 0, 0, 1, 0, 0},
		{"cycles:H", "cycles:H", 0, 0, 0, 1, 0, 0, 0},
		{"cycles:HG", "cycles:GH", 0, 0, 0, 0, 0, 0, 0},
		{"cycles:pIHGhku", "cycles:ukhGHIp", 0, 0, 0, 0, 0, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event_spec spec = one(cases[i].text);

		assert_string_equal(spec.name, cases[i].name);
		assert_int_equal(spec.attr.exclude_user, cases[i].no_user);
		assert_int_equal(spec.attr.exclude_kernel, cases[i].no_kernel);
		assert_int_equal(spec.attr.exclude_hv, cases[i].no_hv);
		assert_int_equal(spec.attr.exclude_guest, cases[i].no_guest);
		assert_int_equal(spec.attr.exclude_host, cases[i].no_host);
		assert_int_equal(spec.attr.exclude_idle, cases[i].no_idle);
		assert_int_equal(spec.attr.precise_ip, cases[i].precise);
		spec = one(spec.name); /* canonical means that it is its own name */
		assert_string_equal(spec.name, cases[i].name);
	}
}

static void lists(void **state)
{
	struct event_spec *specs;
	struct event_error error;
	size_t n;

	(void)state;
	assert_int_equal(
		event_parse_list("cycles:u, page-faults ,cs,cycles:u", &specs, &n, &error), 0);
	assert_int_equal(n, 4);
	assert_string_equal(specs[0].name, "cycles:u");
	assert_string_equal(specs[1].name, "page-faults");
	assert_string_equal(specs[2].name, "context-switches");
	assert_string_equal(specs[3].name, "cycles:u");
	free(specs);
}

#define LONG_30 "abcdefghijklmnopqrstuvwxyzabcd"

static void errors(void **state)
{
	const struct {
		const char *text;
		enum event_error_kind kind;
		size_t offset;
		const char *near;
	} cases[] = {
		{"", EVENT_ERROR_EMPTY, 0, ""},
		{"  ", EVENT_ERROR_EMPTY, 2, ""},
		{",", EVENT_ERROR_EMPTY, 0, ""},
		{"cycles,", EVENT_ERROR_EMPTY, 7, ""},
		{"cycles,,cs", EVENT_ERROR_EMPTY, 7, ""},
		{"cycels", EVENT_ERROR_UNKNOWN, 0, "cycles"},
		{"cs,cyclse:uk", EVENT_ERROR_UNKNOWN, 3, "cycles"},
		{"ycclse", EVENT_ERROR_UNKNOWN, 0, "cycles"},
		{"Cycles", EVENT_ERROR_UNKNOWN, 0, "cycles"},
		{"page-fault", EVENT_ERROR_UNKNOWN, 0, "page-faults"},
		{"pagefaults", EVENT_ERROR_UNKNOWN, 0, "page-faults"},
		{"cpuclock", EVENT_ERROR_UNKNOWN, 0, "cpu-clock"},
		{"context", EVENT_ERROR_UNKNOWN, 0, "context-switches"},
		{"instr", EVENT_ERROR_UNKNOWN, 0, "instructions"},
		{"migration", EVENT_ERROR_UNKNOWN, 0, "migrations"},
		{"branch", EVENT_ERROR_UNKNOWN, 0, "branches"},
		{"x", EVENT_ERROR_UNKNOWN, 0, ""},
		{"watermelon", EVENT_ERROR_UNKNOWN, 0, ""},
		{":u", EVENT_ERROR_UNKNOWN, 0, ""},
		{":", EVENT_ERROR_UNKNOWN, 0, ""},
		{"watermelon:", EVENT_ERROR_UNKNOWN, 0, ""},
		{"cycles:", EVENT_ERROR_MODIFIER, 7, ""},
		{"cycles:ux", EVENT_ERROR_MODIFIER, 8, ""},
		{"cs,cycles:uu", EVENT_ERROR_MODIFIER, 11, ""},
		{"cycles:pppp", EVENT_ERROR_MODIFIER, 10, ""},
		{"cycles:u:k", EVENT_ERROR_MODIFIER, 8, ""},
		{"cycles: u", EVENT_ERROR_MODIFIER, 7, ""},
		{"cs," LONG_30 LONG_30 LONG_30 "abcdef", EVENT_ERROR_TOO_LONG, 3, ""},
		{LONG_30 LONG_30 LONG_30 "abcde", EVENT_ERROR_UNKNOWN, 0, ""},
		/* Commas within an item do not end it, which its length tells. */
		{"cpu/" LONG_30 "," LONG_30 "," LONG_30 "/", EVENT_ERROR_TOO_LONG, 0, ""},
		{"{cycles," LONG_30 "," LONG_30 "," LONG_30 "}", EVENT_ERROR_TOO_LONG, 0, ""},
		{"mem:0x1000/8," LONG_30 "," LONG_30 "," LONG_30, EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"sched:sched_switch", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"cs,sched:sched_switch:u", EVENT_ERROR_UNSUPPORTED, 3, ""},
		{"syscalls:*", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"r1a8", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"r1A8:u", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"rxyz", EVENT_ERROR_UNKNOWN, 0, ""},
		{"cs,cpu/event=0x3c,umask=1/u,cs", EVENT_ERROR_UNSUPPORTED, 3, ""},
		{"cpu/event=0x3c", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"mem:0x1000/8:rw,cs", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"{cycles,instructions}", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"cs,{cycles", EVENT_ERROR_UNSUPPORTED, 3, ""},
		{"L1-dcache-load-misses", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"branch-loads", EVENT_ERROR_UNSUPPORTED, 0, ""},
		{"LLC", EVENT_ERROR_UNSUPPORTED, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct event_spec *specs = (struct event_spec *)8;
		struct event_error error;
		size_t n = 7;
		int err = event_parse_list(cases[i].text, &specs, &n, &error);

		if (err != -EINVAL || error.kind != cases[i].kind ||
			error.offset != cases[i].offset || strcmp(error.near, cases[i].near))
			fail_msg("'%s': %d, kind %d at %zu, near '%s'", cases[i].text, err,
				error.kind, error.offset, error.near);
		assert_null(specs);
		assert_int_equal(n, 0);
	}
}

static void defaults_and_rates(void **state)
{
	struct event_spec spec;

	(void)state;
	event_default(&spec);
	assert_true(spec.by_default);
	assert_string_equal(spec.name, "cycles");
	assert_int_equal(spec.attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(spec.attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_true(spec.attr.exclude_guest);
	event_set_freq(&spec, 4000);
	assert_true(spec.attr.freq);
	assert_int_equal(spec.attr.sample_freq, 4000);
	event_set_period(&spec, 100003);
	assert_false(spec.attr.freq);
	assert_int_equal(spec.attr.sample_period, 100003);
	assert_false(event_is_clock(&spec.attr)); /* cycles have cpu-clock's config */
	spec = one("cpu-clock");
	assert_true(event_is_clock(&spec.attr));
	spec = one("task-clock:u");
	assert_true(event_is_clock(&spec.attr));
	spec = one("faults");
	assert_false(event_is_clock(&spec.attr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(catalogue_is_whole),
		cmocka_unit_test(modifiers),
		cmocka_unit_test(lists),
		cmocka_unit_test(errors),
		cmocka_unit_test(defaults_and_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
