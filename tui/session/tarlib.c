/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tarlib.c - see tarlib.h.
 */
#include "tui/session/tarlib.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static struct tarlib functions;

static bool find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	/* ISO C cannot convert a pointer to an object into a pointer to a function. */
	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static bool load(void)
{
	void *library = dlopen("libarchive.so.13", RTLD_LAZY | RTLD_LOCAL);
	bool found = true;

	if (!library)
		return false;
#define TARLIB_FIND(name) found &= find(library, #name, &functions.name);
	TARLIB_FUNCTIONS(TARLIB_FIND)
#undef TARLIB_FIND
	if (!found)
		dlclose(library);
	return found;
}

const struct tarlib *tarlib(void)
{
	static enum { UNTRIED, LOADED, MISSING } state;

	if (state == UNTRIED)
		state = load() ? LOADED : MISSING;
	return state == LOADED ? &functions : NULL;
}

/* The dynamic linker reports no errno, so this tests for free descriptors. */
int tarlib_error(void)
{
	const int fd = open("/", O_PATH | O_CLOEXEC);
	const int error = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return error == EMFILE || error == ENFILE ? -error : -ELIBACC;
}
