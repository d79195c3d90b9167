/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_code_modules.c - lines and instructions of kernel modules, live and recorded.
 *
 * A directory provides /proc, /sys and /lib/modules of the machine. Recorded modules are packed.
 */
#include "symbols/client/code.h"

#include "symbols/loader/loader_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/unit/code_fixture.h"

#define BASE UINT64_C(0xffffffffc0100000)
#define TEXT (BASE + 0x40) /* .text follows another section */

static const char *real_root, *real_kcore;
static char root[80], kcore[80], kallsyms[80];

/* Finds the function in .text of module.ko. */
static void find_in_text(const char *name, struct symbol *out)
{
	unsigned long start = 0, size = 0;
	char command[256];

	snprintf(command, sizeof(command), "cd %s && nm -S module.ko | grep ' %s$'", dir, name);
	FILE *nm = popen(command, "re");
	assert_non_null(nm);
	assert_int_equal(fscanf(nm, "%lx %lx", &start, &size), 2);
	pclose(nm);
	*out = (struct symbol){.start = TEXT + start, .size = size};
}

/* Makes module.ko and a machine that has loaded it. The file's name has a hyphen in place of
 * "_". */
static void make_machine(const char *flags)
{
	struct utsname machine;

	write_file("program.c", PROGRAM);
	write_file("front.c",
		"__asm__(\".pushsection .before,\\\"ax\\\"\\n.skip 64\\n.popsection\");\n"
		"int front(int x)\n{\n	return x * 7;\n}\n");
	write_file("order", "SECTIONS { .before 0 : { *(.before) } .text 0 : { *(.text) } }\n");
	run("cc -O2 -g %s -c program.c front.c && ld -r --build-id -T order -o module.ko front.o "
	    "program.o",
		flags);
	assert_int_equal(uname(&machine), 0);
	run("rm -rf root && mkdir -p root/proc root/sys/module/of_test/notes "
	    "root/sys/module/of_test/sections root/lib/modules/%s/kernel/x",
		machine.release);
	run("ln -s lib/modules/%s/kernel/x root/x", machine.release);
	run("{ echo 'kernel/x/of-test-2.ko:'; echo 'kernel/x/of-test.ko: kernel/x/of-test-2.ko'; } "
	    ">root/lib/modules/%s/modules.dep",
		machine.release);
	run("{ echo 'of_test_2 4096 0 - Live 0xffffffffc0200000'; "
	    "echo 'of_test 16384 1 of_test_2, Live 0xffffffffc0100000 (OE)'; } >root/proc/modules");
	run("echo 0xffffffffc0100040 >root/sys/module/of_test/sections/.text");
	run("objcopy -O binary --set-section-flags .note.gnu.build-id=alloc "
	    "-j .note.gnu.build-id module.ko root/sys/module/of_test/notes/.note.gnu.build-id && "
	    "test -s root/sys/module/of_test/notes/.note.gnu.build-id");
	snprintf(root, sizeof(root), "%s/root", dir);
	snprintf(kcore, sizeof(kcore), "%s/kcore", dir);
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	write_file("kallsyms", "ffffffff81000000 T _text\nffffffffc0100040 t front [of_test]\n");
	loader_modules_root = root;
	loader_kcore_path = kcore;
}

static void start_live(const char *debug_dir)
{
	const char *const dirs[] = {debug_dir, NULL};
	const struct symbols_config config = {
		.cache_dir = "", .debug_dirs = dirs, .kallsyms_path = kallsyms};
	const struct symbols_source source = {.kind = SYMBOLS_KERNEL, .path = "[kernel]"};

	assert_int_equal(symbols_new(&symbols, &config), 0);
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
}

static void stop(void)
{
	symbols_free(symbols);
	symbols = NULL;
}

