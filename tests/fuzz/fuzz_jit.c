/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_jit.c - any bytes as a perf-PID.map, in pieces of two sizes, and as a jitdump.
 *
 * The resulting spans do not overlap.  A search for several addresses at once finds the same as
 * single searches.
 */
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perfmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESSES 16u
#define ALONE 2u /* number of ADDRESSES that are also asked for alone */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(struct jitspans *spans)
{
	struct symtab_builder *builder;
	struct symtab table;
	uint32_t count;
	int fd;

	if (symtab_builder_new(&builder))
		abort();
	if (jitspans_build(spans, builder) || symtab_builder_finish(builder, &fd, &count) ||
		symtab_open(&table, fd))
		abort();
	for (uint32_t i = 0; i < table.n_entries; i++)
		if (!table.entries[i].size ||
			(i &&
				table.entries[i - 1].start + table.entries[i - 1].size >
					table.entries[i].start))
			abort();
	symtab_close(&table);
	close(fd);
	symtab_builder_free(builder);
	jitspans_fini(spans);
}

static void feed(struct jitspans *spans, const uint8_t *data, size_t size, size_t piece)
{
	static struct perfmap map;

	perfmap_init(&map, spans);
	for (size_t at = 0; at < size; at += piece)
		perfmap_feed(&map, (const char *)data + at, size - at < piece ? size - at : piece);
	if (map.error)
		abort();
}

static void check_code(const struct jitdump *dump, const struct jitdump_code *code, size_t size)
{
	struct jitdump_lines lines;

	if (code->file_offset > size || code->lines_at > size ||
		jitdump_lines_read(dump, code, &lines) < 0)
		abort();
	for (size_t i = 0; i < lines.n; i++)
		if (strlen(lines.names + lines.at[i].file) > size)
			abort();
	jitdump_lines_fini(&lines);
}

static void check_finding(const struct jitdump *dump, const struct jitspans *dumped, size_t size)
{
	struct jitdump_code codes[ADDRESSES], alone;
	uint64_t addresses[ADDRESSES];
	const size_t n = dumped->n < ADDRESSES ? dumped->n : ADDRESSES;

	for (size_t i = 0; i < n; i++)
		addresses[i] = dumped->at[i].start;
	if (jitdump_find_all(dump, addresses, n, codes) < 0)
		abort();
	for (size_t i = 0; i < n; i++)
		if (codes[i].size)
			check_code(dump, &codes[i], size);
	for (size_t i = 0; i < n && i < ALONE; i++) {
		const int ret = jitdump_find(dump, addresses[i], &alone);
		if (ret != (codes[i].size ? 0 : -ENOENT) ||
			(ret == 0 && memcmp(&alone, &codes[i], sizeof(alone)) != 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitspans whole = {0}, pieces = {0}, dumped = {0};
	struct jitdump dump;

	feed(&whole, data, size, size ? size : 1);
	feed(&pieces, data, size, 13);
	if (whole.n != pieces.n || whole.names_len != pieces.names_len ||
		(whole.names_len && memcmp(whole.names, pieces.names, whole.names_len)))
		abort();
	jitspans_fini(&pieces);
	check_table(&whole);

	int fd = memfd_create("dump", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (jitdump_open(&dump, fd, size & 1) == 0) {
		if (jitdump_read(&dump, &dumped))
			abort();
		check_finding(&dump, &dumped, size);
		check_table(&dumped);
	}
	close(fd);
	return 0;
}
