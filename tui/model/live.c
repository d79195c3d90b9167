/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.c - fills the model from the engine, the hot table and the queries.
 */
#include "tui/model/live_private.h"

#include "sampler/control/note.h"
#include "sampler/engine/engine.h"
#include "sampler/store/store.h"
#include "symbols/base/clock.h"
#include "tui/base/clean.h"
#include "tui/model/annotate.h"
#include "tui/model/commands.h"
#include "tui/names/names.h"
#include "tui/session/request.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTES_AT_ONCE 64
#define COST_EVERY_NS 1000000000u
#define COST_FIRST_NS 400000000u
#define MEMORY_EVERY_NS 5000000000u
#define DESCRIBE_NS 1000000000u
#define NAMES_SHARE 20u /* recomputing sums for new names takes at most 1/20 of the time */

/* --- the log --- */

static void take_engine_notes(struct model_live *live)
{
	struct engine_note notes[NOTES_AT_ONCE];
	size_t n;

	while ((n = session_notes(live->session, live->note_seen, notes, NOTES_AT_ONCE))) {
		for (size_t i = 0; i < n; i++) {
			char text[512];

			explain_note(&notes[i], &live->session->limits, text, sizeof(text));
			logbook_add(&live->model.log, notes[i].time_ns,
				explain_note_level(&notes[i]), false, text);
			marks_note(&live->model.marks, &notes[i]);
			if (notes[i].kind == NOTE_TARGET_EXEC)
				chosen_executed(&live->chosen, notes[i].pid, notes[i].text);
			live->note_seen = notes[i].serial;
		}
	}
}

/* No default case, so the compiler reports a kind without a level. */
static enum explain_level symbols_level(const struct symbols_note *note)
{
	switch (note->kind) {
	case SYMBOLS_NOTE_UNREADABLE:
	case SYMBOLS_NOTE_OTHERS_FUSE:
		/* The user must see strobe's own limits without opening the log. */
		return note->error == EMFILE || note->error == ENOMEM ? EXPLAIN_WARNING
								      : EXPLAIN_INFO;
	case SYMBOLS_NOTE_WORKER_DIED:
	case SYMBOLS_NOTE_FILE_BANNED:
	case SYMBOLS_NOTE_CODE_BANNED:
	case SYMBOLS_NOTE_JIT_OWNER:
	case SYMBOLS_NOTE_JIT_GONE:
	case SYMBOLS_NOTE_JIT_LEFT:
	case SYMBOLS_NOTE_JIT_CUT:
	case SYMBOLS_NOTE_NO_KERNEL:
	case SYMBOLS_NOTE_KERNEL_HIDDEN:
	case SYMBOLS_NOTE_UNCONFINED:
	case SYMBOLS_NOTE_NO_WORKER:
	case SYMBOLS_NOTE_NO_MEMORY:
	case SYMBOLS_NOTE_NO_LINES:
	case SYMBOLS_NOTE_NOT_FETCHED:
	case SYMBOLS_NOTE_ELSEWHERE:
		return EXPLAIN_WARNING;
	case SYMBOLS_NOTE_WRONG_FILE:
	case SYMBOLS_NOTE_OTHER_DEBUG:
	case SYMBOLS_NOTE_NO_COMMON:
	case SYMBOLS_NOTE_UNVERIFIED:
	case SYMBOLS_NOTE_NAME_LEFT:
	case SYMBOLS_NOTE_MOVED:
	case SYMBOLS_NOTE_FETCHED:
		return EXPLAIN_INFO;
	}
	return EXPLAIN_INFO;
}

static int log_sentence(void *ctx, enum explain_level level, const char *sentence)
{
	struct model_live *live = ctx;

	logbook_add(&live->model.log,
		live->model.recorded ? live->model.status.now_ns : live->model.now_ns, level, false,
		sentence);
	return 0;
}

static void take_symbols_notes(struct model_live *live)
{
	struct symbols_note note;

	while (symbols_take_note(live->session->symbols, &note)) {
		char text[512];

		explain_symbols_note(&note, text, sizeof(text));
		(void)log_sentence(live, symbols_level(&note), text);
	}
}

static void take_chain_notes(struct model_live *live)
{
	if (chain_notes_due(live->session, &live->model.status))
		(void)chain_notes_add(
			&live->chain_notes, live->session, &live->model.status, log_sentence, live);
}

