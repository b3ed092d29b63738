#!/bin/sh
# heat.t - pjheat as a filter: what the file has, messages, status, and inputs of strangers; the times of pjfold --time-slice.
# covers: svg/pjheat.c svg/facts.c svg/heatpicture.c svg/heat/slots.c svg/heat/heatrows.c svg/heat/heatmap.c svg/heat/markers.c fold/slices.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
have pjheat && have pjsvg && have pjfold || skip_all 'not built'

awk 'BEGIN { for (i = 0; i < 1500; i++) if (i % 50 < 30 || i % 50 >= 40)
	printf "%.2f;app;main;%s %d\n", 100 + i / 50, i % 50 < 5 ? "compact_[j]" : "serve", i % 3 + 1 }' >in.folded
pjheat in.folded >a.svg 2>err
is 'status' $? 0
ok '  without a message' [ ! -s err ]
if have xmllint; then ok '  well-formed' xmllint --huge --noout a.svg; fi
ok '  columns of 1 s, slots of 20 ms' grep -q '"slot":20000000,"rows":50,"columns":30,' a.svg
ok '  the static picture has the map and its legend' grep -q 'columns of 1 s, slots of 20 ms' a.svg
ok '  there is nothing from elsewhere' not grep -nE '(href|src)=|@import|url\(' a.svg
pjsvg --unpack a.svg >unpacked
sed 's/^[^;]*;//' in.folded | pjfold -q >want
same '  pjsvg extracts the stacks of all times' want unpacked
pjheat <in.folded >b.svg
same '  standard input gives the same bytes' a.svg b.svg
sort -r in.folded | pjheat >b.svg
same '  so does any order of lines' a.svg b.svg
split -l 500 in.folded part-
pjheat part-ac part-aa part-ab >b.svg
same '  and any files' a.svg b.svg
pjheat -o c.svgz in.folded
gzip -dc c.svgz | cmp -s a.svg -
is '  and a compressed file' $? 0

want=$(awk '/<script><!\[CDATA\[/ { on = 1; sub(/.*<!\[CDATA\[/, "") } /^\]\]><\/script>/ { on = 0 } on' a.svg | sha256sum | cut -d' ' -f1)
is 'the hash is that of its script' "$(pjheat --csp-hash | sed 's/^sha256-//' | base64 -d | od -An -v -tx1 | tr -d ' \n')" "$want"
pjsvg in.folded >plain.svg
ok 'a picture of pjsvg has no code for time' not grep -qE 'pj-hm|pj-t"|"heat"' plain.svg
# the script that a heat map adds
grown=$(($(sh "$top/svg/viewer/assemble" heat.js | gzip -9c | wc -c) - $(sh "$top/svg/viewer/assemble" viewer.js | gzip -9c | wc -c)))
ok "time takes at most 12 kB of script, compressed ($grown)" [ "$grown" -gt 1000 -a "$grown" -le 12288 ]

# the windows of pjfetch --by=time
printf '2026-11-26T20:38:45Z;a 5\n2026-11-26T20:38:50Z;a 5\n2026-11-26T20:38:55Z;b 7\n' | pjheat >utc.svg 2>err
ok 'times in UTC are times of stacks: no message' [ ! -s err ]
ok '  a window of 5 s is a slot' grep -q '"slot":5000000000,"rows":60,"columns":1,"origin":1795725300' utc.svg

# losses and gaps
printf '1.00;a 3\n1.02;[lost] 5\n9.98;a 2\n200.00;a 1\n' | pjheat >lost.svg
ok 'losses are in the legend' grep -q 'tspan> samples lost' lost.svg
ok '  and in the facts' grep -q '5 lost' lost.svg
ok 'a long gap is one column' grep -q '"runs":\[\[0,9,0\],\[10,1,199\]\]' lost.svg
ok 'without losses there is no legend of them' not grep -q 'tspan> samples lost' a.svg

printf '# pj unit=samples lost=9\n1.00;a 3\n1.02;[lost] 5\n' | pjheat >lost.svg
ok 'losses without a time are in the facts, too' grep -q '9 lost' lost.svg
printf '1;a 1\n%sé;b 1\n' 12345678901234567890123456789012345678901234567890123456789 | pjheat >x.svg 2>err
ok 'a cut name is UTF-8' iconv -f UTF-8 -t UTF-8 err

# rows for hosts
awk 'BEGIN { for (t = 0; t < 3600; t += 5) { if (t < 900 || t >= 1800) print 100000 + t ";web1;app;serve 3"; print 100000 + t ";db;sql 9" }
	print "100005;[lost] 4" }' >rows.folded
