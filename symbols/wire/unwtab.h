/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwtab.h - an unwind table as one flat, sealed memory file: how to get from a frame to its
 * caller.
 *
 * The worker builds it (cfi.h), the client maps and searches it.  Keys are file offsets, as in
 * symtab.h.  The layout is: header; rules; first row of each page of 64 KiB; rows of 4 bytes,
 * sorted.  A page with rows has one at its start, so a lookup is one bisection in one page.
 *
 * A finished table is read-only, and any thread may read it.
 */
#ifndef SYMBOLS_WIRE_UNWTAB_H
#define SYMBOLS_WIRE_UNWTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWTAB_VERSION 9u /* changes with the layout and with the way rules are made */
#define UNWTAB_PAGE_BITS 16
#define UNWTAB_PAGES_MAX (1u << 18) /* 16 GiB of a file */
#define UNWTAB_ROWS_MAX (32u * 1024 * 1024)
#define UNWTAB_RULES_MAX 65535u
#define UNWTAB_NO_RULE 65535u /* in a row: no rule from here on */

/* How to compute the canonical frame address (CFA): the stack pointer before the call. */
enum unwtab_cfa {
	UNWTAB_NONE, /* no rule; no rule in a table has it */
	UNWTAB_SP, /* CFA = sp + cfa_off */
	UNWTAB_BP, /* CFA = bp + cfa_off */
	/* An x86-64 PLT entry: CFA = sp + 8 + ((ip & 15) >= cfa_off ?  8 : 0).  cfa_off is 1 to 15:
	 * 11 from binutils, 9 with endbr64. */
	UNWTAB_PLT,
	UNWTAB_DEREF_SP, /* CFA = *(sp + cfa_off) + unwtab_cfa_add() (OpenSSL's inner loops) */
	UNWTAB_DEREF_BP, /* CFA = *(bp + cfa_off) + unwtab_cfa_add(): the stack was realigned */
	/* A signal frame.  Offsets count from sp, to the saved registers of the interrupted code:
	 * its sp at cfa_off, its ip at ra_off, and its bp at bp_off unless bp is UNWTAB_REG_SAME.
	 * On arm64 the link register lies 16 bytes before the ip. */
	UNWTAB_SIGNAL,
	UNWTAB_END, /* the outermost frame, without a return address */
	UNWTAB_REGISTER, /* CFA = another register + cfa_off: unwtab_cfa_register() */
	/* no rule, but a call ends here: its return address lies in another function */
	UNWTAB_CALL,
	/* CFA = *(sp + 8 * unwtab_cfa_register() + cfa_off) + unwtab_cfa_add() (OpenSSL's
	 * bn_mul_mont()) */
	UNWTAB_DEREF_INDEXED,
};

/* Place of one of the caller's registers. */
enum unwtab_reg {
	UNWTAB_REG_SAME, /* still in the register; ra: in the link register (arm64) */
	UNWTAB_REG_CFA, /* saved at CFA + off */
	UNWTAB_REG_BP, /* saved at bp + off */
	UNWTAB_REG_SP, /* saved at sp + off: far below the CFA, as in large arm64 frames */
	UNWTAB_REG_UNDEFINED, /* lost; bp alone */
};

#define UNWTAB_FLAG_SIGNAL 1u /* the caller was interrupted: look it up at ip, not at ip - 1 */
/* The other bits have unwtab_bx(); or unwtab_cfa_add() / 8, unwtab_cfa_register(), or both. */
#define UNWTAB_MORE_SHIFT 1
#define UNWTAB_BX_LOST 127u
#define UNWTAB_REGISTER_BITS 5
#define UNWTAB_ADD_MAX 1016
#define UNWTAB_INDEXED_ADD_MAX 24
#define UNWTAB_REGISTER_MAX 31u

/* Offset from sp to the saved x0 to x30, sp and pc in an arm64 signal frame.  Before them are a
 * siginfo_t of 128 bytes, 176 bytes of the ucontext_t, and the fault address. */
#define UNWTAB_ARM64_SIGNAL_REGS 312

struct unwtab_rule {
	int32_t cfa_off;
	int16_t bp_off, ra_off;
	uint8_t cfa; /* enum unwtab_cfa */
	uint8_t bp, ra; /* enum unwtab_reg */
	uint8_t flags; /* UNWTAB_FLAG_...; bits of unwtab_bx(), _cfa_add() and _cfa_register() */
};

