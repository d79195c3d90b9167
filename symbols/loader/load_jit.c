/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_jit.c - finds names of code made at run time: /tmp/perf-PID.map and jit-PID.dump.
 *
 * Any user can create these files.  Only regular files of the process's user, of root and of this
 * user are accepted.  A file last changed before the process began belongs to an earlier process
 * with the same PID.  It is accepted if the process has it open, because the clock may have been
 * set since.  The check uses the ctime of the inode, which no copy or archive can preserve.
 *
 * Runs in the loader thread.
 */
#include "symbols/base/grow.h"
#include "symbols/loader/loader_private.h"

#include "symbols/base/clock.h"
#include "symbols/loader/loader_code.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAP_DIR "/tmp"
#define FDS_MAX 4096u
#define CLOCK_SLACK_S 2 /* file system timestamps are coarse */
/* Limits for all copies of one recording. */
#define COPIES_MAX 512u
#define COPIES_BYTES_MAX (128u << 20)

enum { SLOT_MAP, SLOT_DUMP }; /* indexes of loader_image.kept_fds */

struct target {
	int32_t pid, parent;
	int32_t inner_pid; /* PID in its own pid namespace */
	uid_t uids[4]; /* real, effective, saved, file system */
	int64_t started_s; /* seconds since 1970; 0 if unknown */
	bool ended; /* zombie: its parent has not waited for it yet, and it has no root any more */
	char root[32]; /* "/proc/PID/root" */
};

/* --- the process --- */

static int64_t read_start(int32_t pid)
{
	struct timespec real, boot;
	char path[64], text[1024];
	unsigned long long ticks = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	size_t n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	/* The start time is field 22.  Field 2 is the name, which may contain any character. */
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %llu", &ticks) != 1 || clock_gettime(CLOCK_REALTIME, &real) ||
		clock_gettime(CLOCK_BOOTTIME, &boot))
		return 0;
	return real.tv_sec - boot.tv_sec +
		(int64_t)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
}

