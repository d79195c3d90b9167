/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pprof.c - the profile of pprof: profile.proto as protocol buffer, in gzip.  UI thread.
 *
 * Readers join consecutive messages of one type.  So the profile is written in pieces and is never
 * entirely in memory.  Each code segment is a mapping.  The main program has the addresses in its
 * file, since go tool pprof expects this.  Other images follow each other far above, since
 * addresses of different processes would overlap.  A mapping's file offset leads from there into
 * the file (elfexec.GetBase() of pprof).  The kernel and its modules keep their addresses.
 */
#include "sampler/base/idtable.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/base/intern.h"
#include "tui/export/gzip.h"
#include "tui/export/profile.h"
#include "tui/export/profile.pb-c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096ull
#define FIRST_ADDRESS 0x400000000000ull /* above all programs linked at fixed addresses */
#define TELL_EVERY 4096
#define LABELS 3

/* Lines of another file, such as a header, are in a function of their own with the same name. */
struct function {
	uint32_t symref;
	int64_t file; /* string id; 0: not known */
};

struct mapping {
	uint32_t image;
	uint32_t next; /* next mapping of the image, + 1 */
	bool has_segment;
	struct symbols_segment segment;
	uint64_t low, high; /* sampled offsets, or the segment's */
	uint64_t start; /* address of offset 0; may wrap, since only low and above are mapped */
	uint64_t samples; /* in stacks with the image */
	uint32_t walk; /* number of the last stack counted here, so that each stack counts once */
	bool has_lines;
};

struct pprof {
	const struct profile *profile;
	struct gzip *gzip;
	struct intern strings;
	struct function *functions;
	uint32_t n_functions, functions_room;
	struct idtable by_function; /* number + 1 */
	uint32_t *locations; /* location + 1, by frame id */
	uint32_t locations_room;
	uint32_t *frame_ids; /* by location */
	uint32_t n_locations, frame_ids_room;
	uint32_t *mapping_of; /* by image: latest mapping + 1 */
	uint32_t mapping_of_room;
	struct mapping *mappings;
	uint32_t n_mappings, mappings_room;
	uint64_t *programs; /* by image: samples of processes that execute it */
	uint32_t programs_room;
	uint32_t walk;
	uint64_t *path; /* location ids of a stack */
	uint32_t path_room;
	uint8_t *piece;
	size_t piece_size;
};

static void pprof_fini(struct pprof *pprof)
{
	gzip_free(pprof->gzip);
	intern_fini(&pprof->strings);
	free(pprof->functions);
	idtable_fini(&pprof->by_function);
	free(pprof->locations);
	free(pprof->frame_ids);
	free(pprof->mapping_of);
	free(pprof->mappings);
	free(pprof->programs);
	free(pprof->path);
	free(pprof->piece);
}

static int string(struct pprof *pprof, const char *text, int64_t *number)
{
	uint32_t id;
	int ret = intern_id(&pprof->strings, text, strlen(text), &id);

	*number = ret ? 0 : id;
	return ret;
}

static int put(struct pprof *pprof, const Pprof__Profile *piece)
{
	size_t n = pprof__profile__get_packed_size(piece);

	if (grow_items(&pprof->piece, &pprof->piece_size, n, 1))
		return -ENOMEM;
	pprof__profile__pack(piece, pprof->piece);
	return gzip_write(pprof->gzip, pprof->piece, n);
}

/* --- samples --- */

static bool is_in(const struct mapping *mapping, uint64_t offset)
{
	return !mapping->has_segment ||
		(offset >= mapping->segment.offset &&
			offset - mapping->segment.offset < mapping->segment.len);
}

/* Returns a frame's offset.  JIT code at one address at different times counts as one place. */
static uint64_t place_of(const struct pprof *pprof, const struct frame *frame)
{
	return images_get(pprof->profile->images, frame->image)->kind == IMAGE_ANON
		? changes_plain(frame->offset)
		: frame->offset;
}

