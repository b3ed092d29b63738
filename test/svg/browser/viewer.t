#!/bin/sh
# Browser tests of the viewer, as TAP (prove test/svg/browser/viewer.t). Skips where there is no Chromium, node or playwright-core.
# PJSVG: the pjsvg to test (default: the build's); CHROMIUM: the browser. Arguments go to the tests: part of a test's name.
# stage: browser
# covers: svg/document.c svg/viewer/actions.js svg/viewer/address.js svg/viewer/collect.js svg/viewer/colours.js
# covers: svg/viewer/columns.js svg/viewer/commands.js svg/viewer/crumbs.js svg/viewer/dom.js svg/viewer/draw.js
# covers: svg/viewer/find.js svg/viewer/framemenu.js svg/viewer/geometry.js svg/viewer/input.js svg/viewer/legend.js
# covers: svg/viewer/main.js svg/viewer/menu.js svg/viewer/page.js svg/viewer/save.js svg/viewer/savepicture.js svg/viewer/select.js svg/viewer/state.js
# covers: svg/viewer/statusline.js svg/viewer/table.js svg/viewer/toolbar.js svg/viewer/tooltip.js
cd "$(dirname "$0")/../../.." || exit 1
skip() { echo "1..0 # SKIP $1"; exit 0; }
CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
export CHROMIUM
[ -x "$CHROMIUM" ] || skip "no chromium"
command -v node >/dev/null || skip "no node"
sh test/svg/browser/setup.sh >/dev/null 2>&1 ||
    skip "no playwright-core (test/svg/browser/setup.sh installs it)"
exec node test/svg/browser/viewer.mjs "$@"
