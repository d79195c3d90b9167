/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_args.c - command lines become requests, or sentences that name the error.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/control/config.h"
#include "sampler/events/parse.h"
#include "tests/unit/args_lines.h"
#include "tui/controls/theme.h"
#include "tui/options/config.h"
#include "tui/session/request.h"

static void test_defaults(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe");
	assert_int_equal(line.request.command, CMD_LIVE);
	assert_false(line.request.command_given);
	assert_true(line.request.target_by_default);
	assert_int_equal(line.request.engine.n_events, 1);
	assert_true(line.request.engine.events[0].by_default);
	assert_int_equal(line.request.engine.events[0].attr.freq, 1);
	assert_int_equal(line.request.engine.events[0].attr.sample_freq, EVENT_DEFAULT_FREQ_HZ);
	assert_true(line.request.engine.callchain);
	assert_int_equal(line.request.engine.memory_bytes, 256 << 20);
	assert_int_equal(line.request.engine.scope, SCOPE_AUTO);
	assert_int_equal(line.request.engine.target.command_output_fd, -1);
	args_fini(&line.request);
	args_fini(&line.request); /* a second call is harmless */
}

static void expect_text(const char *have, const char *wanted)
{
	if (!strstr(have, wanted))
		fail_msg("'%s' does not say '%s'", have, wanted);
}

static void test_targets(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe -p 1,22 --pid 333 -t 4,5 -n a,b -C 0");
	assert_int_equal(line.request.engine.target.n_pids, 3);
	assert_int_equal(line.request.engine.target.pids[2], 333);
	assert_int_equal(line.request.engine.target.n_tids, 2);
	assert_int_equal(line.request.engine.target.tids[1], 5);
	assert_int_equal(line.request.n_names, 2);
	assert_string_equal(line.request.names[1], "b");
	assert_int_equal(line.request.engine.target.n_cpus, 1);
	assert_false(line.request.engine.target.system_wide);
	assert_false(line.request.target_by_default);
	args_fini(&line.request);

	good(&line, "strobe live -a");
	assert_true(line.request.command_given);
	assert_true(line.request.engine.target.system_wide);
	args_fini(&line.request);

	good(&line, "strobe -C 0-1");
	assert_true(line.request.engine.target.system_wide);
	assert_int_equal(line.request.engine.target.n_cpus, 2);
	args_fini(&line.request);

	good(&line, "strobe -u root,0");
	assert_int_equal(line.request.n_users, 2);
	args_fini(&line.request);
}

static void test_command(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe -F 99 -- make -j2 -p 1");
	assert_string_equal(line.request.engine.target.command[0], "make");
	assert_string_equal(line.request.engine.target.command[1], "-j2");
	assert_string_equal(line.request.engine.target.command[2], "-p");
	assert_int_equal(line.request.engine.target.n_pids, 0);
	assert_false(line.request.target_by_default);
	args_fini(&line.request);

	good(&line, "strobe report make -n 3");
	assert_int_equal(line.request.command, CMD_REPORT);
	assert_string_equal(line.request.engine.target.command[0], "make");
	assert_string_equal(line.request.engine.target.command[1], "-n");
	assert_int_equal(line.request.rows, 0);
	assert_true(line.request.percent_limit < 0);
	args_fini(&line.request);

	/* A limit of 0 leaves out nothing; it differs from no limit. */
	good(&line, "strobe report --tree --percent-limit 0 make");
	assert_true(line.request.percent_limit >= 0);
	args_fini(&line.request);

	good(&line, "strobe make");
	assert_int_equal(line.request.command, CMD_LIVE);
	assert_string_equal(line.request.engine.target.command[0], "make");
	args_fini(&line.request);

	/* A name of strobe's command after "--" is a program. */
	good(&line, "strobe -- record");
	assert_string_equal(line.request.engine.target.command[0], "record");
	args_fini(&line.request);
}

static void test_wakeups(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe --wakeup-events 50 --watermark 8K -p 1");
	assert_int_equal(line.request.engine.wakeup_events, 50);
	assert_int_equal(line.request.engine.wakeup_bytes, 8192);
	args_fini(&line.request);
}

