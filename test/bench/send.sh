# shellcheck shell=bash
# shellcheck disable=SC2154 # run.sh sets them
# send.sh - what it costs to bring windows into a store and to get them out. Part of run.sh, which it is sourced by.
# PJ_BENCH_BACKLOG   windows of the backlog (10000)
# PJ_BENCH_LISTED    hosts x 5 days of windows in the store that is listed (20)

sendtmp=$(mktemp -d "${TMPDIR:-/var/tmp}/pj-bench-send.XXXXXX")
unset PJ_STORE PJ_STORE_AUTH

# plain_spool DIR WINDOWS STACKS FRAMES [HOSTS]: windows as they lie in a spool (not packed, which pjsend takes, too): the stacks of
# FRAMES Java frames of a server, 4 in 5 of them in every window. The same every time.
plain_spool()
{
	mkdir -p "$1/spool"
	awk -v stacks="$3" -v frames="$4" '
	function random(n) { state = state * 16807 % 2147483647; return int(state / 16) % n }
	BEGIN {
		state = 7
		n = split("org/apache/catalina/core/ApplicationFilterChain.internalDoFilter java/util/concurrent/ThreadPoolExecutor.runWorker " \
			"org/springframework/web/servlet/DispatcherServlet.doDispatch com/example/shop/order/OrderService.findAll " \
			"com/fasterxml/jackson/databind/ser/BeanSerializer.serialize org/hibernate/loader/Loader.doQuery java/util/HashMap.getNode " \
			"sun/nio/ch/EPollArrayWrapper.poll io/netty/channel/AbstractChannelHandlerContext.invokeChannelRead", word, " ")
		for (i = 1; i < stacks * 5 / 4; i++) {
			s = "java;java/lang/Thread.run_[j]"
			same = i > 1 ? random(frames) : 0 # how much of it is that of the one before
			for (k = 0; k < frames; k++) {
				if (k >= same) part[k] = word[random(n) + 1] random(40) "_[j]"
				s = s ";" part[k]
			}
			print s
		}
	}' | LC_ALL=C sort -u | awk -v dir="$1/spool" -v windows="$2" -v hosts="${5:-1}" '
	function random(n) { state = state * 16807 % 2147483647; return int(state / 16) % n }
	{ stack[NR] = $0 }
	END {
		state = 7
		for (h = 1; h <= hosts; h++) for (w = 0; w < windows; w++) {
			epoch = 1700006400 + 30 * w
			file = sprintf("%s/%d.%016x.folded.gz", dir, epoch, h)
			sum = 0
			body = ""
			for (i = 1; i <= NR; i++)
				if (random(5)) { v = 1 + random(20); sum += v; body = body stack[i] " " v "\n" }
			printf "# pj unit=samples event=cycles frequency=303 from=%d to=%d host=host%d samples=%d lost=0 machine=%016x stream=%016x\n%s",
				epoch, epoch + 30, h, sum, h, h, body >file
			close(file)
		}
	}'
}

ms_each()
{
	calc %.2f "$1 * 1000 / $2"
}

# ---- one window
plain_spool "$sendtmp/w" 40 2000 22
bytes=$(cat "$sendtmp"/w/spool/* | wc -c)
cp -r "$sendtmp/w" "$sendtmp/gz"
cost=$("$measure" -n 1 -- "$bin/pjsend" -q --once --store="dir:$sendtmp/w.store" "$sendtmp/w")
cpu=$(ms_each "$(echo "$cost" | field 1)" 40)
row "pjsend dir: a window of 2000 stacks, $(calc %.1f "$bytes / 4e7") MB: CPU" "$cpu ms" "<= 25" "$cpu <= 25"
rss=$(calc %.1f "$(echo "$cost" | field 4) / 1024")
row "  memory" "$rss MB" "<= 32" "$rss <= 32"
"$bin/pjsend" -q --once --gzip --store="dir:$sendtmp/gz.store" "$sendtmp/gz"
zst=$(find "$sendtmp/w.store" -name '*.zst' -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n / NR * 2880 / 1e6 }')
gz=$(find "$sendtmp/gz.store" -name '*.gz' -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n / NR * 2880 / 1e6 }')
row "dir: bytes a host and day of these stacks, all distinct: zstd, gzip" "$zst MB, $gz MB" "" ""
# the same as a folded recording, which pjfold and the spool take, too
mkdir -p "$sendtmp/f/out"
for file in "$sendtmp"/gz.store/*/*/*; do
	epoch=${file##*/}
	gzip -dc "$file" >"$sendtmp/f/out/${epoch%%+*}.data"
