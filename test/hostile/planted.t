#!/bin/sh
# planted.t - links, hard links, FIFOs, sockets, directories and devices that another user planted where tools write: nothing is followed and
# no tool waits, with fs.protected_* as they are here (test/hostile/planted-guest.t: with all of them on).
# stage: live
# covers: common/files/outpath.c common/files/tempfile.c record/windows/windir.c jmap/perfmap/mapfile.c
PJ_TOP=${PJ_TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=test/hostile/lib.sh
. "$top/test/hostile/lib.sh"

echo "# fs.protected_symlinks, hardlinks, fifos, regular: $(cat /proc/sys/fs/protected_symlinks /proc/sys/fs/protected_hardlinks /proc/sys/fs/protected_fifos /proc/sys/fs/protected_regular | tr '\n' ' ')"
mkdir "$arena/planted"
chown root:root "$arena" "$arena/planted"
PJ_SEED=$seed sh "$top/test/hostile/planted.sh" "$(program plant)" "$arena/planted" '' >results 2>trouble
while read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	*) fail "${line#not ok }" ;;
	esac
done <results
is "planted.sh ran to its end" "$(tail -n 1 results)" "ok nothing is left behind"
[ ! -s trouble ] || sed 's/^/# /' trouble
done_testing
