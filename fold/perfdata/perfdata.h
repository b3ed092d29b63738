/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfdata.h - what a perf.data file says, record by record, in order of time.
 *
 * File and pipe mode, of any perf (tools/perf/Documentation/perf.data-file-format.txt,
 * include/uapi/linux/perf_event.h). Records of all CPUs are put into order; those without time come as soon as they are
 * met, in the order of the file, and those of a file whose events have no sample_id_all all do. Unknown records and
 * features are skipped. What the recorder left behind when it was killed is read to the last whole record. Everything
 * is hostile: sizes, counts, offsets and strings are checked before they are used; what is wrong is counted with its
 * place (file@offset) and what is good is used. Counters that samples carry (PERF_SAMPLE_READ) become samples of their
 * events, as in perf: the period is what was counted since the sample before, and where that is nothing there is no
 * sample.
 */
#ifndef PJ_PERFDATA_H
#define PJ_PERFDATA_H

#include "common/formats/fileid.h"
#include "fold/perfdata/recorder.h"
#include "common/formats/buildid.h"
#include "common/filter/in.h"

struct perfdata_event {
	struct str name;
	uint32_t type;
	uint64_t config;
	uint64_t frequency, period; /* one of them, else 0 */
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	uint32_t max_stack;          /* addresses of a callchain at most; 0: what the kernel has for all */
	bool sample_id_all, is_time; /* is_time: its period is ns (cpu-clock, task-clock) */
};

enum perfdata_kind {
	PERFDATA_SAMPLE,
	PERFDATA_MMAP,
	PERFDATA_COMM,
	PERFDATA_FORK,
	PERFDATA_EXIT,
	PERFDATA_LOST,
	PERFDATA_THROTTLE,
	PERFDATA_NAMESPACES,
	PERFDATA_CGROUP,
	PERFDATA_KSYMBOL,
	PERFDATA_DEFERRED
};

enum perfdata_mode { MODE_UNKNOWN, MODE_KERNEL, MODE_USER, MODE_HYPERVISOR, MODE_GUEST_KERNEL, MODE_GUEST_USER };

/* One record; pointers are valid until the next call. */
struct perfdata_record {
	enum perfdata_kind kind;
	uint16_t misc;
	uint64_t offset;        /* in the file, or in the decompressed stream */
	uint64_t time;          /* ns; 0: none */
	uint32_t pid, tid, cpu; /* ~0 where it was not recorded; has_cpu */
	bool has_time, has_cpu;
	union {
		struct {
			const struct perfdata_event *event;
			enum perfdata_mode mode;
			uint64_t ip, addr, period, cgroup;
			const uint64_t *ips; /* callchain as recorded, markers included; leaf first. Without the two
						words of a cookie */
			uint64_t nips;
			bool has_chain;
			const uint64_t *branch; /* from, to, flags of nbranches: LBR call stack, innermost first */
			uint64_t nbranches;
			uint64_t regs_abi;    /* 0: none, 1: 32 bit, 2: 64 bit */
			const uint64_t *regs; /* one for each bit of event->regs_user */
			struct str stack;     /* copy of the user stack, dyn_size bytes of it valid */
			uint64_t cookie;      /* of a deferred callchain, 0: none */
		} sample;
		struct {
			uint64_t start, length, offset;
			uint32_t protection, flags;
			struct file_id file_id;
			struct build_id build_id;
			struct str path;
			bool data; /* not executable */
		} mmap;
		struct {
			struct str comm;
			bool exec;
		} comm;
		struct {
			uint32_t ppid, ptid;
			bool synthesised;
		} fork;
		struct {
			uint64_t count;
			bool samples;
		} lost; /* records, or samples */
		struct {
			uint64_t inode[8];
			uint64_t n;
		} namespaces; /* net uts ipc pid user mnt cgroup */
		struct {
			uint64_t id;
			struct str path;
		} cgroup;
		struct {
			uint64_t start;
			uint32_t length;
			uint16_t type;
			bool gone;
			struct str name;
		} ksymbol;
		struct {
			uint64_t cookie;
			const uint64_t *ips;
			uint64_t nips;
		} deferred;
	};
};

/* What a file says about itself; empty or 0 where it does not. */
struct perfdata_info {
	struct str host, kernel, version, arch, cpu, *argument;
	size_t narguments;
	uint32_t cpus_online, cpus;
	uint64_t memory;                                   /* bytes */
	uint64_t first, last;                              /* SAMPLE_TIME */
	int32_t clock;                                     /* clockid of the times, -1: perf's own */
	uint64_t clock_wall, clock_record;                 /* the same moment on both clocks, ns */
	bool has_clock_data, pipe, compressed, unfinished; /* unfinished: the recorder did not end it */
	struct recorder recorder;                          /* what pjrecord adds */
};

struct perfdata_build_id {
	uint32_t pid;
	bool kernel;
	struct build_id id;
	struct str path;
};

struct perfdata_tally {
	uint64_t records, unknown, bad; /* bad: skipped as damaged */
	uint64_t first_bad;             /* offset */
	const char *why;                /* of the first bad */
	uint64_t unread;                /* bytes behind a place from which on nothing can be read */
	uint64_t late;                  /* delivered out of order: too much would have had to wait for them */
};

struct perfdata;

/* The first bytes of a file: is it for this reader? Also says so of what it refuses (other endianness, version 1). */
bool perfdata_is(struct str first_bytes);

/* Dies with the reason when nothing can be read (other endianness, version 1, no event). in is used until
 * perfdata_close; it may be a pipe, or gzip: what is not in pipe mode is copied to a temporary file then. In pipe mode
 * events, names and info are read up to the first sample, or the end of the first round. */
struct perfdata *perfdata_open(struct in *input);
const struct perfdata_info *perfdata_info(
	const struct perfdata *perfdata); /* complete after the last record in pipe mode */
const struct perfdata_event *perfdata_events(const struct perfdata *perfdata, size_t *n);
const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *perfdata, size_t *n);
const struct perfdata_record *perfdata_next(struct perfdata *perfdata); /* NULL behind the last */
const struct perfdata_tally *perfdata_tally(const struct perfdata *perfdata);
void perfdata_close(struct perfdata *perfdata);

#endif
