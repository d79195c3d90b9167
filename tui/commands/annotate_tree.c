/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate_tree.c - see annotate_tree.h: sums samples by source line over all images.
 *
 * UI thread.
 */
#include "tui/commands/annotate_tree.h"

#include "symbols/base/timedopen.h"
#include "tui/base/explain_errno.h"
#include "tui/base/grow.h"
#include "tui/commands/annotate_tree_private.h"
#include "tui/commands/report_private.h"
#include "tui/session/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 1 if the directory has entries, 0 if it is empty, or -errno. */
static int is_filled(int fd)
{
	DIR *dir = fdopendir(dup(fd));
	const struct dirent *entry;
	int filled = 0;

	if (!dir)
		return -errno;
	while (!filled && (entry = readdir(dir)))
		filled = strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return filled;
}

/* Returns a descriptor of an empty directory, or -errno after reporting it. */
static int open_empty(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), filled;

	if (fd < 0) {
		int error = errno;

		if (error == ENOTDIR)
			taking_complainf("--source-tree '%.300s': it is no directory", dir);
		else
			taking_complainf("--source-tree '%.300s': %s", dir, explain_errno(error));
		return -error;
	}
	filled = is_filled(fd);
	if (!filled)
		return fd;
	if (filled < 0)
		taking_complainf("--source-tree '%.300s': %s", dir, explain_errno(filled));
	else
		taking_complainf(
			"--source-tree '%.300s': it is not empty, and nothing is overwritten", dir);
	close(fd);
	return filled < 0 ? filled : -ENOTEMPTY;
}

int annotate_tree_check(const char *dir)
{
	struct stat about;
	const int ret = timedopen_stat(dir, &about);
	int fd;

	if (ret == -ENOENT)
		return 0;
	if (ret == -ETIMEDOUT) {
		taking_complainf("--source-tree '%.300s': %s", dir, explain_errno(ret));
		return ret;
	}
	fd = open_empty(dir);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* --- sums by address --- */

static int add_entry(struct tree *tree, const struct scan *scan, uint32_t i)
{
	const struct stacks *stacks = session_stacks(&tree->report->taking->session);
	const struct scan_entry *entry = &scan->entries[i];
	uint8_t event = scan->sides[entry->side].event;
	size_t column = 0;
	const struct frame *frame;
	struct tree_address address;
	uint64_t *sums;
	uint32_t id;

	while (column < tree->n_events && tree->report->ids[column] != event)
		column++;
	if (column == tree->n_events || entry->node == STACK_ROOT)
		return 0;
	frame = stacks_frame_get(stacks, stacks_node(stacks, entry->node)->frame);
	memset(&address, 0, sizeof(address));
	address.offset = frame->offset;
	address.image = frame->image;
	if (intern_id(&tree->addresses, &address, sizeof(address), &id) ||
		grow_zeroed((void **)&tree->address_sums, id, &tree->address_room,
			tree->n_events * 2 * sizeof(*sums)))
		return -ENOMEM;
	sums = tree->address_sums + ((size_t)id * tree->n_events + column) * 2;
	sums[0] += entry->weight;
	sums[1] += entry->samples;
	return 0;
}

static int sum_addresses(struct tree *tree)
{
	struct annotate_report *report = tree->report;
	struct scan_question question = annotate_question(report);
	struct scan scan;

	question.event = -1;
	question.by = SCAN_STACK;
	question.leave_unresolved = true;
	question.column = GROUP_KEYS;
	int ret = scan_run(&question, &scan);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < scan.n_entries && !ret; i++)
		ret = add_entry(tree, &scan, i);
	scan_fini(&scan);
	return ret;
}

/* --- lines --- */

struct tree_address tree_address(const struct tree *tree, uint32_t id)
{
	struct tree_address address;

	memcpy(&address, tree->addresses.entries[id].bytes, sizeof(address));
	return address;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct tree_address *left = a, *right = b;

	if (left->image != right->image)
		return left->image < right->image ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Requests all addresses of one image at once. */
static int ask_lines(struct tree *tree)
{
	struct symbols *symbols = tree->report->taking->session.symbols;
	uint32_t n = tree->addresses.n, from = 0;
	struct tree_address *all = calloc((size_t)n + 1, sizeof(*all));
	uint64_t *offsets = calloc((size_t)n + 1, sizeof(*offsets));
	int ret = all && offsets ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !ret; i++)
		all[i] = tree_address(tree, i);
	if (!ret)
		qsort(all, n, sizeof(*all), compare_addresses);
	while (from < n && !ret) {
		uint32_t to = from;

		for (; to < n && all[to].image == all[from].image; to++)
			offsets[to - from] = all[to].offset;
		switch (symbols_state(symbols, (uint32_t)all[from].image)) {
		case SYMBOLS_READY:
		case SYMBOLS_NONE:
			ret = symbols_lines_ask(
				symbols, (uint32_t)all[from].image, offsets, to - from);
			break;
		default:
			break;
		}
		from = to;
	}
	free(all);
	free(offsets);
	return ret;
}

