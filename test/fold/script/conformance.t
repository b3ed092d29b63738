#!/bin/sh
# conformance.t - `pjfold --as-flamegraph` gives the bytes of FlameGraph's stackcollapse-perf.pl.
#
# On FlameGraph's own inputs with each option, against digests of what the script wrote (conformance.sums); the inputs are
# CDDL and no part of this project: PJ_SHARED/conformance/flamegraph holds them (default ../shared). Where FLAMEGRAPH_DIR names
# a checkout of FlameGraph, the script itself runs, too: on the same inputs, and on PJ_HUNT (default 2000) odd ones.
#
# `conformance.t --sums` writes conformance.sums anew, with FLAMEGRAPH_DIR at 41fee1f.
# covers: fold/script/asflamegraph.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

under_top()
{
	case $1 in
	/*) echo "$1" ;;
	*) echo "$top/$1" ;;
	esac
}

inputs=$(under_top "${PJ_SHARED:-../shared}")/conformance/flamegraph
script=
[ -n "${FLAMEGRAPH_DIR:-}" ] && script=$(under_top "$FLAMEGRAPH_DIR")/stackcollapse-perf.pl
sums=$top/test/fold/script/conformance.sums
options='--pid --tid --kernel --jit --all --addrs'

# by_script INPUT OPTION: ended by an empty line, as the script loses the last sample otherwise
by_script()
{
	{ gzip -dcf "$1" && printf '\n\n'; } | perl "$script" "$2" 2>script.err
}

if [ "${1:-}" = --sums ]; then
	{
		sed -n '/^#/p' "$sums"
		for input in "$inputs"/*.txt "$inputs"/*.gz; do
			for option in $options; do
				sum=$(by_script "$input" "$option" | sha256sum)
				echo "${sum%% *} $(basename "$input") $option"
			done
		done
	} >new.sums
	exec cp new.sums "$sums"
fi

if ! [ -d "$inputs" ]; then
	echo "1..0 # SKIP no FlameGraph inputs in $inputs: nothing compared (set PJ_SHARED)"
	exit 0
fi

if ! have pjfold; then
	fail "pjfold is built"
	done_testing
fi

compared=0
while read -r sum name option; do
	case $sum in '#'* | '') continue ;; esac
	compared=$((compared + 1))
	if ! [ -r "$inputs/$name" ]; then
		fail "$name $option: the input is there"
		continue
	fi
	pjfold --as-flamegraph "$option" "$inputs/$name" >got 2>err
	got=$(sha256sum <got)
	if [ "${got%% *}" = "$sum" ]; then pass "$name $option"; else fail "$name $option" err got; fi
done <"$sums"
is "14 inputs x 6 options were compared" "$compared" 84

if [ -z "$script" ]; then
	skip "the script itself" "FLAMEGRAPH_DIR is not set"
elif ! [ -r "$script" ]; then
	fail "FLAMEGRAPH_DIR holds stackcollapse-perf.pl"
else
	for input in "$inputs"/*.txt "$inputs"/*.gz; do
		for option in $options; do
			by_script "$input" "$option" >want
			pjfold --as-flamegraph "$option" "$input" >got 2>/dev/null
			same "live: $(basename "$input") $option" want got
		done
	done
	perl "$top/test/fold/script/asflamegraph-hunt.pl" "$script" pjfold "${PJ_HUNT:-2000}" "${PJ_HUNT_SEED:-1}" >hunt 2>&1
	hunted=$?
	sed -n '$p' hunt
	ok "live: odd and damaged inputs" test $hunted -eq 0
	[ $hunted -eq 0 ] || sed 's/^#* */# /' hunt
fi
done_testing