/* Returns the mapping + 1 of a frame; 0 if none yet. */
static uint32_t find_mapping(const struct pprof *pprof, const struct frame *frame)
{
	uint32_t at = pprof->mapping_of[frame->image];

	while (at && !is_in(&pprof->mappings[at - 1], frame->offset))
		at = pprof->mappings[at - 1].next;
	return at;
}

static int map_image(struct pprof *pprof, const struct frame *frame)
{
	const uint64_t place = place_of(pprof, frame);
	struct mapping *mapping;
	uint32_t number;
	int ret = grow_zeroed((void **)&pprof->mapping_of, frame->image, &pprof->mapping_of_room,
		sizeof(*pprof->mapping_of));

	if (ret)
		return ret;
	number = find_mapping(pprof, frame);
	if (!number) {
		ret = grow_room((void **)&pprof->mappings, pprof->n_mappings, &pprof->mappings_room,
			sizeof(*pprof->mappings));
		if (ret)
			return ret;
		mapping = &pprof->mappings[pprof->n_mappings++];
		*mapping = (struct mapping){.image = frame->image,
			.next = pprof->mapping_of[frame->image],
			.low = place,
			.high = place};
		mapping->has_segment = names_segment(
			pprof->profile->names, frame->image, frame->offset, &mapping->segment);
		number = pprof->mapping_of[frame->image] = pprof->n_mappings;
	}
	mapping = &pprof->mappings[number - 1];
	if (place < mapping->low)
		mapping->low = place;
	if (place > mapping->high)
		mapping->high = place;
	return 0;
}

static int locate(struct pprof *pprof, uint32_t frame, uint64_t *location)
{
	const struct frame *at = stacks_frame_get(pprof->profile->stacks, frame);
	int ret = grow_zeroed((void **)&pprof->locations, frame, &pprof->locations_room,
		sizeof(*pprof->locations));

	if (!ret && !pprof->locations[frame]) {
		ret = grow_room((void **)&pprof->frame_ids, pprof->n_locations,
			&pprof->frame_ids_room, sizeof(*pprof->frame_ids));
		if (!ret)
			ret = map_image(pprof, at);
		if (!ret) {
			pprof->frame_ids[pprof->n_locations++] = frame;
			pprof->locations[frame] = pprof->n_locations;
		}
	}
	if (!ret)
		*location = pprof->locations[frame];
	return ret;
}

static int locate_stack(struct pprof *pprof, uint32_t stack, uint32_t *n)
{
	int ret = 0;

	for (*n = 0; stack != STACK_ROOT && !ret; ++*n) {
		const struct stack_node *node = stacks_node(pprof->profile->stacks, stack);

		ret = grow_room((void **)&pprof->path, *n, &pprof->path_room, sizeof(*pprof->path));
		if (!ret)
			ret = locate(pprof, node->frame, &pprof->path[*n]);
		stack = node->parent;
	}
	return ret;
}

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* Counts the stacks of each image and program, for main_mapping(). */
static int count_images(
	struct pprof *pprof, const struct profile_cell *cell, const struct task_label *task)
{
	const uint32_t program = task ? tasks_label_program(task) : IMAGE_ID_UNKNOWN;
	int ret = grow_zeroed((void **)&pprof->programs, program, &pprof->programs_room,
		sizeof(*pprof->programs));

	if (ret)
		return ret;
	pprof->programs[program] += cell->count;
	pprof->walk++;
	for (uint32_t at = cell->stack; at != STACK_ROOT;) {
		const struct stack_node *node = stacks_node(pprof->profile->stacks, at);
		const struct frame *frame = stacks_frame_get(pprof->profile->stacks, node->frame);
		struct mapping *mapping = &pprof->mappings[find_mapping(pprof, frame) - 1];

		at = node->parent;
		if (mapping->walk == pprof->walk)
			continue;
		mapping->walk = pprof->walk;
		mapping->samples += cell->count;
	}
	return 0;
}

