/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve_binary.c - see resolve_private.h.  UI thread.
 */
#include "symbols/base/timedopen.h"
#include "tui/base/grow.h"
#include "tui/session/resolve_private.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- mapped files --- */

static int add_file(struct resolve_maps *maps, const char *path, uint64_t start)
{
	for (size_t i = 0; i < maps->n; i++)
		if (!strcmp(maps->files[i].path, path))
			return 0;
	if (grow_items(&maps->files, &maps->cap, maps->n + 1, sizeof(*maps->files)))
		return -ENOMEM;
	maps->files[maps->n].path = strdup(path);
	maps->files[maps->n].start = start;
	if (!maps->files[maps->n].path)
		return -ENOMEM;
	maps->n++;
	return 0;
}

/* Moves the process's program to the front. */
static void put_first(struct resolve_maps *maps, const char *program)
{
	for (size_t i = 1; i < maps->n; i++) {
		const struct resolve_file file = maps->files[i];

		if (strcmp(file.path, program) != 0)
			continue;
		memmove(maps->files + 1, maps->files, i * sizeof(file));
		maps->files[0] = file;
		return;
	}
}

int resolve_maps_read(struct resolve_maps *maps, int32_t pid)
{
	char path[64], program[PATH_MAX], *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = 0;

	*maps = (struct resolve_maps){0};
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *in = fopen(path, "re");
	if (!in)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && (len = getline(&line, &room, in)) > 0) {
		char *name = strchr(line, '/');
		uint64_t start;

		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (name && sscanf(line, "%" SCNx64, &start) == 1)
			ret = add_file(maps, name, start);
	}
	free(line);
	fclose(in);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	len = readlink(path, program, sizeof(program) - 1);
	if (len > 0) {
		program[len] = '\0';
		put_first(maps, program);
	}
	if (ret)
		resolve_maps_fini(maps);
	return ret;
}

void resolve_maps_fini(struct resolve_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		free(maps->files[i].path);
	free(maps->files);
	*maps = (struct resolve_maps){0};
}

bool resolve_is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(path, name) || (slash && !strchr(name, '/') && !strcmp(slash + 1, name));
}

/* --- files on disk --- */

static bool is_file(const char *path)
{
	struct stat st;

	return !timedopen_stat(path, &st) && S_ISREG(st.st_mode);
}

static bool take(const char *dir, size_t dir_len, const char *name, char *out, size_t size)
{
	const int n = snprintf(out, size, "%.*s/%s", (int)dir_len, dir, name);

	return n > 0 && (size_t)n < size && is_file(out);
}

/* Searches directories that are separated by colons. */
static bool take_from(const char *dirs, const char *name, char *out, size_t size)
{
	while (dirs && *dirs) {
		const size_t len = strcspn(dirs, ":");

		if (len && take(dirs, len, name, out, size))
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

static bool take_from_conf(const char *conf, const char *name, char *out, size_t size)
{
	char line[PATH_MAX];
	bool found = false;
	FILE *in = fopen(conf, "re");

	while (in && !found && fgets(line, sizeof(line), in)) {
		const size_t len = strcspn(line, " \t\n#");

		found = line[0] == '/' && take(line, len, name, out, size);
	}
	if (in)
		fclose(in);
	return found;
}

/* Searches like ld.so(8), but without its cache. */
static bool take_library(const char *name, char *out, size_t size)
{
	glob_t confs;
	bool found = take_from(getenv("LD_LIBRARY_PATH"), name, out, size) ||
		take_from_conf("/etc/ld.so.conf", name, out, size);

	if (!found && !glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &confs)) {
		for (size_t i = 0; i < confs.gl_pathc && !found; i++)
			found = take_from_conf(confs.gl_pathv[i], name, out, size);
		globfree(&confs);
	}
	return found ||
		take_from("/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib", name, out, size);
}

static bool take_mapped(
	const char *name, const struct resolve_target *target, char *out, size_t size)
{
	struct resolve_maps maps;
	bool found = false;

	for (size_t i = 0; i < target->n_pids && !found; i++) {
		if (resolve_maps_read(&maps, target->pids[i]))
			continue;
		for (size_t j = 0; j < maps.n && !found; j++) {
			const char *path = maps.files[j].path;

			if (!resolve_is_named(path, name))
				continue;
			/* The process's root may have another file at this path. */
			found = (size_t)snprintf(out, size, "/proc/%d/root%s", target->pids[i],
					path) < size &&
				is_file(out);
			struct stat inside, here;
			if (found && !timedopen_stat(out, &inside) &&
				!timedopen_stat(path, &here) && inside.st_ino == here.st_ino &&
				inside.st_dev == here.st_dev)
				snprintf(out, size, "%s", path);
		}
		resolve_maps_fini(&maps);
	}
	return found;
}

int resolve_command(const char *command, char *out, size_t size)
{
	const char *path = getenv("PATH");

	if (strchr(command, '/')) {
		snprintf(out, size, "%s", command);
		if (!is_file(out))
			return -ENOENT;
	} else if (!take_from(path ? path : "/bin:/usr/bin", command, out, size)) {
		return -ENOENT;
	}
	char *real = realpath(out, NULL);
	if (real && strlen(real) < size)
		memcpy(out, real, strlen(real) + 1);
	free(real);
	return 0;
}

int resolve_binary(const char *name, const struct resolve_target *target, char *out, size_t size)
{
	const char *path = getenv("PATH");

	if (!name[0])
		return -ENOENT;
	if (strchr(name, '/'))
		return resolve_command(name, out, size);
	if (take_mapped(name, target, out, size) ||
		take_from(path ? path : "/bin:/usr/bin", name, out, size) ||
		take_library(name, out, size))
		return 0;
	return -ENOENT;
}
