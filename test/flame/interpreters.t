#!/bin/sh
# interpreters.t - pjflame and pjprofile choose --interpreters: on for root with CAP_SYS_NICE, the choice of the user in any case, and a warning of
# pjrecord where it has no effect. A stub in place of pjrecord logs its arguments; warnings are those of the real one.
# stage: live
# covers: flame/words.sh flame/record.sh flame/life.sh record/pjrecord.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjflame || skip_all "pjflame is not built"
[ "$(id -u)" = 0 ] || skip_all "the default is that of root"
have setpriv || skip_all "no setpriv"

# The scripts take the tools beside them: those with a stub, and the real ones where every user may execute them.
chmod 755 .
mkdir stub real
mkdir -m 777 open
for tool in pjflame pjprofile pjrecord pjmap pjfold pjsvg; do
	cp "$(command -v $tool)" stub/
	cp "$(command -v $tool)" real/
done
cat >stub/pjrecord <<'END'
#!/bin/sh
printf '%s\n' "$@" >"${0%/*}/../open/log"
exit 3
END
chmod 755 stub real stub/* real/*

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
without_nice() { setpriv --bounding-set=-sys_nice --inh-caps=-all "$@"; }

# passes WANT NAME COMMAND...: pjrecord gets this value of --interpreters, or none if WANT is empty
passes()
{
	want=$1 name=$2
	shift 2
	rm -f open/log
	(cd open && TMPDIR=$PWD "$@") >out 2>err </dev/null
	if [ ! -s open/log ]; then fail "$name: pjrecord is run" err; return; fi
	is "$name" "$(sed -n 's/^--interpreters=//p' open/log)" "$want"
}
flame=$PWD/stub/pjflame profile=$PWD/stub/pjprofile

# ---- the default

default=on
[ "$(uname -m)" = x86_64 ] || default=
if without_nice true 2>/dev/null && [ "$(readlink /proc/self/ns/user)" = 'user:[4026531837]' ] &&
	[ $((0x$(sed -n 's/^CapEff:[[:blank:]]*//p' /proc/self/status) >> 23 & 1)) = 1 ]; then
	passes "$default" "root: a command" "$flame" true
	passes "$default" "root: a process" "$flame" -s 1 $$
	passes "$default" "root: the host" "$flame" -s 1
	passes "$default" "root: --top" "$flame" --top -n 1 -p $$
	passes "$default" "root: --unwind=tables" "$flame" --unwind=tables true
	passes "$default" "root: pjprofile" "$profile" -o profiles
	passes "" "root without CAP_SYS_NICE" without_nice "$flame" true
	passes "" "  pjprofile" without_nice "$profile" -o profiles
else
	skip "root" "no CAP_SYS_NICE here"
fi
if unshare -U -r true 2>/dev/null; then
	passes "" "root of a user namespace" unshare -U -r "$flame" true
else
	skip "root of a user namespace" "there are none here"
fi
mkdir arm
printf '#!/bin/sh\necho aarch64\n' >arm/uname
chmod 755 arm arm/uname
passes "" "root on another processor" env PATH="$PWD/arm:$PATH" "$flame" true
passes "" "another user: a command" as_user "$flame" true
passes "" "another user: a process" as_user "$flame" -s 1 $$
passes "" "another user: pjprofile" as_user "$profile" -o others
passes "" "--unwind=fp" "$flame" --unwind=fp true
passes "" "--off-cpu" "$flame" --off-cpu true

# ---- what the user chooses

passes off "--interpreters=off" "$flame" --interpreters=off true
passes off "  with --unwind=fp" "$flame" --unwind=fp --interpreters=off true
passes off "  pjprofile" "$profile" --interpreters=off -o profiles
passes all "--interpreters=all" "$flame" --interpreters=all true
passes all "  pjprofile" "$profile" --interpreters=all -o profiles
passes off "  pjprofile --no-python" "$profile" --no-python -o profiles
passes on "--interpreters=on of another user: a command" as_user "$flame" --interpreters on true
passes on "  a process" as_user "$flame" -s 1 --interpreters=on $$
passes on "  pjprofile" as_user "$profile" --interpreters=on -o others
passes on "  pjprofile --python-mode=auto" as_user "$profile" --python-mode=auto -o others
passes on "  root without CAP_SYS_NICE" without_nice "$flame" --interpreters=on true

# ---- without the right: one line of pjrecord, however it is run

warning='pjrecord: --interpreters=on has no effect: real-time priority needs CAP_SYS_NICE: run it as root'
if (cd open && as_user ../real/pjrecord -q -o try.data -- true) 2>why; then
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'while :; do :; done' &
	target=$!
	trap 'kill $target 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

	# warned NAME COMMAND...
	warned()
	{
		name=$1
		shift
		(cd open && TMPDIR=$PWD as_user timeout 60 "$@") >out 2>err </dev/null
		is "without the right, $name: one line, as pjrecord has it" "$(grep -e '--interpreters' err)" "$warning"
	}
	warned "pjflame COMMAND" ../real/pjflame --interpreters=on -o x.svg true
	warned "pjflame -q COMMAND" ../real/pjflame -q --interpreters=on -o x.svg true
	warned "pjflame PID" ../real/pjflame -s 1 --interpreters=on -o x.svg $target
	warned "pjflame --top" ../real/pjflame --top -s 1 -n 1 --interpreters=on -p $target
	warned "pjprofile" ../real/pjprofile -q -d 1 -p $target --interpreters=on -o others
	(cd open && TMPDIR=$PWD as_user timeout 60 ../real/pjflame -o x.svg true) >out 2>err
	is "  without the option: none" "$(grep -c -e '--interpreters' err)" 0
	for value in auto off; do
		(cd open && as_user ../real/pjrecord --interpreters=$value -o $value.data -- true) >out 2>err
		is "without the right, pjrecord --interpreters=$value: status, no line" "$? $(grep -c -e '--interpreters' err)" "0 0"
	done
	(cd open && as_user ../real/pjrecord -v --interpreters=auto -o auto.data -- true) >out 2>err
	is "  -v --interpreters=auto: one line" "$(grep -e '--interpreters' err)" "$(echo "$warning" | sed 's/=on/=auto/')"
	kill $target
	wait $target 2>/dev/null
else
	skip "without the right" "a user may not record here: $(head -n 1 why)"
fi

# ---- with the right: --interpreters=auto of pjrecord names functions as on does

if [ "$default" = on ] && python=$(command -v /usr/bin/python3) && pjrecord --check 2>/dev/null | grep -q '^ok *interpreters: '; then
	busy='
import time
def busy():
    end = time.time() + 3
    while time.time() < end: pass
busy()'
	for value in auto off; do
		pjrecord -q -F 199 --interpreters=$value -o $value.data -- "$python" -S -c "$busy" >out 2>err
		pjfold $value.data >$value.folded 2>>err
	done
	ok "pjrecord --interpreters=auto as root: functions of Python" grep -q 'busy_\[0\]' auto.folded
	ok "  --interpreters=off: none" eval 'test -s off.folded && ! grep -q "busy_\[0\]" off.folded'
else
	skip "pjrecord --interpreters=auto as root" "interpreters cannot be read here"
fi
done_testing
