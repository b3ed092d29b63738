# planted.sh - what tools do with links, FIFOs, devices, hard links and directories that another user planted where they write. One line a check:
# "ok NAME" or "not ok NAME: REASON". Run by planted.t as it is on this machine, and by planted-guest.t with fs.protected_* on.
# usage: sh planted.sh PLANT SCRATCH SHORT     (as root; busybox will do; tools in PATH; SHORT: 1 for a slow machine)
# shellcheck shell=sh disable=SC2086,SC2012 # names without blanks

plant=$1 scratch=$2 short=${3%-}
attacker=65534
cd "$scratch" || exit 1
umask 022

# output TOOL PATH: a run of a tool that writes PATH
output()
{
	case $1 in
	pjfold | pjsvg) "$1" -o "$2" x.folded ;;
	pjdiff) pjdiff -o "$2" x.folded y.folded ;;
	pjfetch) pjfetch --store=dir:store --from=2023-11-14 --to=2023-11-16 -o "$2" ;;
	palette) pjsvg --palette-map="$2" x.folded ;;
	ndjson) pjsend -q --once --store=ndjson:"$2" ndjson.dir ;;
	pjrecord) pjrecord -q -o "$2" -- true ;;
	pjflame) pjflame -o "$2" -- awk 'BEGIN { while (i < 3000000) i++ }' ;;
	esac
}
if [ "${4:-}" = output ]; then
	output "$5" "$6"
	exit
fi

# window DIR: one window for pjsend
window()
{
	rm -rf "$1"
	mkdir -p "$1/out"
	{
		echo '# pj unit=samples event=cycles frequency=99 from=1700000000 to=1700000030 host=h1 samples=4 lost=0'
		cat x.folded
	} >"$1/out/1700000000.data"
}

# shared NAME MODE GROUP: an empty folder
shared()
{
	rm -rf "$1"
	mkdir "$1"
	chgrp "$3" "$1"
	chmod "$2" "$1"
}

