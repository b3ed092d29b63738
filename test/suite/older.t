#!/bin/sh
# older.t - what an older version recorded, kept, sent and folded (test/suite/older/) stays readable, with the same result.
# covers: fold/recording.c fold/jit/timelines.c fold/symbols/symstore.c send/gather.c send/stores/dirread.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C TZ=UTC HOME=$scratch # no caches of others
export LC_ALL TZ HOME
unset PJ_STORE
have pjfold && have pjsend && have pjfetch || skip_all "the tools are not built"
have xz || skip_all "no xz"
load=1795392458 java=1795393301 # epochs of the two windows

# unpack DIR
unpack()
{
	mkdir "$1" && xz -dc "$top/test/suite/older/1aeb687.tar.xz" | tar -xf - -C "$1" --no-same-owner
}

# frames_of_jvm FILE: stacks, as far as they are of code of the JVM; names of libjvm.so need that file
frames_of_jvm()
{
	awk '!/^#/ {
		weight = $NF
		sub(/ [0-9]+$/, "")
		n = split($0, frame, ";")
		stack = ""
		for (i = 1; i <= n; i++)
			if (frame[i] ~ /_\[[ij0]\]$/)
				stack = stack ";" frame[i]
		sum[stack] += weight
	}
	END { for (stack in sum) print stack, sum[stack] }' "$1" | sort
}

unpack old || skip_all "tar cannot unpack the sample"
pjfold --header old/out/$load.data >folded 2>err
is "a window with symbols of a container and a perf map: status" "$?" 0
same "and the same stacks" folded old/folded/$load.folded
ok "all frames have names" grep -q '100 % of frames named' err
pjfold --header old/out/$java.data >folded 2>err
is "a window of a JVM: status" "$?" 0
frames_of_jvm folded >got
frames_of_jvm old/folded/$java.folded >want
same "the same names of its timeline" got want
ok "  which are some" grep -q 'Demo.count_' got
ok "  and the timeline is read to its end" not grep -q damaged err
pjfold --info old/out/$load.data >info 2>err
is "--info: status" "$?" 0
for line in 'host  *sample' 'kernel  *6.1.0-sample-00' 'boot  *11111111-2222-4333-8444-555555555555' 'loss  *none' 'stacks  *100.0 % of 276'; do
	ok "--info: $line" grep -q "^$line" info
done

for key in file written host kernel perf pjrecord boot window idle loss stacks processes kallsyms machine cpu cpus memory event samples lost throttled \
	from to duration clock process; do
	ok "--info: the key $key, as that version wrote it" grep -q "^$key  *[^ ]" info
done

# ---- stores
pjfetch -q -s dir:old/store --from=$load --to=$((load + 1)) >got 2>err
is "pjfetch: status" "$?" 0
grep -v "^#" got >got.stacks
grep -v "^#" old/folded/$load.folded >want.stacks
same "pjfetch: the same stacks" got.stacks want.stacks
is "pjfetch --list: both windows" "$(pjfetch -s dir:old/store --list 2>/dev/null | grep -c '^sample .* 2 windows')" 1
rm old/out/$java.data
pjsend -q --once --splay=0 --store=dir:old/store old 2>err
is "pjsend: a window of the spool is in the store already" "$? $(cat err) $(awk '/^pj_send_documents_known_total / { print $2 }' old/pjsend.prom)" "0  1"
is "  and nothing is left" "$(ls old/out; ls old/spool)" recorder
rm -rf old
unpack old
rm old/out/$java.data old/spool/*.*
pjsend -q --once --splay=0 --store=dir:new old 2>err
is "pjsend: a window that is not folded yet is sent" "$? $(cat err)" "0 "
pjfetch -q -s dir:new --from=$load --to=$((load + 1)) >got 2>err
grep -v '^#' got >got.stacks
same "  with the same stacks" got.stacks want.stacks

# ---- folded text
rm -rf old
unpack old
pjdiff old/folded/$load.folded old/folded/$java.folded >differences 2>err
is "pjdiff: status" "$?" 0
pjsvg old/folded/$java.folded >svg 2>err
is "pjsvg: status" "$?" 0
ok "pjsvg: with names" grep -q 'Demo.count' svg

# ---- a DIR that a newer pjrecord goes on with
if pjrecord -q -d old -w 1 -n 1 -- true >path 2>why; then
	is "pjrecord leaves windows of before, and adds one" "$(ls old/out/*.data | wc -l) $(ls old/out/$load.data old/out/$java.data | wc -l)" "3 2"
	pjfold --header old/out/$load.data >folded 2>err
	same "and what they need" folded old/folded/$load.folded
	ok "the new window can be read" pjfold -q "$(cat path)"
else
	skip "pjrecord in an older DIR" "nothing can be recorded here: $(head -n 1 why)"
fi
done_testing
