/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gecko.c - the Gecko profile format, which profiler.firefox.com opens.  UI thread.
 *
 * It follows docs-developer/gecko-profile-format.md of firefox-devtools/profiler, version 24: one
 * entry of threads for each thread, with its own tables.  A sample there has no weight, so each
 * sample is one row.  Samples without a time are spread over their slice's time; meta.extra has
 * their number.
 */
#include "sampler/base/idtable.h"
#include "tui/base/clean.h"
#include "tui/base/grow.h"
#include "tui/export/jsontext.h"
#include "tui/export/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_UNKNOWN };

/* The tables of one thread. */
struct thread {
	const struct profile *profile;
	struct gecko_stack {
		uint32_t prefix, frame; /* prefix + 1; 0: none */
	} * stacks;
	uint32_t n_stacks, stacks_room;
	struct idtable by_frame; /* (prefix, frame) -> stack + 1 */
	uint32_t *symrefs; /* by frame; gecko's strings have the same indices */
	uint32_t n_frames, frames_room;
	struct idtable by_symref; /* symref -> frame + 1 */
	uint32_t *path;
	uint32_t path_room;
};

static void thread_clear(struct thread *thread)
{
	thread->n_stacks = thread->n_frames = 0;
	idtable_fini(&thread->by_frame);
	idtable_fini(&thread->by_symref);
}

static void thread_fini(struct thread *thread)
{
	thread_clear(thread);
	free(thread->stacks);
	free(thread->symrefs);
	free(thread->path);
}

static int frame_of(struct thread *thread, uint32_t symref, uint32_t *frame)
{
	uint32_t hash = idtable_mix(symref, 0), id;
	int ret;

	IDTABLE_FOR_EACH(&thread->by_symref, hash, id)
	if (thread->symrefs[id - 1] == symref)
		break;
	if (!id) {
		ret = grow_room((void **)&thread->symrefs, thread->n_frames, &thread->frames_room,
			sizeof(*thread->symrefs));
		if (!ret)
			ret = idtable_put(&thread->by_symref, hash, thread->n_frames + 1);
		if (ret)
			return ret;
		thread->symrefs[thread->n_frames++] = symref;
		id = thread->n_frames;
	}
	*frame = id - 1;
	return 0;
}

static int stack_child(struct thread *thread, uint32_t frame, uint32_t *stack)
{
	uint32_t hash = idtable_mix(*stack, frame), id;
	int ret;

	IDTABLE_FOR_EACH(&thread->by_frame, hash, id)
	if (thread->stacks[id - 1].prefix == *stack && thread->stacks[id - 1].frame == frame)
		break;
	if (!id) {
		ret = grow_room((void **)&thread->stacks, thread->n_stacks, &thread->stacks_room,
			sizeof(*thread->stacks));
		if (!ret)
			ret = idtable_put(&thread->by_frame, hash, thread->n_stacks + 1);
		if (ret)
			return ret;
		thread->stacks[thread->n_stacks++] = (struct gecko_stack){*stack, frame};
		id = thread->n_stacks;
	}
	*stack = id;
	return 0;
}

/* Finds the index + 1 of a stack in the thread's table. */
static int stack_of(struct thread *thread, uint32_t node, uint32_t *stack)
{
	uint32_t n = 0, frame;
	int ret = 0;

	do {
		uint32_t symrefs[PROFILE_FRAMES_MAX];
		size_t wide = profile_frames(thread->profile, node, symrefs);

		for (size_t i = 0; i < wide; i++) {
			ret = grow_room((void **)&thread->path, n, &thread->path_room,
				sizeof(*thread->path));
			if (ret)
				return ret;
			thread->path[n++] = symrefs[i];
		}
		if (node != STACK_ROOT)
			node = stacks_node(thread->profile->stacks, node)->parent;
	} while (node != STACK_ROOT);
	*stack = 0;
	while (n-- && !ret) {
		ret = frame_of(thread, thread->path[n], &frame);
		if (!ret)
			ret = stack_child(thread, frame, stack);
	}
	return ret;
}

