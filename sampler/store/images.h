/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.h - the binary images that samples fall into; one half of a frame's identity.
 *
 * An image is identified by its path and its build-id, if the kernel provides one; else by path,
 * device, inode and generation.  Two builds at one path are two images.  Two names of one file
 * (hard links) are two images too, like in perf: symbols.h reads such a file once.  Generation 0 is
 * unknown (/proc/PID/maps lacks it) and matches the latest known one; likewise a modification time
 * of 0.  An overwritten file is another image, if size and modification time were read.
 *
 * The sampling thread adds entries.  They never move or change, so other threads may read those
 * reached through a snapshot of the store (store.h).  Origins do change, under an internal lock.
 *
 * An image without mappings is freed and its id reused, but only if no frame was ever created in
 * it.  An image with frames stays, so that ids known to other threads keep their meaning.
 */
#ifndef SAMPLER_STORE_IMAGES_H
#define SAMPLER_STORE_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID_MAX 20
#define IMAGE_DELETED " (deleted)" /* the kernel's suffix for the path of a removed file */

enum image_kind {
	IMAGE_UNKNOWN, /* an address in no known mapping; offset is the address */
	IMAGE_FILE, /* offset is a file offset */
	IMAGE_KERNEL, /* kernel and modules; offset is the address */
	/* offset from the mapping's start; inode is 1 if the mapping is below 4 GiB, in a 32-bit
	 * process */
	IMAGE_VDSO,
	/* executable memory without a file, one image per address space, distinguished by inode
	 * (spaces.h); offset is the address */
	IMAGE_ANON,
	IMAGE_HYPERVISOR,
	IMAGE_GUEST,
	/* a kernel module of a recording with known addresses (live, modules belong to
	 * IMAGE_KERNEL).  path is its .ko file or "[name]".  offset is relative to the start of its
	 * code, which was at the origin's map_start. */
	IMAGE_MODULE,
	/* one function created by the kernel at run time (BPF, trampolines); path is its name,
	 * offset the address */
	IMAGE_KSYMBOL,
};

struct image {
	uint32_t id; /* 0 is the image of kind IMAGE_UNKNOWN, 1 the kernel */
	enum image_kind kind;
	char *path; /* path in the mapping, without " (deleted)"; "[kernel]", "[vdso]", "[anon]" */
	bool deleted;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint64_t file_size, file_mtime_ns; /* values when it was added; see images_file() */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0: unknown; see images_build_id() */
};

/* The process last seen mapping the image, and the address range.  It locates the file through
 * /proc/PID/map_files/START-END or /proc/PID/root; the process may be gone.
 *
 * In a recording, pid belongs to another time or machine, so its files must not be looked up in
 * /proc.  There the kernel has an origin; live it has none, and map_end is 0.  Code at an address A
 * of the local kernel was recorded at A - (the local _text) + map_start. */
struct image_origin {
	int32_t pid; /* 0: never seen in a process */
	uint64_t map_start; /* kernel: recorded address of _text or _stext */
	uint64_t map_end; /* kernel: end of its code */
	uint64_t map_offset; /* file: offset of map_start in it */
	bool stext; /* map_start is the address of _stext */
	/* Only for memory without a file: */
	int32_t parent; /* process that forked it, if it executed nothing since; or 0 */
	int32_t elder; /* first ancestor in that chain of forks; or 0 */
	/* jit-PID.dump that the process maps, owned by the image; NULL if none */
	const char *jitdump;
};

/* A position in a file's mapping. */
struct image_near {
	uint64_t address, offset;
	bool known;
};

/* Executable memory that a program placed over a file's code.  It may be that code, moved for huge
 * pages, or any other code.  Such a piece is a separate image; other threads determine its
 * contents. */
struct image_text {
	uint64_t start, end; /* addresses */
	uint32_t file; /* image of the file */
	/* the file's mappings around it, or the mapping it replaced */
	struct image_near before, after;
	bool is_exact; /* it fills the hole in the file exactly, with any contents */
	/* Image that it belongs to if its contents differ from the file's. */
	uint32_t other;
	uint64_t other_bias;
};

#define IMAGE_ID_UNKNOWN 0u
#define IMAGE_ID_KERNEL 1u

struct images;

int images_new(struct images **out);
void images_free(struct images *images);

/* Finds or adds the image with key's identity; key's id is ignored, its path copied.  Returns 0 and
 * sets *id; or -ENOMEM. */
int images_intern(struct images *images, const struct image *key, uint32_t *id);

/* Count references of mappings; images_pin() keeps an image for good, once a frame refers to it.
 * Sampling thread. */
void images_ref(struct images *images, uint32_t id);
void images_unref(struct images *images, uint32_t id);
void images_pin(struct images *images, uint32_t id);

/* Set and return the current location of the file.  Any thread. */
void images_set_origin(struct images *images, uint32_t id, const struct image_origin *origin);
void images_origin(struct images *images, uint32_t id, struct image_origin *out);

/* Records that a process with this memory mapped a jitdump; the first one is kept.  Returns 0 or
 * -ENOMEM. */
int images_set_jitdump(struct images *images, uint32_t id, const char *path);

/* Sets the text piece; call it once, before the image has frames.  Copied.  Returns 0 or
 * -ENOMEM. */
int images_set_text(struct images *images, uint32_t id, const struct image_text *text);
/* Returns false if the image is not such a piece.  Any thread. */
bool images_text(struct images *images, uint32_t id, struct image_text *out);

/* Sets a build-id learned later: the kernel's, or one from a recording's table.  An initial
 * build-id stays. */
void images_set_build_id(
	struct images *images, uint32_t id, const uint8_t *build_id, uint8_t build_id_len);
/* Writes the build-id, initial or learned later.  Returns its length; 0 if unknown.  Any thread. */
uint8_t images_build_id(struct images *images, uint32_t id, uint8_t out[IMAGE_BUILD_ID_MAX]);

/* Reads size and modification time of the file; both 0 if unknown.  Any thread. */
void images_file(struct images *images, uint32_t id, uint64_t *size, uint64_t *mtime_ns);

/* Returns a borrowed image; NULL for an unused id. */
const struct image *images_get(const struct images *images, uint32_t id);
uint32_t images_count(const struct images *images); /* all ids are below; any thread */
size_t images_memory(const struct images *images);

#endif
