/*
 * demo - an example of a load to profile: demo SECONDS
 *
 * A small service in one process: it parses requests, looks up sessions, sorts results and writes a log. Its threads
 * have names that profilers often mishandle: with blanks, with digits at the end, of one letter. Most of them do
 * different work.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static double seconds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

NOINLINE static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* ---- requests ---- */

NOINLINE static size_t skip_blanks(const char *p, size_t i)
{
	while (p[i] == ' ')
		i++;
	return i;
}

NOINLINE static size_t parse_value(const char *p, size_t i, uint64_t *sum);

NOINLINE static size_t parse_list(const char *p, size_t i, uint64_t *sum)
{
	for (i = skip_blanks(p, i + 1); p[i] && p[i] != ']'; i = skip_blanks(p, i))
		i = parse_value(p, i, sum) + (p[i] == ',');
	return i + 1;
}

NOINLINE static size_t parse_value(const char *p, size_t i, uint64_t *sum)
{
	if (p[i] == '[')
		return parse_list(p, i, sum);
	while (p[i] && p[i] != ',' && p[i] != ']')
		*sum = *sum * 31 + (unsigned char)p[i++];
	return p[i] == ',' ? i + 1 : i;
}

NOINLINE static size_t put_number(char *p, uint64_t value)
{
	char digits[20];
	size_t n = 0, i = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n)
		p[i++] = digits[--n];
	return i;
}

NOINLINE static uint64_t handle_request(uint64_t *seed)
{
	char text[2048];
	size_t n = 0;
	uint64_t sum = 0;
	int depth = 0;

	while (n < sizeof(text) - 64) {
		uint64_t r = next_random(seed);

		if (r % 4 == 0 && depth < 20) {
			text[n++] = '[';
			depth++;
		} else {
			n += put_number(text + n, r % 1000000);
			text[n++] = ',';
			text[n++] = ' ';
		}
	}
	while (depth--)
		text[n++] = ']';
	text[n] = 0;
	parse_list(text, 0, &sum);
	return sum;
}

/* ---- sessions ---- */

struct session {
	uint64_t key, hits;
};

NOINLINE static struct session *find_session(struct session *table, size_t n, uint64_t key)
{
	size_t i = (key * 0x9E3779B97F4A7C15u) % n;

	while (table[i].key && table[i].key != key)
		i = (i + 1) % n;
	table[i].key = key;
	return &table[i];
}

NOINLINE static uint64_t serve_sessions(uint64_t *seed)
{
	static struct session table[1 << 18];

	for (int i = 0; i < 2000; i++)
		find_session(table, 1 << 18, 1 + next_random(seed) % 100000)->hits++;
	return table[0].hits;
}

/* ---- results ---- */

NOINLINE static size_t partition(uint64_t *v, size_t n)
{
	uint64_t pivot = v[(n - 1) / 2];
	size_t i = 0, k = n - 1;

	for (;; i++, k--) {
		uint64_t t;

		while (v[i] < pivot)
			i++;
		while (v[k] > pivot)
			k--;
		if (i >= k)
			return k + 1;
		t = v[i];
		v[i] = v[k];
		v[k] = t;
	}
}

NOINLINE static void quick_sort(uint64_t *v, size_t n)
{
	size_t left;

	if (n < 2)
		return;
	left = partition(v, n);
	quick_sort(v, left);
	quick_sort(v + left, n - left);
}

NOINLINE static uint64_t sort_results(uint64_t *seed)
{
	uint64_t values[4000];

	for (size_t i = 0; i < 4000; i++)
		values[i] = next_random(seed);
	quick_sort(values, 4000);
	return values[0];
}

/* ---- log ---- */

NOINLINE static uint64_t write_log(uint64_t *seed)
{
	static char page[65536];
	int fd = open("/dev/null", O_WRONLY), zero = open("/dev/zero", O_RDONLY);
	uint64_t done = 0;

	for (int i = 0; i < 50 && fd >= 0 && zero >= 0; i++) {
		done += (uint64_t)read(zero, page, sizeof(page));
		page[next_random(seed) % sizeof(page)] = 1;
		done += (uint64_t)write(fd, page, sizeof(page));
	}
	close(fd);
	close(zero);
	return done;
}

/* ---- threads ---- */

struct job {
	const char *name;
	uint64_t (*step)(uint64_t *seed);
	double share; /* share of the time in which the thread works, 0 to 1 */
};

static void *work(void *arg)
{
	const struct job *job = arg;
	uint64_t seed = 88172645463325252u, sum = 0;
	double end = now() + seconds;

	pthread_setname_np(pthread_self(), job->name);
	for (double t = now(); t < end; t = now()) {
		double until = t + 0.01 * job->share;

		while (now() < until)
			sum += job->step(&seed);
		usleep((useconds_t)(10000 * (1 - job->share)) + 1);
	}
	return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
	static const struct job jobs[] = {
		{ "http worker 12", handle_request, 0.6 }, { "http worker 3", handle_request, 0.3 },
		{ "sessions", serve_sessions, 0.4 },       { "t", sort_results, 0.25 },
		{ "log writer", write_log, 0.3 },          { "sort 7-12", sort_results, 0.15 },
	};
	pthread_t thread[sizeof(jobs) / sizeof(*jobs)];
	size_t n = sizeof(jobs) / sizeof(*jobs);

	seconds = argc > 1 ? atof(argv[1]) : 5;
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)&jobs[i]) != 0)
			return 1;
	for (size_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
