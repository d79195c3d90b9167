/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calltree.c - see calltree.h.
 *
 * A tree's node represents a set of forest nodes.  The build steps from a set to its callers or
 * callees and sorts these by symbol into the sets of the node's children.  Only children with
 * enough weight are kept and expanded, so time and memory depend on the nodes shown.  UI thread.
 */
#include "tui/tables/calltree.h"

#include "sampler/base/hugepages.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"

struct calls {
	uint64_t serial;
	struct names *names;
	struct scan scan;
	struct forest *forest; /* trees use its first n nodes */
	uint32_t n;
	uint32_t own; /* nodes from here on belong to the basis */
	struct basis_weight *basis; /* weights, by node of the forest */
	uint32_t n_basis;
	uint64_t basis_sums[STORE_EVENTS_MAX];
	uint32_t *at; /* forest node of each scan entry */
	uint32_t n_symrefs;
	/* values of the current event */
	int event; /* -1: none yet */
	uint64_t *self, *samples; /* by node: stacks that end there */
	uint64_t *through; /* by node: stacks that go through it */
	uint64_t *innermost; /* by node: stacks in which it is the innermost node of its symbol */
};

/* A forest node in a set, with its share of the weight. */
struct item {
	uint32_t at;
	uint32_t group;
	struct calltree_sums sums;
};

struct group {
	struct calltree_sums sums, base;
	uint32_t symref, items, first;
	bool kept;
};

struct build {
	struct calls *calls;
	const struct calltree_query *query;
	struct calltree *tree;
	struct item *items; /* sets of all nodes on the current path, one after the other */
	uint32_t n_items, items_room;
	struct item *found;
	uint32_t n_found, found_room;
	struct group *groups;
	uint32_t n_groups, groups_room;
	uint32_t *order; /* indices of kept groups */
	uint32_t order_room;
	uint32_t *group_of; /* by symref: index + 1; all 0 between steps */
	uint32_t *found_at; /* by forest node: index + 1; all 0 between steps */
};

static void *array_of(uint32_t n, size_t size)
{
	return calloc(n ? n : 1, size);
}

/* Allocates one number per node, of which there may be millions.  weigh() initializes them. */
static uint64_t *numbers_of(uint32_t n)
{
	return hugepages_alloc(sizeof(uint64_t), n * sizeof(uint64_t));
}

/* Appends the basis's nodes to the forest, which is then private.  Both share the root, so their
 * symbols meet there. */
static int append_basis(struct calls *calls, const struct basis *basis)
{
	uint32_t n = calls->forest->n;

	calls->basis = array_of(basis->n_weights, sizeof(*calls->basis));
	if (!calls->basis || forest_append(calls->forest, basis->parents, basis->symrefs, basis->n))
		return -ENOMEM;
	for (uint32_t i = 0; i < basis->n_weights; i++) {
		calls->basis[i] = basis->weights[i];
		calls->basis[i].node += n - 1;
	}
	calls->n_basis = basis->n_weights;
	memcpy(calls->basis_sums, basis->sums, sizeof(calls->basis_sums));
	return 0;
}

int calls_new(struct calls **out, const struct scan_question *question)
{
	return calls_new_against(out, question, NULL);
}

int calls_new_against(
	struct calls **out, const struct scan_question *question, const struct basis *basis)
{
	struct scan_question scan = *question;
	struct calls *calls = calloc(1, sizeof(*calls));
	int ret;

	static uint64_t serials;

	*out = NULL;
	if (!calls)
		return -ENOMEM;
	calls->serial = ++serials;
	calls->names = scan.names;
	calls->event = -1;
	scan.by = SCAN_STACK;
	ret = scan_run(&scan, &calls->scan);
	if (!ret) {
		calls->forest = scan.inlines || basis
			? forest_new(scan.names, scan.stacks, scan.inlines)
			: forest_of(scan.names, scan.stacks);
		ret = calls->forest ? scan_entries(&calls->scan, calls->forest, &calls->at)
				    : -ENOMEM;
	}
	if (!ret) {
		calls->own = calls->forest->n;
		if (basis)
			ret = append_basis(calls, basis);
	}
	if (!ret) {
		calls->n = calls->forest->n;
		calls->self = numbers_of(calls->n);
		calls->samples = numbers_of(calls->n);
		calls->through = numbers_of(calls->n);
		calls->innermost = numbers_of(calls->n);
		if (!calls->self || !calls->samples || !calls->through || !calls->innermost)
			ret = -ENOMEM;
	}
	calls->n_symrefs = names_limit(scan.names);
	if (ret) {
		calls_free(calls);
		return ret;
	}
	*out = calls;
	return 0;
}

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	scan_fini(&calls->scan);
	forest_put(calls->forest);
	free(calls->basis);
	free(calls->at);
	free(calls->self);
	free(calls->samples);
	free(calls->through);
	free(calls->innermost);
	free(calls);
}

