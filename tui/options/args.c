/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.c - getopt_long(3) driven by the option table of table.c.
 *
 * Values are checked completely.  An error message names the offending text.
 */
#include "tui/options/args.h"

#include "sampler/control/config.h"
#include "sampler/events/clash.h"
#include "sampler/events/event.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/explain/explain.h"
#include "tui/options/config.h"
#include "tui/options/private.h"
#include "tui/session/request.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY (256ull << 20)
#define DEFAULT_DELAY_MS 500u

static const struct {
	const char *name;
	unsigned int command, bit;
} commands[] = {
	{"live", CMD_LIVE, ARGS_LIVE},
	{"report", CMD_REPORT, ARGS_REPORT},
	{"record", CMD_RECORD, ARGS_RECORD},
	{"export", CMD_EXPORT, ARGS_EXPORT},
	{"diff", CMD_DIFF, ARGS_DIFF},
	{"archive", CMD_ARCHIVE, ARGS_ARCHIVE},
	{"annotate", CMD_ANNOTATE, ARGS_ANNOTATE},
	{"stat", CMD_STAT, ARGS_STAT},
	{"list", CMD_LIST, ARGS_LIST},
	{"doctor", CMD_DOCTOR, ARGS_DOCTOR},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

int args_refuse(struct args *args, const char *format, ...)
{
	char raw[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(raw, sizeof(raw), format, list);
	va_end(list);
	clean_string(args->message, args->size, raw);
	return -EINVAL;
}

int args_no_memory(struct args *args)
{
	clean_string(args->message, args->size, "out of memory");
	return -ENOMEM;
}

int args_choose(
	struct args *args, const char *option, const char *text, const char *const *words, int *out)
{
	char list[128] = "";

	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*out = i;
			return 0;
		}
		strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
		strncat(list, words[i], sizeof(list) - strlen(list) - 1);
	}
	return args_refuse(args, "%s '%s': must be one of %s", option, text, list);
}

int args_add_word(struct args *args, char ***words, size_t *n, const char *text, size_t len)
{
	if (grow_exact(words, *n + 1, sizeof(**words)))
		return args_no_memory(args);
	(*words)[*n] = strndup(text, len);
	if (!(*words)[*n])
		return args_no_memory(args);
	(*n)++;
	return 0;
}

const char *args_given_text(const struct args_given *given, char *out, size_t size)
{
	if (given->by_letter)
		snprintf(out, size, "-%c", given->option->letter);
	else
		snprintf(out, size, "--%s", given->option->name);
	return out;
}

/* Formats the option as the user wrote it, for an error message. */
static void option_text(char *out, size_t size, char **argv)
{
	const char *word = argv[optind - 1];

	if (!strncmp(word, "--", 2))
		snprintf(out, size, "%.*s", (int)strcspn(word, "="), word);
	else
		snprintf(out, size, "-%c", optopt);
}

static int unknown_option(struct args *args, char **argv)
{
	const struct args_option *option = NULL;
	char text[128];

	if (optopt >= ARGS_ID_BASE)
		option = args_option_of(0, optopt);
	if (option && option->name && !option->value)
		return args_refuse(args, "option '--%s' takes no value", option->name);
	/* A letter in a group such as -gx has not advanced optind. */
	if (optopt)
		snprintf(text, sizeof(text), "-%c", optopt);
	else
		option_text(text, sizeof(text), argv);
	return args_refuse(args, "unknown option '%s': see strobe --help", text);
}

const char *args_command_name(int command)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if ((int)commands[i].command == command)
			return commands[i].name;
	return "live";
}

static unsigned int command_bit(int command)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if ((int)commands[i].command == command)
			return commands[i].bit;
	return ARGS_LIVE;
}

static int add_given(struct args *args, const struct args_given *given)
{
	if (grow_exact(&args->given, args->n_given + 1, sizeof(*args->given)))
		return args_no_memory(args);
	args->given[args->n_given++] = *given;
	return 0;
}

/* Handles one result of getopt_long(): stores the option, or sets *ended after --help or
 * --version. */
