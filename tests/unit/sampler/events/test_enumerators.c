/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_enumerators.c - enumerators in print formats become numbers, by type information (BTF).
 */
#include "sampler/events/enumerators.h"

#include "tests/unit/event_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* BTF in memory: a header, types as words, texts */
struct made {
	uint32_t words[128];
	size_t n; /* words of the types */
	char texts[512];
	size_t texts_len;
	uint32_t texts_from;
};

static uint32_t add_text(struct made *made, const char *text)
{
	size_t at = made->texts_len;

	strcpy(made->texts + at, text);
	made->texts_len += strlen(text) + 1;
	return (uint32_t)at + made->texts_from;
}

static void put(struct made *made, uint32_t word)
{
	made->words[made->n++] = word;
}

static void begin_type(struct made *made, unsigned int kind, unsigned int n, bool is_signed)
{
	put(made, 0);
	put(made, kind << 24 | n | (uint32_t)is_signed << 31);
	put(made, 4);
}

static void add_value(struct made *made, const char *name, uint32_t value)
{
	put(made, add_text(made, name));
	put(made, value);
}

static size_t finish(const struct made *made, uint8_t *out)
{
	const uint32_t head[] = {0x0001eb9f, 24, 0, (uint32_t)(4 * made->n),
		(uint32_t)(4 * made->n), (uint32_t)made->texts_len};

	memcpy(out, head, sizeof(head));
	memcpy(out + 24, made->words, 4 * made->n);
	memcpy(out + 24 + 4 * made->n, made->texts, made->texts_len);
	return 24 + 4 * made->n + made->texts_len;
}

