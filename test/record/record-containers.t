#!/bin/sh
# record-containers.t - three loads in containers that are gone when the window is folded, by the names of container runtimes: each has the
# share of samples that it had of the CPU, by its own account, so a machine that is busy with others does not matter.
# stage: live
# full: waits for containers to end and windows to close
# covers: common/formats/containers.c record/processes/cgroups.c record/symsaver/symsaver.c fold/symbols/symstore.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

have pjrecord || skip_all "pjrecord is not built"
have cc || skip_all "no compiler for the loads"
[ "$(id -u)" = 0 ] || skip_all "containers need root"
unshare -m -p -f true 2>why || skip_all "no containers here: $(head -n 1 why)"
cc -O1 -g -fno-omit-frame-pointer -o share "$top/test/record/share.c" || skip_all "the load does not compile"
# the hierarchy that perf events use: its own, where there is one of version 1
root=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
	if (type == "cgroup" && ("," options ",") ~ /,perf_event,/) own = $5
	if (type == "cgroup2" && !second) second = $5 } END { print own ? own : second }' /proc/self/mountinfo)
[ -n "$root" ] || skip_all "no cgroups that perf events know"

# as docker (systemd), containerd beneath Kubernetes, and podman name them
digits=$(printf '%08x' $$)
a=$(printf '%s' "aaaa$digits" | awk '{ s = $1; while (length(s) < 64) s = s "0"; print s }')
b=$(printf '%s' "bbbb$digits" | awk '{ s = $1; while (length(s) < 64) s = s "0"; print s }')
c=$(printf '%s' "cccc$digits" | awk '{ s = $1; while (length(s) < 64) s = s "0"; print s }')
pod=$(printf '%s-1111-2222-3333-444444444444' "$digits")
slice=kubepods-pod$(echo "$pod" | tr - _).slice
folders="pj-test-$$.slice pj-test-$$.slice/docker-$a.scope pj-test-$$.slice/$slice pj-test-$$.slice/$slice/cri-containerd-$b.scope pj-test-$$.slice/libpod-$c.scope"
remove()
{
	for f in $(echo "$folders" | tr ' ' '\n' | sort -r); do rmdir "$root/$f" 2>/dev/null; done
}
trap 'kill $recorder $loads 2>/dev/null; wait; remove; rm -rf "$scratch"' EXIT
recorder='' loads=''
for f in $folders; do mkdir "$root/$f" 2>why || skip_all "no cgroups may be made here: $(head -n 1 why)"; done

pjrecord -q -a -F 1999 -w 600 -d dir 2>said &
recorder=$!
tries=0
until ls dir/recording/*.data >/dev/null 2>&1; do
	tries=$((tries + 1))
	if [ $tries -gt 300 ] || ! kill -0 $recorder 2>/dev/null; then
		wait $recorder
		skip_all "perf events are not allowed here: $(head -n 1 said)"
	fi
	sleep 0.1
done

# contain FOLDER MS: the load, with mounts and process numbers of its own; what it was given goes to a file
contain()
{
	sh -c 'echo $$ >"$1/cgroup.procs" && exec unshare -m -p -f sh -c "mount -t tmpfs none /tmp && exec ./share $2"' - "$root/$1" "$2" >"given.$3" &
	loads="$loads $!"
}

contain "pj-test-$$.slice/docker-$a.scope" 3000 a
contain "pj-test-$$.slice/$slice/cri-containerd-$b.scope" 1800 b
contain "pj-test-$$.slice/libpod-$c.scope" 1200 c
# shellcheck disable=SC2086
wait $loads
loads=''
kill -TERM $recorder
wait $recorder
recorder=''
remove
window=$(ls dir/out/*.data)
if grep -q 'has no cgroup in samples' said; then skip_all "this kernel does not tell the cgroup of a sample"; fi

# shares BY WANT: a line "FRAME GIVEN SEEN" of each load, in percent of the three; fails where they are two points apart, or not 50/30/20
shares()
{
	by=$1
	pjfold -q "--by=$by" --only comm=share "$window" >folded 2>err
	if awk -v a="$(cat given.a)" -v b="$(cat given.b)" -v c="$(cat given.c)" -v names="$2" '
		function off(x, y) { return x > y ? x - y : y - x }
		BEGIN { split(names, name, " "); given[1] = a; given[2] = b; given[3] = c; plan[1] = 50; plan[2] = 30; plan[3] = 20 }
		{ frame = $0; sub(/;.*/, "", frame); n[frame] += $NF; all += $NF }
		END {
			for (i = 1; i <= 3; i++) {
				share = 100 * given[i] / (a + b + c); seen = all ? 100 * n[name[i]] / all : 0
				printf "%s given %.2f seen %.2f\n", name[i], share, seen
				bad += off(share, seen) > 2 || off(share, plan[i]) > 1
			}
			exit bad || all < 6000
		}' folded >table; then pass "--by=$by: $(tr '\n' ';' <table)"; else fail "--by=$by" table err folded; fi
}

short()
{
	printf '%.12s' "$1"
}

shares container "$(short "$a") $(short "$b") $(short "$c")"
shares cgroup "/pj-test-$$.slice/docker-$a.scope /pj-test-$$.slice/$slice/cri-containerd-$b.scope /pj-test-$$.slice/libpod-$c.scope"
pjfold -q --by=pod --only comm=share "$window" >folded 2>err
is "--by=pod: who is in one, and who is not" "$(sed 's/;.*//' folded | sort -u | tr '\n' ' ')" "$(printf '%s\n' "$pod" "[host]" | sort | tr '\n' ' ')"
ok "the loads have names, and nothing is said" sh -c 'grep -q "share;.*work" folded && [ ! -s err ]'
done_testing
