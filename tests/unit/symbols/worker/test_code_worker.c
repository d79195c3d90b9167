/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_code_worker.c - questions about code if the worker hangs, dies or is slow.
 *
 * Also code that is in no file or in a kernel's, and how long answers are kept.
 */
#include "symbols/client/code.h"

#include "symbols/loader/loader_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/code_fixture.h"

static int code_worker(void)
{
	struct symbols_status status;

	symbols_status(symbols, &status);
	return status.code_worker_pid;
}

/* Waits until the worker has a question. */
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
	symbols_code_abandon(symbols); /* no worker yet */
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	symbols_code_release(symbols, ask_function(1, &outer, false));
	const int pid = code_worker();
	assert_true(pid > 1);

	/* The worker hangs. */
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

	/* A new worker answers the next question. */
	code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
	assert_int_not_equal(code_worker(), pid);
	/* The end of the abandoned worker is not reported. */
	assert_int_equal(count_notes(SYMBOLS_NOTE_WORKER_DIED), 0);
}

/* symbols_free() does not wait for a worker that hangs, nor for answers. */
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
	/* The worker ends with its spawner. */
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

/* Each round is short enough, but there would be too many. */
static void test_rounds_that_take_too_long(void **state)
{
	const unsigned int total_ms = loader_code_total_ms;
	struct symbols_note note;
	size_t late = 0;

	(void)state;
	compile("-gsplit-dwarf");
	start(NULL, false);
	request(1, in_dir("program"));
	const struct symbol outer = find_function(1, in_dir("program"), "outer");
	loader_code_total_ms = 0;
	struct symbols_code *code = ask_function(1, &outer, true);
	loader_code_total_ms = total_ms;
	check_outer(code, &outer, false);
	symbols_code_release(symbols, code);
	while (symbols_take_note(symbols, &note))
		late += note.kind == SYMBOLS_NOTE_CODE_BANNED && note.error == ETIME &&
			note.value == 1;
	assert_int_equal(late, 1);
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
	/* Banned once for its debug information, and once for all questions. */
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

	/* The writer of a perf map must not get data shown as code. */
	static uint8_t data[64];
	const struct symbols_code_question secret = {.key = 1,
		.start = (uintptr_t)data,
		.end = (uintptr_t)data + sizeof(data),
		.pid = getpid()};
	code = ask_code(&secret);
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

/* A recorded kernel at another address than its vmlinux was linked for. */
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
	/* The target of the call has moved as well. */
	const struct codetab *table = symbols_code_table(code);
	for (uint32_t i = 0; i < table->n_entries; i++)
		if (table->entries[i].kind == CODETAB_CALL)
			assert_int_equal(table->entries[i].target, text + moved);
	symbols_code_release(symbols, code);
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_true(has_inlined(1, &outer));
}

/* Answers without a holder are kept, up to a limit. */
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
		cmocka_unit_test_setup_teardown(test_abandon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_free_while_at_work, setup, teardown),
		cmocka_unit_test_setup_teardown(test_worker_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_that_takes_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rounds_that_take_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_of_process, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vmlinux, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kept_answers, setup, teardown),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
