// SPDX-License-Identifier: GPL-3.0-or-later
/* source.c - buffered reading of a recording's bytes; see source.h. */
#include "sampler/perfdata/source.h"

#include "sampler/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int source_init(struct source *source, int fd, size_t buffer_bytes)
{
	struct stat st;
	off_t start;

	*source = (struct source){.fd = fd, .limit = UINT64_MAX, .buffer_bytes = buffer_bytes};
	if (fstat(fd, &st))
		return -errno;
	start = lseek(fd, 0, SEEK_CUR);
	if (start >= 0 && S_ISREG(st.st_mode)) {
		source->seekable = true;
		source->start = (uint64_t)start;
		source->size = st.st_size > start ? (uint64_t)(st.st_size - start) : 0;
	}
	/* A small recording needs no large buffer. */
	if (source->seekable && source->size < buffer_bytes)
		source->buffer_bytes =
			source->size < SOURCE_PEEK_MAX ? SOURCE_PEEK_MAX : (size_t)source->size;
	source->buffer = malloc(source->buffer_bytes);
	return source->buffer ? 0 : -ENOMEM;
}

void source_fini(struct source *source)
{
	free(source->buffer);
	source->buffer = NULL;
}

int source_spool(struct source *source)
{
	int fd = whole_unnamed(), ret;

	if (fd < 0)
		return fd;
	while ((ret = source_peek(source, 1)) > 0) {
		ret = whole_write(fd, source_bytes(source), source_left(source), NULL);
		if (ret)
			break;
		source->offset += source_left(source);
		source->at = source->end;
	}
	if (!ret && dup3(fd, source->fd, O_CLOEXEC) < 0)
		ret = -errno;
	close(fd);
	source->seekable = true;
	source->size = source->offset;
	source_seek(source, 0, UINT64_MAX);
	return ret;
}

void source_seek(struct source *source, uint64_t offset, uint64_t limit)
{
	source->offset = offset;
	source->limit = limit;
	source->at = source->end = 0;
	source->ended = false;
}

/* Reads up to n bytes at an offset.  An offset from the file may exceed off_t. */
static ssize_t read_at(const struct source *source, uint64_t offset, void *out, size_t n)
{
	uint64_t most = (uint64_t)INT64_MAX;
	ssize_t got;

	if (source->seekable &&
		(offset > most - source->start || n > most - source->start - offset))
		return 0;
	do {
		if (source->seekable)
			got = pread(source->fd, out, n, (off_t)(source->start + offset));
		else
			got = read(source->fd, out, n);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int source_peek(struct source *source, size_t n)
{
	if (n <= source_left(source))
		return 1;
	if (source->ended)
		return 0;
	memmove(source->buffer, source_bytes(source), source_left(source));
	source->end -= source->at;
	source->at = 0;
	while (source->end < n) {
		uint64_t next = source->offset + source->end;
		size_t room = source->buffer_bytes - source->end;
		ssize_t got = 0;

		if (next < source->limit) {
			if (room > source->limit - next)
				room = (size_t)(source->limit - next);
			got = read_at(source, next, source->buffer + source->end, room);
		}
		if (got < 0)
			return (int)got;
		if (!got) {
			source->ended = true;
			return 0;
		}
		source->end += (size_t)got;
	}
	return 1;
}

int source_skip(struct source *source, uint64_t n)
{
	while (n > source_left(source)) {
		int ret;

		n -= source_left(source);
		source->offset += source_left(source);
		source->at = source->end = 0;
		if (source->seekable) {
			uint64_t end = source->size < source->limit ? source->size : source->limit;
			if (n > end || source->offset > end - n) {
				source->offset = source->offset > end ? source->offset : end;
				source->ended = true;
				return 0;
			}
			source->offset += n;
			return 1;
		}
		ret = source_peek(source, 1);
		if (ret <= 0)
			return ret;
	}
	source->at += (size_t)n;
	source->offset += n;
	return 1;
}

int source_read(struct source *source, void *out, size_t n)
{
	uint8_t *to = out;

	while (n) {
		int ret = source_peek(source, 1);
		size_t some;

		if (ret <= 0)
			return ret;
		some = n < source_left(source) ? n : source_left(source);
		memcpy(to, source_bytes(source), some);
		source->at += some;
		source->offset += some;
		to += some;
		n -= some;
	}
	return 1;
}

int source_pread(const struct source *source, uint64_t offset, void *out, size_t n)
{
	uint8_t *to = out;

	while (n) {
		ssize_t got = read_at(source, offset, to, n);

		if (got <= 0)
			return (int)got;
		to += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 1;
}
