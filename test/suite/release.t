#!/bin/sh
# release.t - ./release in a scratch clone: refusals, figures, tarball, tag.
# full: builds the tarball without ccache
# once: builds its own tools
# covers: release test/figures.sh packaging/dist.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
git -C "$top" rev-parse HEAD >said 2>&1 || skip_all "not a git checkout"

GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
export GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
out=$scratch/out

git clone -q --depth 1 "file://$top" tree || skip_all "the checkout cannot be cloned"
cp "$top/release" tree/release
cp "$top/test/figures.sh" tree/test/figures.sh

# in_tree COMMAND...: in the clone; what tap.sh writes is beside it
in_tree()
{
	(cd "$scratch/tree" && "$@")
}

# refused NAME MESSAGE ARGUMENT...: status 1, the message, and nothing made
refused()
{
	what=$1 message=$2
	shift 2
	in_tree ./release -o "$out" "$@" >"$scratch/said" 2>&1
	is "$what: status" $? 1
	ok "$what: reason" grep -qF -- "$message" "$scratch/said"
	ok "$what: no tarball" not ls "$out"/*.tar.gz
}

sed 's/^#define PJ_VERSION .*/#define PJ_VERSION "9.9"/' tree/common/base.h >base.h
{ printf 'pj, unreleased\n\n- A test.\n\n'; cat tree/NEWS; } >news
mv base.h tree/common/base.h
mv news tree/NEWS
refused "a tree with changes" "the tree is not clean" --no-check --no-bench --no-coverage --no-packages -n 9.9
git -C tree add -A
git -C tree commit -qm "release: try"
refused "another version than PJ_VERSION" "PJ_VERSION in common/base.h is 9.9, not 9.8" --no-check --no-bench --no-coverage --no-packages -n 9.8
refused "NEWS without the version" "it must begin with 'pj 9.9, YYYY-MM-DD'" --no-check --no-bench --no-coverage --no-packages -n 9.9
sed '1s/.*/pj 9.9, 2030-01-02/' tree/NEWS >news
mv news tree/NEWS
refused "NEWS that is not committed" "the tree is not clean" --no-check --no-bench --no-coverage --no-packages -n 9.9
git -C tree commit -qam "NEWS: 9.9"
head=$(git -C tree rev-parse --short=12 HEAD)

printf '== tests (3 s)\n== 700 s\n6610 passed, 1 failed, 3 skipped\n' >"$scratch/check.log"
refused "tests that failed" "0 failed" --check-log "$scratch/check.log" --no-bench --no-coverage -n 9.9
printf '== tests (3 s)\n== 700 s\n6611 passed, 0 failed, 3 skipped\n' >"$scratch/check.log"
printf '%-58s | %-34s | %-20s | %s\n' 'pjfold -j1: CPU time' '0.4 s, 250 MB/s' '' - 'a "peer", slow' absent '' - 'memory' '9.5 MB' '<= 48 MB' NO >"$scratch/bench.log"
echo '1 targets missed' >>"$scratch/bench.log"
refused "a target that was missed" "all targets met" --no-check --bench-log "$scratch/bench.log" --no-coverage -n 9.9
{ sed '$d; s/memory/memory, "all"/' "$scratch/bench.log"; echo 'all targets met'; } >"$scratch/bench"
mv "$scratch/bench" "$scratch/bench.log"
echo 'common  100  90  90.0 %' >"$scratch/coverage.log"
refused "coverage without a total" "has no total" --no-check --no-bench --coverage-log "$scratch/coverage.log" -n 9.9
echo 'total  200  172  86.0 %' >>"$scratch/coverage.log"
in_tree ./release >"$scratch/said" 2>&1
is "without a version: usage" "$? $(grep -c -- --dry-run "$scratch/said")" "2 1"

# ---- a dry run
cat >"$scratch/want" <<-EOF
	2030-01-02,9.9,$head,./check: passed,6611,tests
	2030-01-02,9.9,$head,./check: failed,0,tests
	2030-01-02,9.9,$head,./check: skipped,3,tests
	2030-01-02,9.9,$head,./check: time,700,s
	2030-01-02,9.9,$head,pjfold -j1: CPU time,0.4,s
	2030-01-02,9.9,$head,pjfold -j1: CPU time,250,MB/s
	2030-01-02,9.9,$head,"memory, ""all""",9.5,MB
	2030-01-02,9.9,$head,coverage: common,90.0,%
	2030-01-02,9.9,$head,coverage: total,86.0,%
	EOF
ok "a dry run" in_tree ./release -n -o "$out" --no-packages --check-log "$scratch/check.log" --bench-log "$scratch/bench.log" --coverage-log "$scratch/coverage.log" 9.9
same "its figures" "$out/figures.csv" "$scratch/want"
is "no tag, no commit, no change" "$(git -C tree tag) $(git -C tree rev-parse --short=12 HEAD) $(git -C tree status --porcelain)" " $head "
is "its checksum" "$(cd "$out" && sha256sum -c pj-9.9.tar.gz.sha256)" "pj-9.9.tar.gz: OK"
cp "$out/pj-9.9.tar.gz" "$scratch/first.tar.gz"
mkdir "$scratch/unpacked"
gzip -dc "$out/pj-9.9.tar.gz" | tar -xf - -C "$scratch/unpacked"
is "the tarball has the files of HEAD, below pj-9.9" "$(cd "$scratch/unpacked/pj-9.9" && find . ! -type d | wc -l)" "$(git -C tree ls-tree -r HEAD | wc -l)"
ok "the tarball builds" env -u MAKEFLAGS -u MAKELEVEL -u SAN make -s -j2 -C "$scratch/unpacked/pj-9.9" CFLAGS=-O0
is "its tools have the version" "$("$scratch"/unpacked/pj-9.9/build/std-cc/bin/pjfold --version | head -n 1)" "pjfold (pj) 9.9"
ok "the same tarball again" in_tree ./release -n -o "$out" --no-check --no-bench --no-coverage --no-packages 9.9
ok "  has the same bytes" cmp "$out/pj-9.9.tar.gz" "$scratch/first.tar.gz"
is "  and no figures" "$(wc -c <"$out/figures.csv" | tr -d ' ')" 0

# ---- a release
rm -r "$out"
ok "a release" in_tree ./release -o "$out" --no-packages --check-log "$scratch/check.log" --bench-log "$scratch/bench.log" --coverage-log "$scratch/coverage.log" 9.9
is "its tag, on a commit of the figures alone" "$(git -C tree rev-parse --short=12 'v9.9^') $(git -C tree diff --name-only v9.9^ v9.9)" "$head docs/FIGURES.csv"
is "FIGURES.csv: one header" "$(grep -nx 'date,version,commit,name,value,unit' tree/docs/FIGURES.csv)" 1:date,version,commit,name,value,unit
tail -n 9 tree/docs/FIGURES.csv >"$scratch/figures"
same "FIGURES.csv: the figures" "$scratch/figures" "$scratch/want"
gzip -dc "$out/pj-9.9.tar.gz" | tar -xOf - pj-9.9/docs/FIGURES.csv | tail -n 9 >"$scratch/figures"
same "the tarball has them" "$scratch/figures" "$scratch/want"
rm "$out"/*.tar.gz
refused "the same version again" "the tag v9.9 exists already" --no-check --no-bench --no-coverage --no-packages 9.9

# ---- runs of ./check and make bench: stand-ins
git -C tree tag -d v9.9 >"$scratch/said"
# shellcheck disable=SC2016 # the script expands it
printf '#!/bin/sh\n[ "$1" = --full ] || exit 2\necho "1 passed, 0 failed, 0 skipped"\nexit ${CHECK_STATUS:-0}\n' >tree/check
printf 'bench:\n\t@echo "x | 1 s | | -"; echo all targets met\ncoverage:\n\t@echo "total 2 1 50.0 %%"\n' >tree/Makefile
git -C tree commit -qam 'test: stand-ins'
CHECK_STATUS=1
export CHECK_STATUS
refused "./check that ends with 1" "./check failed" -n 9.9
unset CHECK_STATUS
in_tree env -u MAKEFLAGS -u MAKELEVEL ./release --no-check --no-bench --no-coverage -o "$out" 9.9 >"$scratch/said" 2>&1
is "a package that cannot be built: no release" "$? $(grep -c 'a package cannot be built' "$scratch/said") $(git -C tree tag)" "1 1 "
ok "all run" in_tree env -u MAKEFLAGS -u MAKELEVEL ./release --no-packages -n -o "$out" 9.9
is "  and their figures" "$(cut -d, -f4- "$out/figures.csv" | tr '\n' ' ')" "./check: passed,1,tests ./check: failed,0,tests ./check: skipped,0,tests x,1,s coverage: total,50.0,% "
done_testing
