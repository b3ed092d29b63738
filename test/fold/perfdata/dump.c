/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump - what the reader gives, as text: a line a record, and one for each part of a sample, as `perf script -D` writes
 * them where it does (test/fold/perfdata/perfdata.t makes both alike).
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

static void put(const char *what, struct str string)
{
	printf("%s%.*s", what, (int)string.n, string.p ? string.p : "");
}

static void put_id(const struct build_id *id)
{
	for (unsigned i = 0; i < id->n; i++)
		printf("%02x", id->byte[i]);
}

static void show_sample(const struct perfdata_record *record)
{
	printf(" misc %x ip %" PRIx64 " period %" PRIu64 " addr %" PRIx64, record->misc, record->sample.ip,
	       record->sample.period, record->sample.addr);
	put(" event ", record->sample.event->name);
	if (record->sample.cgroup)
		printf(" cgroup %" PRIu64, record->sample.cgroup);
	printf(" mode %d\n", (int)record->sample.mode);
	for (uint64_t i = 0; i < record->sample.nips; i++)
		printf("\tip %" PRIu64 " %016" PRIx64 "\n", i, record->sample.ips[i]);
	for (uint64_t i = 0; i < record->sample.nbranches; i++)
		printf("\tbranch %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", i, record->sample.branch[3 * i],
		       record->sample.branch[3 * i + 1]);
	for (int i = 0; record->sample.regs_abi && i < __builtin_popcountll(record->sample.event->regs_user); i++)
		printf("\treg 0x%016" PRIx64 "\n", record->sample.regs[i]);
	if (record->sample.stack.n)
		printf("\tstack %zu\n", record->sample.stack.n);
	if (record->sample.cookie)
		printf("\tcookie %" PRIx64 "\n", record->sample.cookie);
}

static void show_mmap(const struct perfdata_record *record)
{
	printf(" [0x%" PRIx64 "(0x%" PRIx64 ") @ %#" PRIx64, record->mmap.start, record->mmap.length,
	       record->mmap.offset);
	if (record->mmap.build_id.n) {
		printf(" <");
		put_id(&record->mmap.build_id);
		printf(">");
	} else if (record->mmap.file_id.major || record->mmap.file_id.inode) {
		printf(" %02x:%02x %" PRIu64 " %" PRIu64, record->mmap.file_id.major, record->mmap.file_id.minor,
		       record->mmap.file_id.inode, record->mmap.file_id.generation);
	}
	put("]: ", record->mmap.path);
}

static void show(const struct perfdata_record *record)
{
	printf("%s %d/%d %" PRIu64 " cpu %d @0x%" PRIx64, kind_name[record->kind], (int)record->pid, (int)record->tid,
	       record->time, record->has_cpu ? (int)record->cpu : -1, record->offset);
	switch (record->kind) {
	case PERFDATA_SAMPLE: show_sample(record); return;
	case PERFDATA_MMAP: show_mmap(record); break;
	case PERFDATA_COMM: put(record->comm.exec ? " exec: " : ": ", record->comm.comm); break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		printf("(%d:%d):(%d:%d)", (int)record->pid, (int)record->tid, (int)record->fork.ppid,
		       (int)record->fork.ptid);
		break;
	case PERFDATA_LOST:
		printf(" %" PRIu64 " %s", record->lost.count, record->lost.samples ? "samples" : "records");
		break;
	case PERFDATA_NAMESPACES:
		for (uint64_t i = 0; i < record->namespaces.n; i++)
			printf(" %#" PRIx64, record->namespaces.inode[i]);
		break;
	case PERFDATA_CGROUP:
		printf(" %" PRIu64, record->cgroup.id);
		put(" ", record->cgroup.path);
		break;
	case PERFDATA_KSYMBOL:
		printf(" addr %" PRIx64 " len %u type %u gone %d", record->ksymbol.start, record->ksymbol.length,
		       record->ksymbol.type, record->ksymbol.gone);
		put(" name ", record->ksymbol.name);
		break;
	case PERFDATA_DEFERRED:
		printf(" cookie %" PRIx64, record->deferred.cookie);
		for (uint64_t i = 0; i < record->deferred.nips; i++)
			printf(" %" PRIx64, record->deferred.ips[i]);
		break;
	case PERFDATA_THROTTLE: break;
	}
	printf("\n");
}

static void show_info(const struct perfdata *perfdata)
{
	const struct perfdata_info *f = perfdata_info(perfdata);
	size_t n;
	const struct perfdata_event *e = perfdata_events(perfdata, &n);
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
	b = perfdata_build_ids(perfdata, &n);
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