static void test_flight_recorder(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe report --flight-recorder 30 --flight-trigger cpu>150%,2.5s -p 1");
	assert_true(line.request.engine.flight_s == 30);
	assert_true(line.request.engine.flight_trigger.percent == 150);
	assert_true(line.request.engine.flight_trigger.seconds == 2.5);
	args_fini(&line.request);
	bad("strobe --flight-recorder 0", "'0'");
	bad("strobe --flight-recorder 30s", "'30s'");
	bad("strobe --flight-trigger cpu>5", "needs --flight-recorder");
	bad("strobe --flight-recorder 5 --flight-trigger cpu>5%,x", "'x' is not understood");
	bad("strobe --flight-recorder 5 --scope inherit", "contradict");
	bad("strobe --flight-recorder 5 -e {page-faults,cs}:S", "contradict");
	bad("strobe stat --flight-recorder 5", "not one of strobe stat");
}

static void test_sampling_options(void **state)
{
	struct line line;

	(void)state;
	good(&line,
		"strobe report -e cycles:u,page-faults -e cpu-clock -c 1000 --max-stack 64 "
		"--duration 1.5 --scope cpu --no-credit --memory 1G --ring-pages 8 "
		"--no-call-graph");
	assert_int_equal(line.request.engine.n_events, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(line.request.engine.events[i].attr.freq, 0);
		assert_int_equal(line.request.engine.events[i].attr.sample_period, 1000);
	}
	assert_int_equal(line.request.engine.max_stack, 64);
	assert_true(line.request.duration_s == 1.5);
	assert_int_equal(line.request.engine.scope, SCOPE_CPU);
	assert_true(line.request.engine.no_credit);
	assert_int_equal(line.request.engine.memory_bytes, 1 << 30);
	assert_int_equal(line.request.engine.ring_pages, 8);
	assert_false(line.request.engine.callchain);
	args_fini(&line.request);

	good(&line, "strobe --no-call-graph -g -F 4999");
	assert_true(line.request.engine.callchain);
	assert_int_equal(line.request.engine.events[0].attr.sample_freq, 4999);
	args_fini(&line.request);
	good(&line, "strobe --no-call-graph --call-graph=fp");
	assert_true(line.request.engine.callchain);
	assert_int_equal(line.request.engine.stack_bytes, 0);
	args_fini(&line.request);
	good(&line, "strobe");
	assert_true(line.request.engine.callchain && line.request.engine.stack_adapts);
	assert_int_equal(line.request.engine.stack_bytes, 16384);
	args_fini(&line.request);
	good(&line, "strobe --call-graph dwarf,4001");
	assert_true(line.request.engine.callchain && !line.request.engine.stack_adapts);
	assert_int_equal(line.request.engine.stack_bytes, 4000);
	args_fini(&line.request);
	good(&line, "strobe --call-graph lbr");
	assert_true(line.request.engine.callchain && !line.request.engine.stack_bytes);
	assert_true(line.request.engine.sample_more == PERF_SAMPLE_BRANCH_STACK);
	assert_true(line.request.engine.branch_sample_type ==
		(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER |
			PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS));
	args_fini(&line.request);
	good(&line, "strobe --call-graph lbr --call-graph dwarf");
	assert_true(line.request.engine.stack_bytes && !line.request.engine.sample_more &&
		!line.request.engine.branch_sample_type);
	args_fini(&line.request);
	bad("strobe --call-graph lbr -b", "either call stacks or branches");
	bad("strobe -j any_call --call-graph lbr", "either call stacks or branches");
	bad("strobe --call-graph dwarf --flight-recorder 2",
		"the flight recorder copies no stacks");
	bad("strobe record --keep-stacks --call-graph fp", "--keep-stacks keeps the copies");
	good(&line, "strobe --call-graph dwarf --call-graph no");
	assert_false(line.request.engine.callchain);
	assert_int_equal(line.request.engine.stack_bytes, 0);
	args_fini(&line.request);
}

