/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind.h - answers WIRE_UNWIND with an unwind table.  Runs in the worker. */
#ifndef SYMBOLS_WORKER_UNWIND_H
#define SYMBOLS_WORKER_UNWIND_H

#include "symbols/wire/wire.h"

/* fds: the file and its debug file (-1 if none).  Sets *table, which the caller closes, or
 * answer->error. */
void worker_unwind_answer(const struct wire_message *request, const int fds[WIRE_FDS_MAX],
	struct wire_message *answer, int *table);

#endif
