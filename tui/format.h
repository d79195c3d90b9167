/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * format.h - numbers as people read them on the screen.  Pure functions; any thread.
 *
 * Each returns out, which FORMAT_MAX bytes suffice for.
 */
#ifndef TUI_FORMAT_H
#define TUI_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAX 32

const char *format_count(char out[FORMAT_MAX], uint64_t value); /* 999, 41.2k, 3.07M */
const char *format_bytes(char out[FORMAT_MAX], uint64_t bytes); /* 11 MB */
const char *format_clock(char out[FORMAT_MAX], uint64_t ns); /* 00:01:42 */
const char *format_percent(char out[FORMAT_MAX], double percent); /* 37.8%, 0.0%, 100% */
/* A share in percent: 0.378 is 37.8%, all is 100%, of several CPUs 250.3%. */
const char *format_whole(char out[FORMAT_MAX], double share);
/* part of whole, 0 where whole is 0. */
double format_share(uint64_t part, uint64_t whole);
/* Always the same number for a text, to choose its colour or its place in a table by. */
uint32_t format_hash(const char *text, size_t len);

#endif