/* Options for followed tasks and for the frames of chains. */
static void test_following(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe report -p 1 --own-threads --until-exec --user-callchains");
	assert_true(line.request.engine.own_threads);
	assert_true(line.request.engine.until_exec);
	assert_true(line.request.engine.no_kernel_chain);
	assert_false(line.request.engine.no_user_chain);
	args_fini(&line.request);
	good(&line, "strobe record --kernel-callchains -s -p 1");
	assert_true(line.request.engine.no_user_chain);
	assert_true(line.request.engine.inherit_stat);
	assert_int_equal(line.request.engine.scope, SCOPE_INHERIT);
	args_fini(&line.request);
	good(&line, "strobe stat --own-threads true");
	assert_true(line.request.engine.own_threads);
	args_fini(&line.request);
	bad("strobe -a --kernel-callchains --user-callchains", "contradict");
	bad("strobe report -a --own-threads", "--own-threads");
	bad("strobe record -a --stat", "--stat");
	bad("strobe record -p 1 --stat --scope task", "--scope inherit");
	bad("strobe report --until-exec true", "'true'");
	bad("strobe report -a --until-exec", "whole CPUs");
	bad("strobe report -p 1 --scope cpu --until-exec", "whole CPUs");
	bad("strobe report -p 1 --flight-recorder 5 --until-exec", "--flight-recorder");
}

/* Programs of BPF. */
static void test_programs(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe -e cycles -e page-faults,cpu-clock --bpf id:12");
	assert_null(line.request.engine.events[0].bpf);
	assert_string_equal(line.request.engine.events[1].bpf, "id:12");
	assert_string_equal(line.request.engine.events[2].bpf, "id:12");
	args_fini(&line.request);
	good(&line, "strobe stat -e cycles --bpf /sys/fs/bpf/mine true");
	assert_string_equal(line.request.engine.events[0].bpf, "/sys/fs/bpf/mine");
	args_fini(&line.request);
	bad("strobe --bpf id:12", "there is none");
	bad("strobe -e cycles --bpf id:", "id:N");
	bad("strobe -e cycles --bpf id:1 --bpf id:2", "one program");
}

static void test_filters_of_tracepoints(void **state)
{
	const char *argv[] = {"strobe", "-e", "cycles", "-e",
		"sched:sched_switch,sched:sched_wakeup", "--filter", "prev_pid != 0", "--filter",
		"prev_pid < 9", NULL};
	struct event_error error;
	struct event_spec *specs;
	struct line line;
	size_t n;

	(void)state;
	bad("strobe --filter x", "there is none");
	bad("strobe -e cycles --filter x", "'cycles' is none");
	bad("strobe report --filter", "needs a value");
	if (event_parse_list("sched:sched_switch", &specs, &n, &error)) {
		print_message("skipped: no tracepoints can be read here\n");
		skip();
	}
	free(specs);
	bad("strobe -e sched:sched_switch -e cycles --filter x", "'cycles' is none");
	assert_int_equal(
		args_parse(&line.request, 9, (char **)argv, line.message, sizeof(line.message)), 0);
	assert_int_equal(line.request.engine.n_events, 3);
	assert_null(line.request.engine.events[0].filter);
	for (size_t i = 1; i < 3; i++)
		assert_string_equal(
			line.request.engine.events[i].filter, "(prev_pid != 0) && (prev_pid < 9)");
	args_fini(&line.request);
}

