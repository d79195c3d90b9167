/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * term.c - see term.h; uses ncurses.
 *
 * The sequence that restores the terminal, and the terminal's modes, are prepared at the start in
 * static memory: a crash handler may only use write(2) and tcsetattr(3).
 */
#include "tui/terminal/term.h"

#include "symbols/base/clock.h"
#include "tui/controls/theme.h"
#include "tui/terminal/terminfo.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

/* Time that the rest of a key may take after ESC: slow links of ssh(1) and mosh(1) split keys by up
 * to a round trip.  newterm() prefers the environment's ESCDELAY. */
#define ESCAPE_DELAY_MS 200
#define ENV_SIZE_MAX 1000 /* maximum that LINES and COLUMNS may give */
#define PAIRS_LEAST 64 /* a terminal of 8 colors has 64 pairs, more than the themes use then */
#define CURSES_ROOM 65536 /* more than newterm() and the first updates allocate */
#define MOUSE_OFF "\033[?1006l\033[?1003l\033[?1002l\033[?1000l"

static const int deadly[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT};
#define N_DEADLY (sizeof(deadly) / sizeof(*deadly))

struct terminal {
	SCREEN *screen;
	FILE *input; /* stream of /dev/tty if stdin is no terminal; else NULL */
	int input_fd, output_fd;
	/* type that the screen is drawn for; TERM's own value if terminfo knows it */
	const char *type;
	bool ascii;
	bool redraw;
	enum theme_depth depth;
	struct canvas shown; /* copy of the screen; no cells: unknown */
	attr_t attrs[2][STYLE_COUNT];
	short pairs[2][STYLE_COUNT];
	struct sigaction old_actions[N_DEADLY];
	stack_t old_stack;
	char *signal_stack;
};

/* Data of the crash handler, set before the handlers are installed. */
static struct {
	volatile sig_atomic_t armed;
	int fd;
	struct termios modes;
	char sequence[512];
	size_t len;
} rescue;

static void restore_terminal(void)
{
	ssize_t unused = write(rescue.fd, rescue.sequence, rescue.len);

	(void)unused;
	tcsetattr(rescue.fd, TCSANOW, &rescue.modes);
}

/* Curses calls exit(3) if memory runs out for a color pair.  No other code does while the screen is
 * shown. */
static void leave_at_exit(void)
{
	static const char text[] = "strobe: out of memory: the terminal's library gave up\n";
	ssize_t unused;

	if (!rescue.armed)
		return;
	rescue.armed = 0;
	restore_terminal();
	unused = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)unused;
}

static void crash(int signo)
{
	int saved = errno;

	if (rescue.armed) {
		sigset_t set;

		rescue.armed = 0;
		sigemptyset(&set);
		sigaddset(&set, SIGTTOU);
		pthread_sigmask(SIG_BLOCK, &set, NULL);
		restore_terminal();
	}
	/* SA_RESETHAND restored the default action, so that the parent sees the real signal. */
	errno = saved;
	raise(signo);
}

static int collect(int c)
{
	if (rescue.len < sizeof(rescue.sequence))
		rescue.sequence[rescue.len++] = (char)c;
	return c;
}

static void collect_capability(const char *name)
{
	const char *text = tigetstr(name);

	if (text && text != (const char *)-1)
		tputs(text, 1, collect);
}

static void prepare_rescue(struct terminal *term, bool mouse)
{
	rescue.fd = term->output_fd;
	rescue.len = 0;
	if (mouse) {
		for (const char *at = MOUSE_OFF; *at; at++)
			collect(*at);
	}
	collect_capability("sgr0");
	collect_capability("op");
	collect_capability("cnorm");
	collect_capability("rmkx");
	if (tigetstr("rmcup")) {
		collect_capability("rmcup");
	} else {
		collect_capability("clear");
	}
	collect('\r');
}

static int install_handlers(struct terminal *term)
{
	static bool has_exit;
	struct sigaction action = {0};
	size_t size = (size_t)sysconf(_SC_SIGSTKSZ);
	stack_t stack = {0};

	if (size < 65536)
		size = 65536;
	term->signal_stack = malloc(size);
	if (!term->signal_stack || (!has_exit && atexit(leave_at_exit)))
		return -ENOMEM;
	has_exit = true;
	stack.ss_sp = term->signal_stack;
	stack.ss_size = size;
	sigaltstack(&stack, &term->old_stack);
	action.sa_handler = crash;
	action.sa_flags = (int)SA_RESETHAND | SA_ONSTACK | SA_NODEFER;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_DEADLY; i++)
		sigaction(deadly[i], &action, &term->old_actions[i]);
	rescue.armed = 1;
	return 0;
}

