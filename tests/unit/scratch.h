/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.h - makes and removes directories for tests.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directory of a group of tests, between scratch_make() and scratch_remove(). */
static char scratch[32];

static inline int scratch_make(void **state)
{
	(void)state;
	strcpy(scratch, "/tmp/strobe-test-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

/* Fails if a test has left a file in it. */
static inline int scratch_remove(void **state)
{
	(void)state;
	return rmdir(scratch);
}

static inline int scratch_remove_one(
	const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
	(void)status;
	(void)kind;
	(void)ftw;
	return remove(path);
}

/* Removes a directory with its contents.  Returns 0, or another number on failure. */
static inline int scratch_remove_tree(const char *path)
{
	return nftw(path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