uint64_t calls_serial(const struct calls *calls)
{
	return calls->serial;
}

const struct scan_sums *calls_sums(const struct calls *calls, uint8_t event)
{
	return &calls->scan.sums[event];
}

static void weigh(struct calls *calls, uint8_t event)
{
	const struct forest *forest = calls->forest;

	if (calls->event == event)
		return;
	calls->event = event;
	memset(calls->self, 0, calls->n * sizeof(*calls->self));
	memset(calls->samples, 0, calls->n * sizeof(*calls->samples));
	for (uint32_t i = 0; i < calls->scan.n_entries; i++) {
		const struct scan_entry *entry = &calls->scan.entries[i];

		if (calls->scan.sides[entry->side].event != event)
			continue;
		calls->self[calls->at[i]] += entry->weight;
		calls->samples[calls->at[i]] += entry->samples;
	}
	for (uint32_t i = 0; i < calls->n_basis; i++) {
		if (calls->basis[i].event != event)
			continue;
		calls->self[calls->basis[i].node] += calls->basis[i].weight;
		calls->samples[calls->basis[i].node] += calls->basis[i].samples;
	}
	memcpy(calls->through, calls->self, calls->n * sizeof(*calls->self));
	for (uint32_t i = calls->n - 1; i > FOREST_ROOT; i--)
		calls->through[forest->parent[i]] += calls->through[i];
	memcpy(calls->innermost, calls->through, calls->n * sizeof(*calls->self));
	for (uint32_t i = calls->n - 1; i > FOREST_ROOT; i--)
		if (forest->above[i])
			calls->innermost[forest->above[i]] -= calls->through[i];
}

static void add_sums(struct calltree_sums *to, const struct calltree_sums *from)
{
	to->self += from->self;
	to->total += from->total;
	to->samples += from->samples;
}

static bool is_nothing(const struct calltree_sums *sums)
{
	return !sums->total && !sums->samples;
}

/* --- one step: from a set to the sets of its children --- */

/* Adds a node to found[], or its sums to the entry of that node. */
static int find(struct build *build, uint32_t at, const struct calltree_sums *sums)
{
	if (is_nothing(sums))
		return 0;
	if (!build->found_at[at]) {
		if (grow_room((void **)&build->found, build->n_found, &build->found_room,
			    sizeof(*build->found)))
			return -ENOMEM;
		build->found[build->n_found++] = (struct item){.at = at};
		build->found_at[at] = build->n_found;
	}
	add_sums(&build->found[build->found_at[at] - 1].sums, sums);
	return 0;
}

static int step(struct build *build, uint32_t from, uint32_t to)
{
	const struct calls *calls = build->calls;
	const struct forest *forest = calls->forest;
	int ret = 0;

	build->n_found = 0;
	for (uint32_t i = from; i < to && !ret; i++) {
		uint32_t at = build->items[i].at;

		if (build->query->kind == CALLTREE_CALLERS) {
			if (forest->parent[at] != FOREST_ROOT)
				ret = find(build, forest->parent[at], &build->items[i].sums);
			continue;
		}
		for (at = forest->child[at]; at && !ret; at = forest->sibling[at]) {
			if (at >= calls->n)
				continue;
			ret = find(build, at,
				&(const struct calltree_sums){
					calls->self[at], calls->through[at], calls->samples[at]});
		}
	}
	for (uint32_t i = 0; i < build->n_found; i++)
		build->found_at[build->found[i].at] = 0;
	return ret;
}

/* Returns true if step() would find a node. */
static bool leads_on(const struct calls *calls, enum calltree_kind kind, uint32_t at)
{
	const struct forest *forest = calls->forest;

	if (kind == CALLTREE_CALLERS)
		return forest->parent[at] != FOREST_ROOT;
	for (at = forest->child[at]; at; at = forest->sibling[at])
		if (at < calls->n && (calls->through[at] || calls->samples[at]))
			return true;
	return false;
}

/* Returns true if the caller does not want the node's children. */
static bool stays_shut(const struct build *build, uint32_t node)
{
	const struct calltree_query *query = build->query;

	return node && query->opens && !query->opens(build->tree, node, query->ctx);
}

