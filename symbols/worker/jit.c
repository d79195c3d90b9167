/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jit.c - joins the lines of a jitdump with instructions.
 *
 * Runs in the worker.
 */
#include "symbols/worker/jit.h"

#include "symbols/jit/jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Sets the lines of entries in one piece of code.  Returns 1; 0 if there are none; -errno. */
static int tell_lines(const struct jitdump *dump, const struct jitdump_code *code,
	struct codetab_builder *builder, struct codetab_entry *entries, size_t n)
{
	struct jitdump_lines lines;
	uint32_t frames = 0;
	size_t next = 0;

	int ret = jitdump_lines_read(dump, code, &lines);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < n; i++) {
		const size_t before = next;
		while (next < lines.n && lines.at[next].address <= entries[i].start)
			next++;
		if (!next)
			continue;
		if (next != before) {
			const struct jitdump_line *line = &lines.at[next - 1];
			const char *file = lines.names + line->file;
			struct codetab_frame frame = {.line = line->line,
				.file = codetab_builder_string(builder, file, strlen(file))};
			frames = codetab_builder_frames(builder, &frame, 1);
		}
		entries[i].frames = frames;
		entries[i].n_frames = 1;
	}
	jitdump_lines_fini(&lines);
	return next > 0;
}

int worker_jit_lines(int fd, bool timed, struct codetab_builder *builder,
	struct codetab_entry *entries, size_t n)
{
	struct jitdump_code *codes = calloc(n + 1, sizeof(*codes));
	uint64_t *addresses = calloc(n + 1, sizeof(*addresses));
	struct jitdump dump;
	bool any = false;
	size_t to;

	int ret = codes && addresses ? jitdump_open(&dump, fd, timed) : -ENOMEM;
	for (size_t i = 0; i < n && ret == 0; i++)
		addresses[i] = entries[i].start;
	if (ret == 0)
		ret = jitdump_find_all(&dump, addresses, n, codes);
	for (size_t from = 0; from < n && ret >= 0; from = to) {
		to = from + 1;
		while (to < n && codes[to].address == codes[from].address &&
			codes[to].size == codes[from].size)
			to++;
		if (!codes[from].size)
			continue;
		ret = tell_lines(&dump, &codes[from], builder, entries + from, to - from);
		any |= ret > 0;
	}
	free(codes);
	free(addresses);
	return ret < 0 ? ret : any;
}
