/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * settings.c - see settings.h.
 *
 * The layout file has the grammar of the configuration.  It is not written into a directory of
 * another user: on some systems sudo keeps HOME.
 */
#include "tui/screen/settings.h"

#include "sampler/events/event.h"
#include "symbols/base/timedopen.h"
#include "tui/base/clean.h"
#include "tui/base/explain_errno.h"
#include "tui/base/sentence.h"
#include "tui/export/outfile.h"
#include "tui/session/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_MAX 32
#define LINE_MAX_BYTES 400
#define TENTH_NS 100000000u

struct settings {
	struct config config; /* merged from both files */
	char path[PATH_MAX];
	char layout_base[PATH_MAX], layout_path[PATH_MAX]; /* "" if unknown */
	char lines[LINES_MAX][LINE_MAX_BYTES]; /* cleaned messages */
	size_t n_lines;
	bool layout_broken; /* the layout's text has errors */
	int layout_error; /* positive errno of reading the layout; 0 if none */
};

int settings_read(const char *path, size_t max, char **out, size_t *len)
{
	struct stat about;
	int fd, ret = timedopen_stat(path, &about);
	char *text;

	*out = NULL;
	*len = 0;
	if (ret)
		return ret;
	const bool regular = S_ISREG(about.st_mode);
	fd = regular ? timedopen(AT_FDCWD, path, 0, true, NULL)
		     : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return regular ? fd : -errno;
	text = malloc(max + 1);
	if (!text)
		ret = -ENOMEM;
	while (!ret && *len <= max) {
		const size_t room = max + 1 - *len;
		ssize_t n = regular ? timedopen_read(fd, *len, text + *len, room)
				    : read(fd, text + *len, room);

		if (n < 0 && !regular)
			n = -errno;
		if (n == -EINTR)
			continue;
		if (n < 0)
			ret = (int)n;
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	close(fd);
	if (!ret && *len > max)
		ret = -EFBIG;
	if (ret) {
		free(text);
		return ret;
	}
	text[*len] = '\0';
	*out = text;
	return 0;
}

static void add_line(struct settings *settings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_line(struct settings *settings, const char *format, ...)
{
	char raw[2 * LINE_MAX_BYTES];
	va_list args;

	if (settings->n_lines == LINES_MAX)
		return;
	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	clean_string(settings->lines[settings->n_lines++], LINE_MAX_BYTES, raw);
}

static void complain(unsigned int line, unsigned int column, const char *sentence, void *ctx)
{
	struct settings *settings = ctx;

	add_line(settings, "%s: line %u, column %u: %s", settings->path, line, column, sentence);
}

static void find_broken(unsigned int line, unsigned int column, const char *sentence, void *ctx)
{
	struct settings *settings = ctx;

	(void)line;
	(void)column;
	(void)sentence;
	settings->layout_broken = true;
}

/* Makes the path $XDG_NAME/rest or ~/fallback/rest.  base gets the directory whose owner matters.
 * False if neither variable is set. */
static bool place(const char *xdg_name, const char *fallback, const char *rest, char *base,
	char out[PATH_MAX])
{
	const char *xdg = getenv(xdg_name), *home = getenv("HOME");
	int n;

	if (xdg && *xdg == '/')
		n = snprintf(out, PATH_MAX, "%s/%s", xdg, rest);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/%s/%s", home, fallback, rest);
	else
		return false;
	if (base)
		snprintf(base, PATH_MAX, "%s", xdg && *xdg == '/' ? xdg : home);
	if (n > 0 && n < PATH_MAX)
		return true;
	out[0] = '\0';
	return false;
}

static int read_config(struct settings *settings, const struct request *request)
{
	char *text;
	size_t len;
	int ret;

	if (request->config)
		snprintf(settings->path, sizeof(settings->path), "%s", request->config);
	else if (!place("XDG_CONFIG_HOME", ".config", "strobe/config", NULL, settings->path))
		return 0;
	ret = settings_read(settings->path, CONFIG_TEXT_MAX, &text, &len);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		if (request->config || (ret != -ENOENT && ret != -ENOTDIR))
			add_line(settings, "%s: the configuration cannot be read: %s",
				settings->path, explain_errno(ret));
		return 0;
	}
	config_parse(&settings->config, text, len, complain, settings);
	free(text);
	return 0;
}

/* Takes from the layout only settings that the configuration does not have. */
static int read_layout(struct settings *settings)
{
	struct config *layout, *config = &settings->config;
	char *text;
	size_t len;
	int ret;

	if (!place("XDG_STATE_HOME", ".local/state", "strobe/layout", settings->layout_base,
		    settings->layout_path))
		return 0;
	ret = settings_read(settings->layout_path, CONFIG_TEXT_MAX, &text, &len);
	if (ret) {
		settings->layout_error = ret != -ENOENT && ret != -ENOTDIR ? -ret : 0;
		return ret == -ENOMEM ? ret : 0;
	}
	layout = calloc(1, sizeof(*layout));
	if (!layout) {
		free(text);
		return -ENOMEM;
	}
	config_parse(layout, text, len, find_broken, settings);
	for (int i = 0; i < CONFIG_SETTINGS && !settings->layout_broken; i++) {
		if ((layout->given & ~config->given) & 1u << i) {
			config->given |= 1u << i;
			config->values[i] = layout->values[i];
		}
	}
	free(layout);
	free(text);
	return 0;
}

static void bind_keys(struct settings *settings)
{
	const struct config *config = &settings->config;

	for (size_t i = 0; i < config->n_keys; i++) {
		const struct config_key *key = &config->keys[i];
		int ret = keys_bind(key->view, key->key, key->action);

		if (ret == -E2BIG)
			complain(key->line, key->column,
				"expected another action: this one has as many keys as there can "
				"be",
				settings);
		else if (ret)
			complain(key->line, key->column,
				"expected less: there is no room for more keys", settings);
	}
}

static bool has(const struct settings *settings, enum config_setting setting)
{
	return (settings->config.given & 1u << setting) != 0;
}

static void set_request(const struct settings *settings, struct request *request)
{
	const uint32_t *values = settings->config.values;

	if (has(settings, CONFIG_ASCII))
		request->ascii = values[CONFIG_ASCII];
	if (has(settings, CONFIG_MOUSE))
		request->no_mouse = !values[CONFIG_MOUSE];
	if (has(settings, CONFIG_SORT))
		request->sort_total = values[CONFIG_SORT];
	if (has(settings, CONFIG_SYNTAX))
		request->intel_syntax = values[CONFIG_SYNTAX];
	if (has(settings, CONFIG_CODE))
		request->annotate_mode = (int)values[CONFIG_CODE];
	if (!has(settings, CONFIG_RATE) || request->n_files)
		return;
	for (size_t i = 0; i < request->engine.n_events; i++) {
		/* The array belongs to the request. */
		struct event_spec *event = (struct event_spec *)&request->engine.events[i];

		event_set_freq(event, values[CONFIG_RATE]);
	}
}

int settings_load(struct settings **out, struct request *request)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	int ret = 0;

	*out = NULL;
	if (!settings)
		return -ENOMEM;
	keys_reset();
	if (!request->no_config) {
		ret = read_config(settings, request);
		if (!ret)
			ret = read_layout(settings);
	}
	if (ret) {
		free(settings);
		return ret;
	}
	settings->config.given &= ~request->given;
	if (request->given & 1u << CONFIG_THEME) {
		settings->config.given |= 1u << CONFIG_THEME;
		settings->config.values[CONFIG_THEME] = (uint32_t)request->theme;
	}
	bind_keys(settings);
	set_request(settings, request);
	*out = settings;
	return 0;
}

