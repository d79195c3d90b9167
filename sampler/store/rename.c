/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rename.c - replaces stacks of sealed slices, when more is known of their code.
 *
 * Sampling thread.
 */
#include "sampler/store/private.h"

int store_rename(struct store *store, uint64_t from_ns, const struct slices_renaming *renaming)
{
	bool any = false;
	int err = 0;

	if (store->open.n && store->newest_ns >= from_ns)
		store_seal(store, 0, true);
	for (size_t i = store->n_list; i-- && store->list[i].end_ns > from_ns && !err;) {
		struct sealed *renamed;

		err = slices_rename(&store->slices, store->list[i].sealed, renaming, &renamed);
		if (err || !renamed)
			continue;
		store_replace(store, i, 1, renamed);
		any = true;
	}
	store_publish_memory(store);
	return err ? err : any;
}
