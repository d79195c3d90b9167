/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_symbols.c - the interface of symbols/: functions of this program by name.
 */
#include "symbols/client/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "small_elf.h"

static struct symbols *symbols;

static int setup(void **state)
{
	const struct symbols_config config = {.cache_dir = ""};

	(void)state;
	return symbols_new(&symbols, &config);
}

static int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	return 0;
}

__attribute__((noinline, used)) void strobe_test_marker(void);
void strobe_test_marker(void)
{
	__asm__ volatile("");
}

/* Finds the mapping of this program's code, as the sampler does. */
static void find_mapping(
	uintptr_t address, struct symbols_source *source, char path[4096], uint64_t *offset)
{
	char line[8192];

	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, file_offset, inode;
		unsigned int major, minor;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %4095s",
			    &start, &end, &file_offset, &major, &minor, &inode, path) != 7 ||
			address < start || address >= end)
			continue;
		*source = (struct symbols_source){
			.kind = SYMBOLS_FILE,
			.path = path,
			.pid = getpid(),
			.map_start = start,
			.map_end = end,
			.dev_major = major,
			.dev_minor = minor,
			.inode = inode,
		};
		*offset = address - start + file_offset;
		fclose(maps);
		return;
	}
	fail();
}

static void test_self(void **state)
{
	struct symbols_source source;
	struct symbol symbol, again;
	struct symbols_status status;
	char path[4096];
	uint64_t offset = 0;

	(void)state;
	find_mapping((uintptr_t)strobe_test_marker, &source, path, &offset);
	assert_int_equal(symbols_state(symbols, 77), SYMBOLS_UNASKED);
	assert_false(symbols_find(symbols, 77, offset, &symbol));
	assert_int_equal(symbols_request(symbols, 77, &source), 0);
	assert_int_equal(symbols_request(symbols, 77, &source), 0);
	/* Only symbols_collect() changes a state. */
	assert_int_equal(symbols_state(symbols, 77), SYMBOLS_PENDING);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(symbols_state(symbols, 77), SYMBOLS_READY);
	assert_true(symbols_find(symbols, 77, offset, &symbol));
	assert_string_equal(symbol.name, "strobe_test_marker");
	assert_int_equal(symbol.start, offset);
	assert_null(symbol.module);
	assert_true(symbols_find(symbols, 77, offset + symbol.size - 1, &again));
	assert_int_equal(again.index, symbol.index);
	symbols_status(symbols, &status);
	assert_int_equal(status.images, 1);
	assert_int_equal(status.pending, 0);
	assert_true(status.worker_pid > 0 && status.spawner_pid > 0);
	assert_true(status.table_bytes > 0);
}

static void test_many_keys(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = "/nonexistent"};
	struct symbols_status status;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(symbols_request(symbols, i * 0x10001u, &source), 0);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(symbols_state(symbols, i * 0x10001u), SYMBOLS_UNREADABLE);
	symbols_status(symbols, &status);
	assert_int_equal(status.images, 1000);
	assert_int_equal(status.unreadable, 1000);
	/* A limited number of notes is kept: the newest. */
	struct symbols_note note;
	size_t notes = 0;
	while (symbols_take_note(symbols, &note))
		notes++;
	assert_in_range(notes, 100, 999);
}

static void test_pretty(void **state)
{
	static const char *const names[][2] = {
		{"_ZN3foo3barEv", "foo::bar()"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"main", "main"},
		{"_start", "_start"},
		{"_Znonsense", "_Znonsense"},
	};
	char fresh[64];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			assert_string_equal(symbols_pretty(symbols, names[i][0]), names[i][round]);
		assert_int_equal(symbols_wait(symbols, 60000), 0);
	}
	const char *pretty = symbols_pretty(symbols, "_ZN3foo3barEv");
	assert_ptr_equal(symbols_pretty(symbols, "_ZN3foo3barEv"), pretty);

	/* more than a batch, and enough for the table to grow */
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			char expected[64];
			snprintf(fresh, sizeof(fresh), "_Z7name%03dv", i);
			snprintf(expected, sizeof(expected), "name%03d()", i);
			assert_string_equal(
				symbols_pretty(symbols, fresh), round ? expected : fresh);
		}
		assert_int_equal(symbols_wait(symbols, 60000), 0);
	}
	assert_string_equal(pretty, "foo::bar()");
}

