/* SPDX-License-Identifier: Apache-2.0 */
/* covers: fold/process/addrspace.c fold/perfdata/buildids.c */
#include "fold/process/addrspace.h"

#include "test/lib/tap.h"

static struct addrspace as;

static void map_at(uint32_t pid, uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
	struct perfdata_record r = { .kind = PERFDATA_MMAP, .pid = pid, .tid = pid };

	r.mmap.start = start;
	r.mmap.length = length;
	r.mmap.offset = offset;
	r.mmap.protection = 4;
	r.mmap.path = str_of(path);
	addrspace_record(&as, &r);
}

static void fork_of(uint32_t ppid, uint32_t ptid, uint32_t pid, uint32_t tid)
{
	struct perfdata_record r = { .kind = PERFDATA_FORK, .pid = pid, .tid = tid };

	r.fork.ppid = ppid;
	r.fork.ptid = ptid;
	addrspace_record(&as, &r);
}

static void comm_of(uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
	struct perfdata_record r = { .kind = PERFDATA_COMM, .pid = pid, .tid = tid };

	r.comm.comm = str_of(comm);
	r.comm.exec = exec;
	addrspace_record(&as, &r);
}

static void ksymbol_at(uint64_t start, uint32_t length, const char *name, bool gone)
{
	struct perfdata_record r = { .kind = PERFDATA_KSYMBOL };

	r.ksymbol.start = start;
	r.ksymbol.length = length;
	r.ksymbol.name = str_of(name);
	r.ksymbol.gone = gone;
	addrspace_record(&as, &r);
}

static struct location find(uint32_t pid, uint32_t tid, enum perfdata_mode mode, uint64_t ip)
{
	return addrspace_find(&as, addrspace_thread(&as, pid, tid), mode, ip);
}

/* What is at ip, as "path+address". */
static struct str where(uint32_t pid, uint32_t tid, enum perfdata_mode mode, uint64_t ip)
{
	static char text[128];
	struct location p = find(pid, tid, mode, ip);
	struct str path = as.dso[p.dso].path;
	int n = snprintf(text, sizeof(text), "%.*s+%llx", (int)path.n, path.p, (unsigned long long)p.address);

	return (struct str){ text, (size_t)n };
}

static struct str comm(uint32_t pid, uint32_t tid)
{
	return intern_str(&as.comms, addrspace_comm(&as, addrspace_thread(&as, pid, tid)));
}

static void overlays(void)
{
	addrspace_init(&as, false);
	is_str(where(1, 1, MODE_USER, 0x1500), STR("[unknown]+1500"), "nothing is mapped");
	map_at(1, 0x1000, 0x4000, 0, "/a");
	is_str(where(1, 1, MODE_USER, 0x1000), STR("/a+0"), "the first byte");
	is_str(where(1, 1, MODE_USER, 0x4fff), STR("/a+3fff"), "the last byte");
	is_str(where(1, 1, MODE_USER, 0x5000), STR("[unknown]+5000"), "behind it");
	is_str(where(1, 1, MODE_USER, 0xfff), STR("[unknown]+fff"), "before it");
	map_at(1, 0x2000, 0x1000, 0x100, "/b");
	is_str(where(1, 1, MODE_USER, 0x1fff), STR("/a+fff"), "what is mapped in the middle leaves a piece before");
	is_str(where(1, 1, MODE_USER, 0x2000), STR("/b+100"), "lies over it");
	is_str(where(1, 1, MODE_USER, 0x3000), STR("/a+2000"), "and leaves a piece behind, at the right offset");
	map_at(1, 0x2800, 0x1000, 0, "/c");
	is_str(where(1, 1, MODE_USER, 0x27ff), STR("/b+8ff"), "over the end of one");
	is_str(where(1, 1, MODE_USER, 0x37ff), STR("/c+fff"), "and the start of the next");
	is_str(where(1, 1, MODE_USER, 0x3800), STR("/a+2800"), "of which the rest stays");
	map_at(1, 0, 0x10000, 0, "/d");
	is_str(where(1, 1, MODE_USER, 0x2900), STR("/d+2900"), "over all of them");
	map_at(1, 0x500, 0, 0, "/e");
	is_str(where(1, 1, MODE_USER, 0x500), STR("/d+500"), "an empty mapping is none");
	map_at(1, UINT64_MAX - 0xfff, 0x10000, 0, "/f");
	is_str(where(1, 1, MODE_USER, UINT64_MAX - 1), STR("/f+ffe"),
	       "one that runs past the end of memory ends there");
	for (unsigned i = 0; i < 1000; i++)
		map_at(2, 0x100000 + 0x2000 * ((i * 7919) % 1000), 0x1000, 0, "/many");
	is_str(where(2, 2, MODE_USER, 0x100000 + 0x2000 * 500 + 5), STR("/many+5"), "a thousand mappings in any order");
	is_str(where(2, 2, MODE_USER, 0x101000 + 0x2000 * 500), STR("[unknown]+4e9000"), "with holes between");
	addrspace_free(&as);
}