static int put_sample(struct pprof *pprof, const struct profile_cell *cell, int64_t *values)
{
	const struct task_label *task = tasks_label_get(pprof->profile->tasks, cell->task);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Label labels[LABELS], *label_list[LABELS];
	char comm[TASK_COMM_MAX];
	uint32_t depth;
	int ret = locate_stack(pprof, cell->stack, &depth);

	for (size_t i = 0; i < LABELS; i++) {
		pprof__label__init(&labels[i]);
		label_list[i] = &labels[i];
	}
	clean_text(comm, sizeof(comm), task ? task->comm : "", TASK_COMM_MAX);
	if (!ret)
		ret = string(pprof, "comm", &labels[0].key);
	if (!ret)
		ret = string(pprof, comm, &labels[0].str);
	if (!ret)
		ret = string(pprof, "pid", &labels[1].key);
	if (!ret)
		ret = string(pprof, "tid", &labels[2].key);
	if (!ret)
		ret = count_images(pprof, cell, task);
	if (ret)
		return ret;
	labels[1].num = task ? task->pid : -1;
	labels[2].num = task ? task->tid : -1;
	memset(values, 0, (pprof->profile->n_events + 1) * sizeof(*values));
	values[0] = (int64_t)cell->count;
	values[cell->event + 1] = (int64_t)cell->weight;
	sample.n_location_id = depth;
	sample.location_id = pprof->path;
	sample.n_value = pprof->profile->n_events + 1;
	sample.value = values;
	if (cell->task != TASK_LABEL_MERGED) {
		sample.n_label = LABELS;
		sample.label = label_list;
	}
	piece.n_sample = 1;
	piece.sample = &samples;
	return put(pprof, &piece);
}

static int put_samples(struct pprof *pprof, const struct profile_cell *cells, size_t n)
{
	int64_t *values = calloc(pprof->profile->n_events + 1, sizeof(*values));
	int ret = values ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !ret; i++) {
		ret = put_sample(pprof, &cells[i], values);
		if (!ret && i % TELL_EVERY == 0 && profile_interrupted(pprof->profile))
			ret = -EINTR;
	}
	free(values);
	return ret;
}

/* --- mappings and locations --- */

static bool lies_where_it_was(const struct image *image)
{
	return image->kind != IMAGE_FILE && image->kind != IMAGE_VDSO;
}

/* Ranks the program highest, then other files, libraries, and images without a file. */
static unsigned int main_rank(const struct image *image, uint32_t program)
{
	if (image->kind != IMAGE_FILE)
		return 0;
	if (image->id == program)
		return 3;
	return image->path && strstr(base_of(image->path), ".so") ? 1 : 2;
}

/* Returns the main program's mapping, since readers expect it first: the one with most samples. */
static uint32_t main_mapping(const struct pprof *pprof, uint32_t program)
{
	unsigned int best_rank = 0;
	uint64_t best_samples = 0;
	uint32_t best = 0;

	for (uint32_t i = 0; i < pprof->n_mappings; i++) {
		const struct mapping *mapping = &pprof->mappings[i];
		const struct image *image = images_get(pprof->profile->images, mapping->image);
		unsigned int rank = main_rank(image, program);

		if (image->kind == IMAGE_UNKNOWN || rank < best_rank ||
			(rank == best_rank && mapping->samples <= best_samples))
			continue;
		best = i;
		best_rank = rank;
		best_samples = mapping->samples;
	}
	return best;
}

/* Returns the program whose processes have most samples; IMAGE_ID_UNKNOWN if none is known. */
static uint32_t main_program(const struct pprof *pprof)
{
	uint32_t best = IMAGE_ID_UNKNOWN;

	for (uint32_t i = IMAGE_ID_UNKNOWN + 1; i < pprof->programs_room; i++)
		if (pprof->programs[i] &&
			(best == IMAGE_ID_UNKNOWN || pprof->programs[i] > pprof->programs[best]))
			best = i;
	return best;
}

