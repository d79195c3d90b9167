/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_fields.c - schemas of tracepoints and of sample_type bits: samples read and written.
 */
#include "sampler/fields/fields.h"

#include "sampler/machine/tracefs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char sched_switch[] =
	"name: sched_switch\nID: 372\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\n"
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> \", "
	"REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000040) + 1) << 1) - 1)) ? "
	"__print_flags(REC->prev_state & ((((0x00000000 | 0x0000003f | 0x00000040) + "
	"1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000040, \"P\" "
	"}, "
	"{ 0x00000080, \"I\" }) : \"R\", "
	"REC->prev_state & (((0x00000000 | 0x00000040 | 0x3f) + 1) << 1) ? \"+\" : \"\"\n";

static const char many_types[] =
	"\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] other;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * buf;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long args[2];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:__u8 saddr[4];\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:void (*fn)(struct x *);\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:u16 port;\toffset:44;\tsize:2;\tsigned:0;\n"
	"\tfield:short little;\toffset:46;\tsize:2;\tsigned:1;\n"
	"\tfield:int kind;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int flags;\toffset:60;\tsize:4;\tsigned:0;\n"
	"print fmt: \"%s 100%% %s buf=%lx fn=%pS bus=%pad kind=%s flags=%x\", __get_str(name), "
	"__get_rel_str(other), ((unsigned long)(REC->buf)), REC->fn, &(REC->port), "
	"__print_symbolic(REC->kind, { 0, \"a \\\"b\\\", c\" }, { (1UL << (2)), \"four\" }, "
	"{ (( gfp_t)0x8u), \"eight\" }, { UNKNOWN, \"no\" }), (unsigned int)REC->flags\n";

struct world {
	struct fields *fields;
	struct values *values;
	uint32_t id;
};

static void make(struct world *world, const char *format)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};

	*world = (struct world){0};
	assert_int_equal(fields_new(&world->fields, &attr, NULL, NULL, format), 0);
	assert_int_equal(values_new(&world->values), 0);
}

static void finish(struct world *world)
{
	fields_free(world->fields);
	values_free(world->values);
}

static void read_raw(struct world *world, const void *bytes, size_t len)
{
	struct record record = {.type = PERF_RECORD_SAMPLE};
	void *raw = malloc(len ? len : 1);

	memcpy(raw, bytes, len);
	record.sample.raw = raw;
	record.sample.raw_len = (uint32_t)len;
	values_unref(world->values, world->id, 1);
	assert_int_equal(
		fields_read(world->fields, &record, world->values, NULL, NULL, &world->id), 0);
	free(raw);
}

static void expect(
	const struct world *world, const char *name, enum field_kind kind, const char *text)
{
	int i = fields_find(world->fields, name);
	struct value value;
	char out[300];

	if (i < 0)
		print_message("no field %s\n", name);
	assert_true(i >= 0);
	assert_true(values_get(world->values, world->id, (size_t)i, &value));
	fields_format(world->fields, (size_t)i, &value, out, sizeof(out));
	if (strcmp(out, text))
		print_message("%s: '%s', not '%s'\n", name, out, text);
	assert_string_equal(out, text);
	assert_int_equal(fields_at(world->fields, (size_t)i)->kind, kind);
}

