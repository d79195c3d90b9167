/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * worker.h - the confined process: takes files, answers with symbol tables and demangled names.
 *
 * It serves one request (wire.h) at a time until the other side closes the socket.
 */
#ifndef SYMBOLS_WORKER_WORKER_H
#define SYMBOLS_WORKER_WORKER_H

/* Confines this process, a fresh fork of parent_pid, and serves sock.  Never returns. */
_Noreturn void worker_main(int sock, int parent_pid, unsigned int memory_mb);

/* Tests set this before symbols_new(), to die or hang in the worker.  It is called before each file
 * is read (fd; debug files, too) or a name is demangled (fd -1). */
extern void (*worker_test_hook)(int fd, const char *name);

#endif
