/* Which piece of a JVM's code an address is in, while the JVM changes: at a process that has the memory of one
 * (standin.h). */
/* covers: record/java/javacode.c record/java/blobcache.c record/java/jvmreader.c record/java/javabudget.c */
#include "record/java/javacode.h"
#include "record/processes/rescan.h"
#include "record/processes/procfs.h"
#include "runtimes/hotspot/hotspot.h"
#include "test/lib/standin.h"
#include "test/lib/child.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

/* How it is used: a look at the rings, then samples. Patience of one look is short, and a machine may be busy: so each
 * is tried until nothing was late. */
struct setting {
	struct standin j;
	struct processes *p;
	struct process *process;
	struct javacode *code;
	struct blob some, native;
};

static void find_blobs(struct setting *setting)
{
	struct memory_part blob = synth_part(&setting->j.s);
	struct hotspot h;

	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	hotspot_scan(&h);
	for (size_t i = 0; i < h.code.n; i++) {
		if (h.code.blob[i].compiled && h.code.blob[i].compile_id == 7)
			setting->some = h.code.blob[i];
		if (h.code.blob[i].compiled && h.code.blob[i].compile_id == 8)
			setting->native = h.code.blob[i];
	}
	hotspot_close(&h);
}

static bool set_up(struct setting *setting)
{
	if (!standin_make(&setting->j, SYNTH_17) || !standin_start(&setting->j))
		return false;
	find_blobs(setting);
	setting->p = processes_new(NULL);
	rescan_read(setting->p, (uint32_t)setting->j.pid);
	setting->process = processes_find(setting->p, (uint32_t)setting->j.pid);
	procfs_identify(setting->process);
	setting->code = javacode_new();
	javacode_start(setting->code, setting->p, NULL);
	return true;
}

static void tear_down(struct setting *setting)
{
	javacode_free(setting->code);
	processes_free(setting->p);
	standin_end(&setting->j);
}

/* now: of the recorder; time: of the sample. */
static enum javacode_answer find_state(struct setting *setting, uint64_t now, uint64_t time, struct unwind_state state,
				       struct code_blob *blob)
{
	enum javacode_answer answer;
	struct javacode_jvm *jvm;

	for (unsigned i = 0; i < 400; i++) {
		javacode_begin(setting->code, 0, now, false);
		jvm = javacode_of(setting->code, setting->process);
		if (!jvm)
			return JAVACODE_NONE;
		answer = javacode_find(jvm, &state, time, blob);
		if (!javacode_was_late(jvm))
			return answer;
		usleep(10000);
	}
	return JAVACODE_LATE;
}

static enum javacode_answer find_at(struct setting *setting, uint64_t now, uint64_t time, uint64_t ip,
				    struct code_blob *blob)
{
	return find_state(setting, now, time, (struct unwind_state){ .ip = ip, .interrupted = true }, blob);
}

/* Of a sample of now. */
static enum javacode_answer find(struct setting *setting, uint64_t ip, struct code_blob *blob)
{
	return find_at(setting, clock_now(), clock_now(), ip, blob);
}

static uint64_t lookups(const struct setting *setting)
{
	return javacode_count(setting->code).lookups;
}

static uint64_t checks(const struct setting *setting)
{
	return javacode_count(setting->code).checks;
}

/* ---- code blobs that stay, and that are replaced  */

static uint64_t first_sample; /* time of a sample before the first lookup */

static void first_seen(struct setting *setting)
{
	struct code_blob blob = { 0 };
	uint64_t before;

	first_sample = clock_now();
	ok(find(setting, setting->some.begin + 20, &blob) == JAVACODE_BLOB && blob.start == setting->some.begin &&
		   blob.frame == 32,
	   "a piece that is met first");
	is_u64(javacode_count(setting->code).jvms, 1, "  of one JVM");
	before = lookups(setting);
	ok(find(setting, setting->some.begin + 30, &blob) == JAVACODE_BLOB && lookups(setting) == before,
	   "  is not asked for again");
	ok(find(setting, setting->native.begin + 20, &blob) == JAVACODE_BLOB && blob.kind == BLOB_NATIVE &&
		   lookups(setting) > before,
	   "another one is");
	is_u64(javacode_count(setting->code).blobs, 2, "  and is kept beside it");
}

/* Memory of code is used again: a piece that was met after the sample is that of the sample if a call ends where it
 * returns to. */
