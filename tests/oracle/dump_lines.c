/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dump_lines.c - prints functions and source lines of addresses as text, for comparisons.
 *
 * usage: dump_lines [--quick] FILE [DEBUG|- [ALT|- [PART...]]]
 *
 * The lines come from dwarf/dwarf.h, or from dwarf/gopclntab.h if the file has no debug
 * information.  Virtual addresses come in hexadecimal from standard input, one a line; an empty
 * line or the end asks for them.  Each address, in ascending order, gives a line with the address,
 * then one line for each frame.  A frame has function, file, line and column, between tabs.  An
 * empty line follows.  Missing split parts are opened by name, like the loader does.
 *
 * Standard error gets the CPU time in milliseconds and the memory of the process in KiB for each
 * question.  It gets the same for the work between two questions.  With --quick, only lines are
 * asked for, as far as that is quicker, and no work is done between questions.
 */
#include "symbols/dwarf/dwarf.h"
#include "symbols/dwarf/gopclntab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PARTS_MAX 4096

static int parts[PARTS_MAX];
static size_t n_parts;
static bool quick;

static int open_file(const char *name)
{
	if (!name || strcmp(name, "-") == 0)
		return -1;
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fprintf(stderr, "dump_lines: %s: %s\n", name, strerror(errno));
	return fd;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void show(const struct codetab *table)
{
	for (uint32_t i = 0; i < table->n_entries; i++) {
		const struct codetab_entry *entry = &table->entries[i];
		printf("0x%llx\n", (unsigned long long)entry->start);
		for (uint32_t k = 0; k < entry->n_frames; k++) {
			const struct codetab_frame *frame = &table->frames[entry->frames + k];
			printf("%s\t%s\t%u\t%u\n", table->pool + frame->function,
				table->pool + frame->file, frame->line, frame->column);
		}
		printf("\n");
	}
}

/* Opens the missing split parts.  Returns false if none could be opened. */
static bool add_missing(const struct dwarf *dwarf)
{
	const size_t before = n_parts;
	const char *name;

	for (size_t i = 0; (name = dwarf_missing(dwarf, i)) && n_parts < PARTS_MAX; i++) {
		parts[n_parts] = open(name, O_RDONLY | O_CLOEXEC);
		n_parts += parts[n_parts] >= 0;
	}
	return n_parts > before;
}

/* Variant of ask() for Go's own table. */
static int ask_go(int fd, const uint64_t *addresses, size_t n, struct codetab_builder *builder,
	struct codetab_entry *entries)
{
	struct gopclntab *table = NULL;
	struct elffile elf;

	for (size_t i = 0; i < n; i++)
		entries[i].start = addresses[i];
	int ret = elffile_open(&elf, fd);
	if (ret == 0)
		ret = gopclntab_open(&table, &elf);
	if (ret == 0)
		gopclntab_lines(table, builder, entries, n);
	gopclntab_free(table);
	elffile_close(&elf);
	return ret;
}

static int ask(struct dwarf_files *files, const uint64_t *addresses, size_t n)
{
	struct codetab_builder *builder = NULL;
	struct codetab table = {0};
	struct dwarf *dwarf;
	int fd = -1;

	struct codetab_entry *entries = calloc(n + 1, sizeof(*entries));
	int ret = entries ? codetab_builder_new(&builder) : -ENOMEM;
	const int without = ret == 0 ? dwarf_open(&dwarf, files) : 0;
	if (without < 0)
		ret = ask_go(files->file, addresses, n, builder, entries) == 0 ? 0 : without;
	if (ret == 0 && !without && quick)
		ret = dwarf_lines_quick(dwarf, addresses, n, builder, entries);
	if (ret == 0 && !without)
		ret = dwarf_lines(dwarf, addresses, n, builder, entries);
	if (ret > 0)
		ret = 0;
	else if (ret == 0 && !without && add_missing(dwarf)) {
		files->n_parts = n_parts;
		ret = dwarf_open(&dwarf, files);
		if (ret == 0)
			ret = dwarf_lines(dwarf, addresses, n, builder, entries);
	}
	for (size_t i = 0; i < n && ret == 0; i++) {
		entries[i].start = addresses[i];
		codetab_builder_add(builder, &entries[i]);
	}
	if (ret == 0)
		ret = codetab_builder_finish(builder, &fd);
	if (ret == 0)
		ret = codetab_open(&table, fd);
	if (ret == 0)
		show(&table);
	else
		fprintf(stderr, "dump_lines: %s\n", strerror(-ret));
	codetab_close(&table);
	if (fd >= 0)
		close(fd);
	codetab_builder_free(builder);
	free(entries);
	return ret;
}

static void show_cost(const char *what, const struct timespec *start)
{
	struct timespec now;
	char line[256];

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	fprintf(stderr, "%s %.1f", what,
		(double)(now.tv_sec - start->tv_sec) * 1e3 +
			(double)(now.tv_nsec - start->tv_nsec) / 1e6);
	FILE *status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof(line), status)) {
		char name[32];
		unsigned long kib;
		if (sscanf(line, "%31[^:]: %lu kB", name, &kib) == 2 &&
			(strcmp(name, "VmHWM") == 0 || strcmp(name, "VmPeak") == 0 ||
				strcmp(name, "RssAnon") == 0))
			fprintf(stderr, " %s %lu", name, kib);
	}
	fprintf(stderr, "\n");
	if (status)
		fclose(status);
}

int main(int argc, char **argv)
{
	struct dwarf_files files = {.parts = parts};
	uint64_t *addresses = NULL;
	size_t n = 0, cap = 0;
	char line[64] = "";
	int ret = 0;

	quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	argv += quick;
	argc -= quick;
	if (argc < 2) {
		fprintf(stderr, "usage: dump_lines [--quick] FILE [DEBUG|- [ALT|- [PART...]]]\n");
		return 2;
	}
	files.file = open_file(argv[1]);
	files.debug = open_file(argc > 2 ? argv[2] : NULL);
	files.alt = open_file(argc > 3 ? argv[3] : NULL);
	for (int i = 4; i < argc && n_parts < PARTS_MAX; i++)
		if ((parts[n_parts] = open_file(argv[i])) >= 0)
			n_parts++;
	files.n_parts = n_parts;
	for (bool more = true; more && ret == 0;) {
		more = fgets(line, sizeof(line), stdin);
		if (more && *line != '\n') {
			if (n == cap) {
				cap = cap * 2 + 1024;
				addresses = reallocarray(addresses, cap, sizeof(*addresses));
				if (!addresses)
					return 1;
			}
			addresses[n++] = strtoull(line, NULL, 16);
			continue;
		}
		if (n == 0)
			continue;
		struct timespec start;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
		qsort(addresses, n, sizeof(*addresses), by_address);
		ret = ask(&files, addresses, n);
		fflush(stdout);
		show_cost("question", &start);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
		if (more && !quick && dwarf_idle()) {
			while (dwarf_idle())
				;
			show_cost("idle", &start);
		}
		n = 0;
	}
	free(addresses);
	dwarf_forget();
	return ret < 0;
}