static void test_events(void **state)
{
	struct pollfd pfd = {.fd = symbols_fd(symbols), .events = POLLIN};
	const struct symbols_source source = {.kind = SYMBOLS_VDSO, .path = "[vdso]"};

	(void)state;
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(symbols_collect(symbols), 0);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	assert_int_equal(poll(&pfd, 1, 60000), 1);
	while (!(symbols_collect(symbols) & SYMBOLS_CHANGED_TABLES))
		assert_int_equal(poll(&pfd, 1, 60000), 1);
	symbols_pretty(symbols, "_Z1fv");
	assert_int_equal(poll(&pfd, 1, 60000), 1);
	while (!(symbols_collect(symbols) & SYMBOLS_CHANGED_NAMES))
		assert_int_equal(poll(&pfd, 1, 60000), 1);
	symbols_wait(symbols, 0);
	assert_int_equal(poll(&pfd, 1, 0), 0);
}

/* The spawner was killed and no worker can be started: images are unreadable, names stay raw, no
 * call hangs. */
static void test_no_spawner(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = "/bin/ls"};
	struct symbols_status status;

	(void)state;
	symbols_status(symbols, &status);
	assert_int_equal(kill(status.spawner_pid, SIGKILL), 0);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	symbols_pretty(symbols, "_Z1fv");
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(symbols_state(symbols, 1), SYMBOLS_UNREADABLE);
	assert_string_equal(symbols_pretty(symbols, "_Z1fv"), "_Z1fv");
	/* There is one note.  The spawner was killed, and this program did not call
	 * symbols_main(). */
	struct symbols_note note;
	assert_true(symbols_take_note(symbols, &note));
	assert_int_equal(note.kind, SYMBOLS_NOTE_NO_WORKER);
	assert_int_equal(note.error, 0);
	assert_false(symbols_take_note(symbols, &note));
}

/* Freed with requests in every state. */
static void test_free_early(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	char name[32];

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(symbols_request(symbols, i, &source), 0);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "_Z7name%03dv", i);
		symbols_pretty(symbols, name);
	}
	symbols_collect(symbols);
}

