/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.h - all data for a frame of the screen, and all queries and commands of views.
 *
 * Views use only the model, neither engine nor symbols.  A session fills the model (live.h);
 * tests of the screen use fixed data.  UI thread.
 */
#ifndef TUI_MODEL_MODEL_H
#define TUI_MODEL_MODEL_H

#include "sampler/engine/engine.h"
#include "sampler/machine/proc.h"
#include "tui/annotate/annotate.h"
#include "tui/model/logbook.h"
#include "tui/model/marks.h"
#include "tui/model/offers.h"
#include "tui/model/window.h"
#include "tui/query/query.h"
#include "tui/query/rates.h"
#include "tui/session/memory.h"
#include "tui/session/session.h"
#include "tui/tables/calltree.h"
#include "tui/tables/groups.h"
#include "tui/tables/hot.h"
#include "tui/tables/lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_LATE_NS 1000000000ull /* samples arrive within this time */
#define MODEL_COLUMN_NS 1000000000ull /* smallest width of a column in the activity strip */
#define MODEL_COLUMNS 256
#define HEAT_ROWS 10 /* cells in a second, each as long as a slice of the store */
#define MODEL_CRUMBS_MAX 8
#define MODEL_CRUMB_MAX 128

struct model;

/* Cost of strobe itself, over all its processes. */
struct model_cost {
	double cpu_percent; /* percent of one CPU in about the last second; < 0: not known yet */
	uint64_t memory_bytes;
	double instructions_per_s; /* this process only; <= 0: unknown */
	char memory[MEMORY_TEXT_MAX]; /* the account of memory.h as text; "": not known yet */
};

/* Access to the code of one function.  A session uses annotate.h; tests use fixed code. */
struct model_code_ops {
	/* Returns 0 with *out for close(); -ENODATA if the symbol is no function of known extent;
	 * or -errno. */
	int (*open)(struct model *model, uint32_t symref, enum disasm_syntax syntax,
		struct annotation **out);
	void (*close)(struct model *model, struct annotation *annotation); /* NULL is a no-op */
	/* Takes in new data and updates the window's sums for the events of model_tabs(), in that
	 * order.  *changed: rows differ from before.  If more data is expected, sets soon_ns.
	 * Returns 0 or -errno. */
	int (*update)(struct model *model, struct annotation *annotation, bool *changed);
	const struct annotate_row *(*rows)(const struct annotation *annotation, size_t *n);
	void (*head)(const struct annotation *annotation, struct annotate_head *out);
	enum annotate_progress (*progress)(
		const struct annotation *annotation, const char **reason);
	void (*set_mode)(struct annotation *annotation, enum annotate_mode mode);
	size_t (*next_hottest)(
		const struct annotation *annotation, size_t from, int direction, size_t event);
	uint32_t (*target)(const struct annotation *annotation, size_t row);
	/* Returns how long (ns) the current request has been waiting; 0 if none. */
	uint64_t (*waiting_ns)(struct model *model);
	void (*abandon)(struct model *model);
	/* Finds the file to open for a source file named by the function's rows.  Returns 0 or
	 * -errno. */
	int (*source_path)(
		struct model *model, uint32_t symref, const char *file, char *out, size_t size);
};

/* The hot table by other keys than symbols (groups.h); a row's id replaces the symref.  A session
 * uses groups.h; tests use fixed rows. */
struct model_group_ops {
	int (*rows)(struct model *model, const struct group_by *by, const struct hot_query *query,
		const struct hot_row **rows, size_t *n, struct hot_sums *sums);
	const struct group_key *(*key)(struct model *model, uint32_t id); /* never returns NULL */
	void (*cell)(
		struct model *model, uint32_t id, uint8_t event, uint64_t *self, uint64_t *total);
	/* See groups_term(). */
	bool (*term)(struct model *model, uint32_t id, bool negated, char *out, size_t size);
};

/* The events that this machine offers, for a picker.  A session uses offers.h; tests use a fixed
 * list. */
struct model_offer_ops {
	/* Starts listing and probing events for the session's current target; may be called again.
	 * Returns 0 or -errno. */
	int (*begin)(struct model *model);
	void (*list)(struct model *model, struct offers_list *out);
	void (*state)(struct model *model, size_t i, struct offer_state *out);
	bool (*detail)(struct model *model, size_t i, struct offer_detail *out);
};

/* A query: the samples of the model's event in the window, by one key. */
struct model_breakdown {
	bool all; /* false: only samples with symref on their stack */
	uint32_t symref;
	enum query_group group; /* GROUP_PROCESS, GROUP_THREAD, GROUP_CPU or GROUP_FIELD */
	const char *field; /* name of the field, for GROUP_FIELD */
	bool baseline; /* query the baseline; rows of a recorded one have its pids, tids and CPUs */
};

/* A busy stretch of the history, a spike.  It is at least half as busy as the busiest stretch, and
 * half as busy again as the history is most of the time. */
struct model_spike {
	uint64_t from_ns, to_ns;
	size_t nth, of; /* rank from 1, and number of spikes; nth > of: no longer a spike */
};

struct model_ops {
	/* Takes in new data.  The window moves with time unless the model is frozen.  advance
	 * false: the window stays, and only data that depends on the settings is updated. */
	int (*refresh)(struct model *model, bool advance);

