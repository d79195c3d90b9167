// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * reader_streams.c - merges the files of one recording by the time of their records; see
 * reader_private.h.
 *
 * perf record --threads writes a directory.  "data" has the header, attributes, features and perf's
 * own records.  Each "data.N" has the records of one ring in the kernel's order, perhaps in packs.
 */
#include "sampler/base/grow.h"
#include "sampler/kernel/sys.h"
#include "sampler/perfdata/reader_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAMS_MAX 8192u /* Linux supports at most this many CPUs */
#define PART_BUFFER_BYTES (2u * SOURCE_PEEK_MAX) /* small, because there may be many files */

int reader_add_stream(struct reader *reader, int fd, size_t buffer_bytes)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int ret = stream
		? grow_exact(&reader->streams, reader->n_streams + 1, sizeof(*reader->streams))
		: -ENOMEM;

	if (!ret)
		ret = source_init(&stream->source, fd, buffer_bytes);
	if (ret) {
		if (stream)
			source_fini(&stream->source);
		free(stream);
		close(fd);
		return ret;
	}
	stream->fd = fd;
	reader->streams[reader->n_streams++] = stream;
	reader->stream = stream;
	return 0;
}

void reader_close_streams(struct reader *reader)
{
	for (size_t i = 0; i < reader->n_streams; i++) {
		struct stream *stream = reader->streams[i];

		unpack_fini(&stream->unpacker);
		source_fini(&stream->source);
		close(stream->fd);
		free(stream->copy);
		free(stream);
	}
	free(reader->streams);
}

/* --- a directory --- */

static int compare_numbers(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Parses "data.7" as 7. */
static bool get_number(const char *name, unsigned int *number)
{
	char again[32];

	if (sscanf(name, "data.%9u", number) != 1)
		return false;
	snprintf(again, sizeof(again), "data.%u", *number);
	return !strcmp(name, again);
}

/* Lists the sorted numbers of its files; the caller frees *numbers with free(3). */
static int list_numbers(int dir_fd, unsigned int **numbers, size_t *n)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	unsigned int number;

	*numbers = NULL;
	*n = 0;
	if (!dir) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	*numbers = calloc(STREAMS_MAX, sizeof(**numbers));
	if (!*numbers)
		ret = -ENOMEM;
	while (!ret && (entry = readdir(dir))) {
		if (!get_number(entry->d_name, &number))
			continue;
		if (*n == STREAMS_MAX)
			ret = -E2BIG;
		else
			(*numbers)[(*n)++] = number;
	}
	closedir(dir);
	if (!ret)
		qsort(*numbers, *n, sizeof(**numbers), compare_numbers);
	return ret;
}

static void add_missing(struct reader *reader, const char *name, int error)
{
	struct reader_fault *fault = reader_add_fault(reader, name);

	fault->kind = READER_MISSING;
	fault->error = error;
}

void reader_expect_files(struct reader *reader, unsigned int n)
{
	char name[READER_FILE_MAX];

	for (; reader->n_files < n && reader->status.n_faults < READER_FAULTS_MAX;
		reader->n_files++) {
		snprintf(name, sizeof(name), "data.%u", reader->n_files);
		add_missing(reader, name, 0);
	}
	if (reader->n_files < n) {
		reader->status.n_faults += n - reader->n_files;
		reader->n_files = n;
	}
}

/* Adds a file; an empty one has no records. */
static int add_file(struct reader *reader, int dir_fd, unsigned int number)
{
	char name[READER_FILE_MAX];
	struct stat st;
	int fd, ret;

	snprintf(name, sizeof(name), "data.%u", number);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			return -errno;
		add_missing(reader, name, errno == ELOOP ? 0 : errno);
		return 0;
	}
	const int error = fstat(fd, &st) ? errno : 0;
	if (error || !S_ISREG(st.st_mode) || !st.st_size) {
		if (error || !S_ISREG(st.st_mode))
			add_missing(reader, name, error);
		close(fd);
		return 0;
	}
	ret = reader_add_stream(reader, fd, PART_BUFFER_BYTES);
	if (ret)
		return ret;
	memcpy(reader->stream->file, name, sizeof(name));
	reader->status.bytes_total += reader->stream->source.size;
	return 0;
}

int reader_add_directory(struct reader *reader, int dir_fd)
{
	unsigned int *numbers;
	size_t n;
	int ret = list_numbers(dir_fd, &numbers, &n);

	(void)sys_raise_nofile();

	for (size_t i = 0; i < n && !ret; i++) {
		reader_expect_files(reader, numbers[i]);
		reader->n_files = numbers[i] + 1;
		ret = add_file(reader, dir_fd, numbers[i]);
	}
	free(numbers);
	reader_expect_files(reader, 1);
	/* The first stream has the header; reading goes on after it. */
	reader->stream = reader->streams[0];
	return ret;
}

/* --- merging --- */

static void sift_down(struct stream **heap, size_t n, size_t i)
{
	struct stream *moving = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && heap[child + 1]->head_ns < heap[child]->head_ns)
			child++;
		if (moving->head_ns <= heap[child]->head_ns)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

/* Reads the next record of streams[i].  At its end, moves the stream after those with a head.
 * Returns 0 or -ENOMEM. */
static int load_head(struct reader *reader, size_t i)
{
	struct stream *stream = reader->streams[i];
	const struct reader_record *head = &stream->head;
	int ret;

	reader->stream = stream;
	ret = reader_next_of_stream(reader, &stream->head);
	if (ret <= 0) {
		/* The other streams are still read to their ends. */
		if (ret < 0 && !reader->error)
			reader->error = ret;
		reader->streams[i] = reader->streams[--reader->n_heads];
		reader->streams[reader->n_heads] = stream;
		return ret == -ENOMEM ? ret : 0;
	}
	stream->head_ns = 0;
	if (head->has_attr)
		stream->head_ns =
			record_time(head->header, &reader_attr(reader, head->attr)->format);
	if (stream->head_ns == UINT64_MAX)
		stream->head_ns = 0;
	return 0;
}

static int load_heads(struct reader *reader)
{
	int ret = 0;

	reader->has_heads = true;
	reader->n_heads = reader->n_streams;
	/* Backwards: a stream without records is swapped with one that already has its head. */
	for (size_t i = reader->n_streams; i-- > 0 && !ret;)
		ret = load_head(reader, i);
	for (size_t i = reader->n_heads / 2; i-- > 0;)
		sift_down(reader->streams, reader->n_heads, i);
	return ret;
}

int reader_next_of_all(struct reader *reader, struct reader_record *out)
{
	int ret = 0;

	if (!reader->has_heads)
		ret = load_heads(reader);
	else if (reader->n_heads)
		ret = load_head(reader, 0);
	if (ret)
		return ret;
	if (!reader->n_heads)
		return reader->error;
	sift_down(reader->streams, reader->n_heads, 0);
	*out = reader->streams[0]->head;
	return 1;
}
