/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c - answers the requests of wire.h in a process that can do nothing else. */
#include "symbols/worker/worker.h"

#include "symbols/base/function_cut.h"
#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/dwarf.h"
#include "symbols/dwarf/gopclntab.h"
#include "symbols/elf/binfile.h"
#include "symbols/elf/debugdata.h"
#include "symbols/elf/elfsyms.h"
#include "symbols/jit/jitdump.h"
#include "symbols/jit/perfmap.h"
#include "symbols/wire/confine.h"
#include "symbols/wire/kallsyms.h"
#include "symbols/wire/symtab.h"
#include "symbols/wire/wire.h"
#include "symbols/worker/code.h"
#include "symbols/worker/debug.h"
#include "symbols/worker/named.h"
#include "symbols/worker/packed.h"
#include "symbols/worker/unwind.h"

#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define UNNAMED_SHARE 64 /* linkers create about one of 1000 functions without a name */
#define LINKAGE_MAX 4 /* .plt, .plt.got, .plt.sec */

void (*worker_test_hook)(int fd, const char *name);

/* Writes the name of the linked debug file to out.  Returns its length; 0 if there is none. */
static size_t answer_link(const struct elffile *elf, struct wire_message *answer, char *out)
{
	uint32_t crc;

	if (!elffile_debug_link(elf, out, WIRE_LINK_MAX, &crc))
		return 0;
	answer->address = crc;
	return strlen(out);
}

static size_t answer_build_id(int fd, struct wire_message *answer, char *out)
{
	struct elffile elf;
	size_t len = 0, out_len = 0;

	int ret = elffile_open(&elf, fd);
	if (ret == 0)
		ret = elffile_build_id(&elf, answer->build_id, sizeof(answer->build_id), &len);
	if (ret == 0)
		out_len = answer_link(&elf, answer, out);
	elffile_close(&elf);
	answer->build_id_len = (uint8_t)len;
	answer->error = -ret;
	return out_len;
}

/* Other sources of a file's symbols: its separate debug file, and the table packed in the file. */
struct more {
	const struct elffile *files[ELFSYMS_MORE]; /* NULL if absent */
	struct elffile debug, packed;
	int packed_fd;
};

static void open_more(const struct elffile *elf, int debug_fd, bool linked, struct more *more,
	struct wire_message *answer)
{
	*more = (struct more){0};
	if (debug_fd >= 0 && worker_debug_open(elf, debug_fd, linked, &more->debug) &&
		elfsyms_has_symtab(&more->debug)) {
		more->files[0] = &more->debug;
		answer->flags |= WIRE_FLAG_DEBUG;
	}
	more->packed_fd = debugdata_open(elf);
	if (more->packed_fd >= 0 && elffile_open(&more->packed, more->packed_fd) == 0 &&
		worker_debug_is_alike(elf, &more->packed))
		more->files[1] = &more->packed;
}

static void close_more(struct more *more)
{
	elffile_close(&more->debug);
	elffile_close(&more->packed);
	if (more->packed_fd >= 0)
		close(more->packed_fd);
}

static void add_segments(const struct elffile *elf, struct symtab_builder *builder)
{
	for (size_t i = 0; i < elf->n_segments; i++) {
		const struct elffile_segment *segment = &elf->segments[i];

		if (segment->type != PT_LOAD)
			continue;
		if (segment->exec)
			symtab_builder_segment(
				builder, segment->offset, segment->filesz, segment->vaddr);
		else
			symtab_builder_load(
				builder, segment->offset, segment->filesz, segment->vaddr);
	}
}

/* State of reading one file's functions. */
struct reading {
	const struct elffile *elf;
	struct symtab_builder *builder;
	/* procedure linkage tables; NULL after the last */
	const struct elffile_section *linkage[LINKAGE_MAX];
};

