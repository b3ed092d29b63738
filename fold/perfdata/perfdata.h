/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfdata.h - reader of perf.data: delivers its records in order of time.
 *
 * The reader supports file mode and pipe mode of all versions of perf
 * (tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h). Records of all CPUs are merged
 * by time. Records without a time are delivered when they are read, in the order of the file. The same applies to all
 * records of a file whose events lack sample_id_all. Unknown records and features are skipped. The file of a killed
 * recorder is read up to its last complete record.
 *
 * All input is hostile: sizes, counts, offsets and strings are checked before use. Damaged parts are counted, and the
 * position of the first damaged part is stored (file@offset); undamaged parts are used.
 *
 * Counters in samples (PERF_SAMPLE_READ) become samples of their events, as in perf: the period is the increase since
 * the previous sample, and a counter without increase gives no sample.
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
	/* frequency: samples per second, or 0 if the period is fixed. period: number of events (ns if is_time is true)
	 * for each sample, or 0 if the frequency is fixed. */
	uint64_t frequency, period;
	/* Bit masks of perf_event_attr: members of a sample (sample_type), layout of counters (read_format), kinds of
	 * branches (branch_sample_type), recorded user registers (regs_user) and registers at the interrupt
	 * (regs_intr). */
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	/* Maximum number of addresses of a callchain; 0: the kernel's limit, kernel.perf_event_max_stack. */
	uint32_t max_stack;
	/* sample_id_all: true if all records, not only samples, have time and event id. is_time: true if periods are in
	 * ns (cpu-clock, task-clock), false if they are numbers of events. */
	bool sample_id_all, is_time;
};

/* Kinds of delivered records, named after PERF_RECORD_*. MMAP is PERF_RECORD_MMAP or MMAP2, LOST is PERF_RECORD_LOST or
 * LOST_SAMPLES, THROTTLE has no data, DEFERRED is PERF_RECORD_CALLCHAIN_DEFERRED: the user callchain of earlier samples
 * with the same cookie. */
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
	/* Time of the record in ns on the recording's clock; 0 if the record has none. */
	uint64_t time;
	/* pid, tid: process and thread of the record; ~0 if not recorded. cpu: CPU of the record, valid if has_cpu is
	 * true. has_time: true if `time` is set. */
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
			/* The recorded callchain: nips addresses and context markers, leaf first. The marker and the
			 * cookie of a deferred callchain at the end are left out. has_chain is false if the sample has
			 * no callchain, not even an empty one. */
			const uint64_t *ips;
			uint64_t nips;
			bool has_chain;
			/* Branch stack (LBR), latest branch first: nbranches entries of three 64-bit words: source
			 * address, target address, flags. */
			const uint64_t *branch;
			uint64_t nbranches;
			/* User registers, PERF_SAMPLE_REGS_USER. regs_abi is 0 (no registers), 1 (32 bit) or 2 (64
			 * bit). regs has one value for each bit of event->regs_user. */
			uint64_t regs_abi;
			const uint64_t *regs;
			/* Stack copy: the bytes from sp upwards, as many as the kernel copied (dyn_size). */
			struct str stack;
			/* Cookie of the later DEFERRED record that has the user part of this callchain; 0: no part is
			 * deferred. */
			uint64_t cookie;
		} sample;
		/* PERFDATA_MMAP: the address range [start, start + length) maps the file `path` from byte `offset` on.
		 */
		struct {
			uint64_t start, length, offset;
			uint32_t protection, flags;
			/* Identity of the file: MMAP2 sets either file_id or build_id, MMAP neither. An absent build_id
			 * has n == 0, an absent file_id is zero. */
			struct file_id file_id;
			struct build_id build_id;
			struct str path;
			/* True if the record marks the mapping as not executable (PERF_RECORD_MISC_MMAP_DATA). */
			bool data;
		} mmap;
		/* PERFDATA_COMM: the new name of a thread. exec: true if the thread has called execve(). */
		struct {
			struct str comm;
			bool exec;
		} comm;
		/* PERFDATA_FORK and PERFDATA_EXIT: pid and tid of the parent. synthesised: true if perf itself wrote
		 * the FORK record, for a process that existed when perf started. */
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
		/* PERFDATA_CGROUP: path of the cgroup with this id, valid from the time of the record on. */
		struct {
			uint64_t id;
			struct str path;
		} cgroup;
		/* PERFDATA_KSYMBOL: kernel symbol (BPF, ftrace) at [start, start + length), which appears or, if `gone`
		 * is true, disappears. */
		struct {
			uint64_t start;
			uint32_t length;
			uint16_t type;
			bool gone;
			struct str name;
		} ksymbol;
		/* PERFDATA_DEFERRED: user callchain, leaf first, of the samples with this cookie. */
		struct {
			/* Value of sample.cookie in the samples that this callchain belongs to. */
			uint64_t cookie;
			const uint64_t *ips;
			uint64_t nips;
		} deferred;
	};
};

