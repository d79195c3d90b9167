/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_code_ask.c - asks the worker one question about lines or instructions.
 *
 * Takes as many rounds as needed to open all files that the debug information refers to.  Runs in
 * the second loader's thread.  The worker, which another user's file may control by now, names the
 * files.  So only debug information of trusted owners is opened by these names.
 */
#include "symbols/loader/loader_code_private.h"

#include "symbols/base/clock.h"
#include "symbols/dwarf/dwarf.h"
#include "symbols/wire/strings.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS_MAX 64
#define DWZ "/.dwz/"
#define TOLD_MAX 64 /* limit of notes on alternate files */

unsigned int loader_code_cpu_ms = 30000, loader_code_wall_ms = 60000, loader_code_total_ms = 60000;

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

struct request {
	struct loader_code *code;
	struct loader_job *job;
	struct load_code_files *files;
	struct strings tried; /* names of split parts that were searched */
	bool no_alt;
	/* The alternate file that the name leads to, and why it is not used (positive errno). */
	char alt_path[2 * FINDER_PATH_MAX];
	int alt_error;
	uint64_t until_ms; /* no round begins after it; CLOCK_MONOTONIC */
	unsigned int wall_ms; /* limit of the round */
	/* The last answer. */
	struct wire_message answer;
	struct load_payload names;
	int table;
};

void load_code_close(struct load_code_files *files)
{
	struct loader_file *all[] = {&files->file, &files->debug, &files->alt};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i]->file.fd >= 0)
			close(all[i]->file.fd);
		all[i]->file.fd = -1;
	}
	for (size_t i = 0; i < files->n_parts; i++)
		close(files->parts[i].file.fd);
	files->n_parts = 0;
}

/* --- asking --- */

struct packing {
	int fds[WIRE_FDS_MAX];
	size_t n;
	uint64_t whose;
};

static void pack_file(struct packing *packing, const struct loader_file *file)
{
	const uint64_t whose = file->foreign ? LOADER_FOREIGN : load_owner(&file->file);

	packing->fds[packing->n++] = file->file.fd;
	if (packing->whose == LOADER_OURS)
		packing->whose = whose;
	else if (whose != LOADER_OURS && whose != packing->whose)
		packing->whose = LOADER_FOREIGN;
}

static void pack(
	const struct load_code_files *files, struct wire_lines *lines, struct packing *packing)
{
	*packing = (struct packing){.whose = LOADER_OURS};
	pack_file(packing, &files->file);
	lines->has_debug = files->debug.file.fd >= 0;
	if (lines->has_debug)
		pack_file(packing, &files->debug);
	lines->has_alt = files->alt.file.fd >= 0;
	if (lines->has_alt)
		pack_file(packing, &files->alt);
	lines->n_parts = (uint32_t)files->n_parts;
	for (size_t i = 0; i < files->n_parts; i++)
		pack_file(packing, &files->parts[i]);
	lines->has_memory = files->memory != NULL;
	if (files->memory)
		pack_file(packing, files->memory);
}

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Writes the question into the packet.  Returns its length. */
static size_t put_payload(struct loader *loader, struct loader_job *job,
	const struct wire_lines *files, const struct wire_code *raw)
{
	struct wire_code code = {.files = *files,
		.start = job->start,
		.end = job->end,
		.syntax = (uint32_t)job->syntax};
	struct wire_lines lines = *files;

	if (!job->offsets) {
		if (raw)
			code = *raw;
		memcpy(loader->packet, &code, sizeof(code));
		return sizeof(code);
	}
	qsort(job->offsets, job->n_offsets, sizeof(*job->offsets), compare_offsets);
	lines.n_offsets = (uint32_t)job->n_offsets;
	memcpy(loader->packet, &lines, sizeof(lines));
	memcpy(loader->packet + sizeof(lines), job->offsets,
		job->n_offsets * sizeof(*job->offsets));
	return sizeof(lines) + job->n_offsets * sizeof(*job->offsets);
}

