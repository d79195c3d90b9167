/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor_programs.c - see doctor_programs.h.
 */
#include "tui/commands/doctor_programs.h"

#include "sampler/machine/proc.h"
#include "sampler/store/tasks.h"
#include "symbols/base/clock.h"
#include "symbols/client/unwind.h"
#include "symbols/wire/unwtab.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 10000u /* limit for all files together */

/* A program during the search. */
struct running {
	struct doctor_program program;
	dev_t dev;
	ino_t inode; /* 0: unknown */
	int32_t pid; /* any of its processes */
};

/* Reads the program of a process.  Returns 0, or -ENOENT if it has none. */
static int read_running(
	const struct proc_process *process, uint64_t tick_ms, struct running *running)
{
	char link[64];
	struct stat st;

	*running = (struct running){
		.program = {.processes = 1,
			.cpu_ms = process->cpu_ticks * tick_ms,
			.unwind_data = DOCTOR_UNKNOWN,
			.frame_pointers = DOCTOR_UNKNOWN,
			.names = DOCTOR_UNKNOWN},
		.pid = process->pid,
	};
	char *path = running->program.path;
	snprintf(link, sizeof(link), "/proc/%" PRId32 "/exe", process->pid);
	const ssize_t len = readlink(link, path, sizeof(running->program.path) - 1);
	if (len > 0 && !stat(link, &st)) {
		running->dev = st.st_dev;
		running->inode = st.st_ino;
		running->program.deleted = !st.st_nlink;
		return 0;
	}
	if (errno == ENOENT || errno == ESRCH)
		return -ENOENT;
	running->program.error = errno;
	snprintf(path, sizeof(running->program.path), "%s", process->comm);
	return 0;
}

static bool is_same_program(const struct running *a, const struct running *b)
{
	if (a->program.error != b->program.error)
		return false;
	return a->program.error ? !strcmp(a->program.path, b->program.path)
				: a->dev == b->dev && a->inode == b->inode;
}

static int compare_time(const void *a, const void *b)
{
	const struct doctor_program *x = &((const struct running *)a)->program;
	const struct doctor_program *y = &((const struct running *)b)->program;

	if (x->cpu_ms != y->cpu_ms)
		return x->cpu_ms < y->cpu_ms ? 1 : -1;
	return strcmp(x->path, y->path);
}

/* Lists the running programs.  The caller frees *out.  Returns 0 or -errno. */
static int list_running(struct running **out, size_t *n)
{
	const uint64_t tick_ms = 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct proc_process *processes;
	size_t n_processes, found;

	*out = NULL;
	*n = 0;
	const int ret = proc_list(&processes, &n_processes);
	if (ret < 0)
		return ret;
	struct running *all = calloc(n_processes + 1, sizeof(*all));
	for (size_t i = 0; all && i < n_processes; i++) {
		struct running *one = &all[*n];
		if (processes[i].kernel_thread || processes[i].state == 'Z' ||
			processes[i].pid == getpid() || read_running(&processes[i], tick_ms, one))
			continue;
		for (found = 0; found < *n && !is_same_program(&all[found], one); found++)
			;
		if (found == *n) {
			(*n)++;
			continue;
		}
		all[found].program.processes++;
		all[found].program.cpu_ms += one->program.cpu_ms;
	}
	free(processes);
	if (!all)
		return -ENOMEM;
	qsort(all, *n, sizeof(*all), compare_time);
	*out = all;
	return 0;
}

/* Finds the program's mapping, which gives access to a deleted file, too. */
static void find_mapping(const struct running *running, struct symbols_source *source)
{
	struct record_mmap mapping;
	char path[64], line[8192];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/maps", running->pid);
	FILE *maps = fopen(path, "re");
	while (maps && !source->map_end && fgets(line, sizeof(line), maps)) {
		if (tasks_parse_maps_line(line, &mapping) || !mapping.executable ||
			strcmp(mapping.filename, running->program.path) != 0)
			continue;
		source->map_start = mapping.start;
		source->map_end = mapping.start + mapping.len;
		source->dev_major = mapping.dev_major;
		source->dev_minor = mapping.dev_minor;
		source->inode = mapping.inode;
	}
	if (maps)
		fclose(maps);
}

static void ask_tables(struct symbols *symbols, uint32_t key, struct running *running)
{
	struct symbols_source source = {
		.kind = SYMBOLS_FILE,
		.path = running->program.path,
		.pid = running->pid,
		.deleted = running->program.deleted,
	};

	if (running->program.error)
		return;
	find_mapping(running, &source);
	running->program.error = -symbols_unwind_ask(symbols, key, &source);
	/* If this fails, only the names stay unknown. */
	(void)symbols_request(symbols, key, &source);
}

static void take_table(struct symbols *symbols, uint32_t key, struct doctor_program *program)
{
	const struct unwtab *table;

	switch (symbols_unwind_state(symbols, key, &table)) {
	case SYMBOLS_READY:
	case SYMBOLS_NONE:
		if (!table)
			break;
		program->is_32_bits = table->flags & UNWTAB_32_BITS;
		program->unwind_data = table->flags & UNWTAB_SPARSE ? DOCTOR_NO : DOCTOR_YES;
		if (unwtab_keeps_bp(table))
			program->frame_pointers = DOCTOR_YES;
		else if (program->unwind_data == DOCTOR_YES)
			program->frame_pointers = DOCTOR_NO;
		break;
	case SYMBOLS_PENDING:
		program->error = ETIMEDOUT;
		break;
	default:
		program->error = symbols_unwind_error(symbols, key);
		break;
	}
}