pjheat --rows=host rows.folded >rows.svg 2>err
is 'rows: status' "$? $(cat err)" '0 '
if have xmllint; then ok '  well-formed' xmllint --huge --noout rows.svg; fi
ok '  a column is a slot, at least 5 s; the heaviest row is the last' grep -q '"slot":5000000000,"rows":3,"columns":720,.*"label":"host","names":\["lost samples","web1","db"\]' rows.svg
ok '  the static picture has their names' grep -q '>web1</text>' rows.svg
ok '  missing time is in the legend' grep -q 'hatched: no samples in 10 columns or more' rows.svg
awk 'BEGIN { for (t = 1795747987; t < 1795749900; t += 60) print t ";h1;a 5\n" t ";h2;b 7" }' >minutes
pjheat --rows=host minutes >minutes.svg 2>err
ok '  windows of 60 s in columns of 5 s are no missing time' grep -q 'hatched: no samples in 24 columns or more' minutes.svg
printf '3;h1;a 2\n6;h2;b 3\n12;h1;a 4\n' | pjheat --rows=host >threes.svg 2>err
is '  slots of 6 s for times of 3 s are no joined slots' "$(cat err)" ''
printf '2;h1;a 2\n4;h2;b 3\n10;h1;a 4\n' | pjheat --rows=host >twos.svg 2>err
is '  slots of 6 s for times of 2 s, too' "$(cat err; grep -o '"slot":[0-9]*' twos.svg)" '"slot":6000000000'
printf '105 first\n103595 the last\n' >edge
pjheat --rows=host --markers edge rows.folded 2>/dev/null >x.svg
ok '  a label at the right edge stands before its line' grep -q 'text-anchor="end" fill="#[0-9a-f]*">⚑ [^<]*<title>the last<' x.svg
printf '1;# pj lost=9;f 3\n2;# 4\n2;a 1\n' | pjheat >comment.svg
is 'frames that would be comments are no comments of the extracted text' "$(pjsvg --unpack comment.svg | tr '\n' '|')" '_ 4|_ pj lost=9;f 3|a 1|'
sort -r rows.folded | pjheat --rows=host >b.svg
same '  any order of lines gives the same bytes' rows.svg b.svg
pjsvg --unpack rows.svg >unpacked
sed '/\[lost\]/d; s/^[^;]*;//' rows.folded | pjfold -q >want
same '  pjsvg extracts the stacks' want unpacked
awk 'BEGIN { s = "<b>&\033\303"; while (length(s) < 65000) s = s s
	for (i = 0; i < 10000; i++) printf "%d;c%d;f 1\n", 5 * (i % 100), i; printf "5;%s;f 900\n", s }' | pjheat --rows='<i>container' >x.svg 2>err
is '10,000 containers and a name of 64 kB: status' $? 0
ok '  the lightest share a row' grep -q '"names":\["9,977 others",' x.svg
if have xmllint; then ok '  well-formed' xmllint --huge --noout x.svg; fi
printf '5;kubepods-burstable-frontend-eu-1;f 1\n' | pjheat --rows=pod >x.svg
ok 'a long name keeps its end' grep -q '>kubepods…frontend-eu-1<title>kubepods-burstable-frontend-eu-1</title>' x.svg

# markers
cat >markers <<'EOF'
# deployments
100.5	deploy 1.2
112 cron
112.02	<script>alert(1)</script>&]]>

