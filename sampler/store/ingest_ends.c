/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest_ends.c - judges how callchains end, and builds chains from stack copies and call stacks.
 *
 * See ingest.h.  Sampling thread.
 */
#include "sampler/store/ingest_ends.h"

#include "sampler/base/grow.h"
#include "sampler/kernel/call_stack.h"
#include "sampler/store/spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Number of context markers after the user addresses at the end of a recorded chain.  The kernel
 * writes none there, and perf shows none.  A chain that broke, or is too deep, has none. */
enum chain_marks {
	MARKS_WHOLE = 1,
	MARKS_CUT,
	MARKS_AWAY,
	MARKS_LATE, /* the kernel's chain, however it ends */
};
/* Words for a stack's addresses, a context marker, the markers at the end and one more address.
 * With that address, a longer chain counts as truncated. */
#define CHAIN_WORDS_MAX (STACK_DEPTH_MAX + MARKS_LATE + 2u)
#define KERNEL_FRAMES 127u /* kernel.perf_event_max_stack, unless changed */

int ingest_set_unwind(struct ingest *ingest, const struct unwind_source *source)
{
	ingest->rules = *source;
	return unwind_new(&ingest->unwind, ingest->images, source);
}

/* Counts a broken chain.  Keeps its last address if the unwind table of the image has no rule
 * there. */
static void count_unwound(struct ingest *ingest, struct unwind_broken *broken,
	const struct space *space, uint64_t address)
{
	struct unwind_rule rule = {.cfa = UNWIND_CFA_NONE};
	uint64_t offset;
	uint32_t image;

	broken->unwound++;
	space_resolve(space, address, &image, &offset);
	if (image != broken->image ||
		(ingest->rules.find(ingest->rules.ctx, image, offset, &rule) == UNWIND_KNOWN &&
			unwind_tells(&rule)))
		return;
	broken->places[broken->ruleless++ % UNWIND_PLACES] = offset;
	if (broken->n_places < UNWIND_PLACES)
		broken->n_places++;
}

/* Counts a broken chain by image.  address: last code address of a chain unwound by tables; 0 for
 * other chains.  is_lacking: the sample lacks a register that unwinding needs. */
static void count_broken(
	struct ingest *ingest, const struct space *space, uint64_t address, bool is_lacking)
{
	const uint32_t image = unwind_last_image(ingest->unwind);

	if (grow_zeroed(
		    &ingest->broken_in, image, &ingest->n_broken_in, sizeof(*ingest->broken_in)))
		return;
	ingest->broken_in[image].image = image;
	ingest->broken_in[image].chains++;
	ingest->broken_in[image].lacking += is_lacking;
	if (address && image != IMAGE_ID_UNKNOWN)
		count_unwound(ingest, &ingest->broken_in[image], space, address);
}

static enum unwind_end judge(struct ingest *ingest, enum unwind_end end)
{
	ingest->judged += end != UNWIND_UNTRIED && end != UNWIND_WAITS;
	return end;
}

static void find_most_broken(const struct ingest *ingest, struct unwind_broken *out)
{
	memset(out, 0, UNWIND_BROKEN_MAX * sizeof(*out));
	for (uint32_t image = IMAGE_ID_UNKNOWN + 1; image < ingest->n_broken_in; image++) {
		size_t at = UNWIND_BROKEN_MAX;

		while (at && ingest->broken_in[image].chains > out[at - 1].chains)
			at--;
		if (at == UNWIND_BROKEN_MAX)
			continue;
		memmove(&out[at + 1], &out[at], (UNWIND_BROKEN_MAX - 1 - at) * sizeof(*out));
		out[at] = ingest->broken_in[image];
	}
}

void ingest_unwind_totals(const struct ingest *ingest, struct unwind_totals *out)
{
	out->judged = ingest->judged;
	out->dropped = ingest->dropped;
	out->unread = ingest->unread;
	out->late = ingest->late;
	out->nowhere = ingest->n_broken_in ? ingest->broken_in[IMAGE_ID_UNKNOWN].chains : 0;
	find_most_broken(ingest, out->broken);
}

