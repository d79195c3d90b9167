/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * named.c - compares every symbol's name with the wanted one.
 *
 * First compares names as they are in the file.  If none matches, demangles those that contain the
 * wanted name's last identifier.  Similar names are collected for the message that no symbol has
 * the name.  Runs in the worker.
 */
#include "symbols/worker/named.h"

#include "symbols/dwarf/gopclntab.h"
#include "symbols/elf/binfile.h"
#include "symbols/elf/elfsyms.h"
#include "symbols/elf/elfversions.h"
#include "symbols/wire/kallsyms.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 1024
#define NEAR_BYTES 96
#define DISTANCE_MAX 2

struct near {
	char name[NEAR_BYTES];
	size_t distance;
};

struct search {
	char wanted[NAME_MAX_BYTES];
	size_t len;
	/* "GLIBC_2.2.5" of "malloc@@GLIBC_2.2.5"; wanted ends before it; NULL: any */
	const char *version;
	bool wants_default; /* "@@" */
	const struct elfversions *versions; /* versions in the file's .dynsym */
	char last[NAME_MAX_BYTES]; /* last identifier of wanted, which its mangled form contains */
	bool demangle;
	bool is_go;
	struct wire_place places[WIRE_PLACES_MAX];
	size_t n_places;
	struct near near[WIRE_NEAR_MAX];
	size_t n_near;
};

static bool is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '$';
}

/* Returns false if no symbol can have the name. */
static bool begin(struct search *search, const char *name, size_t len)
{
	memset(search, 0, sizeof(*search));
	if (len == 0 || len >= sizeof(search->wanted) || memchr(name, '\0', len))
		return false;
	memcpy(search->wanted, name, len);
	char *at = strchr(search->wanted, '@');
	if (at && at > search->wanted && at[1]) {
		search->wants_default = at[1] == '@';
		search->version = at + 1 + search->wants_default;
		*at = '\0';
	}
	search->len = strlen(search->wanted);
	size_t end = strcspn(search->wanted, "(<[");
	while (end > 0 && !is_identifier(search->wanted[end - 1]))
		end--;
	size_t start = end;
	while (start > 0 && is_identifier(search->wanted[start - 1]))
		start--;
	memcpy(search->last, search->wanted + start, end - start);
	return true;
}

/* --- similar names --- */

/* Returns how many letters differ; DISTANCE_MAX + 1 if more than DISTANCE_MAX. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[2][NEAR_BYTES + 1];

	if (a_len >= NEAR_BYTES || b_len >= NEAR_BYTES || a_len > b_len + DISTANCE_MAX ||
		b_len > a_len + DISTANCE_MAX)
		return DISTANCE_MAX + 1;
	for (size_t j = 0; j <= b_len; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *now = row[i & 1], *before = row[(i - 1) & 1], least = i;

		now[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			now[j] = best;
			least = best < least ? best : least;
		}
		if (least > DISTANCE_MAX)
			return DISTANCE_MAX + 1;
	}
	return row[a_len & 1][b_len];
}

static void add_near(struct search *search, const char *name, size_t len, size_t far)
{
	size_t at = 0;

	for (size_t i = 0; i < search->n_near; i++)
		if (strlen(search->near[i].name) == len && !memcmp(search->near[i].name, name, len))
			return;
	while (at < search->n_near && search->near[at].distance <= far)
		at++;
	if (at == WIRE_NEAR_MAX)
		return;
	if (search->n_near == WIRE_NEAR_MAX)
		search->n_near--;
	memmove(search->near + at + 1, search->near + at,
		(search->n_near - at) * sizeof(search->near[0]));
	memcpy(search->near[at].name, name, len);
	search->near[at].name[len] = '\0';
	search->near[at].distance = far;
	search->n_near++;
}

static void consider_near(struct search *search, const char *name, size_t len)
{
	size_t far = DISTANCE_MAX + 1;

	/* A clone made by the compiler: "f.part.0". */
	if (len > search->len && len < NEAR_BYTES && name[search->len] == '.' &&
		memcmp(name, search->wanted, search->len) == 0)
		far = 0;
	else if (search->len > 3)
		far = distance(search->wanted, search->len, name, len);
	if (far <= DISTANCE_MAX)
		add_near(search, name, len, far);
}

/* --- equal names --- */

