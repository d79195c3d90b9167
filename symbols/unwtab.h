/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwtab.h - an unwind table as one flat, sealed memory file: how to get from a frame to its
 * caller.
 *
 * The worker builds it (cfi.h), the client maps and searches it.  Keys are offsets in the file, as
 * in symtab.h.  Layout: header; rules; the first row of each page of 64 KiB; rows of 4 bytes, which
 * are sorted.  A page with rows begins with one at its start, so a lookup is one bisection in one
 * page. A table is read-only once made: any thread may read it.
 */
#ifndef SYMBOLS_UNWTAB_H
#define SYMBOLS_UNWTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWTAB_VERSION 8u /* of the layout, and of how rules are made */
#define UNWTAB_PAGE_BITS 16
#define UNWTAB_PAGES_MAX (1u << 18) /* 16 GiB of a file */
#define UNWTAB_ROWS_MAX (32u * 1024 * 1024)
#define UNWTAB_RULES_MAX 65535u
#define UNWTAB_NO_RULE 65535u /* in a row: nothing is known from here on */

/* How to compute the canonical frame address (CFA): the stack pointer before the call. */
enum unwtab_cfa {
	UNWTAB_NONE, /* nothing is known; no rule of a table has it */
	UNWTAB_SP, /* CFA = sp + cfa_off */
	UNWTAB_BP, /* CFA = bp + cfa_off */
	/* An entry of an x86-64 PLT: CFA = sp + 8 + ((ip & 15) >= cfa_off ? 8 : 0).  cfa_off is 1
	 * to 15: 11 as binutils writes it, 9 with endbr64. */
	UNWTAB_PLT,
	UNWTAB_DEREF_SP, /* CFA = *(sp + cfa_off) + unwtab_cfa_add() (OpenSSL's inner loops) */
	UNWTAB_DEREF_BP, /* CFA = *(bp + cfa_off) + unwtab_cfa_add(): the stack was realigned */
	/* A signal frame.  Offsets are from sp, to where the registers of what was interrupted are
	 * saved: its sp at cfa_off, its ip at ra_off, and its bp at bp_off unless bp is
	 * UNWTAB_REG_SAME.  On arm64 the link register lies 16 bytes before the ip. */
	UNWTAB_SIGNAL,
	UNWTAB_END, /* the outermost frame: it has no return address */
	UNWTAB_REGISTER, /* CFA = another register + cfa_off: unwtab_cfa_register() */
	UNWTAB_CALL, /* nothing is known, but a call ends here: what follows is not its caller */
	/* CFA = *(sp + 8 * unwtab_cfa_register() + cfa_off) + unwtab_cfa_add() (OpenSSL's
	 * bn_mul_mont()) */
	UNWTAB_DEREF_INDEXED,
};

/* Where a register of the caller is. */
enum unwtab_reg {
	UNWTAB_REG_SAME, /* still in the register; of ra: in the link register (arm64) */
	UNWTAB_REG_CFA, /* saved at CFA + off */
	UNWTAB_REG_BP, /* saved at bp + off */
	UNWTAB_REG_SP, /* saved at sp + off: far below the CFA, as in large frames of arm64 */
	UNWTAB_REG_UNDEFINED, /* lost; of bp alone */
};

#define UNWTAB_FLAG_SIGNAL 1u /* the caller was interrupted: look it up at ip, not at ip - 1 */
/* The other bits: unwtab_bx(), or unwtab_cfa_add() / 8, unwtab_cfa_register(), or both of these. */
#define UNWTAB_MORE_SHIFT 1
#define UNWTAB_BX_LOST 127u
#define UNWTAB_REGISTER_BITS 5
#define UNWTAB_ADD_MAX 1016
#define UNWTAB_INDEXED_ADD_MAX 24
#define UNWTAB_REGISTER_MAX 31u

/* From sp to the saved x0 to x30, sp and pc in the frame that an arm64 kernel makes for a signal
 * handler: a siginfo_t of 128 bytes, 176 of ucontext_t, the fault address. */
#define UNWTAB_ARM64_SIGNAL_REGS 312

struct unwtab_rule {
	int32_t cfa_off;
	int16_t bp_off, ra_off;
	uint8_t cfa; /* enum unwtab_cfa */
	uint8_t bp, ra; /* enum unwtab_reg */
	uint8_t flags; /* UNWTAB_FLAG_..., and what unwtab_bx(), _cfa_add() or _register() reads */
};