static void find_linkage(struct reading *reading)
{
	const struct elffile *elf = reading->elf;
	size_t n = 0;

	for (size_t i = 0; i < elf->n_sections && n < LINKAGE_MAX; i++)
		if (elf->sections[i].flags & SHF_EXECINSTR &&
			elffile_section_begins(elf, &elf->sections[i], ".plt"))
			reading->linkage[n++] = &elf->sections[i];
}

/* Ignores linkage tables: one FDE covers a whole table, but it is no function. */
static void add_function(uint64_t start, uint64_t size, void *ctx)
{
	const struct reading *reading = ctx;

	for (size_t i = 0; i < LINKAGE_MAX && reading->linkage[i]; i++)
		if (start >= reading->linkage[i]->offset &&
			start - reading->linkage[i]->offset < reading->linkage[i]->size)
			return;
	symtab_builder_function(reading->builder, start, size);
}

static void add_go_function(const struct gopclntab_function *function, void *ctx)
{
	const struct reading *reading = ctx;
	uint64_t start, rest;
	bool exec;

	if (elffile_offset(reading->elf, function->address, &start, &rest, &exec) && exec &&
		!symtab_builder_has(reading->builder, start))
		symtab_builder_add(reading->builder, start,
			function->size < rest ? function->size : rest, rest, 0, function->name,
			function->name_len, 0);
}

/* Adds Go's functions at addresses without a symbol. */
static int read_go(struct reading *reading)
{
	struct gopclntab *table;

	const int ret = gopclntab_open(&table, reading->elf);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	gopclntab_functions(table, add_go_function, reading);
	gopclntab_free(table);
	symtab_builder_sort(reading->builder);
	return 0;
}

/* Merges all symbol tables of one build: .symtab, the debug file's, the packed one, Go's, .dynsym,
 * and bounds of functions without a name.  symtab_build.c chooses among several names. */
static int read_file(const struct elffile *elf, int debug_fd, bool linked,
	struct symtab_builder *builder, struct wire_message *answer)
{
	struct reading reading = {.elf = elf, .builder = builder};
	char link[WIRE_LINK_MAX];
	struct more more;
	uint32_t crc;

	builder->is_program = true;
	find_linkage(&reading);
	add_segments(elf, builder);
	/* libbfd goes first, so that its memory is free again before the symbols are read. */
	int ret = binfile_plt(elf, builder);
	malloc_trim(0);
	if (ret == 0)
		ret = cfi_functions(elf, add_function, &reading);
	if (ret == 0)
		ret = elfsyms_read(elf, elf, builder);
	/* strip(1) removes the names of source files first. */
	if (!elfsyms_has_symtab(elf) || !builder->has_files ||
		symtab_builder_unnamed(builder) * UNNAMED_SHARE > builder->n_functions ||
		elffile_debug_link(elf, link, sizeof(link), &crc))
		answer->flags |= WIRE_FLAG_STRIPPED;
	open_more(elf, debug_fd, linked, &more, answer);
	for (size_t i = 0; i < ELFSYMS_MORE && ret == 0; i++)
		if (more.files[i])
			ret = elfsyms_read(elf, more.files[i], builder);
	close_more(&more);
	if (ret == 0)
		ret = read_go(&reading);
	return ret == 0 ? elfsyms_read_dynamic(elf, builder) : ret;
}

/* .symtab does not show whether it has all data, so all other sources are read, too. */
static int read_data(const struct elffile *elf, int debug_fd, bool linked,
	struct symtab_builder *builder, struct wire_message *answer)
{
	struct more more;

	answer->flags |= WIRE_FLAG_STRIPPED;
	open_more(elf, debug_fd, linked, &more, answer);
	const int ret = elfsyms_read_data(elf, more.files, builder);
	close_more(&more);
	return ret;
}

static int find_named(const struct elffile *elf, const struct wire_message *request, int debug_fd,
	const char *name, size_t len, struct wire_message *answer, char *out, size_t *out_len)
{
	struct more more;

	answer->flags |= elfsyms_has_symtab(elf) ? 0 : WIRE_FLAG_STRIPPED;
	open_more(elf, debug_fd, request->flags & WIRE_FLAG_LINKED, &more, answer);
	const int ret = worker_named_file(elf, more.files, name, len, out, out_len);
	close_more(&more);
	return ret;
}

