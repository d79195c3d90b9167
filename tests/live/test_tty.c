/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_tty.c - strobe in a real pseudo-terminal: it starts, obeys keys, follows the size, and
 * gives the terminal back however it ends.
 *
 * usage: test_tty STROBE
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/live/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENTER_SCREEN "\033[?1049h"
#define LEAVE_SCREEN "\033[?1049l"
#define SHOW_CURSOR "\033[?25h"
#define HIDE_CURSOR "\033[?25l"

static const char *strobe;
static pid_t target;
static char target_text[16];

static const char *const plain[] = {
	"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR=", "COLUMNS=", "LINES=", NULL};

/* The function that the screen must show.  Never inlined; no other symbol has its name. */
__attribute__((noinline)) static unsigned long spinning_wheel(unsigned long turns)
{
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < turns; i++)
		sum += i * i;
	return sum;
}

static void start_target(void)
{
	target = fork();
	if (target == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			spinning_wheel(1000000);
	}
	snprintf(target_text, sizeof(target_text), "%d", target);
}

static struct tty *start(const char *const *environment, int columns, int rows, const char *option)
{
	const char *argv[] = {
		strobe, "-p", target_text, "-e", "cpu-clock", "--cache-dir", "", option, NULL};
	struct tty *tty = calloc(1, sizeof(*tty));

	assert_non_null(tty);
	assert_int_equal(tty_start(tty, (char *const *)argv, environment, columns, rows), 0);
	return tty;
}

static struct tty *start_on_target(void)
{
	struct tty *tty = start(plain, 80, 24, NULL);

	assert_true(tty_expect(tty, ENTER_SCREEN));
	assert_true(tty_expect(tty, "spinning_wheel"));
	return tty;
}

static void finish(struct tty *tty)
{
	tty_close(tty);
	free(tty);
}

/* The terminal has the shell's screen, a visible cursor, no mouse, and its old modes. */
static void expect_restored(struct tty *tty)
{
	assert_true(tty_expect(tty, LEAVE_SCREEN));
	assert_true(tty_contains(tty, SHOW_CURSOR));
	assert_true(tty_modes_restored(tty));
}

