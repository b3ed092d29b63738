#!/bin/sh
# Hostile names and options: every SVG is well-formed, holds the elements and attributes that a harmless one holds, and nothing
# in it is invisible, reorders text or is not UTF-8. A browser looks at the same pictures in test/svg/browser.
# full: 13 s, 40 s with sanitizers
# covers: svg/format/xml.c svg/document.c svg/request.c common/visible.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$PJ_TOP/test/lib/tap.sh"

if ! have xmllint; then
	echo "1..0 # SKIP xmllint is missing (libxml2-utils)"
	exit 0
fi

# What must not stand in any picture, as bytes: C0 but newline and tab (the viewer's own), DEL, C1, soft hyphen, Arabic letter
# mark, Mongolian vowel separator, zero width and direction, line separators, invisible operators, BOM, noncharacters, tags.
raw='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]'
raw="$raw"'|\xef\xbb\xbf|\xef\xb7[\x90-\xaf]|\xef\xbf[\xb0-\xbf]|\xed[\xa0-\xbf]|\xf3\xa0'

# What may be in a picture.
names='svg title desc style rect g text tspan path script'
allowed=$(for e in $names; do printf 'local-name()="%s" or ' "$e"; done)
count()
{
	xmllint --huge --xpath "count($1)" "$2" 2>&1
}

