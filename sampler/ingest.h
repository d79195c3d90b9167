/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest.h - the steady path of a sample: decoded record -> label, stack -> store.
 *
 * Owned and run by the sampling thread (or, for recordings, by whoever reads the file).  It does
 * not know where records come from: live rings, a file, a bench's prepared bytes.
 */
#ifndef SAMPLER_INGEST_H
#define SAMPLER_INGEST_H

#include "sampler/changes.h"
#include "sampler/fields.h"
#include "sampler/images.h"
#include "sampler/record.h"
#include "sampler/stacks.h"
#include "sampler/store.h"
#include "sampler/tasks.h"
#include "sampler/unwind.h"
#include "sampler/values.h"

#define INGEST_SECRET_LEN 192

/* A kernel module's code; see ingest_module(). */
struct ingest_module { /* or a function that the kernel made */
	uint64_t start, end;
	uint32_t image;
	bool is_function; /* of kind IMAGE_KSYMBOL */
};

struct ingest {
	struct images *images;
	struct tasks *tasks;
	struct stacks *stacks;
	struct store *store;
	struct values *values;
	const struct fields *fields[STORE_EVENTS_MAX]; /* see ingest_fields() */
	uint16_t max_stack[STORE_EVENTS_MAX]; /* see ingest_max_stack() */
	uint64_t kernel_roots[8]; /* addresses that shorter chains of kernel threads ended at */
	size_t n_kernel_roots;
	uint8_t hash_secret
		[INGEST_SECRET_LEN]; /* random: chains come from other people's programs */
	uint64_t hash_seed;
	uint64_t samples; /* accepted */
	uint64_t dropped; /* addresses of their chains, in no executable mapping */
	uint64_t truncated; /* chains cut at the maximum depth: outermost frames are missing */
	uint32_t last_stack, last_label; /* of the last sample accepted */
	uint8_t last_end; /* enum unwind_end */
	uint64_t unread, late; /* see struct unwind_totals */
	uint32_t hypervisor, guest, truncated_image; /* images */
	struct unwind *unwind; /* NULL: nobody knows rules */
	struct unwind_source rules; /* its source */
	bool by_tables[STORE_EVENTS_MAX]; /* the chains in the recording were unwound so */
	uint16_t machine; /* of the code, EM_*; 0: not known */
	uint64_t *unwound; /* chains of the last samples, see ingest_unwind() */
	size_t n_unwound;
	struct unwind_ends ends[STORE_EVENTS_MAX];
	uint64_t judged; /* chains, those of ingest_stack() too */
	struct unwind_broken *broken_in; /* chains that broke, by image */
	uint32_t n_broken_in;
	struct ingest_module *modules; /* by address, without overlaps */
	size_t n_modules, modules_size;
	struct changes_known changes;
	uint64_t modules_version; /* what is known of chains holds as long as it stays */
};

int ingest_init(struct ingest *ingest, const struct tasks_reader *reader, size_t budget_bytes);
void ingest_fini(struct ingest *ingest);

/* From now on chains are unwound, and it is known how they end.  machine: EM_*.  0 or -ENOMEM. */
int ingest_set_unwind(struct ingest *ingest, const struct unwind_source *source);

/* From now on code may lie where other code lay before; borrowed.  Before the first sample. */
void ingest_set_changes(struct ingest *ingest, struct changes *changes);
/* Take over what was told of changes since, for what is stored already, too.  True: that is another
 * now. */
bool ingest_settle(struct ingest *ingest);
/* The stack that a sample has by what is known now, without a reference. */
uint32_t ingest_stack_at(struct ingest *ingest, uint32_t stack, uint64_t time_ns);
/* Returns the stack with moved code in its own file.  For stacks that were kept before they are
 * stored. */
uint32_t ingest_stack_moved(struct ingest *ingest, uint32_t stack);

/* From now on the samples of an event (a store event id) have these fields, which are borrowed; NULL: none. */
void ingest_fields(struct ingest *ingest, uint8_t event, const struct fields *fields);

