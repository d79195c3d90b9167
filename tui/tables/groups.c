/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * groups.c - see groups.h.
 */
#include "tui/tables/groups.h"

#include "tui/base/format.h"
#include "tui/base/grow.h"
#include "tui/base/intern.h"
#include "tui/names/called.h"
#include "tui/query/expr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDENTITY_MAX 600
#define MANY 65536u /* number of keys from which tidying is worthwhile */

struct groups {
	struct group_by by;
	struct intern ids; /* identities of the keys */
	struct intern texts;
	struct group_key *keys; /* by id - first */
	uint32_t first, n, room;
	/* rows in the last fill with samples, and in the last one with a baseline */
	uint32_t n_rows, n_base_rows;
	uint32_t fills; /* number of fills, without those of a baseline */
	uint64_t population;
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

/* Returns the id of a row's key, added if new.  A process keeps its id when its name changes.  Text
 * keys are identified by their text.  is_elsewhere: the key's number belongs to another profile and
 * means nothing here. */
static int identify(
	struct groups *groups, const struct table_key *key, bool is_elsewhere, uint32_t *id)
{
	char identity[IDENTITY_MAX];
	int len;

	if (is_elsewhere)
		len = snprintf(identity, sizeof(identity), "elsewhere %s", key->text);
	else if (key->is_number && groups->by.group != GROUP_FIELD)
		len = snprintf(identity, sizeof(identity), "%" PRId64, key->number);
	else
		len = snprintf(identity, sizeof(identity), "%d%d %s", key->is_number,
			key->is_missing, key->text);
	if (len >= (int)sizeof(identity))
		len = (int)sizeof(identity) - 1;
	/* Grow first, so that each interned identity has its key. */
	if (grow_room((void **)&groups->keys, groups->n, &groups->room, sizeof(*groups->keys)) ||
		intern_id(&groups->ids, identity, (size_t)len, id))
		return -ENOMEM;
	if (*id < groups->n) {
		*id += groups->first;
		return 0;
	}
	groups->keys[groups->n++] = (struct group_key){.symref = GROUPS_NO_SYMBOL, .foreign = true};
	*id += groups->first;
	return 0;
}

/* Fills in the key of a row as shown.  beside: the text to show next to it.  key->text may point
 * into the row. */
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

/* Keeps the old string if the text is unchanged.  Names change seldom, so few old texts are
 * left. */
static int keep_text(struct groups *groups, const char *before, const char *now, const char **out)
{
	*out = before && !strcmp(before, now) ? before : intern_text(&groups->texts, now);
	return *out ? 0 : -ENOMEM;
}

/* Returns the process or thread of a row; without a name for other groupings. */
static struct counterpart task_of(
	const struct table *table, const struct table_row *row, enum query_group group)
{
	const struct scan_task *task;

	if (group != GROUP_PROCESS && group != GROUP_THREAD)
		return (struct counterpart){0, NULL, false};
	task = &table->scan.tasks[row->task];
	if (group == GROUP_PROCESS)
		return (struct counterpart){task->pid, task->process_comm, false};
	return (struct counterpart){task->tid, task->comm, task->tid == task->pid};
}

/* Hashes a pair, so that the sums for two different sets differ.  Equal names have equal
 * pointers. */
static uint64_t mix(uint32_t id, const char *name)
{
	uint64_t hash = ((uint64_t)id << 40) + (uintptr_t)name;

	hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
	return hash ^ hash >> 31;
}

/* Returns in *id the key of a row, or the id of its counterpart if that is already known. */
static int take_row(struct groups *groups, const struct groups_question *question,
	const struct table *table, const struct table_row *row, uint32_t counterpart, uint32_t *id)
{
	char beside[QUERY_NAME_MAX];
	struct group_key *made;
	struct group_key told = {.symref = GROUPS_NO_SYMBOL};
	struct table_key key;

	if (counterpart < COUNTERPART_UNKNOWN) {
		*id = counterpart;
		return 0;
	}
	table_key(table, row, 0, &key);
	tell(table, row, groups->by.group, question, &key, beside, &told);
	told.task = task_of(table, row, groups->by.group);
	if (identify(groups, &key, question->events && told.task.name, id))
		return -ENOMEM;
	made = &groups->keys[*id - groups->first];
	/* Data of another profile must not replace the key's data from this profile. */
	if (question->events && !made->foreign)
		return 0;
	told.foreign = question->events != NULL;
	if (told.foreign)
		told.symref = GROUPS_NO_SYMBOL;
	if (keep_text(groups, made->name.symbol, key.text, &told.name.symbol) ||
		keep_text(groups, made->name.image, beside, &told.name.image) ||
		(told.task.name &&
			keep_text(groups, made->task.name, told.task.name, &told.task.name)))
		return -ENOMEM;
	told.name.path = "";
	told.fill = made->fill;
	told.base_unknown = made->base_unknown || counterpart == COUNTERPART_UNKNOWN;
	if (!question->baseline && told.fill != groups->fills) {
		told.fill = groups->fills;
		if (told.task.name)
			groups->population += mix(*id, told.task.name);
	}
	*made = told;
	return 0;
}

/* Returns an image as an entry to match: generated code of all runs has one name. */
static struct counterpart image_of(const char *image)
{
	const char *run = called_run(image);

