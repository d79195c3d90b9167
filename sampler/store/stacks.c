/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stacks.c - tables of frames and stack nodes, and caches of chains; see stacks.h.  Sampling
 * thread.
 *
 * Nodes and frames are in arrays that never move, and are found by two hash tables.  A free entry
 * has depth 0 (node) or refs 0 (frame); its first word has the next free one.
 */
#include "sampler/store/stacks.h"

#include "sampler/base/chunks.h"
#include "sampler/base/grow.h"
#include "sampler/base/hugepages.h"
#include "sampler/base/idtable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define GENERATION_LAST UINT16_MAX

/* A chain cache: sets of four in one cache line, the most recently added first. */
#define CHAIN_WAYS 4u
#define CHAIN_SETS_MIN 1024u
#define CHAIN_SETS_MAX 65536u

struct chain {
	uint64_t hash;
	uint32_t node; /* STACK_ROOT if empty */
	uint16_t generation, dropped;
};

struct chain_set {
	struct chain way[CHAIN_WAYS];
} __attribute__((aligned(64)));

struct chain_cache {
	struct chain_set *set;
	uint32_t sets;
	uint32_t evicted; /* live chains evicted since the cache last grew */
};

/* Ids of nodes are given out in pages, either of leaves or of callers.  Slices refer to leaves,
 * which are few among all nodes.  So data indexed by the id of a stack is close together. */
enum pool { POOL_CALLERS, POOL_LEAVES, POOLS };
#define PAGE_NODES 256u

struct frame_entry {
	struct frame frame;
	uint32_t refs; /* nodes; 0: free, and frame.image is the next free one */
	uint32_t hash;
};

struct stacks {
	/* struct stack_node; in a free one, parent is the next free one of its pool */
	struct chunks nodes;
	struct chunks frames; /* struct frame_entry */
	struct idtable node_ids, frame_ids;
	uint32_t free_node[POOLS], free_frame; /* 0 if none */
	uint8_t *page_pool; /* enum pool, by page of nodes */
	size_t pages_room;
	bool released; /* at least one node was released */
	uint32_t nodes_used, frames_used;
	uint64_t seed;

	/* Separate caches: whole chains are far more numerous than callers, and would evict
	 * them. */
	struct chain_cache chains, callers;

	uint32_t *fresh; /* nodes added without a reference */
	size_t n_fresh, fresh_size;
};

static struct stack_node *node_at(const struct stacks *stacks, uint32_t id)
{
	return CHUNKS_AT(&stacks->nodes, struct stack_node, id);
}

static struct frame_entry *frame_at(const struct stacks *stacks, uint32_t id)
{
	return CHUNKS_AT(&stacks->frames, struct frame_entry, id);
}

static uint32_t node_hash(const struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	return idtable_mix(stacks->seed ^ parent, frame);
}

static struct chain_set *chain_sets_new(uint32_t sets)
{
	size_t bytes = sets * sizeof(struct chain_set);
	struct chain_set *chains = hugepages_alloc(sizeof(struct chain_set), bytes);

	if (chains)
		memset(chains, 0, bytes);
	return chains;
}

int stacks_new(struct stacks **out)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	uint32_t id;

	*out = NULL;
	if (!stacks)
		return -ENOMEM;
	chunks_init(&stacks->nodes, sizeof(struct stack_node));
	chunks_init(&stacks->frames, sizeof(struct frame_entry));
	stacks->chains.sets = stacks->callers.sets = CHAIN_SETS_MIN;
	stacks->chains.set = chain_sets_new(CHAIN_SETS_MIN);
	stacks->callers.set = chain_sets_new(CHAIN_SETS_MIN);
	if (getrandom(&stacks->seed, sizeof(stacks->seed), GRND_NONBLOCK) < 0)
		stacks->seed = (uintptr_t)stacks;
	/* The root, and FRAME_NONE. */
	if (!stacks->chains.set || !stacks->callers.set || chunks_add(&stacks->nodes, &id) ||
		chunks_add(&stacks->frames, &id)) {
		stacks_free(stacks);
		return -ENOMEM;
	}
	*out = stacks;
	return 0;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	chunks_fini(&stacks->nodes);
	chunks_fini(&stacks->frames);
	idtable_fini(&stacks->node_ids);
	idtable_fini(&stacks->frame_ids);
	free(stacks->chains.set);
	free(stacks->callers.set);
	free(stacks->fresh);
	free(stacks->page_pool);
	free(stacks);
}

/* --- frames --- */

