// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * cgroup.c - reads mounts, directories and files of pids; see cgroup.h.
 */
#include "sampler/events/cgroup.h"

#include "sampler/base/grow.h"
#include "sampler/base/sysfile.h"
#include "sampler/events/private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 48
#define ID_MAX 64

/* --- mounts --- */

/* Decodes a path of the mount table: blanks and some other characters are octal escapes. */
static void unescape(char *out, const char *from, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < PATH_MAX - 1; i++) {
		if (from[i] == '\\' && i + 3 < len && from[i + 1] >= '0' && from[i + 1] <= '3' &&
			isdigit((unsigned char)from[i + 2]) &&
			isdigit((unsigned char)from[i + 3])) {
			out[n++] = (char)((from[i + 1] - '0') << 6 | (from[i + 2] - '0') << 3 |
				(from[i + 3] - '0'));
			i += 3;
		} else {
			out[n++] = from[i];
		}
	}
	out[n] = '\0';
}

static bool has_word(const char *words, size_t len, const char *word)
{
	size_t word_len = strlen(word);

	for (size_t at = 0; at < len;) {
		size_t its = strcspn(words + at, ", \n");

		if (its > len - at)
			its = len - at;
		if (its == word_len && !memcmp(words + at, word, its))
			return true;
		at += its + 1;
	}
	return false;
}

void cgroup_parse_mounts(const char *text, struct cgroup_mounts *out)
{
	memset(out, 0, sizeof(*out));
	for (const char *line = text; *line;) {
		const char *field[4];
		size_t len[4], n = 0, end = strcspn(line, "\n");

		for (const char *at = line; n < 4 && at < line + end; n++) {
			field[n] = at;
			len[n] = strcspn(at, " \n");
			at += len[n] + 1;
		}
		if (n == 4 && len[2] == 7 && !memcmp(field[2], "cgroup2", 7)) {
			if (!out->unified[0])
				unescape(out->unified, field[1], len[1]);
		} else if (n == 4 && len[2] == 6 && !memcmp(field[2], "cgroup", 6)) {
			const bool events = has_word(field[3], len[3], "perf_event");
			char *place = events ? out->perf_event : out->other;

			if (!place[0])
				unescape(place, field[1], len[1]);
			if (!out->memory[0] && has_word(field[3], len[3], "memory"))
				unescape(out->memory, field[1], len[1]);
		}
		line += end + (line[end] == '\n');
	}
}

int cgroup_mounts(struct cgroup_mounts *out)
{
	char *text;
	int err = sysfile_read(&text, NULL, "/proc/self/mounts");

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	cgroup_parse_mounts(text, out);
	free(text);
	return 0;
}

const char *cgroup_root(const struct cgroup_mounts *mounts)
{
	return mounts->perf_event[0] ? mounts->perf_event
		: mounts->unified[0] ? mounts->unified
				     : NULL;
}

/* --- the tree --- */

/* Receives a directory below the root: its full path, and the part after the root.  Returns 0 to
 * continue; positive to skip its subdirectories; negative to end the walk with an error. */
typedef int visit_fn(const char *path, const char *below, void *ctx);

static int walk(char path[PATH_MAX], size_t root_len, unsigned int depth, visit_fn *fn, void *ctx)
{
	struct sysfile_names names;
	size_t len = strlen(path);
	int ret = sysfile_directories(&names, "%s", path);

	/* Directories that disappeared or are unreadable are left out. */
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	for (size_t i = 0; i < names.n && ret >= 0; i++) {
		size_t more = strlen(names.names[i]);

		if (len + 1 + more >= PATH_MAX)
			continue;
		path[len] = '/';
		memcpy(path + len + 1, names.names[i], more + 1);
		ret = fn(path, path + root_len + 1, ctx);
		if (!ret && depth < DEPTH_MAX)
			ret = walk(path, root_len, depth + 1, fn, ctx);
		path[len] = '\0';
	}
	sysfile_names_fini(&names);
	return ret < 0 ? ret : 0;
}

