/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_tree_write.c - writes the files of a source tree.
 *
 * Each part of a path is opened from the one before, without following links, and each file is new.
 * So no name in the debug information can touch a file outside the directory.  Files are readable
 * by the user alone, since the sources may be private.  UI thread.
 */
#include "tui/commands/annotate_tree_private.h"

#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/commands/report_private.h"
#include "tui/session/request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A line with samples. */
struct marked {
	uint32_t file, line, id;
};

/* Creates a new file below the directory.  Returns NULL and sets errno on failure. */
static FILE *create(const struct tree *tree, const char *path)
{
	int at = fcntl(tree->dir_fd, F_DUPFD_CLOEXEC, 0), fd = -1, saved;
	char part[256];
	FILE *file = NULL;

	while (at >= 0) {
		size_t len = strcspn(path, "/");
		int next;

		if (len >= sizeof(part)) {
			errno = ENAMETOOLONG;
			break;
		}
		memcpy(part, path, len);
		part[len] = '\0';
		if (!path[len]) {
			fd = openat(at, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				0600);
			break;
		}
		if (mkdirat(at, part, 0777) && errno != EEXIST)
			break;
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		saved = errno;
		close(at);
		errno = saved;
		at = next;
		path += len + 1;
	}
	saved = errno;
	if (at >= 0)
		close(at);
	if (fd >= 0) {
		file = fdopen(fd, "w");
		saved = errno;
		if (!file)
			close(fd);
	}
	errno = saved;
	return file;
}

static void put_sums(FILE *out, const struct tree *tree, const uint64_t *sums)
{
	for (size_t i = 0; i < tree->n_events; i++) {
		if (sums && sums[2 * i + 1])
			fprintf(out, "%10" PRIu64 " %7.2f%%", sums[2 * i + 1],
				report_percent(sums[2 * i], tree->report->events[i].weight));
		else
			fprintf(out, "%19s", "");
	}
	fputs(" : ", out);
}

static void put_heads(FILE *out, const struct tree *tree)
{
	for (size_t i = 0; i < tree->n_events; i++)
		fprintf(out, " %18.18s", tree->report->events[i].name);
	fputs(" : (samples, share of all)\n", out);
}

static int compare_marked(const void *a, const void *b)
{
	const struct marked *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return left->line < right->line ? -1 : left->line > right->line;
}

static const uint64_t *sums_of(const struct tree *tree, const struct marked *line)
{
	return tree->line_sums + (size_t)line->id * tree->n_events * 2;
}

/* Writes the lines of the text, then the sampled lines past its end. */
static void put_lines(FILE *out, const struct tree *tree, const struct symbols_source_text *text,
	const struct marked *lines, size_t n)
{
	size_t at = 0, next = 0;

	if (n && !lines[0].line) {
		put_sums(out, tree, sums_of(tree, &lines[next++]));
		fputs("(no line)\n", out);
	}
	for (uint32_t line = 1; at < text->len; line++) {
		const char *end = memchr(text->bytes + at, '\n', text->len - at);
		size_t len = end ? (size_t)(end - text->bytes) - at : text->len - at;
		bool marked = next < n && lines[next].line == line;

		put_sums(out, tree, marked ? sums_of(tree, &lines[next]) : NULL);
		fwrite(text->bytes + at, 1, len, out);
		fputc('\n', out);
		next += marked;
		at += len + (end != NULL);
	}
	for (; next < n; next++) {
		put_sums(out, tree, sums_of(tree, &lines[next]));
		fprintf(out, "line %" PRIu32 "%s\n", lines[next].line,
			text->len ? ", which the file does not have: it has changed" : "");
	}
}

