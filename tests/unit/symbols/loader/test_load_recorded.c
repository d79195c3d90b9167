/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_load_recorded.c - the files that name a recording's images, and those that must not.
 *
 * HOME, --symfs and the debug directory are below one temporary directory.
 */
#include "symbols/client/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "small_elf.h"
#include "tests/unit/scratch.h"

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define ID_PATH "01/02030405060708090a0b0c0d0e0f1011121314"

static char dir[64], symfs[96], debug_dir[96], home[96], notes[96], kallsyms[96];
static struct symbols *symbols;
static uint32_t last_key;

static void make_dirs(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void put(const char *below, const char *relative, const void *bytes, size_t len)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", below, relative);
	make_dirs(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

/* Writes a binary with one function. `first` is the first byte of its build-id. */
static void put_elf(const char *below, const char *relative, const char *function, uint8_t first)
{
	const struct small_symbol list[] = {{function, SMALL_TEXT_ADDR, 16, FUNC, 1}};
	struct small_elf elf;

	small_elf_make(&elf, true, false, list, function ? 1 : 0);
	elf.bytes[0x1d0] = first;
	put(below, relative, elf.bytes, elf.len);
}

static void put_kernel_notes(uint8_t first)
{
	uint8_t note[36] = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};

	for (uint8_t i = 0; i < 20; i++)
		note[16 + i] = (uint8_t)(i + 1);
	note[16] = first;
	put(dir, "notes", note, sizeof(note));
}

static void open_symbols(bool trust_local)
{
	static const char *debug_dirs[2];

	debug_dirs[0] = debug_dir;
	const struct symbols_config config = {
		.cache_dir = "",
		.recording = true,
		.trust_local = trust_local,
		.symfs = symfs,
		.debug_dirs = debug_dirs,
		.kernel_notes_path = notes,
		.kallsyms_path = kallsyms,
	};
	assert_int_equal(symbols_new(&symbols, &config), 0);
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/strobe-test-recorded-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(symfs, sizeof(symfs), "%s/symfs", dir);
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", dir);
	snprintf(home, sizeof(home), "%s/home", dir);
	snprintf(notes, sizeof(notes), "%s/notes", dir);
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	setenv("HOME", home, 1);
	last_key = 0;
	open_symbols(false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	symbols_free(symbols);
	return scratch_remove_tree(dir);
}

/* Requests an image. Returns the name at an offset, "" if none. */
static const char *load(const struct symbols_source *source, uint64_t offset)
{
	struct symbol symbol;

	assert_int_equal(symbols_request(symbols, ++last_key, source), 0);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	return symbols_find(symbols, last_key, offset, &symbol) ? symbol.name : "";
}

static struct symbols_source source_of(enum symbols_kind kind, const char *path, bool with_id)
{
	struct symbols_source source = {.kind = kind, .path = path, .pid = getpid()};

	for (uint8_t i = 0; i < 20; i++)
		source.build_id[i] = (uint8_t)(i + 1);
	source.build_id_len = with_id ? 20 : 0;
	return source;
}

static void expect_note(enum symbols_note_kind kind, int value)
{
	struct symbols_note note;

	assert_true(symbols_take_note(symbols, &note));
	assert_int_equal(note.kind, kind);
	assert_int_equal(note.value, value);
}

static void expect_no_note(void)
{
	struct symbols_note note;

	assert_false(symbols_take_note(symbols, &note));
}

/* Each file is better than those before it. */
static void test_order(void **state)
{
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	const struct symbols_source source = source_of(SYMBOLS_FILE, path, true);

	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	assert_int_equal(symbols_state(symbols, last_key), SYMBOLS_UNREADABLE);
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_NONE);
	expect_note(SYMBOLS_NOTE_UNREADABLE, 0);
	put_elf(dir, "program", "by_path", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "by_path");
	put_elf(home, ".debug/.build-id/" ID_PATH, "older_cache", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "older_cache");
	snprintf(path, sizeof(path), "%s/.debug/.build-id/" ID_PATH, home);
	unlink(path);
	put_elf(home, ".debug/.build-id/" ID_PATH "/elf", "cache", 1);
	snprintf(path, sizeof(path), "%s/program", dir);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "cache");
	put_elf(symfs, ".build-id/" ID_PATH "/elf", "symfs_id", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "symfs_id");
	put_elf(symfs, path + 1, "symfs_path", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "symfs_path");
	/* A file with another build-id is skipped. */
	put_elf(symfs, path + 1, "wrong", 9);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "symfs_id");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_NONE);
	expect_no_note();
}

