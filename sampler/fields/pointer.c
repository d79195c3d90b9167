/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pointer.c - see private.h: the kernel's own conversions, %p with letters.
 *
 * See Documentation/core-api/printk-formats.rst and lib/vsprintf.c.  If a sample has the bytes that
 * the pointer points to, they are shown like the kernel does; otherwise the pointer is shown as a
 * number.
 */
#include "sampler/fields/private.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SYMBOL_MAX 256

/* Returns n bytes of the pointee; only arrays and texts have them in the sample. */
static bool get_bytes(const struct term *term, size_t n, const uint8_t **out)
{
	*out = term->bytes.at;
	return (term->kind == TERM_BYTES || term->kind == TERM_TEXT) && term->bytes.len >= n;
}

static uint16_t get_be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void put_ip4(struct line_text *text, const uint8_t *at, bool padded, bool reversed)
{
	const uint32_t order = reversed ? 3 : 0;

	line_print(text, padded ? "%03u.%03u.%03u.%03u" : "%u.%u.%u.%u", at[order], at[1 ^ order],
		at[2 ^ order], at[3 ^ order]);
}

/* Returns whether an address is stored last byte first: host order (h) on a little-endian machine,
 * or little endian (l). */
static bool is_reversed(const struct fields *fields, char order)
{
	const bool is_little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != fields->swapped;

	return order == 'l' || (order == 'h' && is_little);
}

/* Returns whether the last four bytes are an IPv4 address: mapped (RFC 4291) or ISATAP (RFC
 * 5214). */
static bool has_ip4(const uint8_t *at)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(at, mapped, sizeof(mapped)) ||
		((at[8] | 2) == 2 && !at[9] && at[10] == 0x5e && at[11] == 0xfe);
}

/* Omits the first of the longest runs of zeros, unless the run is a single one. */
static void put_ip6_short(struct line_text *text, const uint8_t *at)
{
	int range = has_ip4(at) ? 6 : 8, first = -1, longest = 1;
	bool colon = false;

	for (int i = 0; i < range; i++) {
		int n = 0;

		while (i + n < range && !get_be16(at + 2 * (i + n)))
			n++;
		if (n > longest) {
			longest = n;
			first = i;
		}
	}
	for (int i = 0; i < range; i++) {
		if (i == first) {
			line_put(text, "::", colon || !i ? 2 : 1);
			colon = false;
			i += longest - 1;
			continue;
		}
		line_print(text, "%s%x", colon ? ":" : "", get_be16(at + 2 * i));
		colon = true;
	}
	if (range == 6) {
		line_put(text, ":", colon);
		put_ip4(text, at + 12, false, false);
	}
}

static void put_ip6(struct line_text *text, const uint8_t *at, bool is_short, const char *between)
{
	if (is_short) {
		put_ip6_short(text, at);
		return;
	}
	for (int i = 0; i < 8; i++)
		line_print(text, "%s%04x", i ? between : "", get_be16(at + 2 * i));
}

/* Writes a struct sockaddr: the family is in host order, the rest in network order. */
static bool put_socket(struct line_text *text, const struct fields *fields, const struct term *term,
	const char *how)
{
	size_t n_how = strspn(how, "pfschnbl");
	bool port = memchr(how, 'p', n_how), flow = memchr(how, 'f', n_how),
	     scope = memchr(how, 's', n_how), is_short = memchr(how, 'c', n_how);
	const uint8_t *at;
	uint64_t family;
	char order = 'n';

	if (!get_bytes(term, 2, &at))
		return false;
	family = fields_load(fields, at, 2, false);
	if (family == 2 && get_bytes(term, 8, &at)) {
		/* The last letter decides. */
		for (size_t i = 0; i < n_how; i++)
			order = strchr("hnbl", how[i]) ? how[i] : order;
		put_ip4(text, at + 4, false, is_reversed(fields, order));
		if (port)
			line_print(text, ":%u", get_be16(at + 2));
	} else if (family == 10 && get_bytes(term, 28, &at)) {
		bool brackets = port || flow || scope;

		line_put(text, "[", brackets);
		put_ip6(text, at + 8, is_short, ":");
		line_put(text, "]", brackets);
		if (port)
			line_print(text, ":%u", get_be16(at + 2));
		if (flow)
			line_print(
				text, "/%u", (get_be16(at + 4) & 0xfffu) << 16 | get_be16(at + 6));
		if (scope)
			line_print(text, "%%%" PRIu64, fields_load(fields, at + 24, 4, false));
	} else {
		line_put(text, "(einval)", 8);
	}
	return true;
}

/* Handles %pI and %pi. */
static bool put_internet(struct line_text *text, const struct fields *fields,
	const struct term *term, const char **format)
{
	const char *at = *format;
	bool is_plain = at[0] == 'i';
	const uint8_t *bytes;

	*format = at + 2;
	if (at[1] == '4') {
		*format += strspn(*format, "hnbl");
		if (!get_bytes(term, 4, &bytes))
			return false;
		put_ip4(text, bytes, is_plain, is_reversed(fields, at[2]));
		return true;
	}
	if (at[1] == '6') {
		bool is_short = at[2] == 'c';

		*format += is_short;
		if (!get_bytes(term, 16, &bytes))
			return false;
		put_ip6(text, bytes, is_short && !is_plain, is_plain ? "" : ":");
		return true;
	}
	if (at[1] != 'S')
		return false;
	*format += strspn(*format, "pfschnbl");
	return put_socket(text, fields, term, at + 2);
}