static void write_tables(FILE *out, const struct thread *thread)
{
	fputs("]},\n\"frameTable\":{\"schema\":{\"location\":0,\"relevantForJS\":1,"
	      "\"innerWindowID\":2,\"implementation\":3,\"line\":4,\"column\":5,\"category\":6,"
	      "\"subcategory\":7},\"data\":[",
		out);
	for (uint32_t i = 0; i < thread->n_frames; i++) {
		const struct symref *symref = names_get(thread->profile->names, thread->symrefs[i]);

		fprintf(out, "%s[%" PRIu32 ",false,0,null,null,null,%d,0]", i ? ",\n" : "\n", i,
			symref->kernel		   ? CATEGORY_KERNEL
				: symref->resolved ? CATEGORY_USER
						   : CATEGORY_UNKNOWN);
	}
	fputs("]},\n\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[", out);
	for (uint32_t i = 0; i < thread->n_stacks; i++) {
		fputs(i ? ",[" : "[", out);
		if (thread->stacks[i].prefix)
			fprintf(out, "%" PRIu32, thread->stacks[i].prefix - 1);
		else
			fputs("null", out);
		fprintf(out, ",%" PRIu32 "]", thread->stacks[i].frame);
	}
	fputs("]},\n\"stringTable\":[", out);
	for (uint32_t i = 0; i < thread->n_frames; i++) {
		const struct symref *symref = names_get(thread->profile->names, thread->symrefs[i]);
		char mark[PROFILE_MARK_BYTES], *text = NULL;

		/* The profiler splits "function (in file)" into both. */
		if (symref->resolved &&
			asprintf(&text, "%s%s (in %s)", symref->symbol,
				profile_mark(thread->profile, thread->symrefs[i], mark),
				symref->image) < 0)
			text = NULL;
		fputs(i ? ",\n" : "\n", out);
		jsontext_string(out, text ? text : symref->symbol);
		free(text);
	}
	fputs("]}", out);
}

/* Spreads the samples without a time evenly over their slice, in writing order. */
struct clock {
	uint32_t slice;
	uint64_t at, step;
};

static void clock_set(struct clock *clock, const struct profile *profile,
	const struct profile_moment *moments, size_t n)
{
	const struct slice *slice = profile->snapshot->slices[moments[0].slice];
	uint64_t from =
		slice->start_ns > profile->start_ns ? slice->start_ns - profile->start_ns : 0;
	uint64_t to = slice->end_ns > profile->start_ns ? slice->end_ns - profile->start_ns : from;
	uint64_t count = 1;

	for (size_t i = 0; i < n && moments[i].slice == moments[0].slice; i++)
		count += moments[i].count;
	*clock = (struct clock){moments[0].slice, from, (to - from) / count};
}

static void write_row(FILE *out, uint32_t stack, uint64_t since_ns, bool first)
{
	fprintf(out, "%s[%" PRIu32 ",", first ? "\n" : ",\n", stack - 1);
	jsontext_ms(out, since_ns);
	fputs(",0]", out);
}

static void write_rows(FILE *out, const struct profile *profile,
	const struct profile_moment *moment, uint32_t stack, struct clock *clock, bool first)
{
	if (moment->time_ns) {
		write_row(out, stack,
			moment->time_ns > profile->start_ns ? moment->time_ns - profile->start_ns
							    : 0,
			first);
		return;
	}
	for (uint64_t i = 0; i < moment->count; i++)
		write_row(out, stack, clock->at += clock->step, first && !i);
}

