/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_pmu.c - PMUs as sysfs describes them, on a fake machine made of files.
 */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/machine/pmu.h"
#include "tests/unit/event_fixture.h"

static int make_machine(void **state)
{
	static struct event_fixture fixture;

	fixture_make(&fixture);
	fixture_file(&fixture, FIXTURE_PMUS "odd/type", "not a number\n");
	fixture_file(&fixture, FIXTURE_PMUS "huge/type", "4294967296\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/type", "30\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/cpumask", "\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/energy", "event=0x02\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/energy.scale",
		"2.3283064365386962890625e-10\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/energy.unit", "Joules\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/energy.per-pkg", "1\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/energy.snapshot", "1\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/bad", "event=0x03\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/bad.scale", "0,5\n");
	fixture_file(&fixture, FIXTURE_PMUS "power/events/bad.unit", "\n");
	*state = &fixture;
	return 0;
}

static int remove_machine(void **state)
{
	fixture_remove(*state);
	return 0;
}

static void test_address_filters(void **state)
{
	struct event_fixture *fixture = *state;

	fixture_file(fixture, FIXTURE_PMUS "odd/nr_addr_filters", "4 of them\n");
	fixture_file(fixture, FIXTURE_PMUS "huge/nr_addr_filters", "65536\n");
	fixture_file(fixture, FIXTURE_PMUS "power/nr_addr_filters", "4\n");
	assert_int_equal(pmu_address_filters(&fixture->system, "power"), 4);
	assert_int_equal(pmu_address_filters(&fixture->system, "odd"), 0);
	assert_int_equal(pmu_address_filters(&fixture->system, "huge"), 0);
	assert_int_equal(pmu_address_filters(&fixture->system, "cpu"), 0);
}

static void test_formats(void **state)
{
	static const struct {
		const char *text;
		unsigned int word;
		uint64_t mask;
	} good[] = {
		{"config:0-7", 0, 0xff},
		{"config:0-7,32-35", 0, 0xf000000ff},
		{"config:63", 0, 1ull << 63},
		{"config:0-63", 0, UINT64_MAX},
		{"config", 0, UINT64_MAX},
		{"config1:8-15", 1, 0xff00},
		{"config2:1,3,5", 2, 0x2a},
		{"config3", 3, UINT64_MAX},
	};
	static const char *const bad[] = {"", "conf:1", "config4:1", "config:", "config:64",
		"config:8-7", "config:1-", "config:-1", "config:1;2", "config:1,", "config:0-7 ",
		"config:99999999999", "config10:1"};
	struct pmu_format format;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(pmu_parse_format(good[i].text, &format), 0);
		assert_int_equal(format.word, good[i].word);
		assert_true(format.mask == good[i].mask);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (pmu_parse_format(bad[i], &format) != -EINVAL)
			fail_msg("'%s' is taken", bad[i]);
}

/* The lowest bit of the value goes to the lowest bit of the mask.  A value that does not fit
 * changes nothing. */
static void test_place(void **state)
{
	uint64_t word = 0xffff;

	(void)state;
	assert_true(pmu_place(0xf0, 0x3, &word));
	assert_int_equal(word, 0xff3f);
	word = 0;
	assert_true(pmu_place(0xf000000ff, 0xabc, &word));
	assert_true(word == 0xa000000bc);
	assert_false(pmu_place(0xff, 0x100, &word));
	assert_true(word == 0xa000000bc);
	assert_true(pmu_place(UINT64_MAX, UINT64_MAX, &word));
	assert_true(word == UINT64_MAX);
	assert_true(pmu_place(1ull << 63, 0, &word));
	assert_true(word == UINT64_MAX >> 1);
	assert_false(pmu_place(0, 1, &word));
}

static void test_core(void **state)
{
	const struct event_fixture *fixture = *state;
	const struct pmu_format *format;
	struct pmu *pmu;

	assert_int_equal(pmu_read(&pmu, &fixture->system, "cpu", PMU_FORMATS | PMU_CAPS), 0);
	assert_int_equal(pmu->type, 4);
	assert_true(pmu->core);
	assert_null(pmu->cpus);
	assert_null(pmu->core_cpus);
	assert_int_equal(pmu->n_formats, 6); /* the broken one is left out */
	assert_null(pmu_find_format(pmu, "broken", 6));
	assert_null(pmu_find_format(pmu, "umas", 4));
	format = pmu_find_format(pmu, "split,x", 5);
	assert_non_null(format);
	assert_true(format->mask == 0xf000000ff);
	format = pmu_find_format(pmu, "third", 5);
	assert_int_equal(format->word, 3);
	assert_int_equal(format->mask, 0xf0);
	assert_int_equal(pmu->n_events, 0); /* events were not requested */
	assert_int_equal(pmu->n_caps, 1);
	assert_string_equal(pmu->caps[0].name, "max_precise");
	assert_string_equal(pmu->caps[0].value, "3");
	pmu_free(pmu);

	assert_int_equal(pmu_read(&pmu, &fixture->system, "armv8_pmuv3_0", 0), 0);
	assert_true(pmu->core);
	assert_string_equal(pmu->core_cpus, "0-3");
	assert_null(pmu->cpus);
	pmu_free(pmu);
	pmu_free(NULL);
}

