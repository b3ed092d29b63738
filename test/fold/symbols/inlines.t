#!/bin/sh
# inlines.t - inlined calls: at every instruction of a program against addr2line, with the debug information written, packed, split
# and put aside in every way; in a recording against perf script; and what is said where some of it is missing or damaged.
# full-san: 25 s with sanitizers
# covers: fold/symbols/inlines.c fold/symbols/dies.c fold/symbols/dwarfimage.c fold/symbols/dsofiles.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}
names=$PJ_BUILD/test/fold/symbols/names
HOME=$scratch # perf's cache of files, ours
export HOME

[ -x "$names" ] || skip_all "test/fold/symbols/names is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "only for x86-64 so far"
if pjfold --inline /dev/null 2>&1 | grep -q 'built without libdw'; then
	pjfold --inline /dev/null >/dev/null 2>&1
	is "built without libdw: a usage error" $? 2
	skip "inlined calls" "built without libdw"
	done_testing
fi
for tool in g++ objdump addr2line objcopy c++filt; do
	have "$tool" || skip_all "$tool is not installed"
done

# places FILE: of every instruction in its .text, in hexadecimal; in `places` as offsets, in `addresses` as addresses
places()
{
	objdump -d --no-show-raw-insn -j .text "$1" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >addresses
	# shellcheck disable=SC2046 # two numbers
	set -- $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $4 }')
	while read -r at; do
		printf '%x\n' $((0x$at - 0x$1 + 0x$2))
	done <addresses >places
}

# ours FILE: for every place "OUTER|INNER", or nothing. What is wrong with it: in err.
ours()
{
	"$names" -i -d - "$scratch/$1" <places 2>err | sed 's/^[^|]*|\{0,1\}//'
}

# theirs FILE: the same as addr2line has it, without the function that holds them all. Where no linkage name is told, it takes the
# symbol's name: that is put right for the one function here that has none, "hidden".
theirs()
{
	if [ "$1" = clang ]; then # some of its ranges are too much for addr2line
		sed 's/^/0x/' addresses | llvm-symbolizer --obj="$1" -a --inlines --functions=linkage --no-demangle --output-style=GNU
	else
		addr2line -a -i -f -e "$1" <addresses
	fi 2>/dev/null | awk '
		function flush(  i, s) {
			for (i = n - 2; i >= 0; i--) s = s (s == "" ? "" : "|") (f[i] == f[n - 1] ? "hidden" : f[i])
			if (any) print s
			n = 0
		}
		/^0x/ { flush(); any = 1; next }
		NF == 0 { next }
		{ f[n++] = $0; getline } # and its line
		END { flush() }' | c++filt -p | sed 's/(anonymous namespace):://g'
}

# against NAME FILE [DEBUG-FILE]: both, at every place
against()
{
	places "$2"
	ours "$2" | sed 's/(anonymous namespace):://g' >ours
	theirs "${3:-$2}" >theirs
	if [ "$(grep -c mix ours)" -le 20 ]; then
		fail "$1: inlined calls" err ours
	elif [ "$(grep -c mix theirs)" -gt 20 ]; then
		same "$1 ($(wc -l <ours) places)" theirs ours
	else
		# this addr2line cannot read it; the code is the same
		ours "$2" >ours
		same "$1, against DWARF 5 ($(wc -l <ours) places)" plain.ours ours
	fi
}

# build NAME COMMAND...: false, and said, when it cannot be built
build()
{
	name=$1
	shift
	if "$@" -o "$name" "$top/test/fold/symbols/inline.cc" -lm 2>why; then return 0; fi
	skip "$name" "cannot be built: $(head -n 1 why)"
	return 1
}

g='g++ -O2 -fno-omit-frame-pointer'
# shellcheck disable=SC2086
{
	build plain $g -g || done_testing
	places plain
	ours plain >plain.ours
	against "DWARF 5" plain
	build four $g -g -gdwarf-4 && against "DWARF 4" four
	build wide $g -g -gdwarf64 && against "64-bit DWARF" wide
	build packed $g -g -gz && against "packed sections" packed
	build zdebug $g -g -gz=zlib-gnu && against "packed sections of the old kind" zdebug
	build fixed $g -g -no-pie -fno-pie && against "at a fixed address" fixed
	build link $g -g -flto && against "link-time optimisation" link
}
if have clang++ && have llvm-symbolizer; then
	build clang clang++ -O2 -g && against "clang" clang