static int ask(struct request *request)
{
	struct loader *loader = &request->code->loader;
	const struct load_code_files *files = request->files;
	struct loader_job *job = request->job;
	struct wire_lines lines = {0};
	struct packing packing;
	uint32_t flags = 0;

	pack(files, &lines, &packing);
	if (job->lines)
		flags |= WIRE_FLAG_LINES;
	if (job->quick)
		flags |= WIRE_FLAG_QUICK;
	if (job->slices)
		flags |= WIRE_FLAG_SLICE;
	if (files->debug.file.fd >= 0 && files->debug.linked)
		flags |= WIRE_FLAG_LINKED;
	if (request->no_alt)
		flags |= WIRE_FLAG_NO_ALT;
	if (files->kernel)
		flags |= WIRE_FLAG_KERNEL;
	if (files->loaded)
		flags |= WIRE_FLAG_LOADED;
	if (files->stext)
		flags |= WIRE_FLAG_STEXT;
	const struct asker_question asked = {
		.type = job->offsets ? WIRE_LINES : WIRE_CODE,
		.payload = loader->packet,
		.len = put_payload(loader, job, &lines, NULL),
		.fds = packing.fds,
		.n_fds = packing.n,
		.flags = flags,
		.address = files->text,
		.limits = {.cpu_ms = loader_code_cpu_ms, .wall_ms = request->wall_ms},
	};
	request->table = -1;
	load_for(loader, packing.whose);
	return load_ask_twice(
		loader, &asked, files->path, &request->answer, &request->names, &request->table);
}

/* --- the files that it names --- */

static bool has_build_id(struct loader *loader, const struct loader_file *file,
	const struct load_code_files *files, const struct wire_message *wanted)
{
	const struct loader_question question = {
		.path = files->path, .file = &file->file, .foreign = file->foreign};
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	size_t len;

	return wanted->build_id_len &&
		load_build_id(loader, &question, build_id, &len, NULL) == 0 &&
		len == wanted->build_id_len && memcmp(build_id, wanted->build_id, len) == 0;
}

/* Other files may be private to their owner. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
		memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Returns whether debug information may be read in a file that other debug information named.  Its
 * owner must be root, this user, or the owner of the image. */
static bool is_usable(const struct request *request, const struct loader_file *file)
{
	return is_elf(file->file.fd) &&
		(load_owner(&file->file) == LOADER_OURS ||
			file->file.owner == request->files->file.file.owner);
}

/* --- the alternate file --- */

static bool real_path(int fd, char out[FINDER_PATH_MAX])
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	const ssize_t len = readlink(link, out, FINDER_PATH_MAX - 1);
	if (len <= 0 || out[0] != '/')
		return false;
	out[len] = '\0';
	return true;
}

/* Gets the real directory of an open file, as a path below root.  Returns false if it lies
 * elsewhere. */
static bool get_folder(const char *root, int fd, char out[FINDER_PATH_MAX])
{
	char top[FINDER_PATH_MAX];

	const int root_fd = opener_directory(AT_FDCWD, root, 0);
	if (root_fd < 0)
		return false;
	const bool known = real_path(root_fd, top) && real_path(fd, out);
	close(root_fd);
	const size_t len = known && strcmp(top, "/") != 0 ? strlen(top) : 0;
	if (!known || strncmp(out, top, len) != 0 || out[len] != '/')
		return false;
	*strrchr(out, '/') = '\0';
	memmove(out, out + len, strlen(out + len) + 1);
	return true;
}

/* Returns the file that has the link to the alternate file.  The worker passes over a debug file
 * that does not belong to the program. */
static const struct loader_file *get_linking(const struct request *request)
{
	return request->answer.flags & WIRE_FLAG_DEBUG ? &request->files->debug
						       : &request->files->file;
}

/* Opens the alternate file by its name below root.  A relative name begins at the directory of the
 * file that has the link.  The owner of the program, or of that file, chose the name, and must be
 * able to read what it leads to. */