/* Returns 0, or -EINTR if interrupted. */
static int wait_for_lines(struct tree *tree)
{
	struct symbols *symbols = tree->report->taking->session.symbols;
	int ret = 0;

	annotate_tell_wait("reading source lines");
	for (uint32_t i = 0; i < tree->addresses.n && !ret;) {
		struct tree_address address = tree_address(tree, i);
		enum symbols_state state;
		struct symbols_frame frame;

		(void)symbols_lines(
			symbols, (uint32_t)address.image, address.offset, &frame, 1, &state);
		if (state != SYMBOLS_PENDING)
			i++;
		else if (!annotate_wait(tree->report))
			ret = -EINTR;
	}
	annotate_tell_wait(NULL);
	return ret;
}

static int file_of(struct tree *tree, const char *raw, uint32_t image, uint32_t *id)
{
	char path[4096];
	struct tree_file *file;

	annotate_tree_path(path, sizeof(path), raw);
	if (intern_id(&tree->paths, path, strlen(path), id) ||
		grow_zeroed((void **)&tree->files, *id, &tree->files_room, sizeof(*tree->files)))
		return -ENOMEM;
	file = &tree->files[*id];
	if (file->raw)
		return 0;
	file->raw = raw;
	file->image = image;
	file->sums = calloc(tree->n_events, 2 * sizeof(*file->sums));
	return file->sums ? 0 : -ENOMEM;
}

static int add_address(struct tree *tree, uint32_t id)
{
	const uint64_t *sums = tree->address_sums + (size_t)id * tree->n_events * 2;
	struct tree_address address = tree_address(tree, id);
	struct symbols_frame frame;
	enum symbols_state state;
	uint32_t key[2], line;

	if (!symbols_lines(tree->report->taking->session.symbols, (uint32_t)address.image,
		    address.offset, &frame, 1, &state) ||
		!frame.file || !*frame.file)
		return 0;
	if (file_of(tree, frame.file, (uint32_t)address.image, &key[0]))
		return -ENOMEM;
	key[1] = frame.line;
	if (intern_id(&tree->line_keys, key, sizeof(key), &line) ||
		grow_zeroed((void **)&tree->line_sums, line, &tree->lines_room,
			tree->n_events * 2 * sizeof(*sums)))
		return -ENOMEM;
	for (size_t i = 0; i < 2 * tree->n_events; i++) {
		tree->line_sums[(size_t)line * tree->n_events * 2 + i] += sums[i];
		tree->files[key[0]].sums[i] += sums[i];
		tree->known[i] += sums[i];
	}
	return 0;
}

static void fini(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->paths.n && i < tree->files_room; i++)
		free(tree->files[i].sums);
	free(tree->files);
	free(tree->address_sums);
	free(tree->line_sums);
	free(tree->known);
	intern_fini(&tree->addresses);
	intern_fini(&tree->paths);
	intern_fini(&tree->line_keys);
	if (tree->dir_fd >= 0)
		close(tree->dir_fd);
}

static int gather(struct tree *tree)
{
	int ret;

	tree->known = calloc(tree->n_events, 2 * sizeof(*tree->known));
	ret = tree->known ? sum_addresses(tree) : -ENOMEM;
	if (!ret)
		ret = ask_lines(tree);
	if (!ret)
		ret = wait_for_lines(tree);
	for (uint32_t i = 0; i < tree->addresses.n && !ret; i++)
		ret = add_address(tree, i);
	return ret;
}

int annotate_tree_write(struct annotate_report *report)
{
	const char *dir = report->request->source_tree;
	struct tree tree = {.report = report, .n_events = report->n_events, .dir_fd = -1};
	int ret = gather(&tree);

	if (!ret && !tree.paths.n) {
		taking_complain("no source line is known of what was sampled: there is no debug "
				"information");
		ret = -ENOENT;
		goto out;
	}
	if (ret) {
		if (ret == -EINTR)
			taking_complain("interrupted");
		else
			taking_complainf("cannot read source lines: %s", explain_errno(ret));
		goto out;
	}
	if (mkdir(dir, 0777) && errno != EEXIST) {
		ret = -errno;
		taking_complainf("--source-tree '%.300s': %s", dir, explain_errno(ret));
		goto out;
	}
	tree.dir_fd = open_empty(dir);
	ret = tree.dir_fd < 0 ? tree.dir_fd : tree_write_all(&tree);
out:
	fini(&tree);
	return ret ? 1 : 0;
}
