/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_unwind.c - the cost of unwinding a sample when most rules are cached.
 *
 *	bench_unwind
 *
 * Samples have 8 to 31 frames.  Their return addresses are in 1,500 places, some much more common
 * than others.  A walk finds most rules in the cache, as it does in programs.  The result is the
 * median over batches of samples.
 */
#include "sampler/store/spaces.h"
#include "sampler/store/unwind.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CODE 0x400000ull
#define SP 0x7ff000000000ull
#define PLACES 1500u
#define SAMPLES 512u
#define BATCH 64u
#define ROUNDS 200u
#define STACK_WORDS 512u
#define FRAME_WORDS 12u

struct copy {
	uint64_t registers[3], stack[STACK_WORDS];
	unsigned int frames;
};

static uint64_t seed = 7, asked;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(((seed >> 33) * n) >> 31);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Each place covers 4 KiB; its frame is FRAME_WORDS long.  Place 0 is the root. */
static enum unwind_answer find(void *ctx, uint32_t image, uint64_t offset, struct unwind_rule *rule)
{
	(void)ctx;
	(void)image;
	asked++;
	*rule = (struct unwind_rule){.cfa = UNWIND_CFA_SP,
		.cfa_off = FRAME_WORDS * 8,
		.ra = UNWIND_REG_CFA,
		.ra_off = -8,
		.bp = UNWIND_REG_CFA,
		.bp_off = -16};
	if (offset < 0x1000)
		rule->cfa = UNWIND_CFA_END;
	return UNWIND_KNOWN;
}

/* Returns an address in a random place; lower places are more common. */
static uint64_t any_place(void)
{
	const uint32_t most = 1 + random_below(PLACES - 1);

	return CODE + (1 + random_below(most)) * 0x1000ull + 0x10 + 8 * random_below(2);
}

static void fill(struct copy *copy)
{
	copy->frames = 8 + random_below(24);
	copy->registers[0] = 0;
	copy->registers[1] = SP;
	copy->registers[2] = any_place();
	for (unsigned int i = 1; i < copy->frames; i++)
		copy->stack[i * FRAME_WORDS - 1] =
			i + 1 == copy->frames ? CODE + 0x10 : any_place();
}

static int compare(const void *a, const void *b)
{
	const double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

static int measure(struct unwind *unwind, const struct space *space, const struct copy *copies)
{
	static double costs[ROUNDS * SAMPLES / BATCH], each[ROUNDS * SAMPLES / BATCH];
	const struct record_format format = {.regs_user = 1u << 6 | 1u << 7 | 1u << 8};
	static uint64_t out[UNWIND_FRAMES_MAX];
	size_t n = 0;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		if (round == 1)
			asked = 0;
		for (unsigned int first = 0; first < SAMPLES; first += BATCH) {
			const uint64_t begun_ns = now_ns();
			size_t frames = 0, found;

			for (unsigned int i = first; i < first + BATCH; i++) {
				const struct record_sample sample = {.has_more = true,
					.more = {.regs_user = {PERF_SAMPLE_REGS_ABI_64,
							 copies[i].registers},
						.stack = copies[i].stack,
						.stack_len = sizeof(copies[i].stack)}};
				if (unwind_chain(unwind, space, &sample, &format, EM_X86_64, out,
					    UNWIND_FRAMES_MAX, &found) != UNWIND_WHOLE ||
					found != copies[i].frames)
					return 1;
				frames += found;
			}
			const double took = (double)(now_ns() - begun_ns);
			costs[n] = took / BATCH;
			each[n++] = took / (double)frames;
		}
	}
	qsort(costs, n, sizeof(*costs), compare);
	qsort(each, n, sizeof(*each), compare);
	printf("unwinding: %.3f us a sample, %.1f ns a frame (medians of batches of %u samples); "
	       "%.2f%% of the frames asked for a rule\n",
		costs[n / 2] / 1000, each[n / 2], BATCH,
		100.0 * (double)asked / ((ROUNDS - 1) * SAMPLES * 19.5));
	printf("at most 0.5 us: %s; at most 25 ns: %s\n", costs[n / 2] <= 500 ? "yes" : "NO",
		each[n / 2] <= 25 ? "yes" : "NO");
	return 0;
}

int main(void)
{
	static struct copy copies[SAMPLES];
	const struct unwind_source source = {.find = find};
	const struct record_mmap program = {.start = CODE,
		.len = (PLACES + 1) * 0x1000ull,
		.executable = true,
		.has_inode = true,
		.inode = 5,
		.filename = "/bin/app"};
	struct spaces spaces = {0};
	struct unwind *unwind = NULL;
	struct space *space = NULL;
	struct images *images = NULL;
	int ret = 1;

	for (unsigned int i = 0; i < SAMPLES; i++)
		fill(&copies[i]);
	if (images_new(&images))
		return 1;
	spaces.images = images;
	if (!space_new(&space, &spaces, 7) && !space_map(space, &program, SPACE_NEWER) &&
		!unwind_new(&unwind, images, &source))
		ret = measure(unwind, space, copies);
	if (ret)
		fprintf(stderr, "bench_unwind: a chain is wrong\n");
	unwind_free(unwind);
	space_free(space);
	images_free(images);
	return ret;
}