static int walk_all(const struct cgroup_mounts *mounts, visit_fn *fn, void *ctx)
{
	const char *root = cgroup_root(mounts);
	char path[PATH_MAX];

	if (!root)
		return -ENODEV;
	snprintf(path, sizeof(path), "%s", root);
	return walk(path, strlen(path), 0, fn, ctx);
}

/* --- by name --- */

static bool is_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	return *root && !strncmp(path, root, len) && (path[len] == '/' || !path[len]);
}

static bool has_dots(const char *path)
{
	for (const char *at = path; *at;) {
		size_t len = strcspn(at, "/");

		if (len == 2 && at[0] == '.' && at[1] == '.')
			return true;
		at += len + (at[len] == '/');
	}
	return false;
}

static int take_path(char *out, size_t size, const char *root, const char *below)
{
	struct stat info;
	size_t len;
	int n;

	below += strspn(below, "/");
	n = snprintf(out, size, "%s%s%s", root, *below ? "/" : "", below);
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	for (len = (size_t)n; len > 1 && out[len - 1] == '/'; len--)
		out[len - 1] = '\0';
	if (has_dots(below) || stat(out, &info) || !S_ISDIR(info.st_mode))
		return -ENOENT;
	return 0;
}

static size_t hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Returns the container id in a directory's name: "docker-ID.scope", "libpod-ID",
 * "cri-containerd-ID.scope", "SLICE:cri-containerd:ID", "ID".  NULL if none.  The directory of a
 * container's monitor (conmon) also has the id and does not count. */
static const char *container_of(const char *directory, size_t *len)
{
	if (strstr(directory, "conmon"))
		return NULL;
	for (const char *at = directory; *at; at++) {
		*len = hex_digits(at);
		if (*len >= CGROUP_ID_MIN && *len <= ID_MAX &&
			(at == directory || at[-1] == '-' || at[-1] == ':') &&
			(!at[*len] || at[*len] == '.'))
			return at;
		if (*len)
			at += *len - 1;
	}
	return NULL;
}

struct container_search {
	const char *id;
	size_t id_len;
	char *out;
	size_t size;
	size_t found;
};

static int look_for_container(const char *path, const char *below, void *ctx)
{
	struct container_search *search = ctx;
	const char *slash = strrchr(below, '/'), *id;
	size_t len;

	id = container_of(slash ? slash + 1 : below, &len);
	if (!id || len < search->id_len || memcmp(id, search->id, search->id_len))
		return 0;
	if (strlen(path) >= search->size)
		return -ENAMETOOLONG;
	if (!search->found++)
		strcpy(search->out, path);
	return 1;
}

static int find_container(
	const struct cgroup_mounts *mounts, const char *name, char *out, size_t size)
{
	struct container_search search = {name, strlen(name), out, size, 0};
	int ret;

	if (search.id_len < CGROUP_ID_MIN || search.id_len > ID_MAX ||
		hex_digits(name) != search.id_len)
		return -ENOENT;
	ret = walk_all(mounts, look_for_container, &search);
	return ret ? ret : !search.found ? -ENOENT : search.found > 1 ? -EEXIST : 0;
}

/* Returns whether the path is a cgroup directory of any hierarchy. */
static bool is_of_any(const char *path)
{
	char file[PATH_MAX];
	int n = snprintf(file, sizeof(file), "%s/cgroup.procs", path);

	return n > 0 && (size_t)n < sizeof(file) && !access(file, F_OK);
}

int cgroup_find(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size)
{
	const char *root = cgroup_root(mounts);
	int ret;

	out[0] = '\0';
	if (!root)
		return -ENODEV;
	if (is_below(name, root))
		return take_path(out, size, root, name + strlen(root));
	if (name[0] == '/' && is_of_any(name))
		return -EXDEV;
	ret = take_path(out, size, root, name);
	if (ret == -ENOENT)
		ret = find_container(mounts, name, out, size);
	if (ret)
		out[0] = '\0';
	return ret;
}

struct near_search {
	struct event_near whole, last;
	char path_of_last[PATH_MAX];
};

