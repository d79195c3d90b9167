/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_by_name.c - finds the places of names and the names of data in compiled programs.
 *
 * nm(1) gives the expected addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/client/by_name.h"
#include "symbols/client/data.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 60000

static const char program[] = "#include <stdlib.h>\n"
			      "int counter_in_bss[4];\n"
			      "long table_in_data = 7;\n"
			      "static long own_data = 9;\n"
			      "_Thread_local int of_a_thread;\n"
			      "int scoped(int) __asm__(\"_ZN5outer6scopedEi\");\n"
			      "int scoped(int x) { return x + 1; }\n"
			      "__attribute__((noinline)) static int own_function(int x) { return x "
			      "* 3 + (int)own_data; }\n"
			      "int main(void) { free(malloc(1)); of_a_thread++; own_data++; return "
			      "scoped(own_function(counter_in_bss[0])); }\n";

static const char library[] = "int old_f(void) { return 1; }\n"
			      "int new_f(void) { return 2; }\n"
			      "int scoped_2(void) { return 3; }\n"
			      "__asm__(\".symver old_f, f@V_1\\n.symver new_f, f@@V_2\\n\"\n"
			      "\".symver scoped_2, _ZN5outer6scopedEi@@V_2\");\n";

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

static void run(const char *command)
{
	char text[1024];

	snprintf(text, sizeof(text), "cd %s && %s", dir, command);
	assert_int_equal(system(text), 0);
}

static int group_setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-by-name-XXXXXX");
	assert_non_null(mkdtemp(dir));
	FILE *out = fopen(at("p.c"), "we");
	assert_non_null(out);
	fputs(program, out);
	fclose(out);
	out = fopen(at("versions.c"), "we");
	assert_non_null(out);
	fputs(library, out);
	fclose(out);
	run("echo 'V_1 { }; V_2 { } V_1;' >versions && "
	    "cc -O1 -shared -fPIC -Wl,--version-script=versions -o versions.so versions.c && "
	    "cp versions.so versions-stripped.so && strip versions-stripped.so");
	run("cc -O1 -fpie -pie -Wl,--build-id -o pie p.c && cc -O1 -no-pie -o fixed p.c && "
	    "cp pie stripped && strip stripped && cp pie whole && "
	    "objcopy --only-keep-debug whole linked.debug && strip whole && "
	    "objcopy --add-gnu-debuglink=linked.debug whole");
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	run("rm -f versions versions.c versions.so versions-stripped.so p.c pie fixed stripped "
	    "whole linked.debug list kallsyms");
	return rmdir(dir);
}

static int setup(void **state)
{
	const char *const dirs[] = {at("nowhere"), NULL};
	const struct symbols_config config = {
		.cache_dir = "", .debug_dirs = dirs, .kallsyms_path = at("kallsyms")};

	(void)state;
	return symbols_new(&symbols, &config);
}

static int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	return 0;
}

static uint64_t nm(const char *file, const char *name)
{
	char line[512], command[PATH_MAX];
	uint64_t address = 0, found = 0;
	char type, read[256];

	snprintf(command, sizeof(command), "nm %s", at(file));
	FILE *in = popen(command, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, read) == 3 &&
			strcmp(read, name) == 0)
			found = address;
	pclose(in);
	return found;
}

static struct symbols_named *ask(const char *file, const char *name)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = at(file)};
	struct symbols_named *named;

	assert_int_equal(symbols_named_ask(symbols, &source, name, &named), 0);
	assert_int_equal(symbols_named_wait(symbols, named, -1, TIMEOUT_MS), 0);
	return named;
}

static enum symbols_state state_of(const struct symbols_named *named)
{
	int error;

	return symbols_named_state(named, &error);
}

/* Returns the only place that the file has for the name. */
static struct symbols_place expect(const char *file, const char *name, const char *in_file)
{
	struct symbols_named *named = ask(file, name);
	size_t n;

	assert_int_equal(state_of(named), SYMBOLS_READY);
	const struct symbols_place place = *symbols_named_places(named, &n);
	assert_int_equal(n, 1);
	assert_int_equal(place.address, nm(strcmp(file, "whole") ? file : "pie", in_file));
	symbols_named_release(named);
	return place;
}

static void expect_at(const char *file, const char *name, uint64_t address)
{
	struct symbols_named *named = ask(file, name);
	size_t n;

	if (state_of(named) != SYMBOLS_READY)
		fail_msg("%s in %s", name, file);
	assert_int_equal(symbols_named_places(named, &n)->address, address);
	assert_int_equal(n, 1);
	symbols_named_release(named);
}

