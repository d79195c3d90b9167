/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cfi_program.c - runs the instructions of call frame information for the registers that are
 * followed.
 */
#include "symbols/dwarf/cfi_private.h"

#define REMEMBERED_MAX 32

/* DW_CFA_*: the upper two bits, or all eight. */
enum {
	OP_ADVANCE = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_NOP = 0x00,
	OP_SET_LOC,
	OP_ADVANCE1,
	OP_ADVANCE2,
	OP_ADVANCE4,
	OP_OFFSET_EXTENDED,
	OP_RESTORE_EXTENDED,
	OP_UNDEFINED,
	OP_SAME_VALUE,
	OP_REGISTER,
	OP_REMEMBER,
	OP_RESTORE_STATE,
	OP_DEF_CFA,
	OP_DEF_CFA_REGISTER,
	OP_DEF_CFA_OFFSET,
	OP_DEF_CFA_EXPRESSION,
	OP_EXPRESSION,
	OP_OFFSET_EXTENDED_SF,
	OP_DEF_CFA_SF,
	OP_DEF_CFA_OFFSET_SF,
	OP_VAL_OFFSET,
	OP_VAL_OFFSET_SF,
	OP_VAL_EXPRESSION,
	OP_ADVANCE8 = 0x1d,
	OP_NEGATE_RA_STATE_WITH_PC = 0x2c,
	OP_NEGATE_RA_STATE = 0x2d, /* also GNU_window_save of SPARC */
	OP_ARGS_SIZE = 0x2e,
	OP_NEGATIVE_OFFSET = 0x2f,
};

/* DW_OP_* */
enum {
	EXPR_DEREF = 0x06,
	EXPR_AND = 0x1a,
	EXPR_MUL = 0x1e,
	EXPR_PLUS = 0x22,
	EXPR_PLUS_UCONST = 0x23,
	EXPR_SHL = 0x24,
	EXPR_GE = 0x2a,
	EXPR_LIT0 = 0x30,
	EXPR_BREG0 = 0x70,
};

struct interpreter {
	const struct cfi_machine *machine;
	const struct cfi_cie *cie; /* its start is not set while its own instructions run */
	struct dwarf_cursor program;
	struct cfi_state now;
	struct cfi_state remembered[REMEMBERED_MAX];
	size_t n_remembered;
	bool is_broken;
};

/* --- expressions --- */

struct expression {
	bool is_known;
	bool derefs;
	bool is_indexed; /* by 8 * index */
	uint32_t reg, index;
	int64_t off, add; /* add: added after the load */
};

/* Reads "plus another register times 8", as in OpenSSL's bn_mul_mont(). */
static void read_index(struct dwarf_cursor *block, struct expression *out)
{
	static const uint8_t end[] = {0, EXPR_LIT0 + 8, EXPR_MUL, EXPR_PLUS};
	const uint8_t *at = block->at;

	if (block->bad || (size_t)(block->end - at) < 1 + sizeof(end) || at[0] < EXPR_BREG0 ||
		at[0] > EXPR_BREG0 + 31 || memcmp(at + 1, end, sizeof(end)) != 0)
		return;
	out->is_indexed = true;
	out->index = at[0] - EXPR_BREG0;
	dwarf_skip(block, 1 + sizeof(end));
}

/* Reads a register and an offset, optionally a load from there, and then a number to add
 * (OpenSSL). */
static struct expression read_expression(struct dwarf_cursor block)
{
	struct expression out = {0};
	const uint64_t op = dwarf_get(&block, 1);

	if (block.bad || op < EXPR_BREG0 || op > EXPR_BREG0 + 31)
		return out;
	out.reg = (uint32_t)(op - EXPR_BREG0);
	out.off = dwarf_get_sleb(&block);
	read_index(&block, &out);
	if (!block.bad && block.at < block.end && *block.at == EXPR_DEREF) {
		out.derefs = true;
		block.at++;
	}
	if (out.derefs && block.at < block.end && *block.at == EXPR_PLUS_UCONST) {
		block.at++;
		out.add = (int64_t)dwarf_get_uleb(&block);
	}
	out.is_known = !block.bad && block.at == block.end;
	return out;
}

/* Reads the CFA expression of an x86-64 PLT.  Returns the offset in an entry from which its number
 * is pushed; 0 if the expression is another one. */
