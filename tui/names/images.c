/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.c - see private.h: names of images, and the sources of their symbols.
 */
#include "tui/names/private.h"

#include "sampler/machine/proc.h"
#include "symbols/client/code.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/names/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool names_source(struct images *images, uint32_t id, struct symbols_source *source)
{
	const struct image *image = images_get(images, id);
	struct image_origin origin = {0};

	if (!image)
		return false;
	*source = (struct symbols_source){
		.path = image->path,
		.dev_major = image->dev_major,
		.dev_minor = image->dev_minor,
		.inode = image->inode,
		.inode_generation = image->inode_generation,
		.deleted = image->deleted,
	};
	switch (image->kind) {
	case IMAGE_FILE:
		source->kind = SYMBOLS_FILE;
		break;
	case IMAGE_KERNEL:
		source->kind = SYMBOLS_KERNEL;
		break;
	case IMAGE_VDSO:
		source->kind = SYMBOLS_VDSO;
		break;
	case IMAGE_MODULE:
		source->kind = SYMBOLS_MODULE;
		break;
	case IMAGE_ANON:
		if (strcmp(image->path, "[anon]") != 0)
			return false; /* such as "[vsyscall]" */
		source->kind = SYMBOLS_JIT;
		break;
	default:
		return false;
	}
	_Static_assert(
		sizeof(source->build_id) == sizeof(image->build_id), "build-ids differ in size");
	source->build_id_len = images_build_id(images, id, source->build_id);
	images_file(images, id, &source->file_size, &source->file_mtime_ns);
	images_origin(images, id, &origin);
	/* In another pid namespace the number would name another process. */
	source->pid = proc_is_own() ? origin.pid : 0;
	source->map_start = origin.map_start;
	source->map_end = origin.map_end;
	source->stext = origin.stext;
	source->parent = proc_is_own() ? origin.parent : 0;
	source->elder = proc_is_own() ? origin.elder : 0;
	source->jitdump = origin.jitdump;
	return true;
}

struct symbols_source_origin names_source_origin(
	const struct names *names, uint32_t image, bool recording)
{
	struct symbols_source source = {.kind = SYMBOLS_FILE};

	(void)names_source(names->images, image, &source);
	return (struct symbols_source_origin){
		.pid = recording ? 0 : source.pid,
		.rights = symbols_source_rights(names->symbols, image),
	};
}

int names_request(struct names *names, const struct image *image)
{
	struct symbols_source source;

	return names_source(names->images, image->id, &source)
		? symbols_request(names->symbols, image->id, &source)
		: 0;
}

/* Sets the shown name of an image: the last part of its path, or a name in brackets if it is no
 * file. */
static int name_image(struct image_info *info, const struct image *image)
{
	static const char *const special[] = {
		[IMAGE_UNKNOWN] = "[unknown]",
		[IMAGE_KERNEL] = "[kernel]",
		[IMAGE_VDSO] = "[vdso]",
		[IMAGE_ANON] = "[anon]",
		[IMAGE_HYPERVISOR] = "[hypervisor]",
		[IMAGE_GUEST] = "[guest]",
		[IMAGE_MODULE] = "[module]",
		[IMAGE_KSYMBOL] = "[kernel]",
	};
	const char *path = image->path ? image->path : "";
	const char *slash;
	size_t size;

	if (image->kind == IMAGE_KSYMBOL)
		path = names_ksymbol_module(path);
	else if (image->kind == IMAGE_ANON && *path == '[')
		path = image->path; /* such as "[vsyscall]" */
	else if (image->kind == IMAGE_FILE && strstr(path, "/jit_app_cache:"))
		path = "[JIT app cache]"; /* simpleperf's copies of code, one file each */
	else if (image->kind == IMAGE_FILE && strstr(path, "/jit_zygote_cache:"))
		path = "[JIT zygote cache]";
	else if ((image->kind != IMAGE_FILE && image->kind != IMAGE_MODULE) || !*path)
		path = image->kind == IMAGE_FILE ? "[unknown]" : special[image->kind];
	/* Cleaning never lengthens: a '?' replaces at least one byte. */
	size = strlen(path) + 1;
	info->path = malloc(size);
	if (!info->path)
		return -ENOMEM;
	clean_string(info->path, size, path);
	slash = strrchr(info->path, '/');
	info->name = slash && slash[1] ? slash + 1 : info->path;
	return 0;
}

/* Shared strings are few, so the search is linear. */
const char *names_shared(struct names *names, const char *text, const char *other)
{
	for (uint32_t i = 0; i < names->n_modules; i++)
		if (!strcmp(names->modules[i], text))
			return names->modules[i];
	if (!grow_exact(&names->modules, names->n_modules + 1u, sizeof(*names->modules))) {
		names->modules[names->n_modules] = strdup(text);
		if (names->modules[names->n_modules])
			return names->modules[names->n_modules++];
	}
	symbols_lack_memory(names->symbols);
	return other;
}