static void returned_to(void)
{
	static struct setting other, *x = &other;
	static const struct {
		const char *bytes, *name;
		size_t n;
		bool good;
	} end[] = {
		{ "\xe8\x00\x00\x00\x00", "a sample from before the piece was met returns behind a call", 5, true },
		{ "\xe8\x00\x00\x00\x0c", "  of code that was mapped later", 5, true },
		{ "\xe8\x00\x00\x00\x60", "  of nothing", 5, false },
		{ "\xff\xd0", "  by register", 2, true },
		{ "\x48\x89\xc8", "  behind none", 3, false },
	};
	struct code_blob blob;
	uint64_t before;

	ok(set_up(x), "another JVM");
	for (size_t i = 0; i < countof(end); i++) {
		uint64_t from = x->some.begin + 16 * (i + 1) - end[i].n;

		memcpy(x->j.s.byte + (from - SYNTH_BASE), end[i].bytes, end[i].n);
	}
	before = clock_now();
	find(x, x->some.begin + 8, &blob);
	for (size_t i = 0; i < countof(end); i++)
		ok(find_state(x, clock_now(), before, (struct unwind_state){ .ip = x->some.begin + 16 * (i + 1) },
			      &blob) == (end[i].good ? JAVACODE_BLOB : JAVACODE_GONE),
		   end[i].name);
	ok(find_state(x, clock_now(), before - 2 * SECOND_NS, (struct unwind_state){ .ip = x->some.begin + 16 },
		      &blob) == JAVACODE_GONE,
	   "  of a sample long before: the memory may be of other code since");
	tear_down(x);
}

/* In the memory of the JVM, of nmethod blob. */
static void set(struct setting *setting, const struct blob *blob, const char *type, const char *field, uint64_t value)
{
	synth_set(&setting->j.s, blob->address, type, field, value);
}

static void replaced(struct setting *setting)
{
	struct code_blob blob = { 0 };
	uint64_t before = checks(setting);

	set(setting, &setting->some, "nmethod", "_compile_id", 70);
	set(setting, &setting->some, "CodeBlob", "_frame_size", 6);
	ok(find_at(setting, clock_now(), first_sample, setting->some.begin + 20, &blob) == JAVACODE_BLOB &&
		   blob.frame == 32 && checks(setting) == before,
	   "a piece that changed: a sample from before has the old one");
	ok(find_at(setting, clock_now(), clock_now() + SECOND_NS, setting->some.begin + 20, &blob) == JAVACODE_BLOB &&
		   blob.frame == 48 && checks(setting) > before,
	   "  one that may be from behind it has the new one, in its place");
	is_u64(javacode_count(setting->code).blobs, 2, "  which is the only one there");
	set(setting, &setting->some, "nmethod", "_compile_id", 71);
	synth_set(&setting->j.s, setting->some.address - synth_size(&setting->j.s, "block"), "HeapBlock::Header",
		  "_used", 0);
	ok(find_at(setting, clock_now(), clock_now() + SECOND_NS, setting->some.begin + 20, &blob) == JAVACODE_GONE,
	   "code that was freed is gone");
	is_u64(javacode_count(setting->code).blobs, 1, "  and forgotten");
}

/* All at once, before the samples of a second are walked. */
static void seen_together(struct setting *setting)
{
	uint64_t now = clock_now(), before = javacode_count(setting->code).late;
	struct code_blob blob;

	ok(find_at(setting, now, now, setting->native.begin + 20, &blob) == JAVACODE_BLOB,
	   "a piece that was met lately");
	javacode_begin(setting->code, now + 10 * SECOND_NS, now, false);
	ok(javacode_count(setting->code).late > before || javacode_count(setting->code).blobs == 1,
	   "  stays while it is the same");
	set(setting, &setting->native, "nmethod", "_compile_id", 80);
	for (unsigned i = 2; i < 400 && javacode_count(setting->code).blobs; i++) {
		javacode_begin(setting->code, now + 10 * i * SECOND_NS, now, false);
		usleep(1000);
	}
	is_u64(javacode_count(setting->code).blobs, 0, "  and goes when it is another one");
}

/* ---- where nothing is ---- */

static void missed(struct setting *setting)
{
	struct code_blob blob;
	uint64_t begin = setting->j.s.heap + setting->j.s.segments[setting->j.s.nsegments - 1] * SYNTH_SEGMENT,
		 now = clock_now(), before = lookups(setting), first;

	ok(find_at(setting, now, now, begin + 8, &blob) == JAVACODE_GONE, "nothing is there");
	first = lookups(setting) - before;
	ok(first >= 1, "  as the JVM says");
	ok(find_at(setting, now, now, begin + 8, &blob) == JAVACODE_GONE && lookups(setting) == before + first,
	   "  so it is not asked again at once");
	ok(find_at(setting, now + SECOND_NS, now, begin + 8, &blob) == JAVACODE_GONE &&
		   lookups(setting) > before + first,
	   "  but a while later");
}

/* ---- dropped code blobs and JVMs  */

static void idle(struct setting *setting)
{
	struct code_blob blob;
	uint64_t now = clock_now();

	find_at(setting, now, now, setting->native.begin + 20, &blob);
	is_u64(javacode_count(setting->code).blobs, 1, "a piece of a JVM");
	javacode_tick(setting->code, now + SECOND_NS);
	is_u64(javacode_count(setting->code).blobs, 1, "  stays");
	javacode_begin(setting->code, 0, now + 100 * SECOND_NS, false);
	ok(javacode_of(setting->code, setting->process), "a JVM that is still met");
	javacode_tick(setting->code, now + 120 * SECOND_NS);
	ok(javacode_count(setting->code).jvms == 1 && javacode_count(setting->code).blobs == 0,
	   "  is not idle, but a piece of it that was not met for long is let go");
	javacode_tick(setting->code, now + 200 * SECOND_NS);
	is_u64(javacode_count(setting->code).jvms, 0, "  and the JVM, when it is not met for long");
}

