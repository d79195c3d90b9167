// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * names.c - busy threads and a function with names that would harm a terminal.
 *
 * usage: names [SECONDS]     0, the default: no end
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Quoted, so that the assembler takes any byte. */
uint64_t names_evil(uint64_t x) __asm__("\"names_evil\033[2J\033]0;owned\007\"");

__attribute__((noinline)) uint64_t names_evil(uint64_t x)
{
	for (unsigned int i = 0; i < 100000; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void *names_main(void *name)
{
	uint64_t x = 1;

	prctl(PR_SET_NAME, name);
	for (;;)
		x = names_evil(x);
	return NULL;
}

int main(int argc, char **argv)
{
	static char names[][16] = {
		"\033[31mred\033[2J", /* colour, clear */
		"\033]0;title\007", /* the window's title */
		"tab\tnew\nline\r", /* layout */
		"\x9b"
		"31mC1\x90q", /* 8-bit controls */
		"\xff\xfe\xc3(\xe2\x82", /* not UTF-8 */
		"\xe2\x80\xae"
		"txt.exe", /* right to left */
		"a) S 1 2 (b", /* for parsers of stat */
		"del\x7f"
		"e\xcc\x81\xcc\x81", /* DEL, stacked accents */
	};
	unsigned int seconds = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, names_main, names[i]))
			return 1;
	}
	prctl(PR_SET_NAME, names[0]);
	printf("ready\n");
	fflush(stdout);
	if (seconds) {
		sleep(seconds);
		return 0;
	}
	for (;;)
		pause();
}
