/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmhelper.h - the process that parses the memory of JVMs, and the messages between it and the recorder (jvmreader.h).
 *
 * The recorder opens /proc/PID/mem and /proc/PID/maps and sends the descriptors: the kernel checks access at open, and
 * they stay bound to that program. The helper has no capability, opens no file, and has a memory limit. The recorder
 * checks all that it receives: a JVM may have taken the helper over.
 *
 * Samples wait for the helper, so its priority is raised (URGENCY_SOON). A request takes a bounded number of steps
 * (readbudget.h), all JVMs of a tenant take at most 5 % of a CPU, and a helper that uses more CPU time than any request
 * needs is killed. At nice 0 and a load of 25, 70 of 4,000 stacks got no answer in time.
 *
 * Messages are SOCK_SEQPACKET: a request and a reply, each with a head and an array. Both ends are of one build.
 */
#ifndef PJ_JVMHELPER_H
#define PJ_JVMHELPER_H

#include "runtimes/hotspot/blobframes.h"

enum jvm_question {
	JVM_OPEN,
	JVM_CLOSE, /* closes a JVM; has no reply */
	JVM_FIND,
	JVM_CHECK,
	JVM_BYTES,
	JVM_NAMES,
	JVM_DESCRIBE
};

enum {
	JVM_SLOTS = 512,           /* maximum number of open JVMs */
	JVM_BYTES_N = 512,         /* number of bytes of code that a reply has around an address */
	JVM_CODE_BLOBS_MAX = 2048, /* maximum number of code blobs in a reply; HotSpot's largest block has 400 */
	JVM_BLOBS_MAX = 512,       /* maximum number of blobs in a request */
	JVM_METHODS_MAX = 128,
	JVM_NAME_MAX = 4096, /* maximum size of a name in bytes; longer names are left out */
	JVM_NAMES_BYTES = 96 << 10,
	JVM_DESCRIBE_MAX = 64, /* maximum number of blobs in a JVM_DESCRIBE request */
	/* maximum size of a jvm_code in bytes; a longer one is sent without inlined calls */
	JVM_CODE_BYTES_MAX = 24 << 10
};

/* Indexes of the descriptors of /proc/PID/mem and /proc/PID/maps that a JVM_OPEN request carries. */
enum { JVM_FD_MEM, JVM_FD_MAPS, JVM_FDS };

struct jvm_request {
	uint64_t serial; /* serial number of the request; the reply has the same one */
	uint32_t question, slot;
	uint32_t n;         /* number of elements of the array */
	uint32_t pid, user; /* OPEN: pid and uid of the process */
	uint64_t start;     /* OPEN: start time of the process in clock ticks since boot */
	/* OPEN: inode of the JVM's mount namespace if it is the recorder's own, otherwise 0. With 0, the layout of
	 * HotSpot is not shared with other JVMs (jvmbuilds.h). */
	uint64_t mount_ns;
	uint64_t address; /* FIND, BYTES: the address to look up */
	union {
		struct blob blob[JVM_BLOBS_MAX];  /* CHECK, DESCRIBE: the blobs */
		uint64_t method[JVM_METHODS_MAX]; /* NAMES: the methods */
	};
};

/* Element of the reply to JVM_DESCRIBE: a range of code with one name. An nmethod is one range, whose name is that of
 * its first Method*. A block of stubs is one range with HotSpot's name for the block, and one range for each of its
 * stubs. This head is followed by nmethods Method* (the compiled method, then the inlined ones) and by `bytes` bytes,
 * padded to a multiple of 8: for an nmethod the tree of its inlined calls (PJ_ITEM_CODE of pjsection.h; empty if no
 * call is inlined), else the name. */
struct jvm_code {
	uint32_t index; /* index of the blob in the request */
	uint32_t nmethods, bytes, zero;
	uint64_t start, end;
};

/* size in bytes of a request without its array */
#define JVM_REQUEST_HEAD offsetof(struct jvm_request, blob)

struct jvm_reply {
	uint64_t serial;
	/* duration of the request in ns */
	uint64_t ns;
	/* number of elements: code blobs (FIND), unchanged blobs (CHECK), processed methods (NAMES), processed blobs
	 * (DESCRIBE) */
	uint32_t n;
	/* NAMES, DESCRIBE: size of the array in bytes. An element of NAMES is two uint32_t (index of the method, size
	 * of the name) and the name; an element of DESCRIBE is a jvm_code with its data. */
	uint32_t bytes;
	/* 1: the JVM cannot be read any longer; code and why have the reason */
	uint8_t lost;
	/* FIND, BYTES: 1: text has the code around the address */
	uint8_t read;
	uint32_t where; /* FIND: enum codecache_where, the kind of memory at the address */
	char code[16], why[160];
	struct blob blob;
	uint64_t call_stub_return, continuation_return;
	char text[JVM_BYTES_N];
	union {
		struct code_blob code_blob[JVM_CODE_BLOBS_MAX];
		uint16_t same[JVM_BLOBS_MAX]; /* CHECK: indexes of the unchanged blobs, in ascending order */
		char names[JVM_NAMES_BYTES];
	};
};

#define JVM_REPLY_HEAD offsetof(struct jvm_reply, code_blob)

/* Enters the sandbox and answers requests until the recorder closes the socket. */
void jvmhelper_run(int socket);

#endif