static bool open_name(struct request *request, const char *root, bool inside, const char *name)
{
	const struct load_code_files *files = request->files;
	const struct opener_file *from = &get_linking(request)->file;
	const struct opener_file *judge =
		load_owner(from) == LOADER_OURS ? &files->file.file : from;
	const uid_t user = load_owner(judge) == LOADER_OURS ? geteuid() : judge->owner;
	struct loader_file *alt = &request->files->alt;
	char folder[FINDER_PATH_MAX] = "", *path = request->alt_path;

	if (name[0] != '/' && !get_folder(root, from->fd, folder))
		return false;
	snprintf(path, sizeof(request->alt_path), "%s/%s", folder, name + strspn(name, "/"));
	*alt = (struct loader_file){.foreign = inside};
	const int ret = opener_below_as(root, path + strspn(path, "/"),
		RESOLVE_NO_MAGICLINKS | (inside ? RESOLVE_IN_ROOT : 0), user, &alt->file);
	if (ret < 0) {
		request->alt_error = -ret;
		return false;
	}
	request->alt_error = is_usable(request, alt) ? ESTALE : ENOEXEC;
	if (request->alt_error == ESTALE &&
		has_build_id(&request->code->loader, alt, files, &request->answer))
		return true;
	close(alt->file.fd);
	return false;
}

/* Opens the alternate file by its name, below the root of the file that has the link. */
static bool open_link(struct request *request, const char *name)
{
	const struct loader *loader = &request->code->loader;
	const struct loader_file *from = get_linking(request);
	const bool apart = from == &request->files->debug && load_owner(&from->file) == LOADER_OURS;
	const int32_t pid = loader->recording ? 0 : request->job->source.pid;
	char root[64];

	if (!from->foreign && (apart || request->files->here))
		return open_name(request, "/", false, name);
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	return (loader->finder.archive && open_name(request, loader->finder.archive, true, name)) ||
		(loader->finder.symfs && open_name(request, loader->finder.symfs, true, name)) ||
		(pid > 0 && open_name(request, root, true, name));
}

/* Opens the alternate file below debug directories, by the part of its name from .dwz on.  The
 * debug file may have been moved there with it. */
static bool open_dwz(struct request *request, const char *name)
{
	struct loader *loader = &request->code->loader;
	const struct symbols_source *source = &request->job->source;
	struct loader_file *alt = &request->files->alt;
	const char *dwz = strstr(name, DWZ);
	char dir[FINDER_PATH_MAX], root[64];

	if (!dwz)
		return false;
	for (size_t i = 0; i < 2 * loader->finder.n_debug_dirs; i++) {
		const bool inside = i < loader->finder.n_debug_dirs;
		const char *debug_dir = loader->finder.debug_dirs[i % loader->finder.n_debug_dirs];
		if (inside && (loader->recording || source->pid <= 0))
			continue;
		*alt = (struct loader_file){.foreign = inside};
		snprintf(root, sizeof(root), "/proc/%d/root", source->pid);
		snprintf(dir, sizeof(dir), "%s%s", debug_dir, dwz);
		if (opener_below(inside ? root : "/", dir + strspn(dir, "/"), inside, &alt->file) <
			0)
			continue;
		if (has_build_id(loader, alt, request->files, &request->answer))
			return true;
		close(alt->file.fd);
	}
	return false;
}

/* Adds a note on an alternate file that is not here, once for each name. */
static void tell_no_alt(struct request *request, const char *name)
{
	struct loader_code *code = request->code;
	const char *path = request->alt_path[0] ? request->alt_path : name;
	const uint32_t known = code->told_alts.n;

	if (known < TOLD_MAX && strings_add(&code->told_alts, path) >= (int64_t)known)
		loader_add_note(&code->loader, SYMBOLS_NOTE_NO_COMMON, path, request->alt_error, 0);
}

/* Opens the alternate file, which has the build-id in the answer. */
static bool open_alt(struct request *request, const char *name)
{
	struct loader *loader = &request->code->loader;
	struct finder_query query = {.what = FINDER_DEBUG,
		.build_id = request->answer.build_id,
		.build_id_len = request->answer.build_id_len,
		.pid = loader->recording ? 0 : request->job->source.pid};
	struct loader_file *alt = &request->files->alt;
	struct finder_place place;

	if (query.build_id_len > WIRE_BUILD_ID_MAX)
		query.build_id_len = 0;
	request->alt_path[0] = '\0';
	request->alt_error = ENOENT;
	if (open_link(request, name))
		return true;
	while (query.build_id_len && finder_next(&loader->finder, &query, &place)) {
		*alt = (struct loader_file){.foreign = place.foreign};
		if (opener_below(place.dir, place.relative, place.in_root, &alt->file) < 0)
			continue;
		if (has_build_id(loader, alt, request->files, &request->answer))
			return true;
		close(alt->file.fd);
	}
	if (open_dwz(request, name))
		return true;
	tell_no_alt(request, name);
	alt->file.fd = -1;
	return false;
}

