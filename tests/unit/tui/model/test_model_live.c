/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_model_live.c - exports, a recorded baseline, lanes and heat of a random recording.
 *
 * All are compared with the store of the recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/model_fixture.h"
#include "tests/unit/scratch.h"
#include "tui/names/private.h"
#include "tui/session/export_format.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#define TEXT_MAX 4096
#define LINES_MAX 512
#define TRIES 200

/* weights by text */
struct sums {
	struct {
		char text[TEXT_MAX];
		uint64_t weight;
	} at[LINES_MAX];
	size_t n;
};

static uint64_t *sum_of(struct sums *sums, const char *text)
{
	for (size_t i = 0; i < sums->n; i++)
		if (!strcmp(sums->at[i].text, text))
			return &sums->at[i].weight;
	assert_true(sums->n < LINES_MAX);
	snprintf(sums->at[sums->n].text, TEXT_MAX, "%s", text);
	sums->at[sums->n].weight = 0;
	return &sums->at[sums->n++].weight;
}

/* Returns the name of a frame. An export shows the image of code without a symbol, but not of the
 * placeholder for unknown callers. */
static const char *name_of(const struct session *session, uint32_t frame, bool exported)
{
	const struct symref *symref =
		names_get(session->names, names_symref(session->names, frame));

	return exported && !symref->resolved ? "[program]" : symref->symbol;
}

/* Writes a folded stack: the command, then the frames, outermost first. An export shows the image
 * of a frame without a symbol, and all frames here lack one. */
static void folded_text(
	const struct session *session, uint32_t node, uint32_t task, bool exported, char *out)
{
	const struct stacks *stacks = session_stacks(session);
	uint32_t path[64], n = 0;
	size_t len;

	len = (size_t)snprintf(
		out, TEXT_MAX, "%s", tasks_label_get(session_tasks(session), task)->comm);
	for (; node != STACK_ROOT; node = stacks_node(stacks, node)->parent)
		path[n++] = stacks_node(stacks, node)->frame;
	for (; n; n--)
		len += (size_t)snprintf(
			out + len, TEXT_MAX - len, ";%s", name_of(session, path[n - 1], exported));
}

/* Sums the store of a session in [from_ns, to_ns), for one event and one command (all if NULL). */
static void sum_store(struct sums *sums, const struct session *session, uint8_t event,
	uint64_t from_ns, uint64_t to_ns, const char *comm, bool exported)
{
	struct snapshot snapshot;

	sums->n = 0;
	assert_int_equal(store_snapshot(session_store(session), from_ns, to_ns, &snapshot), 0);
	for (size_t s = 0; s < snapshot.n; s++) {
		const struct slice *slice = snapshot.slices[s];

		for (uint32_t i = 0; slice_is_in(slice, from_ns, to_ns) && i < slice->cells; i++) {
			const struct task_label *label =
				tasks_label_get(session_tasks(session), slice->task[i]);
			char text[TEXT_MAX];

			if (slice->event[i] != event || (comm && strcmp(label->comm, comm) != 0))
				continue;
			folded_text(session, slice->stack[i], slice->task[i], exported, text);
			*sum_of(sums, text) += slice->weight[i];
		}
	}
	snapshot_release(session_store(session), &snapshot);
}

static uint64_t total_of(const struct sums *sums)
{
	uint64_t total = 0;

	for (size_t i = 0; i < sums->n; i++)
		total += sums->at[i].weight;
	return total;
}

static void add_crumb(struct model *model, const char *term)
{
	char message[200] = "";
	size_t at;

	if (model->commands->crumb_add(model, term, &at, message, sizeof(message)))
		fail_msg("%s: %s", term, message);
}

/* Selects a time, in ns from the start of the window. */
static void select_time(struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	const struct window_view view = model_window_view(model);

	window_select(&model->window, &view, model->from_ns + from_ns, model->from_ns + to_ns);
}

/* Narrows the window in steps: all of it, one second, then one command. */
static void narrow(struct model *model, int step)
{
	if (step == 1)
		select_time(model, 500000000, 1500000000);
	if (step == 2)
		add_crumb(model, "comm:worker");
}

/* --- exports --- */

