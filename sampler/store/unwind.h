/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - callchains from copies of registers and stacks (PERF_SAMPLE_REGS_USER,
 * PERF_SAMPLE_STACK_USER).
 *
 * The unwinder reads only the bytes of a sample and rules; neither is trusted.  Each step goes up
 * the stack, so a chain costs at most UNWIND_FRAMES_MAX look-ups.  It asks a source for rules by
 * image and offset, and caches the answers by address.  Sampling thread.
 */
#ifndef SAMPLER_STORE_UNWIND_H
#define SAMPLER_STORE_UNWIND_H

#include "sampler/kernel/record.h"
#include "sampler/store/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_FRAMES_MAX 512u
#define UNWIND_STACK_MAX 65528u /* the kernel's maximum of sample_stack_user (Linux 6.18) */

/* The rule to find the caller of a function, at one address in it. */
enum unwind_cfa {
	UNWIND_CFA_NONE, /* nothing is known */
	UNWIND_CFA_SP, /* the frame ends at sp + cfa_off (DWARF's canonical frame address) */
	UNWIND_CFA_BP, /* it ends at the frame pointer + cfa_off */
	UNWIND_CFA_PLT, /* x86-64, PLT entry: it ends at sp + 8, from byte cfa_off on at sp + 16 */
	UNWIND_CFA_DEREF_SP, /* it ends at the word stored at sp + cfa_off, plus unwind_add() */
	UNWIND_CFA_DEREF_BP,
	/* interrupted code: its sp is stored at sp + cfa_off, frame pointer and ip at the others */
	UNWIND_CFA_SIGNAL,
	UNWIND_CFA_END, /* outermost frame */
	UNWIND_CFA_REGISTER, /* it ends at the register unwind_register() + cfa_off */
	UNWIND_CFA_CALL, /* nothing is known, except that a call ends here */
	/* It ends at the word stored at sp + 8 * unwind_register() + cfa_off, plus unwind_add(). */
	UNWIND_CFA_DEREF_INDEXED,
};
enum unwind_reg {
	UNWIND_REG_SAME, /* unchanged; for the return address: in the link register */
	UNWIND_REG_CFA, /* saved at the frame's end + off */
	UNWIND_REG_BP, /* saved at the frame pointer + off */
	UNWIND_REG_SP, /* saved at the stack pointer + off */
	UNWIND_REG_UNDEFINED,
};
#define UNWIND_SIGNAL 1u /* flags: the caller was interrupted, it made no call */
/* The other flags: unwind_bx(), or unwind_add() / 8, unwind_register(), or the last two. */
#define UNWIND_MORE_SHIFT 1u
#define UNWIND_BX_LOST 127u
#define UNWIND_REGISTER_BITS 5u
/* Bytes from sp to the saved x0 in a signal frame of arm64; x1 to x30, sp and pc follow. */
#define UNWIND_ARM64_SIGNAL_REGS 312
struct unwind_rule {
	int32_t cfa_off;
	int16_t bp_off, ra_off;
	uint8_t cfa; /* enum unwind_cfa */
	uint8_t bp, ra; /* enum unwind_reg */
	uint8_t flags;
};

static inline uint64_t unwind_add(const struct unwind_rule *rule)
{
	const uint64_t more = rule->flags >> UNWIND_MORE_SHIFT;

	return (rule->cfa == UNWIND_CFA_DEREF_INDEXED ? more >> UNWIND_REGISTER_BITS : more) * 8;
}

/* Returns a DWARF number. */
static inline uint32_t unwind_register(const struct unwind_rule *rule)
{
	return rule->flags >> UNWIND_MORE_SHIFT & ((1u << UNWIND_REGISTER_BITS) - 1);
}

/* Returns the place of the caller's rbx on x86-64.  0: still in the register.  UNWIND_BX_LOST: not
 * known.  Any other n: saved 8 * n bytes below the end of the frame. */
static inline uint32_t unwind_bx(const struct unwind_rule *rule)
{
	return rule->cfa > UNWIND_CFA_PLT ? UNWIND_BX_LOST : rule->flags >> UNWIND_MORE_SHIFT;
}

/* Whether a rule describes the caller, or that there is none. */
static inline bool unwind_tells(const struct unwind_rule *rule)
{
	return rule->cfa != UNWIND_CFA_NONE && rule->cfa != UNWIND_CFA_CALL;
}