void settings_free(struct settings *settings)
{
	free(settings);
}

void settings_tell(const struct settings *settings, FILE *out)
{
	for (size_t i = 0; i < settings->n_lines; i++)
		sentence_print(out, "%s", settings->lines[i]);
}

void settings_log(const struct settings *settings, struct logbook *log, uint64_t now_ns)
{
	char text[LINE_MAX_BYTES], path[LINE_MAX_BYTES];

	for (size_t i = 0; i < settings->n_lines; i++)
		logbook_add(log, now_ns, EXPLAIN_WARNING, false, settings->lines[i]);
	if (!settings->layout_broken && !settings->layout_error)
		return;
	clean_string(path, sizeof(path), settings->layout_path);
	if (settings->layout_error)
		snprintf(text, sizeof(text), "The last layout is ignored: %.200s: %s", path,
			explain_errno(settings->layout_error));
	else
		snprintf(text, sizeof(text),
			"The last layout is ignored: %.300s is not as strobe writes it", path);
	logbook_add(log, now_ns, EXPLAIN_INFO, false, text);
}

void settings_apply(const struct settings *settings, struct model *model)
{
	const uint32_t *values = settings->config.values;

	if (has(settings, CONFIG_HIDE_IDLE))
		model->hide_idle = values[CONFIG_HIDE_IDLE];
	if (has(settings, CONFIG_WINDOW))
		model->window.length_ns = (uint64_t)values[CONFIG_WINDOW] * TENTH_NS;
	if (has(settings, CONFIG_CALLS))
		model->calls_shape = (int)values[CONFIG_CALLS];
	if (has(settings, CONFIG_GROUP))
		model->group_by = (int)values[CONFIG_GROUP] + 1;
	if (has(settings, CONFIG_ROWS)) {
		model->rows_by.group = config_rows[values[CONFIG_ROWS]];
		model->grouped = model->rows_by.group != GROUP_SYMBOL;
	}
}

