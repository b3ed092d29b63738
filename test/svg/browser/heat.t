#!/bin/sh
# Browser tests of the heat map, as TAP, in the same way as viewer.t.
# PJSVG: the pjsvg beside which pjheat is (default: the build's); CHROMIUM: the browser. Arguments: part of a test's name.
# stage: browser
# covers: svg/pjheat.c svg/heat.css svg/heatpicture.c svg/viewer/heat.js svg/viewer/heatinput.js svg/viewer/heatmap.js
# covers: svg/viewer/heattimes.js svg/viewer/slots.js svg/viewer/heatcompare.js svg/viewer/heatcontrols.js svg/viewer/heatmarkers.js
cd "$(dirname "$0")/../../.." || exit 1
skip() { echo "1..0 # SKIP $1"; exit 0; }
CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
export CHROMIUM
[ -x "$CHROMIUM" ] || skip "no chromium"
command -v node >/dev/null || skip "no node"
sh test/svg/browser/setup.sh >/dev/null 2>&1 ||
    skip "no playwright-core (test/svg/browser/setup.sh installs it)"
[ -x "$(dirname "${PJSVG:-build/std-cc/bin/pjsvg}")/pjheat" ] || skip "pjheat is not built"
exec node test/svg/browser/heat.mjs "$@"
