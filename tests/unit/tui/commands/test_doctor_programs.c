/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_doctor_programs.c - running programs, and the table of ways to find their callchains.
 */
#include "tui/commands/doctor_programs.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/limits_fixture.h"

static char *print(const struct doctor_programs *programs, unsigned int *neither)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*neither = doctor_programs_print(out, programs);
	fclose(out);
	assert_null(strchr(text, '\033'));
	return text;
}

static void test_table(void **state)
{
	const struct doctor_programs programs = {
		.list = {{"/usr/bin/ru\033by", 2, 3723000, DOCTOR_YES, DOCTOR_NO, DOCTOR_YES, 0,
				 false, false},
			{"/opt/bare", 1, 59999, DOCTOR_NO, DOCTOR_UNKNOWN, DOCTOR_NO, 0, false,
				false},
			{"/opt/go", 1, 500, DOCTOR_NO, DOCTOR_YES, DOCTOR_FEW, 0, false, false},
			{"sshd", 3, 0, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN, EACCES,
				false, false},
			{"/a (deleted)", 1, 0, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN, DOCTOR_UNKNOWN,
				ENOENT, true, false},
			{"/opt/old", 1, 0, DOCTOR_NO, DOCTOR_UNKNOWN, DOCTOR_YES, 0, false, true}},
		.n = 6,
		.more = 7,
	};
	unsigned int neither;
	char *text = print(&programs, &neither);

	(void)state;
	assert_int_equal(neither, 1);
	expect_text(
		text, "     1:02:03         2         yes             no   yes  /usr/bin/ru?by\n");
	expect_text(text, "     0:00:59         1          no              ?    no  /opt/bare\n");
	expect_text(text, "          no            yes   few  /opt/go\n");
	expect_text(text, "?              ?     ?  sshd: not read (Permission denied)\n");
	expect_text(text, "/a (deleted): not read (the file was deleted)\n");
	expect_text(text,
		"no              ?   yes  /opt/old (32 bits, unwound by frame pointers alone");
	expect_text(text, "and 7 more programs");
	expect_text(text, "-> with neither: rebuild with -fasynchronous-unwind-tables");
	expect_text(text, "-> without names: they were stripped");
	free(text);
}

static void test_no_remedy(void **state)
{
	struct doctor_programs programs = {
		.list = {{"/bin/a", 1, 0, DOCTOR_YES, DOCTOR_NO, DOCTOR_YES, 0, false, false}},
		.n = 1,
		.more = 1};
	unsigned int neither;
	char *text = print(&programs, &neither);

	(void)state;
	assert_int_equal(neither, 0);
	expect_text(text, "and 1 more program,");
	assert_null(strstr(text, "->"));
	free(text);
	programs = (struct doctor_programs){.error = EXDEV};
	text = print(&programs, &neither);
	expect_text(text, "not known");
	free(text);
}

static void test_gather(void **state)
{
	const struct timespec enough = {.tv_nsec = 300000000};
	const struct doctor_program *own = NULL;
	struct doctor_programs programs;
	char path[512];
	const pid_t child = fork();

	(void)state;
	if (!child)
		for (;;)
			;
	nanosleep(&enough, NULL);
	doctor_programs_gather(&programs);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(programs.error, 0);
	const ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(len > 0);
	path[len] = '\0';
	for (size_t i = 0; i < programs.n; i++) {
		const struct doctor_program *one = &programs.list[i];
		assert_true(one->path[0] && one->processes);
		assert_true(!i || one->cpu_ms <= one[-1].cpu_ms);
		if (!strcmp(one->path, path)) {
			assert_null(own);
			own = one;
		}
	}
	if (!own) {
		assert_true(programs.more > 0);
		skip();
	}
	assert_int_equal(own->error, 0);
	assert_int_equal(own->processes, 1);
	assert_true(own->cpu_ms > 0);
	assert_int_equal(own->unwind_data, DOCTOR_YES);
	assert_int_not_equal(own->frame_pointers, DOCTOR_UNKNOWN);
	assert_int_equal(own->names, DOCTOR_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_remedy),
		cmocka_unit_test(test_gather),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