static int64_t read_plt(const struct cfi_machine *machine, struct dwarf_cursor block)
{
	static const uint8_t begin[] = {
		EXPR_BREG0 + 7, 8, EXPR_BREG0 + 16, 0, EXPR_LIT0 + 15, EXPR_AND};
	static const uint8_t end[] = {EXPR_GE, EXPR_LIT0 + 3, EXPR_SHL, EXPR_PLUS};
	const uint8_t *limit = block.at + sizeof(begin);

	if (machine->has_link ||
		(size_t)(block.end - block.at) != sizeof(begin) + 1 + sizeof(end) ||
		memcmp(block.at, begin, sizeof(begin)) != 0 ||
		memcmp(limit + 1, end, sizeof(end)) != 0 || *limit <= EXPR_LIT0 ||
		*limit > EXPR_LIT0 + 15)
		return 0;
	return *limit - EXPR_LIT0;
}

static void set_cfa(struct interpreter *cfi, uint64_t reg, int64_t off)
{
	cfi->now.cfa = CFI_CFA_REG;
	cfi->now.cfa_reg = reg < UINT32_MAX ? (uint32_t)reg : UINT32_MAX;
	cfi->now.cfa_off = off;
}

static void take_cfa_expression(struct interpreter *cfi, struct dwarf_cursor block)
{
	const struct expression found = read_expression(block);
	struct cfi_state *now = &cfi->now;
	const int64_t limit = read_plt(cfi->machine, block);

	now->cfa = CFI_CFA_OTHER;
	now->expr_off = limit ? limit : found.off;
	now->expr_add = found.add;
	if (limit) {
		now->cfa = CFI_CFA_PLT;
	} else if (found.is_indexed) {
		if (found.is_known && found.derefs && found.reg == cfi->machine->sp)
			now->cfa = CFI_CFA_DEREF_INDEXED;
		now->expr_reg = found.index;
	} else if (found.is_known && !found.derefs) {
		set_cfa(cfi, found.reg, found.off);
	} else if (found.is_known && found.reg == cfi->machine->sp) {
		now->cfa = CFI_CFA_DEREF_SP;
	} else if (found.is_known && found.reg == cfi->machine->bp) {
		now->cfa = CFI_CFA_DEREF_BP;
	}
}

static struct cfi_reg read_place(const struct cfi_machine *machine, struct dwarf_cursor block)
{
	const struct expression found = read_expression(block);
	struct cfi_reg reg = {CFI_OTHER, found.off};

	const bool is_place = found.is_known && !found.derefs && !found.is_indexed;

	if (is_place && found.reg == machine->bp)
		reg.where = CFI_AT_BP;
	else if (is_place && found.reg == machine->sp)
		reg.where = CFI_AT_SP;
	return reg;
}

/* --- instructions --- */

/* Returns the state of a register's rule; NULL if the register is not followed. */
static struct cfi_reg *find_reg(
	const struct cfi_machine *machine, struct cfi_state *state, uint64_t reg)
{
	if (reg == machine->bp)
		return &state->bp;
	if (reg == machine->ra)
		return &state->ra;
	if (reg == machine->sp)
		return &state->sp;
	return reg == machine->bx ? &state->bx : NULL;
}

static void set_reg(struct interpreter *cfi, uint64_t reg, enum cfi_where where, int64_t off)
{
	struct cfi_reg *found = find_reg(cfi->machine, &cfi->now, reg);

	if (found)
		*found = (struct cfi_reg){(uint8_t)where, off};
}

static void restore_reg(struct interpreter *cfi, uint64_t reg)
{
	struct cfi_state start = cfi->cie->start;
	struct cfi_reg *found = find_reg(cfi->machine, &cfi->now, reg);

	if (found)
		*found = *find_reg(cfi->machine, &start, reg);
}

/* Multiplies by the CIE's data alignment.  It may wrap, since a file can have any numbers. */
static int64_t scale(const struct interpreter *cfi, uint64_t factor)
{
	return (int64_t)(factor * (uint64_t)cfi->cie->data_align);
}

static uint64_t get_uleb(struct interpreter *cfi)
{
	return dwarf_get_uleb(&cfi->program);
}

static uint64_t get_sleb(struct interpreter *cfi)
{
	return (uint64_t)dwarf_get_sleb(&cfi->program);
}

static struct dwarf_cursor get_block(struct interpreter *cfi)
{
	const uint64_t len = get_uleb(cfi);
	struct dwarf_cursor block = cfi->program;

