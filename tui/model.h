/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - everything that a frame of the screen needs, and all that views may ask for.
 *
 * Views know this and neither engine nor symbols: a session fills it in life (model_live.h), fixed
 * data in tests of the screen.  UI thread.
 */
#ifndef TUI_MODEL_H
#define TUI_MODEL_H

#include "sampler/engine.h"
#include "sampler/proc.h"
#include "tui/annotate.h"
#include "tui/calltree.h"
#include "tui/groups.h"
#include "tui/hot.h"
#include "tui/lanes.h"
#include "tui/logbook.h"
#include "tui/marks.h"
#include "tui/memory.h"
#include "tui/offers.h"
#include "tui/query.h"
#include "tui/rates.h"
#include "tui/session.h"
#include "tui/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_LATE_NS 1000000000ull /* by now samples have come, if there were any */
#define MODEL_COLUMN_NS 1000000000ull /* of the activity strip, at least */
#define MODEL_COLUMNS 256
#define HEAT_ROWS 10 /* of a second, each as long as a slice of the store */
#define MODEL_CRUMBS_MAX 8
#define MODEL_CRUMB_MAX 128

struct model;

/* strobe's own cost, of all its processes. */
struct model_cost {
	double cpu_percent; /* of one CPU, over the last second or so; below 0: not known yet */
	uint64_t memory_bytes;
	double instructions_per_s; /* of this process; not above 0: not known */
	char memory[MEMORY_TEXT_MAX]; /* the account of memory.h in words; "": not known yet */
};

/* The code of one function: functions of annotate.h, of a session; in tests they have fixed code. */
struct model_code_ops {
	/* 0 with *out for close(); -ENODATA where the symbol is no function with an extent; -errno. */
	int (*open)(struct model *model, uint32_t symref, enum disasm_syntax syntax,
		struct annotation **out);
	void (*close)(struct model *model, struct annotation *annotation); /* NULL is a no-op */
	/* Take in what has come, and renew the sums of the window for the events of model_tabs(), in that order.
	 * *changed: rows are others than before.  Where more is to come, soon_ns tells.  0 or -errno. */
	int (*update)(struct model *model, struct annotation *annotation, bool *changed);
	const struct annotate_row *(*rows)(const struct annotation *annotation, size_t *n);
	void (*head)(const struct annotation *annotation, struct annotate_head *out);
	enum annotate_progress (*progress)(
		const struct annotation *annotation, const char **reason);
	void (*set_mode)(struct annotation *annotation, enum annotate_mode mode);
	size_t (*next_hottest)(
		const struct annotation *annotation, size_t from, int direction, size_t event);
	uint32_t (*target)(const struct annotation *annotation, size_t row);
	/* How long the question at work has been waiting. */
	uint64_t (*waiting_ns)(struct model *model);
	void (*abandon)(struct model *model);
	/* Where to open a file that the function's rows name.  0 or -errno. */
	int (*source_path)(
		struct model *model, uint32_t symref, const char *file, char *out, size_t size);
};

/* The hot table by something else than symbols (groups.h); a row's number takes the symref's place.  Functions of
 * model_groups.h, of a session; in tests they have fixed rows. */
struct model_group_ops {
	int (*rows)(struct model *model, const struct group_by *by, const struct hot_query *query,
		const struct hot_row **rows, size_t *n, struct hot_sums *sums);
	const struct group_key *(*key)(struct model *model, uint32_t id); /* never NULL */
	void (*cell)(
		struct model *model, uint32_t id, uint8_t event, uint64_t *self, uint64_t *total);
	/* As groups_term(). */
	bool (*term)(struct model *model, uint32_t id, bool negated, char *out, size_t size);
};

