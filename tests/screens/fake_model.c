/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fake_model.c - the fixed profile: a database server with 37 threads at two events, after 102 s.
 *
 *	self  total  symbol                  image
 *	37.8   37.8  heap_hot_search_buffer  postgres
 *	12.1   61.0  index_fetch_heap        postgres
 *	...	     (rows below; the whole is 1,000,000)
 */
#include "tests/screens/fake_model.h"

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "sampler/events/parse.h"
#include "tests/screens/fake_calls.h"
#include "tests/screens/fake_code.h"
#include "tests/screens/fake_groups.h"
#include "tests/screens/fake_lanes.h"
#include "tests/screens/fake_offers.h"
#include "tui/model/commands.h"
#include "tui/model/queries.h"
#include "tui/session/export_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE 20000000000ull
#define SECOND 1000000000ull

struct fake_row {
	struct symref symbol;
	unsigned int self, total; /* per mille of the whole */
	unsigned int faults; /* per mille of page-faults */
	unsigned int shape; /* shape of the trend */
};

#define USER .kernel = false, .resolved = true
#define KERNEL .kernel = true, .resolved = true, .image = "[kernel]", .path = "[kernel]"

/* Indexed by symref. */
static const struct fake_row rows[] = {
	{{.symbol = "[unknown]", .image = "[unknown]", .path = "[unknown]"}, 0, 0, 0, 0},
	{{.symbol = "heap_hot_search_buffer", .image = "postgres", USER}, 378, 378, 12, 1},
	{{.symbol = "index_fetch_heap", .image = "postgres", USER}, 121, 610, 3, 2},
	{{.symbol = "_bt_compare", .image = "postgres", USER}, 98, 104, 0, 3},
	{{.symbol = "hash_search_with_hash_value", .image = "postgres", USER}, 71, 71, 0, 0},
	{{.symbol = "__memcpy_avx_unaligned_erms", .image = "libc.so.6", USER}, 64, 64, 401, 1},
	{{.symbol = "clear_page_erms", KERNEL}, 55, 55, 0, 2},
	{{.symbol = "std::__detail::_Map_base<std::basic_string<char>, long>::operator[](long "
		    "const&)",
		 .image = "libplanner.so.2.1",
		 USER},
		42, 80, 90, 3},
	{{.symbol = "do_user_addr_fault", KERNEL}, 31, 102, 0, 0},
	{{.symbol = "postgres+0x1b2c40", .image = "postgres"}, 27, 27, 8, 1},
	{{.symbol = "[anon]", .image = "[anon]"}, 22, 22, 210, 2},
	{{.symbol = "nf_hook_slow", .kernel = true, .resolved = true, .image = "[nf_tables]"}, 18,
		33, 0, 3},
	{{.symbol = "日本語_symbol", .image = "libname.so", USER}, 15, 15, 0, 0},
	{{.symbol = "ExecInitNode", .image = "postgres", USER}, 9, 710, 51, 1},
	{{.symbol = "PostgresMain", .image = "postgres", USER}, 4, 900, 0, 2},
	{{.symbol = "malloc", .image = "libc.so.6", USER}, 3, 8, 160, 3},
	{{.symbol = "__libc_start_main", .image = "libc.so.6", USER}, 0, 950, 0, 0},
};
#define N_ROWS (sizeof(rows) / sizeof(*rows))

static const struct proc_process processes[] = {
	{.pid = 1,
		.uid = 0,
		.state = 'S',
		.threads = 1,
		.cpu_ticks = 812,
		.comm = "systemd",
		.cmdline = "/sbin/init splash"},
	{.pid = 12,
		.ppid = 2,
		.uid = 0,
		.state = 'I',
		.kernel_thread = true,
		.threads = 1,
		.cpu_ticks = 55,
		.comm = "kworker/0:1"},
	{.pid = 840,
		.uid = 1000,
		.state = 'S',
		.threads = 3,
		.cpu_ticks = 1200,
		.comm = "zsh",
		.cmdline = "-zsh"},
	{.pid = 4711,
		.uid = 26,
		.state = 'R',
		.threads = 37,
		.cpu_ticks = 99000,
		.comm = "postgres",
		.cmdline = "postgres -D /var/lib/postgresql/15/main"},
	{.pid = 5120,
		.uid = 1000,
		.state = 'R',
		.threads = 1,
		.cpu_ticks = 4000,
		.comm = "evil",
		.cmdline = "./evil \033[31mred\033[0m"},
};
#define N_PROCESSES (sizeof(processes) / sizeof(*processes))

