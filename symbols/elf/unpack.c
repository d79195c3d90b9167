/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unpack.c - unpacks with one of three libraries, from pread(2) into a memory file. */
#include "symbols/elf/unpack.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define BUFFER_BYTES (64u * 1024)
#define WINDOW_LOG_MAX 26 /* for zstd: 64 MiB, half of UNPACK_MEMORY_MAX */

enum kind { XZ, ZSTD, GZIP, KINDS };

static const struct {
	uint8_t bytes[6];
	size_t len;
} magic[KINDS] = {
	[XZ] = {{0xfd, '7', 'z', 'X', 'Z', 0}, 6},
	[ZSTD] = {{0x28, 0xb5, 0x2f, 0xfd}, 4},
	[GZIP] = {{0x1f, 0x8b, 8}, 3},
};

struct stream {
	enum kind kind;
	lzma_stream lzma;
	ZSTD_DStream *zstd;
	struct inflate_state *gzip;
	/* Packed bytes that were read, then the part still in the file. */
	uint8_t *in;
	size_t in_len, in_used;
	int fd;
	uint64_t at, left;
	uint8_t *out;
	size_t out_len;
	bool ended;
};

static int open_stream(struct stream *stream)
{
	lzma_ret status;

	switch (stream->kind) {
	case XZ:
		status = lzma_stream_decoder(&stream->lzma, UNPACK_MEMORY_MAX, LZMA_CONCATENATED);
		return status == LZMA_OK ? 0 : -ENOMEM;
	case ZSTD:
		stream->zstd = ZSTD_createDStream();
		if (stream->zstd)
			ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
		return stream->zstd ? 0 : -ENOMEM;
	case GZIP:
	case KINDS:
	default:
		stream->gzip = malloc(sizeof(*stream->gzip));
		if (!stream->gzip)
			return -ENOMEM;
		isal_inflate_init(stream->gzip);
		stream->gzip->crc_flag = ISAL_GZIP;
		return 0;
	}
}

static void close_stream(struct stream *stream)
{
	lzma_end(&stream->lzma);
	ZSTD_freeDStream(stream->zstd);
	free(stream->gzip);
	free(stream->in);
	free(stream->out);
}

static int step_xz(struct stream *stream)
{
	lzma_stream *lzma = &stream->lzma;

	lzma->next_in = stream->in + stream->in_used;
	lzma->avail_in = stream->in_len - stream->in_used;
	lzma->next_out = stream->out;
	lzma->avail_out = BUFFER_BYTES;
	const lzma_ret status = lzma_code(lzma, stream->left > 0 ? LZMA_RUN : LZMA_FINISH);
	stream->in_used = stream->in_len - lzma->avail_in;
	stream->out_len = BUFFER_BYTES - lzma->avail_out;
	stream->ended = status == LZMA_STREAM_END;
	switch (status) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -EFBIG;
	default:
		return -EBADMSG;
	}
}

static int step_zstd(struct stream *stream)
{
	ZSTD_inBuffer in = {stream->in, stream->in_len, stream->in_used};
	ZSTD_outBuffer out = {stream->out, BUFFER_BYTES, 0};

	const size_t ret = ZSTD_decompressStream(stream->zstd, &out, &in);
	stream->in_used = in.pos;
	stream->out_len = out.pos;
	/* Another frame may follow. */
	stream->ended = ret == 0 && stream->left == 0 && in.pos == in.size;
	return ZSTD_isError(ret) ? -EBADMSG : 0;
}

static int step_gzip(struct stream *stream)
{
	struct inflate_state *gzip = stream->gzip;

	gzip->next_in = stream->in + stream->in_used;
	gzip->avail_in = (uint32_t)(stream->in_len - stream->in_used);
	gzip->next_out = stream->out;
	gzip->avail_out = BUFFER_BYTES;
	const int ret = isal_inflate(gzip);
	stream->in_used = stream->in_len - gzip->avail_in;
	stream->out_len = BUFFER_BYTES - gzip->avail_out;
	stream->ended = ret == ISAL_DECOMP_OK && gzip->block_state == ISAL_BLOCK_FINISH;
	return ret < 0 ? -EBADMSG : 0;
}

static int read_more(struct stream *stream)
{
	const size_t want = stream->left < BUFFER_BYTES ? (size_t)stream->left : BUFFER_BYTES;
	ssize_t n;

	do
		n = pread(stream->fd, stream->in, want, (off_t)stream->at);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EBADMSG;
	stream->in_len = (size_t)n;
	stream->in_used = 0;
	stream->at += (uint64_t)n;
	stream->left -= (uint64_t)n;
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static int unpack_all(struct stream *stream, int fd)
{
	int (*const steps[KINDS])(struct stream *) = {
		[XZ] = step_xz, [ZSTD] = step_zstd, [GZIP] = step_gzip};
	uint64_t total = 0;

	while (!stream->ended) {
		int ret = 0;
		if (stream->in_used == stream->in_len && stream->left > 0)
			ret = read_more(stream);
		const size_t before = stream->in_used;
		if (ret == 0)
			ret = steps[stream->kind](stream);
		if (ret < 0)
			return ret;
		total += stream->out_len;
		if (total > UNPACK_BYTES_MAX)
			return -EFBIG;
		ret = write_all(fd, stream->out, stream->out_len);
		if (ret < 0)
			return ret;
		/* The packed data is truncated. */
		if (!stream->ended && stream->out_len == 0 && stream->in_used == before &&
			stream->left == 0)
			return -EBADMSG;
	}
	return 0;
}

static int unpack(enum kind kind, int fd, uint64_t at, uint64_t len)
{
	struct stream stream = {
		.kind = kind, .lzma = LZMA_STREAM_INIT, .fd = fd, .at = at, .left = len};

	int ret = open_stream(&stream);
	int memory = ret < 0 ? -1 : memfd_create("strobe-unpacked", MFD_CLOEXEC);
	if (ret == 0 && memory < 0)
		ret = -errno;
	stream.in = malloc(BUFFER_BYTES);
	stream.out = malloc(BUFFER_BYTES);
	if (ret == 0 && (!stream.in || !stream.out))
		ret = -ENOMEM;
	if (ret == 0)
		ret = unpack_all(&stream, memory);
	close_stream(&stream);
	if (ret == 0)
		return memory;
	if (memory >= 0)
		close(memory);
	return ret;
}

int unpack_xz(int fd, uint64_t at, uint64_t len)
{
	return unpack(XZ, fd, at, len);
}

int unpack_file(int fd)
{
	uint8_t head[sizeof(magic[0].bytes)];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	const ssize_t n = pread(fd, head, sizeof(head), 0);
	if (n < 0)
		return -errno;
	for (enum kind kind = 0; kind < KINDS; kind++)
		if ((size_t)n >= magic[kind].len &&
			memcmp(head, magic[kind].bytes, magic[kind].len) == 0)
			return unpack(kind, fd, 0, (uint64_t)st.st_size);
	return -ENODATA;
}
