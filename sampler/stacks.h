/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.h - frames (image, offset) and the prefix tree of call stacks.
 *
 * A node is a call stack: its frame, called from its parent's frame, up to a root (node 0, no
 * frame).  Stacks with common callers share nodes, so trees need no rebuilding.
 *
 * The sampling thread owns the table.  Entries never move; a node with references, its
 * ancestors and their frames are immutable, so another thread may read what it reached through
 * a snapshot of the store.  Freed ids are given out again with a new generation, and not at all
 * once the generations are used up, so that (id, generation) names one stack for ever.
 */
#ifndef SAMPLER_STACKS_H
#define SAMPLER_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_ROOT 0u
#define STACK_DEPTH_MAX 1024

enum frame_mode { FRAME_USER, FRAME_KERNEL, FRAME_HYPERVISOR, FRAME_GUEST };

struct frame {
	uint64_t offset; /* see enum image_kind */
	uint32_t image;
	uint16_t generation; /* counts the reuses of this id */
	uint8_t mode; /* enum frame_mode */
};

struct stack_node {
	uint32_t parent; /* STACK_ROOT for the outermost frame */
	uint32_t frame;
	uint32_t refs; /* children and slices; the sampling thread's alone */
	uint16_t depth; /* 1 for the outermost frame */
	uint16_t generation;
};

#define FRAME_NONE 0u /* of the root; no frame has this id */

struct stacks;

int stacks_new(struct stacks **out);
void stacks_free(struct stacks *stacks);

/* The frame's id, added when new.  Returns 0 or -ENOMEM. */
int stacks_frame(struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode,
	uint32_t *frame);

/* In two steps, of which the second needs what the first has fetched. */
void stacks_frame_prefetch(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode);
void stacks_frame_prefetch_entry(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode);

/* The node of `frame` called from `parent`, added when new, with no reference of its own. */
int stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *node);
/* The same for a node that samples will be counted by: ids of these are close to each other. */
int stacks_leaf(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *node);
/* In two steps. */
void stacks_child_prefetch(const struct stacks *stacks, uint32_t parent, uint32_t frame);
void stacks_child_prefetch_entry(const struct stacks *stacks, uint32_t parent, uint32_t frame);

/* Chains seen before: a cache from a hash over (address space, its map generation, raw
 * addresses) to a node.  It is bounded: a full set of four forgets the chain added first.  find gives
 * STACK_ROOT when the chain is new or its node was freed; add returns 0.  dropped: addresses of
 * the chain that no frame stands for; not set with STACK_ROOT. */
uint32_t stacks_chain_find(const struct stacks *stacks, uint64_t hash, uint16_t *dropped);
int stacks_chain_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped);
/* In two steps, of which the second needs what the first has fetched.  Of the hash, the lowest 24 bits count. */
void stacks_chain_prefetch(const struct stacks *stacks, uint64_t hash);
void stacks_chain_prefetch_node(const struct stacks *stacks, uint64_t hash);

/* The same of chains without their leaf, in a cache of their own: many chains differ in nothing but where in the
 * leaf's function the sample fell. */
uint32_t stacks_callers_find(const struct stacks *stacks, uint64_t hash, uint16_t *dropped);
void stacks_callers_prefetch(const struct stacks *stacks, uint64_t hash);
void stacks_callers_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped);

void stacks_ref(struct stacks *stacks, uint32_t node);
/* Drops a reference; a node without any is freed, with the ancestors and frames only it used. */
void stacks_unref(struct stacks *stacks, uint32_t node);
/* Drops n references to a node that keeps others. */
void stacks_unref_some(struct stacks *stacks, uint32_t node, uint32_t n);
/* Frees nodes that were added but never referenced. */
void stacks_sweep(struct stacks *stacks);

/* Borrowed, by ids reached through a snapshot. */
const struct stack_node *stacks_node(const struct stacks *stacks, uint32_t node);
const struct frame *stacks_frame_get(const struct stacks *stacks, uint32_t frame);

/* Of any id that was given out, held or not, in any thread: it differs from what it was as soon as the id may be another stack's. */
uint16_t stacks_node_generation(const struct stacks *stacks, uint32_t node);

uint32_t stacks_node_count(const struct stacks *stacks); /* in use */
uint32_t stacks_frame_count(const struct stacks *stacks); /* in use */
uint32_t stacks_frame_limit(const struct stacks *stacks); /* every frame id is below; any thread */
/* Bytes ever needed (freed entries are reused, those of leaves by leaves, not returned), and those of what is in use. */
size_t stacks_memory(const struct stacks *stacks);
size_t stacks_memory_used(const struct stacks *stacks);
size_t stacks_node_bytes(void); /* what one node adds to it */

#endif
