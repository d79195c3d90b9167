/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_code.c - lines and instructions of small compiled programs.
 *
 * Their debug information is in the program, in other files, in parts, or missing.
 */
#include "symbols/client/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>

#include "tests/unit/code_fixture.h"

static void test_code_of_function(void **state)
{
	struct symbols_code *again;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);

	/* A repeated question returns the same answer, at once. */
	const struct symbols_code_question question = {.key = 1,
		.start = outer.start,
		.end = outer.start + outer.size,
		.syntax = DISASM_INTEL,
		.lines = true};
	assert_int_equal(symbols_code_ask(symbols, &question, &again), 0);
	assert_ptr_equal(again, code);
	symbols_code_release(symbols, again);
	symbols_code_release(symbols, code);
	assert_int_equal(symbols_code_ask(symbols, &question, &again), 0);
	assert_ptr_equal(again, code);
	symbols_code_release(symbols, again);

	code = ask_function(1, &outer, false);
	check_outer(code, &outer, false);
	symbols_code_release(symbols, code);
}

/* A program linked for an address of its own shows its instructions at that address. */
static void test_bias(void **state)
{
	static const char *const flags[] = {"-fpie -pie", "-no-pie -Wl,-Ttext-segment=0x600000"};

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		compile(flags[i]);
		start(NULL, false);
		request(1, in_dir("program"));
		const struct symbol outer = find_function(1, in_dir("program"), "outer");
		struct symbols_code *code = ask_function(1, &outer, false);
		assert_int_equal(symbols_code_table(code)->entries[0].start, outer.start);
		assert_int_equal(symbols_code_table(code)->bias, i * 0x600000);
		symbols_code_release(symbols, code);
		symbols_free(symbols);
		symbols = NULL;
	}
}

static void test_lines(void **state)
{
	struct symbols_frame frames[8];
	enum symbols_state is;
	uint64_t since;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	assert_int_equal(symbols_lines(symbols, 1, outer.start, frames, 8, &is), 0);
	assert_int_equal(is, SYMBOLS_UNASKED);

	/* The question is pending until its answer is collected. It is asked only once. */
	assert_int_equal(symbols_lines_ask(symbols, 1, &outer.start, 1), 0);
	assert_int_equal(symbols_lines_ask(symbols, 1, &outer.start, 1), 0);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, frames, 8, &is), 0);
	assert_int_equal(is, SYMBOLS_PENDING);
	assert_true(symbols_code_waiting(symbols, &since) <= 1);
	struct pollfd pfd = {.fd = symbols_fd(symbols), .events = POLLIN};
	unsigned int changed = 0;
	while (!changed && poll(&pfd, 1, TIMEOUT_MS) == 1)
		changed = symbols_collect(symbols);
	assert_int_equal(changed, SYMBOLS_CHANGED_CODE);
	assert_int_equal(symbols_code_waiting(symbols, &since), 0);
	assert_int_equal(since, 0);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, frames, 8, &is), 1);
	assert_int_equal(is, SYMBOLS_READY);
	assert_string_equal(frames[0].function, "outer");
	const char *function = frames[0].function;

	ask_lines(1, outer.start, (size_t)outer.size);
	assert_true(has_inlined(1, &outer));
	/* Equal strings are one string. */
	assert_true(symbols_lines(symbols, 1, outer.start + 1, frames, 8, &is) > 0);
	assert_ptr_equal(frames[0].function, function);

	/* More offsets than fit into one packet. */
	struct stat st;
	assert_int_equal(stat(in_dir("program"), &st), 0);
	const size_t n = ask_lines(1, 0, 20000);
	for (uint64_t offset = 0; offset < n; offset++) {
		const size_t found = symbols_lines(symbols, 1, offset, NULL, 0, &is);
		assert_int_equal(is, found ? SYMBOLS_READY : SYMBOLS_NONE);
	}
	/* A question about an image that was not requested is ignored. */
	assert_int_equal(symbols_lines_ask(symbols, 77, &outer.start, 1), 0);
	assert_int_equal(symbols_lines(symbols, 77, outer.start, frames, 8, &is), 0);
	assert_int_equal(is, SYMBOLS_UNASKED);
}

static void test_no_debug_information(void **state)
{
	struct symbols_frame frames[8];
	enum symbols_state is;

	(void)state;
	compile("-g0");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	ask_lines(1, outer.start, 2);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, frames, 8, &is), 0);
	assert_int_equal(is, SYMBOLS_NONE);
	/* The whole image is known to have no lines. */
	assert_int_equal(symbols_lines(symbols, 1, outer.start + 9, frames, 8, &is), 0);
	assert_int_equal(is, SYMBOLS_NONE);

	struct symbols_code *code = ask_function(1, &outer, true);
	assert_false(symbols_code_has_lines(code));
	check_outer(code, &outer, false);
	symbols_code_release(symbols, code);
}

