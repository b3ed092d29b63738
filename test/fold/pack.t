#!/bin/sh
# pack.t - pjpack: a packed recording folds to the same bytes without any other file, is still a perf.data of perf, and
# damage of the names is an error that is reported once.
# covers: fold/pjpack.c fold/process/packednames.c fold/perfdata/perfsection.c fold/symbolized/symbolized.c
# covers: fold/symbolized/symbolizedwriter.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch # no caches of others
export LC_ALL HOME
perf=${PJ_PERF:-perf}

cases=$top/test/fold/cases/perfdata
mkdir -p dir/tmp/pj-case
cp "$cases/load" dir/tmp/pj-case
cp "$cases/map" dir/tmp/perf-10835.map
cp "$cases/in.data" in.data

pjfold -q --symfs dir in.data >want 2>&1
pjpack -q --symfs dir -o packed in.data 2>err
is "packed: status" $? 0
is "  messages" "$(cat err)" ""
mv dir gone
pjfold -q packed >got 2>err
same "without the files: the same stacks" want got
is "  messages" "$(cat err)" ""
pjfold -q in.data >without
ok "  which the recording alone has not" sh -c '! cmp -s want without'
pjfold -q --inline packed >got 2>err
same "--inline looks for what was not packed, and loses no name" want got
pjpack -q -o again packed
same "packed again: the same bytes" packed again
pjpack -q <packed >again
same "a filter" packed again
gzip -k packed
pjfold -q packed.gz >got
same "in gzip" want got
size=$(wc -c <packed)
plain=$(wc -c <in.data)
ok "names need little: $plain and $size bytes" [ $((size - plain)) -lt 4000 ]

# ---- a stack copy, which pjfold unwinds by tables of files
walk=$top/test/corpus/recording/odd-walk.data
pjfold -q --symfs "$top/test/fuzz/symfs" "$walk" >want 2>/dev/null
pjpack -q --symfs "$top/test/fuzz/symfs" -o walked "$walk" 2>err
pjfold -q walked >got 2>/dev/null
ok "a recording with stack copies has frames that tables found" grep -q 'with_frame;' want
same "  and so has the packed one, without the tables" want got
ok "  which the recording alone has not" sh -c '! pjfold -q "$1" 2>/dev/null | cmp -s want -' - "$walk"

# ---- perf
if "$perf" --version >/dev/null 2>&1; then
	"$perf" script -f --symfs /nonexistent -i in.data >plain.txt 2>/dev/null
	"$perf" script -f --symfs /nonexistent -i packed >packed.txt 2>err
	ok "perf script reads it" test -s packed.txt
	same "  as the original" plain.txt packed.txt
	for file in in.data packed; do "$perf" report -f --stdio --header-only -i "$file" 2>/dev/null | grep -v 'captured on\|data size\|file size' >"$file.header"; done
	same "perf report: the same header" in.data.header packed.header
else
	skip "perf script" "perf is not installed"
fi

# ---- damage
# at OFFSET BYTES FILE: writes bytes at an offset from the end
at()
{
	printf '%b' "$2" | dd of="$3" bs=1 seek=$(($(wc -c <"$3") - $1)) conv=notrunc 2>/dev/null
}
pjfold -q in.data >want
cp packed bad
at 40 '\377\0\377\0' bad
pjfold -q bad >got 2>err
is "damaged names: status" $? 1
ok "  are reported with their place" grep -q '^pjfold: bad@[0-9]*: the stored names are [a-z]*; 1 record is not used$' err
same "  and none is used" want got
head -c $((size - 100)) packed >truncated
pjfold -q truncated >got 2>err
is "a truncated file: status" $? 1
same "  and no name is used" want got

# ---- refusals
pjrecord_pipe=$top/test/corpus/perfdata
pipe=$(find "$pjrecord_pipe" "$top/test/fold/cases" -type f -size +1k | while read -r f; do
	if [ "$(od -A n -t x1 -N 16 "$f" | tr -d ' \n')" = 50455246494c45321000000000000000 ]; then echo "$f"; fi
done | head -n 1)
if [ -n "$pipe" ]; then
	pjpack -o no "$pipe" 2>err
	is "pipe mode: status" $? 1
	ok "  and why" grep -q 'is in pipe mode' err
	ok "  no output" [ ! -e no ]
else
	skip "pipe mode" "no such file"
fi
echo "a;b 1" >folded
pjpack -o no folded 2>err
is "folded text: $(cat err)" $? 1
pjpack -o no in.data packed 2>err
is "two recordings" $? 2
pjpack -q -o /dev/full in.data 2>err
is "a full disk" $? 1
head -c $((plain / 2)) in.data >half
pjpack -o no half 2>err
is "an unfinished recording: status" $? 1
ok "  no output" [ ! -e no ]
# as pjrecord leaves it between two flushes: the size of the data is right, the feature bits are not written
cp "$top/test/corpus/perfdata/pj.data" flushed && dd if=/dev/zero of=flushed bs=1 seek=72 count=32 conv=notrunc 2>/dev/null
pjpack -o no flushed 2>err
is "a recording that pjrecord has not completed: status, message" "$? $(grep -c 'did not complete it' err)" "1 1"
ok "  no output" [ ! -e no ]
done_testing
