/* The thread that reads JVMs, at a process that has the memory of one (standin.h): questions and answers, answers that
 * nobody waited for, JVMs that end, and those of a build that is known. */
/* covers: record/java/jvmreader.c record/java/jvmbuilds.c record/java/jvmopen.c record/java/jvmhelper.c */
#include "record/java/jvmbuilds.h"
#include "record/java/jvmreader.h"
#include "test/lib/standin.h"
#include "common/clocks.h"
#include "common/process/capabilities.h"
#include "test/lib/tap.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { DEADLINE_S = 60, MANY = 300000 /* a tenth of a second to look at */ };

/* What the image holds, read from the image. */
struct truth {
	struct blob some, native, stubs; /* nmethods 7 and 8 */
	uint64_t low;                    /* of its code */
};

static struct truth truth_of(const struct synth *synth)
{
	struct memory_part blob = synth_part(synth);
	struct truth t = { .low = synth->heap };
	struct hotspot h;

	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	hotspot_scan(&h);
	for (size_t i = 0; i < h.code.n; i++) {
		const struct blob *b = &h.code.blob[i];

		if (b->compiled && b->compile_id == 7)
			t.some = *b;
		if (b->compiled && b->compile_id == 8)
			t.native = *b;
		if (b->begin == synth->block)
			t.stubs = *b;
	}
	hotspot_close(&h);
	return t;
}

static void be_patient(struct jvmreader *jvmreader)
{
	jvmreader_deadline(jvmreader, DEADLINE_S * SECOND_NS);
}

static void questions(struct jvmreader *jvmreader, struct standin *standin)
{
	struct truth t = truth_of(&standin->s);
	struct jvmreader_jvm *jvm = jvmreader_open(jvmreader, (uint32_t)standin->pid, 0, (struct tenant){ 0 });
	struct jvmreader_found f = { 0 };
	struct blob b[3] = { t.some, t.native, t.some };
	const char *bytes = NULL;
	size_t n = 3;

	be_patient(jvmreader);
	ok(jvmreader_find(jvmreader, jvm, t.some.begin + 20, &f) == JVMREADER_DONE && f.where == CODECACHE_BLOB,
	   "the block around an address");
	ok(f.blob.compile_id == 7 && f.blob.begin == t.some.begin && f.code.n == 1 && f.code.blob[0].frame == 32,
	   "  is what it is");
	ok(f.bytes && f.bytes[(t.some.begin + 7) % JVMREADER_BYTES] == 0x55 &&
		   (t.some.begin + 7) / JVMREADER_BYTES == (t.some.begin + 20) / JVMREADER_BYTES,
	   "  with its bytes");
	ok(jvmreader_find(jvmreader, jvm, t.stubs.begin + 40, &f) == JVMREADER_DONE && f.code.n == 4,
	   "a block of stubs has many pieces");
	ok(jvmreader_find(jvmreader, jvm, t.some.address, &f) == JVMREADER_DONE && f.where == CODECACHE_FREE,
	   "before the code of a block is none");
	ok(jvmreader_find(jvmreader, jvm, 4096, &f) == JVMREADER_DONE && f.where == CODECACHE_ELSEWHERE && !f.bytes,
	   "elsewhere is none, and nothing is read");
	ok(jvmreader_bytes(jvmreader, jvm, t.native.begin, &bytes) == JVMREADER_DONE && bytes, "bytes");
	b[2].compile_id = 6;
	ok(jvmreader_check(jvmreader, jvm, b, &n) == JVMREADER_DONE && n == 2 && b[1].compile_id == 8,
	   "what has another compile id is not the same");
	n = 0;
	ok(jvmreader_check(jvmreader, jvm, b, &n) == JVMREADER_DONE && n == 0, "nothing is looked at");
	jvmreader_close(jvmreader, jvm);
}

struct names {
	uint64_t method[3];
	char text[3][64];
	unsigned n;
};

static void take_name(void *to, uint64_t method, struct str name)
{
	struct names *all = to;

	snprintf(all->text[all->n], sizeof(all->text[0]), "%.*s", (int)name.n, name.p);
	all->method[all->n++] = method;
}

