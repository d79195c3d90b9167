/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report.c - the three formats of a report, and what a full disk does to them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "tui/canvas.h"
#include "tui/report.h"

static const char longest[] =
	"a_very_long_name_that_goes_on_and_on_for_more_than_sixty_four_columns_to_the_right";

static const struct report_key keys[][2] = {
	{{.text = "operator<(a, b)"}, {.text = "pro\"gram"}},
	{{.text = "größe"}, {.text = "libc.so.6"}},
	{{.text = longest}, {.text = "x"}},
	{{.text = "plain"}, {.text = "[kernel]"}},
};

static struct report_row rows[] = {
	{keys[0], 70.126, 99.5, 1403, 700, 995, NULL, 0},
	{keys[1], 20, 20, 400, 200, 200, NULL, 0},
	{keys[2], 1, 1, 20, 10, 10, NULL, 0},
	{keys[3], 0, 100, 0, 0, 1000, NULL, 0},
};

static char *notes[] = {(char *)"user space only"};

static struct report_event events[] = {
	{.name = "cpu-clock",
		.samples = 2000,
		.weight = 1000,
		.lost = 3,
		.freq_hz = 997,
		.count = 12345678901234567890u,
		.throttled = 2,
		.coverage_percent = 99.96,
		.unresolved_percent = 0.25,
		.rows = rows,
		.n_rows = 4},
	{.name = "page-faults:u", .period = 1000, .coverage_percent = -1},
};

static struct report sample = {
	.target = "program (42)",
	.duration_s = 2.04,
	.tasks_missed = 1234,
	.threads_left_out = 5,
	.keys = {GROUP_SYMBOL, GROUP_IMAGE},
	.n_keys = 2,
	.columns = COLUMNS_NONE,
	.events = events,
	.n_events = 2,
	.notes = notes,
	.n_notes = 1,
};

/* Out of line: gcc 12 at -O3 takes the stream's buffer for the variable that points to it. */
__attribute__((noinline)) static char *write_as(enum report_format format, unsigned int columns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_write(out, &sample, format, columns), 0);
	fclose(out);
	return text;
}

static void expect(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("'%s' is not in\n%s", wanted, text);
}

static void test_text(void **state)
{
	char *text = write_as(REPORT_TEXT, 0);

	(void)state;
	expect(text,
		"program (42), 2.0 s\n"
		"cpu-clock at 997 Hz: 2,000 samples, 3 lost, coverage 100.0%, unresolved 0.2%, "
		"throttled 2 times\n"
		"page-faults:u, one sample every 1,000: 0 samples, 0 lost\n"
		"1,234 tasks missed");
	expect(text, "5 threads left out");
	expect(text, "note: user space only\n");
	expect(text, "    SELF    TOTAL    SAMPLES  SYMBOL");
	expect(text, "  70.13%   99.50%       1403  operator<(a, b)   ");
	expect(text, longest); /* whole, since nothing cuts a file */
	expect(text, "(no samples)");
	free(text);
}

static void test_text_is_cut_to_the_terminal(void **state)
{
	(void)state;
	for (unsigned int columns = 50; columns <= 200; columns += 7) {
		char *text = write_as(REPORT_TEXT, columns);
		char *table = strstr(text, "    SELF");

		assert_non_null(table);
		for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n"))
			if (canvas_width_of(line) > (int)columns)
				fail_msg("wider than %u: %s", columns, line);
		free(text);
	}
	char *text = write_as(REPORT_TEXT, 70);

	expect(text, "a_very_long_name");
	expect(text, "..");
	assert_null(strstr(text, longest));
	free(text);
	/* A terminal too narrow for the columns does no harm. */
	free(write_as(REPORT_TEXT, 1));
	free(write_as(REPORT_TEXT, 30));
}