static void forks(bool as_perf)
{
	uint32_t serial;

	addrspace_init(&as, as_perf);
	comm_of(10, 10, "parent", false);
	map_at(10, 0x1000, 0x1000, 0, "/a");
	fork_of(10, 10, 11, 11);
	is_str(comm(11, 11), STR("parent"), "a child has the name of its parent");
	is_str(where(11, 11, MODE_USER, 0x1000), STR("/a+0"), "and its mappings");
	serial = addrspace_serial(&as, addrspace_thread(&as, 10, 10), MODE_USER);
	is_u64(addrspace_serial(&as, addrspace_thread(&as, 11, 11), MODE_USER), serial, "of equal serial");
	map_at(11, 0x1000, 0x1000, 0, "/b");
	is_str(where(11, 11, MODE_USER, 0x1000), STR("/b+0"), "what the child maps");
	is_str(where(10, 10, MODE_USER, 0x1000), STR("/a+0"), "the parent does not have");
	map_at(10, 0x2000, 0x1000, 0, "/c");
	is_str(where(11, 11, MODE_USER, 0x2000), STR("[unknown]+2000"), "nor the child what the parent maps later");
	fork_of(10, 10, 10, 12);
	map_at(10, 0x3000, 0x1000, 0, "/d");
	is_str(where(10, 12, MODE_USER, 0x3000), STR("/d+0"), "threads share mappings");
	comm_of(10, 12, "worker", false);
	is_str(comm(10, 10), STR("parent"), "but not names");
	is_str(comm(10, 12), STR("worker"), "as each may have its own");
	comm_of(11, 11, "other", true);
	if (as_perf)
		is_str(where(11, 11, MODE_USER, 0x1000), STR("/b+0"), "perf keeps what was mapped before exec");
	else
		is_str(where(11, 11, MODE_USER, 0x1000), STR("[unknown]+1000"), "exec ends all mappings");
	is_str(where(10, 10, MODE_USER, 0x1000), STR("/a+0"), "of that process only");
	fork_of(11, 11, 10, 10);
	is_str(comm(10, 10), STR("other"), "a process id is used again");
	is_str(where(10, 10, MODE_USER, 0x3000), STR("[unknown]+3000"), "without the mappings that were there");
	is_str(comm(77, 77), STR(":77"), "a thread without name");
	is_str(comm(0, 0), STR("swapper"), "the idle one");
	fork_of(5, 5, 5, 5);
	is_str(comm(5, 5), STR(":5"), "its own parent");
	addrspace_free(&as);
}

