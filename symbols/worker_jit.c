/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker_jit.c - the lines of a jitdump, joined with instructions.  The worker.
 */
#include "symbols/worker_jit.h"

#include "symbols/jitdump.h"

#include <string.h>

int worker_jit_lines(
	int fd, struct codetab_builder *builder, struct codetab_entry *entries, size_t n)
{
	struct jitdump_code code;
	struct jitdump_lines lines;
	struct jitdump dump;
	uint32_t frames = 0;
	size_t next = 0;

	if (n == 0)
		return 0;
	int ret = jitdump_open(&dump, fd);
	if (ret == 0)
		ret = jitdump_find(&dump, entries[0].start, &code);
	if (ret == 0)
		ret = jitdump_lines_read(&dump, &code, &lines);
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