99 too early
2026-11-26T20:38:45Z of another clock
junk
EOF
pjheat --markers markers in.folded >marked.svg 2>err
is 'markers: status' $? 0
is '  what is left out is counted' "$(cat err)" 'pjheat: markers:8: no time and label (2026-11-26T20:38:45Z deploy 1.2); 1 of 6 lines left out for this reason
pjheat: markers: 2 of 5 markers left out: they are before or after the samples, whose times are not of the wall clock'
ok '  the data has their slot and their time' grep -q '"markers":\[\[25,500000000,"deploy 1.2"\],\[600,12000000000,"cron"\],\[601,12020000000,"&lt;script&gt;alert(1)&lt;/script&gt;&amp;\]\]&gt;"\]\],"unmarked":2' marked.svg
ok '  the static picture has a label' grep -q '⚑ deploy 1.2<title>' marked.svg
ok '  and the number' grep -q '⚑ 3 markers, 2 not shown' marked.svg
if have xmllint; then ok '  well-formed' xmllint --huge --noout marked.svg; fi
is '  labels are no markup: elements of script' "$(grep -c '<script' marked.svg)" "$(grep -c '<script' a.svg)"
sed 's/\(.*\)/\1\r/' markers >crlf
pjheat --markers crlf in.folded 2>/dev/null >b.svg
same '  lines that end with CR LF are the same' marked.svg b.svg
gzip -c markers >markers.gz
pjheat --markers markers.gz in.folded 2>/dev/null >b.svg
same '  a compressed file, too' marked.svg b.svg
ok 'without markers there is no trace of them' not grep -qE '⚑ |"markers"' a.svg
printf '2026-11-26 21:38:50 local\n2026-11-26T21:38:50+01:00 zone\n2026-11-26T20:38:50Z utc\n@1795725530 seconds\n2026-11-26 17:38:50 -0300 git\n' >when
printf '2026-11-26T20:38:45Z;a 5\n2026-11-26T20:38:55Z;b 7\n' | TZ=CET-1CEST,M3.5.0,M10.5.0/3 pjheat --markers when >x.svg 2>err
is 'times of the clock, in local time without a zone' "$(cat err; grep -o '"markers":.*"unmarked"' x.svg)" '"markers":[[46,230000000000,"local"],[46,230000000000,"zone"],[46,230000000000,"utc"],[46,230000000000,"seconds"],[46,230000000000,"git"]],"unmarked"'
printf '2026-11-26T20:38:50.5Z deploy\n2026-11-26T20:38:51Z 5 function calls in 2 s\n' >when
printf '2026-11-26T20:38:45Z;a 5\n2026-11-26T20:38:55Z;b 7\n' | pjheat --markers when >x.svg 2>err
is 'markers that look like text of a profiler' "$? $(cat err; grep -o '"markers":.*"unmarked"' x.svg)" '0 "markers":[[46,230500000000,"deploy"],[46,231000000000,"5 function calls in 2 s"]],"unmarked"'
awk 'BEGIN { s = "x"; while (length(s) < 65000) s = s s; print "101 " s "\n" s " 1\n" s; for (i = 0; i < 100000; i++) print 100 + i % 20 " m" i }' >many
pjheat --markers many in.folded >x.svg 2>err
is '100,000 markers: status' $? 0
ok '  200 of them' grep -q '^pjheat: many: 99801 markers left out: a map has at most 200$' err
ok '  take little space' [ "$(wc -c <x.svg)" -lt $(($(wc -c <a.svg) + 20000)) ]
pjheat --markers many in.folded 2>/dev/null >b.svg
same '  the same bytes each time' x.svg b.svg
: >none
pjheat --markers none in.folded >x.svg 2>err
is 'an empty file' "$? $(cat err)" '0 '
pjheat --markers gone in.folded >x.svg 2>err
is 'a missing file' "$? $(wc -c <x.svg) $(grep -c 'gone' err)" '1 0 1'
pjheat --markers - <in.folded >x.svg 2>err
is 'standard input has the stacks' $? 2

printf PERFILE2 | pjheat >x.svg 2>err
is 'perf.data is refused' $? 1
ok '  with the command that draws it' grep -q 'pjfold --time-slice 0.02 FILE | pjheat > heat.svg' err

# what has no times
pjsvg --unpack a.svg >untimed
pjheat untimed >x.svg 2>err
is 'stacks without times: status' $? 1
ok '  the message has the command' grep -q '^pjheat: no stack begins with a time .*pjfold --time-slice' err
ok '  the picture is complete' grep -q '</svg>' x.svg
cat in.folded untimed | pjheat >x.svg 2>err
is 'some without times: status' $? 0
is '  they are counted' "$(cat err)" "pjheat: $(awk '{ n += $NF } END { print n }' untimed) of $(awk '{ n += $NF } END { print n }' in.folded untimed) left out: stacks without a time, such as those of 'app'"
same '  and left out' x.svg a.svg
pjheat </dev/null >x.svg 2>err
is 'an empty input: status' $? 1
is '  message' "$(cat err)" 'pjheat: no samples in the input'
printf '1;[lost] 3\n' | pjheat >x.svg 2>err
is 'only losses' "$? $(cat err)" '1 pjheat: no samples in the input, only losses'
printf '1;a 3 4\n2;a 1 1\n' | pjheat >x.svg 2>err
is 'two columns are refused' "$? $(wc -c <x.svg)" '1 0'
for slot in 0.0001 100000 x; do
	pjheat --slot=$slot in.folded >x.svg 2>err
	is "--slot=$slot: status" $? 2
done
pjheat --slot=0.1 in.folded | grep -o '"slot":[0-9]*' >got
is '--slot=0.1' "$(cat got)" '"slot":100000000'
pjheat in.folded >/dev/full 2>err
is '/dev/full' "$? $(grep -c 'No space left' err)" '1 1'

