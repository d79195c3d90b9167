/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_shorten.c - long names in narrow columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/base/shorten.h"
#include "tui/base/width.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void symbol_is(const char *name, int width, const char *wanted)
{
	char out[SHORTEN_MAX];

	assert_string_equal(shorten_symbol(out, name, width), wanted);
	assert_true(width_of(out) <= width);
}

static void test_what_fits_stays_whole(void **state)
{
	static const char name[] = "void ns::run<int>(int) const [clone .cold]";

	(void)state;
	symbol_is(name, (int)strlen(name), name);
	symbol_is("main", 4, "main");
	symbol_is("", 10, "");
	symbol_is("libfoo.so.6+0x12345", 30, "libfoo.so.6+0x12345");
}

/* Each step is taken only if the step before was not enough. */
static void test_steps_come_in_order(void **state)
{
	static const char name[] =
		"bool v8::internal::JsonParser<char>::Scan<true>(v8::internal::Handle<v8::String>)";

	(void)state;
	symbol_is(name, 77,
		"v8::internal::JsonParser<char>::Scan<true>(v8::internal::Handle<v8::String>)");
	symbol_is(name, 60, "v8::internal::JsonParser<char>::Scan<true>");
	symbol_is(name, 41, "v8::internal::JsonParser<…>::Scan<…>");
	symbol_is(name, 32, "v8::internal::JsonParser::Scan");
	symbol_is(name, 29, "…::internal::JsonParser::Scan");
	symbol_is(name, 19, "…::JsonParser::Scan");
	symbol_is(name, 18, "…::Scan");
	symbol_is(name, 6, "Scan");
	symbol_is(name, 3, "S…n");
}

static void test_three_rows_that_read_the_same(void **state)
{
	(void)state;
	symbol_is("v8::internal::JsonStringifier::SerializeJSObject(v8::internal::Handle<"
		  "v8::internal::JSObject>, v8::internal::Handle<v8::internal::Object>)",
		31, "…::SerializeJSObject");
	symbol_is("v8::internal::JsonStringifier::SerializeString(v8::internal::Handle<"
		  "v8::internal::String>)",
		31, "…::SerializeString");
	symbol_is("v8::internal::JsonStringifier::Result v8::internal::JsonStringifier::Serialize_"
		  "<true>(v8::internal::Handle<v8::internal::Object>, bool)",
		31, "…::JsonStringifier::Serialize_");
}

static void test_operators(void **state)
{
	(void)state;
	symbol_is("Foo::Bar::operator()(int, char) const", 20, "Foo::Bar::operator()");
	symbol_is("ns::Table<Key, Value>::operator[](Key const&)", 24, "ns::Table<…>::operator[]");
	symbol_is("ns::Table<Key, Value>::operator[](Key const&)", 21, "ns::Table::operator[]");
	symbol_is("ns::Iterator<ns::Thing>::operator->() const", 24, "ns::Iterator::operator->");
	symbol_is("bool ns::operator< <ns::A>(ns::A, ns::A)", 22, "ns::operator< <ns::A>");
	symbol_is("bool ns::operator< <ns::A>(ns::A, ns::A)", 13, "ns::operator<");
	symbol_is("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char "
		  "const*)",
		20, "std::operator<< <…>");
	symbol_is("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char "
		  "const*)",
		15, "std::operator<<");
	symbol_is("ns::operator>>(ns::Stream&, int)", 16, "ns::operator>>");
	symbol_is("ns::Value::operator unsigned long() const", 34,
		"ns::Value::operator unsigned long");
	symbol_is("ns::Value::operator std::vector<int>() const", 24, "…::operator std::vector");
	symbol_is("ns::Value::operator std::vector<int>() const", 20, "operator std::vector");
	symbol_is("ns::Pool::operator new(unsigned long)", 24, "ns::Pool::operator new");
	symbol_is("operator<<(std::ostream&, Mode const&)", 20, "operator<<");
	symbol_is("ns::operator<(ns::A, ns::B)", 20, "ns::operator<");
	symbol_is("ns::operator*(ns::A, ns::B)", 20, "ns::operator*");
	symbol_is("ns::A::operator&() const", 20, "ns::A::operator&");
	symbol_is("ns::operators::find(int, int)", 20, "ns::operators::find");
}