/* Moves the debug information to the directory for build-ids. */
static void move_debug_file(void)
{
	run("objcopy --only-keep-debug program program.debug && strip -s program && "
	    "id=$(readelf -n program | sed -n 's/.*Build ID: //p') && "
	    "mkdir -p debug/.build-id/$(echo $id | cut -c1-2) && "
	    "mv program.debug debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut "
	    "-c3-).debug");
}

static void test_separate_debug_file(void **state)
{
	(void)state;
	compile("");
	move_debug_file();
	start(in_dir("debug"), false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_true(has_inlined(1, &outer));
}

/* The first place for the debug file holds another program's file. A debug file alone has no
 * code. */
static void test_wrong_debug_file(void **state)
{
	const char *const dirs[] = {in_dir("wrong"), in_dir("debug"), NULL};
	const struct symbols_config config = {.cache_dir = "", .debug_dirs = dirs};
	struct symbols_source source = {.kind = SYMBOLS_FILE};
	int error;

	(void)state;
	compile("");
	move_debug_file();
	run("cp -r debug wrong && printf 'int main(void) { return 0; }' > other.c && "
	    "cc -g -Wl,--build-id -o other other.c && mkdir alone && "
	    "cp debug/.build-id/*/*.debug alone/program && "
	    "for f in wrong/.build-id/*/*; do cp other $f; done");
	assert_int_equal(symbols_new(&symbols, &config), 0);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);

	source.path = in_dir("alone/program");
	assert_int_equal(symbols_request(symbols, 2, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	code = ask_function(2, &outer, true);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_NONE);
	symbols_code_release(symbols, code);
}

static void test_split_debug_information(void **state)
{
	(void)state;
	write_file("program.c", PROGRAM);
	run("cc -O2 -g -gsplit-dwarf -c program.c && cc -o program program.o && ls *.dwo "
	    ">/dev/null");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
}

/* The debug file appears later. */
static void test_refresh(void **state)
{
	enum symbols_state is;

	(void)state;
	compile("");
	run("cp program whole && strip --strip-debug program");
	start(in_dir("debug"), false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *before = ask_function(1, &outer, true);
	check_outer(before, &outer, false);
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, NULL, 0, &is), 0);
	assert_int_equal(is, SYMBOLS_NONE);

	run("mv program kept && mv whole program");
	move_debug_file();
	run("mv kept program");
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, NULL, 0, &is), 0);
	symbols_code_refresh(symbols, 1);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, NULL, 0, &is), 0);
	assert_int_equal(is, SYMBOLS_UNASKED);
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_true(has_inlined(1, &outer));
	struct symbols_code *after = ask_function(1, &outer, true);
	assert_ptr_not_equal(after, before);
	check_outer(after, &outer, true);
	check_outer(before, &outer, false);
	symbols_code_release(symbols, after);
	symbols_code_release(symbols, before);
}

/* All split parts are in one package; the .dwo files are removed. */
static void test_package(void **state)
{
	(void)state;
	if (system("command -v dwp >/dev/null") != 0) {
		print_message("there is no dwp\n");
		skip();
	}
	write_file("program.c", PROGRAM);
	run("cc -O2 -g -gdwarf-4 -gsplit-dwarf -c program.c && cc -o program program.o && "
	    "dwp -e program && rm *.dwo && test -f program.dwp");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
}

/* The debug information refers to an alternate file, which exists or is missing. */
static void test_alternate_file(void **state)
{
	(void)state;
	compile("");
	run("printf 'int main(void) { return 0; }' > alt.c && "
	    "cc -g -Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314 -o alt alt.c && "
	    "printf '../../.dwz/alt\\000\\001\\002\\003\\004\\005\\006\\007\\010\\011\\012\\013"
	    "\\014\\015\\016\\017\\020\\021\\022\\023\\024' > link && "
	    "objcopy --add-section .gnu_debugaltlink=link program && "
	    "mkdir -p debug/.dwz && cp alt debug/.dwz/alt");
	for (int there = 1; there >= 0; there--) {
		start(in_dir("debug"), false);
		request(1, in_dir("program"));
		const struct symbol outer = find_function(1, in_dir("program"), "outer");
		struct symbols_code *code = ask_function(1, &outer, true);
		check_outer(code, &outer, true);
		symbols_code_release(symbols, code);
		symbols_free(symbols);
		symbols = NULL;
		run("rm -rf debug");
	}
}

