#!/bin/sh
# record-portable.t - a JVM, programs in a container that is gone, a stripped program and kernel code: pjpack and pjrecord --portable make one
# file of it, and pjfold in an empty root, with another host name and no process of these, makes the same bytes as on the recorded host.
# stage: live
# full: starts a JVM and a container, and records three times
# covers: record/portable.c common/process/program.c fold/pjpack.c fold/process/packednames.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME

{ have pjrecord && have pjfold && have pjpack && have pjmap; } || skip_all "a tool is not built"
have cc || skip_all "no compiler for the loads"
[ "$(id -u)" = 0 ] || skip_all "containers need root"
[ "$(uname -m)" = x86_64 ] || skip_all "the load has code for x86-64 only"
unshare -m -u -p -n -f true 2>why || skip_all "no containers here: $(head -n 1 why)"
timeout 60 pjrecord -q -o probe.data -- true >/dev/null 2>said || skip_all "perf events are not allowed here: $(head -n 1 said)"
# shellcheck source=test/lib/jvm.sh
. "$top/test/lib/jvm.sh"
need_jdk "$top/test/lib/loads/Load.java"
# shellcheck source=test/lib/busy.sh
. "$top/test/lib/busy.sh"
chmod 711 .
flags='-O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -g'
# shellcheck disable=SC2086
cc $flags -DLIBRARY -fPIC -shared -o libapp.so "$top/test/record/app.c" &&
	cc $flags -DNAME=app -o app "$top/test/record/app.c" -L. -lapp -Wl,--build-id=sha1 "-Wl,-rpath,$scratch:/" &&
	cc $flags -O2 -o stripped "$top/test/record/app.c" -L. -lapp -Wl,--build-id=sha1 "-Wl,-rpath,$scratch:/" &&
	strip stripped || skip_all "the loads do not compile"
mkdir -p files/tmp ctr
for lib in $(ldd ./app | grep -o '/[^ ]*' | grep -v libapp); do
	mkdir -p "files${lib%/*}"
	cp "$lib" "files$lib"
done
cp app stripped libapp.so files/
ids=$(readelf -n app stripped libapp.so | awk '/Build ID/ { print $3 }')

# container PROGRAM: with a file system, a /tmp and process numbers of its own, all of which end with it
container()
{
	unshare -m -p -f --kill-child sh -c 'mount -t tmpfs none ctr && cp -a files/. ctr/ && mount -t tmpfs none ctr/tmp && exec chroot ctr "$@"' - "$@" &
}

# The empty root: pjfold with its libraries, and the file.
mkdir -p empty/bin empty/dev
cp "$(command -v pjfold)" empty/bin
for lib in $(ldd empty/bin/pjfold | grep -o '/[^ ]*'); do
	mkdir -p "empty${lib%/*}"
	cp "$lib" "empty$lib"
done

# elsewhere FILE OPTION...: folds it in the empty root, as another host without network and processes
elsewhere()
{
	cp "$1" empty/file
	shift
	unshare -m -u -p -n -f sh -c 'hostname elsewhere && exec chroot empty /bin/pjfold "$@" /file' - "$@"
}