static void remove_handlers(struct terminal *term)
{
	if (!rescue.armed)
		return;
	rescue.armed = 0;
	for (size_t i = 0; i < N_DEADLY; i++)
		sigaction(deadly[i], &term->old_actions[i], NULL);
	sigaltstack(&term->old_stack, NULL);
}

static bool has_rgb(void)
{
	const char *text;

	if (tigetflag("RGB") > 0 || tigetnum("RGB") > 0)
		return true;
	text = tigetstr("RGB");
	return text && text != (const char *)-1;
}

static enum theme_depth find_depth(bool mono)
{
	if (mono || !has_colors() || start_color() == ERR)
		return THEME_MONO;
	if (COLOR_PAIRS < PAIRS_LEAST)
		return THEME_MONO;
	if (has_rgb())
		return THEME_RGB;
	if (COLORS >= 256)
		return THEME_256;
	if (COLORS >= 16)
		return THEME_16;
	return COLORS >= 8 ? THEME_8 : THEME_MONO;
}

static attr_t to_attrs(unsigned int attrs)
{
	attr_t out = A_NORMAL;

	if (attrs & THEME_BOLD)
		out |= A_BOLD;
	if (attrs & THEME_DIM)
		out |= A_DIM;
	if (attrs & THEME_UNDERLINE)
		out |= A_UNDERLINE;
	if (attrs & THEME_REVERSE)
		out |= A_REVERSE;
	return out;
}

static void apply_theme(struct terminal *term, const struct theme *theme)
{
	bool transparent = term->depth != THEME_MONO && use_default_colors() == OK;
	int pair;

	for (int selected = 0; selected < 2; selected++) {
		for (int style = 0; style < STYLE_COUNT; style++) {
			struct theme_look look =
				theme_look(theme, term->depth, (enum style)style, selected != 0);

			term->attrs[selected][style] = to_attrs(look.attrs);
			if (term->depth == THEME_MONO)
				continue;
			if (!transparent && look.fg == THEME_DEFAULT)
				look.fg = term->depth == THEME_RGB ? 0xd0d0d0 : COLOR_WHITE;
			if (!transparent && look.bg == THEME_DEFAULT)
				look.bg = COLOR_BLACK;
			term->pairs[selected][style] = 0;
			if (look.fg == THEME_DEFAULT && look.bg == THEME_DEFAULT)
				continue;
			/* Equal colors share a pair: terminals with few colors have few pairs. */
			pair = alloc_pair(look.fg, look.bg);
			if (pair > 0)
				term->pairs[selected][style] = (short)pair;
		}
	}
}

void term_set_theme(struct terminal *term, const struct theme *theme)
{
	apply_theme(term, theme);
	term_redraw(term);
}

/* Curses (6.4) crashes if it starts without memory. */
static bool has_room(void)
{
	/* volatile, since compilers assume that an unused allocation succeeds. */
	void *volatile room = malloc(CURSES_ROOM);
	const bool has = room;

	free(room);
	return has;
}

/* If name is known, it becomes cur_term. */
static bool is_known(const char *name)
{
	int error;

	return setupterm(name, STDOUT_FILENO, &error) == OK;
}

/* Makes cur_term the type that the screen is drawn for, and returns its name.  This is TERM, or a
 * similar type if terminfo does not know it: newer terminals understand xterm's sequences.  NULL if
 * TERM is not set, or no type is known. */
static const char *choose_type(void)
{
	const char *name = getenv("TERM");
	const bool multiplexed = name && (!strncmp(name, "tmux", 4) || !strncmp(name, "screen", 6));
	const char *const types[] = {
		name, multiplexed ? "screen-256color" : "xterm-256color", "xterm"};
	const char *found = NULL;
	struct terminfo_hidden hidden;

	if (!name || !*name)
		return NULL;
	terminfo_hide(&hidden, name);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types) && !found; i++)
		if (is_known(types[i]))
			found = types[i];
	terminfo_show(&hidden);
	return found;
}

int term_probe(void)
{
	int fd, ret = 0;

	if (!isatty(STDOUT_FILENO))
		return -ENOTTY;
	if (!isatty(STDIN_FILENO)) {
		fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return -ENOTTY;
		close(fd);
	}
	if (!has_room())
		return -ENOMEM;
	if (!choose_type())
		return -ENOENT;
	if (!tigetstr("cup") || tigetstr("cup") == (const char *)-1)
		ret = -ENOTSUP;
	del_curterm(cur_term);
	return ret;
}

static void nothing(int signo)
{
	(void)signo;
}