/* What this machine offers, for a picker: functions of offers.h, of a session; in tests they have a fixed list. */
struct model_offer_ops {
	/* Have it read and tried where the session samples now; may be called again.  0 or -errno. */
	int (*begin)(struct model *model);
	void (*list)(struct model *model, struct offers_list *out);
	void (*state)(struct model *model, size_t i, struct offer_state *out);
	bool (*detail)(struct model *model, size_t i, struct offer_detail *out);
};

/* The samples of the model's event in the window, by one thing. */
struct model_breakdown {
	bool all; /* else only those with symref on their stack */
	uint32_t symref;
	enum query_group group; /* GROUP_PROCESS, GROUP_THREAD, GROUP_CPU or GROUP_FIELD */
	const char *field; /* of GROUP_FIELD: its name */
	bool baseline; /* the samples of the baseline instead; of a recorded one rows have the numbers of there */
};

/* A busy stretch of the history: the nth of `of` that are at least half as busy as the busiest one, and
 * half as busy again as it is most of the time. */
struct model_spike {
	uint64_t from_ns, to_ns;
	size_t nth, of; /* from 1 on; nth may be more than `of`: it is no spike any more */
};

struct model_ops {
	/* Take in what is new.  The window follows the time unless the model is frozen, or advance
	 * is false: then only what depends on the settings is made anew. */
	int (*refresh)(struct model *model, bool advance);

	/* As hot_rows() etc. of the window. */
	int (*rows)(struct model *model, const struct hot_query *query, const struct hot_row **rows,
		size_t *n, struct hot_sums *sums);
	const struct symref *(*symbol)(struct model *model, uint32_t symref);
	void (*cell)(struct model *model, uint32_t symref, uint8_t event, uint64_t *self,
		uint64_t *total);
	void (*sums)(struct model *model, uint8_t event, struct hot_sums *out);
	void (*trend)(struct model *model, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND]);
	/* Arrays of *n for free(); 0 or -errno. */
	int (*breakdown)(struct model *model, const struct model_breakdown *question,
		struct query_row **rows, size_t *n);
	/* Name i of what the event's samples have fields for (field_text.h); NULL behind the last one. */
	const char *(*field)(struct model *model, size_t i);
	int (*processes)(struct model *model, struct proc_process **out, size_t *n);
	int (*followed)(struct model *model, int32_t **pids, size_t *n);
	/* The window as it is becomes the baseline, or there is none any more; 0 or -ENOMEM. */
	int (*baseline)(struct model *model, bool set);
	/* A recording becomes the baseline when it has been read; what comes of it the log tells.  Meanwhile all is as it was.
	 * 0, or -errno and a sentence. */
	int (*baseline_file)(struct model *model, const char *path, char *message, size_t size);
	void (*baseline_stop)(struct model *model); /* it is not read any further */
	/* Show only what passes this expression, too; 0, or -errno and a sentence, with the byte where it is wrong. */
	int (*crumb_add)(
		struct model *model, const char *text, size_t *at, char *message, size_t size);
	void (*crumb_drop)(struct model *model, size_t i); /* as if it had never been */
	/* A tree of calls (calltree.h) of the window, for calltree_fini(), in the place of *out: the tree that the same question had
	 * before, which stays as it is where nothing has changed, or an empty one.  0, or -ENOMEM and an empty one. */
	int (*tree)(struct model *model, const struct calltree_query *query, struct calltree *out);
	/* The busiest stretch of the history, at each further call the next one; -ENODATA where there is none (any more). */
	int (*busiest)(struct model *model, struct model_spike *out);
	/* Who runs when in the window (lanes.h); valid until the next call.  It may be of a window a little older.  0 or
	 * -ENOMEM. */
	int (*lanes)(struct model *model, enum query_group group, size_t columns,
		const struct lanes **out);
	/* The state of a thread as /proc tells it (R S D ...), now; 'X': it has ended; 0: it is not known. */
	char (*task_state)(struct model *model, int32_t tid);
	/* Weight per second of time by tenths of seconds, HEAT_ROWS each, from from_ns on; valid until the next call.  0 or
	 * -ENOMEM. */
	int (*heat)(struct model *model, uint64_t from_ns, size_t seconds, const uint64_t **cells);
	/* Cleaned, never NULL; valid until the next call. */
	const char *(*user_name)(struct model *model, uint32_t uid);

	/* Commands; 0 or -errno.  What comes of them is told by status and log. */
	int (*attach)(struct model *model, int32_t pid);
	int (*detach)(struct model *model, int32_t pid);
	/* Any text of the grammar; where a symbol is looked for first, model.looking tells.  -EINVAL with *error where it is
	 * not understood; its kind is EVENT_ERROR_NONE otherwise. */
	int (*event_add)(struct model *model, const char *text, struct event_error *error);
	void (*look_cancel)(struct model *model);
	int (*event_drop)(struct model *model, uint8_t event);
	int (*set_freq)(struct model *model, uint8_t event, uint64_t value); /* Hz, or the period */
	int (*set_period)(struct model *model, uint8_t event, uint64_t period);
	int (*event_enable)(struct model *model, uint8_t event, bool enable);
	int (*set_filter)(struct model *model, uint8_t event, const char *filter); /* "": none */
	/* To an address (0x...) or a symbol of the target; 0, or -errno and a sentence. */
	int (*move_breakpoint)(
		struct model *model, uint8_t event, const char *where, char *message, size_t size);
	int (*pause)(struct model *model, bool pause);
	int (*set_call_graph)(struct model *model, enum engine_call_graph mode);
	int (*snapshot)(struct model *model); /* of the flight recorder; EINVAL: there is none */
	/* Everything since zero_ns, up to to_ns where frozen, into a recording; 0, or -errno and a sentence.  The log tells
	 * what came of it. */
	int (*save)(struct model *model, const char *path, char *message, size_t size);
	void (*save_stop)(struct model *model);
	/* The window's samples of `event` that the filters pass, in another tool's form: 0 when that has begun, what comes of it
	 * the log tells; or -errno, and a sentence. */
	int (*export_window)(struct model *model, const char *path, enum export_format format,
		char *message, size_t size);
	void (*export_stop)(struct model *model); /* what was there before stays */
	/* Ask debuginfod servers for what a symbol's image lacks; 0, or -errno and a sentence.  The log tells what came of it. */
	int (*fetch)(struct model *model, uint32_t symref, char *message, size_t size);
	void (*fetch_cancel)(struct model *model);

	const struct model_code_ops *code;
	const struct model_offer_ops *offers;
	const struct model_group_ops *groups;
};

