/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_unwtab.c - ranges become rows that are found again, and damaged tables are never read out of
 * bounds.
 */
#include "symbols/wire/unwtab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct unwtab_builder *new_builder(void)
{
	struct unwtab_builder *builder;

	assert_int_equal(unwtab_builder_new(&builder, EM_X86_64), 0);
	return builder;
}

static void add(struct unwtab_builder *builder, uint64_t start, uint64_t end, int32_t cfa_off)
{
	const struct unwtab_rule rule = {
		.cfa = UNWTAB_SP, .cfa_off = cfa_off, .ra = UNWTAB_REG_CFA, .ra_off = -8};

	unwtab_builder_add(builder, start, end, &rule);
}

static void finish(struct unwtab_builder *builder, struct unwtab *table)
{
	uint32_t n_rows;
	int fd;

	assert_int_equal(unwtab_builder_finish(builder, &fd, &n_rows), 0);
	unwtab_builder_free(builder);
	assert_int_equal(unwtab_open(table, fd), 0);
	assert_int_equal(table->n_rows, n_rows);
	close(fd);
}

/* CFA offset of the rule at a file offset; 0 if there is none. */
static int32_t off_at(const struct unwtab *table, uint64_t offset)
{
	const struct unwtab_rule *rule = unwtab_find(table, offset);

	return rule ? rule->cfa_off : 0;
}

static void test_ranges(void **state)
{
	struct unwtab_builder *builder = new_builder();
	struct unwtab table;

	(void)state;
	add(builder, 0x1010, 0x1020, 8);
	add(builder, 0x1020, 0x1030, 16);
	add(builder, 0x1030, 0x1040, 16); /* continues the range */
	add(builder, 0x1038, 0x1050, 24); /* its start is taken */
	add(builder, 0x1000, 0x1050, 32); /* all of it is taken */
	add(builder, 0x1060, 0x1060, 40); /* empty */
	add(builder, 0x1070, 0x1080, 8);
	assert_int_equal(unwtab_builder_code_bytes(builder), 0x50);
	finish(builder, &table);

	assert_int_equal(table.machine, EM_X86_64);
	assert_int_equal(table.n_rules, 3);
	assert_int_equal(table.code_bytes, 0x50);
	assert_int_equal(off_at(&table, 0), 0);
	assert_int_equal(off_at(&table, 0x100f), 0);
	assert_int_equal(off_at(&table, 0x1010), 8);
	assert_int_equal(off_at(&table, 0x101f), 8);
	assert_int_equal(off_at(&table, 0x1020), 16);
	assert_int_equal(off_at(&table, 0x103f), 16);
	assert_int_equal(off_at(&table, 0x1040), 24);
	assert_int_equal(off_at(&table, 0x104f), 24);
	assert_int_equal(off_at(&table, 0x1050), 0);
	assert_int_equal(off_at(&table, 0x1060), 0);
	assert_int_equal(off_at(&table, 0x107f), 8);
	assert_int_equal(off_at(&table, 0x1080), 0);
	assert_int_equal(off_at(&table, UINT64_MAX), 0);
	/* one row for the start of the page, one for each change */
	assert_int_equal(table.n_rows, 7);
	unwtab_close(&table);
}

/* Each page is complete by itself.  A page without rules is empty. */
static void test_pages(void **state)
{
	struct unwtab_builder *builder = new_builder();
	struct unwtab table;

	(void)state;
	add(builder, 0x5fff0, 0x90010, 8);
	add(builder, 0xb0000, 0xc0000, 16);
	add(builder, 0xc0000, 0xc0001, 8);
	finish(builder, &table);
	assert_int_equal(table.first_page, 5);
	assert_int_equal(table.n_pages, 8);
	assert_int_equal(off_at(&table, 0x5ffef), 0);
	for (uint64_t at = 0x5fff0; at < 0x90010; at += 16)
		assert_int_equal(off_at(&table, at), 8);
	assert_int_equal(off_at(&table, 0x90010), 0);
	assert_int_equal(off_at(&table, 0xa1234), 0);
	assert_int_equal(table.pages[5], table.pages[6]);
	assert_int_equal(off_at(&table, 0xafff), 0);
	assert_int_equal(off_at(&table, 0xb0000), 16);
	assert_int_equal(off_at(&table, 0xbffff), 16);
	assert_int_equal(off_at(&table, 0xc0000), 8);
	assert_int_equal(off_at(&table, 0xc0001), 0);
	assert_int_equal(off_at(&table, 0xd0000), 0);
	unwtab_close(&table);
}

