/* SPDX-License-Identifier: Apache-2.0 */
/*
 * php.h - PHP 7.4 to 8.5 without thread safety (NTS): proves the layout of its frames on the memory of a process, finds
 * frames in a copy, and reads the names and lines of functions.
 *
 * A program that contains PHP exports its globals for extensions: `executor_globals` has the pointer to the innermost
 * frame (zend_execute_data) of the only thread that runs PHP. Opening proves every field that is used later on the
 * frames of the process; an unknown or contradictory build is refused. With the JIT compiler of opcache, machine code
 * without unwind tables runs in place of the eval function: such processes are refused, too.
 *
 * All data is hostile, and changes while it is read. A struct php has no resources: there is nothing to close.
 */
#ifndef PJ_PHP_H
#define PJ_PHP_H

#include "runtimes/memory/evalcode.h"
#include "runtimes/threadcopy.h"

#define PHP_FRAMES_MAX 4096u
#define PHP_NAME_MAX 512u /* maximum number of bytes of a function's name, and of a file's name, with its NUL */
#define PHP_WHY_MAX 160u

/* Offsets in the structures of one minor version, in bytes. */
struct php_layout {
	uint32_t version; /* major * 100 + minor: 704 to 805 */
	uint32_t current; /* executor_globals: pointer to the innermost frame */
	struct {
		uint32_t last, opcodes; /* number of instructions, and the pointer to them */
		uint32_t filename;      /* the first and the last line follow */
	} code;                         /* zend_op_array */
};

struct php {
	struct memory *memory; /* of the caller */
	struct loadedfile file;
	struct php_layout layout;
	uint64_t globals;                   /* address of executor_globals */
	struct evalcode eval;               /* code of execute_ex */
	struct evalcode_range fiber_switch; /* code of zend_fiber_switch_context, since 8.1; 0, 0: none */
	char version[32];                   /* of PHP, as "8.2"; "" if unknown */
	char why[PHP_WHY_MAX]; /* result of php_open in one sentence about the process, if it is not PHP_OPEN */
};

/* Returns true if a file of this path may contain PHP: a program like php8.2, php-fpm8.2, php-cgi or a library like
 * libphp8.2.so; the path may end with " (deleted)". The path is hostile: php_open decides. Pure. */
bool php_is_library(struct str path);

enum php_answer {
	PHP_OPEN,
	PHP_OTHER_FILE, /* the file is not PHP */
	PHP_EARLY,      /* it runs no PHP function at present: the caller may try again */
	PHP_REFUSED,   /* the layout is unknown or contradicts the memory, or the JIT compiler runs; why names the build
			*/
	PHP_UNREADABLE /* the memory is not readable, or memory.budget is exceeded */
};

/* Opens the PHP of a process, in the file whose first byte is mapped at base. memory must exist as long as *php. */
enum php_answer php_open(struct php *php, struct memory *memory, uint64_t base);

/* Returns the root for threadcopy: the address of the pointer to the innermost frame. Pure. */
uint64_t php_root(const struct php *php);

/* Sets *plan to the plan of copying frames and their functions. Pure. */
void php_plan(const struct php_layout *layout, struct threadplan *plan);

enum php_kind {
	PHP_FUNCTION,   /* function of a script, or the code of a file or of eval() */
	PHP_INTERNAL,   /* function of PHP or of an extension: native code */
	PHP_DELEGATING, /* generators that wait in `yield from` for the one whose frame comes before; function is 0 */
	PHP_ENDED       /* its function is not in the copy, and no longer in memory: it has no name */
};

/* The members of a zend_function that are used, and of the zend_op_array of a script's function. */
struct php_code {
	uint8_t type; /* 0: not known */
	uint32_t flags, last, first_line, last_line;
	uint64_t name, scope, opcodes, filename;
};

struct php_frame {
	uint64_t frame;       /* address of the zend_execute_data */
	uint64_t function;    /* address of the zend_function */
	uint64_t instruction; /* address of the zend_op */
	bool entry;           /* an activation of execute_ex ends with the frame */
	bool outermost;       /* it has no caller */
	struct php_code code; /* of the function, from the copy */
	bool innermost;       /* its instruction is an earlier one of the same function (phpframes.c) */
	uint8_t kind;         /* enum php_kind */
};

enum php_end {
	PHP_COMPLETE,  /* the frames reach the outermost one, or the start of a fiber, which has a native stack of its
			  own */
	PHP_TRUNCATED, /* the copy or a maximum ends first: the frames are the innermost ones */
	PHP_IMPOSSIBLE /* a link is impossible: the caller drops all */
};

struct php_stack {
	uint32_t n;
	struct php_frame frame[PHP_FRAMES_MAX]; /* the innermost first */
};

/* Finds the frames in a copy. Reads functions that are not in the copy, which has a maximum, from live memory. Frames
 * that PHP pushes for its own use are not in *stack. */
enum php_end php_frames(const struct php *php, const struct threadcopy *copy, struct php_stack *stack);

/* What a frame runs. */
struct php_function {
	/* Address that stands for the instruction: the instruction itself, otherwise the first one of the function; for
	 * a function without instructions, the function itself. */
	uint64_t address;
	uint32_t line; /* 0: unknown */
	bool first;    /* the frame has not run an instruction yet, as far as memory shows it */
	/* `Class::method` or `function`; `{closure}`; `<main>` for the outermost code of a script, otherwise the path
	 * of the file that was included, or `<eval>`; `{yield from}` for PHP_DELEGATING. NUL-terminated. Names end at a
	 * NUL: that of an anonymous class is `class@anonymous`. A longer name ends with "...". */
	char name[PHP_NAME_MAX];
	char file[PHP_NAME_MAX]; /* path of the script; empty for functions that are not of one */
};

/* Reads the names of a frame's function, and the function if it is not in the copy, from live memory. Returns false if
 * the memory is no function, or not the frame's, or not readable: the function has ended, or the frame is not one.
 * Every object on the way is checked, and the frame's instruction must be one of the function's. */
bool php_function(const struct php *php, const struct php_frame *frame, struct php_function *function);

#endif