/* Braces and colons belong to libpfm4's names.  Without the library, a sentence says so. */
static void test_names_of_libpfm(void **state)
{
	struct line line;

	(void)state;
	bad("strobe --pfm-events no_such::EVENT", "--pfm-events 'no_such::EVENT': ");
	if (parse(&line, "strobe --pfm-events perf::PERF_COUNT_SW_PAGE_FAULTS -e cycles")) {
		expect_text(line.message, "libpfm4");
		return;
	}
	assert_int_equal(line.request.engine.n_events, 2);
	assert_int_equal(line.request.engine.events[0].attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	args_fini(&line.request);
}

/* Options for more data in samples. */
static void test_data_options(void **state)
{
	const struct engine_config *engine;
	struct line line;

	(void)state;
	good(&line, "strobe record --keep-stacks -p 1");
	assert_true(line.request.engine.keep_stacks);
	args_fini(&line.request);
	good(&line, "strobe record -d --phys-data --data-page-size --code-page-size -p 1");
	engine = &line.request.engine;
	assert_true(engine->sample_more ==
		(PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR |
			PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE));
	assert_true(engine->branch_sample_type == 0);
	args_fini(&line.request);
	good(&line, "strobe report -W --transaction -b -p 1");
	assert_true(engine->sample_more ==
		(PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_BRANCH_STACK));
	assert_true(engine->branch_sample_type == PERF_SAMPLE_BRANCH_ANY);
	args_fini(&line.request);

	/* Without a kind, any branch is sampled. */
	good(&line, "strobe -j u,save_type -p 1");
	assert_true(engine->branch_sample_type ==
		(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE));
	args_fini(&line.request);
	good(&line, "strobe -j any_call,k -j cond -p 1");
	assert_true(engine->branch_sample_type ==
		(PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_COND |
			PERF_SAMPLE_BRANCH_KERNEL));
	args_fini(&line.request);

	/* -d is the screen's delay for live, and --data for all other commands. */
	good(&line, "strobe live -d 250 --data");
	assert_int_equal(line.request.delay_ms, 250);
	assert_true(engine->sample_more & PERF_SAMPLE_ADDR);
	args_fini(&line.request);
}

/* With a target, the command is not sampled: it sets the duration, like for perf. */
static void test_stopwatch(void **state)
{
	static const char *const commands[] = {"strobe", "strobe report", "strobe record",
		"strobe stat", "strobe annotate", "strobe export --format folded"};
	static const char *const targets[] = {
		"-p 7", "-t 7", "-n sh", "-u 0", "-a", "-C 0", "-G a", "-p 7 -C 0"};
	struct line line;
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		for (size_t k = 0; k < sizeof(targets) / sizeof(*targets); k++) {
			const char *at = targets[k];
			const struct engine_target *target = &line.request.engine.target;

			snprintf(text, sizeof(text), "%s %s -- sleep 5", commands[i], at);
			good(&line, text);
			assert_string_equal(target->command[0], "sleep");
			assert_true(target->stopwatch);
			assert_int_equal(target->system_wide,
				!strcmp(at, "-a") || !strcmp(at, "-C 0") || !strcmp(at, "-G a"));
			assert_false(line.request.target_by_default);
			args_fini(&line.request);
		}
		snprintf(text, sizeof(text), "%s -- sleep 5", commands[i]);
		good(&line, text);
		assert_false(line.request.engine.target.stopwatch);
		args_fini(&line.request);
	}
	good(&line, "strobe record -p 7 --until-exec --scope inherit -- sleep 5");
	args_fini(&line.request);
	good(&line, "strobe -p 1 make");
	assert_true(line.request.engine.target.stopwatch);
	args_fini(&line.request);
	good(&line, "strobe stat -r 2 -a -- sleep 5");
	args_fini(&line.request);
	bad("strobe record -C 0 --own-threads -- sleep 5", "--own-threads is of a command");
}