static void expect_exit(struct tty *tty, int code)
{
	int status;

	assert_true(tty_status(tty, &status));
	if (WIFSIGNALED(status))
		print_message("crash: the program ended by signal %d\n", WTERMSIG(status));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

static void test_shows_and_quits(void **state)
{
	struct tty *tty;

	(void)state;
	tty_need_events(target);
	tty = start_on_target();
	assert_false(tty_modes_restored(tty));
	assert_true(tty_contains(tty, "cpu-clock"));
	tty_type(tty, "?");
	assert_true(tty_expect(tty, "hot symbols"));
	tty_type(tty, "q");
	assert_true(tty_expect(tty, "spinning_wheel"));
	tty_type(tty, "P");
	assert_true(tty_expect(tty, "COMMAND"));
	tty_type(tty, "\033");
	assert_true(tty_expect(tty, "spinning_wheel"));
	tty_type(tty, "\r");
	assert_true(tty_expect(tty, "by thread"));
	tty_type(tty, "q");
	tty_type(tty, "q");
	expect_exit(tty, 0);
	expect_restored(tty);
	finish(tty);
}

/* Rows change from symbols to images, to the symbols of one image, to lines, and back. */
static void test_other_rows(void **state)
{
	struct tty *tty;

	(void)state;
	tty_need_events(target);
	tty = start_on_target();
	tty_type(tty, "R");
	assert_true(tty_expect(tty, "rows are"));
	tty_type(tty, "j\r");
	assert_true(tty_expect(tty, "by image"));
	tty_type(tty, "\r");
	assert_true(tty_expect(tty, "Only image:"));
	tty_type(tty, "R");
	assert_true(tty_expect(tty, "rows are"));
	tty_type(tty, "jjj\r");
	assert_true(tty_expect(tty, "by line"));
	tty_type(tty, "\033");
	assert_true(tty_expect(tty, "spinning_wheel"));
	tty_type(tty, "q");
	expect_exit(tty, 0);
	finish(tty);
}

static void test_follows_the_size(void **state)
{
	struct tty *tty;

	(void)state;
	tty_need_events(target);
	tty = start_on_target();
	tty_forget(tty);
	tty_resize(tty, 20, 5);
	assert_true(tty_expect(tty, "spinn")); /* the middle of the name is left out */
	tty_resize(tty, 10, 2);
	assert_true(tty_expect(tty, "strobe"));
	tty_resize(tty, 120, 40);
	assert_true(tty_expect(tty, "SAMPLES")); /* a column of wide screens */
	assert_true(tty_expect(tty, "spinning_wheel"));
	tty_type(tty, "q");
	expect_exit(tty, 0);
	expect_restored(tty);
	finish(tty);
}

static void end_by(int signo)
{
	struct tty *tty = start_on_target();

	kill(tty->program, signo);
	expect_exit(tty, 0);
	expect_restored(tty);
	finish(tty);
}

static void test_signals_that_end(void **state)
{
	(void)state;
	tty_need_events(target);
	end_by(SIGTERM);
	end_by(SIGHUP);
	end_by(SIGINT);
}

/* Without a controlling terminal there is no SIGHUP, only a stdin that is always ready. */
static void test_hang_up_without_a_signal(void **state)
{
	char *argv[] = {(char *)(uintptr_t)strobe, "-p", target_text, "-e", "cpu-clock",
		"--cache-dir", "", NULL};
	struct pollfd fd = {.events = POLLIN};
	char byte;
	int slave, status;
	pid_t pid;

	(void)state;
	tty_need_events(target);
	assert_int_equal(openpty(&fd.fd, &slave, NULL, NULL, NULL), 0);
	pid = fork();
	if (pid == 0) {
		setsid();
		setenv("TERM", "xterm", 1);
		setenv("XDG_CONFIG_HOME", "/dev/null", 1);
		setenv("XDG_STATE_HOME", "/dev/null", 1);
		close(fd.fd);
		for (int i = 0; i < 3; i++)
			dup2(slave, i);
		close(slave);
		alarm(TTY_TIMEOUT_MS / 1000); /* if it does not end by itself */
		execv(argv[0], argv);
		_exit(127);
	}
	close(slave);
	assert_int_equal(poll(&fd, 1, TTY_TIMEOUT_MS), 1);
	assert_int_equal(read(fd.fd, &byte, 1), 1);
	close(fd.fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
}

static void stop_and_continue(struct tty *tty)
{
	int status;

	tty_type(tty, "\032"); /* ^Z: the terminal makes it SIGTSTP */
	assert_true(tty_status(tty, &status));
	assert_true(WIFSTOPPED(status));
	expect_restored(tty);
	tty_forget(tty);
	tty_continue(tty);
	assert_true(tty_expect(tty, ENTER_SCREEN));
	assert_true(tty_expect(tty, HIDE_CURSOR));
	assert_true(tty_expect(tty, "spinning_wheel"));
	assert_false(tty_modes_restored(tty));
}

/* Returns whether SIGTSTP is neither caught nor ignored.  A handler of curses would drop a ^Z
 * that comes while it draws. */
static bool leaves_tstp_alone(pid_t pid)
{
	const unsigned long tstp = 1ul << (SIGTSTP - 1);
	unsigned long ignored = tstp, caught = tstp;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "SigIgn: %lx", &ignored);
		sscanf(line, "SigCgt: %lx", &caught);
	}
	fclose(file);
	return !((ignored | caught) & tstp);
}

static void test_stop_and_continue(void **state)
{
	struct tty *tty;

	(void)state;
	tty_need_events(target);
	tty = start_on_target();
	assert_true(leaves_tstp_alone(tty->program));
	for (int i = 0; i < 2; i++)
		stop_and_continue(tty);
	tty_type(tty, "q");
	expect_exit(tty, 0);
	expect_restored(tty);
	finish(tty);
}

/* The editor gets the line, the file and the terminal.  A SIGINT meant for the editor does not
 * end strobe. */