/* Description of the recording, from its features; members that the file lacks are empty or 0. */
struct perfdata_info {
	/* host: host name. kernel: kernel release. version: version of perf. arch: architecture. cpu: description of
	 * the CPU. argument: arguments of the recorder. */
	struct str host, kernel, version, arch, cpu, *argument;
	size_t narguments;
	/* cpus_online: number of CPUs of the recorded machine that were online. cpus: number of all its CPUs. */
	uint32_t cpus_online, cpus;
	/* Size of the recorded machine's memory in bytes. */
	uint64_t memory;
	/* Times of the first and the last sample in ns on the recording's clock, from feature SAMPLE_TIME; 0 if the
	 * file lacks it. */
	uint64_t first, last;
	/* clockid of all times; -1: perf's own clock. */
	int32_t clock;
	/* One instant on two clocks, in ns: clock_wall since 1970, clock_record on the recording's clock; from feature
	 * CLOCK_DATA. */
	uint64_t clock_wall, clock_record;
	/* has_clock_data: clock_wall and clock_record are set. pipe: the recording is in pipe mode. compressed: the
	 * recording has COMPRESSED records. unfinished: the file is incomplete, mostly because the recorder was killed,
	 * or its rest cannot be read because of damage. trailing_messages: messages of perf record follow the last
	 * record, because the user redirected stderr by 2>&1. */
	bool has_clock_data, pipe, compressed, unfinished, trailing_messages;
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
	/* records: number of all records. unknown: number of records with an unknown type; they are skipped. bad:
	 * number of damaged parts; they are skipped. */
	uint64_t records, unknown, bad;
	/* Offset of the first damaged part in bytes, and a static text with the reason; valid if `bad` is not 0. */
	uint64_t first_bad;
	const char *why;
	/* Number of bytes at the end of the data that are not read, because the start of the record after a damaged one
	 * is unknown; 0 in pipe mode. */
	uint64_t unread;
	/* Number of records that were delivered after records with later times, because a memory limit kept the reader
	 * from waiting for them. */
	uint64_t late;
};

/* A reader of one recording; only one thread at a time may use it. */
struct perfdata;

/* Returns true if a file that starts with these bytes is a perf.data, also if perfdata_open() refuses the file with a
 * message (other byte order, version 1). Returns false for all other files. */
bool perfdata_is(struct str first_bytes);

/* Opens a recording. Ends the process with a message if nothing can be read (other byte order, version 1, no event).
 * `input` must stay valid until perfdata_close(). If `input` is a pipe or gzip with a recording in file mode, its bytes
 * are copied to a temporary file. In pipe mode, this call reads records until the first sample or the end of the first
 * round, but at most 64 MB, so that events and description are available. */
struct perfdata *perfdata_open(struct in *input);
/* Returns the description of the recording, which belongs to the reader. Further members may be set until
 * perfdata_next() returns NULL. */
const struct perfdata_info *perfdata_info(const struct perfdata *perfdata);
/* Returns the events, and sets *n to their number. The array belongs to the reader. In pipe mode, it may grow until
 * perfdata_next() returns NULL. */
const struct perfdata_event *perfdata_events(const struct perfdata *perfdata, size_t *n);
/* Returns the list of build-ids, and sets *n to the number of entries. The array belongs to the reader. In pipe mode,
 * it may grow and move in perfdata_next(). */
const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *perfdata, size_t *n);
/* Returns the next record, NULL after the last one. The record is valid until the next call. */
const struct perfdata_record *perfdata_next(struct perfdata *perfdata);
/* Returns the numbers of records so far; `late` is valid only after perfdata_next() has returned NULL. */
const struct perfdata_tally *perfdata_tally(const struct perfdata *perfdata);
/* Frees the reader and all its results, but does not close `input`. */
void perfdata_close(struct perfdata *perfdata);

#endif