static void frame_release(struct stacks *stacks, uint32_t id)
{
	struct frame_entry *entry = frame_at(stacks, id);

	idtable_remove(&stacks->frame_ids, entry->hash, id);
	stacks->frames_used--;
	entry->refs = 0;
	if (entry->frame.generation == GENERATION_LAST)
		return;
	entry->frame.generation++;
	entry->frame.image = stacks->free_frame;
	stacks->free_frame = id;
}

static uint32_t frame_hash(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode)
{
	return idtable_mix(stacks->seed ^ offset, (uint64_t)image << 8 | (unsigned int)mode);
}

void stacks_frame_prefetch(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode)
{
	idtable_prefetch(&stacks->frame_ids, frame_hash(stacks, image, offset, mode));
}

void stacks_frame_prefetch_entry(
	const struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode)
{
	uint32_t cursor = frame_hash(stacks, image, offset, mode);

	__builtin_prefetch(frame_at(stacks, idtable_next(&stacks->frame_ids, cursor, &cursor)));
}

int stacks_frame(struct stacks *stacks, uint32_t image, uint64_t offset, enum frame_mode mode,
	uint32_t *frame)
{
	uint32_t hash = frame_hash(stacks, image, offset, mode);
	struct frame_entry *entry;
	uint32_t id;
	int err;

	IDTABLE_FOR_EACH(&stacks->frame_ids, hash, id)
	{
		const struct frame *have = &frame_at(stacks, id)->frame;

		if (have->offset == offset && have->image == image && have->mode == mode) {
			*frame = id;
			return 0;
		}
	}

	if (!stacks->free_frame) {
		err = chunks_add(&stacks->frames, &id);
		if (err)
			return err;
		frame_at(stacks, id)->frame.image = 0;
		stacks->free_frame = id;
	}
	id = stacks->free_frame;
	err = idtable_put(&stacks->frame_ids, hash, id);
	if (err)
		return err;
	entry = frame_at(stacks, id);
	stacks->free_frame = entry->frame.image;
	entry->frame.offset = offset;
	entry->frame.image = image;
	entry->frame.mode = (uint8_t)mode;
	entry->refs = 0;
	entry->hash = hash;
	stacks->frames_used++;
	*frame = id;
	return 0;
}

const struct frame *stacks_frame_get(const struct stacks *stacks, uint32_t frame)
{
	return &frame_at(stacks, frame)->frame;
}

/* --- nodes --- */

static void give_node(struct stacks *stacks, uint32_t id)
{
	uint32_t *list = &stacks->free_node[stacks->page_pool[id / PAGE_NODES]];

	node_at(stacks, id)->parent = *list;
	*list = id;
}

/* Adds a page of ids to a pool; the lowest id is given out first. */
static int add_page(struct stacks *stacks, enum pool pool)
{
	uint32_t first = stacks->nodes.count, id = first;
	size_t page = first / PAGE_NODES;

	if (grow_items(&stacks->page_pool, &stacks->pages_room, page + 1, 1))
		return -ENOMEM;
	stacks->page_pool[page] = (uint8_t)pool;
	while (!chunks_add(&stacks->nodes, &id) && (id + 1) % PAGE_NODES)
		;
	for (id = stacks->nodes.count; id > first;)
		give_node(stacks, --id);
	return stacks->free_node[pool] ? 0 : -ENOMEM;
}

static void node_release(struct stacks *stacks, uint32_t id)
{
	struct stack_node *node = node_at(stacks, id);

	idtable_remove(&stacks->node_ids, node_hash(stacks, node->parent, node->frame), id);
	stacks->nodes_used--;
	stacks->released = true;
	if (!--frame_at(stacks, node->frame)->refs)
		frame_release(stacks, node->frame);
	node->depth = 0;
	if (node->generation == GENERATION_LAST)
		return;
	__atomic_store_n(&node->generation, (uint16_t)(node->generation + 1), __ATOMIC_RELAXED);
	give_node(stacks, id);
}

void stacks_child_prefetch(const struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	idtable_prefetch(&stacks->node_ids, node_hash(stacks, parent, frame));
}

void stacks_child_prefetch_entry(const struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t cursor = node_hash(stacks, parent, frame);

	__builtin_prefetch(node_at(stacks, idtable_next(&stacks->node_ids, cursor, &cursor)));
}

static int child(
	struct stacks *stacks, uint32_t parent, uint32_t frame, enum pool pool, uint32_t *node)
{
	uint32_t hash = node_hash(stacks, parent, frame);
	struct stack_node *entry;
	uint32_t id;
	int err;

