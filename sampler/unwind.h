/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unwind.h - call chains from copies of registers and stacks (PERF_SAMPLE_REGS_USER,
 * PERF_SAMPLE_STACK_USER).
 *
 * The unwinder reads the bytes of a sample and rules alone; both may be hostile.  Each step takes
 * it up the stack, so a chain costs at most UNWIND_FRAMES_MAX look-ups.  Whose rules they are it
 * does not know: it asks by image and offset, and remembers the answers by address. The sampling
 * thread.
 */
#ifndef SAMPLER_UNWIND_H
#define SAMPLER_UNWIND_H

#include "sampler/record.h"
#include "sampler/tasks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_FRAMES_MAX 512u
#define UNWIND_STACK_MAX 65528u /* of sample_stack_user: the kernel takes no more (Linux 6.18) */

/* How to find the caller of a function, at one place in it. */
enum unwind_cfa {
	UNWIND_CFA_NONE, /* nothing is known */
	UNWIND_CFA_SP, /* the frame ends at sp + cfa_off (the canonical frame address of DWARF) */
	UNWIND_CFA_BP, /* at the frame pointer + cfa_off */
	UNWIND_CFA_PLT, /* x86-64, an entry of a procedure linkage table: at sp + 8, or 16 from its byte cfa_off on */
	UNWIND_CFA_DEREF_SP, /* at what is stored at sp + cfa_off, plus unwind_add() */
	UNWIND_CFA_DEREF_BP,
	UNWIND_CFA_SIGNAL, /* what was interrupted is stored: its sp at sp + cfa_off, frame pointer and ip at the others */
	UNWIND_CFA_END, /* outermost frame */
	UNWIND_CFA_REGISTER, /* at the register unwind_register() + cfa_off */
	UNWIND_CFA_CALL, /* nothing is known, but that a call ends here */
	/* At what is stored at sp + 8 * unwind_register() + cfa_off, plus unwind_add(). */
	UNWIND_CFA_DEREF_INDEXED,
};
enum unwind_reg {
	UNWIND_REG_SAME, /* unchanged; of the return address: the link register */
	UNWIND_REG_CFA, /* saved at the frame's end + off */
	UNWIND_REG_BP, /* saved at the frame pointer + off */
	UNWIND_REG_SP, /* saved at the stack pointer + off */
	UNWIND_REG_UNDEFINED,
};
#define UNWIND_SIGNAL 1u /* flags: the caller did not call, but was interrupted */
/* The other flags: unwind_bx(), or unwind_add() / 8, unwind_register(), or both of these. */
#define UNWIND_MORE_SHIFT 1u
#define UNWIND_BX_LOST 127u
#define UNWIND_REGISTER_BITS 5u
/* From sp to the saved x0 in a signal frame of arm64; x1 to x30, sp and pc follow. */
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

/* By its number in DWARF. */
static inline uint32_t unwind_register(const struct unwind_rule *rule)
{
	return rule->flags >> UNWIND_MORE_SHIFT & ((1u << UNWIND_REGISTER_BITS) - 1);
}

/* The place of the caller's rbx on x86-64.  0: it is still in the register.  UNWIND_BX_LOST: it is
 * not known.  Any other n: it is saved 8 * n bytes below the end of the frame. */
static inline uint32_t unwind_bx(const struct unwind_rule *rule)
{
	return rule->cfa > UNWIND_CFA_PLT ? UNWIND_BX_LOST : rule->flags >> UNWIND_MORE_SHIFT;
}

/* Does a rule tell the caller, or that there is none? */
static inline bool unwind_tells(const struct unwind_rule *rule)
{
	return rule->cfa != UNWIND_CFA_NONE && rule->cfa != UNWIND_CFA_CALL;
}

enum unwind_answer {
	UNWIND_KNOWN, /* *rule is set, perhaps to NONE */
	UNWIND_NO_DATA, /* the image has no rules at all */
	UNWIND_PENDING, /* not yet known */
};

/* Who knows the rules.  image is pinned (images_pin()). */
struct unwind_source {
	enum unwind_answer (*find)(
		void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule);
	void *ctx;
};

enum unwind_end {
	UNWIND_UNTRIED,
	UNWIND_WHOLE, /* to the entry of the program or thread */
	UNWIND_CUT, /* the copy of the stack ended */
	UNWIND_BROKEN, /* no rule, or one that does not fit the stack */
	UNWIND_AWAY, /* it goes on on another stack, which was not copied */
	UNWIND_DEEP, /* it has more frames than are kept */
	UNWIND_WAITS, /* for rules: nothing else is told */
};

/* How many chains ended in each way. */
struct unwind_ends {
	uint64_t whole, cut, broken, away, deep;
};
/* Call chains of all events. */
#define UNWIND_BROKEN_MAX 8u
#define UNWIND_PLACES 4u
struct unwind_totals {
	uint64_t judged; /* it is known how they end */
	uint64_t late; /* unwind tables came too late: the kernel's chain was used */
	uint64_t dropped; /* addresses of chains, in no executable mapping */
	uint64_t unread; /* chains whose copy of the stack cannot be unwound, and without another */
	uint64_t nowhere; /* chains that broke in no known image */
	uint32_t stack_bytes; /* copied for a chain, at most; 0: none is unwound by tables */
	/* The images that most chains broke in, by falling number; the rest is zeros. */
	struct unwind_broken {
		uint64_t chains;
		uint32_t image;
		uint32_t n_places;
		uint64_t unwound; /* of the chains, by tables */
		uint64_t ruleless; /* of those, in code that has no rule */
		uint64_t lacking; /* and for want of a register that samples do not have */
		uint64_t places[UNWIND_PLACES]; /* offsets, where the last of these broke */
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

/* The source is copied.  0 or -ENOMEM. */
int unwind_new(struct unwind **out, struct images *images, const struct unwind_source *source);
void unwind_free(struct unwind *unwind);

/* This machine's code as EM_* and its general registers, which samples of it need
 * (sample_regs_user); 0 where it cannot be unwound. */
uint16_t unwind_machine(void);
uint64_t unwind_registers(void);

/* Is this sample's copy one that unwind_chain() can read: 64 bits, of x86-64 or arm64? */
bool unwind_can(
	const struct record_sample *sample, const struct record_format *format, uint16_t machine);

/* The user part of a chain, leaf first, at most max.  Each address but the leaf's lies behind an
 * instruction that did not end: return addresses are so, those of signals are made so.  machine:
 * EM_* of the code. */
enum unwind_end unwind_chain(struct unwind *unwind, const struct space *space,
	const struct record_sample *sample, const struct record_format *format, uint16_t machine,
	uint64_t *out, size_t max, size_t *n);

/* Whether a chain that ends with this address ends at the entry of a program or thread: WHOLE,
 * BROKEN, WAITS. exact: it is no return address. */
enum unwind_end unwind_root(
	struct unwind *unwind, const struct space *space, uint64_t address, bool exact);

/* The image of the address that the last call asked a rule for, IMAGE_ID_UNKNOWN if it has none:
 * a broken chain broke there. */
uint32_t unwind_last_image(const struct unwind *unwind);

/* Whether the last chain broke for want of a register that samples of its format do not have. */
bool unwind_lacked_register(const struct unwind *unwind);

#endif
