/* The certificate: each reason for which a copy does not count, by records of switches. */
/* covers: record/syncread/certificate.c */
#include "record/syncread/certificate.h"
#include "test/lib/tap.h"

#include <stdlib.h>

enum { T = 100, R = 7, X = 55, R2 = 8, REGISTERS = 77 };

/* Times of the usual case, in ns: R sleeps at 1000, the sample is at 5000, T leaves for R at 20000, the copy is made
 * from 21000 to 30000, and R sleeps again at 35000. */
enum { WAITED = 900, ASLEEP = 1000, SAMPLE = 5000, LEFT = 20000, BEGUN = 21000, ENDED = 30000, BACK = 35000 };

static struct certificate *certificate;

static void begin(void)
{
	certificate_free(certificate);
	certificate = certificate_new();
	certificate_watch(certificate, 0, true, 10);
	certificate_watch(certificate, 1, true, 10);
	certificate_reader(certificate, 0, R);
	certificate_reader(certificate, 1, R2);
}

static void leaves(uint32_t cpu, uint32_t tid, uint32_t other, bool preempted, uint64_t time)
{
	struct certificate_switch out = { cpu, tid, other, true, preempted, time, { REGISTERS, 0, 0 } };
	struct certificate_switch in = { cpu, other, tid, false, false, time + 10, { 0, 0, 0 } };

	certificate_pass(certificate, &out);
	certificate_pass(certificate, &in);
}

static struct certificate_copy usual(void)
{
	return (struct certificate_copy){ .cpu = 0,
					  .tid = T,
					  .reader = R,
					  .class = SYNCREAD_FIFO,
					  .serial = 42,
					  .waited = WAITED,
					  .time = SAMPLE,
					  .begun = BEGUN,
					  .ended = ENDED };
}

static enum syncread_verdict take(void)
{
	return certificate_take(certificate, T, SAMPLE).verdict;
}

static void is_verdict(enum syncread_verdict want, const char *text)
{
	enum syncread_verdict got;

	certificate_advance(certificate, 1000000000);
	got = take();
	ok(got == want, text);
	if (got != want)
		printf("# got %d, want %d\n", (int)got, (int)want);
}

static void check_usual(void)
{
	struct certificate_copy copy = usual();
	struct certificate_result result;

	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	ok(take() == SYNCREAD_LATE, "before the copy's end, nothing is decided");
	leaves(0, R, T, false, BACK);
	result = certificate_take(certificate, T, SAMPLE);
	ok(result.verdict == SYNCREAD_CERTIFIED && result.serial == 42, "after it, the copy is certified");
	is_u64(result.registers.all, REGISTERS, "  for the registers with which the thread left the CPU to the reader");
	ok(take() == SYNCREAD_NO_COPY, "  once");
	for (uint32_t class = SYNCREAD_URGENT; class < SYNCREAD_CLASSES; class ++) {
		begin();
		copy.class = class;
		leaves(0, R, T, false, ASLEEP);
		certificate_add(certificate, &copy);
		leaves(0, T, R, true, LEFT);
		leaves(0, R, T, false, BACK);
		is_verdict(SYNCREAD_WEAK, "another class than FIFO is no proof");
	}
}

static void check_asleep(void)
{
	struct certificate_copy copy = usual();

	begin();
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	is_verdict(SYNCREAD_AWAKE, "no record shows the reader asleep");
	begin();
	leaves(0, R, T, true, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	is_verdict(SYNCREAD_AWAKE, "the reader was preempted, not asleep");
	begin();
	leaves(0, R, T, false, WAITED - 100);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	is_verdict(SYNCREAD_AWAKE, "the reader blocked before it began to wait for samples");
	begin();
	leaves(0, R, T, false, ASLEEP);
	leaves(0, T, R, true, ASLEEP + 100);
	leaves(0, R, T, true, ASLEEP + 200);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	is_verdict(SYNCREAD_AWAKE, "the reader woke and was preempted before the sample");
}

static void check_leave(void)
{
	struct certificate_copy copy = usual();

	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, X, true, LEFT - 100);
	leaves(0, X, T, true, LEFT - 50);
	leaves(0, T, R, true, LEFT);
	is_verdict(SYNCREAD_NO_SWITCH, "another thread ran first");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, false, LEFT);
	is_verdict(SYNCREAD_NO_SWITCH, "the thread blocked: it was not preempted");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, X, R, true, LEFT);
	is_verdict(SYNCREAD_NO_SWITCH, "another thread than the sampled one left");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(1, T, R, true, LEFT);
	is_verdict(SYNCREAD_NO_SWITCH, "the switch was on another CPU");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	is_verdict(SYNCREAD_NO_SWITCH, "there was no switch");
	begin();
	copy.ended = 300000;
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, SAMPLE + CERTIFICATE_DELAY_NS + 1);
	is_verdict(SYNCREAD_DELAYED, "the switch came too late");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, SAMPLE + CERTIFICATE_DELAY_NS);
	is_verdict(SYNCREAD_CERTIFIED, "the switch came just in time");
	begin();
	copy.class = SYNCREAD_URGENT;
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, SAMPLE + CERTIFICATE_DELAY_WEAK_NS + 1);
	is_verdict(SYNCREAD_DELAYED, "with nice -20 it must come earlier");
}

