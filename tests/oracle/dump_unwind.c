/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump_unwind.c - prints the unwind table of a file, for unwind.py.
 *
 * usage: dump_unwind FILE [DEBUG_FILE]
 *        dump_unwind -s FILE...
 *
 * Each range of FILE gives its offsets, CFA, bp, ra, rbx and flags.  With -s, each file gives one
 * line: sizes, and the CPU time to build the table.
 */
#include "symbols/dwarf/cfi.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* debug_path: NULL if there is no debug file. */
static int build(const char *path, const char *debug_path, struct unwtab *table)
{
	struct unwtab_builder *builder = NULL;
	struct elffile elf = {0}, debug = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC), sealed = -1;
	int debug_fd = debug_path ? open(debug_path, O_RDONLY | O_CLOEXEC) : -1;
	bool used_debug;
	uint32_t n_rows;

	int ret = fd < 0 ? -1 : elffile_open(&elf, fd);
	if (ret == 0 && debug_path)
		ret = elffile_open(&debug, debug_fd);
	if (ret == 0)
		ret = unwtab_builder_new(&builder, elf.machine);
	if (ret == 0)
		ret = cfi_read(&elf, debug_path ? &debug : NULL, builder, &used_debug);
	if (ret == 0)
		ret = unwtab_builder_finish(builder, &sealed, &n_rows);
	if (ret == 0)
		ret = unwtab_open(table, sealed);
	unwtab_builder_free(builder);
	elffile_close(&elf);
	elffile_close(&debug);
	if (fd >= 0)
		close(fd);
	if (debug_fd >= 0)
		close(debug_fd);
	if (sealed >= 0)
		close(sealed);
	return ret;
}

static void print_reg(uint8_t reg, int off)
{
	static const char *const names[] = {"same", "cfa", "bp", "sp", "undefined"};

	printf(" %s", names[reg]);
	if (reg == UNWTAB_REG_CFA || reg == UNWTAB_REG_BP || reg == UNWTAB_REG_SP)
		printf("%+d", off);
}

static void print_bx(const struct unwtab_rule *rule)
{
	const uint32_t words = unwtab_bx(rule);

	if (words && words != UNWTAB_BX_LOST)
		printf(" cfa-%u", 8 * words);
	else
		printf(words ? " lost" : " same");
}

static void print_range(uint64_t start, uint64_t end, const struct unwtab_rule *rule)
{
	static const char *const names[] = {
		"none", "sp", "bp", "plt", "*sp", "*bp", "signal", "end", "r", "call", "*sp+8*r"};

	const bool derefs = rule->cfa == UNWTAB_DEREF_SP || rule->cfa == UNWTAB_DEREF_BP ||
		rule->cfa == UNWTAB_DEREF_INDEXED;

	printf("%" PRIx64 " %" PRIx64 " %s", start, end, names[rule->cfa]);
	if (rule->cfa == UNWTAB_REGISTER || rule->cfa == UNWTAB_DEREF_INDEXED)
		printf("%" PRIu32, unwtab_cfa_register(rule));
	if (rule->cfa != UNWTAB_END)
		printf("%+" PRId32, rule->cfa_off);
	if (derefs && unwtab_cfa_add(rule))
		printf("+%" PRIu64, unwtab_cfa_add(rule));
	print_reg(rule->bp, rule->bp_off);
	print_reg(rule->ra, rule->ra_off);
	print_bx(rule);
	printf(" %u\n", rule->flags & UNWTAB_FLAG_SIGNAL);
}

static void print_table(const struct unwtab *table)
{
	const struct unwtab_rule *last = NULL;
	uint64_t start = 0;

	for (uint64_t page = 0; page < table->n_pages; page++)
		for (uint32_t i = table->pages[page]; i < table->pages[page + 1]; i++) {
			const uint64_t at =
				(table->first_page + page) << UNWTAB_PAGE_BITS | table->rows[i].low;
			const struct unwtab_rule *rule = unwtab_find(table, at);
			if (rule == last)
				continue;
			if (last)
				print_range(start, at, last);
			last = rule;
			start = at;
		}
	if (last)
		print_range(start,
			(uint64_t)(table->first_page + table->n_pages) << UNWTAB_PAGE_BITS, last);
}

static void print_sizes(const char *path, const struct unwtab *table, double ms)
{
	printf("%s: %.1f ms, %zu bytes, %u rows, %u rules, code %" PRIu64 ", of it by bp %" PRIu64
	       "\n",
		path, ms, table->len, table->n_rows, table->n_rules, table->code_bytes,
		table->bp_bytes);
}

int main(int argc, char **argv)
{
	const bool sizes = argc > 1 && strcmp(argv[1], "-s") == 0;
	struct unwtab table;
	int failed = argc < 2;

	if (argc > 1 && !sizes) {
		failed = build(argv[1], argc > 2 ? argv[2] : NULL, &table) < 0;
		if (!failed)
			print_table(&table);
		unwtab_close(&table);
	}
	for (int i = 2; sizes && i < argc; i++) {
		const double start_ms = cpu_ms();
		if (build(argv[i], NULL, &table) < 0) {
			fprintf(stderr, "dump_unwind: %s cannot be read\n", argv[i]);
			failed = 1;
			continue;
		}
		print_sizes(argv[i], &table, cpu_ms() - start_ms);
		unwtab_close(&table);
	}
	return failed;
}
