#!/bin/sh
# tidy.sh FLAG... - clang-tidy on each module of the product, with .clang-tidy and these compiler flags: make tidy
#
# A file without a finding leaves build/tidy/HASH, the hash of its preprocessed text with comments (NOLINT), of .clang-tidy and of
# clang-tidy's version; while that exists, the file is not analyzed again.
set -u
cd "$(dirname "$0")/.." || exit 1
if [ "${1:-}" = --file ]; then
	file=$2
	shift 2
	hash=$({ cat .clang-tidy build/tidy/version; clang -E -C "$@" "$file" 2>/dev/null || echo "$file $$"; } | sha256sum | cut -c1-40)
	[ ! -e "build/tidy/$hash" ] || exit 0
	if clang-tidy --quiet "$file" -- "$@" >"build/tidy/$hash.new" 2>/dev/null; then
		mv "build/tidy/$hash.new" "build/tidy/$hash"
	else
		cat "build/tidy/$hash.new"
		rm -f "build/tidy/$hash.new"
		exit 1
	fi
	exit 0
fi
command -v clang-tidy >/dev/null && command -v clang >/dev/null || { echo "tidy: clang-tidy is not installed"; exit 0; }
mkdir -p build/tidy
clang-tidy --version >build/tidy/version
find common unwind runtimes fold svg diff record jmap send -name '*.c' -not -path jmap/agent/agent.c | LC_ALL=C sort |
	xargs -P "${JOBS:-$(nproc)}" -I '{}' sh test/tidy.sh --file '{}' "$@"