static void write_file(char path[64], const void *bytes, size_t len)
{
	strcpy(path, "/tmp/strobe-test-symbols-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* One file on two anonymous devices, or requested twice on one, is one image.  Files that differ in
 * build-id, symbols or inode are not. */
static void test_twins(void **state)
{
	static const struct small_symbol one[] = {
		{"function", SMALL_TEXT_ADDR, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
	};
	static const struct small_symbol other[] = {
		{"funktion", SMALL_TEXT_ADDR, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
	};
	struct small_elf small;
	struct symbols_source source = {.kind = SYMBOLS_FILE};
	struct symbols_status before, after;
	struct symbol symbol;
	char paths[5][64];

	(void)state;
	small_elf_make(&small, true, false, one, 1);
	write_file(paths[0], small.bytes, small.len);
	write_file(paths[1], small.bytes, small.len);
	write_file(paths[4], small.bytes, small.len);
	small.bytes[0x1d4] ^= 1;
	write_file(paths[2], small.bytes, small.len);
	small_elf_make(&small, true, false, other, 1);
	write_file(paths[3], small.bytes, small.len);
	for (uint32_t i = 0; i < 6; i++) {
		symbols_status(symbols, &before);
		source.path = paths[i % 5];
		/* The build-id identifies the right file. */
		source.inode = i == 4 ? 124 : 123;
		source.dev_minor = i == 5 ? 1000 : 1000 + i;
		source.build_id_len = 20;
		for (uint8_t byte = 0; byte < 20; byte++)
			source.build_id[byte] = (uint8_t)(byte + 1);
		source.build_id[4] ^= i == 2;
		assert_int_equal(symbols_request(symbols, 70 + i, &source), 0);
		assert_int_equal(symbols_wait(symbols, 60000), 0);
		assert_int_equal(symbols_state(symbols, 70 + i), SYMBOLS_READY);
		assert_true(symbols_find(symbols, 70 + i, SMALL_TEXT_AT, &symbol));
		assert_string_equal(symbol.name, i != 3 ? "function" : "funktion");
		assert_int_equal(symbols_twin(symbols, 70 + i), i == 1 || i == 5 ? 70 : 70 + i);
		symbols_status(symbols, &after);
		assert_int_equal(after.table_bytes == before.table_bytes, i == 1 || i == 5);
	}
	for (int i = 0; i < 5; i++)
		unlink(paths[i]);
}

/* A file with several names is read once, in any order of the answers.  If the first name leads to
 * no file, the next name is used. */
static void test_names_of_one_file(void **state)
{
	static const struct small_symbol one[] = {
		{"function", SMALL_TEXT_ADDR, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
	};
	const char *const nowhere = "/nonexistent/strobe-test";
	struct symbols_source source = {
		.kind = SYMBOLS_FILE, .dev_major = 9, .build_id_len = 20, .inode_generation = 3};
	struct symbols_status before, after;
	struct small_elf small;
	struct symbol symbol;
	char path[64];

	(void)state;
	small_elf_make(&small, true, false, one, 1);
	write_file(path, small.bytes, small.len);
	for (uint8_t byte = 0; byte < 20; byte++)
		source.build_id[byte] = (uint8_t)(byte + 1);
	for (uint32_t i = 0; i < 8; i++) {
		const uint32_t key = 2000 + i;
		/* The first file exists at one path, the second one at all paths but the first. */
		source.inode = i < 3 ? 901 : i < 6 ? 902 : 903;
		source.path = i == 0 || i == 4 || i == 5 ? path : nowhere;
		/* another file that had the inode before */
		source.inode_generation = i == 7 ? 4 : 3;
		assert_int_equal(symbols_request(symbols, key, &source), 0);
		if (i == 1) {
			/* The third request comes when the answer is known. */
			assert_int_equal(symbols_wait(symbols, 60000), 0);
			symbols_status(symbols, &before);
		}
		if (i == 2) {
			symbols_status(symbols, &after);
			assert_int_equal(symbols_state(symbols, key), SYMBOLS_READY);
			assert_int_equal(after.table_bytes, before.table_bytes);
		}
	}
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(symbols_state(symbols, 2000 + i),
			i == 3 ? SYMBOLS_UNREADABLE : SYMBOLS_READY);
		assert_int_equal(symbols_find(symbols, 2000 + i, SMALL_TEXT_AT, &symbol), i != 3);
	}
	assert_int_equal(symbols_twin(symbols, 2002), 2000);
	assert_int_equal(symbols_state(symbols, 2007), SYMBOLS_UNREADABLE);
	unlink(path);
}

/* More than a hundred broken files: this process goes on, and reads a good file among them. */
static void test_malformed(void **state)
{
	static const struct small_symbol good[] = {
		{"function", SMALL_TEXT_ADDR, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
	};
	char path[64];
	unsigned int seed = 1;

	(void)state;
	int real = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(real >= 0);
	static uint8_t bytes[1 << 20];
	ssize_t len = read(real, bytes, sizeof(bytes));
	assert_true(len > 4096);
	close(real);
	int fds[120];
	for (uint32_t i = 0; i < 120; i++) {
		struct small_elf small;
		small_elf_make(&small, i & 1, i & 2, good, 1);
		fds[i] = memfd_create("bad", MFD_CLOEXEC);
		/* Truncated, with flipped bits, and with hostile numbers in the headers; small
		 * files and a real one. */
		uint8_t *from = i < 60 ? small.bytes : bytes;
		size_t n = i < 60 ? small.len : (size_t)len;
		size_t headers = i < 60 ? n : 4096;
		uint8_t saved[4096];
		memcpy(saved, from, headers < sizeof(saved) ? headers : sizeof(saved));
		if (i % 3 == 0)
			n = (size_t)rand_r(&seed) % n;
		else
			for (int k = 0; k < 8; k++)
				from[4 + (size_t)rand_r(&seed) % (headers - 4)] =
					i % 3 == 1 ? 0xff : (uint8_t)rand_r(&seed);
		assert_int_equal(write(fds[i], from, n), n);
		memcpy(from, saved, headers < sizeof(saved) ? headers : sizeof(saved));
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fds[i]);
		const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path};
		assert_int_equal(symbols_request(symbols, i, &source), 0);
	}
	struct small_elf small;
	struct symbol symbol;
	small_elf_make(&small, true, false, good, 1);
	int fd = small_elf_file(&small, small.len);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path};
	assert_int_equal(symbols_request(symbols, 1000, &source), 0);
	assert_int_equal(symbols_wait(symbols, 100000), 0);
	assert_int_equal(symbols_state(symbols, 1000), SYMBOLS_READY);
	assert_true(symbols_find(symbols, 1000, SMALL_TEXT_AT, &symbol));
	for (uint32_t i = 0; i < 120; i++) {
		assert_int_not_equal(symbols_state(symbols, i), SYMBOLS_PENDING);
		if (symbols_find(symbols, i, SMALL_TEXT_AT, &symbol))
			assert_true(strlen(symbol.name) > 0);
		close(fds[i]);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_self, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pretty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_spawner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_free_early, setup, teardown),
		cmocka_unit_test_setup_teardown(test_twins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_of_one_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
