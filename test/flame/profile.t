#!/bin/sh
# profile.t - pjprofile: files and links as gProfiler has them, rotation, a continuous run that is ended and one that is killed, and answers to what
# gProfiler's users type.
# stage: live
# covers: flame/pjprofile.sh flame/words.sh flame/tools.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/lib/record.sh
. "$top/test/lib/record.sh"
LC_ALL=C
export LC_ALL
have pjprofile || skip_all "pjprofile is not built"

refused()
{
	name=$1 message=$2
	shift 2
	pjprofile "$@" >out 2>err </dev/null
	is "$name: status" $? 2
	ok "  one line: $message" sh -c 'test "$(wc -l <err)" = 1 && grep -qF -- "$1" err' - "$message"
}

refused "no directory" "-o DIR names the directory"
refused "an operand" "pjflame records a command" -o x sleep 1
refused "a misspelt option" "did you mean --rotate?" -o x --rotat 3
refused "a misspelt grouping" "did you mean container?" -o x --by=contaner
refused "no number" "is not a time from 1s to 1d in whole seconds" -o x -d soon
refused "an upload" "pjsend -s STORE" -o x -u --token=t
refused "a mode" "stacks are complete without a mode" -o x --perf-mode=smart
refused "a runtime's profiler" "one sampler records all languages" -o x --no-java
refused "a mode of Python" "auto, enabled, pyperf, pyspy, disabled or none" -o x --python-mode=fast
refused "no value of --interpreters" "is not off, on, all or auto" -o x --interpreters=maybe
is "  nothing was made" "$(ls -d x 2>/dev/null)" ""
: >file
pjprofile -q -o file/x >out 2>err
is "a directory that cannot be made: status" "$? $(grep -c "name another one with -o" err)" "1 1"
pjrecord -q -a -w 1 --once -d try --keep-symbols=none >out 2>why || skip_all "recording is not allowed here: $(head -n 1 why)"

cat >load.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) static void profile_hot(unsigned n) { while (n--) sink += n; }
int main(void) { for (;;) profile_hot(1000); }
END
cc -O1 -g -o profile-load load.c || skip_all "no compiler"
./profile-load &
load=$!
profiler=
trap 'kill $load $profiler 2>/dev/null; wait; rm -rf "$scratch"' EXIT

# ---- one profile, with gProfiler's options

pjprofile -d 2 -f 199 -o profiles >out 2>err
is "pjprofile -d 2 -f 199 -o profiles: status" $? 0
[ -s err ] && sed 's/^/# /' err
is "  a profile and a picture, with links" "$(ls -A profiles | sed 's/[0-9]/9/g' | tr '\n' ' ')" \
	"flamegraph_9999-99-99T99-99-99Z.svg last_flamegraph.svg last_profile.col profile_9999-99-99T99-99-99Z.col "
is "  the links are those files" "$(readlink profiles/last_profile.col) $(readlink profiles/last_flamegraph.svg)" "$(cd profiles && ls profile_*) $(cd profiles && ls flamegraph_*)"
ok "  the profile has the load" grep -q 'profile-load;.*profile_hot ' profiles/last_profile.col
ok "  a comment in front, as .col has" sh -c 'head -n 1 profiles/last_profile.col | grep -q "^# "'
ok "  the picture, too" sh -c 'pjsvg --unpack profiles/last_flamegraph.svg | grep -q profile_hot'
ok "  one sentence, with the name of the file" grep -q '^pjprofile: .*/profile_.*\.col: .* samples' err
pjprofile -q -d 1 --no-flamegraph -p $load --by=process -o profiles >out 2>err
is "--no-flamegraph, and processes: status" "$? $(wc -c <err | tr -d ' ')" "0 0"
is "  a profile more" "$(find profiles -name 'profile_*' | wc -l | tr -d ' ') $(find profiles -name 'flamegraph_*' | wc -l | tr -d ' ')" "2 1"
is "  of this process alone" "$(grep -v '^#' profiles/last_profile.col | cut -d';' -f1 | sort -u)" profile-load
pjprofile -q -d 1 -F 99 --rotating-output -o profiles >out 2>err
is "--rotating-output keeps the last" "$? $(find profiles -name 'profile_*' | wc -l | tr -d ' ') $(find profiles -name 'flamegraph_*' | wc -l | tr -d ' ')" "0 1 1"
ok "  the links work" test -s profiles/last_profile.col -a -s profiles/last_flamegraph.svg

