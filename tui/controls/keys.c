/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - the table of key bindings and the functions that read it.
 *
 * Keys follow the habits of users: perf and htop in lists, vim for movement.  A key has one action
 * per view: bindings of the view come first, then those of lists, then those of all views.
 */
#include "tui/controls/keys.h"

#include "tui/controls/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SORTED_VIEWS (KEYS_HOT | KEYS_GROUPED | KEYS_THREADS | KEYS_PROCESSES | KEYS_COUNTERS)
#define SEARCHED_VIEWS (SORTED_VIEWS | KEYS_BREAKDOWN | KEYS_ANNOTATE | KEYS_CALLS | KEYS_FLAME)

static const struct binding defaults[] = {
	{ACT_OPEN, KEYS_HOT, {INPUT_ENTER}, NULL, "runs in",
		"Show which processes and threads the selected symbol runs in"},
	{ACT_OPEN, KEYS_GROUPED, {INPUT_ENTER}, NULL, "its symbols",
		"Go back to symbols, with only the samples of this row"},
	{ACT_CALLS, KEYS_HOT | KEYS_GROUPED, {'c'}, NULL, "callers",
		"Show who calls the symbol, and what it calls"},
	{ACT_ANNOTATE, KEYS_HOT | KEYS_GROUPED, {'a'}, NULL, "annotate",
		"Show source and instructions, with what was sampled on each"},
	{ACT_FLAME, KEYS_HOT | KEYS_GROUPED, {'g'}, NULL, "flames",
		"Show the flame graph: all calls at once, as wide as their share"},
	{ACT_THREADS, KEYS_HOT | KEYS_GROUPED, {'t'}, NULL, "threads",
		"Show threads, processes, commands or CPUs: their shares, and who ran when"},
	{ACT_GROUP, KEYS_HOT | KEYS_GROUPED, {'R'}, NULL, "rows",
		"Choose what rows are: symbols, images, lines, threads, fields of samples"},
	{ACT_SEARCH, KEYS_HOT | KEYS_GROUPED | KEYS_LATE, {'/'}, NULL, "search",
		"Search a row by a part of its name"},
	{ACT_SEARCH_NEXT, SEARCHED_VIEWS, {'n'}, NULL, NULL, "Go to the next match of the search"},
	{ACT_SEARCH_PREVIOUS, SEARCHED_VIEWS, {'N'}, NULL, NULL,
		"Go to the previous match of the search"},
	{ACT_FILTER, KEYS_HOT | KEYS_GROUPED | KEYS_LATE, {'\\'}, NULL, "filter",
		"Show only rows with this text in symbol or image; empty shows all"},
	{ACT_INCLUDE, KEYS_HOT | KEYS_GROUPED | KEYS_CALLS | KEYS_FLAME | KEYS_THREADS, {'I'}, NULL,
		NULL, "Show only samples with what is selected"},
	{ACT_EXCLUDE,
		KEYS_HOT | KEYS_GROUPED | KEYS_CALLS | KEYS_FLAME | KEYS_BREAKDOWN | KEYS_THREADS,
		{'X'}, NULL, NULL, "Leave out all samples with what is selected"},
	{ACT_WIDEN, KEYS_HOT | KEYS_GROUPED | KEYS_THREADS, {INPUT_BACKSPACE}, NULL, NULL,
		"Take the last filter back"},
	{ACT_OPEN, KEYS_THREADS, {INPUT_ENTER}, NULL, "only this",
		"Go back to the table, with only the samples of this row"},
	{ACT_GROUP, KEYS_THREADS, {'t'}, NULL, "group",
		"Change between threads, processes, commands and CPUs"},
	{ACT_SEARCH, KEYS_THREADS, {'/'}, NULL, "search",
		"Search a row by a part of its command, pid, tid or symbol"},
	{ACT_FILTER, KEYS_THREADS | KEYS_LATE, {'\\'}, NULL, "filter",
		"Show only rows with this text in command, pid, tid or symbol"},
	{ACT_SORT_NEXT, SORTED_VIEWS | KEYS_LATE, {'s'}, NULL, "sort", "Sort by the next column"},
	{ACT_SORT_LEFT, SORTED_VIEWS, {'<'}, NULL, NULL, "Sort by the column to the left"},
	{ACT_SORT_RIGHT, SORTED_VIEWS, {'>'}, NULL, NULL, "Sort by the column to the right"},
	{ACT_SORT_SELF, KEYS_HOT | KEYS_GROUPED, {'S'}, NULL, NULL, "Sort by self share"},
	{ACT_SORT_TOTAL, KEYS_HOT | KEYS_GROUPED, {'T'}, NULL, NULL, "Sort by total share"},
	{ACT_REVERSE, SORTED_VIEWS, {'r'}, NULL, NULL, "Reverse the order"},
	{ACT_KERNEL, KEYS_HOT | KEYS_GROUPED | KEYS_LATE, {'K'}, NULL, "kernel",
		"Show or hide kernel symbols"},
	{ACT_SIDE_BY_SIDE, KEYS_HOT | KEYS_GROUPED, {'v'}, NULL, NULL,
		"Show several events side by side, as columns"},
	{ACT_FETCH, KEYS_HOT, {'D'}, NULL, NULL,
		"Ask debuginfod servers for the debug file of the symbol's image"},

	{ACT_OPEN, KEYS_GROUPING, {INPUT_ENTER}, NULL, "choose",
		"Make this what the rows of the table are"},

	{ACT_FIELDS, KEYS_HOT | KEYS_GROUPED, {'f'}, NULL, NULL,
		"Show all samples of the event by one of their fields"},

	{ACT_GROUP, KEYS_BREAKDOWN, {'t', INPUT_ENTER}, NULL, "group",
		"Group by process, thread, CPU, or the next field of the samples"},
	{ACT_SEARCH, KEYS_BREAKDOWN | KEYS_LATE, {'/'}, NULL, "search",
		"Search a row by a part of its command, pid, tid or field"},
	{ACT_INCLUDE, KEYS_BREAKDOWN, {'I'}, NULL, "only this",
		"Show only samples of the selected row: of this thread, for example"},
	{ACT_FIELDS, KEYS_BREAKDOWN, {'f'}, NULL, "fields", "Choose what to group by from a list"},

	{ACT_FOLLOW, KEYS_ANNOTATE, {INPUT_ENTER}, NULL, "follow",
		"Follow the selected jump, or open the function that is called"},
	{ACT_RETURN, KEYS_ANNOTATE, {INPUT_BACKSPACE}, NULL, NULL,
		"Go back to where the last jump or call was followed"},
	{ACT_HOTTER, KEYS_ANNOTATE, {'h'}, NULL, "hottest",
		"Go to the hottest row, and on to the next hottest"},
	{ACT_COOLER, KEYS_ANNOTATE, {'H'}, NULL, NULL, "Go back to the next hotter row"},
	{ACT_MODE, KEYS_ANNOTATE, {'s'}, NULL, "source",
		"Show source and instructions, source alone, or instructions alone"},
	{ACT_SYNTAX, KEYS_ANNOTATE, {'x'}, NULL, "syntax", "Change between AT&T and Intel syntax"},
	{ACT_SEARCH, KEYS_ANNOTATE, {'/'}, NULL, "search", "Search a text in the rows"},
	{ACT_EDIT, KEYS_ANNOTATE, {'e'}, NULL, "edit",
		"Open the source at this line in $VISUAL or $EDITOR"},
	{ACT_GOTO, KEYS_ANNOTATE, {':'}, NULL, NULL,
		"Go to a source line, or to an address (0x...)"},
	{ACT_ARROWS, KEYS_ANNOTATE, {'J', 'o'}, NULL, NULL, "Show or hide the arrows of jumps"},
	{ACT_SIDE_BY_SIDE, KEYS_ANNOTATE, {'v'}, NULL, NULL,
		"Show the shares of several events side by side"},

	{ACT_OPEN, KEYS_CALLS, {INPUT_ENTER}, NULL, "open", "Open or close the row"},
	{ACT_EXPAND, KEYS_CALLS, {INPUT_RIGHT, 'l'}, NULL, NULL,
		"Open the row, or go to the first one in it"},
	{ACT_COLLAPSE, KEYS_CALLS, {INPUT_LEFT, 'h'}, NULL, NULL,
		"Close the row, or go to the one that it is in"},
	{ACT_CALLS, KEYS_CALLS, {'c'}, NULL, "centre",
		"Put the symbol in the middle: its callers, and what it calls"},
	{ACT_RETURN, KEYS_CALLS, {INPUT_BACKSPACE}, NULL, NULL,
		"Go back to the symbol that was in the middle before"},
	{ACT_SHAPE, KEYS_CALLS, {'t'}, NULL, "tree",
		"Change between one symbol's calls, the call tree, and callers"},
	{ACT_ANNOTATE, KEYS_CALLS, {'a'}, NULL, "annotate",
		"Show source and instructions, with what was sampled on each"},
	{ACT_FLAME, KEYS_CALLS, {'g'}, NULL, NULL, "Show the symbol in the flame graph"},
	{ACT_SEARCH, KEYS_CALLS, {'/'}, NULL, "search", "Search a symbol, in closed rows too"},
	{ACT_HOLD, KEYS_CALLS, {'o'}, NULL, "hold", "Hold the order of the rows, or let them move"},

	{ACT_OPEN, KEYS_FLAME, {INPUT_ENTER}, NULL, "zoom", "Make the frame as wide as the screen"},
	{ACT_RETURN, KEYS_FLAME, {INPUT_BACKSPACE}, NULL, NULL,
		"Zoom out to where it was before, or take the last filter back"},
	{ACT_COLLAPSE, KEYS_FLAME, {INPUT_LEFT, 'h'}, NULL, NULL, "Go to the frame to the left"},
	{ACT_EXPAND, KEYS_FLAME, {INPUT_RIGHT, 'l'}, NULL, NULL, "Go to the frame to the right"},
	{ACT_SHAPE, KEYS_FLAME, {'t'}, NULL, "turn",
		"Put the outermost frames at the bottom, or on top again"},
	{ACT_SEARCH, KEYS_FLAME, {'/'}, NULL, "search",
		"Search a symbol: its frames light up, their share is told"},
	{ACT_CALLS, KEYS_FLAME, {'c'}, NULL, "callers",
		"Show who calls the symbol, and what it calls"},
	{ACT_ANNOTATE, KEYS_FLAME, {'a'}, NULL, "annotate",
		"Show source and instructions, with what was sampled on each"},
	{ACT_THREAD, KEYS_FLAME, {'T'}, NULL, "thread",
		"Show the heaviest thread alone, then the next one, at last all again"},
	{ACT_COLOUR, KEYS_FLAME, {'d'}, NULL, NULL,
		"Colour frames by their image, or by their change against the baseline (b)"},

	{ACT_OPEN, KEYS_HEAT, {INPUT_ENTER}, NULL, "from, to",
		"Begin a time here; again: it ends here, and all views show it"},
	{ACT_COLLAPSE, KEYS_HEAT, {INPUT_LEFT, 'h'}, NULL, NULL, "Go one second back"},
	{ACT_EXPAND, KEYS_HEAT, {INPUT_RIGHT, 'l'}, NULL, NULL, "Go one second on"},
	{ACT_UP, KEYS_HEAT, {INPUT_UP, 'k'}, NULL, NULL, "Go on by a tenth of a second"},
	{ACT_DOWN, KEYS_HEAT, {INPUT_DOWN, 'j'}, NULL, NULL, "Go back by a tenth of a second"},
	{ACT_PAGE_UP, KEYS_HEAT, {INPUT_PAGE_UP, INPUT_CTRL('B')}, NULL, NULL,
		"Go ten seconds back"},
	{ACT_PAGE_DOWN, KEYS_HEAT, {INPUT_PAGE_DOWN, INPUT_CTRL('F')}, NULL, NULL,
		"Go ten seconds on"},
	{ACT_FIRST, KEYS_HEAT, {INPUT_HOME, 'g'}, NULL, NULL, "Go to the oldest second"},
	{ACT_LAST, KEYS_HEAT, {INPUT_END, 'G'}, NULL, NULL, "Go to the newest, and on with it"},

	{ACT_ONLY, KEYS_PROCESSES, {INPUT_ENTER}, NULL, "only this",
		"Profile only this process: follow it, let go of the others"},
	{ACT_ADD, KEYS_PROCESSES, {'a'}, NULL, "add", "Follow this process as well"},
	{ACT_DROP, KEYS_PROCESSES, {'d'}, NULL, "detach", "Let go of this process"},
	{ACT_TOGGLE, KEYS_PROCESSES, {'x'}, NULL, NULL, "Follow this process, or let go of it"},
	{ACT_SEARCH, KEYS_PROCESSES, {'/'}, NULL, "search",
		"Search a process by a part of its pid, user or command"},
	{ACT_FILTER, KEYS_PROCESSES | KEYS_LATE, {'\\'}, NULL, "filter",
		"Show only processes with this text in pid, user or command"},
	{ACT_KERNEL, KEYS_PROCESSES, {'K'}, NULL, "kernel", "Show or hide kernel threads"},

	{ACT_TOGGLE, KEYS_EVENTS, {INPUT_ENTER}, NULL, "add or drop",
		"Open this event or all marked ones, or close it; open or close a group"},
	{ACT_MARK, KEYS_EVENTS, {' '}, NULL, "mark", "Mark this event, to be added with others"},
	{ACT_GROUP_MARKED, KEYS_EVENTS, {'{'}, NULL, "as group",
		"Add the marked events as one group, counted together"},
	{ACT_SEARCH, KEYS_EVENTS, {'/', '\\'}, NULL, "search",
		"Show only events with this text in name or description"},
	{ACT_TYPE, KEYS_EVENTS, {':', 'e'}, NULL, "type",
		"Type events as for -e; Tab completes, arrows bring back older ones"},
	{ACT_UNFOLD, KEYS_EVENTS, {INPUT_RIGHT, 'l'}, NULL, NULL, "Open this group"},
	{ACT_FOLD, KEYS_EVENTS, {INPUT_LEFT, 'h'}, NULL, NULL,
		"Close this group, or go to the title of the group"},

	{ACT_OPEN, KEYS_COUNTERS, {INPUT_ENTER}, NULL, "show",
		"Go back to the table, with the samples of this event"},
	{ACT_SEARCH, KEYS_COUNTERS | KEYS_LATE, {'/'}, NULL, "search",
		"Search an event by a part of its name or filter"},
	{ACT_TOGGLE, KEYS_COUNTERS, {'x'}, NULL, "on/off",
		"Switch this event off, or on again; of a group's first all of it"},
	{ACT_RATE, KEYS_COUNTERS, {'p'}, NULL, "period",
		"Sample the event at another frequency (997 Hz) or period (10000)"},
	{ACT_EVENT_FILTER, KEYS_COUNTERS, {'f', '\\'}, NULL, "filter",
		"Let the kernel filter this tracepoint by its fields; empty: no more"},
	{ACT_MOVE, KEYS_COUNTERS, {'b'}, NULL, "move",
		"Move this breakpoint to another address or symbol"},
	{ACT_DROP, KEYS_COUNTERS, {'d'}, NULL, "drop", "Close this event; its samples stay"},
	{ACT_PAUSE, KEYS_COUNTERS, {'O'}, NULL, "pause",
		"Pause the output of all events, or let it go on; counting goes on"},

	{ACT_UP, KEYS_LIST, {INPUT_UP, 'k'}, NULL, NULL, "Go one row up"},
	{ACT_DOWN, KEYS_LIST, {INPUT_DOWN, 'j'}, NULL, NULL, "Go one row down"},
	{ACT_PAGE_UP, KEYS_LIST, {INPUT_PAGE_UP, INPUT_CTRL('B')}, NULL, NULL, "Go one page up"},
	{ACT_PAGE_DOWN, KEYS_LIST, {INPUT_PAGE_DOWN, INPUT_CTRL('F')}, NULL, NULL,
		"Go one page down"},
	{ACT_HALF_UP, KEYS_LIST, {INPUT_CTRL('U')}, NULL, NULL, "Go half a page up"},
	{ACT_HALF_DOWN, KEYS_LIST, {INPUT_CTRL('D')}, NULL, NULL, "Go half a page down"},
	{ACT_FIRST, KEYS_LIST, {INPUT_HOME, 'g'}, NULL, NULL,
		"Go to the first row, and stay on top"},
	{ACT_LAST, KEYS_LIST, {INPUT_END, 'G'}, NULL, NULL, "Go to the last row"},

	{ACT_EARLIER, KEYS_ALL, {'['}, "[ ]", "time",
		"Look at an earlier time: half a window back"},
	{ACT_LATER, KEYS_ALL, {']'}, NULL, NULL, "Look at a later time, in the end at the newest"},
	{ACT_LONGER, KEYS_ALL, {'{'}, NULL, NULL, "Look at twice as long a time"},
	{ACT_SHORTER, KEYS_ALL, {'}'}, NULL, NULL, "Look at half as long a time"},
	{ACT_BUSIEST, KEYS_ALL, {'!'}, NULL, "spike",
		"Look at the busiest moment; again: the next busiest"},
	{ACT_HEAT, KEYS_ALL, {'m'}, NULL, "heat map",
		"Show the heat map: seconds and tenths of them, to choose a time from"},
	{ACT_LIVE, KEYS_ALL, {'.'}, NULL, NULL,
		"Return to the newest; of a recording, to all of it"},

	{ACT_EVENT_NEXT, KEYS_ALL, {INPUT_TAB}, NULL, "event", "Switch to the next event"},
	{ACT_EVENT_PREVIOUS, KEYS_ALL, {INPUT_BACK_TAB}, NULL, NULL,
		"Switch to the previous event"},
	{ACT_EVENT_NUMBER, KEYS_ALL, {0}, "1 .. 9", NULL, "Switch to the event of this number"},
	{ACT_FREEZE, KEYS_ALL, {' '}, NULL, "freeze",
		"Freeze the display, or let it go on; sampling never stops"},
	{ACT_NARROW, KEYS_ALL, {'&'}, NULL, "only",
		"Show only what passes a filter: comm~^ng & !image:libc*; -1 drops it"},
	{ACT_BASELINE, KEYS_ALL, {'b'}, NULL, NULL,
		"Compare with the time now shown, its baseline; again: no more"},
	{ACT_BASELINE_FILE, KEYS_ALL, {'B'}, NULL, NULL,
		"Compare with a recording: read one, to be the baseline"},
	{ACT_FASTER, KEYS_ALL, {'+', '='}, "+", "rate", "Sample the event more often"},
	{ACT_SLOWER, KEYS_ALL, {'-'}, NULL, NULL, "Sample the event less often"},
	{ACT_CALL_GRAPH, KEYS_ALL, {'U'}, NULL, NULL,
		"Take call chains in another way: auto, fp, dwarf, no (--call-graph)"},
	{ACT_ZERO, KEYS_ALL, {'z'}, NULL, NULL,
		"Start from zero: show only what comes from now on"},
	{ACT_IDLE, KEYS_ALL, {'i'}, NULL, NULL, "Show or hide the kernel's idle loop"},
	{ACT_PROCESSES, KEYS_ALL, {'P'}, NULL, "processes", "Pick the processes to profile"},
	{ACT_EVENTS, KEYS_ALL, {'E'}, NULL, "events", "Pick the events to sample"},
	{ACT_COUNTERS, KEYS_ALL, {'C'}, NULL, "counters",
		"Show how much and how fast events count, and change them"},
	{ACT_LOG, KEYS_ALL, {'L'}, NULL, "log",
		"Show the log: what happened, and what the command printed"},
	{ACT_SNAPSHOT, KEYS_ALL, {'F'}, NULL, NULL,
		"Take a snapshot: the flight recorder's last seconds become the samples"},
	{ACT_SAVE, KEYS_ALL, {'W'}, NULL, NULL,
		"Write the samples to a file for strobe and perf, or stop that"},
	{ACT_EXPORT, KEYS_ALL, {'x'}, NULL, NULL,
		"Export the samples shown: .svg, .folded, .pb.gz ..., or FORMAT FILE"},
	{ACT_WRITE, KEYS_ALL, {'w'}, NULL, NULL,
		"Write the screen to a file, as text, or coloured as .html or .svg"},
	{ACT_THEME, KEYS_ALL, {'Y'}, NULL, NULL,
		"Change the theme: dark, light, mono, colour-blind safe"},
	{ACT_HELP, KEYS_ALL, {'?'}, NULL, "help", "Show this help"},
	{ACT_REDRAW, KEYS_ALL, {INPUT_CTRL('L')}, NULL, NULL, "Draw the whole screen again"},
	{ACT_BACK, KEYS_ALL, {INPUT_ESCAPE}, NULL, NULL,
		"Clear search and filter; else leave this view; in the table, return to live"},
	{ACT_QUIT, KEYS_ALL, {'q'}, NULL, "quit", "Quit; in another view, act like Esc"},
};

