/* jvmthreads_test - threads of HotSpot by their names, and names that are like theirs. */
/* covers: fold/process/jvmthreads.c */
#include "fold/process/jvmthreads.h"

#include "test/lib/tap.h"

static void is_in(const char *comm, const char *frame)
{
	is_str(jvmthreads_frame(jvmthreads_group(str_of(comm))), str_of(frame), comm);
}

int main(void)
{
	is_in("GC Thread#0", "[JVM] GC");
	is_in("GC Thread#123", "[JVM] GC");
	is_in("G1 Conc#1", "[JVM] GC");
	is_in("G1 Main Marker", "[JVM] GC");
	is_in("ZWorkerYoung#12", "[JVM] GC");
	is_in("ZUncommitter", "[JVM] GC");
	is_in("ZUncommitter#0", "[JVM] GC");
	is_in("Shenandoah GC T", "[JVM] GC");
	is_in("C1 CompilerThre", "[JVM] JIT compiler");
	is_in("C2 CompilerThre", "[JVM] JIT compiler");
	is_in("VM Thread", "[JVM] VM");
	is_in("VM Periodic Tas", "[JVM] VM");
	is_in("GC Thread#", "");
	is_in("GC Thread#x", "");
	is_in("GC Thread#0 x", "");
	is_in("GC Thread", "");
	is_in("VM Threads", "");
	is_in("my VM Thread", "");
	is_in("ZWorker", "");
	is_in("C2 Compiler", "");
	is_in("main", "");
	is_in("http-nio-8080-e", "");
	is_in("Finalizer", "");
	is_in("", "");
	return done();
}
