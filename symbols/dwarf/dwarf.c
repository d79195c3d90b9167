/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dwarf.c - answers questions about lines and inlined functions, and keeps files open for later
 * ones.
 *
 * A question's addresses are taken unit by unit, so that each unit's tree and line table are read
 * once.
 */
#include "symbols/dwarf/dwarf.h"

#include "symbols/base/grow.h"
#include "symbols/dwarf/private.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT 2
#define KEPT_BYTES ((uint64_t)640 << 20) /* bytes of sections in all kept files */
#define MAP_BYTES ((size_t)64 << 20) /* bytes of kept function maps */
#define PARTS_MAX 4096
/* Steps of a question, each some nanoseconds.  2,000 addresses of the largest known files take a
 * tenth of it. */
uint64_t dwarf_work_max = (uint64_t)1 << 29;
#define MISSING_MAX 256

static struct dwarf *kept[KEPT]; /* most recently used first */

int dwarf_missing_add(struct dwarf *dwarf, const char *dir, const char *name)
{
	const bool absolute = *name == '/' || !*dir;
	const size_t len = strlen(name) + (absolute ? 0 : strlen(dir) + 1);

	if (dwarf->n_missing >= MISSING_MAX)
		return 0;
	char *path = malloc(len + 1);
	if (!path)
		return -ENOMEM;
	if (absolute)
		strcpy(path, name);
	else
		stpcpy(stpcpy(stpcpy(path, dir), "/"), name);
	for (size_t i = 0; i < dwarf->n_missing; i++)
		if (strcmp(dwarf->missing[i], path) == 0) {
			free(path);
			return 0;
		}
	if (array_grow(&dwarf->missing, &dwarf->cap_missing, dwarf->n_missing + 1,
		    sizeof(*dwarf->missing)) < 0) {
		free(path);
		return -ENOMEM;
	}
	dwarf->missing[dwarf->n_missing++] = path;
	return 0;
}

const char *dwarf_missing(const struct dwarf *dwarf, size_t i)
{
	return i < dwarf->n_missing ? dwarf->missing[i] : NULL;
}

static void forget_missing(struct dwarf *dwarf)
{
	for (size_t i = 0; i < dwarf->n_missing; i++)
		free(dwarf->missing[i]);
	dwarf->n_missing = 0;
}

static void dwarf_free(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	forget_missing(dwarf);
	free(dwarf->missing);
	for (size_t i = 0; i < dwarf->n_parts; i++) {
		dwarf_image_close(dwarf->parts[i]);
		free(dwarf->parts[i]);
	}
	free(dwarf->parts);
	dwarf_index_fini(dwarf);
	dwarf_image_close(&dwarf->main);
	dwarf_image_close(&dwarf->alt);
	free(dwarf);
}

void dwarf_forget(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		dwarf_free(kept[i]);
		kept[i] = NULL;
	}
}

/* --- opening --- */

static uint64_t bytes_of(const struct dwarf *dwarf)
{
	uint64_t sum = dwarf_section_bytes(&dwarf->main);

	if (dwarf->has_alt)
		sum += dwarf_section_bytes(&dwarf->alt);
	for (size_t i = 0; i < dwarf->n_parts; i++)
		sum += dwarf_section_bytes(dwarf->parts[i]);
	return sum;
}

static int open_new(struct dwarf **out, const struct dwarf_files *files)
{
	int ret = -ENODATA;

	struct dwarf *dwarf = calloc(1, sizeof(*dwarf));
	if (!dwarf)
		return -ENOMEM;
	dwarf->work = dwarf_work_max;
	dwarf_identify(files->file, dwarf->identity[0]);
	dwarf_identify(files->debug, dwarf->identity[1]);
	dwarf_identify(files->alt, dwarf->identity[2]);
	if (files->debug >= 0)
		ret = dwarf_image_open(&dwarf->main, files->debug, false);
	if (ret < 0 && ret != -ENOMEM)
		ret = dwarf_image_open(&dwarf->main, files->file, false);
	dwarf->main.dwarf = dwarf;
	if (ret == 0 && files->alt >= 0) {
		ret = dwarf_image_open(&dwarf->alt, files->alt, false);
		dwarf->has_alt = ret == 0;
		dwarf->alt.dwarf = dwarf;
		if (ret != -ENOMEM)
			ret = 0;
	}
	if (ret < 0) {
		dwarf_free(dwarf);
		return ret == -ENOEXEC ? -EBADMSG : ret;
	}
	*out = dwarf;
	return 0;
}

static bool is_same(const struct dwarf *dwarf, const struct dwarf_files *files)
{
	uint64_t identity[3][5];

	dwarf_identify(files->file, identity[0]);
	dwarf_identify(files->debug, identity[1]);
	dwarf_identify(files->alt, identity[2]);
	return memcmp(identity, dwarf->identity, sizeof(identity)) == 0;
}

