/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packed.h - replaces files that are packed as a whole, such as kernel modules, by their
 * contents.
 *
 * Runs in the worker, whose only thread keeps the last one unpacked for the next request.
 */
#ifndef SYMBOLS_WORKER_PACKED_H
#define SYMBOLS_WORKER_PACKED_H

/* Returns fd itself if it is negative or its file is not packed.  Otherwise returns an fd of the
 * unpacked file, owned here and valid until another file is unpacked.  Returns -errno if the file
 * is broken or too large. */
int worker_unpacked(int fd);

#endif
