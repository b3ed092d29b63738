/*
 * names - which function is where? For tests, and to look at a file by hand.
 *
 * names [-p] [-m] [-r RUNTIME] FILE [OFFSET...]: hexadecimal offsets in the file, or one in each line of standard
 * input. Prints "OFFSET NAME+0xOFF", or "OFFSET [unknown]". -p: as perf 6.1, -m: mangled. -t: time and figures on
 * standard error. -d: FILE is what was mapped, of this build-id (or -): search debug files as for a recording. -l PID:
 * that process lives. -i: with -d, inlined calls too, as "OFFSET NAME+0xOFF|OUTER|INNER".
 */
#include "fold/symbols/dsofiles.h"
#include "fold/opener/fileopener.h"

#include "common/diag.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct symbols_query *)a)->address, y = ((const struct symbols_query *)b)->address;

	return (x > y) - (x < y);
}

static void add(struct symbols_query **querys, size_t *n, const char *text)
{
	if ((*n & (*n + 1)) == 0)
		*querys = mem_grow(*querys, sizeof(**querys), 2 * (*n + 1));
	(*querys)[(*n)++] = (struct symbols_query){ .address = strtoull(text, NULL, 16) };
}

static struct elfsyms *open_elf(const char *path, const struct elfsyms_options *options)
{
	const char *why = "cannot be opened";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elfsyms *e = fd < 0 ? NULL : elfsyms_open(fd, options, &why);

	if (!e)
		die("%s: %s", path, why);
	return e;
}

static size_t query(const char *file, const char *runtime, const struct elfsyms_options *options,
		    struct symbols_query *q, size_t n, struct intern *names)
{
	struct elfsyms *e = open_elf(file, options), *r = runtime ? open_elf(runtime, options) : e;
	size_t found = elfsyms_resolve(e, r, q, n, names);

	if (r != e)
		elfsyms_close(r);
	elfsyms_close(e);
	return found;
}

static size_t search(const char *file, const char *id, pid_t live, const struct elfsyms_options *elf, bool inlined,
		     struct symbols_query *q, size_t n, struct intern *names)
{
	struct dsofiles_inlined answer = { 0 };
	static const char *const why[] = {
		[DSO_FOUND] = "found",       [DSO_NO_FILE] = "no file",       [DSO_OTHER_BUILD] = "other build",
		[DSO_UNPROVEN] = "unproven", [DSO_OTHER_FILE] = "other file", [DSO_STRIPPED] = "stripped",
		[DSO_NOT_ELF] = "not ELF",   [DSO_FORBIDDEN] = "forbidden",   [DSO_SILENT] = "silent",
	};
	struct dsofiles_options o = { .elf = *elf, .local = true, .inlined = inlined ? &answer : NULL };
	struct dsofiles_query d = { .path = str_of(file), .live = live };
	int fd = live ? fileopener_inside(live, str_of(file)) : open(file, O_RDONLY | O_CLOEXEC);
	struct stat status;
	size_t found = 0;
	uint64_t byte;

	/* a file that cannot be opened has the numbers of no other one */
	d.numbers.inode = 1;
	if (fd >= 0 && fstat(fd, &status) == 0)
		d.numbers = (struct file_id){ .major = major(status.st_dev),
					      .minor = minor(status.st_dev),
					      .inode = status.st_ino };
	if (fd >= 0)
		close(fd);
	for (; *id != '-' && id[0] && id[1] && d.build_id.n < BUILD_ID_MAX && str_hex((struct str){ id, 2 }, &byte);
	     id += 2)
		d.build_id.byte[d.build_id.n++] = (uint8_t)byte;
	fprintf(stderr, "%s: %s\n", file, why[dsofiles_resolve(&o, &d, q, n, names)]);
	if (inlined && (!answer.found || answer.why))
		fprintf(stderr, "%s: inlined calls: %s\n", file, answer.why ? answer.why : "no debug information");
	for (size_t i = 0; i < n; i++)
		found += q[i].name != 0;
	return found;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct elfsyms_options o = { 0 };
	struct symbols_query *q = NULL;
	struct intern names = { 0 };
	const char *runtime = NULL;
	const char *build_id = NULL;
	pid_t live = 0;
	bool timed = false, inlined = false;
	size_t n = 0, m = 0, found;
	double started;
	char line[64];
	int opt;

	diag_tool("names");
	while ((opt = getopt(argc, argv, "ipmtr:d:l:")) >= 0) {
		o.as_perf |= opt == 'p';
		o.mangled |= opt == 'm';
		inlined |= opt == 'i';
		timed |= opt == 't';
		if (opt == 'r')
			runtime = optarg;
		if (opt == 'd')
			build_id = optarg;
		if (opt == 'l')
			live = (pid_t)strtol(optarg, NULL, 10);
	}
	if (optind >= argc)
		die_usage("names [-p] [-m] [-t] [-r RUNTIME] FILE [OFFSET...]");
	for (int i = optind + 1; i < argc; i++)
		add(&q, &n, argv[i]);
	if (optind + 1 == argc)
		while (fgets(line, sizeof(line), stdin))
			add(&q, &n, line);
	if (n)
		qsort(q, n, sizeof(*q), by_address);
	for (size_t i = 0; i < n; i++)
		if (m == 0 || q[m - 1].address != q[i].address)
			q[m++] = q[i];

	started = now();
	found = build_id ? search(argv[optind], build_id, live, &o, inlined, q, m, &names) :
			   query(argv[optind], runtime, &o, q, m, &names);
	if (timed)
		fprintf(stderr, "%zu of %zu places named in %.2f ms\n", found, m, now() - started);
	for (size_t i = 0; i < m; i++) {
		struct str s = q[i].name ? intern_str(&names, q[i].name) : STR("[unknown]");

		printf("%" PRIx64 " %.*s", q[i].address, (int)s.n, s.p);
		if (q[i].name)
			printf("+0x%" PRIx32, q[i].offset);
		for (struct str rest = q[i].inlined ? intern_str(&names, q[i].inlined) : STR(""); rest.n;) {
			struct str one = str_cut(&rest, 0);

			printf("|%.*s", (int)one.n, one.p);
		}
		putchar('\n');
	}
	free(q);
	intern_free(&names);
	return 0;
}