struct model {
	const struct model_ops *ops;

	/* Of the last refresh. */
	uint64_t now_ns; /* CLOCK_MONOTONIC */
	uint64_t from_ns, to_ns; /* the window */
	char target[128]; /* cleaned */
	char filters[128]; /* cleaned: what was asked for alone; "": everything */
	/* What the screen's user asked for besides, expressions (expr.h) one after the other; cleaned. */
	char crumbs[MODEL_CRUMBS_MAX][MODEL_CRUMB_MAX];
	size_t n_crumbs;
	bool has_baseline; /* rows have a change against this time */
	uint64_t base_from_ns, base_to_ns;
	bool base_recorded; /* it is a recording: base_from_ns and base_to_ns mean nothing */
	char base_name[64]; /* of the recording; cleaned */
	uint64_t base_serial; /* another where the baseline's rows may be others */
	bool base_empty; /* ... which has nothing of the event that is shown */
	struct {
		bool active; /* a recording is read, to become the baseline */
		unsigned int percent; /* above 100: not known */
		char name[64]; /* cleaned */
	} base_reading;
	bool system_wide;
	bool is_command;
	bool recorded; /* of a file: the window is all of it, and nothing in it can be changed */
	struct engine_status status;
	struct model_cost cost;
	bool exporting; /* a file is being written */
	unsigned int exporting_percent;
	bool saving; /* a recording is being written */
	unsigned int saving_percent;
	struct {
		size_t waiting; /* files, with the one at work; 0: none */
		char name[64]; /* cleaned, of the one at work */
		uint64_t received, total; /* bytes of it; total 0: not known */
	} fetching;
	/* The symbol that an event waits for; cleaned. */
	struct {
		bool active;
		char symbol[64], file[64];
	} looking;
	struct hot_sums sums; /* of `event`, in the window */
	uint64_t
		calls_weight; /* the same of the last tree of calls, where it is of a moment before; else 0 */
	/* The activity strip: weight per second of `event` in columns of equal time, oldest first; of a recording all of
	 * its time, else whole multiples of column_ns up to strip_to_ns, where the last one may not be over. */
	uint64_t strip_from_ns, strip_to_ns, column_ns;
	uint64_t activity[MODEL_COLUMNS];
	size_t n_activity;
	uint64_t activity_max; /* what a full column means; 0: the highest one */
	struct logbook log;
	struct marks marks;
	struct rates rates;
	uint64_t max_sample_rate_hz; /* 0: not known */
	uint64_t ticks_per_second; /* of proc_process.cpu_ticks */
	uint64_t
		soon_ns; /* something is to come: the next refresh shall not be later than this; 0: at the usual pace */

