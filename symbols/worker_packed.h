/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker_packed.h - files that are packed as a whole, as kernel modules are: what they hold stands
 * for them.
 *
 * The worker, whose one thread keeps the last of them unpacked for the next question.
 */
#ifndef SYMBOLS_WORKER_PACKED_H
#define SYMBOLS_WORKER_PACKED_H

/* fd itself, which may be -1; or, where its file is packed, an unpacked one, which is kept here,
 * until another is asked for; -errno where that is broken or too large. */
int worker_unpacked(int fd);

#endif
