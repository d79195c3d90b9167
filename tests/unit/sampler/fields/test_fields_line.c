/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_fields_line.c - tracepoint lines by print formats: expressions, conversions, fallback.
 *
 * The formats are those of Linux 6.18, with other names of fields.
 */
#include "sampler/fields/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
	"\tfield:__u8 v6[16];\toffset:68;\tsize:16;\tsigned:0;\n"
	"\tfield:__u8 isatap[16];\toffset:84;\tsize:16;\tsigned:0;\n"
	"\tfield:__u8 socket[28];\toffset:100;\tsize:28;\tsigned:0;\n"
	"\tfield:__u8 socket6[28];\toffset:128;\tsize:28;\tsigned:0;\n"
	"\tfield:u8 fsid[16];\toffset:156;\tsize:16;\tsigned:0;\n"
	"\tfield:const char * text;\toffset:176;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 big;\toffset:184;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] path;\toffset:192;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u64[] list;\toffset:196;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t cpumask;\toffset:200;\tsize:4;\tsigned:0;\n"
	"\tfield:u16 prio;\toffset:204;\tsize:2;\tsigned:0;\n"
	"\tfield:u16 none;\toffset:206;\tsize:2;\tsigned:0;\n"
	"\tfield:s16 signs[2];\toffset:248;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[][2] texts;\toffset:192;\tsize:8;\tsigned:1;\n";