/* Groups found[] by symbol. */
static int group(struct build *build)
{
	const struct calls *calls = build->calls;
	int ret = 0;

	build->n_groups = 0;
	for (uint32_t i = 0; i < build->n_found && !ret; i++) {
		struct item *item = &build->found[i];
		uint32_t symref = calls->forest->symref[item->at];

		if (!build->group_of[symref]) {
			ret = grow_room((void **)&build->groups, build->n_groups,
				&build->groups_room, sizeof(*build->groups));
			if (ret)
				break;
			build->groups[build->n_groups++] = (struct group){.symref = symref};
			build->group_of[symref] = build->n_groups;
		}
		item->group = build->group_of[symref] - 1;
		build->groups[item->group].items++;
		add_sums(item->at < calls->own ? &build->groups[item->group].sums
					       : &build->groups[item->group].base,
			&item->sums);
	}
	for (uint32_t i = 0; i < build->n_groups; i++)
		build->group_of[build->groups[i].symref] = 0;
	return ret;
}

static bool roots_by_self(const struct build *build)
{
	return build->query->by_self && build->query->kind != CALLTREE_ROOTS;
}

static int compare_groups(const void *a, const void *b, void *ctx)
{
	const struct build *build = ctx;
	const uint32_t *left = a, *right = b;
	const struct group *l = &build->groups[*left], *r = &build->groups[*right];
	const struct symref *ln, *rn;
	int result;

	if (roots_by_self(build) && build->tree->n == 1 && l->sums.self != r->sums.self)
		return l->sums.self > r->sums.self ? -1 : 1;
	if (l->sums.total != r->sums.total)
		return l->sums.total > r->sums.total ? -1 : 1;
	if (l->base.total != r->base.total)
		return l->base.total > r->base.total ? -1 : 1;
	ln = names_get(build->calls->names, l->symref);
	rn = names_get(build->calls->names, r->symref);
	result = strcmp(ln->symbol, rn->symbol);
	if (!result)
		result = strcmp(ln->image, rn->image);
	if (result)
		return result;
	return l->symref < r->symref ? -1 : l->symref > r->symref;
}

/* Returns query->least scaled to the basis's whole weight.  At least 1, since 0 would keep every
 * group. */
static uint64_t least_of_basis(const struct build *build)
{
	const struct calls *calls = build->calls;
	uint64_t whole = calls->scan.sums[build->query->event].weight;
	double least = (double)build->query->least;

	if (whole)
		least *= (double)calls->basis_sums[build->query->event] / (double)whole;
	return least < 1 ? 1 : (uint64_t)least;
}

/* Chooses the groups that become children, sorted in order[0 .. *n).  The others are added to
 * `below`. */
static int choose(struct build *build, uint32_t parent, uint32_t max, uint32_t *n)
{
	const struct calltree_query *query = build->query;
	struct calltree_node *node = &build->tree->nodes[parent];
	bool by_self = roots_by_self(build) && !parent;
	uint64_t least_base = least_of_basis(build);

	*n = 0;
	for (uint32_t i = 0; i < build->n_groups; i++) {
		struct group *at = &build->groups[i];
		uint64_t weight = by_self ? at->sums.self : at->sums.total;
		uint64_t base = by_self ? at->base.self : at->base.total;

		at->kept = weight >= query->least || base >= least_base;
		if (!at->kept) {
			add_sums(&node->below, &at->sums);
			add_sums(&node->base_below, &at->base);
			node->n_below++;
			continue;
		}
		if (grow_room(
			    (void **)&build->order, *n, &build->order_room, sizeof(*build->order)))
			return -ENOMEM;
		build->order[(*n)++] = i;
	}
	if (*n)
		qsort_r(build->order, *n, sizeof(*build->order), compare_groups, build);
	for (; max && *n > max; --*n)
		build->groups[build->order[*n - 1]].kept = false;
	return 0;
}

/* Appends a child to the parent's list; *last is the list's last node. */
static int add_child(struct build *build, uint32_t parent, const struct group *from, uint32_t *last)
{
	struct calltree *tree = build->tree;

	if (grow_room((void **)&tree->nodes, tree->n, &tree->room, sizeof(*tree->nodes)))
		return -ENOMEM;
	tree->nodes[tree->n] = (struct calltree_node){
		.sums = from->sums, .base = from->base, .symref = from->symref, .parent = parent};
	if (*last)
		tree->nodes[*last].sibling = tree->n;
	else
		tree->nodes[parent].child = tree->n;
	*last = tree->n++;
	return 0;
}

