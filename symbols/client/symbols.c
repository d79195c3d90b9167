/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * symbols.c - the caller's side: images by key and readable names by raw name.
 *
 * Runs in the calling thread alone; answers of the loader come in only by symbols_collect().
 */
#include "symbols/client/symbols.h"

#include "symbols/base/clock.h"
#include "symbols/base/grow.h"
#include "symbols/client/again.h"
#include "symbols/client/by_name.h"
#include "symbols/client/code.h"
#include "symbols/client/code_client.h"
#include "symbols/client/data.h"
#include "symbols/client/pretty.h"
#include "symbols/client/private.h"
#include "symbols/client/unwind_tables.h"
#include "symbols/loader/fetch.h"
#include "symbols/loader/loader.h"
#include "symbols/worker/spawner.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FETCH_NOTES_MAX 64

struct image {
	uint32_t key;
	enum symbols_state state;
	struct symtab table; /* empty if there is a twin */
	/* image of the same file, which has the table and may be pending; NULL if none */
	struct image *twin;
	struct symbols_source source; /* its path and jitdump are owned */
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	size_t build_id_len;
	enum symbols_mark mark;
	int kept_fds[2]; /* 0: none */
	uint32_t version;
	struct again *again; /* NULL unless the image changes */
	enum loader_lack lacks;
	bool fetch; /* files should be fetched for it */
	/* Tables that a better one replaced; names given out point into them. */
	struct symtab *old;
	size_t n_old;
	uint32_t first_index; /* first symbol index of the current table */
};

struct symbols {
	struct loader *loader;
	struct code_client *code;
	struct data_tables *data;
	struct unwind_tables *unwind;
	/* Open addressing, at most half full; capacities are powers of two. */
	struct image **images;
	size_t n_images, images_cap;
	struct pretty_names names;
	size_t pending_images, unreadable, looking;
	uint64_t final_ns; /* start of the wait for all names; 0 if none */
	struct fetch *fetched;
	bool fetch; /* all missing debug files */
	size_t fetching, reloading; /* files asked for; images read again */
	struct symbols_note fetch_notes[FETCH_NOTES_MAX];
	size_t n_fetch_notes;
	bool lacks_memory, told_memory;
	bool recording;
	size_t table_bytes;
	unsigned int untold; /* changes not returned yet */
};

void symbols_main(int argc, char **argv)
{
	spawner_entry(argc, argv);
}

int symbols_new(struct symbols **out, const struct symbols_config *wanted)
{
	struct symbols_config config = wanted ? *wanted : (struct symbols_config){0};
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	*out = NULL;
	if (!symbols)
		return -ENOMEM;
	int ret = fetch_new(&symbols->fetched);
	config.fetched = symbols->fetched;
	if (ret == 0)
		ret = loader_new(&symbols->loader, &config);
	if (ret == 0)
		ret = data_tables_new(&symbols->data);
	if (ret == 0)
		ret = unwind_tables_new(&symbols->unwind);
	if (ret == 0)
		ret = code_client_new(&symbols->code, &config, loader_fd(symbols->loader));
	if (ret < 0) {
		symbols_free(symbols);
		return ret;
	}
	fetch_answer_to(symbols->fetched, loader_fd(symbols->loader));
	symbols->recording = config.recording;
	symbols->fetch = config.fetch;
	*out = symbols;
	return 0;
}

static void free_image(struct image *image)
{
	if (!image)
		return;
	source_drop(&image->source);
	again_free(image->again);
	for (size_t i = 0; i < image->n_old; i++)
		symtab_close(&image->old[i]);
	free(image->old);
	free(image);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	pretty_fini(&symbols->names);
	/* The fetcher ends first: its thread signals the loaders, which read its results. */
	fetch_end(symbols->fetched);
	bool stopped = code_client_free(symbols->code);
	stopped &= loader_free(symbols->loader);
	if (stopped)
		fetch_free(symbols->fetched);
	if (stopped)
		unwind_tables_free(symbols->unwind);
	for (size_t i = 0; i < symbols->images_cap; i++) {
		if (!symbols->images[i])
			continue;
		/* A hanging thread may read it. */
		if (stopped)
			symtab_close(&symbols->images[i]->table);
		for (size_t k = 0; k < 2; k++)
			if (symbols->images[i]->kept_fds[k] > 0)
				close(symbols->images[i]->kept_fds[k]);
		free_image(symbols->images[i]);
	}
	data_tables_free(symbols->data);
	free(symbols->images);
	free(symbols);
}

