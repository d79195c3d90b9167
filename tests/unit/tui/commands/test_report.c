/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_report.c - the three formats of a report, and the error of each on a full disk.
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

#include "sampler/perfdata/reader.h"
#include "tui/base/width.h"
#include "tui/commands/report.h"
#include "tui/session/request.h"

static const char longest[] =
	"a_very_long_name_that_goes_on_and_on_for_more_than_sixty_four_columns_to_the_right";

static const struct report_key keys[][2] = {
	{{.text = "operator<(a, b)"}, {.text = "pro\"gram"}},
	{{.text = "größe"}, {.text = "libc.so.6"}},
	{{.text = longest}, {.text = "x"}},
	{{.text = "plain"}, {.text = "[kernel]"}},
};

static struct report_row rows[] = {
	{keys[0], {0, 0}, 70.126, 99.5, 1403, 700, 995, NULL, 0},
	{keys[1], {0, 0}, 20, 20, 400, 200, 200, NULL, 0},
	{keys[2], {0, 0}, 1, 1, 20, 10, 10, NULL, 0},
	{keys[3], {0, 0}, 0, 100, 0, 0, 1000, NULL, 0},
};

static char *notes[] = {(char *)"user space only"};

static struct report_event events[] = {
	{.name = "cpu-clock",
		.samples = 2000,
		.weight = 1000,
		.lost = 3,
		.freq_hz = 997,
		.count = 12345678901234567890u,
		.enabled_ns = 3000,
		.running_ns = 1500,
		.throttled = 2,
		.coverage_percent = 99.96,
		.unresolved_percent = 0.25,
		.rows = rows,
		.n_rows = 4},
	{.name = "page-faults:u", .period = 1000, .coverage_percent = -1, .enabled_ns = 5},
};

static struct report sample = {
	.target = "program (42)",
	.duration_s = 2.04,
	.tasks_missed = 1234,
	.threads_left_out = 5,
	.dropped = 6,
	.records_dropped = 7,
	.keys = {GROUP_SYMBOL, GROUP_IMAGE},
	.n_keys = 2,
	.columns = COLUMNS_NONE,
	.events = events,
	.n_events = 2,
	.notes = notes,
	.n_notes = 1,
};

/* Not inlined, since gcc 12 at -O3 mistakes the stream's buffer for the variable that points to
 * it. */
__attribute__((noinline)) static char *write_one(
	const struct report *report, enum report_format format, unsigned int columns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(report_write(out, report, format, columns), 0);
	fclose(out);
	return text;
}

static char *write_as(enum report_format format, unsigned int columns)
{
	return write_one(&sample, format, columns);
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
		"cpu-clock at 997 Hz: 2,000 samples, 3 lost, coverage 100.0%, running 50.0%, "
		"unresolved 0.2%, throttled 2 times\n"
		"page-faults:u, one sample every 1,000: 0 samples, 0 lost, not counted\n"
		"1,234 tasks missed");
	expect(text, "5 threads left out");
	expect(text, "note: user space only\n");
	expect(text, "    SELF    TOTAL    SAMPLES  SYMBOL");
	expect(text, "  70.13%   99.50%       1403  operator<(a, b)   ");
	expect(text, longest); /* whole: nothing limits the width of a file */
	expect(text, "(no samples)");
	free(text);
}

