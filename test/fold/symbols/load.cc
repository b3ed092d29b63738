/* load.cc - what names.t records, the part in C++: templates, lambdas, constructors, anonymous namespaces, calls by PLT. */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

extern "C" {
void lib_work(unsigned long);
void no_size(unsigned long);
void indirect(unsigned long);
void leaf_alias(unsigned long);
int compare(const void *, const void *);
}

#define APART __attribute__((noinline))

namespace ns
{
template <class T> struct Box {
	T v;
	explicit Box(T x) : v(x) {}
	virtual ~Box() {}
	APART T work(int n) const
	{
		T s = 0;
		for (int i = 0; i < n; i++)
			s += v * i;
		return s;
	}
};
namespace
{
APART double anonymous(double x)
{
	double s = 0;
	for (int i = 1; i < 2000; i++)
		s += std::sqrt(x + i) + std::sin(s);
	return s;
}
}
double call(double x)
{
	return anonymous(x);
}
}

struct Text {
	std::string s;
	explicit Text(const char *c);
};
APART Text::Text(const char *c) : s(c)
{
	for (int i = 0; i < 500; i++)
		s += c[i % 3];
}

static volatile double out;
static volatile size_t outn;

static APART void rarely(int n)
{
	if (__builtin_expect(n < 0, 0))
		abort();
	out = out + n;
}

static void turn()
{
	lib_work(20000);
	no_size(100000);
	for (int i = 0; i < 3000; i++) {
		leaf_alias(1);
		indirect(1);
		rarely(i);
	}
	out = ns::Box<double>(2.5).work(50000) + ns::Box<long>(3).work(50000) + ns::call(3.0);
	for (int i = 0; i < 30; i++)
		outn = Text("abc").s.size();
	std::vector<int> v(20000);
	for (auto &x : v)
		x = rand();
	std::vector<int> w = v;
	std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
	qsort(w.data(), w.size(), sizeof(w[0]), compare);
	std::map<std::string, int> m;
	for (int i = 0; i < 1000; i++)
		m[std::to_string(w[i])]++;
	std::function<int(int)> f = [&](int x) {
		int s = 0;
		for (int i = 0; i < x; i++)
			s += w[i % 1000];
		return s;
	};
	outn = m.size() + f(50000);
	char buf[4096];
	for (int i = 0; i < 3000; i++) {
		memset(buf, i, sizeof(buf));
		outn = outn + buf[i % 4000] + memcmp(buf, buf + 2000, 2000);
	}
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 0.5) * CLOCKS_PER_SEC);

	while (clock() < end)
		turn();
}