static int read_option(struct args *args, int got, char **argv, bool *ended)
{
	struct request *request = &args->request;
	struct args_given given = {.value = optarg, .by_letter = got < ARGS_ID_BASE};
	char text[128];

	if (got == '?')
		return unknown_option(args, argv);
	if (got == ':') {
		option_text(text, sizeof(text), argv);
		return args_refuse(args, "option '%s' needs a value", text);
	}
	given.option = args_option_of(command_bit((int)request->command), got);
	switch (args_id_of(given.option)) {
	case ARG_HELP:
		request->help_command = request->command_given ? (int)request->command : CMD_HELP;
		request->command = CMD_HELP;
		*ended = true;
		return 0;
	case ARG_VERSION:
		request->command = CMD_VERSION;
		*ended = true;
		return 0;
	}
	if (!(given.option->commands & command_bit((int)request->command)))
		return args_refuse(args, "option '%s' is not one of strobe %s",
			args_given_text(&given, text, sizeof(text)),
			args_command_name((int)request->command));
	if (args_id_of(given.option) == ARG_INPUT)
		return args_add_file(args, optarg);
	return add_given(args, &given);
}

/* Takes the words from argv[optind] on, after "--". */
static int take_rest(struct args *args, int argc, char **argv)
{
	struct request *request = &args->request;
	int error = 0;

	if (optind == argc)
		return request->command == CMD_LIVE || request->command == CMD_REPORT ||
				request->command == CMD_RECORD || request->command == CMD_EXPORT ||
				request->command == CMD_ANNOTATE || request->command == CMD_STAT
			? args_refuse(args, "'--': the command to profile is missing after it")
			: 0;
	if (request->command == CMD_DOCTOR)
		return args_refuse(args, "'%s': doctor takes no arguments", argv[optind]);
	if (request->command == CMD_DIFF || request->command == CMD_ARCHIVE) {
		for (; optind < argc && !error; optind++)
			error = args_add_file(args, argv[optind]);
		return error;
	}
	if (request->command == CMD_LIST)
		return args_refuse(args, "'%s': list takes one pattern", argv[optind]);
	if (request->n_files)
		return args_refuse(args, "'%s': a command cannot be joined with the recording '%s'",
			argv[optind], request->files[0]);
	request->engine.target.command = argv + optind;
	return 0;
}

/* Reads all words.  Options are only stored, since their meaning depends on all words. */
static int read_words(struct args *args, int argc, char **argv, bool *ended)
{
	struct option longs[ARGS_TABLE_MAX + 1];
	char shorts[3 * ARGS_TABLE_MAX + 4];
	struct request *request = &args->request;
	int error = 0;

	args_getopt_tables(command_bit((int)request->command), shorts, longs);
	opterr = 0;
	optind = 0; /* glibc: forget the state of an earlier call */
	while (!error && !*ended) {
		int before = optind ? optind : 1;
		int got = getopt_long(argc, argv, shorts, longs, NULL);
		bool taken;

		if (got != -1) {
			error = read_option(args, got, argv, ended);
			continue;
		}
		if (optind > before)
			return take_rest(args, argc, argv);
		if (optind == argc)
			break;
		if (request->command == CMD_DOCTOR)
			return take_rest(args, argc, argv);
		error = args_take_word(args, argv[optind], &taken);
		if (!error && !taken) {
			request->engine.target.command = argv + optind;
			break;
		}
		optind++;
	}
	return error;
}

static bool is_sampling(int id)
{
	switch (id) {
	case ARG_USER:
	case ARG_CGROUP:
	case ARG_ALL:
		return true;
	case ARG_EVENT: /* also a filter */
	case ARG_NO_CHAIN: /* also leaves chains unread */
	case ARG_MEMORY:
		return false;
	default:
		return id > ARG_EVENT && id <= ARG_WATERMARK;
	}
}

static int apply_options(struct args *args)
{
	static int (*const kinds[])(struct args * args, int id, const char *text) = {
		args_apply_target,
		args_apply_filter,
		args_apply_sampling,
		args_apply_data,
		args_apply_rows,
		args_apply_screen,
	};
	struct request *request = &args->request;

	for (size_t i = 0; i < args->n_given; i++) {
		const struct args_given *given = &args->given[i];
		int id = args_id_of(given->option), error = -ENOENT;
		char text[64];

		if (request->n_files && is_sampling(id))
			return args_refuse(args,
				"option '%s' is for sampling, and '%s' is recorded already",
				args_given_text(given, text, sizeof(text)), request->files[0]);
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]) && error == -ENOENT; k++)
			error = kinds[k](args, id, given->value);
		if (error)
			return error;
	}
	return 0;
}

