#!/bin/sh
# rpm.sh - the package of Fedora, RHEL and SUSE of HEAD as build/rpm/pj-VERSION-1.ARCH.rpm: make rpm
#
# On Debian rpmbuild cannot find installed packages, so build dependencies are not checked there. rpmlint checks the result if it is installed:
# errors and warnings fail.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=packaging/version.sh
. packaging/version.sh
need rpmbuild rpm
begin_build rpm "${PJ_RPM:-build/rpm}"
mkdir "$work/SOURCES"
trap 'rm -rf "$work"' EXIT
unpack_sources "$work"
tar -cf - --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" "$top_name" |
	gzip -n -9 >"$work/SOURCES/$top_name.tar.gz"
nodeps=
if ! rpm -q rpm >/dev/null 2>&1; then nodeps=--nodeps; fi
fill packaging/pj.spec.in >"$out/pj.spec"
# Debian's rpm strips nothing by itself; Fedora makes packages of debug information
strip=
if [ -n "$nodeps" ]; then strip="find %{buildroot}%{_bindir} -type f ! -name pjflame ! -name pjprofile -exec strip {} +"; fi
rpmbuild -bb $nodeps --define "_topdir $work" --define "packager $maintainer" ${strip:+--define "__os_install_post $strip"} \
	--define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' --define '_buildhost localhost' \
	"$out/pj.spec" >"$out/build.log" 2>&1 || { tail -n 30 "$out/build.log" >&2; fail "see $out/build.log"; }
rm -f "$out"/pj*.rpm
cp "$work"/RPMS/*/pj*.rpm "$out"
if command -v rpmlint >/dev/null 2>&1; then
	rpmlint -c packaging/rpmlint.toml "$out/pj.spec" "$out"/pj*.rpm >"$out/rpmlint.log" 2>&1 || { cat "$out/rpmlint.log" >&2; fail "rpmlint found errors"; }
	tail -n 1 "$out/rpmlint.log"
	! grep -E ': [EW]: ' "$out/rpmlint.log" || fail "rpmlint found warnings"
else
	echo "rpm: rpmlint is not installed: not checked"
fi
for rpm in "$out"/pj*.rpm; do
	echo "rpm: $rpm: $(stat -c %s "$rpm") bytes, $(rpm -qp --qf '%{SIZE}' "$rpm") bytes installed"
done
