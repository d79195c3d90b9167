/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_moved.c - memory of this process is compared with this program's file by a real loader.
 */
#include "symbols/client/moved.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct code {
	uint64_t start, end, offset;
	char path[512];
};

/* Finds the mapping of this program's code. */
static void find_code(struct code *code)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	const uint64_t here = (uint64_t)(uintptr_t)find_code;
	char line[1024];
	bool found = false;

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %511s",
				&code->start, &code->end, &code->offset, code->path) == 4 &&
			here >= code->start && here < code->end;
	fclose(maps);
	assert_true(found);
}

/* Asks whether the memory from `at` on has the contents of the code. Returns the answer. */
static enum symbols_moved ask(struct symbols *symbols, uint32_t key, const struct code *code,
	int32_t pid, uint64_t at, bool is_exact, uint64_t *bias)
{
	struct stat st;
	const struct symbols_piece piece = {.pid = pid,
		.start = at,
		.end = at + (code->end - code->start),
		.near = {{at, code->offset, true}},
		.is_exact = is_exact,
		.samples = {at},
		.n_samples = 1};

	assert_int_equal(stat(code->path, &st), 0);
	const struct symbols_source file = {.kind = SYMBOLS_FILE,
		.path = code->path,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.inode = st.st_ino};

	assert_int_equal(symbols_moved_ask(symbols, key, &file, &piece), 0);
	assert_int_equal(symbols_moved_ask(symbols, key, &file, &piece), 0);
	assert_int_equal(symbols_moved(symbols, key, bias), SYMBOLS_MOVED_PENDING);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	return symbols_moved(symbols, key, bias);
}

static void test_contents(void **state)
{
	const struct symbols_config config = {.cache_dir = ""};
	struct symbols_note note;
	struct symbols *symbols;
	struct code code;
	uint64_t bias;
	bool noted = false;

	(void)state;
	find_code(&code);
	const size_t len = code.end - code.start;
	char *copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(copy != MAP_FAILED);
	const uint64_t at = (uint64_t)(uintptr_t)copy;
	memcpy(copy, (const void *)(uintptr_t)code.start, len);

	assert_int_equal(symbols_new(&symbols, &config), 0);
	assert_int_equal(symbols_moved(symbols, 1, &bias), SYMBOLS_MOVED_UNASKED);
	assert_int_equal(ask(symbols, 1, &code, getpid(), at, false, &bias), SYMBOLS_MOVED_SAME);
	assert_int_equal(at + bias, code.offset);
	/* A breakpoint is tolerated. A changed page with samples is not. */
	copy[100] ^= 1;
	assert_int_equal(ask(symbols, 2, &code, getpid(), at, false, &bias), SYMBOLS_MOVED_SAME);
	memset(copy, 0x5a, 4096);
	assert_int_equal(ask(symbols, 3, &code, getpid(), at, true, &bias), SYMBOLS_MOVED_OTHER);
	/* The memory cannot be read: the place counts, if it is exact. */
	assert_false(symbols_take_note(symbols, &note) && note.kind == SYMBOLS_NOTE_MOVED);
	assert_int_equal(ask(symbols, 4, &code, 0, at, false, &bias), SYMBOLS_MOVED_OTHER);
	assert_int_equal(ask(symbols, 5, &code, 0, at, true, &bias), SYMBOLS_MOVED_PLACE);
	assert_int_equal(at + bias, code.offset);
	while (symbols_take_note(symbols, &note))
		noted |= note.kind == SYMBOLS_NOTE_MOVED;
	assert_true(noted);
	symbols_free(symbols);
	munmap(copy, len);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_contents)};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