/* Moves the items of the kept groups to items[at..], sorted by group, and adds the children.  The
 * children's ids are consecutive. */
static int settle(struct build *build, uint32_t parent, uint32_t at, uint32_t n)
{
	uint32_t last = 0, end = at;

	for (uint32_t i = 0; i < n; i++) {
		struct group *from = &build->groups[build->order[i]];

		from->first = end;
		end += from->items;
		if (add_child(build, parent, from, &last))
			return -ENOMEM;
	}
	while (build->items_room < end)
		if (grow_room((void **)&build->items, build->items_room, &build->items_room,
			    sizeof(*build->items)))
			return -ENOMEM;
	for (uint32_t i = 0; i < build->n_found; i++) {
		struct group *from = &build->groups[build->found[i].group];

		if (from->kept)
			build->items[from->first++] = build->found[i];
	}
	build->n_items = end;
	return 0;
}

/* Adds the children of a node with the set items[from, to), recursively.  Callers never outnumber
 * the items, so they overwrite the set. */
static int expand(struct build *build, uint32_t node, uint32_t from, uint32_t to)
{
	bool callers = build->query->kind == CALLTREE_CALLERS;
	uint32_t at = callers ? from : build->n_items, before = build->n_items, n, child;
	uint32_t ends_small[16], *ends = ends_small;
	int ret;

	if (stays_shut(build, node)) {
		struct calltree_node *shut = &build->tree->nodes[node];

		for (uint32_t i = from; i < to && !shut->shut; i++)
			shut->shut = leads_on(build->calls, build->query->kind, build->items[i].at);
		return 0;
	}
	ret = step(build, from, to);
	if (!ret)
		ret = group(build);
	if (!ret)
		ret = choose(build, node, 0, &n);
	if (ret || !n)
		return ret;
	if (n > sizeof(ends_small) / sizeof(ends_small[0])) {
		ends = malloc(n * sizeof(*ends));
		if (!ends)
			return -ENOMEM;
	}
	child = build->tree->n;
	ret = settle(build, node, at, n);
	/* settle() has advanced `first` to the end of each group's items. */
	for (uint32_t i = 0; i < n && !ret; i++)
		ends[i] = build->groups[build->order[i]].first;
	for (uint32_t i = 0; i < n && !ret; i++) {
		ret = expand(build, child + i, at, ends[i]);
		at = ends[i];
	}
	build->n_items = before;
	if (ends != ends_small)
		free(ends);
	return ret;
}

/* --- roots --- */

static uint32_t newest_of(const struct calls *calls, uint32_t symref)
{
	return symref < calls->forest->n_newest ? calls->forest->newest[symref] : 0;
}

/* Stores a node's share in the set of its symbol.  Returns false if it has none. */
static bool is_of_root(const struct build *build, uint32_t at, struct calltree_sums *sums)
{
	const struct calls *calls = build->calls;
	bool callers = build->query->kind == CALLTREE_CALLERS;

	/* A callee below another node of its symbol is already in that set. */
	if (at >= calls->n || (!callers && calls->forest->above[at]))
		return false;
	*sums = (struct calltree_sums){calls->self[at],
		callers ? calls->innermost[at] : calls->through[at], calls->samples[at]};
	return !is_nothing(sums);
}

/* Sets `shut` like expand(), without building the set. */
static void shut_root(struct build *build, uint32_t root)
{
	const struct calls *calls = build->calls;
	struct calltree_node *node = &build->tree->nodes[root];
	struct calltree_sums sums;

	for (uint32_t at = newest_of(calls, node->symref); at && !node->shut;
		at = calls->forest->same[at])
		node->shut =
			is_of_root(build, at, &sums) && leads_on(calls, build->query->kind, at);
}

/* Collects the set of a symbol in found[]. */
static int find_root(struct build *build, uint32_t symref)
{
	const struct calls *calls = build->calls;
	uint32_t at = newest_of(calls, symref);
	struct calltree_sums sums;
	int ret = 0;

	build->n_found = 0;
	for (; at && !ret; at = calls->forest->same[at])
		if (is_of_root(build, at, &sums))
			ret = find(build, at, &sums);
	for (uint32_t i = 0; i < build->n_found; i++)
		build->found_at[build->found[i].at] = 0;
	return ret;
}

static void add_node(const struct calls *calls, uint32_t at, struct group *to)
{
	add_sums(at < calls->own ? &to->sums : &to->base,
		&(const struct calltree_sums){
			calls->self[at], calls->innermost[at], calls->samples[at]});
}

