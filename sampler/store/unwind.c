/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind.c - unwinds stack copies by rules or frame pointers; see unwind.h.  Sampling thread. */
#include "sampler/store/unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SLOTS 4096u
/* Most bytes from a trampoline to the interrupted stack.  Vector and matrix registers take tens of
 * KiB (AMX, SME). */
#define SIGNAL_FRAME_MAX (128u << 10)

/* Numbers in sample_regs_user, from asm/perf_regs.h of each machine. */
#define X86_BP 6u
#define X86_SP 7u
#define X86_IP 8u
#define DWARF_RBX 3u
#define BX_LOST UINT64_MAX
#define ARM64_FP 29u
#define ARM64_LR 30u
#define ARM64_SP 31u
#define ARM64_PC 32u
#define ARM64_ADDRESS 0x0000ffffffffffffull /* without the pointer authentication code */

struct slot {
	uint64_t address, generation; /* generation 0: empty */
	struct unwind_rule rule;
	uint32_t image : 31, has_table : 1;
};
_Static_assert(sizeof(struct slot) == 32, "two slots in a line of the cache");

struct unwind {
	struct images *images;
	uint32_t last_image;
	bool last_has_table; /* the image has a table, perhaps without a rule there */
	bool lacked_register; /* the last chain needed a register that its sample lacks */
	struct unwind_source source;
	struct slot slots[CACHE_SLOTS];
};

int unwind_new(struct unwind **out, struct images *images, const struct unwind_source *source)
{
	struct unwind *unwind = calloc(1, sizeof(*unwind));

	*out = unwind;
	if (!unwind)
		return -ENOMEM;
	unwind->images = images;
	unwind->source = *source;
	return 0;
}

void unwind_free(struct unwind *unwind)
{
	free(unwind);
}

uint32_t unwind_last_image(const struct unwind *unwind)
{
	return unwind->last_image;
}

bool unwind_lacked_register(const struct unwind *unwind)
{
	return unwind->lacked_register;
}

static const struct unwind_rule arm64_signal = {
	.cfa = UNWIND_CFA_SIGNAL,
	.cfa_off = UNWIND_ARM64_SIGNAL_REGS + 31 * 8,
	.ra_off = UNWIND_ARM64_SIGNAL_REGS + 32 * 8,
	.bp = UNWIND_REG_CFA,
	.bp_off = UNWIND_ARM64_SIGNAL_REGS + 29 * 8,
	.flags = UNWIND_SIGNAL,
};

/* --- rules --- */

static size_t slot_of(uint64_t address, uint64_t generation)
{
	const uint64_t hash = (address ^ generation << 32) * 0x9e3779b97f4a7c15ull;

	return hash >> 52;
}

/* Returns false if the rule is not known yet. */
static bool find_rule(struct unwind *unwind, const struct space *space, uint64_t address,
	struct unwind_rule *rule)
{
	static const struct unwind_rule none = {.cfa = UNWIND_CFA_NONE};
	const uint64_t generation = space_generation(space);
	struct slot *slot = &unwind->slots[slot_of(address, generation)];
	uint32_t image;
	uint64_t offset;

	_Static_assert(CACHE_SLOTS == 1u << 12, "the highest 12 bits choose a slot");
	if (slot->address == address && slot->generation == generation && generation) {
		*rule = slot->rule;
		unwind->last_image = slot->image;
		unwind->last_has_table = slot->has_table;
		return true;
	}
	*rule = none;
	space_resolve(space, address, &image, &offset);
	unwind->last_image = image;
	unwind->last_has_table = false;
	if (image != IMAGE_ID_UNKNOWN) {
		struct image_origin origin;

		/* The source keeps the image's number, so it must not be reused. */
		images_pin(unwind->images, image);
		if (space_origin(space, address, &origin))
			images_set_origin(unwind->images, image, &origin);
		switch (unwind->source.find(unwind->source.ctx, image, offset, rule)) {
		case UNWIND_PENDING:
			return false;
		case UNWIND_NO_DATA:
			*rule = none;
			break;
		case UNWIND_KNOWN:
			unwind->last_has_table = true;
			break;
		}
	}
	*slot = (struct slot){
		address, generation, *rule, image & INT32_MAX, unwind->last_has_table};
	return true;
}

