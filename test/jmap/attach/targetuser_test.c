/* Answers of the child process that attaches to a JVM: complete ones, and ones that end early. */
/* covers: jmap/attach/targetuser.c */
#include "jmap/attach/targetuser.h"
#include "test/lib/tap.h"

#include <sys/mman.h>
#include <unistd.h>

#define SIZE ((size_t)1 << 20)

static struct hotspot_reason answer_all(const struct targetuser *user, void *arg, struct text *out)
{
	(void)user, (void)arg;
	for (size_t i = 0; i < SIZE; i++)
		text_char(out, 'x');
	return targetuser_fine();
}

/* The second half of the output cannot be read, so the child cannot write it. */
static struct hotspot_reason answer_half(const struct targetuser *user, void *arg, struct text *out)
{
	char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)user, (void)arg;
	if (bytes == MAP_FAILED || munmap(bytes + SIZE / 2, SIZE / 2) < 0)
		return guest_reason("full", "no memory");
	*out = (struct text){ .p = bytes, .n = SIZE, .cap = SIZE };
	return targetuser_fine();
}

static struct hotspot_reason answer_late(const struct targetuser *user, void *arg, struct text *out)
{
	(void)user, (void)arg, (void)out;
	sleep(60);
	return targetuser_fine();
}

static struct hotspot_reason answer_refused(const struct targetuser *user, void *arg, struct text *out)
{
	(void)user, (void)arg, (void)out;
	return guest_reason("refused", "as requested");
}

/* Runs a job, and checks the code of its reason and the size of its output. */
static void check(targetuser_job *job, size_t max, const char *code, size_t size, const char *what)
{
	struct targetuser user = { .uid = geteuid(), .gid = getegid() };
	struct text out = { 0 };
	struct hotspot_reason reason = guest_do(&user, job, NULL, 1, max, &out);

	is_str(str_of(reason.code ? reason.code : ""), str_of(code), what);
	is_u64(out.n, size, "  its output");
	text_free(&out);
}

int main(void)
{
	check(answer_all, SIZE, "", SIZE, "a complete answer");
	check(answer_all, SIZE / 4, "", SIZE / 4, "one that is longer than the limit");
	check(answer_half, SIZE, "failed", 0, "one that ends in the middle");
	check(answer_late, SIZE, "timeout", 0, "none in time");
	check(answer_refused, SIZE, "refused", 0, "a refusal");
	return done();
}
