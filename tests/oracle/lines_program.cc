// SPDX-License-Identifier: GPL-3.0-or-later
//
// lines_program.cc - templates, lambdas and inlining over several levels, for comparisons of lines.
// Built by lines.py, twice (with and without OTHER) into one program; never run.

#ifdef WITH_STD
#include <algorithm>
#include <map>
#include <string>
#include <vector>
#endif

#ifdef OTHER
#define UNIT other
#else
#define UNIT first
#endif

extern "C" int volatile_source(int);

namespace shapes {

template <typename T, int N> struct array {
	T items[N];
	T &operator[](int i) { return items[i]; }
	const T &operator[](int i) const { return items[i]; }
	T *begin() { return items; }
	T *end() { return items + N; }
};

template <typename T> inline void exchange(T &a, T &b)
{
	T c = a;
	a = b;
	b = c;
}

template <typename T, typename Less> inline void sort_range(T *from, T *to, Less less)
{
	for (T *i = from; i < to; i++)
		for (T *k = i + 1; k < to; k++)
			if (less(*k, *i))
				exchange(*k, *i);
}

template <typename T, int N> struct matrix {
	array<array<T, N>, N> rows;
	matrix() { fill(0); }
	void fill(T value)
	{
		for (auto &row : rows)
			for (auto &item : row)
				item = value + volatile_source(static_cast<int>(item));
	}
	matrix operator*(const matrix &other) const
	{
		matrix out;
		for (int i = 0; i < N; i++)
			for (int k = 0; k < N; k++)
				for (int j = 0; j < N; j++)
					out.rows[i][k] += rows[i][j] * other.rows[j][k];
		return out;
	}
};

struct base {
	virtual ~base() {}
	virtual int area() const = 0;
	virtual int edge() const { return volatile_source(1); }
};

struct named {
	virtual ~named() {}
	virtual const char *name() const { return "none"; }
};

template <int Sides> struct polygon : base, named {
	int side;
	explicit polygon(int s) : side(s) {}
	int area() const override { return side * side * Sides + volatile_source(Sides); }
	const char *name() const override { return area() > 10 ? "large" : "small"; }
};

} // namespace shapes

namespace UNIT {
namespace {

[[gnu::noinline]] int cold_path(int a)
{
	if (a > 1000)
		__builtin_trap();
	return volatile_source(a) / 3;
}

inline int twice(int a)
{
	return volatile_source(a) + volatile_source(a + 1);
}

inline int four_times(int a)
{
	return twice(a) * twice(a - 1);
}

template <typename F> inline int apply(F f, int a)
{
	if (__builtin_expect(a < 0, 0))
		return cold_path(-a);
	return f(a) + four_times(a);
}

} // namespace

int lambdas(int a)
{
	auto inner = [a](int b) { return twice(a ^ b); };
	auto outer = [&](int b) { return apply(inner, b) + apply([](int c) { return c * 3; }, b); };
	struct local {
		int value;
		int get() const { return four_times(value); }
	};
	return outer(a) + local{a}.get();
}

int matrices(int a)
{
	shapes::matrix<int, 3> ints, more;
	shapes::matrix<double, 2> doubles;
	ints.fill(a);
	doubles.fill(a);
	return (ints * more).rows[1][2] + static_cast<int>((doubles * doubles).rows[0][1]);
}

int sorted(int a)
{
	shapes::array<int, 8> items;
	shapes::array<double, 4> others;
	for (auto &item : items)
		item = volatile_source(a);
	for (auto &item : others)
		item = twice(a) * 0.5;
	shapes::sort_range(items.begin(), items.end(), [](int x, int y) { return x < y; });
	shapes::sort_range(others.begin(), others.end(), [a](double x, double y) { return x * a > y; });
	return items[a & 7] + static_cast<int>(others[a & 3]);
}

int polygons(int a)
{
	shapes::polygon<3> triangle(a);
	shapes::polygon<4> square(a + 1);
	const shapes::base *one = a & 1 ? static_cast<shapes::base *>(&triangle) : &square;
	const shapes::named *two = a & 2 ? static_cast<shapes::named *>(&triangle) : &square;
	return one->area() + one->edge() + two->name()[0];
}

#ifdef WITH_STD
int standard(int a)
{
	std::map<std::string, std::vector<int>> map;
	for (int i = 0; i < a; i++)
		map[std::to_string(volatile_source(i))].push_back(i);
	int sum = 0;
	for (auto &item : map) {
		std::sort(item.second.begin(), item.second.end(), [a](int x, int y) { return (x ^ a) < y; });
		sum += item.second.empty() ? 0 : item.second.front() + static_cast<int>(item.first.size());
	}
	return sum;
}
#endif

} // namespace UNIT

#ifndef OTHER
namespace other {
int lambdas(int);
int matrices(int);
int sorted(int);
int polygons(int);
} // namespace other

extern "C" int volatile_source(int a)
{
	static volatile int source;
	source = source + a;
	return source;
}

int main(int argc, char **)
{
	return first::lambdas(argc) + first::matrices(argc) + first::sorted(argc) + first::polygons(argc) +
		other::lambdas(argc) + other::matrices(argc) + other::sorted(argc) + other::polygons(argc);
}
#endif
