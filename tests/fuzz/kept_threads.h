/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kept_threads.h - threads that are reused: after a function returns, its thread waits for another.
 *
 * Creating a thread takes longer than reading a small recording.  The compiler includes this header
 * before each source of a target that has threads.
 */
#ifndef TESTS_FUZZ_KEPT_THREADS_H
#define TESTS_FUZZ_KEPT_THREADS_H

#include <pthread.h>

int kept_create(
	pthread_t *out, const pthread_attr_t *attributes, void *(*function)(void *), void *ctx);
int kept_join(pthread_t thread, void **result);

#ifndef KEPT_THREADS_C
#define pthread_create(...) kept_create(__VA_ARGS__)
#define pthread_join(...) kept_join(__VA_ARGS__)
#endif

#endif
