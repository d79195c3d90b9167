/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.c - see config.h: splits lines into words and interprets them.
 */
#include "tui/options/config.h"

#include "tui/base/clean.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 12
#define WORD_MAX 64
#define TENTHS 10u

static const char *const switches[] = {"off", "on", NULL};
static const char *const sorts[] = {"self", "total", NULL};
static const char *const codes[] = {"mixed", "source", "assembly", NULL};
static const char *const syntaxes[] = {"att", "intel", NULL};
static const char *const shapes[] = {"butterfly", "tree", "callers", NULL};
static const char *const groups[] = {"process", "thread", "cpu", NULL};
static const char *const rows[CONFIG_ROWS_N + 1] = {
	"symbol", "image", "address", "line", "process", "thread", "command", "cpu", NULL};

const enum query_group config_rows[CONFIG_ROWS_N] = {GROUP_SYMBOL, GROUP_IMAGE, GROUP_ADDRESS,
	GROUP_LINE, GROUP_PROCESS, GROUP_THREAD, GROUP_COMMAND, GROUP_CPU};

static const struct {
	const char *name;
	const char *const *words; /* NULL: a number */
	uint32_t min, max, unit;
	const char *expected;
} settings[CONFIG_SETTINGS] = {
	[CONFIG_THEME] = {"theme", theme_names, 0, 0, 0, NULL},
	[CONFIG_ASCII] = {"ascii", switches, 0, 0, 0, NULL},
	[CONFIG_MOUSE] = {"mouse", switches, 0, 0, 0, NULL},
	[CONFIG_HIDE_IDLE] = {"hide-idle", switches, 0, 0, 0, NULL},
	[CONFIG_SORT] = {"sort", sorts, 0, 0, 0, NULL},
	[CONFIG_RATE] = {"rate", NULL, 1, 1000000, 1, "a frequency in Hz from 1 to 1000000"},
	[CONFIG_WINDOW] = {"window", NULL, 1, 36000, TENTHS,
		"seconds from 0.1 to 3600, in tenths at most"},
	[CONFIG_CODE] = {"code", codes, 0, 0, 0, NULL},
	[CONFIG_SYNTAX] = {"syntax", syntaxes, 0, 0, 0, NULL},
	[CONFIG_CALLS] = {"calls", shapes, 0, 0, 0, NULL},
	[CONFIG_GROUP] = {"group", groups, 0, 0, 0, NULL},
	[CONFIG_ROWS] = {"rows", rows, 0, 0, 0, NULL},
};

struct word {
	char text[WORD_MAX];
	unsigned int column; /* byte offset, from 1 */
};

struct parsing {
	struct config *config;
	config_complain_fn *complain;
	void *ctx;
	unsigned int line, end_column;
	struct word words[WORDS_MAX];
	size_t n;
};

static void complain(const struct parsing *parsing, size_t word, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void complain(const struct parsing *parsing, size_t word, const char *format, ...)
{
	char raw[512], sentence[512];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	clean_string(sentence, sizeof(sentence), raw);
	parsing->complain(parsing->line,
		word < parsing->n ? parsing->words[word].column : parsing->end_column, sentence,
		parsing->ctx);
}

/* Formats "not 'WORD'", or a message that the word is missing. */
static const char *found(const struct parsing *parsing, size_t word, char *out, size_t size)
{
	if (word < parsing->n)
		snprintf(out, size, "not '%s'", parsing->words[word].text);
	else
		snprintf(out, size, "and the line ends here");
	return out;
}

static void expect(const struct parsing *parsing, size_t word, const char *what)
{
	char rest[WORD_MAX + 32];

	complain(parsing, word, "expected %s, %s", what, found(parsing, word, rest, sizeof(rest)));
}

static bool is_over(const struct parsing *parsing, size_t word)
{
	if (word >= parsing->n)
		return true;
	expect(parsing, word, "the end of the line");
	return false;
}

/* --- settings --- */

const char *config_setting_name(enum config_setting setting)
{
	return settings[setting].name;
}

void config_value_text(enum config_setting setting, uint32_t value, char *out, size_t size)
{
	if (settings[setting].words)
		snprintf(out, size, "%s", settings[setting].words[value]);
	else if (settings[setting].unit == TENTHS && value % TENTHS)
		snprintf(out, size, "%" PRIu32 ".%" PRIu32, value / TENTHS, value % TENTHS);
	else
		snprintf(out, size, "%" PRIu32, value / settings[setting].unit);
}

static void list_words(const char *const *words, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; words[i] && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "", words[i]);
}

