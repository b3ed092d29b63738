#!/bin/sh
# Contrast and colour distances, as TAP: test/svg/contrast.mjs on the real pjsvg.
# covers: svg/layout/palette.c svg/layout/styles.c svg/viewer.css
cd "$(dirname "$0")/../.." || exit 1
command -v node >/dev/null || { echo "1..0 # SKIP no node"; exit 0; }
exec node test/svg/contrast.mjs "${PJ_BUILD:-build/std-cc}/bin/pjsvg"
