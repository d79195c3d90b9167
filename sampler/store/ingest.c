/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ingest.c - see ingest.h.  Sampling thread.
 *
 * The steady path allocates nothing: the bytes of a chain are hashed, and the hash selects the
 * node.  Only a new chain is parsed.
 */
#include "sampler/store/ingest.h"

#include "sampler/base/grow.h"
#include "sampler/store/ingest_ends.h"
#include "sampler/store/spaces.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MODULES_MAX 16384u

/* Address in a chain that represents unknown callers; no code has it. */
#define TRUNCATED UINT64_MAX

/* The stacks of callers are remembered at every KEPT_EVERY-th frame of a chain. */
#define KEPT_EVERY 4u

/* The mode of addresses is unknown. */
#define MODE_SKIP ((enum frame_mode)(-1))

static int intern_pinned(
	struct images *images, enum image_kind kind, const char *path, uint32_t *id)
{
	const struct image key = {.kind = kind, .path = (char *)(uintptr_t)path};
	int err = images_intern(images, &key, id);

	if (!err)
		images_pin(images, *id);
	return err;
}

int ingest_init(struct ingest *ingest, const struct tasks_reader *reader, size_t budget_bytes)
{
	int err;

	*ingest = (struct ingest){0};
	/* A hash secret, not a key: weak random bytes are enough soon after boot. */
	if (getrandom(ingest->hash_secret, sizeof(ingest->hash_secret), GRND_INSECURE) !=
			(ssize_t)sizeof(ingest->hash_secret) &&
		getrandom(ingest->hash_secret, sizeof(ingest->hash_secret), GRND_NONBLOCK) !=
			(ssize_t)sizeof(ingest->hash_secret))
		return -EIO;
	memcpy(&ingest->hash_seed, ingest->hash_secret, sizeof(ingest->hash_seed));
	err = images_new(&ingest->images);
	if (!err)
		err = intern_pinned(
			ingest->images, IMAGE_HYPERVISOR, "[hypervisor]", &ingest->hypervisor);
	if (!err)
		err = intern_pinned(ingest->images, IMAGE_GUEST, "[guest]", &ingest->guest);
	if (!err)
		err = intern_pinned(
			ingest->images, IMAGE_KSYMBOL, "[truncated]", &ingest->truncated_image);
	if (!err)
		err = tasks_new(&ingest->tasks, ingest->images, reader);
	if (!err)
		err = stacks_new(&ingest->stacks);
	if (!err)
		err = values_new(&ingest->values);
	if (!err)
		err = store_new(&ingest->store, ingest->stacks, ingest->tasks, budget_bytes);
	if (!err)
		store_set_values(ingest->store, ingest->values);
	if (err)
		ingest_fini(ingest);
	return err;
}

void ingest_set_changes(struct ingest *ingest, struct changes *changes)
{
	changes_known_init(&ingest->changes, changes);
}

void ingest_fini(struct ingest *ingest)
{
	changes_known_fini(&ingest->changes);
	free(ingest->modules);
	free(ingest->unwound);
	free(ingest->broken_in);
	unwind_free(ingest->unwind);
	store_abandon(ingest->store);
	values_free(ingest->values);
	stacks_free(ingest->stacks);
	tasks_free(ingest->tasks);
	images_free(ingest->images);
	*ingest = (struct ingest){0};
}

void ingest_fields(struct ingest *ingest, uint8_t event, const struct fields *fields)
{
	ingest->fields[event] = fields;
}

void ingest_max_stack(struct ingest *ingest, uint8_t event, uint16_t frames)
{
	ingest->max_stack[event] = frames;
}

static enum frame_mode mode_of_misc(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return FRAME_KERNEL;
	case PERF_RECORD_MISC_HYPERVISOR:
		return FRAME_HYPERVISOR;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return FRAME_GUEST;
	default:
		return FRAME_USER;
	}
}

