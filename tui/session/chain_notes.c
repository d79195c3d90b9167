/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chain_notes.c - see chain_notes.h.
 */
#include "tui/session/chain_notes.h"

#include "sampler/control/status.h"
#include "symbols/client/unwind.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Causes with fewer chains, or a smaller share of all chains, are not reported. */
#define CHAINS_MIN 20u
#define PERCENT_MIN 0.5
/* An event with a smaller share of whole chains (rounded to tenths) gets an explanation. */
#define WHOLE_PERCENT 98.95
#define NAMES_MS 1000u
/* While sampling, notes wait until there are this many chains and this much time has passed. */
#define DUE_CHAINS 200u
#define DUE_NS 5000000000ull
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

static void explain_table(const struct chain_break *where, char *out, size_t size)
{
	char functions[300] = "";

	if (where->function)
		snprintf(functions, sizeof(functions), " (%.200s%s)", where->function,
			where->more_functions ? " and others" : "");
	if (where->copied && where->ruleless)
		snprintf(out, size,
			"in '%s'%s, in code without unwind data, as assembly is that has no .cfi "
			"directives: only these help, or --call-graph lbr where the processor has "
			"it",
			where->path, functions);
	else if (where->copied && where->lacks_register)
		snprintf(out, size,
			"in '%s', where its unwind data finds the caller by a register that the "
			"%s not have%s",
			where->path, where->recorded ? "recording does" : "samples do",
			where->recorded ? ": record all of them, as perf record does without "
					  "--user-regs"
					: "");
	else if (where->copied)
		snprintf(out, size,
			"in '%s'%s, where its unwind data does not lead to a caller: it needs a "
			"register that is not known any more or a word below the stack pointer "
			"(which is not copied)%s does not fit this stack%s",
			where->path, functions, where->recorded ? "," : ", or",
			where->recorded ? ", or the copy of the stack was too short, which not "
					  "all recordings tell"
					: "");
	else
		snprintf(out, size,
			"in '%s', %s. It has unwind data: %s it with --call-graph dwarf",
			where->path,
			where->keeps_bp ? "parts of which keep no frame pointers"
					: "which keeps no frame pointers",
			where->recorded ? "record" : "sample");
}

static void explain_file(const struct chain_break *where, char *out, size_t size)
{
	if (where->state == SYMBOLS_UNREADABLE)
		explain_unreadable(where, out, size);
	else if (where->is_32_bits && where->is_go)
		snprintf(out, size,
			"in '%s', a Go program of 32 bits: chains follow frame pointers, which Go "
			"keeps in programs of 64 bits alone",
			where->path);
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
	else if (where->state == SYMBOLS_READY)
		explain_table(where, out, size);
}

/* Formats "12.3% of call chains", or their number if the share rounds to zero. */
static const char *format_share(uint64_t chains, double percent, char out[64])
{
	if (percent < 0.05)
		snprintf(out, 64, "%" PRIu64 " call chains", chains);
	else
		snprintf(out, 64, "%.1f%% of call chains", percent);
	return out;
}

bool chain_notes_explain(const struct chain_break *where, char *out, size_t size)
{
	char what[1024] = "", raw[1200], share[64];

	if (where->kind == IMAGE_FILE || where->kind == IMAGE_VDSO)
		explain_file(where, what, sizeof(what));
	else if (where->kind == IMAGE_ANON)
		snprintf(what, sizeof(what),
			"in code that process %" PRId32
			" made at run time, without frame pointers. To have them: java "
			"-XX:+PreserveFramePointer, node --perf-basic-prof "
			"--interpreted-frames-native-stack",
			where->pid);
	snprintf(raw, sizeof(raw), "%s break %s",
		format_share(where->chains, where->percent, share), what);
	clean_string(out, size, what[0] ? raw : "");
	return what[0];
}

static void explain_cut(const struct chain_ends *ends, char *out, size_t size)
{
	const uint32_t most = UNWIND_STACK_MAX / 8 * 8;

	if (!ends->copied && !ends->recorded)
		snprintf(out, size,
			"end where the copy of their stack did, before copies were switched off");
	else if (!ends->copied)
		snprintf(out, size,
			"lack their callers in user space, which the kernel tells later: it did "
			"not");
	else if (ends->first && ends->first < ends->copied)
		snprintf(out, size,
			"end where the copy of their stack does: copies were of %" PRIu32
			" bytes, and are of %" PRIu32
			" by now. --call-graph dwarf,65528 copies the most that the kernel can "
			"from the start",
			ends->first, ends->copied);
	else if (ends->first > ends->copied)
		snprintf(out, size,
			"end where the copy of their stack does: copies shrank to %" PRIu32
			" bytes, because longer ones were too many or samples were lost. A lower "
			"-F leaves room for longer ones",
			ends->copied);
	else if (ends->copied < most)
		snprintf(out, size,
			"end where the copy of their stack does: %s--call-graph dwarf,65528 copies "
			"the most that the kernel can",
			ends->recorded ? "record with " : "");
	else
		snprintf(out, size,
			"end where the copy of their stack does: 65528 bytes, the most that the "
			"kernel copies, or fewer where buffers are small (--ring-pages)");
}