static void test_uncore(void **state)
{
	const struct event_fixture *fixture = *state;
	struct pmu *pmu;

	assert_int_equal(pmu_read(&pmu, &fixture->system, "uncore_imc_0", PMU_EVENTS), 0);
	assert_false(pmu->core);
	assert_string_equal(pmu->cpus, "0,8");
	assert_int_equal(pmu->n_events, 1); /* scale and unit files are not events */
	assert_string_equal(pmu->events[0].name, "cas_count_read");
	assert_string_equal(pmu->events[0].terms, "event=0x04,umask=0x03");
	assert_string_equal(pmu->events[0].unit, "MiB");
	assert_true(pmu->events[0].scale == 6.103515625e-5);
	pmu_free(pmu);

	assert_int_equal(pmu_read(&pmu, &fixture->system, "power", PMU_EVENTS), 0);
	assert_null(pmu->cpus); /* an empty mask counts as none */
	assert_int_equal(pmu->n_events, 2);
	assert_string_equal(pmu->events[1].name, "energy");
	assert_string_equal(pmu->events[1].unit, "Joules");
	assert_true(pmu->events[1].scale == 0x1p-32);
	assert_null(pmu->events[0].unit);
	assert_true(pmu->events[0].scale == 1); /* the scale file holds no number */
	pmu_free(pmu);
}

/* The kernel writes a decimal point in every locale. */
static void test_scale_in_another_language(void **state)
{
	const struct event_fixture *fixture = *state;
	struct pmu_event event;

	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
		print_message("no locale with a decimal comma is installed: tried in this one\n");
	assert_int_equal(
		pmu_event_read(&event, &fixture->system, "uncore_imc_0", "cas_count_read"), 0);
	setlocale(LC_NUMERIC, "C");
	assert_true(event.scale == 6.103515625e-5);
	pmu_event_fini(&event);
	assert_int_equal(
		pmu_event_read(&event, &fixture->system, "uncore_imc_0", "cas_count_read.scale"),
		-ENOENT);
	assert_int_equal(
		pmu_event_read(&event, &fixture->system, "uncore_imc_0", "../type"), -ENOENT);
	assert_int_equal(pmu_event_read(&event, &fixture->system, "cpu", "nothing"), -ENOENT);
}

static void test_what_is_not_there(void **state)
{
	const struct event_fixture *fixture = *state;
	const struct system_dirs nowhere = {.sysfs = "/nonexistent"};
	struct sysfile_names names;
	struct pmu *pmu;
	uint32_t type;

	assert_int_equal(pmu_read(&pmu, &fixture->system, "nothing", PMU_FORMATS), -ENOENT);
	assert_null(pmu);
	assert_int_equal(pmu_read(&pmu, &fixture->system, "..", 0), -ENOENT);
	assert_int_equal(pmu_read(&pmu, &fixture->system, "cpu/format", 0), -ENOENT);
	assert_int_equal(pmu_read(&pmu, &fixture->system, "", 0), -ENOENT);
	assert_int_equal(pmu_read(&pmu, &fixture->system, "odd", 0), -EBADMSG);
	assert_int_equal(pmu_type(&fixture->system, "huge", &type), -EBADMSG);
	assert_int_equal(pmu_type(&fixture->system, "software", &type), 0);
	assert_int_equal(type, 1);
	assert_int_equal(pmu_names(&nowhere, &names), -ENOENT);
	assert_int_equal(names.n, 0);
	assert_int_equal(pmu_names(&fixture->system, &names), 0);
	for (size_t i = 1; i < names.n; i++)
		assert_true(strcmp(names.names[i - 1], names.names[i]) < 0);
	sysfile_names_fini(&names);
}

static void test_names_that_mean_several(void **state)
{
	(void)state;
	assert_true(pmu_name_matches("uncore_imc_0", "uncore_imc_0"));
	assert_true(pmu_name_matches("uncore_imc_12", "uncore_imc"));
	assert_true(pmu_name_matches("uncore_imc_0", "imc"));
	assert_true(pmu_name_matches("uncore_imc_0", "imc_0"));
	assert_true(pmu_name_matches("cbox7", "cbox"));
	assert_true(pmu_name_matches("uncore_imc_0", "uncore_*_0"));
	assert_true(pmu_name_matches("uncore_imc_0", "imc_[0-3]"));
	assert_false(pmu_name_matches("uncore_imc_0", "uncore_im"));
	assert_false(pmu_name_matches("uncore_imc_free", "uncore_imc"));
	assert_false(pmu_name_matches("uncore_imc_1", "imc_0"));
	assert_false(pmu_name_matches("cpu_core", "cpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_address_filters),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_uncore),
		cmocka_unit_test(test_scale_in_another_language),
		cmocka_unit_test(test_what_is_not_there),
		cmocka_unit_test(test_names_that_mean_several),
	};
	return cmocka_run_group_tests_name("pmu", tests, make_machine, remove_machine);
}