else
	skip "clang" "clang++ or llvm-symbolizer is not installed"
fi

# a function without linkage name, in a namespace
places plain
ok "namespaces stand before names without linkage name" grep -qxF "(anonymous namespace)::hidden|geo::square<double>" plain.ours
"$names" -p -i -d - "$scratch/plain" <places 2>/dev/null | sed 's/^[^|]*|\{0,1\}//' >perf.ours
ok "--as-perf: they do not" grep -q '^hidden' perf.ours

# ---- files beside the program

# alike NAME FILE: the answers are those of `plain`, whose code it has
alike()
{
	ours "$2" >ours
	same "$1" plain.ours ours
}

cp plain whole.copy
objcopy --only-keep-debug plain plain.debug
cp plain linked
strip linked
objcopy --add-gnu-debuglink=plain.debug linked
alike "a separate file, by .gnu_debuglink" linked
objcopy --only-keep-debug --compress-debug-sections plain plain.debug
objcopy --remove-section .gnu_debuglink linked
objcopy --add-gnu-debuglink=plain.debug linked
alike "  and packed" linked
id=$(readelf -n plain | sed -n 's/.*Build ID: //p')
cp plain bare
strip bare
ours bare >ours
is "stripped: none" "$(grep -c . ours)" 0
ok "  and said" grep -q 'inlined calls: no debug information' err
if [ -n "$id" ]; then
	kept=.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
	mkdir -p "$kept"
	cp plain.debug "$kept/debug"
	alike "a separate file, by build-id" bare
	rm -r .debug
else
	skip "a separate file, by build-id" "this linker writes no build-id"
fi

