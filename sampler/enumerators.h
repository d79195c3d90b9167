/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * enumerators.h - what the running kernel's enumerators are: its type information (BTF, Documentation/bpf/btf.rst).
 *
 * Formats of tracepoints have enumerators by name in their lists, "{I_DIRTY_SYNC, "I_DIRTY_SYNC"}", where their author forgot
 * TRACE_DEFINE_ENUM(), which would have made the kernel write numbers.  No state; any thread.
 */
#ifndef SAMPLER_ENUMERATORS_H
#define SAMPLER_ENUMERATORS_H

#include "sampler/event.h"

#include <stddef.h>

/* Replace such names in the text of a format file, which is allocated anew, by their numbers.  A name that is not known, or is
 * several numbers, stays.  0 or -ENOMEM, with *text as it was. */
int enumerators_resolve(const struct event_system *system, char **text, size_t *len);

#endif