static void test_cgroups(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe -G system.slice,/web -C 1");
	assert_int_equal(line.request.n_cgroups, 2);
	assert_string_equal(line.request.cgroups[1], "/web");
	assert_true(line.request.engine.target.system_wide);
	assert_false(line.request.target_by_default);
	args_fini(&line.request);
	good(&line, "strobe report -G a -G b");
	assert_int_equal(line.request.columns, COLUMNS_CGROUP);
	args_fini(&line.request);
	good(&line, "strobe report -G a,b --columns none");
	assert_int_equal(line.request.columns, COLUMNS_NONE);
	args_fini(&line.request);
	good(&line, "strobe report -G a,b --tree");
	assert_int_equal(line.request.columns, COLUMNS_NONE);
	args_fini(&line.request);
	good(&line, "strobe report -G a");
	assert_int_equal(line.request.columns, COLUMNS_NONE);
	args_fini(&line.request);
	good(&line, "strobe report -G a,b --group cgroup,symbol");
	assert_int_equal(line.request.columns, COLUMNS_NONE);
	assert_int_equal(line.request.groups[0], GROUP_CGROUP);
	args_fini(&line.request);
	bad("strobe report --group cgroup", "there is none");
	bad("strobe report -G a,b --group cgroup --columns event", "contradict");
	bad("strobe -G a -p 1", "cannot be joined with -p");
	bad("strobe -G a,,b", "a name is missing");
	bad("strobe stat -G a --per thread", "not for each thread");
	bad("strobe -e "
	    "cpu-clock,page-faults,minor-faults,major-faults,dummy,task-clock,"
	    "context-switches,cpu-migrations,alignment-faults -G a,b,c,d,e,f,g,h",
		"9 events for each of 8 cgroups are more than 64");
}

static void test_output_options(void **state)
{
	struct line line;

	(void)state;
	good(&line,
		"strobe report --format json --sort total --percent-limit 0.5 --rows 7 --no-idle "
		"--cache-dir /tmp/x");
	assert_int_equal(line.request.format, REPORT_JSON);
	assert_true(line.request.sort_total);
	assert_true(line.request.percent_limit == 0.5);
	assert_int_equal(line.request.rows, 7);
	assert_true(line.request.hide_idle);
	assert_string_equal(line.request.cache_dir, "/tmp/x");
	args_fini(&line.request);

	good(&line, "strobe -d 250 --ascii --mono --no-mouse --color never");
	assert_int_equal(line.request.delay_ms, 250);
	assert_true(line.request.ascii && line.request.mono && line.request.no_mouse);
	assert_int_equal(line.request.color, COLOR_NEVER);
	assert_false(line.request.given & 1u << CONFIG_THEME);
	args_fini(&line.request);
	good(&line, "strobe --theme light");
	assert_int_equal(line.request.theme, THEME_KIND_LIGHT);
	assert_true(line.request.given & 1u << CONFIG_THEME);
	args_fini(&line.request);
}

/* -n is a number of rows in a report, and a name in all other commands. */
static void test_the_letter_n(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe report -n 20 -n postgres --name 7");
	assert_int_equal(line.request.rows, 20);
	assert_int_equal(line.request.n_names, 2);
	assert_string_equal(line.request.names[0], "postgres");
	assert_string_equal(line.request.names[1], "7");
	args_fini(&line.request);
	good(&line, "strobe -n 20");
	assert_int_equal(line.request.n_names, 1);
	assert_int_equal(line.request.rows, 0);
	args_fini(&line.request);
	good(&line, "strobe report -n 20,x");
	assert_int_equal(line.request.n_names, 2);
	args_fini(&line.request);
}

static void test_help_and_version(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe --help");
	assert_int_equal(line.request.command, CMD_HELP);
	assert_int_equal(line.request.help_command, CMD_HELP);
	good(&line, "strobe report -p 1 -h");
	assert_int_equal(line.request.help_command, CMD_REPORT);
	args_fini(&line.request);
	good(&line, "strobe help doctor");
	assert_int_equal(line.request.help_command, CMD_DOCTOR);
	good(&line, "strobe help archive");
	assert_int_equal(line.request.help_command, CMD_ARCHIVE);
	good(&line, "strobe diff --help");
	assert_int_equal(line.request.help_command, CMD_DIFF);
	good(&line, "strobe -V");
	assert_int_equal(line.request.command, CMD_VERSION);
	good(&line, "strobe doctor");
	assert_int_equal(line.request.command, CMD_DOCTOR);
}