static int add_part(struct dwarf *dwarf, int fd)
{
	uint64_t identity[5];

	dwarf_identify(fd, identity);
	for (size_t i = 0; i < dwarf->n_parts; i++)
		if (memcmp(dwarf->parts[i]->identity, identity, sizeof(identity)) == 0)
			return 0;
	if (dwarf->n_parts >= PARTS_MAX)
		return 0;
	if (array_grow(&dwarf->parts, &dwarf->cap_parts, dwarf->n_parts + 1,
		    sizeof(*dwarf->parts)) < 0)
		return -ENOMEM;
	struct dwarf_image *part = calloc(1, sizeof(*part));
	if (!part)
		return -ENOMEM;
	int ret = dwarf_image_open(part, fd, true);
	if (ret < 0) {
		free(part);
		return ret == -ENOMEM ? ret : 0; /* reported as missing */
	}
	part->dwarf = dwarf;
	dwarf->parts[dwarf->n_parts++] = part;
	for (size_t i = 0; i < dwarf->main.n_units; i++)
		dwarf->main.units[i]->split_sought = false;
	return 0;
}

int dwarf_open(struct dwarf **out, const struct dwarf_files *files)
{
	struct dwarf *dwarf = NULL;
	size_t at = 0;
	int ret = 0;

	*out = NULL;
	while (at < KEPT && !(kept[at] && is_same(kept[at], files)))
		at++;
	if (at < KEPT) {
		dwarf = kept[at];
	} else {
		at = KEPT - 1;
		dwarf_free(kept[at]);
		kept[at] = NULL;
		ret = open_new(&dwarf, files);
		if (ret == -ENOMEM && kept[0]) {
			dwarf_forget();
			ret = open_new(&dwarf, files);
		}
		if (ret < 0)
			return ret;
	}
	for (; at > 0; at--)
		kept[at] = kept[at - 1];
	kept[0] = dwarf;
	for (size_t i = 0; i < files->n_parts && ret == 0; i++)
		ret = add_part(dwarf, files->parts[i]);
	uint64_t sum = bytes_of(dwarf);
	for (size_t i = 1; i < KEPT; i++) {
		sum += kept[i] ? bytes_of(kept[i]) : 0;
		if (sum <= KEPT_BYTES)
			continue;
		dwarf_free(kept[i]);
		kept[i] = NULL;
	}
	if (ret == 0)
		*out = dwarf;
	return ret;
}

bool dwarf_idle(void)
{
	if (!kept[0])
		return false;
	return dwarf_image_idle(&kept[0]->main) ||
		(kept[0]->has_alt && dwarf_image_idle(&kept[0]->alt));
}

/* --- questions --- */

struct asked { /* one address */
	struct dwarf_unit *unit;
	size_t i; /* index in the question */
};

struct group { /* addresses of one unit */
	struct dwarf *dwarf;
	struct dwarf_unit *unit; /* has the line table */
	struct dwarf_unit *entries; /* has the functions */
	struct codetab_builder *builder;
	struct dwarf_rows rows;
	struct dwarf_function function; /* the last one used */
	uint32_t function_number;
	bool has_function;
};

static int by_unit(const void *a, const void *b)
{
	const struct asked *left = a, *right = b;
	uint64_t l = left->unit ? left->unit->offset : 0, r = right->unit ? right->unit->offset : 0;

	if (l != r)
		return l < r ? -1 : 1;
	return left->i < right->i ? -1 : left->i > right->i;
}

/* Makes the function that covers an address the group's.  *found is false if there is none.
 * Returns 0 or -errno. */
static int use_function(struct group *group, uint64_t address, bool *found)
{
	const struct dwarf_range *range = dwarf_ranges_find(&group->entries->map, address);

	*found = range;
	if (!range || (group->has_function && group->function_number == range->owner))
		return 0;
	dwarf_function_fini(&group->function);
	group->has_function = false;
	int ret = dwarf_tree_function(
		group->entries, group->entries->functions[range->owner], &group->function);
	group->function_number = range->owner;
	group->has_function = ret == 0;
	return ret;
}

static int add_frames(struct group *group, uint64_t address, const struct dwarf_row *row,
	struct codetab_entry *entry)
{
	struct codetab_frame frames[CODETAB_DEPTH_MAX];
	struct dwarf_inlined *inlined = group->function.inlined;
	const struct dwarf_range *range = dwarf_ranges_find(&group->function.map, address);
	uint32_t at = range ? range->owner : 0;
	uint32_t n = 0;
	struct codetab_frame place = {0};

	if (row) {
		place.file = dwarf_rows_path(
			group->unit, row->file, group->builder, group->dwarf->asked);
		place.line = row->line;
		place.column = row->column;
	}
	for (;;) {
		/* Too many frames: the innermost ones are kept, and the function. */
		if (n == CODETAB_DEPTH_MAX - 1)
			at = 0;
		struct dwarf_inlined *one = &inlined[at];
		int ret = dwarf_tree_name(group->entries, one);
		if (ret < 0)
			return ret;
		frames[n] = place;
		frames[n].function =
			codetab_builder_string(group->builder, one->name, strlen(one->name));
		frames[n].decl_line = one->decl_line;
		frames[n++].inlined = at != 0;
		if (at == 0)
			break;
		place = (struct codetab_frame){.line = one->call_line,
			.column = one->call_column <= UINT16_MAX ? (uint16_t)one->call_column : 0,
			.file = dwarf_rows_path(
				group->unit, one->call_file, group->builder, group->dwarf->asked)};
		at = one->parent;
	}
	entry->frames = codetab_builder_frames(group->builder, frames, n);
	entry->n_frames = (uint16_t)n;
	return 0;
}