done
cost=$("$measure" -n 1 -- "$bin/pjsend" -q --once --store="dir:$sendtmp/f.store" "$sendtmp/f")
row "  from a folded recording, pjfold and the spool included" "$(ms_each "$(echo "$cost" | field 1)" 40) ms" "" ""
mkdir "$sendtmp/hour" "$sendtmp/hour/spool"
plain_spool "$sendtmp/hour" 120 2000 22
"$bin/pjsend" -q --once --store="dir:$sendtmp/h.store" "$sendtmp/hour"
"$bin/pjsend" --tidy --roll-up=1 --store="dir:$sendtmp/h.store"
hour=$(find "$sendtmp/h.store" -name '*.hour.*' -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n * 24 / 1e6 }')
row "  as hourly roll-ups" "$hour MB" "<= 6" "$hour <= 6"

# ---- recorded windows: what runs here, and a load beside it; real stacks are alike, as generated ones are not
sh test/bench/load.sh 75 "$tmp/maps" >/dev/null 2>&1 &
load=$!
if "$bin/pjrecord" -q -a -d "$sendtmp/real" -w 30 -n 2 >/dev/null 2>&1; then
	cp -r "$sendtmp/real" "$sendtmp/real-gz"
	"$bin/pjsend" -q --once --store="dir:$sendtmp/real.store" "$sendtmp/real" 2>/dev/null
	"$bin/pjsend" -q --once --gzip --store="dir:$sendtmp/real-gz.store" "$sendtmp/real-gz" 2>/dev/null
	stacks=$("$bin/pjfetch" -q --store="dir:$sendtmp/real.store" --from=-1h --by=time | grep -vc '^#')
	# as if each window had 2000 stacks, 2880 windows a day
	zst=$(find "$sendtmp/real.store" -name '*.zst' -printf '%s\n' | awk -v s="$stacks" '{ n += $1 } END { printf "%.1f", n / s * 2000 * 2880 / 1e6 }')
	gz=$(find "$sendtmp/real-gz.store" -name '*.gz' -printf '%s\n' | awk -v s="$stacks" '{ n += $1 } END { printf "%.1f", n / s * 2000 * 2880 / 1e6 }')
	row "dir: a host and day, recorded windows ($((stacks / 2)) stacks in 30 s), for each 2000: zstd, gzip" "$zst MB, $gz MB" "<= 100, <= 150" "$zst <= 100 && $gz <= 150"
else
	absent "dir: a host and day, recorded windows" "pjrecord is not allowed here"
fi
kill "$load" 2>/dev/null
wait "$load" 2>/dev/null

# ---- a backlog
backlog=${PJ_BENCH_BACKLOG:-10000}
for n in 100 "$backlog"; do
	plain_spool "$sendtmp/b$n" "$n" 100 6
	cost=$("$measure" -n 1 -- "$bin/pjsend" -q --once --store="dir:$sendtmp/b$n.store" "$sendtmp/b$n")
	eval "b$n=\$cost"
	# in which order they came, by the time of their files
	find "$sendtmp/b$n.store" -name '*.folded.*' -printf '%T@ %f\n' | sort -k1,1n -k2,2n | awk '{ split($2, a, "+"); late += a[1] < last; last = a[1] } END { print NR, late + 0 }' >"$sendtmp/order"
done
row "backlog of $backlog windows: sent, and out of order" "$(cat "$sendtmp/order")" "$backlog 0" "\"$(cat "$sendtmp/order")\" == \"$backlog 0\""
more=$(eval "calc %.1f \"(\$(echo \"\$b$backlog\" | field 4) - \$(echo \"\$b100\" | field 4)) / 1024\"")
row "  memory beyond that of a backlog of 100" "$more MB" "<= 4" "$more <= 4"
each=$(eval "ms_each \"\$(echo \"\$b$backlog\" | field 1)\" $backlog")
row "  CPU a window, of 100 stacks" "$each ms" "<= 25" "$each <= 25"
rm -rf "$sendtmp/b$backlog" "$sendtmp/b$backlog.store"

