/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker_unwind.h - the worker's answer to WIRE_UNWIND: an unwind table.
 */
#ifndef SYMBOLS_WORKER_UNWIND_H
#define SYMBOLS_WORKER_UNWIND_H

#include "symbols/wire.h"

/* fds: the file and, perhaps, its debug file (-1: none).  Sets *table, or answer->error. */
void worker_unwind_answer(const struct wire_message *request, const int fds[WIRE_FDS_MAX],
	struct wire_message *answer, int *table);

#endif
