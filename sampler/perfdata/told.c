// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * told.c - reads the sections that simpleperf adds; see told.h.
 *
 * Function names become lines of a map such as /tmp/perf-PID.map, which the confined worker parses.
 */
#include "sampler/perfdata/told.h"

#include "sampler/base/grow.h"
#include "sampler/perfdata/swap.h"
#include "sampler/store/images.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX 1024u
#define LINE_BYTES 40u /* bytes of a line without its name */
#define PROT_JIT_SYMFILE 0x4000u /* flag of simpleperf: the file's addresses are absolute */

/* --- numbers and strings --- */

struct cursor {
	const uint8_t *at, *end;
	bool swapped;
	bool bad; /* ended too early: later reads return 0 */
};

static uint64_t get_number(struct cursor *in, size_t size)
{
	uint64_t value;

	if (in->bad || (size_t)(in->end - in->at) < size) {
		in->bad = true;
		return 0;
	}
	value = size == 4 ? swap_get_32(in->at, in->swapped) : swap_get_64(in->at, in->swapped);
	in->at += size;
	return value;
}

static const char *get_string(struct cursor *in, size_t *len)
{
	const uint8_t *start = in->at, *nul = NULL;

	*len = 0;
	if (!in->bad)
		nul = memchr(start, '\0', (size_t)(in->end - start));
	if (!nul) {
		in->bad = true;
		return "";
	}
	*len = (size_t)(nul - start);
	in->at = nul + 1;
	return (const char *)start;
}

static uint64_t get_varint(struct cursor *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; !in->bad && shift < 70; shift += 7) {
		if (in->at == in->end)
			break;
		const uint8_t byte = *in->at++;
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return value;
	}
	in->bad = true;
	return 0;
}

/* Takes one field of a protobuf message and its number.  A message or string sets body, all others
 * value.  Returns false at the end. */
static bool next_field(
	struct cursor *in, unsigned int *number, uint64_t *value, struct cursor *body)
{
	uint64_t tag, len = 0;

	if (in->bad || in->at == in->end)
		return false;
	tag = get_varint(in);
	*number = tag >> 3 < 16 ? (unsigned int)(tag >> 3) : 0;
	*value = 0;
	*body = (struct cursor){in->at, in->at, false, false};
	switch (tag & 7) {
	case 0:
		*value = get_varint(in);
		return !in->bad;
	case 1:
		len = 8;
		break;
	case 2:
		len = get_varint(in);
		break;
	case 5:
		len = 4;
		break;
	default:
		in->bad = true;
	}
	if (in->bad || len > (size_t)(in->end - in->at)) {
		in->bad = true;
		return false;
	}
	*body = (struct cursor){in->at, in->at + len, false, false};
	in->at += len;
	return true;
}

/* --- META_INFO --- */

static int keep_text(char **out, const char *before, const char *text, size_t len)
{
	char *made;

	if (asprintf(&made, "%s%.*s", before, (int)(len < 200 ? len : 200), text) < 0)
		return -ENOMEM;
	free(*out);
	*out = made;
	return 0;
}

/* Names attributes by a line "cpu-cycles,0,0": the name, then their type and config. */
static void name_event(struct attrs *attrs, const char *line, size_t len)
{
	const char *config = memrchr(line, ',', len);
	const char *type = config ? memrchr(line, ',', (size_t)(config - line)) : NULL;
	char numbers[64], *end, name[EVENT_NAME_MAX];
	unsigned long long kind, value;

	if (!type || type == line || len - (size_t)(type - line) >= sizeof(numbers))
		return;
	snprintf(
		numbers, sizeof(numbers), "%.*s", (int)(len - (size_t)(type + 1 - line)), type + 1);
	kind = strtoull(numbers, &end, 0);
	value = *end == ',' ? strtoull(end + 1, NULL, 0) : 0;
	for (size_t i = 0; i < attrs->n; i++) {
		const struct perf_event_attr *attr = &attrs->list[i].attr;

		if (attr->type != kind || attr->config != value || attrs->list[i].is_named)
			continue;
		snprintf(name, sizeof(name), "%.*s%s", (int)(type - line), line,
			attr->exclude_kernel == attr->exclude_user ? ""
				: attr->exclude_kernel		   ? ":u"
								   : ":k");
		attrs_name(attrs, NULL, i, name, sizeof(name));
	}
}

static void name_events(struct attrs *attrs, const char *text, size_t len)
{
	for (unsigned int n = 0; n < EVENTS_MAX && len; n++) {
		const char *newline = memchr(text, '\n', len);
		const size_t line = newline ? (size_t)(newline - text) : len;

		name_event(attrs, text, line);
		text += line + (newline != NULL);
		len -= line + (newline != NULL);
	}
}