/* --- split parts --- */

/* Opens a split part below root. */
static bool open_part(struct request *request, const char *root, const char *name, bool foreign,
	struct loader_file *out)
{
	*out = (struct loader_file){.foreign = foreign};
	if (opener_below(root, name + strspn(name, "/"), foreign, &out->file) < 0)
		return false;
	if (is_usable(request, out))
		return true;
	close(out->file.fd);
	return false;
}

/* Opens the file with all parts, next to the program. */
static bool open_package(struct request *request, struct loader_file *out)
{
	const struct symbols_source *source = &request->job->source;
	const bool inside = !request->code->loader.recording && source->pid > 0;
	char path[FINDER_PATH_MAX], root[64];

	if (!source->path || source->path[0] != '/')
		return false;
	snprintf(path, sizeof(path), "%s.dwp", source->path + strspn(source->path, "/"));
	snprintf(root, sizeof(root), "/proc/%d/root", source->pid);
	return (inside && open_part(request, root, path, true, out)) ||
		open_part(request, "/", path, false, out);
}

static bool is_part_name(const char *name)
{
	const size_t len = strlen(name);

	return name[0] == '/' && len > 4 && strcmp(name + len - 4, ".dwo") == 0 &&
		!strstr(name, "/../");
}

static bool find_part(struct request *request, const char *name, struct loader_file *out)
{
	const struct finder *finder = &request->code->loader.finder;
	const int32_t pid = request->code->loader.recording ? 0 : request->job->source.pid;
	char root[64];

	if (!is_part_name(name))
		return false;
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	return (finder->archive && open_part(request, finder->archive, name, true, out)) ||
		(finder->symfs && open_part(request, finder->symfs, name, true, out)) ||
		open_part(request, "/", name, false, out) ||
		(pid > 0 && open_part(request, root, name, true, out));
}

/* Opens missing parts that were not searched before.  Returns the number of parts found. */
static size_t open_parts(struct request *request)
{
	struct load_code_files *files = request->files;
	const char *name = request->names.bytes, *end = name + request->names.len;
	struct loader_file found[DWARF_PARTS_MAX];
	size_t n = 0;

	if (request->tried.n == 0)
		n += open_package(request, &found[0]);

	while (name < end && n < DWARF_PARTS_MAX) {
		const size_t len = strnlen(name, (size_t)(end - name));
		const uint32_t known = request->tried.n;
		if (name + len == end)
			break;
		if (strings_add(&request->tried, name) >= (int64_t)known)
			n += find_part(request, name, &found[n]);
		name += len + 1;
	}
	/* The worker keeps its data of the earlier parts. */
	if (n && files->n_parts + n > DWARF_PARTS_MAX) {
		for (size_t i = 0; i < files->n_parts; i++)
			close(files->parts[i].file.fd);
		files->n_parts = 0;
	}
	for (size_t i = 0; i < n; i++)
		files->parts[files->n_parts++] = found[i];
	return n;
}

/* Returns true if another round is worthwhile. */
static bool find_missing(struct request *request)
{
	struct load_payload *names = &request->names;

	if (request->answer.flags & WIRE_FLAG_ALT) {
		if (request->files->alt.file.fd >= 0 || request->no_alt || names->len == 0)
			return false;
		names->bytes[names->len - 1] = '\0';
		request->no_alt = !open_alt(request, names->bytes);
		return true;
	}
	return request->answer.count > 0 && open_parts(request) > 0;
}

struct symbols_rights load_code_rights(const struct loader_file *file, bool here)
{
	if (file->foreign)
		return (struct symbols_rights){.kind = SYMBOLS_RIGHTS_NONE};
	if (load_owner(&file->file) != LOADER_OURS)
		return (struct symbols_rights){SYMBOLS_RIGHTS_USER, file->file.owner, here};
	if (here)
		return (struct symbols_rights){.kind = SYMBOLS_RIGHTS_OWN, .here = true};
	/* In a container any user may be root. */
	return (struct symbols_rights){.kind = SYMBOLS_RIGHTS_USER, .user = RIGHTS_NOBODY};
}