/* Adds the code of a program whose samples are all in other images. */
static int map_program(struct pprof *pprof, uint32_t program)
{
	struct image_origin origin;
	struct frame frame = {.image = program};
	int ret;

	if (program == IMAGE_ID_UNKNOWN ||
		(program < pprof->mapping_of_room && pprof->mapping_of[program]))
		return 0;
	images_origin(pprof->profile->images, program, &origin);
	frame.offset = origin.map_offset;
	ret = map_image(pprof, &frame);
	if (!ret && origin.map_end > origin.map_start)
		pprof->mappings[pprof->n_mappings - 1].high =
			origin.map_offset + (origin.map_end - origin.map_start) - 1;
	return ret;
}

/* Rounds to whole pages.  No page is added before, since it could belong to another segment. */
static void round_mapping(struct mapping *mapping)
{
	if (mapping->has_segment) {
		mapping->low = mapping->segment.offset;
		mapping->high = mapping->segment.offset + mapping->segment.len - 1;
	}
	mapping->low -= mapping->low % PAGE;
	mapping->high |= PAGE - 1;
	mapping->high += mapping->high < UINT64_MAX; /* the last page has no end */
}

/* Places the mappings.  Kernel addresses are far above them. */
static void place_mappings(struct pprof *pprof, uint32_t main)
{
	uint64_t next = FIRST_ADDRESS;

	for (uint32_t i = 0; i < pprof->n_mappings; i++) {
		struct mapping *mapping = &pprof->mappings[i];
		const struct image *image = images_get(pprof->profile->images, mapping->image);
		struct image_origin origin = {0};

		round_mapping(mapping);
		if (image->kind == IMAGE_MODULE) {
			images_origin(pprof->profile->images, mapping->image, &origin);
			mapping->low = 0;
			mapping->start = origin.map_start;
		} else if (mapping->has_segment && mapping->image == pprof->mappings[main].image) {
			mapping->start = mapping->segment.vaddr - mapping->segment.offset;
		} else if (!lies_where_it_was(image)) {
			mapping->start = next - mapping->low;
			next += mapping->high - mapping->low + PAGE;
		}
	}
}

static void build_id_text(struct pprof *pprof, uint32_t image, char *out, size_t size)
{
	uint8_t bytes[IMAGE_BUILD_ID_MAX];
	uint8_t n = images_build_id(pprof->profile->images, image, bytes);

	out[0] = '\0';
	for (uint8_t i = 0; i < n && 2u * i + 2 < size; i++)
		snprintf(out + 2 * (size_t)i, size - 2 * (size_t)i, "%02x", bytes[i]);
}

/* Returns true if an image has a mapping; unmapped code has none. */
static bool is_mapped(const struct pprof *pprof, uint32_t image)
{
	return images_get(pprof->profile->images, image)->kind != IMAGE_UNKNOWN;
}

static int put_mapping(struct pprof *pprof, uint32_t i)
{
	const struct mapping *mapping = &pprof->mappings[i];
	const struct image *image = images_get(pprof->profile->images, mapping->image);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Mapping message = PPROF__MAPPING__INIT, *messages = &message;
	char build_id[2 * IMAGE_BUILD_ID_MAX + 1], path[4096];
	int ret;

	build_id_text(pprof, mapping->image, build_id, sizeof(build_id));
	clean_string(path, sizeof(path), image->path ? image->path : "[unknown]");
	message.id = i + 1;
	message.memory_start = mapping->start + mapping->low;
	message.memory_limit = mapping->start + mapping->high;
	if (image->kind == IMAGE_FILE)
		message.file_offset = mapping->low;
	message.has_functions = true;
	message.has_filenames = message.has_line_numbers = mapping->has_lines;
	message.has_inline_frames = mapping->has_lines && pprof->profile->inlines;
	ret = string(pprof, path, &message.filename);
	if (!ret)
		ret = string(pprof, build_id, &message.build_id);
	piece.n_mapping = 1;
	piece.mapping = &messages;
	return ret ? ret : put(pprof, &piece);
}

