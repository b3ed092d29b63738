#!/bin/sh
# The viewer's source, as TAP: what the modules that need no page compute (node --test); their form: at most 300 lines of 120
# columns, and the rules of svg/viewer/eslint.config.js where eslint is (in PATH or build/node); errors that the join reports.
# once: runs modules of the viewer without a tool
# covers: svg/viewer/join.awk svg/viewer/assemble svg/viewer/eslint.config.js svg/strip.awk svg/viewer/decode.js
# covers: svg/viewer/derive.js svg/viewer/forms.js svg/viewer/functions.js svg/viewer/labels.js svg/viewer/layout.js
# covers: svg/viewer/names.js svg/viewer/numbers.js svg/viewer/search.js svg/viewer/shell.js svg/viewer/significance.js
# covers: svg/viewer/comparison.js svg/viewer/exports.js svg/viewer/normalnames.js svg/viewer/verdicts.js
# covers: svg/viewer/heatflags.js svg/viewer/heattimes.js svg/viewer/slots.js svg/viewer/tree.js svg/viewer/trie.js svg/viewer/view.js
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"
viewer=$PJ_TOP/svg/viewer

# shellcheck disable=SC2317 # called by ok
fits()
{
	awk 'length($0) > 120 { print FILENAME ": " FNR ": more than 120 columns"; bad = 1 }
		FNR == 301 { print FILENAME ": more than 300 lines"; bad = 1 } END { exit bad }' "$viewer"/*.js
}
ok 'modules have at most 300 lines, of at most 120 columns' fits

mkdir modules
# join NAME MAIN ERROR: a folder of two modules, the text of main.js; the join fails with this message
join()
{
	printf '%s\n' "$2" >modules/main.js
	if awk -f "$viewer/join.awk" modules/main.js >out 2>err; then fail "$1" out
	else
		ok "$1" grep -F "$3" err
	fi
}
printf 'export const shared = 1;\n' >modules/other.js
join 'a name of two modules is an error' "import { shared } from './other.js';
const shared = 2;" 'also declared in modules/other.js'
join 'the second of a line, too' "import { shared } from './other.js';
const ONE = 1, LIMIT = 2;
const TWO = 2, LIMIT = 2;" 'also declared in modules/main.js'
join 'a renamed import is an error' "import { shared as mine } from './other.js';" 'an import that is not understood'
join 'a missing module is an error' "import { gone } from './gone.js';" 'modules/gone.js: no such module'
join 'a default export is an error' 'export default 5;' 'an export that is not understood'
printf '%s\n' "import { shared } from './other.js';" '// a comment' 'console.log(shared + 1);' >modules/main.js
awk -f "$viewer/join.awk" modules/main.js >joined.js
is 'modules come behind what they import' "$(tr '\n' ' ' <joined.js)" "(() => { 'use strict'; const shared = 1; console.log(shared + 1); })(); "

# what the shortener must keep
cat >forms.js <<'JS'
(() => {
  'use strict';
  const total = [8, 4], unit = 2, found = [/^foo bar/i, /[/]"/];
  class Shape {
    constructor(width) {
      this.width = width;
    }

    area(width) {
      return this.width * width;
    }
  }
  function share(frame) {
    return total[frame]
      / unit * 100;
  }
  function part({ width, unit }) {
    const share = { width, unit: unit + 1 };
    for (let total = 0; total < 3; total++);
    return share;
  }
  const empty = value => value === '' ? 'empty' : value === '1' ? 'one' : 'other';
  console.log(share(0), found.map(one => one.test('FOO BAR"/')), new Shape(3).area(4), part({ width: 5, unit: 6 }),
    empty(0), empty(''), empty(1), empty('1'), typeof /a/, 8 / unit / unit);
})();
JS
awk -v script=1 -f "$PJ_TOP/svg/strip.awk" forms.js >short.js
ok 'the shortener makes a script shorter' [ "$(wc -c <short.js)" -lt "$(($(wc -c <forms.js) * 2 / 3))" ]
if have node; then
	is '  and leaves its meaning' "$(node short.js)" "$(node forms.js)"
fi
# refuses NAME CODE: the shortener ends with an error
refuses()
{
	printf '(() => {\n%s\n})();\n' "$2" >bad.js
	ok "refused: $1" sh -c '! awk -v script=1 -f "$1/svg/strip.awk" bad.js >/dev/null 2>why && grep -q strip.awk why' sh "$PJ_TOP"
}
refuses 'a template of two lines' 'const text = `one
two`;'
refuses 'a field of a class' 'class Shape { width = 0; area() { return this.width; } }'

sh "$viewer/assemble" viewer.js >script.cjs
ok 'the script is not empty' [ "$(wc -c <script.cjs)" -gt 20000 ]
ok 'the script has no comment and no import' not grep -nE '^[[:space:]]*//|^import|^export' script.cjs
if have node; then
	ok 'node parses the script' node --check script.cjs
	sh "$viewer/assemble" heat.js >heat.cjs
	ok '  that of heat maps, too' node --check heat.cjs
	ok 'node --test' node --test "$PJ_TOP/test/svg/viewer"
else
	skip 'node --test' 'node is missing'
fi
eslint=$(command -v eslint || echo "$PJ_TOP/build/node/node_modules/.bin/eslint")
if [ -x "$eslint" ]; then
	ok 'eslint' sh -c 'cd "$1" && exec "$2" -c eslint.config.js .' sh "$viewer" "$eslint"
else
	skip 'eslint' 'eslint is missing (npm install eslint, in build/node)'
fi
done_testing
