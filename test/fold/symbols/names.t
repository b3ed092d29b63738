#!/bin/sh
# names.t - names of functions in ELF files: against nm for every function of large libraries, against perf script for recordings
# that are made here (linked in every way, stripped in every way), and where we do better than perf.
# full-san: 45 s with sanitizers
# covers: fold/symbols/elfsyms.c fold/symbols/symtab.c fold/symbols/plt.c fold/symbols/minidebug.c
# covers: fold/symbols/demangle.c fold/symbols/dsofiles.c fold/symbols/elffile.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}
names=$PJ_BUILD/test/fold/symbols/names
tab=$(printf '\t')
HOME=$scratch # perf's cache of files, ours
export HOME

[ -x "$names" ] || skip_all "test/fold/symbols/names is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "only for x86-64 so far"

# ---- every function of a library: the name at its first byte is one of those that nm tells for that address

# every FILE: says how many functions there are, and shows those that have other names
every()
{
	# shellcheck disable=SC2046 # two numbers
	set -- "$1" $(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".text" { print $3, $4, $5 }')
	readelf -sW "$1" | awk -v addr="$2" -v off="$3" -v size="$4" '
		function hex(s,  i, v) { v = 0; for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		BEGIN { a = hex(addr); o = hex(off); n = hex(size) }
		($4 == "FUNC" || $4 == "IFUNC") && $3 != 0 && $7 != "UND" {
			v = hex($2) - a; if (v >= 0 && v < n) printf "%x\t%s\n", v + o, $8
		}' | sed 's/@.*//' | sort -u >want
	cut -f1 want | sort -u | "$names" -m "$1" | sed 's/@@\{0,1\}[A-Za-z_0-9.]*+0x0$/+0x0/; s/+0x0$//; s/ /	/' | sort >got
	comm -13 want got >other
	wc -l <got
}

for lib in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /usr/bin/node; do
	if ! have readelf || [ ! -e "$lib" ]; then
		skip "every function of $lib" "no such file, or no readelf"
		continue
	fi
	count=$(every "$lib")
	if [ ! -s other ] && [ "$count" -gt 1000 ]; then pass "every function of $lib ($count)"; else fail "every function of $lib ($count)" other; fi
done

# ---- programs

have g++ || { skip "recordings" "g++ is not installed"; done_testing; }
flags='-O1 -g -fno-omit-frame-pointer'
# shellcheck disable=SC2086
{
	gcc $flags -fPIC -shared -o libload.so "$top/test/fold/symbols/load.c" &&
		gcc $flags -c -o load.o "$top/test/fold/symbols/load.c" &&
		gcc $flags -fno-pie -c -o load-nopie.o "$top/test/fold/symbols/load.c" &&
		g++ $flags -o dynamic "$top/test/fold/symbols/load.cc" -L. -lload -Wl,-rpath,"$scratch" &&
		g++ $flags -fcf-protection -Wl,-z,now,-z,ibtplt -o ibt "$top/test/fold/symbols/load.cc" -L. -lload -Wl,-rpath,"$scratch" &&
		g++ $flags -fno-pie -no-pie -o nopie "$top/test/fold/symbols/load.cc" load-nopie.o &&
		g++ $flags -static -o static "$top/test/fold/symbols/load.cc" load.o
} >why 2>&1 || { skip "recordings" "a program does not link: $(head -n 1 why)"; done_testing; }

# another build-id for each, so that perf's cache does not know them by another name
g++ $flags -DSTRIPPED -Wl,--build-id=sha1 -O2 -o stripped "$top/test/fold/symbols/load.cc" -L. -lload -Wl,-rpath,"$scratch"
objcopy --only-keep-debug stripped whole.debug
cp stripped whole
cp stripped linked
strip stripped
objcopy --only-keep-debug linked linked.debug
strip linked
objcopy --add-gnu-debuglink=linked.debug linked
if have xz; then
	objcopy -S whole.debug mini.debug
	nm whole --defined-only --format=posix | awk '$2 ~ /[tT]/ { print $1 }' >keep
	objcopy -S --keep-symbols=keep whole.debug mini.debug
	xz mini.debug
	cp stripped mini
	objcopy --add-section .gnu_debugdata=mini.debug.xz mini
fi

# ---- where perf 6.1 says nothing

place() # FILE SYMBOL: its place, of a program whose addresses are places (PIE from 0)
{
	nm "$1" | awk -v s="$2" '$3 == s { print $1; exit }'
}
at=$(place whole main)
is "stripped: no name" "$("$names" -d - "$scratch/stripped" "$at" 2>err)" "$(printf '%x' "0x$at") [unknown]"
is "stripped: the reason" "$(cat err)" "$scratch/stripped: stripped"
is ".gnu_debuglink" "$("$names" -d - "$scratch/linked" "$at" 2>/dev/null)" "$(printf '%x' "0x$at") main+0x0"
is "another build-id than that of the recording" "$("$names" -d 0123456789 "$scratch/linked" "$at" 2>err; cat err)" \
	"$(printf '%x' "0x$at") [unknown]
$scratch/linked: other build"
cp linked.debug good.debug
g++ -O1 -o other "$top/test/fold/symbols/load.cc" -L. -lload && objcopy --only-keep-debug other linked.debug
is ".gnu_debuglink to a file of another build" "$("$names" -d - "$scratch/linked" "$at" 2>/dev/null)" "$(printf '%x' "0x$at") [unknown]"
cp good.debug linked.debug
if [ -e mini ]; then
	if "$names" mini "$at" | grep -q 'main+0x0'; then pass ".gnu_debugdata"; else fail ".gnu_debugdata"; fi
	is ".gnu_debugdata is nothing to perf 6.1" "$("$names" -p mini "$at")" "$(printf '%x' "0x$at") [unknown]"
else
	skip ".gnu_debugdata" "xz is not installed"
fi
sec=$(readelf -SW ibt | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".plt.sec" { print $4 }')
if [ -n "$sec" ]; then
	# as objdump tells them
	objdump -d -j .plt.sec ibt | sed -n 's/^0*\([0-9a-f]*\) <\(.*\)>:$/\1 \2/p' | sed 's/@[A-Z].*@plt/@plt/' | c++filt -p >want
	cut -d' ' -f1 want | "$names" ibt | sed 's/+0x0$//' | sed 's/@[A-Z].*@plt/@plt/' >got
	same "stubs in .plt.sec" want got
else
	skip "stubs in .plt.sec" "this linker writes none"
fi

# ---- a container

if have unshare && mkdir -p jail/proc jail/bin && cp static jail/load && ln -s "$scratch/whole" jail/escape && ln -s load jail/good &&
	mkfifo jail/fifo 2>/dev/null && unshare -r true 2>/dev/null; then
	unshare -r chroot jail /load 20 &
	pid=$!
	sleep 1
	at=$(nm static | awk '$3 == "main" { print $1 }')
	at=$(printf '%x' $((0x$at - 0x400000)))
	is "a file inside of a container" "$("$names" -l $pid -d - /load "$at" 2>/dev/null)" "$at main+0x0"
	is "a link inside of it" "$("$names" -l $pid -d - /good "$at" 2>/dev/null)" "$at main+0x0"
	is "a link out of it" "$("$names" -l $pid -d - /escape 2000 2>&1)" "/escape: no file
2000 [unknown]"
	is "the same path on the host" "$("$names" -l $pid -d - "$scratch/whole" 2000 2>&1)" "$scratch/whole: no file
2000 [unknown]"
	is "a FIFO inside of it" "$("$names" -l $pid -d - /fifo 2000 2>&1)" "/fifo: forbidden
2000 [unknown]"
	is "something above it" "$("$names" -l $pid -d - "/../../../../../../../$scratch/whole" 2000 2>/dev/null)" "2000 [unknown]"
	kill $pid
	wait $pid 2>/dev/null
else
	skip "files inside of a container" "no user namespaces here"
fi

# ---- against perf

"$perf" --version >/dev/null 2>&1 || { skip "against perf" "perf is not installed"; done_testing; }
case $("$perf" --version) in
*' 6.1.'*) exact=yes ;;
*) exact= ;;
esac

# against NAME DATA: frames of user space, by (dso, place): same symbols, at most 0.1 % of frames differ. Not counted: where
# _init (without size) and a stub overlap, perf's answer depends on the shape of its tree.
against()
{
	"$perf" script -f -i "$2" -F ip,sym,symoff,dso --no-inline 2>/dev/null |
		sed -n 's/^[ 	]*\([0-9a-f]*\) \(.*\) (\(\/[^()]*\|\[vdso\]\))$/\3	\1	\2/p' | grep -v '\.map	' | sort | uniq -c |
		sed 's/^ *\([0-9]*\) /\1	/' >frames
	"$perf" buildid-list -i "$2" | sed 's/ /	/' >ids
	: >ours
	cut -f2 frames | sort -u | while IFS= read -r dso; do
		id=$(awk -F'\t' -v d="$dso" '$2 == d { print $1; exit }' ids)
		awk -F'\t' -v d="$dso" '$2 == d { print $3 }' frames | sort -u |
			"$names" -p -d "${id:--}" "$dso" 2>/dev/null | sed "s|^|$dso$tab|; s/ /$tab/" >>ours
	done
	awk -F'\t' 'NR == FNR { ours[$1 FS $2] = $3; next }
		{ at = $3; sub(/^0+/, "", at); if (at == "") at = 0; all += $1; o = ours[$2 FS at]
		  if (o != $4 && !($4 ~ /^_init\+/ && o ~ /@plt/)) { n += $1; print $1, $2, $3, "perf: " $4, "we: " o } }
		END { printf "%d of %d frames\n", n, all; exit all < 100 || n > all / 1000 }' ours frames >differ
	if [ $? = 0 ]; then
		pass "$1: differ: $(tail -n 1 differ)"
		sed '$d; s/^/# /' differ
	elif [ -z "$exact" ]; then
		skip "$1" "this perf is not 6.1, and names stubs otherwise"
	else
		tail -n 1 differ
		fail "$1" differ
	fi
}

for program in dynamic ibt nopie static stripped linked mini; do
	[ -e "$program" ] || continue
	if ! "$perf" record -q -F 1999 -e cpu-clock -g -o "$program.data" -- "./$program" 0.5 >why 2>&1; then
		skip "against perf: $program" "perf record is not allowed here: $(head -n 1 why)"
		continue
	fi
	against "against perf: $program" "$program.data"
done
done_testing
