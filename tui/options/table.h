/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - the option table and its forms for getopt_long(3); private to args.
 */
#ifndef TUI_OPTIONS_TABLE_H
#define TUI_OPTIONS_TABLE_H

#include "tui/options/args.h"

#include <getopt.h>

/* The ids of all options, in the order of the table. */
enum args_id {
	ARG_PID,
	ARG_TID,
	ARG_N,
	ARG_NAME,
	ARG_USER,
	ARG_CPU,
	ARG_CGROUP,
	ARG_ALL,
	ARG_INPUT,
	ARG_OUTPUT_FILE,
	ARG_COMPRESS,
	ARG_BASELINE,
	ARG_SYMFS,
	ARG_ALL_NOTES,
	ARG_TRUST_LOCAL,
	ARG_DEBUG_DIR,
	ARG_DEBUGINFOD,
	ARG_COMM,
	ARG_IMAGE,
	ARG_SYMBOL,
	ARG_ONLY,
	ARG_TIME,
	ARG_EVENT,
	ARG_WALL,
	ARG_PFM_EVENTS,
	ARG_EVENT_FILTER,
	ARG_BPF,
	ARG_FREQ,
	ARG_PERIOD,
	ARG_CHAIN,
	ARG_CALL_GRAPH,
	ARG_NO_CHAIN,
	ARG_MAX_STACK,
	ARG_KERNEL_CHAINS,
	ARG_USER_CHAINS,
	ARG_DATA,
	ARG_DATA_LETTER,
	ARG_PHYS_DATA,
	ARG_DATA_PAGE_SIZE,
	ARG_CODE_PAGE_SIZE,
	ARG_WEIGHT,
	ARG_TRANSACTION,
	ARG_BRANCH_ANY,
	ARG_BRANCH_FILTER,
	ARG_DURATION,
	ARG_SCOPE,
	ARG_OWN_THREADS,
	ARG_UNTIL_EXEC,
	ARG_KEEP_STACKS,
	ARG_NO_CREDIT,
	ARG_FLIGHT,
	ARG_FLIGHT_TRIGGER,
	ARG_MEMORY,
	ARG_RING_PAGES,
	ARG_WAKEUP_EVENTS,
	ARG_WATERMARK,
	ARG_INTERVAL,
	ARG_STAT,
	ARG_REPEAT,
	ARG_NO_INHERIT,
	ARG_FORMAT,
	ARG_GROUP,
	ARG_COLUMNS,
	ARG_PER,
	ARG_PER_CPU,
	ARG_PER_THREAD,
	ARG_CALLERS,
	ARG_CALLEES,
	ARG_TREE,
	ARG_INLINE,
	ARG_NO_INLINE,
	ARG_SORT,
	ARG_PERCENT_LIMIT,
	ARG_PERCENTAGE,
	ARG_NORMALIZE,
	ARG_ROWS,
	ARG_MODE,
	ARG_SYNTAX,
	ARG_SOURCE_PREFIX,
	ARG_SOURCE_TREE,
	ARG_NAMES,
	ARG_RAW_CELLS,
	ARG_CRLF,
	ARG_NO_IDLE,
	ARG_DELAY,
	ARG_ASCII,
	ARG_MONO,
	ARG_NO_MOUSE,
	ARG_THEME,
	ARG_CONFIG,
	ARG_NO_CONFIG,
	ARG_COLOR,
	ARG_SNAPSHOT,
	ARG_CACHE_DIR,
	ARG_HELP,
	ARG_VERSION,
	ARGS_TABLE_MAX
};

/* getopt_long() returns ARGS_ID_BASE + id for a long option, which is above all letters. */
#define ARGS_ID_BASE 256

void args_getopt_tables(unsigned int command, char shorts[3 * ARGS_TABLE_MAX + 4],
	struct option longs[ARGS_TABLE_MAX + 1]);

/* Returns the option for a result of getopt_long(): a letter, preferably of this command, or
 * ARGS_ID_BASE + id; NULL for anything else. */
const struct args_option *args_option_of(unsigned int command, int got);
int args_id_of(const struct args_option *option);

#endif
