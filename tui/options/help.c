/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help.c - the texts of --help: the purpose of each command, and its options from the table.
 */
#include "tui/controls/keys.h"
#include "tui/controls/theme.h"
#include "tui/options/args.h"
#include "tui/session/request.h"

#include <string.h>

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

	/* Wrap the text at blanks. */
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
		[ARGS_FILES] = "Recordings",
		[ARGS_FILTERS] = "Filters (! before a value leaves out; * and ? as in a shell)",
		[ARGS_SAMPLING] = "Sampling",
		[ARGS_OUTPUT] = "Rows",
		[ARGS_SCREEN] = "Screen",
		[ARGS_GENERAL] = "General",
	};
	size_t n;
	const struct args_option *options = args_options(&n);
	int section = -1;

	for (size_t i = 0; i < n; i++) {
		if (!(options[i].commands & command))
			continue;
		if ((int)options[i].section != section) {
			section = (int)options[i].section;
			fprintf(out, "\n%s:\n",
				command == ARGS_STAT && section == ARGS_SAMPLING ? "Counting"
					: command == ARGS_STAT && section == ARGS_FILES
					? "Files"
					: titles[section]);
		}
		print_option(out, &options[i]);
	}
}

/* The first part of each command's help; the options follow. */
static const struct {
	int command;
	unsigned int bit;
	const char *text;
} heads[] = {
	{CMD_LIVE, ARGS_LIVE,
		"Usage: strobe [live] [TARGET | FILE] [OPTIONS] [[--] COMMAND [ARG...]]\n\n"
		"Watch where the time of a process or of the machine goes, while it goes; or look\n"
		"at a recording in the same way.  Press ? on the screen for its keys.\n"},
	{CMD_REPORT, ARGS_REPORT,
		"Usage: strobe report [TARGET | FILE] [OPTIONS] [[--] COMMAND [ARG...]]\n\n"
		"Sample until the duration is over, the target ends, or Ctrl-C, or read a\n"
		"recording; and print the hot symbols once.\n\n"
		"With a recording -p, -t, -n and -C choose among what was recorded.\n"},
	{CMD_RECORD, ARGS_RECORD,
		"Usage: strobe record [TARGET] [-o FILE] [OPTIONS] [[--] COMMAND [ARG...]]\n\n"
		"Sample until the duration is over, the target ends, or Ctrl-C, into a file that\n"
		"strobe and perf can read (default: strobe.data).\n"},
	{CMD_EXPORT, ARGS_EXPORT,
		"Usage: strobe export [TARGET | FILE] --format FORMAT [-o OUT] [OPTIONS]\n"
		"              [[--] COMMAND [ARG...]]\n\n"
		"Write samples, of a recording or of a target, in the form of another tool.\n\n"
		"With a recording -p, -t, -n and -C choose among what was recorded.\n"},
	{CMD_ANNOTATE, ARGS_ANNOTATE,
		"Usage: strobe annotate [TARGET | FILE] [SYMBOL] [OPTIONS] [-- COMMAND "
		"[ARG...]]\n\n"
		"Where the time of a function goes: its source and instructions with their "
		"shares,\n"
		"of a recording or of a target.  SYMBOL is its name or a part of it; without one\n"
		"the hottest function is shown.\n\n"
		"With a recording -p, -t, -n and -C choose among what was recorded.\n"},
	{CMD_STAT, ARGS_STAT,
		"Usage: strobe stat [TARGET] [-e EVENTS] [OPTIONS] [[--] COMMAND [ARG...]]\n\n"
		"Count events until the duration is over, the target ends, or Ctrl-C, and print\n"
		"the counts, with rates and ratios.  Nothing is sampled.\n"},
	{CMD_DIFF, ARGS_DIFF,
		"Usage: strobe diff FILE FILE [FILE...] [OPTIONS]\n\n"
		"What changed between recordings: shares of each symbol, what is new and what is\n"
		"gone, compared with the first.\n\n"
		"Here -p, -t, -n and -C choose among what was recorded.\n"},
	{CMD_ARCHIVE, ARGS_ARCHIVE,
		"Usage: strobe archive FILE [-o OUT] [OPTIONS]\n\n"
		"Pack a recording with the programs, libraries and debug files that its symbols\n"
		"need, to be looked at on another machine.\n"},
	{CMD_LIST, ARGS_LIST,
		"Usage: strobe list [PATTERN] [TARGET] [OPTIONS]\n\n"
		"The events that this machine offers, and whether each opens for this user and\n"
		"target.  PATTERN is a part of a name or description, or has * and ? as in a\n"
		"shell; the name of one tracepoint shows its fields.\n"},
	{CMD_DOCTOR, ARGS_DOCTOR,
		"Usage: strobe doctor\n\n"
		"What this user may profile on this machine, and how to be allowed more.\n"},
};

