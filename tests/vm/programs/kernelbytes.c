// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * kernelbytes.c - prints the code of a kernel function as it is in memory, read from /proc/kcore.
 *
 * Prints four hexadecimal fields: the function's address, the address of _stext, the size up to the
 * next symbol, and the bytes.
 *
 * usage: kernelbytes FUNCTION
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SIZE_MAX_BYTES 65536

/* Finds the addresses of the function, of the next symbol, and of _stext.  Returns 0 or -1. */
static int find(const char *function, uint64_t *begin, uint64_t *next, uint64_t *text)
{
	char line[1024], name[512], type;
	uint64_t address;
	FILE *symbols;

	*begin = *next = *text = 0;
	for (int pass = 0; pass < 2; pass++) {
		symbols = fopen("/proc/kallsyms", "re");
		if (!symbols)
			return -1;
		while (fgets(line, sizeof(line), symbols)) {
			if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) != 3)
				continue;
			if (!pass && !strcmp(name, function))
				*begin = address;
			if (!pass && !strcmp(name, "_stext"))
				*text = address;
			if (pass && address > *begin && (!*next || address < *next))
				*next = address;
		}
		fclose(symbols);
	}
	return *begin && *next && *text ? 0 : -1;
}

static int print_bytes(int fd, uint64_t begin, uint64_t size)
{
	static unsigned char bytes[SIZE_MAX_BYTES];
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (size > sizeof(bytes) || pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return -1;
	for (unsigned int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return -1;
		if (segment.p_type != PT_LOAD || begin < segment.p_vaddr ||
			begin - segment.p_vaddr >= segment.p_filesz)
			continue;
		at = (off_t)(segment.p_offset + begin - segment.p_vaddr);
		if (pread(fd, bytes, size, at) != (ssize_t)size)
			return -1;
		for (uint64_t byte = 0; byte < size; byte++)
			printf("%02x", bytes[byte]);
		printf("\n");
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	uint64_t begin, next, text;
	int fd;

	if (argc != 2 || find(argv[1], &begin, &next, &text) != 0)
		return 1;
	fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 1;
	printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " ", begin, text, next - begin);
	if (print_bytes(fd, begin, next - begin) != 0)
		return 1;
	close(fd);
	return 0;
}
