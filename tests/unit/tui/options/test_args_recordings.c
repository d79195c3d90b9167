/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_args_recordings.c - the words that are recordings, and the options' meaning with them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/args_lines.h"
#include "tui/session/request.h"

/* Files that begin like the formats in their names.  The tests run in their folder. */
static const struct {
	const char *name, *bytes;
	size_t len, at;
	mode_t mode;
} files[] = {
	{"file.data", "PERFILE2", 8, 0, 0600},
	{"other.data", "PERFILE2", 8, 0, 0600},
	{"swapped.data", "2ELIFREP", 8, 0, 0600},
	{"first.data", "PERFFILE", 8, 0, 0600}, /* perf's first format: the reader reports it */
	{"short.data", "PERFIL", 6, 0, 0600},
	{"a.strobe.tar.zst", "\x28\xb5\x2f\xfd", 4, 0, 0600},
	{"a.strobe.tar.gz", "\x1f\x8b", 2, 0, 0600},
	{"a.strobe.tar", "ustar", 5, 257, 0600},
	{"notes.txt", "notes", 5, 0, 0600},
	{"empty", "", 0, 0, 0600},
	{"packed.xz", "\xfd\x37zXZ", 6, 0, 0600},
	{"program", "#!/bin/sh\n", 10, 0, 0700},
	{"-dash.data", "PERFILE2", 8, 0, 0600},
};
#define FILES (sizeof(files) / sizeof(files[0]))
static char folder[] = "/tmp/strobe-args-XXXXXX";

static const struct filter_term *term(const struct line *line, size_t i)
{
	assert_true(i < line->request.n_terms);
	return &line->request.terms[i];
}

static void test_recordings(void **state)
{
	static const char *const recordings[] = {"file.data", "swapped.data", "first.data",
		"a.strobe.tar.zst", "a.strobe.tar.gz", "a.strobe.tar", "./file.data", "pipe", "-"};
	static const struct {
		const char *words;
		int command;
	} lines[] = {{"strobe", CMD_LIVE}, {"strobe live", CMD_LIVE}, {"strobe report", CMD_REPORT},
		{"strobe export --format svg", CMD_EXPORT}};
	struct line line;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		for (size_t l = 0; l < sizeof(lines) / sizeof(lines[0]); l++) {
			snprintf(text, sizeof(text), "%s %s", lines[l].words, recordings[i]);
			good(&line, text);
			assert_int_equal(line.request.command, lines[l].command);
			assert_int_equal(line.request.n_files, 1);
			assert_string_equal(line.request.files[0], recordings[i]);
			assert_null(line.request.engine.target.command);
			assert_false(line.request.target_by_default);
			assert_int_equal(line.request.engine.n_events, 0);
			args_fini(&line.request);
		}
	}

	/* Options may follow the file, and -i is equivalent. */
	good(&line, "strobe report --sort total file.data --rows 3 --memory 8M");
	assert_string_equal(line.request.files[0], "file.data");
	assert_true(line.request.sort_total);
	assert_int_equal(line.request.rows, 3);
	assert_int_equal(line.request.engine.memory_bytes, 8 << 20);
	args_fini(&line.request);
	good(&line, "strobe report -n 3 -i ./-dash.data");
	assert_string_equal(line.request.files[0], "./-dash.data");
	assert_int_equal(line.request.rows, 3);
	args_fini(&line.request);
	good(&line, "strobe --input=-");
	assert_string_equal(line.request.files[0], "-");
	args_fini(&line.request);
	good(&line, "strobe file.data --snapshot 80x24");
	assert_int_equal(line.request.snapshot_width, 80);
	args_fini(&line.request);
}

