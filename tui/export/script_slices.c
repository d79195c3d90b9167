/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script_slices.c - samples that are kept as cells of slices, as `perf script` would print them.
 *
 * A cell becomes as many samples as it counts, with its weight divided among them; the samples of a slice are spread evenly over its
 * time, in the order of their stacks, since which of them came first is not known.
 */
#include "tui/export/script_text.h"

#include <errno.h>

/* The part i of n of a weight, all of which are the whole. */
static uint64_t part_of(uint64_t weight, uint64_t i, uint64_t n)
{
	const unsigned __int128 wide = weight;

	return (uint64_t)(wide * (i + 1) / n - wide * i / n);
}

static int put_slice(FILE *out, const struct profile *profile, const struct slice *slice)
{
	const struct script_text text = {.out = out,
		.stacks = profile->stacks,
		.names = profile->names,
		.inlines = profile->inlines};
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
			putc_unlocked('\n', out);
			script_stack(&text, slice->stack[i]);
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