static bool is_code(const struct space *space, uint64_t address)
{
	uint32_t image;
	uint64_t offset;

	space_resolve(space, address, &image, &offset);
	return image != IMAGE_ID_UNKNOWN;
}

/* --- registers and stack --- */

struct walker {
	const struct space *space;
	const uint8_t *stack;
	uint64_t stack_at, stack_len;
	bool stack_ends; /* see struct record_more */
	uint64_t ip, sp, bp, lr;
	/* The other registers of the code that was interrupted last.  They are in the sample (NULL:
	 * not there), or where the kernel saved them for a signal handler (0: nowhere). */
	const struct record_regs *regs;
	uint64_t regs_mask, saved_at;
	uint64_t bx_at; /* address where rbx was saved since; 0: nowhere; or BX_LOST */
	bool is_caller; /* ip is in a caller of the interrupted code */
	bool is_arm64;
	bool exact; /* ip is the current instruction, not a return address */
	bool has_lr;
	bool sp_is_lost; /* sp is only a lower bound */
	bool beyond; /* a needed word is after the end of the copy */
	bool is_away; /* the stack is not the copied one */
	bool lacks_register; /* the sample lacks a needed register */
	bool is_guessed; /* ip was found by a frame pointer, which may not be one */
};

static bool take_register(
	const struct record_regs *regs, uint64_t mask, unsigned int number, uint64_t *out)
{
	if (!(mask >> number & 1))
		return false;
	*out = regs->values[__builtin_popcountll(mask & ((1ull << number) - 1))];
	return true;
}

static bool take_registers(struct walker *walker, const struct record_regs *regs, uint64_t mask)
{
	if (walker->is_arm64) {
		walker->has_lr = take_register(regs, mask, ARM64_LR, &walker->lr);
		return take_register(regs, mask, ARM64_FP, &walker->bp) &&
			take_register(regs, mask, ARM64_SP, &walker->sp) &&
			take_register(regs, mask, ARM64_PC, &walker->ip);
	}
	return take_register(regs, mask, X86_BP, &walker->bp) &&
		take_register(regs, mask, X86_SP, &walker->sp) &&
		take_register(regs, mask, X86_IP, &walker->ip);
}

uint16_t unwind_machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__aarch64__)
	return EM_AARCH64;
#else
	return EM_NONE;
#endif
}

uint64_t unwind_registers(void)
{
	switch (unwind_machine()) {
	case EM_X86_64:
		/* not the segments ds to gs, which the kernel refuses for 64-bit code */
		return 0xff0fff;
	case EM_AARCH64:
		return 0x1ffffffff;
	default:
		return 0;
	}
}

bool unwind_can(
	const struct record_sample *sample, const struct record_format *format, uint16_t machine)
{
	struct walker walker = {.is_arm64 = machine == EM_AARCH64};

	return sample->has_more && (machine == EM_X86_64 || machine == EM_AARCH64) &&
		sample->more.regs_user.abi == PERF_SAMPLE_REGS_ABI_64 &&
		take_registers(&walker, &sample->more.regs_user, format->regs_user);
}

static bool read_word(struct walker *walker, uint64_t address, uint64_t *out)
{
	const uint64_t at = address - walker->stack_at;

	if (at > walker->stack_len || walker->stack_len - at < sizeof(*out)) {
		walker->beyond = address >= walker->stack_at && !walker->stack_ends;
		return false;
	}
	memcpy(out, walker->stack + at, sizeof(*out));
	return true;
}

/* Whether a function restores the register (DWARF number) for its caller. */
static bool is_restored(const struct walker *walker, uint32_t number)
{
	return number >= (walker->is_arm64 ? 19 : 12); /* r12 to r15; rbx is followed */
}

/* Reads a register by its DWARF number.  Returns false if it is not known.
 *
 * In callers, restored registers have other values.  Only rbx is followed: the dynamic linker finds
 * its stack by it while it binds a function.  All others are lost in a call of compiled code.
 * Assembly may agree to keep them (OpenSSL), and a wrong one hardly leads up to code. */
