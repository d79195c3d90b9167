/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_code_memory.c - copies code that is in no file to a memory file: the running kernel's, or a
 * process's.
 *
 * Runs in the second loader's thread.  The kernel's statements about itself are trusted.
 */
#include "symbols/loader/loader_code_private.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define KCORE_SEGMENTS_MAX 4096

const char *loader_kcore_path = "/proc/kcore";

/* Writes bytes to a memory file and frees them.  Returns an fd or -errno. */
static int memory_file(uint8_t *bytes, size_t len)
{
	int fd = len ? memfd_create("strobe-code", MFD_CLOEXEC) : -1;
	int ret = fd < 0 ? (len ? -errno : -ENXIO) : symtab_write(fd, bytes, len, 0);

	if (fd >= 0 && ret < 0)
		close(fd);
	free(bytes);
	return ret < 0 ? ret : fd;
}

/* Gets the file offset of that address, and the number of bytes from there on. */
static int find_segment(int fd, uint64_t address, uint64_t *offset, uint64_t *rest)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
		header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segment))
		return -ENOTSUP;
	for (size_t i = 0; i < header.e_phnum && i < KCORE_SEGMENTS_MAX; i++) {
		if (pread(fd, &segment, sizeof(segment),
			    (off_t)(header.e_phoff + i * sizeof(segment))) != sizeof(segment))
			return -EIO;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
			address - segment.p_vaddr >= segment.p_memsz)
			continue;
		*offset = segment.p_offset + (address - segment.p_vaddr);
		*rest = segment.p_memsz - (address - segment.p_vaddr);
		return 0;
	}
	return -ENXIO;
}

int load_code_kernel_bytes(uint64_t start, uint64_t end)
{
	uint64_t offset = 0, rest = 0;
	uint8_t *bytes = NULL;

	int fd = open(loader_kcore_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int ret = find_segment(fd, start, &offset, &rest);
	const size_t len = end - start < rest ? (size_t)(end - start) : (size_t)rest;
	if (ret == 0 && !(bytes = malloc(len)))
		ret = -ENOMEM;
	ssize_t n = ret == 0 ? pread(fd, bytes, len, (off_t)offset) : 0;
	if (n < 0)
		ret = -errno;
	close(fd);
	if (ret == 0)
		return memory_file(bytes, (size_t)n);
	free(bytes);
	return ret;
}

/* Cuts *end to the executable memory from start on.  A map of JIT names may claim code at any
 * address, and data there may be secret. */
static int cut_to_code(int32_t pid, uint64_t start, uint64_t *end)
{
	uint64_t from, to, at = start;
	char path[64], *line = NULL, may_run;
	bool any = false;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	while (at < *end && getline(&line, &size, maps) > 0) {
		any = true;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c", &from, &to, &may_run) == 3 &&
			may_run == 'x' && from <= at && at < to)
			at = to;
	}
	free(line);
	fclose(maps);
	if (at < *end)
		*end = at;
	return at > start ? 0 : any ? -ENXIO : -ESRCH;
}

int load_code_process_bytes(int32_t pid, uint64_t start, uint64_t end)
{
	int ret = cut_to_code(pid, start, &end);
	if (ret < 0)
		return ret;
	uint8_t *bytes = malloc((size_t)(end - start));
	const struct iovec local = {.iov_base = bytes, .iov_len = (size_t)(end - start)};
	/* The address belongs to the other process. */
	const struct iovec remote = {
		.iov_base = (void *)(uintptr_t)start, .iov_len = (size_t)(end - start)};

	if (!bytes)
		return -ENOMEM;
	const ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (n > 0)
		return memory_file(bytes, (size_t)n);
	ret = n < 0 && errno != EFAULT ? -errno : -ENXIO;
	free(bytes);
	return ret;
}

void load_code_process_header(int32_t pid, void *out, size_t len)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)] = {0};
	const uint16_t one = 1;
	const uint8_t order = *(const uint8_t *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	int fd = opener_regular(AT_FDCWD, path, 0);
	if (fd < 0)
		return;
	if (len <= sizeof(bytes) && pread(fd, bytes, len, 0) == (ssize_t)len &&
		memcmp(bytes, ELFMAG, SELFMAG) == 0 && bytes[EI_DATA] == order)
		memcpy(out, bytes, len);
	close(fd);
}

uint64_t load_code_kernel_text(const char *kallsyms_path)
{
	unsigned long long address;
	char line[1024], name[64];
	uint64_t found = 0;

	FILE *symbols = fopen(kallsyms_path, "re");
	while (symbols && !found && fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%llx %*c %63s", &address, name) == 2 &&
			strcmp(name, "_text") == 0)
			found = address;
	if (symbols)
		fclose(symbols);
	return found;
}
