/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - see names.h.
 *
 * Symrefs do not move and are freed only with the table, so rows may keep their ids.  The symref of
 * a frame is cached with the version of its image's symbols, and looked up again when that changes.
 */
#include "tui/names/private.h"

#include "symbols/base/function_cut.h"
#include "symbols/client/code.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/names/forest.h"
#include "tui/names/rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES (FUNCTION_NAME_BYTES + 64) /* with marks */
#define OTHER_BUILD " (other build)" /* follows addresses in a file other than the recorded one */

static struct ref *ref_at(const struct names *names, uint32_t symref)
{
	return &names->chunks[symref / NAMES_CHUNK][symref % NAMES_CHUNK];
}

static uint64_t mix(uint64_t value)
{
	value ^= value >> 33;
	value *= 0xff51afd7ed558ccdull;
	value ^= value >> 33;
	value *= 0xc4ceb9fe1a85ec53ull;
	return value ^ value >> 33;
}

static uint64_t hash_of(uint32_t image, enum ref_kind kind, uint64_t key)
{
	return mix(key ^ mix((uint64_t)image << 8 | kind));
}

/* Adds a zeroed ref.  Returns its id; 0 if memory runs out (the first ref has id 0). */
static uint32_t ref_new(struct names *names)
{
	uint32_t chunk = names->n_refs / NAMES_CHUNK;

	if (names->n_refs % NAMES_CHUNK == 0) {
		if (grow_exact(&names->chunks, chunk + 1, sizeof(*names->chunks)))
			return 0;
		names->chunks[chunk] = calloc(NAMES_CHUNK, sizeof(**names->chunks));
		if (!names->chunks[chunk])
			return 0;
	}
	return names->n_refs++;
}

static void place(struct names *names, uint32_t symref)
{
	const struct ref *ref = ref_at(names, symref);
	uint64_t slot = hash_of(ref->pub.image_id, (enum ref_kind)ref->kind, ref->key);

	while (names->slots[slot & (names->n_slots - 1)])
		slot++;
	names->slots[slot & (names->n_slots - 1)] = symref;
}

static int slots_grow(struct names *names)
{
	uint32_t *old = names->slots;

	if (names->n_refs < names->n_slots / 2)
		return 0;
	names->slots = calloc((size_t)names->n_slots * 2, sizeof(*names->slots));
	if (!names->slots) {
		names->slots = old;
		return -ENOMEM;
	}
	names->n_slots *= 2;
	for (uint32_t i = 1; i < names->n_refs; i++)
		place(names, i);
	free(old);
	return 0;
}

/* Returns the ref of a key.  *made: it is new, and only image_id, kind and key are set. */
static uint32_t ref_intern(
	struct names *names, uint32_t image, enum ref_kind kind, uint64_t key, bool *made)
{
	uint64_t slot = hash_of(image, kind, key);
	uint32_t symref;

	*made = false;
	while ((symref = names->slots[slot & (names->n_slots - 1)])) {
		const struct ref *ref = ref_at(names, symref);

		if (ref->key == key && ref->pub.image_id == image && ref->kind == kind)
			return symref;
		slot++;
	}
	symref = slots_grow(names) ? 0 : ref_new(names);
	if (!symref) {
		symbols_lack_memory(names->symbols);
		return 0;
	}
	struct ref *ref = ref_at(names, symref);

	ref->pub.image_id = image;
	ref->kind = (uint8_t)kind;
	ref->key = key;
	place(names, symref);
	*made = true;
	return symref;
}

int names_new(struct names **out, const struct stacks *stacks, struct images *images,
	struct symbols *symbols)
{
	struct names *names = calloc(1, sizeof(*names));

