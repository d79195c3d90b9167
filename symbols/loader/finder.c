/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * finder.c - directories, each with patterns of the files that may lie below it.
 */
#include "symbols/loader/finder.h"

#include "symbols/base/grow.h"
#include "symbols/loader/opener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILD_ID_HEX (2 * SYMBOLS_BUILD_ID_MAX + 2)

enum dir_class {
	DIR_TREE, /* an archive or --symfs: a root file system, or perf's layout */
	DIR_HOME,
	DIR_PROCESS, /* the root of a process */
	DIR_DEBUG,
	DIR_ROOT,
};

/* %P: path, %I: build-id as xx/yyyy, %S: build-id in one piece, %R: kernel release, %D: debug
 * directory, %L: name of the link, %F: path without its last part, %M: module below
 * /lib/modules. */
static const struct pattern {
	enum finder_what what;
	enum dir_class class;
	const char *text;
} patterns[] = {
	{FINDER_BINARY, DIR_TREE, "%P"},
	{FINDER_BINARY, DIR_TREE, ".build-id/%I/elf"},
	{FINDER_BINARY, DIR_HOME, ".build-id/%I/elf"},
	/* Older layout: a link to the file, not a directory. */
	{FINDER_BINARY, DIR_HOME, ".build-id/%I"},
	{FINDER_BINARY, DIR_DEBUG, ".build-id/%I"},
	{FINDER_BINARY, DIR_ROOT, "%P"},
	{FINDER_DEBUG, DIR_TREE, ".build-id/%I.debug"},
	{FINDER_DEBUG, DIR_TREE, ".build-id/%I/debug"},
	{FINDER_DEBUG, DIR_TREE, "usr/lib/debug/.build-id/%I.debug"},
	{FINDER_DEBUG, DIR_HOME, ".build-id/%I/debug"},
	{FINDER_DEBUG, DIR_PROCESS, "%D/.build-id/%I.debug"},
	{FINDER_DEBUG, DIR_DEBUG, ".build-id/%I.debug"},
	{FINDER_DEBUG, DIR_DEBUG, "lib/modules/%M"},
	/* gdb searches these places, too. */
	{FINDER_LINK, DIR_TREE, "%F/%L"},
	{FINDER_LINK, DIR_TREE, "%F/.debug/%L"},
	{FINDER_LINK, DIR_TREE, "usr/lib/debug%F/%L"},
	{FINDER_LINK, DIR_PROCESS, "%F/%L"},
	{FINDER_LINK, DIR_PROCESS, "%F/.debug/%L"},
	{FINDER_LINK, DIR_PROCESS, "%D%F/%L"},
	{FINDER_LINK, DIR_DEBUG, "%F/%L"},
	{FINDER_LINK, DIR_ROOT, "%F/%L"},
	{FINDER_LINK, DIR_ROOT, "%F/.debug/%L"},
	{FINDER_KALLSYMS, DIR_TREE, ".build-id/%I/kallsyms"},
	{FINDER_KALLSYMS, DIR_TREE, "[kernel.kallsyms]/%S/kallsyms"},
	{FINDER_KALLSYMS, DIR_HOME, ".build-id/%I/kallsyms"},
	{FINDER_KALLSYMS, DIR_HOME, "[kernel.kallsyms]/%S/kallsyms"},
	{FINDER_VDSO, DIR_TREE, ".build-id/%I/vdso"},
	{FINDER_VDSO, DIR_TREE, "[vdso]/%S/vdso"},
	{FINDER_VDSO, DIR_HOME, ".build-id/%I/vdso"},
	{FINDER_VDSO, DIR_HOME, "[vdso]/%S/vdso"},
	{FINDER_VMLINUX, DIR_TREE, ".build-id/%I/elf"},
	{FINDER_VMLINUX, DIR_TREE, ".build-id/%I.debug"},
	{FINDER_VMLINUX, DIR_TREE, "boot/vmlinux-%R"},
	{FINDER_VMLINUX, DIR_TREE, "usr/lib/debug/boot/vmlinux-%R"},
	{FINDER_VMLINUX, DIR_HOME, ".build-id/%I/elf"},
	{FINDER_VMLINUX, DIR_HOME, ".build-id/%I/vmlinux"},
	{FINDER_VMLINUX, DIR_DEBUG, ".build-id/%I.debug"},
	{FINDER_VMLINUX, DIR_DEBUG, "boot/vmlinux-%R"},
	{FINDER_VMLINUX, DIR_DEBUG, "lib/modules/%R/vmlinux"},
	{FINDER_VMLINUX, DIR_ROOT, "boot/vmlinux-%R"},
};

