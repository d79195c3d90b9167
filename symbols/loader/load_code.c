/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_code.c - finds the lines and instructions of an image: in its file and debug file, the
 * kernel, or memory.
 *
 * Runs in the second loader's thread.
 */
#include "symbols/loader/loader_code_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KERNEL_BYTES_MAX (128ull << 20) /* limit of its image, without modules */

/* --- files that killed the worker --- */

static bool is_banned(const struct loader_code *code, const struct opener_file *file, bool lines)
{
	for (size_t i = 0; i < code->n_bans; i++) {
		const struct loader_ban *ban = &code->bans[i];
		if (ban->dev == file->dev && ban->inode == file->inode && ban->size == file->size &&
			ban->mtime_ns == file->mtime_ns && (lines || ban->code))
			return true;
	}
	return false;
}

static void ban_file(struct loader_code *code, const struct opener_file *file, const char *path,
	bool lines, int error)
{
	if (code->n_bans == LOADER_BANS)
		memmove(code->bans, code->bans + 1, --code->n_bans * sizeof(code->bans[0]));
	code->bans[code->n_bans++] = (struct loader_ban){.dev = file->dev,
		.inode = file->inode,
		.size = file->size,
		.mtime_ns = file->mtime_ns,
		.code = !lines};
	loader_add_note(&code->loader, SYMBOLS_NOTE_CODE_BANNED, path, error, lines);
}

/* Like load_code_ask(), but bans a file that kills the worker or takes too long.  Returns
 * -EOWNERDEAD for it and for banned files. */
static int ask(struct loader_code *code, struct loader_job *job, struct load_code_files *files)
{
	const struct opener_file *file =
		files->debug.file.fd >= 0 ? &files->debug.file : &files->file.file;

	if (is_banned(code, file, job->lines))
		return -EOWNERDEAD;
	int ret = load_code_ask(code, job, files);
	const bool late = ret == -ETIME || code->loader.asker.timed_out;
	if (ret == -EOWNERDEAD || ret == -ETIME)
		ban_file(code, file, files->path, job->lines, late ? ETIME : 0);
	return ret == -ETIME ? -EOWNERDEAD : ret;
}

/* --- files --- */

bool load_code_is_final(int ret)
{
	return ret == -ECANCELED || ret == -ECHILD || ret == -ENXIO || ret == -ENOMEM ||
		ret == -EAGAIN;
}

static void drop_table(struct loader_job *job)
{
	codetab_close(&job->table);
	memset(&job->table, 0, sizeof(job->table));
}

/* Asks with each debug file that may be the right one, until there are lines.  If no file has them,
 * a lack of resources while reading one is the answer. */
static int ask_with_debug(struct loader_code *code, struct loader_job *job,
	struct load_code_files *files, const uint8_t *build_id, size_t len)
{
	struct symbols_source source = job->source;
	struct load_debug_search search = {.source = &source,
		.file = &files->file.file,
		.build_id_len = len,
		.link = files->file.link,
		.module = files->module};
	int ret, want = 0;

	source.path = files->path;
	memcpy(search.build_id, build_id, len);
	while (load_debug_file(&code->loader, &search, &files->debug)) {
		ret = ask(code, job, files);
		if (load_code_is_final(ret) || (ret == 0 && job->has_lines))
			return ret;
		if (!want && loader_code_is_want(-ret))
			want = ret;
		drop_table(job);
		close(files->debug.file.fd);
		files->debug.file.fd = -1;
	}
	ret = ask(code, job, files);
	if (!want || job->has_lines || load_code_is_final(ret))
		return ret;
	drop_table(job);
	return want;
}

/* Loads lines or instructions from an open file with a known build-id (len 0: none). */
static int load_from(struct loader_code *code, struct loader_job *job,
	struct load_code_files *files, const uint8_t *build_id, size_t len)
{
	int ret;