static void wait_for_export(struct model_fixture *fixture)
{
	while (fixture->model->exporting) {
		model_fixture_pause();
		model_fixture_refresh(fixture);
	}
}

static void begin_export(struct model_fixture *fixture, const char *path, enum export_format format)
{
	char message[400] = "";

	if (fixture->model->commands->export_window(
		    fixture->model, path, format, message, sizeof(message)))
		fail_msg("%s", message);
}

static void export_to(struct model_fixture *fixture, const char *path, enum export_format format)
{
	begin_export(fixture, path, format);
	wait_for_export(fixture);
}

static void read_folded(const char *path, struct sums *sums)
{
	FILE *in = fopen(path, "re");
	char line[TEXT_MAX];

	assert_non_null(in);
	sums->n = 0;
	while (fgets(line, sizeof(line), in)) {
		char *blank = strrchr(line, ' ');

		assert_non_null(blank);
		*blank = '\0';
		*sum_of(sums, line) += strtoull(blank + 1, NULL, 10);
	}
	fclose(in);
}

/* Reads a folded file and sums its weights by command. */
static void read_commands(const char *path, struct sums *sums)
{
	static struct sums stacks;

	read_folded(path, &stacks);
	sums->n = 0;
	for (size_t i = 0; i < stacks.n; i++) {
		char *end = strchr(stacks.at[i].text, ';');

		if (end)
			*end = '\0';
		*sum_of(sums, stacks.at[i].text) += stacks.at[i].weight;
	}
}

/* Reads a perf script: a sample's first line is not indented, a stack follows, and times do not
 * decrease. */
static void read_script(const char *path, const struct model *model, struct sums *sums)
{
	FILE *in = fopen(path, "re");
	uint64_t last_us = 0;
	char line[TEXT_MAX];
	bool in_stack = false, is_call = false;

	assert_non_null(in);
	sums->n = 0;
	while (fgets(line, sizeof(line), in)) {
		unsigned long long s, us, period;
		char comm[32];
		int cpu, tid;

		if (line[0] == '\t' || line[0] == '\n') {
			assert_true(in_stack);
			in_stack = line[0] == '\t';
			/* Functions are 16 bytes apart. For callers, the line has the return
			 * address. */
			if (in_stack && !strstr(line, "[truncated]"))
				assert_int_equal(strtoull(line, NULL, 16) % 16, is_call);
			is_call = true;
			continue;
		}
		assert_false(in_stack);
		in_stack = true;
		is_call = false;
		assert_int_equal(sscanf(line, "%31s %d [%d] %llu.%llu: %llu ", comm, &tid, &cpu, &s,
					 &us, &period),
			6);
		us += s * 1000000;
		assert_true(us >= last_us && us >= model->from_ns / 1000 - 100000);
		assert_true(us <= model->to_ns / 1000 + 100000);
		last_us = us;
		*sum_of(sums, comm) += period;
	}
	assert_false(in_stack);
	fclose(in);
}

static void assert_same(struct sums *a, struct sums *b)
{
	assert_true(a->n > 0);
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		if (*sum_of(b, a->at[i].text) != a->at[i].weight)
			fail_msg("%s differs", a->at[i].text);
}

/* Clocks have weights in ns, page faults their number. */
static void test_exports_what_is_shown(void **state)
{
	static struct sums sums, file;
	struct model_fixture fixture;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/out", scratch);
	model_fixture_open(&fixture, 1, 24);
	for (int step = 0; step < 3; step++) {
		struct model *model = fixture.model;

		if (step == 1) {
			select_time(model, 700000000, 2300000000);
			model->queries->refresh(model, false);
		} else if (step == 2) {
			add_crumb(model, "comm:worker");
			model->queries->refresh(model, false);
		}
		sum_store(&sums, &fixture.session, model->event, model->from_ns, model->to_ns,
			step == 2 ? "worker" : NULL, true);
		export_to(&fixture, path, EXPORT_FOLDED);
		assert_non_null(strstr(model_fixture_said(&fixture), "Exported to"));
		read_folded(path, &file);
		assert_same(&sums, &file);
		read_commands(path, &sums);
		export_to(&fixture, path, EXPORT_SCRIPT);
		read_script(path, model, &file);
		assert_same(&sums, &file);
	}
	/* The other formats give a file with contents, too. */
	for (int format = 0; format < EXPORT_FORMATS; format++) {
		struct stat about;

		export_to(&fixture, path, (enum export_format)format);
		assert_int_equal(stat(path, &about), 0);
		assert_true(about.st_size > 100);
	}
	unlink(path);
	model_fixture_close(&fixture);
}