static enum frame_mode mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return FRAME_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return FRAME_USER;
	case (uint64_t)PERF_CONTEXT_HV:
		return FRAME_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return FRAME_GUEST;
	default:
		return MODE_SKIP;
	}
}

/* An address in the form used for lookups. */
struct place {
	uint64_t address;
	enum frame_mode mode;
};

/* Parses a chain, leaf first, into at most STACK_DEPTH_MAX places; returns true if there are
 * more. */
static bool parse_chain(
	const struct record_sample *sample, enum frame_mode mode, struct place *places, size_t *n)
{
	bool caller = false;

	*n = 0;
	for (uint64_t i = 0; i < sample->chain_len; i++) {
		uint64_t address = sample->chain[i];

		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			mode = mode_of_marker(address);
			caller = false;
			if (address == RECORD_CONTEXT_USER_DEFERRED)
				i++;
			continue;
		}
		if (!address || mode == MODE_SKIP)
			continue;
		if (*n == STACK_DEPTH_MAX)
			return true;
		places[(*n)++] = (struct place){.address = address - caller, .mode = mode};
		caller = true;
	}
	return false;
}

/* --- modules --- */

/* Returns the index of the first module that ends above address. */
static size_t first_module(const struct ingest *ingest, uint64_t address)
{
	size_t low = 0, high = ingest->n_modules;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ingest->modules[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void find_module(struct ingest *ingest, uint64_t address, uint32_t *image, uint64_t *offset)
{
	size_t i = first_module(ingest, address);

	if (i == ingest->n_modules || ingest->modules[i].start > address)
		return;
	*image = ingest->modules[i].image;
	images_pin(ingest->images, *image);
	if (!ingest->modules[i].is_function)
		*offset = address - ingest->modules[i].start;
}

/* Removes modules [first, last). */
static void drop_modules(struct ingest *ingest, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		images_unref(ingest->images, ingest->modules[i].image);
	memmove(&ingest->modules[first], &ingest->modules[last],
		(ingest->n_modules - last) * sizeof(*ingest->modules));
	ingest->n_modules -= last - first;
	ingest->modules_version++;
}

int ingest_module(struct ingest *ingest, uint64_t start, uint64_t len, const struct image *key)
{
	struct ingest_module new = {
		.start = start, .end = start + len, .is_function = key->kind == IMAGE_KSYMBOL};
	size_t first, last;
	int err;

	if (new.end <= start || ingest->n_modules == MODULES_MAX)
		return 0;
	if (grow_items(&ingest->modules, &ingest->modules_size, ingest->n_modules + 1,
		    sizeof(*ingest->modules)))
		return -ENOMEM;
	err = images_intern(ingest->images, key, &new.image);
	if (err)
		return err;
	images_ref(ingest->images, new.image);
	images_set_origin(ingest->images, new.image,
		&(struct image_origin){.map_start = start, .map_end = new.end});

	first = last = first_module(ingest, start);
	while (last < ingest->n_modules && ingest->modules[last].start < new.end)
		last++;
	drop_modules(ingest, first, last);
	memmove(&ingest->modules[first + 1], &ingest->modules[first],
		(ingest->n_modules - first) * sizeof(new));
	ingest->modules[first] = new;
	ingest->n_modules++;
	return 0;
}

int ingest_ksymbol(struct ingest *ingest, const struct record_ksymbol *symbol)
{
	const struct image key = {.kind = IMAGE_KSYMBOL, .path = (char *)(uintptr_t)symbol->name};
	size_t i = first_module(ingest, symbol->addr);

	if (!symbol->unregistered)
		return ingest_module(ingest, symbol->addr, symbol->len, &key);
	if (i < ingest->n_modules && ingest->modules[i].start == symbol->addr &&
		ingest->modules[i].is_function)
		drop_modules(ingest, i, i + 1);
	return 0;
}

/* A place resolved to image and offset, and its frame. */
struct found {
	uint64_t offset;
	uint32_t image, frame;
};

static void find_place(struct ingest *ingest, const struct space *space, const struct place *place,
	uint64_t time_ns, struct found *found)
{
	struct image_origin origin;

	*found = (struct found){.offset = place->address, .image = IMAGE_ID_KERNEL};
	if (place->address == TRUNCATED) {
		*found = (struct found){.image = ingest->truncated_image};
		return;
	}
	switch (place->mode) {
	case FRAME_USER:
		space_resolve(space, place->address, &found->image, &found->offset);
		if (found->image == IMAGE_ID_UNKNOWN)
			break;
		/* In a recording read a second time, the moves reported at its end are known. */
		changes_follow(&ingest->changes, &found->image, &found->offset, time_ns);
		/* This process is alive, so it is the best way to the file. */
		images_pin(ingest->images, found->image);
		found->offset =
			changes_offset(&ingest->changes, found->image, found->offset, time_ns);
		if (space_origin(space, place->address, &origin))
			images_set_origin(ingest->images, found->image, &origin);
		break;
	case FRAME_KERNEL:
		if (ingest->n_modules)
			find_module(ingest, place->address, &found->image, &found->offset);
		break;
	case FRAME_HYPERVISOR:
		found->image = ingest->hypervisor;
		break;
	case FRAME_GUEST:
		found->image = ingest->guest;
		break;
	}
}

static uint64_t mix(uint64_t hash, uint64_t value, uint64_t by)
{
	hash = (hash ^ value) * (by | 1);
	return hash ^ hash >> 31;
}

/* Fills hash[i] with the hash of all places from i to the outermost one. */
static void hash_callers(const struct ingest *ingest, const struct space *space, uint64_t time_ns,
	const struct place *places, size_t n, uint64_t *hash)
{
	uint64_t h = ingest->hash_seed, by;

	memcpy(&by, ingest->hash_secret + sizeof(by), sizeof(by));
	h = mix(h, space_generation(space) + (ingest->modules_version << 40), by);
	h = mix(h, changes_state(&ingest->changes, time_ns), by);
	for (size_t i = n; i-- > 1;) {
		h = mix(h, places[i].address + ((uint64_t)places[i].mode << 56), by);
		hash[i] = h;
	}
}

/* Returns whether the stack of places from i outward is remembered for later chains.  Many chains
 * differ only in the address within the leaf's function, many more in their innermost frames. */
static bool is_kept(size_t i, size_t n)
{
	return i && (i == 1 || (n - i) % KEPT_EVERY == 0);
}

/* A new chain.  It is built from the outermost frame inward, so that stacks with common callers
 * share nodes.  It starts at the innermost callers known from other chains.  Each step runs for
 * several chains in turn.  A step misses the cache, and its address depends on the step before. */
struct walk {
	struct ingest_sample *sample;
	struct space *space;
	struct place *places; /* n places, leaf first, like found and callers */
	struct found *found;
	uint64_t *callers;
	uint64_t hash;
	size_t n, left; /* left: frames still to add below the node */
	uint32_t node;
	uint16_t dropped; /* addresses without a frame */
	bool known, cut;
};

/* Room for the chains of a batch; at least one may have the maximum depth. */
#define WALK_PLACES (STACK_DEPTH_MAX + 512u)

struct walks {
	struct walk walk[INGEST_BATCH];
	size_t n, used;
	struct place places[WALK_PLACES];
	struct found found[WALK_PLACES];
	uint64_t callers[WALK_PLACES];
};

static bool has_room(const struct walks *walks, const struct record_sample *sample)
{
	size_t most = sample->chain_len < STACK_DEPTH_MAX ? sample->chain_len : STACK_DEPTH_MAX;

	return walks->used + most + 2 <= WALK_PLACES;
}

static bool is_truncated(const struct ingest_sample *sample)
{
	return sample->end == UNWIND_CUT || sample->end == UNWIND_BROKEN ||
		sample->end == UNWIND_AWAY || sample->end == UNWIND_DEEP;
}

/* Adds the ip if the chain has only user frames (exclude_callchain_kernel). */
static void put_first(struct walk *walk, struct place place)
{
	if (walk->n == STACK_DEPTH_MAX) {
		walk->n--;
		walk->cut = true;
	}
	memmove(walk->places + 1, walk->places, walk->n * sizeof(*walk->places));
	walk->places[0] = place;
	walk->n++;
}

static void walk_begin(struct ingest *ingest, struct walks *walks, struct walk *walk)
{
	const struct record *record = walk->sample->record;
	const struct record_sample *sample = &record->sample;
	enum frame_mode mode = mode_of_misc(record->misc);

	walk->places = &walks->places[walks->used];
	walk->found = &walks->found[walks->used];
	walk->callers = &walks->callers[walks->used];
	walk->cut = parse_chain(sample, mode, walk->places, &walk->n);
	if (!walk->n)
		walk->places[walk->n++] = (struct place){.address = sample->ip, .mode = mode};
	else if (sample->ip && mode == FRAME_KERNEL && walk->places[0].mode == FRAME_USER)
		put_first(walk, (struct place){.address = sample->ip, .mode = mode});
	else if (sample->ip && sample->ip != walk->places[0].address)
		walk->places[0] = (struct place){.address = sample->ip, .mode = mode};
	if (is_truncated(walk->sample)) {
		walk->n -= walk->n == STACK_DEPTH_MAX;
		walk->places[walk->n++] = (struct place){.address = TRUNCATED, .mode = FRAME_USER};
	}
	walks->used += walk->n;
	hash_callers(ingest, walk->space, record->id.time_ns, walk->places, walk->n, walk->callers);
	/* Callers further out are seldom needed. */
	for (size_t i = 1; i < walk->n && i <= 1 + KEPT_EVERY; i++)
		if (is_kept(i, walk->n))
			stacks_callers_prefetch(ingest->stacks, walk->callers[i]);
}

static void walk_places(struct ingest *ingest, struct walk *walk)
{
	walk->node = STACK_ROOT;
	for (walk->left = 1; walk->left < walk->n; walk->left++) {
		if (is_kept(walk->left, walk->n))
			walk->node = stacks_callers_find(
				ingest->stacks, walk->callers[walk->left], &walk->dropped);
		if (walk->node != STACK_ROOT)
			break;
	}
	for (size_t i = 0; i < walk->left; i++) {
		find_place(ingest, walk->space, &walk->places[i], walk->sample->record->id.time_ns,
			&walk->found[i]);
		stacks_frame_prefetch(ingest->stacks, walk->found[i].image, walk->found[i].offset,
			walk->places[i].mode);
	}
}

static void walk_fetch_frames(const struct ingest *ingest, const struct walk *walk)
{
	for (size_t i = 0; i < walk->left; i++)
		stacks_frame_prefetch_entry(ingest->stacks, walk->found[i].image,
			walk->found[i].offset, walk->places[i].mode);
}

static int walk_frames(struct ingest *ingest, struct walk *walk)
{
	int err = 0;

	for (size_t i = walk->left; i-- && !err;)
		err = stacks_frame(ingest->stacks, walk->found[i].image, walk->found[i].offset,
			walk->places[i].mode, &walk->found[i].frame);
	if (!err && walk->left)
		stacks_child_prefetch(
			ingest->stacks, walk->node, walk->found[walk->left - 1].frame);
	return err;
}

/* Returns true if a caller lies in no mapping, since a frame pointer walk may follow any word.
 * False while no mapping of the process is known. */
static bool is_no_caller(const struct walk *walk, size_t i)
{
	return i && walk->found[i].image == IMAGE_ID_UNKNOWN && walk->space &&
		walk->places[i].mode == FRAME_USER && space_count(walk->space);
}

static int walk_step(struct ingest *ingest, struct walk *walk)
{
	size_t left = --walk->left;
	uint32_t frame = walk->found[left].frame;
	int err = 0;

	if (!left)
		err = stacks_leaf(ingest->stacks, walk->node, frame, &walk->node);
	else if (is_no_caller(walk, left))
		walk->dropped++;
	else
		err = stacks_child(ingest->stacks, walk->node, frame, &walk->node);
	if (err)
		return err;
	if (is_kept(left, walk->n) && walk->node != STACK_ROOT)
		stacks_callers_add(ingest->stacks, walk->callers[left], walk->node, walk->dropped);
	if (left)
		stacks_child_prefetch(ingest->stacks, walk->node, walk->found[left - 1].frame);
	return 0;
}

static int walk_all(struct ingest *ingest, struct walks *walks)
{
	struct walk *to_do[INGEST_BATCH];
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < walks->n; i++)
		if (!walks->walk[i].known)
			to_do[n++] = &walks->walk[i];
	for (size_t i = 0; i < n; i++)
		walk_places(ingest, to_do[i]);
	for (size_t i = 0; i < n; i++)
		walk_fetch_frames(ingest, to_do[i]);
	for (size_t i = 0; i < n && !err; i++)
		err = walk_frames(ingest, to_do[i]);
	while (n && !err) {
		size_t kept = 0;

		for (size_t i = 0; i < n; i++)
			stacks_child_prefetch_entry(ingest->stacks, to_do[i]->node,
				to_do[i]->found[to_do[i]->left - 1].frame);
		for (size_t i = 0; i < n && !err; i++) {
			err = walk_step(ingest, to_do[i]);
			if (to_do[i]->left)
				to_do[kept++] = to_do[i];
		}
		n = kept;
	}
	return err;
}

uint64_t ingest_chain_hash(const struct ingest *ingest, const struct record *record)
{
	const struct record_sample *sample = &record->sample;
	uint64_t process =
		(uint64_t)record->id.pid << 3 | (record->misc & PERF_RECORD_MISC_CPUMODE_MASK);
	uint64_t hash = XXH3_64bits_withSecret(
		&sample->ip, sizeof(sample->ip), ingest->hash_secret, sizeof(ingest->hash_secret));

	if (sample->chain_len)
		hash = XXH3_64bits_withSecret(sample->chain,
			       (size_t)sample->chain_len * sizeof(*sample->chain),
			       ingest->hash_secret, sizeof(ingest->hash_secret)) ^
			(hash << 1 | hash >> 63);
	hash ^= (process + ingest->hash_seed) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* The context changes only bits above those that choose the cache's set, so the set is known
 * ahead. */
static inline uint64_t hash_in_space(const struct ingest *ingest, uint64_t chain_hash,
	const struct space *space, uint64_t time_ns)
{
	uint64_t context = space_generation(space) + (ingest->modules_version << 40);

	context = (context + ingest->hash_seed) * 0x9e3779b97f4a7c15ull +
		changes_state(&ingest->changes, time_ns) * 0xc2b2ae3d27d4eb4full;

	return chain_hash ^ (context ^ context >> 29) << 24;
}

/* Searches for the code at the sample's ip; returns true if the address space has changed. */
static bool find_code(struct ingest *ingest, const struct walk *walk)
{
	const struct record *record = walk->sample->record;
	const uint64_t generation = space_generation(walk->space);
	uint64_t offset;
	uint32_t image;

	if (mode_of_misc(record->misc) != FRAME_USER || !record->sample.ip)
		return false;
	space_resolve(walk->space, record->sample.ip, &image, &offset);
	if (image == IMAGE_ID_UNKNOWN)
		tasks_find_code(ingest->tasks, (int32_t)record->id.pid, record->sample.ip);
	return space_generation(walk->space) != generation;
}

/* Takes the first samples that are independent of each other: the lookup of one task may end
 * another. */
static int take_batch(
	struct ingest *ingest, struct walks *walks, struct ingest_sample *samples, size_t n)
{
	walks->n = walks->used = 0;
	for (size_t i = 0; i < n && i < INGEST_BATCH; i++) {
		struct walk *walk = &walks->walk[i];
		const struct record *record = samples[i].record;
		int32_t pid = (int32_t)record->id.pid, tid = (int32_t)record->id.tid;
		int err;

		if (i && !tasks_is_settled(ingest->tasks, pid, tid))
			break;
		walk->sample = &samples[i];
		err = tasks_sample(ingest->tasks, pid, tid, record->id.time_ns, &samples[i].label,
			&walk->space);
		if (err)
			return err;
		if (samples[i].end == UNWIND_UNTRIED)
			samples[i].end = (uint8_t)ingest_find_end(
				ingest, walk->space, &record->sample, samples[i].event);
		/* Without its table a chain is not known to be whole. */
		if (samples[i].end == UNWIND_WAITS) {
			samples[i].end = UNWIND_BROKEN;
			ingest->judged++;
		}
		walk->dropped = 0;
		walk->hash =
			hash_in_space(ingest, samples[i].hash, walk->space, record->id.time_ns) ^
			(uint64_t)is_truncated(&samples[i]) << 63;
		walk->node = stacks_chain_find(ingest->stacks, walk->hash, &walk->dropped);
		walk->known = walk->node != STACK_ROOT;
		if (!walk->known && find_code(ingest, walk))
			walk->hash = hash_in_space(ingest, samples[i].hash, walk->space,
					     record->id.time_ns) ^
				(uint64_t)is_truncated(&samples[i]) << 63;
		if (!walk->known && !has_room(walks, &record->sample))
			break;
		if (!walk->known)
			walk_begin(ingest, walks, walk);
		walks->n++;
	}
	return 0;
}

/* Context for locating an address. */
struct locating {
	struct ingest *ingest;
	const struct space *space;
	uint64_t time_ns;
};

static bool locate(void *ctx, uint64_t address, bool data, uint32_t *image, uint64_t *offset)
{
	const struct locating *locating = ctx;
	/* Addresses in the upper half belong to the kernel. */
	const struct place place = {
		.address = address, .mode = address >> 63 ? FRAME_KERNEL : FRAME_USER};
	struct found found;

	/* Data at an address has no numbered predecessors: time 0 selects number 0. */
	find_place(locating->ingest, locating->space, &place, data ? 0 : locating->time_ns, &found);
	*image = found.image;
	*offset = found.offset;
	return found.image != IMAGE_ID_UNKNOWN;
}

static int add_with_fields(
	struct ingest *ingest, const struct walk *walk, const struct record *record)
{
	struct locating locating = {ingest, walk->space, record->id.time_ns};
	uint8_t event = walk->sample->event;
	uint32_t values;
	int err = fields_read(
		ingest->fields[event], record, ingest->values, locate, &locating, &values);

	if (err) {
		store_drop(ingest->store, 1);
		return err;
	}
	err = store_add_values(ingest->store, record->id.time_ns, walk->node, walk->sample->label,
		(uint16_t)record->id.cpu, event, record->sample.period ? record->sample.period : 1,
		values);
	values_unref(ingest->values, values, 1);
	return err;
}

/* Remembers the stack of a chain.  A chain cut at the maximum depth is walked each time, to count
 * it. */
static int remember(struct ingest *ingest, const struct walk *walk)
{
	if (walk->known)
		return 0;
	/* The mapping may be known next time. */
	if (walk->places[0].mode == FRAME_USER && walk->found[0].image == IMAGE_ID_UNKNOWN)
		return 0;
	if (walk->cut) {
		ingest->truncated++;
		return 0;
	}
	return stacks_chain_add(ingest->stacks, walk->hash, walk->node, walk->dropped);
}

static int add_batch(struct ingest *ingest, struct walks *walks)
{
	int err = 0;

	for (size_t i = 0; i < walks->n && !err; i++) {
		const struct walk *walk = &walks->walk[i];
		struct ingest_sample *sample = walk->sample;
		const struct record *record = sample->record;

		sample->stack = walk->node;
		err = remember(ingest, walk);
		if (err)
			store_drop(ingest->store, 1);
		else if (ingest->fields[sample->event])
			err = add_with_fields(ingest, walk, record);
		else
			err = store_add(ingest->store, record->id.time_ns, walk->node,
				sample->label, (uint16_t)record->id.cpu, sample->event,
				record->sample.period ? record->sample.period : 1);
		if (err)
			break;
		ingest->samples++;
		ingest->dropped += walk->dropped;
		ingest_count_end(ingest, sample->event, sample->end);
		ingest->last_stack = sample->stack;
		ingest->last_label = sample->label;
		ingest->last_end = sample->end;
	}
	return err;
}

/* Samples not added count as dropped; add_batch() counts the one at which it fails. */
int ingest_samples(struct ingest *ingest, struct ingest_sample *samples, size_t n)
{
	struct walks walks;

	while (n) {
		const uint64_t before = ingest->samples;
		int err = take_batch(ingest, &walks, samples, n);

		if (!err)
			err = walk_all(ingest, &walks);
		if (err) {
			store_drop(ingest->store, n);
			return err;
		}
		err = add_batch(ingest, &walks);
		if (err) {
			store_drop(ingest->store, n - (ingest->samples - before) - 1);
			return err;
		}
		samples += walks.n;
		n -= walks.n;
	}
	return 0;
}

int ingest_stack(struct ingest *ingest, struct ingest_sample *sample)
{
	struct walks walks;
	int err;

	sample->hash = ingest_chain_hash(ingest, sample->record);
	err = take_batch(ingest, &walks, sample, 1);

	if (!err)
		err = walk_all(ingest, &walks);
	if (!err)
		err = remember(ingest, &walks.walk[0]);
	if (!err)
		sample->stack = walks.walk[0].node;
	return err;
}

int ingest_named(struct ingest *ingest, const char *name, uint32_t parent, uint32_t *node)
{
	uint32_t image, frame;
	int err = intern_pinned(ingest->images, IMAGE_KSYMBOL, name, &image);

	if (!err)
		err = stacks_frame(ingest->stacks, image, 0, FRAME_KERNEL, &frame);
	return err ? err : stacks_leaf(ingest->stacks, parent, frame, node);
}

int ingest_unknown(struct ingest *ingest, int32_t pid, int32_t tid, uint64_t time_ns,
	uint32_t *stack, uint32_t *label)
{
	int err = tasks_label(ingest->tasks, pid, tid, time_ns, label);

	if (!err)
		err = ingest_named(ingest, "[off-cpu]", STACK_ROOT, stack);
	if (err)
		return err;
	stacks_ref(ingest->stacks, *stack);
	tasks_label_ref(ingest->tasks, *label);
	return 0;
}

void ingest_release(struct ingest *ingest, uint32_t stack, uint32_t label)
{
	stacks_unref(ingest->stacks, stack);
	tasks_label_unref(ingest->tasks, label);
}

int ingest_record(struct ingest *ingest, const struct record *record, uint8_t event)
{
	if (record->type == PERF_RECORD_SAMPLE)
		return ingest_samples(ingest,
			&(struct ingest_sample){.record = record,
				.event = event,
				.hash = ingest_chain_hash(ingest, record)},
			1);
	if (record->type == PERF_RECORD_KSYMBOL)
		return ingest_ksymbol(ingest, &record->ksymbol);
	return tasks_apply(ingest->tasks, record);
}
