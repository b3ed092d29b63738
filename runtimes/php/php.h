/* SPDX-License-Identifier: Apache-2.0 */
/*
 * php.h - checks the layout of PHP's frames against the memory of a process, finds frames in a copy, and reads the
 * names and lines of functions. Supports PHP 7.4 to 8.5 without thread safety (NTS).
 *
 * A program that contains PHP exports its globals for extensions: `executor_globals` has the pointer to the innermost
 * frame (zend_execute_data) of the only thread that runs PHP. php_open checks all offsets against the frames of the
 * process, and refuses an unknown or contradictory build. Code of opcache's JIT compiler runs in place of the eval
 * function, in its frame and with the same list of frames.
 *
 * All data is hostile, and changes while it is read. A struct php owns no resources: there is nothing to close.
 */
#ifndef PJ_PHP_H
#define PJ_PHP_H

#include "runtimes/memory/evalcode.h"
#include "runtimes/threadcopy.h"

#define PHP_FRAMES_MAX 4096u
#define PHP_NAME_MAX 512u /* maximum size of the name of a function, and of a file name, in bytes with the NUL */
#define PHP_WHY_MAX 160u

/* Offsets in the structures of one minor version, in bytes. */
struct php_layout {
	uint32_t version; /* version: major * 100 + minor, 704 to 805 */
	uint32_t current; /* offset in executor_globals of the pointer to the innermost frame */
	struct {
		uint32_t last, opcodes; /* offsets of the number of instructions, and of the pointer to them */
		uint32_t filename;      /* offset of the file name; the first and the last line follow it */
	} code;                         /* fields of a zend_op_array */
};

#define PHP_CALLERS_MAX 12u

/* Code of opcache's JIT compiler, which runs in frames of execute_ex (phpcompiled.h). */
struct php_compiled {
	/* address range of the code; 0, 0: the process has none, or compiles a function at present */
	struct evalcode_range code;
	bool shared;   /* true if the process maps shared memory of opcache */
	uint64_t host; /* address in execute_ex whose unwind rule holds for code of the JIT compiler */
	uint32_t ncallers;
	struct evalcode_range caller[PHP_CALLERS_MAX]; /* functions that call execute_ex */
};

struct php {
	struct memory *memory; /* memory of the process; owned by the caller */
	struct loadedfile file;
	struct php_layout layout;
	uint64_t globals;     /* address of executor_globals */
	struct evalcode eval; /* code of execute_ex */
	struct php_compiled compiled;
	struct evalcode_range fiber_switch; /* code of zend_fiber_switch_context (since 8.1); 0, 0: none */
	char version[32];                   /* version of PHP, as "8.2"; "" if unknown */
	char why[PHP_WHY_MAX]; /* reason of a result other than PHP_OPEN, as a sentence about the process */
};

/* Returns true if the file at this path may contain PHP: a program such as php8.2, php-fpm8.2 or php-cgi, or a library
 * such as libphp8.2.so. The path may end with " (deleted)". The path is hostile, so true is only a guess: php_open
 * decides. Pure. */
bool php_is_library(struct str path);

enum php_answer {
	PHP_OPEN,
	PHP_OTHER_FILE, /* the file is not PHP, or is not readable in memory */
	/* the process runs no PHP function at present, or compiles one; the caller may try again */
	PHP_EARLY,
	/* the layout is unknown or contradicts the memory, the build is thread-safe or lacks an exported function, or
	 * unknown code runs; php.why names the build */
	PHP_REFUSED,
	PHP_UNREADABLE /* memory.budget is exceeded */
};

/* Opens the PHP of a process, in the file whose first byte is mapped at base. Returns PHP_OPEN on success, otherwise
 * the kind of the failure. memory must exist as long as *php. maps: content of /proc/PID/maps; if it is empty, code of
 * the JIT compiler is unknown. */
enum php_answer php_open(struct php *php, struct memory *memory, uint64_t base, struct str maps);

/* Returns the root for threadcopy_follow: the address of the pointer to the innermost frame. Pure. */
uint64_t php_root(const struct php *php);

/* Sets *plan to the plan that copies frames and their functions. Pure. */
void php_plan(const struct php_layout *layout, struct threadplan *plan);

enum php_kind {
	PHP_FUNCTION, /* function of a script, or the code of a file or of eval() */
	PHP_INTERNAL, /* function of PHP or of an extension, in native code */
	/* generators that wait in `yield from` for the generator of the next inner frame; php_frame.function is 0 */
	PHP_DELEGATING,
	PHP_ENDED /* function that is neither in the copy nor in memory any more; it has no name */
};

/* Used members of a zend_function and, for a function of a script, of its zend_op_array. last: number of instructions;
 * name, scope, opcodes, filename: addresses. */
struct php_code {
	uint8_t type; /* first byte of the zend_function; 0: unknown */
	uint32_t flags, last, first_line, last_line;
	uint64_t name, scope, opcodes, filename;
};

struct php_frame {
	uint64_t frame;       /* address of the zend_execute_data */
	uint64_t function;    /* address of the zend_function */
	uint64_t instruction; /* address of the zend_op */
	bool entry;           /* true for an entry frame: an activation of execute_ex ends with it */
	bool outermost;       /* true if the frame has no caller */
	struct php_code code; /* members of the function, from the copy */
	/* true for the innermost frame: its current instruction is unknown, and `instruction` is an earlier one of the
	 * same function, or arbitrary if code of the JIT compiler runs (phpframes.c) */
	bool innermost;
	uint8_t kind; /* enum php_kind */
};

enum php_end {
	/* the frames reach the outermost one, or the start of a fiber (which has its own native stack) */
	PHP_COMPLETE,
	PHP_TRUNCATED, /* the copy ends early, or a maximum is reached; the frames are the innermost ones */
	PHP_IMPOSSIBLE /* a pointer is impossible; the caller discards all frames */
};

struct php_stack {
	uint32_t n;
	struct php_frame frame[PHP_FRAMES_MAX]; /* frames, innermost first */
};

/* Finds the frames in a copy, and returns how they end. Functions that the copy lacks, because its size is limited, are
 * read from live memory. Frames that PHP pushes for its own use are left out. */
enum php_end php_frames(const struct php *php, const struct threadcopy *copy, struct php_stack *stack);

/* Name, file and line of the code that a frame runs. */
struct php_function {
	/* Address of the frame's instruction; if it is unknown, as in the innermost frame, of the first instruction of
	 * the function; for a function without instructions, of the function itself. */
	uint64_t address;
	uint32_t line; /* line of the instruction; 0 if unknown */
	/* true if the frame's instruction in memory is the first one of the function: the frame may not have run any
	 * instruction yet */
	bool first;
	/* Name: `Class::method` or `function`; `{closure}`; `<main>` for the outermost code of a script, the file
	 * path for other included files, `<eval>`; `{yield from}` for PHP_DELEGATING. NUL-terminated. Names end at
	 * their first NUL: an anonymous class is `class@anonymous`. A longer name ends with "...". */
	char name[PHP_NAME_MAX];
	char file[PHP_NAME_MAX]; /* path of the script; empty for a function of no script */
};

/* Reads name, file and line of a frame's function from live memory, and the function itself if the copy lacks it.
 * Returns false if the memory is not readable, not a function, or not the frame's function: the function has ended,
 * or the frame is invalid. Every object that is read is checked, and the frame's instruction must be one of the
 * function's. */
bool php_function(const struct php *php, const struct php_frame *frame, struct php_function *function);

#endif
