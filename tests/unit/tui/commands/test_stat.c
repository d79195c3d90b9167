/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_stat.c - printed counts: sums of cells, ratios, means, and the three formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tui/commands/stat_private.h"
#include "tui/session/request.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS 1000000ull

enum { CYCLES, INSTRUCTIONS, BRANCHES, MISSES, CLOCK, EVENTS };

/* One row of five events that ran all the time, for 2 seconds. */
struct fixture {
	struct stat_event events[EVENTS];
	struct stat_count counts[EVENTS];
	struct stat_row row;
	struct stat_table table;
};

static void fill(struct fixture *fix)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config, count;
	} events[EVENTS] = {
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 4000000},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 6000000},
		{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000000},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 30000},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1000 * MS},
	};

	memset(fix, 0, sizeof(*fix));
	fix->table = (struct stat_table){.target = "make",
		.events = fix->events,
		.n_events = EVENTS,
		.rows = &fix->row,
		.n_rows = 1,
		.time_s = 2,
		.elapsed_s = 2,
		.user_s = -1,
		.system_s = -1};
	fix->row = (struct stat_row){.pid = -1,
		.tid = -1,
		.cpu = -1,
		.core = -1,
		.socket = -1,
		.node = -1,
		.counts = fix->counts};
	for (size_t i = 0; i < EVENTS; i++) {
		struct counting_cell now = {
			.value = events[i].count, .enabled_ns = 1000 * MS, .running_ns = 1000 * MS};
		const struct counting_cell before = {0};

		strcpy(fix->events[i].name, events[i].name);
		fix->events[i].unit = i == CLOCK ? "ms" : "";
		fix->events[i].scale = i == CLOCK ? 1e-6 : 1;
		fix->events[i].attr.type = events[i].type;
		fix->events[i].attr.config = events[i].config;
		fix->events[i].opened = true;
		fix->counts[i].missing = STAT_ABSENT;
		stat_add(&fix->counts[i], &now, &before);
		stat_settle(&fix->counts[i], &fix->events[i]);
	}
	stat_metrics(&fix->table, &fix->row);
}

static void check_metric(const struct fixture *fix, size_t i, double value, const char *unit)
{
	const struct stat_metric *metric = &fix->counts[i].metric;

	assert_non_null(metric->unit);
	assert_string_equal(metric->unit, unit);
	assert_true(metric->value > value - 1e-6 && metric->value < value + 1e-6);
}

static void test_metrics(void **state)
{
	struct fixture fix;

	(void)state;
	fill(&fix);
	check_metric(&fix, CYCLES, 0.004, "GHz");
	check_metric(&fix, INSTRUCTIONS, 1.5, "per cycle");
	check_metric(&fix, BRANCHES, 500000, "/s");
	check_metric(&fix, MISSES, 3, "% of branches");
	check_metric(&fix, CLOCK, 0.5, "CPUs utilized");
	/* Without branches, misses are related to instructions. */
	fix.counts[BRANCHES].missing = STAT_NO_ROOM;
	stat_metrics(&fix.table, &fix.row);
	check_metric(&fix, MISSES, 5, "per 1,000 instructions");
	assert_null(fix.counts[BRANCHES].metric.unit);
}

/* Counts of different times or modes have no ratio. */
static void test_no_false_ratio(void **state)
{
	struct fixture fix;

	(void)state;
	fill(&fix);
	fix.counts[CYCLES].running_ns /= 2;
	stat_metrics(&fix.table, &fix.row);
	check_metric(&fix, INSTRUCTIONS, 3000000, "/s");
	/* Events of one group ran together, for any part of the time. */
	fix.counts[INSTRUCTIONS].running_ns /= 2;
	fix.events[CYCLES].group = fix.events[INSTRUCTIONS].group = 3;
	stat_metrics(&fix.table, &fix.row);
	check_metric(&fix, INSTRUCTIONS, 1.5, "per cycle");
	fix.events[CYCLES].attr.exclude_kernel = 1;
	stat_metrics(&fix.table, &fix.row);
	check_metric(&fix, INSTRUCTIONS, 3000000, "/s");
}

