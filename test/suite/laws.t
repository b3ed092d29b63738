#!/bin/sh
# laws.t - what must hold for every input: identity, totals, order, threads, ways of reading, compilers.
# full-san: 100 s with sanitizers
# covers: fold/pjfold.c fold/run.c fold/script/suffixcache.c fold/script/linecache.c common/stacks.c
# covers: common/filter/in.c svg/pjsvg.c diff/pjdiff.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

# perf script text of N bytes: samples of 0 to 300 frames and lines of 20 to 4000 bytes, so that the borders of blocks fall
# everywhere: inside headers, frames, names, between samples. $2 is the seed.
script()
{
	awk -v size="$1" -v seed="$2" '
	function random(n) { seed = (seed * 16807) % 2147483647; return seed % n }
	BEGIN {
		split("http worker 12|java|t|thread 1|kworker/u8:1-events|a b  c|swapper|:-1|node 18 (x)", comm, "|")
		split("/usr/lib/libc.so.6|[kernel.kallsyms]|/tmp/perf-77.map|[unknown]|/a b/c d.so|[vdso]|/memfd:x (deleted)|inlined", dso, "|")
		for (i = 0; i < 400; i++) long = long "abcdefghij"
		while (done < size) {
			t += random(900) + 1
			line = sprintf("%s %d/%d [%03d] %d.%06d: %10d cycles:P: ", comm[1 + random(9)], 100 + random(5), 100 + random(50), random(8), t / 1000000, t % 1000000, 1 + random(100000))
			print line
			done += length(line) + 1
			depth = random(20) == 0 ? random(300) : random(25)
			for (i = 0; i < depth; i++) {
				d = dso[1 + random(8)]
				name = d == "[unknown]" ? "[unknown]" : "function_" random(40) "_" i % 7 (random(30) == 0 ? "(std::vector<int, a (b)>&)" : "")
				if (random(400) == 0) name = name substr(long, 1, random(4000))
				line = sprintf("\t%16x %s%s (%s)", 4096 + random(65536), name, random(4) ? "+0x" random(99) : "", d)
				print line
				done += length(line) + 1
			}
			print ""
			done++
		}
	}'
}

# folded text with N stacks
folded()
{
	awk -v n="$1" -v seed="$2" '
	function random(n) { seed = (seed * 16807) % 2147483647; return seed % n }
	BEGIN {
		for (i = 0; i < n; i++) {
			line = "comm_" random(5)
			for (d = random(40); d > 0; d--) line = line ";f" random(6) (random(3) ? "" : "_[k]")
			print line, 1 + random(1000)
		}
	}'
}

total()
{
	awk '{ n += $NF } END { printf "%d\n", n }' "$@"
}

