/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.c - see groups.h.
 */
#include "tui/groups.h"

#include "tui/expr.h"
#include "tui/grow.h"
#include "tui/intern.h"
#include "tui/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDENTITY_MAX 600
#define MANY 65536u /* keys that are worth being tidied up */

struct groups {
	struct group_by by;
	struct intern ids; /* what tells keys apart */
	struct intern texts;
	struct group_key *keys; /* by id, from first on */
	uint32_t first, n, room;
	uint32_t n_rows; /* of the last fill */
};

bool groups_same(const struct group_by *a, const struct group_by *b)
{
	return a->group == b->group && (a->group != GROUP_FIELD || !strcmp(a->field, b->field));
}

int groups_new(struct groups **out, const struct group_by *by)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->by = *by;
	return 0;
}

void groups_free(struct groups *groups)
{
	if (!groups)
		return;
	intern_fini(&groups->ids);
	intern_fini(&groups->texts);
	free(groups->keys);
	free(groups);
}

const struct group_key *groups_key(const struct groups *groups, uint32_t id)
{
	return id - groups->first < groups->n ? &groups->keys[id - groups->first] : NULL;
}

static const struct symref *namer(void *ctx, uint32_t id)
{
	const struct groups *groups = ctx;

	return &groups->keys[id - groups->first].name;
}

/* A process that changes its name stays one; what is a text is told by it. */
static int identify(struct groups *groups, const struct table_key *key, uint32_t *id)
{
	char identity[IDENTITY_MAX];
	int len;

	if (key->is_number && groups->by.group != GROUP_FIELD)
		len = snprintf(identity, sizeof(identity), "%" PRId64, key->number);
	else
		len = snprintf(identity, sizeof(identity), "%d%d %s", key->is_number,
			key->is_missing, key->text);
	if (len >= (int)sizeof(identity))
		len = (int)sizeof(identity) - 1;
	if (intern_id(&groups->ids, identity, (size_t)len, id))
		return -ENOMEM;
	if (*id < groups->n) {
		*id += groups->first;
		return 0;
	}
	if (grow_room((void **)&groups->keys, groups->n, &groups->room, sizeof(*groups->keys)))
		return -ENOMEM;
	groups->keys[groups->n++] = (struct group_key){.symref = GROUPS_NO_SYMBOL};
	*id += groups->first;
	return 0;
}

/* What the row is of, as it is to be shown, and what stands beside it.  Texts may be the row's own. */
static void tell(const struct table *table, const struct table_row *row, enum query_group group,
	const struct groups_question *question, struct table_key *key, char beside[QUERY_NAME_MAX],
	struct group_key *out)
{
	const struct table_part *part = &table->parts[row->part];
	const struct symref *symbol = names_get(question->scan.names, part->symref);
	const struct scan_task *task =
		row->task == SCAN_NONE ? NULL : &table->scan.tasks[row->task];
	const char *label;

	out->name.resolved = true;
	out->number = key->number;
	out->is_number = key->is_number;
	beside[0] = '\0';
	switch (group) {
	case GROUP_IMAGE:
		snprintf(beside, QUERY_NAME_MAX, "%s", symbol->path ? symbol->path : "");
		out->name.kernel = symbol->kernel;
		break;
	case GROUP_ADDRESS:
	case GROUP_LINE:
		snprintf(beside, QUERY_NAME_MAX, "%s", symbol->symbol);
		out->symref = part->symref;
		out->name.kernel = symbol->kernel;
		out->name.resolved = group == GROUP_LINE ? part->line : symbol->resolved;
		break;
	case GROUP_THREAD:
		if (task)
			snprintf(beside, QUERY_NAME_MAX, "%s (%" PRId32 ")", task->process_comm,
				task->pid);
		break;
	case GROUP_CPU:
		snprintf(key->bytes, sizeof(key->bytes), "CPU %u", row->cpu);
		break;
	case GROUP_CGROUP:
		label = question->cgroups ? question->cgroups[row->cgroup] : NULL;
		out->number = row->cgroup;
		key->text = label ? label : "(none)";
		break;
	default:
		out->name.resolved = !key->is_missing;
		break;
	}
}

