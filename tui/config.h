/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h - the grammar of a configuration, and of the layout that is remembered.
 *
 *	set NAME VALUE                    a setting (enum config_setting)
 *	key VIEW KEY ACTION               a key of an action (keys.h)
 *	color STYLE [FG] [on BG] [bold|dim|underline|reverse ...]
 *
 * One on a line, words separated by blanks; a line that begins with #, and what follows a word that is #, is a
 * comment.  Pure functions on text; any thread.
 */
#ifndef TUI_CONFIG_H
#define TUI_CONFIG_H

#include "tui/keys.h"
#include "tui/query.h"
#include "tui/theme.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Choices are the number of their word in the order of config.c, switches 0 and 1. */
enum config_setting {
	CONFIG_THEME, /* enum theme_kind */
	CONFIG_ASCII,
	CONFIG_MOUSE,
	CONFIG_HIDE_IDLE,
	CONFIG_SORT, /* self, total */
	CONFIG_RATE, /* Hz */
	CONFIG_WINDOW, /* of the live window, in tenths of a second: a slice of the store */
	CONFIG_CODE, /* enum annotate_mode */
	CONFIG_SYNTAX, /* att, intel */
	CONFIG_CALLS, /* enum calls_shape */
	CONFIG_GROUP, /* process, thread, cpu: enum query_group */
	CONFIG_ROWS, /* of the table: config_rows[] */
	CONFIG_SETTINGS
};

/* What the rows are, by value of CONFIG_ROWS. */
extern const enum query_group config_rows[];
#define CONFIG_ROWS_N 8u

#define CONFIG_BINDINGS_MAX 256
#define CONFIG_TEXT_MAX (256u << 10) /* bytes of a file that are worth reading */

struct config_key {
	enum keys_view view;
	uint32_t key; /* 0: none */
	enum action action;
	unsigned int line, column; /* of the action */
};

struct config {
	unsigned int given; /* bits 1u << enum config_setting */
	uint32_t values[CONFIG_SETTINGS];
	struct config_key keys[CONFIG_BINDINGS_MAX];
	size_t n_keys;
	struct theme_custom colors;
};

/* A sentence about a place, lines and columns from 1; what it quotes is cleaned. */
typedef void config_complain_fn(
	unsigned int line, unsigned int column, const char *sentence, void *ctx);

/* Adds to *config what text says (which starts as zeros); a line that is not understood is complained of and left out, whole. */
void config_parse(struct config *config, const char *text, size_t len, config_complain_fn *complain,
	void *ctx);

/* Settings as text that config_parse() reads back.  0 or -EIO. */
int config_write(FILE *out, const struct config *config);

/* "theme"; and the value as it is written. */
const char *config_setting_name(enum config_setting setting);
void config_value_text(enum config_setting setting, uint32_t value, char *out, size_t size);

/* The value of a word; -EINVAL and the sentence otherwise (cleaned). */
int config_value_of(
	enum config_setting setting, const char *word, uint32_t *out, char *sentence, size_t size);

#endif
