/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.h - samples as time slices of columns, within a memory budget.
 *
 * The sampling thread adds to one open slice without any lock.  When the slice's time is over it
 * is sealed: from then on it is immutable and visible to others.  When the budget is spent,
 * neighbouring old slices are merged into longer ones; the sum of all weights and counts never changes.
 * The group of eight (of 16 where they have little in common, of two at last) that is the shortest for its age is merged
 * first, so that resolution falls with age evenly, and a cell is touched only log8(age) times.  Before
 * a slice gets longer than a quarter of its age, the oldest slices lose detail instead, in steps: at first fields are given up, then
 * stacks are cut to their 4 leaf-most frames, then to the leaf, where that saves at least a quarter of the slice.
 * Where it does not, slices get as long as half of their age; then stack and
 * task are given up (a stack of one unknown frame
 * at offset 0, TASK_LABEL_MERGED), and events, CPUs, weights and counts alone are kept.  When even that is not enough, slices are
 * merged as long as there are more than 32, and all lose detail.  Where the tables of stacks, task labels and
 * values take more than half of the budget (stacks or tasks all different), the oldest lose detail in the same steps, whatever it saves.
 *
 * Lock: a mutex inside the store guards the list of sealed slices and their reference counts; it is held for the time
 * of list operations only, never while samples are added or queried.  A slice given up by its last
 * holder returns to the sampling thread, which drops the references to stacks and tasks.
 */
#ifndef SAMPLER_STORE_H
#define SAMPLER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_EVENTS_MAX 256
#define STORE_SLICE_NS 100000000ull

struct stacks;
struct tasks;
struct values;

struct slice_total {
	uint8_t event;
	uint64_t weight; /* sum of periods */
	uint64_t count; /* samples */
};

/* Sealed: nothing but refs changes.  Cells are distinct in (stack, task, cpu, event, values), and in ascending order of
 * their stacks: who goes over many finds sums by stack close to each other. */
struct slice {
	uint64_t serial; /* unique; a merged slice has a new one */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, half open */
	uint32_t cells;
	const uint32_t *stack; /* stacks.h node */
	const uint32_t *task; /* tasks.h label */
	const uint16_t *cpu;
	const uint8_t *event;
	const uint64_t *weight;
	const uint32_t *count;
	const uint32_t *
		values; /* values.h: the fields of the samples; NULL: none has any, or they were given up */
	bool reduced; /* fields, stacks or tasks were given up, if only in a part of it */
	uint32_t n_totals;
	const struct slice_total *totals; /* per event, distinct */
	uint32_t refs; /* guarded by the store's lock */
};

/* Whether a slice belongs to the time [from_ns, to_ns): its middle does, so that times side by side have each slice once. */
static inline bool slice_is_in(const struct slice *slice, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t middle = slice->start_ns + (slice->end_ns - slice->start_ns) / 2;

	return middle >= from_ns && middle < to_ns;
}

struct store;

int store_new(struct store **out, struct stacks *stacks, struct tasks *tasks, size_t budget_bytes);
/* Whose ids store_add_values() is given; before the first. */
void store_set_values(struct store *store, struct values *values);
void store_free(struct store *store); /* after every snapshot was released */
/* The same where stacks and tasks are freed next: none of their references is given back, one by one. */
void store_abandon(struct store *store);

/* --- the sampling thread --- */

/* Count one sample.  Time opens and seals slices as it passes; a sample older than the open slice
 * is counted in it.  Returns 0; or -ENOMEM, the sample then being counted in store_dropped(). */
int store_add(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task, uint16_t cpu,
	uint8_t event, uint64_t weight);

/* The same with the fields of the sample (values.h); the store takes a reference of its own. */
int store_add_values(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task,
	uint16_t cpu, uint8_t event, uint64_t weight, uint32_t values);

/* Samples that could not be stored for lack of memory, and those that did not come as far. */
uint64_t store_dropped(const struct store *store);
void store_drop(struct store *store, uint64_t samples);

/* Seal the open slice when it began at least STORE_SLICE_NS before now (or always, with force).
 * Slices begin at multiples of STORE_SLICE_NS, but for one that follows a forced seal; no slice is empty.
 * Without memory for it the slice gets longer, up to a second; then its samples count as dropped.
 * Returns true when a slice was sealed, by this call or since the last one by store_add(). */
bool store_seal(struct store *store, uint64_t now_ns, bool force);
/* Seal the open slice because nothing more is to come.  Without memory for that, its samples count
 * as dropped.  Returns as store_seal(). */
bool store_finish(struct store *store, uint64_t now_ns);

struct slices_renaming;
/* Replace stacks in slices that end after from_ns, and in the open one, which is sealed.
 * Returns 1; 0 where nothing changed; -ENOMEM: some may keep their stacks. */
int store_rename(struct store *store, uint64_t from_ns, const struct slices_renaming *renaming);

/* Free slices given back and stacks never counted, merge old slices while the budget is exceeded.  To be called after
 * every seal.  It begins to save 1/32 before the budget is spent, and stops after 2^17 cells (four times that above the
 * budget) and the merge of at most 2^19 cells or the reduction of one slice then begun: mostly below 5 ms, a large merge about 40,
 * the reduction of a large slice with deep stacks that nothing else has up to 120; without a limit only where the budget is
 * exceeded by an eighth.  Returns how many merges. */
unsigned int store_maintain(struct store *store);

/* --- any thread --- */

struct snapshot {
	const struct slice **slices; /* by time */
	size_t n;
};

/* References to the sealed slices that overlap [from_ns, to_ns).  Returns 0, or -ENOMEM with *out empty. */
int store_snapshot(struct store *store, uint64_t from_ns, uint64_t to_ns, struct snapshot *out);
void snapshot_release(struct store *store, struct snapshot *snapshot);

/* Keep one slice of a snapshot beyond it. */
void slice_ref(struct store *store, const struct slice *slice);
void slice_unref(struct store *store, const struct slice *slice);

struct store_status {
	uint64_t samples; /* all that were added */
	uint64_t dropped; /* could not be stored: out of memory */
	uint64_t first_ns, last_ns; /* span of sealed history; 0, 0 when there is none */
	size_t slices;
	size_t memory_bytes; /* of the store, stacks, tasks and what they point to */
	size_t budget_bytes;
	uint64_t merges;
	uint64_t fields_dropped; /* slices whose samples' fields were given up */
};
void store_status(struct store *store, struct store_status *out);

#endif
