/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_csv.c - cells of CSV: quoted if necessary, never a formula, numbers unchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/base/csv.h"
#include "tui/commands/report.h"
#include "tui/session/request.h"

static void expect(const char *text, bool raw, const char *wanted)
{
	char *found = NULL;
	size_t size;
	FILE *out = open_memstream(&found, &size);

	assert_non_null(out);
	csv_put_text(out, text, (struct csv_style){.raw = raw});
	fclose(out);
	assert_string_equal(found, wanted);
	free(found);
}

static void test_quotes(void **state)
{
	(void)state;
	expect("", false, "");
	expect("main", false, "main");
	expect("a, b", false, "\"a, b\"");
	expect("say \"x\"", false, "\"say \"\"x\"\"\"");
	expect("a\nb", true, "\"a\nb\"");
}

static void test_formulas(void **state)
{
	static const char *const begins[] = {"=", "+", "-", "@", "\t", "\r", "\357\274\235",
		"\357\274\213", "\357\274\215", "\357\274\240"};

	(void)state;
	expect("=cmd|' /C calc'!A0", false, "\"'=cmd|' /C calc'!A0\"");
	expect("=HYPERLINK(\"x\")", false, "\"'=HYPERLINK(\"\"x\"\")\"");
	expect("=1+1", true, "=1+1");
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		char text[32], wanted[64];

		snprintf(text, sizeof(text), "%ssum(a1)", begins[i]);
		snprintf(wanted, sizeof(wanted), "\"'%s\"", text);
		expect(text, false, wanted);
		assert_true(csv_is_formula(begins[i]));
	}
	expect("a=1", false, "a=1");
	expect("[u8; 4]", false, "[u8; 4]");
	/* In some countries a semicolon ends a cell. */
	expect("x;=1+1;y", false, "x:=1+1;y");
	expect("x;=1+1;y", true, "x;=1+1;y");
}

static void test_numbers(void **state)
{
	static const char *const numbers[] = {"-5", "+5", "-0.25", "-1e9", "+1.5E-3"};
	static const char *const others[] = {
		"-", "-5a", "-5-1", "-.", "-1e", "-1+cmd|x", "-0x10", "--1"};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		expect(numbers[i], false, numbers[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_true(csv_is_formula(others[i]));
}

/* --- a report with names from a hostile program --- */

static const struct report_key keys[] = {{.text = "=1+1"}, {.text = "@lib"}};
static struct report_row rows[] = {{.keys = keys, .samples = 1, .self_weight = 1}};
static struct report_node nodes[] = {{.child = 1}, {.symbol = "-x", .image = "+i", .child = 2},
	{.symbol = "=y", .image = "i", .parent = 1}};

static char *write_csv(const struct report *report)
{
	char *found = NULL;
	size_t size;
	FILE *out = open_memstream(&found, &size);

	assert_non_null(out);
	assert_int_equal(report_write(out, report, REPORT_CSV, 0), 0);
	fclose(out);
	return found;
}

static void test_report(void **state)
{
	struct report_event event = {.name = "e", .rows = rows, .n_rows = 1};
	struct report report = {
		.keys = {GROUP_SYMBOL, GROUP_IMAGE}, .n_keys = 2, .events = &event, .n_events = 1};
	char *text = write_csv(&report);

	(void)state;
	assert_non_null(strstr(text, "\ne,\"'=1+1\",\"'@lib\",0.0000,"));
	assert_null(strchr(text, '\r'));
	free(text);
	report.csv.raw = true;
	text = write_csv(&report);
	assert_non_null(strstr(text, "\ne,=1+1,@lib,0.0000,"));
	free(text);
	report.csv.crlf = true;
	text = write_csv(&report);
	assert_non_null(strstr(text, "total_weight\r\ne,=1+1,@lib,0.0000,"));
	assert_string_equal(text + strlen(text) - 2, "\r\n");
	free(text);
}

static void test_tree(void **state)
{
	struct report_event event = {.name = "e", .nodes = nodes, .n_nodes = 3};
	struct report report = {.view = REPORT_TREE, .events = &event, .n_events = 1};
	char *text = write_csv(&report);

	(void)state;
	assert_non_null(strstr(text, "\ne,\"'-x\",\"'+i\","));
	assert_non_null(strstr(text, "\ne,\"'-x;=y\",i,"));
	free(text);
	report.csv.raw = true;
	text = write_csv(&report);
	assert_non_null(strstr(text, "\ne,\"-x;=y\",i,"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_formulas),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_tree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