	dwarf_skip(&cfi->program, len);
	block.end = cfi->program.at;
	return block;
}

static void run_remember(struct interpreter *cfi, uint64_t op)
{
	if (op == OP_REMEMBER && cfi->n_remembered < REMEMBERED_MAX)
		cfi->remembered[cfi->n_remembered++] = cfi->now;
	else if (op == OP_RESTORE_STATE && cfi->n_remembered)
		cfi->now = cfi->remembered[--cfi->n_remembered];
	else
		cfi->is_broken = true;
}

/* Runs an instruction that changes the CFA.  Returns false if `op` is another one. */
static bool run_cfa(struct interpreter *cfi, uint64_t op)
{
	uint64_t reg;

	switch (op) {
	case OP_DEF_CFA:
		reg = get_uleb(cfi);
		set_cfa(cfi, reg, (int64_t)get_uleb(cfi));
		return true;
	case OP_DEF_CFA_SF:
		reg = get_uleb(cfi);
		set_cfa(cfi, reg, scale(cfi, get_sleb(cfi)));
		return true;
	case OP_DEF_CFA_REGISTER:
		reg = get_uleb(cfi);
		set_cfa(cfi, reg, cfi->now.cfa_off);
		return true;
	case OP_DEF_CFA_OFFSET:
		cfi->now.cfa_off = (int64_t)get_uleb(cfi);
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		cfi->now.cfa_off = scale(cfi, get_sleb(cfi));
		return true;
	case OP_DEF_CFA_EXPRESSION:
		take_cfa_expression(cfi, get_block(cfi));
		return true;
	default:
		return false;
	}
}

/* Runs an instruction that changes a register's place.  Returns false if `op` is another one. */
static bool run_reg(struct interpreter *cfi, uint64_t op)
{
	struct cfi_reg place;
	uint64_t reg;

	switch (op) {
	case OP_OFFSET_EXTENDED:
		reg = get_uleb(cfi);
		set_reg(cfi, reg, CFI_AT_CFA, scale(cfi, get_uleb(cfi)));
		return true;
	case OP_OFFSET_EXTENDED_SF:
		reg = get_uleb(cfi);
		set_reg(cfi, reg, CFI_AT_CFA, scale(cfi, get_sleb(cfi)));
		return true;
	case OP_NEGATIVE_OFFSET:
		reg = get_uleb(cfi);
		set_reg(cfi, reg, CFI_AT_CFA, scale(cfi, 0 - get_uleb(cfi)));
		return true;
	case OP_RESTORE_EXTENDED:
		restore_reg(cfi, get_uleb(cfi));
		return true;
	case OP_UNDEFINED:
		set_reg(cfi, get_uleb(cfi), CFI_UNDEFINED, 0);
		return true;
	case OP_SAME_VALUE:
		set_reg(cfi, get_uleb(cfi), CFI_SAME, 0);
		return true;
	case OP_REGISTER:
	case OP_VAL_OFFSET:
	case OP_VAL_OFFSET_SF:
		set_reg(cfi, get_uleb(cfi), CFI_OTHER, 0);
		get_uleb(cfi);
		return true;
	case OP_EXPRESSION:
		reg = get_uleb(cfi);
		place = read_place(cfi->machine, get_block(cfi));
		set_reg(cfi, reg, place.where, place.off);
		return true;
	case OP_VAL_EXPRESSION:
		set_reg(cfi, get_uleb(cfi), CFI_OTHER, 0);
		get_block(cfi);
		return true;
	default:
		return false;
	}
}

/* Runs any instruction that does not advance the address. */
static void run_other(struct interpreter *cfi, uint64_t op)
{
	switch (op) {
	case OP_NOP:
	case OP_NEGATE_RA_STATE: /* readers of return addresses strip the signature */
	case OP_NEGATE_RA_STATE_WITH_PC:
		return;
	case OP_ARGS_SIZE:
		get_uleb(cfi);
		return;
	case OP_REMEMBER:
	case OP_RESTORE_STATE:
		run_remember(cfi, op);
		return;
	default:
		if (!run_cfa(cfi, op) && !run_reg(cfi, op))
			cfi->is_broken = true;
	}
}