/* Makes a kcore with the module's code alone. It differs from the file at the start of outer. */
static void make_kcore(const struct symbol *outer)
{
	const Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1};
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD, .p_offset = 4096, .p_vaddr = TEXT, .p_memsz = 4096};
	uint8_t text[4096] = {0};

	run("objcopy -O binary -j .text module.ko text");
	int fd = open(in_dir("text"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text)) > 0);
	close(fd);
	memset(text + (outer->start - TEXT), 0x90, 4); /* nop of x86-64 */
	fd = open(kcore, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &segment, sizeof(segment), sizeof(header)), sizeof(segment));
	assert_int_equal(pwrite(fd, text, sizeof(text), 4096), sizeof(text));
	close(fd);
}

/* Checks that the lines are known, alone and in tables of instructions. */
static void check_lines(const struct symbol *outer)
{
	const uint64_t elsewhere = UINT64_C(0xffffffff81000010);
	struct symbols_frame frames[8];
	enum symbols_state state;

	/* A kernel without lines does not affect its modules. */
	assert_int_equal(symbols_lines_ask(symbols, 1, &elsewhere, 1), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	assert_int_equal(symbols_lines(symbols, 1, elsewhere, frames, 8, &state), 0);
	assert_int_equal(state, SYMBOLS_NONE);
	ask_lines(1, outer->start, (size_t)outer->size);
	assert_true(has_inlined(1, outer));
	struct symbols_code *code = ask_function(1, outer, true);
	check_outer(code, outer, true);
	symbols_code_release(symbols, code);
}

static void test_lines(void **state)
{
	static const char *const packers[] = {"cp module.ko root/x/of-test.ko",
		"xz -c module.ko >root/x/of-test.ko.xz",
		"zstd -qc module.ko >root/x/of-test.ko.zst",
		"gzip -c module.ko >root/x/of-test.ko.gz"};
	static const char *const needs[] = {"true", "xz --version >/dev/null 2>&1",
		"zstd --version >/dev/null 2>&1", "gzip --version >/dev/null 2>&1"};
	struct symbol outer;

	(void)state;
	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++) {
		if (system(needs[i]) != 0) {
			print_message("not tried, since this system has not the program: %s\n",
				packers[i]);
			continue;
		}
		make_machine(i == 1 ? "-gdwarf-4 -gz" : "");
		run("sed -i 's/of-test.ko:/of-test.ko%s:/' root/lib/modules/*/modules.dep",
			i == 0		 ? ""
				: i == 1 ? ".xz"
				: i == 2 ? ".zst"
					 : ".gz");
		run("%s", packers[i]);
		find_in_text("outer", &outer);
		start_live(in_dir("nowhere"));
		check_lines(&outer);
		stop();
	}
}

/* Only the module's debug file has lines. It is found by the module's path, with or without the
 * module's file, or by the name in the debug link. */
static void test_debug_file(void **state)
{
	struct utsname machine;
	struct symbol outer;

	(void)state;
	assert_int_equal(uname(&machine), 0);
	for (int way = 0; way < 3; way++) {
		make_machine("");
		find_in_text("outer", &outer);
		if (way < 2)
			run("mkdir -p debug/lib/modules/%s/kernel/x && "
			    "cp module.ko debug/lib/modules/%s/kernel/x/of-test.ko",
				machine.release, machine.release);
		if (way == 1)
			run("cp module.ko root/x/of-test.ko && strip -g root/x/of-test.ko");
		if (way == 2)
			run("p=debug/%s/root/lib/modules/%s/kernel/x && mkdir -p $p && "
			    "cp module.ko $p/of-test.ko && cp module.ko kept.ko && strip -g "
			    "kept.ko && "
			    "objcopy --add-gnu-debuglink=$p/of-test.ko kept.ko root/x/of-test.ko",
				dir, machine.release);
		start_live(in_dir("debug"));
		check_lines(&outer);
		stop();
		run("rm -rf debug");
	}
}

