/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enumerators.h - values of the running kernel's enumerators.
 *
 * They come from its type information (BTF, see Documentation/bpf/btf.rst).  Any thread.
 *
 * Most print formats of tracepoints have numbers in their lists of names.  Some have the names of
 * enumerators instead, as in "{I_DIRTY_SYNC, "I_DIRTY_SYNC"}" or "{ (1UL << BTRFS_ORDERED_NOCOW),
 * "NOCOW" }".  The content of each BTF file is kept until the program ends.
 */
#ifndef SAMPLER_EVENTS_ENUMERATORS_H
#define SAMPLER_EVENTS_ENUMERATORS_H

#include "sampler/events/spec.h"

#include <stddef.h>

/* Replaces enumerators in the print format of a format file by their numbers; *text is replaced if
 * there are any.  A name stays if it is unknown or has several values.  Returns 0, or -ENOMEM with
 * *text unchanged. */
int enumerators_resolve(const struct system_dirs *system, char **text, size_t *len);

#endif
