// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * probe.c - events at an address: breakpoints, and probes of kernel and program functions.
 *
 * Symbols stay unresolved (event_needs), since the parser has no symbol tables.
 */
#include "sampler/events/event.h"
#include "sampler/events/parse.h"
#include "sampler/events/private.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length up to a single colon or another delimiter; those within the brackets of a C++
 * function do not count. */
static size_t symbol_len(const char *text)
{
	size_t plain = 0, len = 0;
	unsigned int depth = 0;

	for (; text[len]; len++) {
		bool pair = text[len] == ':' && text[len + 1] == ':';

		depth += text[len] == '(' || text[len] == '<';
		if ((text[len] == ')' || text[len] == '>') && depth)
			depth--;
		if (!pair && strchr(EVENT_DELIMITERS, text[len])) {
			if (!plain)
				plain = len;
			if (!depth)
				return len;
		}
		len += pair;
	}
	/* An unclosed bracket belongs to an operator's name. */
	return depth && plain ? plain : len;
}

/* In the path of a probe, a backslash before a colon, comma or backslash makes it a part of the
 * path. */
static bool is_escaped(const char *text)
{
	return text[0] == '\\' && text[1] && strchr(":,\\", text[1]);
}

static size_t binary_len(const char *text)
{
	size_t len = 0;

	while (text[len] && !strchr(":,\n", text[len]))
		len += is_escaped(text + len) ? 2 : 1;
	return len;
}

static const char *unescape(const char *text, size_t len)
{
	char *plain = strndup(text, len);
	const char *out = NULL;
	size_t used = 0;

	if (!plain)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		i += is_escaped(text + i);
		plain[used++] = text[i];
	}
	out = event_text(plain, used);
	free(plain);
	return out;
}

/* --- breakpoints --- */

static int parse_access(struct event_parser *parser, struct event_spec *spec)
{
	struct event_piece letters = event_word(parser->text + parser->at + 1);
	uint32_t type = 0;

	if (letters.len && event_are_modifiers(letters))
		return 0; /* modifiers of the event, not an access */
	for (size_t i = 0; i < letters.len; i++) {
		uint32_t bit = letters.at[i] == 'r' ? HW_BREAKPOINT_R
			: letters.at[i] == 'w'	    ? HW_BREAKPOINT_W
			: letters.at[i] == 'x'	    ? HW_BREAKPOINT_X
						    : 0;

		if (!bit || (type & bit) ||
			((type | bit) & HW_BREAKPOINT_X && (type | bit) != HW_BREAKPOINT_X))
			return event_fail(parser, EVENT_ERROR_ACCESS, parser->at + 1 + i);
		type |= bit;
	}
	if (!type)
		return event_fail(parser, EVENT_ERROR_ACCESS, parser->at + 1);
	spec->attr.bp_type = type;
	parser->at += 1 + letters.len;
	return 0;
}

static int parse_length(struct event_parser *parser, struct event_spec *spec)
{
	struct event_piece piece = event_word(parser->text + parser->at + 1);
	uint64_t len;

	if (!piece.len || !isdigit((unsigned char)piece.at[0]))
		return 0; /* terms */
	if (!event_number(piece, &len) || (len != 1 && len != 2 && len != 4 && len != 8))
		return event_fail(parser, EVENT_ERROR_LENGTH, parser->at + 1);
	spec->attr.bp_len = len;
	parser->at += 1 + piece.len;
	return 0;
}

static int parse_place(struct event_parser *parser, struct event_spec *spec)
{
	struct event_piece place = {parser->text + parser->at, 0};
	uint64_t number;

	place.len = symbol_len(place.at);
	parser->at += place.len;
	if (!place.len)
		return event_fail(parser, EVENT_ERROR_ADDRESS, parser->at);
	if (isdigit((unsigned char)place.at[0])) {
		if (!event_number(place, &number))
			return event_fail(parser, EVENT_ERROR_ADDRESS, parser->at - place.len);
		spec->attr.bp_addr = number;
		return 0;
	}
	if (!event_take_offset(&place, &spec->needs.offset) || !place.len)
		return event_fail(parser, EVENT_ERROR_ADDRESS, (size_t)(place.at - parser->text));
	spec->needs.kind = NEEDS_DATA_ADDRESS;
	spec->needs.symbol = event_text(place.at, place.len);
	return spec->needs.symbol ? 0 : -ENOMEM;
}

int event_parse_breakpoint(struct event_parser *parser, bool *found)
{
	static const char prefix[] = "mem:";
	struct event_item *item;
	struct event_spec *spec;
	size_t place = parser->at + strlen(prefix), place_end;
	uint32_t type;
	int err;

	*found = !strncmp(parser->text + parser->at, prefix, strlen(prefix));
	if (!*found)
		return 0;
	err = event_add(parser, &item);
	if (err)
		return err;
	spec = &item->spec;
	spec->attr.type = PERF_TYPE_BREAKPOINT;
	parser->at = place;
	err = parse_place(parser, spec);
	place_end = parser->at;
	if (!err && parser->text[parser->at] == '/')
		err = parse_length(parser, spec);
	if (!err && parser->text[parser->at] == ':')
		err = parse_access(parser, spec);
	if (err)
		return err;
	/* defaults of perf */
	if (!spec->attr.bp_type)
		spec->attr.bp_type = HW_BREAKPOINT_RW;
	type = spec->attr.bp_type;
	if (!spec->attr.bp_len)
		spec->attr.bp_len = type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	event_set_name(spec, "mem:%.*s/%u:%s%s%s", (int)(place_end - place), parser->text + place,
		(unsigned int)spec->attr.bp_len, type & HW_BREAKPOINT_R ? "r" : "",
		type & HW_BREAKPOINT_W ? "w" : "", type == HW_BREAKPOINT_X ? "x" : "");
	return 0;
}