static void test_editor(void **state)
{
	static const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"NO_COLOR=", "COLUMNS=", "LINES=",
		"VISUAL=sh -c 'kill -INT $PPID; printf \"edits %s %s.\" \"$@\"' sh", NULL};
	static const char *const missing[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"NO_COLOR=", "COLUMNS=", "LINES=", "VISUAL=", "EDITOR=/nonexistent/editor", NULL};

	(void)state;
	tty_need_events(target);
	for (int round = 0; round < 2; round++) {
		struct tty *tty = start(round ? missing : environment, 120, 30, NULL);

		assert_true(tty_expect(tty, "spinning_wheel"));
		tty_type(tty, "a");
		assert_true(tty_expect(tty, "INSTRUCTIONS"));
		/* Lines appear after instructions.  Without a line, there is nothing to edit. */
		assert_true(tty_expect(tty, "sum += i"));
		tty_type(tty, "e");
		assert_true(tty_expect(tty, LEAVE_SCREEN));
		if (round == 0) {
			assert_true(tty_expect(tty, "edits +"));
			assert_true(tty_expect(tty, "tests/live/test_tty.c."));
		}
		assert_true(tty_expect(tty, ENTER_SCREEN));
		if (round == 1)
			assert_true(tty_expect(tty, "could not be started"));
		tty_type(tty, "?");
		assert_true(tty_expect(tty, "Follow the selected jump"));
		tty_type(tty, "qqq");
		expect_exit(tty, 0);
		finish(tty);
	}
}

static pid_t start_program(const char *dir)
{
	static const char text[] = "int main(void)\n{\n	volatile long turns = 0;\n"
				   "	for (;;)\n		turns++;\n}\n";
	char path[128], command[512];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/turns.c", dir);
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command), "cc -g -O1 -o %s/turns %s", dir, path);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/turns", dir);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

/* Returns how often text is in the output so far. */
static size_t count_of(const struct tty *tty, const char *text)
{
	size_t n = 0;

	for (const char *at = tty->output; (at = strstr(at, text)); at++)
		n++;
	return n;
}

/* The screen's contents stay when the process has ended and its files are gone.  The editor does
 * not get a new file under the old name. */
static void test_target_is_gone(void **state)
{
	char dir[] = "/tmp/strobe-test-tty-XXXXXX", pid_text[16], command[64];
	const char *argv[] = {strobe, "-p", pid_text, "-e", "cpu-clock", "--cache-dir", "", NULL};
	struct tty tty = {0};
	size_t left;

	(void)state;
	tty_need_events(target);
	assert_non_null(mkdtemp(dir));
	const pid_t pid = start_program(dir);
	snprintf(pid_text, sizeof(pid_text), "%d", (int)pid);
	assert_int_equal(tty_start(&tty, (char *const *)argv, plain, 80, 24), 0);
	assert_true(tty_expect(&tty, "turns"));
	assert_true(tty_expect(&tty, "main"));
	tty_type(&tty, "a");
	assert_true(tty_expect(&tty, "turns++;"));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	assert_true(tty_expect(&tty, "ended"));
	tty_forget(&tty);
	left = count_of(&tty, LEAVE_SCREEN);
	tty_type(&tty, "e");
	assert_true(tty_expect(&tty, "The source file cannot be read"));
	assert_int_equal(count_of(&tty, LEAVE_SCREEN), left);
	/* Redraws the whole screen. */
	tty_forget(&tty);
	tty_type(&tty, "\014");
	assert_true(tty_expect(&tty, "turns++;"));
	tty_type(&tty, "qq");
	expect_exit(&tty, 0);
	tty_close(&tty);
}

/* If the editor is stopped (^Z), the shell gets the terminal.  Editor and strobe come back
 * later. */
static void test_editor_stops(void **state)
{
	static const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"NO_COLOR=", "COLUMNS=", "LINES=",
		"VISUAL=sh -c 'kill -STOP $$; printf \"goes on.\"' sh", NULL};
	struct tty *tty;
	int status;

	(void)state;
	tty_need_events(target);
	tty = start(environment, 120, 30, NULL);
	assert_true(tty_expect(tty, "spinning_wheel"));
	tty_type(tty, "a");
	assert_true(tty_expect(tty, "INSTRUCTIONS"));
	assert_true(tty_expect(tty, "sum += i"));
	tty_type(tty, "e");
	assert_true(tty_status(tty, &status));
	assert_true(WIFSTOPPED(status));
	expect_restored(tty);
	assert_false(tty_contains(tty, "goes on."));
	tty_continue(tty);
	assert_true(tty_expect(tty, "goes on."));
	assert_true(tty_expect(tty, ENTER_SCREEN));
	tty_type(tty, "qq");
	expect_exit(tty, 0);
	finish(tty);
}