static void names(struct jvmreader *jvmreader, struct standin *standin)
{
	struct truth t = truth_of(&standin->s);
	struct jvmreader_jvm *jvm = jvmreader_open(jvmreader, (uint32_t)standin->pid, 0, (struct tenant){ 0 });
	struct names got = { 0 };
	const uint64_t method[3] = { t.some.method, 4096, t.native.method };

	be_patient(jvmreader);
	ok(jvmreader_names(jvmreader, jvm, method, 3, take_name, &got) == JVMREADER_DONE && got.n == 2 &&
		   got.method[1] == t.native.method,
	   "names of methods; what is none has none");
	is_str(str_of(got.text[0]), STR("int Work.some(int, java.lang.String, long[])"), "  as HotSpot spells them");
	jvmreader_close(jvmreader, jvm);
}

/* Nobody waits: what was asked comes later, and is not taken for the answer to another question. */
static void late(struct jvmreader *jvmreader, struct standin *standin)
{
	struct truth t = truth_of(&standin->s);
	struct jvmreader_jvm *jvm = jvmreader_open(jvmreader, (uint32_t)standin->pid, 0, (struct tenant){ 0 });
	struct jvmreader_found f = { 0 };
	size_t n = MANY;
	struct blob *many = mem_alloc(sizeof(*many), n);

	for (size_t i = 0; i < n; i++)
		many[i] = t.some;
	jvmreader_deadline(jvmreader, 0);
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_LATE && !jvmreader_ready(jvmreader),
	   "without patience nothing is asked");
	be_patient(jvmreader);
	ok(jvmreader_find(jvmreader, jvm, t.native.begin + 20, &f) == JVMREADER_DONE && f.blob.compile_id == 8,
	   "with it, it is");
	jvmreader_deadline(jvmreader, 1);
	ok(jvmreader_check(jvmreader, jvm, many, &n) == JVMREADER_LATE && n == MANY, "what takes too long is late");
	be_patient(jvmreader);
	while (!jvmreader_ready(jvmreader))
		usleep(1000);
	ok(jvmreader_find(jvmreader, jvm, t.some.begin + 20, &f) == JVMREADER_DONE && f.blob.compile_id == 7,
	   "  the next question has its own");
	jvmreader_deadline(jvmreader, 1);
	jvmreader_check(jvmreader, jvm, many, &n);
	jvmreader_close(jvmreader, jvm); /* while it is read */
	jvm = jvmreader_open(jvmreader, (uint32_t)standin->pid, 0, (struct tenant){ 0 });
	be_patient(jvmreader);
	while (!jvmreader_ready(jvmreader))
		usleep(1000);
	ok(jvmreader_find(jvmreader, jvm, t.some.begin + 20, &f) == JVMREADER_DONE && f.blob.compile_id == 7,
	   "a JVM that was closed while it was read is none of ours");
	jvmreader_close(jvmreader, jvm);
	free(many);
}

/* Puts more descriptors in flight than this process may have open, between two sockets. Returns -1 on failure. */
static int fill_flight(int pair[2])
{
	enum { LIMIT = 64, IN_FLIGHT = 200 };
	struct rlimit limit;
	int fd[IN_FLIGHT];
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(fd))];
	} control = { .head = { CMSG_LEN(sizeof(fd)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { "x", 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};

	for (unsigned i = 0; i < IN_FLIGHT; i++)
		fd[i] = STDIN_FILENO;
	memcpy(CMSG_DATA(&control.head), fd, sizeof(fd));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || sendmsg(pair[0], &message, 0) != 1)
		exit(1);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = LIMIT;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

/* Others have too many descriptors in flight, so the request that opens a JVM cannot be sent: the helper is idle, and
 * the JVM is read later. */
static void unsent(struct jvmreader *jvmreader, struct standin *standin)
{
	struct truth t = truth_of(&standin->s);
	struct jvmreader_jvm *jvm = jvmreader_open(jvmreader, (uint32_t)standin->pid, 0, (struct tenant){ 0 });
	struct jvmreader_found f = { 0 };
	struct capabilities all, few;
	struct rlimit former;
	int pair[2];

	be_patient(jvmreader);
	while (!jvmreader_ready(jvmreader))
		usleep(1000);
	getrlimit(RLIMIT_NOFILE, &former);
	capabilities_get(&all);
	few = all;
	few.effective &= ~(CAPABILITY_BIT(CAP_SYS_ADMIN) | CAPABILITY_BIT(CAP_SYS_RESOURCE));
	if (fill_flight(pair) < 0 || !capabilities_set(&few))
		exit(1);
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_LATE && jvmreader_ready(jvmreader),
	   "a request that cannot be sent is late, and the helper is idle");
	capabilities_set(&all);
	setrlimit(RLIMIT_NOFILE, &former);
	close(pair[0]);
	close(pair[1]);
	usleep(300000); /* longer than a hang */
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_DONE && f.blob.compile_id == 7,
	   "  the JVM is read later");
	ok(jvmreader_count(jvmreader).hung == 0, "  and no hang is counted");
	jvmreader_close(jvmreader, jvm);
}