static void test_refusals(void **state)
{
	(void)state;
	bad("strobe --no-such-option", "--no-such-option");
	bad("strobe -x", "-x");
	bad("strobe -gx", "-x");
	bad("strobe --ascii=3", "--ascii");
	bad("strobe --theme drak", "colour-blind");
	bad("strobe -p", "-p");
	bad("strobe --pid", "--pid");
	bad("strobe -p 12x", "12x");
	bad("strobe -p 1,,2", "1,,2");
	bad("strobe -p 0", "'0'");
	bad("strobe -p -1", "-1");
	bad("strobe -p 99999999999999999999", "99999999999999999999");
	bad("strobe -t 1,b", "'b'");
	bad("strobe -n a,,b", "a,,b");
	bad("strobe -u no-such-user", "no-such-user");
	bad("strobe -C 0-", "0-");
	bad("strobe -e cpu-clok", "cpu-clok");
	bad("strobe -e cpu-clok", "cpu-clock");
	bad("strobe -e cpu-clock:x", "x");
	bad("strobe -F 0", "'0'");
	bad("strobe -F 12.5", "12.5");
	bad("strobe -c -5", "-5");
	bad("strobe -c 0", "'0'");
	bad("strobe -F 99 -c 1000", "-F and -c");
	bad("strobe --call-graph magic", "magic");
	bad("strobe --call-graph dwarf,0", "from 256 to 65528");
	bad("strobe --call-graph dwarf,65536", "from 256 to 65528");
	bad("strobe --call-graph dwarfs", "must be");
	bad("strobe -j any_cal", "did you mean any_call");
	bad("strobe -j any,,u", "''");
	bad("strobe -j u,xx", "'xx'");
	bad("strobe diff -d a b", "'-d' is not one of strobe diff");
	bad("strobe list --data", "not one of strobe list");
	bad("strobe --max-stack 0", "'0'");
	bad("strobe --max-stack 100000", "100000");
	bad("strobe --duration 0", "'0'");
	bad("strobe --duration nan", "nan");
	bad("strobe --duration 1e3", "1e3");
	bad("strobe --duration 1,5", "1,5");
	bad("strobe --scope all", "auto, task, cpu, inherit");
	bad("strobe --memory 12Q", "12Q");
	bad("strobe --memory 1K", "1K");
	bad("strobe --ring-pages 3", "'3'");
	bad("strobe --wakeup-events 0", "'0'");
	bad("strobe --watermark x", "'x'");
	bad("strobe report --format xml", "xml");
	bad("strobe report --sort none", "none");
	bad("strobe report --percent-limit 101", "101");
	bad("strobe report --rows many", "many");
	bad("strobe -d 1", "'1'");
	bad("strobe --color sometimes", "sometimes");
	bad("strobe --format json", "--format");
	bad("strobe report --ascii", "--ascii");
	bad("strobe doctor -a", "'-a' is not one of strobe doctor");
	bad("strobe doctor now", "now");
	bad("strobe -a -p 1", "-a");
	bad("strobe annotate main loop", "takes one symbol");
	bad("strobe annotate --mode both", "mixed, source, assembly");
	bad("strobe annotate --syntax masm", "att, intel");
	bad("strobe annotate --source-prefix =x", "FROM=TO");
	bad("strobe annotate main --source-tree tree", "neither a symbol");
	bad("strobe annotate --source-tree tree --format csv", "nor --format");
	bad("strobe annotate --", "missing after it");
	bad("strobe report --mode mixed", "--mode");
	bad("strobe stat --per thing", "--per 'thing'");
	bad("strobe stat -I 5", "--interval '5'");
	bad("strobe stat -r 0 true", "--repeat '0'");
	bad("strobe stat -r 2 -a", "--repeat needs a command");
	bad("strobe stat -r 2 -I 100 true", "contradict");
	bad("strobe stat -F 99 true", "not one of strobe stat");
	bad("strobe stat -p !7", "strobe stat takes none");
	bad("strobe report --per cpu", "not one of strobe report");
	bad("strobe list one two", "list takes one pattern");
	bad("strobe help me", "'me'");
	bad("strobe --x\033[2J", "--x?[2J");
}