struct theme settings_theme(const struct settings *settings)
{
	return (struct theme){
		.kind = has(settings, CONFIG_THEME)
			? (enum theme_kind)settings->config.values[CONFIG_THEME]
			: THEME_KIND_DARK,
		.custom = &settings->config.colors,
	};
}

/* --- the layout --- */

static void set(struct config *layout, enum config_setting setting, uint32_t value)
{
	layout->given |= 1u << setting;
	layout->values[setting] = value;
}

static void gather(struct config *layout, const struct model *model, enum theme_kind theme)
{
	uint64_t tenths = window_length(&model->window) / TENTH_NS;

	set(layout, CONFIG_THEME, (uint32_t)theme);
	set(layout, CONFIG_SORT, model->sort_total);
	set(layout, CONFIG_CODE, (uint32_t)model->code_mode);
	set(layout, CONFIG_SYNTAX, model->code_syntax == DISASM_INTEL);
	set(layout, CONFIG_CALLS, (uint32_t)model->calls_shape);
	if (model->group_by)
		set(layout, CONFIG_GROUP, (uint32_t)model->group_by - 1);
	/* Groups of fields and cgroups fit only the current events. */
	for (uint32_t i = 0; model->grouped && i < CONFIG_ROWS_N; i++)
		if (config_rows[i] == model->rows_by.group)
			set(layout, CONFIG_ROWS, i);
	if (tenths >= 1 && tenths <= 36000)
		set(layout, CONFIG_WINDOW, (uint32_t)tenths);
}

/* Makes all parent directories, private as required by the XDG specification. */
static int make_parents(const char *path)
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

int settings_remember(
	const struct settings *settings, const struct model *model, enum theme_kind theme)
{
	struct config *layout;
	struct outfile out;
	struct stat base, about;
	int ret;

	if (!settings->layout_path[0])
		return -EPERM;
	ret = timedopen_stat(settings->layout_base, &base);
	if (ret)
		return ret;
	/* The file system below may be another one. */
	if (timedopen_stat(settings->layout_path, &about) == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (base.st_uid != geteuid())
		return -EPERM;
	ret = make_parents(settings->layout_path);
	if (ret)
		return ret;
	layout = calloc(1, sizeof(*layout));
	if (!layout)
		return -ENOMEM;
	gather(layout, model, theme);
	ret = outfile_open(&out, settings->layout_path, OUTFILE_PUBLIC);
	if (!ret) {
		fputs("# The layout of strobe's screen, as it was left last.\n", out.file);
		ret = outfile_end(&out, config_write(out.file, layout));
	}
	free(layout);
	return ret;
}
