/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * synth.c - synthesizes side-band records; see synth.h.
 *
 * The layouts are those of perf_event_open(2), names and addresses those of perf record.
 */
#include "sampler/perfdata/synth.h"

#include "sampler/base/grow.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#define KALLSYMS_BUFFER 65536u
#define KERNEL_PID UINT32_MAX /* pid of the kernel's mappings */

/* The fields that sample_id_all appends. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id;
};

/* Ends a record of `len` bytes: pads the name to 8 bytes and appends the trailer. */
static void finish(union synth_record *out, size_t len, const char *name, uint32_t pid,
	uint32_t tid, uint64_t time_ns)
{
	const struct trailer trailer = {.pid = pid, .tid = tid, .time_ns = time_ns};
	uint8_t *bytes = (uint8_t *)out;
	size_t name_len = name ? strnlen(name, SYNTH_NAME_MAX - 1) : 0;

	if (name) {
		memcpy(bytes + len, name, name_len);
		memset(bytes + len + name_len, 0, 8 - name_len % 8);
		len += name_len + 8 - name_len % 8;
	}
	memcpy(bytes + len, &trailer, sizeof(trailer));
	out->header.size = (uint16_t)(len + sizeof(trailer));
}

void synth_comm(
	union synth_record *out, int32_t pid, int32_t tid, const char *comm, uint64_t time_ns)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} record = {.header = {.type = PERF_RECORD_COMM}, (uint32_t)pid, (uint32_t)tid};

	memcpy(out, &record, sizeof(record));
	finish(out, sizeof(record), comm, record.pid, record.tid, time_ns);
}

void synth_mapping(
	union synth_record *out, int32_t pid, const struct record_mmap *mmap, uint64_t time_ns)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
		uint32_t dev_major, dev_minor;
		uint64_t inode, inode_generation;
		uint32_t prot, flags;
	} record = {
		.header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER},
		.pid = (uint32_t)pid,
		.tid = (uint32_t)pid,
		.start = mmap->start,
		.len = mmap->len,
		.pgoff = mmap->pgoff,
		.dev_major = mmap->dev_major,
		.dev_minor = mmap->dev_minor,
		.inode = mmap->inode,
		.inode_generation = mmap->inode_generation,
		.prot = mmap->prot,
		.flags = mmap->flags,
	};
	const char *name = mmap->filename ? mmap->filename : "";
	uint8_t *id = (uint8_t *)out + offsetof(__typeof__(record), dev_major);

	memcpy(out, &record, sizeof(record));
	if (!mmap->executable)
		out->header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (mmap->build_id_len && mmap->build_id_len <= RECORD_BUILD_ID_MAX) {
		/* Replaces device and inode: length, padding, 20 bytes. */
		out->header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		memset(id, 0, 24);
		id[0] = mmap->build_id_len;
		memcpy(id + 4, mmap->build_id, mmap->build_id_len);
	}
	/* Name memory without a file like the kernel and perf. */
	finish(out, sizeof(record), *name ? name : "//anon", record.pid, record.tid, time_ns);
}

void synth_lost_samples(union synth_record *out, uint64_t lost, uint64_t time_ns)
{
	out->header = (struct perf_event_header){.type = PERF_RECORD_LOST_SAMPLES};
	memcpy(&out->words[1], &lost, sizeof(lost));
	finish(out, 2 * sizeof(uint64_t), NULL, 0, 0, time_ns);
}

void synth_lost(union synth_record *out, uint64_t lost, uint64_t time_ns)
{
	out->header = (struct perf_event_header){.type = PERF_RECORD_LOST};
	out->words[1] = 0; /* the id */
	memcpy(&out->words[2], &lost, sizeof(lost));
	finish(out, 3 * sizeof(uint64_t), NULL, 0, 0, time_ns);
}

void synth_kernel_map(
	union synth_record *out, uint64_t start, uint64_t len, uint64_t pgoff, const char *name)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, len, pgoff;
	} record = {
		.header = {.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL},
		.pid = KERNEL_PID,
		.start = start,
		.len = len,
		.pgoff = pgoff,
	};

	memcpy(out, &record, sizeof(record));
	finish(out, sizeof(record), name, record.pid, 0, 0);
}

