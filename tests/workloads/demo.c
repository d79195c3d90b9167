// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * demo.c - strobe-demo, the program that scripts/run profiles: a small imitation of a web server.
 *
 * Two worker threads serve requests (render a fractal, parse JSON, sign, sort).  Their load rises
 * and falls over 20 seconds.  A ticker wakes up 50 times a second.  Every 8 seconds a cache is
 * dropped and filled again, page by page.  The program runs until it is killed or its parent ends.
 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define NS_PER_S 1000000000ull

#define TILE 48 /* pixels of a tile's side */
#define NAMES 600 /* to sort */
/* MiB; filled again a few times every 8 s */
#define CACHE_MIB 32

struct request {
	unsigned int number;
	char body[512];
	size_t body_len;
	uint32_t digest[8];
	unsigned int pixels[TILE];
	const char *names[NAMES];
	double total; /* sum of the numbers in the body */
};

struct worker {
	unsigned int number;
	uint64_t requests;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* --- render_page: a fractal --- */

static NOINLINE unsigned int mandelbrot_point(double cx, double cy)
{
	double x = 0, y = 0;
	unsigned int i;

	for (i = 0; i < 120 && x * x + y * y < 4; i++) {
		double next = x * x - y * y + cx;

		y = 2 * x * y + cy;
		x = next;
	}
	return i;
}

static NOINLINE unsigned int mandelbrot_row(double cy, double zoom)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < TILE; i++)
		sum += mandelbrot_point(-0.7436 + (i - TILE / 2.0) * zoom, cy);
	return sum;
}

static NOINLINE void render_tile(struct request *request, double zoom)
{
	for (unsigned int i = 0; i < TILE; i++)
		request->pixels[i] = mandelbrot_row(0.1318 + (i - TILE / 2.0) * zoom, zoom);
}

static NOINLINE void render_page(struct request *request)
{
	render_tile(request, 0.004 / (1 + request->number % 5));
}

/* --- json_parse: a recursive descent --- */

struct json {
	const char *at;
	const char *end;
	double total;
	unsigned int strings;
};

static void json_value(struct json *json);

static NOINLINE void json_skip_blanks(struct json *json)
{
	while (json->at < json->end && (*json->at == ' ' || *json->at == '\n'))
		json->at++;
}

static NOINLINE void json_string(struct json *json)
{
	for (json->at++; json->at < json->end && *json->at != '"'; json->at++)
		json->at += *json->at == '\\';
	json->at++;
	json->strings++;
}

static NOINLINE void json_number(struct json *json)
{
	double value = 0;

	for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++)
		value = value * 10 + (*json->at - '0');
	json->total += value;
}

static NOINLINE void json_members(struct json *json, char close)
{
	for (json->at++; json->at < json->end && *json->at != close;) {
		json_value(json);
		json_skip_blanks(json);
		if (json->at < json->end && (*json->at == ',' || *json->at == ':'))
			json->at++;
		json_skip_blanks(json);
	}
	json->at++;
}

static NOINLINE void json_value(struct json *json)
{
	json_skip_blanks(json);
	if (json->at >= json->end)
		return;
	if (*json->at == '{')
		json_members(json, '}');
	else if (*json->at == '[')
		json_members(json, ']');
	else if (*json->at == '"')
		json_string(json);
	else if (*json->at >= '0' && *json->at <= '9')
		json_number(json);
	else
		json->at++;
}

static NOINLINE void json_parse(struct request *request)
{
	for (unsigned int i = 0; i < 200; i++) {
		struct json json = {request->body, request->body + request->body_len, 0, 0};

		json_value(&json);
		request->total += json.total + json.strings;
	}
}

/* --- sign_response: a hash similar to SHA-256 --- */

