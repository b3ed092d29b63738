/*
 * symbols - asks one source of names about addresses from stdin, for comparing with perf by hand:
 *   cc -O2 -std=c17 -D_GNU_SOURCE -I. -o symbols test/fold/symbols/symbols.c build/std-cc/parts.a build/std-cc/libpj.a
 * -lz -lm perf script -F ip | symbols kernel|kernel-nocache|kallsyms FILE|map FILE symbols jitdump FILE    lines "TIME
 * ADDRESS", time in ns Prints "address name [module]" and, on stderr, what CPU time it took.
 */
#include "fold/jit/jitdump.h"
#include "fold/kernel/kallsyms.h"
#include "fold/jit/perfmap.h"
#include "common/arena.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others use this machine, too */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int cmp(const void *a, const void *b)
{
	uint64_t x = ((const struct symbols_query *)a)->address, y = ((const struct symbols_query *)b)->address;

	return (x > y) - (x < y);
}

static size_t read_queries(struct symbols_query **querys)
{
	size_t n = 0, saved = 0, cap = 1024;
	uint64_t a;

	*querys = mem_alloc(sizeof(**querys), cap);
	while (scanf("%" SCNx64, &a) == 1) {
		if (n == cap)
			*querys = mem_grow(*querys, sizeof(**querys), cap *= 2);
		(*querys)[n++] = (struct symbols_query){ .address = a };
	}
	qsort(*querys, n, sizeof(**querys), cmp);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || (*querys)[i].address != (*querys)[saved - 1].address)
			(*querys)[saved++] = (*querys)[i];
	return saved;
}

static int query_jitdump(const char *file)
{
	const char *why;
	double t = now();
	struct jitdump *j = jitdump_open(open(file, O_RDONLY | O_NONBLOCK), &why);
	uint64_t a, time, bad;

	if (!j)
		die("%s: %s", file, why);
	bad = jitdump_bad(j, &why);
	fprintf(stderr, "%zu codes, %" PRIu64 " bad (%s), %.2f ms\n", jitdump_count(j), bad, why ? why : "", now() - t);
	while (scanf("%" SCNu64 " %" SCNx64, &time, &a) == 2) {
		const struct jit_code *c = jitdump_find(j, a, time);

		printf("%" PRIx64 " %.*s\n", a, c ? (int)c->name.n : 9, c ? c->name.p : "[unknown]");
	}
	jitdump_close(j);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "kernel", *file = argc > 2 ? argv[2] : NULL, *why;
	struct symbols_query *q;
	struct intern names = { 0 };
	uint32_t *modules;
	ptrdiff_t answered = 0;
	size_t n;
	double t, opened;

	if (!strcmp(what, "jitdump"))
		return query_jitdump(file);
	n = read_queries(&q);
	modules = mem_alloc(sizeof(*modules), n);
	t = opened = now();
	if (!strcmp(what, "map")) {
		struct perfmap_tally y;

		answered = perfmap_resolve(open(file, O_RDONLY | O_NONBLOCK), q, n, &names, &y);
		fprintf(stderr, "%" PRIu64 " lines, %" PRIu64 " bad, first %" PRIu64 " (%s)\n", y.lines, y.bad,
			y.first_bad, y.why ? y.why : "");
	} else {
		struct kallsyms_options o = { .cache = strcmp(what, "kernel-nocache") != 0, .file = file };
		struct kallsyms *k = kallsyms_open(&o, &why);

		if (!k)
			die("%s: %s", file ? file : "/proc/kallsyms", why);
		opened = now();
		answered = (ptrdiff_t)kallsyms_resolve(k, 0, q, n, &names, modules);
		fprintf(stderr, "_text %" PRIx64 "\n", kallsyms_address(k, STR("_text")));
		kallsyms_close(k);
	}
	fprintf(stderr, "%zu addresses, %td answered; opened %.2f ms, all %.2f ms\n", n, answered, opened - t,
		now() - t);
	for (size_t i = 0; i < n; i++) {
		struct str s = q[i].name ? intern_str(&names, q[i].name) : STR("[unknown]"), m = { 0 };

		if (modules[i])
			m = intern_str(&names, modules[i]);
		printf("%" PRIx64 " %.*s%s%.*s\n", q[i].address, (int)s.n, s.p, m.n ? " " : "", (int)m.n,
		       m.n ? m.p : "");
	}
	return 0;
}
