// SPDX-License-Identifier: GPL-3.0-or-later
/* unpack.c - decompresses packs of records with zstd; see unpack.h. */
#include "sampler/perfdata/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BUFFER_BYTES (256 * 1024)

void unpack_fini(struct unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->stream);
	free(unpacker->buffer);
	*unpacker = (struct unpacker){0};
}

int unpack_feed(struct unpacker *unpacker, const uint8_t *pack, size_t len)
{
	if (!unpacker->stream)
		unpacker->stream = ZSTD_createDCtx();
	if (!unpacker->buffer)
		unpacker->buffer = malloc(BUFFER_BYTES);
	if (!unpacker->stream || !unpacker->buffer)
		return -ENOMEM;
	unpacker->pack = pack;
	unpacker->pack_left = len;
	return 0;
}

int unpack_peek(struct unpacker *unpacker, size_t n)
{
	if (n <= unpack_left(unpacker))
		return 1;
	if (!unpacker->pack_left && !unpacker->pending)
		return 0;
	memmove(unpacker->buffer, unpack_bytes(unpacker), unpack_left(unpacker));
	unpacker->end -= unpacker->at;
	unpacker->at = 0;
	while (unpacker->end < n) {
		ZSTD_inBuffer in = {unpacker->pack, unpacker->pack_left, 0};
		ZSTD_outBuffer out = {unpacker->buffer, BUFFER_BYTES, unpacker->end};
		size_t ret = ZSTD_decompressStream(unpacker->stream, &out, &in);

		if (ZSTD_isError(ret))
			return -EBADMSG;
		unpacker->pending = out.pos == out.size;
		if (!in.pos && out.pos == unpacker->end)
			unpacker->pack_left = 0;
		unpacker->end = out.pos;
		unpacker->pack += in.pos;
		unpacker->pack_left -= unpacker->pack_left ? in.pos : 0;
		if (!unpacker->pack_left && !unpacker->pending)
			break;
	}
	return unpacker->end >= n;
}
