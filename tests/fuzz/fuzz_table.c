/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_table.c - any bytes as a symbol table; an accepted table can be searched and gives names.
 */
#include "symbols/wire/symtab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sets version and length in the header, so that inputs stay valid when these change. */
static void set_version(void *bytes, size_t size)
{
	struct symtab_header header;

	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	header.version = SYMTAB_VERSION;
	header.total_bytes = size;
	memcpy(bytes, &header, sizeof(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symtab table;
	void *bytes = malloc(size ? size : 1);

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	set_version(bytes, size);
	if (symtab_check(&table, bytes, size) == 0) {
		for (uint32_t i = 0; i < table.n_entries; i++) {
			const uint64_t start = table.entries[i].start;
			const int64_t found = symtab_find(&table, start);
			if (found >= (int64_t)table.n_entries || found < -1 ||
				(found >= 0 && table.entries[found].start > start))
				abort();
			if (strlen(symtab_name(&table, i)) >= size)
				abort();
			if (table.modules && table.modules[i] &&
				strlen(table.pool + table.module_names[table.modules[i] - 1]) >=
					size)
				abort();
		}
	}
	free(bytes);
	return 0;
}
