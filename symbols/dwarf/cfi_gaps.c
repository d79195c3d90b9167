/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi_gaps.c - rules for code without call frame information: roots, calls at the end of a gap
 * (UNWTAB_CALL), and leaf code on arm64.
 *
 * Linkers write none for procedure linkage tables, Linux 6.1 has none in its vdso, and musl has
 * none for its signal trampoline.  The instructions show enough: code that neither calls nor moves
 * sp keeps its return address in x30.
 */
#include "symbols/dwarf/cfi_private.h"

#include <elf.h>
#include <stdlib.h>

#define GAP_MIN 16u /* bytes; most shorter ones are padding between functions */
#define GAPS_MAX 256u /* each costs one scan of all sections */
#define BYTES_MAX (16u << 20)
#define CALLS_MAX 65536u
#define CALL_MAX 8u /* bytes of the longest call on x86-64, plus one */
#define CALL_MIN 2u
/* bytes; compilers align functions to it: a short gap before an aligned one is padding */
#define ALIGNMENT 16u
#define PLT_BYTES 32u /* length of the first entry of a procedure linkage table */

/* Arm Architecture Reference Manual, C4.1. */
#define BTI_C 0xd503245fu
#define NOP 0xd503201fu
#define PUSH_PLT 0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */
#define MOV_SIGRETURN 0xd2801168u /* mov x8, #139 */
#define SVC 0xd4000001u

const struct unwtab_rule cfi_outermost = {.cfa = UNWTAB_END};

struct unwtab_rule cfi_arm64_signal_rule(void)
{
	return (struct unwtab_rule){
		.cfa = UNWTAB_SIGNAL,
		.cfa_off = UNWTAB_ARM64_SIGNAL_REGS + 31 * 8,
		.ra = UNWTAB_REG_CFA,
		.ra_off = UNWTAB_ARM64_SIGNAL_REGS + 32 * 8,
		.bp = UNWTAB_REG_CFA,
		.bp_off = UNWTAB_ARM64_SIGNAL_REGS + 29 * 8,
		.flags = UNWTAB_FLAG_SIGNAL,
	};
}

/* --- instructions --- */

static bool is_call(uint32_t word)
{
	/* BL; BLR with and without authentication. */
	return (word & 0xfc000000u) == 0x94000000u || (word & 0xfee00000u) == 0xd6200000u;
}

static bool moves_sp(uint32_t word)
{
	const bool is_base = (word >> 5 & 31) == 31, is_target = (word & 31) == 31;

	/* ADD and SUB of an immediate or a register; AND, ORR and EOR of an immediate. */
	if (is_target &&
		((word & 0x3f800000u) == 0x11000000u || (word & 0x3f200000u) == 0x0b200000u ||
			((word & 0x1f800000u) == 0x12000000u &&
				(word & 0x60000000u) != 0x60000000u)))
		return true;
	/* Loads and stores that write back their base: pairs, and single registers. */
	return is_base &&
		((word & 0x3a800000u) == 0x28800000u || (word & 0x3b200400u) == 0x38000400u);
}

/* --- one part of the code --- */

struct part {
	const uint8_t *bytes;
	size_t n; /* words */
	uint64_t start; /* offset in the file */
	struct unwtab_builder *builder;
};

static uint32_t word_at(const struct part *part, size_t i)
{
	uint32_t word;

	memcpy(&word, part->bytes + i * sizeof(word), sizeof(word));
	return word;
}

static void add_words(const struct part *part, size_t from, size_t to, struct unwtab_rule rule)
{
	if (from < to)
		unwtab_builder_add(
			part->builder, part->start + from * 4, part->start + to * 4, &rule);
}

static bool is_leaf(const struct part *part, size_t from)
{
	for (size_t i = from; i < part->n; i++)
		if (is_call(word_at(part, i)) || moves_sp(word_at(part, i)))
			return false;
	return true;
}

/* Adds the rules of a leading procedure linkage table: its first entry pushes two registers.
 * Returns the number of words in that entry; 0 if there is none. */
static size_t add_plt(const struct part *part)
{
	static const struct unwtab_rule before = {.cfa = UNWTAB_SP};
	static const struct unwtab_rule behind = {
		.cfa = UNWTAB_SP, .cfa_off = 16, .ra = UNWTAB_REG_CFA, .ra_off = -8};
	const size_t push = part->n && word_at(part, 0) == BTI_C ? 1 : 0;

	if (part->n < PLT_BYTES / 4 || word_at(part, push) != PUSH_PLT)
		return 0;
	if (!is_leaf(part, push + 1))
		return 0;
	add_words(part, 0, push + 1, before);
	add_words(part, push + 1, PLT_BYTES / 4, behind);
	return PLT_BYTES / 4;
}