# shellcheck disable=SC2317 # called by ok
inert()
{
	xmllint --huge --noout "$1" &&
		iconv -f UTF-8 -t UTF-8 "$1" >/dev/null &&
		! LC_ALL=C grep -qaP "$raw" "$1" &&
		[ "$(count "//*[not(${allowed}false())]" "$1")" = 0 ] &&
		[ "$(count '//*[local-name()="script"]' "$1")" = "$scripts" ] &&
		[ "$(count '//@*[starts-with(name(),"on") or contains(name(),"href") or name()="style" or name()="id"]' "$1")" = 0 ] &&
		[ "$(count '//processing-instruction()|//comment()' "$1")" = 0 ]
}

echo 'main;work 5' >harmless.folded
printf '# pj unit=%%3Cscript%%3Ealert(1)%%3C/script%%3E\nmain;work 900 500\nmain;old 1 0\n' >gone.folded # too few to judge: told in the scale
pjsvg harmless.folded -o harmless.svg
scripts=$(count '//*[local-name()="script"]' harmless.svg)
ok 'a harmless picture' inert harmless.svg
pjsvg gone.folded >out.svg
ok 'a hostile unit in the header of a difference' inert out.svg

for f in "$top"/test/attack/*.folded; do
	hostile=$(basename "$f" .folded)
	pjsvg "$f" >out.svg 2>err || echo "status $?" >>err
	ok "names: $hostile" inert out.svg
	ok "messages: $hostile" not env LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' err
	for palette in hot chain; do
		pjsvg --colors $palette --hash -i "$f" >out.svg 2>/dev/null
		ok "names: $hostile, $palette" inert out.svg
	done
done

# The first 40 lines of each file as text of every option: one line a time would take long, all together is as hostile.
for f in "$top"/test/attack/*.folded; do
	text=$(head -n 40 "$f" | cut -c1-400 | tr -d '\000')
	pjsvg --title "$text" --subtitle "$text" --notes "$text" --countname "$text" --nametype "$text" harmless.folded >out.svg
	ok "options: $(basename "$f" .folded)" inert out.svg
	pjsvg --base "$text" --base main --palette-map "$(printf %s "$text" | tr / _ | cut -c1-200 | head -n 1)x" harmless.folded >out.svg 2>err
	ok "names of frames and files: $(basename "$f" .folded)" inert out.svg
	pjsvg --title "$text" --subtitle "$text" --notes "$text" --countname "$text" --nametype "$text" gone.folded >out.svg
	ok "options of a difference: $(basename "$f" .folded)" inert out.svg
	pjsvg --base "$text" harmless.folded >out.svg 2>>err
	pjsvg --nameattr "$text" harmless.folded 2>>err
	pjsvg --unpack "$text" 2>>err
	ok "names of frames and files: $(basename "$f" .folded): messages" not env LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' err
	pjsvg --title "$text" --subtitle "$text" --notes "$text" /dev/null >out.svg 2>/dev/null
	scripts=0 ok "options without samples: $(basename "$f" .folded)" inert out.svg
done

# Files of names: attributes and palettes that are as hostile as the names they speak of.
for f in "$top"/test/attack/*.folded; do
	hostile=$(basename "$f" .folded)
	head -n 40 "$f" | cut -c1-400 | tr -d '\000' | awk '{ n = split($0, frame, ";"); sub(/ [0-9]*$/, "", frame[n]); f = frame[n]
		printf "%s\ttitle=%s\thref=%s\n", f, f, f; printf "%s\thref=https://a/%s\n", f, f; printf "main\ttitle=\"%s\"\n", f }' >attrs
	pjsvg --nameattr attrs "$f" >out.svg 2>err
	ok "attributes: $hostile" inert out.svg
	ok "attributes: $hostile: messages" not env LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' err
	ok "attributes: $hostile: no address but http, https" not grep -qaE '"attrs".*[^\\]","(javascript|data|vbscript|file):' out.svg
	head -n 40 "$f" | tr -d '\000' | sed 's/$/->rgb(1,2,3)/; 3s/.*/x->rgb("><script>,0,0)/' >map
	pjsvg --palette-map map "$f" >out.svg 2>err
	ok "palette: $hostile" inert out.svg
	ok "palette: $hostile: messages" not env LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' err
	LC_ALL=C sed 's/ [0-9]*$/ 7 5/' "$f" >both.folded
	pjsvg both.folded >out.svg 2>/dev/null
	ok "names: $hostile, a difference" inert out.svg
	for how in --reverse --flamechart '--base main'; do
		# shellcheck disable=SC2086
		pjsvg $how "$f" >out.svg 2>/dev/null
		grep -q pj-d out.svg || continue
		ok "names: $hostile, $how" inert out.svg
	done
done

# What begins with a NUL is refused as binary; one that comes late is a name like any other.
{
	printf '# %66000s\nmain;c00' x
	printf '\0x 5\nmain;\0\0 5\n'
} >nul.folded
pjsvg nul.folded >out.svg
scripts=$(count '//*[local-name()="script"]' harmless.svg)
ok 'names: NUL' inert out.svg
ok 'a NUL is visible' grep -qF 'c00\x00x' out.svg

# Colours and fonts reach attributes and style: only what is on the list does.
# shellcheck disable=SC2317 # called by ok
refused()
{
	pjsvg "$1=$2" harmless.folded >out.svg 2>err
	[ $? = 2 ] && [ ! -s out.svg ]
}
for bad in '' '"' "'" 'red;}' '#12345' '#xyzxyz' 'url(x)' 'var(--a)' 'a<b' 'a&b' 'a\b' 'expression(1)' 'a:b' 'a/*b' "$(printf 'a\nb')"; do
	for option in --colors --bgcolors --search-color --fonttype; do
		ok "$option='$(printf %s "$bad" | tr '\n' ' ')' is refused" refused $option "$bad"
	done
done
ok 'a font list is taken' pjsvg --fonttype 'Noto Sans, DejaVu Sans Mono' harmless.folded -o out.svg

# Escapes can be seen.
pjsvg "$top/test/attack/control.folded" >out.svg
ok 'a tab is visible' grep -qF 'a\x09b' out.svg
pjsvg "$top/test/attack/bidi.folded" >out.svg
ok 'an override is visible' grep -qF '\u202ecod.tnemucod\u202c' out.svg
pjsvg "$top/test/attack/utf8.folded" >out.svg
ok 'a byte that is not UTF-8 is visible' grep -qF 'caf\xe9' out.svg

# The parts that are put in as they are must not end their element.
sh "$top/svg/viewer/assemble" viewer.js >stripped.js
ok 'there is a viewer' [ -s stripped.js ]
ok 'the viewer does not end its script' not grep -qE ']]>|</script|<!--' stripped.js
# Exactly one CDATA section, which is the viewer.
is 'one CDATA section' "$(grep -c '<!\[CDATA\[' harmless.svg)" 1
awk '/<script><!\[CDATA\[/ { on = 1; sub(/.*<!\[CDATA\[/, "") } on { print }' harmless.svg | sed '/^]]><\/script>$/,$d' >viewer.js
same 'the viewer is byte-identical' viewer.js stripped.js
done_testing
