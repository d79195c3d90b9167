/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded_sums.c - sums of a recording by the names, events and tasks of the session on the
 * screen.
 */
#include "sampler/store/store.h"
#include "tui/model/queries.h"
#include "tui/model/recorded.h"
#include "tui/model/recorded_private.h"
#include "tui/names/names.h"
#include "tui/session/cgroups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_EVENT (-1)

static int make_filter(
	struct recorded *recorded, const struct recorded_question *question, struct filter **out)
{
	struct session *session = &recorded->session;
	struct filter *more;
	int ret = session_filter(session, out);

	for (size_t i = 0; !ret && i < question->n_exprs; i++) {
		ret = expr_filter(&question->exprs[i], session_stacks(session),
			session_tasks(session), session->names, &more);
		if (!ret)
			*out = filter_and(*out, more);
	}
	if (ret) {
		filter_free(*out);
		*out = NULL;
	} else {
		session_schemas(session, &recorded->status, &session->schemas);
		filter_set_schemas(*out, &session->schemas);
	}
	return ret;
}

/* A pass over all samples. */
struct pass {
	struct session *session;
	struct filter *filter;
	struct snapshot snapshot;
};

static int pass_begin(
	struct pass *pass, struct recorded *recorded, const struct recorded_question *question)
{
	int ret;

	*pass = (struct pass){.session = &recorded->session};
	ret = make_filter(recorded, question, &pass->filter);
	if (!ret)
		ret = store_snapshot(session_store(pass->session), 0, UINT64_MAX, &pass->snapshot);
	if (ret) {
		filter_free(pass->filter);
		pass->filter = NULL;
	}
	return ret;
}

static void pass_end(struct pass *pass)
{
	snapshot_release(session_store(pass->session), &pass->snapshot);
	filter_free(pass->filter);
}

static struct scan_question scan_of(
	const struct pass *pass, const struct recorded_question *question)
{
	const struct session *session = pass->session;

	return (struct scan_question){
		.snapshot = &pass->snapshot,
		.to_ns = UINT64_MAX,
		.stacks = session_stacks(session),
		.tasks = session_tasks(session),
		.names = session->names,
		.filter = pass->filter,
		.hide_idle = question->hide_idle,
		.idle_by_name = session->limits.pid_namespace,
		.event = -1,
		.leave_unresolved = true,
		.column = GROUP_KEYS,
	};
}

static int scan(
	struct recorded *recorded, const struct recorded_question *question, struct basis *out)
{
	struct scan_question ask;
	struct pass pass;
	int ret = pass_begin(&pass, recorded, question);

	memset(out, 0, sizeof(*out));
	if (ret)
		return ret;
	ask = scan_of(&pass, question);
	ret = basis_scan(out, &ask);
	pass_end(&pass);
	return ret;
}

/* Replaces the symrefs by those of the same symbols in `names`. */
static int translate_symbols(struct recorded *recorded, struct basis *basis, struct names *names)
{
	struct names *own = recorded->session.names;
	uint32_t limit = names_limit(own);
	/* symref + 1; 0: not looked up yet */
	uint32_t *others = calloc(limit + 1u, sizeof(*others));
	struct names_index *index = NULL;
	int ret = others ? names_index_new(&index, names, own, NULL) : -ENOMEM;

	for (uint32_t i = 0; i < basis->n && !ret; i++) {
		uint32_t *other = &others[basis->symrefs[i]];

		if (!*other && basis->symrefs[i]) {
			const struct symref *symbol = names_get(own, basis->symrefs[i]);

			ret = names_index_add(index, symbol, other);
			++*other;
		}
		basis->symrefs[i] = *other ? *other - 1 : 0;
	}
	names_index_free(index);
	free(others);
	return ret;
}

static bool same_cgroup(const struct engine_event_status *a, const struct engine_event_status *b)
{
	return !a->cgroup == !b->cgroup && (!a->cgroup || !strcmp(a->cgroup, b->cgroup));
}

/* Returns the event of the same name; if there are several, that of the same cgroup. */
static int event_among(const struct engine_status *status, const struct engine_event_status *event)
{
	int found = NO_EVENT;

	for (size_t i = status->n_events; i--;) {
		if (strcmp(status->events[i].name, event->name) != 0)
			continue;
		if (same_cgroup(&status->events[i], event))
			return status->events[i].id;
		found = status->events[i].id;
	}
	return found;
}

/* Finds for each event of the recording the session's event. */
static void find_events(const struct engine_status *from, const struct engine_status *to,
	int events[STORE_EVENTS_MAX])
{
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		events[i] = NO_EVENT;
	for (size_t i = 0; i < from->n_events; i++)
		events[from->events[i].id] = event_among(to, &from->events[i]);
}

/* Translates event ids.  Weights of events that only the recording has are dropped. */
static void translate_events(const struct engine_status *from, const struct engine_status *to,
	struct basis *basis, size_t *shared)
{
	int others[STORE_EVENTS_MAX];
	uint32_t kept = 0;

	find_events(from, to, others);
	*shared = 0;
	for (size_t i = 0; i < from->n_events; i++)
		*shared += others[from->events[i].id] != NO_EVENT && from->events[i].samples;
	memset(basis->sums, 0, sizeof(basis->sums));
	for (uint32_t i = 0; i < basis->n_weights; i++) {
		struct basis_weight weight = basis->weights[i];

		if (others[weight.event] == NO_EVENT)
			continue;
		weight.event = (uint8_t)others[weight.event];
		basis->sums[weight.event] += weight.weight;
		basis->weights[kept++] = weight;
	}
	basis->n_weights = kept;
}