# new windows while the backlog goes at full speed: how long each takes from its file in out/ to its file in the store
fresh=0 arrived=0 longest=0
plain_spool "$sendtmp/n" "$backlog" 100 6
mkdir -p "$sendtmp/n/out"
"$bin/pjsend" -q --catch-up=0 --store="dir:$sendtmp/n.store" "$sendtmp/n" 2>/dev/null &
sender=$!
while [ "$fresh" -lt 5 ] && [ "$(find "$sendtmp/n/spool" -name '*.folded.*' | wc -l)" -gt 100 ]; do
	epoch=$(($(date +%s) - 60 + fresh))
	fresh=$((fresh + 1))
	printf '# pj unit=samples event=cycles frequency=99 from=%d to=%d host=h samples=3\na;b 3\n' "$epoch" $((epoch + 1)) >"$sendtmp/n/new"
	start=$(date +%s%N)
	mv "$sendtmp/n/new" "$sendtmp/n/out/$epoch.data"
	for _ in $(seq 300); do
		if [ -n "$(find "$sendtmp/n.store" -name "$epoch+*" 2>/dev/null)" ]; then
			took=$((($(date +%s%N) - start) / 1000000))
			[ $took -le $longest ] || longest=$took
			arrived=$((arrived + 1))
			break
		fi
		sleep 0.1
	done
done
kill "$sender"
wait "$sender"
row "  $fresh new windows meanwhile: arrived, the longest wait" "$arrived, $longest ms" "$fresh, <= 5000" "$arrived > 0 && $arrived == $fresh && $longest <= 5000"
rm -rf "$sendtmp/n" "$sendtmp/n.store"

# ---- one hour of many hosts
hosts=${PJ_BENCH_LISTED:-20}
plain_spool "$sendtmp/l" 120 200 8 "$hosts"
"$bin/pjsend" -q --once --gzip --roll-up=0 --store="dir:$sendtmp/l.store" "$sendtmp/l"
first=$(find "$sendtmp/l.store/host1" -name '*.gz' | sort | head -n 1)
for h in $(seq "$hosts"); do
	stream=$(printf %016x "$h")
	for day in 13 14 15 16 17; do
		folder=$sendtmp/l.store/host$h/2023-11-$day
		mkdir -p "$folder"
		start=$(date -u -d "2023-11-$day" +%s)
		# the hour that is asked for is there; the others are only listed
		seq "$start" 30 $((start + 86399)) | awk -v s="$stream" '{ if ($1 < 1700006400 || $1 >= 1700010000) print $1 "+30." s ".folded.gz" }' |
			(cd "$folder" && xargs touch)
	done
done
cost=$("$measure" -n "$runs" -o "$sendtmp/list" -- "$bin/pjfetch" --store="dir:$sendtmp/l.store" --list --from=1700006400 --to=1700010000)
ms=$(ms_each "$(echo "$cost" | field 1)" 1) # CPU: on a machine that does nothing else, that is how long it takes
row "dir: an hour of $hosts hosts x 5 days ($(find "$sendtmp/l.store" -type f | wc -l) files), listed: CPU" "$ms ms" "<= 50" "$ms <= 50"
fetch=$("$measure" -n "$runs" -- "$bin/pjfetch" -q --store="dir:$sendtmp/l.store" --from=1700006400 --to=1700010000 -o "$sendtmp/sum")
find "$sendtmp/l.store" -name '*.gz' -size +0 | sort >"$sendtmp/files"
mapfile -t files <"$sendtmp/files"
fold=$("$measure" -n "$runs" -- "$bin/pjfold" -q -o "$sendtmp/sum2" "${files[@]}")
ratio=$(calc %.2f "($(echo "$fetch" | field 1)) / $(echo "$fold" | field 1)")
row "  summed: CPU $(echo "$fetch" | field 1) s, of pjfold's on the same ${#files[@]} files" "$ratio" "<= 1.25" "$ratio <= 1.25"
if ! diff <(grep -v '^#' "$sendtmp/sum") <(grep -v '^#' "$sendtmp/sum2") >/dev/null; then
	absent "  the two sums differ" "$first"
	missed=$((missed + 1))
fi

# ---- from the end of a window until it can be fetched
if "$bin/pjrecord" -q -a -d "$sendtmp/live" -w 2 -n 1 >/dev/null 2>&1; then
	"$bin/pjsend" -q "$sendtmp/live" 2>/dev/null &
	sender=$!
	"$bin/pjrecord" -q -a -d "$sendtmp/live" -w 2 -n 8 >/dev/null 2>&1
	sleep 3
	kill "$sender"
	wait "$sender"
	late=$(find "$sendtmp/live/store" -name '*.folded.*' -printf '%T@ %f\n' |
		awk '{ split($2, a, /[+.]/); d = $1 - a[1] - a[2] - 1; if (d > most) most = d; n++ } END { printf "%.1f %d", most, n }')
	row "end of a window until pjfetch sees it: the longest of ${late#* }" "${late% *} s" "<= 5" "${late% *} <= 5 && ${late#* } >= 8"
else
	absent "end of a window until pjfetch sees it" "pjrecord is not allowed here"
fi
rm -rf "$sendtmp"
