/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfdata.h - reader of perf.data: delivers its records in order of time.
 *
 * It reads file mode and pipe mode of any version of perf (tools/perf/Documentation/perf.data-file-format.txt,
 * include/uapi/linux/perf_event.h). Records of all CPUs are merged by time. Records without a time are delivered when
 * they are read, in the order of the file; so are all records of a file whose events lack sample_id_all. Unknown
 * records and features are skipped. The file of a killed recorder is read up to its last complete record.
 *
 * All input is hostile: sizes, counts, offsets and strings are checked before use. Damaged parts are counted, the first
 * one with its position (file@offset), and the good parts are used.
 *
 * Counters in samples (PERF_SAMPLE_READ) become samples of their events, as in perf: the period is the count since the
 * sample before, and a counter without change gives no sample.
 *
 *     struct perfdata *p = perfdata_open(&in);
 *     const struct perfdata_record *r;
 *     while ((r = perfdata_next(p)))
 *             if (r->kind == PERFDATA_SAMPLE) ...
 *     perfdata_close(p);
 */
#ifndef PJ_PERFDATA_H
#define PJ_PERFDATA_H

#include "common/formats/fileid.h"
#include "fold/perfdata/recorder.h"
#include "common/formats/buildid.h"
#include "common/filter/in.h"

/* One event of the recording; fields as in struct perf_event_attr. */
struct perfdata_event {
	/* Name from the file, or composed from the other members as perf does. */
	struct str name;
	uint32_t type;
	uint64_t config;
	/* Samples per second, or event counts per sample; one of them is 0. */
	uint64_t frequency, period;
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	/* Maximum number of addresses of a callchain; 0: the kernel's limit, kernel.perf_event_max_stack. */
	uint32_t max_stack;
	/* is_time: the period is in ns (cpu-clock, task-clock). */
	bool sample_id_all, is_time;
};

/* Kinds of delivered records. MMAP is PERF_RECORD_MMAP or MMAP2, LOST is PERF_RECORD_LOST or LOST_SAMPLES, THROTTLE has
 * no data, DEFERRED is PERF_RECORD_CALLCHAIN_DEFERRED: the user callchain of earlier samples with the same cookie. */
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

/* CPU mode of a sample, with the values of PERF_RECORD_MISC_CPUMODE_MASK. */
enum perfdata_mode { MODE_UNKNOWN, MODE_KERNEL, MODE_USER, MODE_HYPERVISOR, MODE_GUEST_KERNEL, MODE_GUEST_USER };

/* One record. The pointers in it are valid until the next call of perfdata_next() or perfdata_close(). `kind` selects
 * the member of the union. */
struct perfdata_record {
	enum perfdata_kind kind;
	/* Field `misc` of struct perf_event_header. */
	uint16_t misc;
	/* Offset of the record in the file, or in the decompressed stream. */
	uint64_t offset;
	/* Time in ns of the recording's clock; 0 if there is none. */
	uint64_t time;
	/* pid and tid are ~0 if they were not recorded; cpu is valid if has_cpu is set. */
	uint32_t pid, tid, cpu;
	bool has_time, has_cpu;
	union {
		/* PERFDATA_SAMPLE: one sample, or one counter of a sample with PERF_SAMPLE_READ. */
		struct {
			const struct perfdata_event *event;
			enum perfdata_mode mode;
			/* ip: interrupted address. addr: PERF_SAMPLE_ADDR. cgroup: id of the cgroup. They are 0 if they
			 * were not recorded. period: weight; without PERF_SAMPLE_PERIOD the fixed period of the event,
			 * else 1. */
			uint64_t ip, addr, period, cgroup;
			/* Callchain as recorded, leaf first, with its context markers. The context marker and the
			 * cookie of a deferred callchain are removed. has_chain distinguishes an empty callchain from
			 * none. */
			const uint64_t *ips;
			uint64_t nips;
			bool has_chain;
			/* LBR call stack, innermost branch first: `nbranches` times three words from, to, flags. */
			const uint64_t *branch;
			uint64_t nbranches;
			/* User registers, PERF_SAMPLE_REGS_USER. regs_abi is 0 (no registers), 1 (32 bit) or 2 (64
			 * bit). regs has one value for each bit of event->regs_user. */
			uint64_t regs_abi;
			const uint64_t *regs;
			/* Stack copy: only the bytes of it that the kernel declared valid (dyn_size). */
			struct str stack;
			/* Cookie of the deferred callchain that will follow; 0: none. */
			uint64_t cookie;
		} sample;
		/* PERFDATA_MMAP: the address range [start, start + length) shows the file `path` from `offset` on, in
		 * bytes. */
		struct {
			uint64_t start, length, offset;
			uint32_t protection, flags;
			/* Either file_id or build_id is set; neither is in a PERF_RECORD_MMAP. A missing build_id has
			 * n == 0. */
			struct file_id file_id;
			struct build_id build_id;
			struct str path;
			/* The mapping is not executable (PERF_RECORD_MISC_MMAP_DATA). */
			bool data;
		} mmap;
		/* PERFDATA_COMM: the new name of a thread; exec: the thread has called execve(). */
		struct {
			struct str comm;
			bool exec;
		} comm;
		/* PERFDATA_FORK and PERFDATA_EXIT: parent process and thread. synthesised: perf wrote the FORK record
		 * for a process that existed at its start. */
		struct {
			uint32_t ppid, ptid;
			bool synthesised;
		} fork;
		/* PERFDATA_LOST: number of lost records, or of lost samples of an event, an index into
		 * perfdata_events(). */
		struct {
			uint64_t count;
			uint32_t event;
			bool samples;
		} lost;
		/* PERFDATA_NAMESPACES: inodes of the namespaces net, uts, ipc, pid, user, mnt, cgroup; the first n are
		 * recorded. */
		struct {
			uint64_t inode[8];
			uint64_t n;
		} namespaces;
		/* PERFDATA_CGROUP: path of a cgroup from now on. */
		struct {
			uint64_t id;
			struct str path;
		} cgroup;
		/* PERFDATA_KSYMBOL: kernel symbol (BPF, ftrace) at [start, start + length) that appears, or disappears
		 * if `gone`. */
		struct {
			uint64_t start;
			uint32_t length;
			uint16_t type;
			bool gone;
			struct str name;
		} ksymbol;
		/* PERFDATA_DEFERRED: user callchain, leaf first, of the samples with this cookie. */
		struct {
			/* The value in sample.cookie of these samples. */
			uint64_t cookie;
			const uint64_t *ips;
			uint64_t nips;
		} deferred;
	};
};

