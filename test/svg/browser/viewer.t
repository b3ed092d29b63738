#!/bin/sh
# Browser tests of the viewer, as TAP (prove test/svg/browser/viewer.t). Skips where there is no Chromium, node or playwright-core.
# PJSVG: the pjsvg to test (default: the build's); CHROMIUM: the browser. Arguments go to the tests: part of a test's name.
# stage: browser
# covers: svg/viewer/main.js svg/document.c
cd "$(dirname "$0")/../../.." || exit 1
skip() { echo "1..0 # SKIP $1"; exit 0; }
CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
export CHROMIUM
[ -x "$CHROMIUM" ] || skip "no chromium"
command -v node >/dev/null || skip "no node"
[ -f build/node/node_modules/playwright-core/package.json ] || sh test/svg/browser/setup.sh >/dev/null 2>&1 ||
    skip "no playwright-core (test/svg/browser/setup.sh installs it)"
exec node test/svg/browser/viewer.mjs "$@"