static void ended(struct jvmreader *jvmreader)
{
	struct standin j;
	struct truth t;
	struct jvmreader_found f;
	struct jvmreader_jvm *jvm, *other;

	standin_make(&j, SYNTH_17);
	t = truth_of(&j.s);
	standin_start(&j);
	be_patient(jvmreader);
	jvm = jvmreader_open(jvmreader, (uint32_t)j.pid, 0, (struct tenant){ 0 });
	other = jvmreader_open(jvmreader, (uint32_t)j.pid, 1, (struct tenant){ 0 }); /* the number was another's */
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_DONE, "it lives");
	ok(jvmreader_find(jvmreader, other, t.some.begin, &f) == JVMREADER_LOST &&
		   strcmp(jvmreader_why(other).code, "gone") == 0,
	   "one that began at another time ended");
	standin_kill(&j);
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_LOST &&
		   strcmp(jvmreader_why(jvm).code, "gone") == 0,
	   "it ended, and that is said");
	jvmreader_close(jvmreader, jvm);
	jvmreader_close(jvmreader, other);
	standin_end(&j);
}

/* ---- builds ---- */

/* The tables are gone: only who knows the layout can read it. */
static void errors(struct synth *synth)
{
	struct str name = STR("gHotSpotVMStructs");

	for (size_t i = 0; i + name.n < synth->n; i++)
		if (memcmp(synth->byte + i, name.p, name.n) == 0)
			synth->byte[i] = 'x';
}

/* A second process that maps the same file. */
static struct standin again(const struct standin *standin)
{
	struct standin k = *standin;

	k.pid = 0;
	standin_start(&k);
	return k;
}

static void known_builds(struct jvmreader *jvmreader)
{
	struct standin first, same, copy;
	struct jvmreader_jvm *jvm;
	struct jvmreader_found f;
	struct truth t;

	standin_make(&first, SYNTH_25);
	standin_make(&copy, SYNTH_25);
	t = truth_of(&first.s);
	errors(&copy.s);
	standin_start(&first);
	standin_start(&copy);
	be_patient(jvmreader);
	jvm = jvmreader_open(jvmreader, (uint32_t)copy.pid, 0, (struct tenant){ 0 });
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_LOST, "a JVM that tells nothing is not read");
	jvmreader_close(jvmreader, jvm);
	jvm = jvmreader_open(jvmreader, (uint32_t)first.pid, 0, (struct tenant){ 0 });
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_DONE, "one of the same build tells all");
	jvmreader_close(jvmreader, jvm);
	errors(&first.s);
	same = again(&first);
	jvm = jvmreader_open(jvmreader, (uint32_t)same.pid, 0, (struct tenant){ 0 });
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_DONE && f.blob.compile_id == 7,
	   "  then another one that maps its file is read as that one is");
	jvmreader_close(jvmreader, jvm);
	jvm = jvmreader_open(jvmreader, (uint32_t)copy.pid, 0, (struct tenant){ 0 });
	ok(jvmreader_find(jvmreader, jvm, t.some.begin, &f) == JVMREADER_LOST,
	   "  but one of equal bytes in another file is not");
	jvmreader_close(jvmreader, jvm);
	standin_kill(&same);
	standin_end(&first);
	standin_end(&copy);
}

static uint64_t mount_ns(int process)
{
	struct stat st;

	return fstatat(process, "ns/mnt", &st, 0) == 0 ? st.st_ino : 0;
}

/* A child in a mount namespace of its own; 0: that is not allowed here. */
static pid_t contained(int *process)
{
	pid_t pid = fork();
	char path[32];
	struct stat own;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	*process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (stat("/proc/self/ns/mnt", &own) < 0)
		exit(1);
	for (unsigned i = 0; i < 2000 && waitpid(pid, NULL, WNOHANG) == 0; i++, usleep(1000))
		if (mount_ns(*process) && mount_ns(*process) != own.st_ino)
			return pid;
	close(*process);
	return 0;
}

