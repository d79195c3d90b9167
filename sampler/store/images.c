/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.c - see images.h.  Sampling thread, except for the members under the lock.
 */
#include "sampler/store/images.h"

#include "sampler/base/chunks.h"
#include "sampler/base/idtable.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
	struct image image;
	uint32_t hash;
	uint32_t refs; /* number of mappings */
	uint32_t next_free; /* next free entry */
	bool used;
	bool pinned;
	uint64_t serial; /* later images have higher ones */
	uint64_t generation; /* known generation, if the image has an inode */
	struct image_origin origin; /* guarded by images->lock, like the following members */
	uint64_t file_size, file_mtime_ns; /* only the sampling thread writes them */
	uint8_t late_build_id[IMAGE_BUILD_ID_MAX];
	uint8_t late_build_id_len;
	char *jitdump;
	struct image_text *text; /* NULL if none */
};

struct images {
	struct chunks entries; /* struct entry */
	struct idtable by_key;
	uint64_t seed;
	uint32_t free_head; /* 0: none; 0 and 1 are never free */
	uint64_t serial;
	size_t path_bytes;
	pthread_mutex_t lock; /* guards origin and the members after it in each entry */
};

enum identity { BY_BUILD_ID, BY_INODE, BY_PATH };

static struct entry *entry_at(const struct images *images, uint32_t id)
{
	return CHUNKS_AT(&images->entries, struct entry, id);
}

static enum identity identity_of(const struct image *image)
{
	if (image->build_id_len)
		return BY_BUILD_ID;
	return image->inode || image->dev_major || image->dev_minor ? BY_INODE : BY_PATH;
}

/* The generation is not hashed, since it may become known later. */
static uint32_t hash_of(const struct images *images, const struct image *key)
{
	uint64_t words[3] = {
		(uint64_t)key->dev_major << 32 | key->dev_minor, key->inode, (uint64_t)key->kind};

	switch (identity_of(key)) {
	case BY_BUILD_ID:
		return (uint32_t)XXH3_64bits_withSeed(
			key->build_id, key->build_id_len, images->seed);
	case BY_INODE:
		return (uint32_t)XXH3_64bits_withSeed(words, sizeof(words), images->seed);
	case BY_PATH:
		break;
	}
	return (uint32_t)XXH3_64bits_withSeed(key->path, strlen(key->path), images->seed);
}

static bool same(const struct entry *entry, const struct image *key)
{
	const struct image *image = &entry->image;
	enum identity identity = identity_of(key);

	if (image->kind != key->kind || identity_of(image) != identity ||
		strcmp(image->path, key->path) != 0)
		return false;
	switch (identity) {
	case BY_BUILD_ID:
		return image->build_id_len == key->build_id_len &&
			!memcmp(image->build_id, key->build_id, key->build_id_len);
	case BY_INODE:
		return image->dev_major == key->dev_major && image->dev_minor == key->dev_minor &&
			image->inode == key->inode &&
			(!key->inode_generation || !entry->generation ||
				key->inode_generation == entry->generation) &&
			(!key->file_mtime_ns || !entry->file_mtime_ns ||
				(key->file_mtime_ns == entry->file_mtime_ns &&
					key->file_size == entry->file_size));
	case BY_PATH:
		break;
	}
	return true;
}

int images_new(struct images **out)
{
	const struct image unknown = {.kind = IMAGE_UNKNOWN, .path = (char[]){"[unknown]"}};
	const struct image kernel = {.kind = IMAGE_KERNEL, .path = (char[]){"[kernel]"}};
	struct images *images = calloc(1, sizeof(*images));
	uint32_t id;
	int err;

	*out = NULL;
	if (!images)
		return -ENOMEM;
	pthread_mutex_init(&images->lock, NULL);
	chunks_init(&images->entries, sizeof(struct entry));
	if (getrandom(&images->seed, sizeof(images->seed), GRND_NONBLOCK) < 0)
		images->seed = (uintptr_t)images;
	err = images_intern(images, &unknown, &id);
	if (!err)
		err = images_intern(images, &kernel, &id);
	if (err) {
		images_free(images);
		return err;
	}
	images_pin(images, IMAGE_ID_UNKNOWN);
	images_pin(images, IMAGE_ID_KERNEL);
	*out = images;
	return 0;
}

