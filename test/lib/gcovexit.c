/* gcovexit.c - _exit() of a build for coverage: writes the counters first. exit() and exec() do so by themselves. */
#include <unistd.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
