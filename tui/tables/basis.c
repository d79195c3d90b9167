/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * basis.c - see basis.h.
 */
#include "tui/tables/basis.h"

#include "tui/base/grow.h"
#include "tui/names/forest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void basis_fini(struct basis *basis)
{
	free(basis->parents);
	free(basis->symrefs);
	free(basis->weights);
	memset(basis, 0, sizeof(*basis));
}

static int append(struct basis *basis, uint32_t parent, uint32_t symref)
{
	if (grow_room((void **)&basis->parents, basis->n, &basis->parents_room,
		    sizeof(*basis->parents)) ||
		grow_room((void **)&basis->symrefs, basis->n, &basis->symrefs_room,
			sizeof(*basis->symrefs)))
		return -ENOMEM;
	basis->parents[basis->n] = parent;
	basis->symrefs[basis->n++] = symref;
	return 0;
}

int basis_add(struct basis *basis, uint32_t parent, uint32_t symref, uint32_t *node)
{
	int ret = basis->n ? 0 : append(basis, BASIS_ROOT, 0);

	if (!ret && parent >= basis->n)
		ret = -EINVAL;
	if (!ret)
		ret = append(basis, parent, symref);
	if (!ret)
		*node = basis->n - 1;
	return ret;
}

int basis_weigh(
	struct basis *basis, uint32_t node, uint8_t event, uint64_t weight, uint64_t samples)
{
	if (node >= basis->n)
		return -EINVAL;
	if (grow_room((void **)&basis->weights, basis->n_weights, &basis->weights_room,
		    sizeof(*basis->weights)))
		return -ENOMEM;
	basis->weights[basis->n_weights++] = (struct basis_weight){node, event, weight, samples};
	basis->sums[event] += weight;
	return 0;
}

static int take_weights(struct basis *basis, const struct scan *scan, const uint32_t *at)
{
	int ret = 0;

	for (uint32_t i = 0; i < scan->n_entries && !ret; i++) {
		const struct scan_entry *entry = &scan->entries[i];

		ret = basis_weigh(basis, at[i], scan->sides[entry->side].event, entry->weight,
			entry->samples);
	}
	return ret;
}

int basis_scan(struct basis *out, const struct scan_question *question)
{
	struct scan_question ask = *question;
	struct forest *forest;
	uint32_t *at = NULL;
	struct scan scan;
	int ret;

	memset(out, 0, sizeof(*out));
	ask.by = SCAN_STACK;
	ret = scan_run(&ask, &scan);
	if (ret)
		return ret;
	forest = forest_new(ask.names, ask.stacks, ask.inlines);
	ret = forest ? scan_entries(&scan, forest, &at) : -ENOMEM;
	if (!ret) {
		out->n = out->symrefs_room = out->parents_room = forest->n;
		out->parents = forest->parent;
		out->symrefs = forest->symref;
		forest->parent = forest->symref = NULL;
		ret = take_weights(out, &scan, at);
	}
	forest_put(forest);
	free(at);
	scan_fini(&scan);
	if (ret)
		basis_fini(out);
	return ret;
}

/* Stores each node's nearest ancestor with the same symbol, 0 if none. */
static int find_above(const struct basis *basis, uint32_t **above)
{
	const struct forest forest = {.n = basis->n, .parent = basis->parents};

	return forest_above(&forest, basis->n, basis->symrefs, false, above);
}

int basis_symbols(const struct basis *basis, uint8_t event, uint32_t limit, uint64_t *self,
	uint64_t *total, uint64_t *samples)
{
	uint64_t *through = calloc(basis->n ? basis->n : 1, sizeof(*through));
	uint32_t *above = NULL;
	int ret = through ? 0 : -ENOMEM;

	if (!ret && basis->n)
		ret = find_above(basis, &above);
	for (uint32_t i = 0; !ret && i < basis->n_weights; i++) {
		const struct basis_weight *weight = &basis->weights[i];
		uint32_t symref = basis->symrefs[weight->node];

		if (weight->event != event)
			continue;
		through[weight->node] += weight->weight;
		if (symref >= limit)
			continue;
		self[symref] += weight->weight;
		samples[symref] += weight->samples;
	}
	/* A recursive call counts only at its outermost node. */
	for (uint32_t i = basis->n; !ret && i-- > BASIS_ROOT + 1;) {
		through[basis->parents[i]] += through[i];
		if (!above[i] && basis->symrefs[i] < limit)
			total[basis->symrefs[i]] += through[i];
	}
	free(through);
	free(above);
	return ret;
}
