/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump - what the reader gives, as text: a line a record, and one for each part of a sample, as `perf script -D` writes
 * them where it does (test/perfdata.t makes both alike).
 *
 *	dump FILE          records
 *	dump --info FILE   what the file says about itself, its events and build-ids
 *	dump --count FILE  number of records by kind, and what was damaged
 */
#include "fold/perfdata/perfdata.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kind_name[] = { "SAMPLE",   "MMAP",       "COMM",   "FORK",    "EXIT",    "LOST",
					 "THROTTLE", "NAMESPACES", "CGROUP", "KSYMBOL", "DEFERRED" };

static void put(const char *what, struct str s)
{
	printf("%s%.*s", what, (int)s.n, s.p ? s.p : "");
}

static void put_id(const struct build_id *id)
{
	for (unsigned i = 0; i < id->n; i++)
		printf("%02x", id->byte[i]);
}

static void show_sample(const struct perfdata_record *r)
{
	printf(" misc %x ip %" PRIx64 " period %" PRIu64 " addr %" PRIx64, r->misc, r->sample.ip, r->sample.period,
	       r->sample.addr);
	put(" event ", r->sample.event->name);
	if (r->sample.cgroup)
		printf(" cgroup %" PRIu64, r->sample.cgroup);
	printf(" mode %d\n", (int)r->sample.mode);
	for (uint64_t i = 0; i < r->sample.nips; i++)
		printf("\tip %" PRIu64 " %016" PRIx64 "\n", i, r->sample.ips[i]);
	for (uint64_t i = 0; i < r->sample.nbranches; i++)
		printf("\tbranch %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", i, r->sample.branch[3 * i],
		       r->sample.branch[3 * i + 1]);
	for (int i = 0; r->sample.regs_abi && i < __builtin_popcountll(r->sample.event->regs_user); i++)
		printf("\treg 0x%016" PRIx64 "\n", r->sample.regs[i]);
	if (r->sample.stack.n)
		printf("\tstack %zu\n", r->sample.stack.n);
	if (r->sample.cookie)
		printf("\tcookie %" PRIx64 "\n", r->sample.cookie);
}

static void show_mmap(const struct perfdata_record *r)
{
	printf(" [0x%" PRIx64 "(0x%" PRIx64 ") @ %#" PRIx64, r->mmap.start, r->mmap.length, r->mmap.offset);
	if (r->mmap.build_id.n) {
		printf(" <");
		put_id(&r->mmap.build_id);
		printf(">");
	} else if (r->mmap.major || r->mmap.inode) {
		printf(" %02x:%02x %" PRIu64 " %" PRIu64, r->mmap.major, r->mmap.minor, r->mmap.inode,
		       r->mmap.generation);
	}
	put("]: ", r->mmap.path);
}

static void show(const struct perfdata_record *r)
{
	printf("%s %d/%d %" PRIu64 " cpu %d @0x%" PRIx64, kind_name[r->kind], (int)r->pid, (int)r->tid, r->time,
	       r->has_cpu ? (int)r->cpu : -1, r->offset);
	switch (r->kind) {
	case PERFDATA_SAMPLE: show_sample(r); return;
	case PERFDATA_MMAP: show_mmap(r); break;
	case PERFDATA_COMM: put(r->comm.exec ? " exec: " : ": ", r->comm.comm); break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		printf("(%d:%d):(%d:%d)", (int)r->pid, (int)r->tid, (int)r->fork.ppid, (int)r->fork.ptid);
		break;
	case PERFDATA_LOST: printf(" %" PRIu64 " %s", r->lost.count, r->lost.samples ? "samples" : "records"); break;
	case PERFDATA_NAMESPACES:
		for (uint64_t i = 0; i < r->namespaces.n; i++)
			printf(" %#" PRIx64, r->namespaces.inode[i]);
		break;
	case PERFDATA_CGROUP:
		printf(" %" PRIu64, r->cgroup.id);
		put(" ", r->cgroup.path);
		break;
	case PERFDATA_KSYMBOL:
		printf(" addr %" PRIx64 " len %u type %u gone %d", r->ksymbol.start, r->ksymbol.length, r->ksymbol.type,
		       r->ksymbol.gone);
		put(" name ", r->ksymbol.name);
		break;
	case PERFDATA_DEFERRED:
		printf(" cookie %" PRIx64, r->deferred.cookie);
		for (uint64_t i = 0; i < r->deferred.nips; i++)
			printf(" %" PRIx64, r->deferred.ips[i]);
		break;
	case PERFDATA_THROTTLE: break;
	}
	printf("\n");
}

