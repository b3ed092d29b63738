/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/jvmthreads.h"

#include "common/base.h"

/* Table of the groups of HotSpot's threads, by name (JDK 8 to 25), cut to the 15 bytes that the kernel stores. A '#' at
 * the end of a name stands for '#' and a number. */
static const struct known {
	const char *name;
	enum jvmthreads_group group;
} known[] = {
	{ "GC Thread#", JVMTHREADS_GC },
	{ "G1 Conc#", JVMTHREADS_GC },
	{ "G1 Refine#", JVMTHREADS_GC },
	{ "G1 Main Marker", JVMTHREADS_GC },
	{ "G1 Service", JVMTHREADS_GC },
	{ "G1 Young RemSet", JVMTHREADS_GC }, /* "G1 Young RemSet Sampling" of JDK 9 to 15 */
	{ "ParGC Thread#", JVMTHREADS_GC },
	{ "CMS Thread#", JVMTHREADS_GC },
	{ "CMS Main Thread", JVMTHREADS_GC },
	{ "ZDirector", JVMTHREADS_GC },
	{ "ZDriver", JVMTHREADS_GC },
	{ "ZDriverMajor", JVMTHREADS_GC },
	{ "ZDriverMinor", JVMTHREADS_GC },
	{ "ZStat", JVMTHREADS_GC },
	{ "ZUnmapper", JVMTHREADS_GC },
	{ "ZUncommitter", JVMTHREADS_GC },
	{ "ZUncommitter#", JVMTHREADS_GC },
	{ "ZWorker#", JVMTHREADS_GC },
	{ "ZWorkerYoung#", JVMTHREADS_GC },
	{ "ZWorkerOld#", JVMTHREADS_GC },
	{ "RuntimeWorker#", JVMTHREADS_GC }, /* threads that work for ZGC in safepoints */
	{ "Shenandoah GC T", JVMTHREADS_GC },
	{ "Shenandoah Cont", JVMTHREADS_GC },
	{ "Shenandoah Regu", JVMTHREADS_GC },
	{ "StrDedup", JVMTHREADS_GC },
	{ "C1 CompilerThre", JVMTHREADS_COMPILER },
	{ "C2 CompilerThre", JVMTHREADS_COMPILER },
	{ "JVMCI CompilerT", JVMTHREADS_COMPILER },
	{ "VM Thread", JVMTHREADS_VM },
	{ "VM Periodic Tas", JVMTHREADS_VM },
	{ "Service Thread", JVMTHREADS_VM },
	{ "Signal Dispatch", JVMTHREADS_VM },
	{ "Monitor Deflati", JVMTHREADS_VM },
	{ "Notification Th", JVMTHREADS_VM },
	{ "Sweeper thread", JVMTHREADS_VM },
	{ "Attach Listener", JVMTHREADS_VM },
	{ "AsyncLog Thread", JVMTHREADS_VM },
};

static bool is_number(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!byte_is_digit(text.p[i]))
			return false;
	return text.n > 0;
}

enum jvmthreads_group jvmthreads_group(struct str comm)
{
	for (size_t i = 0; i < countof(known); i++) {
		struct str name = str_of(known[i].name);

		if (str_eq(comm, name))
			return str_ends(name, STR("#")) ? JVMTHREADS_NONE : known[i].group;
		if (str_ends(name, STR("#")) && str_starts(comm, name) && is_number(str_from(comm, name.n)))
			return known[i].group;
	}
	return JVMTHREADS_NONE;
}

struct str jvmthreads_frame(enum jvmthreads_group group)
{
	switch (group) {
	case JVMTHREADS_GC: return STR("[JVM] GC");
	case JVMTHREADS_COMPILER: return STR("[JVM] JIT compiler");
	case JVMTHREADS_VM: return STR("[JVM] VM");
	case JVMTHREADS_NONE: break;
	}
	return STR("");
}
