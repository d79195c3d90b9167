/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_called.c - names that users give a function, and names that belong to one function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbols/base/function_cut.h"
#include "tui/names/called.h"

#include <string.h>

static void is_called(const char *name, const char *pattern, bool wanted)
{
	const struct symref symref = {.symbol = name};

	if (called(pattern, &symref, CALLED_LAST) != wanted)
		fail_msg("%s by %s", name, pattern);
}

static void test_forms(void **state)
{
	static const char work[] = "int ns::work<int>(int)";
	static const char *const names[] = {work, "int ns::work<int>", "ns::work<int>",
		"ns::work<int>(int)", "ns::work", "ns::w*", "*work", "?s::work", "work",
		"work<int>", "work<int>(int)"};
	static const char *const others[] = {"work<long>", "work(int)", "w*", "ns::work<long>",
		"int", "ns", "ns::work(int)", "int ns::work", ""};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		is_called(work, names[i], true);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		is_called(work, others[i], false);
	is_called("int work<int>(int)", "work", true);
	is_called("int work<int>(int)", "work<int>", true);
	is_called("A<int>::f<B<long> >(int)", "A<int>::f", true);
	is_called("A<int>::f<B<long> >(int)", "A::f", true);
	is_called("A<int>::f<B<long> >(int)", "A::f<B<long> >", false);
	is_called("a::f::<u8>", "a::f", true);
	is_called("operator<< <int>(A&, int)", "operator<<", true);
	is_called("void (*get<int>(int))(char)", "get<int>", true);
	is_called("void (*get<int>(int))(char)", "get", true);
	is_called("bool operator< <int>(A, A)", "operator<", true);
	is_called("main.f[go.shape.func()]", "main.f[go.shape.func()]", true);
	is_called("work(int) (inlined)", "work", true);
	is_called("work (inlined)", "work", true);
	is_called("work+0x...?", "work", true);
	is_called("", "", true);
	is_called("", "x", false);
}