/* Of a container, an entry counts while its owner lives there: afterwards another container may have the number. */
static void owners(struct jvmbuilds *jvmbuilds, struct hotspot *hotspot, struct blobframes *frames,
		   struct hotspot *like, uint64_t base)
{
	struct jvmbuilds_key key = { .uid = 7, .inode = 1 };
	struct blobframes g = { 0 };
	int process;
	pid_t pid = contained(&process);

	jvmbuilds_keep(jvmbuilds, &key, -1, SYNTH_BASE, hotspot, frames);
	ok(!jvmbuilds_take(jvmbuilds, &key, -1, base, like, &g), "nothing where the mount namespace is not known");
	if (!pid) {
		printf("ok %d # SKIP no user namespaces here\n", ++tap_n);
		return;
	}
	key.mount_ns = mount_ns(process);
	jvmbuilds_keep(jvmbuilds, &key, process, SYNTH_BASE, hotspot, frames);
	ok(jvmbuilds_take(jvmbuilds, &key, process, base, like, &g), "a build that is known in a container");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(process);
	ok(!jvmbuilds_take(jvmbuilds, &key, -1, base, like, &g), "  but not after its owner ended");
}

static void builds(void)
{
	struct synth s;
	struct hotspot h, like = { .memory = { .fd = -1 } };
	struct blobframes f, g = { 0 };
	struct memory_part blob;
	struct jvmbuilds *b = jvmbuilds_new();
	struct jvm_process self = { .folder = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC),
				    .uid = 1000,
				    .library = { 0, 8, 1, 4711 } };
	struct jvmbuilds_key key = jvmbuilds_key(&self), other;
	uint64_t further = 0x100000;

	synth_make(&s, SYNTH_25, 1, -1);
	blob = synth_part(&s);
	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	blobframes_open(&f, &h);
	jvmbuilds_keep(b, &key, self.folder, SYNTH_BASE, &h, &f);
	blob.address += further;
	memory_image(&like.memory, &blob, 1);
	ok(jvmbuilds_take(b, &key, self.folder, SYNTH_BASE + further, &like, &g), "a build that is known, elsewhere");
	is_u64(like.layout.heaps, h.layout.heaps + further, "  what has an address of its own lies elsewhere, too");
	is_u64(g.layout.call_stub_return, f.layout.call_stub_return + further, "  also of frames");
	is_u64(g.layout.continuation_return, f.layout.continuation_return + further, "  and of virtual threads");
	ok(like.layout.compile_id.at == h.layout.compile_id.at && g.layout.bytes == f.layout.bytes,
	   "  fields are where they are");
	other = key;
	other.uid = 0;
	ok(!jvmbuilds_take(b, &other, self.folder, SYNTH_BASE + further, &like, &g),
	   "nothing of a user's for another one");
	other = key;
	other.mount_ns++;
	ok(!jvmbuilds_take(b, &other, self.folder, SYNTH_BASE + further, &like, &g),
	   "nor of a container's, which may have the same users");
	other = key;
	other.inode++;
	ok(!jvmbuilds_take(b, &other, self.folder, SYNTH_BASE + further, &like, &g), "nor of another file");
	other = key;
	other.minor++;
	ok(!jvmbuilds_take(b, &other, self.folder, SYNTH_BASE + further, &like, &g), "nor of another file system");
	ok(!jvmbuilds_take(b, &key, self.folder, SYNTH_BASE, &like, &g), "nothing where nothing can be read");
	memory_close(&like.memory);
	memory_image(&like.memory, &blob, 1);
	owners(b, &h, &f, &like, SYNTH_BASE + further);
	s.byte[SYNTH_PAGE - 1] ^= 1;
	memory_forget(&like.memory);
	ok(!jvmbuilds_take(b, &key, self.folder, SYNTH_BASE + further, &like, &g),
	   "nothing for a library that begins otherwise");
	blobframes_free(&f);
	hotspot_close(&h);
	memory_close(&like.memory);
	jvmbuilds_free(b);
	close(self.folder);
	synth_free(&s);
}

int main(void)
{
	struct jvmreader *r = jvmreader_new(NULL);
	struct standin j;

	builds();
	if (!standin_make(&j, SYNTH_21) || !standin_start(&j)) {
		printf("ok %d # SKIP a process with executable memory of a file in TMPDIR cannot be made\n", ++tap_n);
		return done();
	}
	questions(r, &j);
	names(r, &j);
	late(r, &j);
	unsent(r, &j);
	ended(r);
	known_builds(r);
	standin_end(&j);
	jvmreader_free(r);
	return done();
}