	*out = NULL;
	if (!names)
		return -ENOMEM;
	names->stacks = stacks;
	names->images = images;
	names->symbols = symbols;
	names->n_slots = 1024;
	names->slots = calloc(names->n_slots, sizeof(*names->slots));
	if (!names->slots || (ref_new(names), !names->n_refs)) {
		names_free(names);
		return -ENOMEM;
	}
	ref_at(names, 0)->pub = (struct symref){
		.symbol = strdup("[unknown]"),
		.image = "[unknown]",
		.path = "[unknown]",
	};
	if (!ref_at(names, 0)->pub.symbol) {
		names_free(names);
		return -ENOMEM;
	}
	*out = names;
	return 0;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (uint32_t i = 0; i < names->n_refs; i++)
		free((char *)ref_at(names, i)->pub.symbol);
	for (uint32_t i = 0; i * NAMES_CHUNK < names->n_refs; i++)
		free(names->chunks[i]);
	for (uint32_t i = 0; i < names->n_infos; i++)
		free(names->infos[i].path);
	for (uint32_t i = 0; i < names->n_modules; i++)
		free(names->modules[i]);
	free(names->modules);
	forest_put(names->forest);
	free(names->chunks);
	free(names->infos);
	free(names->frames);
	free(names->slots);
	free(names->ugly);
	free(names->frozen);
	free(names->lines);
	free(names->segments);
	free(names->pieces);
	free(names);
}

static void watch_for_pretty(struct names *names, uint32_t symref)
{
	if (grow_room((void **)&names->ugly, names->n_ugly, &names->ugly_room,
		    sizeof(*names->ugly))) {
		symbols_lack_memory(names->symbols); /* the mangled name stays */
		return;
	}
	names->ugly[names->n_ugly++] = symref;
}

/* Whether the image's table is ready or can arrive at any time. */
static bool is_requested(const struct image_info *info)
{
	return info->state == SYMBOLS_READY ||
		(info->kind == IMAGE_ANON && info->state == SYMBOLS_NONE && info->has_source);
}

static uint32_t resolve(struct names *names, uint32_t image, const struct image_info *info,
	uint64_t offset, bool kernel)
{
	struct symbol symbol;
	struct ref *ref;
	uint32_t symref;
	bool made;

	if (info->kind == IMAGE_UNKNOWN)
		return 0;
	if (is_requested(info) && symbols_find(names->symbols, image, offset, &symbol)) {
		symref = ref_intern(
			names, names_twin(names, image), REF_SYMBOL, symbol.index, &made);
		if (symref && made) {
			ref = ref_at(names, symref);
			ref->pub.raw = *symbol.name ? symbol.name : NULL;
			ref->uncertain = symbol.uncertain;
			ref->pub.start = symbol.start;
			ref->pub.resolved = *symbol.name;
			ref->pub.bounded = true;
			ref->pub.idle = kernel && names_is_idle(symbol.name);
			if (symbol.module)
				ref->pub.image = names_module(names, symbol.module);
			if (info->kind == IMAGE_ANON)
				names_jit(names, ref, symbols_jit_file(names->symbols, image));
			if (names_may_be_mangled(symbol.name))
				watch_for_pretty(names, symref);
		} else if (symref && info->kind == IMAGE_ANON) {
			/* The code was compiled again: store its newest place. */
			ref_at(names, symref)->pub.start = symbol.start;
		}
	} else if (info->kind == IMAGE_ANON || info->kind == IMAGE_KSYMBOL) {
		symref = ref_intern(names, image, REF_WHOLE, 0, &made);
		if (symref && made && info->kind == IMAGE_KSYMBOL)
			ref_at(names, symref)->pub.resolved = true;
		else if (symref && made)
			ref_at(names, symref)->pub.growing = info->has_source;
		if (info->kind == IMAGE_ANON && is_requested(info))
			(void)names_request(names, images_get(names->images, image));
	} else {
		symref = ref_intern(names, image, REF_ADDRESS, offset, &made);
		if (symref && made)
			ref_at(names, symref)->pub.start = offset;
	}
	if (symref && made) {
		ref = ref_at(names, symref);
		ref->pub.kernel = kernel || info->kind == IMAGE_KERNEL;
		if (!ref->pub.path)
			ref->pub.path = info->path;
		if (!ref->pub.image)
			ref->pub.image = info->name;
	}
	return symref;
}