/* Finds or adds a function; *number counts from 1. */
static int find_function(struct pprof *pprof, const struct function *wanted, uint32_t *number)
{
	const uint32_t hash = idtable_mix((uint64_t)wanted->file, wanted->symref);
	int ret;

	IDTABLE_FOR_EACH(&pprof->by_function, hash, *number)
	{
		const struct function *function = &pprof->functions[*number - 1];

		if (function->symref == wanted->symref && function->file == wanted->file)
			return 0;
	}
	ret = grow_room((void **)&pprof->functions, pprof->n_functions, &pprof->functions_room,
		sizeof(*pprof->functions));
	if (!ret)
		ret = idtable_put(&pprof->by_function, hash, pprof->n_functions + 1);
	if (ret)
		return ret;
	pprof->functions[pprof->n_functions++] = *wanted;
	*number = pprof->n_functions;
	return 0;
}

/* Fills in one function of a location, and its source line. */
static int put_line(struct pprof *pprof, const struct names_line *at, Pprof__Line *line)
{
	struct function function = {.symref = at->symref};
	char file[4096];
	uint32_t number;
	int ret = 0;

	if (*at->file) {
		clean_string(file, sizeof(file), at->file);
		ret = string(pprof, file, &function.file);
	}
	if (!ret)
		ret = find_function(pprof, &function, &number);
	if (ret)
		return ret;
	pprof__line__init(line);
	line->function_id = number;
	line->line = at->line;
	return 0;
}

static int put_location(struct pprof *pprof, uint32_t i)
{
	const struct frame *frame = stacks_frame_get(pprof->profile->stacks, pprof->frame_ids[i]);
	uint32_t mapping = find_mapping(pprof, frame);
	struct names_line at[NAMES_INLINED_MAX + 1];
	size_t n = names_lines(pprof->profile->names, pprof->frame_ids[i], at), first = 0;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Location message = PPROF__LOCATION__INIT, *messages = &message;
	Pprof__Line lines[NAMES_INLINED_MAX + 1], *list[NAMES_INLINED_MAX + 1];
	int ret = 0;

	if (!pprof->profile->inlines)
		first = n - 1;
	for (size_t j = first; j < n && !ret; j++) {
		list[j] = &lines[j];
		ret = put_line(pprof, &at[j], &lines[j]);
		pprof->mappings[mapping - 1].has_lines |= at[j].line != 0;
	}
	message.id = i + 1;
	message.mapping_id = is_mapped(pprof, frame->image) ? mapping : 0;
	message.address = pprof->mappings[mapping - 1].start + place_of(pprof, frame);
	message.n_line = n - first;
	message.line = list + first;
	piece.n_location = 1;
	piece.location = &messages;
	return ret ? ret : put(pprof, &piece);
}

/* Stores the mangled name, or nothing.  If it equals the displayed name, go tool pprof would
 * demangle the latter: it drops all brackets, and functions that differ only there become one. */
static int put_system_name(struct pprof *pprof, const struct symref *symref, int64_t *number)
{
	size_t size;
	char *clean;
	int ret = 0;

	if (!symref->raw)
		return 0;
	size = strlen(symref->raw) + 1;
	clean = malloc(size);
	if (!clean)
		return -ENOMEM;
	clean_string(clean, size, symref->raw);
	if (strcmp(clean, symref->symbol) != 0)
		ret = string(pprof, clean, number);
	free(clean);
	return ret;
}

static int put_function(struct pprof *pprof, uint32_t i)
{
	const struct function *function = &pprof->functions[i];
	const struct symref *symref = names_get(pprof->profile->names, function->symref);
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages = &message;
	char mark[PROFILE_MARK_BYTES], *name;
	int ret;

	if (asprintf(&name, "%s%s", symref->symbol,
		    profile_mark(pprof->profile, function->symref, mark)) < 0)
		return -ENOMEM;
	ret = string(pprof, name, &message.name);
	free(name);
	if (!ret)
		ret = put_system_name(pprof, symref, &message.system_name);
	message.id = i + 1;
	message.filename = function->file;
	piece.n_function = 1;
	piece.function = &messages;
	return ret ? ret : put(pprof, &piece);
}