# strangers: spans, names, and more than a map holds
space=unlimited
case ${PJ_BUILD:-} in */std-*) space=200000 ;; esac # kB; sanitizers need address space
# shellcheck disable=SC3045 # dash has it
printf '0.000000001;a 1\n9223372035.999999999;b 1\n' | (ulimit -v $space; exec pjheat) >x.svg 2>err
is 'a span of 292 years: status' $? 0
ok '  takes no space' [ "$(wc -c <x.svg)" -lt 150000 ]
awk 'BEGIN { s = "x"; while (length(s) < 65000) s = s s; printf "1;%s;%s 5\n1.5;%s 2\n", s, s, s }' | pjheat >x.svg 2>err
is 'names of 64 kB: status' $? 0
if have xmllint; then ok '  well-formed' xmllint --huge --noout x.svg; fi
printf '1;</script><script>alert(1)</script>;]]> 5\n1.5;<!-- 2\n' | pjheat --title '</title><script>' >x.svg
is 'names are no markup: elements of script' "$(grep -c '<script' x.svg)" 4
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "%.2f;a;f%d 1\n", i / 20, i % 7 }' | pjheat --slot=0.05 >x.svg 2>err
is 'more slots than fit are joined' "$? $(sed 's/:.*//' err | head -n 1): $(sed 's/^[^:]*: \(slots of 50 ms are joined to slots of [0-9]* m*s\):.*/\1/' err)" \
	'0 pjheat: slots of 50 ms are joined to slots of 100 ms'
is '  and their weights added' "$(pjsvg --unpack x.svg | awk '{ n += $NF } END { print n }')" 40000

# times of a recording: the text has what the files have
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write
if [ -x "$write" ]; then
	for seconds in 1 0.25 0.001; do
		"$write" seed=3 samples=200 >in.data
		pjfold -q --time-slice $seconds --header -o 'slice-%s' in.data
		for file in slice-*; do
			awk -v time="${file#slice-}" '/^# pj/ { if (match($0, /lost=[1-9][0-9]*/)) print time ";[lost] " substr($0, RSTART + 5, RLENGTH - 5); next }
				{ print time ";" $0 }' "$file"
		done | sort >want
		pjfold -q --time-slice $seconds in.data | sort >got
		same "pjfold --time-slice $seconds: one text has the stacks and losses of the files" want got
		pjheat got >x.svg 2>err
		is '  which pjheat draws' $? 0
		rm slice-*
	done
	# a process, and code, of the name [lost]: 6 bytes, as worker
	"$write" seed=3 samples=200 | sed 's/worker\x00/[lost]\x00/g' >forged.data
	for comm in keep none; do
		pjfold -q --header --time-slice 0.25 --comm=$comm in.data >got
		pjfold -q --header --time-slice 0.25 --comm=$comm forged.data >forged
		is "comm $comm: code of the name [lost] adds no losses" "$(sed -n 's/^[^;]*;\[lost\] //p' forged | tr '\n' ' ')" "$(sed -n 's/^[^;]*;\[lost\] //p' got | tr '\n' ' ')"
		ok '  and is shown' grep -q '^[^;]*;_lost_[; ]' forged
		pjheat forged >x.svg 2>err
		is '  pjheat counts the losses of the header' "$(grep -o '[0-9]* lost' x.svg | head -n 1)" "$(sed -n '1s/.* lost=\([0-9]*\).*/\1/p' forged) lost"
	done
	printf '1.00;[lost];spin 10\n1.02;[lost] 3\n' | pjheat >x.svg
	is 'frames below [lost] are samples' "$(pjsvg --unpack x.svg)" '[lost];spin 10'

	"$write" seed=3 samples=20 sample=0x1e3 >in.data # without times
	pjfold --time-slice 1 in.data >got 2>err
	ok 'samples without a time have no false one' not grep -v '^\[no-time\];' got
	ok '  which is reported' grep -q 'samples have no time, as of perf record --no-timestamp' err
	pjheat got >x.svg 2>err
	is '  pjheat has the reason' "$? $(cat err)" '1 pjheat: the samples have no time: perf record without --no-timestamp records it'
	echo '5;a 1' >>got
	pjheat got >x.svg 2>err
	ok '  and counts them among others' grep -q "such as those of '\[no-time\]'" err
	pjfold -q --time-slice 1 --header -o 'slice-%s' in.data
	is '  their file has no time in its name' "$(echo slice-*)" 'slice-[no-time]'
	is '  nor in its header' "$(grep -c ' from=' slice-*)" 0

	pjfold -q --time-slice 1 -o both%s%s in.data 2>err
	is 'two places for the time are an error' "$? $(grep -c 'more than one %s' err)" '2 1'
	pjfold -q --time-slice 1 --min-samples 2 in.data 2>err
	is '--min-samples would join times: refused' "$? $(grep -c 'needs files' err)" '2 1'
else
	skip 'pjfold --time-slice' 'the writer is not built'
fi
done_testing
