#!/bin/sh
# docs.t - help, man pages, README and NEWS say what the tools do; the examples of the man pages run.
# once: texts of the tools, which do not depend on the build
# covers: common/filter/opt.c fold/foldopts.c svg/request.c diff/diffopts.c record/recordopts.c jmap/mapopts.c
# covers: send/sendopts.c flame/pjflame.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

# Options as the man page has them: every Fl of the .It lines in OPTIONS ("Fl o", "Fl Fl output", "Fl -output").
man_options()
{
	awk '/^\.Sh / { on = $2 == "OPTIONS" }
	on && /^\.It / {
		for (i = 2; i <= NF; i++) {
			if ($i != "Fl") continue
			if ($(i + 1) == "Fl") print "--" $(i + 2)
			else print "-" $(i + 1)
			while ($(i + 1) == "Fl") i++
		}
	}' "$1" | sed 's/\\-/-/g; s/\\&//g; s/[=,].*//' | sort -u
}

help_options()
{
	"$1" --help | sed -n 's/^  \(-.\), \(--[a-z0-9-]*\).*/\1\n\2/p; s/^  \(-.\)[ =].*/\1/p; s/^      \(--[a-z0-9-]*\).*/\1/p; s/^  \(-.\)$/\1/p' |
		grep -vx -e --help -e --version | sort -u
}

# Lines "GROUP: OPTION" in the order of the man page: groups are the .Ss sections of OPTIONS.
man_groups()
{
	awk '/^\.Sh / { on = $2 == "OPTIONS" }
	on && /^\.Ss / { group = substr($0, 5) }
	on && /^\.It / {
		for (i = 2; i <= NF; i++) {
			if ($i != "Fl") continue
			option = $(i + 1) == "Fl" ? "--" $(i + 2) : "-" $(i + 1)
			sub(/[=,].*/, "", option)
			print group ": " option
			while ($(i + 1) == "Fl") i++
		}
	}' "$1" | sed 's/\\-/-/g; s/\\&//g' | grep -v -e ': --help$' -e ': --version$' -e ': -h$'
}

help_groups()
{
	"$1" --help | awk '
	/^[A-Z][^:]*:$/ { group = substr($0, 1, length($0) - 1) }
	/^$/ { group = "" }
	match($0, /^  (-.|  )(, |  )?(--[a-z0-9-]+)?/) && /^ +-/ {
		n = split(substr($0, 1, RLENGTH), option, /[ ,]+/)
		for (i = 1; i <= n; i++)
			if (option[i] ~ /^-/ && option[i] !~ /^--(help|version)$/) print group ": " option[i]
	}'
}

# Whether the tool knows the option at all (an alias that --help does not show).
known()
{
	mkdir -p known.d
	! (cd known.d && timeout 2 "$1" "$2" </dev/null 2>&1) | grep -q 'unknown option'
}

version=$(sed -n 's/^#define PJ_VERSION "\(.*\)"/\1/p' "$top/common/base.h")

for t in $(tools); do
	main=$(ls "$top"/*/"$t".c "$top"/*/"$t".sh 2>/dev/null)
	page=$top/man/$t.1
	does=$("$t" --help | sed -n "1s/^$t - //p")
	is "$t: --version" "$("$t" --version | head -n 1)" "$t (pj) $version"
	is "$t: -V" "$("$t" -V)" "$("$t" --version)"
	is "$t: the main's first comment is what --help says" \
		"$(head -n 3 "$main" | sed -n "s|^/\* $t - \(.*\)\. \*/\$|\1|p; s|^# $t - \(.*\)\.\$|\1|p")" "$does"
	long=$("$t" --help | awk 'length > 100')
	is "$t: no line of --help is longer than 100" "$long" ""
	if [ ! -e "$page" ]; then
		skip "$t: man page" "man/$t.1 is not written yet"
		continue
	fi
	is "$t: .Nd is what --help says" "$(sed -n 's/^\.Nd //p' "$page")" "$does"
	man_options "$page" | grep -vx -e --help -e --version >in-man
	help_options "$t" >in-help
	ok "$t: --help has options" test -s in-help
	# the man page has aliases, too
	help_groups "$t" >help-groups
	man_groups "$page" | awk 'FILENAME == ARGV[1] { sub(/.*: /, ""); shown[$0]; next } { option = $0; sub(/.*: /, "", option) }
		option in shown' in-help - >man-groups
	is "$t: groups of --help and their order are the man page's" "$(cat help-groups)" "$(cat man-groups)"
	is "$t: options of --help without a group" "$(grep -c '^: ' help-groups)" 0
	is "$t: options of --help that the man page lacks" "$(comm -13 in-man in-help | tr '\n' ' ')" ""
	unknown=
	for o in $(comm -23 in-man in-help); do
		known "$t" "$o" || unknown="$unknown$o "
	done
	is "$t: options of the man page that the tool lacks" "$unknown" ""
	for section in 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
		ok "$t: section $section" grep -qx "\.Sh $section" "$page"
	done