static int look_for_near(const char *path, const char *below, void *ctx)
{
	struct near_search *search = ctx;
	const char *slash = strrchr(below, '/');
	unsigned int least = search->last.least;

	(void)path;
	event_near_try(&search->whole, below);
	event_near_try(&search->last, slash ? slash + 1 : below);
	if (search->last.least < least)
		snprintf(search->path_of_last, sizeof(search->path_of_last), "%s", below);
	return 0;
}

void cgroup_near(const struct cgroup_mounts *mounts, const char *name, char *out, size_t size)
{
	const char *root = cgroup_root(mounts), *slash;
	struct near_search search = {0};
	const char *found;

	out[0] = '\0';
	if (!root)
		return;
	if (is_below(name, root))
		name += strlen(root);
	name += strspn(name, "/");
	slash = strrchr(name, '/');
	event_near_begin(&search.whole, (struct event_piece){name, strlen(name)});
	slash = slash ? slash + 1 : name;
	event_near_begin(&search.last, (struct event_piece){slash, strlen(slash)});
	/* The right last part below another path beats any other candidate. */
	search.last.least += search.last.least > 0;
	(void)walk_all(mounts, look_for_near, &search);
	found = search.whole.best[0] ? search.whole.best : search.path_of_last;
	if (strlen(found) < size)
		strcpy(out, found);
}

void cgroup_label(const struct cgroup_mounts *mounts, const char *path, char out[CGROUP_LABEL_MAX])
{
	const char *root = cgroup_root(mounts), *slash = strrchr(path, '/'), *id;
	const char *last = slash && slash[1] ? slash + 1 : path;
	size_t len;

	if (root && !strcmp(path, root))
		last = "/";
	id = container_of(last, &len);
	if (id && len > CGROUP_ID_MIN)
		snprintf(out, CGROUP_LABEL_MAX, "%.*s", CGROUP_ID_MIN, id);
	else
		snprintf(out, CGROUP_LABEL_MAX, "%s", last);
}

/* --- processes of a cgroup --- */

struct pids {
	int32_t *list;
	size_t n, room;
};

static int add_pids(struct pids *pids, const char *text)
{
	for (const char *at = text; *at;) {
		char *end;
		long value = strtol(at, &end, 10);

		if (end == at)
			break;
		at = end + (*end == '\n');
		if (value <= 0 || value > INT32_MAX)
			continue; /* 0: a process of another pid namespace */
		if (grow_items(&pids->list, &pids->room, pids->n + 1, sizeof(*pids->list)))
			return -ENOMEM;
		pids->list[pids->n++] = (int32_t)value;
	}
	return 0;
}

static int take_pids(const char *path, const char *below, void *ctx)
{
	char *text;
	int err = sysfile_read(&text, NULL, "%s/cgroup.procs", path);

	(void)below;
	/* A threaded cgroup lists only threads; their process is listed in a cgroup above. */
	if (err == -EOPNOTSUPP)
		err = sysfile_read(&text, NULL, "%s/cgroup.threads", path);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = add_pids(ctx, text);
	free(text);
	return err;
}

int cgroup_pids(const char *path, int32_t **pids, size_t *n)
{
	struct pids found = {0};
	char place[PATH_MAX];
	struct stat info;
	int err;

	*pids = NULL;
	*n = 0;
	if (strlen(path) >= sizeof(place))
		return -ENAMETOOLONG;
	if (stat(path, &info))
		return -errno;
	strcpy(place, path);
	err = take_pids(path, "", &found);
	if (!err)
		err = walk(place, strlen(place), 0, take_pids, &found);
	if (err) {
		free(found.list);
		return err;
	}
	*pids = found.list;
	*n = found.n;
	return 0;
}

/* --- limits --- */

#define NO_LIMIT (1ull << 60) /* version 1 writes at least this for "no limit" */

/* Returns the path in a line of /proc/PID/cgroup: "4:cpu,memory:/a/b", or "0::/a/b" in version 2.
 * NULL if no line matches. */