static struct fake_model *of(struct model *model)
{
	return (struct fake_model *)model;
}

static uint64_t part(unsigned int per_mille)
{
	return WHOLE / 1000 * per_mille;
}

uint64_t fake_model_weight(unsigned int per_mille)
{
	return part(per_mille);
}

static uint64_t self_of(const struct model *model, size_t row)
{
	return part(model->event == 2 ? rows[row].faults : rows[row].self);
}

static uint64_t total_of(const struct model *model, size_t row)
{
	return part(model->event == 2 ? rows[row].faults : rows[row].total);
}

/* Follows the live model, but keeps an unselected window that a test has set. */
static void fake_window(struct model *model)
{
	uint64_t end;

	if (model->window.selected) {
		model->from_ns = model->window.from_ns;
		model->to_ns = model->window.to_ns;
		return;
	}
	if (model->to_ns < model->strip_to_ns) {
		model->to_ns = model->strip_to_ns;
		model->from_ns = model_window_begin(model, &model->status.store, model->to_ns);
	}
	model->strip_to_ns = model->to_ns;
	model->column_ns = SECOND;
	end = (model->to_ns + SECOND - 1) / SECOND * SECOND;
	model->strip_from_ns = model->recorded ? model->from_ns : end - model->n_activity * SECOND;
}

static int fake_busiest(struct model *model, struct model_spike *out)
{
	(void)model;
	*out = (struct model_spike){150 * SECOND, 150 * SECOND + SECOND * 3 / 10, 1, 3};
	return 0;
}

static int fake_baseline(struct model *model, bool set)
{
	model->has_baseline = set;
	model->base_serial++;
	model->base_from_ns = model->from_ns;
	model->base_to_ns = model->to_ns;
	return 0;
}

/* "no-file" cannot be read; reading any other file never ends. */
static int fake_baseline_file(struct model *model, const char *path, char *message, size_t size)
{
	if (!strcmp(path, "no-file")) {
		snprintf(message, size, "Cannot read '%s'", path);
		return -ENOENT;
	}
	model->base_reading.active = true;
	model->base_reading.percent = 42;
	snprintf(model->base_reading.name, sizeof(model->base_reading.name), "%.60s", path);
	return 0;
}

static void fake_baseline_stop(struct model *model)
{
	model->base_reading.active = false;
}

/* Accepts any text as a filter, except "wrong". */
static int fake_crumb_add(
	struct model *model, const char *text, size_t *at, char *message, size_t size)
{
	*at = 0;
	if (!strncmp(text, "wrong", 5)) {
		snprintf(message, size, "there is no 'wrong'");
		return -EINVAL;
	}
	if (model->n_crumbs == MODEL_CRUMBS_MAX)
		return -ENOSPC;
	snprintf(model->crumbs[model->n_crumbs++], MODEL_CRUMB_MAX, "%s", text);
	return 0;
}

static void fake_crumb_drop(struct model *model, size_t i)
{
	memmove(&model->crumbs[i], &model->crumbs[i + 1],
		(model->n_crumbs - 1 - i) * sizeof(*model->crumbs));
	model->n_crumbs--;
}

static int fake_refresh(struct model *model, bool advance)
{
	(void)advance;
	fake_window(model);
	model->sums = (struct hot_sums){
		.weight = model->event == 2 ? part(935) : part(958),
		.samples = model->event == 2 ? 1204 : 19940,
		.all_samples = model->event == 2 ? 2408 : 41200,
		.unresolved = part(27),
		.span_ns = 20 * SECOND,
	};
	if (model->event != 2)
		model->sums.weight = WHOLE;
	return 0;
}