static void take_save(struct model_live *live)
{
	struct model *model = &live->model;
	char text[512];
	int error;

	if (!live->save)
		return;
	model->saving_percent = save_percent(live->save);
	if (!save_is_over(live->save, &error, text, sizeof(text)))
		return;
	logbook_add(&model->log, clock_now_ns(), error ? EXPLAIN_ERROR : EXPLAIN_INFO, false, text);
	(void)save_free(live->save);
	live->save = NULL;
	model->saving = false;
}

void model_live_output(struct model_live *live, const char *line, size_t len)
{
	char text[1024];

	clean_text(text, sizeof(text), line, len);
	logbook_add(&live->model.log, clock_now_ns(), EXPLAIN_INFO, true, text);
}

/* --- data of the header --- */

static void choose_event(struct model *model)
{
	const struct engine_event_status *event = model_event(model, model->event);
	uint8_t ids[ENGINE_EVENTS_TOLD];
	size_t n = model_tabs(model, ids);

	if (event && (event->open || event->samples))
		return;
	if (n)
		model->event = ids[0];
	else if (!event && model->status.n_events)
		model->event = model->status.events[0].id;
}

void model_live_describe_chosen(struct model_live *live)
{
	if (live->has_chosen)
		chosen_describe(&live->chosen, live->model.target, sizeof(live->model.target));
}

static void forget_ended(struct model_live *live)
{
	int32_t *pids = NULL;
	size_t n;

	if (!live->has_chosen || engine_followed(live->session->engine, &pids, &n))
		return;
	if (chosen_prune(&live->chosen, pids, n, live->model.now_ns))
		model_live_describe_chosen(live);
	free(pids);
}

/* Updates the target's name.  A process may execute another program; a pipe reports its recorder
 * only at its end. */
static void describe_target(struct model_live *live)
{
	struct model *model = &live->model;

	if (model->recorded ? model_is_loading(model) || live->described_ns
			    : model->now_ns - live->described_ns < DESCRIBE_NS)
		return;
	live->described_ns = model->now_ns;
	if (live->has_chosen) {
		model_live_describe_chosen(live);
		return;
	}
	session_describe(live->session);
	snprintf(model->target, sizeof(model->target), "%s", live->session->target_text);
}

/* Updates the memory account in the help.  The log gets it when it exceeds the history's limit, and
 * again after each growth by half. */
static void update_memory(struct model_live *live)
{
	struct model *model = &live->model;
	struct memory_account account;
	/* A young session grows fastest, so it measures more often. */
	const uint64_t age_ns = live->memory_measured_ns - live->started_ns;
	const uint64_t wait_ns = age_ns < MEMORY_EVERY_NS ? age_ns : MEMORY_EVERY_NS;

	if (live->memory_measured_ns && model->now_ns - live->memory_measured_ns < wait_ns)
		return;
	live->memory_measured_ns = model->now_ns;
	memory_measure(&account, &model->status.store, live->session->symbols);
	memory_describe(&account, model->cost.memory);
	if (account.resident <= account.history_limit ||
		account.resident < live->memory_told_bytes + live->memory_told_bytes / 2)
		return;
	live->memory_told_bytes = account.resident;
	logbook_add(&model->log, clock_now_ns(), EXPLAIN_INFO, false, model->cost.memory);
}

static void update_cost(struct model_live *live)
{
	struct symbols_status status;
	int32_t pids[2];

	symbols_status(live->session->symbols, &status);
	pids[0] = status.spawner_pid;
	pids[1] = status.worker_pid;
	cost_update(&live->cost, live->model.now_ns,
		live->cost.cpu_percent < 0.0 ? COST_FIRST_NS : COST_EVERY_NS, pids, 2);
	live->model.cost.cpu_percent = live->cost.cpu_percent;
	live->model.cost.memory_bytes = live->cost.memory_bytes;
	live->model.cost.instructions_per_s = live->cost.instructions_per_s;
	update_memory(live);
}

/* Moves the window with time, unless a window is selected. */
static void move_window(struct model *model, bool advance)
{
	uint64_t from_ns, to_ns;

	model_window(model, &model->status.store, &from_ns, &to_ns);
	if (advance || model->strip_to_ns <= model->zero_ns)
		model->strip_to_ns = to_ns;
	if (model->window.selected) {
		model->from_ns = model->window.from_ns;
		model->to_ns = model->window.to_ns;
	} else if (advance || model->to_ns <= model->zero_ns) {
		model->from_ns = from_ns;
		model->to_ns = to_ns;
	} else {
		/* The window stands still, but its length may have changed. */
		model->to_ns = model->strip_to_ns;
		model->from_ns = model_window_begin(model, &model->status.store, model->to_ns);
	}
}

