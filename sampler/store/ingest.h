/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest.h - the steady path of a sample: decoded record -> label, stack -> store.
 *
 * Owned and run by the sampling thread, or by the thread that reads a recording.  Records may come
 * from live rings, a file, or a benchmark's prepared bytes.
 */
#ifndef SAMPLER_STORE_INGEST_H
#define SAMPLER_STORE_INGEST_H

#include "sampler/fields/fields.h"
#include "sampler/fields/values.h"
#include "sampler/kernel/record.h"
#include "sampler/store/changes.h"
#include "sampler/store/images.h"
#include "sampler/store/stacks.h"
#include "sampler/store/store.h"
#include "sampler/store/tasks.h"
#include "sampler/store/unwind.h"

#define INGEST_SECRET_LEN 192

/* Code of a kernel module, or of a function created by the kernel; see ingest_module(). */
struct ingest_module {
	uint64_t start, end;
	uint32_t image;
	bool is_function; /* image kind IMAGE_KSYMBOL */
};

struct ingest {
	struct images *images;
	struct tasks *tasks;
	struct stacks *stacks;
	struct store *store;
	struct values *values;
	const struct fields *fields[STORE_EVENTS_MAX]; /* see ingest_fields() */
	uint16_t max_stack[STORE_EVENTS_MAX]; /* see ingest_max_stack() */
	uint64_t kernel_roots[8]; /* ends of kernel-thread chains that had room for more frames */
	size_t n_kernel_roots;
	uint8_t hash_secret
		[INGEST_SECRET_LEN]; /* random, since chains come from untrusted programs */
	uint64_t hash_seed;
	uint64_t samples; /* accepted samples */
	uint64_t dropped; /* chain addresses in no executable mapping */
	uint64_t truncated; /* chains cut at the maximum depth: outermost frames are missing */
	uint32_t last_stack, last_label; /* those of the last accepted sample */
	uint8_t last_end; /* enum unwind_end of the last accepted sample */
	uint64_t unread, late; /* see struct unwind_totals */
	uint32_t hypervisor, guest, truncated_image; /* image ids */
	struct unwind *unwind; /* NULL: chains are not unwound */
	struct unwind_source rules; /* source of unwind rules */
	bool by_tables[STORE_EVENTS_MAX]; /* chains in the recording were unwound by tables */
	uint16_t machine; /* machine of the code, EM_*; 0 if unknown */
	uint64_t *unwound; /* chains of the last samples, see ingest_unwind() */
	size_t n_unwound;
	struct unwind_ends ends[STORE_EVENTS_MAX];
	uint64_t judged; /* judged chains, including those of ingest_stack() */
	struct unwind_broken *broken_in; /* number of broken chains by image */
	uint32_t n_broken_in;
	struct ingest_module *modules; /* sorted by address, without overlaps */
	size_t n_modules, modules_size;
	struct changes_known changes;
	uint64_t modules_version; /* cached chains are valid while this is unchanged */
};

int ingest_init(struct ingest *ingest, const struct tasks_reader *reader, size_t budget_bytes);
void ingest_fini(struct ingest *ingest);

/* Enables unwinding of chains and judging of their ends; the caller sets `machine`.  Returns 0 or
 * -ENOMEM. */
int ingest_set_unwind(struct ingest *ingest, const struct unwind_source *source);

/* Sets the changes of code; borrowed.  Call it before the first sample. */
void ingest_set_changes(struct ingest *ingest, struct changes *changes);
/* Takes over changes of code, and applies them to stored samples too.  Returns true if stored
 * samples changed. */
bool ingest_settle(struct ingest *ingest);
/* Returns the stack at a time by the changes known now, without a reference. */
uint32_t ingest_stack_at(struct ingest *ingest, uint32_t stack, uint64_t time_ns);
/* Returns the stack with its moved code attributed to that code's file.  For stacks that wait to be
 * stored. */
uint32_t ingest_stack_moved(struct ingest *ingest, uint32_t stack);

/* Sets the fields of future samples of an event (a store event id); borrowed.  NULL: none. */
void ingest_fields(struct ingest *ingest, uint8_t event, const struct fields *fields);

/* Sets the most frames that the kernel puts into an event's chains; longer ones are cut there.  0:
 * unknown. */
void ingest_max_stack(struct ingest *ingest, uint8_t event, uint16_t frames);

