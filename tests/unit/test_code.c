/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_code.c - lines and instructions of small programs that are compiled here, through loader and worker.
 *
 * The spawner is this program executed anew, which is why main() begins with symbols_main(); hooks that a test
 * sets would not be seen there, so that a file tells by its padding that the worker is to die of it.
 */
#include "symbols/code.h"

#include "symbols/loader_code.h"
#include "symbols/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS 60000
#define PROGRAM                                        \
	"#include <stdlib.h>\n" /* line 1 */           \
	"static inline int inner(int x)\n"             \
	"{\n"                                          \
	"	return rand() + x;\n" /* 4 */          \
	"}\n"                                          \
	"__attribute__((noinline)) int outer(int x)\n" \
	"{\n"                                          \
	"	int a = inner(x);\n" /* 8 */           \
	"	return a * 3;\n"                             \
	"}\n"                                          \
	"int main(int argc, char **argv)\n"            \
	"{\n"                                          \
	"	(void)argv;\n"                               \
	"	return outer(argc);\n"                       \
	"}\n"

static char dir[64];
static struct symbols *symbols;

static const char *in_dir(const char *name)
{
	static char paths[4][128];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-code-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	symbols_free(symbols);
	symbols = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* Run a command in the directory. */
__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
	char command[1024], whole[1200];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	snprintf(whole, sizeof(whole), "cd %s && %s", dir, command);
	assert_int_equal(system(whole), 0);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_dir(name), "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void compile(const char *flags)
{
	write_file("program.c", PROGRAM);
	run("cc -O2 -g %s -Wl,--build-id -o program program.c", flags);
}

static void start(const char *debug_dir, bool recording)
{
	const char *const dirs[] = {debug_dir ? debug_dir : in_dir("nowhere"), NULL};
	const struct symbols_config config = {
		.cache_dir = "", .debug_dirs = dirs, .recording = recording};

	assert_int_equal(symbols_new(&symbols, &config), 0);
}

static void request(uint32_t key, const char *path)
{
	struct symbols_source source = {.path = path};
	struct stat st;

	if (stat(path, &st) == 0) {
		source.dev_major = major(st.st_dev);
		source.dev_minor = minor(st.st_dev);
		source.inode = st.st_ino;
	}
	assert_int_equal(symbols_request(symbols, key, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
}

/* A function of the image, by its symbol. */
static struct symbol find_function(uint32_t key, const char *path, const char *name)
{
	struct symbol symbol;
	struct stat st;

	assert_int_equal(symbols_state(symbols, key), SYMBOLS_READY);
	assert_int_equal(stat(path, &st), 0);
	for (uint64_t offset = 0; offset < (uint64_t)st.st_size; offset++)
		if (symbols_find(symbols, key, offset, &symbol) && strcmp(symbol.name, name) == 0)
			return symbol;
	fail_msg("no function %s", name);
	return symbol;
}

static struct symbols_code *ask_code(const struct symbols_code_question *question)
{
	struct symbols_code *code;
	int error;

	assert_int_equal(symbols_code_ask(symbols, question, &code), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	assert_int_not_equal(symbols_code_state(code, &error), SYMBOLS_PENDING);
	return code;
}

static struct symbols_code *ask_function(uint32_t key, const struct symbol *symbol, bool lines)
{
	const struct symbols_code_question question = {.key = key,
		.start = symbol->start,
		.end = symbol->start + symbol->size,
		.syntax = DISASM_INTEL,
		.lines = lines};

	return ask_code(&question);
}

static bool has_function(const struct codetab *table, const struct codetab_entry *entry,
	const char *name, uint32_t line, bool inlined)
{
	for (uint32_t i = 0; i < entry->n_frames; i++) {
		const struct codetab_frame *frame = &table->frames[entry->frames + i];
		if (strcmp(table->pool + frame->function, name) == 0 &&
			(line == 0 || frame->line == line) && !frame->inlined == !inlined)
			return true;
	}
	return false;
}

/* Instructions cover the function, one of them calls, and of one the line is that of the inlined function. */
static void check_outer(struct symbols_code *code, const struct symbol *outer, bool lines)
{
	uint64_t at = outer->start;
	bool calls = false, inlined = false;
	int error;

	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
	assert_int_equal(error, 0);
	assert_int_equal(symbols_code_has_lines(code), lines);
	const struct codetab *table = symbols_code_table(code);
	for (uint32_t i = 0; i < table->n_entries; i++) {
		const struct codetab_entry *entry = &table->entries[i];
		assert_int_equal(entry->start, at);
		assert_true(entry->len > 0);
		at += entry->len;
		calls |= entry->kind == CODETAB_CALL;
		inlined |= has_function(table, entry, "inner", 4, true) &&
			has_function(table, entry, "outer", 8, false);
		assert_true(lines || entry->n_frames == 0);
	}
	assert_int_equal(at, outer->start + outer->size);
	assert_true(calls);
	assert_int_equal(inlined, lines);
}

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

	/* Asked again it is the same, and there at once. */
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

/* Ask for all offsets of a function, and wait. */
static size_t ask_lines(uint32_t key, uint64_t start, size_t n)
{
	uint64_t *offsets = calloc(n, sizeof(*offsets));

	assert_non_null(offsets);
	for (size_t i = 0; i < n; i++)
		offsets[i] = start + n - 1 - i; /* in no order that they would need */
	assert_int_equal(symbols_lines_ask(symbols, key, offsets, n), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	free(offsets);
	return n;
}

/* Are there frames of the inlined function in the outer one? */
static bool has_inlined(uint32_t key, const struct symbol *outer)
{
	struct symbols_frame frames[8];
	enum symbols_state state;

	for (uint64_t offset = outer->start; offset < outer->start + outer->size; offset++) {
		const size_t n = symbols_lines(symbols, key, offset, frames, 8, &state);
		assert_int_equal(state, n ? SYMBOLS_READY : SYMBOLS_NONE);
		if (n == 2 && strcmp(frames[0].function, "inner") == 0 && frames[0].inlined &&
			frames[0].line == 4 && strcmp(frames[1].function, "outer") == 0 &&
			!frames[1].inlined && frames[1].line == 8) {
			const char *name = strrchr(frames[0].file, '/');
			assert_string_equal(name ? name : frames[0].file, "/program.c");
			return true;
		}
	}
	return false;
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

	/* Pending until it is collected, and no question twice. */
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
	/* A string is the same one wherever it comes from. */
	assert_true(symbols_lines(symbols, 1, outer.start + 1, frames, 8, &is) > 0);
	assert_ptr_equal(frames[0].function, function);

	/* More than one packet has. */
	struct stat st;
	assert_int_equal(stat(in_dir("program"), &st), 0);
	const size_t n = ask_lines(1, 0, 20000);
	for (uint64_t offset = 0; offset < n; offset++) {
		const size_t found = symbols_lines(symbols, 1, offset, NULL, 0, &is);
		assert_int_equal(is, found ? SYMBOLS_READY : SYMBOLS_NONE);
	}
	/* What was not requested is no matter. */
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
	/* The whole image is known to have none. */
	assert_int_equal(symbols_lines(symbols, 1, outer.start + 9, frames, 8, &is), 0);
	assert_int_equal(is, SYMBOLS_NONE);

	struct symbols_code *code = ask_function(1, &outer, true);
	assert_false(symbols_code_has_lines(code));
	check_outer(code, &outer, false);
	symbols_code_release(symbols, code);
}

/* Where debug files lie by their build-id. */
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

/* What lies where the debug file is looked for first is another's, or alone, and has no code. */
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

/* The debug file comes later. */
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

/* All split parts in one file; what they were made as is gone. */
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

/* A file that refers to another: where that is, and where it is not. */
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
	/* Never requested. */
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

static int code_worker(void)
{
	struct symbols_status status;

	symbols_status(symbols, &status);
	return status.code_worker_pid;
}

/* Until the question is at work. */
static void wait_for_work(void)
{
	uint64_t since = 0;

	for (int i = 0; since == 0 && i < TIMEOUT_MS / 10; i++) {
		poll(NULL, 0, 10);
		symbols_code_waiting(symbols, &since);
	}
	assert_true(since > 0);
}

static size_t count_notes(enum symbols_note_kind kind)
{
	struct symbols_note note;
	size_t n = 0;

	while (symbols_take_note(symbols, &note))
		n += note.kind == kind;
	return n;
}

static void test_abandon(void **state)
{
	struct symbols_code_question question = {.key = 1, .lines = true};
	struct symbols_code *code;
	enum symbols_state is;
	uint64_t since;
	int error;

	(void)state;
	compile("");
	start(NULL, false);
	assert_int_equal(code_worker(), -1);
	symbols_code_abandon(symbols); /* of nothing */
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	symbols_code_release(symbols, ask_function(1, &outer, false));
	const int pid = code_worker();
	assert_true(pid > 1);

	/* It hangs. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	question.start = outer.start;
	question.end = outer.start + outer.size;
	assert_int_equal(symbols_code_ask(symbols, &question, &code), 0);
	assert_int_equal(symbols_lines_ask(symbols, 1, &outer.start, 1), 0);
	wait_for_work();
	assert_int_equal(symbols_code_waiting(symbols, &since), 2);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_PENDING);
	symbols_code_abandon(symbols);
	assert_int_equal(symbols_code_waiting(symbols, &since), 0);
	assert_int_equal(since, 0);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_UNASKED);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, NULL, 0, &is), 0);
	assert_int_equal(is, SYMBOLS_UNASKED);
	symbols_code_release(symbols, code);

	/* What is asked then, another answers. */
	code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
	assert_int_not_equal(code_worker(), pid);
	/* That the first one ended is no news. */
	assert_int_equal(count_notes(SYMBOLS_NOTE_WORKER_DIED), 0);
}

/* The end does not wait for a worker that hangs, nor for answers. */
static void test_free_while_at_work(void **state)
{
	struct symbols_code_question question = {.key = 1, .lines = true};
	struct symbols_code *code;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	symbols_code_release(symbols, ask_function(1, &outer, false));
	const int pid = code_worker();
	const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	question.start = outer.start;
	question.end = outer.start + outer.size;
	assert_int_equal(symbols_code_ask(symbols, &question, &code), 0);
	assert_int_equal(symbols_lines_ask(symbols, 1, &outer.start, 1), 0);
	wait_for_work();
	symbols_free(symbols);
	symbols = NULL;
	/* It ends with its spawner. */
	struct pollfd pfd = {.fd = pidfd, .events = POLLIN};
	assert_int_equal(pidfd < 0 || poll(&pfd, 1, TIMEOUT_MS) == 1, 1);
	if (pidfd >= 0)
		close(pidfd);
}

static void test_worker_killed(void **state)
{
	struct symbols_code_question question = {.key = 1, .lines = true};
	struct symbols_code *code;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	symbols_code_release(symbols, ask_function(1, &outer, false));
	const int pid = code_worker();
	assert_int_equal(kill(pid, SIGSTOP), 0);
	question.start = outer.start;
	question.end = outer.start + outer.size;
	assert_int_equal(symbols_code_ask(symbols, &question, &code), 0);
	wait_for_work();
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
	assert_true(count_notes(SYMBOLS_NOTE_CODE_BANNED) == 0);
}

static void test_file_that_takes_too_long(void **state)
{
	const unsigned int wall_ms = loader_code_wall_ms;
	struct symbols_note note;
	size_t banned[2] = {0};
	enum symbols_state is;
	int error;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	loader_code_wall_ms = 0;
	struct symbols_code *code = ask_function(1, &outer, true);
	loader_code_wall_ms = wall_ms;
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_UNREADABLE);
	assert_int_equal(error, EOWNERDEAD);
	symbols_code_release(symbols, code);
	while (symbols_take_note(symbols, &note))
		if (note.kind == SYMBOLS_NOTE_CODE_BANNED)
			banned[note.value == 1]++;
	/* Once for its debug information, and once for all. */
	assert_int_equal(banned[0], 1);
	assert_int_equal(banned[1], 1);
	ask_lines(1, outer.start, 1);
	assert_int_equal(symbols_lines(symbols, 1, outer.start, NULL, 0, &is), 0);
	assert_int_equal(is, SYMBOLS_UNREADABLE);
	assert_int_equal(count_notes(SYMBOLS_NOTE_WORKER_DIED), 0);
}

/* --- code that is in no file --- */

static void check_covered(const struct codetab *table, uint64_t start, uint64_t end)
{
	uint64_t at = start;

	for (uint32_t i = 0; i < table->n_entries; i++) {
		assert_int_equal(table->entries[i].start, at);
		at += table->entries[i].len;
	}
	assert_int_equal(at, end);
}

static void test_memory_of_process(void **state)
{
	const uint64_t start_at = (uintptr_t)check_covered;
	const struct symbols_code_question question = {
		.key = 1, .start = start_at, .end = start_at + 64, .lines = true, .pid = getpid()};
	int error;

	(void)state;
	start(NULL, false);
	struct symbols_code *code = ask_code(&question);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
	assert_false(symbols_code_has_lines(code));
	check_covered(symbols_code_table(code), start_at, start_at + 64);
	symbols_code_release(symbols, code);

	const struct symbols_code_question nowhere = {
		.key = 1, .start = 16, .end = 32, .pid = getpid()};
	code = ask_code(&nowhere);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_NONE);
	symbols_code_release(symbols, code);
}

#define KERNEL_TEXT UINT64_C(0xffffffff81000000)

static void make_kcore(const char *path)
{
	const Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1};
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD, .p_offset = 4096, .p_vaddr = KERNEL_TEXT, .p_memsz = 64};
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &segment, sizeof(segment), sizeof(header)), sizeof(segment));
	assert_int_equal(pwrite(fd, (const void *)(uintptr_t)check_covered, 64, 4096), 64);
	close(fd);
}