/* The number to add to the word that UNWTAB_DEREF_SP, _BP and _INDEXED read. */
static inline uint64_t unwtab_cfa_add(const struct unwtab_rule *rule)
{
	const uint64_t more = rule->flags >> UNWTAB_MORE_SHIFT;

	return (rule->cfa == UNWTAB_DEREF_INDEXED ? more >> UNWTAB_REGISTER_BITS : more) * 8;
}

/* The register of UNWTAB_REGISTER and UNWTAB_DEREF_INDEXED, by its number in DWARF. */
static inline uint32_t unwtab_cfa_register(const struct unwtab_rule *rule)
{
	return rule->flags >> UNWTAB_MORE_SHIFT & UNWTAB_REGISTER_MAX;
}

/* The place of the caller's rbx on x86-64.  0: it is still in the register.  UNWTAB_BX_LOST: it is
 * not known, as in rules that need the bits for something else.  Any other n: it is saved at
 * CFA - 8 * n. */
static inline uint32_t unwtab_bx(const struct unwtab_rule *rule)
{
	return rule->cfa > UNWTAB_PLT ? UNWTAB_BX_LOST : rule->flags >> UNWTAB_MORE_SHIFT;
}

#define UNWTAB_SPARSE 1u /* less than half of the file's code has rules */
#define UNWTAB_GO 2u /* Go's compiler made it: frame pointers, which no rule uses */
#define UNWTAB_32_BITS 4u /* code of 32 bits: of x86, the outermost frames alone have rules */

struct unwtab_row {
	uint16_t low; /* of the offset; the page tells the rest */
	uint16_t rule; /* or UNWTAB_NO_RULE */
};

struct unwtab_header {
	char magic[8]; /* "strobe\0U" */
	uint32_t version;
	uint16_t machine; /* EM_* */
	uint16_t flags; /* UNWTAB_SPARSE, UNWTAB_GO, UNWTAB_32_BITS */
	uint32_t n_rules, n_pages, n_rows, first_page;
	uint64_t rules_at, pages_at, rows_at,
		total_bytes; /* there are n_pages + 1 pages, the last one empty */
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
	/* Code that has a rule but for outermost frames, and what of it has a CFA by bp: a program
	 * that keeps frame pointers has many. */
	uint64_t code_bytes, bp_bytes;
};

/* Check every bound of a table in memory (8-byte aligned), which the caller keeps.  0 or -EBADMSG. */
int unwtab_check(struct unwtab *table, const void *bytes, size_t len);

/* Check the seals of fd, map it and check it.  fd stays the caller's.  0, -EBADMSG, -errno. */
int unwtab_open(struct unwtab *table, int fd);
void unwtab_close(struct unwtab *table); /* unmaps; a zeroed table is legal */

/* The rule for an offset of the file; NULL if nothing is known.  Legal for any table that was
 * checked. */
const struct unwtab_rule *unwtab_find(const struct unwtab *table, uint64_t offset);

/* Returns whether most functions set up a frame pointer; false too if the table cannot tell. */
bool unwtab_keeps_bp(const struct unwtab *table);

/* --- for who builds one: unwtab_build.c --- */

struct unwtab_builder;

/* Returns 0 and *out for unwtab_builder_free(), or -errno. */
int unwtab_builder_new(struct unwtab_builder **out, uint16_t machine);
void unwtab_builder_free(struct unwtab_builder *builder); /* NULL is a no-op */

/* Add a rule for offsets [start, end), in ascending order: the part before the end of an earlier
 * range is left out.  Errors show at unwtab_builder_finish(). */
void unwtab_builder_add(struct unwtab_builder *builder, uint64_t start, uint64_t end,
	const struct unwtab_rule *rule);

uint64_t unwtab_builder_code_bytes(const struct unwtab_builder *builder); /* with a rule, so far */

void unwtab_builder_set_flags(struct unwtab_builder *builder, uint16_t flags);

/* Write and seal.  Returns 0 and sets *fd, which is the caller's, and *n_rows; or -errno. */
int unwtab_builder_finish(struct unwtab_builder *builder, int *fd, uint32_t *n_rows);

#endif
