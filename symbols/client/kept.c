/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept.c - finds the files that name run-time code, and copies those that a recording will
 * not find.
 */
#include "symbols/loader/kept.h"
#include "symbols/client/again.h"
#include "symbols/client/code_client.h"
#include "symbols/client/private.h"
#include "symbols/loader/maptext.h"
#include "symbols/loader/opener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits of all copies, and of one file's table. */
#define KEPT_BYTES_MAX (192u << 20)
#define TABLES_BYTES_MAX (32u << 20)

static const struct again *find_jit(const struct symbols *symbols, uint32_t key)
{
	const struct again *again = symbols_again(symbols, key);

	return again && again->source.kind == SYMBOLS_JIT ? again : NULL;
}

const char *symbols_jit_file(const struct symbols *symbols, uint32_t key)
{
	const struct again *again = find_jit(symbols, key);

	if (!again)
		return NULL;
	if (again->jit.map.inode)
		return again->jit.path;
	return again->jit.dump.inode ? again->source.jitdump : NULL;
}

static bool is_same_file(const struct loader_jit_file *a, const struct loader_jit_file *b)
{
	return a->dev == b->dev && a->inode == b->inode;
}

static bool has_files(const struct again *again)
{
	return again->jit.map.inode || again->jit.dump.inode;
}

/* Processes with one PID after the other may each have had their own files. */
static bool is_ambiguous(const struct symbols *symbols, const uint32_t *keys, size_t n, size_t i)
{
	const struct again *own = find_jit(symbols, keys[i]);

	for (size_t k = 0; has_files(own) && k < n; k++) {
		const struct again *other = find_jit(symbols, keys[k]);
		if (other && other->source.pid == own->source.pid && has_files(other) &&
			(!is_same_file(&other->jit.map, &own->jit.map) ||
				!is_same_file(&other->jit.dump, &own->jit.dump)))
			return true;
	}
	return false;
}

static bool has_room(FILE *out, int fd)
{
	struct stat st;

	if (fd < 0)
		return true;
	if (fstat(fd, &st) < 0)
		return false;
	const uint64_t len =
		(uint64_t)st.st_size < PERFMAP_BYTES_MAX ? (uint64_t)st.st_size : PERFMAP_BYTES_MAX;
	return (uint64_t)ftello(out) + len <= KEPT_BYTES_MAX;
}

static int put_dump(const struct again *again, int fd, FILE *out)
{
	const struct kept_file dump = {.kind = KEPT_DUMP,
		.path = again->source.jitdump,
		.pid = again->source.pid,
		.fd = fd};

	return kept_put(out, &dump);
}

/* Writes all that was known of the map, not only its current contents. */
static int put_map(const struct symbols *symbols, uint32_t key, FILE *out, size_t *left_out)
{
	const struct again *again = find_jit(symbols, key);
	struct maptext text = {0};
	char *bytes = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&bytes, &len);
	const struct maptext_limits limits = {PERFMAP_BYTES_MAX, JITSPANS_MAX, UINT64_MAX};
	int ret = memory ? maptext_write(symbols_table(symbols, key), &limits, memory, &text)
			 : -ENOMEM;

	if (memory && (ferror(memory) | fclose(memory) || !bytes) && !ret)
		ret = -ENOMEM;
	const struct kept_file map = {.kind = KEPT_MAP,
		.path = again->jit.path,
		.pid = again->source.pid,
		.steps = text.steps,
		.n_steps = text.n_steps,
		.fd = -1,
		.bytes = bytes,
		.len = len};
	const bool fits = (uint64_t)ftello(out) + len <= KEPT_BYTES_MAX;
	if (!ret && fits)
		ret = kept_put(out, &map);
	*left_out += !ret && (!fits || text.cut);
	free(text.steps);
	free(bytes);
	return ret;
}

static int put_files(const struct symbols *symbols, uint32_t key, FILE *out, size_t *left_out)
{
	const struct again *again = find_jit(symbols, key);
	int unused, dump, ret = 0;

	symbols_files(symbols, key, &unused, &dump);
	if (!has_room(out, dump))
		++*left_out;
	else if (dump >= 0 && again->source.jitdump)
		ret = put_dump(again, dump, out);
	if (!ret && again->jit.map.inode && symbols_state(symbols, key) == SYMBOLS_READY)
		ret = put_map(symbols, key, out, left_out);
	return ret;
}

/* Marks the process as having no file, so that a reader of the recording does not use a local
 * one. */
static int put_none(const struct again *again, FILE *out)
{
	const struct kept_file none = {
		.kind = KEPT_NONE, .path = "", .pid = again->source.pid, .fd = -1};

	return kept_put(out, &none);
}

static int put_jit(const struct symbols *symbols, const uint32_t *keys, size_t n, size_t i,
	FILE *out, size_t *left_out)
{
	const struct again *again = find_jit(symbols, keys[i]);
	const bool ambiguous = is_ambiguous(symbols, keys, n, i);
	int ret = 0;

	if (again->source.pid <= 0)
		return 0;
	*left_out += again->jit.left_out;
	if (!ambiguous)
		ret = put_files(symbols, keys[i], out, left_out);
	if (ret == 0 && (ambiguous || again->jit.elsewhere))
		ret = put_none(again, out);
	return ret;
}

/* Returns whether the path leads to the same file for this process. */
static bool is_here(const struct symbols_source *source)
{
	struct opener_file file;

	/* Another file at that path may have the same inode. */
	if (source->deleted || opener_open(source, OPENER_PATH, &file) < 0)
		return false;
	close(file.fd);
	return file.same;
}

static int put_table(const struct symbols *symbols, uint32_t key, FILE *out, size_t *left_out)
{
	const struct symbols_source *source = symbols_source_of(symbols, key);
	const struct symtab *table = symbols_table(symbols, key);
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	struct kept_file file = {
		.kind = KEPT_TABLE, .path = source->path, .inode = source->inode, .fd = -1};

	file.build_id = build_id;
	file.build_id_len = symbols_build_id(symbols, key, build_id);
	if (is_here(source))
		return 0;
	const bool fits = table->len <= TABLES_BYTES_MAX &&
		(uint64_t)ftello(out) <= KEPT_BYTES_MAX - TABLES_BYTES_MAX;
	if (symbols_state(symbols, key) == SYMBOLS_READY && fits) {
		file.bytes = table->bytes;
		file.len = table->len;
	}
	*left_out += !fits;
	return kept_put(out, &file);
}

int symbols_put_kept(
	const struct symbols *symbols, const uint32_t *keys, size_t n, FILE *out, size_t *left_out)
{
	int ret = kept_begin(out);

	*left_out = 0;
	for (size_t i = 0; i < n && ret == 0; i++) {
		const struct symbols_source *source = symbols_source_of(symbols, keys[i]);
		if (source && source->kind == SYMBOLS_JIT)
			ret = put_jit(symbols, keys, n, i, out, left_out);
		else if (source && source->kind == SYMBOLS_FILE)
			ret = put_table(symbols, keys[i], out, left_out);
	}
	return ret;
}
