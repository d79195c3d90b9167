// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * hot_cxx.c - hot functions with the symbols that C++ and Rust compilers give.
 *
 *   _ZN3foo3barEi                                 foo::bar(int)
 *   _ZNSt6vectorIiSaIiEE9push_backERKi            std::vector<int, ...>::push_back(int const&)
 *   _ZN5alloc3vec12Vec$LT$T$GT$4push17h...E       alloc::vec::Vec<T>::push (Rust, legacy)
 *   _RNvCskwGfYPst2Cb_3foo16example_function      foo::example_function (Rust, v0)
 *
 * usage: hot_cxx [SECONDS]     0, the default: no end
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK(name, symbol, turns)                            \
	uint64_t name(uint64_t x) __asm__(symbol);           \
	__attribute__((noinline)) uint64_t name(uint64_t x)  \
	{                                                    \
		for (unsigned int i = 0; i < (turns); i++) { \
			x = x * 6364136223846793005u + 1;    \
			__asm__ volatile("" : "+r"(x));      \
		}                                            \
		return x;                                    \
	}

WORK(foo_bar, "_ZN3foo3barEi", 4000)
WORK(vector_push_back, "_ZNSt6vectorIiSaIiEE9push_backERKi", 3000)
WORK(rust_legacy, "_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE", 2000)
WORK(rust_v0, "_RNvCskwGfYPst2Cb_3foo16example_function", 1000)

int main(int argc, char **argv)
{
	unsigned long seconds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	time_t end = time(NULL) + (time_t)seconds;
	uint64_t x = 1;

	do {
		for (unsigned int i = 0; i < 1000; i++)
			x = rust_v0(rust_legacy(vector_push_back(foo_bar(x))));
	} while (!seconds || time(NULL) < end);
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
