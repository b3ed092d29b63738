#!/bin/sh
# load.sh SECONDS [LIST] - a mixed load: C with and without frame pointers, C++, an interpreter, JITs where there are some (node, a JVM
# with its map), compilers, many short processes. The perf maps that JITs leave in /tmp are named in LIST, for who removes them.
list=${2:-/dev/null}
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cc -O1 -g -fno-omit-frame-pointer -pthread -o "$dir/demo" "$top/examples/demo.c" 2>/dev/null
cc -O2 -fomit-frame-pointer -o "$dir/plain" "$top/test/lib/loads/load.c" 2>/dev/null
c++ -O2 -o "$dir/cpp" "$top/test/lib/loads/load.cc" 2>/dev/null
if command -v javac >/dev/null; then javac -d "$dir" "$top/examples/Demo.java" 2>/dev/null; fi
cat >"$dir/Demo.js" <<'JS'
function add(a, b) { return a + b % 7; }
let s = 0;
for (let i = 0; i < 3e7; i++) s = add(s, i);
JSON.stringify([...Array(200000).keys()].sort());
JS
end=$(($(date +%s) + $1)) # behind the compilers, which may take longer than that
if [ -e "$dir/Demo.class" ]; then
	java -XX:+UseSerialGC -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp "$dir" Demo "$1" >/dev/null 2>&1 &
	echo "/tmp/perf-$!.map" >>"$list"
fi
while [ "$(date +%s)" -lt "$end" ]; do
	running=
	for command in demo cpp plain; do # demo takes seconds, the others ms of CPU
		[ -x "$dir/$command" ] || continue
		if [ $command = demo ]; then "$dir/demo" 1 >/dev/null & else "$dir/$command" 500 >/dev/null 2>&1 & fi
		running="$running $!"
	done
	command -v python3 >/dev/null && python3 -c 'print(sum(i * i for i in range(1500000)))' >/dev/null
	cc -O2 -D_GNU_SOURCE -I"$top" -c -o /dev/null "$top/fold/names/names.c"
	i=0
	while [ $((i += 1)) -lt 10 ]; do sh -c 'ls -lR /usr/share/doc/a* >/dev/null; sort /etc/services | md5sum >/dev/null'; done
	if command -v node >/dev/null; then
		(cd "$dir" && exec node --perf-basic-prof Demo.js >/dev/null) & # leaves a log where it runs
		running="$running $!"
		echo "/tmp/perf-$!.map" >>"$list"
	fi
	# shellcheck disable=SC2086 # process ids
	wait $running
done
wait
