#!/bin/sh
# What an SVG carries, seen from outside, as TAP: node decodes the blob of the real pjsvg ($PJSVG) back to folded text, byte for
# byte; the embedded script may not spell the end of a script or of CDATA; its size has a limit; output is well-formed.
# full-san: 20 s with sanitizers
# covers: svg/format/encode.c svg/document.c svg/assets.S svg/viewer.css svg/heat.css svg/strip.awk
cd "$(dirname "$0")/../.." || exit 1
command -v node >/dev/null || { echo "1..0 # SKIP no node"; exit 0; }
pjsvg=${PJSVG:-build/std-cc/bin/pjsvg}
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
n=0
t() { n=$((n + 1)); name=$1; shift; if "$@" >"$tmp/log" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/# /' "$tmp/log" | head -20; failed=1; fi; }
draw() { if [ -x "$pjsvg" ]; then "$pjsvg"; else node test/svg/encode.mjs; fi; }
round() {
    draw <"$1" >"$tmp/x.svg" && node test/svg/decode.mjs "$tmp/x.svg" >"$tmp/out" && LC_ALL=C sort "$1" | diff - "$tmp/out" | head -5 >"$tmp/d"
    cat "$tmp/d"; [ ! -s "$tmp/d" ]
}
# What a picture has beside its names and its call tree: static picture, config, style and script.
beyond() {
    awk '/class="pj-d"/ { sub(/class="pj-d">.*/, "class=\"pj-d\">"); print; data = 1 } data && /<\/script>/ { data = 0; sub(/.*<\/script>/, "</script>") } !data' "$1" >"$tmp/beyond"
    plain=$(wc -c <"$tmp/beyond") packed=$(gzip -9c "$tmp/beyond" | wc -c)
    echo "$plain bytes, $packed compressed"
    [ "$plain" -gt 20000 ] && [ "$plain" -le 102400 ] && [ "$packed" -le 34816 ]
}
reference() { node test/svg/encode.mjs <"$1" >"$tmp/x.svg" && node test/svg/decode.mjs "$tmp/x.svg" | diff - "$2"; }
well_formed() { command -v xmllint >/dev/null || return 0; draw <"$1" >"$tmp/x.svg" && xmllint --huge --noout "$tmp/x.svg"; }

for f in 1000 20000; do
    node test/svg/generate.mjs $f 7 >"$tmp/g$f"
    t "generated, $f frames: folded text comes back" round "$tmp/g$f"
    t "generated, $f frames: well-formed" well_formed "$tmp/g$f"
done
# Weights beyond 32 bits, long shared prefixes (past 87), wide callers (move-to-front beyond 10), deep pops (beyond 7), suffixes.
node -e '
const out = [], long = "x".repeat(100);
for (let i = 0; i < 30; i++) out.push(`a;${long}${i};leaf${i % 7} ${2 ** i * 4097}`, `a;loop;f${i};g_[k] ${i + 1}`, `b;loop;f${29 - i} 3`);
for (let i = 0; i < 60; i++) out.push(Array.from({ length: i + 1 }, (_, k) => "d" + k).join(";") + " 1", Array.from({ length: 60 }, (_, k) => "e" + k).join(";") + ";z" + i + "_[j] 9007199254");
out.push("\u00fc\u00e4\u{1f525}\u65e5\u672c;\u00fc\u00e4\u{1f525}\u65e5 5", "same 1", "same_[k] 2", "same_[j] 3", "&amp;&lt;<b> 7", "one two three 4", "\\x41;\\\\u202e;\u202e;\x01\\x4 8");
process.stdout.write(out.join("\n") + "\n")' >"$tmp/odd"
t "odd shapes: folded text comes back" round "$tmp/odd"
LC_ALL=C sort "$tmp/odd" >"$tmp/odd.sorted"
t "odd shapes: the reference encoder agrees with the decoder" reference "$tmp/odd" "$tmp/odd.sorted"
sh svg/viewer/assemble viewer.js >"$tmp/viewer.js"
sh svg/viewer/assemble heat.js >"$tmp/heat.js"
t "the viewer spells no end of script or CDATA, no comment, no innerHTML, no eval" sh -c '! grep -nE "\]\]>|</script|<!--|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|onload=" svg/viewer/*.js "$@"' sh "$tmp/viewer.js" "$tmp/heat.js"
t "the style spells no end of style or CDATA and names no address" sh -c '! grep -nE "\]\]>|</style|<!--|url\(|@import" svg/viewer.css svg/heat.css'
node test/svg/generate.mjs 100000 7 >"$tmp/many"
draw <"$tmp/many" >"$tmp/many.svg"
t "a picture of 100,000 frames has at most 100 kB beyond names and call tree, 34 kB of them compressed" beyond "$tmp/many.svg"
t "the viewer is ASCII" sh -c '! LC_ALL=C grep -n "[^ -~	]" svg/viewer/*.js svg/viewer.css svg/heat.css'
echo "1..$n"
exit ${failed:-0}
