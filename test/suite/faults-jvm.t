#!/bin/sh
# faults-jvm.t - memory whose amount a JVM determines cannot be had: readers of JVMs give the JVM up, and do not end the tool.
# Allocations of more than the page cache of memory.c (2 MB, the same for every JVM) fail while the corpus of jvmimage is read, in which
# there are JVMs with tables of hundreds of MB.
# covers: runtimes/memory/memory.c runtimes/hotspot/codecache.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
build=${PJ_BUILD:-$top/build/std-cc}
case $build in /*) ;; *) build=$top/$build ;; esac
case $build in */std-* | */cover-*) ;; *) skip_all "sanitizers have an allocator of their own" ;; esac

PJ_TOP=$top PJ_FUZZ_SHORT=2099201 PJ_FUZZ_LOUD=1 "$build/test/fuzz/runtimes/jvmimage_fuzz" >out 2>err
is "hostile JVMs, and no memory for them: status" "$?" 0
is "all of the corpus was read" "$(tail -n 1 out)" "1..$(grep -c '^ok' out)"
ok "attacks are among it" grep -q 'attack-scopes' out
PJ_TOP=$top PJ_FUZZ_SHORT=1000000 "$build/test/fuzz/runtimes/jvmimage_fuzz" >out 2>err
is "the test can fail: without the page cache the reader ends" "$?" 1
done_testing