/* In a recording: maps kernel addresses [start, start + len) to an image of kind IMAGE_MODULE.  A
 * later module replaces those it overlaps; modules above the maximum number are ignored.  Existing
 * frames stay.  Returns 0 or -ENOMEM. */
int ingest_module(struct ingest *ingest, uint64_t start, uint64_t len, const struct image *key);

/* Adds or removes a function of the kernel.  Returns 0 or -ENOMEM. */
int ingest_ksymbol(struct ingest *ingest, const struct record_ksymbol *symbol);

/* Applies one record.  Samples count under `event` (a store event id).  Their weight is the period,
 * or 1 if the format has none.  Returns 0 or -ENOMEM.
 *
 * In a chain, PERF_CONTEXT_* markers set the mode of the following addresses and are no frames.
 * The ip is the stack if the chain is missing or has only markers.  Addresses of 0 and those after
 * an unknown marker are ignored.
 *
 * The first address after a marker is the code's own; the following ones are return addresses.  For
 * these, address - 1 is looked up and becomes the frame's offset, since a call may be the last
 * instruction of its function.  If the sample has an ip, it is the leaf: with a precise event it
 * differs from the chain's first address. */
int ingest_record(struct ingest *ingest, const struct record *record, uint8_t event);

/* Batch variant of ingest_record(): works on several samples while memory accesses are pending.
 * The cache lines that a hash leads to can be prefetched (stacks_chain_prefetch()). */
#define INGEST_BATCH 64u /* samples per batch; enough to hide memory latency */

struct ingest_sample {
	const struct record *record;
	uint64_t hash; /* from ingest_chain_hash() */
	uint8_t event;
	uint8_t end; /* enum unwind_end; UNTRIED: ingest_samples() determines it */
	uint32_t stack, label; /* result; valid until the store releases memory */
};

/* Finds the stack, label and end of a sample that another function counts later.  The caller must
 * take references at once to keep them.  Returns 0 or -ENOMEM. */
int ingest_stack(struct ingest *ingest, struct ingest_sample *sample);
/* Counts how the chain of a sample ended. */
void ingest_count_end(struct ingest *ingest, uint8_t event, uint8_t end);

/* Returns in *node a frame without code, such as "[off-cpu]", called from the stack `parent`;
 * without a reference.  Returns 0 or -ENOMEM. */
int ingest_named(struct ingest *ingest, const char *name, uint32_t parent, uint32_t *node);

/* Returns the placeholder stack of an off-CPU thread without a sample, and its label, with a
 * reference to each.  Returns 0 or -ENOMEM. */
int ingest_unknown(struct ingest *ingest, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *stack, uint32_t *label);
/* Releases one reference to each. */
void ingest_release(struct ingest *ingest, uint32_t stack, uint32_t label);

/* Replaces the user part of a sample's chain by one unwound from its stack copy.  Call it before
 * ingest_chain_hash().  The chain is valid for INGEST_BATCH more calls.  *end is UNTRIED if the
 * sample has no copy; with WAITS the chain is unchanged.  Earlier samples must be ingested first,
 * unless tasks_is_settled().  Returns 0 or -ENOMEM. */
int ingest_unwind(struct ingest *ingest, struct record *record, const struct record_format *format,
	enum unwind_end *end);

/* Judges the chain of a sample that ingest_unwind() left UNTRIED, for ingest_sample.end.  Returns
 * WAITS, and counts nothing, while the table of its outermost code is not known.  Earlier samples
 * must be ingested first, unless tasks_is_settled(). */
enum unwind_end ingest_end(struct ingest *ingest, const struct record *record, uint8_t event);

/* Judges the chain of a sample whose unwind tables come too late.  It keeps the kernel's chain,
 * which is BROKEN if its end is not known.  Marks it, for recordings of samples with a copy of the
 * stack.  Call it before ingest_chain_hash(). */
enum unwind_end ingest_give_up(struct ingest *ingest, struct record *record, uint8_t event);

/* Sets all of *out except stack_bytes. */
void ingest_unwind_totals(const struct ingest *ingest, struct unwind_totals *out);

uint64_t ingest_chain_hash(const struct ingest *ingest, const struct record *record);
/* Adds samples in their order.  Returns 0, or -ENOMEM; the store then counts the remaining samples
 * as dropped. */
int ingest_samples(struct ingest *ingest, struct ingest_sample *samples, size_t n);

#endif