static bool read_register(struct walker *walker, uint32_t number, uint64_t *out)
{
	/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15: numbers in asm/perf_regs.h, and in the
	 * kernel's struct sigcontext_64. */
	static const uint8_t in_sample[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
	static const uint8_t in_signal[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};

	if ((!walker->is_arm64 && number >= sizeof(in_sample)) ||
		(walker->is_caller && is_restored(walker, number)))
		return false;
	if (walker->bx_at && number == DWARF_RBX && !walker->is_arm64)
		return walker->bx_at != BX_LOST && read_word(walker, walker->bx_at, out);
	if (walker->regs) {
		walker->lacks_register = !take_register(walker->regs, walker->regs_mask,
			walker->is_arm64 ? number : in_sample[number], out);
		return !walker->lacks_register;
	}
	return walker->saved_at &&
		read_word(walker,
			walker->saved_at + 8ull * (walker->is_arm64 ? number : in_signal[number]),
			out);
}

/* --- steps --- */

/* Finds the return address.  The link register is known only in code that was interrupted, not in
 * callers. */
static bool find_return(
	struct walker *walker, const struct unwind_rule *rule, uint64_t cfa, uint64_t *ip)
{
	switch (rule->ra) {
	case UNWIND_REG_SAME:
		*ip = walker->lr;
		return walker->has_lr;
	case UNWIND_REG_CFA:
		return read_word(walker, cfa + (uint64_t)(int64_t)rule->ra_off, ip);
	case UNWIND_REG_BP:
		return read_word(walker, walker->bp + (uint64_t)(int64_t)rule->ra_off, ip);
	case UNWIND_REG_SP:
		return read_word(walker, walker->sp + (uint64_t)(int64_t)rule->ra_off, ip);
	default:
		return false;
	}
}

static bool find_bp(
	struct walker *walker, const struct unwind_rule *rule, uint64_t cfa, uint64_t *bp)
{
	uint64_t at;

	switch (rule->bp) {
	case UNWIND_REG_CFA:
		at = cfa + (uint64_t)(int64_t)rule->bp_off;
		/* In an epilogue it was already popped. */
		if (at < walker->sp && cfa >= walker->sp)
			break;
		return read_word(walker, at, bp);
	case UNWIND_REG_BP:
		return read_word(walker, walker->bp + (uint64_t)(int64_t)rule->bp_off, bp);
	case UNWIND_REG_SP:
		return read_word(walker, walker->sp + (uint64_t)(int64_t)rule->bp_off, bp);
	case UNWIND_REG_UNDEFINED:
		*bp = 0;
		return true;
	default:
		break;
	}
	*bp = walker->bp;
	return true;
}

static void follow_bx(struct walker *walker, const struct unwind_rule *rule, uint64_t cfa)
{
	const uint32_t words = unwind_bx(rule);

	if (!words)
		return;
	if (words == UNWIND_BX_LOST)
		walker->bx_at = BX_LOST;
	else if (cfa - 8ull * words >= walker->sp) /* otherwise it was already popped */
		walker->bx_at = cfa - 8ull * words;
}

static bool read_cfa(
	struct walker *walker, const struct unwind_rule *rule, uint64_t from, uint64_t *cfa)
{
	if (!read_word(walker, from + (uint64_t)(int64_t)rule->cfa_off, cfa))
		return false;
	*cfa += unwind_add(rule);
	return true;
}

/* Finds the end of a frame by the frame record on arm64, which x29 points to.  It contains both x29
 * and the return address. */
static bool find_cfa_by_record(
	const struct walker *walker, const struct unwind_rule *rule, uint64_t *cfa)
{
	*cfa = walker->bp - (uint64_t)(int64_t)rule->bp_off;
	return rule->cfa == UNWIND_CFA_SP && rule->bp == UNWIND_REG_CFA &&
		rule->ra == UNWIND_REG_CFA && rule->ra_off == rule->bp_off + 8;
}

/* Finds the end of a frame, and the saved rbx from then on. */
static bool find_cfa(struct walker *walker, const struct unwind_rule *rule, uint64_t *cfa)
{
	const uint64_t off = (uint64_t)(int64_t)rule->cfa_off;
	bool found = false;

	if (walker->sp_is_lost && rule->cfa != UNWIND_CFA_BP)
		return find_cfa_by_record(walker, rule, cfa);
	switch (rule->cfa) {
	case UNWIND_CFA_SP:
		*cfa = walker->sp + off;
		follow_bx(walker, rule, *cfa);
		return true;
	case UNWIND_CFA_BP:
		*cfa = walker->bp + off;
		follow_bx(walker, rule, *cfa);
		return true;
	case UNWIND_CFA_PLT:
		*cfa = walker->sp + 8 + ((walker->ip & 15) >= (uint64_t)rule->cfa_off ? 8 : 0);
		return true;
	case UNWIND_CFA_DEREF_SP:
		found = read_cfa(walker, rule, walker->sp, cfa);
		break;
	case UNWIND_CFA_DEREF_BP:
		found = read_cfa(walker, rule, walker->bp, cfa);
		break;
	case UNWIND_CFA_REGISTER:
		found = read_register(walker, unwind_register(rule), cfa);
		if (found)
			*cfa += off;
		break;
	case UNWIND_CFA_DEREF_INDEXED:
		found = read_register(walker, unwind_register(rule), cfa) &&
			read_cfa(walker, rule, walker->sp + 8 * *cfa, cfa);
		break;
	default:
		break;
	}
	walker->bx_at = BX_LOST;
	return found;
}

static bool go_up(struct walker *walker, uint64_t ip, uint64_t sp, uint64_t bp,
	const struct unwind_rule *rule)
{
	/* A function without a frame, such as a leaf on arm64, has its caller's stack. */
	if (sp < walker->sp || (sp == walker->sp && !walker->exact))
		return false;
	if (walker->is_arm64)
		ip &= ARM64_ADDRESS;
	walker->ip = ip;
	walker->sp = sp;
	walker->bp = bp;
	walker->is_caller = true;
	walker->exact = rule->flags & UNWIND_SIGNAL;
	walker->has_lr = false;
	walker->sp_is_lost = false;
	walker->is_guessed = false;
	return true;
}

static bool step_signal(struct walker *walker, const struct unwind_rule *rule)
{
	uint64_t ip, sp, bp = walker->bp;

	if (walker->sp_is_lost ||
		!read_word(walker, walker->sp + (uint64_t)(int64_t)rule->ra_off, &ip) ||
		!read_word(walker, walker->sp + (uint64_t)(int64_t)rule->cfa_off, &sp) ||
		(rule->bp == UNWIND_REG_CFA &&
			!read_word(walker, walker->sp + (uint64_t)(int64_t)rule->bp_off, &bp)))
		return false;
	walker->ip = ip;
	walker->bp = bp;
	walker->regs = NULL;
	walker->bx_at = 0;
	/* 16 registers are before the ip; on arm64, x0 to x30 and sp. */
	walker->saved_at =
		walker->sp + (uint64_t)(int64_t)rule->ra_off - 8ull * (walker->is_arm64 ? 32 : 16);
	walker->is_caller = false;
	walker->exact = true;
	/* x30, sp and pc are adjacent in arm64's struct sigcontext. */
	walker->has_lr = walker->is_arm64 &&
		read_word(walker, walker->sp + (uint64_t)(int64_t)rule->ra_off - 16, &walker->lr);
	/* The handler ran on an alternate stack.  There is no copy of the interrupted one. */
	walker->is_away = sp <= walker->sp || sp - walker->sp > SIGNAL_FRAME_MAX;
	if (walker->is_away)
		walker->stack_len = 0;
	walker->sp = sp;
	return true;
}

static bool step_rule(struct walker *walker, const struct unwind_rule *rule)
{
	uint64_t cfa, ip, bp;

	if (rule->cfa == UNWIND_CFA_SIGNAL)
		return step_signal(walker, rule);
	return find_cfa(walker, rule, &cfa) && find_return(walker, rule, cfa, &ip) &&
		find_bp(walker, rule, cfa, &bp) && go_up(walker, ip, cfa, bp, rule);
}

/* Steps up from code without rules, such as that of runtimes: by the frame pointer, if that leads
 * up to code. */
static bool step_frame_pointer(struct walker *walker)
{
	static const struct unwind_rule rule;
	uint64_t ip, bp;

	if (walker->bp < walker->sp || !read_word(walker, walker->bp, &bp) ||
		!read_word(walker, walker->bp + 8, &ip) ||
		!is_code(walker->space, walker->is_arm64 ? ip & ARM64_ADDRESS : ip) ||
		(bp <= walker->bp && bp) || !go_up(walker, ip, walker->bp + 16, bp, &rule))
		return false;
	walker->regs = NULL;
	walker->saved_at = 0;
	walker->bx_at = BX_LOST;
	/* On arm64 the record is at the lower end of its frame. */
	walker->sp_is_lost = walker->is_arm64;
	walker->is_guessed = true;
	return true;
}

/* --- chains --- */

static bool is_in_image(
	const struct unwind *unwind, const struct walker *walker, enum image_kind kind)
{
	const struct image *image;
	uint64_t offset;
	uint32_t id;

	space_resolve(walker->space, walker->ip, &id, &offset);
	image = images_get(unwind->images, id);
	return image && image->kind == kind;
}

/* Whether a frame pointer of 0 ends the chain, as in code generated by runtimes.  Programs for
 * arm64 without frame pointers leave x29 at the 0 that the kernel starts them with.  In a file with
 * tables, code without rules is assembly, where a register of 0 proves nothing. */
static bool ends_by_frame_pointer(const struct unwind *unwind, const struct walker *walker)
{
	return !walker->bp && !unwind->last_has_table &&
		!(walker->is_arm64 && is_in_image(unwind, walker, IMAGE_FILE));
}

/* Whether ip is in the trampoline of a signal handler on arm64, in a vdso without rules.  The vdso
 * of a recording from another machine may be missing.  On arm64 its functions make no calls, so a
 * caller in it is the trampoline. */
static bool is_trampoline(const struct unwind *unwind, struct walker *walker)
{
	uint64_t ip;

	return walker->is_arm64 && !walker->exact && !walker->sp_is_lost &&
		is_in_image(unwind, walker, IMAGE_VDSO) &&
		read_word(walker, walker->sp + (uint64_t)arm64_signal.ra_off, &ip) &&
		is_code(walker->space, ip);
}

/* Returns the end of a chain that does not go on. */
static enum unwind_end find_end(const struct walker *walker)
{
	if (walker->is_away)
		return UNWIND_AWAY;
	return walker->beyond ? UNWIND_CUT : UNWIND_BROKEN;
}

/* Whether ip is the start of a coroutine's first function, which has no caller.  makecontext() and
 * similar functions store the address of a function as that of its caller.  If a call ends before
 * that function (UNWIND_CFA_CALL), it is a true return address, of a call that never returned. */
static bool begins_function(struct unwind *unwind, const struct walker *walker)
{
	struct unwind_rule rule;

	return !walker->exact && !walker->is_guessed &&
		find_rule(unwind, walker->space, walker->ip, &rule) && unwind_tells(&rule);
}

/* Whether address is the second byte of a function, on x86-64.  No call returns there, because
 * calls have two bytes at least.  Go has such an address in goexit() below each goroutine.  rule:
 * at the first byte. */
static bool is_behind_first_byte(struct unwind *unwind, const struct space *space, uint64_t address,
	const struct unwind_rule *rule)
{
	struct unwind_rule before;

	return rule->cfa_off == 8 && rule->ra == UNWIND_REG_CFA && rule->cfa == UNWIND_CFA_SP &&
		find_rule(unwind, space, address - 2, &before) && !unwind_tells(&before);
}

static enum unwind_end walk(
	struct unwind *unwind, struct walker *walker, uint64_t *out, size_t max, size_t *n)
{
	for (*n = 0; *n < max;) {
		struct unwind_rule rule;

		/* Runtimes end the stacks that they make with a return address of 0. */
		if (*n && !walker->ip)
			return UNWIND_WHOLE;
		if (*n && !is_code(walker->space, walker->ip))
			return UNWIND_BROKEN;
		/* Readers look for a call before each address but the first. */
		out[*n] = walker->ip + (*n && walker->exact);
		++*n;
		if (!find_rule(unwind, walker->space, walker->ip - !walker->exact, &rule))
			return UNWIND_WAITS;
		if (rule.cfa == UNWIND_CFA_END ||
			(!walker->exact && rule.cfa_off == 8 &&
				is_behind_first_byte(unwind, walker->space, walker->ip, &rule)))
			return UNWIND_WHOLE;
		walker->beyond = false;
		if (rule.cfa == UNWIND_CFA_NONE && is_trampoline(unwind, walker))
			rule = arm64_signal;
		/* A handler returns to the first instruction of the trampoline, which is not after
		 * a call. */
		if (rule.cfa == UNWIND_CFA_SIGNAL && *n > 1 && !walker->exact)
			out[*n - 1]++;
		if (rule.cfa == UNWIND_CFA_NONE && begins_function(unwind, walker)) {
			out[*n - 1]++;
			return UNWIND_WHOLE;
		}
		if (!unwind_tells(&rule)) {
			if (*n > 1 && ends_by_frame_pointer(unwind, walker))
				return UNWIND_WHOLE;
			if (!step_frame_pointer(walker)) {
				/* Assembly keeps other data in the frame pointer. */
				walker->beyond &= !unwind->last_has_table;
				return find_end(walker);
			}
		} else if (!step_rule(walker, &rule)) {
			return find_end(walker);
		}
	}
	return *n && !walker->ip ? UNWIND_WHOLE : UNWIND_DEEP;
}

/* Returns the index after a user address in the kernel's chain, if the chain goes on there; 0 if
 * not. */
static uint64_t find_behind(const struct record_sample *sample, uint64_t address)
{
	uint64_t i = sample->chain_len;

	while (i && sample->chain[i - 1] < (uint64_t)PERF_CONTEXT_MAX &&
		sample->chain[i - 1] != address)
		i--;
	return i && i < sample->chain_len && sample->chain[i - 1] == address ? i : 0;
}

/* Continues a chain with the kernel's one, found by frame pointers, if that passes the same
 * address.  It may be the last address but one: Go's runtime switches to a stack of its own, and
 * the last word there is an old return address. */
static enum unwind_end join(struct unwind *unwind, const struct space *space,
	const struct record_sample *sample, uint64_t *out, size_t max, size_t *n,
	enum unwind_end end)
{
	uint64_t i = find_behind(sample, out[*n - 1]);

	if (!i && *n > 2 && end != UNWIND_WHOLE) {
		i = find_behind(sample, out[*n - 2]);
		*n -= i > 0;
	}
	if (!i)
		return end;
	for (; i < sample->chain_len && *n < max && is_code(space, sample->chain[i]); i++)
		out[(*n)++] = sample->chain[i];
	if (i < sample->chain_len)
		return end == UNWIND_WHOLE ? UNWIND_BROKEN : end;
	switch (unwind_root(unwind, space, out[*n - 1], false)) {
	case UNWIND_WHOLE:
		return UNWIND_WHOLE;
	case UNWIND_WAITS:
		return UNWIND_WAITS;
	default:
		return end == UNWIND_WHOLE ? UNWIND_BROKEN : end;
	}
}

enum unwind_end unwind_chain(struct unwind *unwind, const struct space *space,
	const struct record_sample *sample, const struct record_format *format, uint16_t machine,
	uint64_t *out, size_t max, size_t *n)
{
	struct walker walker = {.space = space,
		.stack = sample->more.stack,
		.stack_len = sample->more.stack_len,
		.stack_ends = sample->more.stack_ends,
		.regs = &sample->more.regs_user,
		.regs_mask = format->regs_user,
		.is_arm64 = machine == EM_AARCH64,
		.exact = true};

	*n = 0;
	unwind->lacked_register = false;
	if (!take_registers(&walker, &sample->more.regs_user, format->regs_user))
		return UNWIND_BROKEN;
	walker.stack_at = walker.sp;
	if (max > UNWIND_FRAMES_MAX)
		max = UNWIND_FRAMES_MAX;
	enum unwind_end end = walk(unwind, &walker, out, max, n);
	/* A return address of 0 may also come from a stack to which Go's runtime has switched. */
	if (*n && end != UNWIND_WAITS && (end != UNWIND_WHOLE || !walker.ip))
		end = join(unwind, space, sample, out, max, n, end);
	unwind->lacked_register = walker.lacks_register && end == UNWIND_BROKEN;
	return end;
}

enum unwind_end unwind_root(
	struct unwind *unwind, const struct space *space, uint64_t address, bool exact)
{
	struct unwind_rule rule;

	if (!find_rule(unwind, space, address - !exact, &rule))
		return UNWIND_WAITS;
	return rule.cfa == UNWIND_CFA_END ||
			(!exact && is_behind_first_byte(unwind, space, address, &rule))
		? UNWIND_WHOLE
		: UNWIND_BROKEN;
}
