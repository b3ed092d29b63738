/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javanames.h - names of the interpreted methods in the stacks of a window, and of the classes of allocated objects.
 *
 * An interpreted frame is identified by its Method*, which means nothing after the JVM has ended. So the stack walker
 * adds each Method* to the table here, and the name is read soon after, while the JVM lives. At its end, the window
 * stores the names (PJ_ITEM_METHODS). HotSpot reuses the address of a Method whose class was unloaded. So names of
 * methods in which new frames appear are read again every second and at the end of the window; an address that had two
 * names gets no name. Classes (Klass*) are in the same table: their addresses have PJ_CLASS_BIT. The table is emptied
 * with each window. Its size is limited; frames of methods beyond the limit get no name and are counted.
 */
#ifndef PJ_JAVANAMES_H
#define PJ_JAVANAMES_H

#include "common/process/tenants.h"
#include "common/text.h"

#define JAVANAMES_MAX 65536u       /* maximum number of methods in a window */
#define JAVANAMES_UNKNOWN 4096u    /* maximum number of JVMs that have a class without a name, if the table is full */
#define JAVANAMES_BYTES (8u << 20) /* maximum bytes of the names of a window */
/* maximum bytes of the names of a tenant in a window, so that it leaves half for others */
#define JAVANAMES_TENANT_BYTES (JAVANAMES_BYTES / 2)
/* Limits of classes in a window: of one JVM, of the JVMs of one tenant, and of all. A process can invent any number of
 * classes, so half of the table is reserved for methods. */
enum { JAVANAMES_CLASSES = 4096, JAVANAMES_TENANT_CLASSES = 16384, JAVANAMES_ALL_CLASSES = JAVANAMES_MAX / 2 };
/* Limit of methods in a window of the JVMs of one tenant. A process can invent any number of methods, too, by forged
 * interpreted frames. */
#define JAVANAMES_TENANT_METHODS 24576u
/* Maximum time in ns from the first frame with a class until its name is read. HotSpot may have reused the memory of
 * hidden classes (lambdas, proxies) after that, so a class that is first read later has no name. */
#define JAVANAMES_FIRST_NS UINT64_C(2000000000)

struct javanames;

struct javanames *javanames_new(void);
void javanames_free(struct javanames *javanames);

/* A JVM. serial: number that changes with an exec or a reuse of the pid (javacode_owner), because the names of one
 * program are not valid for addresses of the next program; 0: unknown, as the JVM is not open at this moment. */
struct javanames_jvm {
	uint32_t pid;
	uint64_t serial;
	struct tenant tenant;
};

/* Records that a frame of a sample at `time` (ns of clock_now) is in this method, or has allocated an object of this
 * class (with PJ_CLASS_BIT). The class with address 0 never gets a name. Returns false if a limit is reached; then
 * counts the frame if it is in a method. */
bool javanames_note(struct javanames *javanames, const struct javanames_jvm *jvm, uint64_t method, uint64_t time);

/* Returns the methods of a process whose names must be read at time `now` (ns), and sets *n to their number: methods
 * whose names were never requested and, once a second, methods in which frames have appeared since the last request.
 * The array is valid until the next call. */
const uint64_t *javanames_wanted(struct javanames *javanames, uint32_t pid, uint64_t now, size_t *n);
/* Makes the next javanames_wanted return all methods in which frames have appeared since the last request, even if that
 * was less than a second ago: for the end of a window. */
void javanames_recheck(struct javanames *javanames);

/* Stores the name of a method, spelled as in Compiler.perfmap, or of a class, read at time `now` (ns of clock_now). The
 * address gets no name in this window if it already has another name, if frames with it are of an earlier program
 * (serial), if later frames with it are of a program whose name for it was not read, or if it is a class that is first
 * read later than JAVANAMES_FIRST_NS. Ignores unknown methods, and names beyond the limits. */
void javanames_named(struct javanames *javanames, const struct javanames_jvm *jvm, uint64_t method, uint64_t now,
		     struct str name);

/* Appends the items of the window (PJ_ITEM_METHODS, PJ_ITEM_CLASSES) to text, and empties the table. */
void javanames_end(struct javanames *javanames, struct text *text);

#endif
