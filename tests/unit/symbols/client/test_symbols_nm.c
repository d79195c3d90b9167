/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_symbols_nm.c - symbols of real files compared with nm(1): 2,000 of each file, picked at
 * random.
 */
#include "symbols/client/symbols.h"

#include "symbols/loader/opener.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PICKS 2000

struct name {
	uint64_t addr, size;
	char type;
	char *text;
};

struct names {
	struct name *list;
	size_t n, cap;
};

/* Reads the functions with a size from `nm -S` with more options. */
static void read_nm(struct names *names, const char *options, const char *path)
{
	char command[512], line[65536];

	snprintf(command, sizeof(command), "nm -S --defined-only %s '%s' 2>/dev/null", options,
		path);
	FILE *file = popen(command, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		uint64_t addr, size;
		char type;
		int at = 0;
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %n", &addr, &size, &type, &at) != 3 ||
			!at || !strchr("tTwWi", type) || size == 0)
			continue;
		char *text = line + at;
		text[strcspn(text, "@\n")] = '\0'; /* without versions */
		if (names->n == names->cap) {
			names->cap = names->cap * 2 + 1024;
			names->list = realloc(names->list, names->cap * sizeof(*names->list));
			assert_non_null(names->list);
		}
		names->list[names->n++] = (struct name){addr, size, type, strdup(text)};
	}
	pclose(file);
}

static int by_addr(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Finds the file offset of an address by the segments of a file in this machine's format.  Returns
 * false if there is none. */
static bool to_offset(int fd, uint64_t addr, uint64_t *offset)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));
		assert_int_equal(pread(fd, &segment, sizeof(segment), at), sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
			addr >= segment.p_vaddr && addr - segment.p_vaddr < segment.p_filesz) {
			*offset = segment.p_offset + (addr - segment.p_vaddr);
			return true;
		}
	}
	return false;
}

static void compare(struct symbols *symbols, uint32_t key, const struct symbols_source *source,
	const char *path)
{
	struct names names = {0};
	unsigned int seed = 1, checked = 0;

	if (system("command -v nm >/dev/null") != 0) {
		print_message("skipped: nm is not installed\n");
		skip();
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		print_message("skipped: no %s here\n", path);
		skip();
	}
	read_nm(&names, "", path);
	if (names.n == 0)
		read_nm(&names, "-D", path);
	assert_true(names.n > 0);
	qsort(names.list, names.n, sizeof(*names.list), by_addr);

	assert_int_equal(symbols_request(symbols, key, source), 0);
	assert_int_equal(symbols_wait(symbols, 60000), 0);
	assert_int_equal(symbols_state(symbols, key), SYMBOLS_READY);
	for (unsigned int pick = 0; pick < PICKS; pick++) {
		const struct name *name = &names.list[(unsigned int)rand_r(&seed) % names.n];
		struct symbol symbol;
		uint64_t offset;
		if (!to_offset(fd, name->addr, &offset))
			/* not in an executable segment: nm calls it text, but it is data */
			continue;
		assert_true(symbols_find(symbols, key, offset, &symbol));
		assert_int_equal(symbol.start, offset);
		/* Any name of this address is right, with the size that goes with it. */
		const struct name *same = name;
		while (same > names.list && same[-1].addr == name->addr)
			same--;
		bool agrees = false;
		for (; same < names.list + names.n && same->addr == name->addr; same++)
			agrees |= strcmp(same->text, symbol.name) == 0 && same->size == symbol.size;
		if (!agrees)
			print_error("%s: %s at %" PRIx64 "+%" PRIx64 " is called %s+%" PRIx64 "\n",
				path, name->text, name->addr, name->size, symbol.name, symbol.size);
		assert_true(agrees);
		/* Its last byte belongs to it, unless another symbol begins within. */
		assert_true(symbols_find(symbols, key, offset + symbol.size - 1, &symbol));
		assert_true(symbol.start >= offset);
		checked++;
	}
	print_message("%s: %u of %zu symbols agree\n", path, checked, names.n);
	assert_true(checked > PICKS / 2);
	for (size_t i = 0; i < names.n; i++)
		free(names.list[i].text);
	free(names.list);
	close(fd);
}

static int setup(void **state)
{
	/* nm reads the file alone, so debug files are off. */
	static const char *const no_debug_files[] = {NULL};
	const struct symbols_config config = {.cache_dir = "", .debug_dirs = no_debug_files};
	struct symbols *symbols;

	int ret = symbols_new(&symbols, &config);
	*state = symbols;
	return ret;
}

static int teardown(void **state)
{
	symbols_free(*state);
	return 0;
}

static void compare_file(struct symbols *symbols, const char *path)
{
	const struct symbols_source source = {.kind = SYMBOLS_FILE, .path = path};

	compare(symbols, 1, &source, path);
}

static void test_self(void **state)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = '\0';
	compare_file(*state, path);
}

static void test_libc(void **state)
{
	char line[4096], path[4096] = "";

	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (!path[0] && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so") || strstr(line, "/libc-"))
			sscanf(strchr(line, '/'), "%4095s", path);
	fclose(maps);
	if (!path[0]) {
		print_message("skipped: linked without libc.so\n");
		skip();
	}
	compare_file(*state, path);
}

static void test_node(void **state)
{
	compare_file(*state, "/usr/bin/node");
}

static void test_python(void **state)
{
	compare_file(*state, "/usr/bin/python3");
}

static void test_libstdcxx(void **state)
{
	compare_file(*state, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

static void test_vdso(void **state)
{
	const struct symbols_source source = {.kind = SYMBOLS_VDSO, .path = "[vdso]"};
	char path[64];

	int fd = opener_vdso(&source);
	if (fd < 0) {
		print_message("skipped: no vdso here\n");
		skip();
	}
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	compare(*state, 1, &source, path);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_self, setup, teardown),
		cmocka_unit_test_setup_teardown(test_libc, setup, teardown),
		cmocka_unit_test_setup_teardown(test_node, setup, teardown),
		cmocka_unit_test_setup_teardown(test_python, setup, teardown),
		cmocka_unit_test_setup_teardown(test_libstdcxx, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vdso, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