void chain_notes_explain_end(const struct chain_ends *ends, char *out, size_t size)
{
	char what[400], share[64];

	if (ends->end == UNWIND_AWAY)
		snprintf(what, sizeof(what),
			"go on on another stack, as in handlers of signals that have a stack of "
			"their own: samples copy one stack alone");
	else if (ends->end == UNWIND_DEEP)
		snprintf(what, sizeof(what),
			"are cut at the root, which is [truncated]: unwind tables "
			"give " FRAMES_KEPT
			" frames of user space, frame pointers kernel.perf_event_max_stack, 127 "
			"unless it is raised (sudo sysctl kernel.perf_event_max_stack=1024), and "
			"--max-stack may be less");
	else
		explain_cut(ends, what, sizeof(what));
	snprintf(out, size, "%s %s", format_share(ends->chains, ends->percent, share), what);
}

static double percent_of(uint64_t chains, uint64_t judged)
{
	return judged ? 100 * (double)chains / (double)judged : 0;
}

void chain_notes_explain_hits(const struct engine_event_status *event, char *out, size_t size)
{
	const bool by_time = event->freq_hz || event->is_clock || event->span;
	char raw[512];

	snprintf(raw, sizeof(raw), "%.1f%% of call chains of %s break: %s",
		percent_of(event->chains.broken, unwind_judged(&event->chains)), event->name,
		by_time ? "they are by frame pointers, as its call-graph=fp asks"
			: "it fires at each hit, so its chains are by frame pointers. "
			  "--call-graph dwarf copies stacks at each hit, too");
	clean_string(out, size, raw);
}

/* --- notes on a session --- */

static bool is_told(const struct chain_notes *notes, uint32_t image)
{
	for (unsigned int i = 0; i < notes->n; i++)
		if (notes->images[i] == image)
			return true;
	return false;
}

/* Finds the name of the image's code without unwind rules: the function that contains most of the
 * places.  Returns false if the name may arrive later. */
static bool name_places(const struct chain_notes *notes, const struct session *session,
	const struct unwind_broken *broken, struct chain_break *where)
{
	const struct symref *found[UNWIND_PLACES];
	unsigned int most = 0;

	if (!broken->n_places)
		return true;
	/* Request the image's symbols. */
	(void)names_symref_at(session->names, broken->image, broken->places[0]);
	if (notes->waits)
		(void)names_wait(session->names, NAMES_MS);
	for (uint32_t i = 0; i < broken->n_places; i++)
		found[i] = names_get(session->names,
			names_symref_at(session->names, broken->image, broken->places[i]));
	for (uint32_t i = 0; i < broken->n_places; i++) {
		unsigned int same = 0;

		if (found[i]->pending && !notes->waits)
			return false;
		for (uint32_t j = 0; j < broken->n_places; j++)
			same += found[j] == found[i];
		where->more_functions |= found[i]->resolved && same < broken->n_places;
		if (found[i]->resolved && same > most) {
			most = same;
			where->function = found[i]->symbol;
		}
	}
	return true;
}

static bool find_break(const struct session *session, const struct unwind_totals *totals, size_t i,
	struct chain_break *where)
{
	const struct unwind_broken *broken = &totals->broken[i];
	const uint32_t key = broken->image;
	struct images *images = session_images(session);
	const struct image *image = images_get(images, key);
	struct image_origin origin;
	const struct unwtab *table;

	if (!image)
		return false;
	images_origin(images, key, &origin);
	*where = (struct chain_break){
		.kind = image->kind,
		.path = image->path,
		.pid = origin.pid,
		.state = symbols_unwind_state(session->symbols, key, &table),
		.error = symbols_unwind_error(session->symbols, key),
		.deleted = image->deleted,
		.copied = totals->stack_bytes,
		.ruleless = 2 * broken->ruleless > broken->unwound,
		.lacks_register = 2 * broken->lacking > broken->unwound,
		.recorded = session->recording,
	};
	where->keeps_bp = table && unwtab_keeps_bp(table);
	where->is_go = table && table->flags & UNWTAB_GO;
	where->is_32_bits = table && table->flags & UNWTAB_32_BITS;
	/* The linker's start files alone give each program a sparse table. */
	if (table && table->flags & UNWTAB_SPARSE)
		where->state = SYMBOLS_NONE;
	/* If the image has a table, count only chains unwound by it.  Chains by frame pointers have
	 * another note. */
	where->chains = where->copied && where->state == SYMBOLS_READY && !where->is_go &&
			!where->is_32_bits && where->kind != IMAGE_ANON
		? broken->unwound
		: broken->chains;
	where->percent = percent_of(where->chains, totals->judged);
	return true;
}