uint32_t names_symref(struct names *names, uint32_t frame)
{
	const struct frame *at = stacks_frame_get(names->stacks, frame);
	const struct image_info *info;
	struct frame_info *known;
	uint32_t symref;

	if (frame < names->n_frames) {
		known = &names->frames[frame];
		if (known->version && known->generation == at->generation &&
			known->version == names->infos[at->image].version)
			return known->symref;
	}
	if (names->is_frozen)
		return frame < names->n_frozen && names->frozen[frame].n
			? names->lines[names->frozen[frame].first + names->frozen[frame].n - 1]
				  .symref
			: 0;
	if (grow_zeroed((void **)&names->frames, frame, &names->n_frames, sizeof(*known))) {
		symbols_lack_memory(names->symbols);
		return 0;
	}
	info = names_image(names, at->image);
	if (!info)
		return 0;
	if (info->is_piece)
		names_sample_piece(names, at->image, changes_plain(at->offset));
	symref = resolve(names, at->image, info, at->offset, at->mode == FRAME_KERNEL);
	known = &names->frames[frame];
	*known = (struct frame_info){symref, info->version, at->generation};
	return symref;
}

uint32_t names_symref_at(struct names *names, uint32_t image, uint64_t offset)
{
	const struct image_info *info = names_image(names, image);

	return info ? resolve(names, image, info, offset, info->kind == IMAGE_KERNEL) : 0;
}

static uint32_t inlined_symref(
	struct names *names, const struct image_info *info, uint32_t image, const char *function)
{
	struct ref *ref;
	bool made;
	uint32_t symref =
		ref_intern(names, image, REF_INLINED, (uint64_t)(uintptr_t)function, &made);

	if (!symref || !made)
		return symref;
	ref = ref_at(names, symref);
	ref->pub.raw = function;
	ref->pub.inlined = true;
	ref->pub.resolved = true;
	ref->pub.kernel = info->kind == IMAGE_KERNEL || info->kind == IMAGE_MODULE;
	ref->pub.path = info->path;
	ref->pub.image = info->name;
	if (names_may_be_mangled(function))
		watch_for_pretty(names, symref);
	return symref;
}

uint32_t names_foreign(struct names *names, const char *symbol, const char *image, uint64_t start)
{
	char *copy = strdup(symbol);
	bool made = false;
	uint32_t symref = copy ? ref_intern(names, 0, REF_FOREIGN, names->n_refs, &made) : 0;
	struct ref *ref;

	if (!made) {
		free(copy);
		return 0;
	}
	ref = ref_at(names, symref);
	ref->pub.symbol = copy;
	ref->pub.image = ref->pub.path = names_shared(names, image, "[unknown]");
	ref->pub.start = start;
	ref->pub.foreign = true;
	ref->pub.resolved =
		*symbol != '[' && (!strstr(symbol, "+0x") || strstr(symbol, NAMES_UNCERTAIN));
	ref->pub.kernel = !strcmp(image, "[kernel]");
	return symref;
}

/* Whether the runtime wrote a jitdump file, with source lines of code generated at run time. */
static bool has_jitdump(const struct names *names, uint32_t image)
{
	struct image_origin origin = {0};

	images_origin(names->images, image, &origin);
	return origin.jitdump;
}

size_t names_lines(
	struct names *names, uint32_t frame, struct names_line out[NAMES_INLINED_MAX + 1])
{
	const struct frame *at = stacks_frame_get(names->stacks, frame);
	struct symbols_frame frames[NAMES_INLINED_MAX + 1];
	const struct image_info *info;
	struct names_line own = {.symref = names_symref(names, frame), .file = ""};
	enum symbols_state state = SYMBOLS_NONE;
	size_t n = 0, kept = 0;

	if (names->is_frozen && frame < names->n_frozen && names->frozen[frame].n) {
		memcpy(out, names->lines + names->frozen[frame].first,
			names->frozen[frame].n * sizeof(*out));
		return names->frozen[frame].n;
	}
	info = names_image(names, at->image);
	if (names->symbols && info && info->kind != IMAGE_UNKNOWN &&
		(info->kind != IMAGE_ANON || has_jitdump(names, at->image)) &&
		(info->state == SYMBOLS_READY || info->state == SYMBOLS_NONE))
		n = symbols_lines(names->symbols, at->image, at->offset, frames,
			NAMES_INLINED_MAX + 1, &state);
	if (state == SYMBOLS_UNASKED) {
		(void)symbols_lines_ask(names->symbols, at->image, &at->offset, 1);
		names->lines_asked = true;
	}
	if (n > NAMES_INLINED_MAX + 1)
		n = NAMES_INLINED_MAX + 1;
	for (size_t i = 0; i < n; i++) {
		struct names_line line = {.line = frames[i].line, .file = frames[i].file};

		if (!frames[i].inlined) {
			own.line = line.line;
			own.file = line.file;
			continue;
		}
		if (!*frames[i].function || kept == NAMES_INLINED_MAX)
			continue;
		line.symref = inlined_symref(names, info, at->image, frames[i].function);
		if (line.symref)
			out[kept++] = line;
	}
	out[kept] = own;
	return kept + 1;
}