/* Returns false if the process is gone. */
static bool read_target(int32_t pid, struct target *out)
{
	bool has_uids = false;
	char path[64], *line = NULL;
	size_t size = 0;

	*out = (struct target){.pid = pid, .inner_pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	FILE *file = pid > 0 ? fopen(path, "re") : NULL;
	if (!file)
		return false;
	while (getline(&line, &size, file) > 0) {
		const char *last = strrchr(line, '\t');
		if (!strncmp(line, "NSpid:", 6) && last)
			out->inner_pid = atoi(last + 1);
		if (!strncmp(line, "State:\tZ", 8))
			out->ended = true;
		if (sscanf(line, "PPid: %d", &out->parent) == 1)
			continue;
		if (sscanf(line, "Uid: %u %u %u %u", &out->uids[0], &out->uids[1], &out->uids[2],
			    &out->uids[3]) == 4)
			has_uids = true;
	}
	free(line);
	fclose(file);
	out->started_s = read_start(pid);
	snprintf(out->root, sizeof(out->root), "/proc/%d/root", pid);
	return has_uids && out->inner_pid > 0;
}

static bool is_trusted(const struct target *target, uid_t owner)
{
	for (size_t i = 0; target && i < 4; i++)
		if (owner == target->uids[i])
			return true;
	return owner == 0 || owner == geteuid();
}

/* --- files --- */

/* Opens a file by its path below a root.  Links in the directory part stay within the root, and a
 * link at the end stays within the directory: in /tmp any user can create one. */
static int open_below(const char *root, const char *path, struct opener_file *out)
{
	const char *slash = strrchr(path, '/');
	char dir[64], *parent;
	int ret;

	*out = (struct opener_file){.fd = -1};
	if (!slash || !slash[1])
		return -ENOENT;
	parent = strndup(path, (size_t)(slash - path) + 1);
	if (!parent)
		return -ENOMEM;
	int root_fd = opener_directory(AT_FDCWD, root, 0);
	int fd = root_fd < 0
		? root_fd
		: opener_directory(root_fd, parent, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	ret = fd < 0 ? fd : 0;
	if (fd >= 0) {
		snprintf(dir, sizeof(dir), "/proc/self/fd/%d", fd);
		ret = opener_below(dir, slash + 1, true, out);
		close(fd);
	}
	if (root_fd >= 0)
		close(root_fd);
	free(parent);
	return ret;
}

static struct loader_jit_file identity_of(const struct opener_file *file)
{
	return (struct loader_jit_file){
		file->dev, file->inode, file->size, file->mtime_ns, file->owner};
}

static bool is_same_file(const struct loader_jit_file *a, const struct loader_jit_file *b)
{
	return a->inode == b->inode && a->dev == b->dev;
}

static bool is_same(const struct loader_jit_file *a, const struct loader_jit_file *b)
{
	return is_same_file(a, b) && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

static void drop(struct opener_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* --- living processes --- */

static bool has_open(int32_t pid, const struct opener_file *file)
{
	char own[64], dir[64], theirs[2 * sizeof(dir) + sizeof(((struct dirent *)0)->d_name)];
	const struct dirent *entry;
	bool found = false;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", file->fd);
	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	DIR *fds = opendir(dir);
	for (size_t i = 0; fds && !found && i < FDS_MAX && (entry = readdir(fds)); i++) {
		snprintf(theirs, sizeof(theirs), "%s/%s", dir, entry->d_name);
		found = opener_same_file(own, theirs) > 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

static bool is_left(const struct target *target, const struct opener_file *file)
{
	const int64_t changed_s = (int64_t)(file->ctime_ns / 1000000000u);

	return target->started_s && changed_s + CLOCK_SLACK_S < target->started_s &&
		!has_open(target->pid, file);
}

/* Adds a note, once, if a file may exist but its open timed out or ran out of resources. */
static void tell_unanswered(struct loader *loader, const char *path, int ret, bool *told)
{
	if ((ret != -ETIMEDOUT && !loader_code_is_want(-ret)) || !told || *told)
		return;
	loader_add_note(loader, SYMBOLS_NOTE_UNREADABLE, path, -ret, 0);
	*told = true;
}

/* Opens a file of the process if it can be trusted.  If not, adds one note with the reason and sets
 * *told.  Adds none if told is NULL or *told is set.  Returns 0 or -errno. */
static int open_own(struct loader *loader, const struct target *target, const char *path,
	bool *told, struct opener_file *out)
{
	int ret = open_below(target->root, path, out);

	/* If its root is inaccessible, try this process's root, unless its pid namespace is another
	 * one. */
	if ((ret == -EACCES || ret == -EPERM) && target->inner_pid == target->pid)
		ret = open_below("/", path, out);
	if (ret < 0) {
		tell_unanswered(loader, path, ret, told);
		return ret;
	}
	if (is_left(target, out))
		ret = -ENOENT;
	else if (!is_trusted(target, out->owner))
		ret = -EPERM;
	if (ret < 0 && told && !*told)
		loader_add_note(loader,
			ret == -EPERM ? SYMBOLS_NOTE_JIT_OWNER : SYMBOLS_NOTE_JIT_LEFT, path, 0, 0);
	if (ret < 0 && told)
		*told = true;
	if (ret < 0)
		drop(out);
	return ret;
}

static void set_path(struct loader_jit *jit, int32_t pid)
{
	snprintf(jit->path, sizeof(jit->path), MAP_DIR "/perf-%d.map", pid);
}

/* Returns whether this process sees the same file at this path. */
static bool is_ours(const char *path, const struct loader_jit_file *file)
{
	struct opener_file here;

	if (open_below("/", path, &here) < 0)
		return false;
	const struct loader_jit_file found = identity_of(&here);
	drop(&here);
	return is_same_file(&found, file);
}

static bool has_same_program(int32_t a, int32_t b)
{
	char paths[2][64];

	snprintf(paths[0], sizeof(paths[0]), "/proc/%d/exe", a);
	snprintf(paths[1], sizeof(paths[1]), "/proc/%d/exe", b);
	return opener_same_file(paths[0], paths[1]) > 0;
}

/* Returns the process whose memory was inherited by fork.  If no fork was recorded, this is the
 * parent if both run the same program, else 0. */
static int32_t parent_of(const struct loader_image *image, const struct target *target)
{
	if (image->source.parent > 0)
		return image->source.parent;
	return has_same_program(target->pid, target->parent) ? target->parent : 0;
}

/* A forked process may run code compiled by its parent, or by the first process of its fork
 * chain. */
static void open_living(struct loader *loader, struct loader_image *image,
	const struct target *target, struct opener_file *map, struct opener_file *dump)
{
	struct loader_jit *jit = &image->jit;
	struct target parent;

	set_path(jit, target->inner_pid);
	int ret = open_own(loader, target, jit->path, &jit->told_refused, map);
	jit->inherited = ret == -ENOENT;
	if (ret == -ENOENT && read_target(parent_of(image, target), &parent)) {
		set_path(jit, parent.inner_pid);
		ret = open_own(loader, &parent, jit->path, &jit->told_refused, map);
	}
	if (ret == -ENOENT && read_target(image->source.elder, &parent)) {
		set_path(jit, parent.inner_pid);
		open_own(loader, &parent, jit->path, &jit->told_refused, map);
	}
	if (image->source.jitdump)
		open_own(loader, target, image->source.jitdump, &jit->told_refused, dump);
}

/* --- ended processes --- */

/* Opens the file that was seen while the process lived.  If that was replaced or none was seen,
 * opens the file now there if it changed since strobe began and its owner is trusted. */
static void open_left(struct loader *loader, const char *path, const struct loader_jit_file *seen,
	bool ours, bool *told, struct opener_file *out)
{
	if (seen->inode && !ours)
		return;
	const int ret = open_below("/", path, out);
	tell_unanswered(loader, path, ret, told);
	if (ret < 0)
		return;
	const struct loader_jit_file found = identity_of(out);
	const int64_t changed_s = (int64_t)(out->mtime_ns / 1000000000u);
	const bool trusted =
		out->owner == seen->owner || (!seen->inode && is_trusted(NULL, out->owner));
	if (!(seen->inode && is_same_file(&found, seen)) &&
		(changed_s + CLOCK_SLACK_S < loader->started_s || !trusted))
		drop(out);
}

static void open_remains(struct loader *loader, struct loader_image *image, struct opener_file *map,
	struct opener_file *dump)
{
	struct loader_jit *jit = &image->jit, own = {0};
	const struct loader_jit_file unseen = {.owner = jit->map.owner};

	/* Just before it ended, the process may have begun its own map instead of using its
	 * parent's. */
	set_path(&own, image->source.pid);
	if (!jit->map.inode || (!jit->elsewhere && strcmp(own.path, jit->path) != 0))
		open_left(loader, own.path, &unseen, true, &jit->told_refused, map);
	if (!jit->map.inode || map->fd >= 0) {
		memcpy(jit->path, own.path, sizeof(jit->path));
		jit->inherited = false;
	} else {
		open_left(loader, jit->path, &jit->map, jit->ours, &jit->told_refused, map);
	}
	if (image->source.jitdump)
		open_left(loader, image->source.jitdump, &jit->dump, jit->ours, &jit->told_refused,
			dump);
}

/* --- living and ended processes --- */

static void tell_cut(struct loader *loader, struct loader_image *image,
	const struct loader_question *question, const struct wire_message *answer)
{
	const bool second = answer->flags & WIRE_FLAG_CUT_SECOND;

	/* A growing map is read repeatedly, but noted once. */
	if (image->jit.told_cut || !(second || answer->flags & WIRE_FLAG_CUT))
		return;
	image->jit.told_cut = true;
	loader_add_note(loader, SYMBOLS_NOTE_JIT_CUT,
		second ? image->source.jitdump : question->path, 0, (int)(answer->address >> 20));
}

uint32_t load_jit_timed(struct loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	const bool timed = !loader->recording || loader->recorded.monotonic;
	pthread_mutex_unlock(&loader->lock);
	return timed ? WIRE_FLAG_TIMED : 0;
}

static int ask(struct loader *loader, struct loader_image *image, const struct opener_file *map,
	const struct opener_file *dump, bool foreign)
{
	const bool has_map = map->fd >= 0;
	const struct loader_question question = {
		.type = WIRE_JIT,
		.path = has_map ? image->jit.path : image->source.jitdump,
		.file = has_map ? map : dump,
		.debug = has_map && dump->fd >= 0 ? dump : NULL,
		.foreign = foreign,
		.flags = load_jit_timed(loader),
		.payload = image->jit.steps,
		.len = image->jit.n_steps * sizeof(*image->jit.steps),
	};
	struct wire_message answer;

	int ret = load_table(loader, image, &question, NULL, &answer);
	if (ret == 0)
		tell_cut(loader, image, &question, &answer);
	if (ret == 0 || ret == -ECANCELED || ret == -ECHILD)
		return ret;
	/* A retry would fail in the same way. */
	image->jit.over = true;
	if (ret != -EOWNERDEAD)
		loader_add_note(loader, SYMBOLS_NOTE_UNREADABLE, question.path, -ret, 0);
	return 0;
}

int loader_jit_copy(struct loader_jit *to, const struct loader_jit *from)
{
	*to = *from;
	to->steps = calloc(from->n_steps + 1, sizeof(*to->steps));
	if (!to->steps)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_steps; i++)
		to->steps[i] = from->steps[i];
	return 0;
}

/* Returns the entry for an image's copy, added if missing; NULL if there are too many or memory
 * runs out. */
static struct loader_copy *find_copy(struct loader *loader, uint32_t key)
{
	for (size_t i = 0; i < loader->n_copies; i++)
		if (loader->copies[i].key == key)
			return &loader->copies[i];
	if (loader->n_copies == COPIES_MAX)
		return NULL;
	if (array_resize(&loader->copies, loader->n_copies + 1, sizeof(*loader->copies)) < 0)
		return NULL;
	loader->copies[loader->n_copies] = (struct loader_copy){.key = key};
	return &loader->copies[loader->n_copies++];
}

static bool has_room(const struct loader *loader, struct loader_copy *copy, uint64_t size)
{
	uint64_t total = 0;

	copy->bytes = size < PERFMAP_BYTES_MAX ? size : PERFMAP_BYTES_MAX;
	for (size_t i = 0; i < loader->n_copies; i++)
		total += loader->copies[i].bytes;
	if (total > COPIES_BYTES_MAX)
		copy->bytes = 0;
	return copy->bytes || !size;
}

/* Copies a jitdump that disappears with its container, or that a reader of the recording would not
 * trust, since nothing there tells the process's user.  Other jitdumps stay, and are large. */
static void keep_dump(
	struct loader *loader, struct loader_image *image, const struct opener_file *dump)
{
	const char *path = image->source.jitdump;
	bool cut = false;

	if (!loader->keep_for_recording)
		return;
	image->jit.left_out = false;
	if (dump->fd < 0 ||
		(!image->jit.elsewhere && is_ours(path, &image->jit.dump) &&
			is_trusted(NULL, dump->owner)))
		return;
	struct loader_copy *copy = find_copy(loader, image->key);
	int fd = copy && has_room(loader, copy, dump->size)
		? kept_copy(dump->fd, dump->size, false, &cut)
		: -ENOSPC;
	image->jit.left_out = fd < 0;
	if (fd < 0)
		return;
	image->kept_fds[SLOT_DUMP] = fd;
	if (cut && !image->jit.told_cut) {
		image->jit.told_cut = true;
		loader_add_note(
			loader, SYMBOLS_NOTE_JIT_CUT, path, 0, (int)(PERFMAP_BYTES_MAX >> 20));
	}
}

/* Restores the state before this look, for a retry.  The map could not be read: memory or
 * descriptors ran out, or its file system did not answer. */
static void look_later(struct loader *loader, struct loader_image *image,
	const struct loader_jit *before, int error)
{
	struct loader_jit *jit = &image->jit;
	const bool over = jit->over, told = before->told_refused;

	if (!told)
		loader_add_note(loader, SYMBOLS_NOTE_UNREADABLE, jit->path, -error, 0);
	*jit = *before;
	jit->same = true;
	jit->over = over;
	jit->told_refused = true;
	image->state = SYMBOLS_NONE;
}

/* Calls load_map().  ends: no process writes the map any more, so an unfinished last line is
 * completed. */
static int take_map(struct loader_image *image, const struct loader_jit_file *before, bool ends,
	struct opener_file *map)
{
	int ret = load_map(image, before, map);

	image->jit.unfinished = ret == 0 && load_map_is_unfinished(map);
	if (ret == 0 && ends && image->jit.unfinished) {
		image->jit.unfinished = false;
		ret = load_map_finish(map);
	}
	return ret;
}

int load_jit(struct loader *loader, struct loader_image *image)
{
	struct opener_file map = {.fd = -1}, dump = {.fd = -1};
	const struct loader_jit before = image->jit;
	const uint64_t now_ns = clock_now_ns();
	struct loader_jit *jit = &image->jit;
	struct target target;
	int ret = 0;

	jit->same = false;
	jit->elsewhere |= opener_view_of(image->source.pid) == OPENER_VIEW_OTHER;
	jit->over = !read_target(image->source.pid, &target);
	const bool ended = jit->over || target.ended;
	if (!ended)
		open_living(loader, image, &target, &map, &dump);
	else
		open_remains(loader, image, &map, &dump);
	jit->map = map.fd >= 0 ? identity_of(&map) : (struct loader_jit_file){0};
	jit->dump = dump.fd >= 0 ? identity_of(&dump) : (struct loader_jit_file){0};
	/* If the files were removed meanwhile, the previous answer stays. */
	if (map.fd < 0 && dump.fd < 0) {
		image->state = SYMBOLS_NONE;
		jit->same = before.map.inode || before.dump.inode;
		if (jit->same) {
			const bool over = jit->over, told = jit->told_refused;
			*jit = before;
			jit->same = true;
			jit->over = over;
			jit->told_refused = told;
		}
		return 0;
	}
	const bool gone = map.fd < 0 && before.map.inode;
	if (gone)
		jit->map = before.map;
	jit->ours = map.fd >= 0 ? is_ours(jit->path, &jit->map)
				: is_ours(image->source.jitdump, &jit->dump);
	const bool ends = ended && !jit->inherited;
	jit->same = is_same(&before.map, &jit->map) && is_same(&before.dump, &jit->dump) &&
		!(ends && jit->unfinished);
	if (!jit->same && map.fd >= 0)
		ret = take_map(image, &before.map, ends, &map);
	else if (!jit->same && gone)
		ret = load_map_again(image, &map);
	jit->read_ns = now_ns;
	if (ret < 0) {
		look_later(loader, image, &before, ret);
		ret = 0;
	} else if (!jit->same) {
		ret = ask(loader, image, &map, &dump, false);
	}
	if (!jit->same && image->state == SYMBOLS_READY)
		keep_dump(loader, image, &dump);
	drop(&map);
	drop(&dump);
	return ret;
}

/* --- recordings --- */

/* Finds the recording's own copy of a process's map, or of the jitdump at path.  Returns false if
 * the recording has no entry; true without a file if the entry is empty or unreadable. */
static bool find_kept(struct loader *loader, const struct symbols_source *source, const char *path,
	struct loader_jit *jit, struct opener_file *out)
{
	const struct kept_file wanted = {
		.kind = path ? KEPT_DUMP : KEPT_MAP, .pid = source->pid, .path = path ? path : ""};
	struct kept_found found;
	struct stat st;

	int ret = load_find_kept(loader, &wanted, &found);
	/* If memory runs out, local files are not tried either. */
	if (ret < 0)
		return ret != -ENOENT;
	if (fstat(found.fd, &st) < 0) {
		close(found.fd);
		free(found.steps);
		return true;
	}
	*out = (struct opener_file){.fd = found.fd,
		.owner = geteuid(),
		.dev = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size};
	if (path || !jit) {
		free(found.steps);
		return true;
	}
	free(jit->steps);
	jit->steps = found.steps;
	jit->n_steps = found.n_steps;
	snprintf(jit->path, sizeof(jit->path), "%s", found.path);
	return true;
}

/* Finds a file in the archive or the symfs, whose contents others have chosen (*foreign).
 * Otherwise finds it at its path if the recording was made on this machine (*here).  Returns 0;
 * -EPERM after a note; -EREMOTE; from opening it. */
static int find_recorded(
	struct loader *loader, const char *path, struct opener_file *out, bool *foreign, bool *here)
{
	const char *const trees[] = {loader->finder.archive, loader->finder.symfs};
	int ret;

	for (size_t i = 0; i < 2; i++) {
		if (trees[i] && open_below(trees[i], path, out) == 0) {
			*foreign = true;
			return 0;
		}
	}
	if (load_elsewhere(loader))
		return -EREMOTE;
	ret = open_below("/", path, out);
	if (ret < 0)
		return ret;
	if (!is_trusted(NULL, out->owner)) {
		loader_add_note(loader, SYMBOLS_NOTE_JIT_OWNER, path, 0, 1);
		drop(out);
		return -EPERM;
	}
	*here = true;
	return 0;
}

/* Finds the map of a process.  Completes the last line, unless the process lives and may still
 * write it. */
static bool find_recorded_map(struct loader *loader, struct loader_jit *jit, int32_t pid,
	struct opener_file *out, bool *foreign, bool *here)
{
	struct target target;

	if (pid <= 0)
		return false;
	set_path(jit, pid);
	if (find_recorded(loader, jit->path, out, foreign, here) < 0)
		return false;
	if ((*foreign || !read_target(pid, &target) || target.ended) && load_map_is_unfinished(out))
		load_map_finish(out);
	return true;
}

static void leave_out(struct loader_image *image, size_t slot)
{
	if (image->kept_fds[slot] > 0)
		close(image->kept_fds[slot]);
	image->kept_fds[slot] = 0;
}

int load_recorded_jit(struct loader *loader, struct loader_image *image)
{
	const struct symbols_source *source = &image->source;
	struct opener_file map = {.fd = -1}, dump = {.fd = -1};
	struct loader_jit *jit = &image->jit;
	bool foreign = false, here = false;
	int ret = 0;

	jit->over = true;
	image->state = SYMBOLS_NONE;
	set_path(jit, image->source.pid);
	const bool kept = find_kept(loader, source, NULL, jit, &map);
	const int32_t pids[] = {source->pid, source->parent, source->elder};
	bool found = kept;
	for (size_t i = 0; i < 3 && !found; i++)
		found = find_recorded_map(loader, jit, pids[i], &map, &foreign, &here);
	const bool kept_dump =
		source->jitdump && find_kept(loader, source, source->jitdump, jit, &dump);
	if (source->jitdump && !kept_dump) {
		const int missing = find_recorded(loader, source->jitdump, &dump, &foreign, &here);

		if (missing < 0 && missing != -EPERM && missing != -EREMOTE && map.fd < 0)
			loader_add_note(
				loader, SYMBOLS_NOTE_JIT_GONE, source->jitdump, -missing, 0);
	}
	foreign |= kept || kept_dump;
	if (map.fd >= 0)
		jit->map = identity_of(&map);
	if (dump.fd >= 0)
		jit->dump = identity_of(&dump);
	if (map.fd < 0 && dump.fd < 0)
		return 0;
	image->state = SYMBOLS_UNREADABLE;
	ret = ask(loader, image, &map, &dump, foreign);
	/* Another process may have had that PID since. */
	if (ret == 0 && here && image->state == SYMBOLS_READY) {
		image->mark = SYMBOLS_MARK_UNVERIFIED;
		loader_add_note(loader, SYMBOLS_NOTE_UNVERIFIED,
			map.fd >= 0 && !kept ? jit->path : source->jitdump, 0, 3);
	}
	/* An archive carries these copies with the recording itself. */
	if (kept)
		leave_out(image, 0);
	if (kept_dump)
		leave_out(image, map.fd >= 0);
	drop(&map);
	drop(&dump);
	return ret;
}

int load_jitdump(
	struct loader *loader, const struct symbols_source *source, struct loader_file *out)
{
	static const struct loader_jit_file nothing;
	struct target target;
	bool here = false;

	*out = (struct loader_file){.file.fd = -1};
	if (!source->jitdump)
		return -ENOENT;
	if (loader->recording && find_kept(loader, source, source->jitdump, NULL, &out->file))
		out->foreign = true;
	else if (loader->recording)
		(void)find_recorded(loader, source->jitdump, &out->file, &out->foreign, &here);
	else if (read_target(source->pid, &target))
		return open_own(loader, &target, source->jitdump, NULL, &out->file);
	else
		open_left(loader, source->jitdump, &nothing, true, NULL, &out->file);
	return out->file.fd < 0 ? -ENOENT : 0;
}