static void test_sums(void **state)
{
	const struct stat_event event = {.scale = 0.5, .opened = true}, never = {.scale = 1};
	const struct stat_event too_many = {.scale = 1, .no_room = true};
	const struct counting_cell none = {0};
	struct counting_cell half = {.value = 100, .enabled_ns = 10, .running_ns = 5};
	struct counting_cell whole = {.value = 7, .enabled_ns = 10, .running_ns = 10};
	struct counting_cell starved = {.enabled_ns = 10}, asleep = {0},
			     pinned = {.in_error = true};
	struct stat_count count = {.missing = STAT_ABSENT};

	(void)state;
	stat_add(&count, &half, &none);
	stat_add(&count, &whole, &none);
	stat_settle(&count, &event);
	assert_int_equal(count.missing, STAT_COUNTED);
	assert_int_equal(count.count, 107);
	assert_true(count.estimate > 206.9 && count.estimate < 207.1);
	assert_true(count.scaled > 103.4 && count.scaled < 103.6);
	assert_int_equal(count.enabled_ns, 20);
	assert_int_equal(count.running_ns, 15);
	/* An interval counts only the increase. */
	count = (struct stat_count){.missing = STAT_ABSENT};
	half = (struct counting_cell){.value = 130, .enabled_ns = 20, .running_ns = 15};
	stat_add(&count, &half,
		&(struct counting_cell){.value = 100, .enabled_ns = 10, .running_ns = 5});
	stat_settle(&count, &event);
	assert_int_equal(count.count, 30);
	assert_true(count.estimate > 29.9 && count.estimate < 30.1);
	/* An event that never ran is not shown as 0. */
	count = (struct stat_count){.missing = STAT_ABSENT};
	stat_add(&count, &starved, &none);
	stat_settle(&count, &event);
	assert_int_equal(count.missing, STAT_NO_ROOM);
	count = (struct stat_count){.missing = STAT_ABSENT};
	stat_add(&count, &asleep, &none);
	stat_settle(&count, &event);
	assert_int_equal(count.missing, STAT_DID_NOT_RUN);
	count = (struct stat_count){.missing = STAT_ABSENT};
	stat_add(&count, &pinned, &none);
	stat_settle(&count, &event);
	assert_int_equal(count.missing, STAT_PINNED_OUT);
	count = (struct stat_count){.missing = STAT_ABSENT};
	stat_settle(&count, &event);
	assert_int_equal(count.missing, STAT_ABSENT);
	stat_settle(&count, &never);
	assert_int_equal(count.missing, STAT_NOT_SUPPORTED);
	stat_settle(&count, &too_many);
	assert_int_equal(count.missing, STAT_NO_ROOM);
}

static void test_means(void **state)
{
	struct stat_means *means = NULL;
	struct fixture fix;

	(void)state;
	for (int i = 0; i < 3; i++) {
		fill(&fix);
		fix.counts[CYCLES].estimate = 90 + 10 * i; /* 90, 100, 110 */
		fix.table.elapsed_s = 2;
		assert_int_equal(stat_means_add(&means, &fix.table), 0);
	}
	stat_means_take(means, &fix.table);
	assert_int_equal(fix.table.runs, 3);
	assert_true(fix.counts[CYCLES].estimate > 99.99 && fix.counts[CYCLES].estimate < 100.01);
	/* sqrt(100 / 3), in percent of 100 */
	assert_true(fix.counts[CYCLES].deviation_percent > 5.773 &&
		fix.counts[CYCLES].deviation_percent < 5.774);
	assert_true(fix.counts[BRANCHES].deviation_percent < 1e-9);
	fix.table.n_events--;
	assert_true(stat_means_add(&means, &fix.table) < 0);
	stat_means_free(means);
	stat_means_free(NULL);
}

static void test_numbers(void **state)
{
	char out[64];

	(void)state;
	assert_string_equal(stat_number(out, 0, 0), "0");
	assert_string_equal(stat_number(out, 1234567, 0), "1,234,567");
	assert_string_equal(stat_number(out, 1234.567, 2), "1,234.57");
	assert_string_equal(stat_number(out, 999.996, 2), "1,000.00");
	assert_string_equal(stat_number(out, -1, 0), "0");
}

static char *text;
static size_t text_len;

static FILE *begin_text(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &text_len);
}

static void test_text(void **state)
{
	static const char *const lines[] = {
		"\n  make\n\n",
		"      4,000,000     cycles         0.004 GHz\n",
		"      6,000,000     instructions   1.500 per cycle\n",
		"  <not counted>     branches       (no room)\n",
		"         30,000     branch-misses  5.000 per 1,000 instructions\n",
		"       1,000.00 ms  task-clock     0.500 CPUs utilized\n",
		"\n  2.000000 s elapsed\n",
	};
	struct fixture fix;
	FILE *out = begin_text();

	(void)state;
	fill(&fix);
	fix.counts[BRANCHES].missing = STAT_NO_ROOM;
	stat_metrics(&fix.table, &fix.row);
	stat_put_text(out, &fix.table);
	fclose(out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(text, lines[i]))
			fail_msg("'%s' is not in:\n%s", lines[i], text);
	/* An event that ran for a part of the time shows that part. */
	out = begin_text();
	fix.counts[CYCLES].running_ns = fix.counts[CYCLES].enabled_ns / 4;
	stat_put_text(out, &fix.table);
	fclose(out);
	assert_non_null(strstr(text, "25.0% running\n"));
	/* never opened */
	out = begin_text();
	fix.counts[CYCLES].missing = STAT_NOT_SUPPORTED;
	fix.events[CYCLES].opened = false;
	stat_put_text(out, &fix.table);
	fclose(out);
	assert_non_null(strstr(text, "<not supported>"));
	out = begin_text();
	fix.events[CYCLES].by_default = true;
	stat_put_text(out, &fix.table);
	fclose(out);
	assert_null(strstr(text, "<not supported>"));
}

