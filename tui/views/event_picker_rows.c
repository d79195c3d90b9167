/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * event_picker_rows.c - the rows of the picker: open and closed groups, the search, the cursor.
 */
#include "sampler/events/catalogue.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/grow.h"
#include "tui/explain/explain.h"
#include "tui/model/queries.h"
#include "tui/views/event_picker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- groups --- */

/* Returns the name that entries of a part share: the PMU, or the subsystem of tracepoints. */
static size_t part_name(const struct catalogue_entry *entry, const char **name)
{
	*name = entry->group == CATALOGUE_PMU ? entry->pmu : entry->name;
	switch (entry->group) {
	case CATALOGUE_PMU:
		return strlen(entry->pmu);
	case CATALOGUE_TRACEPOINT:
		return strcspn(entry->name, ":");
	default:
		return 0;
	}
}

static bool same_part(const struct catalogue_entry *a, const struct catalogue_entry *b)
{
	const char *one, *other;
	size_t len = part_name(a, &one);

	return part_name(b, &other) == len && !memcmp(one, other, len);
}

static struct picker_group *add_group(struct picker *picker, size_t first)
{
	struct picker_group *group;

	if (grow_exact(&picker->groups, picker->n_groups + 1, sizeof(*group)))
		return NULL;
	group = &picker->groups[picker->n_groups++];
	*group = (struct picker_group){.first = first};
	return group;
}

static int make_groups(struct picker *picker)
{
	const struct catalogue_entry *entries = picker->offers.entries;
	size_t whole = SIZE_MAX;

	for (size_t i = 0; i < picker->offers.n; i++) {
		bool begins = i == 0 || entries[i].group != entries[i - 1].group;
		struct picker_group *group;
		const char *name;
		size_t len = part_name(&entries[i], &name);

		if (begins) {
			group = add_group(picker, i);
			if (!group)
				return -ENOMEM;
			whole = picker->n_groups - 1;
			group->has_parts = len != 0;
			snprintf(group->title, sizeof(group->title), "%s",
				catalogue_group_title(entries[i].group));
		}
		if (len && (begins || !same_part(&entries[i - 1], &entries[i]))) {
			group = add_group(picker, i);
			if (!group)
				return -ENOMEM;
			group->is_part = true;
			clean_text(group->title, sizeof(group->title), name, len);
		}
		picker->groups[whole].n++;
		if (len)
			picker->groups[picker->n_groups - 1].n++;
	}
	picker->found = calloc(picker->offers.n + 1, sizeof(*picker->found));
	return picker->found ? 0 : -ENOMEM;
}

static void count_states(struct picker *picker, struct model *model)
{
	size_t next = 0;

	for (size_t g = 0; g < picker->n_groups; g++) {
		memset(picker->groups[g].states, 0, sizeof(picker->groups[g].states));
		picker->groups[g].error = -1;
	}
	for (size_t g = 0; g < picker->n_groups; g++) {
		struct picker_group *group = &picker->groups[g], *whole = group;

		if (group->has_parts)
			continue;
		if (group->is_part)
			for (whole = group - 1; whole->is_part; whole--)
				;
		for (next = group->first; next < group->first + group->n; next++) {
			struct offer_state state;

			model->queries->offers->state(model, next, &state);
			group->states[state.state]++;
			whole->states[state.state] += whole != group;
			if (state.state != CATALOGUE_REFUSED)
				continue;
			group->error =
				group->error < 0 || group->error == state.error ? state.error : 0;
			whole->error =
				whole->error < 0 || whole->error == state.error ? state.error : 0;
		}
	}
}

static void find_entries(struct picker *picker)
{
	for (size_t i = 0; i < picker->offers.n && picker->found; i++)
		picker->found[i] = catalogue_matches(&picker->offers.entries[i], picker->search);
	for (size_t g = 0; g < picker->n_groups && picker->found; g++) {
		struct picker_group *group = &picker->groups[g];

		group->found = 0;
		for (size_t i = 0; i < group->n; i++)
			group->found += picker->found[group->first + i];
	}
}

/* --- rows --- */

static int add(struct picker *picker, enum picker_row_kind kind, int depth, size_t at)
{
	if (grow_items(&picker->rows, &picker->room, picker->list.n + 1, sizeof(*picker->rows)))
		return -ENOMEM;
	picker->rows[picker->list.n++] = (struct picker_row){kind, depth, at};
	return 0;
}

bool *picker_fold(struct picker *picker, const struct picker_row *row, bool *is_open)
{
	struct picker_group *group;
	bool *flag;

	if (row->kind == ROW_PROFILE) {
		*is_open = !picker->profile_closed;
		return &picker->profile_closed;
	}
	if (row->kind != ROW_GROUP)
		return NULL;
	group = &picker->groups[row->at];
	flag = picker->search[0] ? &group->closed_found : &group->open;
	*is_open = picker->search[0] ? !*flag : *flag;
	return flag;
}

static int add_events(struct picker *picker, const struct model *model)
{
	size_t title = picker->list.n;
	int ret = 0;

	for (size_t i = 0; i < model->status.n_events && !ret; i++) {
		const struct engine_event_status *event = &model->status.events[i];

		/* Dropped events without samples are not shown. */
		if (!event->open && !event->error && !event->samples)
			continue;
		if (picker->search[0] && views_match(event->name, picker->search) < 0)
			continue;
		if (picker->list.n == title)
			ret = add(picker, ROW_PROFILE, 0, 0);
		if (!ret && !picker->profile_closed)
			ret = add(picker, ROW_EVENT, 1, i);
	}
	return ret;
}

