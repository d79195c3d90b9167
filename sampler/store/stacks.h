/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.h - frames (image, offset) and the prefix tree of callchains.
 *
 * A node is a callchain: its frame, called from its parent's frame, up to a root (node 0, no
 * frame).  Stacks with common callers share nodes, so trees need no rebuilding.
 *
 * The sampling thread owns the table.  Entries never move.  A node with references, its ancestors
 * and their frames are immutable.  So another thread may read the entries that it reaches through a
 * snapshot of the store.  Freed ids are reused with a new generation, until the generations are
 * used up.  So (id, generation) names one stack forever.
 */
#ifndef SAMPLER_STORE_STACKS_H
#define SAMPLER_STORE_STACKS_H

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
	uint32_t refs; /* from children and slices; only for the sampling thread */
	uint16_t depth; /* 1 for the outermost frame */
	uint16_t generation;
};

#define FRAME_NONE 0u /* frame of the root; no frame has this id */

struct stacks;

int stacks_new(struct stacks **out);
void stacks_free(struct stacks *stacks);

/* Finds or adds a frame.  Returns 0 or -ENOMEM. */
int stacks_frame(struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode,
	uint32_t *frame);

/* Prefetch a frame in two steps; the second needs the data that the first has fetched. */
void stacks_frame_prefetch(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode);
void stacks_frame_prefetch_entry(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode);

/* Finds or adds the node of `frame` called from `parent`.  A new node has no reference.  Returns 0,
 * -ENOMEM, or -EINVAL above STACK_DEPTH_MAX. */
int stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *node);
/* stacks_child() for a node that counts samples; the ids of these are close to each other. */
int stacks_leaf(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *node);
/* Prefetch a node in two steps. */
void stacks_child_prefetch(const struct stacks *stacks, uint32_t parent, uint32_t frame);
void stacks_child_prefetch_entry(const struct stacks *stacks, uint32_t parent, uint32_t frame);

/* A cache of known chains: from a hash over (address space, its map generation, raw addresses) to a
 * node.  It is bounded: a full set of four drops the chain added first.
 *
 * find returns STACK_ROOT if the chain is new or its node was freed; add returns 0.  dropped:
 * number of the chain's addresses without a frame; not set with STACK_ROOT. */
uint32_t stacks_chain_find(const struct stacks *stacks, uint64_t hash, uint16_t *dropped);
int stacks_chain_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped);
/* Prefetch a chain in two steps; the second needs the data that the first has fetched.  Only the
 * lowest 24 bits of the hash matter. */
void stacks_chain_prefetch(const struct stacks *stacks, uint64_t hash);
void stacks_chain_prefetch_node(const struct stacks *stacks, uint64_t hash);

/* The cache of chains without their leaf.  Many chains differ only in the address within the leaf's
 * function. */
uint32_t stacks_callers_find(const struct stacks *stacks, uint64_t hash, uint16_t *dropped);
void stacks_callers_prefetch(const struct stacks *stacks, uint64_t hash);
void stacks_callers_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped);

void stacks_ref(struct stacks *stacks, uint32_t node);
/* Drops a reference.  A node without any is freed, with the ancestors and frames that only it
 * used. */
void stacks_unref(struct stacks *stacks, uint32_t node);
/* Drops n references of a node that keeps others. */
void stacks_unref_some(struct stacks *stacks, uint32_t node, uint32_t n);
/* Frees nodes that were added but never referenced. */
void stacks_sweep(struct stacks *stacks);

/* Return borrowed entries, for ids reached through a snapshot. */
const struct stack_node *stacks_node(const struct stacks *stacks, uint32_t node);
const struct frame *stacks_frame_get(const struct stacks *stacks, uint32_t frame);

/* Returns the generation of an id that was given out, held or not.  It changes as soon as the id
 * may be reused.  Any thread. */
uint16_t stacks_node_generation(const struct stacks *stacks, uint32_t node);

uint32_t stacks_node_count(const struct stacks *stacks); /* nodes in use */
uint32_t stacks_frame_count(const struct stacks *stacks); /* frames in use */
uint32_t stacks_frame_limit(const struct stacks *stacks); /* all frame ids are below; any thread */
/* Return the bytes ever allocated, and the bytes in use.  Freed entries are reused, those of leaves
 * only by leaves, and never returned. */
size_t stacks_memory(const struct stacks *stacks);
size_t stacks_memory_used(const struct stacks *stacks);
size_t stacks_node_bytes(void); /* bytes in use per node */

#endif
