/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfrecord.h - layouts and constants of perf.data, for readers and writers. Its only functions load numbers.
 *
 * Sources: include/uapi/linux/perf_event.h for data that the kernel writes (types below 64, sample_type, struct
 * perf_event_attr; an installed header may be older than the constants here);
 * tools/perf/Documentation/perf.data-file-format.txt and tools/lib/perf/include/perf/event.h for data that perf writes.
 * All numbers are little-endian. Records are aligned to 8 bytes, but some tools wrote records of wrong sizes: so load
 * numbers with the functions here.
 */
#ifndef PJ_PERFRECORD_H
#define PJ_PERFRECORD_H

#include "common/base.h"

#include <linux/perf_event.h>
#include <string.h>

#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP" /* magic of a file with big-endian numbers */
#define PERF_MAGIC_1 "PERFFILE"       /* magic of version 1, older than 2010 */
#define PERF_MAGIC_1_SWAPPED "ELIFFREP"

struct perf_section {
	uint64_t offset, size;
};

/* Header at the start of a file. In pipe mode, only magic and size precede the records; size is then
 * PERF_PIPE_HEADER. */
struct perf_file_header {
	char magic[8];
	uint64_t size;
	/* size in bytes of an entry in attrs: a struct perf_event_attr and the section of its ids */
	uint64_t attr_size;
	struct perf_section attrs, data, event_types;
	/* bitmap of the features in the file; their sections follow the data, in the order of bits */
	uint64_t features[4];
};

/* Returns true if the bit of a feature is set in the feature bits of a header. */
static inline bool perf_has_feature(const uint64_t features[4], unsigned feature)
{
	return features[feature / 64] >> feature % 64 & 1;
}

#define PERF_PIPE_HEADER 16
#define PERF_OLD_FILE_HEADER 72 /* size in bytes of a header without features */
#define PERF_ATTR_MIN 64        /* smallest size of a struct perf_event_attr in bytes (PERF_ATTR_SIZE_VER0) */

struct perf_record {
	uint32_t type;
	uint16_t misc, size; /* size: size of the record in bytes, with this header */
};

#define PERF_RECORD_MAX 65535u

enum perf_record_type {
	/* records that the kernel writes */
	RECORD_MMAP = 1,
	RECORD_LOST,
	RECORD_COMM,
	RECORD_EXIT,
	RECORD_THROTTLE,
	RECORD_UNTHROTTLE,
	RECORD_FORK,
	RECORD_READ,
	RECORD_SAMPLE,
	RECORD_MMAP2,
	RECORD_AUX,
	RECORD_ITRACE_START,
	RECORD_LOST_SAMPLES,
	RECORD_SWITCH,
	RECORD_SWITCH_CPU_WIDE,
	RECORD_NAMESPACES,
	RECORD_KSYMBOL,
	RECORD_BPF_EVENT,
	RECORD_CGROUP,
	RECORD_TEXT_POKE,
	RECORD_AUX_OUTPUT_HW_ID,
	RECORD_CALLCHAIN_DEFERRED,
	/* records that perf writes itself */
	RECORD_USER = 64,
	RECORD_ATTR = 64,
	RECORD_EVENT_TYPE,
	RECORD_TRACING_DATA,
	RECORD_BUILD_ID,
	RECORD_FINISHED_ROUND,
	RECORD_ID_INDEX,
	RECORD_AUXTRACE_INFO,
	RECORD_AUXTRACE,
	RECORD_AUXTRACE_ERROR,
	RECORD_THREAD_MAP,
	RECORD_CPU_MAP,
	RECORD_STAT_CONFIG,
	RECORD_STAT,
	RECORD_STAT_ROUND,
	RECORD_EVENT_UPDATE,
	RECORD_TIME_CONV,
	RECORD_FEATURE,
	RECORD_COMPRESSED,
	RECORD_FINISHED_INIT,
	RECORD_COMPRESSED2,
	RECORD_BPF_METADATA,
	RECORD_SCHEDSTAT_CPU,
	RECORD_SCHEDSTAT_DOMAIN
};

/* Bits of perf_record.misc. One bit has different meanings in different types of records. */
enum {
	/* mask of the CPU mode: 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
	MISC_CPUMODE = 7,
	MISC_MMAP_DATA = 1 << 13, /* in MMAP and MMAP2 records: the mapping is not executable */
	MISC_COMM_EXEC = 1 << 13, /* in COMM records: exec changed the name */
	/* in FORK records: perf synthesized the record for a process that was already running */
	MISC_FORK_EXEC = 1 << 13,
	MISC_MMAP_BUILD_ID = 1 << 14, /* in MMAP2 records: the record has a build-id in place of device and inode */
	/* in BUILD_ID records: the record has the size of the build-id, which otherwise is 20 bytes */
	MISC_BUILD_ID_SIZE = 1 << 15,
	/* in LOST_SAMPLES records: a BPF filter dropped the samples, so readers do not count them as lost */
	MISC_LOST_SAMPLES_BPF = 1 << 15
};

enum perf_event_update_type { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };

enum perf_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURES = 256
};

/* A COMPRESSED2 record is a header, u64 data_size, data_size bytes of zstd, and padding. With perf 6.16 and later,
 * header.size can overflow: then the record has 16 + data_size bytes, without padding. If data_size exceeds
 * COMPRESSED2_MAX, it is the sum for several adjacent records; the headers of all but the first are right. */
#define COMPRESSED2_HEADER 16
#define COMPRESSED2_MAX (65536 - COMPRESSED2_HEADER - 1)

/* Constants that an installed <linux/perf_event.h> may lack. */
#define SAMPLE_KNOWN ((UINT64_C(1) << 25) - 1) /* bits of sample_type whose fields pj can parse */
#define FORMAT_LOST (UINT64_C(1) << 4)         /* bit of read_format: the number of lost samples is included */
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)    /* bits of branch_sample_type */
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

/* Context markers in callchains: CONTEXT_MAX and all larger values are markers, not addresses. */
#define CONTEXT_MAX ((uint64_t)-4095)
#define CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640) /* the next value is a cookie, not an address */
#define CONTEXT_GUEST ((uint64_t)-2048)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER ((uint64_t)-2560)

static inline uint16_t load16(const char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load32(const char *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static inline uint64_t load64(const char *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

#endif
