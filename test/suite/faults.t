#!/bin/sh
# faults.t - what can go wrong around a tool: full disks, closed or missing files, readers that leave, no memory.
# full-san: 10 s with sanitizers
# covers: common/filter/out.c common/filter/in.c common/arena.c common/diag.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL

printf '1;b 1\n1;c 2\n' >in.folded # times, for pjheat
printf '1;b 2\n' >base.folded
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "1;a%d;b%d;some_longer_name_%d 1\n", i % 10, i % 1000, i }' >big.folded
gzip -c big.folded >big.gz
head -c "$(($(wc -c <big.gz) / 2))" big.gz >cut.gz
mkdir folder
head -c 100000 /dev/urandom >random.bin
{ printf '\0\1\2\377'; printf 'x;\0y 1\n'; head -c 3000 /dev/zero; } >binary.bin

# run COMMAND...: leaves out, err, status
run()
{
	"$@" >out 2>err </dev/null
	status=$?
}

# One message: the tool's name in front, nothing that is not printable.
message()
{
	[ -s err ] && ! grep -qv "^$1: " err && ! grep -q '[^[:print:]]' err
}

# fails TOOL NAME STATUS TEXT: what ran last ended so, with a message that holds TEXT and nothing on stdout
fails()
{
	if [ "$status" = "$3" ] && message "$1" && grep -q -- "$4" err; then
		pass "$1: $2"
	else
		echo "status $status" >.status
		fail "$1: $2" .status err
	fi
}

# shellcheck disable=SC2086 # $base is a word or none
for t in $(filters); do
	# who compares needs something to compare with
	base=
	if [ "$t" = pjdiff ]; then base=base.folded; fi
	run "$t" --help
	ok "$t: --help: status 0" test "$status" = 0
	ok "$t: --help: on stdout" test -s out -a ! -s err
	run "$t" --version
	is "$t: --version" "$status $(sed -n "1s|^\\([^ ]* [^ ]*\\).*|\\1|p" out)" "0 $t (pj)"
	run "$t" --no-such-option
	fails "$t" "unknown option" 2 "unknown option '--no-such-option'.*--help"
	ok "$t: unknown option: nothing on stdout" test ! -s out
	run "$t" --hel
	fails "$t" "no abbreviations" 2 "unknown option"
	run "$t" $base in.folded -o
	fails "$t" "an option without its value" 2 "needs a value"

	"$t" $base in.folded >/dev/full 2>err
	status=$?
	fails "$t" "/dev/full" 1 "No space left"
	"$t" $base big.folded >/dev/full 2>err
	status=$?
	fails "$t" "/dev/full, with much to write" 1 "No space left"
	"$t" --help >/dev/full 2>err
	status=$?
	fails "$t" "--help to /dev/full" 1 "No space left"
	"$t" $base in.folded >&- 2>err
	status=$?
	fails "$t" "closed stdout" 1 "standard output"
	: >out
	"$t" $base ${base:+-} <&- >out 2>err
	status=$?
	fails "$t" "closed stdin" 1 "standard input"
	"$t" $base in.folded -o named 2>&-
	is "$t: closed stderr: status" "$?" 0
	"$t" $base in.folded >plain 2>/dev/null
	same "$t: closed stderr: no message in the output" plain named

	run "$t" $base missing
	fails "$t" "a missing file" 1 "'missing': No such file"
	run "$t" $base folder
	fails "$t" "a folder" 1 "'folder'.*directory"
	run "$t" $base "$(printf 'mis\nsing\033[31m')"
	fails "$t" "a name with control bytes" 1 'mis\\x0asing\\x1b'
	if [ "$(id -u)" != 0 ]; then
		cp in.folded secret
		chmod 000 secret
		run "$t" $base secret
		fails "$t" "a file that may not be read" 1 "'secret': Permission denied"
	elif have setpriv && chmod 755 "$scratch" && setpriv --reuid=65534 --regid=65534 --clear-groups test -r in.folded; then
		cp in.folded secret
		chmod 600 secret
		cp "$(command -v "$t")" tool-copy
		chmod 755 tool-copy
		run setpriv --reuid=65534 --regid=65534 --clear-groups ./tool-copy $base secret
		fails "$t" "a file that may not be read" 1 "'secret': Permission denied"
	else
		skip "$t: a file that may not be read" "running as root, and no setpriv"
	fi

	run "$t" -o no/such/folder/out $base in.folded
	fails "$t" "-o into a missing folder" 1 "No such file"
	mkdir -p o
	run "$t" -o o/out $base missing
	is "$t: -o leaves nothing behind on failure" "$(ls -A o)" ""
	echo old >o/out
	run "$t" -o o/out $base folder
	is "$t: and what was there stays" "$(cat o/out)" old
	run "$t" -o o/out $base in.folded
	same "$t: -o writes what stdout gets" plain o/out
	is "$t: -o leaves nothing beside it" "$(ls -A o)" out
	rm -rf o

	run "$t" $base cut.gz
	fails "$t" "cut gzip" 1 "cut.gz.*middle"
	ok "$t: cut gzip: the good part is written" test "$(wc -c <out)" -gt 5000

	# the pipe's buffer holds 64 kB: a reader that leaves after ten bytes is noticed
	{ "$t" $base big.folded 2>err; echo $? >.status; } | head -c 10 >/dev/null
	if [ "$t" = pjfold ]; then
		is "$t: a reader that leaves: SIGPIPE" "$(cat .status)" 141
	fi
	ok "$t: a reader that leaves: no error text" not grep -qi 'pipe\|write' err

	if echo "${PJ_BUILD:-}" | grep -q /san-; then
		skip "$t: memory limit" "sanitizers need address space"
	else
		# shellcheck disable=SC3045 # dash has it
		(ulimit -v 20000 && exec "$t" $base big.folded) >out 2>err
		status=$?
		fails "$t" "memory limit" 1 "out of memory"
	fi

	for f in random.bin binary.bin /dev/null; do
		timeout 20 "$t" $base "$f" >out 2>err </dev/null
		status=$?
		ok "$t: $f: ends with 0 or 1" test "$status" = 0 -o "$status" = 1
		ok "$t: $f: says something about it" message "$t"
	done

	# many frames in one line, a long name, a weight that is too much
	awk 'BEGIN { printf "1;"; for (i = 0; i < 2000000; i++) printf "f%d;", i % 100; print "end 1" }' >deep.folded
	run timeout 60 "$t" $base deep.folded
	is "$t: a stack of 2 million frames" "$status" 0
	{ printf '1;'; head -c 65536 /dev/zero | tr '\0' n; echo ' 1'; } >long.folded
	run "$t" $base long.folded
	is "$t: a name of 64 kB" "$status" 0
	printf 'a 9223372036854775807\nb 1\n' >heavy.folded
	run "$t" $base heavy.folded
	fails "$t" "weights past 2^63" 1 "heavy.folded:2: .*63 bits"
	printf '1;a\377\300;b\355\240\200 1\n' >bad-utf8.folded
	run "$t" $base bad-utf8.folded
	is "$t: invalid UTF-8" "$status" 0
done
[ -n "$(tools)" ] || skip "all" "no tool is built"
done_testing