static void test_exports_that_fail(void **state)
{
	struct model_fixture fixture;
	char path[64], message[400];

	(void)state;
	model_fixture_open(&fixture, 2, 24);
	export_to(&fixture, "/nonexistent-folder/out", EXPORT_SVG);
	assert_non_null(strstr(model_fixture_said(&fixture), "No such file"));
	export_to(&fixture, "/dev/full", EXPORT_SVG);
	assert_non_null(strstr(model_fixture_said(&fixture), "No space left"));
	snprintf(path, sizeof(path), "%s/fifo", scratch);
	assert_int_equal(mkfifo(path, 0600), 0);
	export_to(&fixture, path, EXPORT_SVG);
	assert_non_null(strstr(model_fixture_said(&fixture), "is no file"));
	unlink(path);
	add_crumb(fixture.model, "comm:nobody");
	fixture.model->queries->refresh(fixture.model, false);
	assert_int_equal(fixture.model->commands->export_window(
				 fixture.model, path, EXPORT_FOLDED, message, sizeof(message)),
		-ENODATA);
	assert_non_null(strstr(message, "has no samples"));
	assert_int_equal(access(path, F_OK), -1);
	model_fixture_close(&fixture);
}

/* If an export would leave out all samples, there are none to export. */
static void test_exports_of_idle_alone(void **state)
{
	struct model_fixture fixture;
	char path[64], message[400];

	(void)state;
	snprintf(path, sizeof(path), "%s/idle", scratch);
	model_fixture_open_as(&fixture, 2, 24, 0, "make");
	add_crumb(fixture.model, "pid:0");
	fixture.model->queries->refresh(fixture.model, false);
	export_to(&fixture, path, EXPORT_FOLDED);
	assert_int_equal(unlink(path), 0);
	fixture.model->hide_idle = true;
	fixture.session.limits.pid_namespace = false; /* pid 0 is idle */
	assert_int_equal(fixture.model->commands->export_window(
				 fixture.model, path, EXPORT_FOLDED, message, sizeof(message)),
		-ENODATA);
	assert_non_null(strstr(message, "has no samples"));
	assert_int_equal(access(path, F_OK), -1);
	model_fixture_close(&fixture);
}

/* An export that is stopped in time leaves no file. Otherwise the file is complete. */
static void test_exports_stop(void **state)
{
	struct model_fixture fixture;
	int stopped = 0;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/out", scratch);
	model_fixture_open(&fixture, 3, 24);
	for (int i = 0; i < TRIES && !stopped; i++) {
		begin_export(&fixture, path, EXPORT_SPEEDSCOPE);
		fixture.model->commands->export_stop(fixture.model);
		wait_for_export(&fixture);
		if (strstr(model_fixture_said(&fixture), "stopped")) {
			assert_int_equal(access(path, F_OK), -1);
			stopped++;
		}
		unlink(path);
	}
	assert_int_equal(stopped, 1);
	/* Closing the screen does not wait for an export. */
	begin_export(&fixture, path, EXPORT_SVG);
	model_fixture_close(&fixture);
	unlink(path);
}

/* --- a recording as the baseline --- */

static void begin_baseline(struct model_fixture *fixture, const char *path)
{
	char message[400] = "";

	if (fixture->model->commands->baseline_file(fixture->model, path, message, sizeof(message)))
		fail_msg("%s", message);
}

/* Returns the share of a symbol as the leaf. */
static double share_of(const struct sums *sums, const char *symbol)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < sums->n; i++) {
		const char *leaf = strrchr(sums->at[i].text, ';');

		if (leaf && !strcmp(leaf + 1, symbol))
			weight += sums->at[i].weight;
	}
	return (double)weight / (double)total_of(sums);
}

