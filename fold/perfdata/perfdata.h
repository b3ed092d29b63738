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
	/* Sampling rate: samples per second (frequency), or events per sample (period). The other one is 0. */
	uint64_t frequency, period;
	/* Bit masks of perf_event_attr: fields of a sample, layout of counters, kind of branches, recorded registers.
	 */
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	/* Maximum number of addresses of a callchain; 0: the kernel's limit, kernel.perf_event_max_stack. */
	uint32_t max_stack;
	/* sample_id_all: all records, not only samples, have time and event id. is_time: the period is in ns
	 * (cpu-clock, task-clock). */
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
	/* Offset of the record in bytes, in the file or, for a compressed record, in the decompressed stream. */
	uint64_t offset;
	/* Time of the record in ns on the recording's clock; 0 if it has none. */
	uint64_t time;
	/* Process, thread and CPU of the record. pid and tid are ~0 if not recorded; cpu is valid if has_cpu is set. */
	uint32_t pid, tid, cpu;
	bool has_time, has_cpu;
	union {
		/* PERFDATA_SAMPLE: one sample, or one counter of a sample with PERF_SAMPLE_READ. */
		struct {
			const struct perfdata_event *event;
			enum perfdata_mode mode;
			/* ip: interrupted address. addr: PERF_SAMPLE_ADDR. cgroup: id of the cgroup. Each is 0 if it
			 * was not recorded. period: recorded period (PERF_SAMPLE_PERIOD); if there is none, the event's
			 * fixed period, and 1 for an event with a frequency. */
			uint64_t ip, addr, period, cgroup;
			/* The nips values of the recorded callchain, leaf first, with context markers. The marker and
			 * the cookie of a deferred callchain at its end are left out. has_chain is false if the sample
			 * has no callchain, not even an empty one. */
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
			/* Stack copy: the bytes from sp upwards, as many as the kernel copied (dyn_size). */
			struct str stack;
			/* Cookie of the DEFERRED record with the user part of the callchain, which follows; 0: none. */
			uint64_t cookie;
		} sample;
		/* PERFDATA_MMAP: the address range [start, start + length) shows the file `path` from `offset` on, in
		 * bytes. */
		struct {
			uint64_t start, length, offset;
			uint32_t protection, flags;
			/* Identity of the file: MMAP2 sets either file_id or build_id, MMAP neither. An absent build_id
			 * has n == 0, an absent file_id is zero. */
			struct file_id file_id;
			struct build_id build_id;
			struct str path;
			/* The recorder marked the mapping as not executable (PERF_RECORD_MISC_MMAP_DATA). */
			bool data;
		} mmap;
		/* PERFDATA_COMM: the new name of a thread; exec: the thread has called execve(). */
		struct {
			struct str comm;
			bool exec;
		} comm;
		/* PERFDATA_FORK and PERFDATA_EXIT: pid and tid of the parent. synthesised: perf itself wrote the FORK
		 * record, for a process that existed when perf started. */
		struct {
			uint32_t ppid, ptid;
			bool synthesised;
		} fork;
		/* PERFDATA_LOST: `count` records of any kind were lost or, if `samples` is set, `count` samples of the
		 * event with index `event` in perfdata_events(). */
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
		/* PERFDATA_CGROUP: path that the cgroup with this id has from this time on. */
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
			/* Cookie that these samples have in sample.cookie. */
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
	/* Numbers of CPUs of the recorded machine: those that were online, and all. */
	uint32_t cpus_online, cpus;
	/* Size of the recorded machine's memory in bytes. */
	uint64_t memory;
	/* Times of the first and the last sample (SAMPLE_TIME), ns. */
	uint64_t first, last;
	/* clockid of all times; -1: perf's own clock. */
	int32_t clock;
	/* The same point in time on the wall clock and on the recording's clock, in ns (CLOCK_DATA). */
	uint64_t clock_wall, clock_record;
	/* has_clock_data: clock_wall and clock_record are set. pipe: the recording is in pipe mode. compressed: it has
	 * COMPRESSED records. unfinished: the file is not complete, mostly because the recorder was killed.
	 * messages_behind: texts of perf record follow the last record, because of 2>&1. */
	bool has_clock_data, pipe, compressed, unfinished, messages_behind;
	/* Contents of pjrecord's own sections, which recordings of perf lack. */
	struct recorder recorder;
};

/* One entry of the list of build-ids: the build-id of a user file, of the kernel or of a kernel module. */
struct perfdata_build_id {
	uint32_t pid;
	/* True for the kernel and kernel modules, false for user files. */
	bool kernel;
	struct build_id id;
	struct str path;
};

/* Numbers of records, and the first damaged one. */
struct perfdata_tally {
	/* Numbers of all records, of records with unknown type, and of damaged parts; the latter two are skipped. */
	uint64_t records, unknown, bad;
	/* Offset of the first damaged part in bytes, and a static text with the reason; valid if `bad` is not 0. */
	uint64_t first_bad;
	const char *why;
	/* Number of bytes at the end of the data that are not read, because a damaged record hides where the next
	 * begins. */
	uint64_t unread;
	/* Number of records that were delivered after records of later times, because the reader did not wait longer
	 * (memory limit). */
	uint64_t late;
};

/* A reader of one recording; only one thread at a time may use it. */
struct perfdata;

/* Returns true if the first bytes of a file are those of perf.data, also of a perf.data that perfdata_open() refuses
 * (other byte order, version 1) with a message for the user. */
bool perfdata_is(struct str first_bytes);

/* Opens a recording. Ends the process with a message if nothing can be read (other byte order, version 1, no event).
 * `input` must stay valid until perfdata_close(). If `input` is a pipe or gzip with a recording in file mode, its bytes
 * are copied to a temporary file. In pipe mode, this call reads records up to the first sample or the end of the first
 * round, so that the events and the description are known. */
struct perfdata *perfdata_open(struct in *input);
/* Return the description, the events and the list of build-ids; the caller does not free them. In pipe mode they may
 * grow until perfdata_next() returns NULL. *n is set to the number of elements. */
const struct perfdata_info *perfdata_info(const struct perfdata *perfdata);
const struct perfdata_event *perfdata_events(const struct perfdata *perfdata, size_t *n);
const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *perfdata, size_t *n);
/* Returns the next record, NULL after the last one. The record is valid until the next call. */
const struct perfdata_record *perfdata_next(struct perfdata *perfdata);
/* Returns the numbers of records so far; `late` is valid only after perfdata_next() has returned NULL. */
const struct perfdata_tally *perfdata_tally(const struct perfdata *perfdata);
/* Frees the reader and all that it returned, but not `input`. */
void perfdata_close(struct perfdata *perfdata);

#endif
