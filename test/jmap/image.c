/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image PID [ROUNDS]: a copy of the memory of a JVM that is stopped is read instead of it: the same map comes; with its
 * tables in another order, too; without an entry it is refused; damaged at random in what was looked at it gives a map
 * or a reason, and never ends badly.
 */
#include "common/arena.h"
#include "jmap/perfmap/codemap.h"
#include "runtimes/hotspot/blobframes.h"
#include "common/diag.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define MAXIMUM ((size_t)768 << 20)

static struct memory_part *blob;
static size_t npieces;
static char **touched; /* pages of the copy that were read */
static size_t ntouched;
static unsigned tests, failures;

/* Shows the first line that differs. */
static bool same_map(const struct text *got, const struct text *want)
{
	struct str a = text_view(got), b = text_view(want);

	while (a.n || b.n) {
		struct str x = str_cut(&a, '\n'), y = str_cut(&b, '\n');

		if (str_eq(x, y))
			continue;
		printf("# got  %.*s\n# want %.*s\n", (int)x.n, x.p, (int)y.n, y.p);
		return false;
	}
	return true;
}

static void ok(bool good, const char *what)
{
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, what);
	fflush(stdout);
}

/* ---- the copy --------------------------------------------------------------------------------------------------- */

static void copy_region(int mem, uint64_t from, uint64_t to)
{
	size_t n = (size_t)(to - from), have = 0;
	char *copy = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		die_errno("no room for a copy");
	while (have < n) {
		ssize_t got = pread(mem, copy + have, n - have, (off_t)(from + have));

		if (got <= 0)
			break;
		have += (size_t)got;
	}
	blob = mem_grow(blob, sizeof(*blob), npieces + 1);
	blob[npieces++] = (struct memory_part){ from, have, copy };
}

static void copy_memory(pid_t pid)
{
	char path[64], line[8192];
	size_t total = 0;
	FILE *maps;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	if (mem < 0 || !maps)
		die_errno("process %d", (int)pid);
	while (fgets(line, sizeof(line), maps)) {
		char *end;
		uint64_t from = strtoull(line, &end, 16), to = strtoull(end + 1, &end, 16);

		if (end[1] != 'r' || strstr(line, "[v") || to - from > MAXIMUM - total)
			continue;
		total += to - from;
		copy_region(mem, from, to);
	}
	fclose(maps);
	close(mem);
}

/* ---- which pages are read --------------------------------------------------------------------------------------- */

static void on_touch(int signal, siginfo_t *info, void *context)
{
	char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	(void)signal;
	(void)context;
	for (size_t i = 0; i < npieces; i++) {
		if (page < blob[i].bytes || page >= blob[i].bytes + blob[i].n)
			continue;
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		if (ntouched < 65536)
			touched[ntouched++] = page;
		return;
	}
	_exit(99);
}