static inline __attribute__((always_inline)) uint32_t rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static NOINLINE void hash_block(uint32_t *state, const uint8_t *block)
{
	uint32_t schedule[64], v[8];

	memcpy(schedule, block, 64);
	for (unsigned int i = 16; i < 64; i++)
		schedule[i] = schedule[i - 16] + schedule[i - 7] +
			(rotate(schedule[i - 15], 7) ^ rotate(schedule[i - 15], 18)) +
			(rotate(schedule[i - 2], 17) ^ rotate(schedule[i - 2], 19));
	memcpy(v, state, sizeof(v));
	for (unsigned int i = 0; i < 64; i++) {
		uint32_t a = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
			((v[4] & v[5]) ^ (~v[4] & v[6])) + schedule[i] + 0x428a2f98u * (i + 1);
		uint32_t b = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
			((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		for (unsigned int k = 7; k; k--)
			v[k] = v[k - 1];
		v[4] += a;
		v[0] = a + b;
	}
	for (unsigned int i = 0; i < 8; i++)
		state[i] += v[i];
}

static NOINLINE void hash_update(uint32_t *state, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i + 64 <= len; i += 64)
		hash_block(state, data + i);
}

static NOINLINE void sign_response(struct request *request)
{
	for (unsigned int i = 0; i < 30; i++)
		hash_update(request->digest, (const uint8_t *)request->body, sizeof(request->body));
}

/* --- sort_names --- */

static NOINLINE int compare_names(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

static NOINLINE void quicksort(const char **names, size_t n)
{
	const char *pivot;
	size_t left = 0, right;

	if (n < 2)
		return;
	pivot = names[n / 2];
	right = n - 1;
	for (;; left++, right--) {
		const char *swap;

		while (compare_names(names[left], pivot) < 0)
			left++;
		while (compare_names(names[right], pivot) > 0)
			right--;
		if (left >= right)
			break;
		swap = names[left];
		names[left] = names[right];
		names[right] = swap;
	}
	quicksort(names, left);
	quicksort(names + left, n - left);
}

static NOINLINE void sort_names(struct request *request)
{
	static const char letters[] = "the quick brown fox jumps over the lazy dog again and again";
	uint32_t seed = request->number;

	for (unsigned int i = 0; i < NAMES; i++) {
		seed = seed * 1664525 + 1013904223;
		request->names[i] = letters + (seed >> 16) % (sizeof(letters) - 1);
	}
	quicksort(request->names, NAMES);
}

/* --- the server --- */

static void read_request(struct request *request, unsigned int number)
{
	int len;

	memset(request, 0, sizeof(*request));
	request->number = number;
	len = snprintf(request->body, sizeof(request->body),
		"{\"id\": %u, \"user\": {\"name\": \"user-%u\", \"tags\": [\"a\", \"b\\\"c\", "
		"[1, 2, [3, 4, [5]]]]}, \"items\": [{\"sku\": %u, \"count\": 3}, "
		"{\"sku\": %u, \"count\": 12, \"options\": {\"gift\": [\"yes\"]}}]}",
		number, number % 97, number * 7, number * 13);
	request->body_len = (size_t)len;
}

static NOINLINE void serve_request(struct request *request)
{
	json_parse(request);
	render_page(request);
	if (request->number % 2)
		sort_names(request);
	sign_response(request);
}

/* Touches every page, like a cache that is filled again. */
static NOINLINE void cache_touch(volatile uint8_t *memory, size_t len)
{
	for (size_t i = 0; i < len; i += 4096)
		memory[i] = 1;
}

static NOINLINE void cache_refill(void)
{
	size_t len = (size_t)CACHE_MIB << 20;
	void *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	madvise(memory, len, MADV_NOHUGEPAGE);
	cache_touch(memory, len);
	munmap(memory, len);
}

static void rest(uint64_t ns)
{
	struct timespec time = {
		.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

	nanosleep(&time, NULL);
}

/* Load of a worker, from 0.1 to 1 in periods of 20 s.  The two workers are half a period apart. */
static double load_now(unsigned int worker)
{
	double phase = (double)(now_ns() % (20 * NS_PER_S)) / (20.0 * (double)NS_PER_S);

	return 0.55 + 0.45 * sin(6.283185307 * (phase + worker * 0.5));
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct request request;
	char name[16];
	uint64_t refill = now_ns() + 3 * NS_PER_S;

	/* the first worker is the main thread, which keeps the program's name */
	if (worker->number) {
		snprintf(name, sizeof(name), "worker-%u", worker->number + 1);
		prctl(PR_SET_NAME, name);
	}
	for (unsigned int number = worker->number;; number += 2) {
		uint64_t begin = now_ns(), spent;
		double load = load_now(worker->number);

		for (unsigned int i = 0; i < 20; i++) {
			read_request(&request, number + i);
			serve_request(&request);
			worker->requests++;
		}
		if (worker->number == 0 && begin > refill) {
			for (unsigned int i = 0; i < 6; i++)
				cache_refill();
			refill += 8 * NS_PER_S;
		}
		spent = now_ns() - begin;
		rest((uint64_t)((double)spent * (1 - load) / load));
	}
	return NULL;
}

static NOINLINE double collect_statistics(const struct worker *workers)
{
	double sum = 0;

	for (unsigned int i = 1; i < 20000; i++)
		sum += sqrt((double)(workers[i % 2].requests + i));
	return sum;
}

static void ticker(const struct worker *workers)
{
	volatile double load = 0;

	prctl(PR_SET_NAME, "ticker");
	for (;;) {
		rest(NS_PER_S / 50);
		load = collect_statistics(workers);
	}
	(void)load;
}

static void *ticker_main(void *arg)
{
	ticker(arg);
	return NULL;
}

int main(void)
{
	static struct worker workers[2] = {{.number = 0}, {.number = 1}};
	pid_t parent = getppid();
	pthread_t thread;

	/* The parent may have ended before prctl() takes effect. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		return 1;
	if (pthread_create(&thread, NULL, worker_main, &workers[1]) ||
		pthread_create(&thread, NULL, ticker_main, workers))
		return 1;
	worker_main(&workers[0]);
	return 0;
}
