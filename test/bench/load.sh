#!/bin/sh
# load.sh SECONDS - a mixed load: C with and without frame pointers, C++, an interpreter, a JIT where there is one, many short processes.
end=$(($(date +%s) + $1))
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cc -O1 -g -fno-omit-frame-pointer -pthread -o "$dir/demo" "$top/examples/demo.c" 2>/dev/null
cat >"$dir/Demo.js" <<'JS'
function add(a, b) { return a + b % 7; }
let s = 0;
for (let i = 0; i < 3e7; i++) s = add(s, i);
JSON.stringify([...Array(200000).keys()].sort());
JS
while [ "$(date +%s)" -lt "$end" ]; do
	[ -x "$dir/demo" ] && "$dir/demo" 1 >/dev/null &
	command -v python3 >/dev/null && python3 -c 'print(sum(i * i for i in range(1500000)))' >/dev/null
	cc -O2 -D_GNU_SOURCE -I"$top/common" -c -o /dev/null "$top/fold/names.c"
	i=0
	while [ $((i += 1)) -lt 10 ]; do sh -c 'ls -lR /usr/share/doc/a* >/dev/null; sort /etc/services | md5sum >/dev/null'; done
	command -v node >/dev/null && (cd "$dir" && exec node --perf-basic-prof Demo.js >/dev/null) # leaves a log where it runs
	wait
done