static bool is_mangled(const char *name, size_t len)
{
	return len > 3 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Returns whether a demangled name is the wanted one up to its arguments: "ns::f" is the name of
 * "ns::f(int)" and of "void ns::f<int>(int)". */
static bool demangled_matches(const struct search *search, const char *name, size_t len)
{
	char raw[NAME_MAX_BYTES], pretty[4096];

	if (!is_mangled(name, len) || len >= sizeof(raw))
		return false;
	memcpy(raw, name, len);
	raw[len] = '\0';
	if (!strstr(raw, search->last) || !binfile_demangle(raw, pretty, sizeof(pretty)))
		return false;
	for (const char *at = strstr(pretty, search->wanted); at;
		at = strstr(at + 1, search->wanted)) {
		const char after = at[search->len];

		if ((at == pretty || at[-1] == ' ') &&
			(after == '\0' || after == '(' || after == '[' || after == '<' ||
				search->wanted[search->len - 1] == ')'))
			return true;
		/* The rest are arguments. */
		if (memchr(pretty, '(', (size_t)(at - pretty)))
			return false;
	}
	return false;
}

/* Returns the length of a name without its version, which names in .symtab may have. */
static size_t versionless_len(const char *name, size_t len)
{
	const char *at = memchr(name, '@', len);

	return at && at > name ? (size_t)(at - name) : len;
}

static bool matches(const struct search *search, const char *name, size_t len)
{
	const size_t own_len = versionless_len(name, len);

	if (search->demangle)
		return demangled_matches(search, name, own_len);
	return own_len == search->len && memcmp(name, search->wanted, own_len) == 0 &&
		!memchr(name, '\0', len);
}

/* Finds the version of a symbol.  Returns false if it has none. */
static bool find_version(const struct search *search, const struct elfsyms_any *symbol,
	const char **version, size_t *len, bool *is_default)
{
	const size_t own_len = versionless_len(symbol->name, symbol->name_len);

	if (own_len + 1 < symbol->name_len) {
		*is_default = symbol->name[own_len + 1] == '@';
		*version = symbol->name + own_len + 1 + *is_default;
		*len = symbol->name_len - own_len - 1 - *is_default;
		return true;
	}
	*version = symbol->dynamic && search->versions
		? elfversions_find(search->versions, symbol->index, is_default)
		: NULL;
	*len = *version ? strlen(*version) : 0;
	return *version;
}

/* Returns whether a symbol with the wanted name also has the wanted version.  Adds names with other
 * versions as similar ones. */
static bool matches_version(struct search *search, const struct elfsyms_any *symbol)
{
	char name[NEAR_BYTES];
	const char *version;
	bool is_default;
	size_t len;
	int used;

	if (!search->version)
		return true;
	if (!find_version(search, symbol, &version, &len, &is_default))
		return false;
	if (strlen(search->version) == len && !memcmp(version, search->version, len) &&
		(is_default || !search->wants_default))
		return true;
	used = snprintf(name, sizeof(name), "%.*s%s%.*s",
		(int)versionless_len(symbol->name, symbol->name_len), symbol->name,
		is_default ? "@@" : "@", (int)len, version);
	if ((size_t)used < sizeof(name))
		add_near(search, name, (size_t)used, 0);
	return false;
}

static void add_place(struct search *search, const struct wire_place *place)
{
	for (size_t i = 0; i < search->n_places; i++)
		if (search->places[i].address == place->address)
			return;
	if (search->n_places < WIRE_PLACES_MAX)
		search->places[search->n_places++] = *place;
}

static void meet(const struct elfsyms_any *symbol, void *ctx)
{
	struct search *search = ctx;

	if (!matches(search, symbol->name, symbol->name_len)) {
		if (!search->demangle && !symbol->label)
			consider_near(search, symbol->name, symbol->name_len);
		return;
	}
	if (!matches_version(search, symbol))
		return;
	const struct wire_place place = {
		.address = symbol->address,
		.offset = UINT64_MAX,
		.size = symbol->size,
		.kind = (symbol->data ? WIRE_PLACE_DATA : 0) |
			(symbol->weak ? WIRE_PLACE_WEAK : 0) |
			(symbol->local ? WIRE_PLACE_LOCAL : 0) |
			(search->is_go || is_mangled(symbol->name, symbol->name_len)
					? WIRE_PLACE_UNWOUND
					: 0),
	};
	add_place(search, &place);
}

static void meet_go(const struct gopclntab_function *function, void *ctx)
{
	const struct elfsyms_any symbol = {
		.name = function->name,
		.name_len = function->name_len,
		.address = function->address,
		.size = function->size,
	};

	meet(&symbol, ctx);
}

/* Searches the functions of a stripped Go program. */
static int find_in_go(const struct elffile *elf, struct search *search)
{
	struct gopclntab *table;

	const int ret = gopclntab_open(&table, elf);
	if (ret < 0)
		return ret == -ENOMEM ? ret : 0;
	gopclntab_functions(table, meet_go, search);
	gopclntab_free(table);
	return 0;
}

static size_t put_answer(const struct search *search, struct wire_named *head, char *out)
{
	size_t len = sizeof(*head) + search->n_places * sizeof(search->places[0]);

	head->n_places = (uint32_t)search->n_places;
	head->n_near = (uint32_t)search->n_near;
	memcpy(out, head, sizeof(*head));
	memcpy(out + sizeof(*head), search->places, search->n_places * sizeof(search->places[0]));
	for (size_t i = 0; i < search->n_near; i++) {
		const size_t n = strlen(search->near[i].name) + 1;
		memcpy(out + len, search->near[i].name, n);
		len += n;
	}
	return len;
}

static uint64_t first_address(const struct elffile *elf)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < elf->n_segments; i++)
		if (elf->segments[i].type == PT_LOAD && elf->segments[i].vaddr < first)
			first = elf->segments[i].vaddr;
	return first == UINT64_MAX ? 0 : first & ~UINT64_C(0xfff);
}