static void test_line(void **state)
{
	struct fixture fix;
	FILE *out = begin_text();

	(void)state;
	fill(&fix);
	fix.counts[CYCLES].running_ns /= 2;
	fix.counts[BRANCHES].missing = STAT_NO_ROOM;
	stat_put_line(out, &fix.table, true);
	fclose(out);
	assert_string_equal(text,
		"    TIME s          cycles    instructions        branches   branch-misses"
		"   task-clock ms\n"
		"     2.000      ~4,000,000       6,000,000               -          30,000"
		"        1,000.00\n");
}

static void test_csv(void **state)
{
	struct fixture fix;
	FILE *out = begin_text();

	(void)state;
	fill(&fix);
	strcpy(fix.events[CYCLES].name, "a\"b,c");
	fix.row.cpu = 3;
	fix.counts[BRANCHES].missing = STAT_PINNED_OUT;
	stat_put_csv(out, &fix.table, true, (struct csv_style){.raw = false});
	fclose(out);
	assert_memory_equal(text, "time_s,elapsed_s,process,", 25);
	assert_non_null(strstr(text,
		"\n2.000000,2.000000,,,,3,,,,\"a\"\"b,c\",,4000000,4000000,,1000000000,"
		"1000000000,"
		"100.00,,0.004000,GHz,\n"));
	assert_non_null(
		strstr(text, ",branches,,,,,1000000000,1000000000,100.00,pinned: no room,"));
	assert_non_null(strstr(text, ",task-clock,,1000000000,1000.000000,ms,"));
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value))
		fail_msg("'%s' is missing in %s", key, json_object_to_json_string(object));
	return value;
}

static void test_json(void **state)
{
	struct json_object *top, *events, *event;
	char *notes[] = {(char[]){"a \"note\""}};
	struct fixture fix;
	FILE *out = begin_text();

	(void)state;
	fill(&fix);
	fix.row.pid = 12;
	strcpy(fix.row.command, "m\"k");
	fix.table.per = STAT_PER_PROCESS;
	fix.counts[BRANCHES].missing = STAT_NO_ROOM;
	fix.table.notes = notes;
	fix.table.n_notes = 1;
	stat_put_json(out, &fix.table, false);
	fclose(out);
	top = json_tokener_parse(text);
	assert_non_null(top);
	assert_string_equal(json_object_get_string(member(top, "per")), "process");
	assert_string_equal(
		json_object_get_string(json_object_array_get_idx(member(top, "notes"), 0)),
		notes[0]);
	events = member(top, "events");
	assert_int_equal(json_object_array_length(events), EVENTS);
	event = json_object_array_get_idx(events, CYCLES);
	assert_int_equal(json_object_get_int64(member(event, "count")), 4000000);
	assert_int_equal(json_object_get_int(member(event, "process")), 12);
	assert_string_equal(json_object_get_string(member(event, "command")), "m\"k");
	assert_null(member(event, "not_counted"));
	event = json_object_array_get_idx(events, BRANCHES);
	assert_null(member(event, "count"));
	assert_string_equal(json_object_get_string(member(event, "not_counted")), "no room");
	json_object_put(top);
	/* An interval is one line. */
	out = begin_text();
	stat_put_json(out, &fix.table, true);
	fclose(out);
	assert_ptr_equal(strchr(text, '\n'), text + text_len - 1);
	top = json_tokener_parse(text);
	assert_non_null(top);
	json_object_put(top);
	free(text);
	text = NULL;
}

static void put_file(const char *root, const char *file, const char *content)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	for (char *at = strchr(path + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	if (!content) {
		assert_int_equal(mkdir(path, 0700), 0);
		return;
	}
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(content, out);
	fclose(out);
}

static void test_topology(void **state)
{
	char root[] = "/tmp/strobe-stat-XXXXXX";
	struct stat_cpu cpu;

	(void)state;
	assert_non_null(mkdtemp(root));
	put_file(root, "devices/system/cpu/cpu5/topology/core_id", "2\n");
	put_file(root, "devices/system/cpu/cpu5/topology/physical_package_id", "1\n");
	put_file(root, "devices/system/cpu/cpu5/node3", NULL);
	stat_find_cpu(root, 5, &cpu);
	assert_int_equal(cpu.core, 2);
	assert_int_equal(cpu.socket, 1);
	assert_int_equal(cpu.node, 3);
	stat_find_cpu(root, 6, &cpu);
	assert_int_equal(cpu.core, -1);
	assert_int_equal(cpu.socket, -1);
	assert_int_equal(cpu.node, -1);
	assert_int_equal(scratch_remove_tree(root), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_no_false_ratio),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_means),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