static void check_resumed(void)
{
	struct certificate_copy copy = usual();

	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(1, X, T, true, ENDED - 500);
	leaves(0, R, X, false, BACK);
	is_verdict(SYNCREAD_RESUMED, "the thread ran on another CPU before the copy's end");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, T, false, BEGUN + 100);
	leaves(0, T, R, true, BEGUN + 200);
	is_verdict(SYNCREAD_RESUMED, "the reader blocked during the copy, and the thread ran");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, X, true, BEGUN + 100);
	leaves(0, X, R, false, BEGUN + 200);
	leaves(0, R, T, false, BACK);
	is_verdict(SYNCREAD_CERTIFIED, "another thread ran during the copy: no harm");
}

static void check_unwatched(void)
{
	struct certificate_copy copy = usual();

	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, T, false, BACK);
	is_verdict(SYNCREAD_CERTIFIED, "a CPU without records: the thread followed the reader directly");
	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, X, false, BACK);
	leaves(0, X, T, false, BACK + 1000);
	is_verdict(SYNCREAD_UNWATCHED, "  it did not: it may have run there");
	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, X, false, BACK);
	is_verdict(SYNCREAD_UNWATCHED, "  it was not seen again");
	begin();
	certificate_watch(certificate, 0, false, LEFT);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	is_verdict(SYNCREAD_UNWATCHED, "records of the CPU of the sample end before the copy does");
	begin();
	certificate_watch(certificate, 1, true, SAMPLE + 1);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, X, false, BACK);
	is_verdict(SYNCREAD_UNWATCHED, "records of another CPU begin after the sample");
	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	certificate_watch_arrivals(certificate, 1, true, 10);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, X, false, BACK);
	is_verdict(SYNCREAD_CERTIFIED, "a CPU with records of arrivals alone: the thread did not arrive");
	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	certificate_watch_arrivals(certificate, 1, true, 10);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	certificate_arrive(certificate, 1, T, ENDED - 1);
	is_verdict(SYNCREAD_RESUMED, "  it arrived before the copy's end");
	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	certificate_watch_arrivals(certificate, 1, true, 10);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	certificate_arrive(certificate, 1, X, ENDED - 1);
	certificate_arrive(certificate, 1, T, ENDED);
	is_verdict(SYNCREAD_CERTIFIED, "  another thread did, and it came after the end");
	begin();
	certificate_watch(certificate, 1, false, SAMPLE);
	certificate_watch_arrivals(certificate, 1, true, 10);
	certificate_watch_arrivals(certificate, 1, false, ENDED);
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, X, false, BACK);
	is_verdict(SYNCREAD_UNWATCHED, "  records of arrivals end before the copy does");
	begin();
	certificate_add(certificate, &copy);
	certificate_without(certificate, 0);
	is_verdict(SYNCREAD_UNWATCHED, "the CPU went offline");
}

static void check_lost(void)
{
	struct certificate_copy copy = usual();

	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	certificate_lose(certificate, SAMPLE - 1);
	leaves(0, T, R, true, LEFT);
	leaves(0, R, T, false, BACK);
	is_verdict(SYNCREAD_LOST, "records were lost before the copy is decided");
	begin();
	leaves(0, R, T, false, ASLEEP);
	certificate_add(certificate, &copy);
	leaves(0, T, R, true, LEFT);
	certificate_lose(certificate, LEFT + 1);
	is_verdict(SYNCREAD_LOST, "  after the switch");
	begin();
	certificate_lose(certificate, SAMPLE);
	certificate_add(certificate, &copy);
	is_verdict(SYNCREAD_LOST, "records up to the sample may be lost");
	begin();
	leaves(0, X, T, false, SAMPLE + 1000);
	certificate_add(certificate, &copy);
	is_verdict(SYNCREAD_LATE, "a copy that comes after the records of its time");
}

/* Many copies of two CPUs, decided in one go; verdicts are taken in another order, and forgotten. */
static void check_many(void)
{
	enum { N = 20000 };
	struct certificate_copy copy = usual();
	unsigned certified = 0, absent = 0;

	begin();
	for (uint64_t i = 0; i < N; i++) {
		uint64_t at = i * 100000;
		uint32_t cpu = i & 1;

		leaves(cpu, cpu ? R2 : R, T, false, at + ASLEEP);
		copy.cpu = cpu;
		copy.reader = cpu ? R2 : R;
		copy.waited = at + WAITED;
		copy.time = at + SAMPLE;
		copy.begun = at + BEGUN;
		copy.ended = at + ENDED;
		certificate_add(certificate, &copy);
		leaves(cpu, T, cpu ? R2 : R, true, at + LEFT);
	}
	certificate_advance(certificate, UINT64_MAX / 2);
	for (uint64_t i = N; i-- > 0;)
		if (i % 3)
			certified +=
				certificate_take(certificate, T, i * 100000 + SAMPLE).verdict == SYNCREAD_CERTIFIED;
	is_u64(certified, N - (N + 2) / 3, "20,000 copies: two thirds are taken");
	certificate_expire(certificate, N / 2 * 100000);
	for (uint64_t i = 0; i < N; i += 3)
		absent += certificate_take(certificate, T, i * 100000 + SAMPLE).verdict == SYNCREAD_NO_COPY;
	is_u64(absent, (N / 2 + 2) / 3, "  and the old ones of the others are forgotten");
	certificate_watch(certificate, UINT32_MAX, true, 0);
	certificate_without(certificate, UINT32_MAX);
	copy.cpu = UINT32_MAX;
	copy.time = 3;
	certificate_add(certificate, &copy);
	ok(certificate_take(certificate, T, 3).verdict == SYNCREAD_NO_COPY, "a CPU number beyond all");
}

int main(void)
{
	check_usual();
	check_asleep();
	check_leave();
	check_resumed();
	check_unwatched();
	check_lost();
	check_many();
	certificate_free(certificate);
	return done();
}