static void kinds(void)
{
	addrspace_init(&as, false);
	map_at(7, 0x1000, 0x1000, 0x50, "//anon");
	is_str(where(7, 7, MODE_USER, 0x1004), STR("/tmp/perf-7.map+1004"),
	       "anonymous code is the perf map's, by address");
	map_at(7, 0x2000, 0x1000, 0x50, "/memfd:doublemapper (deleted)");
	is_str(where(7, 7, MODE_USER, 0x2004), STR("/tmp/perf-7.map+2004"), "so is that of a memfd");
	map_at(7, 0x3000, 0x1000, 0x50, "[vdso]");
	is_str(where(7, 7, MODE_USER, 0x3004), STR("[vdso]+4"), "the vdso has no offset");
	fork_of(7, 7, 8, 8);
	is_str(where(8, 8, MODE_USER, 0x1004), STR("/tmp/perf-7.map+1004"), "a child has its parent's map");
	is_str(where(7, 7, MODE_KERNEL, 0xffffffff81000010), STR("[kernel.kallsyms]+ffffffff81000010"),
	       "kernel code, without a mapping of the kernel");
	is_str(where(7, 7, MODE_KERNEL, 0x1010), STR("[unknown]+1010"), "but no user address in kernel mode");
	map_at(UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	is_str(where(7, 7, MODE_KERNEL, 0xffffffff81000010), STR("[kernel.kallsyms]+ffffffff81000010"),
	       "the kernel, by address");
	is_str(where(7, 7, MODE_USER, 0xffffffff81000010), STR("[unknown]+ffffffff81000010"), "is not the user's");
	is_str(as.kernel_symbol, STR("_text"), "the symbol that tells how far it was moved");
	is_u64(as.kernel_text, 0xffffffff81000000, "and where it was");
	map_at(UINT32_MAX, 0xffffffffc0000000, 0x1000, 0, "/lib/modules/6.1/kernel/fs/nfs-v4.ko.xz");
	is_str(where(7, 7, MODE_KERNEL, 0xffffffffc0000010), STR("[nfs_v4]+ffffffffc0000010"), "a module, by its name");
	ksymbol_at(0xffffffffc0001000, 0x100, "bpf_prog_1", false);
	is_str(where(7, 7, MODE_KERNEL, 0xffffffffc0001010), STR("bpf_prog_1+ffffffffc0001010"), "a BPF program");
	ksymbol_at(0xffffffffc0001000, 0x100, "bpf_prog_1", true);
	is_str(where(7, 7, MODE_KERNEL, 0xffffffffc0001010), STR("[kernel.kallsyms]+ffffffffc0001010"), "that is gone");
	is_str(where(7, 7, MODE_GUEST_USER, 0x1004), STR("[unknown]+1004"), "a guest's code is not ours");
	addrspace_free(&as);
	addrspace_init(&as, true);
	map_at(7, 0x2000, 0x1000, 0x50, "/memfd:doublemapper (deleted)");
	is_str(where(7, 7, MODE_USER, 0x2004), STR("/memfd:doublemapper (deleted)+54"),
	       "perf takes a memfd for a file");
	addrspace_free(&as);
}

static void identity(void)
{
	struct perfdata_record r = { .kind = PERFDATA_MMAP, .pid = 1, .tid = 1 };
	struct perfdata_build_id id = { .path = STR("/a"), .id = { .n = 2, .byte = { 1, 2 } } };

	addrspace_init(&as, false);
	r.mmap.start = 0x1000;
	r.mmap.length = 0x1000;
	r.mmap.path = STR("/a");
	r.mmap.file_id.inode = 5;
	addrspace_record(&as, &r);
	r.mmap.start = 0x2000;
	addrspace_record(&as, &r);
	ok(find(1, 1, MODE_USER, 0x1000).dso == find(1, 1, MODE_USER, 0x2000).dso, "one file mapped twice is one DSO");
	r.mmap.start = 0x3000;
	r.mmap.file_id.inode = 6;
	addrspace_record(&as, &r);
	ok(find(1, 1, MODE_USER, 0x1000).dso != find(1, 1, MODE_USER, 0x3000).dso,
	   "another file of the same name is not");
	addrspace_build_ids(&as, &id, 1);
	is_u64(as.dso[find(1, 1, MODE_USER, 0x3000).dso].build_id.n, 2, "build-ids are told by name");
	for (uint32_t tid = 100; tid < 5000; tid++)
		addrspace_thread(&as, tid, tid)->comm = intern(&as.comms, STR("x"));
	is_str(comm(4999, 4999), STR("x"), "thousands of threads");
	ok(addrspace_thread(&as, 4998, 4999)->comm == 0, "a thread id in another process is another thread");
	addrspace_free(&as);
}

static void end_of(uint32_t pid, uint32_t tid, uint64_t time)
{
	struct perfdata_record r = { .kind = PERFDATA_EXIT, .pid = pid, .tid = tid, .has_time = true, .time = time };

	addrspace_record(&as, &r);
}

/* Many processes end, and so the ones before are forgotten. */
static void others_end(uint32_t from, uint64_t time)
{
	for (uint32_t pid = from; pid < from + 40000; pid++) {
		fork_of(1, 1, pid, pid);
		end_of(pid, pid, time);
	}
}

static void ends(void)
{
	addrspace_init(&as, false);
	map_at(1, 0x1000, 0x1000, 0, "/a");
	comm_of(1, 1, "parent", false);
	for (uint32_t pid = 100; pid < 106; pid++) {
		fork_of(1, 1, pid, pid);
		comm_of(pid, pid, "child", false);
	}
	fork_of(103, 103, 103, 203); /* a thread that outlives its leader */
	end_of(100, 100, 1000);
	is_str(comm(100, 100), STR("child"), "a thread that ended has its name");
	is_str(where(100, 100, MODE_USER, 0x1004), STR("/a+4"), "  and its code");
	end_of(101, 101, 1000);
	comm_of(101, 101, "again", false);
	end_of(102, 102, 1000);
	fork_of(1, 1, 102, 102);
	end_of(103, 103, 1000);
	end_of(99, 104, 1000); /* another process' thread */
	end_of(105, 105, 1000);
	end_of(105, 105, 11000);
	end_of(0, 0, 1000);
	end_of(77, 77, 1000);
	others_end(1000, 2000);
	is_str(comm(100, 100), STR(":100"), "long after that it has none");
	is_str(comm(101, 101), STR("again"), "one that is heard of again lives");
	is_str(comm(102, 102), STR("parent"), "so does who has its number");
	is_str(comm(103, 103), STR("child"), "a leader is remembered as long as a thread lives");
	is_str(where(103, 203, MODE_USER, 0x1004), STR("/a+4"), "  as is what they have mapped");
	is_str(comm(104, 104), STR("child"), "the end of another process' thread is not its end");
	is_str(comm(105, 105), STR(":105"), "who ended twice is forgotten");
	is_str(comm(0, 0), STR("swapper"), "the idle task has no end");
	ok(as.nthreads < 33000, "of 40000 that ended not all are remembered");
	end_of(103, 203, 3000);
	others_end(100000, 3000);
	is_str(comm(103, 103), STR(":103"), "the last thread takes its leader with it");
	is_str(comm(1, 1), STR("parent"), "who did not end is there");
	fork_of(1, 1, 500, 500);
	end_of(500, 500, 5000);
	end_of(1000000, 1000000, 30000000000);
	fork_of(1, 1, 501, 501);
	end_of(501, 501, 30000000000);
	is_str(comm(500, 500), STR(":500"), "after some seconds, however few end");
	is_str(comm(501, 501), STR("parent"), "  but not the last");
	addrspace_free(&as);
}

int main(void)
{
	overlays();
	forks(false);
	forks(true);
	kinds();
	identity();
	ends();
	return done();
}