static void test_kernel(void **state)
{
	const char *const dirs[] = {in_dir("nowhere"), NULL};
	const char *const real = loader_kcore_path;
	char kallsyms[128], kcore[128];
	const struct symbols_config config = {
		.cache_dir = "", .debug_dirs = dirs, .kallsyms_path = kallsyms};
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	const struct symbols_code_question question = {
		.key = 1, .start = KERNEL_TEXT + 16, .end = KERNEL_TEXT + 64, .lines = true};
	const struct symbols_code_question outside = {
		.key = 1, .start = KERNEL_TEXT + 64, .end = KERNEL_TEXT + 72};
	int error;

	(void)state;
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	snprintf(kcore, sizeof(kcore), "%s/kcore", dir);
	write_file("kallsyms", "ffffffff81000000 T _text\nffffffff81000010 T function\n");
	loader_kcore_path = kcore;
	assert_int_equal(symbols_new(&symbols, &config), 0);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	struct symbols_code *code = ask_code(&question);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_UNREADABLE);
	assert_int_equal(error, ENOENT);
	symbols_code_release(symbols, code);
	make_kcore(kcore);
	code = ask_code(&question);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
	check_covered(symbols_code_table(code), KERNEL_TEXT + 16, KERNEL_TEXT + 64);
	symbols_code_release(symbols, code);
	code = ask_code(&outside);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_NONE);
	symbols_code_release(symbols, code);
	loader_kcore_path = real;
}

