/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files.c - which words of the command line are recordings, and whether these can be read.
 *
 * Files are opened only to check them, and closed again.  The code that loads a file opens it
 * again.
 */
#include "tui/base/grow.h"
#include "tui/options/private.h"

#include "sampler/perfdata/reader.h"
#include "symbols/base/timedopen.h"
#include "tui/base/explain_errno.h"
#include "tui/export/outpath.h"
#include "tui/session/request.h"
#include "tui/session/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks a directory: perf record --threads writes the header to its file "data". */
static enum args_kind directory_kind(const char *path, int *error)
{
	struct stat about;
	char *header;
	int error_there;
	enum args_kind kind = ARGS_NO_FILE;

	*error = EISDIR;
	if (asprintf(&header, "%s/data", path) < 0)
		return kind;
	/* Report the error: the directory may be a recording, which perf makes accessible to its
	 * owner alone. */
	const int missing = timedopen_stat(header, &about);
	if (missing) {
		if (missing != -ENOENT)
			*error = -missing;
	} else if (S_ISREG(about.st_mode)) {
		kind = args_file_kind(header, &error_there);
		if (kind == ARGS_PERFDATA || kind == ARGS_NO_FILE)
			*error = error_there;
	}
	free(header);
	return kind == ARGS_PERFDATA ? kind : ARGS_NO_FILE;
}

enum args_kind args_file_kind(const char *path, int *error)
{
	enum args_kind kind = ARGS_NO_FILE;
	unsigned char bytes[ARCHIVE_MAGIC_MAX];
	struct stat about;
	ssize_t len;
	int fd;

	*error = 0;
	if (!strcmp(path, "-"))
		return ARGS_STREAM;
	*error = -timedopen_stat(path, &about);
	if (*error)
		return kind;
	/* Data read from a pipe would be lost for the next reader. */
	if (S_ISFIFO(about.st_mode))
		return ARGS_STREAM;
	if (S_ISDIR(about.st_mode))
		return directory_kind(path, error);
	if (!S_ISREG(about.st_mode)) {
		*error = EINVAL;
		return kind;
	}
	/* A file system may know the file's attributes and still not answer. */
	fd = timedopen(AT_FDCWD, path, 0, true, &about);
	len = fd < 0 ? fd : timedopen_read(fd, 0, bytes, sizeof(bytes));
	if (len < 0)
		*error = (int)-len;
	else if (reader_is_magic(bytes, (size_t)len))
		kind = ARGS_PERFDATA;
	else if (unpacked_is_magic(bytes, (size_t)len))
		kind = ARGS_ARCHIVE_FILE;
	else
		kind = ARGS_OTHER_FILE;
	if (kind == ARGS_OTHER_FILE)
		*error = !len					   ? ENODATA
			: reader_is_compressed(bytes, (size_t)len) ? EMEDIUMTYPE
								   : 0;
	if (fd >= 0)
		close(fd);
	return kind;
}