static int update_hot(struct model_live *live, uint64_t epoch)
{
	struct model *model = &live->model;
	uint64_t begin_ns = clock_now_ns();
	int ret;

	if (live->crumbs.filter)
		epoch = names_changes(live->session->names);
	if (live->hot_from_ns == model->from_ns && live->hot_to_ns == model->to_ns &&
		live->hot_epoch == epoch && live->hot_hide_idle == model_idle(model))
		return 0;
	hot_hide_idle(live->hot, model->hide_idle);
	ret = hot_update(live->hot, model->from_ns, model->to_ns);
	if (ret)
		return ret;
	if (live->hot_epoch != epoch) {
		const uint64_t end_ns = clock_now_ns();
		live->names_at_ns = end_ns + NAMES_SHARE * (end_ns - begin_ns);
	}
	live->hot_from_ns = model->from_ns;
	live->hot_to_ns = model->to_ns;
	live->hot_epoch = epoch;
	live->hot_hide_idle = model_idle(model);
	return 0;
}

void model_live_take_fetching(struct model_live *live)
{
	struct model *model = &live->model;
	struct symbols_fetching fetching;

	symbols_fetch_status(live->session->symbols, &fetching);
	model->fetching.waiting = fetching.waiting;
	model->fetching.received = fetching.received;
	model->fetching.total = fetching.total;
	const char *path = fetching.path ? fetching.path : "";
	const char *slash = strrchr(path, '/');
	clean_string(model->fetching.name, sizeof(model->fetching.name), slash ? slash + 1 : path);
}

/* Resets all that depends on the old filter. */
static void take_filter(struct model_live *live)
{
	hot_set_filter(live->hot, live->crumbs.filter);
	live->hot_to_ns = 0;
}

/* Only the records in a recording show that it is from a pid namespace. */
static void take_namespace(struct model_live *live)
{
	if (live->session->recording && live->model.status.pid_namespace &&
		!live->session->limits.pid_namespace) {
		live->session->limits.pid_namespace = true;
		hot_set_tasks(live->hot, NULL);
		take_filter(live);
	}
}

static int live_refresh(struct model *model, bool advance)
{
	struct model_live *live = model_live_of(model);
	uint64_t epoch;
	int ret;

	model->now_ns = clock_now_ns();
	model->soon_ns = 0;
	session_status(live->session, &model->status);
	take_namespace(live);
	session_schemas(live->session, &model->status, &live->session->schemas);
	rates_update(&model->rates, &model->status);
	if (model->now_ns >= live->names_at_ns)
		epoch = names_update(live->session->names);
	else
		epoch = names_epoch(live->session->names);
	if (model->recorded)
		session_settle(live->session, 0);
	forget_ended(live);
	describe_target(live);
	take_engine_notes(live);
	if (!model->recorded && !model->system_wide)
		marks_threads(&model->marks, model->now_ns, model->status.threads);
	take_symbols_notes(live);
	take_chain_notes(live);
	take_save(live);
	model_live_take_export(live);
	model_events_update(&live->events, model);
	model_live_take_fetching(live);
	update_cost(live);
	choose_event(model);
	move_window(model, advance && !model->frozen);
	ret = update_hot(live, epoch);
	if (!ret)
		ret = model_baseline_update(
			&live->baseline, live->session, model, &live->crumbs, live->hot_epoch);
	hot_sums(live->hot, model->event, &model->sums);
	/* Time without samples counts, too. */
	if (model->sums.span_ns < model->to_ns - model->from_ns)
		model->sums.span_ns = model->to_ns - model->from_ns;
	if (!ret)
		ret = activity_update(&live->activity, model, live->session, live->crumbs.filter);
	return ret;
}

/* --- queries --- */

static int live_rows(struct model *model, const struct hot_query *query,
	const struct hot_row **rows, size_t *n, struct hot_sums *sums)
{
	struct hot_query with_base = *query;

	with_base.base = model_live_of(model)->baseline.hot;
	return hot_rows(model_live_of(model)->hot, &with_base, rows, n, sums);
}

