/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jitdump.c - reads the records of a jitdump file one by one with pread(2).
 */
#include "symbols/jit/jitdump.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC 0x4a695444u
#define HEADER_BYTES 40u
#define FLAGS_AT 32u
#define TIME_MAX_NS 315360000000000000u /* ten years */
#define FLAG_TICKS 1u /* times are from the CPU's counter */
#define PREFIX_BYTES 16u
#define NAME_BYTES 65536u /* longer names are cut */
#define FIRST_BYTES 4096u /* first read of a record; nearly all names end within it */
#define LINES_BYTES_MAX (16u << 20) /* limit for one function */

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE };

/* CODE_LOAD, after its prefix: pid, tid (32 bits each), vma, address, size, index; then the name
 * and the code.  CODE_MOVE has the old and the new address instead of the one.  CODE_DEBUG_INFO
 * comes before the function's CODE_LOAD: its address and the number of lines.  Each line has an
 * address, line and discriminator (32 bits each), and the file's name: "\xff" means the name
 * before. */
#define LOAD_BYTES 40u
#define MOVE_BYTES 48u
#define LINES_BYTES 16u /* bytes before the first line */
#define LINE_BYTES 16u /* bytes without the name */

static ssize_t read_at(int fd, void *out, size_t len, uint64_t at)
{
	size_t done = 0;

	if (at > INT64_MAX - len)
		return 0;
	while (done < len) {
		ssize_t n = pread(fd, (char *)out + done, len - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static uint32_t get32(const struct jitdump *dump, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swapped ? bswap_32(value) : value;
}

static uint64_t get64(const struct jitdump *dump, const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swapped ? bswap_64(value) : value;
}

int jitdump_open(struct jitdump *out, int fd, bool timed)
{
	uint8_t header[HEADER_BYTES];
	uint32_t magic;

	*out = (struct jitdump){.fd = fd};
	ssize_t n = read_at(fd, header, sizeof(header), 0);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)sizeof(header))
		return -ENOEXEC;
	memcpy(&magic, header, sizeof(magic));
	if (magic != MAGIC && magic != bswap_32(MAGIC))
		return -ENOEXEC;
	out->swapped = magic != MAGIC;
	out->first = get32(out, header + 8);
	out->machine = (uint16_t)get32(out, header + 12);
	out->timed = timed && !(get64(out, header + FLAGS_AT) & FLAG_TICKS);
	return out->first < HEADER_BYTES ? -ENOEXEC : 0;
}

struct entry {
	uint32_t kind, number; /* number: count of records before it */
	uint64_t at, size; /* offset and size of the whole record */
	uint64_t address, code_size, index, old_address;
	uint64_t time_ns, last_ns; /* 0: unknown; else not older than any record before it */
	const char *name; /* name in a CODE_LOAD; points into bytes */
	size_t name_len;
	uint64_t code_at;
	size_t len; /* bytes read */
	uint8_t bytes[PREFIX_BYTES + LOAD_BYTES + NAME_BYTES]; /* last member: not zeroed */
};

/* Returns an entry before the first record, for free(3); NULL if memory runs out. */
static struct entry *new_entry(const struct jitdump *dump)
{
	struct entry *entry = malloc(sizeof(*entry));

	if (!entry)
		return NULL;
	memset(entry, 0, offsetof(struct entry, bytes));
	entry->at = dump->first;
	return entry;
}

/* Reads the record at entry->at.  Returns 1; 0 if none is complete; -EFBIG if too many; -errno. */
static int read_entry(const struct jitdump *dump, struct entry *entry)
{
	uint8_t *bytes = entry->bytes;
	const uint8_t *body = bytes + PREFIX_BYTES;
	char last;

	if (entry->number++ == JITDUMP_RECORDS_MAX)
		return -EFBIG;
	ssize_t n = read_at(dump->fd, bytes, FIRST_BYTES, entry->at);
	if (n < (ssize_t)PREFIX_BYTES)
		return n < 0 ? (int)n : 0;
	entry->kind = get32(dump, bytes);
	entry->size = get32(dump, bytes + 4);
	entry->time_ns = dump->timed ? get64(dump, bytes + 8) : 0;
	/* No machine runs that long: it is another clock. */
	if (entry->time_ns > TIME_MAX_NS)
		entry->time_ns = 0;
	if (entry->time_ns > entry->last_ns)
		entry->last_ns = entry->time_ns;
	else if (entry->time_ns)
		entry->time_ns = entry->last_ns;
	if (entry->kind == CODE_LOAD && n == FIRST_BYTES &&
		!memchr(body + LOAD_BYTES, '\0', FIRST_BYTES - PREFIX_BYTES - LOAD_BYTES)) {
		n = read_at(dump->fd, bytes, sizeof(entry->bytes), entry->at);
		if (n < (ssize_t)PREFIX_BYTES)
			return n < 0 ? (int)n : 0;
	}
	if (entry->size < PREFIX_BYTES)
		return 0;
	entry->len = (size_t)n < entry->size ? (size_t)n : (size_t)entry->size;
	/* The end of a record that is being written is missing. */
	if (entry->len < entry->size) {
		n = read_at(dump->fd, &last, 1, entry->at + entry->size - 1);
		if (n < 1)
			return n < 0 ? (int)n : 0;
	}
	if (entry->kind == CODE_LOAD && entry->len > PREFIX_BYTES + LOAD_BYTES) {
		entry->address = get64(dump, body + 16);
		entry->code_size = get64(dump, body + 24);
		entry->index = get64(dump, body + 32);
		entry->name = (const char *)body + LOAD_BYTES;
		entry->name_len = strnlen(entry->name, entry->len - PREFIX_BYTES - LOAD_BYTES);
		/* The code ends the record, after any other data. */
		if (entry->code_size > entry->size - PREFIX_BYTES - LOAD_BYTES)
			entry->kind = UINT32_MAX;
		else
			entry->code_at = entry->at + entry->size - entry->code_size;
	} else if (entry->kind == CODE_MOVE && entry->len >= PREFIX_BYTES + MOVE_BYTES) {
		entry->old_address = get64(dump, body + 16);
		entry->address = get64(dump, body + 24);
		entry->code_size = get64(dump, body + 32);
		entry->index = get64(dump, body + 40);
	} else if (entry->kind == CODE_DEBUG_INFO && entry->len >= PREFIX_BYTES + LINES_BYTES) {
		entry->address = get64(dump, body);
	} else if (entry->kind == CODE_LOAD || entry->kind == CODE_MOVE) {
		entry->kind = UINT32_MAX;
	}
	return 1;
}

/* --- spans by index, for pieces that move --- */

struct known {
	uint64_t index;
	size_t span; /* index of the span plus one; 0: free */
};

struct indices {
	struct known *slots; /* open addressing, at most half full */
	size_t n, room;
};

static struct known *find_index(const struct indices *indices, uint64_t index)
{
	uint64_t i = index * 0x9e3779b97f4a7c15ull >> 20;

	for (;; i++) {
		struct known *slot = &indices->slots[i & (indices->room - 1)];
		if (!slot->span || slot->index == index)
			return slot;
	}
}

static int put_index(struct indices *indices, uint64_t index, size_t span)
{
	if (indices->n >= indices->room / 2) {
		struct indices grown = {.room = indices->room ? indices->room * 2 : 1024};
		grown.slots = calloc(grown.room, sizeof(*grown.slots));
		if (!grown.slots)
			return -ENOMEM;
		for (size_t i = 0; i < indices->room; i++)
			if (indices->slots[i].span)
				*find_index(&grown, indices->slots[i].index) = indices->slots[i];
		grown.n = indices->n;
		free(indices->slots);
		*indices = grown;
	}
	struct known *slot = find_index(indices, index);
	indices->n += !slot->span;
	*slot = (struct known){index, span + 1};
	return 0;
}

static int take_entry(const struct entry *entry, struct jitspans *spans, struct indices *indices)
{
	const size_t before = spans->n;
	int ret = 0;

	if (entry->kind == CODE_LOAD) {
		ret = jitspans_add(spans, entry->address, entry->code_size, entry->time_ns,
			entry->name, entry->name_len);
	} else if (entry->kind == CODE_MOVE && indices->room) {
		const struct known *known = find_index(indices, entry->index);
		if (known->span)
			ret = jitspans_move(spans, known->span - 1, entry->address, entry->time_ns);
	}
	if (ret == 0 && spans->n > before)
		ret = put_index(indices, entry->index, before);
	return ret;
}

int jitdump_read(const struct jitdump *dump, struct jitspans *spans)
{
	struct entry *entry = new_entry(dump);
	struct indices indices = {0};
	int ret;

	if (!entry)
		return -ENOMEM;
	while ((ret = read_entry(dump, entry)) > 0 && entry->kind != CODE_CLOSE) {
		ret = take_entry(entry, spans, &indices);
		if (ret < 0)
			break;
		entry->at += entry->size;
	}
	if (ret == -EFBIG) {
		spans->cut_bytes = entry->at;
		ret = 0;
	}
	free(indices.slots);
	free(entry);
	return ret < 0 ? ret : 0;
}

/* The last record of lines; they belong to the next CODE_LOAD. */
struct lines_record {
	uint64_t at, size, address;
};

/* Sets the place of a piece and of its lines in the file, from its CODE_LOAD. */
static void take_load(
	const struct entry *entry, const struct lines_record *lines, struct jitdump_code *out)
{
	const bool ours = lines->size && lines->address == entry->address;

	out->size = entry->code_size;
	out->file_offset = entry->code_at;
	out->loaded_at = entry->address;
	out->lines_at = ours ? lines->at : 0;
	out->lines_size = ours ? lines->size : 0;
}

static void note_lines(const struct entry *entry, struct lines_record *lines)
{
	if (entry->kind == CODE_DEBUG_INFO)
		*lines = (struct lines_record){entry->at, entry->size, entry->address};
	else if (entry->kind == CODE_LOAD)
		lines->size = 0;
}

/* An address to look for; sorted by plain address. */
struct wanted {
	/* plain address; number of pieces that lay there before (jitspans.h) */
	uint64_t plain, number;
	size_t i; /* index of the caller's address */
	uint64_t seen, since_ns; /* pieces that count, and the time of the last one */
	struct told {
		uint64_t address, size, name; /* name: a hash of it */
	} last; /* size 0: none */
	uint64_t moved_end; /* offset of the CODE_MOVE record; 0 if none */
	uint64_t moved_index; /* code index, always set */
};

static int by_plain(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return (x->plain > y->plain) - (x->plain < y->plain);
}

/* Returns the index of the first one that is not below the address. */
static size_t lower_bound(const struct wanted *wanted, size_t n, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (wanted[middle].plain < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct told told_by(const struct entry *entry)
{
	if (entry->kind != CODE_LOAD)
		return (struct told){0};
	return (struct told){
		entry->address, entry->code_size, XXH3_64bits(entry->name, entry->name_len)};
}

/* Returns true if the entry can be the wanted piece.  Counts pieces as jitspans_build(). */
static bool is_it(struct wanted *wanted, const struct entry *entry, const struct told *told)
{
	if (!entry->time_ns || entry->address > JITSPANS_PLAIN)
		return !wanted->seen;
	if (!wanted->seen ||
		(entry->time_ns != wanted->since_ns &&
			(!told->size || memcmp(told, &wanted->last, sizeof(*told))))) {
		wanted->seen++;
		wanted->since_ns = entry->time_ns;
	}
	wanted->last = *told;
	return wanted->seen <= wanted->number + 1;
}

static void take_piece(const struct entry *entry, const struct lines_record *lines,
	struct wanted *wanted, size_t n, struct jitdump_code *out)
{
	struct told told = {0};
	size_t i = lower_bound(wanted, n, entry->address);

	if (i < n && wanted[i].plain - entry->address < entry->code_size)
		told = told_by(entry);
	for (; i < n && wanted[i].plain - entry->address < entry->code_size; i++) {
		struct jitdump_code *code = &out[wanted[i].i];

		if (!is_it(&wanted[i], entry, &told))
			continue;
		*code = (struct jitdump_code){
			.address = entry->address + (wanted[i].number << JITSPANS_SHIFT)};
		take_load(entry, lines, code);
		wanted[i].moved_end = entry->kind == CODE_MOVE ? entry->at : 0;
		wanted[i].moved_index = entry->index;
	}
}

/* --- pieces that moved --- */

/* The last load of an index so far. */
struct loaded {
	uint64_t index;
	struct jitdump_code code; /* size 0: none */
};

static int by_index(const void *a, const void *b)
{
	const struct loaded *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static int by_moved_end(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return (x->moved_end > y->moved_end) - (x->moved_end < y->moved_end);
}

/* Returns the same one of equal indexes each time; NULL if the index is not wanted. */
static struct loaded *find_loaded(struct loaded *loaded, size_t n, uint64_t index)
{
	const struct loaded key = {.index = index};

	return bsearch(&key, loaded, n, sizeof(*loaded), by_index);
}

/* Finds the bytes of moved pieces at their last load before the move, in a second pass.  Reorders
 * `wanted`.  Returns 0 or -ENOMEM. */
static int find_moved(
	const struct jitdump *dump, struct wanted *wanted, size_t n, struct jitdump_code *out)
{
	struct lines_record lines = {0};
	size_t next = 0;

	qsort(wanted, n, sizeof(*wanted), by_moved_end);
	while (next < n && !wanted[next].moved_end)
		next++;
	const size_t n_loaded = n - next;
	if (!n_loaded)
		return 0;
	struct loaded *loaded = calloc(n_loaded, sizeof(*loaded));
	struct entry *entry = new_entry(dump);
	const int ret = loaded && entry ? 0 : -ENOMEM;
	for (size_t i = 0; i < n_loaded && ret == 0; i++)
		loaded[i].index = wanted[next + i].moved_index;
	if (ret == 0)
		qsort(loaded, n_loaded, sizeof(*loaded), by_index);
	while (next < n && ret == 0) {
		const bool has_entry = read_entry(dump, entry) > 0;
		for (; next < n && (!has_entry || wanted[next].moved_end <= entry->at); next++) {
			struct jitdump_code *code = &out[wanted[next].i];
			const uint64_t address = code->address;
			*code = find_loaded(loaded, n_loaded, wanted[next].moved_index)->code;
			code->address = address;
		}
		struct loaded *found = has_entry && entry->kind == CODE_LOAD
			? find_loaded(loaded, n_loaded, entry->index)
			: NULL;
		if (found)
			take_load(entry, &lines, &found->code);
		note_lines(entry, &lines);
		entry->at += entry->size;
	}
	free(loaded);
	free(entry);
	return ret;
}

/* Makes the sorted list of wanted addresses; returns NULL if memory runs out. */
static struct wanted *want(const uint64_t *addresses, size_t n)
{
	struct wanted *wanted = calloc(n + 1, sizeof(*wanted));

	for (size_t i = 0; wanted && i < n; i++) {
		const uint64_t number = addresses[i] >> JITSPANS_SHIFT;
		const bool plain = number >= JITSPANS_NUMBERS;

		wanted[i] = (struct wanted){
			.plain = plain ? addresses[i] : addresses[i] & JITSPANS_PLAIN,
			.number = plain ? 0 : number,
			.i = i};
	}
	if (wanted)
		qsort(wanted, n, sizeof(*wanted), by_plain);
	return wanted;
}

int jitdump_find_all(
	const struct jitdump *dump, const uint64_t *addresses, size_t n, struct jitdump_code *out)
{
	struct entry *entry = new_entry(dump);
	struct wanted *wanted = want(addresses, n);
	struct lines_record lines = {0};
	int ret = entry && wanted ? 0 : -ENOMEM;

	memset(out, 0, n * sizeof(*out));
	while (ret == 0 && (ret = read_entry(dump, entry)) > 0 && entry->kind != CODE_CLOSE) {
		if (entry->kind == CODE_LOAD || entry->kind == CODE_MOVE)
			take_piece(entry, &lines, wanted, n, out);
		note_lines(entry, &lines);
		entry->at += entry->size;
		ret = 0;
	}
	if (ret == -EFBIG)
		ret = 0;
	if (ret >= 0)
		ret = find_moved(dump, wanted, n, out);
	free(wanted);
	free(entry);
	return ret < 0 ? ret : 0;
}

int jitdump_find(const struct jitdump *dump, uint64_t address, struct jitdump_code *out)
{
	int ret = jitdump_find_all(dump, &address, 1, out);

	return ret < 0 ? ret : out->size ? 0 : -ENOENT;
}

/* --- lines --- */

static int by_address(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Parses the record.  `names` has room for all of its names. */
static void parse_lines(const struct jitdump *dump, const struct jitdump_code *code,
	const uint8_t *bytes, size_t len, struct jitdump_lines *out)
{
	uint64_t n = get64(dump, bytes + PREFIX_BYTES + 8);
	size_t at = PREFIX_BYTES + LINES_BYTES, used = 0;
	uint32_t file = 0;

	for (; n > 0 && len - at > LINE_BYTES; n--) {
		const char *name = (const char *)bytes + at + LINE_BYTES;
		const size_t room = len - at - LINE_BYTES, name_len = strnlen(name, room);
		if (name_len == room)
			break;
		if (strcmp(name, "\xff") != 0) {
			file = (uint32_t)used;
			memcpy(out->names + used, name, name_len + 1);
			used += name_len + 1;
		}
		const uint64_t address = get64(dump, bytes + at) - code->loaded_at + code->address;
		if (used) {
			out->at[out->n] = (struct jitdump_line){.address = address,
				.line = get32(dump, bytes + at + 8),
				.file = file,
				.order = (uint32_t)out->n};
			out->n++;
		}
		at += LINE_BYTES + name_len + 1;
	}
}

int jitdump_lines_read(
	const struct jitdump *dump, const struct jitdump_code *code, struct jitdump_lines *out)
{
	const size_t len = (size_t)code->lines_size;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	if (len < PREFIX_BYTES + LINES_BYTES + LINE_BYTES)
		return 0;
	if (code->lines_size > LINES_BYTES_MAX)
		return -EFBIG;
	uint8_t *bytes = malloc(len);
	out->names = malloc(len);
	out->at = calloc(len / (LINE_BYTES + 1), sizeof(*out->at));
	if (!bytes || !out->names || !out->at)
		ret = -ENOMEM;
	const ssize_t n = ret ? 0 : read_at(dump->fd, bytes, len, code->lines_at);
	if (n < 0)
		ret = (int)n;
	else if (n == (ssize_t)len)
		parse_lines(dump, code, bytes, len, out);
	free(bytes);
	if (ret < 0)
		jitdump_lines_fini(out);
	else if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_address);
	return ret;
}

void jitdump_lines_fini(struct jitdump_lines *lines)
{
	free(lines->at);
	free(lines->names);
	memset(lines, 0, sizeof(*lines));
}