static void protect(int protection)
{
	for (size_t i = 0; i < npieces; i++)
		mprotect((void *)(uintptr_t)blob[i].bytes, (blob[i].n + PAGE - 1) / PAGE * PAGE, protection);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Numbers of methods that have names; they cannot be larger than how many there are. */
static uint32_t number_of(void *arg, uint64_t method)
{
	struct hotspot *h = arg;
	struct method_name name;
	struct text t = { 0 };
	bool known = methods_read(&h->memory, &h->layout, method, &t, &name);

	text_free(&t);
	return known ? 1 + (uint32_t)(method >> 3 & 0xffff) : 0;
}

static uint64_t inlined_calls;

/* The calls that were inlined into all that lives: well-formed, whatever the memory holds. */
static void read_scopes(struct hotspot *hotspot)
{
	struct scopes s = { 0 };

	inlined_calls = 0;
	for (size_t i = 0; i < hotspot->code.n; i++) {
		uint32_t last = 0;

		if (!hotspot->code.blob[i].compiled ||
		    !scopes_read(&s, &hotspot->memory, &hotspot->layout, &hotspot->packing, &hotspot->code.blob[i],
				 number_of, hotspot))
			continue;
		for (uint32_t k = 1; k < s.n; k++)
			if (s.node[k].parent >= k || s.node[k].method == 0)
				abort();
		for (uint32_t k = 0; k < s.nruns; last = s.run[k++].end)
			if (s.run[k].end < last || s.run[k].node >= s.n)
				abort();
		inlined_calls += s.n - 1;
	}
	scopes_free(&s);
}

static uint64_t blobs;
static const char *no_frames;

/* What the unwinder needs to know: pieces that ascend and do not overlap, whatever the memory holds, also when asked
 * again. */
static void read_frames(struct hotspot *hotspot)
{
	struct blobframes f;

	blobs = 0;
	no_frames = blobframes_open(&f, hotspot);
	for (unsigned round = 0; round < 2 && !no_frames; round++) {
		no_frames = blobframes_take(&f, hotspot);
		if (round && f.code.n != blobs)
			abort();
		blobs = f.code.n;
		for (size_t i = 0; i < f.code.n; i++)
			if (f.code.blob[i].start >= f.code.blob[i].end ||
			    (i && f.code.blob[i].start < f.code.blob[i - 1].end))
				abort();
	}
	blobframes_free(&f);
}

/* The map, or nothing and why. */
static const char *map_image(uint64_t base, struct text *text)
{
	static char why[200];
	struct hotspot h;
	struct codemap c = { 0 }, parts;
	struct hotspot_reason r = hotspot_open_image(&h, blob, npieces, base);

	why[0] = 0;
	if (!r.code)
		r = codemap_make(&c, &h, METHOD_HOTSPOT);
	if (r.code)
		snprintf(why, sizeof(why), "%s: %s", r.code, r.why);
	else
		read_scopes(&h), read_frames(&h);
	if (!r.code && !codemap_make(&parts, &h, METHOD_JAVA).code) /* with the interpreter's parts */
		codemap_free(&parts);
	text->n = 0;
	codemap_print(&c, true, text);
	codemap_free(&c);
	hotspot_close(&h);
	return why[0] ? why : NULL;
}

static char *in_copy(uint64_t address)
{
	for (size_t i = 0; i < npieces; i++)
		if (address >= blob[i].address && address < blob[i].address + blob[i].n)
			return (char *)(uintptr_t)blob[i].bytes + (address - blob[i].address);
	return NULL;
}

/* ---- changing --------------------------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252u;

static uint64_t next(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static uint64_t number(struct loadedfile *libjvm, const char *symbol)
{
	uint64_t address, value;

	if (!loadedfile_symbol(libjvm, str_of(symbol), &address) || !memory_u64(libjvm->m, address, 8, &value))
		die("no %s", symbol);
	return value;
}

/* The entries of gHotSpotVMStructs change places. */
static void shuffle(struct hotspot *hotspot)
{
	uint64_t at = number(&hotspot->libjvm, "gHotSpotVMStructs"),
		 stride = number(&hotspot->libjvm, "gHotSpotVMStructEntryArrayStride");
	char *first = in_copy(at), saved[1024];

	for (uint64_t i = hotspot->tables.fields - 1; i > 0; i--) {
		char *a = first + i * stride, *b = first + next(i + 1) * stride;

		memcpy(saved, a, stride);
		memmove(a, b, stride);
		memcpy(b, saved, stride);
	}
}

/* Every entry of a field loses its name: sets the first byte of the string, or back. */
static void rename_field(struct hotspot *hotspot, const char *field, char byte)
{
	uint64_t at = number(&hotspot->libjvm, "gHotSpotVMStructs"),
		 stride = number(&hotspot->libjvm, "gHotSpotVMStructEntryArrayStride");
	uint64_t name = number(&hotspot->libjvm, "gHotSpotVMStructEntryFieldNameOffset");

	for (uint64_t i = 0; i < hotspot->tables.fields; i++) {
		uint64_t p;
		char *text;

		memcpy(&p, in_copy(at + i * stride + name), 8);
		text = in_copy(p);
		if (text && strcmp(text + 1, field + 1) == 0)
			*text = byte;
	}
}

static void errors(char *page)
{
	for (uint64_t n = 1 + next(8); n; n--) {
		size_t at = (size_t)next(PAGE / 8) * 8;
		uint64_t value;

		switch (next(5)) {
		case 0: page[next(PAGE)] ^= (char)(1 << next(8)); continue;
		case 1: value = 0; break;
		case 2: value = ~(uint64_t)0 >> next(64); break;
		case 3:
			memcpy(&value, touched[next(ntouched)] + next(PAGE / 8) * 8, 8);
			break; /* a pointer to elsewhere */
		default: value = blob[next(npieces)].address + next(1u << 20) * 8;
		}
		memcpy(page + at, &value, 8);
	}
}

static void on_alarm(int signal)
{
	static const char shown[] = "Bail out! a damaged image takes longer than 60 s\n";

	(void)signal;
	if (write(STDOUT_FILENO, shown, sizeof(shown) - 1) < 0)
		_exit(98);
	_exit(97);
}

static void damaged(uint64_t base, unsigned rounds, const struct text *complete)
{
	struct text t = { 0 };
	unsigned maps = 0, equal = 0, refused = 0;

	/* most damage is where nothing is read that matters: one round of ten is seen, and forty that are not come once
	 * in 70 runs */
	for (unsigned i = 0; i < rounds || (maps + refused == 0 && i < rounds + 1000); i++) {
		char *page[4], *saved = mem_grow(NULL, PAGE, 4);
		size_t n = (size_t)(1 + next(4));

		for (size_t k = 0; k < n; k++) {
			page[k] = touched[next(ntouched)];
			memcpy(saved + k * PAGE, page[k], PAGE);
			errors(page[k]);
		}
		alarm(60);
		if (map_image(base, &t))
			refused++;
		else if (t.n == complete->n && memcmp(t.p, complete->p, t.n) == 0)
			equal++;
		else
			maps++;
		alarm(0);
		while (n--)
			memcpy(page[n], saved + n * PAGE, PAGE);
		free(saved);
	}
	printf("# %u damaged images: %u maps with other lines, %u the same, %u refused\n", maps + equal + refused, maps,
	       equal, refused);
	ok(maps + equal + refused >= rounds, "damaged images: a map or a reason");
	ok(maps + refused > 0, "  damage was seen");
	map_image(base, &t);
	ok(same_map(&t, complete), "  the same map when all is as it was");
	text_free(&t);
}

int main(int argc, char **argv)
{
	struct sigaction touch = { .sa_sigaction = on_touch, .sa_flags = SA_SIGINFO }, none = { .sa_handler = SIG_DFL };
	struct jvm_process p;
	struct hotspot h;
	struct codemap c = { 0 };
	struct text live = { 0 }, t = { 0 };
	struct hotspot_reason r;
	const char *why;

	diag_tool("image");
	if (argc < 2 || !discover_one("/proc", atoi(argv[1]), &p))
		die_usage("image PID [ROUNDS]");
	r = hotspot_open(&h, &p);
	if (!r.code)
		r = codemap_make(&c, &h, METHOD_HOTSPOT);
	if (r.code)
		die("%s: %s", r.code, r.why);
	codemap_print(&c, true, &live);
	codemap_free(&c);
	hotspot_close(&h);

	copy_memory(p.pid);
	touched = mem_alloc(sizeof(*touched), 65536);
	sigaction(SIGSEGV, &touch, NULL);
	protect(PROT_NONE);
	why = map_image(p.library.base, &t);
	sigaction(SIGSEGV, &none, NULL);
	protect(PROT_READ | PROT_WRITE);
	printf("# %zu bytes of maps, %zu pages read\n", live.n, ntouched);
	ok(!why && same_map(&t, &live), "a copy of the memory gives the same map");

	printf("# %llu inlined calls\n", (unsigned long long)inlined_calls);
	ok(inlined_calls > 500, "  and calls that were inlined");

	printf("# %llu pieces of code\n", (unsigned long long)blobs);
	ok(!no_frames && blobs > 800, "  and what unwinding needs");

	hotspot_open_image(&h, blob, npieces, p.library.base);
	shuffle(&h);
	why = map_image(p.library.base, &t);
	ok(!why && same_map(&t, &live), "tables in another order: the same");
	rename_field(&h, "_compile_id", '-');
	why = map_image(p.library.base, &t);
	ok(why && strstr(why, "_compile_id") && t.n == 0, "a field that is needed and not there: refused, by name");
	rename_field(&h, "_compile_id", '_');
	rename_field(&h, "_comp_level", '-');
	why = map_image(p.library.base, &t);
	ok(!why && t.n == live.n, "one that is not needed for names: the same map");
	rename_field(&h, "_comp_level", '_');
	rename_field(&h, "_orig_pc_offset", '-');
	map_image(p.library.base, &t);
	ok(no_frames && strstr(no_frames, "_orig_pc_offset") && blobs == 0,
	   "one that unwinding needs: no frames, and which");
	rename_field(&h, "_orig_pc_offset", '_');
	signal(SIGALRM, on_alarm);
	damaged(p.library.base, argc > 2 ? (unsigned)atoi(argv[2]) : 200, &live);
	hotspot_close(&h);
	text_free(&t);
	text_free(&live);
	jvm_process_close(&p);
	free(touched);
	free(blob);
	printf("1..%u\n", tests);
	return failures != 0;
}