static void compare_rows(struct model_fixture *fixture, const struct sums *own,
	const struct sums *base, bool expect_gone)
{
	const struct hot_query query = {.event = fixture->model->event};
	struct model *model = fixture->model;
	const struct hot_row *rows;
	struct hot_sums sums;
	size_t n, gone = 0;

	assert_int_equal(model->queries->rows(model, &query, &rows, &n, &sums), 0);
	assert_true(n > 5);
	for (size_t i = 0; i < n; i++) {
		const char *symbol = model->queries->symbol(model, rows[i].symref)->symbol;
		double change = share_of(own, symbol) - share_of(base, symbol);

		gone += !rows[i].total;
		if (fabs(change - rows[i].change) > 1e-9)
			fail_msg("%s: %f, not %f", symbol, rows[i].change, change);
	}
	assert_true(!expect_gone || gone > 0);
}

/* Compares the base weights of a tree's paths with `base`, without commands. */
static void compare_tree(struct model_fixture *fixture, const struct sums *base)
{
	const struct calltree_query query = {
		.kind = CALLTREE_ROOTS, .event = fixture->model->event};
	struct model *model = fixture->model;
	struct calltree tree = {0};
	uint64_t self = 0;

	assert_int_equal(model->queries->tree(model, &query, &tree), 0);
	assert_int_equal(tree.nodes[0].base.total, total_of(base));
	for (uint32_t i = 1; i < tree.n; i++) {
		char text[TEXT_MAX] = "", longer[TEXT_MAX];
		uint64_t weight = 0;

		for (uint32_t at = i; at; at = tree.nodes[at].parent) {
			snprintf(longer, sizeof(longer), ";%s%.3900s",
				model->queries->symbol(model, tree.nodes[at].symref)->symbol, text);
			memcpy(text, longer, sizeof(text));
		}
		for (size_t k = 0; k < base->n; k++)
			if (!strcmp(strchr(base->at[k].text, ';'), text))
				weight += base->at[k].weight;
		if (tree.nodes[i].base.self != weight)
			fail_msg("%s: %llu, not %llu", text,
				(unsigned long long)tree.nodes[i].base.self,
				(unsigned long long)weight);
		self += tree.nodes[i].base.self;
	}
	assert_int_equal(self, total_of(base));
	calltree_fini(&tree);
}

static void test_recorded_baseline(void **state)
{
	static const char *const events[] = {"cpu-clock", "page-faults"};
	static struct sums own, base;
	struct model_fixture fixture, other;
	struct model *model;

	(void)state;
	model_fixture_open(&fixture, 4, 12);
	model_fixture_open(&other, 5, 24);
	model = fixture.model;
	model_fixture_compare(&fixture, other.path);
	assert_true(model->has_baseline && model->base_recorded);
	assert_non_null(strstr(model_fixture_said(&fixture), "is the baseline"));
	for (int filtered = 0; filtered < 2; filtered++) {
		const char *comm = filtered ? "server" : NULL;

		if (filtered)
			add_crumb(model, "comm:server");
		for (int i = 0; i < 2; i++) {
			model->event = model_fixture_event(&fixture, events[i]);
			model_fixture_refresh(&fixture);
			sum_store(&own, &fixture.session, model->event, 0, UINT64_MAX, comm, false);
			sum_store(&base, &other.session, model_fixture_event(&other, events[i]), 0,
				UINT64_MAX, comm, false);
			compare_rows(&fixture, &own, &base, !filtered);
			compare_tree(&fixture, &base);
			assert_false(model->base_empty);
		}
	}
	/* An empty baseline is recognized. */
	add_crumb(model, "comm:nobody");
	model_fixture_refresh(&fixture);
	assert_true(model->base_empty);
	model->commands->crumb_drop(model, model->n_crumbs - 1);
	model_fixture_refresh(&fixture);
	assert_false(model->base_empty);
	/* A file that cannot be read leaves the baseline unchanged. A time replaces it. */
	model_fixture_compare(&fixture, "/nonexistent.data");
	assert_non_null(strstr(model_fixture_said(&fixture), "No other baseline"));
	assert_true(model->has_baseline && model->base_recorded);
	assert_int_equal(model->commands->baseline(model, false), 0);
	assert_false(model->has_baseline);
	assert_int_equal(model->commands->baseline(model, true), 0);
	assert_false(model->base_recorded);
	model_fixture_refresh(&fixture);
	sum_store(&own, &fixture.session, model->event, 0, UINT64_MAX, "server", false);
	compare_rows(&fixture, &own, &own, false);
	model_fixture_close(&other);
	model_fixture_close(&fixture);
}