done

# ---- docs/OPTIONS.md: the letters that have several meanings, and all tools that have them
for t in $(tools); do
	"$t" --help | sed -n "s/^  -\\(.\\), --\\([a-z-]*\\).*/\\1 $t \\2/p" | sed 's/ directory$/ dir/'
done | sort >letters
awk 'NR == FNR { if ($1 in meaning && meaning[$1] != $3) several[$1]; meaning[$1] = $3; next } $1 in several' letters letters >letters-several
awk -F ' *[|] *' '/^[|] letter/ { for (i = 3; i < NF - 1; i++) tool[i] = $i } /^[|] [a-zA-Z0-9] / { for (i = 3; i < NF - 1; i++) if ($i != "") print $2, tool[i], $i }' \
	"$top/docs/OPTIONS.md" | sort >letters-documented
ok "letters with several meanings are found" test "$(wc -l <letters-several)" -gt 10
is "docs/OPTIONS.md has them" "$(cat letters-documented)" "$(cat letters-several)"

# ---- examples: lines that start with "$ ", in a scratch folder that holds what they name
make_input()
{
	[ -e "$1" ] && return
	case $1 in
	*.folded) printf 'app;main;java/util/HashMap.resize 3\napp;main;parse 5\nother 1\n' >"$1" ;;
	*.folded.gz) printf 'app;main;read 3\napp;idle 2\n' | gzip >"$1" ;;
	*.script.gz) cp "$top/examples/sample.script.gz" "$1" ;;
	*.script) gzip -dc "$top/examples/sample.script.gz" >"$1" ;;
	esac
}

if have mandoc; then
	for page in "$top"/man/*.[1-9]; do
		name=${page##*/}
		mandoc -T lint -W warning "$page" >warnings 2>&1
		if [ -s warnings ]; then fail "$name: mandoc -Tlint" warnings; else pass "$name: mandoc -Tlint"; fi
		mandoc -T ascii -O width=500 "$page" | sed "s/.$(printf '\b')//g" |
			awk '/^[A-Z]/ { on = /^EXAMPLES/ } on { sub(/^ */, "") } on && (more || /^\$ /) { sub(/^\$ /, ""); more = sub(/\\$/, ""); printf "%s%s", $0, more ? "" : "\n" }' >examples
		[ -s examples ] || continue
		rm -rf examples.d
		mkdir examples.d
		cd examples.d || exit 1
		: >../bad
		while IFS= read -r line; do
			case $line in
			*'perf record'*) continue ;; # the live test does that
			*'perf script'*) line="perf() { gzip -dc '$top/examples/sample.script.gz'; }; $line" ;;
			esac
			for word in $(printf '%s\n' "$line" | tr -c 'A-Za-z0-9._-' ' '); do make_input "$word"; done
			if ! sh -c "set -e; $line" >../example.out 2>../example.err </dev/null || grep -qv '^pj' ../example.err; then
				{ printf '%s\n' "$line"; cat ../example.err; } >>../bad
			fi
		done <../examples
		cd ..
		if [ -s bad ]; then fail "$name: its examples run" bad; else pass "$name: its examples run ($(wc -l <examples | tr -d ' ') lines)"; fi
	done
else
	skip "man pages: lint and examples" "mandoc is not installed"
fi

# ---- the pages around
for f in README.md NEWS; do
	if [ -e "$top/$f" ]; then
		ok "$f names version $version" grep -qF "$version" "$top/$f"
	else
		skip "$f" "not written yet"
	fi
done
# SECURITY.md: the table of promises and the tests are one
grep -oE '([a-z]+/)*[a-z-]+\.t\b' "$top/SECURITY.md" | sed 's:^test/::' | sort -u >named
missing=
while read -r t; do
	[ -x "$top/test/$t" ] || missing="$missing$t "