int worker_named_file(const struct elffile *elf, const struct elffile *const more[ELFSYMS_MORE],
	const char *name, size_t len, char *out, size_t *out_len)
{
	struct wire_named head = {.base = first_address(elf), .is_fixed = elf->type == ET_EXEC};
	struct search *search = malloc(sizeof(*search));
	struct elfversions *versions = NULL;
	int ret = 0;

	if (!search)
		return -ENOMEM;
	const bool wanted = begin(search, name, len);

	search->is_go = gopclntab_is_of_go(elf);
	if (search->version)
		ret = elfversions_open(&versions, elf);
	search->versions = versions;
	if (wanted && ret == 0)
		ret = elfsyms_read_any(elf, more, meet, search);
	if (wanted && ret == 0 && search->is_go && !search->n_places)
		ret = find_in_go(elf, search);
	if (ret == 0 && search->n_places == 0 && search->last[0]) {
		search->demangle = true;
		ret = elfsyms_read_any(elf, more, meet, search);
	}
	for (size_t i = 0; i < search->n_places; i++) {
		struct wire_place *place = &search->places[i];
		uint64_t offset, rest;
		bool exec;
		if (elffile_offset(elf, place->address, &offset, &rest, &exec))
			place->offset = offset;
	}
	if (ret == 0)
		*out_len = put_answer(search, &head, out);
	elfversions_free(versions);
	free(search);
	return ret;
}

static void meet_kernel(const struct kallsyms_symbol *symbol, void *ctx)
{
	struct search *search = ctx;

	if (symbol->address == 0)
		return;
	if (search->version || !matches(search, symbol->name, symbol->name_len)) {
		consider_near(search, symbol->name, symbol->name_len);
		return;
	}
	const struct wire_place place = {
		.address = symbol->address,
		.offset = symbol->address,
		.kind = (strchr(KALLSYMS_DATA, symbol->type) ? WIRE_PLACE_DATA : 0) |
			(symbol->type >= 'a' ? WIRE_PLACE_LOCAL : 0),
	};
	add_place(search, &place);
}

static int feed(struct kallsyms *parser, int fd)
{
	char text[16384];
	ssize_t n;

	/* A worker that died meanwhile may have left another file position. */
	if (lseek(fd, 0, SEEK_SET) < 0 && errno != ESPIPE)
		return -errno;
	while ((n = read(fd, text, sizeof(text))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		kallsyms_feed(parser, text, (size_t)n);
	}
	kallsyms_end(parser);
	return 0;
}

int worker_named_kallsyms(int fd, const char *name, size_t len, char *out, size_t *out_len,
	struct wire_message *answer)
{
	struct wire_named head = {.is_fixed = 1};
	struct search *search = malloc(sizeof(*search));
	struct kallsyms parser;
	int ret = 0;

	if (!search)
		return -ENOMEM;
	kallsyms_init(&parser, meet_kernel, search);
	parser.types = KALLSYMS_FUNCTIONS KALLSYMS_DATA;
	if (begin(search, name, len))
		ret = feed(&parser, fd);
	if (parser.functions && !parser.shown)
		answer->flags |= WIRE_FLAG_HIDDEN;
	if (ret == 0)
		*out_len = put_answer(search, &head, out);
	free(search);
	return ret;
}
