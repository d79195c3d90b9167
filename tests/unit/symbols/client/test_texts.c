/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_texts.c - source files read in the background, and one that does not open.
 *
 * fanotify(7) keeps the open waiting, as an unreachable network disk would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/client/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#define WAIT_MS 60000

static char dir[64];
static struct symbols *symbols;

static const char *at(const char *name)
{
	static char path[8][PATH_MAX];
	static int next;

	next = (next + 1) % 8;
	snprintf(path[next], PATH_MAX, "%s/%s", dir, name);
	return path[next];
}

static void write_file(const char *name, const char *text)
{
	int fd = open(at(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	const struct symbols_config config = {.cache_dir = ""};

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-texts-XXXXXX");
	assert_non_null(mkdtemp(dir));
	write_file("a.c", "int a;\n");
	write_file("b.c", "int b;\n");
	return symbols_new(&symbols, &config);
}

static int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	symbols = NULL;
	unlink(at("a.c"));
	unlink(at("b.c"));
	return rmdir(dir);
}

static const struct symbols_source_origin own = {
	.rights = {.kind = SYMBOLS_RIGHTS_OWN, .here = true}};

static struct symbols_text *ask(const char *file)
{
	const struct symbols_text_question question = {.origin = own, .file = file};
	struct symbols_text *text;

	assert_int_equal(symbols_text_ask(symbols, &question, &text), 0);
	return text;
}

/* Waits until the text has arrived.  Returns its state. */
static enum symbols_state wait_for(const struct symbols_text *text)
{
	struct pollfd pfd = {.fd = symbols_fd(symbols), .events = POLLIN};
	int error;

	while (symbols_text_state(text, &error) == SYMBOLS_PENDING) {
		assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
		symbols_collect(symbols);
	}
	return symbols_text_state(text, &error);
}

static void test_reads(void **state)
{
	uint64_t since_ns;
	int error;

	(void)state;
	struct symbols_text *text = ask(at("a.c")), *again = ask(at("a.c"));
	struct symbols_text *none = ask(at("none.c"));
	assert_ptr_equal(text, again);
	assert_int_equal(wait_for(text), SYMBOLS_READY);
	assert_string_equal(symbols_text_get(text)->bytes, "int a;\n");
	assert_string_equal(symbols_text_path(text), at("a.c"));
	assert_int_equal(wait_for(none), SYMBOLS_UNREADABLE);
	symbols_text_state(none, &error);
	assert_int_equal(error, ENOENT);
	assert_int_equal(symbols_text_waiting(symbols, &since_ns), 0);
	symbols_text_release(symbols, again);
	symbols_text_release(symbols, text);
	symbols_text_release(symbols, none);
	/* not referenced, but still cached */
	text = ask(at("a.c"));
	assert_int_equal(symbols_text_state(text, &error), SYMBOLS_READY);
	symbols_text_release(symbols, text);
	/* A file that was missing may exist later. */
	write_file("none.c", "int none;\n");
	none = ask(at("none.c"));
	assert_int_equal(wait_for(none), SYMBOLS_READY);
	symbols_text_release(symbols, none);
	unlink(at("none.c"));
}

static void test_prefixes(void **state)
{
	static char prefix[PATH_MAX];
	const char *const prefixes[] = {prefix, NULL};
	struct symbols_text_question question = {
		.origin = own, .file = "/build/b.c", .prefixes = prefixes};
	struct symbols_text *text;

	(void)state;
	snprintf(prefix, sizeof(prefix), "/build=%s", dir);
	assert_int_equal(symbols_text_ask(symbols, &question, &text), 0);
	assert_int_equal(wait_for(text), SYMBOLS_READY);
	assert_string_equal(symbols_text_path(text), at("b.c"));
	symbols_text_release(symbols, text);
}

/* Many at once, released before they arrive. */
static void test_released(void **state)
{
	struct symbols_text *texts[64];
	uint64_t since_ns;

	(void)state;
	for (size_t i = 0; i < 64; i++) {
		char name[32];
		snprintf(name, sizeof(name), "none-%zu.c", i);
		texts[i] = ask(at(name));
	}
	for (size_t i = 0; i < 64; i++)
		symbols_text_release(symbols, texts[i]);
	assert_int_equal(symbols_text_waiting(symbols, &since_ns), 0);
	struct symbols_text *text = ask(at("b.c"));
	assert_int_equal(wait_for(text), SYMBOLS_READY);
	symbols_text_release(symbols, text);
}

/* --- files that hang --- */

/* Makes every open of the file wait until the returned descriptor is closed.  Returns -1 if this
 * kernel or user cannot. */
static int hold(const char *name)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY);

	if (fd >= 0 && fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, at(name)) < 0) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		print_message("skipped: fanotify does not hold files here: %s\n", strerror(errno));
	return fd;
}