/* Takes the word after "strobe" if it is a command name.  Returns the number of words taken. */
static int parse_command(struct args *args, int argc, char **argv)
{
	struct request *request = &args->request;

	request->command = CMD_LIVE;
	if (argc < 2)
		return 0;
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		request->command_given = true;
		request->command = commands[i].command;
		return 1;
	}
	if (strcmp(argv[1], "help"))
		return 0;
	/* "strobe help report" is equivalent to "strobe report --help". */
	request->command = CMD_HELP;
	request->help_command = CMD_HELP;
	if (argc < 3)
		return 0;
	if (!strcmp(argv[2], "keys") || !strcmp(argv[2], "colors")) {
		request->help_command = argv[2][0] == 'k' ? ARGS_HELP_KEYS : ARGS_HELP_COLORS;
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[2], commands[i].name))
			continue;
		request->help_command = (int)commands[i].command;
		return 0;
	}
	return args_refuse(args, "'%s': no such command", argv[2]);
}

/* Completes the events, and how often to sample. */
static int finish_events(struct args *args)
{
	/* stat samples nothing, and its default is a list of events. */
	if (args->request.command == CMD_STAT)
		return 0;
	if (args->freq_hz || args->period)
		args->request.given |= 1u << CONFIG_RATE;
	if (args->freq_hz && args->period)
		return args_refuse(args, "-F and -c contradict each other: give one of them");
	if (!args->n_events) {
		args->events = malloc(sizeof(*args->events));
		if (!args->events)
			return args_no_memory(args);
		event_default(&args->events[0]);
		args->n_events = 1;
	}
	for (size_t i = 0; i < args->n_events; i++) {
		if (args->period)
			event_set_period(&args->events[i], args->period);
		else
			event_set_freq(&args->events[i],
				args->freq_hz ? args->freq_hz : EVENT_DEFAULT_FREQ_HZ);
	}
	return 0;
}

static bool is_by_cgroup(const struct request *request)
{
	for (size_t i = 0; i < request->n_groups; i++)
		if (request->groups[i] == GROUP_CGROUP)
			return true;
	return false;
}

static int finish_cgroups(struct args *args, bool named)
{
	struct request *request = &args->request;
	struct engine_target *target = &request->engine.target;
	size_t events = args->n_events ? args->n_events : 1;

	if (named)
		return args_refuse(args,
			"-G '%s': a cgroup is all of its tasks: it cannot be joined with -p, -t, "
			"-n or -u",
			request->cgroups[0]);
	if (request->per == STAT_PER_THREAD || request->per == STAT_PER_PROCESS)
		return args_refuse(args,
			"-G '%s': a cgroup is counted on CPUs, not for each thread or process",
			request->cgroups[0]);
	if (request->command != CMD_STAT && events * request->n_cgroups > ENGINE_EVENTS_MAX)
		return args_refuse(args, "-G: %zu events for each of %zu cgroups are more than %d",
			events, request->n_cgroups, ENGINE_EVENTS_MAX);
	if (request->n_cgroups > CGROUPS_MAX)
		return args_refuse(args, "-G: more than %d cgroups", CGROUPS_MAX);
	target->system_wide = true;
	if (request->n_cgroups > 1 && !is_by_cgroup(request) && request->command == CMD_REPORT &&
		!args->columns_given && request->view == REPORT_FLAT)
		request->columns = COLUMNS_CGROUP;
	return 0;
}

static int check_flight(struct args *args)
{
	const struct engine_config *engine = &args->request.engine;

	if (engine->flight_s <= 0)
		return engine->flight_trigger.percent > 0
			? args_refuse(args, "--flight-trigger needs --flight-recorder SECONDS")
			: 0;
	if (engine->scope == SCOPE_INHERIT)
		return args_refuse(args,
			"--flight-recorder and --scope inherit contradict each other: inherited "
			"events "
			"share buffers that are read all the time");
	if (engine->stack_bytes && !engine->stack_adapts)
		return args_refuse(args,
			"the flight recorder copies no stacks: --call-graph auto, fp, lbr or no");
	return 0;
}

