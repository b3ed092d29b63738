#!/bin/sh
# Verdicts of a heat map's page on two ranges against those of pjdiff and pjsvg for the same samples: 200 pairs, as TAP.
# covers: svg/viewer/comparison.js svg/viewer/normalnames.js svg/viewer/significance.js svg/viewer/verdicts.js
# covers: common/significance.c diff/normalname.c
# full-san: 15 to 60 s with sanitizers; unit tests, cases and fuzz corpora of its modules run with them in ./check
cd "$(dirname "$0")/../.." || exit 1
skip() { echo "1..0 # SKIP $1"; exit 0; }
bin=${PJ_BUILD:-build/std-cc}/bin
command -v node >/dev/null || skip "no node"
for tool in pjheat pjdiff pjsvg; do [ -x "$bin/$tool" ] || skip "$tool is not built"; done
exec node test/svg/verdicts.mjs "$bin" 200
