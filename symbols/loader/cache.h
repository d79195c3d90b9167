/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.h - tables on disk, by build-id or, for the kernel, by boot and modules.
 *
 * Only the owner can read the files: kernel addresses are secrets.  Each file is written whole and
 * then renamed, and its checksum is verified when it is read.  Runs in the loader thread.
 */
#ifndef SYMBOLS_LOADER_CACHE_H
#define SYMBOLS_LOADER_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define CACHE_KEY_MAX 128
#define CACHE_DEFAULT_BYTES (256ull * 1024 * 1024)

struct cache;

/* Opens the cache.  dir: see struct symbols_config; max_bytes: 0 means CACHE_DEFAULT_BYTES.
 * Returns 0; -ENOENT if there must be no cache; or -errno.  *out is NULL on errors. */
int cache_open(struct cache **out, const char *dir, size_t max_bytes);
void cache_close(struct cache *cache); /* NULL is a no-op */

/* Makes the key of a build-id that the kernel reported for a mapping. */
void cache_key_build_id(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len);

/* Makes the key of a vdso, from the build-id in its own note.  Only for vdsos. */
void cache_key_vdso(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len);

/* Makes the key of a file that contains that build-id.  A stripped or broken copy has the same
 * build-id but other symbols, so size and mtime (ns) must match, too. */
void cache_key_file(char key[CACHE_KEY_MAX], const uint8_t *build_id, size_t len, uint64_t size,
	uint64_t mtime_ns);

/* Adds to a key: a separate debug file of this size and mtime (ns) was used. */
void cache_key_debug(char key[CACHE_KEY_MAX], uint64_t size, uint64_t mtime_ns);

/* Adds to a key: the file has no .symtab. */
void cache_key_stripped(char key[CACHE_KEY_MAX]);

/* Adds to a key: the table is an unwind table of this version. */
void cache_key_unwind(char key[CACHE_KEY_MAX]);

/* Makes the key of the running kernel with its modules and BPF programs.  Returns 0, or -errno if
 * they cannot be read. */
int cache_key_kernel(char key[CACHE_KEY_MAX]);

/* Returns a sealed memfd with the table, owned by the caller; -ENOENT, -EBADMSG or -errno.  A NULL
 * cache has no tables. */
int cache_load(struct cache *cache, const char *key);

/* Stores a copy of the table in `fd`.  Returns 0 or -errno; a NULL cache stores none. */
int cache_store(struct cache *cache, const char *key, int fd);

#endif
