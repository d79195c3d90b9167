/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_named.c - loads data symbols, or the places of one name, from a file with its debug file or
 * from the running kernel.
 *
 * Runs in the loader thread.
 */
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_BYTES 65536

/* Asks the worker about an open file; debug may be NULL. */
typedef int ask_fn(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const struct loader_file *debug,
	struct wire_message *answer);

static int open_file(struct loader *loader, struct loader_image *image, struct loader_file *file)
{
	const struct symbols_source *source = &image->source;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	if (!loader->recording)
		return load_open(loader, source, false, file, build_id, &len);
	struct finder_query query = load_query(FINDER_BINARY, source);
	return load_find(loader, &query, file);
}

/* If the file is stripped, asks with each candidate debug file until one is the right one. */
static int ask_file(struct loader *loader, struct loader_image *image, ask_fn *ask)
{
	struct load_debug_search search = {.source = &image->source};
	struct wire_message answer = {0};
	struct loader_file file, debug;

	int ret = open_file(loader, image, &file);
	if (ret < 0)
		return ret;
	const struct loader_question question = {
		.path = image->source.path, .file = &file.file, .foreign = file.foreign};
	search.file = &file.file;
	ret = load_build_id(loader, &question, search.build_id, &search.build_id_len, &search.link);
	while (ret == 0 && load_debug_file(loader, &search, &debug)) {
		ret = ask(loader, image, &file, &debug, &answer);
		close(debug.file.fd);
		if (ret < 0 || answer.flags & WIRE_FLAG_DEBUG ||
			!(answer.flags & WIRE_FLAG_STRIPPED))
			goto out;
	}
	if (ret == 0)
		ret = ask(loader, image, &file, NULL, &answer);
out:
	close(file.file.fd);
	return ret;
}

static int open_kallsyms(const struct loader *loader, struct loader_file *out)
{
	*out = (struct loader_file){
		.file = {.fd = open(loader->kallsyms_path, O_RDONLY | O_CLOEXEC)}};
	return out->file.fd < 0 ? -errno : 0;
}

/* --- data --- */

static int ask_data(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const struct loader_file *debug,
	struct wire_message *answer)
{
	const struct loader_question question = {
		.type = image->source.kind == SYMBOLS_KERNEL ? WIRE_KALLSYMS : WIRE_FILE,
		.path = image->source.path,
		.file = &file->file,
		.debug = debug ? &debug->file : NULL,
		.foreign = file->foreign || (debug && debug->foreign),
		.flags = WIRE_FLAG_DATA | (debug && debug->linked ? WIRE_FLAG_LINKED : 0),
	};

	/* Drop the table that came with a wrong debug file. */
	symtab_close(&image->table);
	memset(&image->table, 0, sizeof(image->table));
	return load_table(loader, image, &question, NULL, answer);
}

int load_data(struct loader *loader, struct loader_image *image)
{
	struct wire_message answer;
	struct loader_file file;

	if (image->source.kind != SYMBOLS_KERNEL)
		return ask_file(loader, image, ask_data);
	/* The data addresses of a recorded kernel are unknown. */
	if (loader->recording)
		return -ENOENT;
	int ret = open_kallsyms(loader, &file);
	if (ret < 0)
		return ret;
	ret = ask_data(loader, image, &file, NULL, &answer);
	close(file.file.fd);
	return ret;
}

/* --- names --- */

/* A hostile file may control the worker, so check that everything it counts is present. */
static bool is_sound(const char *bytes, size_t len)
{
	struct wire_named head;
	size_t at = sizeof(head);

	if (len < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.n_places > WIRE_PLACES_MAX || head.n_near > WIRE_NEAR_MAX ||
		len - at < head.n_places * sizeof(struct wire_place))
		return false;
	at += head.n_places * sizeof(struct wire_place);
	for (uint32_t i = 0; i < head.n_near; i++) {
		const char *end = memchr(bytes + at, '\0', len - at);
		if (!end)
			return false;
		at = (size_t)(end - bytes) + 1;
	}
	return true;
}

static int ask_named(struct loader *loader, struct loader_image *image,
	const struct loader_file *file, const struct loader_file *debug,
	struct wire_message *answer)
{
	struct load_payload payload = {.bytes = malloc(ANSWER_BYTES), .size = ANSWER_BYTES};
	const struct asker_question asked = {
		.type = WIRE_NAMED,
		.payload = image->wanted,
		.len = strlen(image->wanted),
		.fd = file->file.fd,
		.second_fd = debug ? &debug->file.fd : NULL,
		.flags = (image->source.kind == SYMBOLS_KERNEL ? WIRE_FLAG_KERNEL : 0) |
			(debug && debug->linked ? WIRE_FLAG_LINKED : 0),
		.limits = {.cpu_ms = loader_file_cpu_ms, .wall_ms = loader_file_wall_ms},
	};
	uint64_t whose = file->foreign || (debug && debug->foreign) ? LOADER_FOREIGN
								    : load_owner(&file->file);
	int table = -1;

	if (!payload.bytes)
		return -ENOMEM;
	if (whose == LOADER_OURS && debug)
		whose = load_owner(&debug->file);
	load_for(loader, whose);
	int ret = load_ask_twice(loader, &asked, image->source.path, answer, &payload, &table);
	if (table >= 0)
		close(table);
	if (ret == 0 && !is_sound(payload.bytes, payload.len))
		ret = -EBADMSG;
	free(image->found);
	image->found = NULL;
	if (ret < 0) {
		free(payload.bytes);
		return ret;
	}
	image->found = payload.bytes;
	image->found_len = payload.len;
	image->stripped = answer->flags & WIRE_FLAG_STRIPPED && !(answer->flags & WIRE_FLAG_DEBUG);
	image->hidden = answer->flags & WIRE_FLAG_HIDDEN;
	return 0;
}

int load_named(struct loader *loader, struct loader_image *image)
{
	struct wire_message answer;
	struct loader_file file;

	if (image->source.kind != SYMBOLS_KERNEL)
		return ask_file(loader, image, ask_named);
	int ret = open_kallsyms(loader, &file);
	if (ret < 0)
		return ret;
	ret = ask_named(loader, image, &file, NULL, &answer);
	close(file.file.fd);
	return ret;
}