static int check_kept_stacks(struct args *args)
{
	const struct engine_config *engine = &args->request.engine;

	if (engine->keep_stacks && (!engine->stack_bytes || engine->flight_s > 0))
		return args_refuse(args,
			"--keep-stacks keeps the copies of --call-graph auto or dwarf, which are "
			"not taken here");
	return 0;
}

/* The engine repeats this check for events that are added later. */
static int check_clashes(struct args *args)
{
	const struct request *request = &args->request;
	const struct event_use use = {
		.counted = request->command == CMD_STAT,
		.recorded = request->command == CMD_RECORD,
		.flight = request->engine.flight_s > 0,
	};
	const struct event_spec **events = calloc(args->n_events + 1, sizeof(*events));
	struct event_clash clash;
	bool found;

	if (!events)
		return args_no_memory(args);
	for (size_t i = 0; i < args->n_events; i++)
		events[i] = &args->events[i];
	found = event_clash_find(events, args->n_events, &use, &clash);
	free(events);
	if (!found)
		return 0;
	explain_event_clash(&clash, args->message, args->size);
	return -EINVAL;
}

static int check_following(struct args *args, bool named)
{
	struct engine_config *engine = &args->request.engine;

	if (engine->no_kernel_chain && engine->no_user_chain)
		return args_refuse(args,
			"--kernel-callchains and --user-callchains contradict each other: for "
			"both, give neither");
	if ((engine->own_threads || engine->inherit_stat) && !named &&
		!engine_target_is_command(&engine->target))
		return args_refuse(args,
			"%s is of a command, or of the processes that -p, -t, -n or -u name",
			engine->own_threads ? "--own-threads" : "--stat");
	if (engine->until_exec && engine_target_is_command(&engine->target))
		return args_refuse(args,
			"--until-exec: '%s' is begun with as it is executed, which would end it",
			engine->target.command[0]);
	if (engine->until_exec && (!named || engine->scope == SCOPE_CPU || engine->flight_s > 0))
		return args_refuse(args,
			"--until-exec is of the processes that -p, -t, -n or -u name, not of "
			"whole CPUs%s",
			engine->flight_s > 0 ? ", nor with --flight-recorder" : "");
	if (!engine->inherit_stat)
		return 0;
	if (engine->scope != SCOPE_AUTO && engine->scope != SCOPE_INHERIT)
		return args_refuse(args,
			"--stat: what each thread counted is told of inherited events, that is "
			"with --scope inherit");
	engine->scope = SCOPE_INHERIT;
	return 0;
}

static int finish_target(struct args *args)
{
	struct request *request = &args->request;
	struct engine_target *target = &request->engine.target;
	bool named = args->n_pids || args->n_tids || request->n_names || request->n_users;
	int error;

	for (size_t i = 0; i < request->n_users; i++) {
		uid_t uid;

		if (session_find_user(request->users[i], &uid))
			return args_refuse(
				args, "-u '%s': there is no such user", request->users[i]);
	}
	if (target->system_wide && named)
		return args_refuse(
			args, "-a is the whole machine: it cannot be joined with -p, -t, -n or -u");
	if (request->command == CMD_LIVE && (request->time_from_s > 0 || request->time_to_s > 0))
		return args_refuse(args, "--time needs a recording, or strobe report");

	if (request->n_cgroups && finish_cgroups(args, named))
		return -EINVAL;
	if (!named && args->n_cpus)
		target->system_wide = true;
	/* Like perf: with a command, the other targets are sampled for as long as the command
	 * runs. */
	target->stopwatch = target->command && (named || target->system_wide);
	error = check_following(args, named);
	if (!error)
		error = check_flight(args);
	if (!error)
		error = check_kept_stacks(args);
	if (!error)
		error = check_clashes(args);
	if (error)
		return error;
	request->target_by_default = !named && !target->command && !target->system_wide;
	return finish_events(args);
}