static size_t answer_named(const struct wire_message *request, const int fds[WIRE_FDS_MAX],
	const char *name, size_t len, struct wire_message *answer, char *out)
{
	struct elffile elf;
	size_t out_len = 0;
	int ret;

	if (request->flags & WIRE_FLAG_KERNEL) {
		ret = worker_named_kallsyms(fds[0], name, len, out, &out_len, answer);
	} else {
		ret = elffile_open(&elf, fds[0]);
		if (ret == 0)
			ret = find_named(&elf, request, fds[1], name, len, answer, out, &out_len);
		elffile_close(&elf);
	}
	answer->error = -ret;
	return ret == 0 ? out_len : 0;
}

/* Returns how far the kernel's symbols must be moved. */
static uint64_t kernel_delta(const struct wire_message *request, uint64_t text, uint64_t stext,
	struct wire_message *answer)
{
	answer->address = request->flags & WIRE_FLAG_STEXT ? stext : text;
	if (!request->address || !answer->address)
		return 0;
	return request->address - answer->address;
}

static int read_kernel(const struct elffile *elf, const struct wire_message *request,
	struct symtab_builder *builder, struct wire_message *answer)
{
	struct elfsyms_kernel kernel;

	int ret = elfsyms_read_kernel(elf, builder, &kernel);
	if (ret == 0)
		symtab_builder_move(
			builder, kernel_delta(request, kernel.text, kernel.stext, answer));
	return ret;
}

static size_t answer_file(const struct wire_message *request, const int fds[WIRE_FDS_MAX],
	struct wire_message *answer, char *out, int *table)
{
	struct symtab_builder *builder = NULL;
	struct elffile elf;
	size_t len = 0, out_len = 0;

	int ret = elffile_open(&elf, fds[0]);
	if (ret == 0)
		ret = elffile_build_id(&elf, answer->build_id, sizeof(answer->build_id), &len);
	answer->build_id_len = (uint8_t)len;
	if (ret == 0)
		ret = symtab_builder_new(&builder);
	if (ret < 0)
		goto out;
	if (request->type == WIRE_KERNEL)
		ret = read_kernel(&elf, request, builder, answer);
	else if (request->type == WIRE_MODULE)
		ret = elfsyms_read_module(&elf, builder);
	else if (request->flags & WIRE_FLAG_DATA)
		ret = read_data(&elf, fds[1], request->flags & WIRE_FLAG_LINKED, builder, answer);
	else
		ret = read_file(&elf, fds[1], request->flags & WIRE_FLAG_LINKED, builder, answer);
	if (ret == 0 && request->type == WIRE_FILE)
		out_len = answer_link(&elf, answer, out);
	if (ret == 0)
		ret = symtab_builder_finish(builder, table, &answer->count);
out:
	symtab_builder_free(builder);
	elffile_close(&elf);
	answer->error = -ret;
	return out_len;
}

struct kernel {
	struct symtab_builder *builder;
	char module[128];
	size_t module_len;
	uint32_t number; /* the module's number */
	bool dynamic;
	uint64_t text, stext; /* 0 if not met */
	/* If set, only this module's symbols are wanted, as offsets from base. */
	const char *only;
	size_t only_len;
	uint64_t base;
	/* The previous symbol, as long as the next one may have its address. */
	char held[KALLSYMS_LINE_MAX];
	size_t held_len;
	uint64_t held_at;
	uint32_t held_module;
};

static void add_held(struct kernel *kernel)
{
	if (kernel->held_len)
		symtab_builder_add(kernel->builder, kernel->held_at, 0, UINT32_MAX, 0, kernel->held,
			kernel->held_len, kernel->held_module);
	kernel->held_len = 0;
}