void synth_ksymbol(union synth_record *out, uint64_t start, uint64_t len, const char *name)
{
	struct {
		struct perf_event_header header;
		uint64_t start;
		uint32_t len;
		uint16_t kind, flags;
	} record = {
		.header = {.type = PERF_RECORD_KSYMBOL, .misc = PERF_RECORD_MISC_KERNEL},
		.start = start,
		.len = len > UINT32_MAX ? UINT32_MAX : (uint32_t)len,
		.kind = strncmp(name, "bpf_", 4) == 0 ? PERF_RECORD_KSYMBOL_TYPE_BPF
						      : PERF_RECORD_KSYMBOL_TYPE_OOL,
	};

	memcpy(out, &record, sizeof(record));
	finish(out, sizeof(record), name, KERNEL_PID, 0, 0);
}

/* --- the kernel --- */

int synth_kernel(FILE *kallsyms, synth_fn *fn, void *ctx)
{
	uint64_t start = 0, end = 0;
	char line[1024], name[256], text[sizeof("[kernel.kallsyms]") + sizeof(name)] = "";
	union synth_record record;

	while (!end && fgets(line, sizeof(line), kallsyms)) {
		const char *last = strrchr(line, ' ');
		unsigned long long address;
		char type;

		/* Skip hundreds of thousands of other lines quickly. */
		if (!last ||
			(strncmp(last, " _text", 6) && strncmp(last, " _stext", 7) &&
				strncmp(last, " _etext", 7)))
			continue;
		if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3)
			continue;
		if (!start && (!strcmp(name, "_text") || !strcmp(name, "_stext"))) {
			start = address;
			snprintf(text, sizeof(text), "[kernel.kallsyms]%s", name);
		} else if (start && !strcmp(name, "_etext")) {
			end = address;
		}
	}
	if (!start)
		return 0;
	/* Without an end, the kernel covers all later addresses. */
	synth_kernel_map(&record, start, (end > start ? end : UINT64_MAX) - start, start, text);
	return fn(&record.header, ctx);
}

struct module {
	char name[64], *path; /* NULL if not known */
	uint64_t start, size;
};

struct modules {
	struct module *list; /* in the order of /proc/modules */
	struct module **by_name;
	size_t n, room;
};

static void modules_fini(struct modules *modules)
{
	for (size_t i = 0; i < modules->n; i++)
		free(modules->list[i].path);
	free(modules->list);
	free(modules->by_name);
}

static int compare_names(const void *a, const void *b)
{
	const struct module *const *left = a, *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static int read_modules(struct modules *modules, FILE *file)
{
	char line[4096];

	while (fgets(line, sizeof(line), file)) {
		unsigned long long size, start;
		struct module module = {.path = NULL};

		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", module.name, &size, &start) != 3 ||
			!start)
			continue;
		module.start = start;
		module.size = size;
		if (grow_items(
			    &modules->list, &modules->room, modules->n + 1, sizeof(*modules->list)))
			return -ENOMEM;
		modules->list[modules->n++] = module;
	}
	modules->by_name = calloc(modules->n + 1, sizeof(struct module *));
	if (!modules->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < modules->n; i++)
		modules->by_name[i] = &modules->list[i];
	qsort(modules->by_name, modules->n, sizeof(*modules->by_name), compare_names);
	return 0;
}

/* Gets the name snd_hda from "kernel/.../snd-hda.ko.xz".  Returns false if the path is no
 * module's. */
static bool module_name(char *out, size_t size, const char *path)
{
	const char *base = strrchr(path, '/'), *end;

	base = base ? base + 1 : path;
	end = strstr(base, ".ko");
	if (!end || (size_t)(end - base) >= size)
		return false;
	for (; base < end; base++)
		*out++ = *base == '-' ? '_' : *base;
	*out = '\0';
	return true;
}