size_t names_inlined(struct names *names, uint32_t frame, uint32_t *out, size_t max)
{
	struct names_line lines[NAMES_INLINED_MAX + 1];
	size_t n = names_lines(names, frame, lines) - 1;

	for (size_t i = 0; i < n && i < max; i++)
		out[i] = lines[i].symref;
	return n < max ? n : max;
}

bool names_ask(struct names *names, uint32_t frame)
{
	const struct image_info *info =
		names_image(names, stacks_frame_get(names->stacks, frame)->image);
	uint32_t n_ugly = names->n_ugly, symref;

	if (!info)
		return true;
	if (info->state == SYMBOLS_PENDING)
		return false;
	symref = names_symref(names, frame);
	if (names->n_ugly > n_ugly)
		(void)symbols_pretty(names->symbols, ref_at(names, symref)->pub.raw);
	return true;
}

static const char *mismatch_mark(const struct names *names, uint32_t image)
{
	if (!names->infos[image].mismatch)
		return "";
	return images_get(names->images, image)->deleted ? IMAGE_DELETED : OTHER_BUILD;
}

/* Returns the shown name; NULL if memory runs out. */
static char *make_name(struct names *names, const struct ref *ref)
{
	char clean[NAME_MAX_BYTES];

	if (ref->pub.raw) {
		const char *end = ref->kind == REF_INLINED ? NAMES_INLINED
			: ref->uncertain		   ? NAMES_UNCERTAIN
							   : "";
		char cut[FUNCTION_NAME_BYTES];

		function_cut(cut, sizeof(cut), symbols_pretty(names->symbols, ref->pub.raw));
		clean_string(clean, sizeof(cut), cut);
		strcpy(clean + strlen(clean), end);
		return strdup(clean);
	}
	if (ref->kind == REF_WHOLE && ref->pub.resolved) {
		clean_string(
			clean, sizeof(clean), images_get(names->images, ref->pub.image_id)->path);
		return strdup(clean);
	}
	if (ref->kind == REF_WHOLE)
		return strdup(ref->pub.image);
	snprintf(clean, sizeof(clean), "%.900s+0x%" PRIx64 "%s", ref->pub.image,
		names_address(names, ref->pub.image_id, ref->pub.start),
		mismatch_mark(names, ref->pub.image_id));
	return strdup(clean);
}

/* Updates the name of an address when more is known about its image. */
static void update_address(struct names *names, struct ref *ref)
{
	const struct image_info *info = &names->infos[ref->pub.image_id];
	char *name;

	ref->pub.mismatch = info->mismatch;
	ref->pub.pending = info->state == SYMBOLS_PENDING;
	ref->pub.unproven = info->unproven;
	if (ref->table == info->table)
		return;
	name = make_name(names, ref);
	if (!name) {
		symbols_lack_memory(names->symbols);
		return;
	}
	free((char *)ref->pub.symbol);
	ref->pub.symbol = name;
	ref->table = info->table;
}

const struct symref *names_get(struct names *names, uint32_t symref)
{
	struct ref *ref;

	if (symref >= names->n_refs)
		symref = 0;
	ref = ref_at(names, symref);
	if (!ref->pub.symbol)
		ref->pub.symbol = make_name(names, ref);
	if (!ref->pub.symbol) {
		symbols_lack_memory(names->symbols);
		return &ref_at(names, 0)->pub;
	}
	if (ref->kind == REF_ADDRESS)
		update_address(names, ref);
	else if (ref->pub.growing && !names->is_frozen)
		ref->pub.pending = names->infos[ref->pub.image_id].state == SYMBOLS_PENDING;
	return &ref->pub;
}