	IDTABLE_FOR_EACH(&stacks->node_ids, hash, id)
	{
		const struct stack_node *have = node_at(stacks, id);

		if (have->parent == parent && have->frame == frame) {
			*node = id;
			return 0;
		}
	}

	if (node_at(stacks, parent)->depth >= STACK_DEPTH_MAX)
		return -EINVAL;
	err = grow_items(
		&stacks->fresh, &stacks->fresh_size, stacks->n_fresh + 1, sizeof(*stacks->fresh));
	if (err)
		return err;
	if (!stacks->free_node[pool]) {
		err = add_page(stacks, pool);
		if (err)
			return err;
	}
	id = stacks->free_node[pool];
	err = idtable_put(&stacks->node_ids, hash, id);
	if (err)
		return err;
	entry = node_at(stacks, id);
	stacks->free_node[pool] = entry->parent;
	entry->parent = parent;
	entry->frame = frame;
	entry->refs = 0;
	entry->depth = (uint16_t)(node_at(stacks, parent)->depth + 1u);
	frame_at(stacks, frame)->refs++;
	if (parent != STACK_ROOT)
		node_at(stacks, parent)->refs++;
	stacks->nodes_used++;
	stacks->fresh[stacks->n_fresh++] = id;
	*node = id;
	return 0;
}

int stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *node)
{
	return child(stacks, parent, frame, POOL_CALLERS, node);
}

int stacks_leaf(struct stacks *stacks, uint32_t parent, uint32_t frame, uint32_t *node)
{
	return child(stacks, parent, frame, POOL_LEAVES, node);
}

const struct stack_node *stacks_node(const struct stacks *stacks, uint32_t node)
{
	return node_at(stacks, node);
}

void stacks_ref(struct stacks *stacks, uint32_t node)
{
	if (node != STACK_ROOT)
		node_at(stacks, node)->refs++;
}

/* Frees a node without references, and the ancestors that lose their last one with it. */
static void release_up(struct stacks *stacks, uint32_t node)
{
	while (node != STACK_ROOT && !node_at(stacks, node)->refs) {
		uint32_t parent = node_at(stacks, node)->parent;

		node_release(stacks, node);
		if (parent != STACK_ROOT)
			node_at(stacks, parent)->refs--;
		node = parent;
	}
}

void stacks_unref(struct stacks *stacks, uint32_t node)
{
	if (node == STACK_ROOT)
		return;
	node_at(stacks, node)->refs--;
	release_up(stacks, node);
}

void stacks_unref_some(struct stacks *stacks, uint32_t node, uint32_t n)
{
	if (node != STACK_ROOT)
		node_at(stacks, node)->refs -= n;
}

void stacks_sweep(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n_fresh; i++) {
		uint32_t id = stacks->fresh[i];

		/* The node may have been freed since, and may even be listed twice. */
		if (node_at(stacks, id)->depth)
			release_up(stacks, id);
	}
	stacks->n_fresh = 0;
}

/* --- chains --- */

static bool chain_alive(const struct stacks *stacks, const struct chain *chain)
{
	const struct stack_node *node;

	/* Most recordings end before a node is released.  Then the node need not be fetched. */
	if (!stacks->released)
		return chain->node != STACK_ROOT;
	node = node_at(stacks, chain->node);
	return node->generation == chain->generation && node->depth;
}

static uint32_t cache_find(const struct stacks *stacks, const struct chain_cache *cache,
	uint64_t hash, uint16_t *dropped)
{
	const struct chain *way = cache->set[hash & (cache->sets - 1)].way;
	unsigned int same = 0;

	/* The matching way cannot be predicted, so there is no branch for each.  An empty way has
	 * the root, which is not alive. */
	for (unsigned int i = 0; i < CHAIN_WAYS; i++)
		same |= (unsigned int)(way[i].hash == hash) << i;
	if (!same)
		return STACK_ROOT;
	way += __builtin_ctz(same);
	if (!chain_alive(stacks, way))
		return STACK_ROOT;
	*dropped = way->dropped;
	return way->node;
}

void stacks_chain_prefetch(const struct stacks *stacks, uint64_t hash)
{
	__builtin_prefetch(&stacks->chains.set[hash & (stacks->chains.sets - 1)]);
}

void stacks_chain_prefetch_node(const struct stacks *stacks, uint64_t hash)
{
	const struct chain *way = stacks->chains.set[hash & (stacks->chains.sets - 1)].way;

	for (unsigned int i = 0; i < CHAIN_WAYS; i++)
		if (!((way[i].hash ^ hash) & 0xffffff))
			__builtin_prefetch(node_at(stacks, way[i].node));
}

