/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chain_notes.c - see chain_notes.h.
 */
#include "tui/chain_notes.h"

#include "symbols/unwind.h"
#include "tui/clean.h"
#include "tui/explain_errno.h"
#include "tui/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define CHAINS_MIN 20u /* that broke in an image, before it is named */
#define PERCENT_MIN 1.0
#define CUT_MIN 200u /* chains */
#define CUT_PERCENT_MIN 5.0
#define FRAMES_KEPT "512" /* UNWIND_FRAMES_MAX */

static void explain_unreadable(const struct chain_break *where, char *out, size_t size)
{
	const char *why = where->deleted ? "was deleted" : "cannot be read";
	const char *remedy = "";

	if (where->deleted)
		remedy = ": restart the program";
	else if (where->error == EACCES || where->error == EPERM)
		remedy = ". Root may read it, or a strobe with cap_sys_ptrace";
	else if (where->recorded)
		remedy = ". --symfs names a directory that has it";
	snprintf(out, size, "in '%s', which %s (%s)%s", where->path, why,
		explain_errno(where->error), remedy);
}

static void explain_file(const struct chain_break *where, char *out, size_t size)
{
	if (where->state == SYMBOLS_UNREADABLE)
		explain_unreadable(where, out, size);
	else if (where->is_32_bits)
		snprintf(out, size,
			"in '%s', of 32 bits, which is unwound by frame pointers alone: rebuild it "
			"with -fno-omit-frame-pointer",
			where->path);
	else if (where->is_go)
		snprintf(out, size,
			"in '%s', a Go program: chains follow its frame pointers, which assembly "
			"of its runtime does not keep",
			where->path);
	else if (where->state == SYMBOLS_NONE)
		snprintf(out, size,
			"in '%s', which has no unwind data: rebuild it with "
			"-fasynchronous-unwind-tables or -fno-omit-frame-pointer",
			where->path);
	else if (where->state == SYMBOLS_READY && !where->copied && !where->keeps_bp)
		snprintf(out, size,
			"in '%s', which keeps no frame pointers. It has unwind data: %s it with "
			"--call-graph dwarf",
			where->path, where->recorded ? "record" : "sample");
}

bool chain_notes_explain(const struct chain_break *where, char *out, size_t size)
{
	char what[1024] = "", raw[1200];

	if (where->kind == IMAGE_FILE)
		explain_file(where, what, sizeof(what));
	else if (where->kind == IMAGE_ANON)
		snprintf(what, sizeof(what),
			"in code that process %" PRId32
			" made at run time, without frame pointers. To have them: java "
			"-XX:+PreserveFramePointer, node --perf-basic-prof "
			"--interpreted-frames-native-stack",
			where->pid);
	snprintf(raw, sizeof(raw), "%.1f%% of call chains break %s", where->percent, what);
	clean_string(out, size, what[0] ? raw : "");
	return what[0];
}

/* --- of a session --- */

static bool is_told(const struct chain_notes *notes, uint32_t image)
{
	for (unsigned int i = 0; i < notes->n; i++)
		if (notes->images[i] == image)
			return true;
	return false;
}

static bool find_break(const struct session *session, const struct unwind_totals *totals, size_t i,
	struct chain_break *where)
{
	const uint32_t key = totals->broken[i].image;
	struct images *images = session_images(session);
	const struct image *image = images_get(images, key);
	struct image_origin origin;
	const struct unwtab *table;

	if (!image)
		return false;
	images_origin(images, key, &origin);
	*where = (struct chain_break){
		.percent = 100 * (double)totals->broken[i].chains / (double)totals->judged,
		.kind = image->kind,
		.path = image->path,
		.pid = origin.pid,
		.state = symbols_unwind_state(session->symbols, key, &table),
		.error = symbols_unwind_error(session->symbols, key),
		.deleted = image->deleted,
		.copied = totals->stack_bytes,
		.recorded = session->recording,
	};
	where->keeps_bp = table && unwtab_keeps_bp(table);
	where->is_go = table && table->flags & UNWTAB_GO;
	where->is_32_bits = table && table->flags & UNWTAB_32_BITS;
	/* The linker's start files give each program some. */
	if (table && table->flags & UNWTAB_SPARSE)
		where->state = SYMBOLS_NONE;
	return where->percent >= PERCENT_MIN;
}

static int add_images(struct chain_notes *notes, const struct session *session,
	const struct unwind_totals *totals, chain_notes_fn *add, void *ctx)
{
	struct chain_break where;
	char sentence[1200];
	int ret = 0;

	for (size_t i = 0; i < UNWIND_BROKEN_MAX && !ret; i++) {
		const uint32_t image = totals->broken[i].image;
		if (notes->n == CHAIN_NOTES_IMAGES || totals->broken[i].chains < CHAINS_MIN)
			break;
		if (is_told(notes, image) || !find_break(session, totals, i, &where) ||
			!chain_notes_explain(&where, sentence, sizeof(sentence)))
			continue;
		notes->images[notes->n++] = image;
		ret = add(ctx, EXPLAIN_WARNING, sentence);
	}
	return ret;
}

