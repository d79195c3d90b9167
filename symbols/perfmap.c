/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfmap.c - "7f21c8a00d40 1c8 JS:*fib /home/me/fib.js:1:13".
 *
 * Malformed lines are passed over.
 */
#include "symbols/perfmap.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536u

void perfmap_init(struct perfmap *map, struct jitspans *spans)
{
	map->spans = spans;
	map->error = 0;
	map->len = 0;
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

/* A number and the blanks behind it; NULL where there are none.  Some writers put "0x" in front. */
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
	if (p == first || p == end || *p != ' ')
		return NULL;
	while (p < end && *p == ' ')
		p++;
	return p;
}

static void parse_line(struct perfmap *map, const char *line, size_t len)
{
	const char *end = line + len;
	uint64_t start, size;

	if (len && end[-1] == '\r')
		end--;
	const char *p = parse_number(line, end, &start);
	p = p ? parse_number(p, end, &size) : NULL;
	if (p && p < end && start)
		map->error = jitspans_add(map->spans, start, size, p, (size_t)(end - p));
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
	}
}

int perfmap_read(int fd, struct jitspans *spans)
{
	char text[READ_BYTES];
	struct perfmap map;
	off_t at = 0;

	perfmap_init(&map, spans);
	while (!map.error) {
		ssize_t n = pread(fd, text, sizeof(text), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		perfmap_feed(&map, text, (size_t)n);
		at += n;
	}
	return map.error;
}
