/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_unwind.c - unwind tables as callers see them: from images of this process, from the cache,
 * from a recording, and in several threads.
 */
#include "symbols/client/unwind.h"

#include "symbols/loader/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "scratch.h"
#include "small_elf.h"

#define WAIT_MS 20000

static char path[4096];

/* Finds the mapping of an address of this process. */
static struct symbols_source find_mapping(uintptr_t address, uint64_t *offset)
{
	struct symbols_source source = {0};
	char line[8192];

	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (!source.path && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, file_offset, inode;
		unsigned int major, minor;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %4095s",
			    &start, &end, &file_offset, &major, &minor, &inode, path) != 7 ||
			address < start || address >= end)
			continue;
		source = (struct symbols_source){
			.kind = inode ? SYMBOLS_FILE : SYMBOLS_VDSO,
			.path = path,
			.pid = getpid(),
			.map_start = start,
			.map_end = end,
			.dev_major = major,
			.dev_minor = minor,
			.inode = inode,
		};
		*offset = address - start + file_offset;
	}
	fclose(maps);
	assert_non_null(source.path);
	return source;
}

static const struct unwtab *load(
	struct symbols *symbols, uint32_t key, const struct symbols_source *source)
{
	const struct unwtab *table;

	assert_int_equal(symbols_unwind_ask(symbols, key, source), 0);
	assert_int_equal(symbols_unwind_ask(symbols, key, source), 0);
	assert_int_equal(symbols_unwind_wait(symbols, key, WAIT_MS), 0);
	assert_int_equal(symbols_unwind_state(symbols, key, &table), SYMBOLS_READY);
	assert_non_null(table);
	return table;
}

static struct symbols *new_symbols(const char *cache_dir, bool recording)
{
	const struct symbols_config config = {.cache_dir = cache_dir, .recording = recording};
	struct symbols *symbols;

	assert_int_equal(symbols_new(&symbols, &config), 0);
	return symbols;
}

static void test_own_images(void **state)
{
	struct symbols *symbols = new_symbols("", false);
	const uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	const struct unwtab *table;
	uint64_t offset;

	(void)state;
	assert_int_equal(symbols_unwind_state(symbols, 1, &table), SYMBOLS_UNASKED);
	assert_null(table);
	assert_int_equal(symbols_unwind_wait(symbols, 1, 0), 0);

	struct symbols_source source = find_mapping((uintptr_t)(void *)qsort, &offset);
	table = load(symbols, 1, &source);
	assert_non_null(unwtab_find(table, offset));
	assert_true(table->code_bytes > table->bp_bytes);
	source = find_mapping((uintptr_t)(void *)test_own_images, &offset);
	table = load(symbols, 2, &source);
	const struct unwtab_rule *rule = unwtab_find(table, offset);
	assert_non_null(rule);
#ifdef __x86_64__
	assert_int_equal(rule->cfa, UNWTAB_SP);
	assert_int_equal(rule->cfa_off, 8);
	assert_int_equal(rule->ra_off, -8);
	assert_int_equal(table->machine, EM_X86_64);
#endif
	if (vdso) {
		source = find_mapping(vdso, &offset);
		table = load(symbols, 3, &source);
		assert_true(table->code_bytes > 0);
	}
	assert_true(symbols_unwind_bytes(symbols) > 10000);

	/* Answers arrive without symbols_collect(). */
	assert_int_equal(symbols_collect(symbols), 0);
	symbols_free(symbols);
}

static void test_missing(void **state)
{
	const struct symbols_source kernel = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};
	const struct symbols_source missing = {
		.kind = SYMBOLS_FILE, .path = "/nonexistent/file", .inode = 1};
	const struct symbols_source text = {.kind = SYMBOLS_FILE, .path = "/etc/passwd"};
	struct symbols *symbols = new_symbols("", false);
	const struct unwtab *table;
	struct symbols_note note;

	(void)state;
	assert_int_equal(symbols_unwind_ask(symbols, 1, &kernel), 0);
	assert_int_equal(symbols_unwind_ask(symbols, 2, &missing), 0);
	assert_int_equal(symbols_unwind_ask(symbols, 3, &text), 0);
	for (uint32_t key = 1; key <= 3; key++)
		assert_int_equal(symbols_unwind_wait(symbols, key, WAIT_MS), 0);
	assert_int_equal(symbols_unwind_state(symbols, 1, &table), SYMBOLS_NONE);
	assert_null(table);
	assert_int_equal(symbols_unwind_state(symbols, 2, &table), SYMBOLS_UNREADABLE);
	assert_int_equal(symbols_unwind_error(symbols, 1), 0);
	assert_int_equal(symbols_unwind_error(symbols, 2), ENOENT);
	assert_int_equal(symbols_unwind_state(symbols, 3, &table), SYMBOLS_UNREADABLE);
	assert_true(symbols_unwind_error(symbols, 3) > 0);
	/* Requests for unwind tables make no notes about files; those for symbols do. */
	while (symbols_take_note(symbols, &note))
		assert_true(note.kind == SYMBOLS_NOTE_UNCONFINED);
	symbols_free(symbols);
}

