#!/bin/sh
# record-kept.t - containers that are gone, deleted programs, the kernel's symbols: what pjrecord kept names them, for everybody and after a
# reboot, and nobody else's samples.
# stage: live
# full: containers that end, and windows that are folded after them
# covers: record/symsaver/symsaver.c record/symsaver/saverprocess.c record/symsaver/saverfiles.c
# covers: record/symsaver/savernames.c record/symsaver/kernelsaver.c record/symsaver/jits.c fold/symbols/symstore.c
# covers: fold/symbols/symstoreindex.c fold/symbols/provenance.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the loads"
[ "$(id -u)" = 0 ] || skip_all "containers need root"
[ "$(uname -m)" = x86_64 ] || skip_all "the load has code for x86-64 only"
unshare -m -p -f true 2>why || skip_all "no containers here: $(head -n 1 why)"
HOME=$scratch # no caches of others
export HOME
chmod 711 .
flags='-O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -g '
# compile NAME OPTION...: a program like no other on this host, by its name
compile()
{
	program=$1
	shift
	# shellcheck disable=SC2086
	cc $flags "-DNAME=$program" "$@" -o "$program" "$top/test/record/app.c" -L. -lapp -Wl,--build-id=sha1 "-Wl,-rpath,$scratch:/"
}
# shellcheck disable=SC2086
cc $flags -DLIBRARY -fPIC -shared -o libapp.so "$top/test/record/app.c" && compile app && compile deleted && compile inmemory &&
	compile nameless && objcopy --remove-section .note.gnu.build-id nameless || skip_all "the loads do not compile"
for program in app libapp.so inmemory; do readelf -n $program | awk '/Build ID/ { print $3 }' >$program.id; done
mkdir -p files/tmp ctr
for lib in $(ldd ./app | grep -o '/[^ ]*' | grep -v libapp); do
	mkdir -p "files${lib%/*}"
	cp "$lib" "files$lib"
done
cp app nameless libapp.so files/

