/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - see names.h.
 *
 * Symrefs never move and are never freed before the table is, so rows may keep their ids.  What a
 * frame is called is remembered with the version of its image's symbols, and asked anew when they come.
 */
#include "tui/names.h"

#include "symbols/code.h"
#include "tui/clean.h"
#include "tui/grow.h"
#include "tui/names_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024u
#define NAME_MAX_BYTES 4096 /* the end of a C++ name tells most */
#define OTHER_BUILD " (other build)" /* behind addresses in a file that is not the one recorded */

enum ref_kind {
	REF_SYMBOL, /* key is the symbol's index */
	REF_ADDRESS, /* key is the offset */
	REF_WHOLE, /* all of the image */
	REF_INLINED, /* key is the address of its raw name, of which there is one */
};

struct ref {
	struct symref pub; /* pub.symbol is made when first asked for */
	const char *raw; /* of REF_SYMBOL and REF_INLINED: as in the file */
	uint64_t key;
	uint8_t kind;
};

struct image_info {
	char *path; /* cleaned; NULL: not met yet */
	const char *name; /* within path */
	uint32_t version; /* grows when its frames must be asked for again */
	uint32_t table; /* symbols_version() */
	enum image_kind kind;
	enum symbols_state state;
	bool mismatch; /* the file is another than was recorded */
	bool has_source; /* there is somebody to ask */
};

struct frame_info {
	uint32_t symref;
	uint32_t version; /* of the image; 0: nothing known */
	uint16_t generation;
};

struct names {
	const struct stacks *stacks;
	struct images *images;
	struct symbols *symbols;
	uint64_t epoch, changes;
	struct frame_info *frames; /* by frame id */
	uint32_t n_frames;
	struct image_info *infos; /* by image id */
	uint32_t n_infos;
	struct ref **chunks;
	uint32_t n_refs;
	uint32_t *slots; /* open addressing over refs; 0: free, symref 0 is never looked up */
	uint32_t n_slots; /* a power of two */
	uint32_t *ugly; /* symrefs that may still get a pretty name */
	uint32_t n_ugly, ugly_room;
	char **modules; /* "[name]", and paths of files that name code made at run time */
	uint32_t n_modules;
	bool held;
	bool lines_asked; /* since the answers that came last */
};