static enum doctor_has find_names(const struct symbols *symbols, uint32_t key)
{
	uint32_t named, nameless;

	switch (symbols_state(symbols, key)) {
	case SYMBOLS_READY:
		symbols_count(symbols, key, &named, &nameless);
		return !named ? DOCTOR_NO : nameless > named ? DOCTOR_FEW : DOCTOR_YES;
	case SYMBOLS_NONE:
		return DOCTOR_NO;
	default:
		return DOCTOR_UNKNOWN;
	}
}

void doctor_programs_gather(struct doctor_programs *out)
{
	const struct symbols_config config = {0};
	struct running *all = NULL;
	struct symbols *symbols = NULL;
	size_t n = 0;

	memset(out, 0, sizeof(*out));
	/* List processes before the worker's own exist. */
	int ret = list_running(&all, &n);
	if (ret == 0)
		ret = symbols_new(&symbols, &config);
	out->error = -ret;
	n = ret ? 0 : n;
	out->n = n < DOCTOR_PROGRAMS ? n : DOCTOR_PROGRAMS;
	out->more = n - out->n;
	for (uint32_t i = 0; i < out->n; i++)
		ask_tables(symbols, i, &all[i]);
	const int64_t end_ms = clock_now_ms() + WAIT_MS;
	for (uint32_t i = 0; i < out->n; i++) {
		out->list[i] = all[i].program;
		if (out->list[i].error)
			continue;
		const int64_t left_ms = end_ms - clock_now_ms();
		(void)symbols_unwind_wait(symbols, i, left_ms > 0 ? (unsigned int)left_ms : 0);
		take_table(symbols, i, &out->list[i]);
	}
	const int64_t left_ms = end_ms - clock_now_ms();
	if (out->n)
		(void)symbols_wait(symbols, left_ms > 0 ? (unsigned int)left_ms : 0);
	for (uint32_t i = 0; i < out->n; i++)
		out->list[i].names = find_names(symbols, i);
	free(all);
	symbols_free(symbols);
}

/* --- the table --- */

static const char *name_has(enum doctor_has has)
{
	switch (has) {
	case DOCTOR_NO:
		return "no";
	case DOCTOR_YES:
		return "yes";
	case DOCTOR_FEW:
		return "few";
	default:
		return "?";
	}
}

static bool has_neither(const struct doctor_program *program)
{
	return program->unwind_data == DOCTOR_NO && program->frame_pointers != DOCTOR_YES &&
		!program->is_32_bits;
}

static void print_program(FILE *out, const struct doctor_program *program)
{
	const uint64_t seconds = program->cpu_ms / 1000;
	char path[sizeof(program->path)], time[32];

	snprintf(time, sizeof(time), "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
		seconds / 60 % 60, seconds % 60);
	fprintf(out, "  %10s %9" PRIu32 " %11s %14s %5s  %s", time, program->processes,
		name_has(program->unwind_data), name_has(program->frame_pointers),
		name_has(program->names), clean_string(path, sizeof(path), program->path));
	if (program->error)
		fprintf(out, ": not read (%s)",
			program->deleted ? "the file was deleted" : explain_errno(program->error));
	if (program->is_32_bits)
		fputs(" (32 bits, unwound by frame pointers alone: -fno-omit-frame-pointer)", out);
	fputc('\n', out);
}

unsigned int doctor_programs_print(FILE *out, const struct doctor_programs *programs)
{
	unsigned int neither = 0;
	bool nameless = false;

	fputs("\nCall chains and names of programs that run now\n", out);
	if (programs->error) {
		fprintf(out, "  not known: programs cannot be read (%s)\n",
			explain_errno(programs->error));
		return 0;
	}
	fprintf(out, "  %10s %9s %11s %14s %5s  %s\n", "CPU TIME", "PROCESSES", "UNWIND DATA",
		"FRAME POINTERS", "NAMES", "PROGRAM");
	for (size_t i = 0; i < programs->n; i++) {
		neither += has_neither(&programs->list[i]);
		nameless |= programs->list[i].names == DOCTOR_NO ||
			programs->list[i].names == DOCTOR_FEW;
		print_program(out, &programs->list[i]);
	}
	if (programs->more)
		fprintf(out, "  and %zu more program%s, with less CPU time\n", programs->more,
			programs->more == 1 ? "" : "s");
	fputs("  With either, chains reach the entry of the program. Libraries and code made at "
	      "run time may differ.\n",
		out);
	if (neither)
		fputs("  -> with neither: rebuild with -fasynchronous-unwind-tables or "
		      "-fno-omit-frame-pointer\n",
			out);
	if (nameless)
		fputs("  -> without names: they were stripped. Debug files bring the names back "
		      "(packages "
		      "-dbg and -dbgsym, --debuginfod, --debug-dir)\n",
			out);
	return neither;
}