/* Completes and checks the request once all words are known. */
static int finish(struct args *args)
{
	struct request *request = &args->request;
	bool needs_files = request->command == CMD_DIFF || request->command == CMD_ARCHIVE;
	int error = apply_options(args);

	if (error || request->command == CMD_DOCTOR)
		return error;
	if (request->command == CMD_EXPORT && !args->format_given)
		return args_refuse(args,
			"strobe export needs --format%s: folded, speedscope, pprof, callgrind, "
			"svg, "
			"script or gecko",
			request->engine.target.command ? ", before the command" : "");
	if (request->columns != COLUMNS_NONE && request->view != REPORT_FLAT)
		return args_refuse(args,
			"--columns and %s contradict each other: a tree has no columns",
			args_view_option(request->view));
	if (is_by_cgroup(request) &&
		(request->columns == COLUMNS_EVENT || request->columns == COLUMNS_CGROUP))
		return args_refuse(args,
			"--group cgroup and --columns %s contradict each other: rows or columns "
			"are "
			"of cgroups, not both",
			request->columns == COLUMNS_EVENT ? "event" : "cgroup");
	if (is_by_cgroup(request) && !request->n_cgroups && !request->n_files)
		return args_refuse(args,
			"--group cgroup tells apart the cgroups that -G names, and there is none");
	if (request->source_tree && (request->symbol || args->format_given))
		return args_refuse(args,
			"--source-tree is of all functions, and has a form of its own: neither a "
			"symbol nor --format goes with it");
	if (request->repeat && request->interval_ms)
		return args_refuse(args,
			"--repeat and --interval contradict each other: means are of whole runs");
	if (request->repeat && !request->engine.target.command)
		return args_refuse(args, "--repeat needs a command to run");
	if (!request->n_files && !needs_files)
		error = finish_target(args);
	if (!error)
		error = args_check_fields(args);
	return error ? error : args_check_files(args);
}

int args_parse(struct request *out, int argc, char **argv, char *message, size_t size)
{
	struct args args = {.message = message, .size = size};
	struct engine_config *engine = &args.request.engine;
	bool ended = false;
	int error, taken;

	memset(out, 0, sizeof(*out));
	if (size)
		message[0] = '\0';
	engine->callchain = engine->stack_adapts = true;
	engine->stack_bytes = ENGINE_STACK_BYTES;
	engine->memory_bytes = DEFAULT_MEMORY;
	engine->target.command_output_fd = -1;
	args.request.delay_ms = DEFAULT_DELAY_MS;
	args.request.percent_limit = -1;
	args.request.columns = COLUMNS_NONE;

	taken = parse_command(&args, argc, argv);
	error = taken < 0 ? taken : 0;
	ended = args.request.command == CMD_HELP;
	if (args.request.command == CMD_ANNOTATE)
		args.request.rows = SIZE_MAX; /* not given */
	if (!error)
		error = read_words(&args, argc - taken, argv + taken, &ended);
	if (!error && !ended)
		error = finish(&args);
	free(args.given);
	engine->events = args.events;
	engine->n_events = args.n_events;
	engine->target.pids = args.pids;
	engine->target.n_pids = args.n_pids;
	engine->target.tids = args.tids;
	engine->target.n_tids = args.n_tids;
	engine->target.cpus = args.cpus;
	engine->target.n_cpus = args.n_cpus;
	if (error)
		args_fini(&args.request);
	else
		*out = args.request;
	return error;
}

static void free_words(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
}

void args_fini(struct request *request)
{
	free_words(request->names, request->n_names);
	free_words(request->users, request->n_users);
	free_words(request->cgroups, request->n_cgroups);
	free_words(request->event_names, request->n_event_names);
	free(request->debug_dirs);
	free(request->source_prefixes);
	for (size_t i = 0; i < request->n_terms; i++)
		free(request->terms[i].text);
	free(request->terms);
	for (size_t i = 0; i < request->n_only; i++)
		expr_fini(&request->only[i]);
	free(request->only);
	free(request->files);
	free((void *)request->engine.events);
	free((void *)request->engine.target.pids);
	free((void *)request->engine.target.tids);
	free((void *)request->engine.target.cpus);
	memset(request, 0, sizeof(*request));
}