static const struct {
	const char *print; /* the format and its arguments */
	const char *line; /* NULL if the line has all fields by name */
} cases[] = {
	{"\"plain\"", "plain"},
	{"\"100%% \\\"%d\\\"\\t%u\", REC->a, REC->b", "100% \"-5\"\t7"},
	{"\"one \" \"%d\" \" two\", REC->a", "one -5 two"},
	/* Conversions of numbers. */
	{"\"%5d|%-5d|%05d|%x\", REC->a, REC->a, REC->b, REC->a", "   -5|-5   |00007|fffffffb"},
	{"\"%lx %llu %hd %hhu\", REC->a, REC->b, REC->a, REC->a", "fffffffb 7 -5 251"},
	{"\"0x%08lx\", ((unsigned long)(REC->b))", "0x00000007"},
	{"\"%#x %#x %#lx %#06x %#o %#o\", REC->b, REC->none, REC->fn, REC->none, REC->b, REC->none",
		"0x7 0x0 0xffffffff81000010 0x0000 07 0"},
	{"\"%+d % d %.3d|%6.3d|%-6.3x|\", REC->b, REC->b, REC->b, REC->b, REC->b",
		"+7  7 007|   007|007   |"},
	{"\"%zu %lld %Lu %X\", REC->fn, REC->big, REC->big, REC->fn",
		"18446744071578845200 -9000000000 18446744064709551616 81000010"},
	{"\"%c%c%c\", REC->b ? 'F' : ' ', REC->none ? 'S' : '.', '\\n'", "F.\n"},
	{"\"%*d|%-*d|\", 5, REC->b, 3, REC->b", "    7|7  |"},
	/* Texts. */
	{"\"%s<%8s>%-4s|\", REC->name, __get_str(name), REC->name", "sh<      sh>sh  |"},
	{"\"name %.*s namelen %d\", REC->b, REC->b ? __get_str(path) : ((void *)0), REC->b",
		"name /usr/lo namelen 7"},
	{"\"name %.*s|%s\", REC->none, REC->none ? __get_str(path) : ((void *)0), (void *)0",
		"name |(null)"},
	{"\"%s%s\", __get_str(path)[0] ? \" \" : \"\", __get_str(path)", " /usr/local/x"},
	/* The array of a probe's argument of type string[2]. */
	{"\"texts={\\\"%s\\\"}\", __get_str(texts[0])", "texts={\"/usr/local/x\"}"},
	{"\"%s\", __get_str(texts[2])", NULL},
	{"\"%s %s\", REC->text, REC->nothing", "rcu \"x\" (null)"},
	{"\"%s\", REC->b ? \"yes\" : \"no\"", "yes"},
	/* Expressions. */
	{"\"%d %d %d\", 1 + 2 * 3, (1 + 2) * 3, 7 - 2 - 1", "7 9 4"},
	{"\"%d %d %d\", 1 << 4 | 1, REC->b & 6 && 0, !REC->b", "17 0 0"},
	{"\"%d %d\", REC->a < 0 ? 1 : 2, REC->b == 8 ? 1 : 2", "1 2"},
	{"\"%d\", (unsigned long)REC->a >= (unsigned long)-4095", "1"},
	{"\"%d\", (unsigned long)REC->b >= (unsigned long)-4095", "0"},
	{"\"%d %d\", REC->a / 2, REC->a % 3", "-2 -2"},
	{"\"%u %u %d\", (REC->b - 8) / 2, REC->b - 8, REC->a < REC->b", "2147483647 4294967295 0"},
	{"\"%llu %d\", (REC->big >= -9ULL) || (REC->big == 1ULL), -1 > 0u", "0 1"},
	{"\"%u %d %d\", (u8)REC->a, (s8)REC->args[0], (short)65535", "251 16 -1"},
	{"\"%d/%d\", ((uint)((REC->fn)>>32)), ((uint)(REC->fn))", "-1/-2130706416"},
	{"\"%d %llu\", (unknown_type)REC->a, (unsigned long long) REC->b", "-5 7"},
	{"\"%d,%d\", ((unsigned int) ((REC->flags) >> 20)), ((unsigned int) ((REC->flags) & ((1U "
	 "<< "
	 "20) - 1)))",
		"0,7"},
	{"\"%d\", __builtin_expect(!!(REC->b), 0)", "1"},
	{"\"%d\", ({ int __UNIQUE_ID_x_920 = (REC->b); int __UNIQUE_ID_y_921 = (128); "
	 "((__UNIQUE_ID_x_920) < (__UNIQUE_ID_y_921) ? (__UNIQUE_ID_x_920) : (__UNIQUE_ID_y_921)); "
	 "})",
		"7"},
	{"\"%d %d\", ({ typeof(REC->b) _x = (REC->b); const __typeof__(REC->a) _y = (9); _x < _y ? "
	 "_x "
	 ": _y; }), (typeof(REC->kind))REC->kind",
		"7 2"},
	{"\"%zu %zu %zu %zu\", sizeof(u64), sizeof(unsigned int), sizeof(void *), "
	 "sizeof(REC->saddr)",
		"8 4 8 4"},
	{"\"%zu %zu %zu %zu %zu %zu\", sizeof(REC->prio), sizeof REC->name, sizeof(REC->args) / "
	 "sizeof(REC->args[0]), sizeof(*REC->signs), sizeof (bool) * 3, sizeof(char *)",
		"2 8 2 2 3 8"},
	{"\"%zu %zu %d\", sizeof(cpumask_t), sizeof( struct in6_addr ) * 2, REC->b",
		"sizeof(cpumask_t) sizeof( struct in6_addr )*2 7"},
	{"\"%d %d %s\", REC->b ?: 3, REC->none ?: 3, __get_str(path) ?: \"?\"", "7 3 /usr/local/x"},
	{"\"%u %u\", __builtin_bswap16(REC->prio), __fswab32((u32)REC->b)", "1216 117440512"},
	{"\"%d and more\", REC->b, REC->a", "7 and more"},
	/* Arrays. */
	{"\"%lx %lx\", REC->args[0], REC->args[1]", "10 20"},
	{"\"%u.%u\", REC->saddr[0], REC->saddr[3]", "127.1"},
	{"\"%s\", __print_array(__get_dynamic_array(list), __get_dynamic_array_len(list) / "
	 "sizeof(u64), sizeof(u64))",
		"{0x1000,0xabc}"},
	{"\"%s %s %s\", __print_array(REC->saddr, 4, 1), __print_hex(REC->saddr, 3), "
	 "__print_hex_str(REC->saddr, REC->b)",
		"{0x7f,0x0,0x0,0x1} 7f 00 00 7f000001"},
	{"\"%s %s\", __print_dynamic_array(list, sizeof(u64)), "
	 "__print_dynamic_array(list, sizeof(REC->fn))",
		"{0x1000,0xabc} {0x1000,0xabc}"},
	{"\"%s %s %s\", __print_array(REC->saddr, 1, 3), __print_array(REC->saddr, REC->a, 1), "
	 "__print_hex(REC->saddr, REC->a)",
		"{BAD SIZE:3 0x7f,0x0,0x0} {} "},
	{"\"%d %ld %d\", REC->signs[0], (long)REC->signs[0] + 1, REC->signs[0] < REC->signs[1]",
		"-2 -1 1"},
	{"\"%d %s %*ph %pM\", *(REC->signs + 1), REC->name + 1, 2, &REC->fsid[3], REC->fsid + 2",
		"3 h 03 04 02:03:04:05:06:07"},
	{"\"%s %*pbl %*pb\", __get_cpumask(cpumask), (1 << 10), __get_dynamic_array(cpumask), 5, "
	 "__get_dynamic_array(cpumask)",
		"00000001,0000000d 0,2-3,32 0d"},
	{"\"%u\", __be16_to_cpu(REC->prio)", "1216"},
	/* Pointers. */
	{"\"%pI4 %pi4 %pI6c %pI6\", REC->saddr, REC->saddr, REC->v6, REC->v6",
		"127.0.0.1 127.000.000.001 ::1 0000:0000:0000:0000:0000:0000:0000:0001"},
	{"\"%pI4n %pI4b %pI4l %pi4l %pISpl\", REC->saddr, REC->saddr, REC->saddr, REC->saddr, "
	 "REC->socket",
		"127.0.0.1 127.0.0.1 1.0.0.127 001.000.000.127 1.0.0.127:80"},
	{"\"%pI6c\", REC->isatap", "fe80::5efe:127.0.0.1"},
	{"\"%pISpc %pIS %pISpc %pISpfsc\", REC->socket, REC->socket, REC->socket6, REC->socket6",
		"127.0.0.1:80 127.0.0.1 [::2800:0]:443 [::2800:0]:443/1193046%3"},
	{"\"%pISpc\", REC->saddr", "(einval)"},
	{"\"%pU %pUl %pUB\", REC->fsid, REC->fsid, REC->fsid",
		"00010203-0405-0607-0809-0a0b0c0d0e0f 03020100-0504-0706-0809-0a0b0c0d0e0f "
		"00010203-0405-0607-0809-0A0B0C0D0E0F"},
	{"\"%pM %pm %pMF %pMR\", REC->fsid, REC->fsid, REC->fsid, REC->fsid",
		"00:01:02:03:04:05 000102030405 00-01-02-03-04-05 05:04:03:02:01:00"},
	{"\"%*ph %*phC %*phN\", 3, REC->fsid, 2, REC->fsid, 2, REC->fsid", "00 01 02 00:01 0001"},
	{"\"%pS %ps\", (void *)REC->fn, (void *)REC->fn", "function+0x10 function"},
	{"\"%p %p\", REC->fn, REC->nothing", "0xffffffff81000010 (nil)"},
	{"\"%pS %ps\", REC->nothing, REC->nothing", "0x0 0x0"},
	{"\"%pQ %pI4\", REC->fn, REC->fn", "0xffffffff81000010 0xffffffff81000010"},
	{"\"%pad %pap %pad %pad\", &REC->fn, &(REC->b), &REC->args[1], REC->fn",
		"0xffffffff81000010 0x00000007 0x0000000000000020 0xffffffff81000010"},
	{"\"%d %lx %*ph\", *(int *)&REC->a, *(unsigned long *)&REC->fn, 4, &REC->saddr",
		"-5 ffffffff81000010 7f 00 00 01"},
	{"\"%6p|%-20p|%08p|%.3p|%16px|\", REC->b, REC->fn, REC->b, REC->b, REC->fn",
		"   0x7|0xffffffff81000010  |0x000007|0x007|0xffffffff81000010|"},
	{"\"%8p|%-8p|%*p|\", REC->nothing, REC->nothing, 6, REC->none",
		"   (nil)|(nil)   | (nil)|"},
	{"\"%14pS|%-10ps|%.4ps|%12pI4|%-20pM|%3pU|\", REC->fn, REC->fn, REC->fn, REC->saddr, "
	 "REC->fsid, REC->fsid",
		" function+0x10|function  |func|   127.0.0.1|00:01:02:03:04:05   |"
		"00010203-0405-0607-0809-0a0b0c0d0e0f|"},
	/* Lists of names. */
	{"\"%s\", __print_symbolic(REC->kind, { 1, \"one\" }, { 2, \"two, (three)\" })",
		"two, (three)"},
	{"\"%s\", (REC->flags) ? __print_flags(REC->flags, \"|\", { 1UL, \"A\" }, { (1 << 1), "
	 "\"B\" }) : "
	 "\"none\"",
		"A|B|0x4"},
	{"\"%s\", __print_flags(REC->flags, \"\", { (1 << 0), \"W\" }, { (1 << 1), \"U\" }, { (1 "
	 "<< 2), "
	 "\"D\" })",
		"WUD"},
	{"\"<%s><%s>\", __print_flags(REC->none, \"|\", { 1, \"A\" }), __print_symbolic(REC->none, "
	 "{ 1, "
	 "\"A\" })",
		"<><0x0>"},
	{"\"%s,%s,%u\", __print_symbolic((((REC->prio) >> 13) & (8 - 1)), { 0, \"none\" }, { 6, "
	 "\"six\" }), __print_flags((1 << REC->b), \"|\", { 128, \"bit 7\" }), REC->prio & 7",
		"six,bit 7,4"},
	{"\"%s %s\", __print_symbolic(REC->kind, { 2, \"KVM_EXIT_\" \"IO\" }), (REC->b == 7) ? "
	 "__print_symbolic(REC->kind, { 2, \"intel\" }) : __print_symbolic(REC->kind, { 2, \"amd\" "
	 "})",
		"KVM_EXIT_IO intel"},
	{"\"%s %s\", __print_symbolic(REC->kind, { -1, \"minus\" }, { 2u, \"two\" }), "
	 "__print_flags_u64(REC->big & ~0xffff, \", \", { 1ULL << 63, \"top\" }, { 1, \"A\" })",
		"two top, 0x7ffffffde78e0000"},
	{"\"%s\", __print_symbolic(REC->a, { -5, \"minus five\" }, )", "minus five"},
	{"\"%s\", __print_symbolic(REC->a, { })", "0xfffffffffffffffb"},
	/* Values that only the kernel knows. */
	{"\"page=%p pfn=0x%lx\", (((struct page *)vmemmap_base) + (REC->b)), REC->b",
		"page=vmemmap_base+7 pfn=0x7"},
	{"\"age=%lu index=%d\", (jiffies - REC->b) / 250, REC->b", "age=(jiffies-7)/250 index=7"},
	{"\"wait %u %u\", jiffies_to_msecs(REC->none), jiffies_to_msecs(REC->b)",
		"wait 0 jiffies_to_msecs(7)"},
	{"\"%d %s error%s\", REC->b, mc_event_error_type(REC->kind), REC->b > 1 ? \"s\" : \"\"",
		"7 mc_event_error_type(2) errors"},
	{"\"%d %d\", REC->missing, REC->b", "REC->missing 7"},
	{"\"%d %d\", REC->b / (REC->b - 7), REC->b", "7/0 7"},
	{"\"%s\", __print_flags(REC->flags, \"|\", {I_DIRTY_SYNC, \"I_DIRTY_SYNC\"}, {2, \"B\"} )",
		"B|0x5"},
	{"\"%d %d\", UNKNOWN ? REC->a : REC->b, ~UNKNOWN", "UNKNOWN?-5:7 ~UNKNOWN"},
	/* Conversions that do not fit their arguments. */
	{"\"%s %d\", REC->b, REC->name", "0x7 sh"},
	/* Indexes beyond the end. */
	{"\"%lx %lx\", REC->args[2], REC->saddr[4000000000]", "0 0"},
	/* Invalid formats. */
	{"\"%d\"", NULL},
	{"\"%d\", ", NULL},
	{"\"%d\", (REC->a", NULL},
	{"\"%", NULL},
	{"\"%y\", REC->a", NULL},
	{"\"%d\", \"unfinished", NULL},
	{"\"%d\", ({ union kvm_mmu_page_role role; role.word = REC->a; role; })", NULL},
	{"\"%s\", __print_symbolic(REC->kind, { 1, \"one\"", NULL},
	{"REC->a", NULL},
};

