// load.cc - exceptions, virtual calls and libstdc++ for test/unwind/dwarf/perfstacks.t. Argument: ms of CPU.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static volatile unsigned sink;

struct base {
	virtual ~base() {}
	virtual void work(int depth) = 0;
};

struct thrower : base {
	__attribute__((noinline)) void work(int depth) override
	{
		std::string local(static_cast<size_t>(depth + 20), 'x');

		if (depth == 0)
			throw std::runtime_error(local);
		work(depth - 1);
		sink = sink + static_cast<unsigned>(local.size());
	}
};

struct sorter : base {
	__attribute__((noinline)) void work(int depth) override
	{
		std::map<std::string, int> m;
		std::vector<std::string> v;
		std::ostringstream text;

		for (int i = 0; i < 100; i++) {
			text << i * depth << ' ';
			v.push_back(std::to_string(i * 7919 % 100));
			m[v.back()] = i;
		}
		std::sort(v.begin(), v.end(), [](const std::string &a, const std::string &b) { return a > b; });
		sink = sink + static_cast<unsigned>(m.size() + text.str().size());
	}
};

int main(int argc, char **argv)
{
	clock_t until = (argc > 1 ? atoi(argv[1]) : 500) * (CLOCKS_PER_SEC / 1000);
	thrower t;
	sorter s;

	while (clock() < until) {
		s.work(3);
		try {
			t.work(10);
		} catch (const std::exception &e) {
			sink = sink + static_cast<unsigned>(e.what()[0]);
		}
	}
	return 0;
}
