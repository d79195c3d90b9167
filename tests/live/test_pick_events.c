/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_pick_events.c - adds and drops events at the keyboard.
 *
 * A dropped event leaves no descriptor, ring or memory.  The screen goes on while the symbol that
 * an event names is looked up.
 *
 * usage: test_pick_events STROBE SHARES
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/live/amounts.h"
#include "tests/live/tty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IN_TURN 50
#define SOFTWARE 9
#define N_NAMES 14 /* small, since closing a tracepoint is slow */

#define GROWTH_KB 2048

static const char *strobe;
static char dir[200];
static char program[256];
static pid_t target;
static char target_text[16];

static const char *const plain[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8",
	"NO_COLOR=", "COLUMNS=", "LINES=",
	/* If set, malloc writes to free memory, which then counts as used. */
	"MALLOC_PERTURB_=0", NULL};

/* No name is part of another event's name. */
static char names[N_NAMES][96] = {"task-clock", "page-faults", "minor-faults", "major-faults",
	"context-switches", "cpu-migrations", "alignment-faults", "emulation-faults",
	"cgroup-switches"};

/* Adds tracepoints, or the software events again if there are no tracepoints. */
static void choose_names(void)
{
	FILE *in = fopen("/sys/kernel/tracing/available_events", "re");
	char line[96];
	size_t n = SOFTWARE;

	while (in && n < N_NAMES && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "ext4:ext4_", 10) || !strncmp(line, "block:block_", 12) ||
			!strncmp(line, "writeback:", 10))
			snprintf(names[n++], sizeof(names[0]), "%s", line);
	}
	if (in)
		fclose(in);
	for (; n < N_NAMES; n++)
		memcpy(names[n], names[n % SOFTWARE], sizeof(names[0]));
}

struct held {
	size_t events, others, rings;
	long memory_kb;
};

/* Counts the descriptors of events and of other files. */
static void count_fds(pid_t pid, struct held *held)
{
	char path[64], link[128], to[128];
	struct dirent *entry;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *fds = opendir(path);
	assert_non_null(fds);
	while ((entry = readdir(fds))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(link, sizeof(link), "%s/%.16s", path, entry->d_name);
		len = readlink(link, to, sizeof(to) - 1);
		to[len > 0 ? len : 0] = '\0';
		if (strstr(to, "[perf_event]"))
			held->events++;
		else
			held->others++;
	}
	closedir(fds);
}

static struct held look(const struct tty *tty)
{
	struct held held = {0};
	char path[64], line[512];

	count_fds(tty->program, &held);
	snprintf(path, sizeof(path), "/proc/%d/maps", tty->program);
	FILE *in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		held.rings += strstr(line, "[perf_event]") != NULL;
	fclose(in);
	snprintf(path, sizeof(path), "/proc/%d/status", tty->program);
	in = fopen(path, "re");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, "VmRSS:", 6))
			held.memory_kb = strtol(line + 6, NULL, 10);
	fclose(in);
	return held;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns whether strobe has n events open within most_ms.  Reads strobe's output meanwhile,
 * since a full terminal would block it. */
static bool comes_to(struct tty *tty, size_t n, long most_ms)
{
	const long end = now_ms() + most_ms;

	for (;;) {
		struct pollfd fd = {.fd = tty->master, .events = POLLIN};
		struct held held = {0};

		count_fds(tty->program, &held);
		if (held.events == n)
			return true;
		if (now_ms() >= end)
			return false;
		tty_forget(tty);
		poll(&fd, 1, 10);
	}
}

/* Returns the number of open events once it is stable.  strobe also opens events on its own
 * threads to measure its own cost, up to a second after they start. */
static size_t settled_events(struct tty *tty)
{
	struct held now = {0};
	size_t n = 0;

	for (int same = 0, rounds = 0; same < 30 && rounds < TTY_TIMEOUT_MS / 100; rounds++) {
		struct pollfd fd = {.fd = tty->master, .events = POLLIN};

		now = (struct held){0};
		count_fds(tty->program, &now);
		same = now.events == n ? same + 1 : 0;
		n = now.events;
		tty_forget(tty);
		/* The screen is quiet for only a part of that time. */
		for (const long end = now_ms() + 100; now_ms() < end;)
			if (poll(&fd, 1, 10) > 0)
				tty_forget(tty);
	}
	return n;
}

static void add_and_drop(struct tty *tty, const char *name, size_t before)
{
	char keys[256];

	/* The prompt adds the event.  The search selects it, to drop it. */
	snprintf(keys, sizeof(keys), ":%s\r", name);
	tty_type(tty, keys);
	if (!comes_to(tty, before + 1, TTY_TIMEOUT_MS))
		fail_msg("%s is not opened", name);
	snprintf(keys, sizeof(keys), "/\x15%s\r", name);
	tty_type(tty, keys);
	/* Enter is refused until the screen knows that the event is open. */
	for (int i = 0; i < 100; i++) {
		tty_type(tty, "\r");
		if (comes_to(tty, before, 600))
			return;
	}
	fail_msg("%s is not dropped", name);
}

static struct tty *start(const char *event)
{
	const char *argv[] = {
		strobe, "-p", target_text, "-e", event, "-F", "20", "--cache-dir", "", NULL};
	struct tty *tty = calloc(1, sizeof(*tty));

	assert_non_null(tty);
	assert_int_equal(tty_start(tty, (char *const *)argv, plain, 120, 40), 0);
	return tty;
}

static void finish(struct tty *tty)
{
	int status;

	tty_type(tty, "\033\033qqq");
	assert_true(tty_status(tty, &status));
	if (WIFSIGNALED(status))
		print_message("crash: the program ended by signal %d\n", WTERMSIG(status));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	tty_close(tty);
	free(tty);
}

