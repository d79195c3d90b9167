/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pfm.h - libpfm4, which knows the events of processors by the names of their manuals.
 *
 * It is loaded with the first question, and stays.  Any thread.
 */
#ifndef SAMPLER_PFM_H
#define SAMPLER_PFM_H

#include <linux/perf_event.h>

/* Put the event's type, config* and exclude_* into *attr.  0; -ENOPKG: the library is not installed; -ENOENT: it has no
 * such event on this machine; -EINVAL: it has, but not with these attributes; -ENOMEM. */
int pfm_encode(const char *name, struct perf_event_attr *attr);

#endif