static void write_head(FILE *out, const struct profile *profile, uint32_t task)
{
	const struct task_label *label = tasks_label_get(profile->tasks, task);
	bool merged = !label || task == TASK_LABEL_MERGED;
	char comm[TASK_COMM_MAX], process[TASK_COMM_MAX];

	clean_text(comm, sizeof(comm), merged ? "all threads" : label->comm, TASK_COMM_MAX);
	clean_text(process, sizeof(process), merged ? "all" : label->process_comm, TASK_COMM_MAX);
	fputs("\n{\"name\":", out);
	jsontext_string(out, comm);
	fputs(",\"processName\":", out);
	jsontext_string(out, process);
	fprintf(out,
		",\"processType\":\"default\",\"pid\":%" PRId32 ",\"tid\":%" PRId32
		",\"isMainThread\":%s,\"registerTime\":0,\"unregisterTime\":null,"
		"\"markers\":{\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,"
		"\"category\":4,\"data\":5},\"data\":[]},\n"
		"\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"responsiveness\":2},\"data\":[",
		merged ? 0 : label->pid, merged ? 0 : label->tid,
		!merged && label->pid == label->tid ? "true" : "false");
}

static int write_thread(
	FILE *out, struct thread *thread, const struct profile_moment *moments, size_t n)
{
	struct clock clock = {0};
	uint32_t stack;
	int ret;

	thread_clear(thread);
	write_head(out, thread->profile, moments[0].task);
	for (size_t i = 0; i < n; i++) {
		ret = stack_of(thread, moments[i].stack, &stack);
		if (ret)
			return ret;
		if (!i || moments[i].slice != clock.slice) {
			clock_set(&clock, thread->profile, moments + i, n - i);
			if (profile_interrupted(thread->profile))
				return -EINTR;
		}
		write_rows(out, thread->profile, &moments[i], stack, &clock, !i);
	}
	write_tables(out, thread);
	return ferror(out) ? -EIO : 0;
}

/* Writes the number of samples without a time, for the profiler's metadata panel. */
static void write_untimed(FILE *out, uint64_t untimed)
{
	fprintf(out,
		",\"extra\":[{\"label\":\"strobe\",\"entries\":[{\"label\":\"Samples without exact "
		"time\","
		"\"format\":\"string\",\"value\":\"%" PRIu64
		", spread evenly over the time in which they were counted\"}]}]",
		untimed);
}

static void write_meta(FILE *out, const struct profile *profile, uint64_t untimed)
{
	uint64_t hz = profile->events[0].freq_hz;
	double start_ms = (double)profile->unix_start_ns / 1e6;

	fprintf(out,
		"{\"meta\":{\"version\":24,\"interval\":%.6f,\"startTime\":%.3f,"
		"\"shutdownTime\":null,\"processType\":0,\"stackwalk\":1,\"debug\":0,\"gcpoison\":"
		"0,"
		"\"asyncstack\":1,\"presymbolicated\":true,\"platform\":\"Linux\","
		"\"oscpu\":\"Linux\",\"product\":",
		hz ? 1000.0 / (double)hz : 1.0, start_ms > 0 ? start_ms : 0.0);
	jsontext_string(out, profile->title);
	fputs(",\"sourceURL\":\"\",\"categories\":["
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],"
	      "\"markerSchema\":[]",
		out);
	if (untimed)
		write_untimed(out, untimed);
	fputs("},\n\"libs\":[],\"processes\":[],\"pausedRanges\":[],\n"
	      "\"threads\":[",
		out);
}

int export_gecko(FILE *out, const struct profile *profile)
{
	struct thread thread = {.profile = profile};
	struct profile_moments list;
	const struct profile_moment *moments;
	bool first = true;
	size_t n;
	int ret = profile_moments(profile, &list);

	if (ret)
		return ret;
	moments = list.at;
	n = list.n;
	write_meta(out, profile, list.untimed);
	for (size_t i = 0, end; i < n && !ret; i = end) {
		for (end = i; end < n && moments[end].task == moments[i].task; end++)
			if (moments[end].event)
				break;
		/* a single event */
		if (end == i) {
			end++;
			continue;
		}
		if (!first)
			putc(',', out);
		first = false;
		ret = write_thread(out, &thread, moments + i, end - i);
	}
	fputs("\n]}\n", out);
	if (!ret && ferror(out))
		ret = -EIO;
	thread_fini(&thread);
	profile_moments_fini(&list);
	return ret;
}