static const char *explain_end(enum unwind_end end, uint32_t copied)
{
	if (end == UNWIND_AWAY)
		return "go on on another stack, as in handlers of signals that have a stack of "
		       "their own: samples copy one stack alone";
	if (end == UNWIND_DEEP)
		return "are cut at the root, which is [truncated]: unwind tables give " FRAMES_KEPT
		       " frames of user space, frame pointers kernel.perf_event_max_stack, 127 "
		       "unless it is raised (sudo sysctl kernel.perf_event_max_stack=1024), and "
		       "--max-stack may be less";
	if (copied < UNWIND_STACK_MAX / 8 * 8)
		return "end where the copy of their stack does: --call-graph dwarf,65528 copies "
		       "the most that the kernel can";
	return "end where the copy of their stack does: 65528 bytes, the most that the kernel "
	       "copies, or fewer where buffers are small (--ring-pages)";
}

bool chain_notes_explain_end(enum unwind_end end, const struct unwind_ends *ends, uint32_t copied,
	char *out, size_t size)
{
	const uint64_t n = end == UNWIND_CUT ? ends->cut
		: end == UNWIND_AWAY	     ? ends->away
					     : ends->deep;
	const double percent = 100 * (double)n / (double)(unwind_judged(ends) + !n);

	/* Sizes of copies adapt; what is too deep stays so. */
	const bool deep = end == UNWIND_DEEP;

	out[0] = '\0';
	if (n < (deep ? CHAINS_MIN : CUT_MIN) || percent < (deep ? PERCENT_MIN : CUT_PERCENT_MIN))
		return false;
	snprintf(out, size, "%.1f%% of call chains %s", percent, explain_end(end, copied));
	return true;
}

static struct unwind_ends sum_ends(const struct engine_status *status)
{
	struct unwind_ends sum = {0};

	for (unsigned int i = 0; i < status->n_events; i++)
		unwind_ends_add(&sum, &status->events[i].chains);
	return sum;
}

/* On chains that end before the root, though all data for them is there. */
static int add_ends(struct chain_notes *notes, const struct engine_status *status,
	chain_notes_fn *add, void *ctx)
{
	static const enum unwind_end told[] = {UNWIND_DEEP, UNWIND_CUT, UNWIND_AWAY};
	const struct unwind_ends ends = sum_ends(status);
	char sentence[400];
	int ret = 0;

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]) && !ret; i++) {
		if ((told[i] != UNWIND_DEEP && !status->chains.stack_bytes) ||
			notes->ends & 1u << told[i] ||
			!chain_notes_explain_end(told[i], &ends, status->chains.stack_bytes,
				sentence, sizeof(sentence)))
			continue;
		notes->ends |= 1u << told[i];
		ret = add(ctx, EXPLAIN_WARNING, sentence);
	}
	return ret;
}

bool chain_notes_explain_hits(const struct engine_event_status *event, char *out, size_t size)
{
	const uint64_t judged = unwind_judged(&event->chains);
	const double percent = 100 * (double)event->chains.broken / (double)(judged + !judged);
	char raw[512];

	out[0] = '\0';
	if (event->chains.broken < CHAINS_MIN || percent < CUT_PERCENT_MIN)
		return false;
	snprintf(raw, sizeof(raw),
		"%.1f%% of call chains of %s break: it fires at each hit, so its chains are by "
		"frame "
		"pointers. --call-graph dwarf copies stacks at each hit, too",
		percent, event->name);
	clean_string(out, size, raw);
	return true;
}

/* By default copies are made for other events alone. */
static int add_hits(struct chain_notes *notes, const struct engine_status *status,
	chain_notes_fn *add, void *ctx)
{
	char sentence[600];

	for (size_t i = 0; i < status->n_events && !notes->hits && status->chains.stack_bytes;
		i++) {
		if (status->events[i].stack_bytes ||
			!chain_notes_explain_hits(&status->events[i], sentence, sizeof(sentence)))
			continue;
		notes->hits = true;
		return add(ctx, EXPLAIN_INFO, sentence);
	}
	return 0;
}

int chain_notes_add(struct chain_notes *notes, const struct session *session,
	const struct engine_status *status, chain_notes_fn *add, void *ctx)
{
	const struct unwind_totals *totals = &status->chains;
	char sentence[256];
	int ret = add_images(notes, session, totals, add, ctx);

	if (!ret)
		ret = add_ends(notes, status, add, ctx);
	if (!ret && !session->recording)
		ret = add_hits(notes, status, add, ctx);
	if (!ret && totals->late && !notes->late) {
		notes->late = true;
		snprintf(sentence, sizeof(sentence),
			"unwind tables came too late for %" PRIu64
			" sample%s: their call chains are by frame pointers",
			totals->late, totals->late == 1 ? "" : "s");
		ret = add(ctx, EXPLAIN_INFO, sentence);
	}
	if (!ret && totals->dropped && !notes->dropped) {
		notes->dropped = true;
		snprintf(sentence, sizeof(sentence),
			"%" PRIu64
			" address%s of call chains in no executable mapping %s left out: a walk by "
			"frame pointers may find any word of the stack",
			totals->dropped, totals->dropped == 1 ? "" : "es",
			totals->dropped == 1 ? "is" : "are");
		ret = add(ctx, EXPLAIN_INFO, sentence);
	}
	if (!ret && totals->unread && !notes->unread) {
		notes->unread = true;
		snprintf(sentence, sizeof(sentence),
			"%" PRIu64
			" call chain%s cannot be unwound: the copies of stacks are of 32-bit code, "
			"or without the registers that unwinding needs",
			totals->unread, totals->unread == 1 ? "" : "s");
		ret = add(ctx, EXPLAIN_WARNING, sentence);
	}
	return ret;
}
