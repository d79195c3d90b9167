/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_tree.c - call trees as a report's nodes, and their text.
 *
 * UI thread.
 */
#include "tui/base/width.h"
#include "tui/commands/report_private.h"

#include "tui/session/request.h"
#include "tui/tables/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TREE_LIMIT_PERCENT 0.5
#define INDENT_MAX 4096 /* bytes */
#define NUMBERS_WIDTH 19 /* SELF and TOTAL */
/* The branch of an only child that carries all of its parent's weight. */
#define STRAIGHT "   "

/* Returns the least weight that is not below the limit. */
static uint64_t least_of(double percent, uint64_t whole)
{
	double least = percent / 100 * (double)whole;
	uint64_t rounded = (uint64_t)least;

	return (double)rounded < least ? rounded + 1 : rounded;
}

static int take_tree(struct report *report, struct report_event *event, const struct calltree *tree,
	struct names *names)
{
	uint64_t whole = report->absolute ? event->all_weight : event->weight;

	event->nodes = report_alloc(report, tree->n, sizeof(*event->nodes));
	if (!event->nodes)
		return -ENOMEM;
	event->n_nodes = tree->n;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct calltree_node *from = &tree->nodes[i];
		const struct symref *name = names_get(names, from->symref);

		event->nodes[i] = (struct report_node){
			.symbol = i ? name->symbol : "",
			.image = i ? name->image : "",
			.self_percent = report_percent(from->sums.self, whole),
			.total_percent = report_percent(from->sums.total, whole),
			.samples = from->sums.samples,
			.self_weight = from->sums.self,
			.total_weight = from->sums.total,
			.below_percent = report_percent(from->below.total, whole),
			.n_below = from->n_below,
			.parent = from->parent,
			.child = from->child,
			.sibling = from->sibling,
		};
	}
	return 0;
}

int report_gather_trees(struct report *report, const struct report_source *source)
{
	const struct request *request = source->session->request;
	struct scan_question scan = source->scan;
	struct calltree_query query = {
		.kind = report->view == REPORT_CALLERS	 ? CALLTREE_CALLERS
			: report->view == REPORT_CALLEES ? CALLTREE_CALLEES
							 : CALLTREE_ROOTS,
		.by_self = report->view == REPORT_CALLERS && !request->sort_total,
		.max_roots = request->rows < UINT32_MAX ? (uint32_t)request->rows : 0,
	};
	struct calls *calls;
	int ret;

	scan.column = GROUP_KEYS;
	scan.inlines = request->inlines != INLINES_OFF;
	report->tree_limit_percent =
		request->percent_limit >= 0 ? request->percent_limit : TREE_LIMIT_PERCENT;
	ret = calls_new(&calls, &scan);
	for (size_t i = 0; i < report->n_events && !ret; i++) {
		struct report_event *event = &report->events[i];
		struct calltree tree;

		report_take_sums(event, calls_sums(calls, source->events[i]));
		query.event = source->events[i];
		query.least = least_of(report->tree_limit_percent,
			report->absolute ? event->all_weight : event->weight);
		ret = calltree_build(&tree, calls, &query);
		if (ret)
			break;
		ret = take_tree(report, event, &tree, source->scan.names);
		calltree_fini(&tree);
	}
	calls_free(calls);
	return ret;
}

/* --- text --- */

struct drawing {
	FILE *out;
	const struct report *report;
	const struct report_event *event;
	unsigned int columns; /* 0: no limit */
	char indent[INDENT_MAX];
};

static const char *const arms[2][4] = {
	{"├─ ", "└─ ", "│  ", "   "},
	{"|- ", "`- ", "|  ", "   "},
};

static void put_name(const struct drawing *drawing, const struct report_node *node, int used)
{
	int symbol = width_of(node->symbol), image = width_of(node->image);
	int room = (int)drawing->columns - used;

	if (!drawing->columns || symbol + 2 + image <= room) {
		fprintf(drawing->out, "%s  %s\n", node->symbol, node->image);
		return;
	}
	/* The image is shortened first, then dropped. */
	if (room > symbol + 2 + 4) {
		fprintf(drawing->out, "%s  ", node->symbol);
		report_put_name(drawing->out, node->image, GROUP_IMAGE, drawing->report->ascii,
			room - symbol - 2, false);
	} else {
		report_put_name(drawing->out, node->symbol, GROUP_SYMBOL, drawing->report->ascii,
			room > 4 ? room : 4, false);
	}
	fputc('\n', drawing->out);
}

