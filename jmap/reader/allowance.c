/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/reader/allowance.h"

#include "common/clocks.h"
#include "common/diag.h"
#include "common/process/fdmessage.h"
#include "jmap/perfmap/perfmaps.h"

#include <sys/resource.h>
#include <unistd.h>

#define MB ((uint64_t)1 << 20)

/* maximum memory of one scan by pjmap -i in bytes; beyond it the scan leaves the rest to the next one */
#define LOOK_BYTES (40 * MB)
/* maximum duration of one scan by pjmap -i in ns; after it the scan leaves the rest to the next one */
#define LOOK_NS (4 * SECOND_NS)
/* maximum duration of the last scan of a JVM in ns, when pjmap ends */
#define LAST_NS (SECOND_NS / 10)

#define ONCE_STEPS (32u << 20)
#define ONCE_BYTES (128 * MB)
#define ONCE_NS (10 * SECOND_NS)

/* CPU time in ns per second that the scans of one tenant's JVMs may use: 5 % of a CPU */
#define CPU_PER_SECOND (SECOND_NS / 20)
/* CPU time in ns that the scans of one tenant's JVMs may use at once, so that JVMs that start are scanned without delay
 */
#define CPU_BURST (SECOND_NS * 3 / 2)
/* number of bytes per second that the scans of one tenant's JVMs may write */
#define DISK_PER_SECOND (256u << 10)
/* number of bytes that the scans of one tenant's JVMs may write at once, so that JVMs that start are scanned without
 * delay */
#define DISK_BURST (48 * MB)

#define JVMS_MAX 512

/* minimum in bytes of the limit of memory for all JVMs together */
#define MEMORY_LEAST (56 * MB)
/* divisor: the limit of memory for all JVMs together is 1/MEMORY_SHARE of the memory of the machine, or MEMORY_LEAST if
 * that is more. pjmap needs 2 MB for a JVM with 10,000 methods, so the limit suffices if the machine has 640 MB per
 * such JVM. */
#define MEMORY_SHARE 320

void allowance_open(struct allowance *allowance)
{
	struct tenant_limits limits = { .flow = { [TENANT_CPU_NS] = { CPU_PER_SECOND, CPU_BURST },
						  [TENANT_DISK_BYTES] = { DISK_PER_SECOND, DISK_BURST } },
					.stock = { [TENANT_SAVED_BYTES] = PERFMAPS_EACH_MAX },
					.total = { [TENANT_SAVED_BYTES] = PERFMAPS_TOTAL_MAX } };
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	*allowance = (struct allowance){ .tenants = tenants_new(&limits) };
	allowance->memory_all = machine / MEMORY_SHARE > MEMORY_LEAST ? machine / MEMORY_SHARE : MEMORY_LEAST;
	allowance->memory_each = allowance->memory_all / 4 * 3;
}

void allowance_close(struct allowance *allowance)
{
	tenants_free(allowance->tenants);
	allowance->tenants = NULL;
}

void allowance_report(struct allowance *allowance, struct tenant tenant, const char *what)
{
	char name[TENANT_NAME];

	for (size_t i = 0; i < allowance->ntold; i++)
		if (tenant_same(allowance->reported[i], tenant))
			return;
	if (allowance->ntold == ALLOWANCE_REPORTED)
		return;
	allowance->reported[allowance->ntold++] = tenant;
	warn("%s is over budget: its JVMs need more %s than one tenant may use, so their timelines are "
	     "late or incomplete",
	     tenant_name(&tenant, name), what);
}

bool allowance_may(struct allowance *allowance, struct tenant tenant, uint64_t now)
{
	static const char *const what[TENANT_FLOWS] = {
		[TENANT_CPU_NS] = "CPU time", [TENANT_DISK_BYTES] = "bytes on disk"
	};

	for (enum tenant_flow flow = TENANT_CPU_NS; flow <= TENANT_DISK_BYTES; flow++)
		if (!tenants_may(allowance->tenants, tenant, flow, now)) {
			allowance_report(allowance, tenant, what[flow]);
			return false;
		}
	return true;
}

struct readbudget allowance_look(uint64_t steps, bool last, uint64_t now)
{
	return (struct readbudget){ .steps = steps, .bytes = LOOK_BYTES, .deadline = now + (last ? LAST_NS : LOOK_NS) };
}

void allowance_charge(struct allowance *allowance, struct tenant tenant, uint64_t ns, uint64_t written, uint64_t now)
{
	tenants_charge(allowance->tenants, tenant, TENANT_CPU_NS, ns, now);
	tenants_charge(allowance->tenants, tenant, TENANT_DISK_BYTES, written, now);
}

uint64_t allowance_memory(const struct allowance *allowance, uint64_t mine, uint64_t all)
{
	uint64_t each = mine < allowance->memory_each ? allowance->memory_each - mine : 0,
		 left = all < allowance->memory_all ? allowance->memory_all - all : 0;

	return each < left ? each : left;
}

size_t allowance_files(void)
{
	struct rlimit limit;

	fdmessage_prepare();
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 16;
	return limit.rlim_cur / 16 < JVMS_MAX ? limit.rlim_cur / 16 : JVMS_MAX;
}

struct readbudget allowance_once(void)
{
	return (struct readbudget){ .steps = ONCE_STEPS, .bytes = ONCE_BYTES, .deadline = clock_now() + ONCE_NS };
}
