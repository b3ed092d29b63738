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
	JVM_CLOSE, /* without a reply */
	JVM_FIND,
	JVM_CHECK,
	JVM_BYTES,
	JVM_NAMES,
	JVM_DESCRIBE
};

enum {
	JVM_SLOTS = 512,           /* JVMs that can be open at a time */
	JVM_BYTES_N = 512,         /* code around an address */
	JVM_CODE_BLOBS_MAX = 2048, /* in a reply: HotSpot's largest block has 400 */
	JVM_BLOBS_MAX = 512,       /* in a request */
	JVM_METHODS_MAX = 128,
	JVM_NAME_MAX = 4096, /* bytes; longer names are omitted */
	JVM_NAMES_BYTES = 96 << 10,
	JVM_DESCRIBE_MAX = 64,        /* blobs in a request of JVM_DESCRIBE */
	JVM_CODE_BYTES_MAX = 24 << 10 /* bytes of a jvm_code; without inlined calls if it is longer */
};

/* Descriptors of files in /proc/PID that JVM_OPEN carries, in this order. */
enum { JVM_FD_MEM, JVM_FD_MAPS, JVM_FDS };

struct jvm_request {
	uint64_t serial; /* returned in the reply */
	uint32_t question, slot;
	uint32_t n;         /* elements of the array */
	uint32_t pid, user; /* OPEN */
	uint64_t start;     /* OPEN: clock ticks since boot */
	uint64_t mount_ns;  /* OPEN: of jvmbuilds_key; 0: its layout is not shared */
	uint64_t address;   /* FIND, BYTES */
	union {
		struct blob blob[JVM_BLOBS_MAX];  /* CHECK, DESCRIBE */
		uint64_t method[JVM_METHODS_MAX]; /* NAMES */
	};
};

/* Reply to JVM_DESCRIBE: a range of code with one name. An nmethod is one range, whose name is that of methods[0]. A
 * block of stubs is one range with HotSpot's name for the block, and one for each of its stubs. The head precedes
 * nmethods Method* (the compiled method, then the inlined ones) and `bytes` bytes, padded to a multiple of 8: the tree
 * of inlined calls of an nmethod (PJ_ITEM_CODE of pjsection.h; empty if no call is inlined), or the name of a stub. */
struct jvm_code {
	uint32_t index; /* of the blob in the request */
	uint32_t nmethods, bytes, zero;
	uint64_t start, end;
};

/* Bytes of a request without its array. */
#define JVM_REQUEST_HEAD offsetof(struct jvm_request, blob)

struct jvm_reply {
	uint64_t serial;
	/* Time that the request took. */
	uint64_t ns;
	/* Elements of the array: code blobs (FIND), unchanged blobs (CHECK), processed methods (NAMES), processed blobs
	 * (DESCRIBE). */
	uint32_t n;
	/* NAMES, DESCRIBE: size of the array. Elements of NAMES are two uint32_t (index of the method, bytes of the
	 * name) and the name; those of DESCRIBE are jvm_code. */
	uint32_t bytes;
	/* The JVM cannot be read: `code` and `why` have the reason. */
	uint8_t lost;
	/* FIND, BYTES: `text` is valid. */
	uint8_t read;
	uint32_t where; /* FIND: enum codecache_where */
	char code[16], why[160];
	struct blob blob;
	uint64_t call_stub_return, continuation_return;
	char text[JVM_BYTES_N];
	union {
		struct code_blob code_blob[JVM_CODE_BLOBS_MAX];
		uint16_t same[JVM_BLOBS_MAX]; /* indices, ascending */
		char names[JVM_NAMES_BYTES];
	};
};

#define JVM_REPLY_HEAD offsetof(struct jvm_reply, code_blob)

/* Enters the sandbox and answers until the other end of the socket is closed. */
void jvmhelper_run(int socket);

#endif