/* Gets the factor by which an instruction advances.  Returns false if it does not advance. */
static bool get_advance(struct interpreter *cfi, uint64_t op, uint64_t *factor)
{
	if ((op & 0xc0) == OP_ADVANCE)
		*factor = op & 0x3f;
	else if (op == OP_ADVANCE1)
		*factor = dwarf_get(&cfi->program, 1);
	else if (op == OP_ADVANCE2)
		*factor = dwarf_get(&cfi->program, 2);
	else if (op == OP_ADVANCE4)
		*factor = dwarf_get(&cfi->program, 4);
	else if (op == OP_ADVANCE8)
		*factor = dwarf_get(&cfi->program, 8);
	else
		return false;
	return true;
}

static void run_one(struct interpreter *cfi, uint64_t op)
{
	if ((op & 0xc0) == OP_OFFSET)
		set_reg(cfi, op & 0x3f, CFI_AT_CFA, scale(cfi, get_uleb(cfi)));
	else if ((op & 0xc0) == OP_RESTORE)
		restore_reg(cfi, op & 0x3f);
	else
		run_other(cfi, op);
	cfi->is_broken |= cfi->program.bad;
}

/* Sets all fields but the state.  `remembered` is too large to be cleared for each function. */
static void begin(struct interpreter *cfi, const struct cfi_machine *machine,
	const struct cfi_cie *cie, struct dwarf_cursor program)
{
	cfi->machine = machine;
	cfi->cie = cie;
	cfi->program = program;
	cfi->n_remembered = 0;
	cfi->is_broken = false;
}

bool cfi_run_cie(
	const struct cfi_machine *machine, struct cfi_cie *cie, struct dwarf_cursor program)
{
	struct interpreter cfi;

	begin(&cfi, machine, cie, program);
	cfi.now = (struct cfi_state){.cfa = CFI_CFA_OTHER};
	/* On x86-64 the return address is in memory; an undefined one is marked explicitly. */
	if (!machine->has_link)
		cfi.now.ra.where = CFI_OTHER;
	while (cfi.program.at < cfi.program.end && !cfi.is_broken) {
		const uint64_t op = dwarf_get(&cfi.program, 1);
		uint64_t factor;
		if (op == OP_SET_LOC || get_advance(&cfi, op, &factor))
			return false;
		run_one(&cfi, op);
	}
	cie->start = cfi.now;
	return !cfi.is_broken;
}

/* --- rules --- */