static void test_lambdas_and_anonymous(void **state)
{
	(void)state;
	symbol_is("void run<int>(int)::{lambda(int)#1}::operator()(int) const", 40,
		"run<int>::{lambda#1}::operator()");
	symbol_is("void run<int>(int)::{lambda(int)#1}::operator()(int) const", 28,
		"run::{lambda#1}::operator()");
	symbol_is("(anonymous namespace)::Compiler::compile(Node*)", 40,
		"(anonymous namespace)::Compiler::compile");
	symbol_is(
		"(anonymous namespace)::Compiler::compile(Node*)", 30, "(anon)::Compiler::compile");
	symbol_is("int (anonymous namespace)::parse<long>(char const*)", 40,
		"(anonymous namespace)::parse<long>");
	symbol_is("decltype(auto) ns::visit<ns::A<int> >(ns::A<int>&&)", 40,
		"ns::visit<ns::A<int> >(ns::A<int>&&)");
	symbol_is("decltype (f(1)) ns::visit<ns::A<int> >(ns::A<int>&&)", 24,
		"ns::visit<ns::A<int> >");
	symbol_is("ns::Set<(1>2), int>::insert(int)", 27, "ns::Set<(1>2), int>::insert");
	symbol_is("ns::Set<(1>2), int>::insert(int)", 18, "ns::Set<…>::insert");
}

static void test_suffixes(void **state)
{
	(void)state;
	symbol_is("do_work(int, char) [clone .constprop.0]", 22, "do_work.constprop.0");
	symbol_is("do_work(int, char) [clone .isra.0] [clone .cold]", 20, "do_work.isra.0.cold");
	symbol_is("do_work.constprop.0.isra.0", 18, "do_work");
	symbol_is("std::to_string[abi:cxx11](int)", 20, "std::to_string");
	symbol_is("std::string::at(int) const &", 18, "std::string::at");
	symbol_is("non-virtual thunk to Stream<int>::close()", 37,
		"non-virtual thunk to Stream<…>::close");
	symbol_is("virtual thunk to ns::Stream::close<int>()", 40,
		"virtual thunk to ns::Stream::close<int>");
}

static void test_rust(void **state)
{
	(void)state;
	symbol_is("app::main::h0123456789abcdef", 20, "app::main");
	symbol_is("app::main::h0123456789abcdef.llvm.123456", 20, "app::main");
	symbol_is("app::main::h0123456789abcde", 20, "…::h0123456789abcde");
	symbol_is("app::main::{{closure}}::h0123456789abcdef", 24, "app::main::{{closure}}");
	symbol_is("<alloc::vec::Vec<(u8, u8)> as core::ops::drop::Drop>::drop", 51,
		"<alloc::vec::Vec<…> as core::ops::drop::Drop>::drop");
	symbol_is("<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", 48,
		"<alloc::vec::Vec as core::ops::drop::Drop>::drop");
	symbol_is("<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", 24, "<Vec as Drop>::drop");
	symbol_is("<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", 18, "…::drop");
	symbol_is("<&mut a::B as c::D>::f", 21, "<&mut B as D>::f");
	symbol_is(
		"core::slice::<impl [T]>::binary_search_by", 36, "…::<impl [T]>::binary_search_by");
	symbol_is("std::backtrace::__rust_begin::<fn(u8) -> i32, i32>", 33,
		"std::backtrace::__rust_begin::<…>");
	symbol_is("std::backtrace::__rust_begin::<fn(u8) -> i32, i32>", 30,
		"std::backtrace::__rust_begin");
	symbol_is(
		"core::ptr::drop_in_place<alloc::vec::Vec<u8>>", 27, "core::ptr::drop_in_place<…>");
}

static void test_middle_is_cut(void **state)
{
	(void)state;
	symbol_is("hash_search_with_hash_value", 14, "hash_se…_value");
	symbol_is("ns::hash_search_with_hash_value(int)", 14, "hash_se…_value");
	symbol_is("libverylongname.so.6+0x12345", 13, "libver…x12345");
	/* These take two columns each.  Half a character is never used. */
	symbol_is("日本語日本語日本語", 9, "日本…本語");
	symbol_is("日本語日本語日本語", 8, "日本…語");
	symbol_is("abcdef", 1, "…");
	symbol_is("abcdef", 0, "");
}

