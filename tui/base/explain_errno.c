/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_errno.c - see explain_errno.h.
 */
#include "tui/base/explain_errno.h"

#include <errno.h>
#include <string.h>

/* Replaces texts of the C library that are wrong or too short here. */
static const struct {
	int error;
	const char *text;
} texts[] = {
	{EBADMSG, "it is damaged"},
	{ENOEXEC, "it is of no format that is known here"},
	{EFBIG, "it would be larger than files may be (ulimit -f, or the file system)"},
	{EMFILE, "the limit of open files is reached; raise it with: ulimit -n 1024"},
	{ENFILE, "all processes together have too many files open (sysctl fs.file-max)"},
	{ELOOP,
		"a symbolic link on the way goes in circles, or it or the file was made by "
		"somebody "
		"else in a directory where everybody may write"},
	{ELIBACC, "a library that strobe was built with cannot be loaded"},
	{EUCLEAN, "it is damaged"},
	{EBADF, "it is closed, or not open for this"},
	{EPROTO, "it is damaged"},
	{ETIMEDOUT, "its file system does not answer"},
	{ESTALE, "it was replaced by another file"},
	{EREMOTE, "it is of another machine, and nothing proves that the file here is the same"},
	{EOWNERDEAD, "the process that read it was killed by it"},
	{ECHILD, "the process that reads files cannot be started"},
};

const char *explain_errno(int error)
{
	const int positive = error < 0 ? -error : error;
	const char *text = strerrordesc_np(positive ? positive : EIO);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].error == positive)
			return texts[i].text;
	return text ? text : "unknown error";
}