pjrecord -q -a -F 499 -w 600 -d dir >windows 2>said &
recorder=$!
tries=0
until ls dir/recording/*.data >/dev/null 2>&1 && ls dir/symbols/kallsyms* >/dev/null 2>&1; do
	tries=$((tries + 1))
	if [ $tries -gt 300 ] || ! kill -0 $recorder 2>/dev/null; then
		wait $recorder
		skip_all "perf events are not allowed here: $(head -n 1 said)"
	fi
	sleep 0.1
done

# container PROGRAM: with a file system, a /tmp and process numbers of its own, all of which end with it
container()
{
	unshare -m -p -f sh -c 'mount -t tmpfs none ctr && cp -a files/. ctr/ && mount -t tmpfs none ctr/tmp && exec chroot ctr "$@"' - "$@"
}

# gone: what the program that ran last on this host left in /tmp, where the fold would find it
gone()
{
	wait "$1"
	rm -f "/tmp/perf-$1.map"
}

container /app 2
container /nameless 2
./deleted 2 &
sleep 1
rm deleted
gone $!
./inmemory 2 memfd &
gone $!
kill -TERM $recorder
wait $recorder
rm -rf files ctr app nameless inmemory libapp.so
window=$(ls dir/out/*.data)

# named NAME COMM WANT...: at least 99 % of the user frames of these samples have names, and these are among them
named()
{
	name=$1 comm=$2
	shift 2
	pjfold -q --only "comm=$comm" "${from:-$window}" >folded 2>err
	pjfold -q --only "comm=$comm" --unresolved "${from:-$window}" >unresolved 2>>err
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); for (i = 2; i <= k; i++) if (f[i] !~ /_\[k\]$/) all += n } END { print all + 0 }' folded >all
	bad=$(awk 'NR > 1 && $0 !~ /kernel/ { n += $1 } END { print n + 0 }' unresolved)
	for frame in "$@"; do
		grep -q ";${frame}[; ]" folded || echo "no $frame"
	done >absent
	if [ "$(cat all)" -gt 200 ] && [ "$bad" -le $(($(cat all) / 100)) ] && [ ! -s absent ]; then
		pass "$name: $bad of $(cat all) user frames have no name"
	else
		fail "$name: $bad of $(cat all) user frames have no name" absent unresolved err folded
	fi
}

grep -v 'symbol store: \|no hardware counters' said >extra
if [ -s extra ]; then fail "nothing is said but what was kept" extra; else pass "nothing is said but what was kept"; fi
named "a container that is gone" app in_binary local_in_library 'first_jitted_\[j\]' 'second_jitted_\[j\]'
named "a program without build-id in a container" nameless in_binary local_in_library 'first_jitted_\[j\]'
named "a deleted program" deleted in_binary local_in_library 'first_jitted_\[j\]'
named "a program in memory" inmemory in_binary local_in_library 'first_jitted_\[j\]'

# ---- somebody else folds

kernel()
{
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); for (i = 2; i <= k; i++) if (f[i] ~ /_\[k\]$/) { all += n; bad += f[i] ~ /^\[/ ? n : 0 } } END { print all + 0, bad + 0 }' "$1"
}
cp "$window" bare.data
pjfold -q bare.data >live 2>err
pjfold -q "$window" >ours 2>err
for f in live ours; do
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); for (i = 2; i <= k; i++) if (f[i] ~ /_\[k\]$/) c[f[i]] += n } END { for (i in c) print i, c[i] }' $f | sort >$f.kernel
done
same "kernel frames have the names that the running kernel gives them: $(wc -l <ours.kernel)" ours.kernel live.kernel
chgrp -R 65534 dir
: >nothing
if have setpriv; then
	cp "$(command -v pjfold)" fold
	chmod 755 fold
	unshare -m sh -c 'mount --bind nothing /proc/kallsyms && cd / && exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"' \
		- "$scratch/fold" -q "$scratch/$window" >nobody 2>err
	is "nobody folds, and may not see the kernel's symbols" "$(cat err)" ""
	is "  kernel frames without names" "$(kernel nobody | cut -d' ' -f2)" 0
	if [ "$(kernel nobody | cut -d' ' -f1)" -gt 100 ]; then pass "  of $(kernel nobody | cut -d' ' -f1)"; else fail "  of $(kernel nobody)" nobody; fi
	grep '^\(app\|deleted\|nameless\)' ours >want
	grep '^\(app\|deleted\|nameless\)' nobody >got
	same "  and all that is gone has names" want got
else
	skip "nobody folds" "setpriv is not installed"
fi

# ---- the recorder was killed

# data, and no bits of features, which are written last
head -c "$(od -A n -t u8 -j 40 -N 16 "$window" | awk '{ print $1 + $2 }')" "$window" >dir/recording/1.data
dd if=/dev/zero of=dir/recording/1.data bs=8 seek=9 count=4 conv=notrunc 2>/dev/null
pjfold -q dir/recording/1.data >f 2>err
is "a window that was not finished: status" "$?" 1
is "  is said" "$(cat err)" "pjfold: dir/recording/1.data: the recorder did not complete this file: its complete records are used"
for program in app deleted nameless inmemory; do
	ok "  $program has names" sh -c 'grep -q "^$1;.*in_binary" f && grep -q "^$1;.*local_in_library" f' - "$program"
done
if have setpriv; then
	chgrp 65534 dir/recording dir/recording/1.data
	unshare -m sh -c 'mount --bind nothing /proc/kallsyms && cd / && exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"' \
		- "$scratch/fold" -q "$scratch/dir/recording/1.data" >nobody 2>err
	is "  also the kernel's, whoever folds" "$(kernel nobody | cut -d' ' -f2)" 0
else
	skip "  also the kernel's, whoever folds" "setpriv is not installed"
fi
rm dir/recording/1.data

# ---- another folder, another boot, another process

cp -r dir elsewhere
pjfold -q --only comm=app bare.data >alone 2>err
ok "without what was kept, code of the JIT has no name" not grep -q jitted alone
pjfold -q --only comm=app --kept elsewhere bare.data >told 2>err
pjfold -q --only comm=app "$window" >want 2>err
same "--kept names the folder" told want
pjfold -q --only comm=app --symbol-store elsewhere bare.data >told 2>err
same "--symbol-store is --kept" told want
pjfold -q --as-perf --only comm=app "$window" >perf 2>err
ok "--as-perf does not look there" not grep -q jitted perf
boot=$(cat /proc/sys/kernel/random/boot_id)
other=$(echo "$boot" | tr '0-9a-f' '1-9a-f0')
sed "s/$boot/$other/g" "$window" >elsewhere/out/other.data
pjfold -q --only comm=app elsewhere/out/other.data >otherboot 2>err
ok "another boot borrows no map" not grep -q jitted otherboot
ok "  but what has a build-id, container or memory" sh -c '
	pjfold -q --only comm=app,comm=inmemory elsewhere/out/other.data >f && grep -q "^app;.*in_binary" f && grep -q "^app;.*local_in_library" f &&
		grep -q "^inmemory;.*in_binary" f'
mkdir ids && cp -r dir/symbols ids/ && rm -r "ids/symbols/$boot"
ok "build-ids stand in the window itself: another folder with nothing but them" sh -c '
	pjfold -q --only comm=app,comm=inmemory --kept ids bare.data >f && grep -q "^app;.*in_binary" f && grep -q "^app;.*local_in_library" f &&
		grep -q "^inmemory;.*in_binary" f'
if "${PJ_PERF:-perf}" --version >/dev/null 2>&1; then
	"${PJ_PERF:-perf}" buildid-list -i "$window" >list 2>err
	while read -r program path; do
		is "perf lists the build-id of $program" "$(awk -v path="$path" '$2 == path || index($0, path " ") { print $1 }' list)" "$(cat "$program.id")"
	done <<-PATHS
		app /app
		libapp.so $scratch/libapp.so
		inmemory /memfd:app
	PATHS
	ok "  and reads the window" sh -c '"${PJ_PERF:-perf}" script -i "$1" 2>err | grep -q "^inmemory" && "${PJ_PERF:-perf}" report --header-only -i "$1" 2>>err | grep -q hostname && [ ! -s err ]' - "$window"
else
	skip "perf lists the build-ids" "perf is not installed"
fi
for map in elsewhere/jit/*/*/*.map; do mv "$map" "${map%.map}0.map"; done
pjfold -q --only comm=app "elsewhere/${window#dir/}" >otherstart 2>err
ok "another process of the same number borrows no map" not grep -q jitted otherstart
ok "a folder that is not there is said" sh -c 'pjfold --kept nowhere bare.data 2>&1 | grep -q "nowhere.: No such file"'

# ---- what is in there is hostile, too

rm -f elsewhere/symbols/kallsyms* elsewhere/jit/*/*/*
head -c 3000 "$(ls dir/symbols/kallsyms*)" >"elsewhere/symbols/$(basename "$(ls dir/symbols/kallsyms*)")"
for f in dir/jit/*/*/*.map; do mkfifo "elsewhere/${f#dir/}"; done
find elsewhere/symbols -name '*.debug' -exec sh -c 'head -c 700 "$1" >cut && mv cut "$1"' - {} \;
pjfold -q --only comm=app "elsewhere/${window#dir/}" >hostile 2>err
is "damaged files, and FIFOs" "$?" 0
ok "  name nothing" not grep -q jitted hostile
done_testing
