/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfmap.c - parses lines like "7f21c8a00d40 1c8 JS:*fib /home/me/fib.js:1:13".
 *
 * Skips malformed lines.
 */
#include "symbols/jit/perfmap.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES 65536u

void perfmap_init(struct perfmap *map, struct jitspans *spans)
{
	memset(map, 0, offsetof(struct perfmap, line));
	map->spans = spans;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Parses a number and the blanks after it; returns NULL without both.  Some writers put "0x" in
 * front. */
static const char *parse_number(const char *p, const char *end, uint64_t *out)
{
	const char *first;
	int digit;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	*out = 0;
	for (first = p; p < end && (digit = hex_digit(*p)) >= 0; p++) {
		if (*out >> 60)
			return NULL;
		*out = *out << 4 | (unsigned int)digit;
	}
	if (p == first || p == end || !is_blank(*p))
		return NULL;
	while (p < end && is_blank(*p))
		p++;
	return p;
}

static uint64_t since_of(struct perfmap *map)
{
	while (map->step + 1 < map->n_steps && map->steps[map->step + 1].bytes <= map->at)
		map->step++;
	return map->n_steps ? map->steps[map->step].since_ns : 0;
}

/* map->at is a position inside the line. */
static void parse_line(struct perfmap *map, const char *line, size_t len)
{
	const char *end = line + len;
	uint64_t start, size;

	/* End the name at a NUL or CR, so that it is the same when written and read again
	 * (maptext.c). */
	const char *nul = memchr(line, '\0', len);
	if (nul)
		end = nul;
	while (end > line && end[-1] == '\r')
		end--;
	const char *p = parse_number(line, end, &start);
	p = p ? parse_number(p, end, &size) : NULL;
	if (p && p < end)
		map->error =
			jitspans_add(map->spans, start, size, since_of(map), p, (size_t)(end - p));
}

void perfmap_feed(struct perfmap *map, const char *text, size_t len)
{
	while (len > 0 && !map->error) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;

		if (newline && map->len == 0) {
			parse_line(map, text, n < PERFMAP_LINE_MAX ? n : PERFMAP_LINE_MAX);
		} else {
			size_t room = sizeof(map->line) - map->len;
			memcpy(map->line + map->len, text, n < room ? n : room);
			map->len += n < room ? n : room;
			if (newline) {
				parse_line(map, map->line, map->len);
				map->len = 0;
			}
		}
		n += newline ? 1 : 0;
		text += n;
		len -= n;
		map->at += n;
	}
}

/* Reads from at to end, and adds the length read to *bytes.  Returns 0 or -errno. */
static int read_part(int fd, struct perfmap *map, off_t at, off_t end, uint64_t *bytes)
{
	/* The part may begin inside a line. */
	bool skips = at > 0;
	char text[READ_BYTES];

	map->len = 0;
	while (!map->error && at < end) {
		const size_t rest = (size_t)(end - at);
		ssize_t n = pread(fd, text, rest < sizeof(text) ? rest : sizeof(text), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		const char *newline = skips ? memchr(text, '\n', (size_t)n) : NULL;
		const size_t from = newline ? (size_t)(newline - text) + 1 : skips ? (size_t)n : 0;
		map->at = (uint64_t)at + from;
		perfmap_feed(map, text + from, (size_t)n - from);
		skips = skips && !newline;
		at += n;
		*bytes += (uint64_t)n;
	}
	return map->error;
}

int perfmap_read(int fd, const struct perfmap_step *steps, size_t n_steps, struct jitspans *spans)
{
	const off_t half = PERFMAP_BYTES_MAX / 2;
	struct perfmap map;
	uint64_t bytes = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	perfmap_init(&map, spans);
	map.steps = steps;
	map.n_steps = n_steps;
	const bool large = st.st_size > PERFMAP_BYTES_MAX;
	int ret = read_part(fd, &map, 0, large ? half : st.st_size, &bytes);
	if (ret == 0 && large)
		ret = read_part(fd, &map, st.st_size - half, st.st_size, &bytes);
	if (ret == -EFBIG || (ret == 0 && large))
		spans->cut_bytes = bytes;
	return ret == -EFBIG ? 0 : ret;
}