static size_t count_frames(const uint64_t *chain, uint64_t n)
{
	size_t frames = 0;

	for (uint64_t i = 0; i < n; i++)
		frames += chain[i] < (uint64_t)PERF_CONTEXT_MAX;
	return frames;
}

/* Whether the chain has as many addresses as it may have been taken with. */
static bool is_deepest(const struct record_sample *sample, uint16_t max_stack)
{
	const size_t n = count_frames(sample->chain, sample->chain_len);

	return n == (max_stack ? max_stack : KERNEL_FRAMES) || n >= UNWIND_FRAMES_MAX;
}

/* Whether the kernel's own walk ended at this address in a chain with room for more. */
static bool is_kernel_root(const struct ingest *ingest, uint64_t address)
{
	for (size_t i = 0; i < ingest->n_kernel_roots; i++)
		if (ingest->kernel_roots[i] == address)
			return true;
	return false;
}

static void note_kernel_root(struct ingest *ingest, uint64_t address)
{
	const size_t room = sizeof(ingest->kernel_roots) / sizeof(ingest->kernel_roots[0]);

	if (ingest->n_kernel_roots < room && !is_kernel_root(ingest, address))
		ingest->kernel_roots[ingest->n_kernel_roots++] = address;
}

/* Judges a chain without user code, which is whole.  Kernel threads have none, nor have tasks that
 * freed their memory at their exit, nor events with exclude_callchain_user. */
static enum unwind_end judge_kernel(struct ingest *ingest, const struct space *space,
	const struct record_sample *sample, uint16_t max_stack)
{
	const uint64_t outermost = sample->chain[sample->chain_len - 1];
	const bool is_thread = !space || !space_count(space);

	if (is_deepest(sample, max_stack) && !(is_thread && is_kernel_root(ingest, outermost)))
		return UNWIND_DEEP;
	if (is_thread)
		note_kernel_root(ingest, outermost);
	return UNWIND_WHOLE;
}

static uint64_t count_marks(const struct record_sample *sample)
{
	const uint64_t n = sample->chain_len;
	uint64_t marks = 0;

	while (marks < n && sample->chain[n - 1 - marks] == (uint64_t)PERF_CONTEXT_USER)
		marks++;
	return marks < n && !(sample->chain[n - 1 - marks] >> 63) ? marks : 0;
}

static size_t put_marks(uint64_t *chain, size_t n, enum chain_marks marks)
{
	for (unsigned int i = 0; i < marks; i++)
		chain[n++] = (uint64_t)PERF_CONTEXT_USER;
	return n;
}

/* Judges whether the chain goes on at its outermost address.  A walk by frame pointers may end with
 * words that are no code, even after a root.  The last code before them decides; *address is set to
 * it. */
static enum unwind_end judge_outermost(struct unwind *unwind, const struct space *space,
	const uint64_t *chain, uint64_t n, uint64_t *address)
{
	enum unwind_end end = UNWIND_UNTRIED;

	for (uint64_t i = n; i && chain[i - 1] < (uint64_t)PERF_CONTEXT_MAX; i--) {
		const bool exact = i < 2 || chain[i - 2] >= (uint64_t)PERF_CONTEXT_MAX;

		*address = chain[i - 1] - !exact;
		end = unwind_root(unwind, space, chain[i - 1], exact);
		if (end != UNWIND_BROKEN || unwind_last_image(unwind) != IMAGE_ID_UNKNOWN)
			break;
	}
	return end;
}

/* Whether a chain ends with kernel code.  A walk by frame pointers may record any number as a user
 * address. */
static bool ends_in_kernel(const uint64_t *chain, uint64_t n)
{
	for (uint64_t i = n; i; i--) {
		if (chain[i - 1] == (uint64_t)PERF_CONTEXT_USER)
			return false;
		if (chain[i - 1] >= (uint64_t)PERF_CONTEXT_MAX)
			break;
	}
	return chain[n - 1] >> 63;
}