static void test_sched_switch(void **state)
{
	static const struct {
		int64_t state;
		const char *text;
	} states[] = {{0, "R"}, {1, "S"}, {2, "D"}, {0x80, "I"}, {0x41, "S|P"}, {0x100, "R+"},
		{0x20, "0x20"}};
	uint8_t raw[40] = {0};
	struct world world;
	int32_t number = -7;

	(void)state;
	make(&world, sched_switch);
	assert_int_equal(fields_count(world.fields), 4);
	assert_int_equal(fields_find(world.fields, "common_pid"), -1);
	assert_true(fields_sample_type(world.fields) & PERF_SAMPLE_RAW);
	memcpy(raw + 8, "bash\0junk", 9);
	memcpy(raw + 24, &number, 4);
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		memcpy(raw + 32, &states[i].state, 8);
		read_raw(&world, raw, sizeof(raw));
		expect(&world, "prev_comm", FIELD_TEXT, "bash");
		expect(&world, "prev_pid", FIELD_SIGNED, "-7");
		expect(&world, "prev_state", FIELD_ENUM, states[i].text);
	}
	/* In a raw record that is cut at any byte, missing values are 0 or empty. */
	for (size_t len = 0; len < sizeof(raw); len++)
		read_raw(&world, raw, len);
	read_raw(&world, raw, 12);
	expect(&world, "prev_comm", FIELD_TEXT, "bash");
	expect(&world, "prev_pid", FIELD_SIGNED, "0");
	finish(&world);
}

static void test_types(void **state)
{
	uint64_t words[10] = {0};
	uint8_t *raw = (uint8_t *)words;
	struct world world;

	(void)state;
	make(&world, many_types);
	words[1] = (64 | 6ull << 16) | (54ull | 5ull << 16) << 32; /* 54 + 16 = 70 */
	words[2] = 0xffff888000001000;
	words[3] = 1;
	words[4] = 0xabcdef;
	memcpy(raw + 40, "\x7f\x00\x00\x01\x39\x05\xff\xff", 8);
	words[6] = 0xffffffff81000010;
	words[7] = 4 | 0xf0ull << 32;
	memcpy(raw + 64, "hello\0worl", 10);
	read_raw(&world, raw, 80);
	expect(&world, "name", FIELD_TEXT, "hello");
	expect(&world, "other", FIELD_TEXT, "worl");
	expect(&world, "buf", FIELD_HEX, "0xffff888000001000");
	expect(&world, "args", FIELD_BYTES, "1 abcdef");
	expect(&world, "saddr", FIELD_BYTES, "7f000001");
	expect(&world, "fn", FIELD_CODE, "0xffffffff81000010");
	expect(&world, "port", FIELD_HEX, "0x539");
	expect(&world, "little", FIELD_SIGNED, "-1");
	expect(&world, "kind", FIELD_ENUM, "four");
	expect(&world, "flags", FIELD_HEX, "0xf0");
	words[7] = 8;
	read_raw(&world, raw, 80);
	expect(&world, "kind", FIELD_ENUM, "eight");
	words[7] = 0;
	read_raw(&world, raw, 80);
	expect(&world, "kind", FIELD_ENUM, "a \"b\", c");
	words[7] = 99;
	read_raw(&world, raw, 80);
	expect(&world, "kind", FIELD_ENUM, "0x63");
	/* Texts beyond the record. */
	words[1] = 0xffffffffffffffff;
	read_raw(&world, raw, 80);
	expect(&world, "name", FIELD_TEXT, "");
	finish(&world);
}

/* A format like kvm_exit's: another field selects the list of names. */
static const char two_lists[] =
	"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 isa;\toffset:12;\tsize:4;\tsigned:0;\n"
	"print fmt: \"reason %s%s\", (REC->isa == 1) ? __print_symbolic(REC->exit_reason & 0xffff, "
	"{ 0, \"EXCEPTION_NMI\" }, { 12, \"HLT\" }) : __print_symbolic(REC->exit_reason, "
	"{ 0, \"read_cr0\" }, { 12, \"other\" }), (REC->isa == 1) ? "
	"__print_flags(REC->exit_reason & ~0xffff, \" \", { 0x80000000, \"FAILED_VMENTRY\" }) : "
	"\"\"\n";

static void test_two_lists(void **state)
{
	static const struct {
		uint32_t reason, isa;
		const char *text;
	} cases[] = {{0, 1, "EXCEPTION_NMI"}, {0, 2, "read_cr0"}, {12, 1, "HLT"}, {12, 2, "other"},
		{99, 2, "0x63"}, {0x8000000c, 1, "HLT|0x8000000c"}};
	uint32_t raw[4] = {0};
	struct world world;

	(void)state;
	make(&world, two_lists);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		raw[2] = cases[i].reason;
		raw[3] = cases[i].isa;
		read_raw(&world, raw, sizeof(raw));
		expect(&world, "exit_reason", FIELD_TEXT, cases[i].text);
	}
	finish(&world);
}

