#!/bin/sh
# cgroups.t - --by and --only cgroup=: on written files, with perf report as the judge, and on loads in cgroups of this machine.
# full-san: 20 s with sanitizers
# covers: fold/perfdata/cgroupnames.c fold/samples/select.c common/formats/containers.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
HOME=$scratch
export LC_ALL HOME
perf=${PJ_PERF:-perf}
write=${PJ_BUILD:-$top/build/std-cc}/test/fold/perfdata/write

have pjfold && [ -x "$write" ] || skip_all "pjfold, or the writer, is not built"

# shares OPTION...: "SAMPLES FRAME" of the first frame
shares()
{
	pjfold -q "$@" 2>err | awk '{ n = $NF; sub(/;.*| [0-9]+$/, ""); c[$0] += n } END { for (s in c) print c[s], s }' | sort -k2
}

# ---- written files

"$write" sample=0x2001e7 cgroups=8 >in.data
shares --by=cgroup in.data >ours
is "every cgroup, and those that no record told" "$(wc -l <ours)" 9
if "$perf" --version >/dev/null 2>&1; then
	"$perf" report -i in.data --sort cgroup --stdio -g none -n --no-children 2>/dev/null |
		awk '$1 ~ /%$/ { print $2, $3 == "unknown" ? "[unknown]" : $3 }' | sort -k2 >theirs
	if [ -s theirs ]; then same "as perf report --sort cgroup" theirs ours; else skip "as perf report" "this perf has no cgroups"; fi
else
	skip "as perf report" "perf is not installed"
fi
shares --by=container in.data | cut -d' ' -f2 >got
printf '%s\n' 0123456789ab '[host]' '[unknown]' aaaaaaaaaaaa bbbbbbbbbbbb fedcba987654 nginx.service web >want
same "--by=container: one frame for two paths of one container" want got
shares --by=pod in.data | cut -d' ' -f2 >got
printf '%s\n' 11111111-2222-3333-4444-555555555555 66666666-7777-8888-9999-000000000000 '[host]' '[unknown]' >want
same "--by=pod" want got
mkdir -p root/var/log/containers
ln -s /var/log/pods/shop_web_11111111-2222-3333-4444-555555555555/app/0.log \
	root/var/log/containers/web_shop_app-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.log
shares --by=pod --symfs root in.data | cut -d' ' -f2 >got
printf '%s\n' 66666666-7777-8888-9999-000000000000 '[host]' '[unknown]' shop/web >want
same "  with names, below --symfs" want got
is "--only cgroup=PATH" "$(pjfold -v --only 'cgroup=/system.slice/nginx.service' in.data 2>/dev/null | awk '{ n += $NF } END { print n }')" \
	"$(awk '$2 == "/system.slice/nginx.service" { print $1 }' ours)"
is "--only cgroup=GLOB,cgroup=GLOB" "$(pjfold -v --only 'cgroup=*docker*,cgroup=*/lxc*' in.data 2>/dev/null | awk '{ n += $NF } END { print n }')" \
	"$(awk '/docker|lxc/ { n += $1 } END { print n }' ours)"
is "  together with others" "$(pjfold -v --only 'cgroup=/*,cpu=0' in.data 2>/dev/null | awk '{ n += $NF } END { print n }')" \
	"$(pjfold -v --only 'cpu=0' --by=cgroup in.data 2>/dev/null | awk '!/^\[unknown\]/ { n += $NF } END { print n }')"
pjfold -q --by=container --root=both in.data >threads
pjfold -q -j 3 --by=container --root=both in.data >three
same "threads change nothing" threads three
pjfold -q --by=container --time-slice 1 -o 'slice-%s' in.data
is "with --time-slice" "$(cat slice-* | awk '{ n += $NF } END { print n }') $(sed 's/;.*//; s/ [0-9]*$//' slice-* | sort -u | wc -l)" \
	"$(awk '{ n += $NF } END { print n }' threads) 8"
pjfold -q --by=container --comm=none --skip-after '[unknown]' in.data | sed 's/;.*//; s/ [0-9]*$//' | sort -u >got
printf '%s\n' 0123456789ab '[host]' '[unknown]' aaaaaaaaaaaa bbbbbbbbbbbb fedcba987654 nginx.service web >want
same "--skip-after keeps it in front" want got
is "first frames of --stacks are those of processes" "$(pjfold -q --stacks in.data)" "$(pjfold -q --by=pod --stacks in.data)"

# ---- what does not tell cgroups

"$write" >plain.data
pjfold -v --by=container plain.data >out 2>err
is "a recording without: a usage error" "$? $(grep -c "needs cgroups, which 'plain.data' lacks: use perf record --all-cgroups" err)" "2 1"
pjfold -v --only cgroup=x plain.data >out 2>err
is "  --only, too" $? 2
printf 'a 1 1.0: 1 cycles:\n\t1 f (x)\n\n' >text
pjfold -v --only cgroup=x text >out 2>err
is "text: a usage error" "$? $(grep -c 'perf script text has no cgroups' err)" "2 1"
pjfold -v --by=pod text >out 2>err
is "  --by, too" $? 2
pjfold -v --by=x in.data >out 2>err
is "no such kind" $? 2

# ---- loads in cgroups of this machine

live()
{
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	[ -n "$root" ] && [ -w "$root/cgroup.procs" ] || { skip "live" "no cgroup2 that may be written to"; return; }
	have cc && cc -O1 -g -fno-omit-frame-pointer -pthread -o demo "$top/examples/demo.c" || { skip "live" "no compiler"; return; }
	id=$(printf '%064d' $$)
	one=$root/pj-test-$$.slice two=$root/docker-$id.scope
	mkdir "$one" "$two" 2>why || { skip "live" "$(cat why)"; rmdir "$one" "$two" 2>/dev/null; return; }
	sh -c 'echo $$ >"$1/cgroup.procs" && exec ./demo 120' sh "$one" >/dev/null 2>&1 &
	first=$!
	sh -c 'echo $$ >"$1/cgroup.procs" && exec ./demo 120' sh "$two" >/dev/null 2>&1 &
	second=$!
	"$perf" record -q -N --all-cgroups -F 199 -e cpu-clock -g -o live.data -a -- sleep 3 >/dev/null 2>why
	status=$?
	kill "$first" "$second" 2>/dev/null
	wait "$first" "$second" 2>/dev/null
	rmdir "$one" "$two"
	[ $status = 0 ] && [ -s live.data ] || { skip "live" "perf record --all-cgroups ends with $status: $(head -n 1 why)"; return; }
	shares --by=cgroup live.data >ours
	if ! grep -q pj-test ours; then skip "live" "the kernel does not tell these cgroups"; return; fi
	"$perf" report -i live.data --sort cgroup --stdio -g none -n --no-children 2>/dev/null |
		awk '$1 ~ /%$/ { print $2, $3 }' | sort -k2 >theirs
	same "live: as perf report" theirs ours
	ok "  both are there" test "$(wc -l <ours)" -ge 2
	ok "  the container has its id" grep -q "^[0-9]* 000000000000$" "$(shares --by=container live.data >got; echo got)"
	pjfold -q --only "cgroup=/pj-test-$$.*" live.data >some # other tests may have groups pj-test-* at the same time
	is "  --only" "$(awk '{ n += $NF } END { print n }' some)" "$(awk -v own="/pj-test-$$[.]" '$0 ~ own { print $1 }' ours)"
}
live
done_testing