/* Returns the slot of key, or the free slot for it. */
static struct image **image_slot(struct image **slots, size_t cap, uint32_t key)
{
	size_t i = (key * UINT32_C(2654435761)) & (cap - 1);

	while (slots[i] && slots[i]->key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

static struct image *find_image(const struct symbols *symbols, uint32_t key)
{
	return symbols->images_cap ? *image_slot(symbols->images, symbols->images_cap, key) : NULL;
}

struct code_client *symbols_code_client(const struct symbols *symbols)
{
	return symbols->code;
}

struct loader *symbols_loader(const struct symbols *symbols)
{
	return symbols->loader;
}

struct unwind_tables *symbols_unwind_tables(const struct symbols *symbols)
{
	return symbols->unwind;
}

struct data_tables *symbols_data_tables(const struct symbols *symbols)
{
	return symbols->data;
}

const struct symbols_source *symbols_source_of(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return image ? &image->source : NULL;
}

static int grow_images(struct symbols *symbols)
{
	size_t cap = symbols->images_cap ? symbols->images_cap * 2 : 64;

	if (symbols->n_images < symbols->images_cap / 2)
		return 0;
	struct image **slots = calloc(cap, sizeof(struct image *));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->images_cap; i++)
		if (symbols->images[i])
			*image_slot(slots, cap, symbols->images[i]->key) = symbols->images[i];
	free(symbols->images);
	symbols->images = slots;
	symbols->images_cap = cap;
	return 0;
}

/* A recorded kernel does not change. */
static bool is_changing(const struct symbols *symbols, const struct symbols_source *source)
{
	return source->kind == SYMBOLS_JIT ||
		(source->kind == SYMBOLS_KERNEL && !symbols->recording);
}

static bool is_same_file(const struct symbols_source *a, const struct symbols_source *b)
{
	/* Inode and device numbers may be used twice: on subvolumes, or after an unmount. */
	return a->kind == SYMBOLS_FILE && b->kind == SYMBOLS_FILE && a->inode &&
		(a->build_id_len || (a->file_size && a->file_mtime_ns)) && a->inode == b->inode &&
		a->inode_generation == b->inode_generation && a->dev_major == b->dev_major &&
		a->dev_minor == b->dev_minor && a->file_size == b->file_size &&
		a->file_mtime_ns == b->file_mtime_ns && a->deleted == b->deleted &&
		a->build_id_len == b->build_id_len &&
		memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

/* Finds the image of the same file under another name, if that was read or is being read.  In a
 * recording only the path counts: the contents may differ. */
static struct image *find_same_file(
	const struct symbols *symbols, const struct symbols_source *source)
{
	for (size_t i = 0; !symbols->recording && i < symbols->images_cap; i++) {
		struct image *image = symbols->images[i];
		if (image && !image->twin && image->state != SYMBOLS_UNREADABLE &&
			is_same_file(&image->source, source))
			return image;
	}
	return NULL;
}

/* Copies the twin's answer. */
static void copy_answer(struct symbols *symbols, struct image *image)
{
	const struct image *twin = image->twin;

	symbols->pending_images -= image->state == SYMBOLS_PENDING;
	image->state = twin->state;
	symbols->unreadable += image->state == SYMBOLS_UNREADABLE;
	image->version++;
	image->build_id_len = twin->build_id_len;
	memcpy(image->build_id, twin->build_id, sizeof(image->build_id));
	image->lacks = twin->lacks;
}

/* Makes the loader's job for an image.  If memory runs out, adds a note and returns NULL. */
static struct loader_image *make_job(struct symbols *symbols, const struct image *image)
{
	struct loader_image *job = calloc(1, sizeof(*job));

	if (job && source_copy(&job->source, &image->source) == 0) {
		job->key = image->key;
		return job;
	}
	loader_image_free(job);
	symbols_lack_memory(symbols);
	return NULL;
}

int symbols_request(struct symbols *symbols, uint32_t key, const struct symbols_source *source)
{
	struct image *known = find_image(symbols, key);

	if (known) {
		if (source->jitdump && !known->source.jitdump)
			known->source.jitdump = strdup(source->jitdump);
		return known->again ? again_learn(known->again, source) : 0;
	}
	int ret = grow_images(symbols);
	if (ret < 0) {
		symbols_lack_memory(symbols);
		return ret;
	}
	struct image *image = calloc(1, sizeof(*image));
	if (!image || source_copy(&image->source, source) < 0 ||
		(is_changing(symbols, source) && again_new(&image->again, source) < 0)) {
		free_image(image);
		symbols_lack_memory(symbols);
		return -ENOMEM;
	}
	image->key = key;
	image->twin = find_same_file(symbols, source);
	struct loader_image *job = image->twin ? NULL : make_job(symbols, image);
	if (!image->twin && !job) {
		free_image(image);
		return -ENOMEM;
	}
	if (image->again) {
		job->tentative = source->kind == SYMBOLS_KERNEL;
		image->again->looking = true;
		image->again->over = symbols->recording;
		image->again->asked_ns = clock_now_ns();
	}
	image->state = SYMBOLS_PENDING;
	*image_slot(symbols->images, symbols->images_cap, key) = image;
	symbols->n_images++;
	symbols->pending_images++;

	if (job)
		loader_post_image(symbols->loader, job);
	else if (image->twin->state != SYMBOLS_PENDING)
		copy_answer(symbols, image);
	return 0;
}

enum symbols_state symbols_state(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return image ? image->state : SYMBOLS_UNASKED;
}

uint32_t symbols_version(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return image ? image->version : 0;
}

bool symbols_find(const struct symbols *symbols, uint32_t key, uint64_t offset, struct symbol *out)
{
	const struct image *image = find_image(symbols, key);

	if (image && image->again && image->again->source.kind == SYMBOLS_JIT &&
		image->state == SYMBOLS_NONE)
		again_missed(image->again);
	if (!image || image->state != SYMBOLS_READY)
		return false;
	if (image->twin)
		image = image->twin;
	const struct symtab *table = &image->table;
	int64_t found = symtab_find(table, offset);
	/* The map was rewritten since, and lacks this piece of code. */
	if (found < 0 && image->source.kind == SYMBOLS_JIT &&
		offset >> SYMBOLS_CHANGE_SHIFT < JITSPANS_NUMBERS)
		found = symtab_find(table, offset & JITSPANS_PLAIN);
	if (found < 0 && image->again)
		again_missed(image->again);
	if (found < 0)
		return false;
	const struct symtab_entry *entry = &table->entries[found];
	uint32_t module = table->modules ? table->modules[found] : 0;
	*out = (struct symbol){
		.start = entry->start,
		.size = entry->size,
		.name = symtab_name(table, found),
		.uncertain = entry->name & SYMTAB_UNCERTAIN,
		.module = module ? table->pool + table->module_names[module - 1] : NULL,
		.index = image->first_index + (uint32_t)found,
	};
	return !image->again || again_keep(image->again, out);
}

const struct symtab *symbols_table(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return !image ? NULL : image->twin ? &image->twin->table : &image->table;
}

const struct again *symbols_again(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return image ? image->again : NULL;
}

enum symbols_mark symbols_mark(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return image ? image->mark : SYMBOLS_MARK_NONE;
}

void symbols_files(const struct symbols *symbols, uint32_t key, int *file, int *debug)
{
	const struct image *image = find_image(symbols, key);

	*file = image && image->kept_fds[0] > 0 ? image->kept_fds[0] : -1;
	*debug = image && image->kept_fds[1] > 0 ? image->kept_fds[1] : -1;
}

size_t symbols_build_id(
	const struct symbols *symbols, uint32_t key, uint8_t out[SYMBOLS_BUILD_ID_MAX])
{
	const struct image *image = find_image(symbols, key);

	if (!image)
		return 0;
	memcpy(out, image->build_id, image->build_id_len);
	return image->build_id_len;
}

int symbols_recorded(struct symbols *symbols, const struct symbols_recorded *recorded)
{
	int ret = loader_recorded(symbols->loader, recorded);

	return ret < 0 ? ret : code_client_recorded(symbols->code, recorded);
}

uint32_t symbols_twin(const struct symbols *symbols, uint32_t key)
{
	const struct image *image = find_image(symbols, key);

	return image && image->twin ? image->twin->key : key;
}

const char *symbols_pretty(struct symbols *symbols, const char *name)
{
	const char *pretty = pretty_find(&symbols->names, symbols->loader, name);

	if (!pretty)
		symbols_lack_memory(symbols);
	return pretty ? pretty : name;
}

int symbols_fd(const struct symbols *symbols)
{
	return loader_fd(symbols->loader);
}

/* On overlay mounts of one layer a file has one inode number, but each mount has its own anonymous
 * device (major number 0).  A stripped file has the full file's build-id, but another table.  A
 * file that was only touched is the same. */
static bool is_twin(const struct image *a, const struct image *b)
{
	const struct symbols_source *x = &a->source, *y = &b->source;

	const bool same_dev = x->dev_major == y->dev_major && x->dev_minor == y->dev_minor;

	if (x->inode != y->inode || (!same_dev && x->dev_major && y->dev_major))
		return false;
	return a->build_id_len == b->build_id_len &&
		memcmp(a->build_id, b->build_id, a->build_id_len) == 0 &&
		a->table.len == b->table.len &&
		memcmp(a->table.bytes, b->table.bytes, a->table.len) == 0;
}

static struct image *find_twin(const struct symbols *symbols, const struct image *image)
{
	for (size_t i = 0; image->source.inode && image->build_id_len && i < symbols->images_cap;
		i++) {
		struct image *other = symbols->images[i];
		if (other && other != image && !other->twin && other->state == SYMBOLS_READY &&
			is_twin(image, other))
			return other;
	}
	return NULL;
}

/* Returns false if nothing changed. */
static bool take_look(struct symbols *symbols, struct image *image, struct loader_image *answer)
{
	const bool first = image->state == SYMBOLS_PENDING;

	if (!image->again)
		return true;
	symbols->looking -= !first;
	return again_end(image->again, answer, &image->table, clock_now_ns()) || first;
}

/* Keeps the table that names given out point into.  Returns false if memory runs out. */
static bool keep_table(struct symbols *symbols, struct image *image)
{
	if (array_resize(&image->old, image->n_old + 1, sizeof(*image->old)) < 0)
		return false;
	image->old[image->n_old++] = image->table;
	image->first_index += image->table.n_entries;
	memset(&image->table, 0, sizeof(image->table));
	for (size_t i = 0; i < symbols->images_cap; i++)
		if (symbols->images[i] && symbols->images[i]->twin == image)
			symbols->images[i]->version++;
	return true;
}

/* An image was read again after a fetch.  Returns whether the answer is better than the old one. */
static bool is_better(struct symbols *symbols, struct image *image, struct loader_image *answer)
{
	if (image->state == SYMBOLS_PENDING || image->again)
		return true;
	symbols->reloading--;
	if (answer->state == SYMBOLS_READY && answer->lacks < image->lacks && answer->lacks) {
		/* The fetched program is stripped.  The kept table stays until the debug file
		 * comes. */
		image->lacks = answer->lacks;
		symbols_fetch(symbols, image->key);
	}
	if (answer->state != SYMBOLS_READY || (answer->lacks && image->state == SYMBOLS_READY))
		return false;
	return keep_table(symbols, image);
}

static void take_table(struct symbols *symbols, struct image *image, struct loader_image *answer)
{
	symbols->pending_images -= image->state == SYMBOLS_PENDING;
	symbols->unreadable -= image->state == SYMBOLS_UNREADABLE;
	symbols->table_bytes -= image->table.len;
	symtab_close(&image->table);
	for (size_t i = 0; i < 2; i++)
		if (image->kept_fds[i] > 0)
			close(image->kept_fds[i]);
	image->version++;
	image->lacks = answer->lacks;
	image->twin = NULL;
	image->state = answer->state;
	image->table = answer->table;
	memset(&answer->table, 0, sizeof(answer->table));
	memcpy(image->build_id, answer->build_id, answer->build_id_len);
	image->build_id_len = answer->build_id_len;
	image->mark = answer->mark;
	memcpy(image->kept_fds, answer->kept_fds, sizeof(image->kept_fds));
	memset(answer->kept_fds, 0, sizeof(answer->kept_fds));
	if (image->state == SYMBOLS_READY)
		image->twin = find_twin(symbols, image);
	if (image->twin)
		symtab_close(&image->table);
	symbols->table_bytes += image->table.len;
	symbols->unreadable += image->state == SYMBOLS_UNREADABLE;
}

/* Gives the answer to the images that wait for it.  If its process ended too soon, another's may
 * live: then the first of these images is asked about, and the rest waits for it. */
static void tell_twins(struct symbols *symbols, const struct image *image)
{
	struct loader_image *job = NULL;
	struct image *first = NULL;

	for (size_t i = 0; i < symbols->images_cap; i++) {
		struct image *other = symbols->images[i];
		if (!other || other->twin != image)
			continue;
		const bool waits = other->state == SYMBOLS_PENDING;
		const bool again = waits && image->state == SYMBOLS_UNREADABLE;
		job = again && !job ? make_job(symbols, other) : job;
		if (waits && (!again || !job))
			copy_answer(symbols, other);
		/* This image may have its own twin now. */
		other->twin = image->twin ? image->twin : other->twin;
		if (!again || !job)
			continue;
		other->twin = first;
		if (!first)
			first = other;
	}
	if (job)
		loader_post_image(symbols->loader, job);
}

/* --- debuginfod --- */

static bool make_fetch_id(const struct image *image, struct fetch_id *id)
{
	*id = (struct fetch_id){
		.kind = image->state == SYMBOLS_UNREADABLE || image->lacks == LOADER_LACKS_FILE
			? FETCH_PROGRAM
			: FETCH_DEBUG,
		.build_id_len = image->build_id_len,
	};
	memcpy(id->build_id, image->build_id, image->build_id_len);
	return image->build_id_len && image->source.kind == SYMBOLS_FILE &&
		(id->kind == FETCH_DEBUG || image->source.build_id_len);
}

int symbols_fetch(struct symbols *symbols, uint32_t key)
{
	struct image *image = find_image(symbols, key);
	struct fetch_id id;

	if (!image)
		return -EINVAL;
	if (!fetch_has_server())
		return -EDESTADDRREQ;
	image->fetch = true;
	/* Only its symbols show which file is missing. */
	if (image->state == SYMBOLS_PENDING)
		return 0;
	if (!make_fetch_id(image, &id))
		return -ENODATA;
	int ret = fetch_ask(symbols->fetched, &id);
	symbols->fetching += ret == 0;
	return ret;
}

/* Asks for more files once an image has its table.  A fetched program may be stripped, too. */
static void fetch_more(struct symbols *symbols, const struct image *image)
{
	if (image->fetch ||
		(symbols->fetch &&
			(image->lacks ||
				(symbols->recording && image->state == SYMBOLS_UNREADABLE))))
		symbols_fetch(symbols, image->key);
}

static void add_fetch_note(
	struct symbols *symbols, const struct image *image, const struct fetch_id *id, int error)
{
	if (symbols->n_fetch_notes == FETCH_NOTES_MAX)
		return;
	struct symbols_note *note = &symbols->fetch_notes[symbols->n_fetch_notes++];
	*note = (struct symbols_note){
		.kind = error ? SYMBOLS_NOTE_NOT_FETCHED : SYMBOLS_NOTE_FETCHED,
		.error = error,
		.value = id->kind == FETCH_PROGRAM,
	};
	snprintf(note->path, sizeof(note->path), "%s", image->source.path);
}

static bool is_of(const struct image *image, const struct fetch_id *id)
{
	return image && image->build_id_len == id->build_id_len &&
		memcmp(image->build_id, id->build_id, id->build_id_len) == 0;
}

static void take_fetched(struct symbols *symbols)
{
	struct fetch_id id;
	int error;

	while (fetch_take(symbols->fetched, &id, &error)) {
		bool told = false;
		symbols->fetching--;
		for (size_t i = 0; i < symbols->images_cap; i++) {
			struct image *image = symbols->images[i];
			if (!is_of(image, &id) || image->state == SYMBOLS_PENDING)
				continue;
			if (!told)
				add_fetch_note(symbols, image, &id, error);
			told = true;
			struct loader_image *job = error ? NULL : make_job(symbols, image);
			if (!job)
				continue;
			symbols->reloading++;
			loader_post_image(symbols->loader, job);
			symbols_code_refresh(symbols, image->key);
		}
	}
}

void symbols_fetch_status(const struct symbols *symbols, struct symbols_fetching *out)
{
	struct fetch_status status;

	fetch_status(symbols->fetched, &status);
	*out = (struct symbols_fetching){
		.waiting = status.waiting, .received = status.received, .total = status.total};
	for (size_t i = 0; status.id.build_id_len && i < symbols->images_cap; i++)
		if (is_of(symbols->images[i], &status.id))
			out->path = symbols->images[i]->source.path;
}

void symbols_fetch_cancel(struct symbols *symbols)
{
	fetch_cancel(symbols->fetched);
}

static void look_again(struct symbols *symbols, uint64_t final_ns)
{
	const uint64_t now = clock_now_ns();

	for (size_t i = 0; i < symbols->images_cap; i++) {
		struct image *image = symbols->images[i];
		if (!image || !image->again || !again_is_due(image->again, now, final_ns))
			continue;
		struct loader_image *job = again_begin(image->again, image->key, now);
		if (!job)
			return;
		job->known = image->table;
		symbols->looking++;
		loader_post_image(symbols->loader, job);
	}
}

static unsigned int collect(struct symbols *symbols)
{
	struct loader_image *images;
	struct loader_name *names;
	unsigned int changed = 0;

	loader_collect(symbols->loader, &images, &names);
	while (images) {
		struct loader_image *next = images->next;
		if (images->want != LOADER_FUNCTIONS) {
			changed |= SYMBOLS_CHANGED_DATA;
			if (images->want == LOADER_NAMED)
				by_name_take(images);
			else
				data_tables_take(symbols->data, images);
			loader_image_free(images);
			images = next;
			continue;
		}
		struct image *image = find_image(symbols, images->key);
		image->source.elsewhere |= images->source.elsewhere;
		if (is_better(symbols, image, images) && take_look(symbols, image, images)) {
			take_table(symbols, image, images);
			tell_twins(symbols, image);
			fetch_more(symbols, image);
			changed |= SYMBOLS_CHANGED_TABLES;
		}
		loader_image_free(images);
		images = next;
	}
	if (pretty_take(&symbols->names, names))
		changed |= SYMBOLS_CHANGED_NAMES;
	take_fetched(symbols);
	if (code_client_collect(symbols->code))
		changed |= SYMBOLS_CHANGED_CODE;
	return changed;
}

unsigned int symbols_collect(struct symbols *symbols)
{
	const unsigned int changed = collect(symbols) | symbols->untold;

	symbols->final_ns = symbols->untold = 0;
	look_again(symbols, 0);
	return changed;
}

void symbols_collect_meanwhile(struct symbols *symbols)
{
	symbols->untold |= collect(symbols);
}

void symbols_tell_untold(const struct symbols *symbols)
{
	const uint64_t one = 1;

	/* write() fails only if the eventfd is readable already. */
	if (symbols->untold && write(loader_fd(symbols->loader), &one, sizeof(one)) < 0)
		return;
}

int symbols_wait(struct symbols *symbols, unsigned int timeout_ms)
{
	struct pollfd pfd = {.fd = loader_fd(symbols->loader), .events = POLLIN};
	const int64_t end_ms = clock_now_ms() + timeout_ms;

	symbols->final_ns = symbols->final_ns ? symbols->final_ns : clock_now_ns();
	for (;;) {
		collect(symbols);
		/* A look that began earlier may have missed what came since. */
		look_again(symbols, symbols->final_ns);
		if (!symbols->pending_images && !symbols->names.pending && !symbols->looking &&
			!symbols->fetching && !symbols->reloading &&
			!moved_pending(symbols->data) && !code_client_is_waiting(symbols->code))
			return 0;
		const int64_t rest = end_ms - clock_now_ms();
		if (rest <= 0)
			return -ETIME;
		poll(&pfd, 1, (int)rest);
	}
}

void symbols_lack_memory(struct symbols *symbols)
{
	if (symbols)
		__atomic_store_n(&symbols->lacks_memory, true, __ATOMIC_RELAXED);
}

bool symbols_take_note(struct symbols *symbols, struct symbols_note *out)
{
	if (!symbols->told_memory && __atomic_load_n(&symbols->lacks_memory, __ATOMIC_RELAXED)) {
		symbols->told_memory = true;
		*out = (struct symbols_note){.kind = SYMBOLS_NOTE_NO_MEMORY, .error = ENOMEM};
		return true;
	}
	if (symbols->n_fetch_notes) {
		*out = symbols->fetch_notes[0];
		memmove(symbols->fetch_notes, symbols->fetch_notes + 1,
			--symbols->n_fetch_notes * sizeof(*out));
		return true;
	}
	return loader_take_note(symbols->loader, out) || code_client_take_note(symbols->code, out);
}

void symbols_status(const struct symbols *symbols, struct symbols_status *out)
{
	*out = (struct symbols_status){
		.images = (uint32_t)symbols->n_images,
		.pending = (uint32_t)symbols->pending_images,
		.unreadable = (uint32_t)symbols->unreadable,
		.table_bytes = symbols->table_bytes,
		.worker_pid = loader_worker_pid(symbols->loader),
		.spawner_pid = loader_spawner_pid(symbols->loader),
		.code_worker_pid = code_client_worker_pid(symbols->code),
	};
}