/* A tree is rebuilt only after a change. */
static void test_tree_stays(void **state)
{
	const struct calltree_query query = {.kind = CALLTREE_ROOTS};
	struct model_fixture fixture;
	struct calltree tree = {0};
	char message[200];
	uint64_t serial;
	size_t at;

	(void)state;
	model_fixture_open(&fixture, 4, 12);
	/* New names rebuild the tree. */
	(void)names_wait(fixture.session.names, 10000);
	for (int i = 0; i < 4; i++) {
		struct model *model = fixture.model;

		if (i == 1)
			assert_int_equal(model->commands->crumb_add(model, "comm:server", &at,
						 message, sizeof(message)),
				0);
		else if (i == 2)
			assert_int_equal(model->commands->baseline(model, true), 0);
		else if (i == 3)
			model->window = (struct window){.selected = true,
				.from_ns = model->from_ns,
				.to_ns = (model->from_ns + model->to_ns) / 2};
		model_fixture_refresh(&fixture);
		serial = tree.serial;
		assert_int_equal(model->queries->tree(model, &query, &tree), 0);
		assert_int_not_equal(tree.serial, serial);
		assert_true(tree.n > 1 && tree.nodes[1].sums.samples != UINT64_MAX);
		tree.nodes[1].sums.samples =
			UINT64_MAX; /* a rebuilt tree would have another number */
		model_fixture_refresh(&fixture);
		assert_int_equal(model->queries->tree(model, &query, &tree), 0);
		assert_int_equal(tree.nodes[1].sums.samples, UINT64_MAX);
	}
	calltree_fini(&tree);
	model_fixture_close(&fixture);
}

/* The data for trees is kept for all events. A tree has the event that was asked for. */
static void test_tree_of_each_event(void **state)
{
	static const char *const names[] = {"cpu-clock", "page-faults", "cpu-clock"};
	struct calltree trees[3] = {0};
	struct model_fixture fixture;

	(void)state;
	model_fixture_open(&fixture, 4, 12);
	for (size_t i = 0; i < 3; i++) {
		const struct calltree_query query = {
			.kind = CALLTREE_ROOTS, .event = model_fixture_event(&fixture, names[i])};
		struct hot_sums sums;

		assert_int_equal(fixture.model->queries->tree(fixture.model, &query, &trees[i]), 0);
		fixture.model->queries->sums(fixture.model, query.event, &sums);
		assert_int_equal(trees[i].serial, trees[0].serial);
		assert_int_equal(trees[i].nodes[0].sums.total, sums.weight);
		assert_int_equal(trees[i].nodes[0].sums.samples, sums.samples);
	}
	assert_int_not_equal(trees[0].nodes[0].sums.total, trees[1].nodes[0].sums.total);
	for (size_t i = 0; i < 3; i++)
		calltree_fini(&trees[i]);
	model_fixture_close(&fixture);
}

/* Reading stops at any moment, also when the screen closes. */
static void test_reading_is_given_up(void **state)
{
	struct model_fixture fixture;

	(void)state;
	model_fixture_open(&fixture, 6, 24);
	for (int i = 0; i < 8; i++) {
		begin_baseline(&fixture, fixture.path);
		for (int k = 0; k < i; k++)
			model_fixture_refresh(&fixture);
		fixture.model->commands->baseline_stop(fixture.model);
		assert_false(fixture.model->base_reading.active);
	}
	begin_baseline(&fixture, fixture.path);
	model_fixture_close(&fixture);
}

/* --- lanes and heat --- */

