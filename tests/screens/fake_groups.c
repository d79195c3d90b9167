/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_groups.c - see fake_groups.h.
 */
#include "tests/screens/fake_groups.h"

#include "tests/screens/fake_model.h"
#include "tui/model/queries.h"
#include "tui/query/expr.h"

#include <stdio.h>
#include <string.h>

struct fake_group {
	enum query_group group;
	const char *text, *beside;
	unsigned int self, total; /* per mille of the whole */
	uint32_t symref; /* in the profile; 0: none */
	int64_t number;
	bool kernel, unknown;
};

static const struct fake_group groups[] = {
	{GROUP_IMAGE, "postgres", "/usr/lib/postgresql/15/bin/postgres", 704, 950, 0, 0, false,
		false},
	{GROUP_IMAGE, "libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6", 67, 950, 0, 0, false,
		false},
	{GROUP_IMAGE, "[kernel]", "[kernel]", 104, 120, 0, 0, true, false},
	{GROUP_IMAGE, "libplanner.so.2.1",
		"/opt/extensions/postgresql/15/lib/planner/libplanner.so.2.1", 125, 180, 0, 0,
		false, false},
	{GROUP_ADDRESS, "postgres+0x1b2c44", "heap_hot_search_buffer", 300, 300, 1, 0, false,
		false},
	{GROUP_ADDRESS, "postgres+0x1b2c90", "heap_hot_search_buffer", 78, 78, 1, 0, false, false},
	{GROUP_ADDRESS, "libplanner.so.2.1+0x7f10",
		"std::__detail::_Map_base<std::basic_string<char>, long>::operator[](long const&)",
		500, 600, 7, 0, false, false},
	{GROUP_ADDRESS, "[kernel]+0xffffffff81a00010", "clear_page_erms", 122, 122, 6, 0, true,
		false},
	{GROUP_LINE, "/build/postgresql-15/src/backend/access/heap/heapam.c:1720",
		"heap_hot_search_buffer", 378, 378, 1, 0, false, false},
	{GROUP_LINE, "/build/postgresql-15/src/backend/access/index/indexam.c:600",
		"index_fetch_heap", 500, 878, 2, 0, false, false},
	{GROUP_LINE, "clear_page_erms ([kernel])", "clear_page_erms", 122, 122, 6, 0, true, true},
	{GROUP_PROCESS, "postgres (4711)", "", 700, 700, 0, 4711, false, false},
	{GROUP_PROCESS, "pg_dump (4790)", "", 300, 300, 0, 4790, false, false},
	{GROUP_THREAD, "postgres (4711)", "postgres (4711)", 400, 400, 0, 4711, false, false},
	{GROUP_THREAD, "walwriter (4713)", "postgres (4711)", 300, 300, 0, 4713, false, false},
	{GROUP_THREAD, "pg_dump (4790)", "pg_dump (4790)", 300, 300, 0, 4790, false, false},
	{GROUP_COMMAND, "postgres", "", 700, 700, 0, 0, false, false},
	{GROUP_COMMAND, "pg_dump", "", 300, 300, 0, 0, false, false},
	{GROUP_CPU, "CPU 1", "", 600, 600, 0, 1, false, false},
	{GROUP_CPU, "CPU 0", "", 400, 400, 0, 0, false, false},
	{GROUP_CGROUP, "web", "", 1000, 1000, 0, 2, false, false},
	{GROUP_FIELD, "BufferBlocks", "", 650, 650, 0, 0, false, false},
	{GROUP_FIELD, "-", "", 350, 350, 0, 0, false, true},
};
#define N_GROUPS (sizeof(groups) / sizeof(*groups))

static int compare(const struct hot_row *a, const struct hot_row *b, const struct hot_query *query)
{
	const struct fake_group *left = &groups[a->symref], *right = &groups[b->symref];
	int order;

	switch (query->sort) {
	case HOT_SORT_TOTAL:
		order = (a->total < b->total) - (a->total > b->total);
		break;
	case HOT_SORT_SYMBOL:
		order = strcmp(left->text, right->text);
		break;
	case HOT_SORT_IMAGE:
		order = strcmp(left->beside, right->beside);
		break;
	default:
		order = (a->self < b->self) - (a->self > b->self);
		break;
	}
	if (!order)
		order = (a->symref > b->symref) - (a->symref < b->symref);
	return query->reverse ? -order : order;
}

static int fake_rows(struct model *model, const struct group_by *by, const struct hot_query *query,
	const struct hot_row **out, size_t *n, struct hot_sums *sums)
{
	static struct hot_row rows[N_GROUPS];
	size_t count = 0;

	for (uint32_t i = 0; i < N_GROUPS; i++) {
		struct hot_row row = {.symref = i,
			.self = fake_model_weight(groups[i].self),
			.total = fake_model_weight(groups[i].total),
			.samples = groups[i].self * 20,
			.change = i % 2 ? 0.031 : -0.02};
		size_t at = count;

		if (groups[i].group != by->group || (query->hide_kernel && groups[i].kernel) ||
			(query->filter && !strcasestr(groups[i].text, query->filter)))
			continue;
		for (; at > 0 && compare(&rows[at - 1], &row, query) > 0; at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
		count++;
	}
	*out = rows;
	*n = count;
	*sums = model->sums;
	sums->weight = fake_model_weight(1000);
	return 0;
}

static const struct group_key *fake_key(struct model *model, uint32_t id)
{
	static struct group_key keys[N_GROUPS];
	const struct fake_group *group = &groups[id < N_GROUPS ? id : 0];
	struct group_key *key = &keys[group - groups];

	*key = (struct group_key){.name = {.symbol = group->text,
					  .image = group->beside,
					  .path = "",
					  .kernel = group->kernel,
					  .resolved = !group->unknown},
		.symref = group->symref ? group->symref : GROUPS_NO_SYMBOL,
		.number = group->number};
	/* A recorded baseline has two threads of the second thread's name.  The last thread is
	 * only in the baseline. */
	if (group->group == GROUP_THREAD) {
		key->task.name = group->text;
		key->base_unknown = model->base_recorded && group->number == 4713;
		key->foreign = model->base_recorded && group->number == 4790;
	}
	return key;
}

static void fake_cell(
	struct model *model, uint32_t id, uint8_t event, uint64_t *self, uint64_t *total)
{
	(void)model;
	*self = fake_model_weight(event == 2 ? groups[id].self / 2 : groups[id].self);
	*total = fake_model_weight(event == 2 ? groups[id].total / 2 : groups[id].total);
}

static bool fake_term(struct model *model, uint32_t id, bool negated, char *out, size_t size)
{
	(void)model;
	expr_term(out, size, negated, FILTER_IMAGE, groups[id].text);
	return groups[id].group == GROUP_IMAGE;
}

const struct model_group_ops fake_group_ops = {
	.rows = fake_rows,
	.key = fake_key,
	.cell = fake_cell,
	.term = fake_term,
};
