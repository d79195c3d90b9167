/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h - the grammar of a configuration, and of the saved layout.
 *
 * set NAME VALUE                    a setting (enum config_setting)
 * key VIEW KEY ACTION               a key of an action (keys.h)
 * color STYLE [FG] [on BG] [bold|dim|underline|reverse ...]
 *
 * One statement per line, with words separated by blanks.  A line that begins with # is a comment,
 * and so is everything after a word #.  Pure functions on text; any thread.
 */
#ifndef TUI_OPTIONS_CONFIG_H
#define TUI_OPTIONS_CONFIG_H

#include "tui/controls/keys.h"
#include "tui/controls/theme.h"
#include "tui/query/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A choice is the index of its word in config.c; a switch is 0 or 1. */
enum config_setting {
	CONFIG_THEME, /* enum theme_kind */
	CONFIG_ASCII,
	CONFIG_MOUSE,
	CONFIG_HIDE_IDLE,
	CONFIG_SORT, /* self, total */
	CONFIG_RATE, /* Hz */
	/* length of the live window in tenths of a second, the length of a store slice */
	CONFIG_WINDOW,
	CONFIG_CODE, /* enum annotate_mode */
	CONFIG_SYNTAX, /* att, intel */
	CONFIG_CALLS, /* enum calls_shape */
	CONFIG_GROUP, /* process, thread, cpu: enum query_group */
	/* rows of the table: index into config_rows[] */
	CONFIG_ROWS,
	CONFIG_SETTINGS
};

/* The grouping for each value of CONFIG_ROWS. */
extern const enum query_group config_rows[];
#define CONFIG_ROWS_N 8u

#define CONFIG_BINDINGS_MAX 256
#define CONFIG_TEXT_MAX (256u << 10) /* most bytes of a file to read */

struct config_key {
	enum keys_view view;
	uint32_t key; /* 0: none */
	enum action action;
	unsigned int line, column; /* position of the action */
};

struct config {
	unsigned int given; /* bits 1u << enum config_setting */
	uint32_t values[CONFIG_SETTINGS];
	struct config_key keys[CONFIG_BINDINGS_MAX];
	size_t n_keys;
	struct theme_custom colors;
};

/* Takes a sentence about a position; lines and columns count from 1.  Quoted text is cleaned. */
typedef void config_complain_fn(
	unsigned int line, unsigned int column, const char *sentence, void *ctx);

/* Adds the text's statements to *config, which starts as zeros.  A line with an error is reported
 * and ignored as a whole. */
void config_parse(struct config *config, const char *text, size_t len, config_complain_fn *complain,
	void *ctx);

/* Writes the settings as text that config_parse() reads.  Returns 0 or -EIO. */
int config_write(FILE *out, const struct config *config);

/* Return the name of a setting, "theme", or format its value for the file. */
const char *config_setting_name(enum config_setting setting);
void config_value_text(enum config_setting setting, uint32_t value, char *out, size_t size);

/* Converts a word into a value.  Returns 0, or -EINVAL with a cleaned sentence. */
int config_value_of(
	enum config_setting setting, const char *word, uint32_t *out, char *sentence, size_t size);

#endif