/* --- probes --- */

static const struct probe_kind {
	const char *prefix, *pmu;
	bool is_return;
} kinds[] = {
	{"kprobe:", "kprobe", false},
	{"kretprobe:", "kprobe", true},
	{"uprobe:", "uprobe", false},
	{"uretprobe:", "uprobe", true},
};

static int set_text(const char **out, struct event_piece text)
{
	*out = event_text(text.at, text.len);
	return *out ? 0 : -ENOMEM;
}

static int parse_kprobe(struct event_parser *parser, struct event_spec *spec)
{
	struct event_piece function = {parser->text + parser->at, 0};
	uint64_t number;

	function.len = symbol_len(function.at);
	parser->at += function.len;
	if (function.len && isdigit((unsigned char)function.at[0]) &&
		event_number(function, &number)) {
		spec->attr.config2 = number;
		return 0;
	}
	if (!event_take_offset(&function, &number) || !function.len)
		return event_fail(parser, EVENT_ERROR_PROBE, (size_t)(function.at - parser->text));
	spec->attr.config2 = number;
	return set_text(&spec->probe, function);
}

static int parse_uprobe(struct event_parser *parser, struct event_spec *spec)
{
	struct event_piece binary = {parser->text + parser->at, 0}, function;
	uint64_t number;
	int err;

	binary.len = binary_len(binary.at);
	if (!binary.len || binary.at[binary.len] != ':')
		return event_fail(parser, EVENT_ERROR_PROBE, parser->at + binary.len);
	function.at = binary.at + binary.len + 1;
	function.len = symbol_len(function.at);
	parser->at += binary.len + 1 + function.len;
	if (function.len && isdigit((unsigned char)function.at[0]) &&
		event_number(function, &number)) {
		if (memchr(binary.at, '/', binary.len)) {
			spec->attr.config2 = number;
			spec->probe = unescape(binary.at, binary.len);
			return spec->probe ? 0 : -ENOMEM;
		}
		spec->needs.offset = number;
	} else {
		if (!event_take_offset(&function, &spec->needs.offset) || !function.len)
			return event_fail(
				parser, EVENT_ERROR_PROBE, (size_t)(function.at - parser->text));
		err = set_text(&spec->needs.symbol, function);
		if (err)
			return err;
	}
	spec->needs.kind = NEEDS_FILE_OFFSET;
	spec->needs.binary = unescape(binary.at, binary.len);
	return spec->needs.binary ? 0 : -ENOMEM;
}

static int parse_probe(struct event_parser *parser, const struct probe_kind *kind)
{
	size_t first = parser->n, at = parser->at, len;
	const struct pmu_format *retprobe;
	struct event_item *item;
	struct pmu *pmu;
	uint64_t config = 0;
	int err = pmu_read(&pmu, parser->system, kind->pmu, PMU_FORMATS);

	if (err)
		return err == -ENOMEM ? err : event_fail(parser, EVENT_ERROR_NO_PROBES, at);
	err = event_add(parser, &item);
	if (err)
		goto out;
	item->spec.attr.type = pmu->type;
	item->spec.pmu = event_text(kind->pmu, strlen(kind->pmu));
	retprobe = pmu_find_format(pmu, "retprobe", strlen("retprobe"));
	if (kind->is_return && retprobe && !retprobe->word)
		pmu_place(retprobe->mask, 1, &config);
	item->spec.attr.config = config;
	parser->at += strlen(kind->prefix);
	err = !item->spec.pmu	      ? -ENOMEM
		: kind->pmu[0] == 'k' ? parse_kprobe(parser, &item->spec)
				      : parse_uprobe(parser, &item->spec);
	if (err)
		goto out;
	len = parser->at - at;
	if (parser->text[parser->at] == '/')
		len += strcspn(parser->text + parser->at + 1, "/") + 2;
	event_set_name(&item->spec, "%.*s", (int)len, parser->text + at);
	if (parser->text[parser->at] == '/') {
		parser->at++;
		err = event_parse_terms(parser, first, pmu);
	}
out:
	pmu_free(pmu);
	return err;
}

int event_parse_probe(struct event_parser *parser, bool *found)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strncmp(parser->text + parser->at, kinds[i].prefix, strlen(kinds[i].prefix)))
			continue;
		*found = true;
		return parse_probe(parser, &kinds[i]);
	}
	*found = false;
	return 0;
}

size_t event_place_len(const char *text)
{
	static const char breakpoint[] = "mem:";
	size_t len = strlen(breakpoint);

	if (!strncmp(text, breakpoint, len)) {
		len += symbol_len(text + len);
		return len + (text[len] == '/' && isdigit((unsigned char)text[len + 1]));
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		len = strlen(kinds[i].prefix);
		if (strncmp(text, kinds[i].prefix, len) != 0)
			continue;
		if (kinds[i].pmu[0] == 'u') {
			len += binary_len(text + len);
			len += text[len] == ':';
		}
		return len + symbol_len(text + len);
	}
	return 0;
}