/* perf takes the last name of an address, so strobe does, too. */
static void hold(struct kernel *kernel, uint64_t address, const struct kallsyms_symbol *symbol,
	uint32_t module)
{
	if (address != kernel->held_at || module != kernel->held_module)
		add_held(kernel);
	kernel->held_at = address;
	kernel->held_module = module;
	kernel->held_len =
		symbol->name_len < sizeof(kernel->held) ? symbol->name_len : sizeof(kernel->held);
	memcpy(kernel->held, symbol->name, kernel->held_len);
}

static bool is_named(const struct kallsyms_symbol *symbol, const char *name)
{
	return symbol->name_len == strlen(name) &&
		memcmp(symbol->name, name, symbol->name_len) == 0;
}

static void add_kernel(const struct kallsyms_symbol *symbol, void *ctx)
{
	struct kernel *kernel = ctx;
	uint32_t number = 0;
	size_t len = symbol->module_len;

	if (symbol->address == 0)
		return;
	if (kernel->only) {
		if (len == kernel->only_len && memcmp(symbol->module, kernel->only, len) == 0 &&
			symbol->address >= kernel->base)
			hold(kernel, symbol->address - kernel->base, symbol, 0);
		return;
	}
	if (len == 0 && is_named(symbol, "_text"))
		kernel->text = symbol->address;
	if (len == 0 && is_named(symbol, "_stext"))
		kernel->stext = symbol->address;
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
	hold(kernel, symbol->address, symbol, number);
}

static void answer_kallsyms(const struct wire_message *request, int fd, const char *module,
	size_t module_len, struct wire_message *answer, int *table)
{
	struct kernel kernel = {.only = module_len ? module : NULL,
		.only_len = module_len,
		.base = request->address};
	struct kallsyms parser;
	char text[16384];
	ssize_t n;

	int ret = symtab_builder_new(&kernel.builder);
	if (ret < 0)
		goto out;
	/* A worker that died meanwhile may have left another file position. */
	if (lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE) {
		ret = -errno;
		goto out;
	}
	kallsyms_init(&parser, add_kernel, &kernel);
	if (request->flags & WIRE_FLAG_DATA)
		parser.types = KALLSYMS_DATA;
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
	add_held(&kernel);
	if (parser.functions && !parser.shown)
		answer->flags |= WIRE_FLAG_HIDDEN;
	if (kernel.dynamic)
		answer->flags |= WIRE_FLAG_DYNAMIC;
	if (!kernel.only)
		symtab_builder_move(
			kernel.builder, kernel_delta(request, kernel.text, kernel.stext, answer));
	ret = symtab_builder_finish(kernel.builder, table, &answer->count);
out:
	symtab_builder_free(kernel.builder);
	answer->error = -ret;
}

/* Reads maps first: a dump describes the same code more accurately. */
static int read_jit(const struct wire_message *request, const void *payload, size_t len,
	const int fds[2], struct jitspans *spans, struct wire_message *answer)
{
	struct perfmap_step steps[PERFMAP_STEPS_MAX];
	const size_t n_steps = len / sizeof(*steps);
	struct jitdump dump;
	int ret = n_steps <= PERFMAP_STEPS_MAX ? 0 : -EINVAL;

	memcpy(steps, payload, ret ? 0 : n_steps * sizeof(*steps));
	for (unsigned int dumps = 0; dumps < 2; dumps++) {
		for (size_t i = 0; i < 2 && fds[i] >= 0 && ret == 0; i++) {
			int opened = jitdump_open(&dump, fds[i], request->flags & WIRE_FLAG_TIMED);
			if (opened < 0 && opened != -ENOEXEC)
				ret = opened;
			else if (dumps && opened == 0)
				ret = jitdump_read(&dump, spans);
			else if (!dumps && opened < 0)
				ret = perfmap_read(fds[i], steps, n_steps, spans);
			if (spans->cut_bytes && !answer->address) {
				answer->flags |= i ? WIRE_FLAG_CUT_SECOND : WIRE_FLAG_CUT;
				answer->address = spans->cut_bytes;
			}
		}
		if (!dumps)
			spans->n_mapped = spans->n;
	}
	return ret;
}