static void test_what_is_no_name(void **state)
{
	(void)state;
	symbol_is("LazyCompile:*parse /srv/app/lib/parser.js:12:3", 21, "LazyCompil…er.js:12:3");
	symbol_is("broken<template(of", 12, "broken…te(of");
	symbol_is(">>>>>>((((((<<<<<<", 7, ">>>…<<<");
	symbol_is("::h0123456789abcdef", 10, "h0123…cdef");
	symbol_is("ns::long_name::", 11, "long_name::");
	symbol_is("operator", 20, "operator");
}

/* Names are pieces in random order.  The result fits the width and has whole characters only. */
static void test_any_name_any_width(void **state)
{
	static const char *const pieces[] = {"ns", "::", "<", ">", "(", ")", "{lambda(int)#1}",
		"operator", "operator<<", "->", " ", "const", "[clone .cold]", "[", "]", "{", "}",
		" as ", "日本", "::h0123456789abcdef", "(anonymous namespace)", "decltype",
		"<impl ", "virtual thunk to ", "&", "e\xcc\x81", ".so.", "/"};
	uint32_t random = 12345;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char name[512] = "", out[SHORTEN_MAX];
		int width;

		for (int i = 0; i < 14; i++) {
			random = random * 1664525u + 1013904223u;
			strcat(name, pieces[(random >> 8) % (sizeof(pieces) / sizeof(*pieces))]);
		}
		width = (int)(random >> 24) % 60;
		assert_true(width_of(shorten_symbol(out, name, width)) <= width);
		assert_null(strstr(out, "\xef\xbf\xbd"));
		assert_true(width < 1 || out[0]);
		assert_true(width_of(shorten_file(out, name, width)) <= width);
		assert_true(width_of(shorten_command(out, name, width)) <= width);
	}
}

static void test_endless_names(void **state)
{
	static char name[100000], out[SHORTEN_MAX];

	(void)state;
	memset(name, '<', sizeof(name) - 1);
	assert_int_equal(width_of(shorten_symbol(out, name, 30)), 30);
	name[SHORTEN_MAX - 1] = '\0';
	assert_int_equal(width_of(shorten_symbol(out, name, 30)), 30);
	memset(name, 'a', sizeof(name) - 1);
	memcpy(name + sizeof(name) - 8, "::theend", 8);
	name[sizeof(name) - 1] = '\0';
	assert_non_null(strstr(shorten_symbol(out, name, 30), "theen"));
}

static void test_files(void **state)
{
	char out[SHORTEN_MAX];

	(void)state;
	assert_string_equal(shorten_file(out, "libplanner.so.2.1", 17), "libplanner.so.2.1");
	assert_string_equal(shorten_file(out, "libplanner.so.2.1", 16), "libplanner.so");
	assert_string_equal(shorten_file(out, "libplanner.so.2.1", 10), "libpl…r.so");
	assert_string_equal(shorten_file(out, "libpython3.11.so", 13), "libpyth…11.so");
	assert_string_equal(shorten_file(out, "some.source.file", 9), "some…file");
	assert_string_equal(shorten_file(out, "[nf_conntrack_netlink]", 11), "[nf_c…link]");
	assert_string_equal(shorten_file(out, "postgres", 8), "postgres");
}

static void test_commands(void **state)
{
	char out[SHORTEN_MAX];
	static const char java[] =
		"/usr/lib/jvm/java-17/bin/java -cp app.jar:lib.jar com.acme.Main";

	(void)state;
	assert_string_equal(shorten_command(out, java, 80), java);
	assert_string_equal(
		shorten_command(out, java, 44), "java -cp app.jar:lib.jar com.acme.Main");
	assert_string_equal(shorten_command(out, java, 30), "java -cp app.jar:lib…acme.Main");
	assert_string_equal(shorten_command(out, "postgres: writer /a/b", 12), "postgres…a/b");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits_stays_whole),
		cmocka_unit_test(test_steps_come_in_order),
		cmocka_unit_test(test_three_rows_that_read_the_same),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_lambdas_and_anonymous),
		cmocka_unit_test(test_suffixes),
		cmocka_unit_test(test_rust),
		cmocka_unit_test(test_middle_is_cut),
		cmocka_unit_test(test_what_is_no_name),
		cmocka_unit_test(test_any_name_any_width),
		cmocka_unit_test(test_endless_names),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