static bool number(const char *text, uint32_t unit, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t value = 0;
	bool point = false, digit = false;

	for (uint32_t rest = unit; *text; text++) {
		if (*text == '.' && !point && unit > 1) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || (point && rest == 1))
			return false;
		digit = true;
		if (point) {
			rest /= TENTHS;
			value += (uint64_t)(*text - '0') * rest;
		} else {
			value = value * 10 + (uint64_t)(*text - '0') * unit;
		}
		if (value > max)
			return false;
	}
	*out = (uint32_t)value;
	return digit && value >= min;
}

int config_value_of(
	enum config_setting setting, const char *word, uint32_t *out, char *sentence, size_t size)
{
	const char *const *words = settings[setting].words;
	char list[128], raw[256];

	for (uint32_t i = 0; words && words[i]; i++) {
		if (!strcmp(words[i], word)) {
			*out = i;
			return 0;
		}
	}
	if (!words &&
		number(word, settings[setting].unit, settings[setting].min, settings[setting].max,
			out))
		return 0;
	if (words)
		list_words(words, list, sizeof(list));
	snprintf(raw, sizeof(raw), "expected %s%s, not '%s'", words ? "one of " : "",
		words ? list : settings[setting].expected, word);
	clean_string(sentence, size, raw);
	return -EINVAL;
}

static void parse_set(struct parsing *parsing)
{
	struct config *config = parsing->config;
	uint32_t value;
	char text[256];
	int setting = 0;

	while (setting < CONFIG_SETTINGS &&
		(parsing->n < 2 || strcmp(settings[setting].name, parsing->words[1].text)))
		setting++;
	if (setting == CONFIG_SETTINGS) {
		const char *names[CONFIG_SETTINGS + 1] = {NULL};

		for (int i = 0; i < CONFIG_SETTINGS; i++)
			names[i] = settings[i].name;
		memcpy(text, "a setting: ", 12);
		list_words(names, text + 11, sizeof(text) - 11);
		expect(parsing, 1, text);
		return;
	}
	if (config_value_of((enum config_setting)setting,
		    parsing->n > 2 ? parsing->words[2].text : "", &value, text, sizeof(text))) {
		complain(parsing, 2, "%s", text);
		return;
	}
	if (!is_over(parsing, 3))
		return;
	config->given |= 1u << setting;
	config->values[setting] = value;
}

int config_write(FILE *out, const struct config *config)
{
	for (int i = 0; i < CONFIG_SETTINGS; i++) {
		char text[32];

		if (!(config->given & 1u << i))
			continue;
		config_value_text((enum config_setting)i, config->values[i], text, sizeof(text));
		if (fprintf(out, "set %s %s\n", settings[i].name, text) < 0)
			return -EIO;
	}
	return 0;
}

/* --- keys --- */

static bool has_action(enum keys_view view, enum action action)
{
	size_t n;
	const struct binding *table = keys_defaults(&n);

	for (size_t i = 0; i < n; i++) {
		if (table[i].action == action && (table[i].views & (unsigned int)view))
			return true;
	}
	return false;
}

static void expect_view(const struct parsing *parsing)
{
	char text[300] = "a view: ", name[32];
	size_t len = strlen(text);

	for (unsigned int view = KEYS_ALL;
		keys_view_name(view, name, sizeof(name)) && len < sizeof(text); view <<= 1)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%s", view > KEYS_ALL ? ", " : "", name);
	expect(parsing, 1, text);
}

static void parse_key(struct parsing *parsing)
{
	struct config *config = parsing->config;
	struct config_key key = {.line = parsing->line};

	key.view = parsing->n > 1 ? keys_view_of(parsing->words[1].text) : (enum keys_view)0;
	if (!key.view) {
		expect_view(parsing);
		return;
	}
	if (parsing->n < 3 || !keys_key_of(parsing->words[2].text, &key.key)) {
		expect(parsing, 2,
			"a key: a character, ^L, Enter, Esc, Space, Tab, Up, PgUp ..., or none");
		return;
	}
	key.action = parsing->n > 3 ? keys_action_of(parsing->words[3].text) : ACT_NONE;
	if (key.action == ACT_NONE) {
		expect(parsing, 3, "an action (strobe help keys lists them)");
		return;
	}
	if (!has_action(key.view, key.action) || key.action == ACT_EVENT_NUMBER) {
		char text[128];

		snprintf(text, sizeof(text), "an action of %s whose keys can be chosen",
			parsing->words[1].text);
		expect(parsing, 3, text);
		return;
	}
	if (!is_over(parsing, 4))
		return;
	if (config->n_keys == CONFIG_BINDINGS_MAX) {
		complain(parsing, 0, "more than %d keys", CONFIG_BINDINGS_MAX);
		return;
	}
	key.column = parsing->words[3].column;
	config->keys[config->n_keys++] = key;
}

