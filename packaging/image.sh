#!/bin/sh
# image.sh - a container image of build/static/pj as build/image/pj.tar, an archive of OCI: make image
#
# Needs buildah, and neither a daemon nor a registry. The same program gives the same layers.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=packaging/version.sh
. packaging/version.sh
need buildah buildah
out=build/image
root=$out/root
rm -rf "$out"
mkdir -p "$root/bin" "$root/etc" "$root/tmp" "$root/var/lib/pj" "$root/proc" "$root/sys" "$root/dev"
chmod 1777 "$root/tmp"
cp build/static/pj "$root/bin/"
cp -R build/static/licenses "$root/licenses"
cp LICENSE "$root/licenses/pj"
find build/static -type l -exec cp -P {} "$root/bin/" \;
printf 'root:x:0:0::/:\npj:x:65532:65532::/var/lib/pj:\n' >"$root/etc/passwd"
printf 'root:x:0:\npj:x:65532:\n' >"$root/etc/group"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# storage of its own: the images of this user stay as they are
storage=$(mktemp -d "${TMPDIR:-/tmp}/pj-image.XXXXXX")
trap 'rm -rf "$storage"' EXIT
with_buildah()
{
	buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs "$@"
}
with_buildah bud --isolation=chroot --timestamp "$SOURCE_DATE_EPOCH" -q --label "org.opencontainers.image.title=pj" \
	--label "org.opencontainers.image.description=$summary" --label "org.opencontainers.image.version=$package_version" --label "org.opencontainers.image.licenses=Apache-2.0" \
	--label "org.opencontainers.image.vendor=$maintainer" --label "org.opencontainers.image.url=$homepage" -f packaging/Containerfile -t "pj:$version" "$root" >"$out/id"
# not an oci-archive of buildah: its entries have the time of now
with_buildah push -q "pj:$version" "oci:$out/oci:pj:$version"
tar -cf "$out/pj.tar" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$out/oci" .
rm -rf "$out/oci"
echo "image: $out/pj.tar: $(stat -c %s "$out/pj.tar") bytes, $(du -sb "$root/bin" | cut -f1) unpacked"