static int add_root(struct build *build, uint32_t symref, struct group *found)
{
	if (is_nothing(&found->sums) && is_nothing(&found->base))
		return 0;
	if (grow_room((void **)&build->groups, build->n_groups, &build->groups_room,
		    sizeof(*build->groups)))
		return -ENOMEM;
	found->symref = symref;
	build->groups[build->n_groups++] = *found;
	return 0;
}

/* Sums whole symbols, one or all.  Self counts wherever the leaf is on the stack. */
static int sum_roots(struct build *build)
{
	const struct calls *calls = build->calls;
	struct group one = {0}, *all;
	uint64_t *totals;
	int ret = 0;

	if (build->query->one) {
		uint32_t at = newest_of(calls, build->query->symref);

		for (; at; at = calls->forest->same[at])
			if (at < calls->n)
				add_node(calls, at, &one);
		return add_root(build, build->query->symref, &one);
	}
	all = array_of(calls->n_symrefs, sizeof(*all));
	totals = array_of(2 * calls->n_symrefs, sizeof(*totals));
	if (!all || !totals)
		ret = -ENOMEM;
	for (uint32_t i = FOREST_NOWHERE; i < calls->n && !ret; i++) {
		uint32_t symref = calls->forest->symref[i];

		/* Only few nodes are leaves. */
		if (calls->self[i] || calls->samples[i])
			add_node(calls, i, &all[symref]);
		else
			totals[symref + (i < calls->own ? 0 : calls->n_symrefs)] +=
				calls->innermost[i];
	}
	for (uint32_t symref = 0; symref < calls->n_symrefs && !ret; symref++) {
		all[symref].sums.total += totals[symref];
		all[symref].base.total += totals[calls->n_symrefs + symref];
		ret = add_root(build, symref, &all[symref]);
	}
	free(all);
	free(totals);
	return ret;
}

static int build_roots(struct build *build)
{
	const struct calltree_query *query = build->query;
	uint32_t n, last = 0;
	int ret = sum_roots(build);

	if (!ret)
		ret = choose(build, 0, query->max_roots, &n);
	for (uint32_t i = 0; !ret && i < n; i++)
		ret = add_child(build, 0, &build->groups[build->order[i]], &last);
	for (uint32_t root = 1; !ret && root <= n; root++) {
		if (stays_shut(build, root)) {
			shut_root(build, root);
			continue;
		}
		ret = find_root(build, build->tree->nodes[root].symref);
		while (!ret && build->items_room < build->n_found)
			ret = grow_room((void **)&build->items, build->items_room,
				&build->items_room, sizeof(*build->items));
		if (ret)
			break;
		if (build->n_found)
			memcpy(build->items, build->found, build->n_found * sizeof(*build->items));
		build->n_items = build->n_found;
		ret = expand(build, root, 0, build->n_items);
	}
	return ret;
}

int calltree_build(struct calltree *out, struct calls *calls, const struct calltree_query *query)
{
	struct build build = {.calls = calls, .query = query, .tree = out};
	const struct scan_sums *sums = &calls->scan.sums[query->event];
	int ret = -ENOMEM;

	memset(out, 0, sizeof(*out));
	out->serial = calls->serial;
	weigh(calls, query->event);
	build.group_of = array_of(calls->n_symrefs, sizeof(*build.group_of));
	build.found_at = array_of(calls->n, sizeof(*build.found_at));
	if (!build.group_of || !build.found_at ||
		grow_room((void **)&out->nodes, 0, &out->room, sizeof(*out->nodes)))
		goto out;
	out->n = 1;
	out->nodes[0] = (struct calltree_node){.sums = {0, sums->weight, sums->samples},
		.base = {0, calls->basis_sums[query->event], 0}};
	if (query->kind == CALLTREE_ROOTS) {
		ret = grow_room((void **)&build.items, 0, &build.items_room, sizeof(*build.items));
		if (ret)
			goto out;
		build.items[0] = (struct item){.at = FOREST_ROOT};
		build.n_items = 1;
		ret = expand(&build, 0, 0, 1);
	} else {
		ret = build_roots(&build);
	}
out:
	free(build.items);
	free(build.found);
	free(build.groups);
	free(build.order);
	free(build.group_of);
	free(build.found_at);
	if (ret)
		calltree_fini(out);
	return ret;
}

void calltree_fini(struct calltree *tree)
{
	free(tree->nodes);
	memset(tree, 0, sizeof(*tree));
}
