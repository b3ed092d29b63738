/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.c - the library that pjmap --method=agent loads into a JVM: it writes a map of all present code and is inactive
 * afterwards.
 *
 * It uses no C library, as it must load into JVMs of glibc and musl of any version; it makes system calls itself. Its
 * option is the path of an existing file, to which it writes the map. A line is "start size name"; the name of a method
 * is "Ljava/util/HashMap;::get(...)...". The last line is "# end": a map without it is incomplete. Events arrive on the
 * thread that requested them, and on threads that generate code meanwhile, so a lock protects the buffer.
 */
#include "jmap/agent/jvmti.h"

#if defined(__x86_64__)
enum { SYS_WRITE = 1, SYS_CLOSE = 3, SYS_YIELD = 24, SYS_OPENAT = 257 };
#define NOFOLLOW 0400000
#else
/* System call numbers and flag for aarch64. The Makefile builds the agent for no processor other than x86-64 and
 * aarch64. */
enum { SYS_WRITE = 64, SYS_CLOSE = 57, SYS_YIELD = 124, SYS_OPENAT = 56 };
#define NOFOLLOW 0100000
#endif

#define HERE (-100) /* value of AT_FDCWD in the kernel's headers */
/* values of O_WRONLY, O_TRUNC and O_CLOEXEC, with O_NOFOLLOW */
#define OPEN_FLAGS (01 | 01000 | 02000000 | NOFOLLOW)
#define EINTR 4

static long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
			 x3 __asm__("x3") = d;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#endif
}

/* ---- the map file ------------------------------------------------------------------------------------------------ */

static char buffer[65536];
static unsigned long used;
static int file = -1;
static int failed;
static int lock;

static void take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		call(SYS_YIELD, 0, 0, 0, 0);
}

static void give_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void flush(void)
{
	unsigned long done = 0;

	while (done < used && !failed) {
		long n = call(SYS_WRITE, file, (long)(buffer + done), (long)(used - done), 0);

		if (n > 0)
			done += (unsigned long)n;
		else if (n != -EINTR)
			failed = 1;
	}
	used = 0;
}

static void agent_put(char byte)
{
	if (used == sizeof(buffer))
		flush();
	buffer[used++] = byte;
}

/* Writes a string, with '?' for each control byte, so that the line stays one line. */
static void put_text(const char *string)
{
	for (; string && *string; string++)
		agent_put((unsigned char)*string < 0x20 || *string == 0x7f ? '?' : *string);
}