static const char *own_path(const char *own, const char *controller, size_t *len)
{
	for (const char *line = own; *line; line += *len + (line[*len] == '\n')) {
		const char *first = strchr(line, ':');
		const char *second = first ? strchr(first + 1, ':') : NULL;

		*len = strcspn(line, "\n");
		if (!second || second >= line + *len)
			continue;
		const size_t words_len = (size_t)(second - first - 1);
		if (controller ? has_word(first + 1, words_len, controller) : !words_len) {
			*len -= (size_t)(second + 1 - line);
			return second + 1;
		}
	}
	return NULL;
}

static uint64_t read_limit(const char *directory, const char *name)
{
	unsigned long long value;
	char *text;
	const int err = sysfile_read(&text, NULL, "%s/%s", directory, name);

	if (err)
		return NO_LIMIT;
	if (sscanf(text, "%llu", &value) != 1 || value > NO_LIMIT)
		value = NO_LIMIT; /* "max" */
	free(text);
	return value;
}

uint64_t cgroup_memory_limit_of(const struct cgroup_mounts *mounts, const char *own)
{
	const bool first = mounts->memory[0];
	const char *root = first ? mounts->memory : mounts->unified;
	const char *name = first ? "memory.limit_in_bytes" : "memory.max";
	char path[2 * PATH_MAX];
	uint64_t least = NO_LIMIT;
	size_t len;

	const char *below = *root ? own_path(own, first ? "memory" : NULL, &len) : NULL;
	if (!below || len >= PATH_MAX)
		return 0;
	/* Each parent cgroup has a limit of its own. */
	for (;;) {
		while (len && below[len - 1] == '/')
			len--;
		snprintf(path, sizeof(path), "%s%.*s", root, (int)len, below);
		const uint64_t limit = read_limit(path, name);
		if (limit < least)
			least = limit;
		if (!len)
			break;
		while (len && below[len - 1] != '/')
			len--;
	}
	return least < NO_LIMIT ? least : 0;
}

uint64_t cgroup_memory_limit(void)
{
	struct cgroup_mounts *mounts = malloc(sizeof(*mounts));
	uint64_t limit = 0;
	char *own = NULL;

	if (mounts && !cgroup_mounts(mounts) && !sysfile_read(&own, NULL, "/proc/self/cgroup"))
		limit = cgroup_memory_limit_of(mounts, own);
	free(own);
	free(mounts);
	return limit;
}

struct count {
	size_t n, max;
};

static int count_one(const char *path, const char *below, void *ctx)
{
	struct count *count = ctx;

	(void)path;
	(void)below;
	return ++count->n < count->max ? 0 : -ECANCELED;
}

size_t cgroup_count(const struct cgroup_mounts *mounts, size_t max)
{
	struct count count = {0, max};

	(void)walk_all(mounts, count_one, &count);
	return count.n;
}

int cgroup_identity(const char *path, uint64_t *inode)
{
	struct stat info;

	if (stat(path, &info))
		return -errno;
	*inode = info.st_ino;
	return 0;
}

/* --- events --- */

int cgroup_spread(const struct event_spec *specs, size_t n, const struct event_cgroup *cgroups,
	size_t n_cgroups, size_t max, struct event_spec **out, size_t *n_out)
{
	struct event_spec *spread = calloc(n * (n_cgroups ? n_cgroups : 1) + 1, sizeof(*spread));
	uint16_t group = 0;
	size_t len, made = 0;

	*out = NULL;
	*n_out = 0;
	if (!spread)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (specs[i].group > group)
			group = specs[i].group;
	for (size_t i = 0; i < n; i += len) {
		for (len = 1;
			specs[i].group && i + len < n && specs[i + len].group == specs[i].group;)
			len++;
		for (size_t k = 0; k < (specs[i].cgroup || !n_cgroups ? 1 : n_cgroups); k++) {
			group = (uint16_t)(group + (k && specs[i].group));
			for (size_t m = 0; m < len; m++) {
				struct event_spec *spec = &spread[made++];

				*spec = specs[i + m];
				if (spec->cgroup || !n_cgroups)
					continue;
				spec->cgroup = cgroups[k].path;
				spec->cgroup_label = cgroups[k].label;
				if (k && spec->group)
					spec->group = group;
			}
		}
	}
	if (made > max) {
		free(spread);
		return -E2BIG;
	}
	*out = spread;
	*n_out = made;
	return 0;
}