	return (struct counterpart){
		run == image ? 0 : format_hash(image, strlen(image)), run, false};
}

static struct counterpart entry_of(
	const struct table *table, const struct table_row *row, enum query_group group)
{
	struct table_key key;

	if (group != GROUP_IMAGE)
		return task_of(table, row, group);
	table_key(table, row, 0, &key);
	return image_of(key.text);
}

/* For rows of another profile, finds the keys of the same processes, threads or images here, or the
 * reason why there is none. */
static int find_counterparts(
	struct groups *groups, const struct table *table, uint32_t *counterparts)
{
	struct counterpart *here = calloc((size_t)groups->n + 1, sizeof(*here));
	struct counterpart *there = calloc((size_t)table->n_rows + 1, sizeof(*there));
	uint32_t *at = calloc((size_t)groups->n + 1, sizeof(*at));
	bool *unknown = calloc((size_t)groups->n + 1, sizeof(*unknown));
	uint32_t n = 0;
	int ret = here && there && at && unknown ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < groups->n && !ret; i++) {
		const struct group_key *key = &groups->keys[i];

		if (key->foreign || key->fill != groups->fills)
			continue;
		at[n] = i;
		here[n++] =
			groups->by.group == GROUP_IMAGE ? image_of(key->name.symbol) : key->task;
	}
	for (uint32_t i = 0; i < table->n_rows && !ret; i++)
		there[i] = entry_of(table, &table->rows[i], groups->by.group);
	if (!ret)
		ret = counterparts_find(here, n, there, table->n_rows, counterparts, unknown);
	for (uint32_t i = 0; i < table->n_rows && !ret; i++)
		if (counterparts[i] < n)
			counterparts[i] = groups->first + at[counterparts[i]];
	for (uint32_t i = 0; i < n && !ret; i++)
		groups->keys[at[i]].base_unknown = unknown[i];
	free(here);
	free(there);
	free(at);
	free(unknown);
	return ret;
}

static int take_rows(struct groups *groups, const struct groups_question *question,
	const struct table *table, const uint32_t *counterparts, struct hot_part *parts, size_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < table->n_rows; i++) {
		const struct table_row *row = &table->rows[i];
		const int event = question->events ? question->events[row->event] : row->event;
		struct hot_part *part = &parts[*n];

		if (event < 0)
			continue;
		*part = (struct hot_part){row->self, row->total, row->samples, 0, (uint8_t)event};
		if (take_row(groups, question, table, row,
			    counterparts ? counterparts[i] : COUNTERPART_NONE, &part->id))
			return -ENOMEM;
		++*n;
	}
	return 0;
}

static void take_sums(const struct groups_question *question, const struct table *table,
	struct hot_sums sums[STORE_EVENTS_MAX])
{
	memset(sums, 0, STORE_EVENTS_MAX * sizeof(*sums));
	for (int i = 0; i < (int)STORE_EVENTS_MAX; i++) {
		const int event = question->events ? question->events[i] : i;

		if (event < 0)
			continue;
		sums[event].weight += table->scan.sums[i].weight;
		sums[event].samples += table->scan.sums[i].samples;
		sums[event].unresolved += table->scan.sums[i].unresolved;
		sums[event].span_ns = table->scan.span_ns;
	}
}

static int fill_table(struct groups *groups, const struct groups_question *question,
	const struct table *table, struct hot *hot)
{
	struct hot_part *parts = calloc((size_t)table->n_rows + 1, sizeof(*parts));
	struct hot_sums sums[STORE_EVENTS_MAX];
	uint32_t *counterparts = NULL;
	int ret = parts ? 0 : -ENOMEM;
	size_t n = 0;

	if (!ret && question->events &&
		(groups->by.group == GROUP_PROCESS || groups->by.group == GROUP_THREAD ||
			groups->by.group == GROUP_IMAGE)) {
		counterparts = calloc((size_t)table->n_rows + 1, sizeof(*counterparts));
		ret = counterparts ? find_counterparts(groups, table, counterparts) : -ENOMEM;
	}
	if (!ret)
		ret = take_rows(groups, question, table, counterparts, parts, &n);
	take_sums(question, table, sums);
	if (!ret)
		ret = hot_fill(hot, parts, n, sums);
	free(counterparts);
	free(parts);
	return ret;
}

int groups_sum(
	const struct groups *groups, const struct groups_question *question, struct table **out)
{
	const char *const fields[] = {groups->by.field};
	struct table_question asked = {
		.scan = question->scan, .keys = &groups->by.group, .n_keys = 1};

	asked.scan.event = -1;
	asked.scan.column = GROUP_KEYS;
	asked.scan.fields = fields;
	asked.scan.n_fields = groups->by.group == GROUP_FIELD;
	return table_new(out, &asked);
}

int groups_take(struct groups *groups, const struct groups_question *question,
	const struct table *table, struct hot *hot)
{
	int ret;

	if (question->baseline) {
		groups->n_base_rows = table->n_rows;
		for (uint32_t i = 0; i < groups->n; i++)
			groups->keys[i].base_unknown = false;
	} else {
		groups->n_rows = table->n_rows;
		groups->population = 0;
		groups->fills++;
	}
	ret = fill_table(groups, question, table, hot);
	hot_set_namer(hot, namer, groups);
	return ret;
}

int groups_fill(struct groups *groups, const struct groups_question *question, struct hot *hot)
{
	struct table *table;
	int ret = groups_sum(groups, question, &table);

	if (ret)
		return ret;
	ret = groups_take(groups, question, table, hot);
	table_free(table);
	return ret;
}

uint64_t groups_population(const struct groups *groups)
{
	return groups->population;
}

bool groups_tidy(struct groups *groups)
{
	if (groups->n < MANY || groups->n / 4 < groups->n_rows + groups->n_base_rows)
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

	/* A pid or tid of another profile is invalid here.  The number of a CPU is valid. */
	if (!key || (key->foreign && key->task.name))
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