static void test_lanes(void **state)
{
	static const enum query_group groups[] = {
		GROUP_THREAD, GROUP_PROCESS, GROUP_COMMAND, GROUP_CPU};
	struct model_fixture fixture;
	const struct lanes *lanes, *again;
	struct model *model;

	(void)state;
	model_fixture_open(&fixture, 7, 24);
	model = fixture.model;
	for (int step = 0; step < 5; step++) {
		narrow(model, step);
		if (step == 3)
			add_crumb(model, "cpu:0-1");
		if (step == 4)
			model->event = model_fixture_event(&fixture, "page-faults");
		model->queries->refresh(model, false);
		for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
			/* Each step first asks for the last group of the previous step, now with
			 * another filter. */
			const enum query_group group = groups[step % 2 ? 3 - i : i];
			uint64_t weight = 0, columns = 0;

			assert_int_equal(model->queries->lanes(model, group, 20, &lanes), 0);
			for (uint32_t k = 0; k < lanes->n; k++) {
				weight += lanes->lane[k].weight;
				for (size_t c = 0; c < 20; c++)
					columns += lanes->lane[k].columns[c];
				assert_int_equal(lanes->lane[k].base, 0);
			}
			assert_true(weight > 0);
			assert_int_equal(weight, model->sums.weight);
			assert_int_equal(columns, weight);
			assert_true(
				lanes->from_ns == model->from_ns && lanes->to_ns == model->to_ns);
			/* Without a change, the lanes are reused. */
			assert_int_equal(model->queries->lanes(model, group, 20, &again), 0);
			assert_ptr_equal(again->lane, lanes->lane);
		}
	}
	/* Compared with itself nothing changes, also when the baseline is set and removed. */
	assert_int_equal(model->queries->lanes(model, GROUP_THREAD, 20, &lanes), 0);
	assert_int_equal(lanes->base_ns, 0);
	assert_int_equal(model->commands->baseline(model, true), 0);
	model->queries->refresh(model, false);
	assert_int_equal(model->queries->lanes(model, GROUP_THREAD, 20, &lanes), 0);
	assert_int_equal(lanes->base_ns, model->to_ns - model->from_ns);
	assert_int_equal(lanes->base_whole, model->sums.weight);
	for (uint32_t k = 0; k < lanes->n; k++)
		assert_int_equal(lanes->lane[k].base, lanes->lane[k].weight);
	assert_int_equal(model->commands->baseline(model, false), 0);
	assert_int_equal(model->queries->lanes(model, GROUP_THREAD, 20, &lanes), 0);
	assert_int_equal(lanes->base_ns, 0);
	model_fixture_close(&fixture);
}

/* Rows with other keys than symbols follow the window, filter and event. Compared with one time,
 * they have no changes. */
static void test_other_rows(void **state)
{
	static const enum query_group groups[] = {GROUP_IMAGE, GROUP_ADDRESS, GROUP_LINE,
		GROUP_PROCESS, GROUP_THREAD, GROUP_COMMAND, GROUP_CPU};
	struct model_fixture fixture;
	const struct hot_row *rows;
	char term[512];
	struct hot_sums sums;
	struct model *model;
	size_t n;

	(void)state;
	model_fixture_open(&fixture, 7, 24);
	model = fixture.model;
	for (int step = 0; step < 5; step++) {
		narrow(model, step);
		if (step == 3)
			model->event = model_fixture_event(&fixture, "page-faults");
		if (step == 4)
			assert_int_equal(model->commands->baseline(model, true), 0);
		model->queries->refresh(model, false);
		for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
			const struct group_by by = {.group = groups[i]};
			const struct hot_query query = {.event = model->event};
			uint64_t weight = 0, self, total;

			assert_int_equal(
				model->queries->groups->rows(model, &by, &query, &rows, &n, &sums),
				0);
			assert_int_equal(sums.weight, model->sums.weight);
			for (size_t k = 0; k < n; k++) {
				weight += rows[k].self;
				assert_true(rows[k].change == 0.0);
				model->queries->groups->cell(
					model, rows[k].symref, model->event, &self, &total);
				assert_true(self == rows[k].self && total == rows[k].total);
				assert_true(model->queries->groups->key(model, rows[k].symref)
						    ->name.symbol[0]);
				assert_true(model->queries->groups->term(
					model, rows[k].symref, false, term, sizeof(term)));
			}
			assert_true(weight > 0);
			assert_int_equal(weight, model->sums.weight);
		}
	}
	/* Rows of one kind: those of another filter are not reused. */
	for (int step = 0; step < 2; step++) {
		const struct group_by by = {.group = GROUP_THREAD};
		const struct hot_query query = {.event = model->event};

		assert_int_equal(
			model->queries->groups->rows(model, &by, &query, &rows, &n, &sums), 0);
		assert_int_equal(sums.weight, model->sums.weight);
		model->commands->crumb_drop(model, 0);
		model->queries->refresh(model, false);
		assert_true(step || model->sums.weight != sums.weight);
	}
	model_fixture_close(&fixture);
}