const char *names_module(struct names *names, const char *module)
{
	char clean[128], text[sizeof(clean) + 2];

	clean_string(clean, sizeof(clean), module);
	snprintf(text, sizeof(text), "[%s]", clean);
	return names_shared(names, text, "[module]");
}

void names_jit(struct names *names, struct ref *ref, const char *file)
{
	char clean[1024];

	if (!file)
		return;
	clean_string(clean, sizeof(clean), file);
	ref->pub.path = names_shared(names, clean, "[jit]");
	const char *slash = strrchr(ref->pub.path, '/');
	ref->pub.image = slash && slash[1] ? slash + 1 : ref->pub.path;
}

/* Returns the module name of a file: "nf-tables.ko.xz" is "[nf_tables]". */
static const char *module_of_file(struct names *names, const char *file)
{
	char module[64];
	size_t len = strcspn(file, ".");

	if (*file == '[')
		return file;
	if (len >= sizeof(module))
		len = sizeof(module) - 1;
	for (size_t i = 0; i < len; i++)
		module[i] = file[i] == '-' ? '_' : file[i];
	module[len] = '\0';
	return names_module(names, module);
}

/* Compares paths without a leading part: one process may see a file as "/bin/a", another one,
 * outside of its root, as "/srv/root/bin/a". */
static bool is_same_place(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	return strcmp(n > m ? a + n - m : a, m > n ? b + m - n : b) == 0;
}

uint32_t names_twin(struct names *names, uint32_t id)
{
	struct image_info *info = &names->infos[id];
	const uint32_t twin = symbols_twin(names->symbols, id);

	if (twin == id)
		info->twin = id;
	for (uint32_t i = 0; i < names->n_infos && !info->twin; i++) {
		const struct image_info *other = &names->infos[i];
		const bool is_known = i == twin || (i != id && other->twin);

		if (is_known && other->path && symbols_twin(names->symbols, i) == twin &&
			is_same_place(other->path, info->path))
			info->twin = i == twin ? twin : other->twin;
	}
	if (!info->twin)
		info->twin = id;
	return info->twin;
}

struct image_info *names_image(struct names *names, uint32_t id)
{
	const struct image *image;
	struct image_info *info;

	if (id < names->n_infos && names->infos[id].path)
		return &names->infos[id];
	image = images_get(names->images, id);
	if (!image)
		return NULL;
	if (grow_zeroed((void **)&names->infos, id, &names->n_infos, sizeof(*info)) ||
		name_image(&names->infos[id], image)) {
		symbols_lack_memory(names->symbols);
		return NULL;
	}
	info = &names->infos[id];
	if (image->kind == IMAGE_MODULE)
		info->name = module_of_file(names, info->name);
	info->kind = image->kind;
	info->version = 1;
	info->state = SYMBOLS_NONE;
	if (image->kind == IMAGE_KSYMBOL)
		return info;
	if (names->held)
		info->state = SYMBOLS_PENDING;
	else if (names->symbols && !names_request(names, image))
		info->state = symbols_state(names->symbols, id);
	info->has_source = names->symbols != NULL;
	if (info->kind == IMAGE_ANON)
		names_meet_piece(names, id);
	if (info->has_source && !names->held)
		info->table = symbols_version(names->symbols, id);
	return info;
}

void names_set_changes(struct names *names, struct changes *changes)
{
	names->code = changes;
}

void names_answer_changes(struct names *names)
{
	const struct image_info *info;
	uint32_t image;

	if (!names->code || !changes_asked(names->code, &image))
		return;
	info = names->held ? NULL : names_image(names, image);
	if (!info || !info->has_source)
		changes_decline(names->code, image);
	else if (info->state != SYMBOLS_PENDING)
		names_tell_changes(names, image);
}

void names_tell_changes(struct names *names, uint32_t image)
{
	struct symbols_change change;
	struct code_change *all;
	uint32_t n = 0;

	_Static_assert(CHANGES_SHIFT == SYMBOLS_CHANGE_SHIFT, "numbers of code differ");
	if (!names->code || names->infos[image].kind != IMAGE_ANON)
		return;
	while (symbols_change(names->symbols, image, n, &change))
		n++;
	all = calloc(n + 1u, sizeof(*all));
	for (uint32_t i = 0; all && i < n; i++) {
		symbols_change(names->symbols, image, i, &change);
		all[i] = (struct code_change){change.start, change.since_ns, change.size};
	}
	if (!all || changes_tell(names->code, image, all, n))
		symbols_lack_memory(names->symbols);
	free(all);
}
