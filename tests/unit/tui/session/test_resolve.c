/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_resolve.c - symbols become addresses and file offsets; failures become messages.
 *
 * The symbols are those of this program (position-independent), of a library, of programs compiled
 * here and of a fake kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tui/session/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int watched_variable[4]; /* in .bss */
volatile int watched_value = 5;

static struct symbols *symbols;
static char dir[64], path[4][128];
static int32_t own_pid;

static const char *at(const char *name)
{
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[0]), "%s/%s", dir, name);
	return path[next];
}

static void write_file(const char *name, const char *text)
{
	FILE *out = fopen(at(name), "we");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static int setup(void **state)
{
	char command[512];

	(void)state;
	own_pid = getpid();
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-resolve-XXXXXX");
	assert_non_null(mkdtemp(dir));
	write_file("p.c", "int shared_value; int main(void) { return shared_value; }\n");
	write_file("kallsyms", "ffffffff81000000 T _text\nffffffff82000000 D jiffies\n");
	snprintf(command, sizeof(command),
		"cd %s && cc -no-pie -o fixed p.c && cc -fpie -pie -o pie p.c && cp pie stripped "
		"&& "
		"strip stripped",
		dir);
	assert_int_equal(system(command), 0);
	const struct symbols_config config = {.cache_dir = "", .kallsyms_path = at("kallsyms")};
	return symbols_new(&symbols, &config);
}

static int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	return scratch_remove_tree(dir);
}

static const struct resolve_target own = {.pids = &own_pid, .n_pids = 1};
static const struct resolve_target machine = {.n_pids = 0};

static struct event_spec event(
	enum event_needs_kind kind, const char *binary, const char *symbol, uint64_t offset)
{
	struct event_spec spec = {.name = "test", .needs = {kind, binary, symbol, offset}};

	spec.attr.size = sizeof(spec.attr);
	return spec;
}

static uint64_t address_of(const struct resolve_target *target, const char *symbol, uint64_t offset)
{
	struct event_spec spec = event(NEEDS_DATA_ADDRESS, NULL, symbol, offset);
	struct resolve_error error;
	char text[1024];

	assert_true(resolve_is_needed(&spec, 1));
	if (resolve_events(symbols, target, NULL, &spec, 1, &error)) {
		explain_resolve(&error, text, sizeof(text));
		fail_msg("%s", text);
	}
	assert_false(resolve_is_needed(&spec, 1));
	return spec.attr.bp_addr;
}

static void refused(const struct resolve_target *target, struct event_spec spec,
	enum resolve_error_kind kind, const char *says)
{
	struct resolve_error error;
	char text[1024];

	assert_true(resolve_events(symbols, target, NULL, &spec, 1, &error) < 0);
	assert_int_equal(error.kind, kind);
	explain_resolve(&error, text, sizeof(text));
	if (!strstr(text, says))
		fail_msg("\"%s\" does not say \"%s\"", text, says);
}

static void test_address_in_process(void **state)
{
	(void)state;
	assert_int_equal(address_of(&own, "watched_variable", 0), (uintptr_t)watched_variable);
	assert_int_equal(address_of(&own, "watched_variable", 8), (uintptr_t)&watched_variable[2]);
	assert_int_equal(address_of(&own, "watched_value", 0), (uintptr_t)&watched_value);
	/* in a library */
	assert_int_equal(address_of(&own, "_IO_2_1_stderr_", 0), (uintptr_t)stderr);
}

static void test_address_of_command(void **state)
{
	struct resolve_target command = {.command = at("fixed")};

	(void)state;
	assert_in_range(address_of(&command, "shared_value", 0), 0x400000, 0x500000);
	command.command = at("pie");
	refused(&command, event(NEEDS_DATA_ADDRESS, NULL, "shared_value", 0), RESOLVE_NOT_STARTED,
		"link it with -no-pie");
	command.command = "no-such-command-anywhere";
	refused(&command, event(NEEDS_DATA_ADDRESS, NULL, "shared_value", 0), RESOLVE_NO_BINARY,
		"no-such-command");
}

static void test_address_in_kernel(void **state)
{
	(void)state;
	assert_int_equal(address_of(&machine, "jiffies", 4), 0xffffffff82000004);
	refused(&machine, event(NEEDS_DATA_ADDRESS, NULL, "jifies", 0), RESOLVE_NO_SYMBOL,
		"nearly the same: jiffies");
	write_file("kallsyms", "0000000000000000 T _text\n");
	refused(&machine, event(NEEDS_DATA_ADDRESS, NULL, "jiffies", 0), RESOLVE_HIDDEN,
		"kptr_restrict");
	write_file("kallsyms", "ffffffff81000000 T _text\nffffffff82000000 D jiffies\n");
}