static const struct symref *live_symbol(struct model *model, uint32_t symref)
{
	return names_get(model_live_of(model)->session->names, symref);
}

static void live_cell(
	struct model *model, uint32_t symref, uint8_t event, uint64_t *self, uint64_t *total)
{
	hot_cell(model_live_of(model)->hot, symref, event, self, total);
}

static void live_sums(struct model *model, uint8_t event, struct hot_sums *out)
{
	hot_sums(model_live_of(model)->hot, event, out);
}

static void live_trend(struct model *model, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND])
{
	hot_trend(model_live_of(model)->hot, symref, event, out);
}

static int live_breakdown(struct model *model, const struct model_breakdown *question,
	struct query_row **rows, size_t *n)
{
	struct model_live *live = model_live_of(model);

	if (!question->baseline)
		return model_breakdown_rows(&live->breakdown, live->session, model,
			live->crumbs.filter, question, rows, n);
	if (model->base_recorded)
		return model_baseline_rows(
			&live->baseline, live->session, model, &live->crumbs, question, rows, n);
	return model_breakdown_ask(live->session, model, live->crumbs.filter, question,
		model->base_from_ns, model->base_to_ns, rows, n);
}

static const char *live_field(struct model *model, size_t i)
{
	return field_name(session_fields(model_live_of(model)->session, model->event), i);
}

static int live_baseline(struct model *model, bool set)
{
	struct model_live *live = model_live_of(model);

	return model_baseline_set(&live->baseline, live->session, model, live->crumbs.filter, set);
}

static int live_baseline_file(struct model *model, const char *path, char *message, size_t size)
{
	struct model_live *live = model_live_of(model);

	return model_baseline_file(&live->baseline, live->session, model, path, message, size);
}

static void live_baseline_stop(struct model *model)
{
	model_baseline_stop(&model_live_of(model)->baseline, model);
}

static int live_crumb_add(
	struct model *model, const char *text, size_t *at, char *message, size_t size)
{
	struct model_live *live = model_live_of(model);
	int ret = model_crumbs_add(&live->crumbs, live->session, model, text, at, message, size);

	take_filter(live);
	return ret;
}

static void live_crumb_drop(struct model *model, size_t i)
{
	struct model_live *live = model_live_of(model);

	model_crumbs_drop(&live->crumbs, live->session, model, i);
	take_filter(live);
}

static int live_tree(struct model *model, const struct calltree_query *query, struct calltree *out)
{
	struct model_live *live = model_live_of(model);
	const struct basis *basis;
	uint64_t serial;
	int ret = model_baseline_basis(
		&live->baseline, live->session, model, live->crumbs.filter, &basis, &serial);

	if (ret)
		calltree_fini(out);
	else
		ret = model_calls_tree(&live->calls, live->session, model, live->crumbs.filter,
			live->hot_epoch, basis, serial, query, out);
	model->calls_weight =
		model_calls_are_old(&live->calls, model) && out->n ? out->nodes[0].sums.total : 0;
	return ret;
}

static int live_busiest(struct model *model, struct model_spike *out)
{
	struct model_live *live = model_live_of(model);

	return activity_busiest(&live->activity, model, live->session, live->crumbs.filter, out);
}

static int recorded_base_lanes(struct model *model, enum query_group group, struct lanes *out)
{
	struct model_live *live = model_live_of(model);

	return model_baseline_lanes(
		&live->baseline, live->session, model, &live->crumbs, group, out);
}

static int live_lanes(
	struct model *model, enum query_group group, size_t columns, const struct lanes **out)
{
	struct model_live *live = model_live_of(model);

	return model_lanes_get(&live->lanes, live->session, model, live->crumbs.filter,
		live->hot_epoch, recorded_base_lanes, group, columns, out);
}

static char live_task_state(struct model *model, int32_t tid)
{
	struct proc_thread thread;

	if (model->recorded || tid <= 0)
		return 0;
	switch (proc_read_thread(tid, &thread)) {
	case 0:
		return thread.state;
	case -ESRCH:
		return 'X';
	default:
		return 0;
	}
}

static int live_heat(struct model *model, uint64_t from_ns, size_t seconds, const uint64_t **cells)
{
	struct model_live *live = model_live_of(model);

	return heat_get(
		&live->heat, model, live->session, live->crumbs.filter, from_ns, seconds, cells);
}

