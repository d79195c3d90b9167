/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * script_text.c - see script_text.h.
 */
#include "tui/export/script_text.h"

#include "tui/base/clean.h"
#include "tui/names/called.h"
#include "tui/names/rules.h"

#include <inttypes.h>
#include <string.h>

static const char *file_of(const struct symref *symref)
{
	if (!strcmp(symref->image, "[kernel]"))
		return "[kernel.kallsyms]";
	return symref->path[0] == '/' && symref->image[0] != '[' ? symref->path : symref->image;
}

void script_head(FILE *out, const struct script_head *head)
{
	const uint64_t ns = head->time_ns;
	char comm[TASK_COMM_MAX];

	clean_text(comm, sizeof(comm), head->label ? head->label->comm : "", TASK_COMM_MAX);
	fprintf(out, head->has_chain ? "%s %5" PRId32 " " : "%16s %5" PRId32 " ", comm,
		head->label ? head->label->tid : -1);
	if (head->cpu >= 0)
		fprintf(out, "[%03d] ", head->cpu);
	fprintf(out, "%5" PRIu64 ".%06" PRIu64 ": ", ns / 1000000000, ns % 1000000000 / 1000);
	if (!head->event->by_count)
		fprintf(out, "%10" PRIu64 " ", head->period);
	fprintf(out, "%s: ", head->event->name);
}

/* Writes a name as perf script does: a demangled name without return type and parameters, any other
 * name (such as from a Java runtime's map) unchanged. */
static void put_name(FILE *out, const struct symref *symref)
{
	const char *name = symref->symbol;
	struct function_name own = {.end = strlen(name)};

	if (!symref->raw || names_may_be_mangled(symref->raw))
		own = called_own(name);
	fwrite(name + own.begin, 1, own.end - own.begin, out);
}

/* Writes the functions inlined at a frame, as far as they are known. */
static void put_inlined(const struct script_text *text, uint32_t frame, uint64_t address)
{
	uint32_t symrefs[NAMES_INLINED_MAX];
	size_t n = names_inlined(text->names, frame, symrefs, NAMES_INLINED_MAX);

	for (size_t i = 0; i < n; i++) {
		fprintf(text->out, "%16" PRIx64 " ", address);
		put_name(text->out, names_get(text->names, symrefs[i]));
		fputs(NAMES_INLINED "\n\t", text->out);
	}
}

/* Writes a frame.  place: offset in the image of the frame or of its return address.  shown: the
 * printed address; in a chain, the one that nm and objdump show. */
static void put_frame(
	const struct script_text *text, uint32_t frame_id, uint64_t place, uint64_t shown)
{
	const struct frame *frame = stacks_frame_get(text->stacks, frame_id);
	const struct symref *symref;

	if (text->knows_image && !text->knows_image(text->ctx, frame->image)) {
		fprintf(text->out, "%16" PRIx64 " [unknown] ([unknown])\n", shown);
		return;
	}
	if (text->inlines)
		put_inlined(text, frame_id, shown);
	symref = names_get(text->names, names_symref(text->names, frame_id));
	if (names_is_truncated(symref->symbol)) {
		/* Programs that parse this text expect an address in each line. */
		fprintf(text->out, "%16d %s (%s)\n", 0, symref->symbol, file_of(symref));
	} else if (symref->resolved) {
		fprintf(text->out, "%16" PRIx64 " ", shown);
		put_name(text->out, symref);
		fprintf(text->out, "+0x%" PRIx64 " (%s)\n", place - symref->start, file_of(symref));
	} else {
		fprintf(text->out, "%16" PRIx64 " [unknown] (%s)\n", shown, file_of(symref));
	}
}

void script_frame(const struct script_text *text, uint32_t frame, unsigned int after)
{
	const struct frame *at = stacks_frame_get(text->stacks, frame);

	put_frame(text, frame, at->offset + after,
		names_address(text->names, at->image, at->offset) + after);
}

void script_ip(const struct script_text *text, uint32_t frame, uint64_t ip)
{
	put_frame(text, frame, stacks_frame_get(text->stacks, frame)->offset, ip);
}

void script_stack(const struct script_text *text, uint32_t node)
{
	int mode = -1; /* mode of the frame called by this one */

	while (node != STACK_ROOT) {
		const struct stack_node *at = stacks_node(text->stacks, node);
		const struct frame *frame = stacks_frame_get(text->stacks, at->frame);

		putc_unlocked('\t', text->out);
		script_frame(text, at->frame, mode == frame->mode);
		mode = frame->mode;
		node = at->parent;
	}
	putc_unlocked('\n', text->out);
}
