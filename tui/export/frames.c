/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * frames.c - see frames.h.
 */
#include "tui/export/frames.h"

#include "tui/base/grow.h"

#include <stdlib.h>

void frames_fini(struct frames *frames)
{
	free(frames->numbers);
	free(frames->symrefs);
	free(frames->path);
	*frames = (struct frames){0};
}

int frames_number(struct frames *frames, uint32_t symref, uint32_t *number)
{
	int ret = grow_zeroed(
		(void **)&frames->numbers, symref, &frames->numbers_room, sizeof(*frames->numbers));

	if (!ret && !frames->numbers[symref]) {
		ret = grow_room((void **)&frames->symrefs, frames->n, &frames->room,
			sizeof(*frames->symrefs));
		if (!ret) {
			frames->symrefs[frames->n++] = symref;
			frames->numbers[symref] = frames->n;
		}
	}
	if (!ret)
		*number = frames->numbers[symref] - 1;
	return ret;
}

int frames_stack(struct frames *frames, const struct profile *profile, uint32_t stack, uint32_t *n)
{
	*n = 0;
	do {
		uint32_t symrefs[PROFILE_FRAMES_MAX];
		size_t wide = profile_frames(profile, stack, symrefs);

		for (size_t i = 0; i < wide; i++) {
			int ret = grow_room((void **)&frames->path, *n, &frames->path_room,
				sizeof(*frames->path));

			if (!ret)
				ret = frames_number(frames, symrefs[i], &frames->path[*n]);
			if (ret)
				return ret;
			++*n;
		}
		if (stack != STACK_ROOT)
			stack = stacks_node(profile->stacks, stack)->parent;
	} while (stack != STACK_ROOT);
	return 0;
}
