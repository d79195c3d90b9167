/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_again.c - symbols that change while they are used.
 *
 * They are this process's own map, dumps, and a list of kernel symbols.
 */
#include "symbols/base/clock.h"
#include "symbols/client/again.h"
#include "symbols/client/private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEY 7
#define NEXT (UINT64_C(1) << SYMBOLS_CHANGE_SHIFT)

static struct symbols *symbols;
static char dir[] = "/tmp/strobe-test-again-XXXXXX";
static char map[64], kernel[128], dump[128];

static int setup(void **state)
{
	struct symbols_config config = {.cache_dir = "", .kallsyms_path = kernel};

	(void)state;
	unlink(map);
	unlink(kernel);
	unlink(dump);
	return symbols_new(&symbols, &config);
}

static int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	return 0;
}

static void add_to(const char *path, const char *text)
{
	FILE *file = fopen(path, "ae");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void request(int32_t pid, int32_t parent, const char *jitdump)
{
	const struct symbols_source source = {.kind = SYMBOLS_JIT,
		.path = "[anon]",
		.pid = pid,
		.parent = parent,
		.jitdump = jitdump};

	assert_int_equal(symbols_request(symbols, KEY, &source), 0);
	symbols_collect(symbols);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
}

static const char *name_at(uint64_t address)
{
	struct symbol symbol;

	return symbols_find(symbols, KEY, address, &symbol) ? symbol.name : "";
}

/* symbols/ looks at the file again only if a name is requested. */
static const char *later_name_at(uint64_t address)
{
	(void)name_at(address);
	symbols_collect(symbols);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	return name_at(address);
}

static unsigned int count_notes(enum symbols_note_kind kind)
{
	struct symbols_note note;
	unsigned int found = 0;

	while (symbols_take_note(symbols, &note))
		found += note.kind == kind;
	return found;
}

static void test_a_map_appears_and_grows(void **state)
{
	struct symbols_change change;
	struct symbol first, then;
	const char *name;

	(void)state;
	request(getpid(), 0, NULL);
	assert_int_equal(symbols_state(symbols, KEY), SYMBOLS_NONE);
	assert_null(symbols_jit_file(symbols, KEY));
	assert_string_equal(later_name_at(0x1000), "");
	uint32_t version = symbols_version(symbols, KEY);

	add_to(map, "1000 10 py::work:/x/a b.py\n2000 10 other\n");
	assert_string_equal(later_name_at(0x100f), "py::work:/x/a b.py");
	assert_int_equal(symbols_state(symbols, KEY), SYMBOLS_READY);
	assert_string_equal(symbols_jit_file(symbols, KEY), map);
	assert_true(symbols_version(symbols, KEY) > version);
	assert_true(symbols_find(symbols, KEY, 0x1000, &first));
	name = first.name;

	/* A file without changes does not cause new requests of names. */
	version = symbols_version(symbols, KEY);
	assert_string_equal(later_name_at(0x9000), "");
	assert_int_equal(symbols_version(symbols, KEY), version);

	/* The function was compiled again elsewhere, and other code has its place: one name, one
	 * symbol.  The old code keeps its name, the new code has an address of its own. */
	add_to(map, "3000 10 py::work:/x/a b.py\n1000 10 instead\n");
	assert_string_equal(later_name_at(0x3000), "py::work:/x/a b.py");
	assert_string_equal(name_at(0x1000), "py::work:/x/a b.py");
	assert_string_equal(name_at(NEXT + 0x1000), "instead");
	assert_true(symbols_change(symbols, KEY, 0, &change));
	assert_int_equal(change.start, NEXT + 0x1000);
	assert_int_equal(change.size, 0x10);
	assert_true(change.since_ns > 1);
	assert_false(symbols_change(symbols, KEY, 1, &change));
	assert_true(symbols_find(symbols, KEY, 0x3000, &then));
	assert_int_equal(then.index, first.index);
	assert_ptr_equal(then.name, name);
	assert_int_equal(then.start, 0x3000);
	assert_true(symbols_find(symbols, KEY, NEXT + 0x1000, &then));
	assert_int_not_equal(then.index, first.index);

	/* The map is removed after all of it was read. */
	assert_int_equal(unlink(map), 0);
	assert_string_equal(later_name_at(0x9000), "");
	assert_string_equal(name_at(0x3000), "py::work:/x/a b.py");
}

static void write_anew(const char *text)
{
	FILE *file = fopen(map, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static uint64_t since_of(uint64_t address)
{
	struct symbols_change change;

	for (uint32_t i = 0; symbols_change(symbols, KEY, i, &change); i++)
		if (address >= change.start && address - change.start < change.size)
			return change.since_ns;
	return 0;
}

/* The map's new contents are valid since it was written.  No old name is lost. */
static void test_a_map_is_written_anew(void **state)
{
	static const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct symbols_change change;
	uint32_t changes = 0;

	(void)state;
	write_anew("1000 100 one\n2000 10 other\n3000 10 gone\n");
	request(getpid(), 0, NULL);
	assert_string_equal(name_at(0x1000), "one");

	/* Longer than before, though it has lost its beginning. */
	const uint64_t before_ns = clock_now_ns();
	write_anew("2000 10 other\n1010 10 two\n4000 10 new\n5000 10 of a long name\n");
	assert_string_equal(later_name_at(NEXT + 0x1010), "two");
	assert_string_equal(name_at(0x1010), "one");
	assert_string_equal(name_at(0x1000), "one");
	assert_int_equal(since_of(NEXT + 0x1000), 0);
	assert_string_equal(name_at(0x2000), "other");
	assert_int_equal(since_of(NEXT + 0x2000), 0);
	assert_string_equal(name_at(0x3000), "gone");
	/* No named code was there before: the name is valid from the beginning. */
	assert_string_equal(name_at(0x4000), "new");
	const uint64_t since_ns = since_of(NEXT + 0x1010);
	assert_true(since_ns >= before_ns - 20000000 && since_ns <= clock_now_ns());

	/* Equal contents change nothing, in any order, even if the file's time is set back. */
	write_anew("1010 10 two\n2000 10 other\n1000 100 one\n1010 10 two\n");
	assert_int_equal(utimensat(AT_FDCWD, map, old, 0), 0);
	assert_string_equal(later_name_at(NEXT + 0x1010), "two");
	assert_int_equal(since_of(NEXT + 0x1010), since_ns);
	assert_int_equal(since_of(2 * NEXT + 0x1010), 0);
	assert_int_equal(since_of(NEXT + 0x1000), 0);

	/* The old contents come back in another, shorter file with an old time. */
	char new[sizeof(map) + 4];
	snprintf(new, sizeof(new), "%s.new", map);
	add_to(new, "1000 100 one\n");
	assert_int_equal(utimensat(AT_FDCWD, new, old, 0), 0);
	assert_int_equal(rename(new, map), 0);
	assert_string_equal(later_name_at(2 * NEXT + 0x1010), "one");
	assert_string_equal(name_at(NEXT + 0x1010), "two");
	assert_true(since_of(2 * NEXT + 0x1010) > since_ns);

	/* Then the map grows like any other. */
	add_to(map, "6000 10 grown\n2000 10 instead\n");
	assert_string_equal(later_name_at(0x6000), "grown");
	assert_string_equal(name_at(NEXT + 0x2000), "instead");
	assert_string_equal(name_at(2 * NEXT + 0x1010), "one");
	while (symbols_change(symbols, KEY, changes, &change))
		changes++;
	assert_int_equal(changes, 3);
}

/* Length and time are equal, but a file that has just changed may change again. */
static void test_a_map_changes_at_once(void **state)
{
	const struct timespec soon[2] = {{.tv_sec = time(NULL) + 60}, {.tv_sec = time(NULL) + 60}};

	(void)state;
	write_anew("1000 10 one\n");
	assert_int_equal(utimensat(AT_FDCWD, map, soon, 0), 0);
	request(getpid(), 0, NULL);
	assert_string_equal(name_at(0x1000), "one");
	write_anew("1000 10 two\n");
	assert_int_equal(utimensat(AT_FDCWD, map, soon, 0), 0);
	assert_string_equal(later_name_at(NEXT + 0x1000), "two");
	assert_string_equal(name_at(0x1000), "one");
}

static void test_whose_map_it_is(void **state)
{
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	add_to(map, "1000 10 planted\n");
	assert_int_equal(chown(map, 65533, 65533), 0);
	request(getpid(), 0, NULL);
	assert_int_equal(symbols_state(symbols, KEY), SYMBOLS_NONE);
	assert_true(count_notes(SYMBOLS_NOTE_JIT_OWNER));
	assert_int_equal(chown(map, 0, 0), 0);
	assert_string_equal(later_name_at(0x1000), "planted");
	assert_int_equal(stat(map, &st), 0);
}

static void test_what_is_no_map_of_this_process(void **state)
{
	static const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char other[160];

	(void)state;
	/* A symbolic link out of the directory, which any user could make. */
	snprintf(other, sizeof(other), "%s/elsewhere", dir);
	add_to(other, "1000 10 elsewhere\n");
	assert_int_equal(symlink(other, map), 0);
	request(getpid(), 0, NULL);
	assert_string_equal(later_name_at(0x1000), "");
	assert_int_equal(unlink(map), 0);
	assert_int_equal(unlink(other), 0);
	/* A pipe, which would block an open. */
	assert_int_equal(mkfifo(map, 0600), 0);
	assert_string_equal(later_name_at(0x1000), "");
	assert_int_equal(unlink(map), 0);
	/* A restored file has an old time, but was made here later. */
	add_to(map, "1000 10 restored\n");
	assert_int_equal(utimensat(AT_FDCWD, map, old, 0), 0);
	assert_string_equal(later_name_at(0x1000), "restored");
}

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

#define OWN_BYTES 64

/* Starts a child that is first seen with its parent's map, and then writes a map of its own at
 * path own. */
static pid_t start_child_with_map(char own[OWN_BYTES])
{
	add_to(map, "1000 10 of the parent\n");
	const pid_t child = start_child();
	request(child, getpid(), NULL);
	assert_string_equal(name_at(0x1000), "of the parent");
	snprintf(own, OWN_BYTES, "/tmp/perf-%d.map", child);
	add_to(own, "1000 10 of the child\n");
	return child;
}

static void test_a_forked_process(void **state)
{
	char own[OWN_BYTES];

	(void)state;
	const pid_t child = start_child_with_map(own);
	assert_string_equal(later_name_at(NEXT + 0x1000), "of the child");
	assert_string_equal(name_at(0x1000), "of the parent");
	assert_string_equal(symbols_jit_file(symbols, KEY), own);

	/* After the process has ended, its last lines are read, even from another file.  Later
	 * ones are not. */
	char other[sizeof(own) + 4];
	snprintf(other, sizeof(other), "%s.new", own);
	add_to(other, "1000 10 of the child\n2000 10 its last\n");
	assert_int_equal(rename(other, own), 0);
	end_child(child);
	assert_string_equal(later_name_at(0x2000), "its last");
	add_to(own, "3000 10 of the next one\n");
	assert_string_equal(later_name_at(0x3000), "");
	assert_string_equal(name_at(0x2000), "its last");
	unlink(own);
}

/* The process began a map of its own, and ended before the map was read. */
static void test_gone_with_a_map_of_its_own(void **state)
{
	char own[OWN_BYTES];

	(void)state;
	const pid_t child = start_child_with_map(own);
	/* The process has not been waited for. */
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT), 0);
	assert_string_equal(later_name_at(NEXT + 0x1000), "of the child");
	assert_string_equal(name_at(0x1000), "of the parent");
	add_to(own, "2000 10 its last\n");
	end_child(child);
	assert_string_equal(later_name_at(0x2000), "its last");
	unlink(own);
}

static void test_gone_before_it_was_seen(void **state)
{
	static const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char own[64];

	(void)state;
	pid_t child = start_child();
	end_child(child);
	snprintf(own, sizeof(own), "/tmp/perf-%d.map", child);
	add_to(own, "1000 10 quick\n");
	request(child, 0, NULL);
	assert_string_equal(name_at(0x1000), "quick");
	/* An old map does not belong to the process. */
	teardown(NULL);
	assert_int_equal(utimensat(AT_FDCWD, own, old, 0), 0);
	setup(NULL);
	request(child, 0, NULL);
	assert_string_equal(name_at(0x1000), "");
	unlink(own);
}

/* The last line of an ended process may lack its end.  A live process may still be writing it. */
static void test_the_last_line_of_an_ended_process(void **state)
{
	char own[64];

	(void)state;
	pid_t child = start_child();
	snprintf(own, sizeof(own), "/tmp/perf-%d.map", child);
	add_to(own, "1000 10 first\n2000 10 without an e");
	request(child, 0, NULL);
	assert_string_equal(name_at(0x1000), "first");
	assert_string_equal(name_at(0x2000), "");
	add_to(own, "nd");
	assert_string_equal(later_name_at(0x2000), "");
	end_child(child);
	assert_string_equal(later_name_at(0x2000), "without an end");
	assert_string_equal(name_at(0x1000), "first");
	unlink(own);
}

/* The parent continues to write after its child has ended. */
static void test_the_last_line_of_a_parent(void **state)
{
	(void)state;
	add_to(map, "1000 10 of the parent\n2000 10 without an e");
	pid_t child = start_child();
	request(child, getpid(), NULL);
	assert_string_equal(name_at(0x1000), "of the parent");
	end_child(child);
	assert_string_equal(later_name_at(0x2000), "");
}

static void add_load(FILE *file, uint64_t address, const char *name)
{
	const uint32_t prefix[4] = {0, (uint32_t)(56 + strlen(name) + 1 + 16), 0, 0};
	const uint32_t ids[2] = {1, 1};
	const uint64_t body[4] = {address, address, 16, address};
	const char code[16] = "";

	assert_int_equal(fwrite(prefix, sizeof(prefix), 1, file), 1);
	assert_int_equal(fwrite(ids, sizeof(ids), 1, file), 1);
	assert_int_equal(fwrite(body, sizeof(body), 1, file), 1);
	assert_int_equal(fwrite(name, strlen(name) + 1, 1, file), 1);
	assert_int_equal(fwrite(code, sizeof(code), 1, file), 1);
}

static void test_a_dump(void **state)
{
	const uint32_t header[10] = {0x4a695444, 1, 40, 62};

	(void)state;
	FILE *file = fopen(dump, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(header, sizeof(header), 1, file), 1);
	add_load(file, 0x1000, "dumped");
	assert_int_equal(fflush(file), 0);
	request(getpid(), 0, NULL);
	assert_string_equal(name_at(0x1000), "");
	/* The dump may become known later. */
	const struct symbols_source source = {
		.kind = SYMBOLS_JIT, .path = "[anon]", .pid = getpid(), .jitdump = dump};
	assert_int_equal(symbols_request(symbols, KEY, &source), 0);
	assert_string_equal(later_name_at(0x1000), "dumped");
	assert_string_equal(symbols_jit_file(symbols, KEY), dump);
	add_load(file, 0x2000, "more");
	assert_int_equal(fclose(file), 0);
	assert_string_equal(later_name_at(0x2000), "more");
	/* If both have a name, the dump's has priority. */
	add_to(map, "1000 10 mapped\n4000 10 only mapped\n");
	assert_string_equal(later_name_at(0x4000), "only mapped");
	assert_string_equal(name_at(0x1000), "dumped");
	/* Names from a map stay known after it is removed, and after a new one is there. */
	assert_int_equal(unlink(map), 0);
	file = fopen(dump, "ae");
	assert_non_null(file);
	add_load(file, 0x3000, "still more");
	assert_int_equal(fclose(file), 0);
	assert_string_equal(later_name_at(0x3000), "still more");
	assert_string_equal(name_at(0x4000), "only mapped");
	add_to(map, "4000 10 instead\n");
	assert_string_equal(later_name_at(NEXT + 0x4000), "instead");
	assert_string_equal(name_at(0x4000), "only mapped");
}

static void test_a_module_is_loaded(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	struct symbol before, after;

	(void)state;
	add_to(kernel,
		"ffffffff81000000 T _text\nffffffff81000100 T _end_of_it\n"
		"ffffffffc0a00000 t hook\t[first]\nffffffffc0a00040 t same\t[first]\n");
	assert_int_equal(symbols_request(symbols, KEY, &source), 0);
	symbols_collect(symbols);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_true(symbols_find(symbols, KEY, 0xffffffffc0a00008, &before));
	assert_string_equal(before.name, "hook");
	assert_string_equal(before.module, "first");
	assert_string_equal(later_name_at(0xffffffffc0b00000), "");

	add_to(kernel, "ffffffffc0b00000 t same\t[second]\n");
	assert_string_equal(later_name_at(0xffffffffc0b00000), "same");
	assert_true(symbols_find(symbols, KEY, 0xffffffffc0b00000, &after));
	assert_string_equal(after.module, "second");
	/* There is another function of that name.  The earlier symbols are unchanged. */
	struct symbol other;
	assert_true(symbols_find(symbols, KEY, 0xffffffffc0a00040, &other));
	assert_string_equal(other.name, "same");
	assert_int_not_equal(other.index, after.index);
	assert_true(symbols_find(symbols, KEY, 0xffffffffc0a00008, &after));
	assert_int_equal(after.index, before.index);
	assert_ptr_equal(after.name, before.name);
}

/* The machine may be too busy, or have no process left for the worker. */
static void test_a_list_that_cannot_be_read_at_first(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};

	(void)state;
	assert_int_equal(symbols_request(symbols, KEY, &source), 0);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(symbols_state(symbols, KEY), SYMBOLS_UNREADABLE);
	/* One wait includes the second attempt, which tells.  A third one is not made. */
	assert_int_equal(count_notes(SYMBOLS_NOTE_UNREADABLE), 1);
	symbols_collect(symbols);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(count_notes(SYMBOLS_NOTE_UNREADABLE), 0);
}

