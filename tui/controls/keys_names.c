/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys_names.c - names of actions, views and keys in a configuration.
 *
 * Users write these names into files, so a name must not change, even if the action's key does.
 */
#include "tui/base/utf8.h"
#include "tui/controls/keys.h"

#include "tui/controls/input.h"

#include <stdio.h>
#include <string.h>

/* No default case, so the compiler reports an action without a name. */
const char *keys_action_name(enum action action)
{
	switch (action) {
	case ACT_NONE:
		return NULL;
	case ACT_UP:
		return "up";
	case ACT_DOWN:
		return "down";
	case ACT_PAGE_UP:
		return "page-up";
	case ACT_PAGE_DOWN:
		return "page-down";
	case ACT_HALF_UP:
		return "half-up";
	case ACT_HALF_DOWN:
		return "half-down";
	case ACT_FIRST:
		return "first";
	case ACT_LAST:
		return "last";
	case ACT_OPEN:
		return "open";
	case ACT_SORT_NEXT:
		return "sort-next";
	case ACT_SORT_LEFT:
		return "sort-left";
	case ACT_SORT_RIGHT:
		return "sort-right";
	case ACT_SORT_SELF:
		return "sort-self";
	case ACT_SORT_TOTAL:
		return "sort-total";
	case ACT_REVERSE:
		return "reverse";
	case ACT_SEARCH:
		return "search";
	case ACT_SEARCH_NEXT:
		return "search-next";
	case ACT_SEARCH_PREVIOUS:
		return "search-previous";
	case ACT_FILTER:
		return "filter";
	case ACT_KERNEL:
		return "kernel";
	case ACT_SIDE_BY_SIDE:
		return "side-by-side";
	case ACT_FETCH:
		return "fetch";
	case ACT_GROUP:
		return "group";
	case ACT_FIELDS:
		return "fields";
	case ACT_ONLY:
		return "only";
	case ACT_ADD:
		return "add";
	case ACT_DROP:
		return "drop";
	case ACT_TOGGLE:
		return "toggle";
	case ACT_MARK:
		return "mark";
	case ACT_GROUP_MARKED:
		return "group-marked";
	case ACT_UNFOLD:
		return "unfold";
	case ACT_FOLD:
		return "fold";
	case ACT_TYPE:
		return "type";
	case ACT_RATE:
		return "rate";
	case ACT_EVENT_FILTER:
		return "event-filter";
	case ACT_MOVE:
		return "move";
	case ACT_PAUSE:
		return "pause";
	case ACT_ANNOTATE:
		return "annotate";
	case ACT_FOLLOW:
		return "follow";
	case ACT_RETURN:
		return "return";
	case ACT_MODE:
		return "mode";
	case ACT_SYNTAX:
		return "syntax";
	case ACT_HOTTER:
		return "hotter";
	case ACT_COOLER:
		return "cooler";
	case ACT_GOTO:
		return "goto";
	case ACT_EDIT:
		return "edit";
	case ACT_ARROWS:
		return "arrows";
	case ACT_CALLS:
		return "calls";
	case ACT_EXPAND:
		return "expand";
	case ACT_COLLAPSE:
		return "collapse";
	case ACT_SHAPE:
		return "shape";
	case ACT_HOLD:
		return "hold";
	case ACT_FLAME:
		return "flame";
	case ACT_NARROW:
		return "narrow";
	case ACT_INCLUDE:
		return "include";
	case ACT_EXCLUDE:
		return "exclude";
	case ACT_WIDEN:
		return "widen";
	case ACT_BASELINE:
		return "baseline";
	case ACT_BASELINE_FILE:
		return "baseline-file";
	case ACT_COLOUR:
		return "colour";
	case ACT_EARLIER:
		return "earlier";
	case ACT_LATER:
		return "later";
	case ACT_LONGER:
		return "longer";
	case ACT_SHORTER:
		return "shorter";
	case ACT_BUSIEST:
		return "busiest";
	case ACT_LIVE:
		return "live";
	case ACT_EVENT_NEXT:
		return "event-next";
	case ACT_EVENT_PREVIOUS:
		return "event-previous";
	case ACT_EVENT_NUMBER:
		return "event-number";
	case ACT_FREEZE:
		return "freeze";
	case ACT_FASTER:
		return "faster";
	case ACT_SLOWER:
		return "slower";
	case ACT_CALL_GRAPH:
		return "call-graph";
	case ACT_ZERO:
		return "zero";
	case ACT_IDLE:
		return "idle";
	case ACT_PROCESSES:
		return "processes";
	case ACT_EVENTS:
		return "events";
	case ACT_COUNTERS:
		return "counters";
	case ACT_LOG:
		return "log";
	case ACT_WRITE:
		return "write-screen";
	case ACT_EXPORT:
		return "export";
	case ACT_SAVE:
		return "save";
	case ACT_SNAPSHOT:
		return "snapshot";
	case ACT_THREAD:
		return "thread";
	case ACT_THREADS:
		return "threads";
	case ACT_HEAT:
		return "heat-map";
	case ACT_THEME:
		return "theme";
	case ACT_HELP:
		return "help";
	case ACT_REDRAW:
		return "redraw";
	case ACT_BACK:
		return "back";
	case ACT_QUIT:
		return "quit";
	}
	return NULL;
}

enum action keys_action_of(const char *name)
{
	size_t n;
	const struct binding *table = keys_defaults(&n);

	for (size_t i = 0; i < n; i++) {
		const char *known = keys_action_name(table[i].action);

		if (known && !strcmp(known, name))
			return table[i].action;
	}
	return ACT_NONE;
}

bool keys_view_name(unsigned int view, char *out, size_t size)
{
	const char *title = keys_view_title(view);

	if (!title)
		return false;
	snprintf(out, size, "%s", title);
	for (char *at = out; *at; at++) {
		if (*at == ' ')
			*at = '-';
	}
	return true;
}

enum keys_view keys_view_of(const char *name)
{
	char known[64];

	for (unsigned int view = KEYS_ALL; keys_view_name(view, known, sizeof(known)); view <<= 1) {
		if (!strcmp(known, name))
			return (enum keys_view)view;
	}
	return (enum keys_view)0;
}

/* Parses a name of one UTF-8 character, which is the key. */
static bool single(const char *name, uint32_t *key)
{
	uint32_t glyph;
	size_t bytes = utf8_decode(name, strlen(name), &glyph);

	if (!bytes || name[bytes] || glyph <= ' ' || (glyph >= 0x7f && glyph < 0xa0))
		return false;
	*key = glyph;
	return true;
}

bool keys_key_of(const char *name, uint32_t *key)
{
	static const uint32_t named[] = {INPUT_TAB, INPUT_ENTER, INPUT_ESCAPE, ' ', INPUT_BACKSPACE,
		INPUT_UP, INPUT_DOWN, INPUT_LEFT, INPUT_RIGHT, INPUT_HOME, INPUT_END, INPUT_PAGE_UP,
		INPUT_PAGE_DOWN, INPUT_BACK_TAB, INPUT_DELETE, INPUT_INSERT};
	char known[16];

	*key = 0;
	if (!strcmp(name, "none"))
		return true;
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
		keys_name(named[i], true, known, sizeof(known));
		if (!strcmp(known, name)) {
			*key = named[i];
			return true;
		}
	}
	if (name[0] == '^' && name[1] && !name[2]) {
		/* Keys that the terminal handles never arrive here. */
		if (name[1] >= 'A' && name[1] <= 'Z' && !strchr("CHIJMQSZ", name[1]))
			*key = INPUT_CTRL(name[1]);
		return *key != 0;
	}
	return single(name, key);
}