static bool fits16(int64_t value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

static struct cfi_reg shift_reg(enum cfi_where where, uint64_t off)
{
	return (struct cfi_reg){(uint8_t)where, (int64_t)off};
}

/* Makes a place relative to the CFA if both are relative to sp, or both to bp.  In a frame of more
 * than 32 KiB a place may be too far from the CFA; it becomes relative to sp or bp. */
static struct cfi_reg make_relative(
	const struct cfi_machine *machine, const struct cfi_state *state, struct cfi_reg reg)
{
	const uint32_t base = reg.where == CFI_AT_SP ? machine->sp : machine->bp;
	const uint64_t off = (uint64_t)reg.off, cfa_off = (uint64_t)state->cfa_off;

	if (state->cfa != CFI_CFA_REG)
		return reg;
	if ((reg.where == CFI_AT_SP || reg.where == CFI_AT_BP) && state->cfa_reg == base &&
		fits16((int64_t)(off - cfa_off)))
		return shift_reg(CFI_AT_CFA, off - cfa_off);
	if (reg.where == CFI_AT_CFA && !fits16(reg.off) && state->cfa_reg == machine->sp)
		return shift_reg(CFI_AT_SP, off + cfa_off);
	if (reg.where == CFI_AT_CFA && !fits16(reg.off) && state->cfa_reg == machine->bp)
		return shift_reg(CFI_AT_BP, off + cfa_off);
	return reg;
}

/* Returns false if rules cannot express the place. */
static bool express_reg(struct cfi_reg reg, uint8_t *where, int16_t *off)
{
	*off = 0;
	*where = UNWTAB_REG_SAME;
	if (reg.where == CFI_SAME)
		return true;
	*where = UNWTAB_REG_UNDEFINED;
	if (reg.where == CFI_UNDEFINED || reg.where == CFI_OTHER || !fits16(reg.off))
		return reg.where == CFI_UNDEFINED;
	*where = reg.where == CFI_AT_CFA ? UNWTAB_REG_CFA
		: reg.where == CFI_AT_BP ? UNWTAB_REG_BP
					 : UNWTAB_REG_SP;
	*off = (int16_t)reg.off;
	return true;
}

static uint8_t express_bx(struct cfi_reg reg)
{
	if (reg.where == CFI_SAME)
		return 0;
	if (reg.where != CFI_AT_CFA || reg.off >= 0 || reg.off <= -8 * (int64_t)UNWTAB_BX_LOST ||
		reg.off % 8)
		return UNWTAB_BX_LOST;
	return (uint8_t)(reg.off / -8);
}

/* Returns true for a register other than sp and bp that rules can name. */
static bool is_other(const struct cfi_machine *machine, uint32_t reg)
{
	return reg < machine->ra && reg != machine->sp && reg != machine->bp;
}

static bool express_cfa(
	const struct cfi_machine *machine, const struct cfi_state *state, struct unwtab_rule *rule)
{
	const bool is_expr = state->cfa != CFI_CFA_REG;
	const int64_t off = is_expr ? state->expr_off : state->cfa_off;

	if (off < INT32_MIN || off > INT32_MAX)
		return false;
	rule->cfa_off = (int32_t)off;
	if (is_expr && state->cfa != CFI_CFA_PLT && state->expr_add) {
		const bool is_indexed = state->cfa == CFI_CFA_DEREF_INDEXED;
		const int64_t most = is_indexed ? UNWTAB_INDEXED_ADD_MAX : UNWTAB_ADD_MAX;
		if (state->expr_add < 0 || state->expr_add > most || state->expr_add % 8)
			return false;
		rule->flags |= (uint8_t)(state->expr_add / 8
			<< (UNWTAB_MORE_SHIFT + (is_indexed ? UNWTAB_REGISTER_BITS : 0)));
	}
	if (state->cfa == CFI_CFA_DEREF_SP)
		rule->cfa = UNWTAB_DEREF_SP;
	else if (state->cfa == CFI_CFA_DEREF_BP)
		rule->cfa = UNWTAB_DEREF_BP;
	else if (state->cfa == CFI_CFA_PLT)
		rule->cfa = UNWTAB_PLT;
	else if (state->cfa == CFI_CFA_REG && state->cfa_reg == machine->sp)
		rule->cfa = UNWTAB_SP;
	else if (state->cfa == CFI_CFA_REG && state->cfa_reg == machine->bp)
		rule->cfa = UNWTAB_BP;
	else if (state->cfa == CFI_CFA_REG && is_other(machine, state->cfa_reg))
		rule->cfa = UNWTAB_REGISTER;
	else if (state->cfa == CFI_CFA_DEREF_INDEXED && is_other(machine, state->expr_reg))
		rule->cfa = UNWTAB_DEREF_INDEXED;
	else
		return false;
	if (rule->cfa == UNWTAB_REGISTER)
		rule->flags |= (uint8_t)(state->cfa_reg << UNWTAB_MORE_SHIFT);
	if (rule->cfa == UNWTAB_DEREF_INDEXED)
		rule->flags |= (uint8_t)(state->expr_reg << UNWTAB_MORE_SHIFT);
	return true;
}

/* Makes the rule for registers that the kernel saved for a signal handler.  Returns false if it is
 * another frame. */
static bool express_signal(const struct cfi_state *state, struct unwtab_rule *rule)
{
	if (state->cfa != CFI_CFA_DEREF_SP || state->expr_add || state->ra.where != CFI_AT_SP ||
		(state->bp.where != CFI_AT_SP && state->bp.where != CFI_SAME) ||
		!fits16(state->ra.off) || !fits16(state->bp.off))
		return false;
	rule->cfa = UNWTAB_SIGNAL;
	rule->ra = UNWTAB_REG_CFA;
	rule->ra_off = (int16_t)state->ra.off;
	rule->bp = state->bp.where == CFI_SAME ? UNWTAB_REG_SAME : UNWTAB_REG_CFA;
	rule->bp_off = (int16_t)state->bp.off;
	return true;
}

/* The vdso of arm64 describes its signal frame by the frame record at x29, which has no ip.  The
 * kernel's struct rt_sigframe at sp has all registers (arch/arm64/kernel/signal.c).  Returns false
 * if it is another frame. */
static bool express_arm64_signal(const struct interpreter *cfi, struct unwtab_rule *rule)
{
	const struct cfi_state *state = &cfi->now;

	if (!cfi->machine->has_link || !cfi->cie->is_signal || state->cfa != CFI_CFA_REG ||
		state->cfa_reg != cfi->machine->bp || state->cfa_off ||
		state->bp.where != CFI_AT_CFA || state->bp.off || state->ra.where != CFI_AT_CFA ||
		state->ra.off != 8)
		return false;
	*rule = cfi_arm64_signal_rule();
	return true;
}

/* Returns true if the caller's sp is the CFA.  A file may set another sp (longjmp), or state the
 * same value explicitly. */
static bool has_usual_sp(const struct cfi_state *state)
{
	return state->sp.where == CFI_SAME ||
		(state->sp.where == CFI_AT_SP && state->cfa == CFI_CFA_DEREF_SP &&
			state->sp.off == state->expr_off && !state->expr_add);
}

/* Returns UNWTAB_NONE if rules cannot express the state. */
static struct unwtab_rule make_rule(const struct interpreter *cfi)
{
	const struct cfi_state *state = &cfi->now;
	const uint8_t flags = cfi->cie->is_signal ? UNWTAB_FLAG_SIGNAL : 0;
	struct unwtab_rule rule = {.flags = flags};

	if (state->ra.where == CFI_UNDEFINED)
		return (struct unwtab_rule){.cfa = UNWTAB_END, .flags = flags};
	if (!has_usual_sp(state) || !express_cfa(cfi->machine, state, &rule))
		return (struct unwtab_rule){.cfa = UNWTAB_NONE};
	if (express_signal(state, &rule) || express_arm64_signal(cfi, &rule))
		return rule;
	/* On x86-64 no register holds the return address. */
	if (!express_reg(make_relative(cfi->machine, state, state->ra), &rule.ra, &rule.ra_off) ||
		(rule.ra == UNWTAB_REG_SAME && !cfi->machine->has_link))
		return (struct unwtab_rule){.cfa = UNWTAB_NONE};
	express_reg(make_relative(cfi->machine, state, state->bp), &rule.bp, &rule.bp_off);
	if (rule.cfa == UNWTAB_SP || rule.cfa == UNWTAB_BP)
		rule.flags |= (uint8_t)(express_bx(make_relative(cfi->machine, state, state->bx))
			<< UNWTAB_MORE_SHIFT);
	return rule;
}

/* --- one function --- */

static void add_part(const struct cfi_run *run, const struct interpreter *cfi, uint64_t start,
	uint64_t end, struct unwtab_builder *builder)
{
	start = start < run->from ? run->from : start;
	end = end > run->to ? run->to : end;
	if (start >= end)
		return;
	const struct unwtab_rule rule = make_rule(cfi);
	if (!cfi->machine->only_ends || rule.cfa == UNWTAB_END)
		unwtab_builder_add(builder, start, end, &rule);
}

/* Gets the offset that an instruction advances to, at most run->to.  Returns false if it does not
 * advance. */
static bool get_next(struct interpreter *cfi, const struct cfi_run *run, uint64_t op, uint64_t at,
	uint64_t *next)
{
	uint64_t factor, delta, vaddr;

	if (op == OP_SET_LOC) {
		cfi->is_broken |=
			!cfi_get_address(&cfi->program, run->section, run->cie->encoding, &vaddr) ||
			vaddr < run->vaddr || vaddr - run->vaddr < at - run->start;
		delta = cfi->is_broken ? 0 : vaddr - run->vaddr - (at - run->start);
	} else if (!get_advance(cfi, op, &factor)) {
		return false;
	} else if (__builtin_mul_overflow(factor, run->cie->code_align, &delta)) {
		delta = UINT64_MAX;
	}
	*next = delta < run->to - at ? at + delta : run->to;
	return true;
}

void cfi_run_fde(const struct cfi_run *run, struct unwtab_builder *builder)
{
	struct interpreter cfi;
	uint64_t at = run->start;

	begin(&cfi, run->machine, run->cie, run->program);
	cfi.now = run->cie->start;
	while (at < run->to && cfi.program.at < cfi.program.end) {
		const uint64_t op = dwarf_get(&cfi.program, 1);
		uint64_t next = at;
		if (get_next(&cfi, run, op, at, &next))
			cfi.is_broken |= cfi.program.bad;
		else
			run_one(&cfi, op);
		if (cfi.is_broken)
			return;
		if (next > at)
			add_part(run, &cfi, at, next, builder);
		at = next;
	}
	add_part(run, &cfi, at, run->to, builder);
}
