/* processes, mappings, procfs: the table of processes follows any records. Mappings ascend and do not overlap, and an
 * address lies in the mapping that was put over it last, as a plain list of all of them tells. Input: a byte that
 * chooses, then a text of /proc or records of 12 bytes: kind and process, thread, place, length. */
/* covers: record/processes/processes.c record/processes/mappings.c record/processes/linktable.c */
/* covers: record/processes/procfs.c */
#include "record/processes/procfs.h"
#include "record/processes/processes.h"

#include "test/fuzz/fuzz.h"

enum { PROCESSES = 6, PUTS = 1000, PAGE = 4096 };
enum { FORK, COMM, EXEC, EXIT, MAP, MAP_SAME, FORGET, SURVEY, REPLACED, KINDS };

/* Mappings as they came, of each process; the last one over an address is the one. */
struct model {
	uint32_t pid;
	uint64_t start, length, file;
};

static struct model puts_made[PUTS]; /* a fork at most doubles them */
static unsigned nputs;

static void model_forget(uint32_t pid)
{
	for (unsigned i = 0; i < nputs; i++)
		if (puts_made[i].pid == pid)
			puts_made[i].length = 0;
}

static void model_fork(uint32_t pid, uint32_t parent)
{
	unsigned n = nputs;

	model_forget(pid);
	for (unsigned i = 0; i < n && nputs < PUTS; i++)
		if (puts_made[i].pid == parent && puts_made[i].length) {
			puts_made[nputs] = puts_made[i];
			puts_made[nputs++].pid = pid;
		}
}

static uint64_t model_file(uint32_t pid, uint64_t address)
{
	for (unsigned i = nputs; i-- > 0;)
		if (puts_made[i].pid == pid && address - puts_made[i].start < puts_made[i].length)
			return puts_made[i].file;
	return 0;
}

static void check_set(const struct mappings *set)
{
	uint64_t end = 0;
	uint32_t n = 0;

	MAPPINGS_EACH(m, set)
	{
		MUST(m->length && m->start >= end && m->file && m->file->references);
		end = m->start + m->length;
		n++;
	}
	MUST(n == set->n && n <= MAPPINGS_MAX);
	for (uint32_t i = 0; i < set->nblocks; i++)
		MUST(set->block[i]->n > 0 && set->block[i]->n <= MAPPINGS_BLOCK && set->block[i]->references);
}

static void count_one(void *to, struct process *process)
{
	MUST(process->pid);
	++*(size_t *)to;
}

static void check(struct processes *processes, bool modelled)
{
	struct processes_counts c = processes_count(processes);
	size_t n = 0;

	processes_each(processes, count_one, &n);
	MUST(n == c.processes);

	for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
		const struct process *process = processes_find(processes, pid);

		if (process && process->maps)
			check_set(process->maps);
		for (uint64_t page = 0; page < 280 && modelled; page++) {
			const struct mapping *m = processes_at(process, page * PAGE);

			MUST((m ? m->file->file_id.inode : 0) == model_file(pid, page * PAGE));
		}
	}
	MUST(c.processes <= 2 * PROCESSES + 2 && c.files <= c.mappings);
}

static void map(struct processes *processes, uint32_t pid, const uint8_t *r, bool same)
{
	struct mapping m = { .start = r[2] * (uint64_t)PAGE,
			     .length = (1 + r[3] % 32) * (uint64_t)PAGE,
			     .offset = same ? 0 : r[4] };
	struct mapped_file f = { .file_id.inode = 1 + r[5] % 8,
				 .protection = 5,
				 .flags = 2,
				 .path = r[6] & 1 ? STR("/x/libjvm.so") : STR("/x/file") };
	enum mappings_answer a;

	if (r[7] == 0xff)
		m.length = 0;
	if (r[7] == 0xfe)
		m.start = UINT64_MAX - PAGE;
	a = processes_map(processes, pid, &m, &f);
	MUST((a == MAPPINGS_BAD) == (m.length == 0 || m.start + m.length < m.start) && a != MAPPINGS_OVER);
	if (a == MAPPINGS_CHANGED && nputs < PUTS)
		puts_made[nputs++] = (struct model){ pid, m.start, m.length, f.file_id.inode };
}