	/* See hot_rows() etc.; for the window. */
	int (*rows)(struct model *model, const struct hot_query *query, const struct hot_row **rows,
		size_t *n, struct hot_sums *sums);
	const struct symref *(*symbol)(struct model *model, uint32_t symref);
	void (*cell)(struct model *model, uint32_t symref, uint8_t event, uint64_t *self,
		uint64_t *total);
	void (*sums)(struct model *model, uint8_t event, struct hot_sums *out);
	void (*trend)(struct model *model, uint32_t symref, uint8_t event, uint64_t out[HOT_TREND]);
	/* Return arrays of *n elements for free().  0 or -errno. */
	int (*breakdown)(struct model *model, const struct model_breakdown *question,
		struct query_row **rows, size_t *n);
	/* Returns name i of the fields of the event's samples (field_text.h); NULL after the last
	 * one. */
	const char *(*field)(struct model *model, size_t i);
	int (*processes)(struct model *model, struct proc_process **out, size_t *n);
	int (*followed)(struct model *model, int32_t **pids, size_t *n);
	/* set: the current window becomes the baseline; else there is none.  Returns 0 or
	 * -ENOMEM. */
	int (*baseline)(struct model *model, bool set);
	/* Starts reading a recording, which becomes the baseline when it has been read.  The log
	 * reports the result.  Returns 0, or -errno and a sentence. */
	int (*baseline_file)(struct model *model, const char *path, char *message, size_t size);
	void (*baseline_stop)(struct model *model); /* stops reading */
	/* Adds a filter expression; samples must pass all.  Returns 0, or -errno, a sentence and
	 * the offset of the error. */
	int (*crumb_add)(
		struct model *model, const char *text, size_t *at, char *message, size_t size);
	void (*crumb_drop)(struct model *model, size_t i); /* removes expression i */
	/* Returns a call tree (calltree.h) of the window in *out, for calltree_fini().  *out must
	 * hold the previous tree of the same query, which is kept if nothing has changed, or an
	 * empty one.  Returns 0, or -ENOMEM and an empty one. */
	int (*tree)(struct model *model, const struct calltree_query *query, struct calltree *out);
	/* Finds the busiest stretch of the history, at each further call the next one.  Returns 0;
	 * -ENODATA if there is none (left). */
	int (*busiest)(struct model *model, struct model_spike *out);
	/* Returns the lanes of the window (lanes.h), valid until the next call.  They may be of a
	 * slightly older window.  Returns 0 or -ENOMEM. */
	int (*lanes)(struct model *model, enum query_group group, size_t columns,
		const struct lanes **out);
	/* Returns the current state of a thread in /proc (R S D ...); 'X': it has ended; 0:
	 * unknown. */
	char (*task_state)(struct model *model, int32_t tid);
	/* Returns weight per second of time for each tenth of a second from from_ns on, HEAT_ROWS a
	 * second; valid until the next call.  Returns 0 or -ENOMEM. */
	int (*heat)(struct model *model, uint64_t from_ns, size_t seconds, const uint64_t **cells);
	/* Returns a user's name, cleaned, never NULL; valid until the next call. */
	const char *(*user_name)(struct model *model, uint32_t uid);

	/* Commands.  Return 0 or -errno; status and log report the result. */
	int (*attach)(struct model *model, int32_t pid);
	int (*detach)(struct model *model, int32_t pid);
	/* Adds events by the grammar of -e.  If a symbol must be found first, model.looking is set.
	 * Returns -EINVAL and *error for wrong syntax; for other errors its kind is
	 * EVENT_ERROR_NONE. */
	int (*event_add)(struct model *model, const char *text, struct event_error *error);
	void (*look_cancel)(struct model *model);
	int (*event_drop)(struct model *model, uint8_t event);
	int (*set_freq)(struct model *model, uint8_t event, uint64_t value); /* Hz, or the period */
	int (*set_period)(struct model *model, uint8_t event, uint64_t period);
	int (*event_enable)(struct model *model, uint8_t event, bool enable);
	/* "": removes it */
	int (*set_filter)(struct model *model, uint8_t event, const char *filter);
	/* Moves it to an address (0x...) or a symbol of the target.  Returns 0, or -errno and a
	 * sentence. */
	int (*move_breakpoint)(
		struct model *model, uint8_t event, const char *where, char *message, size_t size);
	int (*pause)(struct model *model, bool pause);
	int (*set_call_graph)(struct model *model, enum engine_call_graph mode);
	int (*snapshot)(struct model *model); /* flight recorder; -EINVAL if there is none */
	/* Starts writing a recording: all samples since zero_ns, up to to_ns if frozen.  The log
	 * reports the result.  Returns 0, or -errno and a sentence. */
	int (*save)(struct model *model, const char *path, char *message, size_t size);
	void (*save_stop)(struct model *model);
	/* Starts exporting the window's samples of `event` that pass the filters.  The log reports
	 * the result.  Returns 0, or -errno and a sentence. */
	int (*export_window)(struct model *model, const char *path, enum export_format format,
		char *message, size_t size);
	void (*export_stop)(struct model *model); /* an existing file is kept */
	/* Requests the missing files of a symbol's image from debuginfod servers.  The log reports
	 * the result.  Returns 0, or -errno and a sentence. */
	int (*fetch)(struct model *model, uint32_t symref, char *message, size_t size);
	void (*fetch_cancel)(struct model *model);

	const struct model_code_ops *code;
	const struct model_offer_ops *offers;
	const struct model_group_ops *groups;
};

struct model {
	const struct model_ops *ops;

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

/* Returns how idle samples are detected, to compare with cached results.  0: they are shown; 1: by
 * task; 2: by code.  In a pid namespace, tasks outside of it also have pid 0. */
static inline unsigned int model_idle(const struct model *model)
{
	return model->hide_idle ? 1u + model->status.pid_namespace : 0;
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
