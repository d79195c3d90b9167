/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_code_modules.c - loads lines and instructions of modules of the running kernel, from their
 * files and debug files.
 *
 * The bytes are the kernel's own, if it shows them.  Runs in the second loader's thread.  The
 * kernel's statements about itself are trusted, and so are files below /lib/modules with the
 * module's build-id.
 */
#include "symbols/base/grow.h"
#include "symbols/loader/loader_code_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NAME_BYTES 64 /* more than the kernel's MODULE_NAME_LEN */

const char *loader_modules_root = "";

struct module {
	char name[NAME_BYTES];
	uint64_t start, size;
};

struct modules {
	struct module *at; /* sorted by start */
	size_t n;
};

static int by_start(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Reads the loaded modules with addresses; none if the kernel hides them.  Returns 0 or -ENOMEM. */
static int read_modules(struct modules *out)
{
	struct module module;
	char path[256], *line = NULL;
	size_t size = 0, cap = 0;
	int ret = 0;

	*out = (struct modules){0};
	snprintf(path, sizeof(path), "%s/proc/modules", loader_modules_root);
	FILE *file = fopen(path, "re");
	while (file && ret == 0 && getline(&line, &size, file) > 0) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s %" SCNx64, module.name, &module.size,
			    &module.start) != 3 ||
			!module.start || strchr(module.name, '/'))
			continue;
		ret = array_grow(&out->at, &cap, out->n + 1, sizeof(*out->at));
		if (ret == 0)
			out->at[out->n++] = module;
	}
	free(line);
	if (file)
		fclose(file);
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), by_start);
	return ret;
}

/* Returns the last module that begins at or before the address, if its size covers it; else NULL.
 * Sizes include code and data, which may be apart. */
static const struct module *find_module(const struct modules *modules, uint64_t address)
{
	size_t low = 0, high = modules->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (modules->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - modules->at[low - 1].start >= modules->at[low - 1].size)
		return NULL;
	return &modules->at[low - 1];
}

/* --- its file --- */

/* Returns true if a line of modules.dep, "kernel/net/nf-tables.ko.xz: ...", belongs to the module
 * nf_tables.  Cuts the line to the file's name. */
static bool is_of_module(char *line, const char *module)
{
	line[strcspn(line, ":\n")] = '\0';
	const char *slash = strrchr(line, '/'), *name = slash ? slash + 1 : line;
	const size_t len = strlen(module);

	for (size_t i = 0; i < len; i++)
		if (name[i] != module[i] && !(name[i] == '-' && module[i] == '_'))
			return false;
	return strncmp(name + len, ".ko", 3) == 0 && (!name[len + 3] || name[len + 3] == '.');
}

/* Returns the module's file below /lib/modules/RELEASE, for free(3); NULL if it is not listed. */
static char *find_listed(const char *release, const char *module)
{
	char path[512], *line = NULL;
	bool found = false;
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/lib/modules/%.128s/modules.dep", loader_modules_root,
		release);
	FILE *file = fopen(path, "re");
	while (file && !found && getline(&line, &size, file) > 0)
		found = is_of_module(line, module);
	if (file)
		fclose(file);
	if (found)
		return line;
	free(line);
	return NULL;
}

/* Names of files: RELEASE/kernel/...ko, packed as in the list, and plain as for the debug file. */
struct names {
	char *packed, *plain;
};

/* Returns 0, -ENOENT or -ENOMEM; the caller frees the names in any case. */
static int find_names(const char *module, struct names *names)
{
	struct utsname machine;
	int ret = 0;

	*names = (struct names){0};
	char *listed = uname(&machine) == 0 ? find_listed(machine.release, module) : NULL;
	if (!listed)
		return -ENOENT;
	if (asprintf(&names->packed, "%s/%s", machine.release, listed) < 0) {
		names->packed = NULL;
		ret = -ENOMEM;
	} else if (!(names->plain = strdup(names->packed))) {
		ret = -ENOMEM;
	} else {
		char *dot = strrchr(names->plain, '.');
		if (strcmp(dot, ".ko") != 0)
			*dot = '\0';
	}
	free(listed);
	return ret;
}

/* Opens the file with the module's build-id below a directory.  The caller frees *path in any case.
 * Returns 0 or -errno. */
static int open_below(struct loader_code *code, const char *dir, const char *name,
	const uint8_t *build_id, size_t len, struct loader_file *out, char **path)
{
	struct finder_query query = {
		.what = FINDER_BINARY, .build_id = build_id, .build_id_len = len};

	free(*path);
	if (asprintf(path, "%s/lib/modules/%s", dir, name) < 0) {
		*path = NULL;
		return -ENOMEM;
	}
	query.path = *path;
	return load_find(&code->loader, &query, out);
}

/* Opens the module's file, or its debug file, which may have its lines. */
static int open_module(struct loader_code *code, const char *module, const struct names *names,
	struct loader_file *out, char **path)
{
	const struct finder *finder = &code->loader.finder;
	uint8_t build_id[WIRE_BUILD_ID_MAX];
	char notes[256];