/* Only a part of the number has names. The rest is shown, so that different values have different
 * texts. */
static void test_named_parts(void **state)
{
	static const char format[] =
		"\tfield:u32 a;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:u32 b;\toffset:12;\tsize:4;\tsigned:0;\n"
		"print fmt: \"%s %.*s\", __print_symbolic(REC->a & 0xff, { 1, \"one\" }), "
		"REC->b, __print_flags(REC->b, \", \", { 1, \"A\" }, { 2, \"B\" })\n";
	uint32_t raw[4] = {0, 0, 1, 3};
	struct world world;

	(void)state;
	make(&world, format);
	read_raw(&world, raw, sizeof(raw));
	expect(&world, "a", FIELD_ENUM, "one");
	expect(&world, "b", FIELD_ENUM, "A, B");
	raw[2] = 0x301;
	raw[3] = 0;
	read_raw(&world, raw, sizeof(raw));
	expect(&world, "a", FIELD_ENUM, "one|0x300");
	expect(&world, "b", FIELD_ENUM, "0");
	finish(&world);
}

static void test_text_pointers(void **state)
{
	static const char format[] = "\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
				     "print fmt: \"%s\", REC->s\n";
	static const char texts[] =
		"0x40 : \"four\"\n0x30 : \"three\"\n0x20 : \"two\"\n0x10 : \"one\\n\"\n";
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	const struct fields_source source = {
		.format = format, .texts = texts, .texts_len = sizeof(texts) - 1};
	uint64_t raw[2] = {0, 0x10};
	struct world world = {0};

	(void)state;
	assert_int_equal(fields_new_from(&world.fields, &attr, NULL, NULL, &source), 0);
	assert_int_equal(values_new(&world.values), 0);
	read_raw(&world, raw, sizeof(raw));
	expect(&world, "s", FIELD_ENUM, "one\n");
	raw[1] = 0x11;
	read_raw(&world, raw, sizeof(raw));
	expect(&world, "s", FIELD_ENUM, "0x11");
	finish(&world);
}

/* A long array is cut and marked. Different arrays stay different. */
static void test_long_arrays(void **state)
{
	static const char format[] = "\tfield:u8 a[5000];\toffset:8;\tsize:5000;\tsigned:0;\n";
	uint8_t *raw = calloc(1, 5008);
	struct value first, second;
	struct world world;
	char kept[VALUE_TEXT_MAX];

	(void)state;
	make(&world, format);
	read_raw(&world, raw, 5008);
	assert_true(values_get(world.values, world.id, 0, &first));
	assert_true(first.text_len < VALUE_TEXT_MAX);
	assert_non_null(strstr(first.text, "00\xe2\x80\xa6"));
	strcpy(kept, first.text);
	raw[5007] = 1;
	read_raw(&world, raw, 5008);
	assert_true(values_get(world.values, world.id, 0, &second));
	assert_string_not_equal(second.text, kept);
	finish(&world);
	free(raw);
}

/* With many arrays, different values stay different, too. */
static void test_many_arrays(void **state)
{
	char format[4096] = "", kept[VALUE_TEXT_MAX];
	uint8_t *raw = calloc(1, 40000);
	struct world world;
	struct value value;

	(void)state;
	for (int i = 0, len = 0; i < 40; i++)
		len += sprintf(format + len,
			"\tfield:u8 a%d[900];\toffset:%d;\tsize:900;\tsigned:0;\n", i, i * 900);
	make(&world, format);
	for (size_t i = 0; i < 40; i++) {
		memset(raw, 0, 40000);
		read_raw(&world, raw, 40000);
		assert_true(values_get(world.values, world.id, i, &value));
		assert_true(value.text_len >= 20);
		strcpy(kept, value.text);
		raw[i * 900 + 899] = 1;
		read_raw(&world, raw, 40000);
		assert_true(values_get(world.values, world.id, i, &value));
		assert_string_not_equal(value.text, kept);
	}
	finish(&world);
	free(raw);
}