/* A word that is no recording is a command.  After "--", a recording is one, too. */
static void test_recording_or_command(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe report -- file.data --rows 3");
	assert_int_equal(line.request.n_files, 0);
	assert_string_equal(line.request.engine.target.command[0], "file.data");
	assert_int_equal(line.request.rows, 0);
	args_fini(&line.request);
	good(&line, "strobe ./program file.data");
	assert_int_equal(line.request.n_files, 0);
	assert_string_equal(line.request.engine.target.command[1], "file.data");
	args_fini(&line.request);
	good(&line, "strobe export --format folded sh -c true");
	assert_string_equal(line.request.engine.target.command[0], "sh");
	args_fini(&line.request);

	bad("strobe no-such-thing",
		"'no-such-thing' is neither a recording (there is no such file) nor a command "
		"found in PATH");
	bad("strobe report ./no-such-thing", "nor a command that can be run");
	bad("strobe report notes.txt", "neither a recording (it does not begin as");
	bad("strobe report short.data", "neither a recording (it does not begin as");
	bad("strobe report ./notes.txt", "nor a command that can be run");
	bad("strobe report program", "neither a recording"); /* not in PATH */
	bad("strobe .", "it is a directory");
	bad("strobe /dev/null", "it is no regular file");
	bad("strobe no\033[2J", "'no?[2J'");
}

static void test_record(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe record -p 7 -e cpu-clock -F 99 -o out.data --duration 2 -z");
	assert_int_equal(line.request.command, CMD_RECORD);
	assert_int_equal(line.request.engine.target.pids[0], 7);
	assert_string_equal(line.request.output, "out.data");
	assert_true(line.request.duration_s == 2);
	assert_true(line.request.compress);
	args_fini(&line.request);
	good(&line, "strobe record --output - sh -z");
	assert_string_equal(line.request.output, "-");
	assert_false(line.request.compress);
	assert_string_equal(line.request.engine.target.command[1], "-z");
	args_fini(&line.request);
	good(&line, "strobe record");
	assert_true(line.request.target_by_default);
	assert_null(line.request.output);
	assert_int_equal(line.request.engine.n_events, 1);
	args_fini(&line.request);
	good(&line, "strobe record -n 12");
	assert_string_equal(line.request.names[0], "12");
	args_fini(&line.request);

	bad("strobe record file.data", "'file.data' is a recording already");
	bad("strobe record no-such-thing", "'no-such-thing' is no command found in PATH");
	bad("strobe record -", "'-' is no command");
	bad("strobe record -i file.data", "'-i' is not one of strobe record");
	bad("strobe record --comm x", "'--comm' is not one of strobe record");
	bad("strobe record --time 1,2", "'--time' is not one of strobe record");
	bad("strobe record -p !7", "-p '!7'");
	bad("strobe record -C !0", "-C '!0'");
	bad("strobe record -o .", "-o '.': it is a directory");
	bad("strobe stat -o /dev/null/x true",
		"-o '/dev/null/x': there is no directory '/dev/null'");
	bad("strobe export --format svg -o /no/such/x true", "there is no directory '/no/such'");
	bad("strobe record -o", "'-o' needs a value");
	bad("strobe record --output=", "the name of a file is missing");
	bad("strobe record --", "'--'");
}

static void test_export(void **state)
{
	static const char *const formats[EXPORT_FORMATS] = {
		[EXPORT_FOLDED] = "folded",
		[EXPORT_SPEEDSCOPE] = "speedscope",
		[EXPORT_PPROF] = "pprof",
		[EXPORT_CALLGRIND] = "callgrind",
		[EXPORT_SVG] = "svg",
		[EXPORT_SCRIPT] = "script",
		[EXPORT_GECKO] = "gecko",
	};
	struct line line;
	char text[128];

	(void)state;
	for (int i = 0; i < EXPORT_FORMATS; i++) {
		snprintf(text, sizeof(text), "strobe export file.data --format %s -o out",
			formats[i]);
		good(&line, text);
		assert_int_equal(line.request.export_format, i);
		assert_string_equal(line.request.output, "out");
		args_fini(&line.request);
	}
	good(&line, "strobe export --format=folded -p 7 --duration 1");
	assert_int_equal(line.request.engine.target.n_pids, 1);
	assert_int_equal(line.request.engine.n_events, 1);
	args_fini(&line.request);

	bad("strobe export file.data", "needs --format");
	bad("strobe export sh --format svg", "before the command");
	bad("strobe export file.data --format text", "'text'");
	bad("strobe export file.data --format svg -o file.data", "the recording that is read");
	bad("strobe export file.data --format svg -o ./file.data", "the recording that is read");
	bad("strobe export file.data --format svg --rows 3", "'--rows' is not one of");
}

