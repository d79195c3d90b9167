/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_map.c - keeps the current and the earlier contents of a process's map.
 *
 * A map has no timestamps.  Its contents at the first look count from the beginning, additions from
 * when they were written.  Most maps only grow.  A map may also be rewritten or replaced: a forked
 * process begins one of its own.  Then its text is appended to all that was known, which the table
 * has.  Entries that the new text repeats are not new code.
 *
 * Runs in the loader thread.
 */
#include "symbols/base/grow.h"
#include "symbols/loader/loader_private.h"

#include "symbols/base/clock.h"
#include "symbols/loader/maptext.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#define BLOCK_BYTES 65536u
/* File system timestamps have coarse steps: a change within one step leaves mtime as it was. */
#define TIME_STEP_NS 20000000

static uint64_t real_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns when the map was last written, ns of CLOCK_MONOTONIC, but never before the previous
 * look. */
static uint64_t written_at(const struct loader_jit *jit, uint64_t mtime_ns, uint64_t now_ns)
{
	const uint64_t real_ns = real_now_ns();
	const uint64_t ago_ns = real_ns > mtime_ns ? real_ns - mtime_ns : 0;

	if (ago_ns >= now_ns || now_ns - ago_ns < jit->read_ns)
		return jit->read_ns;
	return now_ns - ago_ns;
}

struct digest {
	uint64_t hash, lines;
};

/* Digests the first bytes of a copy.  Above PERFMAP_BYTES_MAX a hole may follow the first half of
 * what is read, so only that half counts. */
static struct digest digest_of(int fd, uint64_t size)
{
	const uint64_t end = size <= PERFMAP_BYTES_MAX ? size : PERFMAP_BYTES_MAX / 2;
	XXH3_state_t *state = XXH3_createState();
	struct digest digest = {0};
	char block[BLOCK_BYTES];
	ssize_t n = 1;

	if (!state)
		return digest;
	XXH3_64bits_reset(state);
	for (uint64_t at = 0; at < end && n > 0; at += (uint64_t)n) {
		const uint64_t rest = end - at;
		n = pread(
			fd, block, rest < sizeof(block) ? (size_t)rest : sizeof(block), (off_t)at);
		if (n > 0)
			XXH3_64bits_update(state, block, (size_t)n);
		for (ssize_t i = 0; i < n; i++)
			digest.lines += block[i] == '\n';
	}
	digest.hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return digest;
}

/* Returns the offset of the line that contains the byte at this offset. */
static uint64_t line_start(int fd, uint64_t at)
{
	char block[BLOCK_BYTES];
	const uint64_t from = at > sizeof(block) ? at - sizeof(block) : 0;

	const ssize_t n = pread(fd, block, (size_t)(at - from), (off_t)from);
	const char *newline = n > 0 ? memrchr(block, '\n', (size_t)n) : NULL;
	return newline ? from + (uint64_t)(newline - block) + 1 : from;
}

/* --- growing maps --- */

static int note_growth(struct loader_jit *jit, const struct loader_jit_file *before, uint64_t at_ns)
{
	uint64_t since_ns = 1;

	if (jit->n_steps && before->size == jit->map.size)
		return 0;
	/* Without room for another step, additions count from the last step on. */
	if (jit->n_steps == PERFMAP_STEPS_MAX)
		return 0;
	if (array_resize(&jit->steps, jit->n_steps + 1, sizeof(*jit->steps)) < 0)
		return -ENOMEM;
	struct perfmap_step *steps = jit->steps;
	if (jit->n_steps) {
		const uint64_t last_ns = steps[jit->n_steps - 1].since_ns;
		since_ns = at_ns > last_ns ? at_ns : last_ns;
	}
	steps[jit->n_steps] = (struct perfmap_step){
		.bytes = jit->n_steps ? before->size : 0, .since_ns = since_ns};
	jit->n_steps++;
	return 0;
}

/* --- rewritten maps --- */

/* new part of a map */
struct news {
	uint64_t from; /* offset of its first byte; it extends to the end of the map */
	uint64_t lines; /* number of its lines */
};

static struct maptext_limits room_before(const struct loader_jit *jit, const struct news *news)
{
	return (struct maptext_limits){.bytes = PERFMAP_BYTES_MAX - (jit->map.size - news->from),
		.lines = JITSPANS_MAX > news->lines ? JITSPANS_MAX - news->lines : 0,
		.now_ns = clock_now_ns()};
}