static void add_part(const struct part *part)
{
	static const struct unwtab_rule leaf = {.cfa = UNWTAB_SP};
	size_t done = add_plt(part);
	const bool all_leaf = is_leaf(part, done);

	for (size_t i = done; i + 1 < part->n; i++) {
		if (word_at(part, i) != MOV_SIGRETURN || word_at(part, i + 1) != SVC)
			continue;
		/* This instruction is a return address.  Callers are looked up before it, so the
		 * rule begins one word earlier. */
		const size_t from = i > done ? i - 1 : i;
		if (all_leaf)
			add_words(part, done, from, leaf);
		done = i + 2;
		/* In the system call, ip is after SVC.  The rule covers that word, too, if it is
		 * padding or after the part's end. */
		if (done == part->n || word_at(part, done) == NOP || !word_at(part, done))
			done++;
		add_words(part, from, done, cfi_arm64_signal_rule());
	}
	if (all_leaf)
		add_words(part, done, part->n, leaf);
}

/* --- a file --- */

static void read_part(struct cfi_gaps *gaps, uint64_t from, uint64_t to)
{
	from = (from + 3) & ~3ull;
	to &= ~3ull;
	if (from >= to || to - from < GAP_MIN || to - from > BYTES_MAX - gaps->bytes)
		return;
	uint8_t *bytes = malloc(to - from);
	const struct part part = {bytes, (to - from) / 4, from, gaps->builder};
	gaps->bytes += (uint32_t)(to - from);
	if (bytes && elffile_read(gaps->elf, bytes, to - from, from) == 0)
		add_part(&part);
	free(bytes);
}

/* Finds the first code section that contains the offset or begins after it. */
static const struct elffile_section *next_section(const struct elffile *elf, uint64_t from)
{
	const struct elffile_section *found = NULL;

	for (size_t i = 0; i < elf->n_sections; i++) {
		const struct elffile_section *at = &elf->sections[i];
		if (at->type == SHT_PROGBITS && at->flags & SHF_EXECINSTR &&
			at->offset < elf->len && at->size <= elf->len - at->offset &&
			at->offset + at->size > from && (!found || at->offset < found->offset))
			found = at;
	}
	return found;
}

/* Returns true if the last bytes are an x86-64 call: relative, or by a register or a word of
 * memory.  The code has `most` bytes. */
static bool ends_in_x86_call(const uint8_t last[CALL_MAX], uint64_t most)
{
	if (most >= 5 && last[CALL_MAX - 5] == 0xe8)
		return true;
	for (size_t len = CALL_MIN; len < CALL_MAX && len <= most; len++) {
		const uint8_t *op = last + CALL_MAX - len, mod = op[1] >> 6, rm = op[1] & 7;
		size_t want = mod != 3 && rm == 4 ? 3 : 2;
		if (op[0] != 0xff || (op[1] >> 3 & 7) != 2)
			continue;
		if (mod == 1)
			want++;
		else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (op[2] & 7) == 5))))
			want += 4;
		if (want == len)
			return true;
	}
	return false;
}

static bool ends_in_call(const struct elffile *elf, uint64_t start, uint64_t end)
{
	uint8_t last[CALL_MAX];
	uint32_t word;

	if (end < sizeof(last) || elffile_read(elf, last, sizeof(last), end - sizeof(last)) != 0)
		return false;
	memcpy(&word, last + sizeof(last) - sizeof(word), sizeof(word));
	return elf->machine == EM_AARCH64 ? end - start >= sizeof(word) && is_call(word)
					  : ends_in_x86_call(last, end - start);
}

/* Marks a call that ends right before code with rules: it returns to the first address there. */
static void add_call(struct cfi_gaps *gaps, uint64_t from, uint64_t to)
{
	static const struct unwtab_rule call = {.cfa = UNWTAB_CALL};

	if (to == UINT64_MAX || to < from + CALL_MIN || gaps->calls == CALLS_MAX ||
		!gaps->elf->is64 || gaps->elf->swapped)
		return;
	if (to - from < GAP_MIN && to % ALIGNMENT == 0)
		return;
	gaps->calls++;
	if (ends_in_call(gaps->elf, from, to))
		unwtab_builder_add(gaps->builder, to - 1, to, &call);
}

static void add_code(struct cfi_gaps *gaps, uint64_t from, uint64_t to)
{
	const struct elffile *elf = gaps->elf;

	if (elf->machine != EM_AARCH64 || !elf->is64 || elf->swapped)
		return;
	while (from < to && to - from >= GAP_MIN && gaps->n < GAPS_MAX) {
		const struct elffile_section *section = next_section(elf, from);
		if (!section || section->offset >= to)
			return;
		const uint64_t end = section->offset + section->size;
		gaps->n++;
		read_part(
			gaps, section->offset > from ? section->offset : from, end < to ? end : to);
		from = end;
	}
}

void cfi_add_gap(struct cfi_gaps *gaps, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < gaps->n_roots; i++) {
		const struct cfi_root *root = &gaps->roots[i];
		if (root->start < from || root->start >= to)
			continue;
		add_code(gaps, from, root->start);
		from = root->end < to ? root->end : to;
		unwtab_builder_add(gaps->builder, root->start, from, &cfi_outermost);
	}
	add_code(gaps, from, to);
	add_call(gaps, from, to);
}