/* As many as there may be, and one more: who was not met for longest goes. */
static void too_many(struct setting *setting)
{
	enum { MAXIMUM = 256 };
	struct process *one = calloc(MAXIMUM + 1, sizeof(*one));
	uint64_t now = clock_now();

	for (uint32_t i = 0; i <= MAXIMUM; i++) {
		one[i] = (struct process){ .pid = 1u << 24 | i, .start_ticks = 5, .maps = setting->process->maps };
		javacode_begin(setting->code, 0, now + i, false);
		javacode_of(setting->code, &one[i]);
	}
	ok(javacode_count(setting->code).jvms == MAXIMUM && javacode_count(setting->code).opened > MAXIMUM,
	   "no more JVMs than there may be");
	uint64_t opened = javacode_count(setting->code).opened;
	javacode_of(setting->code, &one[MAXIMUM]);
	javacode_of(setting->code, &one[1]);
	ok(javacode_count(setting->code).opened == opened, "  those that were met last are there");
	javacode_of(setting->code, &one[0]);
	ok(javacode_count(setting->code).opened == opened + 1, "  the first is not");
	javacode_tick(setting->code, now + SECOND_NS);
	is_u64(javacode_count(setting->code).jvms, 0, "processes that are gone are let go");
	opened = javacode_owner(javacode_of(setting->code, &one[0])).serial;
	is_u64(javacode_owner(javacode_of(setting->code, &one[0])).serial, opened, "a JVM keeps its serial");
	one[0].start_ticks++;
	ok(javacode_owner(javacode_of(setting->code, &one[0])).serial > opened,
	   "  the next one with its PID has another");
	free(one);
}

/* ---- JVMs that end, or are none ---- */

static void ends(struct setting *setting)
{
	struct code_blob blob;
	struct mappings none = { .version = 1 };
	struct process other = { .pid = setting->process->pid, .maps = &none };

	ok(!javacode_of(setting->code, &other), "a process without libjvm.so is no JVM");
	ok(find(setting, setting->native.begin + 20, &blob) == JAVACODE_BLOB, "a JVM");
	standin_kill(&setting->j);
	uint64_t now = clock_now(), opened = javacode_count(setting->code).opened;
	ok(find_at(setting, now, now + SECOND_NS / 2, setting->native.begin + 20, &blob) == JAVACODE_BLOB &&
		   blob.start == setting->native.begin,
	   "  that ended: its code stays for samples of its last half second");
	ok(find_at(setting, now, now + SECOND_NS, setting->native.begin + 20, &blob) == JAVACODE_GONE,
	   "  not for later ones");
	ok(find_at(setting, now, now, setting->some.end + 4096, &blob) == JAVACODE_NONE,
	   "  an address at which no code was read has no place");
	setting->process->exited = now;
	ok(javacode_of(setting->code, setting->process), "  also after its exit was recorded");
	is_u64(javacode_count(setting->code).opened, opened, "  and it is not opened again");
	is_u64(javacode_count(setting->code).unread, 0, "  which is no JVM that cannot be read");
	javacode_tick(setting->code, now);
	is_u64(javacode_count(setting->code).blobs, 0, "  then its code is let go");
}

/* For its first second it may be about to begin; then it is said, once. */
static void unread(void *unused)
{
	struct setting x = { 0 };
	struct code_blob blob;
	uint64_t now = clock_now();

	(void)unused;
	set_up(&x);
	for (size_t i = 0; i + 17 < x.j.s.n; i++)
		if (memcmp(x.j.s.byte + i, "gHotSpotVMStructs", 17) == 0)
			x.j.s.byte[i] = 'x';
	for (unsigned i = 0; i < 6000 && javacode_count(x.code).unread < 2; i++) {
		find_at(&x, now += 100 * SECOND_NS, clock_now(), x.some.begin + 20, &blob);
		usleep(10000);
	}
	printf("%d", (int)javacode_count(x.code).unread);
	tear_down(&x);
}

int main(void)
{
	static struct child c;
	struct setting x = { 0 };

	if (!set_up(&x) || !x.process || !x.process->maps || !x.process->maps->n) {
		printf("ok %d # SKIP a process with executable memory of a file in TMPDIR cannot be made\n", ++tap_n);
		return done();
	}
	first_seen(&x);
	replaced(&x);
	seen_together(&x);
	missed(&x);
	idle(&x);
	too_many(&x);
	ends(&x);
	tear_down(&x);
	returned_to();
	child_run(&c, unread, NULL);
	is_str(c.out, STR("2"), "one that tells nothing is tried again, later");
	ok(str_find_str(c.err, STR("(no-vmstructs: ")) > 0 && str_find(c.err, '\n') + 1 == (ptrdiff_t)c.err.n,
	   "  and said once");
	return done();
}
