/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code.h - source lines, inlined functions and instructions of images known to symbols.h, found
 * in the background.
 *
 * The other half of the client: what is asked for here is read from DWARF or disassembled by a
 * worker of its own, at the order of a second thread, so that a debug file of 500 MB never keeps
 * a symbol table waiting.  Both start with the first question; the worker is forked by this
 * program executed anew, so that main() has to begin with symbols_main().
 * All functions are for the thread that calls symbols.h, and never block, but for
 * symbols_source_read().  Answers come in with symbols_collect(), which then returns
 * SYMBOLS_CHANGED_CODE.
 */
#ifndef SYMBOLS_CODE_H
#define SYMBOLS_CODE_H

#include "symbols/codetab.h"
#include "symbols/disasm.h"
#include "symbols/rights.h"
#include "symbols/symbols.h"

/* --- source lines and inlined functions of single addresses --- */

/* Ask for what covers these offsets of an image that was requested (symbols_request()); those
 * that are known or asked for already are passed over, and so are all where the image is known
 * to have no debug information.  Many small questions about an image become few large ones while
 * others wait. 0, -ENOMEM, or -errno where no thread can be started. */
int symbols_lines_ask(struct symbols *symbols, uint32_t key, const uint64_t *offsets, size_t n);

struct symbols_frame {
	const char *function; /* raw: see symbols_pretty(); "": not known */
	const char *file; /* full path, raw; "": not known */
	uint32_t line, column; /* 0: not known */
	bool inlined;
};

/* The frames of one offset, innermost first; the last one is the function itself.  Returns their
 * number, 0 where nothing is known (yet); *state tells which: UNASKED, PENDING, READY, NONE
 * (there is nothing to be known), UNREADABLE.  out is filled up to max.  What frames point to is
 * borrowed until symbols_free(), and a string is the same one wherever it comes from. */
size_t symbols_lines(const struct symbols *symbols, uint32_t key, uint64_t offset,
	struct symbols_frame *out, size_t max, enum symbols_state *state);

/* --- the instructions of a function --- */

struct symbols_code_question {
	uint32_t key; /* of the image */
	uint64_t start, end; /* its part, in the image's offsets; at most SYMBOLS_CODE_BYTES_MAX */
	enum disasm_syntax syntax;
	bool lines; /* with source lines and inlined functions, where there is debug information */
	bool quick; /* with lines: inlined functions may be missing, see symbols_code_is_partial() */
	int32_t pid; /* of code without a file (JIT): whose memory it is in; 0: none */
};
#define SYMBOLS_CODE_BYTES_MAX (4u * 1024 * 1024)

struct symbols_code; /* the answer */

/* Ask; a question that was asked before gives the same answer again.  Recent answers are kept.
 * 0 with *out for symbols_code_release(); -EINVAL: no part, or too large; -ENOMEM; -errno as
 * above. */
int symbols_code_ask(struct symbols *symbols, const struct symbols_code_question *question,
	struct symbols_code **out);
void symbols_code_release(struct symbols *symbols, struct symbols_code *code); /* NULL is a no-op */

/* UNASKED (given up: to be asked again), PENDING, READY, NONE (no code is there), UNREADABLE
 * with *error, a positive errno: ENOENT: the file is not there, EACCES, EPERM: the kernel or the
 * process does not let its code be read, ESRCH: the process has ended, ESTALE: the file is
 * another, EOWNERDEAD: it killed the worker, ECHILD: there can be no worker, ENOTSUP: an unknown
 * machine, or no libopcodes. */
enum symbols_state symbols_code_state(const struct symbols_code *code, int *error);
/* With READY: valid until released. */
const struct codetab *symbols_code_table(const struct symbols_code *code);
/* With READY: whether there was debug information. */
bool symbols_code_has_lines(const struct symbols_code *code);
/* With READY, without lines: why debug information could not be read, a positive errno; else 0. */
int symbols_code_lines_error(const struct symbols_code *code);
/* With READY, of a quick question: lines were at hand, but inlined functions are not told, since
 * that takes a second or more: to be asked for by the same question without quick. */
bool symbols_code_is_partial(const struct symbols_code *code);

/* --- both --- */

/* How many questions wait (of lines: packets of them), and since when the one at work does
 * (CLOCK_MONOTONIC, 0: none), for a spinner. */
size_t symbols_code_waiting(const struct symbols *symbols, uint64_t *since_ns);
/* Give up all that waits (Esc): the questions become unasked, also those of texts.h, the worker is ended. */
void symbols_code_abandon(struct symbols *symbols);

/* More has become known of an image, as its debug file has come: what was not there may be asked
 * again, and instructions too.  Answers that are held stay. */
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

/* Read a source file as DWARF named it.  Each of `prefixes` ("FROM=TO" or "DIR", ends with NULL)
 * replaces the beginning of the name or precedes it.  Then the rights decide: the path here, or
 * below the process's root.  For others' images no name leads out of a prefix.  Only regular files
 * of at most 64 MiB.  Blocks on the disk; texts.h does not.  Returns 0 with *out, whose bytes the
 * caller frees with free(3); -ENOENT, -EACCES, -errno. */
int symbols_source_read(const struct symbols_source_origin *origin, const char *file,
	const char *const *prefixes, struct symbols_source_text *out);

#endif
