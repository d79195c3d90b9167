/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.c - getopt_long(3) driven by the option table of args_table.c.
 *
 * Every value is checked whole; a sentence that refuses one names the offending text.
 */
#include "tui/args.h"

#include "sampler/proc.h"
#include "tui/args_table.h"
#include "tui/clean.h"
#include "tui/explain.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MEMORY (256ull << 20)
#define DEFAULT_DELAY_MS 500u

/* Growing towards a request. */
struct args {
	struct request request;
	struct event_spec *events;
	size_t n_events;
	int32_t *pids, *tids;
	size_t n_pids, n_tids;
	int *cpus;
	size_t n_cpus;
	uint64_t freq_hz, period; /* 0: not given */
	char *message;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct args *args, const char *format, ...)
{
	char raw[512];
	va_list list;

	va_start(list, format);
	vsnprintf(raw, sizeof(raw), format, list);
	va_end(list);
	clean_string(args->message, args->size, raw);
	return -EINVAL;
}

static int no_memory(struct args *args)
{
	clean_string(args->message, args->size, "out of memory");
	return -ENOMEM;
}

static int parse_enum(
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
	return refuse(args, "%s '%s': must be one of %s", option, text, list);
}

/* Append the ids of "12,34". */
static int parse_ids(
	struct args *args, const char *option, const char *text, int32_t **ids, size_t *n)
{
	const char *at = text;

