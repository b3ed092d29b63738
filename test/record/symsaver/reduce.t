#!/bin/sh
# reduce.t - what pjrecord keeps of a binary names every place as the binary does: stubs, local functions, .gnu_debugdata; for us,
# and for readelf. And what its process still has of one that is gone.
# full-san: 35 s with sanitizers
# covers: record/symsaver/elfreducer.c record/symsaver/dynelf.c record/symsaver/targetfiles.c fold/symbols/plt.c
# covers: fold/symbols/minidebug.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
LC_ALL=C
export LC_ALL
names=$PJ_BUILD/test/fold/symbols/names
reduce=$PJ_BUILD/test/record/symsaver/reduce

[ -x "$reduce" ] || skip_all "test/record/symsaver/reduce is not built"
[ "$(uname -m)" = x86_64 ] || skip_all "only for x86-64 so far"
have readelf || skip_all "readelf is not installed"

# places FILE: the start of each symbol, some bytes into it, and every 4 bytes of the stubs, as places in the file
places()
{
	readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3, $6 }' >loads
	{
		readelf -sW "$1" | awk '($4 == "FUNC" || $4 == "IFUNC" || $4 == "OBJECT" || $4 == "NOTYPE") && $7 != "UND" { print $2 }'
		readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk '
			function hex(s,  i, v) { v = 0; for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
			$1 ~ /^\.(plt|init|fini|text)/ { a = hex($3); n = hex($5); step = $1 == ".text" ? int(n / 2000) + 1 : 4
				for (i = 0; i < n; i += step) printf "%x\n", a + i }'
	} | awk '
		function hex(s,  i, v) { v = 0; s = tolower(s); sub(/^0x/, "", s); for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
		NR == FNR { off[++n] = hex($1); at[n] = hex($2); size[n] = hex($3); next }
		{ v = hex($1); for (i = 1; i <= n; i++) if (v >= at[i] && v < at[i] + size[i]) { printf "%x\n%x\n", v - at[i] + off[i], v - at[i] + off[i] + 3; next } }' loads - | sort -u
}

# on_disk FILE: bytes that it takes
on_disk()
{
	echo $(($(stat -c %b "$1") * 512))
}

# check NAME FILE
check()
{
	if ! "$reduce" "$2" small >said 2>&1; then
		fail "$1" said
		return
	fi
	places "$2" >spots
	if [ "$(wc -l <spots)" -gt 30000 ]; then awk 'NR % 8 == 0' spots >some && mv some spots; fi
	"$names" "$2" <spots >want
	"$names" small <spots >got
	if [ "$(grep -vc unknown want)" -lt "${3:-20}" ]; then
		wc -l at want >few
		fail "$1: few places have names" few
		return
	fi
	same "$1: $(wc -l <spots) places" want got
	"$names" -p "$2" <spots >want
	"$names" -p small <spots >got
	same "$1: as perf 6.1" want got
	readelf -sW "$2" >want 2>&1
	readelf -sW small >got 2>&1
	same "$1: readelf's symbols" want got
	readelf -nW "$2" >want 2>&1
	readelf -nW small >got 2>&1
	same "$1: notes" want got
	if [ "$(on_disk "$2")" -lt 20000000 ]; then # readelf takes its time
		readelf --debug-dump=frames "$2" 2>/dev/null | grep -v 'loaded from' >want
		readelf --debug-dump=frames small 2>/dev/null | grep -v 'loaded from' >got
		same "$1: unwind tables" want got
	fi
	if readelf -SW small | grep ' \.text ' | grep -q NOBITS; then pass "$1: no code"; else fail "$1: no code"; fi
}

for file in /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libstdc++.so.6 /bin/bash /usr/bin/node; do
	if [ -e "$file" ]; then check "$file" "$file"; else skip "$file" "no such file"; fi
done

flags='-O1 -g -fno-omit-frame-pointer'
# shellcheck disable=SC2086
if have g++ && {
	gcc $flags -fPIC -shared -o libload.so "$top/test/fold/symbols/load.c" &&
		gcc $flags -c -o load.o "$top/test/fold/symbols/load.c" &&
		gcc $flags -fno-pie -c -o load-nopie.o "$top/test/fold/symbols/load.c" &&
		g++ $flags -o dynamic "$top/test/fold/symbols/load.cc" -L. -lload -Wl,-rpath,"$scratch" &&
		g++ $flags -fcf-protection -Wl,-z,now,-z,ibtplt -o ibt "$top/test/fold/symbols/load.cc" -L. -lload -Wl,-rpath,"$scratch" &&
		g++ $flags -fno-pie -no-pie -o nopie "$top/test/fold/symbols/load.cc" load-nopie.o &&
		g++ $flags -static -o static "$top/test/fold/symbols/load.cc" load.o &&
		g++ $flags -Wl,--build-id=none -o anonymous "$top/test/fold/symbols/load.cc" -L. -lload -Wl,-rpath,"$scratch"
} >why 2>&1; then
	check "PIE" dynamic
	check "stubs in .plt.sec" ibt
	check "not PIE" nopie
	check "static" static
	check "a library" libload.so
	check "without build-id" anonymous
	objcopy --compress-debug-sections dynamic packed
	check "compressed sections" packed
	cp dynamic stripped
	strip stripped
	check "stripped" stripped
	if have xz; then
		objcopy --only-keep-debug dynamic whole.debug
		nm dynamic --defined-only --format=posix | awk '$2 ~ /[tT]/ { print $1 }' >keep
		objcopy -S --keep-symbols=keep whole.debug mini.debug
		xz mini.debug
		cp stripped mini
		objcopy --add-section .gnu_debugdata=mini.debug.xz mini
		check ".gnu_debugdata" mini
	else
		skip ".gnu_debugdata" "xz is not installed"
	fi
	if printf 'int f(int x) { return x + 1; } int main(int c, char **v) { (void)v; return f(c); }' | gcc -m32 -x c -o narrow - 2>/dev/null; then
		check "32 bits" narrow 5
	else
		skip "32 bits" "gcc cannot make such programs here"
	fi

	# ---- from segments: what .dynsym tells, as of a stripped file

	# exported NAME FILE COPY: COPY, made without .symtab, names exported functions as FILE does
	exported()
	{
		strip -o bare "$2"
		readelf --dyn-syms -W "$2" | awk '($4 == "FUNC" || $4 == "IFUNC") && $7 != "UND" && $3 > 0 { print $2 }' | sort -u |
			while read -r at; do printf '%x\n' "0x$at"; done >spots
		"$names" -m bare <spots >want
		"$names" -m "$3" <spots >got
		if [ -s spots ]; then same "$1: $(wc -l <spots) names" want got; else fail "$1: exports nothing"; fi
		is "$1: build-id" "$(readelf -n "$3" | grep 'Build ID')" "$(readelf -n "$2" | grep 'Build ID')"
		is "$1: readelf has nothing to say" "$(readelf -aW "$3" 2>&1 >/dev/null)" ""
	}
	ok "from segments" "$reduce" -d libload.so small
	exported "from segments" libload.so small
	objcopy --strip-section-headers libload.so headless 2>/dev/null || cp libload.so headless
	printf '\0\0\0\0\0\0\0\0' | dd of=headless bs=1 seek=40 conv=notrunc 2>/dev/null # e_shoff
	printf '\0\0' | dd of=headless bs=1 seek=60 conv=notrunc 2>/dev/null           # e_shnum
	"$reduce" -d headless small2 >said 2>&1
	same "a file without sections" small small2
	
	# ---- from memory: of a program that is gone
	cp dynamic gone
	cp libload.so libgone.so
	g++ $flags -rdynamic -o gone "$top/test/fold/symbols/load.cc" -L. -lgone -Wl,-rpath,"$scratch"
	./gone 20 >/dev/null 2>&1 &
	pid=$!
	tries=0
	until grep -q libgone "/proc/$pid/maps" 2>/dev/null || [ $tries -ge 100 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	for file in gone libgone.so; do
		cp "$file" "$file.copy"
		rm "$file"
		ok "from memory: $file" "$reduce" -m $pid "$scratch/$file" small
		exported "from memory: $file" "$file.copy" small
	done
	kill $pid
	wait $pid 2>/dev/null
else
	skip "programs of our own" "they do not link: $(head -n 1 why 2>/dev/null)"
fi

# ---- what it costs

if [ -e /usr/bin/node ]; then
	"$reduce" /usr/bin/node small >said
	if [ "$(on_disk small)" -lt "$(($(on_disk /usr/bin/node) / 2))" ]; then
		pass "node: $(on_disk small) of $(on_disk /usr/bin/node) bytes"
	else
		fail "node: $(on_disk small) of $(on_disk /usr/bin/node) bytes"
	fi
else
	skip "node" "not installed"
fi
echo text >text
is "no ELF file" "$("$reduce" text small 2>&1)" "reduce: text: not an ELF file"
head -c 3000 /bin/sh >half
is "a cut file" "$("$reduce" half small 2>&1)" "reduce: half: truncated"
done_testing
