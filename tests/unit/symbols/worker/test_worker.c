/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_worker.c - the worker's answers over its socket, as the loader requests them, and malformed
 * requests.
 */
#include "symbols/worker/worker.h"

#include "symbols/wire/codetab.h"
#include "symbols/wire/symtab.h"
#include "symbols/wire/wire.h"
#include "symbols/worker/disasm.h"
#include "symbols/worker/spawner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "name_bomb.h"
#include "small_elf.h"

static struct spawner spawner;
static int sock;
static char payload[WIRE_PACKET_BYTES];

static int setup(void **state)
{
	struct wire_message hello;
	size_t len;
	pid_t pid;
	int fd;

	(void)state;
	if (spawner_open(&spawner, 512) < 0 || spawner_fork(&spawner, &pid, &sock) < 0)
		return -1;
	return wire_recv(sock, &hello, NULL, 0, &len, &fd, 0);
}

static int teardown(void **state)
{
	(void)state;
	close(sock);
	spawner_close(&spawner);
	return 0;
}

/* Sends a request with fd, which is closed.  Returns the answer's descriptor. */
static int ask(enum wire_type type, int fd, struct wire_message *answer, size_t *len)
{
	const struct wire_message request = {.type = type, .id = 5};
	int got;

	assert_int_equal(wire_send(sock, &request, NULL, 0, fd), 0);
	if (fd >= 0)
		close(fd);
	assert_int_equal(wire_recv(sock, answer, payload, sizeof(payload), len, &got, 0), 0);
	assert_int_equal(answer->type, type);
	assert_int_equal(answer->id, 5);
	return got;
}

static void test_file(void **state)
{
	static const struct small_symbol symbols[] = {
		{"function", SMALL_TEXT_ADDR + 8, 16, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1},
	};
	struct wire_message answer;
	struct small_elf small;
	struct symtab table;
	size_t len;

	(void)state;
	small_elf_make(&small, true, false, symbols, 1);
	assert_int_equal(ask(WIRE_BUILD_ID, small_elf_file(&small, small.len), &answer, &len), -1);
	assert_int_equal(answer.error, 0);
	assert_int_equal(answer.build_id_len, 20);
	assert_int_equal(answer.build_id[19], 20);

	int fd = ask(WIRE_FILE, small_elf_file(&small, small.len), &answer, &len);
	assert_int_equal(answer.error, 0);
	assert_int_equal(answer.count, 1);
	assert_int_equal(symtab_open(&table, fd), 0);
	close(fd);
	assert_int_equal(table.entries[0].start, SMALL_TEXT_AT + 8);
	assert_int_equal(table.n_segments, 1);
	assert_int_equal(SMALL_TEXT_AT - table.segments[0].offset,
		SMALL_TEXT_ADDR - table.segments[0].vaddr);
	assert_true(SMALL_TEXT_AT - table.segments[0].offset < table.segments[0].len);
	symtab_close(&table);

	assert_int_equal(ask(WIRE_FILE, small_elf_file(&small, 10), &answer, &len), -1);
	assert_int_equal(answer.error, ENOEXEC);
}

static void test_kallsyms(void **state)
{
	static const char text[] = "ffffffff81000000 T first\n"
				   "ffffffff81000100 T second\n"
				   "ffffffffc0001000 t in_module\t[mod]\n"
				   "ffffffffc0001100 t also\t[mod]\n"
				   "ffffffffc0002000 t bpf_prog_0\t[bpf]\n";
	struct wire_message answer;
	struct symtab table;
	size_t len;

	(void)state;
	int memory = memfd_create("k", MFD_CLOEXEC);
	assert_int_equal(pwrite(memory, text, sizeof(text) - 1, 0), sizeof(text) - 1);
	int fd = ask(WIRE_KALLSYMS, memory, &answer, &len);
	assert_int_equal(answer.error, 0);
	assert_int_equal(answer.flags, WIRE_FLAG_DYNAMIC);
	assert_int_equal(symtab_open(&table, fd), 0);
	close(fd);
	assert_int_equal(table.n_entries, 5);
	int64_t i = symtab_find(&table, 0xffffffff81000105);
	assert_string_equal(table.pool + table.entries[i].name, "second");
	assert_int_equal(table.modules[i], 0);
	i = symtab_find(&table, 0xffffffffc0001105);
	assert_string_equal(table.pool + table.entries[i].name, "also");
	assert_string_equal(table.pool + table.module_names[table.modules[i] - 1], "mod");
	symtab_close(&table);

	memory = memfd_create("k", MFD_CLOEXEC);
	assert_int_equal(pwrite(memory, "0000000000000000 T x\n", 21, 0), 21);
	fd = ask(WIRE_KALLSYMS, memory, &answer, &len);
	assert_int_equal(answer.flags, WIRE_FLAG_HIDDEN);
	assert_int_equal(answer.count, 0);
	close(fd);
}

