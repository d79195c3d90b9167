/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker.c - the requests of wire.h, answered in a process that can do nothing else.
 */
#include "symbols/worker.h"

#include "symbols/binfile.h"
#include "symbols/confine.h"
#include "symbols/elfsyms.h"
#include "symbols/kallsyms.h"
#include "symbols/symtab.h"
#include "symbols/wire.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void (*worker_test_hook)(int fd, const char *name);

static void answer_build_id(int fd, struct wire_message *answer)
{
	struct elffile elf;
	size_t len = 0;

	int ret = elffile_open(&elf, fd);
	if (ret == 0)
		ret = elffile_build_id(&elf, answer->build_id, sizeof(answer->build_id), &len);
	elffile_close(&elf);
	answer->build_id_len = (uint8_t)len;
	answer->error = -ret;
}

static void answer_file(int fd, struct wire_message *answer, int *table)
{
	struct symtab_builder *builder;
	struct elffile elf;
	size_t len = 0;

	int ret = elffile_open(&elf, fd);
	if (ret == 0)
		ret = elffile_build_id(&elf, answer->build_id, sizeof(answer->build_id), &len);
	answer->build_id_len = (uint8_t)len;
	if (ret == 0)
		ret = symtab_builder_new(&builder);
	if (ret < 0)
		goto out;
	/* First, since what libbfd needs is free again before the symbols come. */
	ret = binfile_plt(&elf, builder);
	malloc_trim(0);
	if (ret == 0)
		ret = elfsyms_read(&elf, builder);
	if (ret == 0)
		ret = symtab_builder_finish(builder, table, &answer->count);
	symtab_builder_free(builder);
out:
	elffile_close(&elf);
	answer->error = -ret;
}

struct kernel {
	struct symtab_builder *builder;
	char module[128];
	size_t module_len;
	uint32_t number; /* of that module */
	bool dynamic;
};

static void add_kernel(const struct kallsyms_symbol *symbol, void *ctx)
{
	struct kernel *kernel = ctx;
	uint32_t number = 0;
	size_t len = symbol->module_len;

	if (symbol->address == 0)
		return;
	if (len > sizeof(kernel->module))
		len = sizeof(kernel->module);
	if (len) {
		if (len != kernel->module_len || memcmp(symbol->module, kernel->module, len) != 0) {
			memcpy(kernel->module, symbol->module, len);
			kernel->module_len = len;
			kernel->number =
				symtab_builder_module(kernel->builder, symbol->module, len);
			kernel->dynamic |= len == 3 && memcmp(symbol->module, "bpf", 3) == 0;
		}
		number = kernel->number;
	}
	unsigned int kind = symbol->type == 't' ? SYMTAB_LOCAL
		: symbol->type == 'T'		? 0
						: SYMTAB_WEAK;
	symtab_builder_add(kernel->builder, symbol->address, 0, UINT32_MAX, kind, symbol->name,
		symbol->name_len, number);
}

static void answer_kallsyms(int fd, struct wire_message *answer, int *table)
{
	struct kernel kernel = {0};
	struct kallsyms parser;
	char text[16384];
	ssize_t n;

	int ret = symtab_builder_new(&kernel.builder);
	if (ret < 0)
		goto out;
	/* One that died of it may have left the position somewhere. */
	if (lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE) {
		ret = -errno;
		goto out;
	}
	kallsyms_init(&parser, add_kernel, &kernel);
	while ((n = read(fd, text, sizeof(text))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ret = -errno;
			goto out;
		}
		kallsyms_feed(&parser, text, (size_t)n);
	}
	kallsyms_end(&parser);
	if (parser.functions && !parser.shown)
		answer->flags |= WIRE_FLAG_HIDDEN;
	if (kernel.dynamic)
		answer->flags |= WIRE_FLAG_DYNAMIC;
	ret = symtab_builder_finish(kernel.builder, table, &answer->count);
out:
	symtab_builder_free(kernel.builder);
	answer->error = -ret;
}

/* The answer's names go to out, each with its NUL. */
static size_t answer_demangle(const char *names, size_t len, struct wire_message *answer, char *out)
{
	const char *end = names + len;
	size_t used = 0;

	for (uint32_t i = 0; i < WIRE_NAMES_MAX && names < end; i++) {
		size_t name_len = strnlen(names, (size_t)(end - names));
		if (names + name_len == end || used + WIRE_NAME_BYTES > WIRE_PACKET_BYTES)
			break;
		if (worker_test_hook)
			worker_test_hook(-1, names);
		binfile_demangle(names, out + used, WIRE_NAME_BYTES);
		used += strlen(out + used) + 1;
		names += name_len + 1;
		answer->count++;
	}
	return used;
}

static int serve(int sock, char *in, char *out)
{
	struct wire_message request, answer;
	size_t len, out_len = 0;
	int fd, table = -1;

	int ret = wire_recv(sock, &request, in, WIRE_PACKET_BYTES, &len, &fd, 0);
	if (ret < 0)
		return ret;
	memset(&answer, 0, sizeof(answer));
	answer.type = request.type;
	answer.id = request.id;
	if (worker_test_hook && fd >= 0)
		worker_test_hook(fd, NULL);

	if (request.type == WIRE_DEMANGLE)
		out_len = answer_demangle(in, len, &answer, out);
	else if (fd < 0)
		answer.error = EBADF;
	else if (request.type == WIRE_BUILD_ID)
		answer_build_id(fd, &answer);
	else if (request.type == WIRE_FILE)
		answer_file(fd, &answer, &table);
	else if (request.type == WIRE_KALLSYMS)
		answer_kallsyms(fd, &answer, &table);
	else
		answer.error = EINVAL;

	if (fd >= 0)
		close(fd);
	malloc_trim(0);
	ret = wire_send(sock, &answer, out, out_len, table);
	if (table >= 0)
		close(table);
	return ret;
}

_Noreturn void worker_main(int sock, int parent_pid, unsigned int memory_mb)
{
	struct wire_message hello = {.type = WIRE_CONFINED};

	char *in = malloc(WIRE_PACKET_BYTES), *out = malloc(WIRE_PACKET_BYTES);
	if (!in || !out)
		_exit(1);
	binfile_init();
	hello.error = -confine_privileges();
	int ret = confine_limits(memory_mb);
	if (!hello.error)
		hello.error = -ret;
	if (confine_die_with_parent(parent_pid) < 0)
		_exit(1);
	ret = confine_syscalls();
	if (!hello.error)
		hello.error = -ret;
	if (wire_send(sock, &hello, NULL, 0, -1) < 0)
		_exit(1);
	while (serve(sock, in, out) == 0)
		;
	_exit(0);
}
