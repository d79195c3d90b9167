/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_kallsyms.c - any text as /proc/kallsyms: it gives equal symbols in pieces and as a whole.
 */
#include "symbols/wire/kallsyms.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add(const struct kallsyms_symbol *symbol, void *ctx)
{
	uint64_t *sum = ctx;

	if (symbol->name_len == 0 || symbol->name_len >= KALLSYMS_LINE_MAX)
		abort();
	*sum = *sum * 31 + symbol->address + symbol->name_len + symbol->module_len;
	*sum = *sum * 31 + (uint8_t)symbol->name[symbol->name_len - 1];
	if (symbol->module_len)
		*sum = *sum * 31 + (uint8_t)symbol->module[symbol->module_len - 1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sums[2] = {0};

	for (size_t i = 0; i < 2; i++) {
		struct kallsyms parser;
		kallsyms_init(&parser, add, &sums[i]);
		size_t piece = i == 0 ? size : 13;
		for (size_t at = 0; at < size; at += piece)
			kallsyms_feed(&parser, (const char *)data + at,
				size - at < piece ? size - at : piece);
		kallsyms_end(&parser);
	}
	if (sums[0] != sums[1])
		abort();
	return 0;
}