/* Returns the rights for the image and its debug information.  Debug information of other owners
 * reduces them.  An image of one user starts with few rights. */
static struct symbols_rights join_rights(const struct load_code_files *files)
{
	struct symbols_rights rights = load_code_rights(&files->file, files->here);
	const struct loader_file *others[] = {&files->debug, &files->alt};

	if (rights.kind != SYMBOLS_RIGHTS_OWN)
		return rights;
	for (size_t i = 0; i < 2; i++)
		if (others[i]->file.fd >= 0)
			rights = rights_join(rights, load_code_rights(others[i], true));
	for (size_t i = 0; i < files->n_parts; i++)
		rights = rights_join(rights, load_code_rights(&files->parts[i], true));
	return rights;
}

static int take_table(struct request *request)
{
	int ret =
		request->table < 0 ? -EBADMSG : codetab_open(&request->job->table, request->table);

	request->job->has_lines = ret == 0 && request->answer.flags & WIRE_FLAG_LINES;
	request->job->partial = ret == 0 && request->answer.flags & WIRE_FLAG_QUICK;
	return ret;
}

static void close_table(struct request *request)
{
	if (request->table >= 0)
		close(request->table);
	request->table = -1;
}

/* The file decides the number of rounds, but not their total time. */
static int ask_again(struct request *request)
{
	const uint64_t now = (uint64_t)clock_now_ms();

	close_table(request);
	if (now >= request->until_ms)
		return -ETIME;
	if (request->until_ms - now < request->wall_ms)
		request->wall_ms = (unsigned int)(request->until_ms - now);
	return ask(request);
}

int load_code_ask(struct loader_code *code, struct loader_job *job, struct load_code_files *files)
{
	struct request request = {
		.until_ms = (uint64_t)clock_now_ms() + loader_code_total_ms,
		.wall_ms = loader_code_wall_ms,
		.code = code,
		.job = job,
		.files = files,
		.names = {.bytes = code->answer, .size = WIRE_PACKET_BYTES},
		.table = -1,
	};

	int ret = ask(&request);
	for (size_t round = 1; ret == 0 && round < ROUNDS_MAX && find_missing(&request); round++)
		ret = ask_again(&request);
	if (ret == 0)
		ret = take_table(&request);
	job->rights = join_rights(files);
	close_table(&request);
	strings_fini(&request.tried);
	return ret;
}

int load_code_ask_raw(
	struct loader_code *code, struct loader_job *job, int fd, int dump, uint32_t flags)
{
	struct loader *loader = &code->loader;
	/* A 64-bit kernel also runs 32-bit programs. */
	ElfW(Ehdr) header = __ehdr_start;
	if (job->pid > 0 && !flags)
		load_code_process_header(job->pid, &header, sizeof(header));
	const int fds[2] = {fd, dump};
	const struct wire_code raw = {
		.files.has_debug = dump >= 0,
		.start = job->start,
		.end = job->end,
		.syntax = (uint32_t)job->syntax,
		.machine = header.e_machine,
		.is64 = header.e_ident[EI_CLASS] == ELFCLASS64,
		.big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB,
	};
	struct request request = {
		.code = code,
		.job = job,
		.names = {.bytes = code->answer, .size = WIRE_PACKET_BYTES},
		.table = -1,
	};
	const struct asker_question asked = {
		.type = job->offsets ? WIRE_LINES : WIRE_CODE,
		.payload = loader->packet,
		.len = put_payload(loader, job, &raw.files, &raw),
		.fds = fds,
		.n_fds = dump >= 0 ? 2 : 1,
		.flags = WIRE_FLAG_RAW | flags | (job->lines ? WIRE_FLAG_LINES : 0) |
			load_jit_timed(loader),
		.limits = {.cpu_ms = loader_code_cpu_ms, .wall_ms = loader_code_wall_ms},
	};

	/* A process chooses the contents of its memory. */
	load_for(loader, job->pid ? LOADER_FOREIGN : LOADER_OURS);
	int ret = load_ask_twice(
		loader, &asked, job->source.path, &request.answer, &request.names, &request.table);
	if (ret == 0)
		ret = take_table(&request);
	close_table(&request);
	return ret;
}
