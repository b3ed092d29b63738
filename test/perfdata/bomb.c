/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bomb - small inputs that would cost much time or memory if anything grew faster than the input: bomb KIND [N], on stdout.
 *
 *	maps       N mappings of one process, each before all others
 *	forks      a process with 20000 mappings, N children that each map one thing more
 *	build-ids  N mappings and N build-ids of other files
 *	zstd       N MB of nothing, compressed
 *	script     perf script text of N events
 */
#include "common/perfrecord.h"
#include "diag.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#ifdef PJ_ZSTD
#include <zstd.h>
#endif

static struct text t;

static void u32(uint64_t v)
{
	uint32_t x = (uint32_t)v;

	text_bytes(&t, &x, sizeof(x));
}

static void u64(uint64_t v)
{
	text_bytes(&t, &v, sizeof(v));
}

static void string(const char *s)
{
	size_t n = strlen(s) + 1;

	text_bytes(&t, s, n);
	text_bytes(&t, "\0\0\0\0\0\0\0", -n % 8);
}

static size_t begin(uint32_t type, unsigned misc)
{
	size_t start = t.n;

	u32(type);
	u32(misc);
	return start;
}

static void end(size_t start)
{
	uint16_t n = (uint16_t)(t.n - start);

	memcpy(t.p + start + 6, &n, sizeof(n));
}

static uint64_t now = 1000000;

static void trailer(uint32_t pid)
{
	u32(pid);
	u32(pid);
	u64(++now);
	u64(0);
}

static void put_mmap(uint32_t pid, uint64_t address, uint64_t size, const char *path)
{
	size_t start = begin(RECORD_MMAP, 2);

	u32(pid);
	u32(pid);
	u64(address);
	u64(size);
	u64(0);
	string(path);
	trailer(pid);
	end(start);
}

static void put_fork(uint32_t pid, uint32_t parent)
{
	size_t start = begin(RECORD_FORK, 0);

	u32(pid);
	u32(parent);
	u32(pid);
	u32(parent);
	u64(now);
	trailer(pid);
	end(start);
}

static void put_build_id(uint64_t i)
{
	char path[40];
	size_t start = begin(RECORD_BUILD_ID, 2);

	u32(UINT32_MAX);
	for (unsigned k = 0; k < 3; k++)
		u64(i);
	snprintf(path, sizeof(path), "/other/%llu", (unsigned long long)i);
	string(path);
	end(start);
}

static void put_sample(uint32_t pid, uint64_t ip, uint64_t id)
{
	size_t start = begin(RECORD_SAMPLE, 2);

	u64(ip);
	u32(pid);
	u32(pid);
	u64(++now);
	u64(id);
	end(start);
}

static void put_attr(uint64_t event)
{
	struct perf_event_attr a = { .type = PERF_TYPE_RAW, .size = sizeof(a), .config = event, .sample_period = 1, .sample_id_all = 1,
				     .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID };

	text_bytes(&t, &a, sizeof(a));
}

static void put_events(uint64_t n)
{
	text_add(&t, PERF_MAGIC);
	u64(PERF_PIPE_HEADER);
	for (uint64_t i = 0; i < n; i++) {
		size_t start = begin(RECORD_ATTR, 0);

		put_attr(i);
		u64(1 + i);
		end(start);
	}
}

static void put_round(void)
{
	end(begin(RECORD_FINISHED_ROUND, 0));
}

static void maps(uint64_t n)
{
	put_events(1);
	for (uint64_t i = 0; i < n; i++)
		put_mmap(7, 0x7f0000000000 - i * 0x2000, 0x1000, "/x");
	put_sample(7, 0x7f0000000000, 1);
}

static void forks(uint64_t n)
{
	put_events(1);
	for (uint64_t i = 0; i < 20000; i++)
		put_mmap(7, 0x10000 + i * 0x2000, 0x1000, "/x");
	for (uint64_t i = 0; i < n; i++) {
		uint32_t pid = (uint32_t)(100 + i);

		put_fork(pid, 7);
		put_mmap(pid, 0x5000, 0x1000, "/x");
		put_sample(pid, 0x5000, 1);
		if (i % 4096 == 0)
			put_round();
	}
}

static void build_ids(uint64_t n)
{
	char path[40];

	put_events(1);
	for (uint64_t i = 0; i < n; i++) {
		put_build_id(i);
		snprintf(path, sizeof(path), "/x/%llu", (unsigned long long)i);
		put_mmap(7, 0x10000 + i * 0x2000, 0x1000, path);
	}
	put_sample(7, 0x10000, 1);
}

static void zstd(uint64_t n)
{
#ifdef PJ_ZSTD
	struct text all = t, records = { 0 };
	char room[PERF_RECORD_MAX - 8 - 65536 / 256];
	ZSTD_CCtx *z = ZSTD_createCCtx();

	put_events(1);
	all = t;
	t = (struct text){ 0 };
	while (t.n < 1 << 20)
		end(begin(40, 0)); /* of a kind that is not known */
	records = t;
	t = all;
	for (uint64_t i = 0; i < n; i++) {
		ZSTD_inBuffer in = { records.p, records.n, 0 };

		while (in.pos < in.size) {
			ZSTD_outBuffer out = { room, sizeof(room), 0 };
			size_t start = t.n;

			ZSTD_compressStream2(z, &out, &in, ZSTD_e_continue);
			if (!out.pos)
				continue;
			begin(RECORD_COMPRESSED, 0);
			text_bytes(&t, room, out.pos);
			end(start);
		}
	}
	ZSTD_freeCCtx(z);
	text_free(&records);
#else
	(void)n;
	die("built without libzstd");
#endif
}

static void script(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		text_printf(&t, "x 7 1.%06llu: event%llu: \n\t  401000 f+0x1 (/x)\n\n", (unsigned long long)i % 1000000, (unsigned long long)i);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*put)(uint64_t n);
		uint64_t n;
	} kind[] = { { "maps", maps, 1000000 }, { "forks", forks, 50000 }, { "build-ids", build_ids, 400000 }, { "zstd", zstd, 4000 },
		     { "script", script, 500000 } };

	diag_tool("bomb");
	for (size_t i = 0; argc > 1 && i < countof(kind); i++) {
		if (strcmp(argv[1], kind[i].name) != 0)
			continue;
		kind[i].put(argc > 2 ? strtoull(argv[2], NULL, 0) : kind[i].n);
		if (fwrite(t.p, 1, t.n, stdout) != t.n || fflush(stdout) != 0)
			die_errno("cannot write");
		text_free(&t);
		return 0;
	}
	die_usage("no such kind");
}