/* Prints the default key bindings as lines of a configuration. */
static void print_keys(FILE *out)
{
	size_t n;
	const struct binding *table = keys_defaults(&n);
	char view_name[32], key[16];

	for (unsigned int view = KEYS_ALL; keys_view_name(view, view_name, sizeof(view_name));
		view <<= 1) {
		for (size_t i = 0; i < n; i++) {
			const struct binding *binding = &table[i];

			if (!(binding->views & view) || !binding->keys[0])
				continue;
			fprintf(out, "# %s\n", binding->help);
			for (int k = 0; k < KEYS_PER_BINDING && binding->keys[k]; k++) {
				keys_name(binding->keys[k], true, key, sizeof(key));
				fprintf(out, "key %s %s %s\n", view_name, key,
					keys_action_name(binding->action));
			}
		}
	}
}

static void print_colors(FILE *out)
{
	for (int i = 0; i < STYLE_COUNT; i++)
		if (theme_style_name((enum style)i))
			fprintf(out, "%s\n", theme_style_name((enum style)i));
}

void args_help(FILE *out, int command)
{
	unsigned int every = 0;

	if (command == ARGS_HELP_KEYS) {
		print_keys(out);
		return;
	}
	if (command == ARGS_HELP_COLORS) {
		print_colors(out);
		return;
	}

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		every |= heads[i].bit;
		if (heads[i].command != command)
			continue;
		fputs(heads[i].text, out);
		print_options(out, heads[i].bit);
		return;
	}
	fputs("strobe is a live profiler for the Linux terminal.\n\n"
	      "Usage:\n"
	      "  strobe [live] [TARGET | FILE]        the interactive profiler\n"
	      "  strobe report [TARGET | FILE]        hot symbols once, as text, CSV or JSON\n"
	      "  strobe record [TARGET] [-o FILE]     samples into a file, for later\n"
	      "  strobe annotate [TARGET | FILE] [SYMBOL]\n"
	      "                                       source and instructions with their shares\n"
	      "  strobe export [TARGET | FILE]        samples in the form of another tool\n"
	      "  strobe diff FILE FILE [FILE...]      what changed between recordings\n"
	      "  strobe archive FILE                  a recording packed with its programs\n"
	      "  strobe stat [TARGET]                 events counted, not sampled\n"
	      "  strobe list [PATTERN]                events of this machine, and whether they "
	      "work here\n"
	      "  strobe doctor                        what is permitted here, and how to get "
	      "more\n\n"
	      "A target is chosen by the options below, or is a command to start; FILE is a\n"
	      "recording of strobe or perf, an archive, or - for standard input:\n"
	      "  strobe -p 4711        strobe -n postgres        strobe -- make -j2\n"
	      "  strobe perf.data      strobe diff before.data after.data\n",
		out);
	print_options(out, every);
	fputs("\nstrobe COMMAND --help shows the options of one command.\n"
	      "Exit status: 0 on success, 2 for a wrong command line, 1 for any other failure.\n",
		out);
}
