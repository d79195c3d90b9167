/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tasks_reader.c - reads /proc/PID/maps and names of threads, for tasks.c.
 *
 * The parser works on text; the reader is a thin wrapper around it.  Sampling thread.
 */
#include "sampler/machine/proc.h"
#include "sampler/store/spaces.h"
#include "sampler/store/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parses digits of a base up to 16, at least one; no sign, no blanks.  Returns NULL if they are
 * missing or too many. */
static char *parse_number(char *at, unsigned int base, uint64_t *out)
{
	char *start = at;
	uint64_t value = 0;

	for (;; at++) {
		unsigned int digit;

		if (*at >= '0' && *at <= '9')
			digit = (unsigned int)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned int)(*at - 'a') + 10;
		else
			break;
		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return NULL;
		value = value * base + digit;
	}
	*out = value;
	return at > start ? at : NULL;
}

static char *parse_field(char *at, unsigned int base, char end, uint64_t *out)
{
	at = at ? parse_number(at, base, out) : NULL;
	return at && *at == end ? at + 1 : NULL;
}

/* The kernel writes a newline in a path as \012. */
static void unescape(char *text)
{
	char *out = text;

	while (*text) {
		if (!strncmp(text, "\\012", 4)) {
			*out++ = '\n';
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

int tasks_parse_maps_line(char *line, struct record_mmap *out)
{
	uint64_t end, major, minor;
	char *at, *perms;

	*out = (struct record_mmap){.has_inode = true};
	line[strcspn(line, "\n")] = '\0';
	at = parse_field(line, 16, '-', &out->start);
	at = parse_field(at, 16, ' ', &end);
	if (!at || end < out->start || strnlen(at, 5) < 5 || at[4] != ' ')
		return -EBADMSG;
	out->len = end - out->start;
	perms = at;
	at = parse_field(at + 5, 16, ' ', &out->pgoff);
	at = parse_field(at, 16, ':', &major);
	at = parse_field(at, 16, ' ', &minor);
	at = at ? parse_number(at, 10, &out->inode) : NULL;
	if (!at || major > UINT32_MAX || minor > UINT32_MAX || (*at && *at != ' '))
		return -EBADMSG;
	out->dev_major = (uint32_t)major;
	out->dev_minor = (uint32_t)minor;
	out->prot = (perms[0] == 'r' ? PROT_READ : 0u) | (perms[1] == 'w' ? PROT_WRITE : 0u) |
		(perms[2] == 'x' ? PROT_EXEC : 0u);
	out->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	out->executable = perms[2] == 'x';
	at += strspn(at, " ");
	unescape(at);
	out->filename = at;
	return 0;
}

static FILE *open_task_file(const char *proc_dir, int32_t tid, const char *name)
{
	char path[512];

	if (snprintf(path, sizeof(path), "%s/%d/%s", proc_dir, tid, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(path, "re");
}

/* --- code that was moved --- */

#define PIECES_MAX 64u

/* Executable memory after a file's mapping, which waits for the next mapping of a file.  If that is
 * the same file, the memory is in place of the file's code. */
struct pieces {
	struct record_mmap file; /* with a copied name; len 0: none yet */
	struct record_mmap at[PIECES_MAX]; /* with copied names */
	size_t n;
	bool is_exact; /* no gaps, from the end of the file's mapping on */
	uint64_t end; /* end of the last one */
};

static int keep_line(struct record_mmap *out, const struct record_mmap *mmap)
{
	*out = *mmap;
	out->filename = strdup(mmap->filename);
	return out->filename ? 0 : -ENOMEM;
}

static void drop_line(struct record_mmap *mmap)
{
	free((char *)(uintptr_t)mmap->filename);
	*mmap = (struct record_mmap){0};
}

static bool is_same_file(const struct record_mmap *a, const struct record_mmap *b)
{
	return a->inode && a->inode == b->inode && a->dev_major == b->dev_major &&
		a->dev_minor == b->dev_minor;
}

/* Adds the waiting pieces.  after: the next mapping of a file; NULL if none. */
static int add_pieces(
	struct tasks *tasks, int32_t pid, struct pieces *pieces, const struct record_mmap *after)
{
	struct space_text text = {0};
	int err = 0;

	/* A runtime may map its file once more, after the code that it compiles. */
	if (after && is_same_file(&pieces->file, after) && after->pgoff > pieces->file.pgoff) {
		text.before = pieces->file;
		text.after = *after;
		text.is_exact = pieces->is_exact && pieces->end == after->start;
	} else if (after && pieces->end == after->start && after->pgoff) {
		/* The start of the file was moved. */
		text.after = *after;
	}
	for (size_t i = 0; i < pieces->n; i++) {
		if (!err)
			err = tasks_add_mapping(tasks, pid, &pieces->at[i],
				text.after.len && !is_same_file(&pieces->at[i], &text.after)
					? &text
					: NULL);
		drop_line(&pieces->at[i]);
	}
	pieces->n = 0;
	return err;
}

static int take_line(
	struct tasks *tasks, int32_t pid, struct pieces *pieces, const struct record_mmap *mmap)
{
	const bool is_kept = mmap->executable || tasks_keeps_data(tasks);
	int err = 0;

	if (space_may_be_moved(mmap) && !is_same_file(&pieces->file, mmap) &&
		pieces->n < PIECES_MAX) {
		pieces->is_exact &= mmap->start == pieces->end;
		pieces->end = mmap->start + mmap->len;
		err = keep_line(&pieces->at[pieces->n], mmap);
		pieces->n += !err;
		return err;
	}
	if (mmap->inode) {
		err = add_pieces(tasks, pid, pieces, mmap);
		drop_line(&pieces->file);
		if (!err)
			err = keep_line(&pieces->file, mmap);
		pieces->is_exact = true;
		pieces->end = mmap->start + mmap->len;
	}
	return err || !is_kept ? err : tasks_add_mapping(tasks, pid, mmap, NULL);
}

/* Adds the mappings in a maps file.  *read: incremented for each line, executable or not. */
static int read_maps_file(struct tasks *tasks, int32_t pid, FILE *file, size_t *read)
{
	struct pieces *pieces = calloc(1, sizeof(*pieces));
	char *line = NULL;
	size_t size = 0;
	int err = pieces ? 0 : -ENOMEM;

	errno = 0;
	while (!err && getline(&line, &size, file) > 0) {
		struct record_mmap mmap;

		++*read;
		/* An unreadable line loses one mapping. */
		if (tasks_parse_maps_line(line, &mmap))
			continue;
		mmap.pid = mmap.tid = (uint32_t)pid;
		err = take_line(tasks, pid, pieces, &mmap);
	}
	/* getline() sets no error mark on the file if memory runs out. */
	if (!err && !feof(file))
		err = errno ? -errno : -EIO;
	free(line);
	if (pieces) {
		const int left = add_pieces(tasks, pid, pieces, NULL);
		err = err ? err : left;
		drop_line(&pieces->file);
	}
	free(pieces);
	return err;
}

/* Reads the mappings from another thread: a leader that ended before its threads has none. */
static int read_maps_of_threads(struct tasks *tasks, int32_t pid, const char *proc_dir)
{
	char path[512], name[64];
	struct dirent *entry;
	size_t read = 0;
	int err = 0;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s/%d/task", proc_dir, pid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!read && !err && (entry = readdir(dir))) {
		uint64_t tid;
		FILE *file;

		if (!parse_number(entry->d_name, 10, &tid) || (int32_t)tid == pid)
			continue;
		snprintf(name, sizeof(name), "task/%d/maps", (int32_t)tid);
		file = open_task_file(proc_dir, pid, name);
		if (!file) {
			err = errno == ENOENT || errno == ESRCH ? 0 : -errno;
			continue;
		}
		err = read_maps_file(tasks, pid, file, &read);
		fclose(file);
	}
	closedir(dir);
	return err;
}

static int read_maps(struct tasks *tasks, int32_t pid, void *ctx)
{
	FILE *file = open_task_file(ctx, pid, "maps");
	size_t read = 0;
	int err;

	if (!file)
		return -errno;
	err = read_maps_file(tasks, pid, file, &read);
	fclose(file);
	return err || read ? err : read_maps_of_threads(tasks, pid, ctx);
}

static int read_task(int32_t tid, int32_t *pid, char *comm, size_t comm_len, void *ctx)
{
	FILE *file = open_task_file(ctx, tid, "status");
	char line[256];
	size_t len;
	int err = -ESRCH;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		uint64_t number;

		if (strncmp(line, "Tgid:\t", 6) || !parse_number(line + 6, 10, &number))
			continue;
		*pid = (int32_t)number;
		err = 0;
		break;
	}
	fclose(file);
	if (err)
		return err;

	/* Not the Name line of status, which the kernel escapes. */
	file = open_task_file(ctx, tid, "comm");
	if (!file)
		return -errno;
	len = fread(comm, 1, comm_len - 1, file);
	fclose(file);
	if (!len)
		return -ESRCH;
	comm[comm[len - 1] == '\n' ? len - 1 : len] = '\0';
	return 0;
}

/* Follows the link directly to the file, without a path walk and without asking a file server. */
static int read_program(int32_t pid, struct tasks_program *out, void *ctx)
{
	char path[512];
	struct statx st;

	if (snprintf(path, sizeof(path), "%s/%d/exe", (const char *)ctx, pid) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_SIZE | STATX_MTIME, &st))
		return -errno;
	*out = (struct tasks_program){
		.dev_major = st.stx_dev_major,
		.dev_minor = st.stx_dev_minor,
		.inode = st.stx_ino,
		.size = st.stx_size,
		.mtime_ns = (uint64_t)st.stx_mtime.tv_sec * 1000000000u + st.stx_mtime.tv_nsec,
	};
	return 0;
}

void tasks_reader_proc(struct tasks_reader *reader, const char *proc_dir)
{
	/* In another pid namespace's /proc, these pids belong to other processes. */
	if (!strcmp(proc_dir, "/proc") && !proc_is_own()) {
		*reader = (struct tasks_reader){0};
		return;
	}
	*reader = (struct tasks_reader){.read_maps = read_maps,
		.read_task = read_task,
		.read_program = read_program,
		.ctx = (void *)(uintptr_t)proc_dir};
}