int told_meta(struct features *features, struct attrs *attrs, const uint8_t *bytes, size_t len)
{
	struct reader_info *info = &features->info;
	struct cursor in = {bytes, bytes + len, false, false};
	int ret = info->recorder ? 0 : keep_text(&info->recorder, "simpleperf", "", 0);

	while (!ret && in.at < in.end) {
		size_t key_len, value_len;
		const char *key = get_string(&in, &key_len);
		const char *value = get_string(&in, &value_len);

		if (in.bad)
			return -EBADMSG;
		if (!strcmp(key, "simpleperf_version"))
			ret = keep_text(&info->recorder, "simpleperf ", value, value_len);
		else if (!strcmp(key, "product_props"))
			ret = keep_text(&info->device, "", value, value_len);
		else if (!strcmp(key, "kernel_version") && !info->release)
			ret = keep_text(&info->release, "", value, value_len);
		else if (!strcmp(key, "event_type_info"))
			name_events(attrs, value, value_len);
	}
	return ret;
}

/* --- files --- */

struct told_file {
	const char *path;
	size_t path_len;
	uint64_t kind, vaddr;
	uint64_t offset; /* offset of vaddr in the file or in memory; UINT64_MAX: not recorded */
};

/* Whether the file contains code generated at run time.  simpleperf writes such files, with several
 * functions in each. */
static bool is_jit(const char *path)
{
	return strstr(path, "jit_app_cache:") || strstr(path, "jit_zygote_cache:") ||
		strstr(path, "TemporaryFile");
}

static int add_line(struct features *features, FILE *out, uint64_t start, uint64_t size,
	const char *name, size_t len)
{
	if (!len || len > UINT16_MAX)
		return 0;
	if (features_hold(features, LINE_BYTES + len))
		return -EBADMSG;
	fprintf(out, "%" PRIx64 " %" PRIx64 " ", start, size);
	for (size_t i = 0; i < len; i++)
		fputc(name[i] == '\n' || name[i] == '\r' ? '?' : name[i], out);
	fputc('\n', out);
	return 0;
}

/* Writes the path of a recorded mapping.  File names get a leading slash, which distinguishes files
 * from other mappings.  Special names such as "[vdso]" stay as they are. */
static void file_path(char path[READER_TOLD_PATH], const char *name, size_t len)
{
	const size_t cut = sizeof(IMAGE_DELETED) - 1;
	const bool special = len && name[0] == '[' && (len < 5 || memcmp(name, "[anon", 5) != 0);

	if (len > cut && !memcmp(name + len - cut, IMAGE_DELETED, cut))
		len -= cut;
	snprintf(path, READER_TOLD_PATH, "%s%.*s", special || !len || name[0] == '/' ? "" : "/",
		(int)len, name);
}

typedef int add_names(struct features *features, struct cursor in, FILE *out, uint64_t delta);

/* Writes the names of a file.  Code generated at run time gets two lines per function, since it may
 * be mapped by offset or by address.  The two ranges never overlap. */
static int write_names(struct features *features, struct cursor names, add_names *add, FILE *out,
	const struct reader_told *told, const struct told_file *file)
{
	uint64_t delta = 0;
	int ret;

	if (told->kind == READER_TOLD_ELF)
		delta = told->from_start ? 0 : file->offset - file->vaddr;
	else if (told->kind == READER_TOLD_MODULE && file->offset != UINT64_MAX)
		delta = file->offset - file->vaddr;
	ret = add(features, names, out, delta);
	if (!ret && delta && is_jit(told->path))
		ret = add(features, names, out, 0);
	return ret;
}

#define FILE_BYTES 512u

static int add_file(struct features *features, const struct told_file *file, struct cursor names,
	add_names *add)
{
	struct reader_info *info = &features->info;
	struct reader_told *told;
	char path[READER_TOLD_PATH];
	FILE *out;
	int ret;

	file_path(path, file->path, file->path_len);
	/* Includes the cost of allocations, here and in the copy of the names. */
	if (features_hold(features, FILE_BYTES + strlen(path)))
		return -EBADMSG;
	if (grow_items(&info->told, &features->told_capacity, info->n_told + 1, sizeof(*told)))
		return -ENOMEM;
	told = &info->told[info->n_told];
	*told = (struct reader_told){
		.kind = file->kind < READER_TOLD_OTHER ? (enum reader_told_kind)file->kind
						       : READER_TOLD_OTHER,
		.from_start = file->kind == READER_TOLD_ELF && file->offset == UINT64_MAX,
		.vaddr = file->vaddr,
		.path = strdup(path),
	};
	out = told->path ? open_memstream(&told->names, &told->len) : NULL;
	if (!out) {
		free(told->path);
		return -ENOMEM;
	}
	info->n_told++;
	ret = write_names(features, names, add, out, told, file);
	if (ferror(out) && !ret)
		ret = -ENOMEM;
	if ((fclose(out) || !told->names) && !ret)
		ret = -ENOMEM;
	return ret;
}

/* --- PERFDATA_SIMPLEPERF_FILE: fields of fixed sizes --- */

static int add_fixed(struct features *features, struct cursor in, FILE *out, uint64_t delta)
{
	while (in.at < in.end) {
		const uint64_t start = get_number(&in, 8), size = get_number(&in, 4);
		size_t len;
		const char *name = get_string(&in, &len);
		const int ret =
			in.bad ? -EBADMSG : add_line(features, out, start + delta, size, name, len);

		if (ret)
			return ret;
	}
	return 0;
}