	if (!job->lines)
		return ask(code, job, files);
	ret = ask_with_debug(code, job, files, build_id, len);
	if (ret == 0 || (load_code_is_final(ret) && ret != -ENOMEM) || job->offsets)
		return ret;
	/* Faulty debug information must not prevent the instructions. */
	job->lines_error = -ret;
	job->lines = false;
	ret = ask(code, job, files);
	job->lines = true;
	return ret;
}

/* Gets the open file's build-id and the name of its debug file, if lines are wanted. */
static int describe(struct loader_code *code, struct loader_job *job, struct load_code_files *files,
	uint8_t build_id[WIRE_BUILD_ID_MAX], size_t *len)
{
	const struct loader_question question = {
		.path = files->path, .file = &files->file.file, .foreign = files->file.foreign};

	*len = 0;
	if (!job->lines)
		return 0;
	if (is_banned(code, &files->file.file, false))
		return -EOWNERDEAD;
	int ret = load_build_id(&code->loader, &question, build_id, len, &files->file.link);
	if (ret == -EOWNERDEAD)
		ban_file(code, &files->file.file, files->path, false, 0);
	return ret;
}

int load_code_from(struct loader_code *code, struct loader_job *job, struct load_code_files *files)
{
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	int ret = describe(code, job, files, build_id, &len);
	return ret < 0 ? ret : load_from(code, job, files, build_id, len);
}

static int open_recorded(
	struct loader_code *code, const struct symbols_source *source, struct loader_file *out)
{
	struct finder_query query =
		load_query(source->kind == SYMBOLS_VDSO ? FINDER_VDSO : FINDER_BINARY, source);

	int ret = load_find(&code->loader, &query, out);
	if (ret == 0 || !source->build_id_len || load_code_is_final(ret))
		return ret;
	/* A debug file has no instructions, but it may have lines. */
	query = (struct finder_query){.what = FINDER_DEBUG,
		.build_id = source->build_id,
		.build_id_len = source->build_id_len};
	return load_find(&code->loader, &query, out) == 0 ? 0 : ret;
}

static int open_vdso(struct loader_code *code, struct loader_job *job, struct loader_file *out)
{
	const struct symbols_source own = {.kind = SYMBOLS_VDSO, .map_start = UINT64_MAX};
	const struct symbols_source *source = &job->source;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	*out = (struct loader_file){.file = {.owner = geteuid()},
		.foreign = !code->loader.recording && opener_vdso_is_copy(source)};
	out->file.fd = opener_vdso(code->loader.recording ? &own : source);
	if (out->file.fd < 0 || !code->loader.recording)
		return out->file.fd < 0 ? out->file.fd : 0;
	const struct loader_question question = {.path = source->path, .file = &out->file};
	int ret = load_build_id(&code->loader, &question, build_id, &len, NULL);
	if (ret == 0 && len == source->build_id_len && memcmp(build_id, source->build_id, len) == 0)
		return 0;
	close(out->file.fd);
	out->file.fd = -1;
	return load_code_is_final(ret) ? ret : open_recorded(code, source, out);
}

/* --- files that are kept --- */

static void drop(struct loader_code *code, size_t i)
{
	load_code_close(&code->kept[i].files);
	code->n_kept--;
	memmove(code->kept + i, code->kept + i + 1, (code->n_kept - i) * sizeof(code->kept[0]));
}

void load_code_drop_kept(struct loader_code *code)
{
	while (code->n_kept)
		drop(code, code->n_kept - 1);
}

/* Keeps open files; takes ownership of them. */
static void keep(struct loader_code *code, uint32_t key, const struct load_code_files *files)
{
	if (code->n_kept == LOADER_KEPT)
		drop(code, LOADER_KEPT - 1);
	memmove(code->kept + 1, code->kept, code->n_kept++ * sizeof(code->kept[0]));
	code->kept[0].key = key;
	code->kept[0].files = *files;
}

