/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outfile.c - see outfile.h.
 */
#include "tui/export/outfile.h"

#include "tui/giveup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".XXXXXX"

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

static int open_beside(struct outfile *out, mode_t mode)
{
	size_t size = strlen(out->path) + sizeof(ENDING);
	int fd, ret = 0;

	out->temporary = malloc(size);
	if (!out->temporary)
		return -ENOMEM;
	snprintf(out->temporary, size, "%s%s", out->path, ENDING);
	fd = mkostemp(out->temporary, O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		free(out->temporary);
		out->temporary = NULL;
		return ret;
	}
	if (fchmod(fd, mode))
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
	mode_t mask;
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
	mask = umask(0);
	umask(mask);
	ret = open_beside(out, exists ? about.st_mode & 07777 : 0666 & ~mask);
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
