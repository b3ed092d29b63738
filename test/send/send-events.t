#!/bin/sh
# send-events.t - a window with several events is sent as a window for each event, with the stacks that pjfold gives this event.
# covers: send/spool/folding.c send/spool/chunkinfo.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
unset PJ_STORE

have pjsend || skip_all "pjsend is not built"
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write
[ -x "$write" ] || skip_all "$write is not built"
start=1700000000

# sent NAME KEY=VALUE...: makes a window with these properties of the recording, sends it to NAME/store, and unpacks its windows to NAME/1, NAME/2 ...
sent()
{
	name=$1
	shift
	mkdir -p "$name/out"
	"$write" pj=1 "$@" >window
	cp window "$name/out/$start.data"
	pjsend -q --once "$name" >out 2>err
	is "$name: status of pjsend" $? 0
	pjfetch -q -d "$name" --from=$start --to=$((start + 60)) --each -o "$name/each"
	parts=0
	for f in "$name"/each/*; do
		parts=$((parts + 1))
		mv "$f" "$name/$parts"
	done
}

# event FILE: the event of a folded window, and the sum of its stacks
event()
{
	awk '/^#/ { match($0, / event=[^ ]*/); event = substr($0, RSTART + 7, RLENGTH - 7) } !/^#/ { sum += $NF } END { print event, sum }' "$1"
}

sent two events=2
is "  two windows, with the samples of each event" "$(for f in two/[0-9]; do event "$f"; done | sort)" "cpu-clock:ppp 163
cycles 157"
for f in two/[0-9]; do
	grep -v '^#' "$f" >got
	pjfold -q --only=event="$(event "$f" | cut -d' ' -f1)" window >want 2>err
	ok "  the stacks of $(event "$f")" test -s want
	same "    are those of pjfold" want got
done
is "  nothing is left" "$(find two/out two/bad -type f 2>/dev/null)" ""

sent patterns events=4 seed=3
pjfold --list-events window | awk 'NR > 1 { print $3, $1 }' | sort >want
for f in patterns/[0-9]; do event "$f"; done | sort >got
same "  each event has a window, and no other" want got

sent one events=1
is "  one event: one window" "$(find one -name '[0-9]' | wc -l) $(event one/1 | cut -d' ' -f1)" "1 cpu-clock:ppp"

# A pjfold that cannot read the first event listed, or the last one.
mkdir half
cp "$(command -v pjsend)" half/
real=$(command -v pjfold)
"$write" pj=1 events=2 >window
for which in 1 2; do
	event=$(pjfold --list-events window | awk -v n=$which 'NR == n + 1 { print $3 }')
	printf '#!/bin/sh\ncase " $* " in *"--only=event=%s "*) echo "pjfold: damaged" >&2; exit 1 ;; esac\nexec "%s" "$@"\n' \
		"$event" "$real" >half/pjfold
	chmod 755 half/pjfold
	mkdir -p bad$which/out
	cp window bad$which/out/$start.data
	half/pjsend -q --once bad$which >out 2>err
	is "event $which of 2 cannot be folded: the window is used in part" "$? $(cat err)" \
		"0 pjsend: window $start is damaged and used in part: pjfold: damaged"
	pjfetch -q -d bad$which --from=$start --to=$((start + 60)) --each -o bad$which/each
	is "  and the other event is sent" "$(find bad$which/each -type f | wc -l)" 1
done

done_testing
