/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker.h - the confined process: files in, symbol tables and readable names out.
 *
 * One request at a time, as wire.h has them, until the other side closes.
 */
#ifndef SYMBOLS_WORKER_H
#define SYMBOLS_WORKER_H

/* Confine this process, which is a fresh fork of parent_pid, and serve sock.  Never returns. */
_Noreturn void worker_main(int sock, int parent_pid, unsigned int memory_mb);

/* Tests set it before symbols_new(): called in the worker before it reads each file (fd; a debug file too) or demangles
 * (fd -1, name), to die or hang there. */
extern void (*worker_test_hook)(int fd, const char *name);

#endif