	snprintf(notes, sizeof(notes), "%s/sys/module/%s/notes/.note.gnu.build-id",
		loader_modules_root, module);
	const size_t len = load_notes(notes, build_id);
	int ret = open_below(code, loader_modules_root, names->packed, build_id, len, out, path);
	for (size_t i = 0; i < finder->n_debug_dirs && ret < 0 && !load_code_is_final(ret); i++)
		ret = open_below(
			code, finder->debug_dirs[i], names->plain, build_id, len, out, path);
	return ret;
}

/* Gets the address of .text, which only root may read; else the start of the code from the list. */
static void find_place(const struct module *module, struct load_code_files *files)
{
	char path[256];

	files->text = module->start;
	snprintf(path, sizeof(path), "%s/sys/module/%s/sections/.text", loader_modules_root,
		module->name);
	FILE *file = fopen(path, "re");
	uint64_t text = 0;
	if (file && fscanf(file, "%" SCNx64, &text) == 1 && text) {
		files->text = text;
		files->stext = true;
	}
	if (file)
		fclose(file);
}

/* Answers a job that is entirely in one module. */
static int load_module(struct loader_code *code, struct loader_job *job,
	const struct module *module, const struct loader_file *memory)
{
	struct load_code_files files = {.file.file.fd = -1,
		.here = true,
		.debug.file.fd = -1,
		.alt.file.fd = -1,
		.loaded = true,
		.memory = memory};
	struct names names;
	char *path = NULL;

	int ret = find_names(module->name, &names);
	if (ret == 0)
		ret = open_module(code, module->name, &names, &files.file, &path);
	if (ret == 0) {
		files.path = path;
		files.module = names.plain;
		find_place(module, &files);
		ret = load_code_from(code, job, &files);
	}
	load_code_close(&files);
	free(names.packed);
	free(names.plain);
	free(path);
	return ret;
}

/* Returns true if no other file can change the result. */
static bool is_over(int ret)
{
	return ret == 0 || (load_code_is_final(ret) && ret != -ENXIO);
}

int load_module_code(struct loader_code *code, struct loader_job *job)
{
	struct loader_file memory = {.file = {.fd = -1, .owner = geteuid()}};
	struct modules modules;

	int ret = read_modules(&modules);
	const struct module *module = ret == 0 ? find_module(&modules, job->start) : NULL;
	if (module) {
		memory.file.fd = load_code_kernel_bytes(job->start, job->end);
		/* If the kernel shows its code, the module's file adds only lines. */
		ret = job->lines || memory.file.fd < 0
			? load_module(code, job, module, memory.file.fd >= 0 ? &memory : NULL)
			: -ENOENT;
	} else if (ret == 0) {
		ret = -ENOENT;
	}
	if (memory.file.fd >= 0)
		close(memory.file.fd);
	free(modules.at);
	return is_over(ret) ? ret : -ENOENT;
}

/* --- lines --- */

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Answers n of the job's offsets, all in one module, in their own job. */
static int load_part(struct loader_code *code, struct loader_job *job, const struct module *module,
	const uint64_t *offsets, size_t n)
{
	struct loader_job *part = calloc(1, sizeof(*part));
	int ret = part ? source_copy(&part->source, &job->source) : -ENOMEM;

	if (ret < 0) {
		free(part);
		return ret;
	}
	part->key = job->key;
	part->lines = true;
	part->offsets = reallocarray(NULL, n, sizeof(*offsets));
	part->n_offsets = part->offsets_cap = n;
	if (part->offsets)
		memcpy(part->offsets, offsets, n * sizeof(*offsets));
	ret = part->offsets ? load_module(code, part, module, NULL) : -ENOMEM;
	if (ret < 0 && is_over(ret)) {
		loader_job_free(part);
		return ret;
	}
	/* Otherwise these stay unknown; other modules may have answers. */
	part->next = job->more;
	job->more = part;
	return 0;
}

int load_module_lines(struct loader_code *code, struct loader_job *job)
{
	struct modules modules;
	size_t left = 0;

	int ret = read_modules(&modules);
	const size_t n = job->n_offsets;
	qsort(job->offsets, n, sizeof(*job->offsets), by_offset);
	for (size_t from = 0, to; from < n; from = to) {
		const struct module *module = find_module(&modules, job->offsets[from]);
		to = from + 1;
		while (to < n && find_module(&modules, job->offsets[to]) == module)
			to++;
		if (module && ret == 0 &&
			(ret = load_part(code, job, module, job->offsets + from, to - from)) == 0)
			continue;
		memmove(job->offsets + left, job->offsets + from,
			(to - from) * sizeof(*job->offsets));
		left += to - from;
	}
	job->n_offsets = left;
	free(modules.at);
	return ret < 0 ? ret : modules.n > 0;
}