static int add_groups(struct picker *picker)
{
	bool whole_open = false;
	int ret = 0;

	for (size_t g = 0; g < picker->n_groups && !ret; g++) {
		const struct picker_group *group = &picker->groups[g];
		const struct picker_row row = {ROW_GROUP, group->is_part, g};
		bool open;

		if ((group->is_part && !whole_open) || (picker->search[0] && !group->found))
			continue;
		picker_fold(picker, &row, &open);
		if (!group->is_part)
			whole_open = open;
		ret = add(picker, ROW_GROUP, group->is_part, g);
		for (size_t i = 0; open && !group->has_parts && i < group->n && !ret; i++)
			if (picker->found[group->first + i])
				ret = add(picker, ROW_ENTRY, group->is_part + 1, group->first + i);
	}
	return ret;
}

static int add_note(struct picker *picker)
{
	const struct offers_list *offers = &picker->offers;
	bool nothing = picker->search[0] && !picker->list.n;
	char why[200] = "";

	picker->note[0] = '\0';
	if (offers->tracepoints_error)
		explain_tracefs(offers->tracepoints_error, why, sizeof(why));
	if (why[0] >= 'a' && why[0] <= 'z')
		why[0] = (char)(why[0] - 'a' + 'A');
	if (offers->error)
		snprintf(picker->note, sizeof(picker->note),
			"What this machine offers cannot be read: %s",
			explain_errno(offers->error));
	else if (!offers->entries)
		snprintf(
			picker->note, sizeof(picker->note), "Reading what this machine offers ...");
	else if (nothing)
		snprintf(picker->note, sizeof(picker->note),
			"Nothing here is called or described so%s%s", why[0] ? ". " : "", why);
	else if (!picker->search[0])
		snprintf(picker->note, sizeof(picker->note), "%s", why);
	return picker->note[0] ? add(picker, ROW_NOTE, 0, 0) : 0;
}

/* --- the cursor --- */

const struct picker_row *picker_row(const struct picker *picker)
{
	return picker->list.cursor < picker->list.n ? &picker->rows[picker->list.cursor] : NULL;
}

static size_t identity(const struct picker_row *row, const struct model *model)
{
	return row->kind == ROW_EVENT ? model->status.events[row->at].id : row->at;
}

void picker_remember(struct picker *picker, const struct screen *screen)
{
	const struct picker_row *row = picker_row(picker);

	picker->fresh = false;
	if (!row)
		return;
	picker->selected = *row;
	picker->selected.at = identity(row, screen->model);
}

static void stick(struct picker *picker, const struct screen *screen)
{
	size_t at = picker->list.cursor;

	for (size_t i = 0; i < picker->list.n; i++) {
		const struct picker_row *row = &picker->rows[i];

		if (row->kind == picker->selected.kind &&
			identity(row, screen->model) == picker->selected.at)
			at = i;
	}
	/* If the row is gone, the cursor stays at its index. */
	list_set_cursor(&picker->list, picker->fresh ? 0 : at);
}

int picker_rows(struct picker *picker, struct screen *screen)
{
	struct model *model = screen->model;
	int ret = 0;

	model->queries->offers->list(model, &picker->offers);
	if (picker->offers.entries && !picker->found) {
		picker->n_groups = 0;
		ret = make_groups(picker);
		find_entries(picker);
	}
	if (ret)
		return ret;
	count_states(picker, model);
	picker->list.n = 0;
	ret = add_events(picker, model);
	if (!ret)
		ret = add_groups(picker);
	if (!ret)
		ret = add_note(picker);
	stick(picker, screen);
	return ret;
}

void picker_reveal(struct picker *picker)
{
	const size_t at = picker->selected.at;

	for (size_t g = 0; picker->selected.kind == ROW_ENTRY && g < picker->n_groups; g++) {
		struct picker_group *group = &picker->groups[g];

		group->open |= at >= group->first && at < group->first + group->n;
	}
}

/* The cursor goes to the first matching event, not to the title of its group. */
void picker_search(struct picker *picker, struct screen *screen, const char *text)
{
	snprintf(picker->search, sizeof(picker->search), "%s", text);
	for (size_t g = 0; g < picker->n_groups; g++)
		picker->groups[g].closed_found = false;
	find_entries(picker);
	if (picker_rows(picker, screen) || !text[0])
		return;
	for (size_t i = 0; i < picker->list.n; i++) {
		if (picker->rows[i].kind != ROW_ENTRY)
			continue;
		list_set_cursor(&picker->list, i);
		break;
	}
	picker_remember(picker, screen);
}

/* --- entries --- */

/* "cycles:u" and "msr/tsc/u" are the entries "cycles" and "msr/tsc/". */
static bool same_event(const char *full, const char *name)
{
	size_t len = strlen(name);

	return len && !strncmp(full, name, len) &&
		(full[len] == '\0' || full[len] == ':' || name[len - 1] == '/');
}

const struct engine_event_status *picker_status(
	const struct model *model, const struct catalogue_entry *entry)
{
	const struct engine_event_status *found = NULL;

	for (size_t i = 0; i < model->status.n_events; i++) {
		const struct engine_event_status *event = &model->status.events[i];

		if (!same_event(event->name, entry->name) &&
			!(entry->alias && same_event(event->name, entry->alias)))
			continue;
		if (!found || event->open)
			found = event;
	}
	return found;
}

void picker_asked(struct picker *picker, const struct model *model)
{
	picker->asked_ns = model->now_ns;
	picker->asked_note = model->status.last_note;
}

size_t picker_mark(const struct picker *picker, size_t entry)
{
	for (size_t i = 0; i < picker->n_marked; i++)
		if (picker->marked[i] == entry)
			return i;
	return SIZE_MAX;
}