const struct binding *keys_defaults(size_t *n)
{
	*n = sizeof(defaults) / sizeof(*defaults);
	return defaults;
}

static bool has_key(const struct binding *binding, uint32_t key)
{
	if (binding->action == ACT_EVENT_NUMBER)
		return key >= '1' && key <= '9';
	for (int i = 0; i < KEYS_PER_BINDING && binding->keys[i]; i++) {
		if (binding->keys[i] == key)
			return true;
	}
	return false;
}

enum action keys_find(enum keys_view view, uint32_t key)
{
	const unsigned int order[] = {view, KEYS_LIST, KEYS_ALL};
	size_t n;
	const struct binding *table = keys_table(&n);

	if (key == '\r')
		key = INPUT_ENTER;
	if (key == INPUT_CTRL('H'))
		key = INPUT_BACKSPACE;
	for (size_t step = 0; step < sizeof(order) / sizeof(*order); step++) {
		for (size_t i = 0; i < n; i++) {
			if ((table[i].views & order[step]) && has_key(&table[i], key))
				return table[i].action;
		}
	}
	return ACT_NONE;
}

void keys_name(uint32_t key, bool ascii, char *out, size_t size)
{
	static const struct {
		uint32_t key;
		const char *name, *ascii;
	} names[] = {
		{INPUT_TAB, "Tab", "Tab"},
		{INPUT_ENTER, "↵", "Enter"},
		{INPUT_ESCAPE, "Esc", "Esc"},
		{' ', "Space", "Space"},
		{INPUT_UP, "↑", "Up"},
		{INPUT_DOWN, "↓", "Down"},
		{INPUT_LEFT, "←", "Left"},
		{INPUT_RIGHT, "→", "Right"},
		{INPUT_HOME, "Home", "Home"},
		{INPUT_END, "End", "End"},
		{INPUT_PAGE_UP, "PgUp", "PgUp"},
		{INPUT_PAGE_DOWN, "PgDn", "PgDn"},
		{INPUT_BACK_TAB, "Shift-Tab", "Shift-Tab"},
		{INPUT_DELETE, "Del", "Del"},
		{INPUT_INSERT, "Ins", "Ins"},
		{INPUT_BACKSPACE, "Backspace", "Backspace"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (names[i].key == key) {
			snprintf(out, size, "%s", ascii ? names[i].ascii : names[i].name);
			return;
		}
	}
	if (key < ' ')
		snprintf(out, size, "^%c", (char)(key + '@'));
	else if (key < 0x7f)
		snprintf(out, size, "%c", (char)key);
	else
		snprintf(out, size, "?");
}

void keys_label(const struct binding *binding, bool ascii, char *out, size_t size)
{
	size_t len = 0;

	if (binding->label) {
		snprintf(out, size, "%s", binding->label);
		return;
	}
	out[0] = '\0';
	for (int i = 0; i < KEYS_PER_BINDING && binding->keys[i]; i++) {
		char name[16];
		int n;

		keys_name(binding->keys[i], ascii, name, sizeof(name));
		n = snprintf(out + len, size - len, "%s%s", len ? " " : "", name);
		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
	}
}

const char *keys_view_title(unsigned int view)
{
	switch (view) {
	case KEYS_ALL:
		return "everywhere";
	case KEYS_LIST:
		return "moving";
	case KEYS_HOT:
		return "hot symbols";
	case KEYS_BREAKDOWN:
		return "one symbol";
	case KEYS_PROCESSES:
		return "process picker";
	case KEYS_EVENTS:
		return "event picker";
	case KEYS_LOG:
		return "log";
	case KEYS_HELP:
		return "help";
	case KEYS_ANNOTATE:
		return "annotate";
	case KEYS_CALLS:
		return "calls";
	case KEYS_FLAME:
		return "flame graph";
	case KEYS_THREADS:
		return "threads";
	case KEYS_HEAT:
		return "heat map";
	case KEYS_GROUPED:
		return "other rows";
	case KEYS_GROUPING:
		return "choice of rows";
	case KEYS_COUNTERS:
		return "counters";
	default:
		return NULL;
	}
}

char *keys_dump(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	size_t n;
	const struct binding *table = keys_defaults(&n);

	if (!out)
		return NULL;
	for (unsigned int view = KEYS_ALL; view <= KEYS_GROUPING; view <<= 1) {
		for (size_t i = 0; i < n; i++) {
			char label[64];

			if (!(table[i].views & view))
				continue;
			keys_label(&table[i], true, label, sizeof(label));
			fprintf(out, "%s\t%s\t%s\n", keys_view_title(view), label, table[i].help);
		}
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