static void test_places(void **state)
{
	(void)state;
	struct symbols_place place = expect("pie", "counter_in_bss", "counter_in_bss");
	assert_true(place.data && !place.local);
	assert_int_equal(place.size, 16);
	assert_int_equal(place.offset, UINT64_MAX);
	place = expect("pie", "table_in_data", "table_in_data");
	assert_true(place.data && place.offset != UINT64_MAX && place.size == 8);
	place = expect("fixed", "own_data", "own_data");
	assert_true(place.data && place.local);
	place = expect("fixed", "main", "main");
	assert_false(place.data);
	/* ld maps the text from the start of the file. */
	assert_int_equal(place.address - place.offset, 0x400000);
	place = expect("pie", "own_function", "own_function");
	assert_int_equal(place.address, place.offset);
}

static void test_demangled(void **state)
{
	static const char *const names[] = {
		"_ZN5outer6scopedEi", "outer::scoped", "outer::scoped(int)"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(expect("pie", names[i], "_ZN5outer6scopedEi").unwound);
	assert_false(expect("pie", "main", "main").unwound);
	static const char *const wrong[] = {
		"scoped", "outer::scope", "outer::scoped(long)", "ter::scoped", "", "outer::"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct symbols_named *named = ask("pie", wrong[i]);
		assert_int_equal(state_of(named), SYMBOLS_NONE);
		symbols_named_release(named);
	}
}

/* A symbol's version is part of the name, as nm -D prints it, with .symtab or only .dynsym. */
static void test_versions(void **state)
{
	static const char *const files[] = {"versions.so", "versions-stripped.so"};

	(void)state;
	const uint64_t old = nm("versions.so", "old_f"), new = nm("versions.so", "new_f");
	assert_true(old && new &&old != new);
	for (size_t i = 0; i < 2; i++) {
		expect_at(files[i], "f@V_1", old);
		expect_at(files[i], "f@@V_2", new);
		expect_at(files[i], "f@V_2", new);
		struct symbols_named *named = ask(files[i], "f@@V_1");
		assert_int_equal(state_of(named), SYMBOLS_NONE);
		assert_string_equal(symbols_named_near(named, 0), "f@V_1");
		assert_string_equal(symbols_named_near(named, 1), "f@@V_2");
		symbols_named_release(named);
		static const char *const wrong[] = {
			"f@V_3", "f@", "@V_1", "g@V_1", "f@V_", "f@V_11"};
		for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
			named = ask(files[i], wrong[k]);
			assert_int_equal(state_of(named), SYMBOLS_NONE);
			symbols_named_release(named);
		}
		size_t n;
		named = ask(files[i], "f");
		symbols_named_places(named, &n);
		assert_int_equal(n, 2);
		symbols_named_release(named);
	}
	expect_at("versions-stripped.so", "outer::scoped@V_2", nm("versions.so", "scoped_2"));
	expect_at("versions-stripped.so", "outer::scoped(int)@@V_2", nm("versions.so", "scoped_2"));
}

static void test_fixed(void **state)
{
	(void)state;
	struct symbols_named *named = ask("fixed", "main");
	assert_true(symbols_named_is_fixed(named));
	assert_int_equal(symbols_named_base(named), 0x400000);
	symbols_named_release(named);
	named = ask("pie", "main");
	assert_false(symbols_named_is_fixed(named));
	assert_int_equal(symbols_named_base(named), 0);
	symbols_named_release(named);
}

static void test_none(void **state)
{
	int error;

	(void)state;
	struct symbols_named *named = ask("pie", "tabel_in_data");
	assert_int_equal(symbols_named_state(named, &error), SYMBOLS_NONE);
	assert_string_equal(symbols_named_near(named, 0), "table_in_data");
	assert_null(symbols_named_near(named, 1));
	assert_false(symbols_named_is_stripped(named));
	symbols_named_release(named);
	/* An imported symbol and a thread-local one have no address. */
	named = ask("pie", "malloc");
	assert_int_equal(state_of(named), SYMBOLS_NONE);
	symbols_named_release(named);
	named = ask("pie", "of_a_thread");
	assert_int_equal(state_of(named), SYMBOLS_NONE);
	symbols_named_release(named);
	named = ask("stripped", "own_function");
	assert_int_equal(state_of(named), SYMBOLS_NONE);
	assert_true(symbols_named_is_stripped(named));
	symbols_named_release(named);
	named = ask("none", "main");
	assert_int_equal(symbols_named_state(named, &error), SYMBOLS_UNREADABLE);
	assert_int_equal(error, ENOENT);
	symbols_named_release(named);
	named = ask("p.c", "main");
	assert_int_equal(symbols_named_state(named, &error), SYMBOLS_UNREADABLE);
	assert_int_equal(error, ENOEXEC);
	symbols_named_release(named);
}

static void test_debug_file(void **state)
{
	(void)state;
	struct symbols_place place = expect("whole", "table_in_data", "table_in_data");
	assert_true(place.data && place.offset != UINT64_MAX);
	place = expect("whole", "own_function", "own_function");
	assert_false(place.data);
}

