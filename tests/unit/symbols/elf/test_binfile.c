/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_binfile.c - demangled names, and the PLT of a real program.
 */
#include "symbols/elf/binfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "small_elf.h"

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
			"std::vector<int, std::allocator<int> >::push_back(int const&)"},
		{"_ZN3foo3barEv", "foo::bar()"},
		{"_ZN3foo3barEv@plt", "foo::bar()@plt"},
		/* Rust names in both manglings, without the hash. */
		{"_ZN3std2io5stdio6_print17h0123456789abcdefE", "std::io::stdio::_print"},
		{"_RNvC7mycrate3foo", "mycrate::foo"},
		{"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
		{"main", ""},
		{"_Z", ""},
		{"_ZNSt6vector", ""},
		{"", ""},
	};
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool mangled = binfile_demangle(names[i][0], out, sizeof(out));
		assert_string_equal(out, names[i][1]);
		assert_int_equal(mangled, out[0] != '\0');
	}
}

static void test_cut(void **state)
{
	char out[8];

	(void)state;
	assert_true(binfile_demangle("_ZN3foo3barEv", out, sizeof(out)));
	assert_string_equal(out, "foo::ba");
}

/* The nesting is too deep for a recursive demangler: the name is refused. */
static void test_deep(void **state)
{
	enum { N = 60000 };
	char *name = malloc(N + 8), out[64];

	(void)state;
	assert_non_null(name);
	memcpy(name, "_Z1f", 4);
	memset(name + 4, 'P', N);
	memcpy(name + 4 + N, "i", 2);
	assert_false(binfile_demangle(name, out, sizeof(out)));
	free(name);
}

/* /bin/ls has a PLT, unless it was linked without one. */
static void test_plt(void **state)
{
	struct symtab_builder *builder;
	struct elffile elf;
	struct symtab table;
	uint32_t count;
	int fd = open("/bin/ls", O_RDONLY | O_CLOEXEC), table_fd;
	bool found = false;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(elffile_open(&elf, fd), 0);
	if (!elffile_has_code_section(&elf, ".plt")) {
		print_message("skipped: /bin/ls has no PLT\n");
		elffile_close(&elf);
		close(fd);
		skip();
	}
	assert_int_equal(symtab_builder_new(&builder), 0);
	assert_int_equal(binfile_plt(&elf, builder), 0);
	assert_int_equal(symtab_builder_finish(builder, &table_fd, &count), 0);
	symtab_builder_free(builder);
	assert_int_equal(symtab_open(&table, table_fd), 0);
	for (uint32_t i = 0; i < table.n_entries; i++) {
		const char *name = table.pool + table.entries[i].name;
		size_t len = strlen(name);
		assert_true(len > 4 && strcmp(name + len - 4, "@plt") == 0);
		found |= strcmp(name, "__libc_start_main@plt") == 0 ||
			strcmp(name, "malloc@plt") == 0 || strcmp(name, "exit@plt") == 0;
	}
	assert_true(table.n_entries > 10);
	assert_true(found);
	symtab_close(&table);
	close(table_fd);
	elffile_close(&elf);
	close(fd);
}

static void test_no_plt(void **state)
{
	struct symtab_builder *builder;
	struct small_elf small;
	struct elffile elf;

	(void)state;
	small_elf_make(&small, true, false, NULL, 0);
	int fd = small_elf_file(&small, small.len);
	assert_int_equal(elffile_open(&elf, fd), 0);
	assert_int_equal(symtab_builder_new(&builder), 0);
	assert_int_equal(binfile_plt(&elf, builder), 0);
	assert_int_equal(builder->n, 0);
	symtab_builder_free(builder);
	elffile_close(&elf);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	binfile_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_no_plt),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
