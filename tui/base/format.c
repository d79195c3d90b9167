/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * format.c - formats numbers for people.
 */
#include "tui/base/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

const char *format_count(char out[FORMAT_MAX], uint64_t value)
{
	static const char units[] = "kMGTPE";
	double scaled = (double)value;
	int unit = -1;

	if (value < 1000) {
		snprintf(out, FORMAT_MAX, "%" PRIu64, value);
		return out;
	}
	/* At most three digits: 999.5 would round to four. */
	while (scaled >= 999.5 && unit < 5) {
		scaled /= 1000.0;
		unit++;
	}
	snprintf(out, FORMAT_MAX, "%.*f%c",
		scaled < 9.995		 ? 2
			: scaled < 99.95 ? 1
					 : 0,
		scaled, units[unit < 0 ? 0 : unit]);
	return out;
}

const char *format_bytes(char out[FORMAT_MAX], uint64_t bytes)
{
	const char *unit = "kB";
	double scaled = (double)bytes / 1024.0;

	if (scaled >= 1023.5) {
		scaled /= 1024.0;
		unit = "MB";
	}
	if (scaled >= 1023.5) {
		scaled /= 1024.0;
		unit = "GB";
	}
	snprintf(out, FORMAT_MAX, "%.*f %s", scaled < 9.95 ? 1 : 0, scaled, unit);
	return out;
}

const char *format_clock(char out[FORMAT_MAX], uint64_t ns)
{
	uint64_t seconds = ns / 1000000000u;

	snprintf(out, FORMAT_MAX, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
		seconds / 60 % 60, seconds % 60);
	return out;
}

const char *format_percent(char out[FORMAT_MAX], double percent)
{
	if (percent >= 99.95)
		snprintf(out, FORMAT_MAX, "100%%");
	else
		snprintf(out, FORMAT_MAX, "%.1f%%", percent > 0.0 ? percent : 0.0);
	return out;
}

const char *format_whole(char out[FORMAT_MAX], double share)
{
	bool is_round = (share >= 0.9995 && share < 1.0005) || share >= 9.995;

	snprintf(out, FORMAT_MAX, is_round ? "%.0f%%" : "%.1f%%", 100.0 * share);
	return out;
}

double format_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0.0;
}

/* FNV-1a, with a final mix. */
uint32_t format_hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}