static void expect_unopened(const char *end)
{
	struct symbols_note note;

	assert_true(symbols_take_note(symbols, &note));
	assert_int_equal(note.kind, SYMBOLS_NOTE_UNREADABLE);
	assert_int_equal(note.error, ELOOP);
	assert_non_null(strstr(note.path, end));
}

/* A file that exists but cannot be opened gets a note. */
static void test_unopened(void **state)
{
	char path[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	const struct symbols_source source = source_of(SYMBOLS_FILE, path, true);

	put_elf(dir, "program", "by_path", 1);
	put(symfs, ".build-id/" ID_PATH "/other", "", 0);
	snprintf(path, sizeof(path), "%s/.build-id/" ID_PATH "/elf", symfs);
	assert_int_equal(symlink("elf", path), 0);
	put(debug_dir, ".build-id/" ID_PATH "/other", "", 0);
	snprintf(path, sizeof(path), "%s/.build-id/" ID_PATH ".debug", debug_dir);
	assert_int_equal(symlink(path, path), 0);
	snprintf(path, sizeof(path), "%s/program", dir);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "by_path");
	expect_unopened("/elf");
	expect_unopened(".debug");
	expect_no_note();
}

static void test_other_build(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	const struct symbols_source source = source_of(SYMBOLS_FILE, path, true);

	put_elf(dir, "program", "lie", 9);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_OTHER);
	expect_note(SYMBOLS_NOTE_WRONG_FILE, 0);
	expect_no_note();
}

static void test_debug_file(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	const struct symbols_source source = source_of(SYMBOLS_FILE, path, true);

	put_elf(dir, "program", NULL, 1);
	put_elf(debug_dir, ".build-id/" ID_PATH ".debug", "of_another", 9);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	put_elf(debug_dir, ".build-id/" ID_PATH ".debug", "debug", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "debug");
	/* The debug file is not needed if the file has its own symbols. */
	put_elf(dir, "program", "own", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "own");
	expect_no_note();
}

static void test_no_build_id(void **state)
{
	struct symbols_recorded recorded = {.end_s = 0};
	struct stat st;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	struct symbols_source source = source_of(SYMBOLS_FILE, path, false);

	put_elf(dir, "program", "some", 7);
	assert_int_equal(stat(path, &st), 0);
	source.inode = st.st_ino;
	assert_string_equal(load(&source, SMALL_TEXT_AT), "some");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_NONE);
	expect_no_note();
	source.inode++;
	assert_string_equal(load(&source, SMALL_TEXT_AT), "some");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_UNVERIFIED);
	expect_note(SYMBOLS_NOTE_UNVERIFIED, 1);
	source.inode = 0;
	recorded.end_s = 1000; /* long before the file was made */
	assert_int_equal(symbols_recorded(symbols, &recorded), 0);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "some");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_UNVERIFIED);
	expect_note(SYMBOLS_NOTE_UNVERIFIED, 1);
}

static const char running[] = "ffffffff81000000 T _text\n"
			      "ffffffff81000100 T first_alias\n"
			      "ffffffff81000100 T last_alias\n"
			      "ffffffff81000200 t after\n"
			      "ffffffffc0000000 t in_module\t[mod]\n";

/* Without a build-id, an image from elsewhere gets no name by path.  One note covers all. */
static void test_elsewhere(void **state)
{
	const struct symbols_recorded recorded = {
		.release = "4.4.0", .elsewhere = SYMBOLS_OTHER_HOST | SYMBOLS_OTHER_RELEASE};
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	const struct symbols_source source = source_of(SYMBOLS_FILE, path, false);
	struct symbols_source known = source_of(SYMBOLS_FILE, path, true);
	struct symbols_source kernel = source_of(SYMBOLS_KERNEL, "[kernel]", false);

	put_elf(dir, "program", "some", 1);
	put(dir, "kallsyms", running, sizeof(running) - 1);
	kernel.map_start = 0xffffffff81000000;
	assert_int_equal(symbols_recorded(symbols, &recorded), 0);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_UNPROVEN);
	expect_note(SYMBOLS_NOTE_ELSEWHERE, SYMBOLS_OTHER_HOST | SYMBOLS_OTHER_RELEASE);
	assert_string_equal(load(&kernel, 0xffffffff81000110), "");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_UNPROVEN);
	expect_no_note();
	/* A build-id proves any file, and --symfs is the user's decision. */
	assert_string_equal(load(&known, SMALL_TEXT_AT), "some");
	put_elf(symfs, path + 1, "given", 7);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "given");
	expect_no_note();
}