static void crash_by(int signo, bool after_stop)
{
	struct tty *tty = start_on_target();
	int status;

	if (after_stop)
		stop_and_continue(tty);
	kill(tty->program, signo);
	assert_true(tty_status(tty, &status));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signo);
	expect_restored(tty);
	finish(tty);
}

static bool is_strobe(pid_t pid)
{
	char path[64], comm[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (file) {
		if (!fgets(comm, sizeof(comm), file))
			comm[0] = '\0';
		fclose(file);
	}
	return !strncmp(comm, "strobe", 6);
}

/* Only strobe is kept from the source: a compiler may read it at the same time. */
static void keep(int fan)
{
	struct fanotify_event_metadata events[16];

	for (;;) {
		ssize_t len = read(fan, events, sizeof(events));
		const struct fanotify_event_metadata *event = events;

		if (len < 0)
			_exit(1);
		for (; FAN_EVENT_OK(event, len); event = FAN_EVENT_NEXT(event, len)) {
			const struct fanotify_response answer = {event->fd, FAN_ALLOW};

			if (!is_strobe(event->pid) &&
				write(fan, &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
				_exit(1);
			close(event->fd);
		}
	}
}

/* Blocks strobe's open of this source, like a network disk that does not answer.  Returns the
 * process that holds the only descriptor; killing it ends the block.  Returns -1 if that is not
 * possible here. */
static pid_t hold_source(void)
{
	int fan = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	pid_t keeper = -1;

	if (fan >= 0 && !fanotify_mark(fan, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, __FILE__)) {
		keeper = fork();
		if (keeper == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			keep(fan);
		}
	}
	if (keeper < 0)
		print_message("skipped: " __FILE__ " cannot be held here: %s\n", strerror(errno));
	if (fan >= 0)
		close(fan);
	return keeper;
}

static void release_source(pid_t keeper)
{
	kill(keeper, SIGKILL);
	waitpid(keeper, NULL, 0);
}

/* Keys are obeyed while the source hangs.  The read can be given up, and the exit does not wait
 * for it. */
static void test_source_hangs(void **state)
{
	struct tty *tty;
	pid_t keeper;

	(void)state;
	tty_need_events(target);
	keeper = hold_source();
	if (keeper < 0)
		skip();
	tty = start_on_target();
	tty_type(tty, "a");
	assert_true(tty_expect(tty, "Loading source"));
	tty_type(tty, "x");
	assert_true(tty_expect(tty, "Intel"));
	tty_type(tty, "?");
	assert_true(tty_expect(tty, "hottest"));
	tty_type(tty, "\033");
	assert_true(tty_expect(tty, "Loading source"));
	tty_type(tty, "\033");
	assert_true(tty_expect(tty, "given up"));
	/* The second read hangs until the exit. */
	tty_type(tty, "qa");
	assert_true(tty_expect(tty, "Loading source"));
	tty_type(tty, "qq");
	assert_true(tty_expect(tty, LEAVE_SCREEN));
#ifdef __SANITIZE_ADDRESS__
	/* LeakSanitizer waits for every thread after main() has ended. */
	release_source(keeper);
	keeper = 0;
#endif
	expect_exit(tty, 0);
	assert_true(tty_contains(tty, SHOW_CURSOR));
	assert_true(tty_modes_restored(tty));
	finish(tty);
	if (keeper)
		release_source(keeper);
}

static void test_crashes(void **state)
{
	(void)state;
	tty_need_events(target);
	crash_by(SIGSEGV, false);
	crash_by(SIGABRT, false);
	crash_by(SIGBUS, false);
	crash_by(SIGSEGV, true);
}

static void test_command(void **state)
{
	const char *argv[] = {strobe, "-e", "cpu-clock", "--cache-dir", "", "--", "/bin/sh", "-c",
		"echo said-by-the-command; exit 3", NULL};
	struct tty tty;

	(void)state;
	tty_need_events(target);
	assert_int_equal(tty_start(&tty, (char *const *)argv, plain, 80, 24), 0);
	assert_true(tty_expect(&tty, ENTER_SCREEN));
	assert_true(tty_expect(&tty, "exit 3"));
	/* The screen does not show the output by itself.  The log does, and the terminal at the
	 * end. */
	tty_type(&tty, "L");
	assert_true(tty_expect(&tty, "said-by-the-command"));
	tty_type(&tty, "qq");
	expect_exit(&tty, 0);
	assert_true(tty_expect(&tty, LEAVE_SCREEN));
	assert_true(tty_expect(&tty, "said-by-the-command"));
	assert_true(tty_modes_restored(&tty));
	tty_close(&tty);
}

static void test_failure_shows_no_screen(void **state)
{
	const char *argv[] = {strobe, "-p", "2147483646", "--cache-dir", "", NULL};
	struct tty tty;

	(void)state;
	assert_int_equal(tty_start(&tty, (char *const *)argv, plain, 80, 24), 0);
	expect_exit(&tty, 1);
	/* If the refusal is later than the start waits, the screen was shown, and has been left
	 * again. */
	if (tty_contains(&tty, ENTER_SCREEN)) {
		print_message("a slow machine: the screen came before the refusal\n");
		assert_true(tty_expect(&tty, LEAVE_SCREEN));
	}
	assert_true(tty_expect(&tty, "strobe: "));
	assert_true(tty_modes_restored(&tty));
	tty_close(&tty);
}

static void test_ascii_and_no_color(void **state)
{
	static const char *const latin[] = {
		"TERM=xterm-256color", "LC_ALL=C", "NO_COLOR=1", "COLUMNS=", "LINES=", NULL};
	struct tty *tty;

	(void)state;
	tty_need_events(target);
	tty = start(latin, 80, 24, NULL);
	assert_true(tty_expect(tty, "spinning_wheel"));
	tty_type(tty, "q");
	expect_exit(tty, 0);
	for (size_t i = 0; i < tty->len; i++)
		assert_true((unsigned char)tty->output[i] < 0x80);
	assert_false(tty_contains(tty, "\033[38;5;"));
	assert_false(tty_contains(tty,
		"\033[3"
		"1m"));
	finish(tty);
	tty = start(plain, 80, 24, NULL);
	assert_true(tty_expect(tty, "spinning_wheel"));
	assert_true(tty_contains(tty, "38;5;"));
	finish(tty);
}

static void test_other_terminals(void **state)
{
	static const char *const names[] = {
		"TERM=vt100", "TERM=xterm-mono", "TERM=linux", "TERM=screen"};

	(void)state;
	tty_need_events(target);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *const environment[] = {names[i], "LC_ALL=C.UTF-8", "COLUMNS=", "LINES=",
			/* With TERM=linux, curses loads libgpm, which leaks. */
			"ASAN_OPTIONS=detect_leaks=0", NULL};
		struct tty *tty = start(environment, 80, 24, NULL);

		assert_true(tty_expect(tty, "cpu-clock")); /* in the target line of the screen */
		assert_false(tty_modes_restored(tty));
		assert_true(tty_expect(tty, "spinning_wheel"));
		tty_type(tty, "q");
		expect_exit(tty, 0);
		assert_true(tty_modes_restored(tty));
		finish(tty);
	}
}

/* ssh passes names of terminals and locales that only the other machine has. */
static void test_unknown_terminal_and_locale(void **state)
{
	static const char *const names[] = {"TERM=xterm-nonesuch", "TERM=nonesuch",
		"TERM=tmux-nonesuch", "TERM=nonesuch\033[5m"};
	static const char *const types[] = {
		"xterm-256color", "xterm-256color", "screen-256color", "xterm-256color"};

	(void)state;
	tty_need_events(target);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *const environment[] = {
			names[i], "LC_ALL=xx_YY.UTF-8", "NO_COLOR=", "COLUMNS=", "LINES=", NULL};
		struct tty *tty = start(environment, 120, 24, NULL);

		assert_true(tty_expect(tty, "not in terminfo"));
		assert_true(tty_expect(tty, types[i]));
		assert_true(tty_expect(tty, "spinning_wheel"));
		assert_true(tty_contains(tty, "38;5;"));
		assert_true(tty_contains(tty, "\342")); /* bars and dots, which are not ASCII */
		assert_false(tty_contains(tty, "\033[5m"));
		tty_type(tty, "q");
		expect_exit(tty, 0);
		assert_true(tty_modes_restored(tty));
		finish(tty);
	}
}

/* Types a key whose bytes come one by one, like over a slow link. */
static void type_torn(struct tty *tty, const char *key)
{
	for (; *key; key++) {
		const char byte[] = {*key, '\0'};

		tty_type(tty, byte);
		poll(NULL, 0, 40);
	}
}

static void test_torn_keys(void **state)
{
	static const char *const names[] = {
		"TERM=xterm-256color", "TERM=linux", "TERM=vt100", "TERM=nonesuch"};
	static const char *const keys[] = {"\033[B", "\033OB"};

	(void)state;
	tty_need_events(target);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) * 2; i++) {
		/* The first two use the default delay.  The others have time for a busy machine. */
		const char *const environment[] = {names[i / 2], "LC_ALL=C.UTF-8",
			"COLUMNS=", "LINES=", "ASAN_OPTIONS=detect_leaks=0",
			i < 2 ? "ESCDELAY=" : "ESCDELAY=5000", NULL};
		struct tty *tty = start(environment, 80, 24, NULL);

		assert_true(tty_expect(tty, "spinning_wheel"));
		tty_type(tty, "R");
		assert_true(tty_expect(tty, "rows are"));
		type_torn(tty, keys[i % 2]);
		tty_type(tty, "\r");
		assert_true(tty_expect(tty, "by image"));
		tty_type(tty, "q");
		expect_exit(tty, 0);
		finish(tty);
	}
}

