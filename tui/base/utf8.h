/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * utf8.h - characters of UTF-8 (RFC 3629).  Pure functions; any thread.
 */
#ifndef TUI_BASE_UTF8_H
#define TUI_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Gets the character at text, which has len bytes, or ends with a NUL before.  Returns its bytes;
 * 0, and no *glyph, for bytes that are not well-formed. */
size_t utf8_decode(const char *text, size_t len, uint32_t *glyph);

/* Writes a character without a NUL.  Returns its bytes. */
size_t utf8_encode(uint32_t glyph, char out[4]);

#endif