static bool put_uuid(struct line_text *text, const struct term *term, char how)
{
	static const uint8_t little[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool is_little = how == 'l' || how == 'L', upper = how == 'B' || how == 'L';
	const uint8_t *at;

	if (!get_bytes(term, 16, &at))
		return false;
	for (int i = 0; i < 16; i++)
		line_print(text, upper ? "%s%02X" : "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			at[is_little ? little[i] : i]);
	return true;
}

static bool put_mac(struct line_text *text, const struct term *term, char first, char how)
{
	const char *between = first == 'm' ? "" : how == 'F' ? "-" : ":";
	const uint8_t *at;

	if (!get_bytes(term, 6, &at))
		return false;
	for (int i = 0; i < 6; i++)
		line_print(text, "%s%02x", i ? between : "", at[how == 'R' ? 5 - i : i]);
	return true;
}

/* Handles %*ph: the width is the number of bytes, at most 64. */
static bool put_hex(struct line_text *text, const struct term *term, int width, char how)
{
	const char *between = how == 'C' ? ":" : how == 'D' ? "-" : how == 'N' ? "" : " ";
	int n = width > 64 ? 64 : width < 0 ? 1 : width;
	const uint8_t *at;

	if (!get_bytes(term, 0, &at))
		return false;
	for (int i = 0; i < n && (size_t)i < term->bytes.len; i++)
		line_print(text, "%s%02x", i ? between : "", at[i]);
	return true;
}

/* Returns bit i of an array of longs, in the byte order of the machine that wrote them. */
static bool get_bit(const struct fields *fields, struct bytes bits, size_t i)
{
	size_t at = i / 8, size = fields->long_bytes;

	if ((__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != fields->swapped)
		at = at / size * size + (size - 1 - at % size);
	return at < bits.len && bits.at[at] >> i % 8 & 1;
}

void line_put_bits(struct line_text *text, const struct fields *fields, struct bytes bits, size_t n,
	bool is_list)
{
	bool any = false;

	if (n > 8 * bits.len)
		n = 8 * bits.len;
	for (size_t i = 0, end; is_list && i < n && !text->cut; i = end + 1) {
		for (end = i; end < n && get_bit(fields, bits, end);)
			end++;
		if (end == i)
			continue;
		line_print(text, end - i > 1 ? "%s%zu-%zu" : "%s%zu", any ? "," : "", i, end - 1);
		any = true;
	}
	if (is_list)
		return;
	/* The first word has the remaining bits, in as many digits as needed. */
	for (size_t words = (n + 31) / 32, word = words; word-- > 0 && !text->cut; any = true) {
		size_t in = n - word * 32 < 32 ? n - word * 32 : 32;
		uint32_t number = 0;

		for (size_t i = 0; i < in; i++)
			number |= (uint32_t)get_bit(fields, bits, word * 32 + i) << i;
		line_print(text, "%s%0*x", any ? "," : "", (int)(in + 3) / 4, number);
	}
}

static bool put_symbol(struct line_text *text, const struct term *term, bool with_offset,
	const struct fields_line_names *names)
{
	char shown[SYMBOL_MAX];

	if (term->kind != TERM_NUMBER)
		return false;
	if (names && term->number &&
		names->code(names->ctx, term->number, with_offset, shown, sizeof(shown)))
		line_put(text, shown, strlen(shown));
	else
		line_print(text, "0x%" PRIx64, term->number);
	return true;
}

/* Writes a bus or physical address (%pad, %pap) with all of its digits. */
static bool put_address(
	struct line_text *text, const struct fields *fields, const struct term *term)
{
	size_t size = term->element == 4 || term->element == 8 ? term->element : fields->long_bytes;
	const uint8_t *at;

	if (!get_bytes(term, size, &at))
		return false;
	line_print(text, "0x%0*" PRIx64, 2 * (int)size, fields_load(fields, at, size, false));
	return true;
}

bool line_put_pointee(struct line_text *text, const struct fields *fields, const char **format,
	const struct term *term, int width, const struct fields_line_names *names)
{
	char letter = **format;
	char next = letter ? (*format)[1] : '\0';
	bool takes_next = false, done = false;

	switch (letter) {
	case 'S':
	case 's':
	case 'F':
	case 'f':
	case 'B':
		takes_next = next == 'R' || (letter == 'B' && next == 'b') ||
			(letter == 'S' && next == 'b');
		done = put_symbol(text, term, letter != 's' && letter != 'f', names);
		break;
	case 'I':
	case 'i':
		if (next != '4' && next != '6' && next != 'S')
			break;
		return put_internet(text, fields, term, format);
	case 'U':
		takes_next = next && strchr("bBlL", next);
		done = put_uuid(text, term, takes_next ? next : 'b');
		break;
	case 'M':
	case 'm':
		takes_next = next && strchr("FR", next);
		done = put_mac(text, term, letter, takes_next ? next : '\0');
		break;
	case 'h':
		takes_next = next && strchr("CDN", next);
		done = put_hex(text, term, width, takes_next ? next : '\0');
		break;
	case 'b':
		takes_next = next == 'l';
		done = term->kind == TERM_BYTES || term->kind == TERM_TEXT;
		if (done)
			line_put_bits(text, fields, term->bytes, width < 0 ? 0 : (size_t)width,
				takes_next);
		break;
	case 'a':
		takes_next = next == 'p' || next == 'd';
		done = put_address(text, fields, term);
		break;
	default:
		break;
	}
	*format += 1 + takes_next;
	return done;
}
