/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker.h - the picker of events: its state and parts, private to event_picker*.c.
 *
 * The events of the machine form a tree of groups.  The groups of PMUs and tracepoints have a part
 * for each PMU or subsystem.  Above the tree are the events of this profile, even if they are not
 * in the catalogue.
 */
#ifndef TUI_VIEWS_EVENT_PICKER_H
#define TUI_VIEWS_EVENT_PICKER_H

#include "sampler/events/catalogue.h"
#include "sampler/events/parse.h"
#include "tui/model/offers.h"
#include "tui/screen/screen.h"
#include "tui/views/list.h"
#include "tui/views/views.h"

#define PICKER_STATES (CATALOGUE_REFUSED + 1)

/* A run of entries in the catalogue. */
struct picker_group {
	size_t first, n; /* entries */
	bool is_part; /* belongs to the last group before it that is no part */
	bool has_parts;
	char title[64]; /* cleaned */
	bool open;
	bool closed_found; /* closed by the user during a search, when groups are open by default */
	size_t found; /* number of entries that match */
	size_t states[PICKER_STATES]; /* number of entries by state */
	/* errno that all refused entries have in common; 0: they differ; -1: none refused */
	int error;
};

enum picker_row_kind {
	ROW_PROFILE, /* title of the events in this profile */
	ROW_EVENT, /* at: index in the status */
	ROW_GROUP, /* at: index in groups */
	ROW_ENTRY, /* at: index in the catalogue */
	ROW_NOTE, /* a line of text */
};

struct picker_row {
	enum picker_row_kind kind;
	int depth;
	size_t at;
};

struct picker {
	struct list list;
	struct offers_list offers; /* list of the last refresh */
	struct picker_group *groups;
	size_t n_groups;
	bool *found; /* by entry: matches the search */
	struct picker_row *rows;
	size_t room;
	bool profile_closed;
	char note[320]; /* text of ROW_NOTE */
	/* Identity of the selected row (for an event its id), and whether the user has not moved
	 * yet. */
	struct picker_row selected, old_selected;
	bool fresh;

	size_t marked[ENGINE_EVENTS_MAX]; /* entries, in the order of marking */
	size_t n_marked;
	char search[PROMPT_MAX], old_search[PROMPT_MAX];

	/* The prompt for events. */
	struct catalogue_completion completion;
	size_t word; /* offset of the word to complete */
	size_t cycle; /* number of the completion in the text, from 1; 0: none */
	size_t back; /* number of steps back in the history */
	char draft[PROMPT_MAX]; /* typed text, kept while browsing the history */
	struct event_error error; /* error of the current text; EVENT_ERROR_NONE: none */
	char sentence[512];

	/* Time of the last request to the session, and its last note before.  Rows may be outdated
	 * until a new note comes. */
	uint64_t asked_ns, asked_note;
};

/* --- event_picker_rows.c --- */

/* Rebuilds the rows and keeps the cursor on its row.  Returns 0 or -ENOMEM. */
int picker_rows(struct picker *picker, struct screen *screen);
/* Sets the text of the search. */
void picker_search(struct picker *picker, struct screen *screen, const char *text);
/* Opens the groups that contain the selected event. */
void picker_reveal(struct picker *picker);
/* row at the cursor; NULL if none */
const struct picker_row *picker_row(const struct picker *picker);
void picker_remember(struct picker *picker, const struct screen *screen);
bool *picker_fold(struct picker *picker, const struct picker_row *row, bool *is_open);
/* Returns the profile's event that matches an entry, preferably an open one; NULL if none. */
const struct engine_event_status *picker_status(
	const struct model *model, const struct catalogue_entry *entry);
/* Notes that a change was requested from the session. */
void picker_asked(struct picker *picker, const struct model *model);
size_t picker_mark(const struct picker *picker, size_t entry); /* index of the mark, or SIZE_MAX */

/* --- event_picker_draw.c --- */

void picker_draw(struct view *view, struct screen *screen, struct area area);

/* --- event_picker_prompt.c --- */

void picker_ask(struct picker *picker, struct screen *screen, const char *text);
bool picker_prompt_key(struct view *view, struct screen *screen, enum action purpose, uint32_t key);
void picker_prompt_changed(struct picker *picker, struct screen *screen);
/* Gives the text to the session.  If it is invalid, opens the prompt again. */
void picker_prompt_done(struct picker *picker, struct screen *screen, const char *text);
/* Explains why a text is invalid, without repeating the text. */
void picker_explain(const char *text, const struct event_error *error, char *out, size_t size);

#endif
