// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * stat_rows.c - sums of the counting's cells by the rows of --per.
 */
#include "sampler/kernel/attr.h"
#include "tui/base/grow.h"
#include "tui/commands/stat_private.h"

#include "sampler/machine/proc.h"
#include "tui/base/clean.h"
#include "tui/session/request.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SYSFS "/sys"

/* --- topology of CPUs --- */

static int read_number(const char *root, int cpu, const char *file)
{
	char path[256];
	FILE *in;
	int number;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d/%s", root, cpu, file);
	in = fopen(path, "re");
	if (!in)
		return -1;
	if (fscanf(in, "%d", &number) != 1)
		number = -1;
	fclose(in);
	return number;
}

void stat_find_cpu(const char *root, int cpu, struct stat_cpu *out)
{
	char path[256];
	struct dirent *entry;
	DIR *dir;

	*out = (struct stat_cpu){
		.core = read_number(root, cpu, "topology/core_id"),
		.socket = read_number(root, cpu, "topology/physical_package_id"),
		.node = -1,
	};
	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%d", root, cpu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%d", &out->node) == 1)
			break;
	if (dir)
		closedir(dir);
}

/* --- rows --- */

static void name_process(struct stat_row *row, const char *command)
{
	char raw[128];

	clean_string(row->command, sizeof(row->command), command);
	if (row->tid >= 0)
		snprintf(raw, sizeof(raw), "%s (%" PRId32 "/%" PRId32 ")", row->command, row->pid,
			row->tid);
	else
		snprintf(raw, sizeof(raw), "%s (%" PRId32 ")", row->command, row->pid);
	memcpy(row->name, raw, sizeof(row->name));
}

void stat_gather_rename(struct stat_gather *gather)
{
	struct stat_table *table = &gather->table;

	for (size_t i = 0; i < table->n_rows; i++) {
		struct stat_row *row = &table->rows[i];

		/* The kernel keeps only 15 bytes of a name. */
		if (row->pid >= 0 && proc_name_update(&row->seen) &&
			(strlen(row->seen.comm) < 15 ||
				strncmp(row->command, row->seen.comm, 15) != 0))
			name_process(row, row->seen.comm);
	}
}

static void name_row(const struct stat_gather *gather, struct stat_row *row)
{
	char raw[128] = "", *slash;

	if (row->pid >= 0) {
		const char *command = "";

		row->seen = (struct proc_name){.pid = row->tid >= 0 ? row->tid : row->pid};
		/* The command has not been executed yet, so /proc still shows strobe's name. */
		if (gather->command) {
			slash = strrchr(gather->command, '/');
			command = slash && slash[1] ? slash + 1 : gather->command;
		} else if (proc_name_update(&row->seen)) {
			command = row->seen.comm;
		}
		name_process(row, command);
		return;
	}
	if (row->cpu >= 0) {
		snprintf(raw, sizeof(raw), "CPU %d", row->cpu);
	} else if (row->core >= 0) {
		snprintf(raw, sizeof(raw), "socket %d core %d", row->socket, row->core);
	} else if (row->socket >= 0) {
		snprintf(raw, sizeof(raw), "socket %d", row->socket);
	} else if (row->node >= 0) {
		snprintf(raw, sizeof(raw), "node %d", row->node);
	} else if (gather->table.per != STAT_PER_TOTAL) {
		snprintf(raw, sizeof(raw), "whole machine");
	}
	memcpy(row->name, raw, sizeof(row->name));
}

/* Returns a cell's row without name and counts. */
static struct stat_row key_of(enum stat_per per, const struct counting_cell *cell)
{
	struct stat_row row = {
		.pid = -1, .tid = -1, .cpu = -1, .core = -1, .socket = -1, .node = -1};
	struct stat_cpu cpu;

	switch (per) {
	case STAT_PER_THREAD:
		row.tid = cell->tid;
		row.pid = cell->pid;
		break;
	case STAT_PER_PROCESS:
		row.pid = cell->pid;
		break;
	case STAT_PER_CPU:
		row.cpu = cell->cpu;
		break;
	case STAT_PER_CORE:
	case STAT_PER_SOCKET:
	case STAT_PER_NODE:
		if (cell->cpu < 0)
			break;
		stat_find_cpu(SYSFS, cell->cpu, &cpu);
		if (per == STAT_PER_CORE)
			row.core = cpu.core;
		if (per == STAT_PER_NODE)
			row.node = cpu.node < 0 ? 0 : cpu.node;
		else
			row.socket = cpu.socket < 0 ? 0 : cpu.socket;
		break;
	default:
		break;
	}
	return row;
}

static bool is_same(const struct stat_row *a, const struct stat_row *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu && a->core == b->core &&
		a->socket == b->socket && a->node == b->node;
}

static int add_row(struct stat_gather *gather, struct stat_row *row)
{
	struct stat_table *table = &gather->table;

	if (grow_exact(&table->rows, table->n_rows + 1, sizeof(*table->rows)))
		return -ENOMEM;
	row->counts = calloc(table->n_events, sizeof(*row->counts));
	if (!row->counts)
		return -ENOMEM;
	name_row(gather, row);
	table->rows[table->n_rows++] = *row;
	return 0;
}

/* Neighbouring cells often share a row, and rows are in the order of cells, so the search begins at
 * the last row. */
