/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args_table.c - every option of strobe, once; and the help text made of it.
 *
 * The manual page and the completions are checked against this table.
 */
#include "tui/args_table.h"

#include <string.h>

#define BOTH (ARGS_LIVE | ARGS_REPORT)
#define EVERY (BOTH | ARGS_DOCTOR)

static const struct args_option table[ARGS_TABLE_MAX] = {
	[ARG_PID] = {'p', "pid", "PID[,PID]", BOTH, ARGS_TARGETS,
		"these processes, and the children they start from now on"},
	[ARG_TID] = {'t', "tid", "TID[,TID]", BOTH, ARGS_TARGETS, "these threads"},
	[ARG_N] = {'n', NULL, "NAME[,NAME]", BOTH, ARGS_TARGETS,
		"processes of this command name (in report, a mere number means --rows)"},
	[ARG_NAME] = {0, "name", "NAME[,NAME]", BOTH, ARGS_TARGETS,
		"the same, also for names that are numbers"},
	[ARG_USER] = {'u', "user", "USER[,USER]", BOTH, ARGS_TARGETS,
		"processes of this user, by name or number"},
	[ARG_CPU] = {'C', "cpu", "CPUS", BOTH, ARGS_TARGETS, "only what runs on these CPUs: 0-3,8"},
	[ARG_ALL] = {'a', "all-cpus", NULL, BOTH, ARGS_TARGETS,
		"the whole machine (the default where it is permitted)"},

	[ARG_EVENT] = {'e', "event", "EVENT[,EVENT]", BOTH, ARGS_SAMPLING,
		"what to sample: cycles, cpu-clock, page-faults:u ... (default: cycles, else "
		"cpu-clock)"},
	[ARG_FREQ] = {'F', "freq", "HZ", BOTH, ARGS_SAMPLING,
		"samples per second of each CPU, or 'max' (default: 997)"},
	[ARG_PERIOD] = {'c', "count", "PERIOD", BOTH, ARGS_SAMPLING,
		"one sample every PERIOD events, instead of -F"},
	[ARG_CHAIN] = {'g', NULL, NULL, BOTH, ARGS_SAMPLING, "with call chains (the default)"},
	[ARG_CALL_GRAPH] = {0, "call-graph", "MODE", BOTH, ARGS_SAMPLING,
		"how call chains are taken: fp (frame pointers)"},
	[ARG_NO_CHAIN] = {0, "no-call-graph", NULL, BOTH, ARGS_SAMPLING,
		"without call chains: cheaper, and total equals self"},
	[ARG_MAX_STACK] = {0, "max-stack", "N", BOTH, ARGS_SAMPLING,
		"at most N frames of a call chain (default: the kernel's limit)"},
	[ARG_DURATION] = {0, "duration", "SECONDS", BOTH, ARGS_SAMPLING, "end after this time"},
	[ARG_SCOPE] = {0, "scope", "SCOPE", BOTH, ARGS_SAMPLING,
		"how a process tree is covered: auto, task, cpu or inherit"},
	[ARG_NO_CREDIT] = {0, "no-credit", NULL, BOTH, ARGS_SAMPLING,
		"let the kernel sample on when strobe falls behind"},
	[ARG_MEMORY] = {0, "memory", "SIZE", BOTH, ARGS_SAMPLING,
		"for the history; when it is full, old times get coarser (default: 256M)"},
	[ARG_RING_PAGES] = {0, "ring-pages", "N", BOTH, ARGS_SAMPLING,
		"size of a kernel buffer, a power of two (default: chosen)"},

	[ARG_FORMAT] = {0, "format", "FORMAT", ARGS_REPORT, ARGS_OUTPUT,
		"text, csv or json (default: text)"},
	[ARG_SORT] = {0, "sort", "SHARE", BOTH, ARGS_OUTPUT, "self or total (default: self)"},
	[ARG_PERCENT_LIMIT] = {0, "percent-limit", "P", ARGS_REPORT, ARGS_OUTPUT,
		"leave out rows whose share (of the sorted kind) is below P percent"},
	[ARG_ROWS] = {0, "rows", "ROWS", ARGS_REPORT, ARGS_OUTPUT,
		"at most so many rows per event; 0 is all (default: all)"},
	[ARG_NO_IDLE] = {0, "no-idle", NULL, BOTH, ARGS_OUTPUT, "leave out the kernel's idle loop"},

	[ARG_DELAY] = {'d', "delay", "MS", ARGS_LIVE, ARGS_SCREEN,
		"milliseconds between two refreshes (default: 500)"},
	[ARG_ASCII] = {0, "ascii", NULL, ARGS_LIVE, ARGS_SCREEN, "draw with ASCII characters only"},
	[ARG_MONO] = {0, "mono", NULL, ARGS_LIVE, ARGS_SCREEN, "draw without colours"},
	[ARG_NO_MOUSE] = {0, "no-mouse", NULL, ARGS_LIVE, ARGS_SCREEN,
		"leave the mouse to the terminal"},
	[ARG_COLOR] = {0, "color", "WHEN", ARGS_LIVE, ARGS_SCREEN,
		"auto, never or always (default: auto; NO_COLOR is obeyed)"},

	[ARG_SNAPSHOT] = {0, "snapshot", "COLSxROWS", ARGS_LIVE, ARGS_SCREEN,
		"print the screen as text after --duration, and end (default: 2 seconds)"},

	[ARG_CACHE_DIR] = {0, "cache-dir", "DIR", BOTH, ARGS_GENERAL,
		"where symbol tables are kept; '' keeps none (default: ~/.cache/strobe)"},
	[ARG_HELP] = {'h', "help", NULL, EVERY, ARGS_GENERAL, "show this help"},
	[ARG_VERSION] = {'V', "version", NULL, EVERY, ARGS_GENERAL, "show the version"},
};