static int answer_one(struct group *group, uint64_t address, struct codetab_entry *entry)
{
	const struct dwarf_row *row = dwarf_rows_find(&group->rows, address);
	bool found;

	int ret = use_function(group, address, &found);
	if (ret == -EBADMSG)
		found = false;
	else if (ret < 0)
		return ret;
	if (found)
		return add_frames(group, address, row, entry);
	if (!row)
		return 0;
	struct codetab_frame frame = {.line = row->line, .column = row->column};
	frame.file = dwarf_rows_path(group->unit, row->file, group->builder, group->dwarf->asked);
	entry->frames = codetab_builder_frames(group->builder, &frame, 1);
	entry->n_frames = 1;
	return 0;
}

/* Drops maps and abbreviations of units if they take too much memory. */
static void trim_maps(struct dwarf *dwarf)
{
	size_t bytes = 0;

	for (size_t i = 0; i < dwarf->main.n_units; i++) {
		struct dwarf_unit *unit = dwarf->main.units[i];
		struct dwarf_unit *entries = unit->split ? unit->split : unit;
		bytes += entries->map.cap * sizeof(struct dwarf_range) +
			entries->cap_functions * sizeof(uint64_t);
		if (bytes > MAP_BYTES)
			dwarf_unit_forget(entries);
	}
	dwarf_trim(&dwarf->main);
	dwarf_trim(&dwarf->alt);
}

static int answer_group(struct group *group, const uint64_t *addresses, const struct asked *asked,
	size_t n, struct codetab_entry *entries)
{
	uint64_t *own = reallocarray(NULL, n, sizeof(*own));

	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		own[i] = addresses[asked[i].i];
	int ret = dwarf_unit_entries(group->unit, &group->entries);
	if (ret == 0)
		ret = dwarf_tree_scan(group->entries);
	if (ret == 0)
		ret = dwarf_rows_read(group->unit, own, n, &group->rows);
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = answer_one(group, own[i], &entries[asked[i].i]);
	dwarf_function_fini(&group->function);
	dwarf_rows_fini(&group->rows);
	free(own);
	return ret == -EBADMSG ? 0 : ret; /* a broken unit has no answers */
}

void dwarf_begin(struct dwarf *dwarf)
{
	dwarf->work = dwarf_work_max;
	dwarf->asked++;
	forget_missing(dwarf);
}

int dwarf_lines(struct dwarf *dwarf, const uint64_t *addresses, size_t n,
	struct codetab_builder *builder, struct codetab_entry *entries)
{
	int ret = 0;

	dwarf_begin(dwarf);
	for (size_t i = 0; i < n; i++)
		entries[i].frames = entries[i].n_frames = 0;
	struct asked *asked = calloc(n + 1, sizeof(*asked));
	if (!asked)
		return -ENOMEM;
	for (size_t i = 0; i < n && ret == 0; i++) {
		asked[i].i = i;
		ret = dwarf_index_find(dwarf, addresses[i], &asked[i].unit);
	}
	if (ret == 0)
		qsort(asked, n, sizeof(*asked), by_unit);
	for (size_t from = 0, to; from < n && ret == 0; from = to) {
		struct group group = {.dwarf = dwarf, .unit = asked[from].unit, .builder = builder};
		to = from + 1;
		while (to < n && asked[to].unit == asked[from].unit)
			to++;
		if (group.unit)
			ret = answer_group(&group, addresses, asked + from, to - from, entries);
		dwarf_trim(&dwarf->main);
	}
	free(asked);
	trim_maps(dwarf);
	return ret;
}

bool dwarf_function(struct dwarf *dwarf, uint64_t address, struct codetab_builder *builder,
	struct codetab_frame *out, uint64_t *start, uint64_t *end)
{
	struct dwarf_unit *unit, *entries, *file_unit;
	uint64_t file;

	memset(out, 0, sizeof(*out));
	dwarf_begin(dwarf);
	if (dwarf_index_find(dwarf, address, &unit) < 0 || !unit ||
		dwarf_unit_entries(unit, &entries) < 0 || dwarf_tree_scan(entries) < 0)
		return false;
	const struct dwarf_range *range = dwarf_ranges_find(&entries->map, address);
	if (!range)
		return false;
	struct dwarf_inlined function = {.entry = entries->functions[range->owner]};
	if (dwarf_tree_name(entries, &function) < 0 ||
		dwarf_tree_declared(entries, function.entry, &file_unit, &file) < 0)
		return false;
	out->function = codetab_builder_string(builder, function.name, strlen(function.name));
	out->line = out->decl_line = function.decl_line;
	if (file_unit)
		out->file = dwarf_rows_path(file_unit, file, builder, dwarf->asked);
	*start = range->low;
	*end = range->high;
	return true;
}
