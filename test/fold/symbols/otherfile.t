#!/bin/sh
# otherfile.t - a mapped file without build-id gives names only if device, inode and times show that the file at its path is the mapped one:
# the process has ended, and the file is replaced, written, linked, or made anew.
# stage: live
# covers: fold/symbols/dsofiles.c fold/opener/fileopener.c fold/symbols/provenance.c common/process/sandbox.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord && have pjfold || skip_all "pjrecord or pjfold is not built"
have cc || skip_all "no compiler for the loads"
timeout 60 pjrecord -q -o data -- true 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"

cat >p.c <<'X'
#include <time.h>
static volatile unsigned long sum;
#ifdef OTHER
__attribute__((noinline)) void before(void) { sum = 7; }
#endif
__attribute__((noinline)) void WORK(long n) { while (n--) sum += n * n; }
int main(int n, char **arg) { (void)arg; while (clock() < CLOCKS_PER_SEC / 2 * (n > 1 ? 200 : 1)) WORK(40000); return 0; }
X
cc -O1 -Wl,--build-id=none -DWORK=first_work -o first p.c && cc -O1 -Wl,--build-id=none -DOTHER -DWORK=other_work -o other p.c ||
	skip_all "the loads do not compile"

# record: makes the file program anew, a copy of first, and records it in data
record()
{
	rm -f program
	cp first program
	timeout 120 pjrecord -q -F 997 -o data -- ./program >out 2>err || fail "program is recorded" err
	sleep 0.1 # the clock of a file system stands still for some milliseconds
}

# named: percent of the samples in first_work; nothing may be in other_work
named()
{
	pjfold -q data >folded 2>err
	awk '/other_work/ { wrong = 1 } /first_work/ { n += $NF } { all += $NF } END { print wrong ? "wrong" : all ? int(100 * n / all) : "none" }' folded
}

why="without build-id, and the file was replaced or changed"

record
ok "the mapped file has the names" [ "$(named)" -ge 80 ]
ln program link
chmod 700 program
ok "  after a link and another mode, too" [ "$(named)" -ge 80 ]
mv program moved
cp other program
is "another file at its path has not" "$(named)" 0
pjfold --unresolved data >unresolved 2>err
ok "  the reason is shown" grep -q "program .*$why" unresolved
pjfold data >/dev/null 2>said
ok "  the sentence has it" grep -q 'program was replaced by another' said
mv moved program
ok "back at its path it has them" [ "$(named)" -ge 80 ]
rm -f link
record
cat other >program
is "a file with the same inode that was written later has not" "$(named)" 0
pjfold -q --symfs / data >folded 2>err
ok "  with --symfs its user has chosen the file" grep -q other_work folded
# A file system may give the inode of a deleted file to the next one.
record
rm -f program
touch -r first time
cp first program
touch -r time program
is "a new file of the same bytes and time of writing has not, whatever its inode" "$(named)" 0

# ---- records without inode, as those of PERF_RECORD_MMAP

cat >clear.c <<'X'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* Clears device, inode and generation in the MMAP2 records of the perf.data on standard input. */
static char data[64 << 20];
int main(void)
{
	size_t n = fread(data, 1, sizeof(data), stdin);
	uint64_t at, size, end;
	uint16_t length;
	uint32_t type;
	int cleared = 0;

	memcpy(&at, data + 40, 8);
	memcpy(&size, data + 48, 8);
	for (end = at + size; at + 64 <= end && end <= n; at += length) {
		memcpy(&type, data + at, 4);
		memcpy(&length, data + at + 6, 2);
		if (length < 8)
			return 1;
		if (type == 10) {
			memset(data + at + 40, 0, 24);
			cleared++;
		}
	}
	return !cleared || fwrite(data, 1, n, stdout) != n || fflush(stdout);
}
X
cc -O1 -o clear clear.c

# no_inode: records the program, and clears the inodes in the recording
no_inode() { record && ./clear <data >cleared && touch -r data cleared && mv cleared data || fail "inodes are cleared"; }

no_inode
ok "without inode, the unchanged file has the names" [ "$(named)" -ge 80 ]
mv program moved
cp other program
is "  another file that is made later has not" "$(named)" 0
pjfold --unresolved data >unresolved 2>err
ok "  the reason is shown" grep -q "program .*$why" unresolved
rm -f moved program
cp first program
./program long &
started=$!
timeout 60 pjrecord -q -F 997 -s 1 -p "$started" -o data >out 2>err || fail "a running program is recorded" err
./clear <data >cleared && touch -r data cleared && mv cleared data
ok "  of a process that lives, the file has the names" [ "$(named)" -ge 80 ]
sleep 0.1
mv program moved
cp other program
is "  and one that is made at its path later has not" "$(named)" 0
kill "$started"
wait "$started" 2>/dev/null
done_testing