if have pjfold; then
	script 6500000 1 >a.script
	script 700000 2 >b.script
	folded 20000 3 >a.folded
	folded 3000 4 >b.folded

	pjfold -j 1 a.script >one 2>one.err
	is "pjfold: status" "$?" 0
	ok "pjfold: something came out" test "$(wc -l <one)" -gt 1000
	is "pjfold: every sample is counted once" "$(total one)" "$(grep -c '^[^	#]' a.script)"
	LC_ALL=C awk '{ sub(/;.*| [0-9]+$/, ""); print }' one | sort | uniq >comms
	is "pjfold: all comms are there" "$(wc -l <comms | tr -d ' ')" 9

	# the name is part of messages, so pipes are compared with pipes
	gzip -c a.script >a.gz
	cp a.gz a.script.copy
	head -c 3000000 a.script | gzip >two-members.gz
	tail -c +3000001 a.script | gzip >>two-members.gz
	pjfold -j 1 <a.script >pipe 2>pipe.err
	same "pjfold: standard input gives what the file gives" one pipe
	for j in 1 2 3 7; do
		pjfold -j $j a.script >out 2>err
		same "pjfold -j $j: file" one out
		same "pjfold -j $j: file: messages" one.err err
		# shellcheck disable=SC2002 # a pipe is what is tested
		cat a.script | pjfold -j $j >out 2>err
		same "pjfold -j $j: pipe" one out
		same "pjfold -j $j: pipe: messages" pipe.err err
		pjfold -j $j <a.gz >out 2>err
		same "pjfold -j $j: gzip" one out
		same "pjfold -j $j: gzip: messages" pipe.err err
		pjfold -j $j <two-members.gz >out 2>err
		same "pjfold -j $j: gzip in two members" one out
		pjfold -j $j a.script b.script >two 2>err
		if [ $j = 1 ]; then mv two two.1; mv err two.1.err; else
			same "pjfold -j $j: two files" two.1 two
			same "pjfold -j $j: two files: messages" two.1.err err
		fi
	done
	# a pipe that gives odd pieces
	perl -e '$| = 1; binmode STDIN; my $n = 1; while (sysread STDIN, my $b, $n) { syswrite STDOUT, $b; $n = $n * 7 % 60013 + 1 }' \
		<a.script 2>/dev/null | pjfold -j 2 >out 2>err
	same "pjfold -j 2: a pipe in odd pieces" one out
	printf '%s' "$(cat a.script)" >no-end.script
	pjfold -j 3 no-end.script >out 2>/dev/null
	same "pjfold: no newline at the end" one out
	sed 's/$/\r/' a.script | pjfold -j 3 >out 2>/dev/null
	same "pjfold: CRLF" one out

	# borders everywhere: the same small text behind 1, 2, 3, ... bytes of comment around the size of a block
	head -n 400 a.script >small.script
	pjfold small.script >small 2>/dev/null
	bad=
	for size in 1048000 1048500 1048560 1048570 1048575 1048576 1048577 1048590 1050000 1052000; do
		{
			awk -v n=$size 'BEGIN { for (i = 0; i < n / 64; i++) print "# a comment of 64 bytes, that many of them are before it all..." }' | head -c "$size" | sed '$s/.*/# end/'
			echo
			cat small.script
		} >shifted.script
		pjfold -j 2 shifted.script >out 2>/dev/null
		cmp -s small out || bad="$bad $size"
	done
	is "pjfold: borders of blocks at many places" "$bad" ""

	pjfold -j 1 a.script >again 2>again.err
	same "pjfold: twice the same bytes" one again
	same "pjfold: twice the same messages" one.err again.err
	pjfold one >out 2>err
	same "pjfold: fold of folded is identity" one out
	pjfold a.folded >f.a 2>/dev/null
	pjfold b.folded >f.b 2>/dev/null
	is "pjfold: totals of folded text survive" "$(total f.a)" "$(total a.folded)"
	pjfold f.a >out 2>/dev/null
	same "pjfold: fold of folded is identity (generated)" f.a out
	pjfold a.folded b.folded >ab 2>/dev/null
	pjfold b.folded a.folded >ba 2>/dev/null
	same "pjfold: the order of inputs does not matter" ab ba
	pjfold f.a f.b >out 2>/dev/null
	same "pjfold: sum of folds is fold of all" ab out
	cat a.folded b.folded | pjfold >out 2>/dev/null
	same "pjfold: so is the fold of the concatenation" ab out
	sort -R --random-source=/dev/zero a.folded 2>/dev/null | pjfold >out 2>/dev/null
	same "pjfold: the order of lines does not matter" f.a out
	pjfold a.script b.script >ab 2>/dev/null
	pjfold b.script a.script >ba 2>/dev/null
	same "pjfold: the order of perf script files does not matter" ab ba
	pjfold b.script >fb 2>/dev/null
	pjfold one fb >out 2>/dev/null
	same "pjfold: fold of parts, folded, is fold of all" ab out
	pjfold --header one >out 2>/dev/null
	pjfold out >back 2>/dev/null
	grep -v '^# ' back >body
	same "pjfold: a header changes no stack" one body
else
	skip "pjfold" "not built"
fi