static int find_row(
	struct stat_gather *gather, const struct counting_cell *cell, size_t near, size_t *out)
{
	struct stat_table *table = &gather->table;
	struct stat_row row = key_of(table->per, cell);

	for (size_t i = 0; i < table->n_rows; i++) {
		size_t at = (near + i) % table->n_rows;

		if (is_same(&table->rows[at], &row)) {
			*out = at;
			return 0;
		}
	}
	*out = table->n_rows;
	return add_row(gather, &row);
}

/* Finds rows for new cells. */
static int take_cells(struct stat_gather *gather, const struct counting *counting)
{
	size_t n, near = 0;
	const struct counting_cell *cells = counting_cells(counting, &n);
	size_t *row_of;
	struct counting_cell *before;

	if (n == gather->n_cells)
		return 0;
	if (grow_exact(&gather->row_of, n, sizeof(*row_of)) ||
		grow_exact(&gather->before, n, sizeof(*before)))
		return -ENOMEM;
	row_of = gather->row_of;
	before = gather->before;
	for (; gather->n_cells < n; gather->n_cells++) {
		size_t i = gather->n_cells;
		int ret = find_row(gather, &cells[i], near, &row_of[i]);

		if (ret)
			return ret;
		near = row_of[i];
		before[i] = (struct counting_cell){0};
	}
	return 0;
}

static void describe_event(struct stat_event *to, const struct counting_event *from)
{
	const char *slash = from->spec.cgroup ? strrchr(from->spec.cgroup, '/') : NULL;
	const char *label = from->spec.cgroup_label;
	bool is_clock = attr_is_clock(&from->spec.attr);

	clean_string(to->name, sizeof(to->name), from->spec.name);
	if (from->spec.cgroup)
		clean_string(to->cgroup, sizeof(to->cgroup),
			label			    ? label
				: slash && slash[1] ? slash + 1
						    : from->spec.cgroup);
	to->unit = from->spec.unit ? from->spec.unit : is_clock ? "ms" : "";
	to->scale = from->spec.scale > 0 ? from->spec.scale : 1;
	if (!from->spec.unit && is_clock)
		to->scale = 1e-6;
	to->attr = from->spec.attr;
	to->group = from->ungrouped ? 0 : from->spec.group;
	to->opened = from->opened > 0;
	to->no_room = from->no_room;
	to->by_default = from->spec.by_default;
}

int stat_gather_begin(struct stat_gather *gather, const struct counting *counting)
{
	struct stat_table *table = &gather->table;
	const struct counting_event *events = counting_events(counting, &table->n_events);

	table->events = calloc(table->n_events, sizeof(*table->events));
	if (!table->events)
		return -ENOMEM;
	for (size_t i = 0; i < table->n_events; i++)
		describe_event(&table->events[i], &events[i]);
	return take_cells(gather, counting);
}

void stat_add(struct stat_count *count, const struct counting_cell *now,
	const struct counting_cell *before)
{
	uint64_t value = now->value - before->value;
	uint64_t enabled_ns = now->enabled_ns - before->enabled_ns;
	uint64_t running_ns = now->running_ns - before->running_ns;

	if (now->in_error)
		count->missing = STAT_PINNED_OUT;
	else if (count->missing == STAT_ABSENT)
		count->missing = STAT_COUNTED;
	count->count += value;
	count->enabled_ns += enabled_ns;
	count->running_ns += running_ns;
	/* Extrapolates each cell by its own times: a CPU that was busy with other events says
	 * nothing about another. */
	count->estimate += (double)counting_scale(value, enabled_ns, running_ns);
}

void stat_settle(struct stat_count *count, const struct stat_event *event)
{
	if (!event->opened)
		count->missing = event->no_room ? STAT_NO_ROOM : STAT_NOT_SUPPORTED;
	else if (count->missing == STAT_COUNTED && !count->running_ns)
		count->missing = count->enabled_ns ? STAT_NO_ROOM : STAT_DID_NOT_RUN;
	count->scaled = count->estimate * event->scale;
	count->deviation_percent = -1;
}

int stat_gather_take(struct stat_gather *gather, const struct counting *counting, bool interval)
{
	static const struct counting_cell nothing = {0};
	struct stat_table *table = &gather->table;
	const struct counting_cell *cells;
	size_t n;
	int ret = take_cells(gather, counting);

	if (ret)
		return ret;
	for (size_t i = 0; i < table->n_rows; i++)
		for (size_t k = 0; k < table->n_events; k++)
			table->rows[i].counts[k] = (struct stat_count){.missing = STAT_ABSENT};
	cells = counting_cells(counting, &n);
	for (size_t i = 0; i < n; i++) {
		struct stat_row *row = &table->rows[gather->row_of[i]];

		stat_add(&row->counts[cells[i].event], &cells[i],
			interval ? &gather->before[i] : &nothing);
		gather->before[i] = cells[i];
	}
	for (size_t i = 0; i < table->n_rows; i++) {
		for (size_t k = 0; k < table->n_events; k++)
			stat_settle(&table->rows[i].counts[k], &table->events[k]);
		stat_metrics(table, &table->rows[i]);
	}
	return 0;
}

void stat_gather_fini(struct stat_gather *gather)
{
	for (size_t i = 0; i < gather->table.n_rows; i++)
		free(gather->table.rows[i].counts);
	free(gather->table.rows);
	free(gather->table.events);
	free(gather->row_of);
	free(gather->before);
	*gather = (struct stat_gather){0};
}
