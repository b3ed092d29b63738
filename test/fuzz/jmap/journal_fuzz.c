/* journal: a timeline that is there already may hold any bytes, and the JVM any code: what is written is a timeline
 * that pjfold reads. Input: which JVM, changes to its memory before each scan but the first (a place, 8 bytes; four for
 * each), a byte 0xff, then the file. */
/* full-san: 10 to 30 s with sanitizers */
/* covers: jmap/timeline/journal.c jmap/timeline/journalfile.c jmap/timeline/frameinfo.c common/nametable.c */
#include "fold/jvm/timeline.h"
#include "runtimes/hotspot/hotspot.h"
#include "jmap/timeline/journal.h"
#include "jmap/timeline/journalfile.h"
#include "common/files/fullio.h"

#include "test/fuzz/fuzz.h"
#include "test/lib/synth.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

/* Another run, or the same one, reads it. */
static void check_file(const char *path, bool all_ours)
{
	const char *why = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct timeline *t = timeline_open(fd, &why);

	MUST(fd >= 0 && t && (!all_ours || !timeline_bad(t, &why)));
	timeline_close(t);
}

/* A place that is none in its memory stands for a block: it is freed, used again, by another method, or its name is
 * gone. */
static void change_block(struct synth *synth, unsigned how)
{
	uint64_t block = synth->heap + synth->segments[how / 4 % synth->nsegments] * SYNTH_SEGMENT,
		 blob = block + synth_size(synth, "block");

	if (how % 4 < 2)
		synth_set(synth, block, "HeapBlock::Header", "_used", how % 4);
	else if (how % 4 == 2)
		synth_set(synth, blob, "nmethod", "_compile_id", 100 + how);
	else
		synth_set(synth, blob, "CodeBlob", "_name", 0);
}

static void change(struct synth *synth, struct str *changes)
{
	uint16_t place;

	for (unsigned i = 0; i < 4 && changes->n >= 10; i++) {
		memcpy(&place, changes->p, 2);
		if (place >= SYNTH_BYTES)
			change_block(synth, place - SYNTH_BYTES);
		else if (place + 8u <= synth->n)
			memcpy(synth->byte + place, changes->p + 2, 8);
		*changes = str_from(*changes, 10);
	}
}

static void scan(struct journal *journal, struct journalfile *file, struct synth *synth, bool *failed)
{
	const struct memory_part blob = synth_part(synth);
	struct journalfile_scan change;
	struct text records = { 0 };
	struct hotspot h;
	struct hotspot_reason r = hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	int fd = memfd_create("records", MFD_CLOEXEC);

	if (!r.code)
		r = journal_scan(journal, &h, &records);
	MUST(!r.code || (strcmp(r.code, "gone") != 0 && records.n == 0));
	MUST(fd >= 0 && fullio_write(fd, text_view(&records)));
	change = (struct journalfile_scan){ journal->came, journal->went, journal->before, journal->before_ns };
	MUST(r.code || journalfile_append(file, &change, fd, records.n));
	close(fd);
	text_free(&records);
	*failed = *failed || r.code;
	hotspot_close(&h);
}

static void follow(struct synth *synth, const struct jvm_process *process, struct str changes)
{
	struct journal t = { 0 };
	struct journalfile file;
	struct text map = { 0 };
	bool failed = false;
	const char *why = journalfile_open(&file, fuzz_folder_path, process, &(struct tenant){ TENANT_USER, 1000 },
					   synth->jdk == SYNTH_8 ? "8" : "17+1 \n");

	MUST(!why);
	for (unsigned i = 0; i < 5; i++) {
		scan(&t, &file, synth, &failed);
		if (i == 1 && changes.n & 1) {
			MUST(journalfile_begin_anew(&file) && journalfile_begin_anew(&file));
			journal_begin_anew(&t);
		}
		change(synth, &changes);
	}
	for (unsigned style = METHOD_HOTSPOT; style <= METHOD_FLAMEGRAPH; style++)
		journal_map(&t, (enum method_style)style, SIZE_MAX, &map);
	journalfile_close(&file, changes.n == 0);
	journal_free(&t);
	text_free(&map);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static const unsigned jdks[] = { SYNTH_8, SYNTH_17, SYNTH_21, SYNTH_25 };
	struct jvm_process p = { .folder = -1, .pid = 77, .inner = 1, .start = 12345, .kind = JVM_HOTSPOT };
	struct str rest = { (const char *)data + (n > 0), n - (n > 0) }, changes = fuzz_part(&rest);
	char boot[64] = "", path[256], name[MAPSDIR_NAME];
	struct synth s;

	MUST(fuzz_folder() >= 0 && boot_id("/proc", boot));
	synth_make(&s, jdks[n ? data[0] % 4 : 0], n ? data[0] : 0, -1);
	snprintf(path, sizeof(path), "maps/%s", boot);
	mkdirat(fuzz_folder(), "maps", 0700);
	mkdirat(fuzz_folder(), path, 0700);
	mapsdir_name(name, p.pid, p.start);
	snprintf(path, sizeof(path), "maps/%s/%s", boot, name);
	if (rest.n)
		fuzz_put(path, rest);
	if (!FUZZ_GUARD()) {
		follow(&s, &p, changes);
		snprintf(path, sizeof(path), "%s/maps/%s/%s", fuzz_folder_path, boot, name);
		check_file(path, rest.n == 0);
		follow(&s, &p, STR("")); /* a second run goes on */
		check_file(path, rest.n == 0);
	}
	nftw(fuzz_folder_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	synth_free(&s);
	return 0;
}
