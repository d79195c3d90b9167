/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.h - samples as time slices of columns, within a memory budget.
 *
 * The sampling thread adds to one open slice without any lock.  At its end the slice is sealed:
 * from then on it is immutable and visible to others.  When the budget is spent, adjacent old
 * slices are merged into longer ones.  The sum of all weights and counts never changes.
 *
 * The group of slices that is the shortest for its age is merged first.  A group has eight slices;
 * 16 if they have little in common; two as a last resort.  So resolution falls evenly with age, and
 * a cell is touched only log8(age) times.
 *
 * Before a slice gets longer than a quarter of its age, the oldest slices lose detail instead, in
 * steps.  First, fields are dropped.  Then stacks are cut to their 4 leaf-most frames, then to the
 * leaf, if that saves at least a quarter of the slice.  If it does not, slices get as long as half
 * of their age.  Then stack and task are dropped, and only events, CPUs, weights and counts remain.
 * Such cells have a stack of one unknown frame at offset 0, and TASK_LABEL_MERGED.  If even that is
 * not enough, slices are merged while there are more than 32, and all lose detail.
 *
 * The tables of stacks, task labels and values may take half of the budget.  Above that (all stacks
 * or tasks are different), the oldest slices lose detail in the same steps, whether or not it saves
 * memory.
 *
 * Lock: a mutex inside the store guards the list of sealed slices and their reference counts.  It
 * is held for list operations only, never while samples are added or queried.  A slice released by
 * its last holder returns to the sampling thread, which drops the references to stacks and tasks.
 */
#ifndef SAMPLER_STORE_STORE_H
#define SAMPLER_STORE_STORE_H

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

/* A sealed slice: only refs changes.  Cells are distinct in (stack, task, cpu, event, values), and
 * ascend by stack.  So a sum by stack over many cells finds its data close together. */
struct slice {
	uint64_t serial; /* unique; a merged slice has a new one */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC, half open */
	uint32_t cells;
	const uint32_t *stack; /* node of stacks.h */
	const uint32_t *task; /* label of tasks.h */
	const uint16_t *cpu;
	const uint8_t *event;
	const uint64_t *weight;
	const uint32_t *count;
	/* values.h: fields of the samples; NULL: no cell has any, or they were dropped */
	const uint32_t *values;
	bool reduced; /* fields, stacks or tasks were dropped, at least in a part of it */
	uint32_t n_totals;
	const struct slice_total *totals; /* one per event */
	uint32_t refs; /* guarded by the store's lock */
};

/* Whether a slice belongs to the time [from_ns, to_ns): if its middle does.  So adjacent times
 * contain each slice once. */
static inline bool slice_is_in(const struct slice *slice, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t middle = slice->start_ns + (slice->end_ns - slice->start_ns) / 2;

	return middle >= from_ns && middle < to_ns;
}

struct store;

int store_new(struct store **out, struct stacks *stacks, struct tasks *tasks, size_t budget_bytes);
/* Sets the table of the ids for store_add_values(); before its first call. */
void store_set_values(struct store *store, struct values *values);
void store_free(struct store *store); /* after all snapshots were released */
/* store_free() for a store with stacks and tasks that are freed next.  Drops none of its references
 * to them. */
void store_abandon(struct store *store);

/* --- the sampling thread --- */

/* Counts one sample.  Seals the open slice and opens the next one as time passes.  A sample older
 * than the open slice is counted in it.  Returns 0, or -ENOMEM with the sample counted in
 * store_dropped(). */
int store_add(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task, uint16_t cpu,
	uint8_t event, uint64_t weight);

/* store_add() with the fields of the sample (values.h).  The store takes its own reference. */
int store_add_values(struct store *store, uint64_t time_ns, uint32_t stack, uint32_t task,
	uint16_t cpu, uint8_t event, uint64_t weight, uint32_t values);

/* Return, and add to, the number of samples lost because memory ran out, in the store or before
 * it. */
uint64_t store_dropped(const struct store *store);
void store_drop(struct store *store, uint64_t samples);

/* Seals the open slice if its time is over, or always with force.  Slices begin at multiples of
 * STORE_SLICE_NS, except one after a forced seal; no slice is empty.  If memory runs out, the slice
 * gets longer, up to a second; then its samples count as dropped.  Returns true if a slice was
 * sealed, by this call or by store_add() since the last one. */
bool store_seal(struct store *store, uint64_t now_ns, bool force);
/* Seals the open slice at the end of all samples.  If memory runs out, its samples count as
 * dropped.  Returns like store_seal(). */
bool store_finish(struct store *store, uint64_t now_ns);

struct slices_renaming;
/* Replaces stacks in slices that end after from_ns, and in the open one, which is sealed.  Returns
 * 1; 0 if nothing changed; -ENOMEM: some slices may keep their stacks. */
int store_rename(struct store *store, uint64_t from_ns, const struct slices_renaming *renaming);

/* Frees returned slices and stacks that were never counted, and saves memory while the budget is
 * exceeded.  Call after every seal.
 *
 * It begins to save 1/32 before the budget is spent.  It stops after 2^17 cells, four times as many
 * above the budget, and completes the step begun then.  A step merges at most 2^19 cells or reduces
 * one slice.  Mostly it takes less than 5 ms, for a large merge about 40 ms.  A large slice with
 * deep stacks of its own takes up to 120 ms to reduce.  If the budget is exceeded by an eighth,
 * there is no limit.  Returns the number of merges. */
unsigned int store_maintain(struct store *store);

/* --- any thread --- */

struct snapshot {
	const struct slice **slices; /* by time */
	size_t n;
};

/* Takes references to the sealed slices that overlap [from_ns, to_ns).  Returns 0, or -ENOMEM with
 * *out empty. */
int store_snapshot(struct store *store, uint64_t from_ns, uint64_t to_ns, struct snapshot *out);
void snapshot_release(struct store *store, struct snapshot *snapshot);

/* Hold and release one slice of a snapshot, beyond the snapshot. */
void slice_ref(struct store *store, const struct slice *slice);
void slice_unref(struct store *store, const struct slice *slice);

struct store_status {
	uint64_t samples; /* all samples added */
	uint64_t dropped; /* not stored: memory ran out */
	uint64_t first_ns, last_ns; /* span of sealed slices; 0, 0 if none */
	size_t slices;
	size_t memory_bytes; /* bytes of store, stacks, tasks and the data that they refer to */
	size_t budget_bytes;
	uint64_t merges;
	uint64_t fields_dropped; /* slices that lost the fields of their samples */
};
void store_status(struct store *store, struct store_status *out);

#endif
