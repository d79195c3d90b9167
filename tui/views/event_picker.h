/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker.h - the picker of events: its state and its parts, private to event_picker*.c.
 *
 * What the machine offers is a tree: groups, of PMUs and tracepoints with a group for each PMU and subsystem.  Above it
 * stand the events of this profile, whether the catalogue has them or not.
 */
#ifndef TUI_VIEWS_EVENT_PICKER_H
#define TUI_VIEWS_EVENT_PICKER_H

#include "tui/screen.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#define PICKER_STATES (CATALOGUE_REFUSED + 1)

/* Neighbours in the catalogue. */
struct picker_group {
	size_t first, n; /* entries */
	bool is_part; /* of the last one before that is no part */
	bool has_parts;
	char title[64]; /* cleaned */
	bool open;
	bool closed_found; /* while something is searched, all are open but these */
	size_t found; /* entries that match */
	/* By state of all of its entries; of those refused, the errno that all have in common, or 0. */
	size_t states[PICKER_STATES];
	int error;
};

enum picker_row_kind {
	ROW_PROFILE, /* the title of the events of this profile */
	ROW_EVENT, /* at: its place in the status */
	ROW_GROUP, /* at: of groups */
	ROW_ENTRY, /* at: of the catalogue */
	ROW_NOTE, /* a line of text */
};

struct picker_row {
	enum picker_row_kind kind;
	int depth;
	size_t at;
};

struct picker {
	struct list list;
	struct offers_list offers; /* of the last refresh */
	struct picker_group *groups;
	size_t n_groups;
	bool *found; /* entries: what is searched */
	struct picker_row *rows;
	size_t room;
	bool profile_closed;
	char note[320]; /* of ROW_NOTE */
	/* What the cursor sticks to: a row, of an event its id; and not the user's choice yet. */
	struct picker_row selected, old_selected;
	bool fresh;

	size_t marked[ENGINE_EVENTS_MAX]; /* entries, in the order of marking */
	size_t n_marked;
	char search[PROMPT_MAX], old_search[PROMPT_MAX];

	/* The prompt of events. */
	struct catalogue_completion completion;
	size_t word; /* where the word begins that is completed */
	size_t cycle; /* 1 and up: this completion was put in; 0: none */
	size_t back; /* in the history */
	char draft[PROMPT_MAX]; /* what was typed before the history was gone through */
	struct event_error error; /* of the text as it is; EVENT_ERROR_NONE: none */
	char sentence[512];

	/* When the session was told to change something, and the last note before: until there is another, the rows do not
	 * tell what came of it. */
	uint64_t asked_ns, asked_note;

	int list_y; /* of its first row, in the view */
};

/* --- event_picker_rows.c --- */

/* Make the rows anew, and keep the cursor on its row.  0 or -ENOMEM. */
int picker_rows(struct picker *picker, struct screen *screen);
/* The search is another one. */
void picker_search(struct picker *picker, struct screen *screen, const char *text);
/* Open the groups that the selected event is in. */
void picker_reveal(struct picker *picker);
const struct picker_row *picker_row(const struct picker *picker); /* below the cursor; NULL */
void picker_remember(struct picker *picker, const struct screen *screen);
bool *picker_fold(struct picker *picker, const struct picker_row *row, bool *is_open);
/* The event of the profile that an entry is, the open one before others; NULL. */
const struct engine_event_status *picker_status(
	const struct model *model, const struct catalogue_entry *entry);
void picker_asked(struct picker *picker, const struct model *model); /* the session, for a change */
size_t picker_mark(const struct picker *picker, size_t entry); /* its place, or SIZE_MAX */

/* --- event_picker_draw.c --- */

void picker_draw(struct view *view, struct screen *screen, struct area area);

/* --- event_picker_prompt.c --- */

void picker_ask(struct picker *picker, struct screen *screen, const char *text);
bool picker_prompt_key(struct view *view, struct screen *screen, enum action purpose, uint32_t key);
void picker_prompt_changed(struct picker *picker, struct screen *screen);
/* The text is given to the session; where it is not understood, it is asked for again. */
void picker_prompt_done(struct picker *picker, struct screen *screen, const char *text);
/* Why a text is not understood, without repeating it. */
void picker_explain(const char *text, const struct event_error *error, char *out, size_t size);

#endif
