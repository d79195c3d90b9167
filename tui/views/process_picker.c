/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process_picker.c - the list of processes, like htop: the user chooses the target while sampling.
 *
 * The cursor stays on a process.  CPU shares are differences between two readings.
 */
#include "tui/base/clean.h"
#include "tui/base/format.h"
#include "tui/base/shorten.h"
#include "tui/model/commands.h"
#include "tui/model/queries.h"
#include "tui/screen/screen.h"
#include "tui/views/list_view.h"
#include "tui/views/views.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT */
#define READ_EVERY_NS 900000000u
#define WIDE_FROM 60 /* columns of the screen; user, state and threads are shown from here on */
#define CPU_FROM 32 /* columns; the share of the CPU is shown from here on */
#define READ_SOON_NS 300000000u /* time of the second reading, which gives the first shares */

enum picker_sort {
	PICKER_SORT_PID,
	PICKER_SORT_USER,
	PICKER_SORT_CPU,
	PICKER_SORT_COMMAND,
	PICKER_SORTS
};

struct entry {
	int32_t pid;
	uint64_t start_ticks, cpu_ticks;
	double cpu_percent; /* negative: not known yet */
	uint32_t threads;
	bool followed, kernel;
	char state;
	char user[24];
	char command[256]; /* cleaned */
};

struct picker {
	struct list_view table; /* list of `shown`, sorted by enum picker_sort */
	struct entry *entries;
	size_t n;
	size_t *shown; /* indices of entries */
	char selected_command[256]; /* command of the selected process, as last read */
	bool hide_kernel;
	uint64_t read_ns;
	unsigned int readings;
	int error;
};

static int compare(const struct picker *picker, const struct entry *a, const struct entry *b)
{
	int order = 0;

	switch (picker->table.sort) {
	case PICKER_SORT_USER:
		order = strcmp(a->user, b->user);
		break;
	case PICKER_SORT_CPU:
		order = (a->cpu_percent < b->cpu_percent) - (a->cpu_percent > b->cpu_percent);
		if (!order && a->cpu_percent < 0.0)
			order = (a->cpu_ticks < b->cpu_ticks) - (a->cpu_ticks > b->cpu_ticks);
		break;
	case PICKER_SORT_COMMAND:
		order = strcmp(a->command, b->command);
		break;
	case PICKER_SORT_PID:
	case PICKER_SORTS:
	default:
		break;
	}
	if (!order)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	return picker->table.reverse ? -order : order;
}

static int compare_shown(const void *a, const void *b, void *ctx)
{
	const struct picker *picker = ctx;

	return compare(
		picker, &picker->entries[*(const size_t *)a], &picker->entries[*(const size_t *)b]);
}

static bool entry_matches(const struct entry *entry, const char *text)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRId32, entry->pid);
	return views_match(entry->command, text) >= 0 || views_match(entry->user, text) >= 0 ||
		strstr(pid, text);
}

static bool passes(const struct picker *picker, const struct entry *entry)
{
	if (entry->kernel && picker->hide_kernel && !entry->followed)
		return false;
	return !picker->table.filter[0] || entry_matches(entry, picker->table.filter);
}

/* A pid is used again, but not at the same time. */
static uint64_t process_key(int32_t pid, uint64_t start_ticks)
{
	return start_ticks << PID_BITS | (uint32_t)pid;
}

static uint64_t key_of(struct view *view, struct screen *screen, size_t row)
{
	const struct picker *picker = view->state;
	const struct entry *entry = &picker->entries[picker->shown[row]];

	(void)screen;
	return process_key(entry->pid, entry->start_ticks);
}

static bool row_matches(struct view *view, struct screen *screen, size_t row, const char *text)
{
	const struct picker *picker = view->state;

	(void)screen;
	return entry_matches(&picker->entries[picker->shown[row]], text);
}

static const struct list_view_ops table_ops = {
	.key = key_of,
	.matches = row_matches,
	.sorts = PICKER_SORTS,
	.ascending = 1u << PICKER_SORT_PID | 1u << PICKER_SORT_USER | 1u << PICKER_SORT_COMMAND,
	.twice = ACT_ONLY,
	.first_sticks = true,
};