/* Judges a chain found by the kernel. */
enum unwind_end ingest_find_end(struct ingest *ingest, const struct space *space,
	const struct record_sample *sample, uint8_t event)
{
	const uint64_t marks = count_marks(sample), n = sample->chain_len - marks;
	const uint16_t max_stack = ingest->max_stack[event];
	uint64_t address = 0;
	enum unwind_end end;

	if (!n || !ingest->unwind)
		return UNWIND_UNTRIED;
	if (marks == MARKS_WHOLE)
		return judge(ingest, UNWIND_WHOLE);
	if (marks == MARKS_CUT || marks == MARKS_AWAY)
		return judge(ingest, marks == MARKS_CUT ? UNWIND_CUT : UNWIND_AWAY);
	ingest->late += marks == MARKS_LATE;
	/* The kernel's part left no room for the user's. */
	if (sample->chain[n - 1] >= (uint64_t)PERF_CONTEXT_MAX)
		return judge(ingest, is_deepest(sample, max_stack) ? UNWIND_DEEP : UNWIND_UNTRIED);
	/* The deferred user part never came. */
	if (n > 1 && sample->chain[n - 2] == RECORD_CONTEXT_USER_DEFERRED)
		return judge(ingest, UNWIND_CUT);
	if (ends_in_kernel(sample->chain, n))
		return judge(ingest, judge_kernel(ingest, space, sample, max_stack));
	if (!space || !space_count(space))
		return UNWIND_UNTRIED;
	end = judge_outermost(ingest->unwind, space, sample->chain, n, &address);
	/* A walk that goes in circles is just as long. */
	if (end == UNWIND_BROKEN && is_deepest(sample, max_stack) &&
		address + 1 >= sample->chain[n - 1])
		end = UNWIND_DEEP;
	if (end == UNWIND_BROKEN && marks != MARKS_LATE)
		count_broken(ingest, space, ingest->by_tables[event] ? address : 0, false);
	return judge(ingest, end);
}

enum unwind_end ingest_end(struct ingest *ingest, const struct record *record, uint8_t event)
{
	const struct record_id *id = &record->id;

	if (!ingest->unwind || !record->sample.chain_len)
		return UNWIND_UNTRIED;
	return ingest_find_end(ingest,
		tasks_space(ingest->tasks, (int32_t)id->pid, (int32_t)id->tid, id->time_ns),
		&record->sample, event);
}

void ingest_count_end(struct ingest *ingest, uint8_t event, uint8_t end)
{
	struct unwind_ends *ends = &ingest->ends[event];

	switch (end) {
	case UNWIND_WHOLE:
		ends->whole++;
		break;
	case UNWIND_CUT:
		ends->cut++;
		break;
	case UNWIND_BROKEN:
		ends->broken++;
		break;
	case UNWIND_AWAY:
		ends->away++;
		break;
	case UNWIND_DEEP:
		ends->deep++;
		break;
	default:
		break;
	}
}

/* Returns the next chain buffer, of CHAIN_WORDS_MAX words; NULL if memory runs out. */
static uint64_t *next_unwound(struct ingest *ingest)
{
	if (!ingest->unwound)
		ingest->unwound =
			malloc((INGEST_BATCH + 1) * CHAIN_WORDS_MAX * sizeof(*ingest->unwound));
	if (!ingest->unwound)
		return NULL;
	return &ingest->unwound[ingest->n_unwound++ % (INGEST_BATCH + 1) * CHAIN_WORDS_MAX];
}

/* Copies the kernel's part of a chain, at most max words.  Returns their number. */
static size_t copy_kernel_part(const struct record_sample *sample, uint64_t *out, size_t max)
{
	size_t n = 0;

	while (n < sample->chain_len && n < max &&
		sample->chain[n] != (uint64_t)PERF_CONTEXT_USER) {
		out[n] = sample->chain[n];
		n++;
	}
	return n;
}

static int take_call_stack(
	struct ingest *ingest, struct record *record, const struct record_format *format)
{
	uint64_t *chain = next_unwound(ingest);
	size_t n;

	if (!chain)
		return -ENOMEM;
	n = call_stack_chain(record, format, chain, CHAIN_WORDS_MAX);
	if (n) {
		record->sample.chain = chain;
		record->sample.chain_len = n;
	}
	return 0;
}

/* Appends markers for an end that the chain's last address does not show.  Readers of a recording
 * judge the chain by that address. */