int recorded_basis(struct recorded *recorded, const struct recorded_question *question,
	struct basis *out, size_t *shared)
{
	int ret = scan(recorded, question, out);

	*shared = 0;
	if (!ret)
		ret = translate_symbols(recorded, out, question->names);
	if (ret)
		basis_fini(out);
	else
		translate_events(&recorded->status, question->status, out, shared);
	return ret;
}

/* --- by other keys than symbols --- */

static int sum_groups(struct recorded *recorded, const struct recorded_question *question,
	uint64_t serial, const struct group_by *by, const struct groups *groups,
	const uint8_t alone[STORE_EVENTS_MAX])
{
	struct groups_question ask = {.baseline = true};
	struct pass pass;
	int ret;

	if (recorded->table && recorded->table_serial == serial &&
		groups_same(&recorded->table_by, by))
		return 0;
	table_free(recorded->table);
	recorded->table = NULL;
	ret = pass_begin(&pass, recorded, question);
	if (ret)
		return ret;
	ask.scan = scan_of(&pass, question);
	ask.scan.schemas = &recorded->session.schemas;
	ask.scan.stands_for = alone;
	ret = groups_sum(groups, &ask, &recorded->table);
	pass_end(&pass);
	if (ret)
		recorded->table = NULL;
	recorded->table_by = *by;
	recorded->table_serial = serial;
	return ret;
}

int recorded_groups(struct recorded *recorded, const struct recorded_question *question,
	uint64_t serial, const struct group_by *by, const uint8_t stands_for[STORE_EVENTS_MAX],
	struct groups *groups, struct hot *hot)
{
	struct cgroup_labels *labels = malloc(sizeof(*labels));
	struct groups_question ask = {.baseline = true};
	int events[STORE_EVENTS_MAX], found[STORE_EVENTS_MAX];
	uint8_t alone[STORE_EVENTS_MAX];
	int ret;

	if (!labels)
		return -ENOMEM;
	for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
		alone[i] = (uint8_t)i;
	if (by->group == GROUP_CGROUP)
		cgroups_stand_for(&recorded->status, alone);
	ret = sum_groups(recorded, question, serial, by, groups, alone);
	if (!ret) {
		find_events(&recorded->status, question->status, found);
		/* The representative of merged events may be missing here, but one of the others is
		 * present. */
		memcpy(events, found, sizeof(events));
		for (size_t i = 0; i < STORE_EVENTS_MAX; i++)
			if (found[i] != NO_EVENT)
				events[alone[i]] = stands_for[found[i]];
		cgroups_label(&recorded->status, labels);
		ask.cgroups = labels->of;
		ask.events = events;
		ask.scan.names = recorded->session.names;
		ret = groups_take(groups, &ask, recorded->table, hot);
	}
	free(labels);
	return ret;
}

/* Returns the first event of the recording that matches this one, or NO_EVENT. */
static int event_there(
	const struct recorded *recorded, const struct recorded_question *question, uint8_t event)
{
	int events[STORE_EVENTS_MAX];

	find_events(&recorded->status, question->status, events);
	for (int i = 0; i < (int)STORE_EVENTS_MAX; i++)
		if (events[i] == event)
			return i;
	return NO_EVENT;
}

static struct query query_of(
	const struct pass *pass, const struct recorded_question *question, int event)
{
	return (struct query){
		.snapshot = &pass->snapshot,
		.stacks = session_stacks(pass->session),
		.tasks = session_tasks(pass->session),
		.names = pass->session->names,
		.filter = pass->filter,
		.event = (uint8_t)event,
		.hide_idle = question->hide_idle,
		.idle_by_name = pass->session->limits.pid_namespace,
		.schemas = &pass->session->schemas,
	};
}

int recorded_lanes(struct recorded *recorded, const struct recorded_question *question,
	uint8_t event, enum query_group group, struct lanes *out)
{
	const int there = event_there(recorded, question, event);
	struct store_status status;
	struct query query;
	struct pass pass;
	int ret;

	memset(out, 0, sizeof(*out));
	if (there == NO_EVENT)
		return 0;
	ret = pass_begin(&pass, recorded, question);
	if (ret)
		return ret;
	store_status(session_store(pass.session), &status);
	query = query_of(&pass, question, there);
	query.from_ns = status.first_ns;
	query.to_ns = status.last_ns;
	query.group = group;
	ret = lanes_run(&query, 1, out);
	pass_end(&pass);
	return ret;
}

/* Finds or adds a symbol in the recording's names.  Returns 0 or -ENOMEM. */
static int symbol_there(struct recorded *recorded, const struct recorded_question *question,
	uint32_t symref, uint32_t *out)
{
	const struct symref *symbol = names_get(question->names, symref);
	struct names_index *index;
	int ret = names_index_new(&index, recorded->session.names, question->names, symbol);

	if (!ret)
		ret = names_index_add(index, symbol, out);
	names_index_free(index);
	return ret;
}

int recorded_rows(struct recorded *recorded, const struct recorded_question *question,
	uint8_t event, const struct model_breakdown *of, struct query_row **rows, size_t *n)
{
	const int there = event_there(recorded, question, event);
	uint32_t symref = 0;
	struct query query;
	struct pass pass;
	int ret = 0;

	*rows = NULL;
	*n = 0;
	if (there == NO_EVENT)
		return 0;
	if (!of->all)
		ret = symbol_there(recorded, question, of->symref, &symref);
	if (!ret)
		ret = pass_begin(&pass, recorded, question);
	if (ret)
		return ret;
	query = query_of(&pass, question, there);
	query.group = of->group;
	query.field = of->field;
	query.by_symbol = !of->all;
	query.symref = symref;
	ret = query_run(&query, rows, n);
	pass_end(&pass);
	return ret;
}
