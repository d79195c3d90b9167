/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - all data for a frame of the screen, and its settings.
 *
 * Views use only the model, its queries (queries.h) and commands (commands.h), neither engine nor
 * symbols.  A session fills the model (live.h);
 * tests of the screen use fixed data.  UI thread.
 */
#ifndef TUI_MODEL_MODEL_H
#define TUI_MODEL_MODEL_H

#include "sampler/control/config.h"
#include "sampler/control/status.h"
#include "tui/annotate/annotate.h"
#include "tui/model/logbook.h"
#include "tui/model/marks.h"
#include "tui/model/window.h"
#include "tui/query/query.h"
#include "tui/query/rates.h"
#include "tui/session/memory.h"
#include "tui/tables/groups.h"
#include "tui/tables/hot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_LATE_NS 1000000000ull /* samples arrive within this time */
#define MODEL_COLUMN_NS 1000000000ull /* smallest width of a column in the activity strip */
#define MODEL_COLUMNS 256
#define MODEL_CRUMBS_MAX 8
#define MODEL_CRUMB_MAX 128

struct model;
struct model_commands;
struct model_queries;

/* Cost of strobe itself, over all its processes. */
struct model_cost {
	double cpu_percent; /* percent of one CPU in about the last second; < 0: not known yet */
	uint64_t memory_bytes;
	double instructions_per_s; /* this process only; <= 0: unknown */
	char memory[MEMORY_TEXT_MAX]; /* the account of memory.h as text; "": not known yet */
};

struct model {
	const struct model_queries *queries; /* queries.h */
	const struct model_commands *commands; /* commands.h */

	/* State at the last refresh. */
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	uint64_t from_ns, to_ns; /* the window */
	char target[128]; /* cleaned */
	char filters[128]; /* filters of the command line, cleaned; "": none */
	/* Further filters of the user, expressions (expr.h) that must all hold; cleaned. */
	char crumbs[MODEL_CRUMBS_MAX][MODEL_CRUMB_MAX];
	size_t n_crumbs;
	bool has_baseline; /* rows have a change against the baseline */
	uint64_t base_from_ns, base_to_ns;
	/* the baseline is a recording; base_from_ns and base_to_ns are unused */
	bool base_recorded;
	char base_name[64]; /* name of the recording; cleaned */
	uint64_t base_serial; /* changes when the baseline's rows may have changed */
	bool base_empty; /* the recording has no samples of the shown event */
	struct {
		bool active; /* a recording is being read, to become the baseline */
		unsigned int percent; /* above 100: unknown */
		char name[64]; /* cleaned */
	} base_reading;
	bool system_wide;
	bool is_command;
	bool recorded; /* from a file: the window is all of it, and the events cannot be changed */
	struct engine_status status;
	struct model_cost cost;
	bool exporting; /* a file is being written */
	unsigned int exporting_percent;
	bool saving; /* a recording is being written */
	unsigned int saving_percent;
	struct {
		size_t waiting; /* number of files, including the current one; 0: none */
		char name[64]; /* name of the current file; cleaned */
		uint64_t received, total; /* bytes of the current file; total 0: unknown */
	} fetching;
	/* The symbol that an event waits for; cleaned. */
	struct {
		bool active;
		char symbol[64], file[64];
	} looking;
	struct hot_sums sums; /* for `event`, in the window */
	uint64_t calls_weight; /* weight of the last call tree if it is older than sums; else 0 */
	/* The activity strip: weight per second of `event` in columns of equal time, oldest first.
	 * For a recording they cover all of its time.  Else they are multiples of column_ns up to
	 * strip_to_ns, the last one maybe incomplete. */
	uint64_t strip_from_ns, strip_to_ns, column_ns;
	uint64_t activity[MODEL_COLUMNS];
	size_t n_activity;
	uint64_t activity_max; /* value of a full column; 0: that of the highest one */
	struct logbook log;
	struct marks marks;
	struct rates rates;
	uint64_t max_sample_rate_hz; /* 0: unknown */
	uint64_t ticks_per_second; /* unit of proc_process.cpu_ticks */
	uint64_t soon_ns; /* latest time of the next refresh, CLOCK_MONOTONIC; 0: no request */

	/* Settings, changed by the screen; refresh(model, false) applies them. */
	uint8_t event;
	struct window window;
	bool frozen;
	bool hide_idle;
	bool grouped; /* rows of the hot table have the key rows_by */
	struct group_by rows_by;
	bool sort_total; /* initial order of the hot table: by total */
	int calls_shape; /* initial enum calls_shape */
	int group_by; /* initial grouping of the breakdown: enum query_group + 1; 0: automatic */
	enum annotate_mode code_mode;
	enum disasm_syntax code_syntax;
	uint64_t zero_ns; /* older samples are not shown */
};

/* The selection of the shown time. */
struct model_time {
	bool selected;
	uint64_t length_ns, zero_ns;
};

enum { /* or'ed */
	MODEL_IDLE_HIDDEN = 1,
	MODEL_IDLE_BY_CODE = 2, /* recorded in a pid namespace, so pid 0 has another name, too */
};

/* Returns how samples of pid 0 are shown, to compare with cached results. */
static inline unsigned int model_idle(const struct model *model)
{
	return (model->hide_idle ? MODEL_IDLE_HIDDEN : 0u) |
		(model->status.pid_namespace ? MODEL_IDLE_BY_CODE : 0u);
}

static inline struct model_time model_time_of(const struct model *model)
{
	return (struct model_time){model->window.selected, model->window.length_ns, model->zero_ns};
}

/* Whether both are the same live window, which moves on: results for it may be slightly older
 * (pace.h). */
static inline bool model_time_goes_on(const struct model_time *before, const struct model *model)
{
	return !before->selected && !model->window.selected &&
		before->length_ns == model->window.length_ns && before->zero_ns == model->zero_ns;
}

/* Returns the status of an event; NULL if there is none with this id. */
const struct engine_event_status *model_event(const struct model *model, uint8_t event);

/* Lists the events with a tab: open ones and those with samples.  Returns the number of ids. */
size_t model_tabs(const struct model *model, uint8_t ids[ENGINE_EVENTS_TOLD]);

/* Returns the frequency a step above (or below) hz, at most limit_hz (0: no limit) and at least the
 * lowest step. */
uint64_t model_freq_step(uint64_t hz, int direction, uint64_t limit_hz);

/* Whether a recording is being read, which can be interrupted. */
bool model_is_loading(const struct model *model);

/* Returns the live window, with the newest samples, even if another time is selected.  It moves
 * with time if no samples arrive while the engine runs.  For a recording, it is the whole time. */
void model_window(const struct model *model, const struct store_status *store, uint64_t *from_ns,
	uint64_t *to_ns);

/* Returns the start of the live window that ends at to_ns. */
uint64_t model_window_begin(
	const struct model *model, const struct store_status *store, uint64_t to_ns);

/* Returns the limits for the choice of a window (window.h). */
struct window_view model_window_view(const struct model *model);

#endif