static bool is_dimension(const char *name)
{
	const char *text = getenv(name);
	long value = text ? strtol(text, NULL, 10) : 0;

	return !text || (value > 0 && value <= ENV_SIZE_MAX);
}

/* Uses the terminal's own size: the environment may describe another terminal, or be invalid. */
static void choose_size_source(int fd)
{
	struct winsize size;
	bool knows = !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;

	use_tioctl(TRUE);
	use_env(!knows && is_dimension("LINES") && is_dimension("COLUMNS"));
}

/* Makes tparm(3) allocate memory for all sequences of the screen before anything is drawn.  If
 * memory runs out later, curses drops the sequence; after one longer than all before, curses (6.4)
 * crashes at the next.  Returns false if memory runs out. */
static bool reserve_parameters(void)
{
	static const char *const used[] = {"sgr", "setaf", "setab", "setf", "setb", "initc", "csr",
		"cup", "hpa", "vpa", "cuu", "cud", "cuf", "cub", "ech", "rep", "ich", "dch", "il",
		"dl", "indn", "rin"};

	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		const char *text = tigetstr(used[i]);

		if (text && text != (const char *)-1 &&
			!tparm(text, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L))
			return false;
	}
	return true;
}

/* Gives SIGTSTP a handler while newterm() runs.  With the default action, curses would ignore the
 * signal while it draws, and lose a ^Z, even one blocked for a signalfd.  Curses never changes a
 * handler that it finds here. */
static SCREEN *new_screen(const char *type, FILE *input)
{
	struct sigaction action = {.sa_handler = nothing}, old;
	struct terminfo_hidden hidden;
	SCREEN *screen;

	if (!has_room())
		return NULL;
	sigemptyset(&action.sa_mask);
	sigaction(SIGTSTP, &action, &old);
	terminfo_hide(&hidden, type);
	screen = newterm(type, stdout, input);
	terminfo_show(&hidden);
	sigaction(SIGTSTP, &old, NULL);
	return screen;
}

/* Terminals send ESC O B in one mode and ESC [ B in the other.  With some terminals and
 * multiplexers the mode is not sure, so both are defined.  Sequences of terminfo take
 * precedence. */