static int take_row(struct groups *groups, const struct groups_question *question,
	const struct table *table, const struct table_row *row, struct hot_part *out)
{
	char beside[QUERY_NAME_MAX];
	struct group_key *made;
	struct group_key told = {.symref = GROUPS_NO_SYMBOL};
	struct table_key key;

	table_key(table, row, 0, &key);
	tell(table, row, groups->by.group, question, &key, beside, &told);
	*out = (struct hot_part){row->self, row->total, row->samples, 0, row->event};
	if (identify(groups, &key, &out->id))
		return -ENOMEM;
	made = &groups->keys[out->id - groups->first];
	told.name.symbol = made->name.symbol;
	told.name.image = made->name.image;
	/* Names change seldom, so that old texts are few. */
	if (!told.name.symbol || strcmp(told.name.symbol, key.text) != 0)
		told.name.symbol = intern_text(&groups->texts, key.text);
	if (!told.name.image || strcmp(told.name.image, beside) != 0)
		told.name.image = intern_text(&groups->texts, beside);
	if (!told.name.symbol || !told.name.image)
		return -ENOMEM;
	told.name.path = "";
	*made = told;
	return 0;
}

int groups_fill(struct groups *groups, const struct groups_question *question, struct hot *hot)
{
	const char *const fields[] = {groups->by.field};
	struct table_question asked = {
		.scan = question->scan, .keys = &groups->by.group, .n_keys = 1};
	struct hot_sums sums[STORE_EVENTS_MAX];
	struct hot_part *parts = NULL;
	struct table *table;
	int ret;

	asked.scan.event = -1;
	asked.scan.column = GROUP_KEYS;
	asked.scan.fields = fields;
	asked.scan.n_fields = groups->by.group == GROUP_FIELD;
	ret = table_new(&table, &asked);
	if (ret)
		return ret;
	parts = calloc(table->n_rows + 1, sizeof(*parts));
	ret = parts ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < table->n_rows && !ret; i++)
		ret = take_row(groups, question, table, &table->rows[i], &parts[i]);
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		sums[i] = (struct hot_sums){.weight = table->scan.sums[i].weight,
			.samples = table->scan.sums[i].samples,
			.unresolved = table->scan.sums[i].unresolved,
			.span_ns = table->scan.span_ns};
	if (!ret)
		ret = hot_fill(hot, parts, table->n_rows, sums);
	hot_set_namer(hot, namer, groups);
	groups->n_rows = table->n_rows;
	free(parts);
	table_free(table);
	return ret;
}

bool groups_tidy(struct groups *groups)
{
	if (groups->n < MANY || groups->n / 4 < groups->n_rows)
		return false;
	groups->first += groups->n;
	groups->n = 0;
	intern_fini(&groups->ids);
	intern_fini(&groups->texts);
	return true;
}

bool groups_term(const struct groups *groups, uint32_t id, bool negated, char *out, size_t size)
{
	const struct group_key *key = groups_key(groups, id);
	char number[24];

	if (!key)
		return false;
	snprintf(number, sizeof(number), "%" PRId64, key->number);
	switch (groups->by.group) {
	case GROUP_IMAGE:
		expr_term(out, size, negated, FILTER_IMAGE, key->name.symbol);
		return true;
	case GROUP_PROCESS:
		expr_term(out, size, negated, FILTER_PID, number);
		return key->number >= 0;
	case GROUP_THREAD:
		expr_term(out, size, negated, FILTER_TID, number);
		return key->number >= 0;
	case GROUP_CPU:
		expr_term(out, size, negated, FILTER_CPU, number);
		return true;
	case GROUP_COMMAND:
		expr_term(out, size, negated, FILTER_COMM, key->name.symbol);
		return true;
	case GROUP_ADDRESS:
		expr_term(out, size, negated, FILTER_ADDRESS, key->name.symbol);
		return true;
	case GROUP_LINE:
		expr_term(out, size, negated, FILTER_LINE, key->name.symbol);
		return true;
	case GROUP_FIELD:
		expr_field_term(out, size, negated, groups->by.field, key->name.symbol);
		return true;
	default:
		return false;
	}
}