uint32_t stacks_chain_find(const struct stacks *stacks, uint64_t hash, uint16_t *dropped)
{
	return cache_find(stacks, &stacks->chains, hash, dropped);
}

void stacks_callers_prefetch(const struct stacks *stacks, uint64_t hash)
{
	__builtin_prefetch(&stacks->callers.set[hash & (stacks->callers.sets - 1)]);
}

uint32_t stacks_callers_find(const struct stacks *stacks, uint64_t hash, uint16_t *dropped)
{
	return cache_find(stacks, &stacks->callers, hash, dropped);
}

static struct chain *chain_insert(
	struct chain_set *set, unsigned int last, const struct chain *chain)
{
	memmove(&set->way[1], &set->way[0], last * sizeof(set->way[0]));
	set->way[0] = *chain;
	return &set->way[0];
}

/* Returns the way that an insertion replaces: that of the same chain, an empty one, or the oldest,
 * dead or alive.  Checking all ways for dead chains costs more than the chains it would save. */
static unsigned int chain_victim(const struct chain_set *set, uint64_t hash)
{
	for (unsigned int i = 0; i < CHAIN_WAYS - 1; i++)
		if (set->way[i].node == STACK_ROOT || set->way[i].hash == hash)
			return i;
	return CHAIN_WAYS - 1;
}

/* Doubles the number of sets; each old set is spread over two. */
static void cache_grow(struct chain_cache *cache)
{
	uint32_t sets = cache->sets * 2;
	struct chain_set *grown = chain_sets_new(sets);

	cache->evicted = 0;
	if (!grown)
		return; /* a cache may stay small */
	for (uint32_t i = 0; i < cache->sets; i++) {
		for (unsigned int way = CHAIN_WAYS; way-- > 0;) {
			const struct chain *chain = &cache->set[i].way[way];

			if (chain->node != STACK_ROOT)
				chain_insert(
					&grown[chain->hash & (sets - 1)], CHAIN_WAYS - 1, chain);
		}
	}
	free(cache->set);
	cache->set = grown;
	cache->sets = sets;
}

static void cache_add(struct stacks *stacks, struct chain_cache *cache, uint64_t hash,
	uint32_t node, uint16_t dropped)
{
	struct chain_set *set = &cache->set[hash & (cache->sets - 1)];
	struct chain chain = {.hash = hash,
		.node = node,
		.generation = node_at(stacks, node)->generation,
		.dropped = dropped};
	unsigned int victim = chain_victim(set, hash);
	const struct chain *old = &set->way[victim];
	bool evicts = old->node != STACK_ROOT && old->hash != hash &&
		cache->sets < CHAIN_SETS_MAX && chain_alive(stacks, old);

	chain_insert(set, victim, &chain);
	if (evicts && ++cache->evicted > cache->sets)
		cache_grow(cache);
}

int stacks_chain_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped)
{
	cache_add(stacks, &stacks->chains, hash, node, dropped);
	return 0;
}

void stacks_callers_add(struct stacks *stacks, uint64_t hash, uint32_t node, uint16_t dropped)
{
	cache_add(stacks, &stacks->callers, hash, node, dropped);
}

/* --- sizes --- */

uint16_t stacks_node_generation(const struct stacks *stacks, uint32_t node)
{
	return __atomic_load_n(&node_at(stacks, node)->generation, __ATOMIC_RELAXED);
}

uint32_t stacks_node_count(const struct stacks *stacks)
{
	return stacks->nodes_used;
}

uint32_t stacks_frame_count(const struct stacks *stacks)
{
	return stacks->frames_used;
}

uint32_t stacks_frame_limit(const struct stacks *stacks)
{
	return __atomic_load_n(&stacks->frames.count, __ATOMIC_RELAXED);
}

size_t stacks_memory(const struct stacks *stacks)
{
	return sizeof(*stacks) + chunks_memory(&stacks->nodes) + chunks_memory(&stacks->frames) +
		idtable_memory(&stacks->node_ids) + idtable_memory(&stacks->frame_ids) +
		(stacks->chains.sets + (size_t)stacks->callers.sets) * sizeof(struct chain_set) +
		stacks->fresh_size * sizeof(*stacks->fresh) + stacks->pages_room;
}

size_t stacks_node_bytes(void)
{
	return sizeof(struct stack_node) + 2 * sizeof(struct idtable_slot);
}

size_t stacks_memory_used(const struct stacks *stacks)
{
	return stacks->nodes_used * stacks_node_bytes() +
		stacks->frames_used *
		(sizeof(struct frame_entry) + 2 * sizeof(struct idtable_slot));
}