static void one(struct processes *processes, const uint8_t *r, uint64_t ns)
{
	uint32_t pid = 1 + r[1] % PROCESSES, other = 1 + r[2] % PROCESSES, tid = r[3] & 1 ? pid : 100u + r[4] % 8u;

	processes_time(processes, ns);
	switch (r[0] % KINDS) {
	case FORK:
		if (tid == pid && other != pid) {
			model_fork(pid, other);
			processes_fork(processes, pid, other, pid, other);
		} else {
			processes_fork(processes, pid, pid, tid, pid);
		}
		break;
	case COMM: processes_comm(processes, pid, tid, (struct str){ (const char *)r, r[5] % 12 }, false); break;
	case EXEC:
		processes_comm(processes, pid, pid, STR("program with a long name"), true);
		model_forget(pid);
		break;
	case EXIT: processes_exit(processes, pid, tid, ns); break;
	case MAP: map(processes, pid, r, false); break;
	case MAP_SAME: map(processes, pid, r, true); break;
	case FORGET: processes_forget(processes, r[4] & 1 ? ns / 2 : 0); break;
	case SURVEY:
		processes_mark_stale(processes);
		for (unsigned i = 0; i < 8; i++)
			if (r[4] >> i & 1)
				processes_scanned(processes, 1 + i % PROCESSES, 1 + i % PROCESSES);
		processes_doubted(processes, r[5] & 1 ? ns : 0);
		break;
	case REPLACED:
		if (processes_find(processes, pid)) {
			processes_replaced(processes, processes_make(processes, pid));
			model_forget(pid);
		}
		break;
	default: break;
	}
}

static void records(const uint8_t *data, size_t n)
{
	struct processes *p = processes_new(NULL);
	bool forgotten = false;

	nputs = 0;
	for (size_t at = 0; at + 12 <= n && nputs < PUTS / 2; at += 12) {
		one(p, data + at, at + 1);
		forgotten |= data[at] % KINDS == FORGET || data[at] % KINDS == SURVEY || data[at] % KINDS == EXIT;
		if (at % (12 * 16) == 0)
			check(p, !forgotten); /* what ended is in the list still */
	}
	check(p, !forgotten);
	processes_forget(p, UINT64_MAX);
	processes_free(p);
}

/* A process maps what the text has. */
static void maps_text(struct str text)
{
	struct processes *p = processes_new(NULL);

	while (text.n) {
		struct str line = str_cut(&text, '\n');
		struct mapping m = { 0 };
		struct mapped_file f = { 0 };

		if (!procfs_parse_map(line, &m, &f))
			continue;
		MUST(m.length && f.path.n && f.protection & 4);
		(void)processes_map(p, 1, &m, &f);
	}
	check(p, false);
	processes_free(p);
}

static void other_texts(struct str text)
{
	struct process self = { .pid = (uint32_t)getpid() };
	uint64_t *idle;
	size_t n;

	(void)procfs_parse_start(text);
	(void)procfs_has_user_stacks(text);
	idle = procfs_parse_idle(text, &n);
	MUST(n <= 65536 && (n > 0) == (idle != NULL));
	free(idle);
	free(procfs_idle(&n));
	procfs_identify(&self);
	MUST(self.start_ticks && self.inner_pid && self.mount_ns == procfs_own_mount_ns());
}

int fuzz_one(const uint8_t *data, size_t n)
{
	if (n && data[0] % 4 == 0)
		maps_text((struct str){ (const char *)data + 1, n - 1 });
	else if (n && data[0] % 4 == 1)
		other_texts((struct str){ (const char *)data + 1, n - 1 });
	else if (n)
		records(data + 1, n - 1);
	return 0;
}