static void write_btf(
	const struct event_fixture *fixture, const char *name, const void *bytes, size_t len)
{
	char path[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/kernel/btf/%s", fixture->sysfs, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(bytes, 1, len, file);
	fclose(file);
}

static size_t make_vmlinux(struct made *made, uint8_t *out)
{
	*made = (struct made){.texts_len = 1};
	begin_type(made, 1, 0, false); /* an integer, with a word after it */
	put(made, 32);
	begin_type(made, 4, 1, false); /* a structure with a member */
	add_value(made, "TCP_CLOSE", 99);
	put(made, 0);
	begin_type(made, 6, 4, false);
	add_value(made, "TCP_CLOSE", 7);
	add_value(made, "Q", 9);
	add_value(made, "TOP_BIT", 0x80000000);
	add_value(made, "TWICE", 1);
	begin_type(made, 2, 0, false); /* a pointer */
	begin_type(made, 6, 2, true);
	add_value(made, "MINUS", (uint32_t)-3);
	add_value(made, "TWICE", 2);
	begin_type(made, 19, 1, false);
	put(made, add_text(made, "WIDE"));
	put(made, 1);
	put(made, 0x10);
	return finish(made, out);
}

static size_t make_module(uint32_t texts_from, uint32_t value, uint8_t *out)
{
	struct made made = {.texts_len = 0, .texts_from = texts_from};

	begin_type(&made, 6, 1, false);
	add_value(&made, "MODULE", value);
	return finish(&made, out);
}

static const char format[] =
	"name: x\n\tfield:int TCP_CLOSE;\n\nprint fmt: \"{ TCP_CLOSE, %s\", REC->TCP_CLOSE, "
	"__print_symbolic(REC->a, { TCP_CLOSE, \"TCP_CLOSE\" }, {TOP_BIT, \"{MINUS, x\" }, {MINUS "
	",\"m\"}, "
	"{ WIDE, \"w\" }, { TWICE, \"t\" }, { TCP_CLOSER, \"c\" }, { 5, \"five\" }, { MODULE, "
	"\"mod\" })\n";
static const char resolved[] =
	"name: x\n\tfield:int TCP_CLOSE;\n\nprint fmt: \"{ TCP_CLOSE, %s\", REC->TCP_CLOSE, "
	"__print_symbolic(REC->a, { 7, \"TCP_CLOSE\" }, {2147483648, \"{MINUS, x\" }, {-3 ,\"m\"}, "
	"{ 68719476737, \"w\" }, { TWICE, \"t\" }, { TCP_CLOSER, \"c\" }, { 5, \"five\" }, { 40, "
	"\"mod\" })\n";

/* Expressions change, too. Members, functions, characters and texts do not. */
static const char expressions[] =
	"print fmt: \"%s %c\", __print_flags(REC->a, \"|\", { (1UL << TCP_CLOSE), \"Q\" }, { "
	"BIT(TOP_BIT) | MODULE, \"m\" }), REC->b == MINUS ? 'Q' : REC->TCP_CLOSE, 5 -MINUS, Q, "
	"TCP_CLOSE(1), x.TCP_CLOSE, (TWICE), 0xQ, REC -> Q\n";
static const char computed[] =
	"print fmt: \"%s %c\", __print_flags(REC->a, \"|\", { (1UL << 7), \"Q\" }, { "
	"BIT(2147483648) | 40, \"m\" }), REC->b == -3 ? 'Q' : REC->TCP_CLOSE, 5 - -3, 9, "
	"TCP_CLOSE(1), x.TCP_CLOSE, (TWICE), 0xQ, REC -> Q\n";

static void expect(const struct event_fixture *fixture, const char *from, const char *to)
{
	char *text = strdup(from);
	size_t len = strlen(from);

	assert_int_equal(enumerators_resolve(&fixture->system, &text, &len), 0);
	assert_string_equal(text, to);
	assert_int_equal(len, strlen(to));
	free(text);
}

static void test_names(void **state)
{
	static uint8_t bytes[2048], module[2048];
	struct event_fixture fixture;
	struct made made;
	size_t len;

	(void)state;
	fixture_make(&fixture);
	expect(&fixture, format, format); /* no type information */
	fixture_file(&fixture, "sys/kernel/btf/vmlinux", "");
	len = make_vmlinux(&made, bytes);
	write_btf(&fixture, "vmlinux", bytes, len);
	write_btf(&fixture, "module", module, make_module((uint32_t)made.texts_len, 40, module));
	expect(&fixture, format, resolved);
	expect(&fixture, expressions, computed);
	expect(&fixture, "print fmt: \"x\"\n", "print fmt: \"x\"\n");
	expect(&fixture, "", "");
	expect(&fixture, "print fmt: \"\", {", "print fmt: \"\", {");
	fixture_remove(&fixture);
}

static void set_time(const struct event_fixture *fixture, const char *name, time_t seconds)
{
	const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	char path[600];

	snprintf(path, sizeof(path), "%s/kernel/btf/%s", fixture->sysfs, name);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Type information is kept until its file changes. */
static void test_kept(void **state)
{
	static const char module[] = "print fmt: \"\", { MODULE, \"m\" }\n";
	static uint8_t bytes[2048];
	struct event_fixture fixture;
	struct made made;
	size_t len;

	(void)state;
	fixture_make(&fixture);
	fixture_file(&fixture, "sys/kernel/btf/vmlinux", "");
	len = make_vmlinux(&made, bytes);
	write_btf(&fixture, "vmlinux", bytes, len);
	set_time(&fixture, "vmlinux", 1);
	expect(&fixture, module, module);
	memset(bytes, 0, len);
	write_btf(&fixture, "vmlinux", bytes, len);
	set_time(&fixture, "vmlinux", 1);
	expect(&fixture, "print fmt: \"\", { TCP_CLOSE, \"c\" }\n",
		"print fmt: \"\", { 7, \"c\" }\n");
	len = make_module((uint32_t)made.texts_len, 40, bytes);
	write_btf(&fixture, "module", bytes, len);
	set_time(&fixture, "module", 1);
	expect(&fixture, module, "print fmt: \"\", { 40, \"m\" }\n");
	len = make_module((uint32_t)made.texts_len, 41, bytes);
	write_btf(&fixture, "module", bytes, len);
	set_time(&fixture, "module", 2);
	expect(&fixture, module, "print fmt: \"\", { 41, \"m\" }\n");
	/* Two modules with different values. */
	len = make_module((uint32_t)made.texts_len, 42, bytes);
	write_btf(&fixture, "other", bytes, len);
	expect(&fixture, module, module);
	fixture_remove(&fixture);
}

/* The type information is cut at each byte, or one word differs. */
static void test_damaged(void **state)
{
	static uint8_t bytes[2048], copy[2048];
	struct event_fixture fixture;
	struct made made;
	size_t len;

	(void)state;
	fixture_make(&fixture);
	fixture_file(&fixture, "sys/kernel/btf/vmlinux", "");
	len = make_vmlinux(&made, bytes);
	for (size_t i = 0; i <= len; i++) {
		char *text = strdup(format);
		size_t text_len = strlen(format);

		write_btf(&fixture, "vmlinux", bytes, i);
		set_time(&fixture, "vmlinux", 2 * (time_t)i);
		assert_int_equal(enumerators_resolve(&fixture.system, &text, &text_len), 0);
		memcpy(copy, bytes, len);
		memset(copy + i, 0xff, i + 4 <= len ? 4 : len - i);
		write_btf(&fixture, "vmlinux", copy, len);
		set_time(&fixture, "vmlinux", 2 * (time_t)i + 1);
		assert_int_equal(enumerators_resolve(&fixture.system, &text, &text_len), 0);
		free(text);
	}
	fixture_remove(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_damaged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