static struct ref *ref_at(const struct names *names, uint32_t symref)
{
	return &names->chunks[symref / CHUNK][symref % CHUNK];
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

/* A new zeroed ref; its id, or 0 when out of memory (id 0 itself is made first). */
static uint32_t ref_new(struct names *names)
{
	uint32_t chunk = names->n_refs / CHUNK;

	if (names->n_refs % CHUNK == 0) {
		struct ref **grown = reallocarray(names->chunks, chunk + 1, sizeof(*grown));

		if (!grown)
			return 0;
		names->chunks = grown;
		grown[chunk] = calloc(CHUNK, sizeof(**grown));
		if (!grown[chunk])
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

/* The ref of a key, with *made set when it is new and only image_id, kind and key are filled. */
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
	if (slots_grow(names))
		return 0;
	symref = ref_new(names);
	if (!symref)
		return 0;
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
	for (uint32_t i = 0; i * CHUNK < names->n_refs; i++)
		free(names->chunks[i]);
	for (uint32_t i = 0; i < names->n_infos; i++)
		free(names->infos[i].path);
	for (uint32_t i = 0; i < names->n_modules; i++)
		free(names->modules[i]);
	free(names->modules);
	free(names->chunks);
	free(names->infos);
	free(names->frames);
	free(names->slots);
	free(names->ugly);
	free(names);
}

bool names_source(const struct names *names, uint32_t id, struct symbols_source *source)
{
	const struct image *image = images_get(names->images, id);
	struct image_origin origin = {0};

	if (!image)
		return false;
	*source = (struct symbols_source){
		.path = image->path,
		.dev_major = image->dev_major,
		.dev_minor = image->dev_minor,
		.inode = image->inode,
	};
	switch (image->kind) {
	case IMAGE_FILE:
		source->kind = SYMBOLS_FILE;
		break;
	case IMAGE_KERNEL:
		source->kind = SYMBOLS_KERNEL;
		break;
	case IMAGE_VDSO:
		source->kind = SYMBOLS_VDSO;
		break;
	case IMAGE_MODULE:
		source->kind = SYMBOLS_MODULE;
		break;
	case IMAGE_ANON:
		if (strcmp(image->path, "[anon]") != 0)
			return false; /* "[vsyscall]" */
		source->kind = SYMBOLS_JIT;
		break;
	default:
		return false;
	}
	_Static_assert(
		sizeof(source->build_id) == sizeof(image->build_id), "build-ids differ in size");
	source->build_id_len = images_build_id(names->images, id, source->build_id);
	images_file(names->images, id, &source->file_size, &source->file_mtime_ns);
	images_origin(names->images, id, &origin);
	source->pid = origin.pid;
	source->map_start = origin.map_start;
	source->map_end = origin.map_end;
	source->stext = origin.stext;
	source->parent = origin.parent;
	source->jitdump = origin.jitdump;
	return true;
}

static int request(struct names *names, const struct image *image)
{
	struct symbols_source source;

	return names_source(names, image->id, &source)
		? symbols_request(names->symbols, image->id, &source)
		: 0;
}

/* What is shown for an image: the last part of its path, or the bracketed name of what is no file. */
static int name_image(struct image_info *info, const struct image *image)
{
	static const char *const special[] = {
		[IMAGE_UNKNOWN] = "[unknown]",
		[IMAGE_KERNEL] = "[kernel]",
		[IMAGE_VDSO] = "[vdso]",
		[IMAGE_ANON] = "[anon]",
		[IMAGE_HYPERVISOR] = "[hypervisor]",
		[IMAGE_GUEST] = "[guest]",
		[IMAGE_MODULE] = "[module]",
		[IMAGE_KSYMBOL] = "[kernel]",
	};
	const char *path = image->path ? image->path : "";
	const char *slash;
	size_t size;

	if (image->kind == IMAGE_KSYMBOL)
		path = names_ksymbol_module(path);
	else if (image->kind == IMAGE_ANON && *path == '[')
		path = image->path; /* "[vsyscall]" */
	else if ((image->kind != IMAGE_FILE && image->kind != IMAGE_MODULE) || !*path)
		path = image->kind == IMAGE_FILE ? "[unknown]" : special[image->kind];
	/* Cleaning never lengthens: one '?' stands for at least one byte. */
	size = strlen(path) + 1;
	info->path = malloc(size);
	if (!info->path)
		return -ENOMEM;
	clean_string(info->path, size, path);
	slash = strrchr(info->path, '/');
	info->name = slash && slash[1] ? slash + 1 : info->path;
	return 0;
}

/* The one copy of an image's name; other where there is no memory for it. */
static const char *shared_name(struct names *names, const char *text, const char *other)
{
	char **grown;

	for (uint32_t i = 0; i < names->n_modules; i++)
		if (!strcmp(names->modules[i], text))
			return names->modules[i];
	grown = reallocarray(names->modules, names->n_modules + 1, sizeof(*grown));
	if (!grown)
		return other;
	names->modules = grown;
	grown[names->n_modules] = strdup(text);
	return grown[names->n_modules] ? grown[names->n_modules++] : other;
}

/* "[module]", shared. */
static const char *module_name(struct names *names, const char *module)
{
	char clean[128], text[sizeof(clean) + 2];

	clean_string(clean, sizeof(clean), module);
	snprintf(text, sizeof(text), "[%s]", clean);
	return shared_name(names, text, "[module]");
}

/* The file that names code made at run time stands for its image. */
static void name_jit(struct names *names, struct ref *ref, const char *file)
{
	char clean[1024];

	if (!file)
		return;
	clean_string(clean, sizeof(clean), file);
	ref->pub.path = shared_name(names, clean, "[jit]");
	const char *slash = strrchr(ref->pub.path, '/');
	ref->pub.image = slash && slash[1] ? slash + 1 : ref->pub.path;
}

/* "nf-tables.ko.xz" is the module nf_tables. */
static const char *module_of_file(struct names *names, const char *file)
{
	char module[64];
	size_t len = strcspn(file, ".");

	if (*file == '[')
		return file;
	if (len >= sizeof(module))
		len = sizeof(module) - 1;
	for (size_t i = 0; i < len; i++)
		module[i] = file[i] == '-' ? '_' : file[i];
	module[len] = '\0';
	return module_name(names, module);
}

/* NULL when out of memory. */
static struct image_info *image_info(struct names *names, uint32_t id)
{
	const struct image *image;
	struct image_info *info;

	if (id < names->n_infos && names->infos[id].path)
		return &names->infos[id];
	image = images_get(names->images, id);
	if (!image || grow_zeroed((void **)&names->infos, id, &names->n_infos, sizeof(*info)))
		return NULL;
	info = &names->infos[id];
	if (name_image(info, image))
		return NULL;
	if (image->kind == IMAGE_MODULE)
		info->name = module_of_file(names, info->name);
	info->kind = image->kind;
	info->version = 1;
	info->state = SYMBOLS_NONE;
	if (image->kind == IMAGE_KSYMBOL)
		return info;
	if (names->held)
		info->state = SYMBOLS_PENDING;
	else if (names->symbols && !request(names, image))
		info->state = symbols_state(names->symbols, id);
	info->has_source = names->symbols != NULL;
	if (info->has_source && !names->held)
		info->table = symbols_version(names->symbols, id);
	return info;
}

static void watch_for_pretty(struct names *names, uint32_t symref)
{
	if (names->n_ugly == names->ugly_room) {
		uint32_t room = names->ugly_room ? names->ugly_room * 2 : 256;
		uint32_t *grown = reallocarray(names->ugly, room, sizeof(*grown));

		if (!grown)
			return; /* the mangled name stays */
		names->ugly = grown;
		names->ugly_room = room;
	}
	names->ugly[names->n_ugly++] = symref;
}

/* Its table is there, or may come any time. */
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
		symref = ref_intern(names, symbols_twin(names->symbols, image), REF_SYMBOL,
			symbol.index, &made);
		if (symref && made) {
			ref = ref_at(names, symref);
			ref->raw = symbol.name;
			ref->pub.start = symbol.start;
			ref->pub.resolved = true;
			ref->pub.idle = kernel && names_is_idle(symbol.name);
			if (symbol.module)
				ref->pub.image = module_name(names, symbol.module);
			if (info->kind == IMAGE_ANON)
				name_jit(names, ref, symbols_jit_file(names->symbols, image));
			if (names_may_be_mangled(symbol.name))
				watch_for_pretty(names, symref);
		} else if (symref && info->kind == IMAGE_ANON) {
			/* Compiled anew: where it was met last it is now. */
			ref_at(names, symref)->pub.start = symbol.start;
		}
	} else if (info->kind == IMAGE_ANON || info->kind == IMAGE_KSYMBOL) {
		symref = ref_intern(names, image, REF_WHOLE, 0, &made);
		if (symref && made && info->kind == IMAGE_KSYMBOL)
			ref_at(names, symref)->pub.resolved = true;
		if (info->kind == IMAGE_ANON && is_requested(info))
			(void)request(names, images_get(names->images, image));
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
	if (grow_zeroed((void **)&names->frames, frame, &names->n_frames, sizeof(*known)))
		return 0;
	info = image_info(names, at->image);
	if (!info)
		return 0;
	symref = resolve(names, at->image, info, at->offset, at->mode == FRAME_KERNEL);
	known = &names->frames[frame];
	*known = (struct frame_info){symref, info->version, at->generation};
	return symref;
}

uint32_t names_symref_at(struct names *names, uint32_t image, uint64_t offset)
{
	const struct image_info *info = image_info(names, image);

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
	ref->raw = function;
	ref->pub.inlined = true;
	ref->pub.resolved = true;
	ref->pub.kernel = info->kind == IMAGE_KERNEL || info->kind == IMAGE_MODULE;
	ref->pub.path = info->path;
	ref->pub.image = info->name;
	if (names_may_be_mangled(function))
		watch_for_pretty(names, symref);
	return symref;
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

	info = image_info(names, at->image);
	if (names->symbols && info && info->kind != IMAGE_ANON && info->kind != IMAGE_UNKNOWN &&
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
		image_info(names, stacks_frame_get(names->stacks, frame)->image);
	uint32_t n_ugly = names->n_ugly, symref;

	if (!info)
		return true;
	if (info->state == SYMBOLS_PENDING)
		return false;
	symref = names_symref(names, frame);
	if (names->n_ugly > n_ugly)
		(void)symbols_pretty(names->symbols, ref_at(names, symref)->raw);
	return true;
}

/* The shown name; NULL when out of memory. */
static char *make_name(struct names *names, const struct ref *ref)
{
	char clean[NAME_MAX_BYTES];

	if (ref->kind == REF_SYMBOL) {
		const char *pretty = symbols_pretty(names->symbols, ref->raw);

		clean_string(clean, sizeof(clean), pretty);
		if (clean[0])
			return strdup(clean);
	}
	if (ref->kind == REF_INLINED) {
		const size_t room = sizeof(clean) - sizeof(NAMES_INLINED);

		clean_string(clean, room, symbols_pretty(names->symbols, ref->raw));
		memcpy(clean + strlen(clean), NAMES_INLINED, sizeof(NAMES_INLINED));
		return strdup(clean);
	}
	if (ref->kind == REF_WHOLE && ref->pub.resolved) {
		clean_string(
			clean, sizeof(clean), images_get(names->images, ref->pub.image_id)->path);
		return strdup(clean);
	}
	if (ref->kind == REF_WHOLE)
		return strdup(ref->pub.image);
	snprintf(clean, sizeof(clean), "%.900s+0x%" PRIx64 "%s", ref->pub.image, ref->pub.start,
		names->infos[ref->pub.image_id].mismatch ? OTHER_BUILD : "");
	return strdup(clean);
}

/* It was named while that was not known yet. */
static void mark_mismatch(struct names *names, struct ref *ref)
{
	char *name = make_name(names, ref);

	if (!name)
		return;
	free((char *)ref->pub.symbol);
	ref->pub.symbol = name;
	ref->pub.mismatch = true;
}

const struct symref *names_get(struct names *names, uint32_t symref)
{
	struct ref *ref;

	if (symref >= names->n_refs)
		symref = 0;
	ref = ref_at(names, symref);
	if (!ref->pub.symbol)
		ref->pub.symbol = make_name(names, ref);
	if (!ref->pub.symbol)
		return &ref_at(names, 0)->pub;
	if (ref->kind == REF_ADDRESS && names->infos[ref->pub.image_id].mismatch &&
		!ref->pub.mismatch)
		mark_mismatch(names, ref);
	ref->pub.pending = ref->kind == REF_ADDRESS &&
		names->infos[ref->pub.image_id].state == SYMBOLS_PENDING;
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

		/* One that nobody has looked at yet will be pretty when it is. */
		if (ref->pub.symbol && symbols_pretty(names->symbols, ref->raw) != ref->raw) {
			char *name = make_name(names, ref);

			if (name) {
				/* It may have been here when it was looked at first. */
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
		info->state = symbols_state(names->symbols, i);
		names->changes += info->state != SYMBOLS_PENDING;
		info->mismatch = symbols_mark(names->symbols, i) == SYMBOLS_MARK_OTHER;
		if (info->state == SYMBOLS_READY) {
			info->version++;
			names->epoch++;
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
	/* What cannot be asked for out of memory is as if it had no symbols. */
	for (uint32_t id = 0; id < names->n_infos; id++) {
		if (names->infos[id].path) {
			(void)request(names, images_get(names->images, id));
			names->infos[id].state = symbols_state(names->symbols, id);
		}
	}
	take_tables(names);
}

uint64_t names_update(struct names *names)
{
	unsigned int changed;

	if (!names->symbols)
		return names->epoch;
	changed = symbols_collect(names->symbols);
	if (changed & SYMBOLS_CHANGED_TABLES)
		take_tables(names);
	if (changed & SYMBOLS_CHANGED_NAMES)
		prettify(names);
	names->changes += (changed & SYMBOLS_CHANGED_CODE) != 0;
	return names->epoch;
}

int names_wait(struct names *names, unsigned int timeout_ms)
{
	int ret;

	if (!names->symbols)
		return 0;
	/* It has collected, so what changed is not told again. */
	ret = symbols_wait(names->symbols, timeout_ms);
	take_tables(names);
	prettify(names);
	names->changes += names->lines_asked;
	names->lines_asked = false;
	return ret ? -ETIMEDOUT : 0;
}

uint64_t names_epoch(const struct names *names)
{
	return names->epoch;
}

uint64_t names_changes(const struct names *names)
{
	return names->changes;
}