static size_t mark_end(struct ingest *ingest, const struct space *space, enum unwind_end end,
	uint64_t *chain, size_t n)
{
	if (end == UNWIND_CUT)
		return put_marks(chain, n, MARKS_CUT);
	if (end == UNWIND_AWAY)
		return put_marks(chain, n, MARKS_AWAY);
	if (end == UNWIND_WHOLE &&
		unwind_root(ingest->unwind, space, chain[n - 1], false) != UNWIND_WHOLE)
		return put_marks(chain, n, MARKS_WHOLE);
	return n;
}

/* Returns how many user frames may follow the kernel's. */
static size_t user_frames(const struct record_format *format, const uint64_t *chain, size_t n)
{
	const size_t frames = count_frames(chain, n), most = STACK_DEPTH_MAX / 2;

	if (!format->max_stack || format->max_stack >= frames + most)
		return most;
	return format->max_stack > frames ? format->max_stack - frames : 0;
}

/* Judges a sample that has a stack copy but no user chain.  The copy is 32-bit or lacks
 * registers. */
static enum unwind_end judge_unread(struct ingest *ingest, const struct record_sample *sample,
	const struct record_format *format)
{
	if (!ingest->unwind || !(format->sample_type & PERF_SAMPLE_STACK_USER) ||
		!format->no_user_chain || !sample->has_more ||
		sample->more.regs_user.abi == PERF_SAMPLE_REGS_ABI_NONE)
		return UNWIND_UNTRIED;
	ingest->unread++;
	ingest->judged++;
	return UNWIND_BROKEN;
}

int ingest_unwind(struct ingest *ingest, struct record *record, const struct record_format *format,
	enum unwind_end *end)
{
	struct record_sample *sample = &record->sample;
	const struct space *space;
	uint64_t *chain;
	size_t n, found;

	*end = UNWIND_UNTRIED;
	if (call_stack_in(format))
		return take_call_stack(ingest, record, format);
	if (!ingest->unwind || !unwind_can(sample, format, ingest->machine)) {
		*end = judge_unread(ingest, sample, format);
		return 0;
	}
	chain = next_unwound(ingest);
	if (!chain)
		return -ENOMEM;
	space = tasks_space(ingest->tasks, (int32_t)record->id.pid, (int32_t)record->id.tid,
		record->id.time_ns);
	n = copy_kernel_part(sample, chain, STACK_DEPTH_MAX / 2 - 1);
	const size_t most = user_frames(format, chain, n);

	chain[n++] = (uint64_t)PERF_CONTEXT_USER;
	*end = unwind_chain(
		ingest->unwind, space, sample, format, ingest->machine, chain + n, most, &found);
	if (judge(ingest, *end) == UNWIND_WAITS)
		return 0;
	n += found;
	if (*end == UNWIND_BROKEN)
		count_broken(ingest, space, found ? chain[n - 1] - (found > 1) : 0,
			unwind_lacked_register(ingest->unwind));
	sample->chain = chain;
	sample->chain_len = found ? mark_end(ingest, space, *end, chain, n) : n;
	return 0;
}

/* Marks that the chain is the kernel's.  Its next judgement counts the mark. */
static void mark_late(struct ingest *ingest, struct record *record)
{
	struct record_sample *sample = &record->sample;
	size_t n = sample->chain_len;
	uint64_t *chain = n && !(sample->chain[n - 1] >> 63) ? next_unwound(ingest) : NULL;

	if (!chain) {
		ingest->late++;
		return;
	}
	if (n > CHAIN_WORDS_MAX - MARKS_LATE)
		n = CHAIN_WORDS_MAX - MARKS_LATE;
	memcpy(chain, sample->chain, n * sizeof(*chain));
	sample->chain = chain;
	sample->chain_len = put_marks(chain, n, MARKS_LATE);
}

enum unwind_end ingest_give_up(struct ingest *ingest, struct record *record, uint8_t event)
{
	enum unwind_end end;

	mark_late(ingest, record);
	end = ingest_end(ingest, record, event);
	return end == UNWIND_WAITS ? judge(ingest, UNWIND_BROKEN) : end;
}
