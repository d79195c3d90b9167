/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.c - parses numbers, sizes and decimals of the command line, and guesses mistyped
 * words.
 *
 * Pure functions; any thread.
 */
#include "tui/options/private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

int args_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		unsigned int digit = (unsigned int)(unsigned char)*text - '0';

		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return -EINVAL;
		value = value * 10 + digit;
	}
	if (value < min || value > max)
		return -EINVAL;
	*out = value;
	return 0;
}

int args_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char suffixes[] = "KMG";
	size_t len = strlen(text);
	const char *suffix;
	char digits[24];
	unsigned int shift = 0;
	uint64_t value;

	if (!len || len > sizeof(digits))
		return -EINVAL;
	suffix = strchr(suffixes, text[len - 1] & ~0x20);
	if (suffix && text[len - 1] > '9') {
		shift = (unsigned int)(suffix - suffixes + 1) * 10;
		len--;
	}
	if (len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (args_number(digits, 0, UINT64_MAX >> shift, &value))
		return -EINVAL;
	value <<= shift;
	if (value < min || value > max)
		return -EINVAL;
	*out = value;
	return 0;
}

int args_geometry(const char *text, int *width, int *height)
{
	const char *by = strchr(text, 'x');
	char columns[8];
	uint64_t x, y;

	if (!by || (size_t)(by - text) >= sizeof(columns))
		return -EINVAL;
	memcpy(columns, text, (size_t)(by - text));
	columns[by - text] = '\0';
	if (args_number(columns, 1, 1000, &x) || args_number(by + 1, 1, 1000, &y))
		return -EINVAL;
	*width = (int)x;
	*height = (int)y;
	return 0;
}

/* strtod(3) would accept "inf", hexadecimal numbers and the locale's comma. */
int args_decimal(const char *text, double min, double max, double *out)
{
	double value = 0, unit = 1;
	bool digits = false, fraction = false;

	for (; *text; text++) {
		if (*text == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (*text < '0' || *text > '9')
			return -EINVAL;
		digits = true;
		if (fraction) {
			unit /= 10;
			value += (*text - '0') * unit;
		} else {
			value = value * 10 + (*text - '0');
		}
	}
	if (!digits || !(value >= min && value <= max))
		return -EINVAL;
	*out = value;
	return 0;
}

/* Returns the edit distance: letters to change, insert or remove; UINT_MAX if either is too long to
 * compare. */
static unsigned int differing(const char *text, size_t len, const char *word)
{
	unsigned int row[16], word_len = (unsigned int)strlen(word);

	if (len >= 16 || word_len >= 16)
		return UINT_MAX;
	for (unsigned int w = 0; w <= word_len; w++)
		row[w] = w;
	for (size_t t = 0; t < len; t++) {
		unsigned int corner = row[0];

		row[0] = (unsigned int)t + 1;
		for (unsigned int w = 0; w < word_len; w++) {
			unsigned int least = corner + (text[t] != word[w]);

			corner = row[w + 1];
			if (corner + 1 < least)
				least = corner + 1;
			if (row[w] + 1 < least)
				least = row[w] + 1;
			row[w + 1] = least;
		}
	}
	return row[word_len];
}

const char *args_nearest(const char *text, size_t len, const char *const *words)
{
	const char *nearest = NULL;
	unsigned int least = 3;

	for (size_t i = 0; words[i]; i++) {
		unsigned int letters = differing(text, len, words[i]);

		/* The text is an abbreviation, or has a letter or two wrong, but not most of
		 * them. */
		if (len >= 2 && len < strlen(words[i]) && !memcmp(words[i], text, len))
			return words[i];
		if (letters < least && 2 * letters < len) {
			least = letters;
			nearest = words[i];
		}
	}
	return nearest;
}
