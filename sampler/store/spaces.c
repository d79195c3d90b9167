/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spaces.c - the mappings of address spaces; see spaces.h and tasks.h.  Sampling thread. */
#include "sampler/base/affix.h"
#include "sampler/store/spaces_private.h"
#include "sampler/store/tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t maps_bytes(uint32_t size)
{
	return sizeof(struct mappings) + size * sizeof(struct mapping);
}

static void maps_unref(struct spaces *spaces, struct mappings *maps)
{
	if (!maps || --maps->refs)
		return;
	for (uint32_t i = 0; i < maps->n; i++)
		images_unref(spaces->images, maps->at[i].image);
	spaces->bytes -= maps_bytes(maps->size);
	free(maps);
}

/* Makes room for `more` mappings in an array of the space's own. */
int space_own_maps(struct space *space, uint32_t more)
{
	struct mappings *old = space->maps, *maps;
	uint32_t n = old ? old->n : 0, size = old ? old->size : 0;

	if (old && old->refs == 1 && n + more <= size)
		return 0;
	if (n + more > size)
		size = n + more > size * 2 ? n + more + 4 : size * 2;
	if (old && old->refs == 1) {
		maps = realloc(old, maps_bytes(size));
		if (!maps)
			return -ENOMEM;
		space->spaces->bytes -= maps_bytes(maps->size);
	} else {
		maps = malloc(maps_bytes(size));
		if (!maps)
			return -ENOMEM;
		maps->refs = 1;
		maps->n = n;
		for (uint32_t i = 0; i < n; i++) {
			maps->at[i] = old->at[i];
			images_ref(space->spaces->images, old->at[i].image);
		}
		maps_unref(space->spaces, old);
	}
	maps->size = size;
	space->spaces->bytes += maps_bytes(size);
	space->maps = maps;
	return 0;
}

int space_new(struct space **out, struct spaces *spaces, int32_t pid)
{
	struct space *space = calloc(1, sizeof(*space));

	*out = space;
	if (!space)
		return -ENOMEM;
	space->spaces = spaces;
	space->pid = pid;
	space->generation = space->serial = ++spaces->generation;
	spaces->bytes += sizeof(*space);
	return 0;
}

static void set_program(struct space *space, uint32_t image)
{
	struct images *images = space->spaces->images;

	if (image != IMAGE_ID_UNKNOWN)
		images_ref(images, image);
	if (space->program != IMAGE_ID_UNKNOWN)
		images_unref(images, space->program);
	space->program = image;
}

void spaces_fini(struct spaces *spaces)
{
	free(spaces->moves);
}

void space_free(struct space *space)
{
	if (!space)
		return;
	set_program(space, IMAGE_ID_UNKNOWN);
	maps_unref(space->spaces, space->maps);
	space->spaces->bytes -= sizeof(*space);
	free(space);
}

void space_clear(struct space *space)
{
	set_program(space, IMAGE_ID_UNKNOWN);
	space->pieces = 0;
	maps_unref(space->spaces, space->maps);
	space->maps = NULL;
	space->parent = 0;
	space->elder = 0;
	space->generation = space->serial = ++space->spaces->generation;
}

/* --- images of mappings --- */

/* Whether the kernel gives this name to memory without a file worth opening. */
bool space_is_anonymous(const char *name)
{
	return !*name || starts_with(name, "//anon") || starts_with(name, "/dev/zero") ||
		starts_with(name, "/anon_hugepage") || starts_with(name, "/SYSV") ||
		starts_with(name, "anon_inode:") || starts_with(name, "[anon") ||
		starts_with(name, "[heap]") || starts_with(name, "[stack");
}

/* Whether a runtime maps this code twice, to write it at one address and run it at the other.  Such
 * mappings are shared; no program loader maps a file that way.  Without memory files, the code is
 * in a file of shm_open(), or in one that is deleted at once. */
