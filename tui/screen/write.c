/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * write.c - writes files: the screen as text or picture, and exports of the window's
 * samples.
 */
#include "symbols/base/thread.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/export/name.h"
#include "tui/export/outfile.h"
#include "tui/model/commands.h"
#include "tui/screen/screen.h"
#include "tui/session/export_format.h"
#include "tui/terminal/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WRITE_WAIT_MS 2000u /* the screen is blocked meanwhile */

/* A picture that a thread writes, because the file system may never answer. */
struct writing {
	struct thread thread;
	char *path, *bytes;
	size_t len;
	int ret;
};

/* Returns "strobe-20261121-065031" in local time, with an ending. */
static void default_name(char *out, size_t size, const char *ending)
{
	char base[40] = "strobe";
	struct tm tm;
	time_t now = time(NULL);

	if (localtime_r(&now, &tm))
		strftime(base, sizeof(base), "strobe-%Y%m%d-%H%M%S", &tm);
	snprintf(out, size, "%s%s", base, ending);
}

unsigned int screen_ask_file(struct screen *screen, enum action purpose)
{
	char name[64];

	default_name(name, sizeof(name), purpose == ACT_WRITE ? ".txt" : ".svg");
	screen_prompt(screen, purpose, purpose == ACT_WRITE ? "Screen to: " : "Export to: ", name);
	return VIEW_HANDLED;
}

static void told(struct screen *screen, int ret, const char *text)
{
	logbook_add(&screen->model->log, screen->model->now_ns, ret ? EXPLAIN_ERROR : EXPLAIN_INFO,
		false, text);
	screen_message(screen, ret ? STYLE_BAD : STYLE_GOOD, "%s", text);
}

static void drop_writing(void *arg)
{
	struct writing *writing = arg;

	free(writing->path);
	free(writing->bytes);
	free(writing);
}

static void run_writing(void *arg)
{
	struct writing *writing = arg;
	struct outfile out;
	int ret = outfile_open(&out, writing->path, OUTFILE_PUBLIC);

	if (!ret) {
		const size_t done = fwrite(writing->bytes, 1, writing->len, out.file);
		ret = outfile_end(&out, done == writing->len ? 0 : -EIO);
	}
	writing->ret = ret;
}

static int draw_picture(struct writing *writing, const struct screen *screen)
{
	FILE *out = open_memstream(&writing->bytes, &writing->len);

	if (!out)
		return -ENOMEM;
	const int ret =
		picture_write(out, &screen->canvas, &screen->theme, picture_form_of(writing->path));
	/* fclose() succeeds even if there was no memory for the bytes. */
	return fclose(out) || ret || !writing->bytes ? -ENOMEM : 0;
}

/* Returns 0, -errno, or -ETIMEDOUT if the write goes on in its thread, which frees the data. */
static int write_picture(const struct screen *screen, const char *path)
{
	struct writing *writing = calloc(1, sizeof(*writing));
	int ret = -ENOMEM;

	if (!writing)
		return ret;
	writing->path = strdup(path);
	if (writing->path)
		ret = draw_picture(writing, screen);
	if (!ret)
		ret = thread_start(
			&writing->thread, "strobe-write", run_writing, drop_writing, writing);
	if (!ret) {
		if (!thread_wait(&writing->thread, WRITE_WAIT_MS))
			return -ETIMEDOUT;
		ret = writing->ret;
	}
	drop_writing(writing);
	return ret;
}

static void write_screen(struct screen *screen, const char *path)
{
	char name[CLEAN_PATH_BYTES], text[400];
	int ret;

	clean_path(name, path);
	/* Removes the prompt and the last message first. */
	screen->message_until_ns = 0;
	screen_draw(screen);
	ret = write_picture(screen, path);
	if (ret)
		snprintf(text, sizeof(text), "The screen cannot be written to %s: %s", name,
			explain_errno(ret));
	else
		snprintf(text, sizeof(text), "The screen was written to %s", name);
	told(screen, ret, text);
}

static void export_to(struct screen *screen, const char *typed)
{
	enum export_format format;
	const char *path;
	char text[400];
	int ret = export_name_parse(typed, &format, &path, text, sizeof(text));

	if (!ret)
		ret = screen->model->commands->export_window(
			screen->model, path, format, text, sizeof(text));
	if (ret)
		told(screen, ret, text);
	else
		screen->exporting = true;
}

void screen_write_file(struct screen *screen, enum action purpose, const char *text)
{
	while (*text == ' ')
		text++;
	if (!*text)
		return;
	if (purpose == ACT_WRITE)
		write_screen(screen, text);
	else
		export_to(screen, text);
}