/* With events on CPUs, the lost samples may belong to other processes than the target. */
static void test_lost_of_all_processes(void **state)
{
	struct report_event two[2] = {sample.events[0], sample.events[1]};
	struct report report = sample;
	char *text;

	(void)state;
	report.events = two;
	two[0].lost_of_all = two[1].lost_of_all = true;
	text = write_one(&report, REPORT_TEXT, 0);
	expect(text, "2,000 samples, 3 lost (of all processes), coverage 100.0%");
	expect(text, "0 samples, 0 lost, not counted\n");
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
			if (width_of(line) > (int)columns)
				fail_msg("wider than %u: %s", columns, line);
		free(text);
	}
	/* Both ends of a name identify it better than its beginning alone. */
	for (int ascii = 0; ascii < 2; ascii++) {
		struct report report = sample;
		char *text;

		report.ascii = ascii;
		text = write_one(&report, REPORT_TEXT, 70);
		expect(text, "a_very_long_");
		expect(text, ascii ? ".." : "…");
		expect(text, "_the_right");
		assert_null(strstr(text, longest));
		assert_true(!ascii || !strstr(text, "…"));
		free(text);
	}
	/* A terminal that is too narrow for the columns does no harm. */
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
		/* Two letters of the second symbol take two bytes each, the ellipsis of the third
		 * takes three. */
		long shift = seen == 1 || seen == 2 ? 2 : 0;

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
		"\n"
		"cpu-clock,\"operator<(a, b)\",\"pro\"\"gram\",70.1260,99.5000,1403,700,995\n"
		"cpu-clock,größe,libc.so.6,20.0000,20.0000,400,200,200\n");
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
	assert_int_equal(json_object_get_int64(member(event, "enabled_ns")), 3000);
	assert_int_equal(json_object_get_int64(member(event, "running_ns")), 1500);
	assert_true(json_object_get_double(member(event, "coverage_percent")) == 99.96);
	assert_int_equal(json_object_array_length(member(event, "rows")), 4);
	row = json_object_array_get_idx(member(event, "rows"), 1);
	assert_string_equal(json_object_get_string(member(row, "symbol")), "größe");
	assert_string_equal(json_object_get_string(member(row, "image")), "libc.so.6");
	assert_true(json_object_get_double(member(row, "self_percent")) == 20);
	assert_true(json_object_get_double(member(row, "total_percent")) == 20);
	assert_int_equal(json_object_get_int64(member(row, "samples")), 400);
	event = json_object_array_get_idx(member(top, "events"), 1);
	assert_null(member(event, "coverage_percent")); /* unknown */
	assert_int_equal(json_object_get_int64(member(event, "period")), 1000);
	assert_string_equal(json_object_get_string(member(top, "target")), "program (42)");
	assert_int_equal(json_object_get_int64(member(top, "tasks_missed")), 1234);
	assert_int_equal(json_object_get_int64(member(top, "threads_left_out")), 5);
	assert_int_equal(json_object_get_int64(member(top, "dropped")), 6);
	assert_int_equal(json_object_get_int64(member(top, "records_dropped")), 7);
	assert_string_equal(
		json_object_get_string(json_object_array_get_idx(member(top, "notes"), 0)),
		"user space only");
	member(top, "duration_s");
	assert_string_equal(json_object_get_string(member(top, "strobe_version")), STROBE_VERSION);
	/* Numbers are as short as in the text format. */
	expect(text, "70.1260");
	json_object_put(top);
	free(text);
}