/* Instructions come from the kernel's memory, lines from the file. */
static void test_memory(void **state)
{
	struct symbol outer;
	int error;

	(void)state;
	make_machine("");
	run("cp module.ko root/x/of-test.ko");
	find_in_text("outer", &outer);
	make_kcore(&outer);
	start_live(in_dir("nowhere"));
	struct symbols_code *code = ask_function(1, &outer, true);
	assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
	assert_true(symbols_code_has_lines(code));
	const struct codetab *table = symbols_code_table(code);
	assert_true(table->n_entries > 4);
	assert_int_equal(table->entries[0].start, outer.start);
#ifdef __x86_64__
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(table->entries[i].len, 1);
#endif
	bool found = false;
	for (uint32_t i = 0; i < table->n_entries; i++)
		found |= has_function(table, &table->entries[i], "inner", 4, true);
	assert_true(found);
	symbols_code_release(symbols, code);
}

/* Only instructions are known of a module that was rebuilt after loading, is not listed, or has an
 * unknown address. */
static void test_without(void **state)
{
	static const char *const changes[] = {
		"cp module.ko root/x/of-test.ko && "
		"objcopy --update-section .note.gnu.build-id=kallsyms root/x/of-test.ko",
		"cp module.ko root/x/of-test.ko && sed -i d root/lib/modules/*/modules.dep",
		"cp module.ko root/x/of-test.ko && "
		"sed -i 's/0xffffffffc0100000/0x0000000000000000/' root/proc/modules",
	};
	struct symbol outer;
	int error;

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		make_machine("");
		find_in_text("outer", &outer);
		make_kcore(&outer);
		run("%s", changes[i]);
		start_live(in_dir("nowhere"));
		ask_lines(1, outer.start, (size_t)outer.size);
		struct symbols_frame frames[8];
		enum symbols_state is;
		assert_int_equal(symbols_lines(symbols, 1, outer.start, frames, 8, &is), 0);
		assert_int_equal(is, SYMBOLS_NONE);
		struct symbols_code *code = ask_function(1, &outer, true);
		assert_int_equal(symbols_code_state(code, &error), SYMBOLS_READY);
		assert_false(symbols_code_has_lines(code));
		symbols_code_release(symbols, code);
		stop();
	}
}

/* Without the address of .text, the address in /proc/modules is used. */
static void test_without_sections(void **state)
{
	struct symbol outer;

	(void)state;
	make_machine("");
	run("cp module.ko root/x/of-test.ko && rm -r root/sys/module/of_test/sections");
	find_in_text("outer", &outer);
	start_live(in_dir("nowhere"));
	check_lines(&outer);
}

static void test_packed_of_recording(void **state)
{
	struct symbols_source source = {.kind = SYMBOLS_MODULE};

	(void)state;
	if (system("xz --version >/dev/null 2>&1") != 0) {
		print_message("skip: there is no xz\n");
		skip();
	}
	make_machine("");
	run("xz module.ko");
	start(NULL, true);
	source.path = in_dir("module.ko.xz");
	assert_int_equal(symbols_request(symbols, 1, &source), 0);
	assert_int_equal(symbols_wait(symbols, TIMEOUT_MS), 0);
	const struct symbol outer = find_function(1, in_dir("module.ko.xz"), "outer");
	struct symbols_code *code = ask_function(1, &outer, true);
	check_outer(code, &outer, true);
	symbols_code_release(symbols, code);
	ask_lines(1, outer.start, (size_t)outer.size);
	assert_true(has_inlined(1, &outer));
}

static int end(void **state)
{
	loader_modules_root = real_root;
	loader_kcore_path = real_kcore;
	return teardown(state);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, end),
		cmocka_unit_test_setup_teardown(test_debug_file, setup, end),
		cmocka_unit_test_setup_teardown(test_memory, setup, end),
		cmocka_unit_test_setup_teardown(test_without, setup, end),
		cmocka_unit_test_setup_teardown(test_without_sections, setup, end),
		cmocka_unit_test_setup_teardown(test_packed_of_recording, setup, end),
	};

	symbols_main(argc, argv);
	real_root = loader_modules_root;
	real_kcore = loader_kcore_path;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