/* A recorded kernel, somewhere else than its vmlinux was linked for. */
static void test_vmlinux(void **state)
{
	const uint64_t moved = 0x7000000;
	const struct symbols_config config = {
		.cache_dir = "", .recording = true, .symfs = in_dir("symfs")};
	struct symbols_source source = {
		.kind = SYMBOLS_KERNEL, .path = "[kernel.kallsyms]", .build_id_len = 20};
	struct symbol outer;
	unsigned long text = 0;

	(void)state;
	write_file("program.c",
		"__attribute__((noinline)) int helper(int x) { return x + 1; }\n"
		"static inline int inner(int x)\n"
		"{\n"
		"	return helper(x) * 3;\n"
		"}\n"
		"int outer(int x)\n"
		"{\n"
		"	int a = inner(x);\n"
		"	return a - 1;\n"
		"}\n");
	run("cc -O2 -g -ffreestanding -fno-pie -nostdlib -static -Wl,--defsym=_text=helper "
	    "-Wl,-e,outer -Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314 -o program "
	    "program.c && mkdir -p symfs/.build-id/01 && "
	    "cp program symfs/.build-id/01/02030405060708090a0b0c0d0e0f1011121314.debug && "
	    "nm program | sed -n 's/ .* helper$//p' > text");
	FILE *file = fopen(in_dir("text"), "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lx", &text), 1);
	fclose(file);
	for (size_t i = 0; i < 20; i++)
		source.build_id[i] = (uint8_t)(i + 1);
	source.map_start = text + moved;
	assert_int_equal(symbols_new(&symbols, &config), 0);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	assert_int_equal(symbols_state(symbols, 1), SYMBOLS_READY);
	bool found = false;
	for (uint64_t at = text + moved; !found && at < text + moved + 4096; at++)
		found = symbols_find(symbols, 1, at, &outer) && strcmp(outer.name, "outer") == 0;
	assert_true(found);
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	/* The call's target has moved as well. */
	const struct codetab *table = symbols_code_table(code);
	for (uint32_t i = 0; i < table->n_entries; i++)
		if (table->entries[i].kind == CODETAB_CALL)
			assert_int_equal(table->entries[i].target, text + moved);
	symbols_code_release(symbols, code);
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_true(has_inlined(1, &outer));
}