/* Asks kept files.  Returns -ENOENT if no file of this image is kept, or no longer. */
static int load_kept_file(struct loader_code *code, struct loader_job *job)
{
	size_t i = 0;

	while (i < code->n_kept && code->kept[i].key != job->key)
		i++;
	if (i == code->n_kept)
		return -ENOENT;
	code->kept[i].files.path = job->source.path;
	int ret = ask(code, job, &code->kept[i].files);
	if (ret == 0 || ret == -ENXIO || ret == -ECANCELED || ret == -ECHILD || ret == -EAGAIN)
		return ret;
	drop(code, i);
	return -ENOENT;
}

static int load_file_code(struct loader_code *code, struct loader_job *job)
{
	struct load_code_files files = {.file.file.fd = -1,
		.debug.file.fd = -1,
		.alt.file.fd = -1,
		.here = job->source.kind == SYMBOLS_VDSO || code->loader.recording,
		.path = job->source.path};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	int ret = load_kept_file(code, job);
	if (ret != -ENOENT)
		return ret;
	if (job->source.kind == SYMBOLS_VDSO)
		ret = open_vdso(code, job, &files.file);
	else if (code->loader.recording)
		ret = open_recorded(code, &job->source, &files.file);
	else
		ret = load_open(&code->loader, &job->source, false, &files.file, build_id, &len);
	if (ret == 0 && !files.here)
		files.here = opener_is_here(&job->source, &files.file.file);
	if (ret == 0)
		ret = load_code_from(code, job, &files);
	if ((ret == 0 && job->has_lines) || ret == -EAGAIN)
		keep(code, job->key, &files);
	else
		load_code_close(&files);
	return ret;
}

/* --- the kernel --- */

/* Loads from a vmlinux file.  Returns -ENOENT if there is none. */
static int load_vmlinux(struct loader_code *code, struct loader_job *job, const uint8_t *build_id,
	size_t len, uint64_t text)
{
	struct finder_query query = {
		.what = FINDER_VMLINUX, .build_id = build_id, .build_id_len = len};
	struct load_code_files files = {.file.file.fd = -1,
		.debug.file.fd = -1,
		.alt.file.fd = -1,
		.path = job->source.path,
		.here = true,
		.kernel = true,
		.stext = code->loader.recording && job->source.stext,
		.text = text};
	struct utsname machine;
	char release[128] = "";

	if (!len)
		return -ENOENT;
	pthread_mutex_lock(&code->loader.lock);
	const char *recorded = code->loader.recorded.release;
	if (!code->loader.recording && uname(&machine) == 0)
		recorded = machine.release;
	snprintf(release, sizeof(release), "%s", recorded ? recorded : "");
	pthread_mutex_unlock(&code->loader.lock);
	query.release = release;
	int ret = load_find(&code->loader, &query, &files.file);
	if (ret == 0)
		ret = ask(code, job, &files);
	load_code_close(&files);
	return ret;
}

static int load_kcore(
	struct loader_code *code, struct loader_job *job, uint64_t start, uint64_t end)
{
	int fd = load_code_kernel_bytes(start, end);

	if (fd < 0)
		return fd == -EPERM ? -EACCES : fd;
	int ret = load_code_ask_raw(code, job, fd, -1, 0);
	close(fd);
	return ret;
}

/* The kernel does not move while it runs. */
static uint64_t kernel_text(struct loader_code *code)
{
	if (!code->kernel_text_known)
		code->kernel_text = load_code_kernel_text(code->loader.kallsyms_path);
	code->kernel_text_known = true;
	return code->kernel_text;
}