/* Builds two programs that share debug information in the file "common".  name: how they name it;
 * NULL: by its mere name.  Skips the test if there is no dwz. */
static void make_common(const char *name)
{
	if (system("command -v dwz >/dev/null") != 0) {
		print_message("there is no dwz\n");
		skip();
	}
	compile("");
	run("cc -O2 -g -DTWIN -Wl,--build-id -o twin program.c && "
	    "dwz %s%s -m common program twin && readelf -S program | grep -q gnu_debugaltlink",
		name ? "-M " : "", name ? name : "");
}

/* Checks the code of outer() in the program.  error: why its common file is not used; 0 if it is,
 * and then the code has the names of functions. */
static void check_common(int error)
{
	struct symbols_note note;
	unsigned int notes = 0;

	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	if (!error)
		check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
	ask_lines(1, outer.start, (size_t)outer.size);
	while (symbols_take_note(symbols, &note)) {
		if (note.kind != SYMBOLS_NOTE_NO_COMMON)
			continue;
		notes++;
		assert_int_equal(note.error, error);
		assert_non_null(strstr(note.path, "/common"));
		assert_memory_equal(note.path, dir, strlen(dir));
	}
	assert_int_equal(notes, error != 0);
	symbols_free(symbols);
	symbols = NULL;
}

/* The file that dwz made lies beside the program, which names it. */
static void test_common_file(void **state)
{
	(void)state;
	make_common(NULL);
	check_common(0);
	run("mkdir there && mv common there/other");
	check_common(ENOENT);
	/* Another file has taken its name. */
	run("cp twin common");
	check_common(ESTALE);
	run("printf private > common");
	check_common(ENOEXEC);
}

static void test_common_file_elsewhere(void **state)
{
	(void)state;
	make_common("$PWD/there/common");
	check_common(ENOENT);
	run("mkdir there && mv common there");
	check_common(0);
	make_common("../there/common");
	run("mv common there && mkdir here && mv program here && ln -s here/program program");
	check_common(0);
	/* The debug file has the link, and a name leads to the debug file. */
	run("rm program && mv here/program program && "
	    "objcopy --only-keep-debug program here/program.debug && strip -s program && "
	    "ln -s here/program.debug program.debug && "
	    "objcopy --add-gnu-debuglink=program.debug program");
	check_common(0);
}

/* Another user's program may not name what that user may not read. */
static void test_common_file_of_others(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("only root can give a program to another user\n");
		skip();
	}
	make_common("$PWD/there/common");
	run("chmod 755 . && mkdir there && mv common there && chown 4711 program");
	check_common(0);
	run("chmod 700 there");
	check_common(EACCES);
	run("chmod 755 there && chown 4712 there/common");
	check_common(ENOEXEC);
}

static void test_recorded(void **state)
{
	(void)state;
	compile("");
	start(NULL, true);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
}

static void test_no_file(void **state)
{
	const struct symbols_code_question question = {.key = 1, .start = 0, .end = 16};
	struct symbols_code *code;
	enum symbols_state is;
	int error;

	(void)state;
	start(NULL, false);
	request(1, "/nonexistent/program");
	code = ask_code(&question);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_UNREADABLE);
	assert_int_equal(error, ENOENT);
	symbols_code_release(symbols, code);
	ask_lines(1, 0, 1);
	assert_int_equal(symbols_lines(symbols, 1, 0, NULL, 0, &is), 0);
	assert_int_equal(is, SYMBOLS_UNREADABLE);
	/* The image was never requested. */
	const struct symbols_code_question unknown = {.key = 2, .start = 0, .end = 16};
	code = ask_code(&unknown);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_UNREADABLE);
	symbols_code_release(symbols, code);
	const struct symbols_code_question large = {
		.key = 1, .start = 0, .end = SYMBOLS_CODE_BYTES_MAX + 1ull};
	assert_int_equal(symbols_code_ask(symbols, &large, &code), -EINVAL);
	assert_null(code);
}

static void test_no_code(void **state)
{
	const struct symbols_code_question question = {.key = 1, .start = 0, .end = 16};
	int error;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	struct symbols_code *code = ask_code(&question); /* the ELF header */
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_NONE);
	symbols_code_release(symbols, code);
}

/* A kernel module is not linked: the kernel places its code and writes the references. Its debug
 * file is not linked either. */