/* Returns 0 if path is a program that may be run, -ETIMEDOUT, or another -errno. */
static int try_command(const char *path)
{
	struct stat about;
	const int ret = timedopen_stat(path, &about);

	if (ret)
		return ret;
	if (!S_ISREG(about.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return -EACCES;
	const int fd = timedopen(AT_FDCWD, path, 0, true, NULL);
	if (fd >= 0)
		close(fd);
	/* It may be run without the right to read it. */
	return fd == -ETIMEDOUT ? fd : 0;
}

/* Searches for the program as execvp(3) does, up to a directory that does not answer.  Returns 0,
 * -ETIMEDOUT, or -ENOENT, and in file the path that was tried last. */
static int find_command(const char *word, char file[PATH_MAX])
{
	const char *path = getenv("PATH");

	if (strchr(word, '/')) {
		snprintf(file, PATH_MAX, "%s", word);
		return try_command(word);
	}
	for (path = path ? path : "/bin:/usr/bin"; *word; path++) {
		const size_t len = strcspn(path, ":");
		const int n =
			snprintf(file, PATH_MAX, "%.*s%s%s", (int)len, path, len ? "/" : "", word);
		const int ret = n < PATH_MAX ? try_command(file) : -ENAMETOOLONG;

		if (!ret || ret == -ETIMEDOUT)
			return ret;
		path += len;
		if (!*path)
			break;
	}
	return -ENOENT;
}

/* A command on a file system that does not answer is one, too: check_command() refuses it. */
static bool is_command(const char *word)
{
	char file[PATH_MAX];
	const int ret = find_command(word, file);

	return !ret || ret == -ETIMEDOUT;
}

/* Returns the reason why a file is no recording. */
static const char *why_not(enum args_kind kind, int error)
{
	switch (error) {
	case ENODATA:
		return "it is empty";
	case EMEDIUMTYPE:
		return "it is compressed: unpack it first";
	case ENOENT:
		return "there is no such file";
	case EISDIR:
		return "it is a directory without a recording of perf in it";
	case EINVAL:
		return "it is no regular file";
	default:
		return kind == ARGS_OTHER_FILE ? "it does not begin as a perf.data file"
					       : explain_errno(error);
	}
}

int args_add_file(struct args *args, char *path)
{
	struct request *request = &args->request;

	if (request->command != CMD_DIFF && request->n_files)
		return args_refuse(args, "'%s': strobe %s takes one recording, and has '%s'%s",
			path, args_command_name((int)request->command), request->files[0],
			request->command == CMD_ARCHIVE ? "" : "; strobe diff compares several");
	if (grow_exact(&request->files, request->n_files + 1, sizeof(*request->files)))
		return args_no_memory(args);
	request->files[request->n_files++] = path;
	return 0;
}

static bool is_directory(const char *word)
{
	struct stat about;

	return !timedopen_stat(word, &about) && S_ISDIR(about.st_mode);
}

/* Returns true if a word cannot be a function name, so it is a file, even a missing one.  Names in
 * Go contain slashes. */
static bool is_path(const char *word)
{
	size_t len = strlen(word);

	return *word == '/' || !strncmp(word, "./", 2) || !strncmp(word, "../", 3) ||
		(len > 5 && !strcmp(word + len - 5, ".data")) ||
		(strchr(word, '/') && is_directory(word));
}

/* Two words cannot both be functions.  If one names a file, the user meant it as the recording. */
static int refuse_second_symbol(struct args *args, const char *word)
{
	const char *const words[] = {args->request.symbol, word};
	int error;

	for (size_t i = 0; i < 2 && !args->request.n_files; i++)
		if (args_file_kind(words[i], &error) == ARGS_OTHER_FILE)
			return args_refuse(args, "'%s' is not a recording: %s", words[i],
				why_not(ARGS_OTHER_FILE, error));
	return args_refuse(args,
		"'%s': strobe annotate takes one symbol, and has '%s'; a command comes after --",
		word, args->request.symbol);
}

/* Takes the word as a recording if none is given yet, else as the symbol. */
static int take_annotate_word(struct args *args, char *word)
{
	struct request *request = &args->request;
	int error;
	enum args_kind kind = args_file_kind(word, &error);

	if (!request->n_files &&
		(kind == ARGS_PERFDATA || kind == ARGS_ARCHIVE_FILE || kind == ARGS_STREAM ||
			is_path(word) || (request->symbol && is_directory(word))))
		return args_add_file(args, word);
	/* A function may have the name of a directory, but two words cannot both be functions. */
	if (request->symbol && !request->n_files && is_directory(request->symbol)) {
		error = args_add_file(args, (char *)(uintptr_t)request->symbol);
		request->symbol = word;
		return error;
	}
	if (request->symbol)
		return refuse_second_symbol(args, word);
	if (!*word)
		return args_refuse(args, "'': the name of a symbol is missing");
	request->symbol = word;
	return 0;
}

int args_take_word(struct args *args, char *word, bool *taken)
{
	struct request *request = &args->request;
	bool takes_files = request->command != CMD_RECORD && request->command != CMD_STAT;
	bool all_files = request->command == CMD_DIFF || request->command == CMD_ARCHIVE;
	enum args_kind kind;
	int error;

	*taken = true;
	if (request->command == CMD_ANNOTATE)
		return take_annotate_word(args, word);
	if (request->command == CMD_LIST) {
		if (request->pattern)
			return args_refuse(args, "'%s': list takes one pattern", word);
		request->pattern = word;
		return 0;
	}
	if (all_files || request->n_files)
		return args_add_file(args, word);
	kind = args_file_kind(word, &error);
	if (takes_files &&
		(kind == ARGS_PERFDATA || kind == ARGS_ARCHIVE_FILE || kind == ARGS_STREAM))
		return args_add_file(args, word);
	*taken = false;
	if (is_command(word))
		return 0;
	if (kind == ARGS_NO_FILE && is_directory(word))
		return args_refuse(args, "'%s' is not a recording: %s", word, why_not(kind, error));
	if (!takes_files)
		return kind == ARGS_PERFDATA
			? args_refuse(args, "'%s' is a recording already: strobe %s takes a target",
				  word, args_command_name((int)request->command))
			: args_refuse(args, "'%s' is no command %s", word,
				  strchr(word, '/') ? "that can be run" : "found in PATH");
	return args_refuse(args, "'%s' is neither a recording (%s) nor a command %s", word,
		why_not(kind, error), strchr(word, '/') ? "that can be run" : "found in PATH");
}

/* Refuses a path that is no directory. */
static int check_directory(struct args *args, const char *option, const char *path)
{
	struct stat about;
	const int ret = timedopen_stat(path, &about);

	if (ret == 0 && S_ISDIR(about.st_mode))
		return 0;
	return args_refuse(args, "%s '%s': %s", option, path,
		ret == 0 || ret == -ENOENT || ret == -ENOTDIR ? "there is no such directory"
							      : explain_errno(ret));
}

/* Checks the directory of the output now, since hours of samples would be lost without it. */
static int check_folder(struct args *args, const char *output)
{
	const char *slash = strrchr(output, '/');
	struct stat folder;
	char *path;
	bool good;

	if (!slash || slash == output)
		return 0;
	path = strndup(output, (size_t)(slash - output));
	good = !path || (!timedopen_stat(path, &folder) && S_ISDIR(folder.st_mode));
	free(path);
	return good ? 0
		    : args_refuse(args, "-o '%s': there is no directory '%.*s'", output,
			      (int)(slash - output), output);
}

static int check_output(struct args *args)
{
	struct request *request = &args->request;
	const char *output = request->output;
	struct outpath place;
	struct stat to, from;
	int ret;

	if (!output || !strcmp(output, "-"))
		return 0;
	if (!*output)
		return args_refuse(args, "-o '': the name of a file is missing");
	ret = timedopen_stat(output, &to);
	if (ret == -ETIMEDOUT)
		return args_refuse(args, "-o '%s': %s", output, explain_errno(ret));
	if (outpath_find(&place, output) == -ELOOP)
		return args_refuse(args, "-o '%s': %s", output, explain_errno(ELOOP));
	outpath_close(&place);
	if (ret)
		return check_folder(args, output);
	if (S_ISDIR(to.st_mode))
		return args_refuse(args, "-o '%s': it is a directory", output);
	/* The output would truncate the recording before it is read. */
	for (size_t i = 0; i < request->n_files && S_ISREG(to.st_mode); i++)
		if (strcmp(request->files[i], "-") && !timedopen_stat(request->files[i], &from) &&
			from.st_dev == to.st_dev && from.st_ino == to.st_ino)
			return args_refuse(
				args, "-o '%s': it is the recording that is read", output);
	return 0;
}

/* Without a target or recording the word must be a file: sampling the whole machine for hours is
 * hardly intended. */
static int check_symbol(struct args *args)
{
	struct request *request = &args->request;
	int error;
	enum args_kind kind;

	if (!request->symbol || request->n_files || !request->target_by_default)
		return 0;
	kind = args_file_kind(request->symbol, &error);
	if (kind == ARGS_NO_FILE && error == ENOENT)
		return 0;
	return args_refuse(args,
		"'%s' is not a recording: %s. If it is a function, say where: -a is the whole "
		"machine",
		request->symbol, why_not(kind, error));
}

/* If the command's file system hangs, its process could not be killed while it executes the
 * program. */
static int check_command(struct args *args)
{
	char *const *command = args->request.engine.target.command;
	char file[PATH_MAX];
	int ret;

	if (!command)
		return 0;
	ret = find_command(command[0], file);
	return ret == -ETIMEDOUT ? args_refuse(args, "'%s': %s", file, explain_errno(ret)) : 0;
}

int args_check_files(struct args *args)
{
	struct request *request = &args->request;
	struct stat about;
	size_t streams = 0;

	if (check_symbol(args) || check_command(args))
		return -EINVAL;

	if (request->command == CMD_DIFF && request->n_files < 2)
		return request->n_files
			? args_refuse(args,
				  "strobe diff compares recordings: a second one is missing after "
				  "'%s'",
				  request->files[0])
			: args_refuse(args, "strobe diff compares recordings: two are missing");
	if (request->command == CMD_ARCHIVE && !request->n_files)
		return args_refuse(args, "strobe archive: the recording is missing");
	for (size_t i = 0; i < request->n_files; i++) {
		const char *path = request->files[i];
		int error;
		enum args_kind kind = args_file_kind(path, &error);

		if (kind == ARGS_NO_FILE || kind == ARGS_OTHER_FILE)
			return args_refuse(
				args, "'%s' is not a recording: %s", path, why_not(kind, error));
		if (request->command == CMD_ARCHIVE && kind == ARGS_ARCHIVE_FILE)
			return args_refuse(args,
				"'%s' is packed already: it is compressed, or an archive already",
				path);
		if (request->command == CMD_ARCHIVE && !timedopen_stat(path, &about) &&
			S_ISDIR(about.st_mode))
			return args_refuse(args,
				"'%s' is a directory: strobe archive packs recordings that are one "
				"file",
				path);
		if (request->command == CMD_ARCHIVE && kind == ARGS_STREAM)
			return args_refuse(args,
				"'%s': strobe archive reads a recording twice, so it must be a "
				"file",
				path);
		streams += !strcmp(path, "-");
	}
	if (streams > 1)
		return args_refuse(args, "'-': standard input can be read once only");
	if (request->baseline) {
		int error;
		enum args_kind kind = args_file_kind(request->baseline, &error);

		if (kind == ARGS_NO_FILE || kind == ARGS_OTHER_FILE ||
			!strcmp(request->baseline, "-"))
			return args_refuse(args, "--baseline '%s' is not a recording: %s",
				request->baseline,
				strcmp(request->baseline, "-") ? why_not(kind, error)
							       : "name a file");
	}
	if (request->symfs && check_directory(args, "--symfs", request->symfs))
		return -EINVAL;
	return check_output(args);
}

int args_add_debug_dir(struct args *args, const char *text)
{
	struct request *request = &args->request;

	if (check_directory(args, "--debug-dir", text))
		return -EINVAL;
	if (grow_exact(
		    &request->debug_dirs, request->n_debug_dirs + 2, sizeof(*request->debug_dirs)))
		return args_no_memory(args);
	request->debug_dirs[request->n_debug_dirs++] = text;
	request->debug_dirs[request->n_debug_dirs] = NULL;
	return 0;
}

int args_want_debuginfod(struct args *args)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !urls[strspn(urls, " ")])
		return args_refuse(args,
			"--debuginfod: the environment variable DEBUGINFOD_URLS names no server, "
			"such as "
			"https://debuginfod.debian.net");
	args->request.debuginfod = true;
	return 0;
}
