/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.h - the binary images that samples fall into; half of a frame's identity.
 *
 * An image is found by its path and by what makes it one: build-id where the kernel gave it, else
 * device, inode and generation.  Two builds at one path are two images, and so are two names of one
 * file (hard links), as in perf: symbols.h reads such a file once.  A generation of 0 is one not
 * known (/proc/PID/maps does not tell it), and agrees with the latest known; so does a time of
 * change of 0.  A file that was written over is another image, as far as size and time of change
 * were looked at. The sampling thread adds; entries never move and never change, so other threads
 * may read what they reached through a snapshot of the store (store.h).  Origins do change, under a
 * lock inside. Lifetime: what no mapping refers to is freed and its id given out again, but only
 * while no frame was ever made in it; an image that samples fell into stays, so that nothing
 * another thread knows ever changes its meaning.
 */
#ifndef SAMPLER_IMAGES_H
#define SAMPLER_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID_MAX 20
#define IMAGE_DELETED " (deleted)" /* the kernel's suffix for a path without its file */

enum image_kind {
	IMAGE_UNKNOWN, /* an address in no known mapping; offset is the address */
	IMAGE_FILE, /* offset is a file offset */
	IMAGE_KERNEL, /* kernel and modules; offset is the address */
	IMAGE_VDSO, /* offset is from the mapping's start; `inode` is 1 where that is below 4 GiB: a 32-bit process's */
	IMAGE_ANON, /* executable memory without a file, one image an address space, told apart by `inode`
			* (spaces.h); offset is the address */
	IMAGE_HYPERVISOR,
	IMAGE_GUEST,
	IMAGE_MODULE, /* a kernel module of a recording, which tells where it lay (live, modules are part of the
			* kernel); path is that of its .ko file, or "[name]"; offset is from the start of its
			* code, which lay at the origin's map_start */
	IMAGE_KSYMBOL, /* one function that the kernel made while it ran (BPF, trampolines); path is its name, offset
			* the address */
};

struct image {
	uint32_t id; /* 0 is the image of kind IMAGE_UNKNOWN, 1 the kernel */
	enum image_kind kind;
	char *path; /* as the mapping named it, " (deleted)" cut off; "[kernel]", "[vdso]", "[anon]" */
	bool deleted;
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint64_t file_size, file_mtime_ns; /* as known when it was added; see images_file() */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0: unknown; see images_build_id() */
};

/* A process that maps the image, and where: reaches the file as /proc/PID/map_files/START-END or
 * below /proc/PID/root.  The latest one seen; it may be gone.
 * In a recording pid is that of another time or machine: its files are not to be looked for in /proc.  The
 * kernel has an origin there (live it has none, map_end being 0): what lies at an address A here was at
 * A - (here's _text) + map_start when it was recorded. */
struct image_origin {
	int32_t pid; /* 0: never seen in a process */
	uint64_t
		map_start; /* of the kernel: the address of _text when recorded, or that of _stext */
	uint64_t map_end; /* of the kernel: the end of its code */
	bool stext; /* map_start is the address of _stext */
	/* Of memory without a file: */
	int32_t parent; /* the process that it was forked from, if it has executed nothing since; or 0 */
	int32_t elder; /* the first of those that this process, in turn, was forked from; or 0 */
	const char *jitdump; /* the jit-PID.dump that the process maps; NULL: none.  The images' */
};

/* A place in a file's mapping. */
struct image_near {
	uint64_t address, offset;
	bool known;
};

/* Executable memory that a program has put where it had a file's code: it may be that code, moved
 * for huge pages, or any other code.  Such a piece is an image of its own, and other threads find
 * out what it is. */
struct image_text {
	uint64_t start, end; /* addresses */
	uint32_t file; /* the image */
	struct image_near before, after; /* the file's mappings around it, or what it replaced */
	bool is_exact; /* it fills the hole in the file, whatever its contents are */
	/* The image it belongs to if the contents differ from the file. */
	uint32_t other;
	uint64_t other_bias;
};

#define IMAGE_ID_UNKNOWN 0u
#define IMAGE_ID_KERNEL 1u

struct images;

int images_new(struct images **out);
void images_free(struct images *images);

/* The image with key's identity, added when new (key's id is ignored, its path copied).
 * Returns 0 and sets *id; or -ENOMEM. */
int images_intern(struct images *images, const struct image *key, uint32_t *id);

/* Mappings refer to images; images_pin() says that a frame does, for good.  The sampling thread. */
void images_ref(struct images *images, uint32_t id);
void images_unref(struct images *images, uint32_t id);
void images_pin(struct images *images, uint32_t id);

/* Where to find the file now; any thread. */
void images_set_origin(struct images *images, uint32_t id, const struct image_origin *origin);
void images_origin(struct images *images, uint32_t id, struct image_origin *out);

/* A process that has this memory without a file has mapped a jitdump; the first one is kept.  0 or -ENOMEM. */
int images_set_jitdump(struct images *images, uint32_t id, const char *path);

/* Call it once, before a frame is in the image; copied.  0 or -ENOMEM. */
int images_set_text(struct images *images, uint32_t id, const struct image_text *text);
/* Returns false if the image is no piece of that kind; any thread. */
bool images_text(struct images *images, uint32_t id, struct image_text *out);

/* A build-id learned after the image was made: of the kernel, or from a recording's table that came late.  One that
 * it was made with stays. */
void images_set_build_id(
	struct images *images, uint32_t id, const uint8_t *build_id, uint8_t build_id_len);
/* The build-id, however it was learned; any thread.  Its length, or 0. */
uint8_t images_build_id(struct images *images, uint32_t id, uint8_t out[IMAGE_BUILD_ID_MAX]);

/* Size and time of change of the file, both 0 where they are not known; any thread. */
void images_file(struct images *images, uint32_t id, uint64_t *size, uint64_t *mtime_ns);

/* Borrowed; NULL for an id never given. */
const struct image *images_get(const struct images *images, uint32_t id);
uint32_t images_count(const struct images *images); /* every id is below; any thread */
size_t images_memory(const struct images *images);

#endif
