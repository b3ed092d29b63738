#!/bin/sh
# sort.t - columns of --top --sort, with perf report as the judge.
# covers: fold/toptable.c fold/sortkeys.c fold/names/names.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}

have pjfold || skip_all "pjfold is not built"

# ours KEYS FILE: self samples and the columns, as perf report -t '|' prints them
ours()
{
	pjfold -q --root=thread --top 1000 --sort "$1" "$2" 2>/dev/null | awk 'NR > 1 && $1 { printf "%s|%s|", $1, $5; $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); print }' | sort
}

if "$perf" --version >/dev/null 2>&1; then
	for name in perfdata perfdata-root; do
		file=$top/test/fold/cases/$name/in.data
		ours comm,dso "$file" >ours
		# perf's name of a perf map in a report; pj writes blanks of command names as _, and ; as :
		"$perf" report -i "$file" --sort comm,dso --stdio -g none -n --no-children -t '|' 2>/dev/null |
			awk -F'|' '$1 ~ /^ *[0-9.]+%/ { gsub(/^ +| +$/, "", $3); gsub(/^ +| +$/, "", $4); gsub(/ /, "_", $3); gsub(/;/, ":", $3)
				if (sub(/^\[JIT\] tid /, "perf-", $4)) $4 = $4 ".map"; print $2 + 0 "|" $3 "|" $4 }' | sort >theirs
		if [ -s theirs ]; then same "$name: as perf report --sort comm,dso" theirs ours; else skip "$name: as perf report" "this perf reads no such file"; fi
	done
else
	skip "as perf report" "no perf"
fi

# whatever the columns, each sample has one row in `self`
file=$top/test/fold/cases/perfdata-root/in.data
want=$(pjfold -q "$file" | awk '{ n += $NF } END { print n }')
for keys in comm dso sym thread pid tid comm,dso comm,sym dso,sym comm,thread,dso,sym sym,dso,thread,comm name total; do
	is "--sort $keys: self weights are all samples" \
		"$(pjfold -q --top 100000 --sort "$keys" "$file" | awk 'NR > 1 { n += $1 } END { print n }')" "$want"
	is "  and no total is larger than that" \
		"$(pjfold -q --top 100000 --sort "$keys" "$file" | awk -v all="$want" 'NR > 1 && ($3 > all || $1 > $3)')" ""
done
is "a thread has its own rows" "$(pjfold -q --top 9 --sort thread "$file" | awk 'NR > 1 { print $5 }' | sort | tr '\n' ' ')" "$(pjfold -q --root=both "$file" | cut -d';' -f2 | sort -u | tr '\n' ' ')"
is "-j 3 gives the same rows" "$(pjfold -q -j 3 --top 99 --sort comm,thread,dso,sym "$file" | cksum)" "$(pjfold -q --top 99 --sort comm,thread,dso,sym "$file" | cksum)"
pjfold -q --tree=0 --sort dso "$file" | awk 'NR > 1' >tree
ok "a tree shows DSOs" grep -q 'load\]  load$' tree
pjfold -q --tree=0 --root=both "$file" >both
pjfold -q --tree=0 --sort thread "$file" >thread
same "a tree has the frames of threads" both thread
done_testing
