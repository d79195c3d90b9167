/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_codetab.c - any bytes as a table of code; an accepted table can be searched and read.
 */
#include "symbols/wire/codetab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sets version and length in the header, so that inputs stay valid when these change. */
static void set_version(void *bytes, size_t size)
{
	struct codetab_header header;

	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	header.version = CODETAB_VERSION;
	header.total_bytes = size;
	memcpy(bytes, &header, sizeof(header));
}

static void read_frames(const struct codetab *table, const struct codetab_entry *entry)
{
	for (uint32_t i = 0; i < entry->n_frames; i++) {
		const struct codetab_frame *frame = &table->frames[entry->frames + i];
		if (strlen(table->pool + frame->function) >= table->len ||
			strlen(table->pool + frame->file) >= table->len)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct codetab table;
	void *bytes = malloc(size ? size : 1);

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	set_version(bytes, size);
	if (codetab_check(&table, bytes, size) == 0) {
		for (uint32_t i = 0; i < table.n_entries; i++) {
			const struct codetab_entry *entry = &table.entries[i];
			if (codetab_find(&table, entry->start) != (int64_t)i)
				abort();
			if (strlen(table.pool + entry->text) >= size)
				abort();
			read_frames(&table, entry);
		}
	}
	free(bytes);
	return 0;
}