const struct symref *names_peek(const struct names *names, uint32_t symref)
{
	return &ref_at(names, symref < names->n_refs ? symref : 0)->pub;
}

uint32_t names_limit(const struct names *names)
{
	return names->n_refs;
}

static void prettify(struct names *names)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < names->n_ugly; i++) {
		struct ref *ref = ref_at(names, names->ugly[i]);

		/* A name not yet requested will be demangled on its first use. */
		if (ref->pub.symbol &&
			symbols_pretty(names->symbols, ref->pub.raw) != ref->pub.raw) {
			char *name = make_name(names, ref);

			if (name) {
				/* The name was already demangled on its first use. */
				if (!strcmp(name, ref->pub.symbol)) {
					free(name);
					continue;
				}
				free((char *)ref->pub.symbol);
				ref->pub.symbol = name;
				names->changes++;
				continue;
			}
		}
		names->ugly[kept++] = names->ugly[i];
	}
	names->n_ugly = kept;
}

static void take_tables(struct names *names)
{
	if (names->held)
		return;
	for (uint32_t i = 0; i < names->n_infos; i++) {
		struct image_info *info = &names->infos[i];

		uint32_t version = info->path ? symbols_version(names->symbols, i) : 0;

		if (version == info->table)
			continue;
		info->table = version;
		info->twin = 0;
		info->state = symbols_state(names->symbols, i);
		names->changes += info->state != SYMBOLS_PENDING;
		info->mismatch = symbols_mark(names->symbols, i) == SYMBOLS_MARK_OTHER;
		info->unproven = symbols_mark(names->symbols, i) == SYMBOLS_MARK_UNPROVEN;
		if (info->state != SYMBOLS_PENDING)
			names_tell_changes(names, i);
		if (info->state == SYMBOLS_READY) {
			info->version++;
			names->epoch++;
			names->kernel_epoch +=
				info->kind == IMAGE_KERNEL || info->kind == IMAGE_MODULE;
			names->code_epoch += info->kind == IMAGE_ANON;
		}
	}
}

void names_hold(struct names *names)
{
	names->held = names->symbols != NULL;
}

void names_resume(struct names *names)
{
	if (!names->held)
		return;
	names->held = false;
	/* If memory runs out, the image is treated as one without symbols. */
	for (uint32_t id = 0; id < names->n_infos; id++) {
		if (names->infos[id].path) {
			(void)names_request(names, images_get(names->images, id));
			names->infos[id].state = symbols_state(names->symbols, id);
		}
	}
	take_tables(names);
}

struct forest **names_forest(struct names *names)
{
	return &names->forest;
}

uint64_t names_update(struct names *names)
{
	unsigned int changed;

	if (!names->symbols)
		return names->epoch;
	names_answer_changes(names);
	changed = symbols_collect(names->symbols);
	names_tell_pieces(names);
	if (changed & SYMBOLS_CHANGED_TABLES)
		take_tables(names);
	if (changed & SYMBOLS_CHANGED_NAMES)
		prettify(names);
	names->changes += (changed & (SYMBOLS_CHANGED_CODE | SYMBOLS_CHANGED_DATA)) != 0;
	return names->epoch;
}

int names_wait(struct names *names, unsigned int timeout_ms)
{
	int ret;

	if (!names->symbols)
		return 0;
	names_tell_pieces(names);
	/* symbols_wait() collects the changes, so they are not reported again. */
	ret = symbols_wait(names->symbols, timeout_ms);
	if (names_tell_pieces(names))
		ret = symbols_wait(names->symbols, timeout_ms);
	take_tables(names);
	prettify(names);
	names->changes += names->lines_asked || names->data_asked;
	names->lines_asked = names->data_asked = false;
	return ret ? -ETIMEDOUT : 0;
}

uint64_t names_epoch(const struct names *names)
{
	return names->epoch;
}

uint64_t names_kernel_epoch(const struct names *names)
{
	return names->kernel_epoch;
}

uint64_t names_code_epoch(const struct names *names)
{
	return names->code_epoch;
}

uint64_t names_changes(const struct names *names)
{
	return names->changes;
}