static void answer_jit(const struct wire_message *request, const void *payload, size_t len,
	const int fds[2], struct wire_message *answer, int *table)
{
	struct symtab_builder *builder;
	struct jitspans spans = {0};

	int ret = symtab_builder_new(&builder);
	if (ret == 0)
		ret = read_jit(request, payload, len, fds, &spans, answer);
	if (ret == 0)
		ret = jitspans_build(&spans, builder);
	jitspans_fini(&spans);
	if (ret == 0)
		ret = symtab_builder_finish(builder, table, &answer->count);
	symtab_builder_free(builder);
	if (fds[1] >= 0)
		answer->flags |= WIRE_FLAG_DEBUG;
	answer->error = -ret;
}

/* Writes the demangled names to out, each with its NUL.  Returns their length. */
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
		binfile_demangle(names, out + used, FUNCTION_NAME_BYTES);
		used += strlen(out + used) + 1;
		names += name_len + 1;
		answer->count++;
	}
	return used;
}

/* Waits for the next request.  Unpacks debug information for later requests meanwhile. */
static int next_request(
	int sock, struct wire_message *request, char *in, size_t *len, int fds[WIRE_FDS_MAX])
{
	int ret = -EAGAIN;

	while (ret == -EAGAIN && dwarf_idle())
		ret = wire_recv_fds(
			sock, request, in, WIRE_PACKET_BYTES, len, fds, WIRE_FDS_MAX, MSG_DONTWAIT);
	if (ret == -EAGAIN)
		ret = wire_recv_fds(
			sock, request, in, WIRE_PACKET_BYTES, len, fds, WIRE_FDS_MAX, 0);
	return ret;
}

/* Returns whether the request may be about a kernel module, whose file may be packed. */
static bool may_be_packed(const struct wire_message *request)
{
	return request->type == WIRE_BUILD_ID || request->type == WIRE_MODULE ||
		((request->type == WIRE_LINES || request->type == WIRE_CODE) &&
			!(request->flags & WIRE_FLAG_RAW));
}

static int serve(int sock, char *in, char *out)
{
	struct wire_message request, answer;
	size_t len, out_len = 0;
	int fds[WIRE_FDS_MAX], table = -1;

	int ret = next_request(sock, &request, in, &len, fds);
	if (ret < 0)
		return ret;
	memset(&answer, 0, sizeof(answer));
	answer.type = request.type;
	answer.id = request.id;
	for (size_t i = 0; worker_test_hook && i < WIRE_FDS_MAX; i++)
		if (fds[i] >= 0)
			worker_test_hook(fds[i], NULL);

	const int given = fds[0];
	if (may_be_packed(&request))
		fds[0] = worker_unpacked(given);
	if (request.type == WIRE_DEMANGLE)
		out_len = answer_demangle(in, len, &answer, out);
	else if (fds[0] < 0)
		answer.error = fds[0] == -1 ? EBADF : -fds[0];
	else if (request.type == WIRE_BUILD_ID)
		out_len = answer_build_id(fds[0], &answer, out);
	else if (request.type == WIRE_FILE || request.type == WIRE_KERNEL ||
		request.type == WIRE_MODULE)
		out_len = answer_file(&request, fds, &answer, out, &table);
	else if (request.type == WIRE_KALLSYMS)
		answer_kallsyms(&request, fds[0], in, len, &answer, &table);
	else if (request.type == WIRE_NAMED)
		out_len = answer_named(&request, fds, in, len, &answer, out);
	else if (request.type == WIRE_UNWIND)
		worker_unwind_answer(&request, fds, &answer, &table);
	else if (request.type == WIRE_JIT)
		answer_jit(&request, in, len, fds, &answer, &table);
	else if (request.type == WIRE_LINES || request.type == WIRE_CODE)
		worker_code_answer(&request, in, len, fds, &answer, out, &out_len, &table);
	else
		answer.error = EINVAL;

	fds[0] = given;
	for (size_t i = 0; i < WIRE_FDS_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
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