static int live_processes(struct model *model, struct proc_process **out, size_t *n)
{
	(void)model;
	return proc_list(out, n);
}

static int live_followed(struct model *model, int32_t **pids, size_t *n)
{
	if (model->recorded) {
		*pids = NULL;
		*n = 0;
		return 0;
	}
	return engine_followed(model_live_of(model)->session->engine, pids, n);
}

static const char *live_user_name(struct model *model, uint32_t uid)
{
	struct user *user = &model_live_of(model)->users[uid % USERS_MAX];
	struct passwd entry, *found = NULL;
	char buffer[2048];

	if (user->known && user->uid == uid)
		return user->name;
	user->uid = uid;
	user->known = true;
	if (!getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) && found)
		clean_string(user->name, sizeof(user->name), found->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "%" PRIu32, uid);
	return user->name;
}

/* --- the code of a function --- */

static int live_code_open(
	struct model *model, uint32_t symref, enum disasm_syntax syntax, struct annotation **out)
{
	return model_annotate_open(model_live_of(model)->session, symref, syntax, out);
}

static void live_code_close(struct model *model, struct annotation *annotation)
{
	(void)model;
	annotate_free(annotation);
}

static int live_code_update(struct model *model, struct annotation *annotation, bool *changed)
{
	return model_annotate_update(model_live_of(model)->session, model,
		model_live_of(model)->crumbs.filter, annotation, changed);
}

static uint64_t live_code_waiting_ns(struct model *model)
{
	return model_annotate_waiting_ns(model_live_of(model)->session, clock_now_ns());
}

static void live_code_abandon(struct model *model)
{
	symbols_code_abandon(model_live_of(model)->session->symbols);
}

static int live_code_source_path(
	struct model *model, uint32_t symref, const char *file, char *out, size_t size)
{
	return model_annotate_source_path(model_live_of(model)->session, symref, file, out, size);
}

static const struct model_code_ops live_code_ops = {
	.open = live_code_open,
	.close = live_code_close,
	.update = live_code_update,
	.rows = annotate_rows,
	.head = annotate_head,
	.progress = model_annotate_progress,
	.set_mode = annotate_set_mode,
	.next_hottest = annotate_next_hottest,
	.target = annotate_target,
	.waiting_ns = live_code_waiting_ns,
	.abandon = live_code_abandon,
	.source_path = live_code_source_path,
};

/* --- offered events --- */

static int live_offers_begin(struct model *model)
{
	return model_events_begin(&model_live_of(model)->events, model);
}

static void live_offers_list(struct model *model, struct offers_list *out)
{
	offers_list(model_live_of(model)->events.offers, out);
}

static void live_offers_state(struct model *model, size_t i, struct offer_state *out)
{
	offers_state(model_live_of(model)->events.offers, i, out);
}

static bool live_offers_detail(struct model *model, size_t i, struct offer_detail *out)
{
	return offers_detail(model_live_of(model)->events.offers, i, out);
}

static const struct model_offer_ops live_offer_ops = {
	.begin = live_offers_begin,
	.list = live_offers_list,
	.state = live_offers_state,
	.detail = live_offers_detail,
};

static const struct model_queries live_queries = {
	.refresh = live_refresh,
	.rows = live_rows,
	.symbol = live_symbol,
	.cell = live_cell,
	.sums = live_sums,
	.trend = live_trend,
	.tree = live_tree,
	.busiest = live_busiest,
	.breakdown = live_breakdown,
	.field = live_field,
	.lanes = live_lanes,
	.task_state = live_task_state,
	.heat = live_heat,
	.processes = live_processes,
	.followed = live_followed,
	.user_name = live_user_name,
	.code = &live_code_ops,
	.offers = &live_offer_ops,
	.groups = &model_live_groups,
};

static const struct model_commands live_commands = {
	.baseline = live_baseline,
	.baseline_file = live_baseline_file,
	.baseline_stop = live_baseline_stop,
	.crumb_add = live_crumb_add,
	.crumb_drop = live_crumb_drop,
	.attach = model_live_attach,
	.detach = model_live_detach,
	.event_add = model_live_event_add,
	.look_cancel = model_live_look_cancel,
	.event_drop = model_live_event_drop,
	.set_freq = model_live_set_freq,
	.set_period = model_live_set_period,
	.event_enable = model_live_event_enable,
	.set_filter = model_live_set_filter,
	.move_breakpoint = model_live_move_breakpoint,
	.pause = model_live_pause,
	.snapshot = model_live_snapshot,
	.set_call_graph = model_live_set_call_graph,
	.save = model_live_save,
	.export_window = model_live_export,
	.export_stop = model_live_export_stop,
	.save_stop = model_live_save_stop,
	.fetch = model_live_fetch,
	.fetch_cancel = model_live_fetch_cancel,
};