/* --- causes --- */

enum cause_kind {
	CAUSE_IMAGE, /* at: index into totals->broken */
	CAUSE_CUT,
	CAUSE_AWAY,
	CAUSE_DEEP,
	CAUSE_HITS, /* at: index of the event */
	CAUSE_UNREAD,
	CAUSE_NOWHERE,
	CAUSE_LATE,
	CAUSE_DROPPED,
};

struct cause {
	uint64_t chains;
	double percent;
	enum cause_kind kind;
	size_t at;
};

#define CAUSES_MAX (UNWIND_BROKEN_MAX + CAUSE_DROPPED)

struct causes {
	const struct session *session;
	const struct engine_status *status;
	uint64_t judged;
	size_t n;
	struct cause list[CAUSES_MAX];
};

/* Inserts a cause by falling number of chains. */
static void add_cause(
	struct causes *causes, enum cause_kind kind, size_t at, uint64_t chains, uint64_t judged)
{
	size_t i = causes->n;

	if (!chains)
		return;
	for (; i && causes->list[i - 1].chains < chains; i--)
		causes->list[i] = causes->list[i - 1];
	causes->list[i] = (struct cause){chains, percent_of(chains, judged), kind, at};
	causes->n++;
}

/* By default, stacks are copied for other events only.  Adds the event without copies that has the
 * most broken chains. */
static void add_hits(struct causes *causes)
{
	const struct engine_status *status = causes->status;
	const struct engine_event_status *found = NULL;

	for (size_t i = 0; i < status->n_events && status->chains.stack_bytes; i++)
		if (!status->events[i].stack_bytes &&
			(!found || status->events[i].chains.broken > found->chains.broken))
			found = &status->events[i];
	if (found)
		add_cause(causes, CAUSE_HITS, (size_t)(found - status->events),
			found->chains.broken, unwind_judged(&found->chains));
}

static void find_causes(struct causes *causes)
{
	const struct engine_status *status = causes->status;
	const struct unwind_totals *totals = &status->chains;
	struct unwind_ends ends = {0};
	struct chain_break where;

	for (size_t i = 0; i < status->n_events; i++)
		unwind_ends_add(&ends, &status->events[i].chains);
	const uint64_t judged = unwind_judged(&ends);

	causes->judged = totals->judged;
	for (size_t i = 0; i < UNWIND_BROKEN_MAX; i++)
		if (totals->broken[i].chains && find_break(causes->session, totals, i, &where))
			add_cause(causes, CAUSE_IMAGE, i, where.chains, totals->judged);
	add_cause(causes, CAUSE_CUT, 0, ends.cut, judged);
	add_cause(causes, CAUSE_AWAY, 0, ends.away, judged);
	add_cause(causes, CAUSE_DEEP, 0, ends.deep, judged);
	add_hits(causes);
	add_cause(causes, CAUSE_UNREAD, 0, totals->unread, totals->judged);
	add_cause(causes, CAUSE_NOWHERE, 0, totals->nowhere, totals->judged);
	add_cause(causes, CAUSE_LATE, 0, totals->late, totals->judged);
}

static bool explain_image(const struct chain_notes *notes, const struct causes *causes,
	const struct cause *cause, char *out, size_t size)
{
	const struct unwind_totals *totals = &causes->status->chains;
	struct chain_break where;

	if (notes->n == CHAIN_NOTES_IMAGES || is_told(notes, totals->broken[cause->at].image) ||
		!find_break(causes->session, totals, cause->at, &where))
		return false;
	if (where.copied && where.ruleless && where.state == SYMBOLS_READY &&
		!name_places(notes, causes->session, &totals->broken[cause->at], &where))
		return false;
	return chain_notes_explain(&where, out, size);
}

/* Uses the copy sizes of the event with the most cut chains. */
static void explain_end(
	const struct causes *causes, const struct cause *cause, char *out, size_t size)
{
	const struct engine_status *status = causes->status;
	struct chain_ends ends = {
		.end = cause->kind == CAUSE_AWAY    ? UNWIND_AWAY
			: cause->kind == CAUSE_DEEP ? UNWIND_DEEP
						    : UNWIND_CUT,
		.chains = cause->chains,
		.percent = cause->percent,
		.recorded = causes->session->recording,
	};
	uint64_t most = 0;

	for (size_t i = 0; i < status->n_events; i++) {
		const struct engine_event_status *event = &status->events[i];

		if (event->chains.cut <= most)
			continue;
		most = event->chains.cut;
		ends.copied = event->stack_bytes;
		ends.first = event->stack_first;
	}
	if (!ends.copied)
		ends.copied = status->chains.stack_bytes;
	chain_notes_explain_end(&ends, out, size);
}