static int add_debug_dir(struct finder *finder, const char *dir)
{
	if (array_resize(
		    &finder->debug_dirs, finder->n_debug_dirs + 1, sizeof(*finder->debug_dirs)) < 0)
		return -ENOMEM;
	finder->debug_dirs[finder->n_debug_dirs] = strdup(dir);
	return finder->debug_dirs[finder->n_debug_dirs] ? (finder->n_debug_dirs++, 0) : -ENOMEM;
}

int finder_init(struct finder *finder, const struct symbols_config *config)
{
	const char *home = getenv("HOME");
	int ret = 0;

	*finder = (struct finder){.recording = config->recording};
	for (size_t i = 0; config->more_debug_dirs && config->more_debug_dirs[i] && ret == 0; i++)
		ret = add_debug_dir(finder, config->more_debug_dirs[i]);
	for (size_t i = 0; config->debug_dirs && config->debug_dirs[i] && ret == 0; i++)
		ret = add_debug_dir(finder, config->debug_dirs[i]);
	if (ret == 0 && !config->debug_dirs)
		ret = add_debug_dir(finder, FINDER_DEBUG_DIR);
	if (ret == 0 && config->archive && !(finder->archive = strdup(config->archive)))
		ret = -ENOMEM;
	if (ret == 0 && config->symfs && !(finder->symfs = strdup(config->symfs)))
		ret = -ENOMEM;
	if (ret == 0 && config->recording && home && home[0] == '/' &&
		asprintf(&finder->home, "%s/.debug", home) < 0) {
		finder->home = NULL;
		ret = -ENOMEM;
	}
	if (ret < 0)
		finder_fini(finder);
	return ret;
}

void finder_fini(struct finder *finder)
{
	for (size_t i = 0; i < finder->n_debug_dirs; i++)
		free(finder->debug_dirs[i]);
	free(finder->debug_dirs);
	free(finder->archive);
	free(finder->symfs);
	free(finder->home);
	*finder = (struct finder){0};
}

/* Gets directory n; returns false after the last one.  An empty dir: no directory of that kind
 * here. */
static bool get_dir(const struct finder *finder, const struct finder_query *query, size_t n,
	struct finder_place *out, enum dir_class *class, const char **debug_dir)
{
	const size_t first_debug = 3 + finder->n_debug_dirs;
	const char *dir = NULL;

	*out = (struct finder_place){0};
	*debug_dir = NULL;
	if (n == 0 || n == 1) {
		dir = n == 0 ? finder->archive : finder->symfs;
		*class = DIR_TREE;
		out->in_root = out->foreign = true;
	} else if (n == 2) {
		dir = finder->home;
		*class = DIR_HOME;
	} else if (n < first_debug) {
		*class = DIR_PROCESS;
		*debug_dir = finder->debug_dirs[n - 3];
		out->in_root = out->foreign = true;
		if (query->what != FINDER_BINARY && !finder->recording && query->pid > 0 &&
			opener_view_of(query->pid) == OPENER_VIEW_OTHER)
			snprintf(out->dir, sizeof(out->dir), "/proc/%d/root", query->pid);
	} else if (n < first_debug + finder->n_debug_dirs) {
		*class = DIR_DEBUG;
		dir = finder->debug_dirs[n - first_debug];
	} else if (n == first_debug + finder->n_debug_dirs) {
		*class = DIR_ROOT;
		dir = "/";
	} else {
		return false;
	}
	if (dir)
		snprintf(out->dir, sizeof(out->dir), "%s", dir);
	return true;
}