const struct args_option *args_options(size_t *n)
{
	*n = ARGS_TABLE_MAX;
	return table;
}

void args_getopt_tables(
	char shorts[3 * ARGS_TABLE_MAX + 4], struct option longs[ARGS_TABLE_MAX + 1])
{
	size_t n = 0;

	/* "+": options end where a command begins; ":": tell a missing value from an unknown option. */
	*shorts++ = '+';
	*shorts++ = ':';
	for (int i = 0; i < ARGS_TABLE_MAX; i++) {
		if (table[i].letter) {
			*shorts++ = table[i].letter;
			if (table[i].value)
				*shorts++ = ':';
		}
		if (table[i].name)
			longs[n++] = (struct option){table[i].name,
				table[i].value ? required_argument : no_argument, NULL,
				ARGS_ID_BASE + i};
	}
	*shorts = '\0';
	longs[n] = (struct option){0};
}

const struct args_option *args_option_of(int got)
{
	if (got >= ARGS_ID_BASE)
		return got - ARGS_ID_BASE < ARGS_TABLE_MAX ? &table[got - ARGS_ID_BASE] : NULL;
	for (int i = 0; i < ARGS_TABLE_MAX; i++)
		if (got && table[i].letter == got)
			return &table[i];
	return NULL;
}

int args_id_of(const struct args_option *option)
{
	return (int)(option - table);
}

static void print_option(FILE *out, const struct args_option *option)
{
	char form[64], letter[8] = "    ";

	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c%s", option->letter,
			option->name ? ", " : "  ");
	snprintf(form, sizeof(form), "%s%s%s%s%s", letter, option->name ? "--" : "",
		option->name ? option->name : "", option->value ? " " : "",
		option->value ? option->value : "");
	if (strlen(form) > 25)
		fprintf(out, "  %s\n  %25s", form, "");
	else
		fprintf(out, "  %-25s", form);

	/* Wrap the sentence at blanks. */
	const char *text = option->help;
	const size_t room = 52;

	while (strlen(text) > room) {
		size_t len = room;

		while (len && text[len] != ' ')
			len--;
		if (!len)
			break;
		fprintf(out, " %.*s\n  %25s", (int)len, text, "");
		text += len + 1;
	}
	fprintf(out, " %s\n", text);
}

static void print_options(FILE *out, unsigned int command)
{
	static const char *const titles[] = {
		[ARGS_TARGETS] = "Targets",
		[ARGS_SAMPLING] = "Sampling",
		[ARGS_OUTPUT] = "Rows",
		[ARGS_SCREEN] = "Screen",
		[ARGS_GENERAL] = "General",
	};
	int section = -1;

	for (int i = 0; i < ARGS_TABLE_MAX; i++) {
		if (!(table[i].commands & command))
			continue;
		if ((int)table[i].section != section) {
			section = (int)table[i].section;
			fprintf(out, "\n%s:\n", titles[section]);
		}
		print_option(out, &table[i]);
	}
}

void args_help(FILE *out, int command)
{
	switch (command) {
	case CMD_LIVE:
		fputs("Usage: strobe [live] [TARGET] [OPTIONS] [[--] COMMAND [ARG...]]\n\n"
		      "Watch where the time of a process or of the machine goes, while it goes.\n"
		      "Press ? on the screen for its keys.\n",
			out);
		print_options(out, ARGS_LIVE);
		break;
	case CMD_REPORT:
		fputs("Usage: strobe report [TARGET] [OPTIONS] [[--] COMMAND [ARG...]]\n\n"
		      "Sample until the duration is over, the target ends, or Ctrl-C, and print "
		      "the hot\n"
		      "symbols once.\n",
			out);
		print_options(out, ARGS_REPORT);
		break;
	case CMD_DOCTOR:
		fputs("Usage: strobe doctor\n\n"
		      "What this user may profile on this machine, and how to be allowed more.\n",
			out);
		print_options(out, ARGS_DOCTOR);
		break;
	default:
		fputs("strobe is a live profiler for the Linux terminal.\n\n"
		      "Usage:\n"
		      "  strobe [live] [TARGET] [OPTIONS]     the interactive profiler\n"
		      "  strobe report [TARGET] [OPTIONS]     hot symbols once, as text, CSV or "
		      "JSON\n"
		      "  strobe doctor                        what is permitted here, and how to "
		      "get more\n\n"
		      "A target is chosen by the options below, or is a command to start:\n"
		      "  strobe -p 4711        strobe -n postgres        strobe -- make -j2\n",
			out);
		print_options(out, ARGS_LIVE | ARGS_REPORT);
		fputs("\nstrobe COMMAND --help shows the options of one command.\n"
		      "Exit status: 0 on success, 2 for a wrong command line, 1 for any other "
		      "failure.\n",
			out);
		break;
	}
}