enum unwind_answer {
	UNWIND_KNOWN, /* *rule is set, perhaps to NONE */
	UNWIND_NO_DATA, /* the image has no rules */
	UNWIND_PENDING, /* not yet known */
};

/* The source of rules.  image is pinned (images_pin()). */
struct unwind_source {
	enum unwind_answer (*find)(
		void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule);
	void *ctx;
};

enum unwind_end {
	UNWIND_UNTRIED, /* no chain, or user code of a process without known mappings */
	UNWIND_WHOLE, /* up to the entry of the program or thread */
	UNWIND_CUT, /* the copy of the stack ended */
	UNWIND_BROKEN, /* no rule, or one that does not fit the stack */
	UNWIND_AWAY, /* continues on another stack, which was not copied */
	UNWIND_DEEP, /* has more frames than are kept */
	UNWIND_WAITS, /* waits for rules; nothing else is valid */
};

/* Number of chains by end. */
struct unwind_ends {
	uint64_t whole, cut, broken, away, deep;
};
/* Callchains of all events. */
#define UNWIND_BROKEN_MAX 8u
#define UNWIND_PLACES 4u
struct unwind_totals {
	uint64_t judged; /* chains with a known end */
	uint64_t late; /* unwind tables came too late, so the kernel's chain was used */
	uint64_t dropped; /* addresses in chains without an executable mapping */
	/* chains with a stack copy that cannot be unwound, and no other user part */
	uint64_t unread;
	uint64_t nowhere; /* chains that broke outside any known image */
	uint32_t stack_bytes; /* maximum copied for a chain; 0: none is unwound by tables */
	/* The images with the most broken chains, by descending number; the rest is zero. */
	struct unwind_broken {
		uint64_t chains;
		uint32_t image;
		uint32_t n_places;
		uint64_t unwound; /* chains unwound by tables */
		uint64_t ruleless; /* unwound chains that broke in code without a rule */
		uint64_t lacking; /* chains that needed a register that samples do not have */
		uint64_t places[UNWIND_PLACES]; /* offsets of the last chains counted in ruleless */
	} broken[UNWIND_BROKEN_MAX];
};

static inline uint64_t unwind_judged(const struct unwind_ends *ends)
{
	return ends->whole + ends->cut + ends->broken + ends->away + ends->deep;
}

static inline void unwind_ends_add(struct unwind_ends *sum, const struct unwind_ends *more)
{
	sum->whole += more->whole;
	sum->cut += more->cut;
	sum->broken += more->broken;
	sum->away += more->away;
	sum->deep += more->deep;
}

struct unwind;

/* Copies source.  Returns 0 or -ENOMEM. */
int unwind_new(struct unwind **out, struct images *images, const struct unwind_source *source);
void unwind_free(struct unwind *unwind);

/* Return this machine's EM_*, and its general registers, which samples need (sample_regs_user); 0
 * if its code cannot be unwound. */
uint16_t unwind_machine(void);
uint64_t unwind_registers(void);

/* Whether unwind_chain() can read this sample's copy: 64 bits, x86-64 or arm64. */
bool unwind_can(
	const struct record_sample *sample, const struct record_format *format, uint16_t machine);

/* Unwinds the user part of a chain, leaf first, at most max addresses.  Each address but the leaf's
 * is after an instruction that did not complete.  Return addresses are; addresses interrupted by
 * signals are adjusted.  machine: EM_* of the code. */
enum unwind_end unwind_chain(struct unwind *unwind, const struct space *space,
	const struct record_sample *sample, const struct record_format *format, uint16_t machine,
	uint64_t *out, size_t max, size_t *n);

/* Whether a chain with this last address ends at the entry of a program or thread.  Returns
 * UNWIND_WHOLE, UNWIND_BROKEN or UNWIND_WAITS.  exact: it is no return address. */
enum unwind_end unwind_root(
	struct unwind *unwind, const struct space *space, uint64_t address, bool exact);

/* Returns the image of the last address for which a rule was needed, IMAGE_ID_UNKNOWN if none.  A
 * broken chain broke there. */
uint32_t unwind_last_image(const struct unwind *unwind);

/* Whether the last chain broke because samples of its format lack a register. */
bool unwind_lacked_register(const struct unwind *unwind);

#endif