static const char all_fields[] = "a=-5 b=7 name=sh saddr=7f000001 kind=";

static bool name_of(void *ctx, uint64_t address, bool with_offset, char *out, size_t size)
{
	(void)ctx;
	if (address < 0xffffffff81000000)
		return false;
	snprintf(out, size, with_offset ? "function+0x%llx" : "function",
		(unsigned long long)address - 0xffffffff81000000);
	return true;
}

#define RAW_BYTES 260

struct world {
	struct fields *fields;
	struct record record;
	uint8_t raw[RAW_BYTES];
};

static void put(struct world *world, size_t at, uint64_t number, size_t size, bool swapped)
{
	for (size_t i = 0; i < size; i++) {
		size_t k = swapped ? size - 1 - i : i;

		world->raw[at + i] = (uint8_t)(number >> 8 * k);
	}
}

static void make_raw(struct world *world, bool swapped)
{
	static const uint8_t bytes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

	memset(world->raw, 0, sizeof(world->raw));
	put(world, 8, (uint32_t)-5, 4, swapped);
	put(world, 12, 7, 4, swapped);
	memcpy(world->raw + 16, "sh", 2);
	memcpy(world->raw + 24, "\x7f\0\0\1", 4);
	put(world, 28, 2, 4, swapped);
	put(world, 32, 0x10, 8, swapped);
	put(world, 40, 0x20, 8, swapped);
	put(world, 48, 0xffffffff81000010, 8, swapped);
	put(world, 64, 7, 4, swapped);
	world->raw[83] = 1;
	memcpy(world->raw + 84, "\xfe\x80\0\0\0\0\0\0\0\0\x5e\xfe\x7f\0\0\1", 16);
	put(world, 100, 2, 2, swapped);
	memcpy(world->raw + 102, "\0\x50\x7f\0\0\1", 6);
	put(world, 128, 10, 2, swapped);
	/* port, flow, address ::2800:0, scope */
	memcpy(world->raw + 130, "\x01\xbb\0\x12\x34\x56", 6);
	world->raw[136 + 12] = 0x28;
	put(world, 152, 3, 4, swapped);
	memcpy(world->raw + 156, bytes, 16);
	put(world, 176, 0xffffffff8281a569, 8, swapped);
	put(world, 184, (uint64_t)-9000000000ll, 8, swapped);
	put(world, 192, 13u << 16 | 208, 4, swapped);
	put(world, 196, 16u << 16 | 224, 4, swapped);
	put(world, 200, 8u << 16 | 240, 4, swapped);
	put(world, 204, 0xc004, 2, swapped);
	strcpy((char *)world->raw + 208, "/usr/local/x");
	put(world, 224, 0x1000, 8, swapped);
	put(world, 232, 0xabc, 8, swapped);
	put(world, 240, 1ull << 32 | 0xd, 8, swapped);
	put(world, 248, (uint16_t)-2, 2, swapped);
	put(world, 250, 3, 2, swapped);
	world->record = (struct record){.type = PERF_RECORD_SAMPLE};
	world->record.sample.raw = world->raw;
	world->record.sample.raw_len = sizeof(world->raw);
}