/* Description of the recording, from its features; members that the file lacks are empty or 0. */
struct perfdata_info {
	/* Host name, kernel release, perf version, architecture, CPU description, arguments of the recorder. */
	struct str host, kernel, version, arch, cpu, *argument;
	size_t narguments;
	/* CPUs that were online, and all CPUs. */
	uint32_t cpus_online, cpus;
	/* Size of the memory in bytes. */
	uint64_t memory;
	/* Times of the first and the last sample (SAMPLE_TIME), ns. */
	uint64_t first, last;
	/* clockid of all times; -1: perf's own clock. */
	int32_t clock;
	/* One point in time on the wall clock and on the recording's clock, ns (CLOCK_DATA). */
	uint64_t clock_wall, clock_record;
	/* has_clock_data: the two times above are set. pipe: pipe mode. compressed: the file has COMPRESSED records.
	 * unfinished: the recorder was killed before it completed the file. messages_behind: its messages follow the
	 * last record. */
	bool has_clock_data, pipe, compressed, unfinished, messages_behind;
	/* The sections that only pjrecord writes. */
	struct recorder recorder;
};

/* One entry of the list of build-ids: file of a process, or of the kernel and its modules. */
struct perfdata_build_id {
	uint32_t pid;
	/* The entry is of the kernel or of a kernel module. */
	bool kernel;
	struct build_id id;
	struct str path;
};

/* Counts of records, and the first problem. */
struct perfdata_tally {
	/* All records; records of unknown type; damaged records, which are skipped. */
	uint64_t records, unknown, bad;
	/* Offset of the first damaged record, and a static text with the reason. */
	uint64_t first_bad;
	const char *why;
	/* Bytes at the end of the data that cannot be read because the record boundary is lost. */
	uint64_t unread;
	/* Records that were delivered out of order: to wait longer would have exceeded the memory limit. */
	uint64_t late;
};

/* A reader; one thread at a time may use it. */
struct perfdata;

/* True if the first bytes of a file are those of perf.data. Also true for files that perfdata_open() refuses (other
 * byte order, version 1), so that the user gets its message. */
bool perfdata_is(struct str first_bytes);

/* Opens a recording. Dies with a message if nothing can be read (other byte order, version 1, no event). `input` must
 * stay valid until perfdata_close(). It may be a pipe or gzip: unless it is in pipe mode, it is then copied to a
 * temporary file. In pipe mode, events, names and info are read up to the first sample or the end of the first
 * round. */
struct perfdata *perfdata_open(struct in *input);
/* Return the description, the events and the list of build-ids; the caller does not free them. In pipe mode they may
 * grow until perfdata_next() returns NULL. *n is set to the number of elements. */
const struct perfdata_info *perfdata_info(const struct perfdata *perfdata);
const struct perfdata_event *perfdata_events(const struct perfdata *perfdata, size_t *n);
const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *perfdata, size_t *n);
/* Returns the next record, NULL after the last one. The record is valid until the next call. */
const struct perfdata_record *perfdata_next(struct perfdata *perfdata);
/* Returns the counts so far; `late` is valid after the last record. */
const struct perfdata_tally *perfdata_tally(const struct perfdata *perfdata);
/* Frees the reader and all that it returned, but not `input`. */
void perfdata_close(struct perfdata *perfdata);

#endif