static void describe_filters(const struct request *request, char *out, size_t size)
{
	filter_describe(request->terms, request->n_terms, out, size);
	for (size_t i = 0; i < request->n_only; i++) {
		size_t len = strlen(out);

		if (len && len + 3 < size)
			len += (size_t)snprintf(out + len, size - len, ", ");
		filter_describe(request->only[i].terms, request->only[i].n, out + len, size - len);
	}
}

int model_live_new(struct model_live **out, struct session *session)
{
	struct model_live *live = calloc(1, sizeof(*live));
	const struct request *request = session->request;
	struct model *model;
	int ret;

	*out = NULL;
	if (!live)
		return -ENOMEM;
	ret = model_crumbs_init(&live->crumbs, session);
	if (!ret)
		ret = hot_new(&live->hot, session_store(session), session_stacks(session),
			session->names);
	if (ret) {
		model_crumbs_fini(&live->crumbs);
		free(live);
		return ret;
	}
	hot_set_filter(live->hot, live->crumbs.filter);
	/* In a pid namespace, pid 0 does not identify the idle task. */
	if (!session->limits.pid_namespace)
		hot_set_tasks(live->hot, session_tasks(session));
	live->session = session;
	live->events.session = session;
	cost_init(&live->cost);
	(void)cost_open(&live->cost);
	model = &live->model;
	model->queries = &live_queries;
	model->commands = &live_commands;
	model->system_wide = session->system_wide;
	model->is_command = request->engine.target.command != NULL;
	model->recorded = session->recording != NULL;
	model->hide_idle = request->hide_idle || model->system_wide;
	model->sort_total = request->sort_total;
	model->code_mode = (enum annotate_mode)request->annotate_mode;
	model->code_syntax = request->intel_syntax ? DISASM_INTEL : DISASM_ATT;
	model->ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	if (session->limits.max_sample_rate > 0)
		model->max_sample_rate_hz = (uint64_t)session->limits.max_sample_rate;
	snprintf(model->target, sizeof(model->target), "%s", session->target_text);
	describe_filters(request, model->filters, sizeof(model->filters));
	model->now_ns = live->started_ns = clock_now_ns();
	*out = live;
	return 0;
}

bool model_live_free(struct model_live *live)
{
	if (!live)
		return true;
	live->hangs |= !save_free(live->save);
	model_live_export_end(live);
	if (live->hangs)
		return false;
	cost_fini(&live->cost);
	model_events_fini(&live->events);
	hot_free(live->hot);
	model_calls_fini(&live->calls);
	model_lanes_fini(&live->lanes);
	model_groups_fini(&live->groups);
	model_breakdown_fini(&live->breakdown);
	heat_fini(&live->heat);
	model_baseline_fini(&live->baseline);
	model_crumbs_fini(&live->crumbs);
	logbook_fini(&live->model.log);
	free(live);
	return true;
}

int model_live_digest(struct model_live *live)
{
	struct model *model = &live->model;
	struct store_status store;
	uint64_t from_ns, to_ns;
	int ret;

	if (model->frozen || model->window.selected)
		return 0;
	store_status(session_store(live->session), &store);
	model_window(model, &store, &from_ns, &to_ns);
	ret = hot_update(live->hot, from_ns, to_ns);
	if (ret)
		return ret;
	live->hot_from_ns = from_ns;
	live->hot_to_ns = to_ns;
	return 0;
}

int model_live_offers_fd(const struct model_live *live)
{
	return live->events.offers ? offers_fd(live->events.offers) : -1;
}

void model_live_baseline_wait(struct model_live *live, unsigned int timeout_ms)
{
	model_baseline_wait(&live->baseline, timeout_ms);
}

void model_live_baseline_fds(const struct model_live *live, int fds[RECORDED_FDS])
{
	model_baseline_fds(&live->baseline, fds);
}

uint64_t model_live_names_at(const struct model_live *live)
{
	return live->names_at_ns;
}

struct model *model_live_model(struct model_live *live)
{
	return &live->model;
}