	for (;;) {
		size_t len = strcspn(at, ",");
		char word[16];
		uint64_t value;
		int32_t *grown;

		if (!len)
			return refuse(args, "%s '%s': an id is missing", option, text);
		if (len >= sizeof(word))
			return refuse(args, "%s '%.*s': not a process or thread id", option,
				(int)len, at);
		memcpy(word, at, len);
		word[len] = '\0';
		if (args_number(word, 1, INT32_MAX, &value))
			return refuse(args, "%s '%s': not a process or thread id", option, word);
		grown = reallocarray(*ids, *n + 1, sizeof(**ids));
		if (!grown)
			return no_memory(args);
		*ids = grown;
		(*ids)[(*n)++] = (int32_t)value;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

/* Append the words of "a,b". */
static int parse_words(
	struct args *args, const char *option, const char *text, char ***words, size_t *n)
{
	const char *at = text;

	for (;;) {
		size_t len = strcspn(at, ",");
		char **grown;

		if (!len)
			return refuse(args, "%s '%s': a name is missing", option, text);
		grown = reallocarray(*words, *n + 1, sizeof(**words));
		if (!grown)
			return no_memory(args);
		*words = grown;
		(*words)[*n] = strndup(at, len);
		if (!(*words)[*n])
			return no_memory(args);
		(*n)++;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int parse_cpus(struct args *args, const char *text)
{
	int *cpus;
	size_t n, bad = 0;
	int error = proc_parse_cpu_list(text, &cpus, &n, &bad);

	if (error == -EINVAL)
		return refuse(args, "-C '%s': not a list of CPUs such as 0-3,8 (at '%s')", text,
			bad < strlen(text) ? text + bad : "its end");
	if (error)
		return no_memory(args);
	free(args->cpus);
	args->cpus = cpus;
	args->n_cpus = n;
	return 0;
}

static int parse_events(struct args *args, const char *text)
{
	struct event_spec *specs, *grown;
	struct event_error bad;
	size_t n;
	int error = event_parse_list(text, &specs, &n, &bad);

	if (error == -EINVAL) {
		explain_event_error(text, &bad, args->message, args->size);
		return error;
	}
	if (error)
		return no_memory(args);
	if (n > ENGINE_EVENTS_MAX - args->n_events) {
		free(specs);
		return refuse(args, "-e '%s': more than %d events", text, ENGINE_EVENTS_MAX);
	}
	grown = reallocarray(args->events, args->n_events + n, sizeof(*grown));
	if (!grown) {
		free(specs);
		return no_memory(args);
	}
	args->events = grown;
	memcpy(args->events + args->n_events, specs, n * sizeof(*specs));
	args->n_events += n;
	free(specs);
	return 0;
}

static int parse_freq(struct args *args, const char *text)
{
	struct proc_limits limits;

	if (strcmp(text, "max")) {
		if (args_number(text, 1, 10000000, &args->freq_hz))
			return refuse(args, "-F '%s': not a frequency in Hz, nor 'max'", text);
		return 0;
	}
	proc_limits(&limits);
	if (limits.max_sample_rate < 1)
		return refuse(args, "-F max: kernel.perf_event_max_sample_rate cannot be read");
	args->freq_hz = (uint64_t)limits.max_sample_rate;
	return 0;
}

static int parse_call_graph(struct args *args, const char *text)
{
	if (!strcmp(text, "fp")) {
		args->request.engine.callchain = true;
		return 0;
	}
	if (!strcmp(text, "dwarf") || !strcmp(text, "lbr"))
		return refuse(args, "--call-graph '%s' is not in this version: use fp", text);
	return refuse(args, "--call-graph '%s': must be fp", text);
}

static int apply_target(struct args *args, int id, const char *text)
{
	struct request *request = &args->request;
	uint64_t value;

	switch (id) {
	case ARG_PID:
		return parse_ids(args, "-p", text, &args->pids, &args->n_pids);
	case ARG_TID:
		return parse_ids(args, "-t", text, &args->tids, &args->n_tids);
	case ARG_N:
		/* The letter is perf's for rows and ours for names: see the help text. */
		if (request->command == CMD_REPORT && !args_number(text, 0, SIZE_MAX, &value)) {
			request->rows = (size_t)value;
			return 0;
		}
		return parse_words(args, "-n", text, &request->names, &request->n_names);
	case ARG_NAME:
		return parse_words(args, "--name", text, &request->names, &request->n_names);
	case ARG_USER:
		return parse_words(args, "-u", text, &request->users, &request->n_users);
	case ARG_CPU:
		return parse_cpus(args, text);
	case ARG_ALL:
		request->engine.target.system_wide = true;
		return 0;
	}
	return -ENOENT;
}

static int apply_sampling(struct args *args, int id, const char *text)
{
	static const char *const scopes[] = {
		[SCOPE_AUTO] = "auto",
		[SCOPE_TASK] = "task",
		[SCOPE_CPU] = "cpu",
		[SCOPE_INHERIT] = "inherit",
		NULL,
	};
	struct engine_config *engine = &args->request.engine;
	uint64_t value;
	int choice;

	switch (id) {
	case ARG_EVENT:
		return parse_events(args, text);
	case ARG_FREQ:
		return parse_freq(args, text);
	case ARG_PERIOD:
		if (args_number(text, 1, INT64_MAX, &args->period))
			return refuse(args, "-c '%s': not a number of events above 0", text);
		return 0;
	case ARG_CHAIN:
		engine->callchain = true;
		return 0;
	case ARG_CALL_GRAPH:
		return parse_call_graph(args, text);
	case ARG_NO_CHAIN:
		engine->callchain = false;
		return 0;
	case ARG_MAX_STACK:
		if (args_number(text, 1, STACK_DEPTH_MAX, &value))
			return refuse(args, "--max-stack '%s': not a number of frames from 1 to %d",
				text, STACK_DEPTH_MAX);
		engine->max_stack = (uint16_t)value;
		return 0;
	case ARG_DURATION:
		if (args_decimal(text, 0.001, 1e9, &args->request.duration_s))
			return refuse(
				args, "--duration '%s': not a number of seconds above 0", text);
		return 0;
	case ARG_SCOPE:
		if (parse_enum(args, "--scope", text, scopes, &choice))
			return -EINVAL;
		engine->scope = (enum engine_scope)choice;
		return 0;
	case ARG_NO_CREDIT:
		engine->no_credit = true;
		return 0;
	case ARG_MEMORY:
		if (args_size(text, 4ull << 20, 1ull << 40, &value))
			return refuse(args,
				"--memory '%s': not a size of at least 4M, such as 256M", text);
		engine->memory_bytes = (size_t)value;
		return 0;
	case ARG_RING_PAGES:
		if (args_number(text, 1, 65536, &value) || (value & (value - 1)))
			return refuse(args, "--ring-pages '%s': not a power of two from 1 to 65536",
				text);
		engine->ring_pages = (unsigned int)value;
		return 0;
	}
	return -ENOENT;
}

static int apply_rest(struct args *args, int id, const char *text)
{
	static const char *const formats[] = {
		[REPORT_TEXT] = "text", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL};
	static const char *const sorts[] = {"self", "total", NULL};
	static const char *const colors[] = {
		[COLOR_AUTO] = "auto", [COLOR_NEVER] = "never", [COLOR_ALWAYS] = "always", NULL};
	struct request *request = &args->request;
	uint64_t value;
	int choice;

	switch (id) {
	case ARG_FORMAT:
		if (parse_enum(args, "--format", text, formats, &choice))
			return -EINVAL;
		request->format = (enum report_format)choice;
		return 0;
	case ARG_SORT:
		if (parse_enum(args, "--sort", text, sorts, &choice))
			return -EINVAL;
		request->sort_total = choice == 1;
		return 0;
	case ARG_PERCENT_LIMIT:
		if (args_decimal(text, 0, 100, &request->percent_limit))
			return refuse(
				args, "--percent-limit '%s': not a number from 0 to 100", text);
		return 0;
	case ARG_ROWS:
		if (args_number(text, 0, SIZE_MAX, &value))
			return refuse(args, "--rows '%s': not a number of rows", text);
		request->rows = (size_t)value;
		return 0;
	case ARG_NO_IDLE:
		request->hide_idle = true;
		return 0;
	case ARG_DELAY:
		if (args_number(text, 10, 60000, &value))
			return refuse(args,
				"-d '%s': not a number of milliseconds from 10 to 60000", text);
		request->delay_ms = (unsigned int)value;
		return 0;
	case ARG_ASCII:
		request->ascii = true;
		return 0;
	case ARG_MONO:
		request->mono = true;
		return 0;
	case ARG_SNAPSHOT:
		if (args_geometry(text, &request->snapshot_width, &request->snapshot_height))
			return refuse(args,
				"--snapshot '%s': not a size such as 80x24 (at most 1000x1000)",
				text);
		return 0;
	case ARG_NO_MOUSE:
		request->no_mouse = true;
		return 0;
	case ARG_COLOR:
		if (parse_enum(args, "--color", text, colors, &choice))
			return -EINVAL;
		request->color = (enum color_mode)choice;
		return 0;
	case ARG_CACHE_DIR:
		request->cache_dir = text;
		return 0;
	}
	return -ENOENT;
}

/* The option as the user wrote it, for a sentence. */
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
		option = args_option_of(optopt);
	if (option && option->name && !option->value)
		return refuse(args, "option '--%s' takes no value", option->name);
	/* A letter in a group such as -gx has not advanced optind. */
	if (optopt)
		snprintf(text, sizeof(text), "-%c", optopt);
	else
		option_text(text, sizeof(text), argv);
	return refuse(args, "unknown option '%s': see strobe --help", text);
}

static const char *command_name(int command)
{
	return command == CMD_REPORT ? "report" : command == CMD_DOCTOR ? "doctor" : "live";
}

static unsigned int command_bit(int command)
{
	return command == CMD_REPORT	? ARGS_REPORT
		: command == CMD_DOCTOR ? ARGS_DOCTOR
					: ARGS_LIVE;
}

/* Set by an option that ends the parsing: --help, --version. */
static int parse_options(struct args *args, int argc, char **argv, bool *ended)
{
	struct option longs[ARGS_TABLE_MAX + 1];
	char shorts[3 * ARGS_TABLE_MAX + 4];
	struct request *request = &args->request;
	int got;

	*ended = false;
	args_getopt_tables(shorts, longs);
	opterr = 0;
	optind = 0; /* glibc: forget what an earlier call has seen */
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct args_option *option;
		char text[128];
		int id, error;

		if (got == '?')
			return unknown_option(args, argv);
		if (got == ':') {
			option_text(text, sizeof(text), argv);
			return refuse(args, "option '%s' needs a value", text);
		}
		option = args_option_of(got);
		id = args_id_of(option);
		if (id == ARG_HELP) {
			request->help_command =
				request->command_given ? (int)request->command : CMD_HELP;
			request->command = CMD_HELP;
			*ended = true;
			return 0;
		}
		if (id == ARG_VERSION) {
			request->command = CMD_VERSION;
			*ended = true;
			return 0;
		}
		if (!(option->commands & command_bit((int)request->command))) {
			if (option->name)
				return refuse(args, "option '--%s' is not one of strobe %s",
					option->name, command_name((int)request->command));
			return refuse(args, "option '-%c' is not one of strobe %s", option->letter,
				command_name((int)request->command));
		}
		error = apply_target(args, id, optarg);
		if (error == -ENOENT)
			error = apply_sampling(args, id, optarg);
		if (error == -ENOENT)
			error = apply_rest(args, id, optarg);
		if (error)
			return error;
	}
	return 0;
}

/* The word after "strobe", when it is a command's name; returns how many words were taken. */
static int parse_command(struct args *args, int argc, char **argv)
{
	static const char *const later[] = {
		"record", "annotate", "export", "diff", "stat", "list", NULL};
	struct request *request = &args->request;

	request->command = CMD_LIVE;
	if (argc < 2)
		return 0;
	for (int i = 0; later[i]; i++)
		if (!strcmp(argv[1], later[i]))
			return refuse(args, "'%s' is not in this version", later[i]);
	request->command_given = true;
	if (!strcmp(argv[1], "live"))
		return 1;
	if (!strcmp(argv[1], "report")) {
		request->command = CMD_REPORT;
		return 1;
	}
	if (!strcmp(argv[1], "doctor")) {
		request->command = CMD_DOCTOR;
		return 1;
	}
	request->command_given = false;
	if (!strcmp(argv[1], "help")) {
		/* "strobe help report" is "strobe report --help". */
		request->help_command = CMD_HELP;
		if (argc > 2 && !strcmp(argv[2], "live"))
			request->help_command = CMD_LIVE;
		else if (argc > 2 && !strcmp(argv[2], "report"))
			request->help_command = CMD_REPORT;
		else if (argc > 2 && !strcmp(argv[2], "doctor"))
			request->help_command = CMD_DOCTOR;
		else if (argc > 2)
			return refuse(args, "'%s': no such command", argv[2]);
		request->command = CMD_HELP;
	}
	return 0;
}

/* What the options amount to, once all are known. */
static int finish(struct args *args)
{
	struct request *request = &args->request;
	struct engine_target *target = &request->engine.target;
	bool named = args->n_pids || args->n_tids || request->n_names || request->n_users;

	for (size_t i = 0; i < request->n_users; i++) {
		uid_t uid;

		if (session_find_user(request->users[i], &uid))
			return refuse(args, "-u '%s': there is no such user", request->users[i]);
	}
	if (target->command && (named || target->system_wide))
		return refuse(args, "'%s': a command cannot be joined with %s", target->command[0],
			named ? "-p, -t, -n or -u" : "-a");
	if (target->system_wide && named)
		return refuse(
			args, "-a is the whole machine: it cannot be joined with -p, -t, -n or -u");
	if (args->freq_hz && args->period)
		return refuse(args, "-F and -c contradict each other: give one of them");

	if (!named && !target->command && args->n_cpus)
		target->system_wide = true;
	request->target_by_default = !named && !target->command && !target->system_wide;

	if (!args->n_events) {
		args->events = malloc(sizeof(*args->events));
		if (!args->events)
			return no_memory(args);
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

int args_parse(struct request *out, int argc, char **argv, char *message, size_t size)
{
	struct args args = {.message = message, .size = size};
	struct engine_config *engine = &args.request.engine;
	bool ended = false;
	int error, taken;

	memset(out, 0, sizeof(*out));
	if (size)
		message[0] = '\0';
	engine->callchain = true;
	engine->memory_bytes = DEFAULT_MEMORY;
	engine->target.command_output_fd = -1;
	args.request.delay_ms = DEFAULT_DELAY_MS;

	taken = parse_command(&args, argc, argv);
	error = taken < 0 ? taken : 0;
	if (!error && args.request.command != CMD_HELP)
		error = parse_options(&args, argc - taken, argv + taken, &ended);
	if (!error && !ended && args.request.command != CMD_HELP) {
		if (optind < argc - taken) {
			if (args.request.command == CMD_DOCTOR)
				error = refuse(&args, "'%s': doctor takes no arguments",
					argv[taken + optind]);
			engine->target.command = argv + taken + optind;
		} else if (args.request.command != CMD_DOCTOR &&
			!strcmp(argv[taken + optind - 1], "--"))
			error = refuse(&args, "'--': the command to profile is missing after it");
		if (!error && args.request.command != CMD_DOCTOR)
			error = finish(&args);
	}
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

void args_fini(struct request *request)
{
	for (size_t i = 0; i < request->n_names; i++)
		free(request->names[i]);
	for (size_t i = 0; i < request->n_users; i++)
		free(request->users[i]);
	free(request->names);
	free(request->users);
	free((void *)request->engine.events);
	free((void *)request->engine.target.pids);
	free((void *)request->engine.target.tids);
	free((void *)request->engine.target.cpus);
	memset(request, 0, sizeof(*request));
}