static void test_diff_and_archive(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe diff file.data --normalize second other.data -n 9 a.strobe.tar -n sh");
	assert_int_equal(line.request.command, CMD_DIFF);
	assert_int_equal(line.request.n_files, 3);
	assert_string_equal(line.request.files[2], "a.strobe.tar");
	assert_int_equal(line.request.normal, DIFF_SECOND);
	assert_int_equal(line.request.rows, 9);
	assert_int_equal(term(&line, 0)->field, FILTER_COMM);
	args_fini(&line.request);
	good(&line, "strobe diff --format csv --normalize=sample -- -dash.data -");
	assert_int_equal(line.request.n_files, 2);
	assert_int_equal(line.request.format, REPORT_CSV);
	assert_int_equal(line.request.normal, DIFF_SAMPLE);
	args_fini(&line.request);

	bad("strobe diff", "two are missing");
	bad("strobe diff file.data", "missing after 'file.data'");
	bad("strobe diff file.data no-such-file", "'no-such-file' is not a recording");
	bad("strobe diff file.data notes.txt", "'notes.txt' is not a recording: it does not begin");
	bad("strobe diff file.data .", "'.' is not a recording: it is a directory");
	bad("strobe diff - -", "once only");
	bad("strobe diff file.data other.data -F 99", "'-F' is not one of strobe diff");
	bad("strobe diff file.data other.data --normalize hour", "'hour'");
	bad("strobe diff file.data other.data -o x", "'-o' is not one of strobe diff");

	good(&line, "strobe report file.data --debug-dir . --debug-dir /");
	assert_int_equal(line.request.n_debug_dirs, 2);
	assert_string_equal(line.request.debug_dirs[0], ".");
	assert_string_equal(line.request.debug_dirs[1], "/");
	assert_null(line.request.debug_dirs[2]);
	args_fini(&line.request);

	good(&line, "strobe annotate main file.data -n 3 -p 5");
	assert_int_equal(line.request.command, CMD_ANNOTATE);
	assert_string_equal(line.request.symbol, "main");
	assert_string_equal(line.request.files[0], "file.data");
	assert_int_equal(line.request.rows, 3);
	assert_int_equal(line.request.n_terms, 1);
	args_fini(&line.request);
	good(&line,
		"strobe annotate file.data --source-prefix /a=/b --source-prefix c --syntax intel");
	assert_null(line.request.symbol);
	assert_int_equal(line.request.rows, SIZE_MAX);
	assert_int_equal(line.request.n_source_prefixes, 2);
	assert_string_equal(line.request.source_prefixes[1], "c");
	assert_null(line.request.source_prefixes[2]);
	assert_true(line.request.intel_syntax);
	args_fini(&line.request);
	/* Without a target or recording, an existing file does not count as a function. */
	bad("strobe annotate notes.txt", "'notes.txt' is not a recording: it does not begin");
	bad("strobe annotate empty", "'empty' is not a recording: it is empty");
	bad("strobe annotate packed.xz", "it is compressed: unpack it first");
	bad("strobe annotate notes.txt main", "'notes.txt' is not a recording: it does not begin");
	bad("strobe annotate main packed.xz", "'packed.xz' is not a recording: it is compressed");
	bad("strobe annotate .", "'.' is not a recording: it is a directory");
	bad("strobe annotate no-such.data",
		"'no-such.data' is not a recording: there is no such file");
	bad("strobe annotate /no/such", "'/no/such' is not a recording: there is no such file");
	bad("strobe report packed.xz", "(it is compressed: unpack it first)");
	good(&line, "strobe annotate notes.txt -a");
	assert_string_equal(line.request.symbol, "notes.txt");
	args_fini(&line.request);
	good(&line, "strobe annotate notes.txt -p 1");
	args_fini(&line.request);
	good(&line, "strobe annotate net/http.serve");
	args_fini(&line.request);
	/* The second file is the name of a function, not a recording. */
	good(&line, "strobe annotate file.data other.data");
	assert_string_equal(line.request.symbol, "other.data");
	args_fini(&line.request);
	good(&line, "strobe annotate work --mode source -- file.data main");
	assert_string_equal(line.request.symbol, "work");
	assert_string_equal(line.request.engine.target.command[0], "file.data");
	assert_int_equal(line.request.annotate_mode, 1);
	args_fini(&line.request);
	bad("strobe annotate file.data -- make", "cannot be joined");
	bad("strobe annotate file.data main -F 99", "for sampling");

	good(&line, "strobe archive file.data -o out --symfs .");
	assert_int_equal(line.request.command, CMD_ARCHIVE);
	assert_string_equal(line.request.files[0], "file.data");
	assert_string_equal(line.request.output, "out");
	assert_string_equal(line.request.symfs, ".");
	args_fini(&line.request);
	bad("strobe archive", "the recording is missing");
	bad("strobe archive no-such-file", "there is no such file");
	bad("strobe archive a.strobe.tar.zst", "an archive already");
	bad("strobe archive -", "must be a file");
	bad("strobe archive pipe", "must be a file");
	bad("strobe archive file.data other.data", "'other.data': strobe archive takes one");
	bad("strobe archive file.data -o file.data", "the recording that is read");
}

