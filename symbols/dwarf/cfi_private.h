/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi_private.h - shared by the cfi*.c files.
 */
#ifndef SYMBOLS_DWARF_CFI_PRIVATE_H
#define SYMBOLS_DWARF_CFI_PRIVATE_H

#include "symbols/dwarf/cfi.h"
#include "symbols/dwarf/private.h"

#define CFI_NO_BX UINT32_MAX

/* DWARF numbers of a machine's registers. */
struct cfi_machine {
	uint32_t bp, sp, ra;
	uint32_t bx; /* CFI_NO_BX: not followed */
	bool has_link; /* ra is a register until it is saved */
	bool only_ends; /* only the rules of outermost frames are useful */
};

enum cfi_where {
	CFI_SAME,
	CFI_AT_CFA, /* saved at CFA + off */
	CFI_AT_BP,
	CFI_AT_SP,
	CFI_UNDEFINED, /* the file marks it as lost */
	CFI_OTHER, /* a place that rules cannot express */
};
struct cfi_reg {
	uint8_t where; /* enum cfi_where */
	int64_t off;
};

enum cfi_cfa {
	CFI_CFA_REG, /* cfa_reg + cfa_off */
	CFI_CFA_DEREF_SP, /* *(sp + expr_off) + expr_add */
	CFI_CFA_DEREF_BP,
	CFI_CFA_DEREF_INDEXED, /* *(sp + 8 * expr_reg + expr_off) + expr_add */
	CFI_CFA_PLT, /* expr_off: offset in an entry from which its number is pushed */
	CFI_CFA_OTHER,
};
struct cfi_state {
	uint8_t cfa; /* enum cfi_cfa */
	uint32_t cfa_reg;
	int64_t cfa_off; /* kept during an expression, for a later register */
	int64_t expr_off, expr_add;
	uint32_t expr_reg;
	struct cfi_reg bp, ra, sp, bx;
};

struct cfi_cie {
	uint64_t at; /* offset in its section */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* encoding of addresses, DW_EH_PE_* */
	bool has_data; /* FDEs have augmentation data */
	bool is_signal;
	bool is_bad; /* its FDEs are left out */
	struct cfi_state start;
};

/* One run of instructions, for the part [from, to) of a function at start; all are file offsets. */
struct cfi_run {
	const struct cfi_machine *machine;
	const struct cfi_section *section;
	const struct cfi_cie *cie;
	struct dwarf_cursor program;
	uint64_t start, from, to;
	uint64_t vaddr; /* address of start */
};

/* Runs the initial instructions of a CIE and sets cie->start.  Returns false if they are broken. */
bool cfi_run_cie(
	const struct cfi_machine *machine, struct cfi_cie *cie, struct dwarf_cursor program);

/* Runs the instructions of an FDE and adds its rules.  After a broken instruction no rule is
 * added. */
void cfi_run_fde(const struct cfi_run *run, struct unwtab_builder *builder);

#define CFI_ROOTS_MAX 4 /* the entry, and three functions of Go's runtime */

/* Code of a file without call frame information; parts are added in ascending order. */
struct cfi_gaps {
	const struct elffile *elf;
	struct unwtab_builder *builder;
	uint32_t n, bytes, calls; /* amounts examined so far, all limited */
	struct cfi_root {
		uint64_t start, end;
	} roots[CFI_ROOTS_MAX]; /* functions without a caller, in ascending order */
	size_t n_roots;
};
void cfi_add_gap(struct cfi_gaps *gaps, uint64_t from, uint64_t to);

extern const struct unwtab_rule cfi_outermost;

/* Returns the address where a program begins; 0 if it is no program. */
uint64_t cfi_entry(const struct elffile *elf);

/* Sets gaps->roots, before the first part.  entry: 0 if call frame information describes it.
 * Returns 0 or -ENOMEM. */
int cfi_find_roots(const struct elffile *elf, uint64_t entry, struct cfi_gaps *gaps);
/* Returns true if a root begins at this offset. */
bool cfi_is_root(const struct cfi_gaps *gaps, uint64_t start);

/* Returns the rule of the frame that arm64 kernels make for a signal handler: struct rt_sigframe of
 * arch/arm64/kernel/signal.c. */
struct unwtab_rule cfi_arm64_signal_rule(void);

/* Reads an address encoded as DW_EH_PE_*: absolute, or relative to its own place.  Returns false if
 * it is broken or encoded otherwise. */
bool cfi_get_address(struct dwarf_cursor *cursor, const struct cfi_section *section,
	uint8_t encoding, uint64_t *out);

#endif