static int put_behind(const struct symtab *table, const struct news *news, struct loader_jit *jit,
	FILE *out, int map)
{
	const struct maptext_limits limits = room_before(jit, news);
	struct maptext text;

	int ret = maptext_write(table, &limits, out, &text);
	if (ret < 0)
		return ret;
	const uint64_t since_ns = jit->written_ns > text.last_ns ? jit->written_ns : text.last_ns;
	text.steps[text.n_steps++] = (struct perfmap_step){text.bytes, since_ns};
	free(jit->steps);
	jit->steps = text.steps;
	jit->n_steps = text.n_steps;
	if (map >= 0)
		ret = kept_append(out, map, news->from, jit->map.size - news->from);
	return ret == 0 && ferror(out) ? -ENOSPC : ret;
}

static int join(const struct symtab *table, const struct news *news, struct loader_jit *jit,
	struct opener_file *map)
{
	const int fd = memfd_create("strobe-map", MFD_CLOEXEC);
	const int second = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *out = second < 0 ? NULL : fdopen(second, "w");
	int ret = out ? 0 : -errno;

	if (ret == 0)
		ret = put_behind(table, news, jit, out, map->fd);
	if (out && fclose(out) != 0 && ret == 0)
		ret = -errno;
	if (!out && second >= 0)
		close(second);
	if (ret < 0) {
		if (fd >= 0)
			close(fd);
		return ret;
	}
	if (map->fd >= 0)
		close(map->fd);
	map->fd = fd;
	return 0;
}

int load_map_again(struct loader_image *image, struct opener_file *map)
{
	struct loader_jit *jit = &image->jit;
	const struct news none = {.from = jit->map.size};

	*map = (struct opener_file){.fd = -1, .owner = jit->map.owner};
	jit->anew = true;
	jit->written_ns = 0;
	return join(&image->known, &none, jit, map);
}

/* --- maps of ended processes --- */

bool load_map_is_unfinished(const struct opener_file *map)
{
	struct stat st;
	char last;

	return fstat(map->fd, &st) == 0 && st.st_size &&
		pread(map->fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

int load_map_finish(struct opener_file *map)
{
	struct stat st;
	bool cut;

	const int copy = kept_copy(map->fd, UINT64_MAX, true, &cut);
	if (copy < 0)
		return copy;
	if (fstat(copy, &st) < 0 || pwrite(copy, "\n", 1, st.st_size) != 1) {
		const int error = -errno;
		close(copy);
		return error;
	}
	close(map->fd);
	map->fd = copy;
	return 0;
}

/* --- all maps --- */

int load_map(
	struct loader_image *image, const struct loader_jit_file *before, struct opener_file *map)
{
	struct loader_jit *jit = &image->jit;
	const struct symtab *table = &image->known;
	struct stat st, copied;
	bool cut;

	const int copy = kept_copy(map->fd, UINT64_MAX, true, &cut);
	if (copy < 0)
		return copy;
	/* The map may be written right now.  Its mtime is read after the copy, so it covers all
	 * that was copied. */
	const bool ok = fstat(map->fd, &st) == 0 && fstat(copy, &copied) == 0;
	const int error = ok ? 0 : -errno;
	close(map->fd);
	map->fd = copy;
	if (!ok)
		return error;
	const uint64_t now_ns = clock_now_ns();
	const uint64_t mtime_ns =
		(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	jit->map.size = map->size = (uint64_t)copied.st_size;
	/* 0 if the mtime is recent: a later write within the same step would not change it. */
	jit->map.mtime_ns = mtime_ns + TIME_STEP_NS < real_now_ns() ? mtime_ns : 0;
	jit->written_ns = written_at(jit, mtime_ns, now_ns);
	const struct digest old =
		digest_of(copy, before->size < jit->map.size ? before->size : jit->map.size);
	const struct digest digest = digest_of(copy, jit->map.size);
	const bool goes_on = before->inode == jit->map.inode && before->dev == jit->map.dev &&
		before->size <= jit->map.size && old.hash == jit->hash;
	jit->hash = digest.hash;
	jit->anew |= before->inode && !goes_on;
	if (jit->anew && table->n_entries && !cut) {
		struct news news = {0, digest.lines};
		if (goes_on) {
			const struct news rest = {
				line_start(copy, before->size), digest.lines - old.lines};
			const struct maptext_limits room = room_before(jit, &rest);
			/* If it does not fit, the oldest known entries are dropped, and the map may
			 * still have them. */
			if (maptext_fits(table, &room))
				news = rest;
		}
		return join(table, &news, jit, map);
	}
	/* The history begins here: first look, no earlier table, or a cut map. */
	if (!goes_on || jit->anew)
		jit->n_steps = 0;
	return note_growth(jit, before, jit->written_ns);
}