/* Seconds equal those of a fresh question, for any remembered ones. */
static void test_heat(void **state)
{
	static const struct {
		int from_s;
		size_t seconds;
	} questions[] = {{0, 4}, {1, 4}, {2, 6}, {0, 3}, {-2, 9}, {5, 2}, {5, 2}, {20, 3}, {0, 8}};
	struct model_fixture fixture;
	struct model *model;

	(void)state;
	model_fixture_open(&fixture, 8, 24);
	model = fixture.model;
	for (int filtered = 0; filtered < 2; filtered++) {
		uint64_t first_s = model->status.store.first_ns / 1000000000;

		for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
			uint64_t from_ns =
				(first_s + (uint64_t)(int64_t)questions[i].from_s) * 1000000000;
			struct heat fresh = {.cells = NULL};
			const uint64_t *cells, *expected;
			double sum = 0;

			assert_int_equal(
				model->queries->heat(model, from_ns, questions[i].seconds, &cells),
				0);
			assert_int_equal(heat_get(&fresh, model, &fixture.session,
						 fixture.live->crumbs.filter, from_ns,
						 questions[i].seconds, &expected),
				0);
			assert_memory_equal(
				cells, expected, questions[i].seconds * HEAT_ROWS * sizeof(*cells));
			for (size_t k = 0; k < questions[i].seconds * HEAT_ROWS; k++)
				sum += (double)cells[k] / HEAT_ROWS;
			/* A range with all samples has their whole weight. */
			if (questions[i].from_s == -2)
				assert_true(fabs(sum - (double)model->sums.weight) <
					(double)model->sums.weight / 1000);
			heat_fini(&fresh);
		}
		add_crumb(model, "comm:make");
		model->queries->refresh(model, false);
	}
	model_fixture_close(&fixture);
}

/* In a pid namespace names decide which samples are idle, so results before new kernel names are
 * outdated.  A changed result shows whether it is computed again. */
static void test_names_of_the_idle_loop(void **state)
{
	struct model_fixture fixture;
	struct activity activity = {.n = 0};
	struct heat heat = {.cells = NULL};
	struct model *model;
	const uint64_t *cells;
	uint64_t from_ns, cell, column;

	(void)state;
	model_fixture_open(&fixture, 9, 24);
	model = fixture.model;
	from_ns = model->status.store.first_ns;
	for (int hidden = 0; hidden < 2; hidden++) {
		model->hide_idle = fixture.session.limits.pid_namespace = hidden;
		assert_int_equal(
			heat_get(&heat, model, &fixture.session, NULL, from_ns, 2, &cells), 0);
		assert_int_equal(activity_update(&activity, model, &fixture.session, NULL), 0);
		cell = heat.cells[0]++;
		column = model->activity[0]++;
		fixture.session.names->kernel_epoch++;
		assert_int_equal(
			heat_get(&heat, model, &fixture.session, NULL, from_ns, 2, &cells), 0);
		assert_int_equal(activity_update(&activity, model, &fixture.session, NULL), 0);
		assert_int_equal(cells[0], hidden ? cell : cell + 1);
		assert_int_equal(model->activity[0], hidden ? column : column + 1);
	}
	heat_fini(&heat);
	model_fixture_close(&fixture);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exports_what_is_shown),
		cmocka_unit_test(test_exports_that_fail),
		cmocka_unit_test(test_exports_of_idle_alone),
		cmocka_unit_test(test_exports_stop),
		cmocka_unit_test(test_recorded_baseline),
		cmocka_unit_test(test_tree_stays),
		cmocka_unit_test(test_tree_of_each_event),
		cmocka_unit_test(test_reading_is_given_up),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_other_rows),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_names_of_the_idle_loop),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
