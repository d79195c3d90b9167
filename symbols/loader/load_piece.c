/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_piece.c - compares memory without a file with the code of the file that was mapped there.
 *
 * Reads of a process's memory may hang if it belongs to a file system in user space or waits for
 * userfaultfd.  Absent pages are skipped, and each read has a time limit.
 *
 * Runs in the loader thread.
 */
#include "symbols/base/timedopen.h"
#include "symbols/loader/loader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAGE_BYTES 4096u /* unit of comparison: a page or a part of one */
#define SPREAD_PAGES 64u
#define SEGMENTS_MAX 64u
#define PLACES_MAX 16u /* candidate places that are compared */
#define PAGE_PRESENT (UINT64_C(1) << 63) /* bit of a /proc/PID/pagemap entry */

/* Debuggers and tracers patch code: 1/16 of a page's bytes and 1/8 of the pages may differ. */
#define BYTES_SHARE 16u
#define PAGES_SHARE 8u

/* --- the place --- */

static uint64_t round_down(uint64_t address)
{
	return address & ~(uint64_t)(PAGE_BYTES - 1);
}

static uint64_t round_up(uint64_t address)
{
	return round_down(address + PAGE_BYTES - 1);
}

/* Returns whether a segment, extended to whole pages, maps a file offset.  Sets *distance to the
 * process's address minus the file's address. */
static bool find_distance(
	const struct symtab_segment *segment, uint64_t address, uint64_t offset, uint64_t *distance)
{
	*distance = address - (segment->vaddr - segment->offset + offset);
	return offset >= round_down(segment->offset) &&
		offset < round_up(segment->offset + segment->len);
}

static bool fits(const struct symtab *table, uint64_t address, uint64_t offset, uint64_t wanted)
{
	uint64_t distance;

	for (size_t i = 0; i < (size_t)table->n_segments + table->n_loads; i++)
		if (find_distance(&table->segments[i], address, offset, &distance) &&
			distance == wanted)
			return true;
	return false;
}

bool load_place_piece(const struct symtab *table, const struct symbols_piece *piece, size_t *next,
	struct load_place *out)
{
	const size_t n = (size_t)table->n_segments + table->n_loads;
	const size_t near = piece->near[0].known ? 0 : 1;

	/* No program has that many; the work grows with the cube of their number. */
	if (n > SEGMENTS_MAX)
		return false;
	/* Try each pair of a segment that may map a neighbour and a code segment. */
	for (; *next < n * table->n_segments; ++*next) {
		const struct symtab_segment *code = &table->segments[*next % table->n_segments];
		uint64_t distance;

		if (!find_distance(&table->segments[*next / table->n_segments],
			    piece->near[near].address, piece->near[near].offset, &distance) ||
			(piece->near[0].known && piece->near[1].known &&
				!fits(table, piece->near[1].address, piece->near[1].offset,
					distance)))
			continue;
		if (piece->start < round_down(code->vaddr) + distance ||
			piece->end > round_up(code->vaddr + code->len) + distance ||
			round_up(code->vaddr + code->len) + distance <
				round_down(code->vaddr) + distance)
			continue;
		*out = (struct load_place){
			.bias = code->offset - code->vaddr - distance,
			.start = code->vaddr + distance,
			.end = code->vaddr + code->len + distance,
		};
		++*next;
		return true;
	}
	return false;
}

/* --- the contents --- */

struct comparing {
	int file_fd, memory_fd, pagemap_fd;
	const struct symbols_piece *piece;
	struct load_place place;
	size_t compared, alike;
	int error; /* -ETIMEDOUT once a read hangs; no more reads are tried */
};