static void expect_term(const struct line *line, size_t i, enum filter_field field, bool negated,
	const char *text, int64_t first, int64_t last)
{
	const struct filter_term *found = term(line, i);

	assert_int_equal(found->field, field);
	assert_int_equal(found->negated, negated);
	if (text)
		assert_string_equal(found->text, text);
	else
		assert_null(found->text);
	assert_int_equal(found->first, first);
	assert_int_equal(found->last, last);
}

static void test_filters(void **state)
{
	struct line line;

	(void)state;
	/* With a recording, targets are filter terms, at any position of the recording. */
	good(&line, "strobe report -p 7,0 -t 9 -C 0-3,8,9 -n sh,b* --name 12 file.data");
	assert_int_equal(line.request.n_terms, 8);
	expect_term(&line, 0, FILTER_PID, false, NULL, 7, 7);
	expect_term(&line, 1, FILTER_PID, false, NULL, 0, 0);
	expect_term(&line, 2, FILTER_TID, false, NULL, 9, 9);
	expect_term(&line, 3, FILTER_CPU, false, NULL, 0, 3);
	expect_term(&line, 4, FILTER_CPU, false, NULL, 8, 9);
	expect_term(&line, 5, FILTER_COMM, false, "sh", 0, 0);
	expect_term(&line, 6, FILTER_COMM, false, "b*", 0, 0);
	expect_term(&line, 7, FILTER_COMM, false, "12", 0, 0);
	assert_int_equal(line.request.engine.target.n_pids, 0);
	assert_int_equal(line.request.engine.target.n_cpus, 0);
	assert_int_equal(line.request.n_names, 0);
	args_fini(&line.request);

	good(&line, "strobe file.data --comm sh --image libc*,/bin/x --symbol main");
	assert_int_equal(line.request.n_terms, 4);
	expect_term(&line, 2, FILTER_IMAGE, false, "/bin/x", 0, 0);
	expect_term(&line, 3, FILTER_SYMBOL, false, "main", 0, 0);
	args_fini(&line.request);
}