static void define_keys(void)
{
	static const struct {
		const char *sequence;
		int code;
	} keys[] = {{"\033[A", KEY_UP}, {"\033OA", KEY_UP}, {"\033[B", KEY_DOWN},
		{"\033OB", KEY_DOWN}, {"\033[C", KEY_RIGHT}, {"\033OC", KEY_RIGHT},
		{"\033[D", KEY_LEFT}, {"\033OD", KEY_LEFT}, {"\033[H", KEY_HOME},
		{"\033OH", KEY_HOME}, {"\033[1~", KEY_HOME}, {"\033[7~", KEY_HOME},
		{"\033[F", KEY_END}, {"\033OF", KEY_END}, {"\033[4~", KEY_END},
		{"\033[8~", KEY_END}, {"\033[2~", KEY_IC}, {"\033[3~", KEY_DC},
		{"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE}, {"\033[Z", KEY_BTAB}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!key_defined(keys[i].sequence))
			define_key(keys[i].sequence, keys[i].code);
}

int term_open(struct terminal **out, const struct term_options *options)
{
	struct terminal *term;
	int ret = term_probe();

	*out = NULL;
	if (ret)
		return ret;
	term = calloc(1, sizeof(*term));
	if (!term)
		return -ENOMEM;
	term->type = choose_type();
	if (!term->type) {
		ret = -ENOMEM; /* term_probe() would have reported other causes */
		goto fail;
	}
	del_curterm(cur_term);
	term->output_fd = STDOUT_FILENO;
	term->input_fd = STDIN_FILENO;
	if (!isatty(STDIN_FILENO)) {
		term->input = fopen("/dev/tty", "re");
		if (!term->input) {
			ret = -errno;
			goto fail;
		}
		term->input_fd = fileno(term->input);
	}
	term->ascii = options->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	if (tcgetattr(term->output_fd, &rescue.modes)) {
		ret = -errno;
		goto fail;
	}
	set_escdelay(ESCAPE_DELAY_MS);
	choose_size_source(term->output_fd);
	term->screen = new_screen(term->type, term->input ? term->input : stdin);
	if (!term->screen) {
		ret = -ENOMEM; /* term_probe() would have reported other causes */
		goto fail;
	}
	prepare_rescue(term, !options->no_mouse);
	if (!reserve_parameters()) {
		/* The terminal's exit sequences also need tparm(3). */
		restore_terminal();
		term->screen = NULL; /* nothing more is written to it */
		ret = -ENOMEM;
		goto fail;
	}
	ret = install_handlers(term);
	if (ret)
		goto fail;
	/* Until endwin() returns for the first time, curses (6.4) writes to the terminal at each
	 * move of the cursor, about 80 times per frame.  This must precede colors, because endwin()
	 * would reset the terminal's own. */
	endwin();
	doupdate();
	/* The second update makes the tables that curses scrolls with.  If memory ran out for some
	 * of these, curses would read uninitialized memory. */
	doupdate();
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	define_keys();
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	curs_set(0);
	if (!options->no_mouse) {
		mouseinterval(0);
		mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED,
			NULL);
	}
	term->depth = find_depth(options->mono);
	apply_theme(term, &options->theme);
	*out = term;
	return 0;
fail:
	term_close(term);
	return ret;
}

static void leave_screen(void)
{
	/* A terminal without an alternate screen keeps its contents: leave it empty. */
	if (!tigetstr("rmcup") || tigetstr("rmcup") == (const char *)-1) {
		erase();
		refresh();
	}
	curs_set(1);
	endwin();
}

void term_close(struct terminal *term)
{
	if (!term)
		return;
	if (term->screen) {
		leave_screen();
		tcsetattr(term->output_fd, TCSADRAIN, &rescue.modes);
		remove_handlers(term);
		/* No delscreen(), which crashes if memory runs out; the process ends soon
		 * anyway. */
	}
	free(term->signal_stack);
	canvas_fini(&term->shown);
	if (term->input)
		fclose(term->input);
	free(term);
}

const char *term_stand_in(const struct terminal *term)
{
	return term->type == getenv("TERM") ? NULL : term->type;
}

bool term_is_ascii(const struct terminal *term)
{
	return term->ascii;
}

int term_input_fd(const struct terminal *term)
{
	return term->input_fd;
}

int term_output_fd(const struct terminal *term)
{
	return term->output_fd;
}

void term_size(struct terminal *term, int *width, int *height)
{
	struct winsize size;

	if (ioctl(term->output_fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0 &&
		(size.ws_col != COLS || size.ws_row != LINES)) {
		resizeterm(size.ws_row, size.ws_col);
		term->redraw = true;
	}
	*width = COLS > 0 ? COLS : 80;
	*height = LINES > 0 ? LINES : 24;
}

void term_redraw(struct terminal *term)
{
	term->redraw = true;
}

bool term_ready(const struct terminal *term)
{
	struct pollfd fd = {.fd = term->output_fd, .events = POLLOUT};

	return poll(&fd, 1, 0) != 0;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->glyph == b->glyph && a->style == b->style && a->selected == b->selected;
}

static bool same_row(const struct cell *a, const struct cell *b, int width)
{
	for (int x = 0; x < width; x++) {
		if (!same_cell(&a[x], &b[x]))
			return false;
	}
	return true;
}

static wchar_t displayable(const struct cell *cell, bool is_wide)
{
	int width = wcwidth((wchar_t)cell->glyph);

	return width == (is_wide ? 2 : 1) ? (wchar_t)cell->glyph : L'?';
}

static void show_row(struct terminal *term, int y, const struct cell *row, int width)
{
	wchar_t text[256];
	int x = 0;

	while (x < width) {
		const struct cell *first = &row[x];
		unsigned int selected = first->selected ? 1 : 0;
		int start = x, n = 0;

		while (x < width && n < (int)(sizeof(text) / sizeof(*text)) - 2 &&
			row[x].style == first->style && row[x].selected == first->selected) {
			bool is_wide = x + 1 < width && !row[x + 1].glyph;
			wchar_t glyph;

			if (!row[x].glyph) {
				x++;
				continue;
			}
			glyph = displayable(&row[x], is_wide);
			text[n++] = glyph;
			if (is_wide && glyph == L'?')
				text[n++] = L' ';
			x += is_wide ? 2 : 1;
		}
		attr_set(term->attrs[selected][first->style], term->pairs[selected][first->style],
			NULL);
		mvaddnwstr(y, start, text, n);
	}
}

void term_show(struct terminal *term, const struct canvas *canvas)
{
	size_t width = (size_t)canvas->width;
	bool all = term->redraw;

	if (term->shown.width != canvas->width || term->shown.height != canvas->height) {
		canvas_fini(&term->shown);
		if (canvas_init(&term->shown, canvas->width, canvas->height, 0))
			memset(&term->shown, 0, sizeof(term->shown));
		all = true;
	}
	if (all) {
		erase();
		clearok(curscr, TRUE);
		term->redraw = false;
	}
	for (int y = 0; y < canvas->height && y < LINES; y++) {
		const struct cell *row = canvas->cells + (size_t)y * width;
		struct cell *old = term->shown.cells;

		if (old)
			old += (size_t)y * width;
		if (!all && old && same_row(row, old, canvas->width))
			continue;
		show_row(term, y, row, canvas->width < COLS ? canvas->width : COLS);
		if (old)
			memcpy(old, row, width * sizeof(*row));
	}
	refresh();
}

static bool read_mouse(struct input *out)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return false;
	out->x = event.x;
	out->y = event.y;
	if (event.bstate & BUTTON4_PRESSED) {
		out->kind = INPUT_WHEEL;
		out->delta = -1;
	} else if (event.bstate & BUTTON5_PRESSED) {
		out->kind = INPUT_WHEEL;
		out->delta = 1;
	} else if (event.bstate & BUTTON1_PRESSED) {
		out->kind = INPUT_CLICK;
	} else if (event.bstate & BUTTON1_RELEASED) {
		out->kind = INPUT_RELEASE;
	} else {
		return false;
	}
	return true;
}

/* Returns the INPUT code of a named key of curses; 0 if it is not used. */
static uint32_t named_key(wint_t code)
{
	switch (code) {
	case KEY_UP:
		return INPUT_UP;
	case KEY_DOWN:
		return INPUT_DOWN;
	case KEY_LEFT:
		return INPUT_LEFT;
	case KEY_RIGHT:
		return INPUT_RIGHT;
	case KEY_HOME:
	case KEY_A1:
		return INPUT_HOME;
	case KEY_END:
	case KEY_C1:
		return INPUT_END;
	case KEY_PPAGE:
	case KEY_A3:
		return INPUT_PAGE_UP;
	case KEY_NPAGE:
	case KEY_C3:
		return INPUT_PAGE_DOWN;
	case KEY_BTAB:
		return INPUT_BACK_TAB;
	case KEY_DC:
		return INPUT_DELETE;
	case KEY_IC:
		return INPUT_INSERT;
	case KEY_ENTER:
		return INPUT_ENTER;
	case KEY_BACKSPACE:
		return INPUT_BACKSPACE;
	default:
		return 0;
	}
}

static void unread(int kind, wint_t code)
{
	if (kind == KEY_CODE_YES)
		ungetch((int)code);
	else if (kind == OK)
		unget_wch((wchar_t)code);
}

/* Reads the rest of a key that terminfo does not know, like "[1;5B" after the Esc of Ctrl with an
 * arrow.  Otherwise it would be taken for several keys.  Returns false for the key Esc itself. */
static bool skip_unknown_key(void)
{
	wint_t first, code = 0;
	int kind = get_wch(&first);
	bool is_console;
	size_t n = 0;

	if (kind != OK || (first != '[' && first != 'O')) {
		unread(kind, first);
		return false;
	}
	timeout(get_escdelay());
	kind = get_wch(&code);
	/* The console's F1 is "[[A". */
	is_console = kind == OK && first == '[' && code == '[';
	if (is_console)
		kind = get_wch(&code);
	for (; kind == OK && code >= ' ' && code < '@'; n++)
		kind = get_wch(&code);
	nodelay(stdscr, TRUE);
	if (kind == OK && code >= '@' && code <= '~')
		return true;
	unread(kind, code);
	if (n || is_console)
		return true;
	unread(OK, first);
	return false;
}

bool term_read(struct terminal *term, struct input *out)
{
	wint_t code;
	int kind;

	(void)term;
	while ((kind = get_wch(&code)) != ERR) {
		*out = (struct input){.kind = INPUT_KEY, .time_ns = clock_now_ns()};
		if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
			if (read_mouse(out))
				return true;
			continue;
		}
		if (kind == OK && code == INPUT_ESCAPE && skip_unknown_key())
			continue;
		if (kind == KEY_CODE_YES)
			out->key = named_key(code);
		else if (code == '\r' || code == '\n')
			out->key = INPUT_ENTER;
		else if (code == '\b')
			out->key = INPUT_BACKSPACE;
		else
			out->key = (uint32_t)code;
		if (out->key)
			return true;
	}
	return false;
}

void term_suspend(struct terminal *term)
{
	leave_screen();
	tcsetattr(term->output_fd, TCSADRAIN, &rescue.modes);
	rescue.armed = 0;
}

void term_resume(struct terminal *term)
{
	int width, height;

	rescue.armed = 1;
	/* The shell may have left other modes.  The next refresh restores those of curses. */
	reset_prog_mode();
	term_size(term, &width, &height);
	curs_set(0);
	term->redraw = true;
}