static void test_columns_are_aligned(void **state)
{
	char *text = write_as(REPORT_TEXT, 120);
	char *header = strstr(text, "    SELF"), *line;
	long image = strstr(header, "IMAGE") - header;
	int seen = 0;

	(void)state;
	for (line = strchr(header, '\n') + 1; *line && *line != '\n';
		line = strchr(line, '\n') + 1) {
		static const char *const images[] = {"pro\"gram", "libc.so.6", "x", "[kernel]"};
		/* Two letters of the second symbol take two bytes each. */
		long shift = seen == 1 ? 2 : 0;

		assert_true(seen < 4);
		assert_memory_equal(line + image + shift, images[seen], strlen(images[seen]));
		seen++;
	}
	assert_int_equal(seen, 4);
	free(text);
}

static void test_csv(void **state)
{
	char *text = write_as(REPORT_CSV, 80);

	(void)state;
	expect(text,
		"event,symbol,image,self_percent,total_percent,samples,self_weight,total_weight"
		"\r\n"
		"cpu-clock,\"operator<(a, b)\",\"pro\"\"gram\",70.1260,99.5000,1403,700,995\r\n"
		"cpu-clock,größe,libc.so.6,20.0000,20.0000,400,200,200\r\n");
	assert_int_equal(strncmp(text, "event,", 6), 0);
	free(text);
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(object, key, &value));
	return value;
}

static void test_json(void **state)
{
	char *text = write_as(REPORT_JSON, 0);
	struct json_object *top = json_tokener_parse(text), *event, *row;

	(void)state;
	assert_non_null(top);
	assert_int_equal(json_object_array_length(member(top, "events")), 2);
	event = json_object_array_get_idx(member(top, "events"), 0);
	assert_string_equal(json_object_get_string(member(event, "name")), "cpu-clock");
	assert_int_equal(json_object_get_int64(member(event, "samples")), 2000);
	assert_int_equal(json_object_get_int64(member(event, "weight")), 1000);
	assert_int_equal(json_object_get_int64(member(event, "lost")), 3);
	assert_true(json_object_get_uint64(member(event, "count")) == 12345678901234567890u);
	assert_true(json_object_get_double(member(event, "coverage_percent")) == 99.96);
	assert_int_equal(json_object_array_length(member(event, "rows")), 4);
	row = json_object_array_get_idx(member(event, "rows"), 1);
	assert_string_equal(json_object_get_string(member(row, "symbol")), "größe");
	assert_string_equal(json_object_get_string(member(row, "image")), "libc.so.6");
	assert_true(json_object_get_double(member(row, "self_percent")) == 20);
	assert_true(json_object_get_double(member(row, "total_percent")) == 20);
	assert_int_equal(json_object_get_int64(member(row, "samples")), 400);
	event = json_object_array_get_idx(member(top, "events"), 1);
	assert_null(member(event, "coverage_percent")); /* not known */
	assert_int_equal(json_object_get_int64(member(event, "period")), 1000);
	assert_string_equal(json_object_get_string(member(top, "target")), "program (42)");
	assert_int_equal(json_object_get_int64(member(top, "tasks_missed")), 1234);
	assert_int_equal(json_object_get_int64(member(top, "threads_left_out")), 5);
	assert_string_equal(
		json_object_get_string(json_object_array_get_idx(member(top, "notes"), 0)),
		"user space only");
	member(top, "duration_s");
	assert_string_equal(json_object_get_string(member(top, "strobe_version")), STROBE_VERSION);
	/* Short numbers, as in the text. */
	expect(text, "70.1260");
	json_object_put(top);
	free(text);
}

static void test_full_disk(void **state)
{
	const enum report_format formats[] = {REPORT_TEXT, REPORT_CSV, REPORT_JSON};

	(void)state;
	for (int i = 0; i < 3; i++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		assert_int_equal(report_write(full, &sample, formats[i], 0), -EIO);
		assert_int_equal(errno, ENOSPC);
		fclose(full);
	}
}

static void test_notes_come_once(void **state)
{
	struct report report = {0};

	(void)state;
	assert_int_equal(report_add_note(&report, "one"), 0);
	assert_int_equal(report_add_note(&report, "two"), 0);
	assert_int_equal(report_add_note(&report, "one"), 0);
	assert_int_equal(report.n_notes, 2);
	assert_string_equal(report.notes[1], "two");
	report_fini(&report);
	report_fini(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_is_cut_to_the_terminal),
		cmocka_unit_test(test_columns_are_aligned),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_notes_come_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
