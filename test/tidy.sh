#!/bin/sh
# tidy.sh FLAG... - clang-tidy on each module of the product, with .clang-tidy and these compiler flags: make tidy
#
# PJ_TIDY_SINCE: a commit; only modules that changed since then are analyzed, themselves or in their header.
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
# Prints the paths of the modules to analyze.
modules()
{
	find common unwind runtimes fold svg diff record jmap send -name '*.c' -not -path jmap/agent/agent.c | LC_ALL=C sort |
		if [ -z "${PJ_TIDY_SINCE:-}" ]; then cat; else grep -Fx -e "$(changed)"; fi
}

# Prints the paths of changed files, and for each changed header that of its module.
changed()
{
	{ git diff --name-only "$PJ_TIDY_SINCE" && git ls-files -o --exclude-standard; } | sed 's/[.]h$/.c/'
}

modules |
	xargs -P "${JOBS:-$(nproc)}" -I '{}' sh test/tidy.sh --file '{}' "$@"
