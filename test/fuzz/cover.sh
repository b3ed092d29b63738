#!/bin/sh
# cover.sh - how many lines of a parser its corpus reaches: make cover T=kallsyms
# Which files are the parser's own, a target says itself ("covers:"). Counted by gcov over the replay of test/corpus/NAME, each
# input whole and cut, as make check runs it. SHOW=1 prints the lines that nothing reaches. Ends with 1 when a target is below MIN %, or what
# it says itself, with a reason ("least:").
set -u
status=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
printf '%-12s %-24s %6s %6s %7s\n' target file lines reached %
for target in "$PJ_BUILD"/test/fuzz/*/*_fuzz; do
	name=${target##*/}
	name=${name%_fuzz}
	if [ -n "${T:-}" ] && ! echo "$name" | grep -qE -- "$T"; then continue; fi
	files=$(sed -n 's:^/\* covers\: \(.*\) \*/$:\1:p' test/fuzz/*/"${name}_fuzz.c" | paste -sd' ' -)
	least=$(sed -n 's:^/\* least\: \([0-9]*\), .*:\1:p' test/fuzz/*/"${name}_fuzz.c")
	find "$PJ_BUILD" -name '*.gcda' -delete
	if ! "$target" >"$tmp/tap" 2>&1 || grep -q '^not ok' "$tmp/tap"; then
		echo "cover: the corpus of $name fails" >&2
		tail -n 5 "$tmp/tap" >&2
		status=1
		continue
	fi
	# what is in a header counts where it was compiled in; a line is reached when it is in any of them
	find "$PJ_BUILD" -name '*.gcda' -exec gcov -t {} + 2>/dev/null >"$tmp/lines"
	awk -v name="$name" -v files="$files" -v show="${SHOW:-0}" -v min="${least:-${MIN:-90}}" '
	BEGIN { n = split(files, file, " "); for (i = 1; i <= n; i++) own[file[i]] = 1 }
	{
		count = $0
		sub(/:.*/, "", count)
		gsub(/[ *]/, "", count)
		rest = substr($0, index($0, ":") + 1)
		line = rest + 0
		text = substr(rest, index(rest, ":") + 1)
	}
	line == 0 && text ~ /^Source:/ { source = substr(text, 8); next }
	!(source in own) || count == "-" || line == 0 { next }
	{
		key = source ":" line
		if (!(key in seen)) { seen[key] = 0; lines[source]++; order[++keys] = key; of[key] = source; text_of[key] = text }
		if (count !~ /^[#=]/ && !seen[key]) { seen[key] = 1; reached[source]++ }
	}
	END {
		for (i = 1; i <= n; i++) {
			f = file[i]
			if (!lines[f]) { print "cover: nothing of " f " was compiled in" >"/dev/stderr"; exit 1 }
			printf "%-12s %-24s %6d %6d %6.1f%%\n", name, f, lines[f], reached[f], 100 * reached[f] / lines[f]
			all += lines[f]
			sum += reached[f]
		}
		if (n > 1) printf "%-12s %-24s %6d %6d %6.1f%%\n", name, "(all)", all, sum, 100 * sum / all
		if (show == 1) for (i = 1; i <= keys; i++) if (!seen[order[i]]) print order[i] ": " text_of[order[i]]
		exit 100 * sum < min * all
	}' "$tmp/lines" || status=1
done
exit $status