static void test_negated_filters(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe report file.data -p !7,8 --comm !bash,zsh -C !1 --image [kernel]");
	assert_int_equal(line.request.n_terms, 6);
	expect_term(&line, 0, FILTER_PID, true, NULL, 7, 7);
	expect_term(&line, 1, FILTER_PID, true, NULL, 8, 8);
	expect_term(&line, 2, FILTER_COMM, true, "bash", 0, 0);
	expect_term(&line, 3, FILTER_COMM, true, "zsh", 0, 0);
	expect_term(&line, 4, FILTER_CPU, true, NULL, 1, 1);
	expect_term(&line, 5, FILTER_IMAGE, false, "[kernel]", 0, 0);
	args_fini(&line.request);

	/* With a target, "!" makes a filter, too. */
	good(&line, "strobe -p 7 -t !8 -n !sh");
	assert_int_equal(line.request.engine.target.n_pids, 1);
	assert_int_equal(line.request.engine.target.n_tids, 0);
	assert_int_equal(line.request.n_names, 0);
	expect_term(&line, 0, FILTER_TID, true, NULL, 8, 8);
	expect_term(&line, 1, FILTER_COMM, true, "sh", 0, 0);
	args_fini(&line.request);
	good(&line, "strobe report -C !0 --symbol main");
	assert_true(line.request.target_by_default);
	assert_int_equal(line.request.engine.target.n_cpus, 0);
	expect_term(&line, 1, FILTER_SYMBOL, false, "main", 0, 0);
	args_fini(&line.request);

	/* Commas between parameters belong to the function. */
	good(&line, "strobe report file.data --symbol main.f[int,string],a::{b,c}::d,operator<,e");
	assert_int_equal(line.request.n_terms, 4);
	assert_string_equal(line.request.terms[0].text, "main.f[int,string]");
	assert_string_equal(line.request.terms[1].text, "a::{b,c}::d");
	assert_string_equal(line.request.terms[2].text, "operator<");
	args_fini(&line.request);
	good(&line, "strobe report file.data --symbol f(int,char),g<a,b>::h,operator->,i");
	assert_int_equal(line.request.n_terms, 4);
	expect_term(&line, 0, FILTER_SYMBOL, false, "f(int,char)", 0, 0);
	expect_term(&line, 1, FILTER_SYMBOL, false, "g<a,b>::h", 0, 0);
	expect_term(&line, 2, FILTER_SYMBOL, false, "operator->", 0, 0);
	args_fini(&line.request);

	bad("strobe report file.data -p !", "'!'");
	bad("strobe report file.data -p !7,,8", "'!7,,8'");
	bad("strobe report file.data -p 7-9", "'7-9'");
	bad("strobe report file.data -p 7,!8", "'!8'");
	bad("strobe report file.data -t 99999999999", "'99999999999'");
	bad("strobe report file.data -C !x", "'!x'");
	good(&line, "strobe report file.data --only comm~^ng&!cpu:0-3 --only prev_comm:sh");
	assert_int_equal(line.request.n_only, 2);
	assert_int_equal(line.request.only[0].n_terms, 2);
	assert_string_equal(line.request.only[1].terms[0].field_name, "prev_comm");
	args_fini(&line.request);
	bad("strobe report file.data --only comm~(", "'comm~(': not a regular expression");
	bad("strobe report file.data --only comm:a&", "at 'the end'");
	bad("strobe report file.data --comm a,!b", "'a,!b'");
	bad("strobe report file.data --comm a,", "'a,'");
	bad("strobe report file.data --image=", "--image ''");
	bad("strobe report file.data --symbol !", "--symbol '!'");
}

static void test_times_and_events(void **state)
{
	struct line line;

	(void)state;
	good(&line, "strobe report file.data --time 1.5,3");
	assert_true(line.request.time_from_s == 1.5 && line.request.time_to_s == 3);
	args_fini(&line.request);
	good(&line, "strobe report file.data --time ,0.25");
	assert_true(line.request.time_from_s == 0 && line.request.time_to_s == 0.25);
	args_fini(&line.request);
	good(&line, "strobe report -a --time 10,");
	assert_true(line.request.time_from_s == 10 && line.request.time_to_s == 0);
	args_fini(&line.request);
	bad("strobe report file.data --time 3", "'3'");
	bad("strobe report file.data --time ,", "','");
	bad("strobe report file.data --time 3,3", "'3,3': it does not end after");
	bad("strobe report file.data --time 3,1", "'3,1': it does not end after");
	bad("strobe report file.data --time ,0", "',0': it does not end after");
	bad("strobe report file.data --time a,3", "'a' is not");
	bad("strobe report file.data --time 1,2,3", "'2,3' is not");
	bad("strobe report file.data --time -1,2", "'-1' is not");
	bad("strobe live --time 1,2", "--time needs a recording");

	/* Events of a recording may have any name. */
	good(&line, "strobe file.data -e cycles:P,cpu/event=1,umask=2/,{a,b} -e sched:x");
	assert_int_equal(line.request.n_event_names, 4);
	assert_string_equal(line.request.event_names[0], "cycles:P");
	assert_string_equal(line.request.event_names[1], "cpu/event=1,umask=2/");
	assert_string_equal(line.request.event_names[2], "{a,b}");
	assert_string_equal(line.request.event_names[3], "sched:x");
	assert_int_equal(line.request.engine.n_events, 0);
	args_fini(&line.request);
	good(&line, "strobe file.data -e uprobe:/usr/bin/p:f,cpu-clock,mem:0x10/4:w,a");
	assert_int_equal(line.request.n_event_names, 4);
	assert_string_equal(line.request.event_names[0], "uprobe:/usr/bin/p:f");
	assert_string_equal(line.request.event_names[2], "mem:0x10/4:w");
	args_fini(&line.request);
	bad("strobe file.data -e a,,b", "'a,,b'");
}

