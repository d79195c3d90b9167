/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ingest_ends.h - judges how the callchains of samples end; only for ingest.c. */
#ifndef SAMPLER_STORE_INGEST_ENDS_H
#define SAMPLER_STORE_INGEST_ENDS_H

#include "sampler/store/ingest.h"

/* Judges the chain of a sample without a stack copy.  Returns UNWIND_UNTRIED if nothing is
 * known. */
enum unwind_end ingest_find_end(struct ingest *ingest, const struct space *space,
	const struct record_sample *sample, uint8_t event);

#endif