static void test_bad_formats(void **state)
{
	static const char *const bad[] = {"", "print fmt: \"\"", "\tfield:int;\n",
		"\tfield:int a;\tsize:4;\n", "\tfield:int a;\toffset:99999;\tsize:4;\n", "junk\n"};
	static const char *const odd[] = {"print fmt: \"%s", "print fmt: \"%s\", __print_flags(",
		"print fmt: \"%s\", __print_flags(REC->a, \"|\", {1", "print fmt: \"%",
		"print fmt: \"%x\", (((((REC->a", "print fmt: \"%s\", REC->a ? \"",
		"print fmt: \"%s\", __print_symbolic(REC->a, {((((, \"x\"})",
		"print fmt: \"%s\", __print_symbolic(REC->a, {1<<2<, \"x\"})"};
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct fields *fields;
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(fields_new(&fields, &attr, NULL, NULL, bad[i]), -EBADMSG);
		assert_null(fields);
	}
	/* After the fields, the format may contain anything. */
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		snprintf(text, sizeof(text), "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n%s",
			odd[i]);
		assert_int_equal(fields_new(&fields, &attr, NULL, NULL, text), 0);
		assert_int_equal(fields_count(fields), 1);
		fields_free(fields);
	}
	fields_free(NULL);
	assert_int_equal(fields_count(NULL), 0);
	assert_int_equal(fields_find(NULL, "a"), -1);
}

static bool locate(void *ctx, uint64_t address, bool data, uint32_t *image, uint64_t *offset)
{
	(void)ctx;
	if (address < 0x1000)
		return false;
	*image = data ? 9 : 4;
	*offset = address - 0x1000;
	return true;
}

