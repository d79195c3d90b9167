/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_field_text.c - fields by name, and their values as text: addresses as symbols.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/samples_fixture.h"
#include "tui/query/field_names.h"

static struct fields *of_samples(uint64_t sample_type)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .sample_type = sample_type};
	struct fields *fields;

	assert_int_equal(fields_new(&fields, &attr, NULL, NULL, NULL), 0);
	return fields;
}

static void expect(struct fixture *fixture, const struct fields *fields, const char *name,
	const struct value *value, const char *text, bool is_number)
{
	struct field_text out;
	struct field_ref ref;

	assert_true(field_find(fields, name, &ref));
	field_text(fixture->names, fields, ref, value, &out);
	assert_string_equal(out.bytes, text);
	assert_int_equal(out.is_number, is_number);
}

static void test_data_addresses(void **state)
{
	struct fixture *fixture = *state;
	const struct symbol variables[] = {
		{.start = 0x4010, .size = 8, .name = "counter", .index = 0},
		{.start = 0x4020, .size = 64, .name = "ta\033ble", .index = 1},
	};
	static const struct symbols_segment code[] = {{0x5040, 0x1000, 0x407040}};
	struct fake_image *image = &fixture->symbols.images[fixture->program];
	struct fields *fields = of_samples(PERF_SAMPLE_ADDR);
	struct value value = {.has_image = true, .image = fixture->program, .number = 0x4028};
	uint64_t changes;

	image->data = variables;
	image->n_data = 2;
	expect(fixture, fields, "addr", &value, "program+0x4028", false);
	assert_int_equal(image->data_state, SYMBOLS_PENDING);
	expect(fixture, fields, "data_symbol", &value, "program", false);
	image->data_state = SYMBOLS_READY;
	fixture->symbols.changed = SYMBOLS_CHANGED_DATA;
	changes = names_changes(fixture->names);
	names_update(fixture->names);
	assert_true(names_changes(fixture->names) > changes);

	expect(fixture, fields, "addr", &value, "ta?ble+0x8", false);
	expect(fixture, fields, "data_symbol", &value, "ta?ble", false);
	expect(fixture, fields, "data_page", &value, "program+0x4000", false);
	value.number = 0x4010;
	expect(fixture, fields, "addr", &value, "counter", false);
	value.number = 0x4100;
	expect(fixture, fields, "addr", &value, "program+0x4100", false);
	expect(fixture, fields, "data_symbol", &value, "program", false);
	/* The data is code: instructions read as data. */
	value.number = 0x28;
	expect(fixture, fields, "addr", &value, "f2+0x8", false);
	expect(fixture, fields, "data_symbol", &value, "f2", false);
	/* Code without a name is shown at its address in nm and objdump. */
	image->segments = code;
	image->n_segments = 1;
	value.number = 0x5068;
	expect(fixture, fields, "addr", &value, "program+0x407068", false);
	expect(fixture, fields, "data_page", &value, "program+0x407000", false);
	value = (struct value){.number = 0x7ffc12345678};
	expect(fixture, fields, "addr", &value, "0x7ffc12345678", false);
	expect(fixture, fields, "data_page", &value, "0x7ffc12345000", false);
	expect(fixture, fields, "data_symbol", &value, "[unknown]", false);
	fields_free(fields);
}

static void test_numbers_and_names(void **state)
{
	struct fixture *fixture = *state;
	struct fields *fields = of_samples(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_PHYS_ADDR |
		PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_CGROUP);
	struct value value = {.number = 70};

	expect(fixture, fields, "weight", &value, "70", true);
	value.number = UINT64_MAX;
	expect(fixture, fields, "cgroup_id", &value, "18446744073709551615", false);
	value.number = 0x1000;
	expect(fixture, fields, "phys_addr", &value, "0x1000", false);
	value.number = 0;
	expect(fixture, fields, "data_src.op", &value, "N/A", false);
	fields_free(fields);
}

static void test_which_there_are(void **state)
{
	struct fields *weights = of_samples(PERF_SAMPLE_WEIGHT);
	struct fields *both = of_samples(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_ADDR);
	const struct fields *schemas[] = {NULL, weights, both};
	struct field_ref ref;
	char message[256];

	(void)state;
	assert_false(field_find(weights, "data_page", &ref));
	assert_true(field_find(both, "data_page", &ref));
	assert_int_equal(ref.as, FIELD_PAGE);
	assert_false(field_find(both, "data_pag", &ref));
	assert_false(field_find(NULL, "weight", &ref));
	assert_true(field_names_check("data_symbol", schemas, 3, message, sizeof(message)));
	assert_false(field_names_check("data_symbol", schemas, 2, message, sizeof(message)));
	assert_string_equal(message, "no event has such a field: there are weight");
	assert_false(field_names_check("x", schemas, 3, message, sizeof(message)));
	assert_string_equal(message,
		"no event has such a field: there are weight, addr, data_page, data_symbol");
	assert_false(field_names_check("x", schemas, 1, message, sizeof(message)));
	assert_string_equal(message, "samples of these events have no fields");
	assert_false(field_names_check("x", schemas, 3, message, 24));
	assert_string_equal(message, "no event has such a fie");
	fields_free(weights);
	fields_free(both);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_data_addresses),
		TEST(test_numbers_and_names),
		TEST(test_which_there_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