static int compare(const struct hot_row *a, const struct hot_row *b, const struct hot_query *query)
{
	int order = 0;

	switch (query->sort) {
	case HOT_SORT_SELF:
		order = (a->self < b->self) - (a->self > b->self);
		break;
	case HOT_SORT_TOTAL:
		order = (a->total < b->total) - (a->total > b->total);
		break;
	case HOT_SORT_SAMPLES:
		order = (a->samples < b->samples) - (a->samples > b->samples);
		break;
	case HOT_SORT_CHANGE:
		if (a->change != b->change)
			order = a->change > b->change ? -1 : 1;
		break;
	case HOT_SORT_SYMBOL:
		order = strcmp(rows[a->symref].symbol.symbol, rows[b->symref].symbol.symbol);
		break;
	case HOT_SORT_IMAGE:
	default:
		order = strcmp(rows[a->symref].symbol.image, rows[b->symref].symbol.image);
		break;
	}
	if (!order)
		order = (a->symref > b->symref) - (a->symref < b->symref);
	return query->reverse ? -order : order;
}

static int fake_rows(struct model *model, const struct hot_query *query, const struct hot_row **out,
	size_t *n, struct hot_sums *sums)
{
	struct fake_model *fake = of(model);
	size_t count = 0;

	for (size_t i = 1; i < N_ROWS && model->status.state != ENGINE_STARTING; i++) {
		struct hot_row row = {
			.symref = (uint32_t)i,
			.self = self_of(model, i),
			.total = total_of(model, i),
			.samples = self_of(model, i) / 1000000,
			.change = i % 3 ? (double)((int)(i * 37 % 11) - 5) / 100 : 0.0,
		};
		size_t at = count;

		if ((query->hide_kernel && rows[i].symbol.kernel) || !row.total ||
			i == fake->gone_symref)
			continue;
		if (query->filter && query->filter[0] &&
			!strcasestr(rows[i].symbol.symbol, query->filter) &&
			!strcasestr(rows[i].symbol.image, query->filter))
			continue;
		for (; at > 0 && compare(&fake->shown[at - 1], &row, query) > 0; at--)
			fake->shown[at] = fake->shown[at - 1];
		fake->shown[at] = row;
		count++;
	}
	/* Clears the rows that the query does not ask for. */
	for (size_t i = query->most; query->most && i < count; i++)
		fake->shown[i] = (struct hot_row){.symref = 0};
	*out = fake->shown;
	*n = count;
	*sums = model->sums;
	return 0;
}

static const struct symref *fake_symbol(struct model *model, uint32_t symref)
{
	(void)model;
	return &rows[symref < N_ROWS ? symref : 0].symbol;
}

static void fake_cell(
	struct model *model, uint32_t symref, uint8_t event, uint64_t *self, uint64_t *total)
{
	(void)model;
	*self = part(event == 2 ? rows[symref].faults : rows[symref].self);
	*total = part(event == 2 ? rows[symref].faults : rows[symref].total);
}

static void fake_sums(struct model *model, uint8_t event, struct hot_sums *out)
{
	(void)model;
	(void)event;
	*out = (struct hot_sums){.weight = WHOLE, .samples = 20000, .span_ns = 20 * SECOND};
}