static void show_info(const struct perfdata *p)
{
	const struct perfdata_info *f = perfdata_info(p);
	size_t n;
	const struct perfdata_event *e = perfdata_events(p, &n);
	const struct perfdata_build_id *b;

	put("host ", f->host);
	put("\nkernel ", f->kernel);
	put("\nversion ", f->version);
	put("\narch ", f->arch);
	put("\ncpu ", f->cpu);
	printf("\ncpus %u of %u\nmemory %" PRIu64 "\ncommand", f->cpus_online, f->cpus, f->memory);
	for (size_t i = 0; i < f->narguments; i++)
		put(" ", f->argument[i]);
	printf("\ntimes %" PRIu64 " %" PRIu64 "\nclock %d %" PRIu64 " %" PRIu64 "\n", f->first, f->last, f->clock,
	       f->clock_wall, f->clock_record);
	printf("%s%s%s%s\n", f->pipe ? "pipe" : "file", f->compressed ? " compressed" : "",
	       f->unfinished ? " unfinished" : "", f->has_clock_data ? " clock-data" : "");
	for (size_t i = 0; i < n; i++) {
		put("event ", e[i].name);
		printf(" type %u config %" PRIx64 " frequency %" PRIu64 " period %" PRIu64 " sample %" PRIx64
		       " read %" PRIx64 "%s%s\n",
		       e[i].type, e[i].config, e[i].frequency, e[i].period, e[i].sample_type, e[i].read_format,
		       e[i].sample_id_all ? " id-all" : "", e[i].is_time ? " time" : "");
	}
	b = perfdata_build_ids(p, &n);
	for (size_t i = 0; i < n; i++) {
		put_id(&b[i].id);
		put(" ", b[i].path);
		printf("%s\n", b[i].kernel ? " kernel" : "");
	}
}

int main(int argc, char **argv)
{
	bool info = argc > 2 && strcmp(argv[1], "--info") == 0, count = argc > 2 && strcmp(argv[1], "--count") == 0;
	uint64_t n[PERFDATA_DEFERRED + 1] = { 0 };
	const struct perfdata_record *r;
	const struct perfdata_tally *t;
	struct perfdata *p;
	struct in in;

	diag_tool("dump");
	in_open(&in, argv[argc - 1]);
	p = perfdata_open(&in);
	while ((r = perfdata_next(p))) {
		n[r->kind]++;
		if (!info && !count)
			show(r);
	}
	if (info)
		show_info(p);
	for (size_t i = 0; count && i < countof(n); i++)
		if (n[i])
			printf("%s %" PRIu64 "\n", kind_name[i], n[i]);
	t = perfdata_tally(p);
	if (t->bad)
		warn("%s@%" PRIu64 ": %s (%" PRIu64 " in all, %" PRIu64 " bytes unread)", in.name, t->first_bad, t->why,
		     t->bad, t->unread);
	if (count)
		printf("records %" PRIu64 " unknown %" PRIu64 " bad %" PRIu64 " late %" PRIu64 "%s\n", t->records,
		       t->unknown, t->bad, t->late, perfdata_info(p)->unfinished ? " unfinished" : "");
	perfdata_close(p);
	in_close(&in);
	return 0;
}
