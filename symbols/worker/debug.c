/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debug.c - compares build-ids and machines of two files.
 */
#include "symbols/worker/debug.h"

#include "symbols/wire/wire.h"

#include <string.h>

bool worker_debug_is_alike(const struct elffile *a, const struct elffile *b)
{
	return a->machine == b->machine && a->is64 == b->is64 && a->swapped == b->swapped;
}

bool worker_debug_open(const struct elffile *elf, int fd, bool linked, struct elffile *debug)
{
	uint8_t own[WIRE_BUILD_ID_MAX], other[WIRE_BUILD_ID_MAX];
	size_t own_len = 0, other_len = 0;

	if (elffile_open(debug, fd) == 0 &&
		elffile_build_id(elf, own, sizeof(own), &own_len) == 0 &&
		elffile_build_id(debug, other, sizeof(other), &other_len) == 0 &&
		(own_len > 0 || linked) &&
		((own_len == other_len && memcmp(own, other, own_len) == 0) ||
			(linked && (own_len == 0 || other_len == 0))) &&
		worker_debug_is_alike(elf, debug))
		return true;
	elffile_close(debug);
	return false;
}