done <named
is "SECURITY.md: tests that do not exist" "$missing" ""
for t in "$top"/test/hostile/*.t; do echo "hostile/${t##*/}"; done | sort >there
is "SECURITY.md: tests of hostile programs that it does not name" "$(comm -13 named there | tr '\n' ' ')" ""
for f in README.md SECURITY.md CONTRIBUTING.md docs/ARCHITECTURE.md docs/FUZZING.md docs/GLOSSARY.md docs/guide.md docs/HOWTO-ADD.md docs/INPUTS.md docs/SVG.md docs/units.md docs/gprofiler.md; do
	missing=
	# shellcheck disable=SC2013 # links hold no blanks
	for link in $(grep -oE '\]\([^)#:]+[)#]' "$top/$f" | sed 's/^](//; s/[)#?].*//'); do
		[ -e "$top/$link" ] || { [ "$f" != "${f%/*}" ] && [ -e "$top/${f%/*}/$link" ]; } || missing="$missing$link "
	done
	is "$f: no dead link" "$missing" ""
done

# ---- files, functions and commands that documents name exist
parts='common|diff|examples|flame|fold|jmap|man|record|runtimes|send|svg|test|unwind'
(cd "$top" && ls ./*.md docs/*.md) | sed 's|^\./||' >documents
while read -r f; do
	grep -oE "(^|[^A-Za-z0-9/_.-])($parts)/[A-Za-z0-9_./-]+" "$top/$f" | sed 's/^[^a-z]//; s/[.]$//' | grep -v '/NAME' | sort -u >files
	missing=
	while read -r file; do [ -e "$top/$file" ] || missing="$missing$file "; done <files
	is "$f: files that do not exist" "$missing" ""
done <documents
for f in CONTRIBUTING.md docs/ARCHITECTURE.md docs/HOWTO-ADD.md; do
	ok "$f: names files" test "$(grep -cE "($parts)/" "$top/$f")" -ge 4
done
# FILE FUNCTION of each place in the tables: `FILE (`FUNCTION`, `FUNCTION`)`
sed -n '/^Where to look first/,/^## /p' "$top/docs/ARCHITECTURE.md" | awk '{
	while (match($0, /[A-Za-z0-9_\/]+[.](c|js) [(]`[^)]*[)]/)) {
		place = substr($0, RSTART, RLENGTH)
		$0 = substr($0, RSTART + RLENGTH)
		file = place
		sub(/ .*/, "", file)
		while (match(place, /`[^`]*`/)) {
			print file, substr(place, RSTART + 1, RLENGTH - 2)
			place = substr(place, RSTART + RLENGTH)
		}
	}
}' >places
missing=
while read -r file name; do grep -qw "$name" "$top/$file" || missing="$missing$name "; done <places
is "docs/ARCHITECTURE.md: functions that do not exist" "$missing" ""
ok "docs/ARCHITECTURE.md: names functions" test "$(wc -l <places)" -ge 40
# shellcheck disable=SC2016 # backquotes of Markdown
grep -oE '`[^`]+`' "$top/docs/HOWTO-ADD.md" | tr -d '\140' >code
sed -n 's/^\([a-z0-9_]*\)()$/\1/p' code >names
missing=
while read -r name; do
	(cd "$top" && grep -rqE --include='*.[ch]' "(^|[^a-z0-9_])$name\(" common fold jmap record runtimes send unwind) || missing="$missing$name "
done <names
is "docs/HOWTO-ADD.md: functions that do not exist" "$missing" ""
ok "docs/HOWTO-ADD.md: names functions" test "$(wc -l <names)" -ge 4

sed -n 's/.*make check .*T="\([^"]*\)".*/\1/p; s/.*make check T=\([^ "`]*\).*/\1/p' "$top/CONTRIBUTING.md" >patterns
ok "CONTRIBUTING.md: has commands make check T=..." test "$(wc -l <patterns)" -ge 3
while read -r pattern; do
	PJ_TESTS='' PJ_LIST=1 PJ_TAP=$PWD/tap T=$pattern sh "$top/test/check.sh" >selected 2>errors
	# ./check does not build all unit tests without sanitizers
	(cd "$top" && find test -name '*_test.c') >>selected
	ok "CONTRIBUTING.md: make check T=$pattern selects tests" grep -qE -- "$pattern" selected
done <patterns
sed -n 's/.*make accept T=\([^ ]*\).*/\1/p' "$top/CONTRIBUTING.md" >patterns
while read -r pattern; do
	ok "CONTRIBUTING.md: make accept T=$pattern selects a case" test -n "$(find "$top/test" -path "*/cases/*$pattern*/cmd")"
done <patterns
grep -ohE '^    make [a-z-]+' "$top/CONTRIBUTING.md" | sed 's/.* //' | sort -u >targets
while read -r target; do
	ok "CONTRIBUTING.md: make $target is a target" grep -qE "^$target:" "$top/Makefile"
done <targets
done_testing