/* Finds the files of modules in lines "kernel/.../NAME.ko[.xz]: ...". */
static int find_module_files(struct modules *modules, FILE *modules_dep, const char *modules_dir)
{
	struct module key, *wanted = &key, **found;
	char line[4096], path[SYNTH_NAME_MAX];

	while (fgets(line, sizeof(line), modules_dep)) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (!module_name(key.name, sizeof(key.name), line))
			continue;
		found = bsearch(&wanted, modules->by_name, modules->n, sizeof(*modules->by_name),
			compare_names);
		if (!found || (*found)->path ||
			(size_t)snprintf(path, sizeof(path), "%s/%s", modules_dir, line) >=
				sizeof(path))
			continue;
		(*found)->path = strdup(path);
		if (!(*found)->path)
			return -ENOMEM;
	}
	return 0;
}

int synth_modules(
	FILE *modules, FILE *modules_dep, const char *modules_dir, synth_fn *fn, void *ctx)
{
	struct modules all = {0};
	char name[sizeof("[]") + sizeof(((struct module *)0)->name)];
	union synth_record record;
	int ret = read_modules(&all, modules);

	if (!ret && modules_dep)
		ret = find_module_files(&all, modules_dep, modules_dir);
	for (size_t i = 0; i < all.n && !ret; i++) {
		const struct module *module = &all.list[i];

		snprintf(name, sizeof(name), "[%s]", module->name);
		synth_kernel_map(&record, module->start, module->size, 0,
			module->path ? module->path : name);
		ret = fn(&record.header, ctx);
	}
	modules_fini(&all);
	return ret;
}

int synth_machine(synth_fn *fn, void *ctx)
{
	struct utsname machine;
	char dir[128] = "", path[192];
	FILE *file = fopen("/proc/kallsyms", "re"), *modules_dep;
	int ret = 0;

	if (file) {
		/* The file is long, and each read of /proc returns as much as is requested. */
		setvbuf(file, NULL, _IOFBF, KALLSYMS_BUFFER);
		ret = synth_kernel(file, fn, ctx);
		fclose(file);
	}
	file = ret ? NULL : fopen("/proc/modules", "re");
	if (!file)
		return ret;
	if (!uname(&machine))
		snprintf(dir, sizeof(dir), "/lib/modules/%s", machine.release);
	snprintf(path, sizeof(path), "%s/modules.dep", dir);
	modules_dep = fopen(path, "re");
	ret = synth_modules(file, modules_dep, dir, fn, ctx);
	if (modules_dep)
		fclose(modules_dep);
	fclose(file);
	return ret;
}

/* --- build-ids --- */

uint8_t synth_note_build_id(const void *notes, size_t len, uint8_t out[RECORD_BUILD_ID_MAX])
{
	const uint8_t *at = notes;

	while (len >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t name, description;

		memcpy(&note, at, sizeof(note));
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		description = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		at += sizeof(note);
		len -= sizeof(note);
		if (name > len || description > len - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
			!memcmp(at, "GNU", sizeof("GNU")) && note.n_descsz &&
			note.n_descsz <= RECORD_BUILD_ID_MAX) {
			memcpy(out, at + name, note.n_descsz);
			return (uint8_t)note.n_descsz;
		}
		at += name + description;
		len -= name + description;
	}
	return 0;
}

static uint8_t file_build_id(const char *path, uint8_t out[RECORD_BUILD_ID_MAX])
{
	uint8_t notes[4096];
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return 0;
	len = fread(notes, 1, sizeof(notes), file);
	fclose(file);
	return synth_note_build_id(notes, len, out);
}

uint8_t synth_kernel_build_id(uint8_t out[RECORD_BUILD_ID_MAX])
{
	return file_build_id("/sys/kernel/notes", out);
}

uint8_t synth_module_build_id(const char *module, uint8_t out[RECORD_BUILD_ID_MAX])
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	return file_build_id(path, out);
}

uint8_t synth_vdso_build_id(uint8_t out[RECORD_BUILD_ID_MAX])
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)vdso;
	const ElfW(Phdr) * segments;
	uint8_t len = 0;

	if (!vdso)
		return 0;
	segments = (const ElfW(Phdr) *)(vdso + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum && !len; i++)
		if (segments[i].p_type == PT_NOTE)
			len = synth_note_build_id(
				vdso + segments[i].p_offset, segments[i].p_filesz, out);
	return len;
}