# saved DIR: the symbol store has the files of the containers, and a map of their JIT
saved()
{
	for id in $ids; do
		[ -n "$(find "$1/symbols" -name "${id#??}.debug" 2>/dev/null)" ] || return 1
	done
	[ -n "$(find "$1/jit" -name '*.map' 2>/dev/null)" ]
}

# loads DIR: two programs in containers that end when their files are saved, one that is stripped, and the kernel
loads()
{
	container /app 300
	first=$!
	container /stripped 300
	started="$started $first $!"
	./stripped 6 >/dev/null &
	dd if=/dev/zero of=/dev/null bs=4M count=4000 2>/dev/null &
	wait $!
	until_true saved "$1"
	sleep 4
	kill -9 $first "${started##* }"
}

root='' jdk=$(echo "$jdks" | sed 's/.* //')
start mixed || skip_all "the JVM does not run: $(head -n 1 java.out)"

# ---- a window of a directory with a timeline of pjmap, and a second one, whose Java names are those of the timeline alone: pjrecord
# reads no JVM with frame pointers only

mkdir dir none
pjmap -q -d dir -i 1 --no-perf-map 2>map.err &
mapper=$!
started="$started $mapper"
pjrecord -q -a -F 499 -e cpu-clock -w 600 -d dir --off-cpu >windows 2>said &
recorder=$!
started="$started $recorder"
until_true sh -c 'ls dir/recording/*.data dir/symbols/kallsyms*' >/dev/null 2>&1
loads dir
kill -TERM $recorder
wait $recorder
window=$(ls dir/out/*.data)
sleep 1
pjrecord -q -a -F 499 -e cpu-clock --unwind=fp -s 3 -d dir >second 2>said
kill -TERM $mapper
wait $mapper
by_timeline=$(sed -n 1p second)
# fold_here NAME: each event, and threads with addresses, into NAME.EVENT and NAME.both
fold_here()
{
	for event in cpu-clock offcpu-time offcpu-time-preempted; do
		pjfold -q --only "event=$event" "$window" >"$1.$event" 2>>messages
	done
	pjfold -q --root=both --addrs "$window" >"$1.both" 2>>messages
}

# same_there NAME OPTION...: the packed window, folded elsewhere, is what it was here before and after it was packed. If processes of others
# ended meanwhile, so that their files are gone, the stacks of the loads are compared.
same_there()
{
	what=$1
	shift
	elsewhere packed -q "$@" >"got.$what" 2>>messages.there
	count="$(wc -l <"before.$what") stacks"
	if ! cmp -s "before.$what" "after.$what"; then
		for when in before got; do
			grep -E '^(app|stripped|java|dd);' "$when.$what" >own
			mv own "$when.$what"
		done
		count="$(wc -l <"before.$what") stacks of the loads, as processes of others ended meanwhile"
	fi
	same "  $what: the same bytes: $count" "before.$what" "got.$what"
}

fold_here before
mv messages messages.before
pjpack -o packed "$window" 2>report
is "packed: status" $? 0
fold_here after
is "  one line" "$(wc -l <report)" 1
ok "  a sentence: $(cut -c1-200 report)" grep -q '^pjpack: [0-9,]* samples' report
ok "  not larger than twice the window: $(wc -c <"$window"), $(wc -c <packed) bytes" [ "$(wc -c <packed)" -lt $((2 * $(wc -c <"$window"))) ]
for event in cpu-clock offcpu-time offcpu-time-preempted; do
	same_there $event --only "event=$event"
done
same_there both --root=both --addrs
same "  the same messages" messages.before messages.there
elsewhere "$window" -q >without 2>/dev/null
ok "the window alone lacks names there" sh -c '! cmp -s got.offcpu-time without'

pjfold -q "$by_timeline" >before.timeline
pjpack -q -o packed "$by_timeline" 2>report
is "the second window, packed: status" $? 0
pjfold -q "$by_timeline" >after.timeline
same_there timeline
pjfold -q --maps none "$by_timeline" >without 2>/dev/null
ok "  some names are those of the timeline" sh -c 'grep -q "^java;.*Load[.]round_" got.timeline && ! grep -q "^java;.*Load[.]" without'

# frames WHERE NAME...: each of these is in the folded text
frames()
{
	what=$1 text=$2
	shift 2
	for frame in "$@"; do
		grep -q ";${frame}[; ]" "$text" || echo "no $frame"
	done >absent
	if [ -s absent ]; then fail "$what" absent; else pass "$what"; fi
}
frames "  names of the container, its JIT, the JVM and the kernel" got.cpu-clock in_binary local_in_library 'first_jitted_\[j\]' 'Load.round_\[[j0i]\]' '[a-z_0-9]*read[a-z_0-9]*_\[k\]'

# ---- pjrecord --portable

pjrecord -q --portable -a -F 499 -o one.data 2>said &
recorder=$!
started="$started $recorder"
until_true sh -c 'ls one.data.part .one.data.symbols/symbols/kallsyms*' >/dev/null 2>&1
loads .one.data.symbols
kill -TERM $recorder
wait $recorder
is "pjrecord --portable: status" $? 0
is "  messages" "$(grep -v 'no hardware counters\|hung or crashed' said)" ""
is "  nothing is left" "$(find . -maxdepth 1 -name '.*symbols' -o -maxdepth 1 -name '*.part')" ""
elsewhere one.data -q >got 2>err
is "  elsewhere: $(wc -l <got) stacks" "$(cat err)" ""
frames "  names of the container that is gone, of the JVM and the kernel" got in_binary local_in_library 'first_jitted_\[j\]' 'Load.round_\[[j0i]\]' '[a-z_0-9]*read[a-z_0-9]*_\[k\]'
pjfold -q one.data >here
same "  as here" here got
stop
if perf --version >/dev/null 2>&1; then
	perf script -f -i one.data >script 2>err
	is "  perf script reads all samples" "$(grep -c '^[^[:space:]#].*:' script)" "$(perf script -f -F pid -i one.data 2>/dev/null | grep -c .)"
	ok "  perf report, too" sh -c 'perf report -f --stdio -i one.data 2>err | grep -q "%.*stripped"'
else
	skip "  perf reads it" "perf is not installed"
fi

pjrecord --portable -o - -- true >out 2>err
is "--portable on a pipe: $(head -n 1 err)" $? 2
pjrecord --portable -d dir -s 1 >out 2>err
is "--portable with windows: $(head -n 1 err)" $? 2
cp "$(command -v pjrecord)" none
PATH=/usr/bin:/bin none/pjrecord -q --portable -o two.data -- true 2>err
is "without pjpack: status; $(head -n 1 err)" $? 125
is "  no file" "$(ls two.data* 2>/dev/null)" ""
printf '#!/bin/sh\nexit 1\n' >none/pjpack
chmod +x none/pjpack
none/pjrecord -q --portable -o two.data -- true 2>err
is "pjpack fails: status; $(tail -n 1 err)" $? 125
ok "  the recording is there" sh -c 'pjfold -q two.data >out 2>&1'
is "  and nothing else" "$(find . -maxdepth 1 -name '.*symbols' -o -maxdepth 1 -name '*.part')" ""
done_testing
