/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.h - the only table of key bindings: dispatch, hint line, help screen and manual page.
 *
 * Plain data and pure functions; any thread.  keys_bind() and keys_reset() may be called only by
 * the UI thread, before the screen is first drawn.
 */
#ifndef TUI_CONTROLS_KEYS_H
#define TUI_CONTROLS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Views in which a binding holds.  Bindings of the view itself are tried before KEYS_LIST and
 * KEYS_ALL. */
enum keys_view {
	KEYS_ALL = 1,
	KEYS_LIST = 2, /* every view with a list */
	KEYS_HOT = 4,
	KEYS_BREAKDOWN = 8,
	KEYS_PROCESSES = 16,
	KEYS_EVENTS = 32,
	KEYS_LOG = 64,
	KEYS_HELP = 128,
	KEYS_ANNOTATE = 256,
	KEYS_COUNTERS = 512,
	KEYS_CALLS = 1024,
	KEYS_FLAME = 2048,
	KEYS_THREADS = 4096,
	KEYS_HEAT = 8192,
	KEYS_GROUPED = 16384, /* the hot table while its rows are not symbols */
	KEYS_GROUPING = 32768,
};

/* Flag in binding.views: the hint comes after those of KEYS_ALL. */
#define KEYS_LATE 0x80000000u

enum action {
	ACT_NONE,
	/* lists */
	ACT_UP,
	ACT_DOWN,
	ACT_PAGE_UP,
	ACT_PAGE_DOWN,
	ACT_HALF_UP,
	ACT_HALF_DOWN,
	ACT_FIRST,
	ACT_LAST,
	/* tables */
	ACT_OPEN,
	ACT_SORT_NEXT,
	ACT_SORT_LEFT,
	ACT_SORT_RIGHT,
	ACT_SORT_SELF,
	ACT_SORT_TOTAL,
	ACT_REVERSE,
	ACT_SEARCH,
	ACT_SEARCH_NEXT,
	ACT_SEARCH_PREVIOUS,
	ACT_FILTER,
	ACT_KERNEL,
	ACT_SIDE_BY_SIDE,
	ACT_FETCH,
	ACT_GROUP,
	ACT_FIELDS,
	/* pickers */
	ACT_ONLY,
	ACT_ADD,
	ACT_DROP,
	ACT_TOGGLE,
	ACT_MARK,
	ACT_GROUP_MARKED,
	ACT_UNFOLD,
	ACT_FOLD,
	ACT_TYPE,
	/* counters */
	ACT_RATE,
	ACT_EVENT_FILTER,
	ACT_MOVE,
	ACT_PAUSE,
	/* annotate */
	ACT_ANNOTATE,
	ACT_FOLLOW,
	ACT_RETURN,
	ACT_MODE,
	ACT_SYNTAX,
	ACT_HOTTER,
	ACT_COOLER,
	ACT_GOTO,
	ACT_EDIT,
	ACT_ARROWS,
	/* calls */
	ACT_CALLS,
	ACT_EXPAND,
	ACT_COLLAPSE,
	ACT_SHAPE,
	ACT_HOLD,
	ACT_FLAME,
	ACT_THREAD,
	ACT_COLOUR,
	/* time and threads */
	ACT_THREADS,
	ACT_HEAT,
	/* filters */
	ACT_NARROW,
	ACT_INCLUDE,
	ACT_EXCLUDE,
	ACT_WIDEN,
	/* time */
	ACT_BASELINE,
	ACT_BASELINE_FILE,
	ACT_EARLIER,
	ACT_LATER,
	ACT_LONGER,
	ACT_SHORTER,
	ACT_BUSIEST,
	ACT_LIVE,
	/* everywhere */
	ACT_EVENT_NEXT,
	ACT_EVENT_PREVIOUS,
	ACT_EVENT_NUMBER,
	ACT_FREEZE,
	ACT_FASTER,
	ACT_SLOWER,
	ACT_CALL_GRAPH,
	ACT_ZERO,
	ACT_IDLE,
	ACT_PROCESSES,
	ACT_EVENTS,
	ACT_COUNTERS,
	ACT_LOG,
	ACT_SAVE,
	ACT_WRITE,
	ACT_EXPORT,
	ACT_SNAPSHOT,
	ACT_THEME,
	ACT_HELP,
	ACT_REDRAW,
	ACT_BACK,
	ACT_QUIT,
};

#define KEYS_PER_BINDING 4

struct binding {
	enum action action;
	unsigned int views; /* enum keys_view, or'ed */
	uint32_t keys[KEYS_PER_BINDING]; /* unused: 0 */
	/* names of the keys, for the help and the manual; NULL: built from keys */
	const char *label;
	const char *hint; /* a word for the hint line; NULL: no hint */
	const char *help; /* a sentence without its full stop */
};

/* Returns the current table, or the table without a configuration.  *n: number of bindings. */
const struct binding *keys_table(size_t *n);
const struct binding *keys_defaults(size_t *n);

/* Binds a key to an action of a view (keys_bind.c).  The first key bound to an action replaces its
 * default keys in that view; later ones are added.  All other actions lose the key in that view.
 * Key 0: the action has no key there.  Returns 0; -ENOENT if the view has no such action;
 * -EINVAL if the action's keys are fixed; -E2BIG if the action has too many keys; -ENOSPC if there
 * are too many bindings. */
int keys_bind(enum keys_view view, uint32_t key, enum action action);
void keys_reset(void); /* restores the defaults */

/* Convert names used in a configuration (keys_names.c): "hot-symbols", "search-next", "Tab", "^L".
 * Unknown names give NULL or 0 (ACT_NONE).  keys_key_of() sets *key to 0 for "none" and returns
 * false if the name is no key. */
const char *keys_action_name(enum action action);
enum action keys_action_of(const char *name);
bool keys_view_name(unsigned int view, char *out, size_t size);
enum keys_view keys_view_of(const char *name);
bool keys_key_of(const char *name, uint32_t *key);

/* Returns the action of a key in a view (one of enum keys_view); ACT_NONE if none. */
enum action keys_find(enum keys_view view, uint32_t key);

/* Writes the name of a key: "j", "Tab", "PgUp", "^L".  ascii: arrows are written as words. */
void keys_name(uint32_t key, bool ascii, char *out, size_t size);

/* Writes the names of a binding's keys, separated by blanks. */
void keys_label(const struct binding *binding, bool ascii, char *out, size_t size);

/* Returns the table as text for the manual page, one binding a line: "section<TAB>keys<TAB>help".
 * The caller frees it.  Returns NULL if memory runs out. */
char *keys_dump(void);

/* Returns the title of a view, such as "hot symbols", for help and manual.  NULL if `view` is not
 * exactly one view. */
const char *keys_view_title(unsigned int view);

#endif
