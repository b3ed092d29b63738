#!/bin/sh
# live.t - record this machine once, print it with perf script in many ways: pjfold counts what perf counts, for every comm.
#
# The load is our own: six threads whose names have blanks, digits at their end, one letter. What is counted independently is
# `perf script -F comm`: one line a sample with nothing else on it. PJ_PERF names the perf to use.
# stage: live
# full: prints one recording in 40 ways with perf script
# covers: fold/script/perfscript.c fold/samples/samplekey.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
perf=${PJ_PERF:-perf}

have pjfold || skip_all "pjfold is not built"
"$perf" --version >/dev/null 2>&1 || skip_all "perf is not installed"
have cc || skip_all "no compiler for the demo load"
ok "the demo load compiles" cc -O1 -g -fno-omit-frame-pointer -pthread -o demo "$top/examples/demo.c"

# record FILE OPTIONS...: all processors if that is allowed, else only the load; the reason is in `why`
all=-a
record()
{
	file=$1
	shift
	"$perf" record -q -F 499 $all "$@" -o "$file" -- ./demo 3 >why 2>&1 && [ -s "$file" ]
}
if ! record graph.data -g; then
	all=
	record graph.data -g || skip_all "perf record is not allowed here: $(head -n 2 why | tr '\n' ' ')"
	skip "all processors" "only own processes may be recorded here"
fi

script()
{
	"$perf" script "$@" 2>script.err
}

# By comm, from folded text: "N comm", sorted. Blanks are `_` in both.
folded_comms()
{
	awk '{
		n = $NF
		sub(/ [0-9]+$/, "")
		sub(/;.*/, "")
		count[$0] += n
	} END { for (c in count) print count[c], c }' "$1" | sort
}

# The independent count of DATA: one line a sample. want.framed: of samples that have a callchain (or of all, when none has).
truth()
{
	script -i "$1" -F comm >comms
	awk 'NF { sub(/^ +/, ""); sub(/ +$/, ""); gsub(/ /, "_"); gsub(/;/, ":"); count[$0]++ } END { for (c in count) print count[c], c }' comms | sort >want.all
	script -i "$1" -F comm,tid,time,event,ip,sym >framed
	awk 'match($0, / +[0-9]+ +[0-9]+\.[0-9]+: /) && /^[^\t]/ { comm = substr($0, 1, RSTART - 1); gsub(/ /, "_", comm); gsub(/;/, ":", comm); fresh = 1 }
		/^\t/ && fresh { count[comm]++; fresh = 0 }
		END { for (c in count) print count[c], c }' framed | sort >want.framed
	[ -s want.framed ] || cp want.all want.framed
}

# agrees NAME OPTIONS...: pjfold on perf script with these options against the count
agrees()
{
	name=$1
	shift
	if ! script "$@" >text; then
		skip "$name" "this perf does not print it: $(head -n 1 script.err)"
		return
	fi
	pjfold -v -j 2 text >out 2>err
	status=$?
	pjfold -v text >out.1 2>err.1
	if ! cmp -s out out.1 || ! cmp -s err err.1; then
		fail "$name: -j 2 differs"
		return
	fi
	# A line that has neither time nor event nor frames below it is no sample, but it is counted and named.
	cp want.all want.comms
	case $name in
	*'-F -period,-event,-time'*) weak=1 ;;
	*-F*time* | *-F\ [+]*) weak= ;;
	*-F*) weak=1 ;;
	*) weak= ;;
	esac
	if [ -n "$weak" ]; then
		missing=$(($(awk '{ n += $1 } END { print n + 0 }' want.all) - $(awk '{ n += $1 } END { print n + 0 }' want.framed)))
		# of -F ip,sym such a sample is an empty line, which nobody can count
		if [ "$missing" -gt 0 ] && { [ "$name" = 'callchains, no comm: -F ip,sym' ] || grep -q "$missing lines\{0,1\} skipped" err; }; then
			cp want.framed want.comms
		fi
	fi
	case $name in
	*'no comm'*)
		is "$name" "$status $(awk '{ n += $NF } END { print n + 0 }' out)" "0 $(awk '{ n += $1 } END { print n + 0 }' want.comms)"
		;;
	*)
		folded_comms out >got.comms
		case $name in
		*'-F comm,event,'*)
			# "worker 12 cpu-clock:" may be a comm with a number or a tid: text cannot tell
			for f in got.comms want.comms; do
				awk '{ sub(/_[0-9]+$/, "", $2); count[$2] += $1 } END { for (c in count) print count[c], c }' $f | sort >stripped
				mv stripped $f
			done
			;;
		esac
		[ "$status" = 0 ] || echo "status $status" >>got.comms
		same "$name" want.comms got.comms
		;;
	esac
}

truth graph.data
ok "the load was sampled: all six names" awk '/ (http_worker_12|http_worker_3|sessions|t|log_writer|sort_7-12)$/ { n++ } END { exit n != 6 }' want.all