static void test_tables(void **state)
{
	const char *names[] = {"symbol", "image", "process", "thread", "cpu", "command", "address",
		"line", "event", "cgroup"};
	struct line line;

	(void)state;
	good(&line, "strobe report");
	assert_int_equal(line.request.n_groups, 0);
	assert_int_equal(line.request.columns, COLUMNS_NONE);
	assert_int_equal(line.request.view, REPORT_FLAT);
	assert_false(line.request.absolute);
	args_fini(&line.request);

	good(&line,
		"strobe report file.data --group "
		"symbol,image,process,thread,cpu,command,address,line,event,cgroup");
	assert_int_equal(line.request.n_groups, GROUP_KEYS);
	for (size_t i = 0; i < GROUP_KEYS; i++)
		assert_string_equal(args_group_name(line.request.groups[i]), names[i]);
	assert_int_equal(line.request.groups[5], GROUP_COMMAND);
	assert_int_equal(line.request.groups[0], GROUP_SYMBOL);
	args_fini(&line.request);

	good(&line, "strobe report file.data --columns none --percentage absolute --tree --tree");
	assert_int_equal(line.request.columns, COLUMNS_NONE);
	assert_true(line.request.absolute);
	assert_int_equal(line.request.view, REPORT_TREE);
	args_fini(&line.request);
	good(&line, "strobe report --columns event --percentage relative");
	assert_int_equal(line.request.columns, COLUMNS_EVENT);
	assert_false(line.request.absolute);
	args_fini(&line.request);
	good(&line, "strobe report --columns cpu");
	assert_int_equal(line.request.columns, COLUMNS_CPU);
	args_fini(&line.request);
	good(&line, "strobe report --callers");
	assert_int_equal(line.request.view, REPORT_CALLERS);
	args_fini(&line.request);
	good(&line, "strobe report --columns thread");
	assert_int_equal(line.request.columns, COLUMNS_THREAD);
	args_fini(&line.request);
	good(&line, "strobe report --callees --group cpu --group image");
	assert_int_equal(line.request.view, REPORT_CALLEES);
	assert_int_equal(line.request.n_groups, 1);
	args_fini(&line.request);

	bad("strobe report --group symbol,symbol", "symbol is there twice");
	bad("strobe report --group symbl", "did you mean symbol?");
	bad("strobe report --group symbol,imgae", "'imgae': did you mean image?");
	bad("strobe report --group addr", "did you mean address?");
	bad("strobe report --group comm,dso", "'comm': did you mean command?");
	bad("strobe report --group dso", "did you mean image?");
	bad("strobe report --group weather", "must be some of symbol, image");
	bad("strobe report --group symbol,", "'symbol,'");
	bad("strobe report --columns line", "event, cpu, thread, cgroup, none");
	bad("strobe report --columns cpu --tree", "--columns and --tree");
	bad("strobe report --callers --columns thread", "--columns and --callers");
	bad("strobe report file.data --callees --columns event", "--columns and --callees");
	bad("strobe report --percentage half", "relative, absolute");
	bad("strobe report --callers --tree", "--callers and --tree");
	bad("strobe report --callees --callers", "--callees and --callers");
	bad("strobe live --group symbol", "'--group' is not one of strobe live");
	bad("strobe report --symfs no-such-folder", "'no-such-folder'");
	bad("strobe report --symfs notes.txt", "'notes.txt'");
	bad("strobe report --debug-dir . --debug-dir no-such-folder", "'no-such-folder'");
}