void images_free(struct images *images)
{
	if (!images)
		return;
	for (uint32_t id = 0; id < images->entries.count; id++) {
		free(entry_at(images, id)->image.path);
		free(entry_at(images, id)->jitdump);
		free(entry_at(images, id)->text);
	}
	chunks_fini(&images->entries);
	idtable_fini(&images->by_key);
	pthread_mutex_destroy(&images->lock);
	free(images);
}

static uint32_t find(const struct images *images, const struct image *key, uint32_t hash)
{
	uint32_t id, best = 0;

	IDTABLE_FOR_EACH(&images->by_key, hash, id)
	{
		const struct entry *entry = entry_at(images, id - 1);

		/* A key without a generation selects the latest file of that inode. */
		if (same(entry, key) &&
			(!best || entry->serial > entry_at(images, best - 1)->serial))
			best = id;
	}
	return best;
}

static void set_file(struct images *images, struct entry *entry, const struct image *key)
{
	pthread_mutex_lock(&images->lock);
	entry->file_size = key->file_size;
	entry->file_mtime_ns = key->file_mtime_ns;
	pthread_mutex_unlock(&images->lock);
}

int images_intern(struct images *images, const struct image *key, uint32_t *id)
{
	uint32_t hash, found;
	struct entry *entry;
	char *path;
	int err;

	if (key->kind == IMAGE_UNKNOWN && images->entries.count) {
		*id = IMAGE_ID_UNKNOWN;
		return 0;
	}
	hash = hash_of(images, key);
	found = find(images, key, hash);
	if (found) {
		entry = entry_at(images, found - 1);
		if (!entry->generation)
			entry->generation = key->inode_generation;
		if (!entry->file_mtime_ns && key->file_mtime_ns)
			set_file(images, entry, key);
		*id = found - 1;
		return 0;
	}

	path = strdup(key->path);
	if (!path)
		return -ENOMEM;
	found = images->free_head;
	err = found ? 0 : chunks_add(&images->entries, &found);
	if (!err)
		err = idtable_put(&images->by_key, hash, found + 1);
	if (err) {
		/* An entry from chunks_add() is kept for the next call. */
		if (found != images->free_head && found < images->entries.count) {
			entry_at(images, found)->next_free = images->free_head;
			images->free_head = found;
		}
		free(path);
		return err;
	}
	entry = entry_at(images, found);
	if (found == images->free_head)
		images->free_head = entry->next_free;

	entry->image = *key;
	entry->image.id = found;
	entry->image.path = path;
	entry->hash = hash;
	entry->refs = 0;
	entry->serial = ++images->serial;
	entry->used = true;
	entry->pinned = false;
	entry->generation = key->inode_generation;
	pthread_mutex_lock(&images->lock);
	entry->origin = (struct image_origin){0};
	entry->late_build_id_len = 0;
	entry->file_size = key->file_size;
	entry->file_mtime_ns = key->file_mtime_ns;
	pthread_mutex_unlock(&images->lock);
	images->path_bytes += strlen(path) + 1;
	*id = found;
	return 0;
}

void images_ref(struct images *images, uint32_t id)
{
	entry_at(images, id)->refs++;
}

void images_unref(struct images *images, uint32_t id)
{
	struct entry *entry = entry_at(images, id);

	if (--entry->refs || entry->pinned)
		return;
	idtable_remove(&images->by_key, entry->hash, id + 1);
	images->path_bytes -= strlen(entry->image.path) + 1;
	free(entry->image.path);
	entry->image.path = NULL;
	free(entry->jitdump);
	entry->jitdump = NULL;
	free(entry->text);
	entry->text = NULL;
	entry->used = false;
	entry->next_free = images->free_head;
	images->free_head = id;
}