static void wait_until_held(int fan)
{
	struct pollfd pfd = {.fd = fan, .events = POLLIN};

	assert_int_equal(poll(&pfd, 1, WAIT_MS), 1);
}

static void test_hangs(void **state)
{
	uint64_t since_ns;
	int error;

	(void)state;
	int fan = hold("a.c");
	if (fan < 0)
		skip();
	struct symbols_text *hung = ask(at("a.c"));
	wait_until_held(fan);
	/* Other texts arrive all the same, and the caller goes on. */
	struct symbols_text *text = ask(at("b.c"));
	assert_int_equal(wait_for(text), SYMBOLS_READY);
	assert_int_equal(symbols_text_state(hung, &error), SYMBOLS_PENDING);
	assert_int_equal(symbols_text_waiting(symbols, &since_ns), 1);
	assert_true(since_ns);
	/* The text arrives when the disk answers. */
	close(fan);
	assert_int_equal(wait_for(hung), SYMBOLS_READY);
	symbols_text_release(symbols, hung);
	symbols_text_release(symbols, text);
}

static void test_given_up(void **state)
{
	uint64_t since_ns;
	int error;

	(void)state;
	int fan = hold("a.c");
	if (fan < 0)
		skip();
	struct symbols_text *hung = ask(at("a.c"));
	wait_until_held(fan);
	symbols_code_abandon(symbols);
	assert_int_equal(symbols_text_state(hung, &error), SYMBOLS_UNASKED);
	assert_int_equal(symbols_text_waiting(symbols, &since_ns), 0);
	symbols_text_release(symbols, hung);
	/* The hung thread is abandoned; another one serves requests. */
	struct symbols_text *text = ask(at("b.c"));
	assert_int_equal(wait_for(text), SYMBOLS_READY);
	symbols_text_release(symbols, text);
	close(fan);
}

/* More hung files than threads: they are abandoned, and other texts arrive. */
static void test_many_hang(void **state)
{
	struct symbols_text *hung[12];

	(void)state;
	int fan = hold("a.c");
	if (fan < 0)
		skip();
	for (size_t i = 0; i < 12; i++) {
		char name[64];
		/* one file by other names */
		snprintf(name, sizeof(name), "%.*s/a.c", (int)(2 * i + 1),
			"./././././././././././././.");
		hung[i] = ask(at(name));
	}
	wait_until_held(fan);
	symbols_code_abandon(symbols);
	struct symbols_text *text = ask(at("b.c"));
	assert_int_equal(wait_for(text), SYMBOLS_READY);
	symbols_text_release(symbols, text);
	for (size_t i = 0; i < 12; i++)
		symbols_text_release(symbols, hung[i]);
	close(fan);
}

/* symbols_free() does not wait for a hung file. */
static void test_ends(void **state)
{
	(void)state;
	int fan = hold("a.c");
	if (fan < 0)
		skip();
	struct symbols_text *hung = ask(at("a.c"));
	wait_until_held(fan);
	symbols_text_release(symbols, hung);
	symbols_free(symbols);
	symbols = NULL;
	close(fan);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_prefixes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_released, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hangs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_given_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_hang, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
