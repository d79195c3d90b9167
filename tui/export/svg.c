/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * svg.c - a flame graph as one SVG file, searchable and zoomable in a browser.
 *
 * The file is also readable without the script: frames have their positions and tooltips.  Frames
 * narrower than a tenth of a pixel are left out.
 */
#include "tui/base/format.h"
#include "tui/export/fold.h"
#include "tui/export/svg_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define MARGIN 16.0
#define HEAD 92.0
#define FOOT 44.0
#define ROW 19.0
#define NARROW (0.1 / WIDTH) /* share of the total */
#define CHAR_WIDTH 7.25
#define SEPARATOR '\037' /* between function and file in a text; cleaned names do not contain it */

struct graph {
	FILE *out;
	const struct profile *profile;
	const struct fold *fold;
	uint64_t total;
	uint32_t depth; /* depth of the deepest frame that is wide enough */
};

static double at_least(double value, double least)
{
	return value < least ? least : value;
}

static void frame_text(char *out, const struct profile *profile, uint32_t id, const char *command)
{
	const struct symref *symref = names_get(profile->names, id);
	char mark[PROFILE_MARK_BYTES];

	(void)command;
	if (symref->resolved || symref->bounded || !strcmp(symref->image, "[anon]"))
		snprintf(out, FOLD_TEXT_MAX, "%s%s%c%s", symref->symbol,
			profile_mark(profile, id, mark), SEPARATOR, symref->image);
	else if (symref->image[0] == '[')
		snprintf(out, FOLD_TEXT_MAX, "%s%c%s", symref->image, SEPARATOR, symref->image);
	else
		snprintf(out, FOLD_TEXT_MAX, "[%s]%c%s", symref->image, SEPARATOR, symref->image);
}

/* Writes text for an element or a double-quoted attribute, at most max characters. */
static void put_text(FILE *out, const char *text, size_t max)
{
	for (size_t n = 0; *text && *text != SEPARATOR; text++) {
		unsigned char c = (unsigned char)*text;

		/* A byte that is no continuation byte begins a character. */
		if ((c & 0xc0) != 0x80 && n++ == max)
			break;
		if (c == '&')
			fputs("&amp;", out);
		else if (c == '<')
			fputs("&lt;", out);
		else if (c == '>')
			fputs("&gt;", out);
		else if (c == '"')
			fputs("&quot;", out);
		else if (c == '\'')
			fputs("&#39;", out);
		else
			putc_unlocked(c, out);
	}
}