static bool holds_no_more(const struct held *now, const struct held *before)
{
	return now->events == before->events && now->others <= before->others &&
		now->rings == before->rings;
}

static void test_nothing_is_left(void **state)
{
	struct tty *tty;
	struct held before, after;
	size_t events;

	(void)state;
	tty_need_events(target);
	choose_names();
	tty = start("cpu-clock");
	assert_true(tty_expect(tty, "cpu-clock"));
	tty_type(tty, "E");
	assert_true(tty_expect(tty, "Tracepoints"));
	events = settled_events(tty);
	assert_true(events > 0);
	/* The first rounds fill the caches that stay: names, history, lists. */
	for (size_t i = 0; i < 2 * N_NAMES; i++)
		add_and_drop(tty, names[i % N_NAMES], events);
	before = look(tty);
	for (int round = 0; round < 2; round++) {
		if (round)
			before.memory_kb = after.memory_kb;
		for (size_t i = 0; i < IN_TURN; i++)
			add_and_drop(tty, names[i % N_NAMES], events);
		after = look(tty);
		/* A table that grows, or a large page, takes 2 MB once.  A leak grows again. */
		if (after.memory_kb <= before.memory_kb + GROWTH_KB)
			break;
	}
	/* A file whose symbols are being read, and an event of the reading thread, are open for
	 * a moment. */
	for (int i = 0; !holds_no_more(&after, &before) && i < TTY_TIMEOUT_MS / 100; i++) {
		comes_to(tty, 0, 100);
		after = look(tty);
	}
	assert_int_equal(after.events, before.events);
	assert_true(after.others <= before.others);
	assert_int_equal(after.rings, before.rings);
	/* Sanitizers keep freed memory for a while. */
	if (amounts_count() && after.memory_kb > before.memory_kb + GROWTH_KB)
		fail_msg("%ld kB have become %ld kB", before.memory_kb, after.memory_kb);
	finish(tty);
}

/* --- symbols --- */

/* Blocks every open of the program, like a disk that does not answer.  Returns a fanotify
 * descriptor, or -1 if that is not possible here. */
static int hold_program(void)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY);

	if (fd >= 0 && !fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, program))
		return fd;
	print_message("skipped: a program cannot be held here: %s\n", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The search for a probe's function goes on in the background.  It can be given up.  It succeeds
 * once the file can be opened again. */
static void test_looking_goes_on_behind(void **state)
{
	char keys[512];
	struct tty *tty;
	size_t events;
	int fan;

	(void)state;
	tty_need_events(target);
	tty = start("task-clock");
	assert_true(tty_expect(tty, "task-clock"));
	assert_true(tty_expect(tty, "shares"));
	tty_type(tty, "E");
	assert_true(tty_expect(tty, "Tracepoints"));
	events = settled_events(tty);
	fan = hold_program();
	if (fan < 0) {
		finish(tty);
		skip();
	}
	snprintf(keys, sizeof(keys), ":uprobe:%s:main\r", program);
	tty_type(tty, keys);
	assert_true(tty_expect(tty, "Looking for main in held"));
	/* The screen obeys keys meanwhile. */
	tty_type(tty, "/emulation\r");
	assert_true(tty_expect(tty, "emulation-faults"));
	tty_type(tty, "\033");
	assert_true(tty_expect(tty, "no longer looking"));
	close(fan);
	/* While the file was held, the opening thread had a clock event of its own. */
	assert_true(comes_to(tty, events, TTY_TIMEOUT_MS));
	if (geteuid()) {
		print_message("part left out: probes need root\n");
	} else {
		tty_type(tty, ":");
		tty_type(tty, "\033OA\r"); /* the previous entry */
		if (!comes_to(tty, events + 1, TTY_TIMEOUT_MS))
			fail_msg("%zu events are open, and were %zu", look(tty).events, events);
	}
	finish(tty);
}

/* --- events that exclude each other --- */

/* The screen shows the command line's sentence, and no event opens. */
static void test_clash(void **state)
{
	static const struct {
		const char *begin, *added;
	} cases[] = {{"context-switches", "wall"}, {"preempted", "context-switches"}};

	(void)state;
	tty_need_events(target);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tty *tty = start(cases[i].begin);
		char keys[64];
		size_t events;

		assert_true(tty_expect(tty, cases[i].begin));
		tty_type(tty, "E");
		assert_true(tty_expect(tty, "Tracepoints"));
		events = settled_events(tty);
		snprintf(keys, sizeof(keys), ":%s\r", cases[i].added);
		tty_type(tty, keys);
		assert_true(tty_expect(tty, "cannot be told apart"));
		/* While the name was looked up, its thread had a clock event of its own. */
		assert_true(comes_to(tty, events, TTY_TIMEOUT_MS));
		finish(tty);
	}
}

static int make_target(const char *shares)
{
	const char *tmp = getenv("TMPDIR");
	char command[512];

	snprintf(dir, sizeof(dir), "%s/strobe-test-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(program, sizeof(program), "%s/held", dir);
	snprintf(command, sizeof(command), "cp '%s' '%s'", shares, program);
	if (system(command))
		return -1;
	target = fork();
	if (target == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(shares, shares, (char *)NULL);
		_exit(127);
	}
	snprintf(target_text, sizeof(target_text), "%d", target);
	return target > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_looking_goes_on_behind),
		cmocka_unit_test(test_clash),
	};
	char command[256];
	int failed;

	if (argc > 3)
		cmocka_set_test_filter(argv[3]);
	if (argc < 3) {
		fprintf(stderr, "usage: test_pick_events STROBE SHARES\n");
		return 2;
	}
	strobe = argv[1];
	if (make_target(argv[2]))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command) || failed;
}