if have pjsvg; then
	if have pjfold; then cp one in.folded; else folded 20000 3 >in.folded; fi
	pjsvg in.folded >one.svg 2>err
	is "pjsvg: status" "$?" 0
	pjsvg in.folded >two.svg 2>err
	same "pjsvg: twice the same bytes" one.svg two.svg
	pjsvg <in.folded >two.svg 2>err
	same "pjsvg: standard input gives what the file gives" one.svg two.svg
	gzip -c in.folded | pjsvg >two.svg 2>err
	same "pjsvg: so does gzip" one.svg two.svg
	sort -r in.folded | pjsvg >two.svg 2>err
	same "pjsvg: the order of lines does not matter" one.svg two.svg
	awk 'NR % 2' in.folded >half1
	awk 'NR % 2 == 0' in.folded >half2
	pjsvg half2 half1 >two.svg 2>err
	same "pjsvg: nor does it matter how they are spread over files" one.svg two.svg
	# a picture holds its input: --unpack gives pjfold's text back, however it was drawn
	grep -v '^#' in.folded >plain.folded
	perl -e '
		srand 5; my @piece = ("\\", "x", "41", "u", "202e", "U", "000e0001", "\xe2\x80\xae", "\xff", "\x01", "&", "<", "]]>", "_[k]", "#", "\xf0\x9f\x94\xa5", "a", " ", "\x27", "\x22");
		for (1 .. 3000) { print join(";", map { join "", map { $piece[rand @piece] } 0 .. rand 6 } 0 .. rand 8), "z ", int(2 ** rand 40), "\n" }' 2>/dev/null |
		grep -av '^#' >odd.folded
	if have pjfold; then
		for f in plain.folded a.folded odd.folded; do
			[ -s $f ] || continue
			pjfold $f >want 2>/dev/null
			pjsvg $f 2>err | pjsvg --unpack >got 2>>err
			same "pjsvg --unpack: $f" want got
			pjsvg --reverse -o x.svgz $f 2>err
			pjsvg --unpack x.svgz >got 2>>err
			same "pjsvg --unpack: $f, --reverse, compressed" want got
			# in time: equal neighbours add up, nothing else does
			awk '{ n = $NF; sub(/ [0-9]+$/, ""); if (NR > 1 && $0 != s) { printf "%s %.0f\n", s, w; w = 0 } s = $0; w += n } END { printf "%s %.0f\n", s, w }' $f >want
			pjsvg --flamechart $f 2>err | pjsvg --unpack >got 2>>err
			same "pjsvg --unpack: $f, --flamechart" want got
			pjsvg --flamechart --reverse $f 2>err | pjsvg --unpack >got 2>>err
			same "pjsvg --unpack: $f, --flamechart --reverse" want got
		done
		pjfold --header plain.folded >want 2>/dev/null
		pjsvg want 2>err | pjsvg --unpack >got 2>>err
		same "pjsvg --unpack: a header" want got
		# the picture of what was unpacked is the picture
		pjsvg odd.folded >one.odd 2>err
		pjsvg --unpack one.odd | pjsvg >two.odd 2>err
		same "pjsvg: unpacked and drawn again" one.odd two.odd
	fi
	# stacks turned round twice are what they were
	pjsvg --reverse in.folded 2>err | pjsvg --unpack 2>>err | pjsvg >two.svg 2>>err
	pjsvg --unpack one.svg >a.txt
	pjsvg --unpack two.svg >b.txt
	same "pjsvg: --reverse loses nothing" a.txt b.txt
	if have xmllint; then
		ok "pjsvg: well-formed XML" xmllint --huge --noout one.svg
	else
		skip "pjsvg: well-formed XML" "xmllint is not installed"
	fi
else
	skip "pjsvg" "not built"
fi

# column N FILE: its sum, N from the end
column()
{
	awk -v k="$1" '!/^# / { n += $(NF - k) } END { printf "%d\n", n }' "$2"
}