/* --- colours --- */

static bool parse_attr(const char *word, unsigned int *attrs)
{
	static const struct {
		const char *name;
		unsigned int attr;
	} known[] = {
		{"bold", THEME_BOLD},
		{"dim", THEME_DIM},
		{"underline", THEME_UNDERLINE},
		{"reverse", THEME_REVERSE},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(known[i].name, word)) {
			*attrs |= known[i].attr;
			return true;
		}
	}
	return false;
}

static void parse_color(struct parsing *parsing)
{
	static const char expected[] =
		"a colour (red, bright-red, #ff8700, default), on COLOUR, bold, dim, underline or "
		"reverse";
	struct theme_look look = {.fg = THEME_DEFAULT, .bg = THEME_DEFAULT};
	enum style style = parsing->n > 1 ? theme_style_of(parsing->words[1].text) : STYLE_COUNT;
	bool has_fg = false, has_bg = false;

	if (style == STYLE_COUNT) {
		expect(parsing, 1, "a style (strobe help colors lists them)");
		return;
	}
	if (parsing->n == 2) {
		expect(parsing, 2, expected);
		return;
	}
	for (size_t i = 2; i < parsing->n; i++) {
		const char *word = parsing->words[i].text;

		if (parse_attr(word, &look.attrs))
			continue;
		if (!strcmp(word, "on") && !has_bg) {
			has_bg = true;
			if (++i < parsing->n && theme_color_of(parsing->words[i].text, &look.bg))
				continue;
			expect(parsing, i, "the colour of the background");
			return;
		}
		if (has_fg || !theme_color_of(word, &look.fg)) {
			expect(parsing, i, expected);
			return;
		}
		has_fg = true;
	}
	parsing->config->colors.given[style] = true;
	parsing->config->colors.looks[style] = look;
}

/* --- lines --- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns true at the start of a comment.  The word # may also be a key. */
static bool is_comment(const struct parsing *parsing, const char *word, size_t len)
{
	if (*word != '#' || (len > 1 && parsing->n > 0))
		return false;
	return parsing->n != 2 || strcmp(parsing->words[0].text, "key") != 0;
}

/* Splits a line into words.  Returns false after reporting an error. */
static bool split(struct parsing *parsing, const char *line, size_t len)
{
	size_t at = 0;

	parsing->n = 0;
	parsing->end_column = (unsigned int)len + 1;
	for (;;) {
		size_t begin;

		while (at < len && is_blank(line[at]))
			at++;
		begin = at;
		while (at < len && !is_blank(line[at]))
			at++;
		if (at == begin || is_comment(parsing, line + begin, at - begin))
			return true;
		if (parsing->n == WORDS_MAX || at - begin >= WORD_MAX ||
			memchr(line + begin, '\0', at - begin)) {
			parsing->end_column = (unsigned int)begin + 1;
			complain(parsing, parsing->n,
				parsing->n == WORDS_MAX
					? "expected the end of the line: it has too many words"
					: "expected a word: this is none");
			return false;
		}
		parsing->words[parsing->n].column = (unsigned int)begin + 1;
		memcpy(parsing->words[parsing->n].text, line + begin, at - begin);
		parsing->words[parsing->n++].text[at - begin] = '\0';
	}
}

static void parse_line(struct parsing *parsing, const char *line, size_t len)
{
	if (!split(parsing, line, len) || !parsing->n)
		return;
	if (!strcmp(parsing->words[0].text, "set"))
		parse_set(parsing);
	else if (!strcmp(parsing->words[0].text, "key"))
		parse_key(parsing);
	else if (!strcmp(parsing->words[0].text, "color"))
		parse_color(parsing);
	else
		expect(parsing, 0, "set, key, color or # and a comment");
}

void config_parse(struct config *config, const char *text, size_t len,
	config_complain_fn *complain_fn, void *ctx)
{
	struct parsing parsing = {.config = config, .complain = complain_fn, .ctx = ctx};

	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t length = end ? (size_t)(end - (text + at)) : len - at;

		parsing.line++;
		parse_line(&parsing, text + at, length);
		at += length + 1;
	}
}
