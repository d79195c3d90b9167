/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_function_name.c - the place of a function's own name in a demangled name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "symbols/base/function_name.h"

#include <string.h>

static void own_is(const char *name, const char *wanted)
{
	struct function_name own = function_name(name, strlen(name));

	if (own.end - own.begin != strlen(wanted) ||
		memcmp(name + own.begin, wanted, strlen(wanted)) != 0)
		fail_msg("%s: %.*s", name, (int)(own.end - own.begin), name + own.begin);
}

static void test_parameters(void **state)
{
	(void)state;
	own_is("", "");
	own_is("main", "main");
	own_is("f(int)", "f");
	own_is("f(int", "f");
	own_is("(", "(");
	own_is("A::f(int) const &", "A::f");
	own_is("f(int) [clone .cold]", "f");
	own_is("f[abi:cxx11](int)", "f[abi:cxx11]");
	own_is("f(int) const::B::g(char)", "f(int) const::B::g");
	own_is("f(int)::{lambda(char)#1}::operator()(char) const",
		"f(int)::{lambda(char)#1}::operator()");
	own_is("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
	own_is("a::(anonymous namespace)::f(int) const", "a::(anonymous namespace)::f");
	own_is("function<void (int)>::call(void (*)(int))", "function<void (int)>::call");
	own_is("A<(B)1>::f<(2>1)>(int)", "A<(B)1>::f<(2>1)>");
	own_is("~A()", "~A");
	own_is("A::~A()", "A::~A");
}

static void test_operators(void **state)
{
	static const char *const symbols[] = {"==", "!=", "<", ">", "<=", ">=", "<=>", "+", "-",
		"*", "/", "%", "^", "&", "|", "~", "!", "=", ",", "&&", "||", "++", "--", "<<",
		">>", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<=", ">>=", "->", "->*",
		"()", "[]", " new", " delete", " new[]", " delete[]", " int", " A<int>", " void*",
		"\"\" _s"};

	(void)state;
	own_is("A::operator()(int)", "A::operator()");
	own_is("A::operator()<int>(int) const", "A::operator()<int>");
	own_is("A::operator->()", "A::operator->");
	own_is("A::operator->*(int)", "A::operator->*");
	own_is("A::operator[](int)", "A::operator[]");
	own_is("operator<(A, B)", "operator<");
	own_is("operator<=>(A, B)", "operator<=>");
	own_is("operator>>(A, B)", "operator>>");
	own_is("operator,(A, B)", "operator,");
	own_is("operator!(A)", "operator!");
	own_is("std::ostream& operator<< <int>(std::ostream&, int)", "operator<< <int>");
	own_is("A::operator void (*)()()", "A::operator void (*)()");
	own_is("A::operator function<void (int)>()", "A::operator function<void (int)>");
	own_is("A<int>::operator B<int>()", "A<int>::operator B<int>");
	own_is("operator new[](unsigned long)", "operator new[]");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		char name[100], wanted[40];

		snprintf(wanted, sizeof(wanted), "ns::operator%s", symbols[i]);
		snprintf(name, sizeof(name), "%s(A const&, B)", wanted);
		own_is(name, wanted);
		snprintf(name, sizeof(name), "%s(A, B*) const [clone .part.0]", wanted);
		own_is(name, wanted);
		snprintf(name, sizeof(name), "%s(A, B) [clone .constprop.0] [clone .cold]", wanted);
		own_is(name, wanted);
	}
	own_is("bool operator==<int>(A<int>, int) [clone .isra.0]", "operator==<int>");
	own_is("A::operator char const*() const", "A::operator char const*");
	own_is("A::operator B&() [clone .part.0]", "A::operator B&");
	own_is("A::operator int A::*()", "A::operator int A::*");
	own_is("A::operator std::function<int* (char*)>*&&()",
		"A::operator std::function<int* (char*)>*&&");
	own_is("operator\"\" _s(unsigned long long)", "operator\"\" _s");
}

static void test_what_is_returned(void **state)
{
	(void)state;
	own_is("int work<int>(int)", "work<int>");
	own_is("std::enable_if<(4>2), int>::type ns::f<int>(int)", "ns::f<int>");
	own_is("unsigned long const& f<int>()", "f<int>");
	own_is("decltype (a->b()) f<int>(int)", "f<int>");
	own_is("auto f(int)::{lambda(auto:1)#1}::operator()<long>(long) const",
		"f(int)::{lambda(auto:1)#1}::operator()<long>");
	own_is("void (*get<int>(int))(char)", "get<int>");
	own_is("int (&array<int>())[3]", "array<int>");
	own_is("virtual thunk to A<int>::f(int)", "virtual thunk to A<int>::f");
}

static void test_other_languages(void **state)
{
	(void)state;
	own_is("<(A, B) as T>::f", "<(A, B) as T>::f");
	own_is("<dyn Fn(i32) -> i32 as T>::call", "<dyn Fn(i32) -> i32 as T>::call");
	own_is("f::<fn() -> (u8, u8)>::{closure#0}", "f::<fn() -> (u8, u8)>::{closure#0}");
	own_is("net/http.(*Client).Do", "net/http.(*Client).Do");
	own_is("main.(*list[go.shape.func()]).each", "main.(*list[go.shape.func()]).each");
	own_is("main.f[go.shape.func()]", "main.f[go.shape.func()]");
	own_is("Lorg/x/Y;::call(Ljava/lang/String;)V", "Lorg/x/Y;::call");
	own_is("foo!(int).bar(int)", "foo!(int).bar");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_what_is_returned),
		cmocka_unit_test(test_other_languages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
