/* Memory for the code of JVMs: a tenant at its limit loses the cache of its own largest JVM; at the limit of all, the
 * tenant with the most memory loses one. */
/* covers: record/java/javabudget.c record/java/javacode.c */
#include "record/java/javabudget.h"
#include "test/lib/child.h"
#include "test/lib/tap.h"

#include <stdlib.h>

#define MB ((size_t)1 << 20)

enum { JVMS = 4 };

struct caches {
	struct processes *processes;
	struct javacode *code;
	struct javacode_jvm jvm[JVMS];
};

/* Two JVMs of tenant 1, one of each of tenants 2 and 3. */
static void make_caches(struct caches *caches)
{
	static const uint64_t tenant[JVMS] = { 1, 1, 2, 3 };

	*caches = (struct caches){ .processes = processes_new(NULL), .code = javacode_new() };
	javacode_start(caches->code, caches->processes, NULL);
	for (unsigned i = 0; i < JVMS; i++) {
		caches->jvm[i] = (struct javacode_jvm){ .owner = caches->code, .pid = 100 + i };
		caches->jvm[i].tenant = (struct tenant){ TENANT_USER, tenant[i] };
		caches->code->jvm[caches->code->n++] = &caches->jvm[i];
	}
}

static void free_caches(struct caches *caches)
{
	for (unsigned i = 0; i < JVMS; i++) {
		free(caches->jvm[i].blob);
		free(caches->jvm[i].fact);
	}
	caches->code->n = 0;
	javacode_free(caches->code);
	processes_free(caches->processes);
}

/* Returns the numbers of the JVMs whose caches are dropped. */
static struct str dropped_jvms(const struct caches *caches)
{
	static char text[JVMS + 1];
	size_t n = 0;

	for (unsigned i = 0; i < JVMS; i++)
		if (caches->jvm[i].dropped)
			text[n++] = (char)('0' + i);
	return (struct str){ text, n };
}

static void test_own_limit(void)
{
	struct caches caches;

	make_caches(&caches);
	ok(javabudget_hold(&caches.jvm[0], 7 * MB) && javabudget_hold(&caches.jvm[1], 4 * MB) &&
		   javabudget_hold(&caches.jvm[2], 8 * MB),
	   "three JVMs within the limits");
	is_str(dropped_jvms(&caches), STR(""), "  no cache is dropped");
	ok(javabudget_hold(&caches.jvm[1], 2 * MB), "a tenant over its limit: the JVM that grows goes on");
	is_str(dropped_jvms(&caches), STR("0"), "  the largest one of this tenant is dropped, no larger one of others");
	ok(caches.jvm[0].bytes == 0 && caches.jvm[1].bytes == 6 * MB && caches.jvm[2].bytes == 8 * MB,
	   "  its bytes are free");
	is_u64(javacode_count(caches.code).over_memory, 1, "  and it is counted");
	ok(!javabudget_hold(&caches.jvm[1], 7 * MB), "a JVM that is too large by itself is not kept");
	is_str(dropped_jvms(&caches), STR("01"), "  it is dropped");
	free_caches(&caches);
}

static void test_limit_of_all(void)
{
	struct caches caches;

	make_caches(&caches);
	ok(javabudget_hold(&caches.jvm[0], 5 * MB) && javabudget_hold(&caches.jvm[1], 4 * MB) &&
		   javabudget_hold(&caches.jvm[2], 8 * MB),
	   "17 of 20 MB");
	ok(javabudget_hold(&caches.jvm[3], 4 * MB), "a small tenant at the limit of all");
	is_str(dropped_jvms(&caches), STR("0"),
	       "  the largest JVM of the tenant with the most memory is dropped, not the largest of all");
	free_caches(&caches);
}

static void test_space(void)
{
	struct caches caches;

	make_caches(&caches);
	ok(javabudget_make_space(&caches.jvm[2], 10) && caches.jvm[2].cap == 64, "space for blobs, 64 at least");
	ok(caches.jvm[2].bytes == 64 * (sizeof(struct code_blob) + sizeof(struct fact)), "  is charged");
	ok(javabudget_make_space(&caches.jvm[2], 64) && caches.jvm[2].cap == 64, "  once");
	ok(javabudget_make_space(&caches.jvm[2], 65) && caches.jvm[2].cap == 128, "  and doubles");
	ok(!javabudget_make_space(&caches.jvm[2], 1 << 20) && caches.jvm[2].dropped, "more than a tenant may have");
	free_caches(&caches);
}

static void exceed(void *arg)
{
	struct caches caches;

	(void)arg;
	make_caches(&caches);
	javabudget_hold(&caches.jvm[0], 13 * MB);
	free_caches(&caches);
}

int main(void)
{
	static struct child c;

	test_own_limit();
	test_limit_of_all();
	test_space();
	child_run(&c, exceed, NULL);
	ok(str_find_str(c.err, STR("process 100: ")) >= 0 && str_find_str(c.err, STR("over-budget")) >= 0,
	   "the message has the process and the reason");
	return done();
}
