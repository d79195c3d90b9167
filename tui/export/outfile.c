/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outfile.c - see outfile.h.
 */
#include "tui/export/outfile.h"

#include "tui/giveup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING_MAX sizeof(".00000000")
#define ATTEMPTS 100

static void forget(struct outfile *out)
{
	free(out->path);
	free(out->temporary);
	*out = (struct outfile){0};
}

/* A device, a pipe: its name cannot be taken by a file. */
static int open_directly(struct outfile *out, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return -errno;
	out->file = fdopen(fd, "w");
	if (out->file)
		return 0;
	close(fd);
	return -ENOMEM;
}

/* A file of another name, with the mode that any new one would get: mkostemp(3) makes private ones, and the umask, to
 * make up for that, cannot be read without changing it for all threads. */
static int create_beside(const char *path, char *name, size_t size, mode_t mode)
{
	int fd = -1;

	errno = EEXIST;
	for (int i = 0; i < ATTEMPTS && fd < 0 && errno == EEXIST; i++) {
		uint32_t random;

		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
			random = (uint32_t)getpid() + (uint32_t)i;
		snprintf(name, size, "%s.%08" PRIx32, path, random);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	}
	return fd < 0 ? -errno : fd;
}

/* mode: of what it is to replace, NULL where there is nothing. */
static int open_beside(struct outfile *out, const mode_t *mode)
{
	size_t size = strlen(out->path) + ENDING_MAX;
	int fd, ret = 0;

	out->temporary = malloc(size);
	if (!out->temporary)
		return -ENOMEM;
	fd = create_beside(out->path, out->temporary, size, mode ? 0600 : 0666);
	if (fd < 0) {
		free(out->temporary);
		out->temporary = NULL;
		return fd;
	}
	if (mode && fchmod(fd, *mode & 07777))
		ret = -errno;
	out->file = ret ? NULL : fdopen(fd, "w");
	if (out->file)
		return 0;
	close(fd);
	unlink(out->temporary);
	return ret ? ret : -ENOMEM;
}

int outfile_open(struct outfile *out, const char *path)
{
	struct stat about;
	bool exists;
	int ret;

	*out = (struct outfile){0};
	if (!path || !strcmp(path, "-")) {
		out->file = stdout;
		return 0;
	}
	exists = !stat(path, &about);
	if (exists && !S_ISREG(about.st_mode))
		return open_directly(out, path);
	/* Behind a symbolic link it is the file that is written. */
	out->path = exists ? realpath(path, NULL) : strdup(path);
	if (!out->path)
		return exists ? -errno : -ENOMEM;
	ret = open_beside(out, exists ? &about.st_mode : NULL);
	if (ret)
		forget(out);
	return ret;
}

int outfile_commit(struct outfile *out)
{
	int ret = 0;

	errno = 0;
	if (fflush(out->file) || ferror(out->file))
		ret = errno ? -errno : -EIO;
	giveup_watch(-1);
	if (out->file == stdout) {
		forget(out);
		return ret;
	}
	if (!ret && out->temporary && fsync(fileno(out->file)))
		ret = -errno;
	if (fclose(out->file) && !ret)
		ret = -errno;
	out->file = NULL;
	if (out->temporary && !ret && rename(out->temporary, out->path))
		ret = -errno;
	if (out->temporary && ret)
		unlink(out->temporary);
	forget(out);
	return ret;
}

void outfile_abandon(struct outfile *out)
{
	giveup_watch(-1);
	if (out->file && out->file != stdout)
		fclose(out->file);
	if (out->temporary)
		unlink(out->temporary);
	forget(out);
}

int outfile_end(struct outfile *out, int ret)
{
	if (!ret)
		return outfile_commit(out);
	if (ret == -EIO && errno)
		ret = -errno;
	outfile_abandon(out);
	return ret;
}
