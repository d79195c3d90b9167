/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packed.c - keeps the file that was unpacked last. */
#include "symbols/worker/packed.h"

#include "symbols/dwarf/private.h"
#include "symbols/elf/unpack.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct {
	uint64_t identity[5];
	int fd; /* 0: none */
} last;

int worker_unpacked(int fd)
{
	uint64_t identity[5];

	if (fd < 0)
		return fd;
	dwarf_identify(fd, identity);
	if (last.fd > 0 && memcmp(identity, last.identity, sizeof(identity)) == 0)
		return last.fd;
	const int unpacked = unpack_file(fd);
	if (unpacked < 0)
		return unpacked == -ENODATA ? fd : unpacked;
	if (last.fd > 0)
		close(last.fd);
	memcpy(last.identity, identity, sizeof(identity));
	last.fd = unpacked;
	return unpacked;
}