static void test_end_of_page(void **state)
{
	struct unwtab_builder *builder = new_builder();
	struct unwtab table;

	(void)state;
	add(builder, 0xfff0, 0x10000, 8);
	finish(builder, &table);
	assert_int_equal(off_at(&table, 0xffff), 8);
	assert_int_equal(off_at(&table, 0x10000), 0);
	unwtab_close(&table);
}

static void test_empty(void **state)
{
	struct unwtab_builder *builder = new_builder();
	const struct unwtab_rule none = {.cfa = UNWTAB_NONE};
	struct unwtab table;

	(void)state;
	unwtab_builder_add(builder, 0, 0x1000, &none);
	finish(builder, &table);
	assert_int_equal(table.n_rows, 0);
	assert_null(unwtab_find(&table, 0));
	assert_null(unwtab_find(&table, UINT64_MAX));
	unwtab_close(&table);
	unwtab_close(&table);
	unwtab_builder_free(NULL);
}

/* Rules beyond the limit are unknown, and offsets beyond the largest are left out. */
static void test_limits(void **state)
{
	struct unwtab_builder *builder = new_builder();
	const uint64_t most = (uint64_t)UNWTAB_PAGES_MAX << UNWTAB_PAGE_BITS;
	struct unwtab table;

	(void)state;
	for (uint64_t i = 0; i < UNWTAB_RULES_MAX + 5u; i++)
		add(builder, 16 * i, 16 * i + 16, (int32_t)i + 1);
	add(builder, most - 16, most + 16, 7);
	add(builder, most + 16, UINT64_MAX, 7);
	finish(builder, &table);
	assert_int_equal(table.n_rules, UNWTAB_RULES_MAX);
	assert_int_equal(off_at(&table, 16 * (UNWTAB_RULES_MAX - 1)), UNWTAB_RULES_MAX);
	assert_int_equal(off_at(&table, 16 * UNWTAB_RULES_MAX), 0);
	assert_int_equal(off_at(&table, most - 1), 7);
	assert_int_equal(off_at(&table, most), 0);
	unwtab_close(&table);
}

/* Each word of a table is set to wrong numbers: refused, or still safe to search. */
static void test_hostile(void **state)
{
	static const uint32_t values[] = {0, 1, 2, 0xff, 0xffff, 0x10000, 0x7fffffff, UINT32_MAX};
	struct unwtab_builder *builder = new_builder();
	struct unwtab table;
	uint32_t n_rows;
	int fd;

	(void)state;
	add(builder, 0x1000, 0x2f000, 8);
	add(builder, 0x30000, 0x30010, 16);
	assert_int_equal(unwtab_builder_finish(builder, &fd, &n_rows), 0);
	unwtab_builder_free(builder);
	const size_t len = (size_t)lseek(fd, 0, SEEK_END);
	uint8_t *bytes = malloc(len), *changed = malloc(len);
	assert_int_equal(pread(fd, bytes, len, 0), (ssize_t)len);
	close(fd);

	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(unwtab_check(&table, bytes, cut), -EBADMSG);
	for (size_t at = 0; at + 4 <= len; at += 2)
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			memcpy(changed, bytes, len);
			memcpy(changed + at, &values[i], 4);
			if (unwtab_check(&table, changed, len) < 0)
				continue;
			for (uint64_t offset = 0; offset < 0x50000; offset += 0x7ff) {
				const struct unwtab_rule *rule = unwtab_find(&table, offset);
				assert_true(!rule ||
					(rule >= table.rules &&
						rule < table.rules + table.n_rules));
			}
		}
	free(bytes);
	free(changed);
}

static void test_unsealed(void **state)
{
	const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct unwtab table;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(unwtab_open(&table, fd), -EBADMSG);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_end_of_page),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_unsealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
