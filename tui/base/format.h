/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * format.h - formats numbers for people.  Pure functions; any thread.
 *
 * Each function with an out parameter returns it.  FORMAT_MAX bytes are enough.
 */
#ifndef TUI_BASE_FORMAT_H
#define TUI_BASE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAX 32

const char *format_count(char out[FORMAT_MAX], uint64_t value); /* 999, 41.2k, 3.07M */
const char *format_bytes(char out[FORMAT_MAX], uint64_t bytes); /* 11 MB */
const char *format_clock(char out[FORMAT_MAX], uint64_t ns); /* 00:01:42 */
const char *format_percent(char out[FORMAT_MAX], double percent); /* 37.8%, 0.0%, 100% */
/* Formats a share in percent: 0.378 is 37.8%, 1 is 100%, 2.503 (several CPUs) is 250.3%. */
const char *format_whole(char out[FORMAT_MAX], double share);
/* Returns part / whole, 0 if whole is 0. */
double format_share(uint64_t part, uint64_t whole);
/* Returns a hash of a text, to choose its colour or its slot in a table. */
uint32_t format_hash(const char *text, size_t len);

#endif
