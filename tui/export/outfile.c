/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outfile.c - see outfile.h.
 */
#include "tui/export/outfile.h"

#include "tui/base/giveup.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(struct outfile *out)
{
	outpath_close(&out->path);
	*out = (struct outfile){.path.dir_fd = -1, .fd = -1};
}

/* --- a stream that keeps a write's error: errno may change before ferror(3) is checked --- */

static ssize_t write_bytes(void *cookie, const char *bytes, size_t size)
{
	struct outfile *out = cookie;
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(out->fd, bytes + done, size - done);

		/* Only a signal to end the writing interrupts it (giveup.h). */
		if (n <= 0) {
			if (!out->error)
				out->error = n < 0 ? -errno : -EIO;
			break;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int close_fd(void *cookie)
{
	struct outfile *out = cookie;

	if (out->fd != STDOUT_FILENO && close(out->fd) && !out->error)
		out->error = -errno;
	out->fd = -1;
	return 0;
}

/* Opens a stream on fd, and owns fd. */
static int open_stream(struct outfile *out, int fd)
{
	static const cookie_io_functions_t calls = {.write = write_bytes, .close = close_fd};

	out->fd = fd;
	out->file = fopencookie(out, "w", calls);
	if (out->file)
		return 0;
	close_fd(out);
	return -ENOMEM;
}

/* Opens a device or pipe, which no new file may replace. */
static int open_directly(struct outfile *out)
{
	int fd = outpath_open_directly(&out->path);

	return fd < 0 ? fd : open_stream(out, fd);
}

/* Gives the new file the mode and group of the old one.  If the group cannot be set, no group has
 * access.  Setuid is dropped. */
static int take_over_mode(int fd, const struct stat *about)
{
	mode_t mode = about->st_mode & 0777;

	if (fchown(fd, (uid_t)-1, about->st_gid))
		mode &= ~(mode_t)S_IRWXG;
	return fchmod(fd, mode) ? -errno : 0;
}

static int open_beside(struct outfile *out, mode_t mode)
{
	const struct stat *about = &out->path.about;
	/* The mode of another user's file does not apply to the new one. */
	const bool keeps_mode = out->path.exists && about->st_uid == geteuid();
	int fd, ret = 0;

	fd = outpath_create_beside(&out->path, out->temporary, keeps_mode ? 0600 : mode);
	if (fd < 0) {
		out->temporary[0] = '\0';
		return fd;
	}
	if (keeps_mode)
		ret = take_over_mode(fd, about);
	if (ret)
		close(fd);
	else
		ret = open_stream(out, fd);
	if (ret)
		outpath_unlink(&out->path, out->temporary);
	return ret;
}

int outfile_open(struct outfile *out, const char *path, mode_t mode)
{
	int ret;

	*out = (struct outfile){.path.dir_fd = -1, .fd = -1};
	if (!path || !strcmp(path, "-")) {
		/* Flush first, so that the output follows earlier prints. */
		fflush(stdout);
		return open_stream(out, STDOUT_FILENO);
	}
	ret = outpath_find(&out->path, path);
	if (!ret)
		ret = outpath_is_replaceable(&out->path) ? open_beside(out, mode)
							 : open_directly(out);
	if (ret)
		forget(out);
	return ret;
}

/* Renames the new file to its final name. */
int outfile_show(struct outfile *out)
{
	int ret = *out->temporary ? outpath_rename(&out->path, out->temporary, out->path.name) : 0;

	if (!ret)
		out->temporary[0] = '\0';
	return ret;
}

static void close_stream(struct outfile *out)
{
	if (out->file)
		fclose(out->file);
	out->file = NULL;
}

int outfile_commit(struct outfile *out)
{
	int ret;

	if (fflush(out->file) && !out->error)
		out->error = -errno;
	/* A print may have failed before its bytes were written. */
	if (ferror(out->file) && !out->error)
		out->error = -EIO;
	giveup_watch(-1);
	if (!out->error && *out->temporary && fsync(out->fd))
		out->error = -errno;
	close_stream(out);
	ret = out->error;
	if (!ret)
		ret = outfile_show(out);
	if (*out->temporary)
		outpath_unlink(&out->path, out->temporary);
	forget(out);
	return ret;
}

void outfile_abandon(struct outfile *out)
{
	giveup_watch(-1);
	if (out->file)
		__fpurge(out->file);
	close_stream(out);
	if (*out->temporary)
		outpath_unlink(&out->path, out->temporary);
	forget(out);
}

int outfile_end(struct outfile *out, int ret)
{
	if (!ret)
		return outfile_commit(out);
	/* Return the first cause; later failures may have another. */
	if (out->error)
		ret = out->error;
	outfile_abandon(out);
	return ret;
}