static void test_values(void **state)
{
	uint64_t number = 0;
	double decimal = 0;

	(void)state;
	assert_int_equal(args_number("18446744073709551615", 0, UINT64_MAX, &number), 0);
	assert_true(number == UINT64_MAX);
	assert_int_equal(args_number("18446744073709551616", 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(args_number("", 0, 9, &number), -EINVAL);
	assert_int_equal(args_number("+1", 0, 9, &number), -EINVAL);
	assert_int_equal(args_number(" 1", 0, 9, &number), -EINVAL);
	assert_int_equal(args_number("10", 0, 9, &number), -EINVAL);
	assert_int_equal(args_size("3k", 0, UINT64_MAX, &number), 0);
	assert_int_equal(number, 3072);
	assert_int_equal(args_size("2G", 0, UINT64_MAX, &number), 0);
	assert_true(number == 2ull << 30);
	assert_int_equal(args_size("17", 0, UINT64_MAX, &number), 0);
	assert_int_equal(number, 17);
	assert_int_equal(args_size("K", 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(args_size("", 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(args_size("1KK", 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(args_size("18446744073709551615G", 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(
		args_size("1111111111111111111111111111", 0, UINT64_MAX, &number), -EINVAL);
	assert_int_equal(args_decimal("0.25", 0, 1, &decimal), 0);
	assert_true(decimal == 0.25);
	assert_int_equal(args_decimal("3", 0, 10, &decimal), 0);
	assert_int_equal(args_decimal(".", 0, 10, &decimal), -EINVAL);
	assert_int_equal(args_decimal("1.2.3", 0, 10, &decimal), -EINVAL);
	assert_int_equal(args_decimal("-1", -5, 10, &decimal), -EINVAL);
	assert_int_equal(args_decimal("inf", 0, 10, &decimal), -EINVAL);
}

/* The help text names every option that the command has, and no other. */
static void test_help_text(void **state)
{
	const int commands[] = {
		CMD_LIVE, CMD_REPORT, CMD_DOCTOR, CMD_RECORD, CMD_EXPORT, CMD_DIFF, CMD_ARCHIVE};
	const unsigned int bits[] = {ARGS_LIVE, ARGS_REPORT, ARGS_DOCTOR, ARGS_RECORD, ARGS_EXPORT,
		ARGS_DIFF, ARGS_ARCHIVE};
	const struct args_option *options;
	size_t n;

	(void)state;
	options = args_options(&n);
	for (size_t c = 0; c < sizeof(bits) / sizeof(bits[0]); c++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		args_help(out, commands[c]);
		fclose(out);
		for (size_t i = 0; i < n; i++) {
			char form[64];

			if (!options[i].name)
				continue;
			snprintf(form, sizeof(form), " --%s%s", options[i].name,
				options[i].value ? " " : "");
			if (!!strstr(text, form) != !!(options[i].commands & bits[c]))
				fail_msg("help of command %d and %s", commands[c], form);
		}
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			if (strlen(line) > 80)
				fail_msg("too wide: %s", line);
		free(text);
	}
}

static void test_table(void **state)
{
	const struct args_option *options;
	size_t n;

	(void)state;
	options = args_options(&n);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(options[i].help);
		assert_true(options[i].letter || options[i].name);
		for (size_t j = 0; j < i; j++) {
			/* Two commands may use one letter for different options. */
			assert_true(!options[i].letter || options[i].letter != options[j].letter ||
				!(options[i].commands & options[j].commands));
			assert_true(!options[i].name || !options[j].name ||
				strcmp(options[i].name, options[j].name));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_wakeups),
		cmocka_unit_test(test_flight_recorder),
		cmocka_unit_test(test_sampling_options),
		cmocka_unit_test(test_following),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_filters_of_tracepoints),
		cmocka_unit_test(test_names_of_libpfm),
		cmocka_unit_test(test_data_options),
		cmocka_unit_test(test_stopwatch),
		cmocka_unit_test(test_cgroups),
		cmocka_unit_test(test_output_options),
		cmocka_unit_test(test_the_letter_n),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_help_text),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
