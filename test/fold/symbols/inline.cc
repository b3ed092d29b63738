/* inline.cc - what inlines.t records: calls that are inlined, one in the other, whose names are told in every way. */
#include <cmath>
#include <cstdlib>
#include <cstdio>

#define INLINE __attribute__((always_inline)) inline
#define APART __attribute__((noinline))

namespace geo
{
struct Vector {
	double x, y;
	INLINE double dot(const Vector &o) const
	{
		double s = 0;

		for (int i = 1; i < 60; i++)
			s += x * o.x / i + y * o.y * i;
		return s;
	}
};

template <class T> INLINE T square(T v)
{
	T r = v;

	for (int i = 1; i < 60; i++)
		r = r / 3 + v * v / i;
	return r;
}

INLINE double mix(const Vector &a, const Vector &b)
{
	double d = a.dot(b);

	if (d > 1) {
		double t = square(d);

		d += t / 2;
	}
	return d;
}
}

namespace
{
/* gcc tells no linkage name for what is of this file only */
INLINE double hidden(double v)
{
	for (int i = 1; i < 60; i++)
		v = v / 2 + geo::square(v / i);
	return v;
}
}

APART double work(const geo::Vector *v, int n)
{
	double s = 0;

	for (int i = 0; i + 1 < n; i++)
		s += geo::mix(v[i], v[i + 1]);
	return s;
}

APART double secret(double v)
{
	return hidden(v);
}

int main(int argc, char **argv)
{
	static geo::Vector v[100];
	double s = 0;

	for (int i = 0; i < 100; i++)
		v[i].x = i, v[i].y = i / 2.;
	for (int i = 0; i < (argc > 1 ? strtol(argv[1], nullptr, 10) : 1000); i++)
		s = s / 2 + work(v, 100) + secret(s);
	printf("%g\n", s);
}
