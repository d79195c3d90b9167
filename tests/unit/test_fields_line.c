/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_fields_line.c - lines of tracepoints by their print formats: expressions, conversions, and what is not understood.
 */
#include "sampler/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char some_fields[] =
	"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 b;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:char name[8];\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:__u8 saddr[4];\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:int kind;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long args[2];\toffset:32;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long fn;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:const void * nothing;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int flags;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\tfield:__u8 v6[16];\toffset:68;\tsize:16;\tsigned:0;\n";

static const struct {
	const char *print; /* the format and its arguments */
	const char *line; /* NULL: not understood */
} cases[] = {
	{"\"plain\"", "plain"},
	{"\"100%% \\\"%d\\\"\\t%u\", REC->a, REC->b", "100% \"-5\"\t7"},
	{"\"%5d|%-5d|%05d|%x\", REC->a, REC->a, REC->b, REC->a", "   -5|-5   |00007|fffffffb"},
	{"\"%lx %llu %hd %hhu\", REC->a, REC->b, REC->a, REC->a", "fffffffb 7 -5 251"},
	{"\"0x%08lx\", ((unsigned long)(REC->b))", "0x00000007"},
	{"\"%s<%8s>\", REC->name, __get_str(name)", "sh<      sh>"},
	{"\"%d %d %d\", 1 + 2 * 3, (1 + 2) * 3, 7 - 2 - 1", "7 9 4"},
	{"\"%d %d %d\", 1 << 4 | 1, REC->b & 6 && 0, !REC->b", "17 0 0"},
	{"\"%d %d\", REC->a < 0 ? 1 : 2, REC->b == 8 ? 1 : 2", "1 2"},
	{"\"%d\", (unsigned long)REC->a >= (unsigned long)-4095", "1"},
	{"\"%d\", (unsigned long)REC->b >= (unsigned long)-4095", "0"},
	{"\"%d %d\", REC->a / 2, REC->a % 3", "-2 -2"},
	{"\"%s\", REC->b ? \"yes\" : \"no\"", "yes"},
	{"\"%u\", (u8)REC->a", "251"},
	{"\"%d\", __builtin_expect(!!(REC->b), 0)", "1"},
	{"\"%lx %lx\", REC->args[0], REC->args[1]", "10 20"},
	{"\"%u.%u\", REC->saddr[0], REC->saddr[3]", "127.1"},
	{"\"%pI4 %pI6c\", REC->saddr, REC->v6", "127.0.0.1 ::1"},
	{"\"%pS %ps\", (void *)REC->fn, (void *)REC->fn", "function+0x10 function"},
	{"\"%p %p\", REC->fn, REC->nothing", "0xffffffff81000010 (nil)"},
	{"\"%pS\", REC->nothing", "(nil)"},
	{"\"%s\", __print_symbolic(REC->kind, { 1, \"one\" }, { 2, \"two, (three)\" })",
		"two, (three)"},
	{"\"%s\", (REC->flags) ? __print_flags(REC->flags, \"|\", { 1UL, \"A\" }, { (1 << 1), "
	 "\"B\" }) : "
	 "\"none\"",
		"A|B|0x4"},
	{"\"%d and more\", REC->b, REC->a", "7 and more"},
	/* Not understood, or against the rules. */
	{"\"%d\", REC->missing", NULL},
	{"\"%d\", __print_hex(REC->saddr, 4)", NULL},
	{"\"%d\"", NULL},
	{"\"%d\", ", NULL},
	{"\"%d\", (REC->a", NULL},
	{"\"%s\", REC->b", NULL},
	{"\"%d\", REC->name", NULL},
	{"\"%d\", REC->b / (REC->b - 7)", NULL},
	{"\"%pQ\", REC->fn", NULL},
	{"\"%9999d\", REC->a", NULL},
	{"\"%lx\", REC->args[2]", NULL},
	{"\"%lx\", REC->saddr[4000000000]", NULL},
	{"\"%", NULL},
	{"\"%d\", \"unfinished", NULL},
};

static bool name_of(void *ctx, uint64_t address, bool with_offset, char *out, size_t size)
{
	(void)ctx;
	if (address < 0xffffffff81000000)
		return false;
	snprintf(out, size, with_offset ? "function+0x%llx" : "function",
		(unsigned long long)address - 0xffffffff81000000);
	return true;
}

struct world {
	struct fields *fields;
	struct values *values;
	uint32_t id;
};

static void make(struct world *world, const char *print)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct record record = {.type = PERF_RECORD_SAMPLE};
	const uint64_t args[] = {0x10, 0x20, 0xffffffff81000010};
	const int32_t a = -5, kind = 2;
	const uint32_t b = 7, flags = 7;
	uint8_t raw[84] = {0};
	size_t size = sizeof(some_fields) + strlen(print) + 64;
	char *format = malloc(size);

	assert_non_null(format);
	snprintf(format, size, "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", some_fields, print);
	memcpy(raw + 8, &a, 4);
	memcpy(raw + 12, &b, 4);
	memcpy(raw + 16, "sh", 2);
	memcpy(raw + 24, "\x7f\0\0\1", 4);
	memcpy(raw + 28, &kind, 4);
	memcpy(raw + 32, args, sizeof(args));
	memcpy(raw + 64, &flags, 4);
	raw[83] = 1;
	record.sample.raw = raw;
	record.sample.raw_len = sizeof(raw);
	assert_int_equal(fields_new(&world->fields, &attr, NULL, NULL, format), 0);
	assert_int_equal(values_new(&world->values), 0);
	assert_int_equal(
		fields_read(world->fields, &record, world->values, NULL, NULL, &world->id), 0);
	free(format);
}

static void finish(struct world *world)
{
	fields_free(world->fields);
	values_free(world->values);
}

static void test_cases(void **state)
{
	const struct fields_line_names names = {.code = name_of};
	struct world world;
	char out[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool done;

		make(&world, cases[i].print);
		done = fields_line(world.fields, world.values, world.id, &names, out, sizeof(out));
		if (done != (cases[i].line != NULL) || (done && strcmp(out, cases[i].line)))
			fail_msg("%s: %s, not %s", cases[i].print, done ? out : "(nothing)",
				cases[i].line ? cases[i].line : "(nothing)");
		finish(&world);
	}
}

static void test_small_buffers_and_depth(void **state)
{
	char print[4096] = "\"%d\", ", out[8];
	struct world world;

	(void)state;
	make(&world, "\"%s and %d\", REC->name, REC->a");
	assert_true(fields_line(world.fields, world.values, world.id, NULL, out, sizeof(out)));
	assert_string_equal(out, "sh and ");
	assert_false(fields_line(NULL, world.values, world.id, NULL, out, sizeof(out)));
	assert_false(fields_line(world.fields, world.values, VALUES_NONE, NULL, out, sizeof(out)));
	finish(&world);
	memset(print + 6, '(', 2000);
	make(&world, print);
	assert_false(fields_line(world.fields, world.values, world.id, NULL, out, sizeof(out)));
	finish(&world);
	memset(print + 6, '!', 2000);
	make(&world, print);
	assert_false(fields_line(world.fields, world.values, world.id, NULL, out, sizeof(out)));
	finish(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_small_buffers_and_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
