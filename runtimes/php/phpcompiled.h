/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phpcompiled.h - finds the code that opcache's JIT compiler generates, and the unwind rule that holds for it.
 *
 * opcache puts the code of the JIT compiler into the executable part of its shared memory; a process maps this part
 * once. The part is executable except while PHP compiles a function. execute_ex jumps to this code in place of the
 * handler of an instruction, and the code jumps back. So the code runs in the native frame of execute_ex: the address
 * of the zend_execute_data that runs stays in r14, and the unwind rule of execute_ex between its prologue and its end
 * holds. Sources: ext/opcache/jit of PHP 8.0 to 8.5, and Zend/zend_vm_gen.php.
 */
#ifndef PJ_PHPCOMPILED_H
#define PJ_PHPCOMPILED_H

#include "runtimes/php/php.h"

/* Returns true if shared memory with this path in /proc/PID/maps may be opcache's. Pure. */
bool phpcompiled_is_shared(struct str path);

/* Sets php->compiled.code and php->compiled.shared. maps: content of /proc/PID/maps. Returns false if opcache's shared
 * memory has several executable parts. While PHP compiles, this memory is writable and not executable, so the code is
 * not found. */
bool phpcompiled_find_code(struct php *php, struct str maps);

/* Sets the members of php->compiled with which the unwinder steps from JIT code to the caller of execute_ex: an address
 * in execute_ex whose unwind rule holds for this code, and the callers of execute_ex. php->globals and php->eval must
 * be set, and a script must be running. Returns true without setting them if the process has no JIT code; false if the
 * address, or all callers, cannot be found. */
bool phpcompiled_find_host(struct php *php);

/* Returns true if the address is code for an instruction of PHP: in execute_ex, or code of the JIT compiler. Pure. */
bool phpcompiled_is_handler(const struct php *php, uint64_t address);

#endif
