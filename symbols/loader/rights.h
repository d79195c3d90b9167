/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rights.h - the rights used to open an image's source files, since debug information chose their
 * names.
 *
 * If root or this user owns an image here, its file names are opened by this process.  Other
 * images' names reach only files below the root of their process that the image's owner may read.
 * So another user's program cannot name root's private files.
 */
#ifndef SYMBOLS_LOADER_RIGHTS_H
#define SYMBOLS_LOADER_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

enum symbols_rights_kind {
	SYMBOLS_RIGHTS_NONE, /* open only files below a user's prefix (--source-prefix) */
	SYMBOLS_RIGHTS_USER, /* open with a user's rights */
	SYMBOLS_RIGHTS_OWN, /* open with this process's rights */
};

struct symbols_rights {
	enum symbols_rights_kind kind;
	uid_t user; /* with kind USER */
	bool here; /* below this process's root; else below the mapping process's root */
};

#define RIGHTS_NOBODY 65534 /* an id that owns nothing */

/* Returns the rights that both allow, for an image with debug information in two files. */
struct symbols_rights rights_join(struct symbols_rights a, struct symbols_rights b);

struct rights_before {
	bool changed;
	uid_t user;
	gid_t group;
	gid_t *groups;
	int n_groups;
};

/* Gives this thread alone a user's rights to files, until rights_restore().  Returns 0, without a
 * change if user is this one or if this thread overrides no permissions; -EACCES if the thread is
 * not root or the change fails; -ENOMEM. */
int rights_become(uid_t user, struct rights_before *before);
void rights_restore(struct rights_before *before);

#endif