/* Writes an ELF image to a file. */
static void write_file(const char *file, const struct small_elf *elf)
{
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(elf->bytes, 1, elf->len, out), elf->len);
	fclose(out);
}

/* Files without unwind data; the second one has a section that only Go's compiler makes. */
static void test_without_rules(void **state)
{
	struct symbols *symbols = new_symbols("", false);
	struct symbols_source source = {.kind = SYMBOLS_FILE};
	char directory[] = "/tmp/strobe-unwind-XXXXXX", file[64];
	const struct unwtab *table;
	struct small_elf elf;

	(void)state;
	assert_non_null(mkdtemp(directory));
	small_elf_make(&elf, true, false, NULL, 0);
	for (uint32_t key = 1; key <= 2; key++) {
		snprintf(file, sizeof(file), "%s/%u", directory, key);
		source.path = file;
		write_file(file, &elf);
		assert_int_equal(symbols_unwind_ask(symbols, key, &source), 0);
		assert_int_equal(symbols_unwind_wait(symbols, key, WAIT_MS), 0);
		assert_int_equal(symbols_unwind_state(symbols, key, &table), SYMBOLS_NONE);
		assert_non_null(table);
		assert_int_equal(table->n_rows, 0);
		assert_int_equal(table->flags, UNWTAB_SPARSE | (key == 2 ? UNWTAB_GO : 0));
		assert_int_equal(unwtab_keeps_bp(table), key == 2);
		void *name = memmem(elf.bytes, elf.len, ".symtab", 8);
		if (name)
			memcpy(name, ".gopclntab", sizeof(".gopclntab"));
	}
	symbols_free(symbols);
	assert_int_equal(scratch_remove_tree(directory), 0);
}

/* A table is cached by build-id, and is still used after its file is gone. */
static void test_cache(void **state)
{
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	char cache_dir[64];
	uint64_t offset;

	(void)state;
	snprintf(cache_dir, sizeof(cache_dir), "%s/cache", scratch);
	struct symbols *symbols = new_symbols(cache_dir, false);
	struct symbols_source source = find_mapping((uintptr_t)(void *)qsort, &offset);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	assert_int_equal(symbols_wait(symbols, WAIT_MS), 0);
	source.build_id_len = (uint8_t)symbols_build_id(symbols, 1, build_id);
	if (!source.build_id_len) {
		symbols_free(symbols);
		scratch_remove_tree(cache_dir);
		skip();
	}
	memcpy(source.build_id, build_id, sizeof(build_id));
	const uint32_t n_rows = load(symbols, 1, &source)->n_rows;
	symbols_free(symbols);

	symbols = new_symbols(cache_dir, true);
	source.path = "/nonexistent/libc.so.6";
	source.inode = 0;
	assert_int_equal(load(symbols, 1, &source)->n_rows, n_rows);
	symbols_free(symbols);
	assert_int_equal(scratch_remove_tree(cache_dir), 0);
}

static void test_recording(void **state)
{
	struct symbols *symbols = new_symbols("", true);
	const uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
	uint64_t offset;

	(void)state;
	struct symbols_source source = find_mapping((uintptr_t)(void *)qsort, &offset);
	assert_non_null(unwtab_find(load(symbols, 7, &source), offset));
	if (vdso) {
		const struct symbols_recorded other = {.release = "none"};
		const struct unwtab *table;
		source = find_mapping(vdso, &offset);
		assert_int_equal(symbols_recorded(symbols, &other), 0);
		assert_int_equal(symbols_unwind_ask(symbols, 8, &source), 0);
		assert_int_equal(symbols_unwind_wait(symbols, 8, WAIT_MS), 0);
		assert_int_equal(symbols_unwind_state(symbols, 8, &table), SYMBOLS_NONE);
	}
	symbols_free(symbols);
}

static struct symbols *shared;

static void *run_asker(void *arg)
{
	const uint32_t first = *(const uint32_t *)arg;
	const struct unwtab *table;
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path, .pid = getpid()};

	for (uint32_t key = first; key < first + 40; key++)
		if (symbols_unwind_ask(shared, key, &source) < 0 ||
			symbols_unwind_wait(shared, key, WAIT_MS) < 0 ||
			symbols_unwind_state(shared, key, &table) == SYMBOLS_PENDING)
			return arg;
	return NULL;
}

static void test_threads(void **state)
{
	uint32_t first[4] = {0, 20, 40, 1000};
	pthread_t threads[4];
	uint64_t offset;
	void *failed;

	(void)state;
	shared = new_symbols("", false);
	find_mapping((uintptr_t)(void *)test_threads, &offset);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_asker, &first[i]), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	symbols_free(shared);
}

/* Pending requests are freed. */
static void test_free_at_once(void **state)
{
	struct symbols *symbols = new_symbols("", false);
	uint64_t offset;

	(void)state;
	const struct symbols_source source = find_mapping((uintptr_t)(void *)qsort, &offset);
	for (uint32_t key = 0; key < 100; key++)
		assert_int_equal(symbols_unwind_ask(symbols, key, &source), 0);
	symbols_free(symbols);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_images),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_without_rules),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_free_at_once),
	};

	symbols_main(argc, argv);
	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