	/* Settings, changed by the screen; refresh(model, false) follows them. */
	uint8_t event;
	struct window window;
	bool frozen;
	bool hide_idle;
	bool grouped; /* rows of the hot table are by: */
	struct group_by rows_by;
	bool sort_total; /* what the hot table is sorted by at first */
	int calls_shape; /* enum calls_shape that calls are shown in at first */
	int group_by; /* enum query_group + 1 of the breakdown at first; 0: what suits */
	enum annotate_mode code_mode;
	enum disasm_syntax code_syntax;
	uint64_t zero_ns; /* nothing older is shown */
};

/* Which time was chosen to be shown. */
struct model_time {
	bool selected;
	uint64_t length_ns, zero_ns;
};

/* How idle is told, for what was made by it: 0: it is shown; 1: by its task; 2: by its code, since
 * in a recording of a pid namespace others have its number. */
static inline unsigned int model_idle(const struct model *model)
{
	return model->hide_idle ? 1u + model->status.pid_namespace : 0;
}

static inline struct model_time model_time_of(const struct model *model)
{
	return (struct model_time){model->window.selected, model->window.length_ns, model->zero_ns};
}

/* It is the same live window, which goes on: what was made of it may be of a moment before (pace.h). */
static inline bool model_time_goes_on(const struct model_time *before, const struct model *model)
{
	return !before->selected && !model->window.selected &&
		before->length_ns == model->window.length_ns && before->zero_ns == model->zero_ns;
}

/* The status of an event by its id; NULL when there is none. */
const struct engine_event_status *model_event(const struct model *model, uint8_t event);

/* Events that have a tab: open, or with samples.  Returns how many ids were stored. */
size_t model_tabs(const struct model *model, uint8_t ids[ENGINE_EVENTS_TOLD]);

/* The frequency a step above (or below) hz, at most limit_hz (0: no limit) and at least the lowest step. */
uint64_t model_freq_step(uint64_t hz, int direction, uint64_t limit_hz);

/* While a recording is read: it can be interrupted. */
bool model_is_loading(const struct model *model);

/* The live window, whatever is selected: the newest samples.  It goes on with the time where none come while the engine
 * runs.  Of a recording it is everything. */
void model_window(const struct model *model, const struct store_status *store, uint64_t *from_ns,
	uint64_t *to_ns);

/* Where the live window begins that ends at to_ns. */
uint64_t model_window_begin(
	const struct model *model, const struct store_status *store, uint64_t to_ns);

/* What a window is chosen from (window.h). */
struct window_view model_window_view(const struct model *model);

#endif
