/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind.c - turns call frame information into a sealed table.  Runs in the worker. */
#include "symbols/worker/unwind.h"

#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/gopclntab.h"
#include "symbols/worker/debug.h"

/* Code without rules in every program: the linker's start files, .init and .fini. */
#define START_FILES_BYTES 256u

static int read_rules(const struct elffile *elf, const struct wire_message *request, int debug_fd,
	struct unwtab_builder *builder, struct wire_message *answer)
{
	const bool linked = request->flags & WIRE_FLAG_LINKED;
	struct elffile debug;
	bool used_debug = false;

	const bool has_debug = debug_fd >= 0 && worker_debug_open(elf, debug_fd, linked, &debug);
	const int ret = cfi_read(elf, has_debug ? &debug : NULL, builder, &used_debug);
	if (has_debug)
		elffile_close(&debug);
	if (used_debug)
		answer->flags |= WIRE_FLAG_DEBUG;
	/* Compilers omit the rules of a whole program, not those of one function. */
	const uint64_t code = cfi_code_bytes(elf), rules = unwtab_builder_code_bytes(builder);
	const bool is_sparse =
		!rules || (code > START_FILES_BYTES && rules < (code - START_FILES_BYTES) / 2);
	if (is_sparse)
		answer->flags |= WIRE_FLAG_STRIPPED;
	unwtab_builder_set_flags(builder,
		(uint16_t)((is_sparse ? UNWTAB_SPARSE : 0) |
			(gopclntab_is_of_go(elf) ? UNWTAB_GO : 0) |
			(elf->is64 ? 0 : UNWTAB_32_BITS)));
	return ret;
}

void worker_unwind_answer(const struct wire_message *request, const int fds[WIRE_FDS_MAX],
	struct wire_message *answer, int *table)
{
	struct unwtab_builder *builder = NULL;
	struct elffile elf;
	size_t len = 0;

	int ret = elffile_open(&elf, fds[0]);
	if (ret == 0)
		ret = elffile_build_id(&elf, answer->build_id, sizeof(answer->build_id), &len);
	answer->build_id_len = (uint8_t)len;
	if (ret == 0)
		ret = unwtab_builder_new(&builder, elf.machine);
	if (ret == 0)
		ret = read_rules(&elf, request, fds[1], builder, answer);
	if (ret == 0)
		ret = unwtab_builder_finish(builder, table, &answer->count);
	unwtab_builder_free(builder);
	elffile_close(&elf);
	answer->error = -ret;
}