static void test_module(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_MODULE};
	struct symbols_code_question question = {.key = 1, .lines = true};
	bool called;
	int error;

	(void)state;
	write_file("program.c", PROGRAM);
	/* Code in front, so that no function begins at 0. */
	write_file("front.c", "int front(int x)\n{\n	return x * 7;\n}\n");
	for (int apart = 0; apart < 3; apart++) {
		run("cc -O2 -g %s -c program.c front.c && ld -r --build-id -o program front.o "
		    "program.o",
			apart == 2 ? "-gdwarf-4 -gz" : "");
		if (apart == 1) {
			run("cp program kept && strip -g kept");
			move_debug_file();
			run("mv kept program"); /* the stripped module, which has its symbols */
		}
		start(apart == 1 ? in_dir("debug") : NULL, true);
		source.path = in_dir("program");
		assert_int_equal(symbols_request(symbols, 1, &source), 0);
		assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
		const struct symbol outer = find_function(1, in_dir("program"), "outer");
		assert_true(outer.start > 0);
		struct symbols_code *code = ask_function(1, &outer, true);
		check_outer(code, &outer, true);
		symbols_code_release(symbols, code);
		ask_lines(1, outer.start, (size_t)outer.size);
		assert_true(has_inlined(1, &outer));

		/* A function in another section. */
		const struct symbol caller = find_function(1, in_dir("program"), "main");
		question.start = caller.start;
		question.end = caller.start + caller.size;
		code = ask_code(&question);
		assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
		const struct codetab *table = symbols_code_table(code);
		called = false;
		for (uint32_t i = 0; i < table->n_entries; i++)
			called |= table->entries[i].target == outer.start;
		assert_true(called);
		symbols_code_release(symbols, code);
		symbols_free(symbols);
		symbols = NULL;
	}
}

/* The unit follows one of 48 MB that must be unpacked first. Lines come first, then the full
 * answer. */
static void test_partial(void **state)
{
	struct symbols_code_question question = {.key = 1, .lines = true, .quick = true};
	bool lines = false;
	int error;

	(void)state;
	write_file("far.c",
		"__asm__(\".pushsection .debug_info,\\\"\\\",@progbits\\n\"\n"
		"	\".long 48000000\\n.value 5\\n.byte 1,8\\n.long 0\\n\"\n"
		"	\".zero 48000000 - 8\\n.popsection\");\n");
	write_file("program.c", PROGRAM);
	run("cc -O2 -g -c program.c && cc -c far.c && "
	    "cc -gz -Wl,--build-id -o program far.o program.o");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	question.start = outer.start;
	question.end = outer.start + outer.size;
	struct symbols_code *code = ask_code(&question);
	assert_true(symbols_code_is_partial(code));
	assert_true(symbols_code_has_lines(code));
	const struct codetab *table = symbols_code_table(code);
	assert_true(table->n_entries > 0);
	for (uint32_t i = 0; i < table->n_entries; i++) {
		const struct codetab_entry *entry = &table->entries[i];
		lines |= has_function(table, entry, "", 4, false);
		assert_true(entry->n_frames <= 1);
	}
	assert_true(lines);

	/* A quick question asked meanwhile is answered before the rest. */
	struct symbols_code_question second = question;
	struct symbols_code *complete, *other;
	const struct symbol main_at = find_function(1, in_dir("program"), "main");
	second.start = main_at.start;
	second.end = main_at.start + main_at.size;
	question.quick = false;
	assert_int_equal(symbols_code_ask(symbols, &question, &complete), 0);
	assert_int_equal(symbols_code_ask(symbols, &second, &other), 0);
	while (symbols_code_state(complete, &error) == SYMBOLS_PENDING) {
		struct pollfd pfd = {.fd = symbols_fd(symbols), .events = POLLIN};
		assert_int_equal(poll(&pfd, 1, TIMEOUT_MS), 1);
		symbols_collect(symbols);
	}
	assert_int_equal(symbols_code_state(other, &error), SYMBOLS_READY);
	symbols_code_release(symbols, other);
	assert_false(symbols_code_is_partial(complete));
	check_outer(complete, &outer, true);
	symbols_code_release(symbols, complete);
	symbols_code_release(symbols, code);

	/* The debug information is unpacked now. */
	question.quick = true;
	question.end--;
	code = ask_code(&question);
	assert_false(symbols_code_is_partial(code));
	symbols_code_release(symbols, code);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_code_of_function, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bias, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_debug_information, setup, teardown),
		cmocka_unit_test_setup_teardown(test_separate_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_split_debug_information, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alternate_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_common_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_common_file_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_common_file_of_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_package, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refresh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
		cmocka_unit_test_setup_teardown(test_partial, setup, teardown),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