static void test_a_list_that_can_be_read_later(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};

	(void)state;
	/* The list is asked for after the begin of a wait, which goes on. */
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(symbols_request(symbols, KEY, &source), 0);
	/* This does not look again. */
	while (symbols_state(symbols, KEY) == SYMBOLS_PENDING)
		symbols_collect_meanwhile(symbols);
	assert_int_equal(symbols_state(symbols, KEY), SYMBOLS_UNREADABLE);
	add_to(kernel, "ffffffff81000000 T _text\nffffffff81000100 T _end_of_it\n");
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(symbols_state(symbols, KEY), SYMBOLS_READY);
	assert_string_equal(name_at(0xffffffff81000008), "_text");
	assert_int_equal(count_notes(SYMBOLS_NOTE_UNREADABLE), 0);
}

/* --- times to look --- */

#define SECOND 1000000000ull
#define LAST (1000 * SECOND) /* begin of the wait for all names */

static void test_pauses(void **state)
{
	const struct symbols_source jit = {.kind = SYMBOLS_JIT, .pid = 1};
	const struct symbols_source list = {.kind = SYMBOLS_KERNEL};
	struct loader_image same = {.state = SYMBOLS_NONE, .jit = {.same = true}};
	struct loader_image new = {.state = SYMBOLS_NONE};
	const struct symtab none = {0};
	uint64_t now = 100 * SECOND;
	struct again *again;

	(void)state;
	again_pause_ns = SECOND;
	assert_int_equal(again_new(&again, &jit), 0);
	assert_false(again_is_due(again, now, LAST)); /* no name was requested */
	again_missed(again);
	assert_true(again_is_due(again, now, 0));
	loader_image_free(again_begin(again, KEY, now));
	assert_false(again_is_due(again, now, LAST)); /* a look is in progress */
	assert_false(again_end(again, &same, &none, now + SECOND / 2));
	now += SECOND / 2;
	/* The look took half a second: the next one is due ten seconds later. */
	assert_false(again_is_due(again, now + 9 * SECOND, 0));
	/* No new name was requested, but the old ones may have other code. */
	assert_true(again_is_due(again, now, LAST));
	assert_true(again_is_due(again, now + 10 * SECOND, 0));
	again_missed(again);
	assert_false(again_is_due(again, now, 0));
	assert_true(again_is_due(again, now, LAST));
	/* While all names are waited for, one look is enough, even if the file grows and names
	 * are requested. */
	loader_image_free(again_begin(again, KEY, LAST));
	again_missed(again);
	assert_false(again_is_due(again, LAST + SECOND, LAST));
	assert_false(again_end(again, &new, &none, LAST + SECOND));
	again_missed(again);
	assert_false(again_is_due(again, LAST + 99 * SECOND, LAST));
	assert_true(again_is_due(again, LAST + 99 * SECOND, 0));
	again_free(again);

	/* Code without requests may be replaced.  It is looked at as well, but less often if it
	 * stays. */
	assert_int_equal(again_new(&again, &jit), 0);
	again_missed(again);
	loader_image_free(again_begin(again, KEY, now));
	assert_false(again_end(again, &new, &none, now));
	again->wanted = again->unresolved = false;
	for (uint64_t pause = 1; pause <= 8; pause *= 2) {
		assert_false(again_is_due(again, now + pause * SECOND - 1, 0));
		now += pause * SECOND;
		assert_true(again_is_due(again, now, 0));
		loader_image_free(again_begin(again, KEY, now));
		assert_false(again_end(again, &same, &none, now));
	}
	assert_true(again_is_due(again, now + 8 * SECOND, 0));
	again_free(again);

	/* A kernel's list that does not change is read less and less often. */
	assert_int_equal(again_new(&again, &list), 0);
	for (uint64_t pause = 1; pause <= 8; pause *= 2) {
		again_missed(again);
		loader_image_free(again_begin(again, KEY, now));
		assert_false(again_end(again, &same, &none, now));
		again_missed(again);
		assert_false(again_is_due(again, now + pause * SECOND - 1, 0));
		now += pause * SECOND;
		assert_true(again_is_due(again, now, 0));
	}
	again_free(again);

	/* There is one last look, even after a recent or slow one: a module may have been loaded
	 * since. */
	assert_int_equal(again_new(&again, &list), 0);
	again_missed(again);
	loader_image_free(again_begin(again, KEY, now));
	assert_false(again_end(again, &same, &none, now + SECOND / 2));
	now += SECOND / 2;
	again_missed(again);
	assert_false(again_is_due(again, now + 9 * SECOND, 0));
	assert_true(again_is_due(again, now + 1, now + 1));
	loader_image_free(again_begin(again, KEY, now + 1));
	assert_false(again_end(again, &same, &none, now + 2));
	again_missed(again);
	assert_false(again_is_due(again, now + 99 * SECOND, now + 1));
	again_free(again);
	again_free(NULL);
	again_pause_ns = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_map_appears_and_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_map_is_written_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_map_changes_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whose_map_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_is_no_map_of_this_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_forked_process, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_last_line_of_an_ended_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_last_line_of_a_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_with_a_map_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone_before_it_was_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_dump, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_module_is_loaded, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_list_that_cannot_be_read_at_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_list_that_can_be_read_later, setup, teardown),
		cmocka_unit_test(test_pauses),
	};

	again_pause_ns = 0;
	if (!mkdtemp(dir))
		return 1;
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	snprintf(kernel, sizeof(kernel), "%s/kallsyms", dir);
	snprintf(dump, sizeof(dump), "%s/jit-%d.dump", dir, getpid());
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(map);
	unlink(kernel);
	unlink(dump);
	rmdir(dir);
	return failed;
}
