// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * wide.c - 20,000 busy functions at the ends of many distinct callchains, 15 to 25 frames deep.
 *
 * A path is a seed: it gives the depth of the chain, and which function is at each level.  The
 * deepest function computes for some microseconds, in a loop of three instructions.  A sample may
 * hit any of them, so there are several times as many stacks as paths: 16,000 paths make about
 * 100,000 stacks.
 *
 * The assembler makes the functions, since a compiler takes minutes for so many.
 *
 * usage: wide [THREADS [PATHS]]
 *        default: 1 thread, 16,000 paths, until it is killed
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 64
#define FUNCTIONS 20000u
#define DEPTH_MIN 15u
#define DEPTH_SPREAD 11u

struct walk {
	uint64_t path;
	unsigned int left;
};

typedef void step_fn(struct walk *walk);
extern step_fn *const wide_steps[FUNCTIONS];
step_fn *wide_choose(struct walk *walk);

static uint64_t paths = 16000;

#if defined(__x86_64__)
#define BODY                   \
	"push %rbp\n"          \
	"mov %rsp, %rbp\n"     \
	"push %rbx\n"          \
	"sub $8, %rsp\n"       \
	"mov %rdi, %rbx\n"     \
	"call wide_choose\n"   \
	"mov %rbx, %rdi\n"     \
	"test %rax, %rax\n"    \
	"jz 1f\n"              \
	"call *%rax\n"         \
	"jmp 3f\n"             \
	"1: mov $2000, %ecx\n" \
	"2: imul %rdi, %rdi\n" \
	"add $1, %rdi\n"       \
	"sub $1, %ecx\n"       \
	"jnz 2b\n"             \
	"3: add $8, %rsp\n"    \
	"pop %rbx\n"           \
	"pop %rbp\n"           \
	"ret\n"
#elif defined(__aarch64__)
#define BODY                          \
	"stp x29, x30, [sp, #-32]!\n" \
	"mov x29, sp\n"               \
	"str x19, [sp, #16]\n"        \
	"mov x19, x0\n"               \
	"bl wide_choose\n"            \
	"mov x1, x0\n"                \
	"mov x0, x19\n"               \
	"cbz x1, 1f\n"                \
	"blr x1\n"                    \
	"b 3f\n"                      \
	"1: mov w2, #2000\n"          \
	"2: mul x0, x0, x0\n"         \
	"add x0, x0, #1\n"            \
	"subs w2, w2, #1\n"           \
	"b.ne 2b\n"                   \
	"3: ldr x19, [sp, #16]\n"     \
	"ldp x29, x30, [sp], #32\n"   \
	"ret\n"
#else
#error "no step for this machine"
#endif

/* Steps are numbered from 10000 on, so their names have one length.  Each calls the next one, or
 * computes if there is none. */
__asm__(".altmacro\n"
	".macro step n\n"
	".type wide_\\n, %function\n"
	"wide_\\n:\n" BODY ".size wide_\\n, . - wide_\\n\n"
	".endm\n"
	".macro entry n\n"
	".dc.a wide_\\n\n"
	".endm\n"
	".text\n"
	".p2align 4\n"
	".set number, 10000\n"
	".rept 20000\n"
	"step %number\n"
	".set number, number + 1\n"
	".endr\n"
	".section .data.rel.ro, \"aw\"\n"
	".p2align 3\n"
	".globl wide_steps\n"
	"wide_steps:\n"
	".set number, 10000\n"
	".rept 20000\n"
	"entry %number\n"
	".set number, number + 1\n"
	".endr\n"
	".noaltmacro\n"
	".text\n");

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
	return x ^ (x >> 29);
}

step_fn *wide_choose(struct walk *walk)
{
	if (!walk->left)
		return NULL;
	walk->left--;
	walk->path = mix(walk->path);
	return wide_steps[(walk->path >> 32) % FUNCTIONS];
}

__attribute__((noreturn)) static void *wide_main(void *arg)
{
	for (uint64_t turn = (uintptr_t)arg;; turn++) {
		struct walk walk = {.path = mix(mix(turn) % paths + 1)};

		walk.left = DEPTH_MIN + (unsigned int)(walk.path >> 40) % DEPTH_SPREAD;
		wide_choose (&walk)(&walk);
	}
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	if (argc > 2)
		paths = strtoul(argv[2], NULL, 10);
	if (!threads || threads > THREADS_MAX || !paths) {
		fprintf(stderr, "usage: wide [THREADS [PATHS]]\n");
		return 2;
	}
	for (uintptr_t i = 1; i < threads; i++) {
		pthread_t thread;
		int err = pthread_create(&thread, NULL, wide_main, (void *)i);

		if (err) {
			fprintf(stderr, "wide: %s\n", strerror(err));
			return 1;
		}
	}
	wide_main(NULL);
}