static int put_string(struct pprof *pprof, uint32_t i)
{
	const struct intern_entry *entry = &pprof->strings.entries[i];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	ProtobufCBinaryData text = {entry->len, (uint8_t *)entry->bytes};

	piece.n_string_table = 1;
	piece.string_table = &text;
	return put(pprof, &piece);
}

static int put_mappings(struct pprof *pprof, uint32_t first)
{
	int ret = 0;

	for (uint32_t i = 0; i < pprof->n_mappings && !ret; i++) {
		uint32_t at = !i ? first : i <= first ? i - 1 : i;

		if (is_mapped(pprof, pprof->mappings[at].image))
			ret = put_mapping(pprof, at);
	}
	return ret;
}

static int put_tables(struct pprof *pprof)
{
	const uint32_t program = main_program(pprof);
	int ret = map_program(pprof, program);
	const uint32_t main = main_mapping(pprof, program);

	if (pprof->n_mappings)
		place_mappings(pprof, main);
	/* Locations come first: they set has_lines of their mappings. */
	for (uint32_t i = 0; i < pprof->n_locations && !ret; i++)
		ret = put_location(pprof, i);
	if (!ret)
		ret = put_mappings(pprof, main);
	for (uint32_t i = 0; i < pprof->n_functions && !ret; i++)
		ret = put_function(pprof, i);
	for (uint32_t i = 0; i < pprof->strings.n && !ret; i++)
		ret = put_string(pprof, i);
	return ret;
}

/* --- the whole profile --- */

static int put_type(struct pprof *pprof, const char *type, const char *unit)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType message = PPROF__VALUE_TYPE__INIT, *messages = &message;
	int ret = string(pprof, type, &message.type);

	if (!ret)
		ret = string(pprof, unit, &message.unit);
	piece.n_sample_type = 1;
	piece.sample_type = &messages;
	return ret ? ret : put(pprof, &piece);
}

static const char *unit_of(const struct profile_event *event)
{
	return event->is_clock ? "nanoseconds" : "count";
}

static int put_head(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	const struct profile_event *first = &profile->events[0];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
	int64_t comments[2];
	/* string 0 must be empty */
	int ret = string(pprof, "", &comments[0]);

	if (!ret)
		ret = put_type(pprof, "samples", "count");
	for (size_t i = 0; i < profile->n_events && !ret; i++)
		ret = put_type(pprof, profile->events[i].name, unit_of(&profile->events[i]));
	if (!ret)
		ret = string(pprof, "strobe " STROBE_VERSION, &comments[0]);
	if (!ret)
		ret = string(pprof, profile->title, &comments[1]);
	if (!ret)
		ret = string(pprof, first->name, &period.type);
	if (!ret)
		ret = string(pprof, unit_of(first), &period.unit);
	if (ret)
		return ret;
	piece.n_comment = 2;
	piece.comment = comments;
	piece.period_type = &period;
	piece.period = (int64_t)first->period;
	if (first->is_clock && first->freq_hz)
		piece.period = (int64_t)(1000000000 / first->freq_hz);
	piece.default_sample_type = period.type;
	piece.time_nanos = profile->unix_start_ns;
	piece.duration_nanos = (int64_t)profile->covered_ns;
	return put(pprof, &piece);
}

int export_pprof(FILE *out, const struct profile *profile)
{
	struct pprof pprof = {.profile = profile};
	struct profile_cell *cells;
	size_t n;
	int ret = profile_sum(profile, &cells, &n);

	if (!ret)
		ret = gzip_new(&pprof.gzip, out);
	if (!ret)
		ret = put_head(&pprof);
	if (!ret)
		ret = put_samples(&pprof, cells, n);
	if (!ret)
		ret = put_tables(&pprof);
	if (!ret)
		ret = gzip_finish(pprof.gzip);
	free(cells);
	pprof_fini(&pprof);
	return ret;
}
