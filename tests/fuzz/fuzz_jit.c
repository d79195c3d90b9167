/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_jit.c - any bytes as a perf-PID.map, in pieces of two sizes, and as a jitdump: what comes
 * out has no overlaps.
 */
#include "symbols/jitdump.h"
#include "symbols/perfmap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitspans whole = {0}, pieces = {0}, dumped = {0};
	struct jitdump_lines lines;
	struct jitdump_code code;
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
		for (size_t i = 0; i < dumped.n && i < 16; i++) {
			if (jitdump_find(&dump, dumped.at[i].start, &code) < 0)
				continue;
			if (code.file_offset > size || code.lines_at > size ||
				jitdump_lines_read(&dump, &code, &lines) < 0)
				abort();
			for (size_t k = 0; k < lines.n; k++)
				if (strlen(lines.names + lines.at[k].file) > size)
					abort();
			jitdump_lines_fini(&lines);
		}
		check_table(&dumped);
	}
	close(fd);
	return 0;
}
