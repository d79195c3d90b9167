/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maptext.c - see maptext.h.
 */
#include "symbols/loader/maptext.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_BYTES 27u /* per line, without its name: two numbers, two blanks, a newline */

struct known {
	uint64_t since_ns;
	uint32_t entry;
};

static int by_time(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->since_ns != y->since_ns)
		return x->since_ns < y->since_ns ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Lists all entries of a table in the order of their times. */
static void sort_known(const struct symtab *table, uint64_t now_ns, struct known *known)
{
	const struct symtab_change *change = table->changes;
	const struct symtab_change *end = change + table->n_changes;

	for (uint32_t i = 0; i < table->n_entries; i++) {
		const uint64_t start = table->entries[i].start;
		while (change < end && change->start < start &&
			start - change->start >= change->size)
			change++;
		const bool changed = change < end && change->start <= start;
		const uint64_t since_ns = changed ? change->since_ns : 1;
		known[i] = (struct known){since_ns < now_ns ? since_ns : now_ns, i};
	}
	qsort(known, table->n_entries, sizeof(*known), by_time);
}

/* Returns how many of the oldest entries, from the first on, do not fit. */
static uint32_t count_left_out(
	const struct symtab *table, const struct maptext_limits *limits, const struct known *known)
{
	uint64_t bytes = 0, lines = 0;

	for (uint32_t i = table->n_entries; i > 0; i--) {
		bytes += NUMBERS_BYTES + strlen(symtab_name(table, known[i - 1].entry));
		if (bytes > limits->bytes || ++lines > limits->lines)
			return i;
	}
	return 0;
}

/* The number of steps is limited: the oldest of too many times are joined into one. */
static void join_times(struct known *known, uint32_t n)
{
	size_t times = 0;

	for (uint32_t i = n; i > 0; i--) {
		times += i == n || known[i - 1].since_ns != known[i].since_ns;
		if (times >= PERFMAP_STEPS_MAX - 1)
			known[i - 1].since_ns = 1;
	}
}

static uint64_t write_line(const struct symtab *table, uint32_t number, FILE *out)
{
	const struct symtab_entry *entry = &table->entries[number];
	const bool numbered = entry->start >> JITSPANS_SHIFT < JITSPANS_NUMBERS;

	const int len = fprintf(out, "%" PRIx64 " %" PRIx32 " %s\n",
		numbered ? entry->start & JITSPANS_PLAIN : entry->start, entry->size,
		symtab_name(table, number));
	return len > 0 ? (uint64_t)len : 0;
}

bool maptext_fits(const struct symtab *table, const struct maptext_limits *limits)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < table->n_entries; i++)
		bytes += NUMBERS_BYTES + strlen(symtab_name(table, i));
	return bytes <= limits->bytes && table->n_entries <= limits->lines;
}

int maptext_write(const struct symtab *table, const struct maptext_limits *limits, FILE *out,
	struct maptext *text)
{
	struct known *known = calloc(table->n_entries + 1u, sizeof(*known));

	*text = (struct maptext){.steps = calloc(PERFMAP_STEPS_MAX, sizeof(*text->steps))};
	if (!known || !text->steps) {
		free(known);
		free(text->steps);
		text->steps = NULL;
		return -ENOMEM;
	}
	sort_known(table, limits->now_ns, known);
	if (table->n_entries)
		text->last_ns = known[table->n_entries - 1].since_ns;
	const uint32_t first = count_left_out(table, limits, known);
	text->cut = first > 0;
	join_times(known + first, table->n_entries - first);
	for (uint32_t i = first; i < table->n_entries; i++) {
		const char *name = symtab_name(table, known[i].entry);
		const struct perfmap_step step = {text->bytes, known[i].since_ns};
		/* Names with newlines come from a jitdump, which is read again anyway. */
		if (!*name || strchr(name, '\n'))
			continue;
		if (!text->n_steps || text->steps[text->n_steps - 1].since_ns != step.since_ns)
			text->steps[text->n_steps++] = step;
		text->bytes += write_line(table, known[i].entry, out);
	}
	free(known);
	return 0;
}
