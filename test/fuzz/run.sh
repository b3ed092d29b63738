#!/bin/sh
# run.sh - libFuzzer on every target, or on those that match T, SECS seconds each: make fuzz T=folded SECS=60
# Inputs are of 8192 bytes, or of as many as a target says itself ("largest:").
# Starts from test/corpus; what it learns stays in build/; a crash is written there, too, and shown. So is an input that costs more than its
# budget (cost.h). SECS=0 runs the corpora once, with steps counted.
set -u
# code that dies on bad input leaks by design
export ASAN_OPTIONS=detect_leaks=0
status=0
for target in "$PJ_BUILD"/test/fuzz/*/*_fuzz; do
	name=${target##*/}
	name=${name%_fuzz}
	if [ -n "${T:-}" ] && ! echo "$name" | grep -qE -- "$T"; then continue; fi
	mkdir -p "build/corpus/$name" "test/corpus/$name"
	largest=$(sed -n 's:^/\* largest\: \([0-9]*\) \*/$:\1:p' test/fuzz/*/"${name}_fuzz.c")
	echo "== $name, ${SECS:-60} s"
	limit=-max_total_time=${SECS:-60}
	if [ "${SECS:-60}" = 0 ]; then limit=-runs=0; fi
	if ! PJ_FUZZ_COST=1 "$target" "$limit" -max_len="${largest:-8192}" -timeout=60 -rss_limit_mb=2000 -detect_leaks=0 -close_fd_mask=2 \
		-print_final_stats=0 -artifact_prefix="$PWD/build/corpus/$name-" "build/corpus/$name" "test/corpus/$name" >"build/corpus/$name.log" 2>&1; then
		status=1
		grep -avE '^#[0-9]' "build/corpus/$name.log" | tail -n 40
	fi
	grep -aE '^#[0-9]+.*DONE|^stat|BINGO' "build/corpus/$name.log" | tail -n 1
	grep -a '^# highest' "build/corpus/$name.log"
done
exit $status
