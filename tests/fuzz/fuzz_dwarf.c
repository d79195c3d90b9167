/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_dwarf.c - any bytes as files with debug information: a program, a file of split units or a
 * package, and an alternate file.
 *
 * The first eight bytes are the lengths of the first two files.  Queries ask for addresses in the
 * range of the seeds' code.
 */
#include "symbols/dwarf/private.h"
#include "symbols/elf/unlinked.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE 0x1000u
#define ADDRESSES 240u
#define LINKED 160u /* number of ADDRESSES in a linked file; the others are in an unlinked one */
#define STEP 3u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Returns -1 if the file is empty. */
static int make_file(const uint8_t *bytes, size_t len)
{
	if (len == 0)
		return -1;
	int fd = memfd_create("dwarf", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	return fd;
}

/* Checks that the client accepts the table, and that every frame has its strings. */
static void check(struct codetab_builder *builder, const struct codetab_entry *entries)
{
	struct codetab table;
	int fd;

	for (size_t i = 0; i < ADDRESSES; i++) {
		struct codetab_entry entry = entries[i];
		entry.start = CODE + i * STEP;
		codetab_builder_add(builder, &entry);
	}
	if (codetab_builder_finish(builder, &fd) < 0)
		abort();
	if (codetab_open(&table, fd) < 0)
		abort();
	codetab_close(&table);
	close(fd);
}

/* Asks for lines alone, which takes other paths. */
static void ask_quickly(struct dwarf *dwarf, const uint64_t *addresses)
{
	struct codetab_entry entries[ADDRESSES] = {0};
	struct codetab_builder *builder;

	if (codetab_builder_new(&builder) < 0)
		abort();
	if (dwarf_lines_quick(dwarf, addresses, ADDRESSES, builder, entries) == 1)
		check(builder, entries);
	codetab_builder_free(builder);
	dwarf_prepare(dwarf, addresses[0]);
}

static void ask(struct dwarf *dwarf)
{
	struct codetab_entry entries[ADDRESSES] = {0};
	uint64_t addresses[ADDRESSES], start, end;
	struct codetab_builder *builder;
	struct codetab_frame frame;

	if (codetab_builder_new(&builder) < 0)
		abort();
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = i < LINKED ? CODE + i * STEP : UNLINKED_BASE + (i - LINKED) * STEP;
	ask_quickly(dwarf, addresses);
	dwarf_lines(dwarf, addresses, ADDRESSES, builder, entries);
	for (size_t i = 0; dwarf_missing(dwarf, i); i++)
		if (*dwarf_missing(dwarf, i) == '\0')
			abort();
	for (size_t i = 0; i < ADDRESSES; i += 16)
		if (dwarf_function(dwarf, addresses[i], builder, &frame, &start, &end) &&
			(start > addresses[i] || end <= addresses[i]))
			abort();
	check(builder, entries);
	codetab_builder_free(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct dwarf_files files = {.debug = -1};
	uint32_t lens[2];
	struct dwarf *dwarf;

	if (len < sizeof(lens) || len > 65536)
		return 0;
	memcpy(lens, bytes, sizeof(lens));
	bytes += sizeof(lens);
	len -= sizeof(lens);
	for (size_t i = 0; i < 2; i++) {
		if (lens[i] > len)
			lens[i] = (uint32_t)len;
		len -= lens[i];
	}
	dwarf_work_max = 1u << 16;
	dwarf_quick_bytes = 0;
	files.file = make_file(bytes, lens[0]);
	int part = make_file(bytes + lens[0], lens[1]);
	files.alt = make_file(bytes + lens[0] + lens[1], len);
	if (files.file >= 0 && dwarf_open(&dwarf, &files) == 0) {
		ask(dwarf);
		/* Split units arrive after the reader has reported them missing. */
		files.parts = &part;
		files.n_parts = part >= 0;
		if (files.n_parts && dwarf_open(&dwarf, &files) == 0)
			ask(dwarf);
		dwarf_idle();
	}
	dwarf_forget();
	close(files.file);
	close(part);
	close(files.alt);
	return 0;
}
