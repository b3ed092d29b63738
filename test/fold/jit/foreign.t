#!/bin/sh
# foreign.t - damage in the files of others that tell names, maps of JITs and jitdumps: told with its place, counted, and a status
# only for who asks for one.
# covers: fold/jit/perfmap.c fold/jit/jitdump.c fold/samples/inputerrors.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write

have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"
"$write" odd=1 seed=30 rounds=0 samples=300 >in.data
cp -r "$top/test/fuzz/symfs" files
map=files/tmp/perf-101.map
dump=files/tmp/jit-100.dump

# fold: out, err, status
fold()
{
	pjfold --symfs files "$@" in.data >out 2>err
	status=$?
}

fold
cp out whole
is "nothing is damaged" "$status $(grep -c 'not used' err)" "0 0"
ok "  the map is asked" grep -q 'two_words_\[j\]\|three_\[j\]\|Klass' out
fold --strict
is "  --strict agrees" "$status" 0

sed -i '2i no number' "$map"
echo 'zz' >>"$map"
fold
is "lines of a map: status" "$status" 0
is "  told with place and count" "$(sed -n 's/.*\(files.*perf maps.*\)/\1/p' err)" \
	"files/tmp/perf-101.map:2: line without a start address; 2 lines of perf maps are not used"
same "  what is good is used" whole out
pjfold -j 4 --symfs files in.data 2>&1 >/dev/null | grep 'perf maps' >threads
grep 'perf maps' err >one
same "  the same for any number of threads" one threads
fold --strict
is "  --strict: status" "$status" 1
cp "$top/test/fuzz/symfs/tmp/perf-101.map" "$map"

yes zz | head -n 1000000 >>"$map"
fold
is "a map with a million bad lines: told" "$status $(sed -n 's/.*; \([0-9]* lines of perf maps.*\)/\1/p' err)" "0 1000000 lines of perf maps are not used"
same "  what is good is used" whole out
truncate -s 100G "$map"
timeout 20 pjfold --symfs files in.data >out 2>err
is "a sparse map of 100 GB: over soon" "$?" 0
ok "  told" grep -q 'files/tmp/perf-101.map is larger than 1 GB: only its end is read; ' err
rm "$map"
pjfold -q --symfs files in.data >none 2>err
ok "without a map there are fewer names" not cmp -s none whole
mkfifo "$map"
timeout 20 pjfold -q --symfs files in.data >out 2>err
is "a FIFO for a map: status" "$?" 0
same "  is none" none out
rm "$map"
ln -s "$top/test/fuzz/symfs/tmp/perf-101.map" "$map"
pjfold -q --symfs files in.data >out 2>err
same "a link for a map is not followed" none out
rm "$map"
cp "$top/test/fuzz/symfs/tmp/perf-101.map" "$map"

size=$(stat -c %s "$dump")
head -c $((size - 20)) "$top/test/fuzz/symfs/tmp/jit-100.dump" >"$dump"
fold
is "a jitdump that ends early: status" "$status" 0
ok "  told with place and count" grep -q 'files/tmp/jit-100.dump@[0-9]*: incomplete last record; 1 record of jitdumps is not used' err
fold --strict
is "  --strict: status" "$status" 1
echo nothing >"$dump"
fold
is "no jitdump at all: status" "$status" 0
ok "  told" grep -q 'files/tmp/jit-100.dump: too short for a jitdump; 1 record of jitdumps is not used' err
rm "$dump"
mkfifo "$dump"
ok "a FIFO in its place" timeout 20 pjfold -q --symfs files in.data
done_testing
