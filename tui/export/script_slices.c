/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script_slices.c - see script_text.h; and samples that are kept as cells of slices, as `perf script` would print them.
 *
 * A cell becomes as many samples as it counts, with its weight divided among them; the samples of a slice are spread evenly over its
 * time, in the order of their stacks, since which of them came first is not known.
 */
#include "tui/export/script_text.h"

#include "tui/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *file_of(const struct symref *symref)
{
	if (!strcmp(symref->image, "[kernel]"))
		return "[kernel.kallsyms]";
	return symref->path[0] == '/' && symref->image[0] != '[' ? symref->path : symref->image;
}

void script_head(FILE *out, const struct script_head *head)
{
	const uint64_t ns = head->time_ns;
	char comm[TASK_COMM_MAX];

	clean_text(comm, sizeof(comm), head->label ? head->label->comm : "", TASK_COMM_MAX);
	fprintf(out, head->has_chain ? "%s %5" PRId32 " " : "%16s %5" PRId32 " ", comm,
		head->label ? head->label->tid : -1);
	if (head->cpu >= 0)
		fprintf(out, "[%03d] ", head->cpu);
	fprintf(out, "%5" PRIu64 ".%06" PRIu64 ": ", ns / 1000000000, ns % 1000000000 / 1000);
	if (!head->event->by_count)
		fprintf(out, "%10" PRIu64 " ", head->period);
	fprintf(out, "%s: ", head->event->name);
}

void script_frame(FILE *out, struct names *names, uint32_t frame, uint64_t address, bool inlines)
{
	uint32_t inlined[NAMES_INLINED_MAX];
	const struct symref *symref = names_get(names, names_symref(names, frame));
	size_t n = inlines ? names_inlined(names, frame, inlined, NAMES_INLINED_MAX) : 0;

	for (size_t i = 0; i < n; i++)
		fprintf(out, "%16" PRIx64 " %s\n\t", address, names_get(names, inlined[i])->symbol);
	if (symref->resolved)
		fprintf(out, "%16" PRIx64 " %s+0x%" PRIx64 " (%s)\n", address, symref->symbol,
			address - symref->start, file_of(symref));
	else
		fprintf(out, "%16" PRIx64 " [unknown] (%s)\n", address, file_of(symref));
}

static void put_stack(FILE *out, const struct profile *profile, uint32_t node)
{
	int mode = -1; /* of the frame that was called */

	putc_unlocked('\n', out);
	while (node != STACK_ROOT) {
		const struct stack_node *at = stacks_node(profile->stacks, node);
		const struct frame *frame = stacks_frame_get(profile->stacks, at->frame);

		putc_unlocked('\t', out);
		/* What follows a call is the return address, one behind what was looked up. */
		script_frame(out, profile->names, at->frame, frame->offset + (mode == frame->mode),
			profile->inlines);
		mode = frame->mode;
		node = at->parent;
	}
	putc_unlocked('\n', out);
}

/* The part i of n of a weight, all of which are the whole. */
static uint64_t part_of(uint64_t weight, uint64_t i, uint64_t n)
{
	const unsigned __int128 wide = weight;

	return (uint64_t)(wide * (i + 1) / n - wide * i / n);
}

static int put_slice(FILE *out, const struct profile *profile, const struct slice *slice)
{
	uint64_t count = 0, at = 0, length = slice->end_ns - slice->start_ns;
	uint32_t event;

	for (uint32_t i = 0; i < slice->cells; i++)
		if (profile_pass(profile, slice, i, &event))
			count += slice->count[i];
	for (uint32_t i = 0; i < slice->cells; i++) {
		if (!profile_pass(profile, slice, i, &event))
			continue;
		for (uint64_t k = 0; k < slice->count[i]; k++, at++) {
			const unsigned __int128 since = (unsigned __int128)length * at / count;

			script_head(out,
				&(const struct script_head){
					.label = tasks_label_get(profile->tasks, slice->task[i]),
					.event = &profile->events[event],
					.has_chain = true,
					.cpu = slice->cpu[i],
					.time_ns = slice->start_ns + (uint64_t)since,
					.period = part_of(slice->weight[i], k, slice->count[i])});
			put_stack(out, profile, slice->stack[i]);
			if (ferror(out))
				return -EIO;
		}
	}
	return 0;
}

int export_script_slices(FILE *out, const struct profile *profile)
{
	int ret = 0;

	for (size_t i = 0; i < profile->snapshot->n && !ret; i++)
		ret = profile_interrupted(profile)
			? -EINTR
			: put_slice(out, profile, profile->snapshot->slices[i]);
	return ret;
}