void images_pin(struct images *images, uint32_t id)
{
	entry_at(images, id)->pinned = true;
}

void images_set_origin(struct images *images, uint32_t id, const struct image_origin *origin)
{
	pthread_mutex_lock(&images->lock);
	entry_at(images, id)->origin = *origin;
	pthread_mutex_unlock(&images->lock);
}

void images_origin(struct images *images, uint32_t id, struct image_origin *out)
{
	pthread_mutex_lock(&images->lock);
	*out = entry_at(images, id)->origin;
	out->jitdump = entry_at(images, id)->jitdump;
	pthread_mutex_unlock(&images->lock);
}

void images_file(struct images *images, uint32_t id, uint64_t *size, uint64_t *mtime_ns)
{
	pthread_mutex_lock(&images->lock);
	*size = entry_at(images, id)->file_size;
	*mtime_ns = entry_at(images, id)->file_mtime_ns;
	pthread_mutex_unlock(&images->lock);
}

int images_set_jitdump(struct images *images, uint32_t id, const char *path)
{
	struct entry *entry = entry_at(images, id);
	int ret = 0;

	pthread_mutex_lock(&images->lock);
	if (!entry->jitdump) {
		entry->jitdump = strdup(path);
		ret = entry->jitdump ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&images->lock);
	return ret;
}

int images_set_text(struct images *images, uint32_t id, const struct image_text *text)
{
	struct entry *entry = entry_at(images, id);
	struct image_text *copy = malloc(sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	*copy = *text;
	pthread_mutex_lock(&images->lock);
	free(entry->text);
	entry->text = copy;
	pthread_mutex_unlock(&images->lock);
	return 0;
}

bool images_text(struct images *images, uint32_t id, struct image_text *out)
{
	const struct entry *entry = entry_at(images, id);

	pthread_mutex_lock(&images->lock);
	const bool found = entry->text != NULL;
	if (found)
		*out = *entry->text;
	pthread_mutex_unlock(&images->lock);
	return found;
}

void images_set_build_id(
	struct images *images, uint32_t id, const uint8_t *build_id, uint8_t build_id_len)
{
	struct entry *entry = entry_at(images, id);

	if (entry->image.build_id_len || build_id_len > IMAGE_BUILD_ID_MAX)
		return;
	pthread_mutex_lock(&images->lock);
	memcpy(entry->late_build_id, build_id, build_id_len);
	entry->late_build_id_len = build_id_len;
	pthread_mutex_unlock(&images->lock);
}

uint8_t images_build_id(struct images *images, uint32_t id, uint8_t out[IMAGE_BUILD_ID_MAX])
{
	const struct entry *entry = entry_at(images, id);
	uint8_t len = entry->image.build_id_len;

	memset(out, 0, IMAGE_BUILD_ID_MAX);
	if (len) {
		memcpy(out, entry->image.build_id, len);
		return len;
	}
	pthread_mutex_lock(&images->lock);
	len = entry->late_build_id_len;
	memcpy(out, entry->late_build_id, len);
	pthread_mutex_unlock(&images->lock);
	return len;
}

const struct image *images_get(const struct images *images, uint32_t id)
{
	const struct entry *entry;

	if (id >= images_count(images))
		return NULL;
	entry = entry_at(images, id);
	return entry->used ? &entry->image : NULL;
}

uint32_t images_count(const struct images *images)
{
	return __atomic_load_n(&images->entries.count, __ATOMIC_ACQUIRE);
}

size_t images_memory(const struct images *images)
{
	return sizeof(*images) + chunks_memory(&images->entries) + idtable_memory(&images->by_key) +
		images->path_bytes;
}