/* One module alone, from its beginning.  The last of several names at one address counts. */
static void test_module_of_kallsyms(void **state)
{
	static const char text[] = "ffffffff81000000 T core\n"
				   "ffffffffc0001000 t early\t[mod]\n"
				   "ffffffffc0002000 t one\t[mod]\n"
				   "ffffffffc0002000 t other\t[mod]\n"
				   "ffffffffc0002100 t elsewhere\t[mod2]\n";
	const struct wire_message request = {
		.type = WIRE_KALLSYMS, .id = 5, .address = 0xffffffffc0002000};
	struct wire_message answer;
	struct symtab table;
	size_t len;
	int fd;

	(void)state;
	int memory = memfd_create("k", MFD_CLOEXEC);
	assert_int_equal(pwrite(memory, text, sizeof(text) - 1, 0), sizeof(text) - 1);
	assert_int_equal(wire_send(sock, &request, "mod", 3, memory), 0);
	close(memory);
	assert_int_equal(wire_recv(sock, &answer, payload, sizeof(payload), &len, &fd, 0), 0);
	assert_int_equal(answer.error, 0);
	assert_int_equal(symtab_open(&table, fd), 0);
	close(fd);
	assert_int_equal(table.n_entries, 1);
	assert_int_equal(table.entries[0].start, 0);
	assert_string_equal(table.pool + table.entries[0].name, "other");
	symtab_close(&table);
}

static void test_demangle(void **state)
{
	static const char names[] = "_Z1fv\0main\0_ZN1a1bEi";
	const struct wire_message request = {.type = WIRE_DEMANGLE, .id = 9};
	struct wire_message answer;
	size_t len;
	int fd;

	(void)state;
	assert_int_equal(wire_send(sock, &request, names, sizeof(names), -1), 0);
	assert_int_equal(wire_recv(sock, &answer, payload, sizeof(payload), &len, &fd, 0), 0);
	assert_int_equal(answer.count, 3);
	assert_int_equal(len, 15);
	assert_memory_equal(payload, "f()\0\0a::b(int)", 15);
	/* the last name is not terminated */
	assert_int_equal(wire_send(sock, &request, "_Z1fv\0_Z1gv", 11, -1), 0);
	assert_int_equal(wire_recv(sock, &answer, payload, sizeof(payload), &len, &fd, 0), 0);
	assert_int_equal(answer.count, 1);
}

/* A name that expands to gigabytes: each level doubles the one below.  At worst, this worker
 * dies. */
static void test_bomb(void **state)
{
	const struct wire_message request = {.type = WIRE_DEMANGLE, .id = 1};
	struct wire_message answer;
	char name[NAME_BOMB_BYTES];
	size_t len;
	int fd;

	(void)state;
	name_bomb(name, 18);
	len = strlen(name);
	assert_int_equal(wire_send(sock, &request, name, len + 1, -1), 0);
	int ret = wire_recv(sock, &answer, payload, sizeof(payload), &len, &fd, 0);
	assert_true(ret == 0 || ret == -EPIPE);
	if (ret == 0)
		assert_true(len <= WIRE_NAME_BYTES);
}

static void test_nonsense(void **state)
{
	struct wire_message answer;
	size_t len;

	(void)state;
	assert_int_equal(ask(WIRE_FILE, -1, &answer, &len), -1);
	assert_int_equal(answer.error, EBADF);
	assert_int_equal(ask(99, open("/dev/null", O_RDONLY | O_CLOEXEC), &answer, &len), -1);
	assert_int_equal(answer.error, EINVAL);
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[1]);
	assert_int_equal(ask(WIRE_FILE, ends[0], &answer, &len), -1);
	assert_int_equal(answer.error, ENOEXEC);
	/* The worker ends at the first packet that is not a message. */
	assert_int_equal(send(sock, "x", 1, MSG_NOSIGNAL), 1);
	int fd;
	assert_int_equal(wire_recv(sock, &answer, payload, sizeof(payload), &len, &fd, 0), -EPIPE);
}

/* --- lines and instructions --- */

static bool can_disassemble;

static void need_libopcodes(void)
{
	if (can_disassemble)
		return;
	print_message("libopcodes cannot be loaded\n");
	skip();
}

/* Sends a request with n_fds descriptors of a small file.  Returns the answer's descriptor. */
static int ask_code(enum wire_type type, uint32_t flags, const void *bytes, size_t len,
	size_t n_fds, struct wire_message *answer)
{
	const struct wire_message request = {.type = type, .id = 5, .flags = flags};
	int fds[WIRE_FDS_MAX] = {-1}, got;
	struct small_elf small;
	size_t out_len;

	small_elf_make(&small, true, false, NULL, 0);
	for (size_t i = 0; i < n_fds; i++)
		fds[i] = i ? dup(fds[0]) : small_elf_file(&small, small.len);
	assert_int_equal(wire_send_fds(sock, &request, bytes, len, fds, n_fds), 0);
	for (size_t i = 0; i < n_fds; i++)
		close(fds[i]);
	assert_int_equal(wire_recv(sock, answer, payload, sizeof(payload), &out_len, &got, 0), 0);
	assert_int_equal(answer->type, type);
	assert_int_equal(answer->id, 5);
	if (answer->error) {
		assert_int_equal(got, -1);
		assert_int_equal(out_len, 0);
	}
	return got;
}

