#!/bin/sh
# hungmounts.t - ten FUSE mounts of one user that do not answer: helper processes of pjrecord that hang are replaced within seconds, stacks
# of others that start meanwhile are complete, and nothing stays off.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/unwind/cfihelpers.c record/unwind/cfistarter.c common/process/helperprocess.c common/process/backoff.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"
[ -c /dev/fuse ] || skip_all "no /dev/fuse"
have cc || skip_all "no compiler for the load"
cc -O2 -fomit-frame-pointer -o load "$PJ_TOP/test/lib/loads/load.c" || skip_all "the load does not compile"
# distributions let everybody open it; where this one does not, a copy of the device does
fuse=$arena/fuse
mknod -m 666 "$fuse" c 10 229 || skip_all "mknod is not allowed here"

# others SECONDS: programs of other users that start one after the other, each from a file of its own
others()
{
	other=0
	until_s=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $until_s ]; do
		other=$((other + 1))
		install -m 755 load "$arena/other$other"
		if [ $((other % 2)) = 0 ]; then "$arena/other$other" 400; else setpriv --reuid=65533 --regid=65533 --clear-groups "$arena/other$other" 400; fi
	done >/dev/null 2>&1
}

pjrecord -v --all -F 499 --unwind=tables --window=5 --dir=out >paths 2>log &
recorder=$!
sleep 2
kill -0 $recorder || skip_all "pjrecord does not run here: $(head -n 1 log)"
# as root in another mount namespace, who then becomes the attacker: root may look into such a mount, not into one of a user namespace
"$(program hungmounts)" "$arena" 10 "$attack_secs" "$fuse" >mounts 2>&1 &
attack=$!
attacks="$attacks $attack"
others "$attack_secs"
wait $attack
sed 's/^/# /' mounts
# the servers are gone, so that all that hung may end; what was avoided comes back
others 8
ok "SIGTERM is answered" ends_within 2 $recorder
sed 's/^/# /' log
grep -h '\.data$' paths >windows
for window in $(cat windows); do pjfold -q --stacks "$window"; done >stacks 2>why
ok "a helper process hung" grep -q '; [1-9][0-9]* helper process[es]* hung' log
ok "  then the files of its user were left alone: few others did" awk '/^pj_record_helpers_lost_total.*hung/ { print; good = $2 + 0 <= 4 } END { exit !good }' \
	out/pjrecord.prom
# Until a hung helper process is replaced, programs that start have no unwind tables: two of them at most.
hung=$(awk '/^pj_record_helpers_lost_total.*hung/ { n += $2 } END { print n + 0 }' out/pjrecord.prom)
awk '$NF ~ /^other/ { n[$NF] += $1; complete[$NF] += $1 * $2 / 100 }
	END { for (i in n) print i, n[i], complete[i], (n[i] - complete[i] > 3 && complete[i] < n[i] * .99 ? "incomplete" : "complete") }' stacks | LC_ALL=C sort >others
awk '$4 == "incomplete" { print "# " $0 } { n += $2; complete += $3 } END { print "# stacks of others, complete ones: " n, complete }' others
ok "stacks of programs that started meanwhile are complete" awk -v most=$((2 * hung)) '{ n += $2; complete += $3; bad += $4 == "incomplete" }
	END { print n, complete, bad, most; exit !(n > 500 && bad <= most && complete >= n * .95) }' others
ok "no helper process is left over, or missing" awk '/^pj_record_helpers_(off|lingering)/ { print; n++; bad += $2 } END { exit !(n == 10 && !bad) }' out/pjrecord.prom
done_testing
