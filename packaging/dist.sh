#!/bin/sh
# dist.sh [COMMIT] - the sources of a commit (HEAD) as build/dist/pj-VERSION.tar.gz, with its SHA-256: make dist
#
# The bytes depend on the commit alone: owner, modes, order and times are git's, gzip stores no name and no time.
set -eu
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL
# shellcheck source=packaging/version.sh
. packaging/version.sh
[ -n "$commit" ] || fail "make dist needs the git checkout; this tree is what it makes"
out=${PJ_DIST:-build/dist}
mkdir -p "$out"
git archive --format=tar --prefix="$top_name/" -o "$out/$top_name.tar.new" "${1:-HEAD}"
gzip -n -9 <"$out/$top_name.tar.new" >"$out/$top_name.tar.gz.new"
rm "$out/$top_name.tar.new"
mv "$out/$top_name.tar.gz.new" "$out/$top_name.tar.gz"
(cd "$out" && sha256sum "$top_name.tar.gz" >"$top_name.tar.gz.sha256")
cat "$out/$top_name.tar.gz.sha256"