static void test_sample_type(void **state)
{
	const struct perf_event_attr plain = {.type = PERF_TYPE_SOFTWARE};
	const struct perf_event_attr attr = {.type = PERF_TYPE_RAW,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC |
			PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION |
			PERF_SAMPLE_BRANCH_STACK};
	const struct perf_branch_entry branch = {
		.from = 0x2000, .to = 0x500, .mispred = 1, .cycles = 12, .type = PERF_BR_CALL};
	struct record record = {.type = PERF_RECORD_SAMPLE,
		.sample = {.addr = 0x7000,
			.has_more = true,
			.more = {.data_src = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) |
					PERF_MEM_S(LVLNUM, L3) | PERF_MEM_S(SNOOP, HITM) |
					PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, HIT) |
					PERF_MEM_S(LOCK, LOCKED),
				.weight = 55,
				.weight_2 = 7,
				.transaction = PERF_TXN_TRANSACTION | PERF_TXN_SYNC | 0x1full << 32,
				.branches = &branch,
				.n_branches = 1}}};
	struct world world = {0};
	struct value value;

	(void)state;
	assert_int_equal(fields_new(&world.fields, &plain, NULL, NULL, NULL), 0);
	assert_null(world.fields);
	assert_int_equal(fields_new(&world.fields, &attr, NULL, NULL, NULL), 0);
	assert_int_equal(values_new(&world.values), 0);
	assert_int_equal(
		fields_sample_type(world.fields), attr.sample_type & ~(uint64_t)PERF_SAMPLE_IP);
	assert_int_equal(
		fields_read(world.fields, &record, world.values, locate, NULL, &world.id), 0);
	expect(&world, "addr", FIELD_DATA, "0x6000");
	assert_true(values_get(world.values, world.id, 0, &value));
	assert_true(value.has_image && value.image == 9);
	expect(&world, "data_src.op", FIELD_ENUM, "LOAD");
	expect(&world, "data_src.level", FIELD_ENUM, "L3 hit");
	expect(&world, "data_src.snoop", FIELD_ENUM, "HitM");
	expect(&world, "data_src.tlb", FIELD_ENUM, "L1 hit");
	expect(&world, "data_src.lock", FIELD_ENUM, "Yes");
	expect(&world, "data_src.blk", FIELD_ENUM, "N/A");
	expect(&world, "data_src.hops", FIELD_ENUM, "N/A");
	expect(&world, "weight", FIELD_UNSIGNED, "55");
	expect(&world, "weight2", FIELD_UNSIGNED, "7");
	expect(&world, "transaction", FIELD_ENUM, "TX SYNC :1f");
	expect(&world, "branch.from", FIELD_CODE, "0x1000");
	expect(&world, "branch.to", FIELD_CODE, "0x500");
	expect(&world, "branch.prediction", FIELD_ENUM, "mispredicted");
	expect(&world, "branch.cycles", FIELD_UNSIGNED, "12");
	expect(&world, "branch.type", FIELD_ENUM, "CALL");
	/* Levels as older kernels encode them. */
	values_unref(world.values, world.id, 1);
	record.sample.more.data_src = PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, LOC_RAM);
	record.sample.more.n_branches = 0;
	assert_int_equal(
		fields_read(world.fields, &record, world.values, NULL, NULL, &world.id), 0);
	expect(&world, "data_src.level", FIELD_ENUM, "Local RAM miss");
	expect(&world, "data_src.lock", FIELD_ENUM, "No");
	expect(&world, "addr", FIELD_DATA, "0x7000");
	expect(&world, "branch.from", FIELD_CODE, "0x0");
	/* Rare fields. */
	values_unref(world.values, world.id, 1);
	record.sample.more.data_src = PERF_MEM_S(OP, EXEC) | PERF_MEM_S(OP, LOAD);
	record.sample.more.transaction = PERF_TXN_ELISION | PERF_TXN_ASYNC | PERF_TXN_CAPACITY_READ;
	assert_int_equal(
		fields_read(world.fields, &record, world.values, NULL, NULL, &world.id), 0);
	expect(&world, "data_src.op", FIELD_ENUM, "LOAD|EXEC");
	expect(&world, "transaction", FIELD_ENUM, "EL ASYNC CAP-READ");
	finish(&world);
}

/* Each tracepoint of this machine has a schema. */
static void test_this_machine(void **state)
{
	const struct system_dirs *system = system_dirs();
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct sysfile_names subsystems, events;
	size_t seen = 0, named = 0;

	(void)state;
	if (!system->tracefs || tracefs_subsystems(system, &subsystems)) {
		print_message("skipped: tracefs cannot be read here\n");
		skip();
	}
	for (size_t i = 0; i < subsystems.n; i++) {
		if (!strcmp(subsystems.names[i], "syscalls"))
			continue; /* many of one kind */
		if (tracefs_events(system, subsystems.names[i], &events))
			continue;
		for (size_t k = 0; k < events.n; k++) {
			struct fields *fields;
			size_t len;
			char *text;

			if (tracefs_format(
				    system, subsystems.names[i], events.names[k], &text, &len))
				continue;
			assert_int_equal(fields_new(&fields, &attr, NULL, NULL, text), 0);
			seen++;
			for (size_t f = 0; f < fields_count(fields); f++) {
				assert_true(fields_at(fields, f)->name[0]);
				named += fields_at(fields, f)->kind == FIELD_ENUM;
			}
			fields_free(fields);
			free(text);
		}
		sysfile_names_fini(&events);
	}
	sysfile_names_fini(&subsystems);
	print_message("%zu formats, %zu fields with names\n", seen, named);
	assert_true(seen < 50 || named > seen / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sched_switch),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_two_lists),
		cmocka_unit_test(test_named_parts),
		cmocka_unit_test(test_text_pointers),
		cmocka_unit_test(test_long_arrays),
		cmocka_unit_test(test_many_arrays),
		cmocka_unit_test(test_bad_formats),
		cmocka_unit_test(test_sample_type),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