/* Ctrl with an arrow, F2, F5 and a terminal's reply: no part of their bytes acts as a key. */
static void test_unknown_keys(void **state)
{
	static const char *const environment[] = {"TERM=vt100", "LC_ALL=C.UTF-8",
		"COLUMNS=", "LINES=", "ASAN_OPTIONS=detect_leaks=0", "ESCDELAY=5000", NULL};
	static const char *const keys[] = {"\033[1;5B", "\033[1;2B", "\033[[B", "\033[66;5u",
		"\033[15~", "\033O5B", "\033[?62;1;2c"};
	struct tty *tty;

	(void)state;
	tty_need_events(target);
	tty = start(environment, 80, 24, NULL);
	assert_true(tty_expect(tty, "spinning_wheel"));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		type_torn(tty, keys[i]);
	tty_type(tty, "R");
	assert_true(tty_expect(tty, "rows are"));
	tty_type(tty, "\r");
	tty_type(tty, "q");
	expect_exit(tty, 0);
	finish(tty);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shows_and_quits),
		cmocka_unit_test(test_other_rows),
		cmocka_unit_test(test_follows_the_size),
		cmocka_unit_test(test_signals_that_end),
		cmocka_unit_test(test_hang_up_without_a_signal),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_editor),
		cmocka_unit_test(test_target_is_gone),
		cmocka_unit_test(test_editor_stops),
		cmocka_unit_test(test_source_hangs),
		cmocka_unit_test(test_crashes),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_failure_shows_no_screen),
		cmocka_unit_test(test_ascii_and_no_color),
		cmocka_unit_test(test_other_terminals),
		cmocka_unit_test(test_unknown_terminal_and_locale),
		cmocka_unit_test(test_torn_keys),
		cmocka_unit_test(test_unknown_keys),
	};
	int failed;

	if (argc < 2) {
		fprintf(stderr, "usage: test_tty STROBE\n");
		return 2;
	}
	strobe = argv[1];
	start_target();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	return failed;
}
