/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_ask.c - asks the worker questions about files, and handles the answers.
 *
 * A file is read by a worker that no other user's file can have taken over.  Runs in the loader
 * thread.
 */
#include "symbols/base/clock.h"
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned int loader_file_cpu_ms = 8000, loader_file_wall_ms = 20000;

uint64_t load_owner(const struct opener_file *file)
{
	return file->owner == 0 || file->owner == geteuid() ? LOADER_OURS
							    : LOADER_USERS + (uint64_t)file->owner;
}

void load_for(struct loader *loader, uint64_t whose)
{
	/* Names are trusted while all files are ours. */
	if (whose == LOADER_NAMES && !loader->met_foreign)
		return;
	if (whose != loader->read_by_worker && loader->read_by_worker != LOADER_OURS)
		asker_renew(&loader->asker);
	loader->read_by_worker = whose;
	loader->met_foreign |= whose != LOADER_OURS && whose != LOADER_NAMES;
}

int load_ask_twice(struct loader *loader, const struct asker_question *asked, const char *path,
	struct wire_message *answer, struct load_payload *payload, int *table)
{
	struct asker_question again = *asked;
	const uint64_t start_ms = (uint64_t)clock_now_ms();
	int ret = -EPIPE;

	for (int attempt = 0; attempt < 2 && ret == -EPIPE; attempt++) {
		/* The second attempt gets only the rest of the time. */
		const uint64_t past_ms = (uint64_t)clock_now_ms() - start_ms;
		again.limits.wall_ms = past_ms < asked->limits.wall_ms
			? asked->limits.wall_ms - (unsigned int)past_ms
			: 0;
		ret = asker_ask(&loader->asker, &again, answer, payload->bytes, payload->size,
			&payload->len, table);
		/* Another attempt would take as long. */
		if (ret == -EPIPE && loader->asker.timed_out)
			attempt = 1;
		else if (ret == -EPIPE)
			loader_add_note(loader, SYMBOLS_NOTE_WORKER_DIED, path, 0,
				loader->asker.died_status);
		if (loader->asker.confine_error && !loader->told_unconfined) {
			loader->told_unconfined = true;
			loader_add_note(loader, SYMBOLS_NOTE_UNCONFINED, "",
				loader->asker.confine_error, 0);
		}
	}
	if (ret == -EPIPE)
		return -EOWNERDEAD;
	if (ret == 0 && answer->error) {
		if (*table >= 0)
			close(*table);
		*table = -1;
		return answer->error > 0 && answer->error < 4096 ? -answer->error : -EBADMSG;
	}
	return ret;
}

/* Returns the limit of a question.  Each profile needs the kernel's list, and no other user made
 * it.  In a virtual machine, time that the host takes counts as the worker's CPU time. */
static unsigned int limit_of(const struct loader_question *question, unsigned int limit_ms)
{
	return question->type == WIRE_KALLSYMS && !question->foreign ? 4 * limit_ms : limit_ms;
}

int load_ask(struct loader *loader, const struct loader_question *question,
	struct wire_message *answer, int *table)
{
	const struct asker_question asked = {
		.type = question->type,
		.payload = question->payload,
		.len = question->len,
		.fd = question->file->fd,
		.second_fd = question->debug ? &question->debug->fd : NULL,
		.flags = question->flags,
		.address = question->address,
		.limits = {.cpu_ms = limit_of(question, loader_file_cpu_ms),
			.wall_ms = limit_of(question, loader_file_wall_ms)},
	};
	uint64_t whose = question->foreign ? LOADER_FOREIGN : load_owner(question->file);
	char link[WIRE_LINK_MAX - 1];
	struct load_payload payload = {.bytes = link, .size = sizeof(link)};

	if (whose == LOADER_OURS && question->debug)
		whose = load_owner(question->debug);
	load_for(loader, whose);
	int ret = load_ask_twice(loader, &asked, question->path, answer, &payload, table);
	if (ret == -EOWNERDEAD)
		loader_add_note(loader, SYMBOLS_NOTE_FILE_BANNED, question->path,
			loader->asker.timed_out ? ETIME : 0, 0);
	if (ret == 0 && question->link) {
		memcpy(question->link->name, link, payload.len);
		question->link->name[payload.len] = '\0';
		question->link->crc = (uint32_t)answer->address;
	}
	return ret;
}

int load_use_table(struct loader_image *image, int fd)
{
	int ret = symtab_open(&image->table, fd);

	if (ret == 0)
		image->state = image->table.n_entries ? SYMBOLS_READY : SYMBOLS_NONE;
	return ret;
}

void load_tell_build_id(struct loader_image *image, const uint8_t *build_id, size_t len)
{
	_Static_assert(WIRE_BUILD_ID_MAX == SYMBOLS_BUILD_ID_MAX, "build-ids differ in size");
	image->build_id_len = len <= sizeof(image->build_id) ? len : 0;
	memcpy(image->build_id, build_id, image->build_id_len);
}

bool load_cached(struct loader *loader, struct loader_image *image, const char *key)
{
	int fd = cache_load(loader->cache, key);

	if (fd < 0)
		return false;
	int ret = load_use_table(image, fd);
	close(fd);
	return ret == 0;
}

static void keep_file(struct loader_image *image, size_t i, const struct opener_file *file)
{
	if (image->kept_fds[i] > 0)
		close(image->kept_fds[i]);
	image->kept_fds[i] = file ? fcntl(file->fd, F_DUPFD_CLOEXEC, 3) : 0;
}

int load_table(struct loader *loader, struct loader_image *image,
	const struct loader_question *question, const char *key, struct wire_message *answer)
{
	int table = -1;

	int ret = load_ask(loader, question, answer, &table);
	if (ret < 0)
		return ret;
	if (table < 0)
		return -EBADMSG;
	if (question->type == WIRE_FILE)
		load_tell_build_id(image, answer->build_id, answer->build_id_len);
	ret = load_use_table(image, table);
	if (ret < 0) {
		close(table);
		return ret;
	}
	if (loader->keep_files) {
		keep_file(image, 0, question->file);
		keep_file(image, 1, answer->flags & WIRE_FLAG_DEBUG ? question->debug : NULL);
	}
	if (loader->cache && key && !(answer->flags & WIRE_FLAG_HIDDEN)) {
		snprintf(loader->keep_key, sizeof(loader->keep_key), "%s", key);
		loader->keep_fd = table;
	} else {
		close(table);
	}
	return 0;
}

int load_build_id(struct loader *loader, const struct loader_question *question,
	uint8_t out[WIRE_BUILD_ID_MAX], size_t *len, struct loader_link *link)
{
	struct loader_question asked = *question;
	struct wire_message answer;
	int none = -1;

	*len = 0;
	asked.type = WIRE_BUILD_ID;
	asked.debug = NULL;
	asked.link = link;
	int ret = load_ask(loader, &asked, &answer, &none);
	if (none >= 0)
		close(none);
	if (ret == 0) {
		*len = answer.build_id_len <= WIRE_BUILD_ID_MAX ? answer.build_id_len : 0;
		memcpy(out, answer.build_id, *len);
	}
	return ret;
}