static int picker_open(struct view *view, struct screen *screen, uint32_t arg)
{
	struct picker *picker = calloc(1, sizeof(*picker));

	(void)screen;
	(void)arg;
	if (!picker)
		return -ENOMEM;
	picker->table.ops = &table_ops;
	picker->table.sort = PICKER_SORT_CPU;
	picker->hide_kernel = true;
	view->state = picker;
	return 0;
}

static void picker_close(struct view *view)
{
	struct picker *picker = view->state;

	free(picker->entries);
	free(picker->shown);
	free(picker);
}

/* Returns the selected process, as it was read last; NULL if it has ended. */
static struct entry *find_selected(const struct picker *picker)
{
	for (size_t i = 0; i < picker->n; i++) {
		struct entry *entry = &picker->entries[i];

		if (process_key(entry->pid, entry->start_ticks) == picker->table.selected)
			return entry;
	}
	return NULL;
}

static void keep_command(struct picker *picker)
{
	const struct entry *entry = find_selected(picker);

	if (entry)
		memcpy(picker->selected_command, entry->command, sizeof(entry->command));
}

static void select_rows(struct view *view, struct screen *screen)
{
	struct picker *picker = view->state;
	size_t n = 0;

	for (size_t i = 0; i < picker->n; i++) {
		if (passes(picker, &picker->entries[i]))
			picker->shown[n++] = i;
	}
	if (n)
		qsort_r(picker->shown, n, sizeof(*picker->shown), compare_shown, picker);
	list_set_count(&picker->table.list, n);
	list_view_follow(view, screen);
}

/* Returns a process's share since the last reading; -1 if unknown.  Both lists are sorted by
 * pid. */
static double cpu_percent(
	const struct picker *picker, size_t *hint, const struct proc_process *process, double ticks)
{
	while (*hint < picker->n && picker->entries[*hint].pid < process->pid)
		(*hint)++;
	if (ticks <= 0.0 || *hint >= picker->n)
		return -1.0;
	if (picker->entries[*hint].pid != process->pid ||
		picker->entries[*hint].start_ticks != process->start_ticks ||
		picker->entries[*hint].cpu_ticks > process->cpu_ticks)
		return -1.0;
	return 100.0 * (double)(process->cpu_ticks - picker->entries[*hint].cpu_ticks) / ticks;
}

static void fill(struct entry *entry, struct model *model, const struct proc_process *process)
{
	char comm[sizeof(entry->command) - 2];

	entry->pid = process->pid;
	entry->start_ticks = process->start_ticks;
	entry->cpu_ticks = process->cpu_ticks;
	entry->threads = process->threads;
	entry->state = process->state;
	entry->kernel = process->kernel_thread;
	snprintf(entry->user, sizeof(entry->user), "%s",
		model->queries->user_name(model, process->uid));
	if (process->cmdline[0]) {
		clean_string(entry->command, sizeof(entry->command), process->cmdline);
	} else {
		clean_string(comm, sizeof(comm), process->comm);
		snprintf(entry->command, sizeof(entry->command), "[%s]", comm);
	}
}