static bool is_present(struct comparing *comparing, uint64_t address)
{
	const uint64_t page = address / (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry;
	const ssize_t n =
		timedopen_read(comparing->pagemap_fd, page * sizeof(entry), &entry, sizeof(entry));

	if (n == -ETIMEDOUT)
		comparing->error = -ETIMEDOUT;
	return n == sizeof(entry) && entry & PAGE_PRESENT;
}

static bool is_uniform(const uint8_t *bytes, size_t len)
{
	return len < 2 || !memcmp(bytes, bytes + 1, len - 1);
}

/* Returns whether the page at the address has the file's contents.  *known is false if it could not
 * be compared, or if only uniform bytes matched, as in padding. */
static bool compare_page(struct comparing *comparing, uint64_t address, bool *known)
{
	const struct load_place *place = &comparing->place;
	uint8_t file[PAGE_BYTES], memory[PAGE_BYTES];
	uint64_t from = round_down(address), to = from + PAGE_BYTES;
	size_t differ = 0;

	*known = false;
	from = from < place->start ? place->start : from;
	to = to > place->end ? place->end : to;
	if (from >= to || comparing->error || !is_present(comparing, from))
		return false;
	const size_t len = to - from;
	ssize_t n = timedopen_read(comparing->file_fd, from + place->bias, file, len);
	if (n == (ssize_t)len)
		n = timedopen_read(comparing->memory_fd, from, memory, len);
	if (n == -ETIMEDOUT)
		comparing->error = -ETIMEDOUT;
	if (n != (ssize_t)len)
		return false;
	for (size_t i = 0; i < len; i++)
		differ += file[i] != memory[i];
	const bool alike = differ * BYTES_SHARE <= len;
	*known = !alike || !is_uniform(file, len);
	return alike;
}

/* Compares all pages that were executed, and up to SPREAD_PAGES spread over the piece.  Returns
 * whether no executed page differs and 7/8 of all compared pages match. */
static bool compare(struct comparing *comparing)
{
	const struct symbols_piece *piece = comparing->piece;
	const uint64_t pages = (piece->end - piece->start) / PAGE_BYTES;
	const uint64_t n = pages < SPREAD_PAGES ? pages : SPREAD_PAGES;
	bool all = true, known;

	for (size_t i = 0; i < piece->n_samples; i++) {
		const bool alike = compare_page(comparing, piece->samples[i], &known);
		all &= alike || !known;
		comparing->compared += known;
		comparing->alike += known && alike;
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t page = n < 2 ? 0 : i * (pages - 1) / (n - 1);
		const bool alike =
			compare_page(comparing, piece->start + page * PAGE_BYTES, &known);
		comparing->compared += known;
		comparing->alike += known && alike;
	}
	return all && comparing->alike * PAGES_SHARE >= comparing->compared * (PAGES_SHARE - 1);
}

static int open_of_process(int32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/%s", pid, name);
	return timedopen(AT_FDCWD, path, 0, true, NULL);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Sets image->moved and image->bias, unless nothing could be compared. */
static void compare_all(struct loader *loader, struct loader_image *image)
{
	const struct symbols_piece *piece = &image->piece;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	struct loader_file file = {.file.fd = -1};
	struct comparing comparing = {.piece = piece};
	size_t compared = 0, next = 0, len;

	if (!piece->pid || load_open(loader, &image->source, false, &file, build_id, &len) < 0)
		return;
	comparing.file_fd = file.file.fd;
	comparing.memory_fd = open_of_process(piece->pid, "mem");
	comparing.pagemap_fd =
		comparing.memory_fd >= 0 ? open_of_process(piece->pid, "pagemap") : -1;
	for (size_t i = 0;
		i < PLACES_MAX && comparing.pagemap_fd >= 0 && image->moved != SYMBOLS_MOVED_SAME &&
		!comparing.error && load_place_piece(&image->table, piece, &next, &comparing.place);
		i++) {
		comparing.compared = comparing.alike = 0;
		if (compare(&comparing) && comparing.compared) {
			image->moved = SYMBOLS_MOVED_SAME;
			image->bias = comparing.place.bias;
		}
		compared += comparing.compared;
	}
	if (compared && image->moved == SYMBOLS_MOVED_PENDING)
		image->moved = SYMBOLS_MOVED_OTHER;
	close_fd(file.file.fd);
	close_fd(comparing.memory_fd);
	close_fd(comparing.pagemap_fd);
}

void load_piece(struct loader *loader, struct loader_image *image)
{
	const char *path = image->source.path;
	struct load_place place;
	size_t next = 0;

	image->moved = SYMBOLS_MOVED_OTHER;
	/* Notes about the file come with the request for its own symbols. */
	const bool was_quiet = loader->is_quiet;
	loader->is_quiet = true;
	const int ret =
		loader->recording ? load_recorded_file(loader, image) : load_file(loader, image);
	loader->is_quiet = was_quiet;
	if (ret < 0 || !image->table.n_segments ||
		!load_place_piece(&image->table, &image->piece, &next, &place))
		return;
	image->moved = SYMBOLS_MOVED_PENDING;
	if (!loader->recording)
		compare_all(loader, image);
	if (image->moved != SYMBOLS_MOVED_PENDING)
		return;
	image->moved = image->piece.is_exact ? SYMBOLS_MOVED_PLACE : SYMBOLS_MOVED_OTHER;
	image->bias = place.bias;
	if (image->piece.is_exact)
		loader_add_note(loader, SYMBOLS_NOTE_MOVED, path, 0, 0);
}
