/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pfm.h - event encodings by libpfm4, which knows the event names of processor manuals.
 *
 * The library is loaded on the first call and stays loaded.  Any thread.
 */
#ifndef SAMPLER_MACHINE_PFM_H
#define SAMPLER_MACHINE_PFM_H

#include <linux/perf_event.h>

/* Sets the event's type, config* and exclude_* in *attr.  Returns 0; -ENOPKG: the library is not
 * installed; -ENOENT: no such event on this machine; -EINVAL: the event exists, but not with these
 * attributes; -ENOMEM. */
int pfm_encode(const char *name, struct perf_event_attr *attr);

#endif
