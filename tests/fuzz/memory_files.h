/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_files.h - memfd_create(2) files, unnamed files and pipes without the kernel.
 *
 * The compiler includes this header before each source of a target that reads files.
 *
 * System calls would take most of a target's time: sealing a file alone waits for the other CPUs.
 * A mapping is a copy that ends at the file's end, so ASan sees reads past it.  Using a descriptor
 * after it was closed aborts.  Other descriptors go to the kernel.  One thread.
 */
#ifndef TESTS_FUZZ_MEMORY_FILES_H
#define TESTS_FUZZ_MEMORY_FILES_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int memory_create(const char *name, unsigned int flags);
int memory_pipe(int fds[2]); /* both fds are one descriptor, which must be closed twice */
int memory_open(const char *path, int flags, ...); /* in memory if flags have O_TMPFILE */
int memory_close(int fd);
int memory_dup3(int fd, int other, int flags); /* swaps the files; the caller must close fd */
ssize_t memory_read(int fd, void *out, size_t len);
ssize_t memory_pread(int fd, void *out, size_t len, off_t at);
ssize_t memory_write(int fd, const void *bytes, size_t len);
ssize_t memory_pwrite(int fd, const void *bytes, size_t len, off_t at);
off_t memory_lseek(int fd, off_t offset, int whence);
int memory_ftruncate(int fd, off_t len);
int memory_fstat(int fd, struct stat *out);
int memory_fcntl(int fd, int command, ...); /* for seals only */
void *memory_map(void *at, size_t len, int protection, int flags, int fd, off_t offset);
int memory_unmap(void *at, size_t len);

#ifndef MEMORY_FILES_C
#define memfd_create(...) memory_create(__VA_ARGS__)
#define pipe(...) memory_pipe(__VA_ARGS__)
#define open(...) memory_open(__VA_ARGS__)
#define close(...) memory_close(__VA_ARGS__)
#define dup3(...) memory_dup3(__VA_ARGS__)
#define read(...) memory_read(__VA_ARGS__)
#define pread(...) memory_pread(__VA_ARGS__)
#define write(...) memory_write(__VA_ARGS__)
#define pwrite(...) memory_pwrite(__VA_ARGS__)
#define lseek(...) memory_lseek(__VA_ARGS__)
#define ftruncate(...) memory_ftruncate(__VA_ARGS__)
#define fstat(...) memory_fstat(__VA_ARGS__)
#define fcntl(...) memory_fcntl(__VA_ARGS__)
#define mmap(...) memory_map(__VA_ARGS__)
#define munmap(...) memory_unmap(__VA_ARGS__)
#endif

#endif