static void test_lines_payload(void **state)
{
	struct {
		struct wire_lines lines;
		uint64_t offsets[2];
	} asked = {.lines = {.n_offsets = 2}, .offsets = {SMALL_TEXT_AT, SMALL_TEXT_AT + 4}};
	static char huge[sizeof(struct wire_lines) + (WIRE_OFFSETS_MAX + 1) * sizeof(uint64_t)];
	const struct wire_lines too_many = {.n_offsets = WIRE_OFFSETS_MAX + 1};
	struct wire_message answer;

	(void)state;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, ENODATA);
	ask_code(WIRE_LINES, 0, NULL, 0, 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	ask_code(WIRE_LINES, 0, &asked, sizeof(struct wire_lines) - 1, 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	/* fewer offsets than announced, and more */
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked) - 8, 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.lines.n_offsets = 1;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.lines.n_offsets = 0;
	ask_code(WIRE_LINES, 0, &asked, sizeof(struct wire_lines), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	memcpy(huge, &too_many, sizeof(too_many));
	ask_code(WIRE_LINES, 0, huge, sizeof(huge), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.lines.n_offsets = UINT32_MAX;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);

	/* descriptors that are announced and missing */
	asked.lines.n_offsets = 2;
	asked.lines.has_debug = 1;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EBADF);
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 2, &answer);
	assert_int_equal(answer.error, ENODATA);
	asked.lines.has_debug = 2;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 3, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.lines.has_debug = 0;
	asked.lines.n_parts = 16;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 16, &answer);
	assert_int_equal(answer.error, EBADF);
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 17, &answer);
	assert_int_equal(answer.error, ENODATA);
	asked.lines.n_parts = 17;
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), WIRE_FDS_MAX, &answer);
	assert_int_equal(answer.error, EINVAL);
	ask_code(WIRE_LINES, 0, &asked, sizeof(asked), 0, &answer);
	assert_int_equal(answer.error, EBADF);
}

static void test_code_payload(void **state)
{
	struct wire_code asked = {.start = SMALL_TEXT_AT, .end = SMALL_TEXT_AT + 32};
	struct wire_message answer;
	struct codetab table;

	(void)state;
	need_libopcodes();
	int fd = ask_code(WIRE_CODE, WIRE_FLAG_LINES, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, 0);
	assert_int_equal(answer.flags, 0);
	assert_int_equal(codetab_open(&table, fd), 0);
	close(fd);
	assert_true(table.n_entries > 0);
	assert_int_equal(table.entries[0].start, SMALL_TEXT_AT);
	codetab_close(&table);

	ask_code(WIRE_CODE, 0, &asked, sizeof(asked) - 1, 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.files.n_offsets = 1;
	ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.files.n_offsets = 0;
	asked.syntax = 2;
	ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.syntax = 0;
	asked.end = asked.start;
	ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.end = asked.start - 1;
	ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
	asked.end = asked.start + WIRE_CODE_BYTES_MAX + 1;
	ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);

	/* An address without code; then a range beyond the segment, which is cut at its end. */
	asked = (struct wire_code){.start = 1ull << 40, .end = (1ull << 40) + 8};
	ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, ENXIO);
	asked = (struct wire_code){.start = SMALL_TEXT_AT, .end = SMALL_TEXT_AT + (1u << 20)};
	fd = ask_code(WIRE_CODE, 0, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, 0);
	close(fd);
}

static void test_raw_code(void **state)
{
	const uint64_t at = UINT64_MAX - 31; /* up to the last address */
	struct wire_code asked = {
		.start = at, .end = UINT64_MAX, .machine = EM_X86_64, .is64 = true};
	struct wire_message answer;
	struct codetab table;

	(void)state;
	need_libopcodes();
	int fd = ask_code(WIRE_CODE, WIRE_FLAG_RAW, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, 0);
	assert_int_equal(codetab_open(&table, fd), 0);
	close(fd);
	assert_int_equal(table.entries[0].start, at);
	codetab_close(&table);
	asked.machine = 0xfffe;
	ask_code(WIRE_CODE, WIRE_FLAG_RAW, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, ENOTSUP);
	asked.start = 16;
	asked.end = 8;
	ask_code(WIRE_CODE, WIRE_FLAG_RAW, &asked, sizeof(asked), 1, &answer);
	assert_int_equal(answer.error, EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kallsyms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_module_of_kallsyms, setup, teardown),
		cmocka_unit_test_setup_teardown(test_demangle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bomb, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines_payload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code_payload, setup, teardown),
		cmocka_unit_test_setup_teardown(test_raw_code, setup, teardown),
	};

	/* Workers are forked from this process, after the library is loaded. */
	can_disassemble = disasm_load() == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