/* Every option of sampling is refused with a recording, under the name that the user wrote. */
static void test_sampling_of_recordings(void **state)
{
	static const char *const words[] = {"-F 99", "--freq 99", "-c 5", "--count 5", "-g",
		"--call-graph fp", "--max-stack 5", "--duration 1", "--scope cpu", "--no-credit",
		"--ring-pages 8", "--flight-recorder 5", "-u root", "--user 0", "-a", "--all-cpus"};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char text[128], wanted[64];

		snprintf(wanted, sizeof(wanted), "option '%.*s' is for sampling, and 'file.data'",
			(int)strcspn(words[i], " "), words[i]);
		snprintf(text, sizeof(text), "strobe report %s file.data", words[i]);
		bad(text, wanted);
		snprintf(text, sizeof(text), "strobe file.data %s", words[i]);
		bad(text, wanted);
	}
	bad("strobe report file.data other.data", "'other.data': strobe report takes one");
	bad("strobe report file.data sh", "'sh': strobe report takes one");
	bad("strobe report file.data -- sh", "'sh': a command cannot be joined with");
	bad("strobe report -i file.data -i other.data", "'other.data'");
	bad("strobe report -i no-such-file", "'no-such-file' is not a recording");
	bad("strobe report -i notes.txt", "'notes.txt' is not a recording");
}

/* perf record --threads makes directories that only their owner can read. */
static void test_directories(void **state)
{
	static const char *const commands[] = {"strobe", "strobe live", "strobe report",
		"strobe report -i", "strobe export --format script", "strobe annotate",
		"strobe annotate -i", "strobe diff file.data", "strobe diff", "strobe archive",
		"strobe annotate work"};
	static const char *const others[] = {"strobe record", "strobe stat"};
	static const char *const none = "is not a recording: it is a directory without a recording";
	struct line line;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const bool diff = !strcmp(commands[i], "strobe diff");

		snprintf(text, sizeof(text), "%s hollow%s", commands[i], diff ? " file.data" : "");
		bad(text, none);
		snprintf(text, sizeof(text), "%s whole%s", commands[i], diff ? " file.data" : "");
		if (!strcmp(commands[i], "strobe archive")) {
			bad(text, "packs recordings that are one file");
			continue;
		}
		good(&line, text);
		assert_string_equal(line.request.files[line.request.n_files - 1 - diff], "whole");
		args_fini(&line.request);
		/* A symbolic link to itself represents an unreadable directory, since root may
		 * read all. */
		snprintf(text, sizeof(text), "%s shut%s", commands[i], diff ? " file.data" : "");
		bad(text, "symbolic link");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		snprintf(text, sizeof(text), "%s hollow", others[i]);
		bad(text, none);
		snprintf(text, sizeof(text), "%s whole", others[i]);
		bad(text, "'whole' is a recording already");
	}
	bad("strobe annotate hollow work", none);
	bad("strobe annotate -a hollow/", "is recorded already");
	good(&line, "strobe annotate -a hollow"); /* a function may have this name */
	assert_string_equal(line.request.symbol, "hollow");
	args_fini(&line.request);
	good(&line, "strobe annotate whole work");
	assert_string_equal(line.request.symbol, "work");
	args_fini(&line.request);
}

static int make_files(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder) || mkfifo("pipe", 0600) || mkdir("hollow", 0700) ||
		mkdir("whole", 0700) || mkdir("shut", 0700) || symlink("data", "shut/data") ||
		symlink("../file.data", "whole/data"))
		return -1;
	for (size_t i = 0; i < FILES; i++) {
		char bytes[512] = {0};
		FILE *file = fopen(files[i].name, "w");

		if (!file)
			return -1;
		memcpy(bytes + files[i].at, files[i].bytes, files[i].len);
		fwrite(bytes, files[i].len < 8 && !files[i].at ? files[i].len : sizeof(bytes), 1,
			file);
		if (fclose(file) || chmod(files[i].name, files[i].mode))
			return -1;
	}
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < FILES; i++)
		unlink(files[i].name);
	unlink("pipe");
	unlink("shut/data");
	unlink("whole/data");
	rmdir("hollow");
	rmdir("whole");
	rmdir("shut");
	return chdir("/") || rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_recording_or_command),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_diff_and_archive),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_negated_filters),
		cmocka_unit_test(test_times_and_events),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_sampling_of_recordings),
	};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}