/* A request may be released before its answer arrives. */
static void test_released(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = at("pie")};
	struct symbols_named *named;

	(void)state;
	for (int i = 0; i < 8; i++) {
		assert_int_equal(symbols_named_ask(symbols, &source, "main", &named), 0);
		symbols_named_release(named);
	}
	symbols_named_release(ask("pie", "main"));
	symbols_named_release(NULL);
}

static void write_kallsyms(const char *text)
{
	FILE *out = fopen(at("kallsyms"), "we");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void test_kernel(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	struct symbols_named *named;
	struct symbol symbol;
	size_t n;

	(void)state;
	write_kallsyms(
		"ffffffff81000000 T _text\nffffffff81000100 t twice\nffffffff81000200 t twice\n"
		"ffffffff82000000 D jiffies\nffffffff82000040 b counters\n"
		"ffffffff82000080 T behind\nffffffffc0000010 d value\t[mod]\n");
	assert_int_equal(symbols_named_ask(symbols, &source, "jiffies", &named), 0);
	assert_int_equal(symbols_named_wait(symbols, named, -1, TIMEOUT_MS), 0);
	assert_int_equal(state_of(named), SYMBOLS_READY);
	assert_int_equal(symbols_named_places(named, &n)->address, 0xffffffff82000000);
	assert_true(symbols_named_places(named, &n)->data);
	symbols_named_release(named);
	assert_int_equal(symbols_named_ask(symbols, &source, "twice", &named), 0);
	assert_int_equal(symbols_named_wait(symbols, named, -1, TIMEOUT_MS), 0);
	symbols_named_places(named, &n);
	assert_int_equal(n, 2);
	symbols_named_release(named);

	assert_int_equal(symbols_data_request(symbols, 1), -EINVAL);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	assert_int_equal(symbols_data_state(symbols, 1), SYMBOLS_UNASKED);
	assert_int_equal(symbols_data_request(symbols, 1), 0);
	struct pollfd pfd = {.fd = symbols_fd(symbols), .events = POLLIN};
	while (symbols_data_state(symbols, 1) == SYMBOLS_PENDING) {
		assert_int_equal(poll(&pfd, 1, TIMEOUT_MS), 1);
		symbols_collect(symbols);
	}
	assert_true(symbols_data_find(symbols, 1, 0xffffffff82000008, &symbol));
	assert_string_equal(symbol.name, "jiffies");
	assert_true(symbols_data_find(symbols, 1, 0xffffffff82000044, &symbol));
	assert_string_equal(symbol.name, "counters");
	assert_true(symbols_data_find(symbols, 1, 0xffffffffc0000010, &symbol));
	assert_string_equal(symbol.module, "mod");
	/* Functions are in the other table. */
	assert_false(symbols_data_find(symbols, 1, 0xffffffff81000100, &symbol));
	assert_true(symbols_find(symbols, 1, 0xffffffff81000100, &symbol));

	write_kallsyms("0000000000000000 T _text\n0000000000000000 D jiffies\n");
	assert_int_equal(symbols_named_ask(symbols, &source, "jiffies", &named), 0);
	assert_int_equal(symbols_named_wait(symbols, named, -1, TIMEOUT_MS), 0);
	assert_int_equal(state_of(named), SYMBOLS_NONE);
	assert_true(symbols_named_is_hidden(named));
	symbols_named_release(named);
}

/* Data by file offset: .data has bytes in the file, .bss follows without any. */
static void expect_data(const char *file)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = at(file)};
	struct symbols_place bss = expect(file, "counter_in_bss", "counter_in_bss"),
			     data = expect(file, "table_in_data", "table_in_data");
	struct symbol symbol;
	struct pollfd pfd = {.fd = symbols_fd(symbols), .events = POLLIN};
	static uint32_t key = 100;

	key++;
	assert_int_equal(symbols_request(symbols, key, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	assert_int_equal(symbols_data_request(symbols, key), 0);
	while (symbols_data_state(symbols, key) == SYMBOLS_PENDING) {
		assert_int_equal(poll(&pfd, 1, TIMEOUT_MS), 1);
		symbols_collect(symbols);
	}
	assert_int_equal(symbols_data_state(symbols, key), SYMBOLS_READY);
	assert_true(symbols_data_find(symbols, key, data.offset + 7, &symbol));
	assert_string_equal(symbol.name, "table_in_data");
	assert_int_equal(symbol.start, data.offset);
	assert_int_equal(symbol.size, 8);
	assert_true(symbols_data_find(
		symbols, key, data.offset + (bss.address - data.address) + 15, &symbol));
	assert_string_equal(symbol.name, "counter_in_bss");
	assert_false(symbols_data_find(symbols, key, 0, &symbol));
}

static void test_data(void **state)
{
	(void)state;
	expect_data("pie");
	expect_data("fixed");
	expect_data("whole");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_demangled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fixed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_released, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_data, setup, teardown),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
