/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * debugdata.c - finds the packed bytes.
 */
#include "symbols/elf/debugdata.h"

#include "symbols/elf/unpack.h"

#include <elf.h>
#include <errno.h>

int debugdata_open(const struct elffile *elf)
{
	const struct elffile_section *section = elffile_find_section(elf, ".gnu_debugdata");

	if (!section || section->type == SHT_NOBITS || section->size == 0)
		return -ENODATA;
	if (section->flags & SHF_COMPRESSED || section->offset > elf->len ||
		section->size > elf->len - section->offset)
		return -EBADMSG;
	return unpack_xz(elf->fd, section->offset, section->size);
}