static void agent_put_hex(unsigned long value)
{
	int shift = 60;

	while (shift > 0 && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		agent_put("0123456789abcdef"[value >> shift & 15]);
	agent_put(' ');
}

/* ---- handlers of JVMTI events ------------------------------------------------------------------------------------ */

static void deallocate(void *env, char *p)
{
	int (*f)(void *, unsigned char *) = (int (*)(void *, unsigned char *))jvmti_function(env, JVMTI_DEALLOCATE);

	if (p)
		f(env, (unsigned char *)p);
}

static void on_method(void *env, jvmti_method method, int32_t size, const void *address, int32_t n, const void *map,
		      const void *info)
{
	int (*get_name)(void *, jvmti_method, char **, char **, char **) =
		(int (*)(void *, jvmti_method, char **, char **, char **))jvmti_function(env, JVMTI_GET_METHOD_NAME);
	int (*get_class)(void *, jvmti_method, jvmti_class *) =
		(int (*)(void *, jvmti_method, jvmti_class *))jvmti_function(env, JVMTI_GET_METHOD_DECLARING_CLASS);
	int (*get_signature)(void *, jvmti_class, char **, char **) =
		(int (*)(void *, jvmti_class, char **, char **))jvmti_function(env, JVMTI_GET_CLASS_SIGNATURE);
	char *name = 0, *signature = 0, *class_name = 0;
	jvmti_class holder = 0;

	(void)n, (void)map, (void)info;
	if (get_name(env, method, &name, &signature, 0) == 0 && get_class(env, method, &holder) == 0 &&
	    get_signature(env, holder, &class_name, 0) == 0) {
		take_lock();
		if (file >= 0) {
			agent_put_hex((unsigned long)address);
			agent_put_hex((unsigned long)(uint32_t)size);
			put_text(class_name);
			put_text("::");
			put_text(name);
			put_text(signature);
			agent_put('\n');
		}
		give_lock();
	}
	deallocate(env, name);
	deallocate(env, signature);
	deallocate(env, class_name);
}

static void on_code(void *env, const char *name, const void *address, int32_t size)
{
	(void)env;
	take_lock();
	if (file >= 0) {
		agent_put_hex((unsigned long)address);
		agent_put_hex((unsigned long)(uint32_t)size);
		put_text(name);
		agent_put('\n');
	}
	give_lock();
}

/* ---- loading the agent ------------------------------------------------------------------------------------------- */

static const void *callback[JVMTI_CALLBACKS];

static int generate(void *env)
{
	int (*add)(void *, const void *) = (int (*)(void *, const void *))jvmti_function(env, JVMTI_ADD_CAPABILITIES);
	int (*set)(void *, const void *, int32_t) =
		(int (*)(void *, const void *, int32_t))jvmti_function(env, JVMTI_SET_EVENT_CALLBACKS);
	int (*mode)(void *, int, int, void *, ...) =
		(int (*)(void *, int, int, void *, ...))jvmti_function(env, JVMTI_SET_EVENT_NOTIFICATION_MODE);
	int (*events)(void *, int) = (int (*)(void *, int))jvmti_function(env, JVMTI_GENERATE_EVENTS);
	static uint32_t capabilities[JVMTI_CAPABILITY_BYTES / 4];

	capabilities[0] = 1u << JVMTI_CAN_GENERATE_COMPILED_METHOD_LOAD_EVENTS;
	callback[JVMTI_COMPILED_METHOD_LOAD - JVMTI_FIRST_EVENT] = (const void *)on_method;
	callback[JVMTI_DYNAMIC_CODE_GENERATED - JVMTI_FIRST_EVENT] = (const void *)on_code;
	return add(env, capabilities) || set(env, callback, (int32_t)sizeof(callback)) ||
	       mode(env, JVMTI_ENABLE, JVMTI_DYNAMIC_CODE_GENERATED, 0) ||
	       mode(env, JVMTI_ENABLE, JVMTI_COMPILED_METHOD_LOAD, 0) || events(env, JVMTI_DYNAMIC_CODE_GENERATED) ||
	       events(env, JVMTI_COMPILED_METHOD_LOAD);
}

static int finish(int wrong)
{
	int result;

	take_lock();
	if (!wrong)
		for (const char *string = "# end\n"; *string; string++)
			agent_put(*string);
	flush();
	call(SYS_CLOSE, file, 0, 0, 0);
	file = -1;
	result = wrong || failed;
	give_lock();
	return result;
}

__attribute__((visibility("default"))) int32_t Agent_OnAttach(void *vm, char *options, void *reserved);

int32_t Agent_OnAttach(void *vm, char *options, void *reserved)
{
	int (*get_env)(void *, void **, int32_t) =
		(int (*)(void *, void **, int32_t))(*(const void *const **)vm)[JNI_GET_ENV];
	int (*dispose)(void *);
	void *env = 0;
	int wrong;

	(void)reserved;
	file = (int)call(SYS_OPENAT, HERE, (long)options, OPEN_FLAGS, 0);
	if (file < 0)
		return 2;
	if (get_env(vm, &env, JVMTI_VERSION_1_0) != 0 || !env)
		return finish(1) + 2;
	wrong = finish(generate(env));
	dispose = (int (*)(void *))jvmti_function(env, JVMTI_DISPOSE_ENVIRONMENT);
	dispose(env);
	return wrong;
}
