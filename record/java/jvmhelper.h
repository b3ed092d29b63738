/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmhelper.h - helper process that parses the memory of JVMs, and the messages between it and the recorder
 * (jvmreader.h).
 *
 * The recorder opens /proc/PID/mem and /proc/PID/maps and sends the descriptors to the helper. The kernel checks access
 * when they are opened; afterwards they remain bound to the address space that the process had then. The helper has no
 * capability, opens no file, and has a memory limit. The recorder checks all that it receives, as a hostile JVM may
 * have taken control of the helper.
 *
 * Samples wait for the helper, so its priority is raised (URGENCY_SOON): at nice 0 and a load of 25, 70 of 4,000 stacks
 * got no answer in time. To limit the cost, a request takes a limited number of steps (readbudget.h), all JVMs of a
 * tenant use at most 5 % of a CPU, and the recorder kills a helper that uses more CPU time than any request needs.
 *
 * Messages are SOCK_SEQPACKET messages: a request and a reply, each with a head and an array. Both processes run the
 * same build, so the messages need no version.
 */
#ifndef PJ_JVMHELPER_H
#define PJ_JVMHELPER_H

#include "runtimes/hotspot/blobframes.h"

enum jvm_question {
	JVM_OPEN,
	JVM_CLOSE, /* close a JVM; has no reply */
	JVM_FIND,
	JVM_CHECK,
	JVM_BYTES,
	JVM_NAMES,
	JVM_DESCRIBE
};

enum {
	JVM_SLOTS = 512,           /* maximum number of open JVMs */
	JVM_BYTES_N = 512,         /* bytes of code around an address in a reply */
	JVM_CODE_BLOBS_MAX = 2048, /* maximum number of code blobs in a reply; HotSpot's largest block has 400 */
	JVM_BLOBS_MAX = 512,       /* maximum number of blobs in a JVM_CHECK request */
	JVM_METHODS_MAX = 128,
	JVM_NAME_MAX = 4096, /* maximum size of a name in bytes; longer names are left out */
	JVM_NAMES_BYTES = 96 << 10,
	JVM_DESCRIBE_MAX = 64, /* maximum number of blobs in a JVM_DESCRIBE request */
	/* maximum size in bytes of a jvm_code with its data; a larger one is sent without inlined calls */
	JVM_CODE_BYTES_MAX = 24 << 10
};

/* Indexes of the descriptors of /proc/PID/mem and /proc/PID/maps that a JVM_OPEN request carries. */
enum { JVM_FD_MEM, JVM_FD_MAPS, JVM_FDS };

struct jvm_request {
	uint64_t serial; /* serial number of the request; the reply has the same number */
	uint32_t question, slot;
	uint32_t n;         /* number of elements of the request's array */
	uint32_t pid, user; /* JVM_OPEN: pid of the process, and uid of its user */
	uint64_t start;     /* JVM_OPEN: start time of the process in clock ticks since boot */
	/* JVM_OPEN: inode of the JVM's mount namespace if it is the recorder's own, otherwise 0. With 0, the layout of
	 * HotSpot is not shared with other JVMs (jvmbuilds.h). */
	uint64_t mount_ns;
	uint64_t address; /* JVM_FIND, JVM_BYTES: address to look up */
	union {
		struct blob blob[JVM_BLOBS_MAX]; /* array of JVM_CHECK and JVM_DESCRIBE: blobs */
		/* array of JVM_NAMES: addresses of methods (Method*), or of classes (Klass*) with PJ_CLASS_BIT */
		uint64_t method[JVM_METHODS_MAX];
	};
};

/* Element of the reply to JVM_DESCRIBE: a range of code with one name. An nmethod is one range; its name is that of its
 * first Method*. A block of stubs is one range with HotSpot's name for the block, and one more range for each of its
 * stubs. The struct is followed by nmethods Method* (the compiled method, then the inlined ones), and by `bytes` bytes,
 * padded to a multiple of 8. For an nmethod, these bytes are the tree of its inlined calls (PJ_ITEM_CODE of
 * pjsection.h; empty if no call is inlined); otherwise they are the name. */
struct jvm_code {
	uint32_t index; /* index of the blob in the request */
	uint32_t nmethods, bytes;
	/* 1: the element has no inlined calls of the nmethod, because they exceed the budget of one request or
	 * JVM_CODE_BYTES_MAX */
	uint32_t limited;
	uint64_t start, end;
};

/* Size in bytes of a request without its array. */
#define JVM_REQUEST_HEAD offsetof(struct jvm_request, blob)

struct jvm_reply {
	uint64_t serial;
	/* time in ns that the helper took for the request */
	uint64_t ns;
	/* number of elements of the reply's array: code blobs (JVM_FIND) or unchanged blobs (JVM_CHECK); or number of
	 * processed methods (JVM_NAMES) or blobs (JVM_DESCRIBE) */
	uint32_t n;
	/* JVM_NAMES, JVM_DESCRIBE: size of the reply's array in bytes. An element of JVM_NAMES is two uint32_t (index
	 * of the method in the request, size of the name in bytes) and the name. An element of JVM_DESCRIBE is a
	 * jvm_code with its data. */
	uint32_t bytes;
	/* 1: the JVM can no longer be read; `code` and `why` have the reason */
	uint8_t lost;
	/* JVM_FIND, JVM_BYTES: 1 if `text` has the code around the address */
	uint8_t read;
	uint32_t where; /* JVM_FIND: enum codecache_where: kind of memory at the address */
	char code[16], why[160];
	struct blob blob;
	uint64_t call_stub_return, continuation_return;
	char text[JVM_BYTES_N];
	union {
		struct code_blob code_blob[JVM_CODE_BLOBS_MAX];
		uint16_t same[JVM_BLOBS_MAX]; /* JVM_CHECK: indexes of the unchanged blobs, in ascending order */
		char names[JVM_NAMES_BYTES];
	};
};

#define JVM_REPLY_HEAD offsetof(struct jvm_reply, code_blob)

/* Enters the sandbox and performs requests until the recorder closes the socket. Runs as the helper process. */
void jvmhelper_run(int socket);

#endif