static bool contains(const int32_t *pids, size_t n, int32_t pid)
{
	for (size_t i = 0; i < n; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

static int read_processes(struct picker *picker, struct model *model)
{
	struct proc_process *processes = NULL;
	struct entry *entries = NULL;
	size_t *shown = NULL;
	size_t n = 0, hint = 0;
	double ticks = 0.0;
	int ret = model->queries->processes(model, &processes, &n);

	if (ret)
		return ret;
	if (picker->readings)
		ticks = (double)(model->now_ns - picker->read_ns) / 1e9 *
			(double)model->ticks_per_second;
	entries = calloc(n ? n : 1, sizeof(*entries));
	shown = calloc(n ? n : 1, sizeof(*shown));
	if (!entries || !shown) {
		free(entries);
		free(shown);
		free(processes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].cpu_percent = cpu_percent(picker, &hint, &processes[i], ticks);
		fill(&entries[i], model, &processes[i]);
	}
	free(processes);
	keep_command(picker);
	free(picker->entries);
	free(picker->shown);
	picker->entries = entries;
	picker->shown = shown;
	picker->n = n;
	picker->read_ns = model->now_ns;
	picker->readings++;
	return 0;
}

static void mark_followed(struct picker *picker, struct model *model)
{
	int32_t *pids = NULL;
	size_t n = 0;

	if (model->queries->followed(model, &pids, &n))
		n = 0;
	for (size_t i = 0; i < picker->n; i++)
		picker->entries[i].followed = contains(pids, n, picker->entries[i].pid);
	free(pids);
}

static void picker_refresh(struct view *view, struct screen *screen)
{
	struct picker *picker = view->state;
	struct model *model = screen->model;
	uint64_t every = picker->readings < 2 ? READ_SOON_NS : READ_EVERY_NS;

	if (!picker->readings || model->now_ns - picker->read_ns >= every)
		picker->error = read_processes(picker, model);
	mark_followed(picker, model);
	select_rows(view, screen);
}

/* Detaches all followed processes except pid. */
static int detach_others(struct model *model, int32_t pid)
{
	int32_t *pids = NULL;
	size_t n = 0;
	int ret = model->queries->followed(model, &pids, &n);

	for (size_t i = 0; !ret && i < n; i++) {
		if (pids[i] != pid)
			ret = model->commands->detach(model, pids[i]);
	}
	free(pids);
	return ret;
}

/* Returns the entry that the user saw under the cursor.  If its process is gone, shows a message
 * and returns NULL. */
static struct entry *selected_entry(struct picker *picker, struct screen *screen)
{
	struct model *model = screen->model;
	struct proc_process *processes = NULL;
	char command[SHORTEN_MAX];
	size_t n = 0;
	bool alive = false;

	if (!picker->table.list.n)
		return NULL;
	keep_command(picker);
	if (!model->queries->processes(model, &processes, &n)) {
		for (size_t i = 0; i < n; i++)
			alive |= process_key(processes[i].pid, processes[i].start_ticks) ==
				picker->table.selected;
		free(processes);
	}
	if (alive && !picker->table.list.lost && find_selected(picker))
		return find_selected(picker);
	list_stick(&picker->table.list, -1);
	screen_message(screen, STYLE_WARN, "Process %" PRId32 " (%s) %s: choose another",
		(int32_t)(picker->table.selected & ((1u << PID_BITS) - 1)),
		shorten_command(command, picker->selected_command, 40),
		alive ? "does not match any more" : "has ended");
	return NULL;
}

static unsigned int follow_only(struct picker *picker, struct screen *screen)
{
	const struct entry *entry = selected_entry(picker, screen);
	struct model *model = screen->model;
	int ret = 0;

	if (!entry)
		return VIEW_HANDLED;
	/* Attach first: an engine without targets ends. */
	if (!entry->followed)
		ret = model->commands->attach(model, entry->pid);
	if (!ret)
		ret = detach_others(model, entry->pid);
	/* Hide samples of the processes that were followed before. */
	model->zero_ns = model->to_ns;
	screen_message(screen, STYLE_GOOD, "Only %" PRId32 " (%.200s) from now on", entry->pid,
		entry->command);
	screen_result(screen, ret, "It cannot be followed");
	return ret ? VIEW_HANDLED : VIEW_HANDLED | VIEW_CLOSE | VIEW_SETTINGS;
}

static unsigned int follow(struct picker *picker, struct screen *screen, enum action action)
{
	struct entry *entry = selected_entry(picker, screen);
	struct model *model = screen->model;
	bool add;
	int ret;

	if (!entry)
		return VIEW_HANDLED;
	add = action == ACT_ADD || (action == ACT_TOGGLE && !entry->followed);
	if (add)
		ret = model->commands->attach(model, entry->pid);
	else
		ret = model->commands->detach(model, entry->pid);
	screen_result(screen, ret, add ? "It cannot be followed" : "It cannot be let go");
	/* Shown at once; the next reading shows the real result. */
	if (!ret)
		entry->followed = add;
	return VIEW_HANDLED;
}

static unsigned int picker_action(struct view *view, struct screen *screen, enum action action)
{
	struct picker *picker = view->state;

	switch (action) {
	case ACT_ONLY:
		return follow_only(picker, screen);
	case ACT_ADD:
	case ACT_DROP:
	case ACT_TOGGLE:
		return follow(picker, screen, action);
	case ACT_KERNEL:
		picker->hide_kernel = !picker->hide_kernel;
		return list_view_changed(view, screen);
	default:
		return list_view_action(view, screen, action);
	}
}

struct drawing {
	const struct picker *picker;
	struct canvas *canvas;
	int width;
};

static void draw_row(void *ctx, size_t at, int y)
{
	const struct drawing *drawing = ctx;
	const struct picker *picker = drawing->picker;
	const struct entry *entry = &picker->entries[picker->shown[at]];
	struct canvas *canvas = drawing->canvas;
	bool wide = drawing->width >= WIDE_FROM;
	enum style style = entry->kernel ? STYLE_KERNEL : STYLE_USER;
	char command[SHORTEN_MAX];
	int x = 4;

	if (entry->followed)
		canvas_glyph(canvas, 1, y, 0x25cf, STYLE_GOOD);
	canvas_printf(canvas, x, y, 7, STYLE_TEXT, "%7" PRId32, entry->pid);
	x += 9;
	if (wide) {
		canvas_text(canvas, x, y, 10, STYLE_DIM, entry->user);
		x += 12;
	}
	if (drawing->width >= CPU_FROM) {
		if (entry->cpu_percent < 0.0)
			canvas_text(canvas, x + 5, y, 1, STYLE_DIM, "-");
		else
			canvas_printf(canvas, x, y, 6,
				views_number_style(entry->cpu_percent / 100.0), "%6.1f",
				entry->cpu_percent);
		x += 8;
	}
	if (wide) {
		canvas_glyph(canvas, x, y, (uint32_t)entry->state,
			entry->state == 'R' ? STYLE_GOOD : STYLE_DIM);
		canvas_printf(canvas, x + 2, y, 5, STYLE_TEXT, "%5" PRIu32, entry->threads);
		x += 9;
	}
	views_text(canvas, x, y, drawing->width - x - 1, style,
		shorten_command(command, entry->command, drawing->width - x - 1),
		picker->table.search);
}

static void draw_heads(struct list_view *table, struct canvas *canvas, int width)
{
	bool wide = width >= WIDE_FROM;
	int x = 4;

	list_view_head(table, canvas, x, 7, "PID", PICKER_SORT_PID, true);
	x += 9;
	if (wide) {
		list_view_head(table, canvas, x, 10, "USER", PICKER_SORT_USER, false);
		x += 12;
	}
	if (width >= CPU_FROM) {
		list_view_head(table, canvas, x, 6, "CPU%", PICKER_SORT_CPU, true);
		x += 8;
	}
	if (wide) {
		list_view_head(table, canvas, x, 7, "S   THR", -1, false);
		x += 9;
	}
	list_view_head(table, canvas, x, width - x, "COMMAND", PICKER_SORT_COMMAND, false);
}

static void picker_draw(struct view *view, struct screen *screen, struct area area)
{
	struct picker *picker = view->state;
	struct canvas *canvas = &screen->canvas;
	struct drawing drawing = {picker, canvas, area.width};

	area = views_title(canvas, area, "Processes");
	if (list_view_heads(&picker->table, &area, 4))
		draw_heads(&picker->table, canvas, area.width);
	if (!picker->table.list.n)
		canvas_text(canvas, 2, area.y, area.width - 3, STYLE_DIM,
			picker->error ? "/proc cannot be read" : "No process matches");
	list_view_draw(view, screen, area, draw_row, &drawing);
	/* With shares of the CPU, the order is known, and the cursor stays. */
	picker->table.moved |= picker->readings > 1;
}

const struct view_ops view_processes = {
	.keys = KEYS_PROCESSES,
	.open = picker_open,
	.action = picker_action,
	.prompt = list_view_prompt,
	.click = list_view_click,
	.refresh = picker_refresh,
	.draw = picker_draw,
	.tags = list_view_tags,
	.close = picker_close,
};
