/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump_names.c - prints the symbols of addresses, by symbols/client/symbols.h, for comparisons.
 *
 * usage: dump_names FILE...
 *
 * Each line of standard input has the number of a file (from 0) and a virtual address of it in
 * hexadecimal.  For each, in the same order, a line has the start, size and name of the symbol
 * that covers it, between tabs.  "?" follows if the symbol is uncertain.  A function without a
 * name has an empty one.  "-": no symbol covers the address.
 */
#include "symbols/client/symbols.h"

#include "symbols/elf/elffile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 64

static void show(
	const struct symbols *symbols, uint32_t key, const struct elffile *elf, uint64_t address)
{
	uint64_t offset, rest;
	struct symbol symbol;
	bool exec;

	if (!elffile_offset(elf, address, &offset, &rest, &exec) ||
		!symbols_find(symbols, key, offset, &symbol)) {
		printf("-\n");
		return;
	}
	printf("0x%" PRIx64 "\t%" PRIu64 "\t%s\t%s\n", address - (offset - symbol.start),
		symbol.size, symbol.name, symbol.uncertain ? "?" : "");
}

static int answer(struct symbols *symbols, int n, char *const *paths)
{
	static struct elffile files[FILES_MAX];
	char line[64];
	int ret = 0;

	for (int i = 0; i < n && ret == 0; i++) {
		const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = paths[i]};
		ret = elffile_open(&files[i], open(paths[i], O_RDONLY | O_CLOEXEC));
		if (ret == 0)
			ret = symbols_request(symbols, (uint32_t)i, &source);
	}
	if (ret == 0)
		ret = symbols_wait(symbols, 60000);
	while (ret == 0 && fgets(line, sizeof(line), stdin)) {
		char *rest;
		unsigned long file = strtoul(line, &rest, 10);
		if (file < (unsigned long)n)
			show(symbols, (uint32_t)file, &files[file], strtoull(rest, NULL, 16));
	}
	for (int i = 0; i < n; i++) {
		elffile_close(&files[i]);
		if (files[i].fd > 0)
			close(files[i].fd);
	}
	return ret;
}

int main(int argc, char **argv)
{
	/* Only the files' own symbols are used. */
	static const char *const no_debug_files[] = {NULL};
	const struct symbols_config config = {.cache_dir = "", .debug_dirs = no_debug_files};
	struct symbols *symbols;

	symbols_main(argc, argv);
	if (argc < 2 || argc - 1 > FILES_MAX) {
		fprintf(stderr, "usage: dump_names FILE...\n");
		return 2;
	}
	int ret = symbols_new(&symbols, &config);
	if (ret == 0)
		ret = answer(symbols, argc - 1, argv + 1);
	if (ret < 0)
		fprintf(stderr, "dump_names: %s\n", strerror(-ret));
	symbols_free(symbols);
	return ret < 0;
}