/* A recording may lack the value of the counter, the only rate, and the times. */
static void test_unknown_figures(void **state)
{
	struct report_event one = sample.events[0];
	struct report report = sample;
	struct json_object *top, *event;
	char *text;

	(void)state;
	report.events = &one;
	report.n_events = 1;
	report.no_times = one.count_unknown = one.rate_varies = true;
	text = write_one(&report, REPORT_JSON, 0);
	top = json_tokener_parse(text);
	event = json_object_array_get_idx(member(top, "events"), 0);
	assert_null(member(event, "count"));
	assert_null(member(event, "frequency_hz"));
	assert_null(member(top, "duration_s"));
	json_object_put(top);
	free(text);
	text = write_one(&report, REPORT_TEXT, 0);
	expect(text, "program (42), without times\ncpu-clock at several rates: ");
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

/* --- groups and columns --- */

static const struct report_key grouped_keys[][3] = {
	{{"make (200)", 200, true}, {.text = "make"}, {.text = "main"}},
	{{"sh (9)", 9, true}, {.text = "s;h"}, {.text = "größe"}},
};

static const struct report_column cpus[] = {{"0", "CPU 0", 30, 300}, {"11", "CPU 11", 10, 100}};
static const struct report_cell first_cells[] = {{0, 50, 75, 15, 150}, {1, 12.5, 12.5, 1, 12}};
static const struct report_cell second_cells[] = {{1, 60, 0, 6, 60}};

static struct report_row grouped_rows[] = {
	{grouped_keys[0], {0, 0}, 40.5, 60, 16, 162, 240, first_cells, 2},
	{grouped_keys[1], {0, 0}, 15, 15, 6, 60, 60, second_cells, 1},
};

static struct report_event grouped_event = {
	.name = "cpu-clock",
	.samples = 40,
	.weight = 400,
	.all_samples = 160,
	.all_weight = 1600,
	.freq_hz = 99,
	.coverage_percent = -1,
	.rows = grouped_rows,
	.n_rows = 2,
	.columns = cpus,
	.n_columns = 2,
};

static const struct report grouped = {
	.target = "file",
	.keys = {GROUP_PROCESS, GROUP_COMMAND, GROUP_SYMBOL},
	.n_keys = 3,
	.grouped = true,
	.filtered = true,
	.columns = COLUMNS_CPU,
	.events = &grouped_event,
	.n_events = 1,
};

static void test_grouped_text(void **state)
{
	char *text = write_one(&grouped, REPORT_TEXT, 0);

	(void)state;
	expect(text,
		"cpu-clock at 99 Hz: 40 samples of 160 pass the filters (25.0% of the weight), ");
	expect(text,
		"    SELF    TOTAL    SAMPLES    CPU 0   CPU 11  PROCESS     COMMAND  SYMBOL\n"
		"  40.50%   60.00%         16   50.00%   12.50%  make (200)  make     main\n"
		"  15.00%   15.00%          6            60.00%  sh (9)      s;h      größe\n");
	free(text);
	for (unsigned int columns = 70; columns <= 120; columns++) {
		char *table;

		text = write_one(&grouped, REPORT_TEXT, columns);
		table = strstr(text, "    SELF");
		assert_non_null(table);
		for (char *line = strtok(table, "\n"); line; line = strtok(NULL, "\n"))
			if (width_of(line) > (int)columns && !strstr(line, "not shown"))
				fail_msg("wider than %u: %s", columns, line);
		free(text);
	}
	text = write_one(&grouped, REPORT_TEXT, 70);
	expect(text, "1 more columns are not shown");
	free(text);
}

static void test_grouped_csv(void **state)
{
	char *text = write_one(&grouped, REPORT_CSV, 0);

	(void)state;
	assert_string_equal(text,
		"event,process,command,symbol,self_percent,total_percent,samples,self_weight,"
		"total_weight,0 self_percent,0 total_percent,0 samples,0 self_weight,"
		"11 self_percent,11 total_percent,11 samples,11 self_weight\n"
		"cpu-clock,200,make,main,40.5000,60.0000,16,162,240,50.0000,75.0000,15,150,12.5000,"
		"12.5000,1,12\n"
		"cpu-clock,9,s;h,größe,15.0000,15.0000,6,60,60,0.0000,0.0000,0,0,60.0000,0.0000,6,"
		"60\n");
	free(text);
}

static void test_grouped_json(void **state)
{
	char *text = write_one(&grouped, REPORT_JSON, 0);
	struct json_object *top = json_tokener_parse(text), *event, *row, *cell, *none;

	(void)state;
	event = json_object_array_get_idx(member(top, "events"), 0);
	assert_int_equal(json_object_get_int64(member(event, "unfiltered_samples")), 160);
	row = json_object_array_get_idx(member(event, "rows"), 0);
	assert_true(json_object_is_type(member(row, "process"), json_type_int));
	assert_int_equal(json_object_get_int64(member(row, "process")), 200);
	assert_string_equal(json_object_get_string(member(row, "command")), "make");
	assert_string_equal(json_object_get_string(member(row, "symbol")), "main");
	assert_false(json_object_object_get_ex(row, "image", &none));
	assert_int_equal(json_object_get_int64(member(row, "weight")), 162);
	cell = member(member(row, "columns"), "11");
	assert_true(json_object_get_double(member(cell, "self_percent")) == 12.5);
	assert_int_equal(json_object_get_int64(member(cell, "weight")), 12);
	row = json_object_array_get_idx(member(event, "rows"), 1);
	assert_false(json_object_object_get_ex(member(row, "columns"), "0", &none));
	cell = json_object_array_get_idx(member(event, "columns"), 1);
	assert_string_equal(json_object_get_string(member(cell, "name")), "11");
	json_object_put(top);
	free(text);
}

/* Events in columns side by side form one table. */
static void test_events_side_by_side(void **state)
{
	static const struct report_column both[] = {
		{"cpu-clock", "cpu-clock", 1, 1}, {"page-faults", "page-faults", 1, 1}};
	struct report_event merged = grouped_event, two[2] = {grouped_event, grouped_event};
	struct report report = grouped;
	char *text;

	(void)state;
	merged.columns = two[0].columns = two[1].columns = both;
	two[1].name = "page-faults";
	report.columns = COLUMNS_EVENT;
	report.events = two;
	report.n_events = 2;
	report.merged = &merged;
	text = write_one(&report, REPORT_TEXT, 0);
	expect(text,
		"\n   cpu-clock page-faults  PROCESS     COMMAND  SYMBOL\n"
		"      50.00%      12.50%  make (200)  make     main\n"
		"                  60.00%  sh (9)      s;h      größe\n");
	free(text);
	text = write_one(&report, REPORT_CSV, 0);
	expect(text, "total_weight,cpu-clock self_percent,");
	expect(text, "\npage-faults,200,make,main,");
	free(text);
}

/* --- trees --- */

/* all: a { b { c, d { f } } } and e.  One node below b and three between d and f are left out. */
static struct report_node nodes[] = {
	{.symbol = "", .image = "", .n_below = 2, .child = 1},
	{"a", "prog", 10, 90, 1, 10, 90, 0, 0, 0, 2, 6},
	{"b;b", "prog", 0, 90, 0, 0, 90, 0, 0, 1, 3, 0},
	{"c", "lib.so", 30, 30, 3, 30, 30, 0, 0, 2, 0, 4},
	{"d", "lib.so", 10, 20, 1, 10, 20, 0, 0, 2, 5, 0},
	{"f", "lib.so", 0, 15, 0, 0, 15, 4, 3, 4, 0, 0},
	{"e", "prog", 10, 10, 1, 10, 10, 0, 0, 0, 0, 0},
};

static struct report_event tree_event = {
	.name = "cpu-clock",
	.samples = 7,
	.weight = 100,
	.freq_hz = 99,
	.coverage_percent = -1,
	.nodes = nodes,
	.n_nodes = 7,
};

static const struct report tree = {
	.target = "file",
	.view = REPORT_CALLERS,
	.columns = COLUMNS_NONE,
	.tree_limit_percent = 0.5,
	.events = &tree_event,
	.n_events = 1,
};

static void test_tree_text(void **state)
{
	struct report report = tree;
	char *text = write_one(&report, REPORT_TEXT, 0);

	(void)state;
	expect(text, "calls below 0.5% are summed up (--percent-limit)\n");
	expect(text,
		"    SELF    TOTAL  SYMBOL, and below it who called it\n"
		"  10.00%   90.00%  a  prog\n"
		"                      b;b  prog\n"
		"  30.00%   30.00%  ├─ c  lib.so\n"
		"  10.00%   20.00%  └─ d  lib.so\n"
		"           15.00%     └─ f  lib.so\n"
		"            4.00%        └─ … 3 more below 0.5%\n"
		"\n"
		"  10.00%   10.00%  e  prog\n"
		"                   … 2 more below 0.5%\n");
	free(text);
	report.ascii = true;
	text = write_one(&report, REPORT_TEXT, 0);
	expect(text, "|- c  lib.so\n");
	expect(text, "   `- f  lib.so\n");
	for (const char *at = text; *at; at++)
		assert_true(*at > 0);
	free(text);
	for (unsigned int columns = 40; columns < 80; columns++) {
		text = write_one(&report, REPORT_TEXT, columns);
		for (char *line = strtok(strstr(text, "who called it") + 14, "\n"); line;
			line = strtok(NULL, "\n"))
			assert_true(strstr(line, "more") || width_of(line) <= (int)columns);
		free(text);
	}
}

static void test_tree_csv_and_json(void **state)
{
	char *text = write_one(&tree, REPORT_CSV, 0);
	struct json_object *top, *event, *node, *none;

	(void)state;
	expect(text,
		"event,path,image,self_percent,total_percent,samples,self_weight,total_weight\n"
		"cpu-clock,\"a\",prog,10.0000,90.0000,1,10,90\n"
		"cpu-clock,\"a;b:b\",prog,0.0000,90.0000,0,0,90\n"
		"cpu-clock,\"a;b:b;c\",lib.so,30.0000,30.0000,3,30,30\n");
	free(text);
	text = write_one(&tree, REPORT_JSON, 0);
	top = json_tokener_parse(text);
	assert_non_null(top);
	event = json_object_array_get_idx(member(top, "events"), 0);
	assert_false(json_object_object_get_ex(event, "rows", &none));
	assert_int_equal(json_object_array_length(member(event, "tree")), 2);
	assert_int_equal(json_object_get_int64(member(event, "below_limit")), 2);
	node = json_object_array_get_idx(member(event, "tree"), 0);
	node = json_object_array_get_idx(member(node, "children"), 0);
	node = json_object_array_get_idx(member(node, "children"), 1);
	assert_string_equal(json_object_get_string(member(node, "symbol")), "d");
	node = json_object_array_get_idx(member(node, "children"), 0);
	assert_string_equal(json_object_get_string(member(node, "image")), "lib.so");
	assert_true(json_object_get_double(member(node, "total_percent")) == 15);
	assert_int_equal(json_object_get_int64(member(node, "below_limit")), 3);
	assert_int_equal(json_object_array_length(member(node, "children")), 0);
	json_object_put(top);
	free(text);
}

/* --- recordings --- */

static void test_recording(void **state)
{
	static struct reader_status status = {
		.counts = {[9] = 40, [10] = 3, [68] = 2, [100] = 1}, .bad = 1};
	struct report report = grouped;
	struct json_object *top;
	char *text;

	(void)state;
	report.file = (struct report_file){.release = "6.18.1",
		.cpu = "Some CPU",
		.cpus = 8,
		.command = "perf record -a",
		.truncated = true,
		.status = &status};
	text = write_one(&report, REPORT_TEXT, 0);
	expect(text, "\nLinux 6.18.1, Some CPU, 8 CPUs\nrecorded by: perf record -a\n");
	free(text);
	text = write_one(&report, REPORT_JSON, 0);
	top = json_tokener_parse(text);
	assert_int_equal(json_object_get_int64(member(member(top, "records"), "SAMPLE")), 40);
	assert_int_equal(
		json_object_get_int64(member(member(top, "records"), "FINISHED_ROUND")), 2);
	assert_int_equal(json_object_get_int64(member(member(top, "records"), "100")), 1);
	assert_int_equal(json_object_get_int64(member(member(top, "recording"), "bad_records")), 1);
	assert_true(json_object_get_boolean(member(member(top, "recording"), "truncated")));
	assert_string_equal(
		json_object_get_string(member(member(top, "recording"), "cpu")), "Some CPU");
	json_object_put(top);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_lost_of_all_processes),
		cmocka_unit_test(test_text_is_cut_to_the_terminal),
		cmocka_unit_test(test_columns_are_aligned),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_unknown_figures),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_grouped_text),
		cmocka_unit_test(test_grouped_csv),
		cmocka_unit_test(test_grouped_json),
		cmocka_unit_test(test_events_side_by_side),
		cmocka_unit_test(test_tree_text),
		cmocka_unit_test(test_tree_csv_and_json),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_notes_come_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