# safe/precious as it was, and nothing beside it
reset()
{
	rm -rf safe/*
	cp precious.save safe/precious
	chmod 666 safe/precious # so that protected_hardlinks, too, lets others link it
}

intact()
{
	cmp -s precious.save safe/precious && [ "$(ls safe)" = precious ] && [ ! -L safe/precious ] && [ "$(stat -c %a%h%u safe/precious)" = "666${1}0" ]
}

# check NAME COMMAND...: it ends in time and leaves safe/ alone
check()
{
	check_name=$1
	shift
	links=$(stat -c %h safe/precious)
	timeout -s KILL 20 "$@" >out 2>err </dev/null
	check_status=$?
	[ "$(stat -c %h safe/precious)" -ge "$links" ] || links=1 # another name of it was replaced
	if [ $check_status = 137 ]; then
		echo "not ok $check_name: it did not end"
	elif ! intact "$links"; then
		echo "not ok $check_name: what it leads to was changed (status $check_status: $(head -n 1 err); $(ls safe | tr '\n' ' '))"
		return 1
	elif [ -n "$want" ] && ! grep -q "of user $attacker is in a directory that other users can write to" err; then
		echo "not ok $check_name: status $check_status: $(head -n 1 err)"
	else
		echo "ok $check_name"
	fi
}

# works NAME COMMAND...: what must go on to work
works()
{
	works_name=$1
	shift
	if timeout -s KILL 60 "$@" >out 2>err </dev/null; then echo "ok $works_name"; else echo "not ok $works_name: $(head -n 1 err)"; fi
}


# ---- setup

# again output TOOL PATH, in a process of its own
again="sh $0 $plant $scratch $short-"
mkdir safe own tmp
TMPDIR=$scratch/tmp HOME=$scratch/own
export TMPDIR HOME
printf 'main;rest 1\nmain;work 3\n' >x.folded
printf 'main;rest 1\nmain;work 9\n' >y.folded
echo precious >precious.save
window d
pjsend -q --once --store=dir:store d || echo "not ok pjsend"
window ndjson.dir
tools='pjfold pjsvg'
[ -n "$short" ] || tools='pjfold pjsvg pjdiff pjfetch palette ndjson'
if timeout 60 pjrecord -q -o own/probe.data -- true >/dev/null 2>&1; then
	tools="$tools pjrecord"
	[ -n "$short" ] || tools="$tools pjflame"
fi

# ---- an output file

kinds='link relative dangling chain fifo hard socket folder device'
for mode in 1777 2775 0777; do
	for tool in $tools; do
		[ "$mode" = 1777 ] || [ "$tool" = pjsvg ] || [ "$tool" = pjrecord ] || continue
		for kind in $kinds; do
			case $tool.$kind in
			pjflame.[rchs]* | pjflame.f[io]*) continue ;; # as pjsvg, which writes its output
			esac
			reset
			shared place $mode $attacker
			if [ $kind = device ]; then
				mknod place/out c 1 5 && chown $attacker place/out # /dev/zero: a write has no effect
			elif ! "$plant" $kind "$scratch/place/out" "$scratch/safe/precious"; then
				if [ $kind = hard ]; then continue; fi # the kernel refuses
				echo "not ok cannot plant a $kind"
			fi
			case $tool.$kind in
			*.hard | *.folder | *.socket | palette.*[!g] | pjrecord.device) want='' ;;
			*) want=refused ;;
			esac
			check "$tool, a $kind in a folder of mode $mode" $again output "$tool" place/out
		done
	done
done

# a link on the way, by which a folder of root is meant
reset
shared place 1777 0
"$plant" link "$scratch/place/way" "$scratch/safe"
for tool in $tools; do
	want=refused
	check "$tool, a link as a folder on the way" $again output "$tool" place/way/out
done

# what takes the place of the other all the time
for tool in $tools; do
	case $tool in pjflame | ndjson) continue ;; esac # they write as pjsvg and as dir: do
	reset
	shared place 1777 0
	"$plant" swap "$scratch/place/out" "$scratch/safe/precious" 1 >/dev/null &
	swapper=$!
	want='' runs=0 bad=0
	while [ -d /proc/$swapper ] && kill -0 $swapper 2>/dev/null; do
		timeout -s KILL 20 $again output "$tool" place/out >out 2>err </dev/null
		[ $? != 137 ] || bad=$((bad + 1))
		runs=$((runs + 1))
	done
	wait $swapper
	rm -rf place/* # names of it among them
	if ! cmp -s precious.save safe/precious || [ "$(ls safe)" != precious ]; then
		echo "not ok $tool, entries that change: what they lead to was written"
	elif [ $bad != 0 ]; then
		echo "not ok $tool, entries that change: $bad of $runs runs did not end"
	else
		echo "ok $tool, entries that change"
	fi
done

# ---- DIR, and the store

entries='recording out bad symbols jit spool maps pjrecord.prom pjsend.prom'
for kind in link dangling fifo hard; do
	for entry in $entries; do
		reset
		shared place 1777 $attacker
		mkdir place/out place/recording place/bad place/symbols place/jit
		rmdir "place/$entry" 2>/dev/null
		window w
		if [ "$entry" != out ]; then cp w/out/* place/out/; fi
		target=precious
		case $entry.$kind in
		*.hard | *.prom.* | *.dangling) ;;
		*.link) mkdir -p own/dir; target='' ;;
		esac
		"$plant" $kind "$scratch/place/$entry" "$scratch/safe/$target" 2>/dev/null || continue
		want=''
		case $entry in
		spool | pjsend.prom) check "pjsend, a $kind as DIR/$entry" pjsend -q --once --store=dir:store place ;;
		maps) ;;
		*)
			case $tools in
			*pjrecord*) check "pjrecord, a $kind as DIR/$entry" pjrecord -q -a -w 1 -n 1 --user 0 -d place ;;
			esac
			;;
		esac
	done
done
for tool in pjsend pjrecord pjmap store; do
	reset
	shared place 1777 0
	window w
	"$plant" link "$scratch/place/d" "$scratch/safe"
	want=refused
	case $tool in
	pjsend) check "pjsend, a link as DIR" pjsend -q --once --store=dir:store place/d ;;
	pjrecord) case $tools in *pjrecord*) check "pjrecord, a link as DIR" pjrecord -q -a -w 1 -n 1 --user 0 -d place/d ;; esac ;;
	pjmap) check "pjmap, a link as DIR" timeout -s TERM 3 pjmap -i 1 -d place/d ;;
	store) check "pjsend, a link as a store" pjsend -q --once --store=dir:place/d w ;;
	esac
done

# ---- what must go on to work

reset
shared place 1777 0
ln -s "$scratch/own/result" place/mine
works "a link of this user is followed" pjfold -o place/mine x.folded
works "  to a file that was not there" cmp own/result x.folded
mkdir theirs
"$plant" link "$scratch/tmp/no" x 2>/dev/null
chown $attacker theirs
"$plant" link "$scratch/theirs/latest" "$scratch/own/result"
works "a link in a folder of its owner" pjfold -o theirs/latest y.folded
works "  is followed" cmp own/result y.folded
works "/dev/stdout" sh -c 'pjfold -o /dev/stdout x.folded | cmp - x.folded'
works "/dev/null" pjfold -o /dev/null x.folded
works "/dev/fd/3" sh -c 'pjfold -o /dev/fd/3 x.folded 3>own/three && cmp own/three x.folded'
works "/proc/self/fd/3, a pipe" sh -c '{ pjfold -o /proc/self/fd/3 x.folded 3>&1 | cmp - x.folded; }'
mkfifo own/fifo place/fifo
works "a FIFO of this user" sh -c 'cat own/fifo >own/got & pjfold -o own/fifo x.folded; wait; cmp own/got x.folded'
works "  in a folder of everybody" sh -c 'cat place/fifo >own/got & pjfold -o place/fifo x.folded; wait; cmp own/got x.folded'
works "a new file there" sh -c 'pjfold -o place/new x.folded && cmp place/new x.folded && pjfold -o place/new y.folded && cmp place/new y.folded'
works "nothing is left behind" sh -c '[ -z "$(find place own theirs tmp -name ".*.tmp")" ]'
