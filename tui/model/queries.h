/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * queries.h - questions of views to the model.
 *
 * A session answers from its profile (live.h); tests of the screen have fixed answers.  UI thread.
 */
#ifndef TUI_MODEL_QUERIES_H
#define TUI_MODEL_QUERIES_H

#include "sampler/machine/proc.h"
#include "tui/annotate/annotate.h"
#include "tui/model/offers.h"
#include "tui/query/query.h"
#include "tui/tables/calltree.h"
#include "tui/tables/groups.h"
#include "tui/tables/hot.h"
#include "tui/tables/lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

#define HEAT_ROWS 10 /* cells in a second, each as long as a slice of the store */

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

struct model_queries {
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
	const struct model_code_ops *code;
	const struct model_offer_ops *offers;
	const struct model_group_ops *groups;
};

#endif