static void make_source(
	struct world *world, const char *some, const char *print, struct fields_source source)
{
	const struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	size_t size = strlen(some) + strlen(print) + 64;
	char *format = malloc(size);

	assert_non_null(format);
	snprintf(format, size, "name: x\nID: 1\nformat:\n%s\nprint fmt: %s\n", some, print);
	make_raw(world, source.swapped);
	source.format = format;
	assert_int_equal(fields_new_from(&world->fields, &attr, NULL, NULL, &source), 0);
	free(format);
}

static void make_from(struct world *world, const char *some, const char *print, bool swapped,
	unsigned int long_bytes)
{
	static const char texts[] =
		"0xffffffff8281a569 : \"rcu \\\"x\\\"\"\nnothing\n0x5 : \"five\"\n";
	const struct fields_source source = {.swapped = swapped,
		.long_bytes = long_bytes,
		.texts = texts,
		.texts_len = sizeof(texts) - 1};

	make_source(world, some, print, source);
}

static void make(struct world *world, const char *print)
{
	make_from(world, some_fields, print, false, 8);
}

static void expect_cases(bool swapped)
{
	const struct fields_line_names names = {.code = name_of};
	struct world world;
	char out[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *want = cases[i].line;
		enum fields_line done;

		/* A big-endian number changes with the byte order of the machine. */
		if (swapped && strstr(cases[i].print, "be16"))
			continue;
		make_from(&world, some_fields, cases[i].print, swapped, 8);
		done = fields_line(world.fields, &world.record, &names, out, sizeof(out));
		if (done != (want ? FIELDS_LINE_FORMAT : FIELDS_LINE_FIELDS) ||
			(want ? strcmp(out, want) : strncmp(out, all_fields, strlen(all_fields))))
			fail_msg("%s: %d %s, not %s", cases[i].print, done, out,
				want ? want : "(all fields)");
		fields_free(world.fields);
	}
}

