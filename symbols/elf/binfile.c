/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * binfile.c - libbfd on descriptors: it never opens a file by name.
 */
#include "symbols/elf/binfile.h"

#include "symbols/base/function_cut.h"
#include "symbols/wire/confine.h"

#define PACKAGE "strobe" /* bfd.h requires it */
#define PACKAGE_VERSION STROBE_VERSION
#include <bfd.h>
#undef PACKAGE
#undef PACKAGE_VERSION

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* From demangle.h, which Debian has in libiberty-dev; the values have not changed for decades. */
#define DEMANGLE_PARAMS (1 << 0)
#define DEMANGLE_ANSI (1 << 1)
#define DEMANGLE_AUTO (1 << 8)
#define DEMANGLE_DLANG (1 << 16)
#define DEMANGLE_NO_RECURSE_LIMIT (1 << 18)

/* Without a recursion limit libiberty takes about 90 bytes of stack per byte of a name. */
#define DEMANGLE_DEEP_BYTES (32u * 1024)

/* A short name can represent gigabytes (each type twice the one before). */
#define DEMANGLE_MEMORY_BYTES (96ull * 1024 * 1024)

__attribute__((format(printf, 1, 0))) static void quiet_error(const char *format, va_list args)
{
	(void)format;
	(void)args;
}

__attribute__((format(printf, 1, 0))) static void quiet_assert(
	const char *format, const char *version, const char *file, int line)
{
	(void)format;
	(void)version;
	(void)file;
	(void)line;
}

void binfile_init(void)
{
	bfd_init();
	bfd_set_error_handler(quiet_error);
	bfd_set_assert_handler(quiet_assert);
}

static void *iovec_open(bfd *abfd, void *closure)
{
	(void)abfd;
	return closure;
}

static file_ptr iovec_pread(bfd *abfd, void *stream, void *buffer, file_ptr n, file_ptr offset)
{
	const struct elffile *elf = stream;
	const file_ptr len = (file_ptr)elf->len;

	(void)abfd;
	if (offset < 0 || n < 0 || offset >= len)
		return 0;
	if (n > len - offset)
		n = len - offset;
	return elffile_read(elf, buffer, (size_t)n, (uint64_t)offset) < 0 ? -1 : n;
}

static int iovec_stat(bfd *abfd, void *stream, struct stat *st)
{
	(void)abfd;
	return fstat(((const struct elffile *)stream)->fd, st);
}

static void add_synthetic(
	const struct elffile *elf, struct symtab_builder *builder, asymbol *symbols, long n)
{
	for (long i = 0; i < n; i++) {
		const asection *section = symbols[i].section;
		uint64_t start, limit;
		bool exec;
		if (!section || !symbols[i].name || symbols[i].value >= section->size ||
			!elffile_offset(
				elf, section->vma + symbols[i].value, &start, &limit, &exec))
			continue;
		uint64_t rest = section->size - symbols[i].value;
		symtab_builder_add(builder, start, 0, rest < limit ? rest : limit, SYMTAB_SYNTHETIC,
			symbols[i].name, strlen(symbols[i].name), 0);
	}
}

int binfile_plt(const struct elffile *elf, struct symtab_builder *builder)
{
	asymbol **dynamic = NULL;
	asymbol *synthetic = NULL;
	int ret = 0;

	/* libbfd reads all dynamic symbols, which is slow: skip files without a PLT. */
	if (!elffile_has_code_section(elf, ".plt"))
		return 0;
	bfd *abfd = bfd_openr_iovec(
		"image", NULL, iovec_open, (void *)(uintptr_t)elf, iovec_pread, NULL, iovec_stat);
	if (!abfd)
		return bfd_get_error() == bfd_error_no_memory ? -ENOMEM : 0;
	abfd->flags |= BFD_DECOMPRESS;
	if (!bfd_check_format(abfd, bfd_object))
		goto out;
	long bytes = bfd_get_dynamic_symtab_upper_bound(abfd);
	if (bytes <= 0)
		goto out;
	dynamic = malloc((size_t)bytes);
	if (!dynamic) {
		ret = -ENOMEM;
		goto out;
	}
	long n = bfd_canonicalize_dynamic_symtab(abfd, dynamic);
	if (n <= 0)
		goto out;
	n = bfd_get_synthetic_symtab(abfd, 0, NULL, n, dynamic, &synthetic);
	if (n > 0)
		add_synthetic(elf, builder, synthetic, n);
out:
	free(synthetic);
	free(dynamic);
	bfd_close(abfd);
	return ret;
}

/* Limits the memory that the process may still map; returns the old limit. */
static struct rlimit limit_memory(void)
{
	struct rlimit old = {RLIM_INFINITY, RLIM_INFINITY};
#ifndef CONFINE_SANITIZED
	if (getrlimit(RLIMIT_DATA, &old) == 0) {
		struct rlimit tight = {DEMANGLE_MEMORY_BYTES, old.rlim_max};
		if (old.rlim_max == RLIM_INFINITY || old.rlim_max > DEMANGLE_MEMORY_BYTES)
			setrlimit(RLIMIT_DATA, &tight);
	}
#endif
	return old;
}

bool binfile_demangle(const char *name, char *out, size_t size)
{
	int flags = DEMANGLE_PARAMS | DEMANGLE_ANSI | DEMANGLE_AUTO;

	out[0] = '\0';
	if (name[0] == '_' && name[1] == 'D' && name[2] >= '0' && name[2] <= '9')
		flags = DEMANGLE_PARAMS | DEMANGLE_ANSI | DEMANGLE_DLANG;
	struct rlimit old = limit_memory();
	char *pretty = bfd_demangle(NULL, name, flags);
	/* The recursion limit keeps names of more than 1024 bytes mangled, even without nesting. */
	if (!pretty && strlen(name) <= DEMANGLE_DEEP_BYTES)
		pretty = bfd_demangle(NULL, name, flags | DEMANGLE_NO_RECURSE_LIMIT);
#ifndef CONFINE_SANITIZED
	setrlimit(RLIMIT_DATA, &old);
#else
	(void)old;
#endif
	if (!pretty)
		return false;
	function_cut(out, size, pretty);
	free(pretty);
	return *out != '\0';
}