static int load_kernel_code(struct loader_code *code, struct loader_job *job)
{
	const struct loader *loader = &code->loader;
	const struct symbols_source *source = &job->source;
	const uint64_t here = kernel_text(code);
	const uint64_t text = loader->recording ? source->map_start : here;
	uint8_t own[WIRE_BUILD_ID_MAX];
	const size_t own_len = load_notes(loader->kernel_notes_path, own);
	bool has_modules = false;

	if (!loader->recording) {
		int found =
			job->offsets ? load_module_lines(code, job) : load_module_code(code, job);
		if (found < 0 && found != -ENOENT)
			return found;
		has_modules = found == 1;
		if (job->offsets ? job->n_offsets == 0 : found == 0)
			return 0;
	}
	int ret = loader->recording
		? load_vmlinux(code, job, source->build_id, source->build_id_len, text)
		: load_vmlinux(code, job, own, own_len, text);
	/* A vmlinux has no modules, so -ENXIO is not final. */
	if (ret == 0 || (load_code_is_final(ret) && ret != -ENXIO))
		return ret;
	/* These addresses are unknown, but those in modules may have answers. */
	if (job->offsets)
		return has_modules ? 0 : ret == -ENOENT ? -ENODATA : ret;
	if (!loader->recording)
		return load_kcore(code, job, job->start, job->end);
	/* It must be the running kernel, perhaps now at another address. */
	if (!own_len || own_len != source->build_id_len ||
		memcmp(own, source->build_id, own_len) != 0)
		return -ENOENT;
	if (!here)
		return -EACCES;
	const uint64_t delta = text ? here - text : 0;
	if (source->stext || (delta && job->start - text >= KERNEL_BYTES_MAX))
		return -ENOENT;
	return load_kcore(code, job, job->start + delta, job->end + delta);
}

/* --- all --- */

static struct symbols_rights dump_rights(const struct loader_code *code,
	const struct loader_job *job, const struct loader_file *dump)
{
	const bool here =
		code->loader.recording || opener_view_of(job->source.pid) == OPENER_VIEW_SAME;

	return load_code_rights(dump, here);
}

/* Loads from a jitdump: for a recording, or a process that has ended. */
static int load_dumped_code(struct loader_code *code, struct loader_job *job)
{
	struct loader_file dump;

	int ret = load_jitdump(&code->loader, &job->source, &dump);
	if (ret < 0)
		return ret;
	ret = load_code_ask_raw(code, job, dump.file.fd, -1, WIRE_FLAG_JITDUMP);
	job->rights = dump_rights(code, job, &dump);
	close(dump.file.fd);
	return ret;
}

static int load_process_code(struct loader_code *code, struct loader_job *job)
{
	/* Memory has only the current code, a jitdump also earlier code. */
	int dumped = job->source.jitdump ? load_dumped_code(code, job) : -ENOENT;

	if (dumped == 0 || dumped == -ECANCELED)
		return dumped;
	int fd = code->loader.recording ? -ENOENT
					: load_code_process_bytes(job->pid, job->start, job->end);

	if (fd < 0)
		return job->source.jitdump ? dumped : fd;
	struct loader_file dump = {.file.fd = -1};
	if (job->lines && job->source.jitdump &&
		load_jitdump(&code->loader, &job->source, &dump) < 0)
		dump.file.fd = -1;
	int ret = load_code_ask_raw(code, job, fd, dump.file.fd, 0);
	/* Faulty lines must not prevent the instructions. */
	if (ret < 0 && dump.file.fd >= 0 && ret != -ECANCELED)
		ret = load_code_ask_raw(code, job, fd, -1, 0);
	if (dump.file.fd >= 0) {
		job->rights = dump_rights(code, job, &dump);
		close(dump.file.fd);
	}
	close(fd);
	return ret;
}

int load_code(struct loader_code *code, struct loader_job *job)
{
	if (job->source.kind == SYMBOLS_JIT && job->pid <= 0)
		job->pid = job->source.pid;
	if (!job->offsets && job->pid > 0)
		return load_process_code(code, job);
	switch (job->source.kind) {
	case SYMBOLS_KERNEL:
		return load_kernel_code(code, job);
	case SYMBOLS_JIT:
		if (!job->offsets)
			return -ENOENT;
		return job->source.jitdump ? load_dumped_code(code, job) : -ENODATA;
	case SYMBOLS_MODULE:
	case SYMBOLS_VDSO:
	case SYMBOLS_FILE:
	default:
		return load_file_code(code, job);
	}
}