# shellcheck disable=SC2086
for flags in -gdwarf-5 -gdwarf-4; do
	for c in "$g" 'clang++ -O2'; do
		have "${c%% *}" || continue
		rm -f ./*.dwo
		build unsplit $c -g $flags && build split $c -g $flags -gsplit-dwarf || continue
		places unsplit
		ours unsplit >unsplit.ours
		ours split >ours
		if [ -n "$(ls ./*.dwo 2>/dev/null)" ]; then
			same "-gsplit-dwarf: ${c%% *} $flags" unsplit.ours ours
		else
			skip "-gsplit-dwarf: ${c%% *} $flags" "no .dwo was written"
		fi
	done
done
dwo=$(ls ./*.dwo 2>/dev/null | head -n 1)
if [ -n "$dwo" ]; then
	mkdir -p moved
	cp split moved/
	mv "$dwo" moved/
	ours moved/split >ours
	same "  .dwo beside the program" unsplit.ours ours
	ours split >ours
	ok "  .dwo is gone: said" grep -q 'inlined calls: one of its .dwo files is missing' err
	mkfifo "$dwo"
	ours split >ours
	ok "  a FIFO in its place" grep -q 'inlined calls: one of its .dwo files is missing' err
	rm "$dwo"
	head -c 200 "moved/$dwo" >"$dwo"
	ours split >ours
	ok "  a piece of it" grep -q 'inlined calls: one of its .dwo files is damaged' err
	cp "moved/$dwo" "$dwo"
	ours split >ours
	same "  and back again" unsplit.ours ours
fi
places plain
if have dwz; then
	cp plain one
	cp plain two
	if dwz -m shared one two 2>why && readelf -S one | grep -q gnu_debugaltlink; then
		alike ".gnu_debugaltlink (dwz)" one
		mv shared aside
		ours one >ours
		ok "  it is gone: said" grep -q 'inlined calls: its supplementary debug file' err
	else
		skip ".gnu_debugaltlink" "dwz moved nothing out $(head -n 1 why)"
	fi
else
	skip ".gnu_debugaltlink" "dwz is not installed"
fi

# ---- damage: files that end early, and debug information that is none

size=$(stat -c %s plain)
bad=0
for part in 1 2 3 5 7 9; do
	head -c $((size * part / 10)) plain >early
	timeout 60 "$names" -i -d - "$scratch/early" <places >/dev/null 2>err || bad=$part
done
is "a program that ends early" "$bad" 0
# shellcheck disable=SC2046 # two numbers
set -- $(readelf -SW plain | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".debug_info" { print $4, $5 }')
cp plain noise
head -c $((0x$2)) plain.debug | dd of=noise bs=1 seek=$((0x$1)) conv=notrunc 2>/dev/null
ours noise >ours
ok "noise in the place of debug information" grep -q 'inlined calls: damaged' err
is "  names are there nevertheless" "$("$names" -d - "$scratch/noise" <places 2>/dev/null | grep -c 'main+')" \
	"$("$names" -d - "$scratch/plain" <places 2>/dev/null | grep -c 'main+')"

# ---- recordings

if ! "$perf" record -q -F 999 -e cpu-clock:u -g -o fp.data ./plain 3000 >/dev/null 2>why; then
	skip "recordings" "perf record is not allowed here: $(head -n 1 why)"
	done_testing
fi
pjfold -q fp.data >without
pjfold -q --inline fp.data >with 2>err
ok "frames behind the function that holds them" grep -q ';work;geo::mix_\[i\];geo::Vector::dot_\[i\] ' with
ok "  of a function of this file only" grep -q ';secret;(anonymous namespace)::hidden_\[i\];geo::square<double>_\[i\] ' with
ok "  off by default" not grep -q '_\[i\]' without
sed 's/;[^;]*_\[i\]//g; s/;[^;]*_\[i\]//g' with | awk '{ n = $NF; sub(/ [0-9]*$/, ""); c[$0] += n } END { for (s in c) print s, c[s] }' | sort >less
sort without >expected
same "  without them, what it was" expected less
pjfold -q -j 3 --inline fp.data >threads 2>/dev/null
same "  threads change nothing" with threads
pjfold -v --inline fp.data 2>err >/dev/null
ok "  files without debug information are counted" grep -q 'inlined functions: [1-9][0-9]* files\{0,1\} ha' err
pjfold -q --inline --annotate=none fp.data | grep -q ';geo::mix;'
is "  --annotate=none: no suffix" $? 0
pjfold -q --inline --skip-after work fp.data >skip
ok "  --skip-after" grep -q '^work;geo::mix_\[i\]' skip
echo 'a;b 1' | pjfold --inline >/dev/null 2>&1
is "folded text has no addresses: a usage error" $? 2

# perf's own way, for stacks that it unwinds itself: from main on, and within the program, as libc may have debug
# information of its own, which perf asks for names then
if "$perf" record -q -F 999 -e cpu-clock:u --call-graph dwarf -o dwarf.data ./plain 600 >/dev/null 2>&1; then
	timeout 300 "$perf" script -i dwarf.data >text 2>/dev/null
	# addr2line: see above
	pjfold -q --annotate=none text | sed -n 's/.*;main;/main;/p; s/^[^;]*;main /main /p' | sed 's/;secret;secret/;secret;hidden/' |
		awk '/^main(;work|;secret| )/ { n = $NF; sub(/ [0-9]*$/, ""); c[$0] += n } END { for (s in c) print s, c[s] }' | sort >theirs
	pjfold -q --as-perf --inline --annotate=none --root=thread dwarf.data 2>/dev/null | sed -n 's/.*;main;/main;/p; s/^[^;]*;main /main /p' |
		awk '/^main(;work|;secret| )/ { n = $NF; sub(/ [0-9]*$/, ""); c[$0] += n } END { for (s in c) print s, c[s] }' | sort >ours
	if [ "$(grep -c mix theirs)" -gt 1 ]; then
		same "--as-perf --inline is perf script, for --call-graph dwarf" theirs ours
	else
		skip "against perf script" "this perf shows no inlined functions"
	fi
else
	skip "against perf script" "no --call-graph dwarf here"
fi
done_testing