static void fake_trend(struct model *model, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND])
{
	static const uint64_t shapes[][HOT_TREND] = {
		{5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
		{3, 4, 5, 7, 8, 8, 7, 5, 4, 3},
		{1, 1, 2, 2, 3, 4, 5, 6, 7, 8},
		{8, 0, 0, 8, 0, 0, 8, 0, 0, 8},
	};

	(void)model;
	(void)event;
	memcpy(out, shapes[rows[symref].shape], sizeof(shapes[0]));
}

static const char *fake_field(struct model *model, size_t i)
{
	static const char *const names[] = {"addr", "phys_addr", "data_page", "data_symbol"};

	return model->event == 2 && i < 4 ? names[i] : NULL;
}

/* Only "data_symbol" has values. */
static const struct query_row by_field[] = {
	{.name = "BufferBlocks", .self = 50, .total = 50, .samples = 12345},
	{.name = "[anon]", .self = 30, .total = 30, .samples = 7000},
	{.name = "std::map<std::string, std::vector<unsigned long> "
		 ">::table_of_everything_that_there_is",
		.self = 15,
		.total = 15,
		.samples = 655},
	{.name = "-", .self = 5, .total = 5, .samples = 1},
};

static int fake_breakdown(struct model *model, const struct model_breakdown *question,
	struct query_row **out, size_t *n)
{
	enum query_group group = question->group;

	static const struct query_row by_process[] = {
		{.pid = 4711, .name = "postgres", .self = 30, .total = 70},
		{.pid = 4790, .name = "pg_dump", .self = 10, .total = 30},
	};
	static const struct query_row by_thread[] = {
		{.pid = 4711, .tid = 4711, .name = "postgres", .self = 20, .total = 40},
		{.pid = 4711, .tid = 4713, .name = "walwriter", .self = 10, .total = 30},
		{.pid = 4790, .tid = 4790, .name = "pg_dump", .self = 10, .total = 30},
	};
	static const struct query_row by_cpu[] = {
		{.cpu = 1, .self = 30, .total = 60},
		{.cpu = 0, .self = 10, .total = 40},
	};
	const struct query_row *from = group == GROUP_PROCESS ? by_process
		: group == GROUP_THREAD			      ? by_thread
		: group == GROUP_FIELD			      ? by_field
							      : by_cpu;

	*out = NULL;
	*n = group == GROUP_THREAD ? 3 : 2;
	if (group == GROUP_FIELD)
		*n = strcmp(question->field, "data_symbol") ? 0 : 4;
	*out = calloc(*n, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	memcpy(*out, from, *n * sizeof(**out));
	/* In the baseline, the first row has half its weight, and the last is missing.  A
	 * recorded baseline has other pids and tids. */
	if (question->baseline) {
		(*out)[0].total /= 2;
		*n -= *n > 0;
		for (size_t i = 0; model->base_recorded && i < *n; i++) {
			(*out)[i].pid += 1000;
			(*out)[i].tid += 1000;
		}
	}
	return 0;
}

static int fake_processes(struct model *model, struct proc_process **out, size_t *n)
{
	const struct fake_model *fake = of(model);
	uint64_t busy = (model->now_ns - 202 * SECOND) * 150 / SECOND;
	uint64_t less = (model->now_ns - 202 * SECOND) * 12 / SECOND;
	struct proc_process *list = malloc(sizeof(processes));

	*out = list;
	*n = 0;
	if (!list)
		return -ENOMEM;
	/* The fourth process has used one and a half CPUs since the clock started.  The fifth has
	 * used less, or more if `swapped`. */
	for (size_t i = 0; i < N_PROCESSES; i++) {
		if (processes[i].pid == fake->ended_pid)
			continue;
		list[*n] = processes[i];
		list[*n].start_ticks = processes[i].pid == fake->reused_pid ? 9999 : 1000 + i;
		if (i == 3)
			list[*n].cpu_ticks += busy;
		if (i == 4)
			list[*n].cpu_ticks += fake->swapped ? 4 * busy : less;
		(*n)++;
	}
	return 0;
}

static int fake_followed(struct model *model, int32_t **pids, size_t *n)
{
	(void)model;
	*pids = malloc(sizeof(**pids));
	if (!*pids)
		return -ENOMEM;
	(*pids)[0] = 4711;
	*n = 1;
	return 0;
}

static const char *fake_user(struct model *model, uint32_t uid)
{
	(void)model;
	return uid == 0 ? "root" : uid == 26 ? "postgres" : "ann";
}

static int command(struct model *model, const char *verb, const char *argument)
{
	struct fake_model *fake = of(model);
	size_t len = strlen(fake->commands);

	snprintf(fake->commands + len, sizeof(fake->commands) - len, "%s %s\n", verb, argument);
	return -fake->refuse;
}

static int command_number(struct model *model, const char *verb, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return command(model, verb, text);
}

static int fake_attach(struct model *model, int32_t pid)
{
	return command_number(model, "attach", (uint64_t)pid);
}

static int fake_detach(struct model *model, int32_t pid)
{
	return command_number(model, "detach", (uint64_t)pid);
}

/* Refuses a text with a %. */
static int fake_event_add(struct model *model, const char *text, struct event_error *error)
{
	const char *wrong = strchr(text, '%');

	*error = (struct event_error){.kind = EVENT_ERROR_NONE};
	if (!wrong)
		return command(model, "add", text);
	*error = (struct event_error){
		.kind = EVENT_ERROR_UNKNOWN, .offset = (size_t)(wrong - text), .near = "cycles"};
	return -EINVAL;
}

static void fake_look_cancel(struct model *model)
{
	model->looking.active = false;
	(void)command(model, "look", "cancel");
}

static int fake_event_drop(struct model *model, uint8_t event)
{
	return command_number(model, "drop", event);
}

static int fake_set_freq(struct model *model, uint8_t event, uint64_t value)
{
	(void)event;
	return command_number(model, "freq", value);
}

static int fake_set_period(struct model *model, uint8_t event, uint64_t period)
{
	(void)event;
	return command_number(model, "period", period);
}

static int fake_event_enable(struct model *model, uint8_t event, bool enable)
{
	return command_number(model, enable ? "enable" : "disable", event);
}

static int fake_set_filter(struct model *model, uint8_t event, const char *filter)
{
	(void)event;
	return command(model, "filter", filter);
}

static int fake_move_breakpoint(
	struct model *model, uint8_t event, const char *where, char *message, size_t size)
{
	(void)event;
	if (where[0] != '0') {
		snprintf(message, size, "'%s' is no address", where);
		return -EINVAL;
	}
	return command(model, "move", where);
}

static int fake_pause(struct model *model, bool pause)
{
	model->status.paused = pause;
	return command_number(model, "pause", pause);
}

static int fake_set_call_graph(struct model *model, enum engine_call_graph mode)
{
	return command(model, "call-graph", engine_call_graph_name(mode));
}

static int fake_snapshot(struct model *model)
{
	return model->status.flight_holds_s > 0 ? command_number(model, "snapshot", 1) : -EINVAL;
}

static int fake_save(struct model *model, const char *path, char *message, size_t size)
{
	struct fake_model *fake = (struct fake_model *)model;
	size_t len = strlen(fake->commands);

	if (fake->refuse) {
		snprintf(message, size, "cannot save to '%s'", path);
		return -fake->refuse;
	}
	snprintf(fake->commands + len, sizeof(fake->commands) - len, "save %s\n", path);
	model->saving = true;
	model->saving_percent = 42;
	return 0;
}

static int fake_fetch(struct model *model, uint32_t symref, char *message, size_t size)
{
	(void)symref;
	if (model->recorded) {
		snprintf(message, size, "No server is named");
		return -EDESTADDRREQ;
	}
	model->fetching.waiting = 1;
	snprintf(model->fetching.name, sizeof(model->fetching.name), "postgres");
	model->fetching.received = 12u << 20;
	model->fetching.total = 80u << 20;
	return 0;
}

static void fake_fetch_cancel(struct model *model)
{
	model->fetching.waiting = 0;
}

static int fake_export(struct model *model, const char *path, enum export_format format,
	char *message, size_t size)
{
	struct fake_model *fake = (struct fake_model *)model;
	size_t len = strlen(fake->commands);

	if (fake->refuse) {
		snprintf(message, size, "Cannot export to %s", path);
		return -fake->refuse;
	}
	snprintf(fake->commands + len, sizeof(fake->commands) - len, "export %d %s\n", (int)format,
		path);
	model->exporting = true;
	model->exporting_percent = 42;
	return 0;
}

static void fake_export_stop(struct model *model)
{
	(void)command_number(model, "export-stop", 0);
	model->exporting = false;
}

static void fake_save_stop(struct model *model)
{
	(void)command_number(model, "save-stop", 0);
	model->saving = false;
}

static const struct model_queries fake_queries = {
	.refresh = fake_refresh,
	.rows = fake_rows,
	.symbol = fake_symbol,
	.cell = fake_cell,
	.sums = fake_sums,
	.trend = fake_trend,
	.tree = fake_calls_tree,
	.busiest = fake_busiest,
	.breakdown = fake_breakdown,
	.field = fake_field,
	.lanes = fake_lanes,
	.task_state = fake_task_state,
	.heat = fake_heat,
	.processes = fake_processes,
	.followed = fake_followed,
	.user_name = fake_user,
	.code = &fake_code_ops,
	.offers = &fake_offer_ops,
	.groups = &fake_group_ops,
};

static const struct model_commands fake_commands = {
	.baseline = fake_baseline,
	.baseline_file = fake_baseline_file,
	.baseline_stop = fake_baseline_stop,
	.crumb_add = fake_crumb_add,
	.crumb_drop = fake_crumb_drop,
	.attach = fake_attach,
	.detach = fake_detach,
	.event_add = fake_event_add,
	.look_cancel = fake_look_cancel,
	.event_drop = fake_event_drop,
	.set_freq = fake_set_freq,
	.set_period = fake_set_period,
	.event_enable = fake_event_enable,
	.set_filter = fake_set_filter,
	.move_breakpoint = fake_move_breakpoint,
	.pause = fake_pause,
	.snapshot = fake_snapshot,
	.set_call_graph = fake_set_call_graph,
	.save = fake_save,
	.save_stop = fake_save_stop,
	.export_window = fake_export,
	.export_stop = fake_export_stop,
	.fetch = fake_fetch,
	.fetch_cancel = fake_fetch_cancel,
};

void fake_model_init(struct fake_model *fake)
{
	struct model *model = &fake->model;
	struct engine_status *status = &model->status;

	memset(fake, 0, sizeof(*fake));
	fake_code = (struct fake_code){.waits = false};
	fake_offers = (struct fake_offers){.unread = false};
	model->queries = &fake_queries;
	model->commands = &fake_commands;
	model->now_ns = 202 * SECOND;
	model->to_ns = model->now_ns;
	model->from_ns = model->to_ns - WINDOW_LENGTH_NS;
	snprintf(model->target, sizeof(model->target), "postgres (4711)");
	status->state = ENGINE_RUNNING;
	status->started_ns = 100 * SECOND;
	status->now_ns = model->now_ns;
	status->store.first_ns = 100 * SECOND;
	status->store.last_ns = model->now_ns;
	status->processes = 1;
	status->threads = 37;
	status->cpus = 4;
	status->n_events = 3;
	status->events[0] = (struct engine_event_status){
		.id = 1,
		.open = true,
		.enabled = true,
		.name = "cpu-clock",
		.is_clock = true,
		.freq_hz = 997,
		.samples = 101203,
		.covered = 999,
		.coverable = 1000,
	};
	status->events[1] = (struct engine_event_status){
		.id = 2,
		.open = true,
		.enabled = true,
		.name = "page-faults:u",
		.period = 1000,
		.samples = 5120,
		.lost = 12,
		.covered = 90,
		.coverable = 100,
	};
	status->events[2] = (struct engine_event_status){
		.id = 3, .open = false, .name = "cycles", .error = ENOENT, .freq_hz = 997};
	model->cost = (struct model_cost){.cpu_percent = 0.6, .memory_bytes = 11ull << 20};
	model->event = 1;
	model->max_sample_rate_hz = 25000;
	model->ticks_per_second = 100;
	model->n_activity = 102;
	for (size_t i = 0; i < model->n_activity; i++)
		model->activity[i] = ((i * 7) % 13 + (i % 30)) * SECOND / 10;
	logbook_add(&model->log, 100 * SECOND, EXPLAIN_INFO, false,
		"attached to postgres (4711), 37 threads");
	logbook_add(&model->log, 100 * SECOND, EXPLAIN_WARNING, false,
		"cycles is not available here (no hardware counters), sampling cpu-clock instead");
	logbook_add(&model->log, 161 * SECOND, EXPLAIN_INFO, true, "checkpoint complete");
	fake_refresh(model, true);
}

void fake_model_fini(struct fake_model *fake)
{
	logbook_fini(&fake->model.log);
}

void fake_model_tick(struct fake_model *fake)
{
	fake->model.now_ns += SECOND / 2;
	if (fake->model.frozen || fake->model.window.selected)
		return;
	fake->model.to_ns += SECOND / 2;
	fake->model.from_ns = fake->model.to_ns - WINDOW_LENGTH_NS;
}
