#!/bin/sh
# image.t - make image, and the image under runc: read-only, no capability but the six that the Containerfile names; a picture comes out.
# stage: live
# full: needs the static program of dist.t
# covers: packaging/image.sh packaging/Containerfile packaging/multicall.c
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ "$(id -u)" = 0 ] || skip_all "not root"
have buildah || skip_all "buildah is not installed"
have runc || skip_all "runc is not installed"
[ -x "$top/build/static/pj" ] || skip_all "make static has not been run"

# a copy: what root makes does not stay in the tree
mkdir -p tree/build
cp -R "$top/packaging" "$top/common" "$top/NEWS" "$top/LICENSE" tree/
cp -R "$top/build/static" tree/build/
ok "make image" sh tree/packaging/image.sh
sha256sum <tree/build/image/pj.tar >first
ok "again" sh tree/packaging/image.sh
is "  the same bytes" "$(sha256sum <tree/build/image/pj.tar)" "$(cat first)"
[ -s tree/build/image/pj.tar ] || { fail "no image"; done_testing; }
bytes=$(stat -c %s tree/build/image/pj.tar)
echo "# the image has $bytes bytes"
ok "at most 4 MB" test "$bytes" -le 4000000

# the layer, by the manifest's word
mkdir -p oci bundle/rootfs data
tar -xf tree/build/image/pj.tar -C oci
manifest=$(sed -n 's/.*"digest":"sha256:\([0-9a-f]*\)".*/\1/p' oci/index.json)
layers=$(sed 's/.*"layers"//' "oci/blobs/sha256/$manifest" | grep -o 'sha256:[0-9a-f]*' | cut -d: -f2)
for layer in $layers; do tar -xzf "oci/blobs/sha256/$layer" -C bundle/rootfs; done
is "one layer: the tools, users and empty folders" "$(echo "$layers" | wc -l) $(cd bundle/rootfs && find . ! -type d ! -path './licenses/*' | LC_ALL=C sort | tr '\n' ' ')" \
	"1 $(cd "$top/build/static" && find . -name 'pj*' ! -path './licenses/*' ! -name pjflame ! -name pjprofile ! -name '*.gz' | sed 's|^./|./bin/|' | LC_ALL=C sort | tr '\n' ' ')./etc/group ./etc/passwd "

ok "  licenses of pj and of the libraries" test -s bundle/rootfs/licenses/pj -a -s bundle/rootfs/licenses/libc6

# container CAPABILITIES ARGUMENT...: runs it with the processes of this machine, the root file system read-only; CAPABILITIES are words of JSON
container()
{
	capabilities=$1
	shift
	arguments=$(printf '"%s",' "$@")
	cat >bundle/config.json <<-E
		{ "ociVersion": "1.0.2", "root": { "path": "rootfs", "readonly": true }, "hostname": "pj",
		  "process": { "terminal": false, "cwd": "/", "user": { "uid": 0, "gid": 0 }, "env": [ "PATH=/bin" ], "noNewPrivileges": true,
		    "args": [ ${arguments%,} ],
		    "capabilities": { "bounding": [$capabilities], "effective": [$capabilities], "permitted": [$capabilities] } },
		  "mounts": [ { "destination": "/proc", "type": "proc", "source": "proc" },
		    { "destination": "/sys", "type": "bind", "source": "/sys", "options": ["rbind", "ro"] },
		    { "destination": "/tmp", "type": "tmpfs", "source": "tmpfs" },
		    { "destination": "/var/lib/pj", "type": "bind", "source": "$scratch/data", "options": ["bind", "rw"] } ],
		  "linux": { "namespaces": [ { "type": "mount" }, { "type": "ipc" }, { "type": "uts" }, { "type": "network" } ] } }
	E
	(cd bundle && timeout 120 runc --root "$scratch/runc" run "pj-test-$$")
}

container '' pj --version >said 2>errors || skip_all "runc runs no container here: $(head -n 1 errors)"
pass "pj --version in a container"
cc -O1 -g -static -fno-omit-frame-pointer -pthread -o demo "$top/examples/demo.c"
./demo 60 &
load=$!
container '"CAP_PERFMON","CAP_IPC_LOCK","CAP_SYSLOG","CAP_SYS_PTRACE","CAP_DAC_READ_SEARCH","CAP_SYS_NICE"' \
	pjrecord --all --once --window=3 --frequency=199 --dir=/var/lib/pj >window 2>errors
is "a window" "$? $(grep -c '^/var/lib/pj/out/' window)" "0 1"
container '' pjfold "$(cat window)" >unreadable 2>errors
is "without CAP_DAC_READ_SEARCH root of the host reads its own file" $? 0
container '"CAP_DAC_READ_SEARCH"' pjfold "$(cat window)" >folded 2>errors
ok "folded in the image: functions of a program of the host" grep -q 'demo;.*parse_value' folded
container '' pjsvg --output=/var/lib/pj/flame.svg "/var/lib/pj/in.folded" >said 2>&1
is "a file that is missing is an error" $? 1
cp folded data/in.folded
container '' pjsvg --output=/var/lib/pj/flame.svg "/var/lib/pj/in.folded" >said 2>errors
is "and drawn" "$? $(cat said errors) $(head -c 5 data/flame.svg)" "0  <svg "
container '' pjrecord --all --once --window=1 --dir=/var/lib/pj >said 2>errors
is "without the capabilities: an error that names one" "$(grep -c 'CAP_PERFMON' errors)" 1
kill "$load" 2>/dev/null
done_testing