static int take_fixed(struct features *features, struct cursor in)
{
	struct told_file file = {.offset = UINT64_MAX};
	struct cursor names;
	uint64_t n;
	size_t len;

	file.path = get_string(&in, &file.path_len);
	file.kind = get_number(&in, 4);
	file.vaddr = get_number(&in, 8);
	n = get_number(&in, 4);
	names = in;
	for (; n && !in.bad; n--) {
		get_number(&in, 8);
		get_number(&in, 4);
		get_string(&in, &len);
	}
	if (in.bad)
		return -EBADMSG;
	names.end = in.at;
	/* For a dex file, the offsets of the dex files in it follow instead. */
	if (file.kind != READER_TOLD_DEX && in.at < in.end)
		file.offset = get_number(&in, 8);
	return add_file(features, &file, names, add_fixed);
}

/* --- PERFDATA_SIMPLEPERF_FILE2: protobuf --- */

static int add_proto(struct features *features, struct cursor in, FILE *out, uint64_t delta)
{
	struct cursor symbol, body;
	unsigned int number;
	uint64_t value;
	int ret = 0;

	while (!ret && next_field(&in, &number, &value, &symbol)) {
		uint64_t start = 0, size = 0;
		struct cursor name = {0};

		if (number != 4)
			continue;
		while (next_field(&symbol, &number, &value, &body)) {
			if (number == 1)
				start = value;
			else if (number == 2)
				size = value;
			else if (number == 3)
				name = body;
		}
		if (symbol.bad)
			return -EBADMSG;
		if (name.at)
			ret = add_line(features, out, start + delta, size, (const char *)name.at,
				strnlen((const char *)name.at, (size_t)(name.end - name.at)));
	}
	return ret;
}

/* Returns field number 1 of a message within the file's message. */
static uint64_t first_number(struct cursor in)
{
	uint64_t value, found = 0;
	unsigned int number;
	struct cursor body;

	while (next_field(&in, &number, &value, &body))
		if (number == 1)
			found = value;
	return found;
}

static int take_proto(struct features *features, struct cursor in)
{
	struct told_file file = {.path = "", .offset = UINT64_MAX};
	const struct cursor names = in;
	unsigned int number;
	struct cursor body;
	uint64_t value;

	while (next_field(&in, &number, &value, &body)) {
		switch (number) {
		case 1:
			file.path = (const char *)body.at;
			file.path_len = strnlen(file.path, (size_t)(body.end - body.at));
			break;
		case 2:
			file.kind = value;
			break;
		case 3:
			file.vaddr = value;
			break;
		case 6: /* ELF files */
		case 7: /* kernel modules */
			file.offset = first_number(body);
			break;
		}
	}
	return in.bad ? -EBADMSG : add_file(features, &file, names, add_proto);
}

/* --- both --- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct reader_told *)a)->path, ((const struct reader_told *)b)->path);
}

int told_files(struct features *features, unsigned int feature, const uint8_t *bytes, size_t len,
	bool swapped)
{
	struct reader_info *info = &features->info;
	struct cursor in = {bytes, bytes + len, swapped, false};
	int ret = 0;

	while (!ret && in.at < in.end) {
		const uint64_t size = get_number(&in, 4);
		struct cursor file = {in.at, in.at, swapped, false};

		if (in.bad || size > (size_t)(in.end - in.at)) {
			ret = -EBADMSG;
			break;
		}
		file.end = in.at += size;
		ret = feature == PERFDATA_SIMPLEPERF_FILE ? take_fixed(features, file)
							  : take_proto(features, file);
	}
	if (info->n_told)
		qsort(info->told, info->n_told, sizeof(*info->told), by_path);
	return ret;
}

const struct reader_told *told_find(const struct reader_info *info, const char *path)
{
	char whole[READER_TOLD_PATH];
	const struct reader_told key = {.path = whole};

	if (!info->n_told)
		return NULL;
	file_path(whole, path, strlen(path));
	return bsearch(&key, info->told, info->n_told, sizeof(key), by_path);
}

void told_map(const struct reader_info *info, struct record_mmap *mmap, char *path)
{
	const bool is_absolute = mmap->prot & PROT_JIT_SYMFILE;
	const struct reader_told *told = told_find(info, mmap->filename);

	/* A mapping from before the recording has no inode. */
	mmap->has_inode = false;
	if (is_absolute || (told && told->kind == READER_TOLD_MAP))
		mmap->pgoff = mmap->start;
	if (!told)
		return;
	/* Interpreted code is in mappings that are not executable. */
	mmap->executable = true;
	if (told->from_start && !is_absolute)
		mmap->pgoff = told->vaddr;
	file_path(path, mmap->filename, strlen(mmap->filename));
	mmap->filename = path;
}

void told_fini(struct reader_info *info)
{
	for (size_t i = 0; i < info->n_told; i++) {
		free(info->told[i].path);
		free(info->told[i].names);
	}
	free(info->told);
	free(info->recorder);
	free(info->device);
}