static bool is_doubly_mapped(const char *name, const struct record_mmap *mmap)
{
	if ((mmap->flags & MAP_TYPE) != MAP_SHARED)
		return false;
	return starts_with(name, "/memfd:") ||
		(mmap->executable && (starts_with(name, "/dev/shm/") || space_is_deleted(name)));
}

/* Whether the name is like ".../jit-4711.dump".  A runtime maps such a file to announce that it
 * writes one. */
static bool is_jitdump(const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t digits;

	if (!slash || !starts_with(slash + 1, "jit-"))
		return false;
	digits = strspn(slash + 5, "0123456789");
	return digits && !strcmp(slash + 5 + digits, ".dump");
}

void space_image_key_anon(struct image_key *key, const struct space *space)
{
	key->image = (struct image){
		.kind = IMAGE_ANON, .path = (char[]){"[anon]"}, .inode = space->serial};
	memcpy(key->path, "[anon]", sizeof("[anon]"));
	key->image.path = key->path;
}

void space_image_key(
	struct image_key *key, const struct space *space, const struct record_mmap *mmap)
{
	static const char deleted[] = IMAGE_DELETED;
	const char *name = mmap->filename ? mmap->filename : "";
	size_t len = strnlen(name, sizeof(key->path) - 1);

	if (space_is_anonymous(name) || is_doubly_mapped(name, mmap)) {
		space_image_key_anon(key, space);
		return;
	}
	memcpy(key->path, name, len);
	key->path[len] = '\0';
	key->image = (struct image){.kind = IMAGE_FILE, .path = key->path};
	if (*name == '[') {
		/* "[vdso]", "[vsyscall]", "[uprobes]" */
		key->image.kind = starts_with(name, "[vdso") ? IMAGE_VDSO : IMAGE_ANON;
		/* 32-bit processes have a different one. */
		key->image.inode = key->image.kind == IMAGE_VDSO && mmap->start <= UINT32_MAX;
		if (key->image.kind != IMAGE_VDSO)
			return;
	}
	if (len >= sizeof(deleted) && !strcmp(key->path + len - (sizeof(deleted) - 1), deleted)) {
		key->path[len - (sizeof(deleted) - 1)] = '\0';
		key->image.deleted = true;
	}
	if (mmap->has_inode && key->image.kind == IMAGE_FILE) {
		key->image.dev_major = mmap->dev_major;
		key->image.dev_minor = mmap->dev_minor;
		key->image.inode = mmap->inode;
		key->image.inode_generation = mmap->inode_generation;
		key->image.file_size = mmap->file_size;
		key->image.file_mtime_ns = mmap->file_mtime_ns;
	}
	if (mmap->build_id_len && mmap->build_id_len <= IMAGE_BUILD_ID_MAX) {
		memcpy(key->image.build_id, mmap->build_id, mmap->build_id_len);
		key->image.build_id_len = mmap->build_id_len;
	}
}

uint64_t space_bias(enum image_kind kind, const struct record_mmap *mmap)
{
	switch (kind) {
	case IMAGE_FILE:
		return mmap->pgoff - mmap->start;
	case IMAGE_VDSO:
		return -mmap->start;
	default:
		return 0;
	}
}

int space_copy_jitdump(struct images *images, uint32_t from, uint32_t to)
{
	struct image_origin origin;

	images_origin(images, from, &origin);
	return origin.jitdump ? images_set_jitdump(images, to, origin.jitdump) : 0;
}

/* Notes that a jitdump was mapped.  Its code is in memory without a file, which may be mapped
 * later, so the image is pinned. */
static int note_jitdump(struct space *space, const char *path)
{
	struct images *images = space->spaces->images;
	struct image_origin origin;
	struct image_key key;
	uint32_t id;
	int err;

	space_image_key_anon(&key, space);
	err = images_intern(images, &key.image, &id);
	if (err)
		return err;
	images_pin(images, id);
	images_origin(images, id, &origin);
	if (!origin.pid)
		images_set_origin(images, id,
			&(struct image_origin){
				.pid = space->pid, .parent = space->parent, .elder = space->elder});
	space->spaces->dump_image = id;
	return images_set_jitdump(images, id, path);
}

