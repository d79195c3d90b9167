/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.h - the records of a recording's compressed packs, which form one zstd stream.
 *
 * A record may begin in one pack and end in the next.  A pack is unpacked in pieces, so memory does
 * not depend on its unpacked size.  One thread.
 */
#ifndef SAMPLER_PERFDATA_UNPACK_H
#define SAMPLER_PERFDATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ZSTD_DCtx_s;

struct unpacker {
	struct ZSTD_DCtx_s *stream; /* created for the first pack */
	uint8_t *buffer;
	size_t at, end;
	const uint8_t *pack; /* rest of the pack, borrowed */
	size_t pack_left;
	bool pending; /* the stream may hold more output, though the pack was read completely */
};

void unpack_fini(struct unpacker *unpacker); /* also for a zeroed unpacker */

/* Takes a pack, which must stay in place until unpack_peek() returns 0.  Returns 0 or -ENOMEM. */
int unpack_feed(struct unpacker *unpacker, const uint8_t *pack, size_t len);

/* Makes n bytes (at most 65536) available at unpack_bytes().  Returns 1; 0 if the next pack is
 * needed; -EBADMSG. */
int unpack_peek(struct unpacker *unpacker, size_t n);

static inline uint8_t *unpack_bytes(const struct unpacker *unpacker)
{
	return unpacker->buffer + unpacker->at;
}

static inline size_t unpack_left(const struct unpacker *unpacker)
{
	return unpacker->end - unpacker->at;
}

#endif
