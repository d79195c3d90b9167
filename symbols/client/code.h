/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code.h - finds source lines, inlined functions and instructions of images known to symbols.h.
 *
 * This half of the client works in the background: its own worker, driven by a second thread, reads
 * DWARF and disassembles.  So a debug file of 500 MB never delays a symbol table.  Both start with
 * the first question.  The worker's spawner is this program executed again, so main() must begin
 * with symbols_main().
 *
 * All functions are for the thread that calls symbols.h.  None blocks, except
 * symbols_source_read().  symbols_collect() takes the answers and then returns
 * SYMBOLS_CHANGED_CODE.
 */
#ifndef SYMBOLS_CLIENT_CODE_H
#define SYMBOLS_CLIENT_CODE_H

#include "symbols/client/symbols.h"
#include "symbols/loader/rights.h"
#include "symbols/wire/codetab.h"
#include "symbols/worker/disasm.h"

/* --- source lines and inlined functions of single addresses --- */

/* Asks for the frames that cover these offsets of a requested image (symbols_request()).  Offsets
 * that are known or asked for already are skipped; all are skipped if the image is known to have no
 * debug information.  While other questions wait, small ones about an image are merged into large
 * ones.  Returns 0, -ENOMEM, or -errno if no thread can be started. */
int symbols_lines_ask(struct symbols *symbols, uint32_t key, const uint64_t *offsets, size_t n);

struct symbols_frame {
	const char *function; /* raw: see symbols_pretty(); "": unknown */
	const char *file; /* full path, raw; "": unknown */
	uint32_t line, column; /* 0: unknown */
	bool inlined;
};

/* Gets the frames of one offset, innermost first; the last one is the function itself.  Fills `out`
 * up to max.  Returns their number, or 0 if no frame is known (yet).  *state is UNASKED, PENDING,
 * READY, NONE (no frames exist) or UNREADABLE.  Strings are borrowed until symbols_free(), and
 * equal ones have the same address. */
size_t symbols_lines(const struct symbols *symbols, uint32_t key, uint64_t offset,
	struct symbols_frame *out, size_t max, enum symbols_state *state);

/* --- the instructions of a function --- */

struct symbols_code_question {
	uint32_t key; /* key of the image */
	uint64_t start, end; /* part of the image, in its offsets; at most SYMBOLS_CODE_BYTES_MAX */
	enum disasm_syntax syntax;
	bool lines; /* with source lines and inlined functions, if there is debug information */
	bool quick; /* with lines: may leave out inlined functions, see symbols_code_is_partial() */
	int32_t pid; /* process with the memory of code without a file (JIT); 0: none */
};
#define SYMBOLS_CODE_BYTES_MAX (4u * 1024 * 1024)

struct symbols_code; /* the answer */

/* Asks for instructions; a repeated question gets the earlier answer.  Recent answers are kept.
 * Returns 0 with *out for symbols_code_release(); -EINVAL if the part is empty or too large;
 * -ENOMEM; or -errno as symbols_lines_ask(). */
int symbols_code_ask(struct symbols *symbols, const struct symbols_code_question *question,
	struct symbols_code **out);
void symbols_code_release(struct symbols *symbols, struct symbols_code *code); /* NULL is a no-op */

/* Returns UNASKED (abandoned: ask again), PENDING, READY, NONE (no code is there) or UNREADABLE.
 * *error is then a positive errno:
 * - ENOENT: the file is not there
 * - EACCES, EPERM: the kernel or the process does not let its code be read
 * - ESRCH: the process has ended
 * - ESTALE: another file is there
 * - EOWNERDEAD: the file killed the worker
 * - ECHILD: no worker can be started
 * - ENOTSUP: an unknown machine, or no libopcodes */
enum symbols_state symbols_code_state(const struct symbols_code *code, int *error);
/* Returns the instructions, after READY; valid until released. */
const struct codetab *symbols_code_table(const struct symbols_code *code);
/* After READY: returns true if there was debug information. */
bool symbols_code_has_lines(const struct symbols_code *code);
/* After READY without lines: returns why debug information could not be read, a positive errno;
 * else 0. */
int symbols_code_lines_error(const struct symbols_code *code);
/* After READY of a quick question: returns true if inlined functions are missing, since they take a
 * second or more.  Ask again without quick to get them. */
bool symbols_code_is_partial(const struct symbols_code *code);

/* --- both --- */

/* Returns the number of waiting questions; those about lines count by packet.  *since_ns: start of
 * the current one (CLOCK_MONOTONIC, 0: none), for a spinner. */
size_t symbols_code_waiting(const struct symbols *symbols, uint64_t *since_ns);
/* Gives up all waiting questions (Esc), those of texts.h, too: they become unasked.  Ends the
 * worker. */
void symbols_code_abandon(struct symbols *symbols);

/* Call it after the debug file of an image has come: missing lines, and instructions, may then be
 * asked for again.  Answers with a holder stay. */
void symbols_code_refresh(struct symbols *symbols, uint32_t key);

/* --- the text of source files --- */

struct symbols_source_text {
	char *bytes; /* the whole file, NUL at the end; lines are as in the file */
	size_t len;
	uint64_t mtime_ns;
};
/* Decides which files an image's debug information may name. */
struct symbols_source_origin {
	int32_t pid; /* a process that maps the image; 0: none */
	struct symbols_rights rights;
};
/* Returns the rights of an image after its lines came; NONE before. */
struct symbols_rights symbols_source_rights(const struct symbols *symbols, uint32_t key);

/* Reads a source file as DWARF named it.  Each of `prefixes` ("FROM=TO" or "DIR", ends with NULL)
 * replaces the beginning of the name or precedes it.  Then the rights decide: the path here, or
 * below the process's root.  For other users' images no name leads out of a prefix.  Only regular
 * files of at most 64 MiB.  Blocks on the disk; texts.h does not.  Returns 0 with *out; the caller
 * frees out->bytes with free(3).  Returns -ENOENT, -EACCES or -errno. */
int symbols_source_read(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, struct symbols_source_text *out);

#endif