int space_fork(struct space **out, const struct space *parent, int32_t pid)
{
	struct spaces *spaces = parent->spaces;
	struct space *space;
	struct image_key key;
	uint32_t own = IMAGE_ID_UNKNOWN;
	int err = space_new(&space, spaces, pid);

	*out = NULL;
	if (err)
		return err;
	space->parent = parent->pid;
	space->elder = parent->elder ? parent->elder : parent->parent;
	set_program(space, parent->program);
	space->pieces = parent->pieces;
	space->maps = parent->maps;
	if (space->maps)
		space->maps->refs++;
	for (uint32_t i = 0; space->maps && i < space->maps->n; i++) {
		const struct image *image = images_get(spaces->images, space->maps->at[i].image);

		if (image->kind != IMAGE_ANON || image->inode != parent->serial)
			continue;
		space_image_key_anon(&key, space);
		err = space_own_maps(space, 0);
		if (!err)
			err = images_intern(spaces->images, &key.image, &own);
		if (!err)
			err = space_copy_jitdump(spaces->images, image->id, own);
		if (err) {
			space_free(space);
			return err;
		}
		images_ref(spaces->images, own);
		images_unref(spaces->images, space->maps->at[i].image);
		space->maps->at[i].image = own;
	}
	if (own != IMAGE_ID_UNKNOWN)
		images_set_origin(spaces->images, own,
			&(struct image_origin){
				.pid = pid, .parent = parent->pid, .elder = space->elder});
	*out = space;
	return 0;
}

/* --- the sorted array --- */