static void test_trust_local(void **state)
{
	const struct symbols_recorded recorded = {.elsewhere = SYMBOLS_OTHER_HOST};
	char path[128];

	(void)state;
	symbols_free(symbols);
	open_symbols(true);
	snprintf(path, sizeof(path), "%s/program", dir);
	const struct symbols_source source = source_of(SYMBOLS_FILE, path, false);
	struct symbols_source kernel = source_of(SYMBOLS_KERNEL, "[kernel]", false);

	put_elf(dir, "program", "some", 7);
	put(dir, "kallsyms", running, sizeof(running) - 1);
	assert_int_equal(symbols_recorded(symbols, &recorded), 0);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "some");
	expect_note(SYMBOLS_NOTE_UNVERIFIED, 2);
	assert_string_equal(load(&kernel, 0xffffffff81000110), "last_alias");
	expect_note(SYMBOLS_NOTE_UNVERIFIED, 0);
	/* Trust does not override a different build-id. */
	const struct symbols_source known = source_of(SYMBOLS_FILE, path, true);
	assert_string_equal(load(&known, SMALL_TEXT_AT), "");
	expect_note(SYMBOLS_NOTE_WRONG_FILE, 0);
}

/* Only a build-id proves that a file is the deleted program of its path. */
static void test_deleted(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/program", dir);
	struct symbols_source source = source_of(SYMBOLS_FILE, path, false);

	source.deleted = true;
	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	expect_note(SYMBOLS_NOTE_UNREADABLE, 0);
	put_elf(dir, "program", "another", 1);
	put_elf(symfs, path + 1, "another", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	assert_int_equal(symbols_mark(symbols, last_key), SYMBOLS_MARK_OTHER);
	expect_note(SYMBOLS_NOTE_WRONG_FILE, 1);
	source = source_of(SYMBOLS_FILE, path, true);
	source.deleted = true;
	assert_string_equal(load(&source, SMALL_TEXT_AT), "another");
	expect_no_note();
}

static void test_kernel_running(void **state)
{
	struct symbols_source source = source_of(SYMBOLS_KERNEL, "[kernel]", true);

	(void)state;
	put_kernel_notes(1);
	put(dir, "kallsyms", running, sizeof(running) - 1);
	source.map_start = 0xffffffff81000000;
	assert_string_equal(load(&source, 0xffffffff81000110), "last_alias");
	assert_string_equal(load(&source, 0xffffffffc0000010), "in_module");
	/* The recorded kernel was at another address. The addresses of its modules are unknown. */
	source.map_start = 0xffffffff9a000000;
	assert_string_equal(load(&source, 0xffffffff9a000110), "last_alias");
	assert_string_equal(load(&source, 0xffffffff81000110), "");
	assert_string_equal(load(&source, 0xffffffffc0000010), "");
	expect_no_note();
	/* Without a build-id, the address of _text must agree. */
	source.build_id_len = 0;
	assert_string_equal(load(&source, 0xffffffff9a000110), "");
	expect_note(SYMBOLS_NOTE_NO_KERNEL, 0);
	source.map_start = 0xffffffff81000000;
	assert_string_equal(load(&source, 0xffffffff81000110), "last_alias");
	expect_note(SYMBOLS_NOTE_UNVERIFIED, 0);
}

/* The running kernel with hidden addresses: the note says so and names no other kernel. */
static void test_kernel_hidden(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T some\n";
	struct symbols_source source = source_of(SYMBOLS_KERNEL, "[kernel]", true);

	(void)state;
	put_kernel_notes(1);
	put(dir, "kallsyms", hidden, sizeof(hidden) - 1);
	source.map_start = 0xffffffff81000000;
	assert_string_equal(load(&source, 0xffffffff81000110), "");
	expect_note(SYMBOLS_NOTE_KERNEL_HIDDEN, 0);
	expect_no_note();
}

static void test_kernel_of_another(void **state)
{
	static const char kept[] = "ffffffff82000000 T _text\nffffffff82000100 T kept\n";
	static const struct small_symbol list[] = {
		{"_text", SMALL_TEXT_ADDR, 16, FUNC, 1},
		{"built", SMALL_TEXT_ADDR + 0x100, 16, FUNC, 1},
	};
	const struct symbols_recorded recorded = {
		.release = "6.1-x", .elsewhere = SYMBOLS_OTHER_HOST};
	struct symbols_source source = source_of(SYMBOLS_KERNEL, "[kernel]", true);
	struct small_elf vmlinux;

	(void)state;
	put_kernel_notes(9);
	put(dir, "kallsyms", running, sizeof(running) - 1);
	assert_int_equal(symbols_recorded(symbols, &recorded), 0);
	source.map_start = 0xffffffff81000000;
	assert_string_equal(load(&source, 0xffffffff81000110), "");
	expect_note(SYMBOLS_NOTE_NO_KERNEL, 0);
	small_elf_make(&vmlinux, true, false, list, 2);
	put(debug_dir, "boot/vmlinux-6.1-x", vmlinux.bytes, vmlinux.len);
	assert_string_equal(load(&source, 0xffffffff81000108), "built");
	put(home, ".debug/[kernel.kallsyms]/0102030405060708090a0b0c0d0e0f1011121314/kallsyms",
		kept, sizeof(kept) - 1);
	assert_string_equal(load(&source, 0xffffffff81000108), "kept");
	expect_no_note();
}

static void test_vdso(void **state)
{
	const struct symbols_source source = source_of(SYMBOLS_VDSO, "[vdso]", true);

	(void)state;
	/* The running kernel's vdso has another build-id and is not used. */
	assert_string_equal(load(&source, SMALL_TEXT_AT), "");
	assert_int_equal(symbols_state(symbols, last_key), SYMBOLS_NONE);
	put_elf(home, ".debug/[vdso]/0102030405060708090a0b0c0d0e0f1011121314/vdso", "clock", 1);
	assert_string_equal(load(&source, SMALL_TEXT_AT), "clock");
	expect_no_note();
}

static enum symbols_state load_vdso(const struct symbols_recorded *recorded)
{
	const struct symbols_source source = source_of(SYMBOLS_VDSO, "[vdso]", false);

	struct symbols_source narrow = source;

	assert_int_equal(symbols_recorded(symbols, recorded), 0);
	narrow.inode = 1;
	load(&narrow, 0);
	assert_int_equal(symbols_state(symbols, last_key), SYMBOLS_NONE);
	load(&source, 0);
	return symbols_state(symbols, last_key);
}

static void test_vdso_without_build_id(void **state)
{
	struct utsname machine;

	(void)state;
	if (!getauxval(AT_SYSINFO_EHDR)) {
		print_message("there is no vdso here\n");
		skip();
	}
	assert_int_equal(uname(&machine), 0);
	struct symbols_recorded recorded = {.release = machine.release};
	assert_int_equal(load_vdso(&recorded), SYMBOLS_READY);
	recorded.elsewhere = SYMBOLS_OTHER_HOST;
	assert_int_equal(load_vdso(&recorded), SYMBOLS_NONE);
	recorded = (struct symbols_recorded){.release = "6.1-x"};
	assert_int_equal(load_vdso(&recorded), SYMBOLS_NONE);
	recorded.release = NULL;
	assert_int_equal(load_vdso(&recorded), SYMBOLS_NONE);
	expect_no_note();
}

static void test_module(void **state)
{
	static const struct small_symbol list[] = {{"in_module", 0x10, 16, FUNC, 1}};
	char path[128];
	struct small_elf ko;

	(void)state;
	snprintf(path, sizeof(path), "%s/nf-some.ko", dir);
	const struct symbols_source source = source_of(SYMBOLS_MODULE, path, true);
	small_elf_make(&ko, true, false, list, 1);
	SMALL_PUT(&ko, 0, Ehdr, e_type, ET_REL);
	put(dir, "nf-some.ko", ko.bytes, ko.len);
	assert_string_equal(load(&source, 0x18), "in_module");
	expect_no_note();
}

int main(int argc, char **argv)
{
	symbols_main(argc, argv);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unopened, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_build, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debug_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_trust_local, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deleted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_running, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_hidden, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_of_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso_without_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