static void test_cases(void **state)
{
	(void)state;
	expect_cases(false);
}

/* The data comes from a machine of the other byte order. */
static void test_other_order(void **state)
{
	(void)state;
	expect_cases(true);
}

/* "h" is the byte order of the machine that recorded. */
static void test_addresses_of_the_machine(void **state)
{
	struct world world;
	char out[128];

	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		make_from(&world, some_fields,
			"\"%pI4h %pi4h %pISh\", REC->saddr, REC->saddr, REC->socket", swapped, 8);
		assert_int_equal(fields_line(world.fields, &world.record, NULL, out, sizeof(out)),
			FIELDS_LINE_FORMAT);
		assert_string_equal(out,
			swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
				? "127.0.0.1 127.000.000.001 127.0.0.1"
				: "1.0.0.127 001.000.000.127 1.0.0.127");
		fields_free(world.fields);
	}
}

/* "unsigned long" and "%lx" have 32 bits. */
static void test_other_longs(void **state)
{
	static const char fields[] =
		"\tfield:unsigned long word;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:long other;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc unsigned long[] words;\toffset:196;\tsize:4;\tsigned:0;\n";
	struct world world;
	char out[128];

	(void)state;
	make_from(&world, fields,
		"\"%lx %ld %zu %lu %llx %lx %p\", REC->word, REC->other, sizeof(long), (unsigned "
		"long)-1, "
		"(u64)REC->word, REC->words[2], (void *)REC->other",
		false, 4);
	assert_int_equal(fields_line(world.fields, &world.record, NULL, out, sizeof(out)),
		FIELDS_LINE_FORMAT);
	assert_string_equal(out, "fffffffb -5 4 4294967295 fffffffb abc 0xfffffffb");
	fields_free(world.fields);
}