/* Returns the first mapping that ends above address. */
uint32_t space_first_above(const struct mappings *maps, uint64_t address)
{
	uint32_t low = 0, high = maps ? maps->n : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (maps->at[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

const struct mapping *space_find(const struct space *space, uint64_t address)
{
	const struct mappings *maps = space ? space->maps : NULL;
	uint32_t i = space_first_above(maps, address);

	return maps && i < maps->n && maps->at[i].start <= address ? &maps->at[i] : NULL;
}

static void open_gap(struct mappings *maps, uint32_t at)
{
	memmove(&maps->at[at + 1], &maps->at[at], (maps->n - at) * sizeof(maps->at[0]));
	maps->n++;
}

static void close_gap(struct mappings *maps, uint32_t at, uint32_t count)
{
	maps->n -= count;
	memmove(&maps->at[at], &maps->at[at + count], (maps->n - at) * sizeof(maps->at[0]));
}

/* Removes [start, end) from the array, which has room for one more. */
static void punch(struct space *space, uint64_t start, uint64_t end)
{
	struct mappings *maps = space->maps;
	struct images *images = space->spaces->images;
	uint32_t i = space_first_above(maps, start), last;

	if (i < maps->n && maps->at[i].start < start) {
		if (maps->at[i].end > end) {
			open_gap(maps, i);
			maps->at[i].end = start;
			maps->at[i + 1].start = end;
			images_ref(images, maps->at[i].image);
			return;
		}
		maps->at[i++].end = start;
	}
	for (last = i; last < maps->n && maps->at[last].end <= end; last++)
		images_unref(images, maps->at[last].image);
	close_gap(maps, i, last - i);
	if (i < maps->n && maps->at[i].start < end)
		maps->at[i].start = end;
}

static bool continues(const struct mapping *a, const struct mapping *b)
{
	return a->end == b->start && a->image == b->image && a->bias == b->bias &&
		a->data == b->data && a->moved == b->moved;
}

/* Inserts a mapping in a gap of the array, which has room.  Joins neighbours that continue each
 * other; otherwise the page by page mappings of a JIT would fill the array without end. */
static void insert(struct space *space, const struct mapping *new)
{
	struct mappings *maps = space->maps;
	struct images *images = space->spaces->images;
	uint32_t i = space_first_above(maps, new->start);

	if (i && continues(&maps->at[i - 1], new)) {
		maps->at[--i].end = new->end;
	} else {
		open_gap(maps, i);
		maps->at[i] = *new;
		images_ref(images, new->image);
	}
	if (i + 1 < maps->n && continues(&maps->at[i], &maps->at[i + 1])) {
		maps->at[i].end = maps->at[i + 1].end;
		images_unref(images, maps->at[i + 1].image);
		close_gap(maps, i + 1, 1);
	}
}

static void fill_gaps(struct space *space, const struct mapping *new)
{
	struct mapping part = *new;

	while (part.start < new->end) {
		uint32_t i = space_first_above(space->maps, part.start);
		const struct mapping *next = i < space->maps->n ? &space->maps->at[i] : NULL;
		uint64_t resume = next && next->end < new->end ? next->end : new->end;

		part.end = next && next->start < new->end ? next->start : new->end;
		if (part.end > part.start)
			insert(space, &part);
		part.start = part.end == new->end ? new->end : resume;
	}
}

uint32_t space_overlaps(const struct space *space, uint64_t start, uint64_t end)
{
	const struct mappings *maps = space->maps;
	uint32_t i = space_first_above(maps, start), n = 0;

	while (maps && i < maps->n && maps->at[i++].start < end)
		n++;
	return n;
}

/* Sets the origin of a mapping's image.  Data does not replace an origin: parts of it may get
 * another protection, and are then not found at this address. */
static void set_origin(const struct space *space, const struct mapping *mapping)
{
	struct images *images = space->spaces->images;
	struct image_origin origin;

	if (mapping->data) {
		images_origin(images, mapping->image, &origin);
		if (origin.pid)
			return;
	}
	images_set_origin(images, mapping->image,
		&(struct image_origin){.pid = space->pid,
			.map_start = mapping->start,
			.map_end = mapping->end,
			.map_offset = mapping->start + mapping->bias,
			.parent = space->parent,
			.elder = space->elder});
}

/* The caller keeps its own reference to the image of `new`. */
int space_put_mapping(struct space *space, const struct mapping *new, enum space_order order)
{
	const uint32_t over = space_overlaps(space, new->start, new->end);
	int err;

	if (over == 1) {
		const struct mapping *old =
			&space->maps->at[space_first_above(space->maps, new->start)];
		if (old->image == new->image && old->bias == new->bias && old->data == new->data &&
			old->moved == new->moved && old->start <= new->start &&
			old->end >= new->end)
			return 0; /* already known */
	}
	err = space_own_maps(space, over + 2);
	if (err)
		return err;
	if (order == SPACE_OLDER) {
		fill_gaps(space, new);
	} else {
		punch(space, new->start, new->end);
		insert(space, new);
	}
	if (!new->moved)
		set_origin(space, new);
	space->generation = ++space->spaces->generation;
	return 0;
}

int space_map_plainly(struct space *space, const struct record_mmap *mmap, enum space_order order)
{
	struct spaces *spaces = space->spaces;
	struct mapping new = {.start = mmap->start,
		.end = mmap->start + mmap->len,
		.data = !mmap->executable,
		.moved = mmap->flags & SPACE_SEEN};
	struct image_key key;
	int err;

	if (new.end <= new.start)
		return 0;
	if (mmap->executable && mmap->filename && is_jitdump(mmap->filename)) {
		err = note_jitdump(space, mmap->filename);
		if (err)
			return err;
	}
	if (!mmap->executable && !spaces->data) {
		if (!space_overlaps(space, new.start, new.end) || order == SPACE_OLDER)
			return 0;
		err = space_own_maps(space, 1);
		if (err)
			return err;
		punch(space, new.start, new.end);
		space->generation = ++spaces->generation;
		return 0;
	}

	space_image_key(&key, space, mmap);
	err = images_intern(spaces->images, &key.image, &new.image);
	if (err)
		return err;
	images_ref(spaces->images, new.image);
	new.bias = space_bias(key.image.kind, mmap);
	if (space->program == IMAGE_ID_UNKNOWN && key.image.kind == IMAGE_FILE && !new.data)
		set_program(space, new.image);
	err = space_put_mapping(space, &new, order);
	images_unref(spaces->images, new.image);
	return err;
}

/* --- queries --- */

uint64_t space_generation(const struct space *space)
{
	return space ? space->generation : 0;
}

uint32_t space_count(const struct space *space)
{
	return space->maps ? space->maps->n : 0;
}

void space_tell_mapping(const struct mapping *mapping, const struct image *image, uint32_t flags,
	space_fn *fn, void *ctx)
{
	char name[4096 + sizeof(IMAGE_DELETED)];
	struct record_mmap told = {
		.start = mapping->start,
		.len = mapping->end - mapping->start,
		.dev_major = image->dev_major,
		.dev_minor = image->dev_minor,
		.inode = image->kind == IMAGE_FILE ? image->inode : 0,
		.inode_generation = image->inode_generation,
		.has_inode = image->kind == IMAGE_FILE,
		.build_id_len = image->build_id_len,
		.prot = mapping->data ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE | flags, /* shared code without a file is anonymous here */
		.executable = !mapping->data,
		.filename = name,
	};

	if (image->kind == IMAGE_FILE)
		told.pgoff = mapping->start + mapping->bias;
	memcpy(told.build_id, image->build_id, sizeof(told.build_id));
	snprintf(name, sizeof(name), "%s%s", image->kind == IMAGE_ANON ? "//anon" : image->path,
		image->deleted ? IMAGE_DELETED : "");
	fn(&told, ctx);
}

void space_list(const struct space *space, space_fn *fn, void *ctx)
{
	for (uint32_t i = 0; space->maps && i < space->maps->n; i++)
		space_tell_mapping(&space->maps->at[i],
			images_get(space->spaces->images, space->maps->at[i].image), 0, fn, ctx);
}

uint32_t space_program(const struct space *space)
{
	return space->program;
}

int32_t space_parent(const struct space *space)
{
	return space->parent;
}

struct filling {
	struct space *space;
	int error;
};

static void fill_mapping(const struct record_mmap *mmap, void *ctx)
{
	struct filling *filling = ctx;

	if (!filling->error)
		filling->error = space_map(filling->space, mmap, SPACE_OLDER);
}

int space_fill(struct space *space, const struct space *other)
{
	struct filling filling = {.space = space};

	space_list(other, fill_mapping, &filling);
	return filling.error;
}

void space_resolve(const struct space *space, uint64_t address, uint32_t *image, uint64_t *offset)
{
	const struct mapping *mapping = space_find(space, address);

	*image = mapping ? mapping->image : IMAGE_ID_UNKNOWN;
	*offset = mapping ? address + mapping->bias : address;
}

bool space_replaces(const struct space *space, const struct record_mmap *mmap)
{
	const struct mappings *maps = space ? space->maps : NULL;
	const uint64_t end = mmap->start + mmap->len;
	const bool anonymous = space_is_anonymous(mmap->filename);

	if (!maps)
		return false;
	for (uint32_t i = space_first_above(maps, mmap->start);
		i < maps->n && maps->at[i].start < end; i++)
		if (!anonymous ||
			images_get(space->spaces->images, maps->at[i].image)->kind != IMAGE_ANON)
			return true;
	return false;
}

bool space_origin(const struct space *space, uint64_t address, struct image_origin *origin)
{
	const struct mapping *mapping = space_find(space, address);

	if (mapping && !mapping->moved)
		*origin = (struct image_origin){.pid = space->pid,
			.map_start = mapping->start,
			.map_end = mapping->end,
			.parent = space->parent,
			.elder = space->elder};
	return mapping && !mapping->moved;
}
