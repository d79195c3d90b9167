/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - symbol tables on disk, by build-id or, for the kernel, by boot and modules.
 *
 * Files are for their owner alone: kernel addresses are secrets.  Each is written whole and then renamed, and its
 * checksum is verified when it is read.  Runs in the loader thread.
 */
#ifndef SYMBOLS_CACHE_H
#define SYMBOLS_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define CACHE_KEY_MAX 128
#define CACHE_DEFAULT_BYTES (256ull * 1024 * 1024)

struct cache;

/* dir as in struct symbols_config.  0; *out NULL and -ENOENT where there shall be none; -errno. */
int cache_open(struct cache **out, const char *dir, size_t max_bytes);
void cache_close(struct cache *cache); /* NULL is a no-op */

/* The key of a build-id that the kernel told of a mapping. */
void cache_key_build_id(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len);

/* The key of a vdso whose own note has that build-id.  Only for vdsos. */
void cache_key_vdso(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len);

/* The key of a file that says of itself that it has that build-id: one that was stripped, or is broken, says
 * the same with other symbols, so that size and time of change (ns) have to agree as well. */
void cache_key_file(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len, uint64_t size,
	uint64_t mtime_ns);

/* Add to a key that a separate debug file of this size and time of change was there. */
void cache_key_debug(char key[CACHE_KEY_MAX], uint64_t size, uint64_t mtime_ns);

/* Add to a key that the file has no .symtab of its own. */
void cache_key_stripped(char key[CACHE_KEY_MAX]);

/* Add to a key that the table is an unwind table, of this version. */
void cache_key_unwind(char key[CACHE_KEY_MAX]);

/* The key of the running kernel with its modules and BPF programs.  0, or -errno where that cannot be told. */
int cache_key_kernel(char key[CACHE_KEY_MAX]);

/* A sealed memory file with the table, which is the caller's; or -ENOENT, -EBADMSG, -errno.
 * A NULL cache has nothing. */
int cache_load(struct cache *cache, const char *key);

/* Keep a copy of the table in fd.  0 or -errno; a NULL cache keeps nothing. */
int cache_store(struct cache *cache, const char *key, int fd);

#endif
