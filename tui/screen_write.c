/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * screen_write.c - what the screen puts into files: itself as text or picture, and the window's samples in other tools' forms.
 */
#include "tui/clean.h"
#include "tui/export/outfile.h"
#include "tui/export_name.h"
#include "tui/picture.h"
#include "tui/screen.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* "strobe-20261121-065031" and an ending, of the local time. */
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

static void write_screen(struct screen *screen, const char *path)
{
	struct outfile out;
	char name[300], text[400];
	int ret;

	clean_string(name, sizeof(name), path);
	/* Without the prompt, and the message before it. */
	screen->message_until_ns = 0;
	screen_draw(screen);
	ret = outfile_open(&out, path);
	if (!ret) {
		errno = 0;
		ret = outfile_end(&out,
			picture_write(
				out.file, &screen->canvas, &screen->theme, picture_form_of(path)));
	}
	if (ret)
		snprintf(text, sizeof(text), "The screen cannot be written to %s: %s", name,
			strerror(-ret));
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
		ret = screen->model->ops->export_window(
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