agrees 'callchains' -i graph.data
agrees 'callchains: --ns' -i graph.data --ns
agrees 'callchains: --header' -i graph.data --header
agrees 'callchains: --show-task-events --show-mmap-events' -i graph.data --show-task-events --show-mmap-events
agrees 'callchains: --show-lost-events --show-switch-events' -i graph.data --show-lost-events --show-switch-events
agrees 'callchains: --no-demangle' -i graph.data --no-demangle
agrees 'callchains: --show-kernel-path' -i graph.data --show-kernel-path
agrees 'callchains: --max-stack 3' -i graph.data --max-stack 3
agrees 'callchains: -f --kallsyms=/dev/null' -i graph.data -f --kallsyms=/dev/null
for fields in comm,ip,sym comm,tid,ip,sym comm,pid,ip,sym comm,pid,tid,time,event,ip,sym,dso comm,time,event,ip,sym \
	comm,tid,cpu,time,period,event,ip,sym,symoff,dso comm,tid,time,event,misc,ip,sym,dso comm,pid,tid,cpu,time,event,ip,sym,dso,flags \
	comm,ip comm,ip,dso comm,event,ip,sym comm,period,event,ip,sym comm,cpu,ip,sym comm,tid,time,ip,sym comm,time,ip,sym \
	comm,pid,tid,time,period,event,ip,sym,symoff,dso; do
	agrees "callchains: -F $fields" -i graph.data -F "$fields"
done
agrees 'callchains: -F +misc' -i graph.data -F +misc
agrees 'callchains: -F +flags' -i graph.data -F +flags
agrees 'callchains: -F +pid' -i graph.data -F +pid
agrees 'callchains: -F +period,+cpu' -i graph.data -F +period,+cpu
agrees 'callchains: -F -time' -i graph.data -F -time
agrees 'callchains: -F -dso' -i graph.data -F -dso
agrees 'callchains: -F -event' -i graph.data -F -event
agrees 'callchains: -F -period,-event,-time' -i graph.data -F -period,-event,-time
agrees 'callchains, no comm: -F ip,sym' -i graph.data -F ip,sym
agrees 'callchains, no comm: -F pid,ip,sym' -i graph.data -F pid,ip,sym
agrees 'callchains, no comm: -F tid,time,event,ip,sym,dso' -i graph.data -F tid,time,event,ip,sym,dso
agrees 'callchains, no comm: -F event,ip,sym' -i graph.data -F event,ip,sym

# source lines: of the load alone, as asking addr2line for a whole machine takes minutes
if "$perf" record -q -F 99 -g -o load.data -- ./demo 1 >why 2>&1; then
	truth load.data
	if timeout 100 "$perf" script -i load.data -F +srcline >/dev/null 2>&1; then
		agrees 'the load alone: -F +srcline' -i load.data -F +srcline
		agrees 'the load alone: -F comm,tid,time,event,ip,sym,srcline' -i load.data -F comm,tid,time,event,ip,sym,srcline
	else
		skip 'the load alone: -F +srcline' "perf script fails or needs more than 100 s for it"
	fi
fi
if "$perf" record -q -F 49 --call-graph dwarf,4096 -o dwarf.data -- ./demo 1 >why 2>&1; then
	truth dwarf.data
	agrees 'unwound by DWARF' -i dwarf.data
	agrees 'unwound by DWARF: --no-inline' -i dwarf.data --no-inline
else
	skip 'unwound by DWARF' "$(head -n 1 why)"
fi

if record flat.data; then
	truth flat.data
	agrees 'no callchains' -i flat.data
	agrees 'no callchains: --ns' -i flat.data --ns
	for fields in comm,ip,sym comm,tid,ip,sym comm,pid,tid,time,event,ip,sym,dso comm,tid,cpu,time,period,event,ip,sym,symoff,dso \
		comm,time,event,ip,sym comm,tid,time,event,ip,sym,dso; do
		agrees "no callchains: -F $fields" -i flat.data -F "$fields"
	done
	agrees 'no callchains: -F +pid' -i flat.data -F +pid
	agrees 'no callchains, no comm: -F tid,time,event,ip,sym' -i flat.data -F tid,time,event,ip,sym
else
	skip 'no callchains' "$(head -n 1 why)"
fi

# Tracepoints: a payload that looks like anything
for graph in -g ''; do
	what="tracepoint${graph:+ with callchains}"
	# shellcheck disable=SC2086
	if "$perf" record -q -e sched:sched_switch $all $graph -o trace.data -- ./demo 1 >why 2>&1 && [ -s trace.data ]; then
		truth trace.data
		agrees "$what" -i trace.data
		agrees "$what: -F comm,pid,tid,cpu,time,event,trace" -i trace.data -F comm,pid,tid,cpu,time,event,trace
		agrees "$what: -F comm,tid,time,event,trace,ip,sym,dso" -i trace.data -F comm,tid,time,event,trace,ip,sym,dso
		agrees "$what: -F -trace" -i trace.data -F -trace
	else
		skip "$what" "not allowed here: $(head -n 1 why)"
	fi
done
done_testing
