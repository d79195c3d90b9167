/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names_rules.h - what the name of a function alone tells, for names.c.  Pure.
 */
#ifndef TUI_NAMES_RULES_H
#define TUI_NAMES_RULES_H

#include <stdbool.h>

/* Where x86 and arm64 spend the time in which there is nothing to do. */
bool names_is_idle(const char *name);

/* C++ (_Z, __Z of Mach-O-minded tools), Rust (_R) and D (_D). */
bool names_may_be_mangled(const char *name);

/* The root of a chain that breaks off, which is at no address. */
bool names_is_truncated(const char *name);

/* What a function that the kernel made is part of, as /proc/kallsyms has it: "[bpf]". */
const char *names_ksymbol_module(const char *name);

#endif