static void test_forms_of_clones(void **state)
{
	static const char *const clones[][2] = {{"f.constprop.5", "f"}, {"f.part.0.isra.1", "f"},
		{"f.cold", "f"}, {"f.lto_priv.0", "f"}, {"f.__uniq.333.llvm.444", "f"},
		{"f.isra.0 (inlined)", "f"},
		{"ns::f(int) [clone .__uniq.333] [clone .llvm.444]", "ns::f(int)"},
		{"ns::f(int) [clone .constprop.0]", "ns::f"},
		{"int ns::f<int>(int) [clone .cold]", "f"}};
	static const char *const others[][2] = {{"f.constprop.5", "g"}, {"main.f", "main"},
		{"f.constprop.5", "constprop"}, {"f2.constprop.0", "f"}};

	(void)state;
	for (size_t i = 0; i < sizeof(clones) / sizeof(*clones); i++) {
		const struct symref symref = {.symbol = clones[i][0]};

		if (!called(clones[i][1], &symref, CALLED_CLONE))
			fail_msg("%s by %s", clones[i][0], clones[i][1]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct symref symref = {.symbol = others[i][0]};

		if (called(others[i][1], &symref, CALLED_CLONE))
			fail_msg("%s by %s", others[i][0], others[i][1]);
	}
}

static void test_last_component(void **state)
{
	(void)state;
	is_called("ns::f(int)", "f", true);
	is_called("ns::f(int)", "f(int)", true);
	is_called("ns::f(int)", "f(long)", false);
	is_called("ns::f(int)", "int", false);
	is_called("A::B::f() const [clone .cold]", "f", true);
	is_called("A::B::f() const", "f() const", true);
	is_called("A::B::f()", "B::f", false);
	is_called("ns::f(A::g*)", "g*)", false);
	is_called("ns::f<A::g>(int)", "g", false);
	is_called("ns::f<A::g>(int)", "f<A::g>", true);
	is_called("ns::ff()", "f", false);
	is_called("f(int)::local::g()", "g", true);
	is_called("f(int)::local::g()", "f", false);
	is_called("(anonymous namespace)::f() (inlined)", "f", true);
	is_called("ns::f+0x...?", "f", true);
	is_called("A::operator->() const", "operator->", true);
	is_called("A::operator*()", "operator*", true);
	is_called("A::operator+()", "operator*", false);
	is_called("A::operator std::string() const", "string", false);
	is_called("A::operator std::string() const", "operator std::string", true);
	is_called("<a::B as c::D>::f", "f", true);
	is_called("a::f::h0123456789abcdef", "f", false);
	is_called("a::f::<b::c>", "f", true);
	is_called("net/http.(*Client).Do", "Do", true);
	is_called("net/http.(*Client).Do", "http", false);
	is_called("main.main", "main", true);
	is_called("f.cold", "cold", false);
	is_called("f.constprop.0", "constprop", false);
	is_called("org.a.B.call(int)", "call", true);
	is_called("Lorg/a/B;::call(I)V", "call", true);
}

static void test_forms_of_a_last_component(void **state)
{
	static const char name[] = "void ns::f<int>(int)";

	(void)state;
	assert_true(called_in_text("ns::f<int>", name, CALLED_WHOLE));
	assert_false(called_in_text("ns::f", name, CALLED_WHOLE));
	assert_true(called_in_text("ns::f", name, CALLED_BARE));
	assert_false(called_in_text("f<int>", name, CALLED_BARE));
	assert_true(called_in_text("f<int>", name, CALLED_LAST));
}

static void test_name_in_the_file(void **state)
{
	const struct symref symref = {.symbol = "int work<int>(int)", .raw = "_Z4workIiEiT_"};

	(void)state;
	assert_true(called("_Z4workIiEiT_", &symref, CALLED_LAST));
	assert_false(called("_Z4work*", &symref, CALLED_LAST));
}

/* A name that is too long is shown cut and is found by its full text. */
static void test_long_names(void **state)
{
	static char name[20000];
	char shown[FUNCTION_NAME_BYTES];
	struct symref symref = {.symbol = shown};

	(void)state;
	strcpy(name, "void ns::f<");
	for (int i = 0; i < 3000; i++)
		strcat(name, "int, ");
	strcat(name, "int>(int)");
	function_cut(shown, sizeof(shown), name);
	assert_true(called(name, &symref, CALLED_LAST));
	assert_true(called("ns::f", &symref, CALLED_LAST));
	name[9] = 'g';
	assert_false(called(name, &symref, CALLED_LAST));
	assert_false(called("ns::g", &symref, CALLED_LAST));
}

static void test_clones(void **state)
{
	(void)state;
	assert_true(called_alike("f", "f.cold"));
	assert_true(called_alike("f.constprop.0", "f.isra.0.part.1"));
	assert_true(called_alike("f(int) [clone .cold]", "f(int)"));
	assert_true(
		called_alike("f(int) [clone .part.0] [clone .cold]", "f(int) [clone .llvm.12]"));
	assert_true(called_alike("f.llvm.4711", "f.__uniq.12.llvm.13"));
	assert_true(called_alike("f.__part.3", "f.warm"));
	assert_true(called_alike("f(int) [clone .__part.6]", "f(int) [clone .memprof.1]"));
	assert_true(called_alike("a::f::h0123456789abcdef", "a::f::hfedcba9876543210"));
	assert_true(called_alike("a::f::h0123456789abcdef.llvm.7", "a::f"));
	assert_true(called_alike("f.cold+0x...?", "f+0x...?"));
	assert_true(called_alike("f._omp_fn.0.cold", "f._omp_fn.0"));
	assert_true(called_alike("f.0.isra.0", "f.0"));
	assert_true(called_alike("operator/(A, ...) [clone .cold]", "operator/(A, ...)"));
	/* Real names, from languages that write "." between the parts of a name. */
	assert_false(called_alike("x.part", "x"));
	assert_false(called_alike("pkg.clone", "pkg"));
	assert_false(called_alike("pkg.clone", "pkg.specialized"));
	assert_false(called_alike("main.f.cold", "main.f"));
	assert_false(called_alike("net/http.cold", "net/http"));
	assert_false(called_alike("main.(*T).warm", "main.(*T)"));
	assert_false(called_alike("org.a.B.cold", "org.a.B"));
	assert_false(called_alike("main.f.part.1", "main.f"));
	assert_false(called_alike("f+0x...?", "f"));
	assert_false(called_alike("f.cold (inlined)", "f"));
	assert_false(called_alike("f", "g"));
	assert_false(called_alike("f.0", "f.1"));
	assert_false(called_alike("f._omp_fn.0", "f"));
	assert_false(called_alike("f(int)", "f(long)"));
	assert_false(called_alike("a::h0123456789abcde", "a"));
	assert_true(called_alike("", ""));
	assert_false(called_alike(".cold", ""));
	assert_false(called_alike("]", ""));
	assert_false(called_alike("[clone .cold]", ""));
}

/* Generated code is in images whose names have the number of its process. */
static void test_other_runs(void **state)
{
	static const char *const others[] = {"perf-*.map", "perf-.map", "perf-1x.map",
		"perf-12.map.so", "perf-12.ma", "xperf-12.map", "jit-12.map", "jit-.dump",
		"jitted-12.so", "jitted-12-.so", "jitted-12-3.so.1", "jitted-12-3", "perf-12",
		"node", "[anon]", ""};

	(void)state;
	assert_string_equal(called_run("perf-12.map"), "perf-*.map");
	assert_string_equal(called_run("jit-4194304.dump"), "perf-*.map");
	assert_string_equal(called_run("jitted-12-3456.so"), "perf-*.map");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_ptr_equal(called_run(others[i]), others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_forms_of_clones),
		cmocka_unit_test(test_last_component),
		cmocka_unit_test(test_forms_of_a_last_component),
		cmocka_unit_test(test_name_in_the_file),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_other_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