static bool append(char *out, size_t *used, const char *text)
{
	size_t len = strlen(text);

	if (*used + len >= FINDER_PATH_MAX)
		return false;
	memcpy(out + *used, text, len + 1);
	*used += len;
	return true;
}

static void hex_id(char out[BUILD_ID_HEX], const struct finder_query *query, bool split)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < query->build_id_len && i < SYMBOLS_BUILD_ID_MAX; i++) {
		used += (size_t)sprintf(out + used, "%02x", query->build_id[i]);
		if (i == 0 && split) {
			out[used++] = '/';
			out[used] = '\0';
		}
	}
}

/* Gets %F: "" for a file in the root.  Returns false if the path is not absolute, or the link's
 * name is not a plain file name. */
static bool get_folder(const struct finder_query *query, char *out)
{
	const char *slash = query->path ? strrchr(query->path, '/') : NULL;

	if (!slash || query->path[0] != '/' || slash - query->path >= FINDER_PATH_MAX ||
		!query->link || strchr(query->link, '/'))
		return false;
	memcpy(out, query->path, (size_t)(slash - query->path));
	out[slash - query->path] = '\0';
	return true;
}

/* Returns false if the query lacks a value for the pattern. */
static bool expand(const char *pattern, const struct finder_query *query, const char *debug_dir,
	struct finder_place *out)
{
	char id[BUILD_ID_HEX], folder[FINDER_PATH_MAX];
	size_t used = 0;

	out->relative[0] = '\0';
	for (const char *p = pattern; *p; p++) {
		char letter[2] = {*p, '\0'};
		const char *text = letter;
		if (*p == '%') {
			p++;
			if ((*p == 'I' || *p == 'S') && query->build_id_len < 2)
				return false;
			if (*p == 'I' || *p == 'S')
				hex_id(id, query, *p == 'I');
			text = *p == 'P'    ? query->path
				: *p == 'R' ? query->release
				: *p == 'D' ? debug_dir
				: *p == 'L' ? query->link
				: *p == 'F' ? folder
				: *p == 'M' ? query->module
					    : id;
			out->by_path |= *p == 'P';
			if (*p == 'F' && !get_folder(query, folder))
				return false;
			if (!text || (!*text && *p != 'F') || (*p == 'P' && *text != '/') ||
				(*p == 'R' && strchr(text, '/')))
				return false;
		}
		if (!append(out->relative, &used, text))
			return false;
	}
	/* All paths are relative to the directory. */
	size_t slashes = strspn(out->relative, "/");
	memmove(out->relative, out->relative + slashes, used - slashes + 1);
	return out->relative[0] != '\0';
}

bool finder_next(const struct finder *finder, struct finder_query *query, struct finder_place *out)
{
	const size_t n_patterns = sizeof(patterns) / sizeof(patterns[0]);
	const char *debug_dir;
	enum dir_class class;

	for (; get_dir(finder, query, query->dir, out, &class, &debug_dir);
		query->dir++, query->pattern = 0) {
		while (out->dir[0] && query->pattern < n_patterns) {
			const struct pattern *pattern = &patterns[query->pattern++];
			out->by_path = false;
			/* The process's root comes once per debug directory; patterns without %D
			 * count once. */
			if (class == DIR_PROCESS && query->dir > 3 && pattern->text[1] != 'D')
				continue;
			if (pattern->what == query->what && pattern->class == class &&
				expand(pattern->text, query, debug_dir, out))
				return true;
		}
	}
	return false;
}