/* Ticks have this machine's length if the kernel runs here. */
static void test_ticks(void **state)
{
	struct world world;
	struct timespec tick;
	char print[160], out[128];
	long minute;

	(void)state;
	/* A coarse clock advances by one tick. */
	assert_int_equal(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
	minute = 60 * ((1000000000 + tick.tv_nsec / 2) / tick.tv_nsec);
	snprintf(print, sizeof(print),
		"\"%%u %%u %%u\", jiffies_to_msecs(%ld), jiffies_to_usecs(%ld), "
		"jiffies_to_msecs(REC->none)",
		minute, minute);
	make_source(&world, some_fields, print, (struct fields_source){.is_here = true});
	assert_int_equal(fields_line(world.fields, &world.record, NULL, out, sizeof(out)),
		FIELDS_LINE_FORMAT);
	assert_string_equal(out, "60000 60000000 0");
	fields_free(world.fields);
}

static void test_short_records(void **state)
{
	const struct fields_line_names names = {.code = name_of};
	struct world world;
	char out[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (uint32_t len = 1; len < RAW_BYTES; len += 13) {
			uint8_t *raw = malloc(len);

			make(&world, cases[i].print);
			memcpy(raw, world.raw, len);
			world.record.sample.raw = raw;
			world.record.sample.raw_len = len;
			assert_int_not_equal(
				fields_line(world.fields, &world.record, &names, out, sizeof(out)),
				FIELDS_LINE_NONE);
			fields_free(world.fields);
			free(raw);
		}
}

static void test_small_buffers_and_depth(void **state)
{
	char print[4096] = "\"%d\", ", out[12];
	struct world world;

	(void)state;
	make(&world, "\"%s and %d\", REC->name, REC->a");
	assert_int_equal(fields_line(world.fields, &world.record, NULL, out, sizeof(out)),
		FIELDS_LINE_FORMAT);
	assert_string_equal(out, "sh and -5");
	/* A cut line ends with an ellipsis. */
	assert_int_equal(
		fields_line(world.fields, &world.record, NULL, out, 8), FIELDS_LINE_FORMAT);
	assert_string_equal(out, "sh a\xe2\x80\xa6");
	for (size_t size = 0; size < 8; size++) {
		char *small = malloc(size + 1);

		small[size] = 'x';
		fields_line(world.fields, &world.record, NULL, small, size);
		assert_int_equal(small[size], 'x');
		free(small);
	}
	assert_int_equal(
		fields_line(NULL, &world.record, NULL, out, sizeof(out)), FIELDS_LINE_NONE);
	world.record.sample.raw = NULL;
	assert_int_equal(
		fields_line(world.fields, &world.record, NULL, out, sizeof(out)), FIELDS_LINE_NONE);
	fields_free(world.fields);
	for (const char *c = "(!-~"; *c; c++) {
		memset(print + 6, *c, 2000);
		make(&world, print);
		assert_int_equal(fields_line(world.fields, &world.record, NULL, out, sizeof(out)),
			FIELDS_LINE_FIELDS);
		fields_free(world.fields);
	}
}

/* Returns a format with n times c between two texts. The caller frees it. */
static char *long_print(const char *before, char c, size_t n, const char *after)
{
	char *print = malloc(strlen(before) + n + strlen(after) + 1);

	assert_non_null(print);
	strcpy(print, before);
	memset(print + strlen(before), c, n);
	strcpy(print + strlen(before) + n, after);
	return print;
}

/* A format cannot cause long work or a read beyond its end. */
static void test_formats_that_ask_for_much(void **state)
{
	const struct {
		const char *before, *after;
		char c;
		size_t n;
	} much[] = {{"\"%d\", ", "1", '(', 200000}, {"\"%d\", \"", "\" + FOO", 'x', 40000},
		{"\"%s\", __print_symbolic(REC->a & (\"", "\" + FOO), {1,\"A\"})", 'x', 300},
		{"\"%d\", REC->u32", "", ' ', 200000}};
	struct world world;
	char out[256], *print;

	(void)state;
	for (size_t i = 0; i < sizeof(much) / sizeof(*much); i++) {
		print = long_print(much[i].before, much[i].c, much[i].n, much[i].after);
		make(&world, print);
		assert_int_not_equal(
			fields_line(world.fields, &world.record, NULL, out, sizeof(out)),
			FIELDS_LINE_NONE);
		fields_free(world.fields);
		free(print);
	}
}

/* A path is kept in full, for any length. */
static void test_long_texts(void **state)
{
	static const char fields[] =
		"\tfield:__data_loc char[] path;\toffset:8;\tsize:4;\tsigned:0;\n";
	const uint32_t len = 4000, where = (len + 1) << 16 | 12;
	struct world world;
	char *out = malloc(8192);
	uint8_t *raw = calloc(1, 12 + len + 1);

	(void)state;
	make_from(&world, fields, "\"filename=%s\", __get_str(path)", false, 8);
	memcpy(raw + 8, &where, 4);
	memset(raw + 12, 'x', len);
	raw[12 + len - 1] = 'y';
	world.record.sample.raw = raw;
	world.record.sample.raw_len = 12 + len + 1;
	assert_int_equal(
		fields_line(world.fields, &world.record, NULL, out, 8192), FIELDS_LINE_FORMAT);
	assert_int_equal(strlen(out), strlen("filename=") + len);
	assert_int_equal(out[strlen(out) - 1], 'y');
	fields_free(world.fields);
	free(raw);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_other_order),
		cmocka_unit_test(test_addresses_of_the_machine),
		cmocka_unit_test(test_other_longs),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_formats_that_ask_for_much),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_small_buffers_and_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