if have pjdiff; then
	folded 20000 3 >before
	folded 20000 3 | awk '{ w = $NF; sub(/ [0-9]+$/, ""); print $0, NR % 3 ? w : 2 * w } NR % 50 == 0 { print $0 ";new", 7 }' >after
	pjdiff before after >ab 2>err
	is "pjdiff: status" "$?" 0
	is "pjdiff: the first column's total is that of before" "$(column 1 ab)" "$(total before)"
	is "pjdiff: the second one's is that of after" "$(column 0 ab)" "$(total after)"
	pjdiff before after >out 2>err
	same "pjdiff: twice the same bytes" ab out
	pjdiff --no-header before after >ab 2>err
	pjdiff --no-header after before >ba 2>err
	awk '{ a = $(NF - 1); b = $NF; sub(/ [0-9]+ [0-9]+$/, ""); print $0, b, a }' ba >out
	same "pjdiff: sides exchanged, columns exchanged" ab out
	pjdiff -q --tsv --table=0 --all --shares before after | awk -F '\t' 'NR > 1 { print $13, $2, $1, -$7, $12 }' | sort >t1
	pjdiff -q --tsv --table=0 --all --shares after before | awk -F '\t' 'NR > 1 { print $13, $1, $2, $7 + 0, $12 }' | sort >t2
	ok "pjdiff: there is a table" test "$(wc -l <t1)" -gt 5
	same "pjdiff: and signs in the table" t1 t2
	pjdiff -q --tsv before before | sed 1d >out
	ok "pjdiff: nothing changed between a profile and itself" test ! -s out
	pjdiff --fail-over 0.1% -o out before before 2>err
	is "pjdiff: nor does it fail" "$?" 0
	for k in 0 1 2 3; do
		awk -v k=$k 'NR % 4 == k' before >before.$k
		awk -v k=$k 'NR % 4 == k' after >after.$k
	done
	pjdiff --no-header before.? : after.? >out 2>err
	same "pjdiff: windows add up to what they are parts of" ab out
	pjdiff --no-header before.3 before.1 before.0 before.2 : after >out 2>err
	same "pjdiff: in any order" ab out
	pjdiff before.? : after.? >w1 2>err
	pjdiff before.[32] before.[01] : after.[21] after.[03] >w2 2>err
	same "pjdiff: the order of windows changes no estimate" w1 w2
	pjdiff --exact --no-header before after >out 2>err
	is "pjdiff: --exact keeps totals" "$(column 1 out) $(column 0 out)" "$(total before) $(total after)"
	pjdiff -n --no-header before after >out 2>err
	is "pjdiff: --normalize makes totals equal" "$(column 1 out)" "$(total after)"
	cut -d' ' -f1 out >stacks1
	cut -d' ' -f1 ab >stacks2
	same "pjdiff: and loses no stack" stacks2 stacks1
	gzip -c before | pjdiff --no-header - after >out 2>err
	same "pjdiff: gzip from a pipe" ab out
	if have pjfold; then
		pjfold w1 >out 2>err
		same "pjdiff: pjfold gives back what it wrote" w1 out
		pjfold before >fa 2>/dev/null
		pjfold after >fb 2>/dev/null
		pjdiff --no-header fa fb >out 2>err
		same "pjdiff: of folds is that of what was folded" ab out
	fi
else
	skip "pjdiff" "not built"
fi

# The builds of the other compiler and of the sanitizers, where they are: same tools, same bytes.
others=0

# current TOOL-PATH: it is there and no source is newer
current()
{
	[ -x "$1" ] && [ -z "$(find "$top"/common "$top"/fold "$top"/svg "$top"/diff -name '*.[chjS]*' -newer "$1" 2>/dev/null | head -n 1)" ]
}

for other in "$top"/build/std-*/bin "$top"/build/san-*/bin; do
	if [ "$other" = "${PJ_BUILD:-$top/build/std-cc}/bin" ]; then continue; fi
	name=${other%/bin}
	name=${name##*/}
	if have pjfold && current "$other/pjfold"; then
		others=$((others + 1))
		"$other/pjfold" -j 2 b.script >out 2>err
		pjfold -j 1 b.script >here 2>here.err
		same "pjfold: $name gives the same bytes" here out
		same "pjfold: $name gives the same messages" here.err err
	fi
	if have pjsvg && current "$other/pjsvg"; then
		others=$((others + 1))
		head -n 3000 in.folded >some.folded
		"$other/pjsvg" some.folded >out 2>err
		pjsvg some.folded >here 2>here.err
		same "pjsvg: $name gives the same bytes" here out
	fi
	if have pjdiff && current "$other/pjdiff"; then
		others=$((others + 1))
		"$other/pjdiff" before.? : after.? >out 2>err
		same "pjdiff: $name gives the same bytes" w1 out
	fi
	written=$(dirname "$other")/test/fold/perfdata/write
	here=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write
	# shellcheck disable=SC3013 # every sh that we know has it
	if [ -x "$here" ] && [ "$written" -nt "$top/test/fold/perfdata/write.c" ]; then
		others=$((others + 1))
		for layout in "" "odd=1 samples=400" "strange=1 pj=2 cgroups=5 branch=8" "deferred=1 mixed=1 events=3 read=0x1f" "sample=0x7ffff odd=1 rounds=9"; do
			# shellcheck disable=SC2086 # arguments
			"$written" $layout >out 2>err
			# shellcheck disable=SC2086
			"$here" $layout >here
			same "perf.data as $name writes it: ${layout:-the usual}" here out
		done
	fi
done
[ $others -gt 0 ] || skip "the same bytes from another compiler" "no other build here is up to date"
done_testing