# ---- functions of Python, without an option

python=$(for at in /usr/bin/python3.[0-9]*; do case ${at##*/} in python3.8 | python3.9 | python3.1[0-5]) echo "$at" ;; esac; done | head -n 1)
if [ -n "$python" ] && [ "$(id -u)" = 0 ] && pjrecord --check -d . 2>/dev/null | grep -q '^ok *interpreters'; then
	printf 'def inner(n):\n    return sum(str(i) != "" for i in range(n))\nwhile True:\n    inner(2000)\n' >spin.py
	"$python" spin.py &
	spin=$!
	pjprofile -q -d 3 -p $spin --by=process -o python >out 2>err
	ok "functions of Python are in the profile" grep -q '__main__\.<module>_\[0\];.*__main__\.inner' python/last_profile.col
	pjprofile -q -d 2 -f 99 -p $spin --by=process --no-python -o native >out 2>err
	is "--no-python: they are not: status, samples with them" "$? $(grep -c __main__ native/last_profile.col)" "0 0"
	kill $spin
	wait $spin 2>/dev/null
else
	skip "functions of Python" "no Python from 3.8 to 3.15 in /usr/bin, or no right to real-time priority"
fi

# ---- continuous

profiles() { [ "$(find more -name 'profile_20[2-8]*.col' | wc -l)" -ge "$1" ]; }
# files of a clock that was set back since: they go first
mkdir more
for day in 1 2 3; do : >more/profile_2099-01-0${day}T00-00-00Z.col; done
pjprofile -q -c -d 1 -f 99 --rotate=3 -o more >out 2>err &
profiler=$!
ok "a continuous run: profile after profile" until_ 60 profiles 3
pjprofile -q -c -d 1 -o more >second 2>second.err
is "  a second one on that directory: status" $? 1
ok "  one line, with the first one" grep -q '^pjrecord: ' second.err
newest=$(readlink more/last_profile.col)
later() { [ "$(readlink more/last_profile.col)" != "$newest" ]; }
ok "  the link moves" until_ 30 later
kill -TERM $profiler
wait $profiler
is "  SIGTERM ends it: status" $? 0
profiler=
is "  three are kept" "$(find more -name 'profile_*.col' | wc -l | tr -d ' ') $(find more -name 'flamegraph_*' | wc -l | tr -d ' ')" "3 3"
is "  nothing is left but them" "$(find more -maxdepth 1 -name '.pjprofile*' | wc -l | tr -d ' ') $(ls more/.pj/out)" "0 "
pjprofile -q -c -d 2 -f 99 -o killed >out 2>err &
profiler=$!
recorded() { ls killed/.pj/recording/*.data; }
ok "a continuous run that is killed" until_ 60 recorded
kill -9 $profiler
wait $profiler 2>/dev/null
profiler=
window() { ls killed/.pj/out/*.data; }
ok "  its recorder ends and leaves a window" until_ 60 window
pjprofile -q -c -d 1 -f 99 -o killed >out 2>err &
profiler=$!
ok "  the next run folds it" until_ 60 sh -c 'ls killed/profile_*.col | grep -q .'
kill -TERM $profiler
wait $profiler
profiler=

# ---- a full disk

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir full
	unshare -m sh -c 'mount -t tmpfs -o size=64k full full; exec pjprofile -q -d 1 -f 999 -o full' >out 2>err
	status=$?
	ok "a full disk: a failure with a message" test $status -ne 0 -a -s err
fi
done_testing