/* The most frames that the kernel puts into chains of an event: longer ones are cut there.  0:
 * not known. */
void ingest_max_stack(struct ingest *ingest, uint8_t event, uint16_t frames);

/* Of a recording: kernel addresses in [start, start + len) are of this image, of kind IMAGE_MODULE.  A module loaded
 * later takes the place of those it overlaps; more than any machine has are left out.  Frames made before stay.  0 or -ENOMEM. */
int ingest_module(struct ingest *ingest, uint64_t start, uint64_t len, const struct image *key);

/* The kernel has made a function, or has freed it.  0 or -ENOMEM. */
int ingest_ksymbol(struct ingest *ingest, const struct record_ksymbol *symbol);

/* Apply one record.  Samples are counted under `event` (a store event id) with their period as
 * weight, or 1 where the format has no period.  In a chain, PERF_CONTEXT_* markers switch the mode of the addresses
 * that follow and are no frames; without a chain, or with one of markers alone, the ip is the stack.  Addresses of 0
 * and those after a marker not known are left out.
 * The first address after a marker is where the code is; those that follow are return addresses, of which the
 * one before (address - 1) is looked up and becomes the frame's offset, since a call may be the last
 * instruction of its function.  Where the sample tells an ip, that is the leaf: a precise event's is not where
 * the chain begins.  Returns 0 or -ENOMEM. */
int ingest_record(struct ingest *ingest, const struct record *record, uint8_t event);

/* The same for whoever has many samples at hand: while the memory answers for one, others are worked on.  What the hash
 * leads to can be fetched into the cache before (stacks_chain_prefetch()). */
#define INGEST_BATCH 64u /* so many at once are enough */

struct ingest_sample {
	const struct record *record;
	uint64_t hash; /* ingest_chain_hash() */
	uint8_t event;
	uint8_t end; /* enum unwind_end; UNTRIED: asked for here */
	uint32_t stack, label; /* what became of it: valid until the store gives something up */
};

/* Finds the stack, label and end of a sample, which is counted by somebody else, later.  Who keeps
 * them takes references at once.  0 or -ENOMEM. */
int ingest_stack(struct ingest *ingest, struct ingest_sample *sample);
/* Counts how the chain of a sample ended. */
void ingest_count_end(struct ingest *ingest, uint8_t event, uint8_t end);

/* A frame that stands for what has no code, "[off-cpu]", called from a stack: the node, without a reference.  0 or -ENOMEM. */
int ingest_named(struct ingest *ingest, const char *name, uint32_t parent, uint32_t *node);

/* What stands for the stack of a thread off its CPU of which no sample tells, and its task, with a reference to each.
 * 0 or -ENOMEM. */
int ingest_unknown(struct ingest *ingest, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *stack, uint32_t *label);
/* Gives back one reference to each. */
void ingest_release(struct ingest *ingest, uint32_t stack, uint32_t label);

/* Replaces the user part of a sample's chain by one unwound from its copy of the stack.  Call it
 * before ingest_chain_hash().  The chain stays valid for INGEST_BATCH more calls.
 * *end is UNTRIED if the sample has no copy.  With WAITS the chain is unchanged.
 * Earlier samples must be ingested first, unless tasks_is_settled().  Returns 0 or -ENOMEM. */
int ingest_unwind(struct ingest *ingest, struct record *record, const struct record_format *format,
	enum unwind_end *end);

/* A sample whose chain is the kernel's, since the tables came too late to unwind it: says so in the
 * chain, for recordings, and ingest_samples() counts it.  Call it before ingest_chain_hash(). */
void ingest_mark_late(struct ingest *ingest, struct record *record);

/* Sets all of *out but stack_bytes. */
void ingest_unwind_totals(const struct ingest *ingest, struct unwind_totals *out);

uint64_t ingest_chain_hash(const struct ingest *ingest, const struct record *record);
/* Adds samples in their order.  0 or -ENOMEM: those that were not added count as dropped by the
 * store. */
int ingest_samples(struct ingest *ingest, struct ingest_sample *samples, size_t n);

#endif