/* Answers that nobody holds are kept, but not without end. */
static void test_kept_answers(void **state)
{
	struct symbols_code *code;
	size_t n_kept = 0;

	(void)state;
	compile("");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	struct symbols_code_question question = {.key = 1, .start = outer.start};
	for (uint64_t i = 1; i <= 300; i++) {
		question.end = outer.start + i;
		symbols_code_release(symbols, ask_code(&question));
	}
	for (uint64_t i = 300; i >= 1; i--) {
		int error;
		question.end = outer.start + i;
		assert_int_equal(symbols_code_ask(symbols, &question, &code), 0);
		n_kept += symbols_code_state(code, &error) != SYMBOLS_PENDING;
		assert_true(i > 44 || symbols_code_state(code, &error) == SYMBOLS_PENDING);
		symbols_code_release(symbols, code);
	}
	assert_int_equal(n_kept, 256);
	symbols_code_abandon(symbols);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_code_of_function, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_debug_information, setup, teardown),
		cmocka_unit_test_setup_teardown(test_separate_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_split_debug_information, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alternate_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_package, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refresh, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_abandon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_free_while_at_work, setup, teardown),
		cmocka_unit_test_setup_teardown(test_worker_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_that_takes_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_of_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vmlinux, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_answers, setup, teardown),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