/* Leaves out numbers that repeat the parent's in a straight chain. */
static void put_numbers(const struct drawing *drawing, const struct report_node *node,
	const struct report_node *above)
{
	if (above ? node->self_weight && node->self_weight != above->self_weight
		  : node->self_weight || !node->parent)
		fprintf(drawing->out, "%7.2f%% ", node->self_percent);
	else
		fprintf(drawing->out, "%8s ", "");
	if (above)
		fprintf(drawing->out, "%8s  ", "");
	else
		fprintf(drawing->out, "%7.2f%%  ", node->total_percent);
}

/* above: the parent in a straight chain, or NULL. */
static void put_node(struct drawing *drawing, const struct report_node *node,
	const struct report_node *above, const char *arm, size_t indent)
{
	drawing->indent[indent] = '\0';
	put_numbers(drawing, node, above);
	fprintf(drawing->out, "%s%s", drawing->indent, arm);
	put_name(drawing, node, NUMBERS_WIDTH + width_of(drawing->indent) + width_of(arm));
}

static size_t push(struct drawing *drawing, size_t indent, const char *text)
{
	size_t len = strlen(text);

	if (indent + len >= INDENT_MAX)
		return indent;
	memcpy(drawing->indent + indent, text, len + 1);
	return indent + len;
}

static void put_below(const struct drawing *drawing, const struct report_node *node,
	const char *arm, size_t indent)
{
	const char *dots = drawing->report->ascii ? "..." : "…";

	fprintf(drawing->out, "%8s %7.2f%%  %.*s%s%s %zu more below %g%%\n", "",
		node->below_percent, (int)indent, drawing->indent, arm, dots, node->n_below,
		drawing->report->tree_limit_percent);
}

static void put_children(struct drawing *drawing, const struct report_node *node, size_t indent)
{
	const struct report_node *nodes = drawing->event->nodes;
	const char *const *arm = arms[drawing->report->ascii];

	/* Straight chains are not indented, so that deep stacks stay readable. */
	while (node->child && !nodes[node->child].sibling && !node->n_below &&
		nodes[node->child].total_weight == node->total_weight) {
		put_node(drawing, &nodes[node->child], node, STRAIGHT, indent);
		node = &nodes[node->child];
	}
	for (size_t at = node->child; at; at = nodes[at].sibling) {
		bool last = !nodes[at].sibling && !node->n_below;

		put_node(drawing, &nodes[at], NULL, arm[last], indent);
		put_children(drawing, &nodes[at], push(drawing, indent, arm[2 + last]));
	}
	if (node->n_below)
		put_below(drawing, node, arm[1], indent);
}

void report_put_tree(FILE *out, const struct report *report, const struct report_event *event,
	unsigned int columns)
{
	static const char *const heads[] = {
		[REPORT_CALLERS] = "SYMBOL, and below it who called it",
		[REPORT_CALLEES] = "SYMBOL, and below it what it called",
		[REPORT_TREE] = "CALLS, from the outermost",
	};
	struct drawing drawing = {.out = out, .report = report, .event = event, .columns = columns};

	fprintf(out, "    SELF    TOTAL  %s\n", heads[report->view]);
	for (size_t at = event->n_nodes ? event->nodes[0].child : 0; at;
		at = event->nodes[at].sibling) {
		put_node(&drawing, &event->nodes[at], NULL, "", 0);
		put_children(&drawing, &event->nodes[at], 0);
		if (event->nodes[at].child && event->nodes[at].sibling)
			fputc('\n', out);
	}
	if (event->n_nodes && event->nodes[0].n_below) {
		const struct report_node *all = &event->nodes[0];

		fprintf(out, "%18s %s %zu more below %g%%\n", "", report->ascii ? "..." : "…",
			all->n_below, report->tree_limit_percent);
	}
}
