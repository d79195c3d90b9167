/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * span_table.h - builds the symbol table of pieces of code.
 */
#ifndef TESTS_SPAN_TABLE_H
#define TESTS_SPAN_TABLE_H

#include "symbols/jit/jitspans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

/* Returns the number of entries.  The caller closes *out with symtab_close(). */
static inline uint32_t span_table(const struct jitspans *spans, struct symtab *out)
{
	struct symtab_builder *builder;
	uint32_t count;
	int fd;

	assert_int_equal(symtab_builder_new(&builder), 0);
	assert_int_equal(jitspans_build(spans, builder), 0);
	assert_int_equal(symtab_builder_finish(builder, &fd, &count), 0);
	symtab_builder_free(builder);
	assert_int_equal(symtab_open(out, fd), 0);
	close(fd);
	return count;
}

#endif