static void test_offset(void **state)
{
	struct event_spec spec[] = {event(NEEDS_FILE_OFFSET, "libc.so.6", "getppid", 0),
		event(NEEDS_FILE_OFFSET, "libc.so.6", "getppid", 4),
		event(NEEDS_FILE_OFFSET, at("fixed"), "main", 0),
		event(NEEDS_FILE_OFFSET, "sh", NULL, 64)};
	struct resolve_error error;
	Dl_info info;

	(void)state;
	assert_int_equal(resolve_events(symbols, &own, NULL, spec, 4, &error), 0);
	assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "getppid"), &info), 0);
	/* libc's first segment begins at 0, so its code has equal offsets in memory and in the
	 * file. */
	assert_int_equal(
		spec[0].attr.config2, (uintptr_t)info.dli_saddr - (uintptr_t)info.dli_fbase);
	assert_non_null(strstr(spec[0].probe, "/libc.so.6"));
	assert_int_equal(access(spec[0].probe, R_OK), 0);
	assert_int_equal(spec[1].attr.config2, spec[0].attr.config2 + 4);
	assert_string_equal(spec[2].probe, at("fixed"));
	assert_in_range(spec[2].attr.config2, 0x1000, 0x2000);
	assert_int_equal(spec[3].attr.config2, 64);
	/* without a process */
	spec[0] = event(NEEDS_FILE_OFFSET, "libc.so.6", "getppid", 0);
	assert_int_equal(resolve_events(symbols, &machine, NULL, spec, 1, &error), 0);
	assert_int_equal(spec[0].attr.config2 + 4, spec[1].attr.config2);
}

static void test_refused(void **state)
{
	static const int32_t nobody = INT32_MAX;
	const struct resolve_target gone = {.pids = &nobody, .n_pids = 1};

	(void)state;
	refused(&own, event(NEEDS_DATA_ADDRESS, NULL, "watched_valeu", 0), RESOLVE_NO_SYMBOL,
		"watched_value");
	refused(&own, event(NEEDS_FILE_OFFSET, at("fixed"), "shared_value", 0), RESOLVE_NO_FUNCTION,
		"mem:shared_value");
	refused(&own, event(NEEDS_FILE_OFFSET, at("stripped"), "main", 0), RESOLVE_NO_SYMBOL,
		"was stripped");
	refused(&own, event(NEEDS_FILE_OFFSET, at("p.c"), "main", 0), RESOLVE_UNREADABLE,
		"no ELF file");
	refused(&own, event(NEEDS_FILE_OFFSET, "libnone.so.9", "main", 0), RESOLVE_NO_BINARY,
		"libnone.so.9");
	refused(&gone, event(NEEDS_DATA_ADDRESS, NULL, "main", 0), RESOLVE_NO_PROCESS, "has ended");
}

/* Resolves step by step, and names each file that it waits for.  Two events use one symbol. */
static void test_steps(void **state)
{
	struct event_spec specs[] = {event(NEEDS_DATA_ADDRESS, NULL, "watched_variable", 0),
		event(NEEDS_NOTHING, NULL, NULL, 0),
		event(NEEDS_DATA_ADDRESS, NULL, "watched_variable", 4)};
	struct resolve_job *job;
	struct resolve_error error;
	const char *symbol, *file;
	const struct event_spec *done;
	size_t n, waited = 0;
	int ret;

	(void)state;
	assert_int_equal(resolve_begin(&job, symbols, &own, specs, 3), 0);
	while ((ret = resolve_step(job, &error)) == -EAGAIN) {
		struct pollfd fd = {.fd = symbols_fd(symbols), .events = POLLIN};

		resolve_describe(job, &symbol, &file);
		assert_string_equal(symbol, "watched_variable");
		assert_non_null(strstr(file, "test_resolve"));
		assert_int_equal(poll(&fd, 1, 60000), 1);
		waited++;
	}
	assert_int_equal(ret, 0);
	assert_true(waited > 0);
	assert_int_equal(error.kind, RESOLVE_OK);
	resolve_describe(job, &symbol, &file);
	assert_string_equal(symbol, "");
	done = resolve_specs(job, &n);
	assert_int_equal(n, 3);
	assert_false(resolve_is_needed(done, n));
	assert_int_equal(done[0].attr.bp_addr, (uintptr_t)watched_variable);
	assert_int_equal(done[2].attr.bp_addr, (uintptr_t)&watched_variable[1]);
	/* The given specifications are unchanged. */
	assert_true(resolve_is_needed(specs, 3));
	resolve_end(job);
}

/* Ended while the answer is on its way.  The answer still arrives and does no harm. */
static void test_given_up(void **state)
{
	struct event_spec spec = event(NEEDS_DATA_ADDRESS, NULL, "watched_variable", 0);
	struct resolve_job *job;
	struct resolve_error error;

	(void)state;
	assert_int_equal(resolve_begin(&job, symbols, &own, &spec, 1), 0);
	assert_int_equal(resolve_step(job, &error), -EAGAIN);
	resolve_end(job);
	resolve_end(NULL);
	assert_int_equal(address_of(&own, "watched_variable", 0), (uintptr_t)watched_variable);
}

/* A readable stop_fd ends the wait. */
static void test_stopped(void **state)
{
	struct event_spec spec = event(NEEDS_DATA_ADDRESS, NULL, "watched_variable", 0);
	struct resolve_wait wait = {.stop_fd = -1};
	struct resolve_error error;
	int fds[2], ret;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "", 1), 1);
	wait.stop_fd = fds[0];
	ret = resolve_events(symbols, &own, &wait, &spec, 1, &error);
	/* The answer may come first. */
	if (ret) {
		assert_int_equal(ret, -EINTR);
		assert_int_equal(error.kind, RESOLVE_FAILED);
		assert_int_equal(error.error, EINTR);
	}
	close(fds[0]);
	close(fds[1]);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_address_in_process),
		cmocka_unit_test(test_address_of_command),
		cmocka_unit_test(test_address_in_kernel),
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_refused),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, setup, teardown);
}
