/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debugdata.c - liblzma's stream decoder between pread(2) and a memory file.
 */
#include "symbols/debugdata.h"

#include <elf.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER_BYTES (64u * 1024)

static int to_errno(lzma_ret ret)
{
	switch (ret) {
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

/* in and out are BUFFER_BYTES each. */
static int unpack(const struct elffile *elf, const struct elffile_section *section,
	lzma_stream *lzma, uint8_t *in, uint8_t *out, int fd)
{
	uint64_t at = section->offset, left = section->size;
	lzma_ret status = LZMA_OK;

	while (status != LZMA_STREAM_END) {
		if (lzma->avail_in == 0 && left > 0) {
			const size_t n = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
			int ret = elffile_read(elf, in, n, at);
			if (ret < 0)
				return ret;
			lzma->next_in = in;
			lzma->avail_in = n;
			at += n;
			left -= n;
		}
		lzma->next_out = out;
		lzma->avail_out = BUFFER_BYTES;
		status = lzma_code(lzma, left > 0 ? LZMA_RUN : LZMA_FINISH);
		if (lzma->total_out > DEBUGDATA_BYTES_MAX)
			return -EFBIG;
		int ret = to_errno(status);
		if (ret == 0)
			ret = write_all(fd, out, BUFFER_BYTES - lzma->avail_out);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int debugdata_open(const struct elffile *elf)
{
	const struct elffile_section *section = elffile_find_section(elf, ".gnu_debugdata");
	lzma_stream lzma = LZMA_STREAM_INIT;
	uint8_t *in = NULL, *out = NULL;
	int fd = -1;

	if (!section || section->type == SHT_NOBITS || section->size == 0)
		return -ENODATA;
	if (section->flags & SHF_COMPRESSED)
		return -EBADMSG;
	int ret = to_errno(lzma_stream_decoder(&lzma, DEBUGDATA_MEMORY_MAX, LZMA_CONCATENATED));
	if (ret < 0)
		return ret;
	in = malloc(BUFFER_BYTES);
	out = malloc(BUFFER_BYTES);
	fd = memfd_create("strobe-debugdata", MFD_CLOEXEC);
	if (!in || !out)
		ret = -ENOMEM;
	else if (fd < 0)
		ret = -errno;
	else
		ret = unpack(elf, section, &lzma, in, out, fd);
	lzma_end(&lzma);
	free(in);
	free(out);
	if (ret == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}