/* Closes the file.  Returns 0 or -errno. */
static int finish(FILE *out)
{
	int ret = 0;

	errno = 0;
	if (fflush(out) || ferror(out))
		ret = errno ? -errno : -EIO;
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

/* Returns NULL if the source is missing, or if a signal came while the disk hung. */
static struct symbols_text *read_text(struct tree *tree, const struct tree_file *file)
{
	struct session *session = &tree->report->taking->session;
	struct symbols_text *text;
	int error;

	const struct symbols_text_question question = {
		.origin = names_source_origin(session->names, file->image, session->recording),
		.file = file->raw,
		.prefixes = tree->report->request->source_prefixes,
	};
	if (symbols_text_ask(session->symbols, &question, &text))
		return NULL;
	while (symbols_text_state(text, &error) == SYMBOLS_PENDING && annotate_wait(tree->report))
		;
	if (symbols_text_state(text, &error) == SYMBOLS_READY)
		return text;
	symbols_text_release(session->symbols, text);
	return NULL;
}

static int write_file(struct tree *tree, uint32_t id, const struct marked *lines, size_t n)
{
	static const struct symbols_source_text none = {.bytes = NULL};
	const struct tree_file *file = &tree->files[id];
	struct symbols_text *text = read_text(tree, file);
	char clean[4096];
	FILE *out;
	int ret = -EINTR;

	if (!text && tree->report->taking->interrupted)
		goto out;
	out = create(tree, tree->paths.entries[id].bytes);
	ret = -errno;
	if (!out)
		goto out;
	clean_string(clean, sizeof(clean), file->raw);
	fprintf(out, "%s%s\n", clean, text ? "" : ": the source is not here");
	put_heads(out, tree);
	put_lines(out, tree, text ? symbols_text_get(text) : &none, lines, n);
	ret = finish(out);
out:
	symbols_text_release(tree->report->taking->session.symbols, text);
	return ret;
}

/* --- the summary --- */

struct rank {
	const char *text;
	const uint64_t *sums;
	double share;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *left = a, *right = b;

	if (left->share > right->share || left->share < right->share)
		return left->share > right->share ? -1 : 1;
	return strcmp(left->text, right->text);
}

static double share_of(const struct tree *tree, const uint64_t *sums)
{
	double most = 0;

	for (size_t i = 0; i < tree->n_events; i++) {
		double share = report_percent(sums[2 * i], tree->report->events[i].weight);

		if (share > most)
			most = share;
	}
	return most;
}

static int write_summary(struct tree *tree)
{
	struct rank *ranks = calloc((size_t)tree->paths.n + 1, sizeof(*ranks));
	uint64_t *rest = calloc(tree->n_events, 2 * sizeof(*rest));
	FILE *out = ranks && rest ? create(tree, TREE_SUMMARY) : NULL;
	int ret = ranks && rest ? 0 : -ENOMEM;

	if (!ret && !out)
		ret = -errno;
	if (ret)
		goto out;
	for (uint32_t i = 0; i < tree->paths.n; i++)
		ranks[i] = (struct rank){tree->paths.entries[i].bytes, tree->files[i].sums,
			share_of(tree, tree->files[i].sums)};
	qsort(ranks, tree->paths.n, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < tree->n_events; i++) {
		const struct annotate_event *event = &tree->report->events[i];

		rest[2 * i] = event->weight - tree->known[2 * i];
		rest[2 * i + 1] = event->samples - tree->known[2 * i + 1];
	}
	fprintf(out, "%s\n", tree->report->taking->session.target_text);
	put_heads(out, tree);
	for (uint32_t i = 0; i < tree->paths.n; i++) {
		put_sums(out, tree, ranks[i].sums);
		fprintf(out, "%s\n", ranks[i].text);
	}
	put_sums(out, tree, rest);
	fputs("(no source file known)\n", out);
	ret = finish(out);
out:
	free(ranks);
	free(rest);
	return ret;
}

/* Debug information may name a path both as a file and as a directory.  Two names may also be one
 * path once they are cleaned or cut. */
static void tell_failure(const char *path, int error)
{
	if (error == -EEXIST)
		taking_complainf("'%.300s' is not written: there is another file or directory of "
				 "this name in the tree already",
			path);
	else if (error == -ENOTDIR || error == -ELOOP)
		taking_complainf("'%.300s' is not written: a part of its path is no directory in "
				 "the tree but a file",
			path);
	else
		taking_complainf("'%.300s' is not written: %s", path, explain_errno(error));
}

int tree_write_all(struct tree *tree)
{
	const char *dir = tree->report->request->source_tree;
	uint32_t n = tree->line_keys.n, from = 0, written = 0;
	struct marked *lines = calloc((size_t)n + 1, sizeof(*lines));
	int ret = lines ? write_summary(tree) : -ENOMEM, failed = 0;
	char clean[1024];

	for (uint32_t i = 0; i < n && lines; i++) {
		memcpy(&lines[i], tree->line_keys.entries[i].bytes, 2 * sizeof(uint32_t));
		lines[i].id = i;
	}
	if (lines)
		qsort(lines, n, sizeof(*lines), compare_marked);
	while (from < n && !ret) {
		uint32_t to = from, id = lines[from].file;
		int error;

		while (to < n && lines[to].file == id)
			to++;
		error = write_file(tree, id, lines + from, to - from);
		if (error == -ENOSPC || error == -ENOMEM || error == -EDQUOT)
			ret = error;
		else if (error)
			tell_failure(tree->paths.entries[id].bytes, error);
		failed |= error;
		written += !error;
		from = to;
		if (taking_was_interrupted(tree->report->taking))
			ret = -EINTR;
	}
	free(lines);
	if (ret == -EINTR)
		taking_complain("interrupted: the tree is not whole");
	else if (ret)
		taking_complainf("cannot write below '%.300s': %s", dir, explain_errno(ret));
	else
		printf("%" PRIu32 " source files below %s; their sums are in its " TREE_SUMMARY
		       "\n",
			written, clean_string(clean, sizeof(clean), dir));
	return ret ? ret : failed;
}
