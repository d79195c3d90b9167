/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * unpack.h - the records of a recording's compressed packs: one zstd stream over all of them.
 *
 * Records may begin in one pack and end in the next.  A pack is unpacked in pieces, so that memory does not
 * depend on how much comes out of it.  One thread.
 */
#ifndef SAMPLER_RECORDING_UNPACK_H
#define SAMPLER_RECORDING_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ZSTD_DCtx_s;

struct unpacker {
	struct ZSTD_DCtx_s *stream; /* made for the first pack */
	uint8_t *buffer;
	size_t at, end;
	const uint8_t *pack; /* what is left of it, borrowed */
	size_t pack_left;
	bool pending; /* the stream may hold back more, though the pack was read whole */
};

void unpack_fini(struct unpacker *unpacker); /* a zeroed one is legal */

/* Take a pack, which stays in place until unpack_peek() returned 0: 0 or -ENOMEM. */
int unpack_feed(struct unpacker *unpacker, const uint8_t *pack, size_t len);

/* Have n bytes (at most 65536) at unpack_bytes(): 1; 0 where the next pack is needed; -EBADMSG. */
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
