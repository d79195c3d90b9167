// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * threads.c - many threads: a few are busy, the others sleep in a futex or in nanosleep.
 *
 * Prints "ready" when all threads run, and goes on until it is killed.
 *
 * usage: threads [THREADS [BUSY]]     default: 100 threads, 2 of them busy
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE (64u * 1024)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long running, busy = 2;

uint64_t threads_busy(uint64_t x);

__attribute__((noinline)) uint64_t threads_busy(uint64_t x)
{
	for (unsigned int i = 0; i < 100000; i++) {
		x = x * 6364136223846793005u + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void threads_wait(void)
{
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
}

static void threads_sleep(void)
{
	const struct timespec hour = {.tv_sec = 3600};

	for (;;)
		nanosleep(&hour, NULL);
}

static void *threads_main(void *arg)
{
	unsigned long number = (unsigned long)(uintptr_t)arg;
	uint64_t x = number;
	char name[16];

	snprintf(name, sizeof(name), "%s-%lu", number < busy ? "busy" : "idle", number % 100000);
	prctl(PR_SET_NAME, name);
	pthread_mutex_lock(&lock);
	running++;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	if (number >= busy && number % 2)
		threads_wait();
	if (number >= busy)
		threads_sleep();
	for (;;)
		x = threads_busy(x);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	pthread_attr_t attr;
	int err;

	if (argc > 2)
		busy = strtoul(argv[2], NULL, 10);
	pthread_attr_init(&attr);
	err = pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (unsigned long i = 0; !err && i < threads; i++) {
		pthread_t thread;

		err = pthread_create(&thread, &attr, threads_main, (void *)(uintptr_t)i);
	}
	if (err) {
		fprintf(stderr, "threads: %s\n", strerror(err));
		return 1;
	}
	pthread_mutex_lock(&lock);
	while (running < threads)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
