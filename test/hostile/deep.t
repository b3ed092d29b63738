#!/bin/sh
# Stacks as deep as a copy of a stack can hold: they cost their tenant its stacks, not the windows of others, and no sample.
# stage: live
# full: an attack of 20 s or more beside the tools; planted.t and escapes.t are in the gate
# covers: record/processes/budgets.c record/unwind/samplestack.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$PJ_TOP/test/hostile/lib.sh"
# shellcheck source=test/hostile/beside.sh
. "$PJ_TOP/test/hostile/beside.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 only"

attacker=65532 # a user of its own: samples of other tests' attacks count, too
beside_secs=$((attack_secs / 2 + 1))
record_victim deep deep $((2 + seed % 6))
ok "the recording is stopped within 2 s" [ "$stopped" = 0 ]
ok "no sample was lost" not grep -q 'LOST [0-9,]* samples\{0,1\}\b' "$rec/err"
ok "the victim has its samples" has_samples
ok "99 % of them with complete stacks" [ $((100 * complete)) -ge $((99 * samples)) ]

# samples, those without their stacks, and the most frames of one
awk '/^deep;/ { sum += $NF; k = split($0, frame, ";") - 1; most = k > most ? k : most; bytes += $NF * 8 * k }
	/^deep;\[over budget\] / { over += $NF }
	END { print sum + 0, over + 0, most + 0, bytes + 0 }' "$rec/folded" >counts
read -r sum over most bytes <counts
echo "# deep: $sum samples, $over over budget, at most $most frames, $bytes bytes of addresses"
ok "a sample has at most 2,048 frames, and what the kernel adds" [ "$most" -le 2120 ]
ok "a sample has 5 kB on average, beyond the first 512 kB" [ "$bytes" -le $((5200 * sum + 524288)) ]
# 500 bytes for each sample of the others: this host may run more than this test
others=$(awk -v sum="$sum" '!/^#/ { n += $NF } END { print n - sum }' "$rec/folded")
bytes=$(cat "$rec"/out/*.data | wc -c)
ok "so has it in the window" [ "$bytes" -le $((5200 * sum + 524288 + 2500000 + 500 * others)) ]
if [ "$sum" -gt 150 ]; then
	ok "some are over budget" [ "$over" -gt 0 ]
	ok "the tenant is named in the line" grep -q "over budget: user $attacker [0-9,]* sample" "$rec/err"
	"$build/bin/pjfold" --info "$rec"/out/*.data >told
	ok "in pjfold --info" grep -q "^over budget *user $attacker: [1-9]" told
	ok "and in pjrecord.prom" grep -q "^pj_record_over_budget_total{tenant=\"user $attacker\",what=\"samples\"} [1-9]" "$rec/pjrecord.prom"
	if have perf; then
		perf script -F comm,pid,time,ip,sym,dso -i "$(ls "$rec"/out/*.data)" 2>/dev/null >listing
		is "perf script has each, too, with comm and time" "$(grep -B 1 '(\[over budget\])' listing | grep -c '^deep  *[0-9][0-9]*  *[0-9.]*:')" "$over"
	fi
else
	skip "over budget" "this machine is too busy for the attack: $sum samples"
fi
done_testing
