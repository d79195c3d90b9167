/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script_slices.c - samples kept as cells of slices, printed like `perf script`.
 *
 * A cell without times becomes as many samples as it counts, and its weight is divided among them.
 * Their true order is not known.  They are spread evenly over the time of their slice, in the order
 * of their stacks.
 */
#include "tui/export/script_text.h"

#include <errno.h>
#include <stdlib.h>

/* Returns part i of n of a weight.  All n parts add up to the weight. */
static uint64_t part_of(uint64_t weight, uint64_t i, uint64_t n)
{
	const unsigned __int128 wide = weight;

	return (uint64_t)(wide * (i + 1) / n - wide * i / n);
}

static int by_time(const void *a, const void *b)
{
	const struct profile_moment *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Lists each sample separately, with a time. */
static int spread_moments(const struct slice *slice, const struct profile_moments *from,
	uint64_t untimed, struct profile_moment **out, size_t *n)
{
	uint64_t length = slice->end_ns - slice->start_ns, at = 0;
	size_t used = 0;

	*n = 0;
	*out = calloc(from->n + untimed + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n; i++) {
		const struct profile_moment *moment = &from->at[i];

		for (uint64_t k = 0; k < moment->count; k++) {
			struct profile_moment *to = &(*out)[used++];

			*to = *moment;
			to->weight = part_of(moment->weight, k, moment->count);
			if (!moment->time_ns)
				to->time_ns = slice->start_ns +
					(uint64_t)((unsigned __int128)length * at++ / untimed);
		}
	}
	*n = used;
	qsort(*out, used, sizeof(**out), by_time);
	return 0;
}

static int put_moments(
	FILE *out, const struct profile *profile, const struct profile_moment *moments, size_t n)
{
	const struct script_text text = {.out = out,
		.stacks = profile->stacks,
		.names = profile->names,
		.inlines = profile->inlines};

	for (size_t i = 0; i < n; i++) {
		script_head(out,
			&(const struct script_head){
				.label = tasks_label_get(profile->tasks, moments[i].task),
				.event = &profile->events[moments[i].event],
				.has_chain = true,
				.cpu = moments[i].cpu,
				.time_ns = moments[i].time_ns,
				.period = moments[i].weight});
		putc_unlocked('\n', out);
		script_stack(&text, moments[i].stack);
		if (ferror(out))
			return -EIO;
	}
	return 0;
}

static int put_slice(
	FILE *out, const struct profile *profile, uint32_t s, struct profile_moments *list)
{
	const uint64_t before = list->untimed;
	struct profile_moment *moments = NULL;
	size_t n = 0;
	int ret;

	list->n = 0;
	ret = profile_slice_moments(profile, s, list);
	if (!ret)
		ret = spread_moments(
			profile->snapshot->slices[s], list, list->untimed - before, &moments, &n);
	if (!ret)
		ret = put_moments(out, profile, moments, n);
	free(moments);
	return ret;
}

int export_script_slices(FILE *out, const struct profile *profile)
{
	struct profile_moments list = {0};
	int ret = 0;

	for (size_t i = 0; i < profile->snapshot->n && !ret; i++)
		ret = profile_interrupted(profile) ? -EINTR
						   : put_slice(out, profile, (uint32_t)i, &list);
	if (profile->untimed)
		*profile->untimed = list.untimed;
	profile_moments_fini(&list);
	return ret;
}