static size_t text_chars(const char *text)
{
	size_t n = 0;

	for (; *text && *text != SEPARATOR; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Kernel frames are red to yellow, commands and unnamed frames are grey.  Each file has a hue from
 * green to violet; its functions differ a little. */
static void put_colour(
	FILE *out, const struct profile *profile, const struct fold_node *node, const char *text)
{
	const struct symref *symref = names_get(profile->names, node->symref);
	static const char separator[] = {SEPARATOR, '\0'};
	const char *image = strchr(text, SEPARATOR) ? strchr(text, SEPARATOR) + 1 : "";
	uint32_t shade = format_hash(text, strcspn(text, separator));
	unsigned int hue, colour = 58, light = 66 + shade % 9;

	if (node->depth <= 1) {
		hue = 32;
		colour = 12;
		light = node->depth ? 80 : 86;
	} else if (symref->kernel) {
		hue = 14 + (shade >> 8) % 28;
		colour = 78;
	} else if (!symref->resolved) {
		hue = 40;
		colour = 8;
		light = 76;
	} else {
		hue = 85 + (format_hash(image, strlen(image)) * 2654435761u >> 8) % 190;
		colour = 40 + (shade >> 8) % 14;
	}
	fprintf(out, "hsl(%u,%u%%,%u%%)", hue, colour, light);
}

static void put_grouped(FILE *out, uint64_t value)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	for (int i = 0; i < n; i++)
		fprintf(out, "%s%c", i && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

static void put_weight(const struct graph *graph, const struct fold_node *node)
{
	const struct profile_event *event = &graph->profile->events[0];

	fprintf(graph->out, "%.2f%% · ", 100 * format_share(node->total, graph->total));
	if (event->is_clock)
		fprintf(graph->out, "%.3f s · ", (double)node->total / 1e9);
	else if (node->total != node->count) {
		put_grouped(graph->out, node->total);
		putc(' ', graph->out);
		put_text(graph->out, event->name, EVENT_NAME_MAX);
		fputs(" · ", graph->out);
	}
	put_grouped(graph->out, node->count);
	fputs(node->count == 1 ? " sample" : " samples", graph->out);
}

static bool is_wide(const struct graph *graph, const struct fold_node *node)
{
	return (double)node->total >= (double)graph->total * NARROW && node->total;
}

static void put_frame(const struct graph *graph, const struct fold_node *node, uint64_t start)
{
	const char *text = node->depth ? fold_text(graph->fold, node->label) : "all";
	const char *image = strchr(text, SEPARATOR);
	double whole = graph->total ? (double)graph->total : 1.0;
	double x = (double)start / whole * WIDTH, width = (double)node->total / whole * WIDTH;
	double y = (double)(graph->depth - node->depth) * ROW;
	size_t chars = text_chars(text), fits = (size_t)at_least((width - 7) / CHAR_WIDTH, 0);
	FILE *out = graph->out;

	if (!graph->total)
		width = WIDTH;
	fprintf(out,
		"<g class=\"f\" data-s=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-d=\"%" PRIu32
		"\"><title>",
		start, node->total, node->depth);
	put_text(out, text, SIZE_MAX);
	putc('\n', out);
	if (image) {
		put_text(out, image + 1, SIZE_MAX);
		fputs(" · ", out);
	}
	put_weight(graph, node);
	fprintf(out,
		"</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" rx=\"2\" "
		"fill=\"",
		x, y, at_least(width - 0.5, 0.1), ROW - 1);
	put_colour(out, graph->profile, node, text);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%.1f\">", x + 4, y + 13);
	if (chars <= fits) {
		put_text(out, text, SIZE_MAX);
	} else if (fits >= 3) {
		put_text(out, text, fits - 1);
		fputs("…", out);
	}
	fputs("</text></g>\n", out);
}

/* Writes parents before children, siblings from left to right.  starts: by depth, the start of the
 * next sibling. */
static int put_frames(const struct graph *graph, uint64_t *starts)
{
	const struct fold_node *nodes = graph->fold->nodes;
	uint32_t at = nodes[0].first;

	starts[0] = 0;
	put_frame(graph, &nodes[0], 0);
	starts[1] = 0;
	while (at) {
		const struct fold_node *node = &nodes[at];
		uint64_t start = starts[node->depth];
		bool wide = is_wide(graph, node);

		starts[node->depth] += node->total;
		if (wide) {
			put_frame(graph, node, start);
			if (ferror(graph->out))
				return -EIO;
			starts[node->depth + 1] = start;
		}
		if (wide && node->first) {
			at = node->first;
			continue;
		}
		while (at && !nodes[at].next)
			at = nodes[at].parent;
		at = nodes[at].next;
	}
	return 0;
}

static void put_head(const struct graph *graph, double height)
{
	const struct profile *profile = graph->profile;
	FILE *out = graph->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"style=\"max-width:100%%;height:auto\">\n<title>",
		WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height);
	put_text(out, profile->title, SIZE_MAX);
	fprintf(out, "</title>\n<style><![CDATA[\n%s]]></style>\n", svg_style);
}

/* Writes the title above the frames, which the script keeps at the top of the window. */
static void put_title(const struct graph *graph)
{
	const struct profile *profile = graph->profile;
	FILE *out = graph->out;
	uint64_t span =
		profile->end_ns > profile->start_ns ? profile->end_ns - profile->start_ns : 0;

	fprintf(out, "<g id=\"head\"><rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n",
		WIDTH + 2 * MARGIN, HEAD - 6);
	fprintf(out, "<text class=\"title\" x=\"%.0f\" y=\"32\">", MARGIN);
	put_text(out, profile->title, 80);
	fprintf(out, "</text>\n<text class=\"subtitle\" x=\"%.0f\" y=\"54\">", MARGIN);
	put_text(out, profile->events[0].name, SIZE_MAX);
	if (profile->events[0].freq_hz)
		fprintf(out, " at %" PRIu64 " Hz", profile->events[0].freq_hz);
	fprintf(out, "  ·  %.1f s  ·  ", (double)span / 1e9);
	put_grouped(out, graph->fold->nodes[0].count);
	fputs(" samples</text>\n", out);
	fprintf(out,
		"<foreignObject x=\"%.0f\" y=\"16\" width=\"260\" height=\"30\"><input "
		"xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" type=\"search\" "
		"spellcheck=\"false\" autocomplete=\"off\" aria-label=\"Search\" "
		"placeholder=\"Search (Ctrl-F), regular expression\"/></foreignObject>\n",
		WIDTH + MARGIN - 260);
	fprintf(out,
		"<text id=\"found\" x=\"%.0f\" y=\"66\" text-anchor=\"end\"></text>\n"
		"<text id=\"reset\" x=\"%.0f\" y=\"76\" style=\"display:none\">Reset zoom "
		"(0)</text>\n</g>\n",
		WIDTH + MARGIN, MARGIN);
}

static void put_foot(const struct graph *graph, double height)
{
	FILE *out = graph->out;

	fprintf(out,
		"<g id=\"foot\"><rect class=\"paper\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n"
		"<text id=\"details\" x=\"%.0f\" y=\"%.0f\"></text>\n"
		"<text class=\"key tool\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">"
		"click: zoom  ·  /: search  ·  arrows: walk  ·  Enter: zoom  ·  Esc: back"
		"</text>\n</g>\n",
		height - FOOT + 6, WIDTH + 2 * MARGIN, FOOT - 6, MARGIN, height - 16,
		WIDTH + MARGIN, height - 16);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", svg_script);
}

static int put_graph(struct graph *graph)
{
	const struct fold *fold = graph->fold;
	uint64_t *starts = calloc((size_t)fold->depth + 3, sizeof(*starts));
	double height;
	int ret;

	if (!starts)
		return -ENOMEM;
	for (uint32_t i = 1; i < fold->n_nodes; i++)
		if (is_wide(graph, &fold->nodes[i]) && fold->nodes[i].depth > graph->depth)
			graph->depth = fold->nodes[i].depth;
	height = HEAD + FOOT + (double)(graph->depth + 1) * ROW;
	put_head(graph, height);
	fprintf(graph->out,
		"<g id=\"graph\" transform=\"translate(%.0f %.0f)\" data-margin=\"%.0f\" "
		"data-top=\"%.0f\" data-total=\"%" PRIu64 "\">\n",
		MARGIN, HEAD, MARGIN, HEAD, graph->total);
	ret = put_frames(graph, starts);
	fputs("</g>\n", graph->out);
	put_title(graph);
	put_foot(graph, height);
	free(starts);
	return ret ? ret : ferror(graph->out) ? -EIO : 0;
}

int export_svg(FILE *out, const struct profile *profile)
{
	struct fold fold;
	struct graph graph = {.out = out, .profile = profile, .fold = &fold};
	int ret = fold_make(&fold, profile, frame_text);

	if (ret)
		return ret;
	graph.total = fold.nodes[0].total;
	ret = put_graph(&graph);
	fold_fini(&fold);
	return ret;
}