/* Returns the number to add to the word that UNWTAB_DEREF_SP, _BP and _INDEXED read. */
static inline uint64_t unwtab_cfa_add(const struct unwtab_rule *rule)
{
	const uint64_t more = rule->flags >> UNWTAB_MORE_SHIFT;

	return (rule->cfa == UNWTAB_DEREF_INDEXED ? more >> UNWTAB_REGISTER_BITS : more) * 8;
}

/* Returns the register of UNWTAB_REGISTER and UNWTAB_DEREF_INDEXED, by its DWARF number. */
static inline uint32_t unwtab_cfa_register(const struct unwtab_rule *rule)
{
	return rule->flags >> UNWTAB_MORE_SHIFT & UNWTAB_REGISTER_MAX;
}

/* Returns the place of the caller's rbx on x86-64.  0: still in the register.  UNWTAB_BX_LOST:
 * unknown, also in rules that use the bits otherwise.  Any other n: saved at CFA - 8 * n. */
static inline uint32_t unwtab_bx(const struct unwtab_rule *rule)
{
	return rule->cfa > UNWTAB_PLT ? UNWTAB_BX_LOST : rule->flags >> UNWTAB_MORE_SHIFT;
}

#define UNWTAB_SPARSE 1u /* less than half of the file's code has rules */
#define UNWTAB_GO 2u /* compiled by Go: keeps frame pointers, which no rule uses */
#define UNWTAB_32_BITS 4u /* 32-bit code: on x86 only outermost frames have rules */

struct unwtab_row {
	uint16_t low; /* low bits of the offset; the page has the rest */
	uint16_t rule; /* or UNWTAB_NO_RULE */
};

struct unwtab_header {
	char magic[8]; /* "strobe\0U" */
	uint32_t version;
	uint16_t machine; /* EM_* */
	uint16_t flags; /* UNWTAB_SPARSE, UNWTAB_GO, UNWTAB_32_BITS */
	uint32_t n_rules, n_pages, n_rows, first_page;
	/* pages_at: n_pages + 1 pages, the last one empty */
	uint64_t rules_at, pages_at, rows_at, total_bytes;
	uint64_t code_bytes, bp_bytes;
};

struct unwtab {
	const uint8_t *bytes; /* borrowed by unwtab_check(), mapped by unwtab_open() */
	size_t len;
	const struct unwtab_rule *rules;
	const uint32_t *pages; /* n_pages + 1 */
	const struct unwtab_row *rows;
	uint32_t n_rules, n_rows, n_pages, first_page;
	uint16_t machine; /* EM_* */
	uint16_t flags; /* UNWTAB_SPARSE, UNWTAB_GO, UNWTAB_32_BITS */
	/* Bytes of code with a rule, without outermost frames; bytes with a CFA by bp, which are
	 * many if the program keeps frame pointers. */
	uint64_t code_bytes, bp_bytes;
};

/* Checks every bound of a table in memory (8-byte aligned), which the caller still owns.  Returns 0
 * or -EBADMSG. */
int unwtab_check(struct unwtab *table, const void *bytes, size_t len);

/* Checks the seals of fd, maps and checks the table.  The caller still owns fd.  Returns 0,
 * -EBADMSG or -errno. */
int unwtab_open(struct unwtab *table, int fd);
void unwtab_close(struct unwtab *table); /* unmaps; a zeroed table is legal */

/* Returns the rule for a file offset; NULL if there is none.  Safe for any table that was
 * checked. */
const struct unwtab_rule *unwtab_find(const struct unwtab *table, uint64_t offset);

/* Returns whether most functions set up a frame pointer; also false if the table does not show
 * it. */
bool unwtab_keeps_bp(const struct unwtab *table);

/* --- for builders of a table: unwtab_build.c --- */

struct unwtab_builder;

/* Returns 0 and *out for unwtab_builder_free(), or -errno. */
int unwtab_builder_new(struct unwtab_builder **out, uint16_t machine);
void unwtab_builder_free(struct unwtab_builder *builder); /* NULL is a no-op */

/* Adds a rule for offsets [start, end), in ascending order.  Ignores the part before the end of an
 * earlier range.  unwtab_builder_finish() returns errors. */
void unwtab_builder_add(struct unwtab_builder *builder, uint64_t start, uint64_t end,
	const struct unwtab_rule *rule);

/* bytes with a rule, so far */
uint64_t unwtab_builder_code_bytes(const struct unwtab_builder *builder);

void unwtab_builder_set_flags(struct unwtab_builder *builder, uint16_t flags);

/* Writes and seals the table.  Returns 0 and sets *fd, which the caller closes, and *n_rows; or
 * -errno. */
int unwtab_builder_finish(struct unwtab_builder *builder, int *fd, uint32_t *n_rows);

#endif