/* Writes the sentence of a cause.  Returns false, with out empty, if nothing is known. */
static bool explain_cause(const struct chain_notes *notes, const struct causes *causes,
	const struct cause *cause, char *out, size_t size)
{
	const char *plural = cause->chains == 1 ? "" : "s";
	char share[64];

	switch (cause->kind) {
	case CAUSE_IMAGE:
		return explain_image(notes, causes, cause, out, size);
	case CAUSE_CUT:
	case CAUSE_AWAY:
	case CAUSE_DEEP:
		explain_end(causes, cause, out, size);
		break;
	case CAUSE_HITS:
		chain_notes_explain_hits(&causes->status->events[cause->at], out, size);
		break;
	case CAUSE_UNREAD:
		snprintf(out, size,
			"%" PRIu64
			" call chain%s cannot be unwound: the copies of stacks are of 32-bit code, "
			"or without the registers that unwinding needs",
			cause->chains, plural);
		break;
	case CAUSE_NOWHERE:
		snprintf(out, size,
			"%s break in code that lies in no known mapping, as while execve() "
			"replaces a program",
			format_share(cause->chains, cause->percent, share));
		break;
	case CAUSE_LATE:
		snprintf(out, size,
			"unwind tables came too late for %" PRIu64
			" sample%s: their call chains are by frame pointers",
			cause->chains, plural);
		break;
	case CAUSE_DROPPED:
		snprintf(out, size,
			"%" PRIu64
			" address%s of call chains in no executable mapping %s left out: a walk by "
			"frame pointers may find any word of the stack",
			cause->chains, cause->chains == 1 ? "" : "es",
			cause->chains == 1 ? "is" : "are");
		break;
	}
	return true;
}

static int tell(struct chain_notes *notes, const struct causes *causes, const struct cause *cause,
	chain_notes_fn *add, void *ctx)
{
	const bool is_info = cause->kind == CAUSE_HITS || cause->kind == CAUSE_LATE ||
		cause->kind == CAUSE_DROPPED;
	char sentence[1200];

	if ((cause->kind != CAUSE_IMAGE && notes->told & 1u << cause->kind) ||
		!explain_cause(notes, causes, cause, sentence, sizeof(sentence)))
		return 0;
	if (cause->kind == CAUSE_IMAGE)
		notes->images[notes->n++] = causes->status->chains.broken[cause->at].image;
	notes->told |= 1u << cause->kind;
	return add(ctx, is_info ? EXPLAIN_INFO : EXPLAIN_WARNING, sentence);
}

static bool is_few(const struct cause *cause)
{
	return cause->chains < CHAINS_MIN || cause->percent < PERCENT_MIN;
}

static bool shows_few_whole(const struct engine_status *status)
{
	for (size_t i = 0; i < status->n_events; i++) {
		const struct unwind_ends *ends = &status->events[i].chains;
		const uint64_t judged = unwind_judged(ends);

		if (judged - ends->whole >= CHAINS_MIN &&
			percent_of(ends->whole, judged) < WHOLE_PERCENT)
			return true;
	}
	return false;
}

/* The first seconds are not typical, since copies of stacks still grow and tables still load.
 * Shares of few chains are not significant. */
bool chain_notes_due(const struct session *session, const struct engine_status *status)
{
	if (status->state != ENGINE_STARTING && status->state != ENGINE_RUNNING)
		return true;
	return !session->recording && status->chains.judged >= DUE_CHAINS &&
		status->now_ns - status->started_ns >= DUE_NS;
}

int chain_notes_add(struct chain_notes *notes, const struct session *session,
	const struct engine_status *status, chain_notes_fn *add, void *ctx)
{
	struct causes causes = {.session = session, .status = status};
	const struct unwind_totals *totals = &status->chains;
	const struct cause dropped = {
		totals->dropped, percent_of(totals->dropped, totals->judged), CAUSE_DROPPED, 0};
	int ret = 0;

	find_causes(&causes);
	for (size_t i = 0; i < causes.n && !ret; i++)
		if (!is_few(&causes.list[i]))
			ret = tell(notes, &causes, &causes.list[i], add, ctx);
	for (size_t i = 0; i < causes.n && !ret && !(notes->told & ~(1u << CAUSE_DROPPED)) &&
		shows_few_whole(status);
		i++)
		ret = tell(notes, &causes, &causes.list[i], add, ctx);
	/* Chains that break outside all mappings also leave addresses out, and have a note
	 * already. */
	if (!ret && !is_few(&dropped) && totals->dropped > 2 * totals->nowhere)
		ret = tell(notes, &causes, &dropped, add, ctx);
	return ret;
}
