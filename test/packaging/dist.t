#!/bin/sh
# dist.t - what is made of the sources: the tarball twice, its build without a network, the static program, the list of components, the rpm.
# full: builds the tools three times
# once: builds its own tools
# covers: packaging/dist.sh packaging/version.sh packaging/multicall.c packaging/static.sh packaging/sbom.sh packaging/sbom.awk
# covers: packaging/rpm.sh packaging/pj.spec.in packaging/APKBUILD packaging/apk.sh
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
LC_ALL=C
export LC_ALL
git -C "$top" rev-parse HEAD >said 2>&1 || skip_all "not a git checkout"
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
export GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
unset MAKEFLAGS MAKELEVEL SAN
version=$(sed -n 's/^#define PJ_VERSION "\(.*\)"/\1/p' "$top/common/base.h")

# clone NAME: the commit of this checkout, with a time and modes of its own
clone()
{
	git clone -q --depth 1 "file://$top" "$1" || skip_all "the checkout cannot be cloned"
}

# ---- make dist
tools=$(cd "$top" && echo */pj*.c | tr ' ' '\n' | sed 's|.*/||; s/[.]c$//' | LC_ALL=C sort | tr '\n' ' ')
tools=${tools% }
case $PJ_BUILD in */san-* | */thread-*) skip_all "it builds without sanitizers" ;; esac
ntools=$(echo "$tools" | wc -w)
nscripts=$(find "$top/flame" -name "pj*.sh" | wc -l)
clone one
(umask 077 && clone other)
ok "make dist" make -s -C one dist
(cd other && umask 077 && TZ=Asia/Tokyo make -s dist) >said 2>&1
same "the same bytes in another folder, with other modes, in another time zone" "one/build/dist/pj-$version.tar.gz" "other/build/dist/pj-$version.tar.gz"
is "its checksum" "$(cd one/build/dist && sha256sum -c "pj-$version.tar.gz.sha256")" "pj-$version.tar.gz: OK"
mkdir unpacked
gzip -dc "one/build/dist/pj-$version.tar.gz" | tar -xf - -C unpacked
tree=$scratch/unpacked/pj-$version
is "it has all files of the commit" "$(cd "$tree" && find . ! -type d | wc -l)" "$(git -C one ls-tree -r HEAD | wc -l)"
ok "a tarball has no tarball" sh -c 'make -s -C "$1" dist 2>&1 | grep -q "needs the git checkout"' - "$tree"

# ---- it builds without a network
offline=
if unshare -n true 2>/dev/null; then offline='unshare -n'; fi
# shellcheck disable=SC2086
ok "it builds${offline:+ without a network}" $offline make -s -j2 -C "$tree" CFLAGS=-O0
[ -n "$offline" ] || skip "a build without a network" "not root: no network namespace"
ok "its install is complete" make -s -C "$tree" install install-system CFLAGS=-O0 DESTDIR="$scratch/to" PREFIX=/usr
(cd to && find . -type f | sort) >installed
for file in bin/pjflame bin/pjrecord share/man/man1/pjrecord.1 share/bash-completion/completions/pjfold lib/systemd/system/pjrecord.service \
	lib/sysusers.d/pj.conf lib/tmpfiles.d/pj.conf share/doc/pj/guide.md share/doc/pj/examples/demo.c; do
	ok "  $file" grep -qx "./usr/$file" installed
done
is "units name the tools of PREFIX" "$(grep -h '^ExecStart' to/usr/lib/systemd/system/*.service | grep -vc '=/usr/bin/')" 0
make -s -C "$tree" uninstall CFLAGS=-O0 DESTDIR="$scratch/to" PREFIX=/usr >said 2>&1
is "uninstall leaves documents and units alone" "$(cd to && find . -type f | grep -vE '^./usr/(share/doc/pj|lib/systemd|lib/sysusers.d|lib/tmpfiles.d)/')" ""

# ---- the list of components
make -s -C "$tree" sbom CFLAGS=-O0 >said 2>&1
cp "$tree/build/sbom/pj-$version.spdx.json" first.json
make -s -C "$tree" sbom CFLAGS=-O0 >said 2>&1
same "the list of components: the same bytes again" first.json "$tree/build/sbom/pj-$version.spdx.json"
if have node; then
	# shellcheck disable=SC2016 # node's
	is "  is JSON with each tool and zlib" "$(node -e 'const s = JSON.parse(require("fs").readFileSync("first.json")); const ids = new Set([...s.packages, ...s.files].map(x => x.SPDXID));
		console.log(s.spdxVersion, s.files.length, s.packages.filter(p => p.name === "zlib" && /^[0-9.]+$/.test(p.versionInfo)).length,
		s.relationships.filter(r => r.spdxElementId !== "SPDXRef-DOCUMENT" && !(ids.has(r.spdxElementId) && ids.has(r.relatedSpdxElement))).length)')" "SPDX-2.3 $((ntools + nscripts)) 1 0"
	is "  with the SHA-256 of pjfold" "$(node -e 'console.log(JSON.parse(require("fs").readFileSync("first.json")).files.find(f => f.fileName === "./bin/pjfold").checksums[1].checksumValue)')" \
		"$(sha256sum "$tree/build/std-cc/bin/pjfold" | cut -d' ' -f1)"
else
	skip "the list of components is JSON" "node is not installed"
fi

# ---- the static program
if echo '#include <zlib.h>
int main(void) { return zlibVersion()[0] == 0; }' | cc -static -x c - -lz -o zlib-static 2>said && make -s -j2 -C "$top" static >static.log 2>&1; then
	pass "make static: at most 6 MB, no library needed"
	static=$top/build/static
	is "  the tools are links to it" "$(find "$static" -type l | wc -l)" "$ntools"
	for tool in $tools; do
		is "  $tool" "$("$static/$tool" --version | sed -n '1p; s/.*, linked //p' | tr '\n' ' ')" "$tool (pj) $version statically "
	done
	is "  pj TOOL" "$("$static/pj" pjsvg --version | head -n 1)" "pjsvg (pj) $version"
	"$static/pj" unknown >said 2>&1
	is "  pj UNKNOWN lists the tools" "$? $(tail -n 1 said)" "2 tools: $tools"
	"$static/pj" --version >/dev/full 2>said
	is "  a full disk is an error" $? 1
	"$static/pjfold" -q "$top/examples/sample.script.gz" >static.folded
	pjfold -q "$top/examples/sample.script.gz" >dynamic.folded
	ok "  it folds" test -s static.folded
	same "  as the other one does" static.folded dynamic.folded
	"$static/pjsvg" static.folded >static.svg
	pjsvg static.folded >dynamic.svg
	same "  and draws" static.svg dynamic.svg
	# what is in it
	list=$(ls "$static"/licenses/pj-*-static.spdx.json)
	if have node; then
		# shellcheck disable=SC2016 # node's
		is "  the list of its libraries, each with a version" "$(node -e 'const s = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(
			s.relationships.filter(r => r.relationshipType === "STATIC_LINK").length > 5, ["glibc", "zlib", "libiberty"].filter(n => !s.packages.some(p => p.name === n)).join(),
			s.packages.filter(p => p.versionInfo === "unknown").map(p => p.name).join(), s.packages.filter(p => p.licenseConcluded === "NOASSERTION").map(p => p.name).join())' "$list")" "true   "
	else
		skip "  the list of its libraries" "node is not installed"
	fi
	# TLS
	if "$static/pjsend" --version | grep -q 'Mbed TLS' && have openssl && have node; then
		openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost -addext subjectAltName=DNS:localhost >said 2>&1
		# shellcheck disable=SC2016 # node's
		node -e 'const fs = require("fs"); const s = require("https").createServer({ key: fs.readFileSync("key.pem"), cert: fs.readFileSync("cert.pem") },
			(q, a) => { q.resume(); fs.appendFileSync("requests", q.method + "\n"); a.statusCode = 404; a.end("no such table\n"); });
			s.listen(0, "localhost", () => fs.writeFileSync("port", String(s.address().port)));' &
		server=$!
		tries=100
		while [ ! -s port ] && [ $((tries -= 1)) -gt 0 ]; do sleep 0.1; done
		"$static/pjfetch" --store="clickhouse:https://localhost:$(cat port)/" --list >said 2>&1
		is "  TLS: an unknown authority is refused" "$(grep -c 'BADCERT_NOT_TRUSTED' said) $(cat requests 2>/dev/null)" "1 "
		"$static/pjfetch" --cacert=cert.pem --store="clickhouse:https://localhost:$(cat port)/" --list >said 2>&1
		is "  TLS: --cacert" "$(head -n 1 requests)" POST
		kill $server
	else
		skip "static: TLS" "make static-curl has not been run, or openssl or node is not installed"
		"$static/pjsend" --version >said
		ok "  --version names it" grep -q '^without libcurl: no stores over HTTP, no TLS' said
	fi
	# a root file system without glibc
	if [ "$(id -u)" = 0 ] && have busybox; then
		mkdir -p root/bin root/tmp root/proc
		cp -P "$static"/pj* root/bin/
		cp "$(command -v busybox)" root/bin/busybox
		ln -s busybox root/bin/sh
		cp "$top/examples/sample.script.gz" root/
		chroot root /bin/sh -c 'pjfold /sample.script.gz' >chroot.folded 2>said
		same "  alone in a root file system" chroot.folded dynamic.folded
		ok "  pjsend without a service of names: a reason" sh -c 'chroot root /bin/pjfetch --store=clickhouse:http://no.such.host.invalid/ --list 2>&1 | grep -qE "pjfetch: .*(no.such.host|libcurl)"'
	else
		skip "static: alone in a root file system" "not root, or busybox-static is not installed"
	fi
elif [ ! -e zlib-static ]; then
	skip "make static" "the libraries have no static form here: $(head -n 1 said)"
else
	fail "make static" static.log
fi

# ---- rpm
if have rpmbuild; then
	ok "make rpm" make -s -C one rpm CFLAGS=
	rpm=$(ls one/build/rpm/pj-*.rpm 2>/dev/null)
	rpm -qpl "$rpm" >listed 2>said
	for file in /usr/bin/pjflame /usr/bin/pjrecord /usr/share/man/man1/pjrecord.1.gz /usr/lib/systemd/system/pjrecord.service; do
		ok "rpm: $file" grep -qx "$file" listed
	done
	ok "rpm: requires libdw" sh -c 'rpm -qpR "$1" 2>/dev/null | grep -q libdw' - "$rpm"
	have rpmlint || skip "rpm: rpmlint" "rpmlint is not installed"
else
	skip "make rpm" "rpmbuild is not installed"
fi

# ---- the spec as SUSE's rpm reads it: its macros are defined here, each prints its arguments
if have rpmspec && [ -e one/build/rpm/pj.spec ]; then
	cat >suse <<-'MACROS'
		%suse_version 1600
		%service_add_pre() add_pre %*
		%service_add_post() add_post %*
		%service_del_preun() del_preun %*
		%service_del_postun() del_postun %*
	MACROS
	rpmspec --load suse -P one/build/rpm/pj.spec >suse.spec 2>said
	units="pj.target pjrecord.service pjmap.service pjsend.service"
	is "SUSE: the scripts of the services" "$(grep -E '^(add|del)_' suse.spec)" "$(for macro in add_pre add_post del_preun del_postun; do echo "$macro $units"; done)"
	ok "SUSE: names of its packages" sh -c 'grep -q "^Requires(pre): *shadow$" suse.spec && grep -q "^Recommends: *libcurl4$" suse.spec && grep -q "^BuildRequires: *pkgconfig(libdw)$" suse.spec'
	ok "SUSE: no macro is left" not grep -E '^[^#]*%(\{|systemd|service|pj)' suse.spec
	ok "Fedora: other names" sh -c 'rpmspec -P one/build/rpm/pj.spec 2>/dev/null | grep -q "^Requires(pre): *shadow-utils$"'
else
	skip "the spec of SUSE" "rpmspec is not installed"
fi

# ---- each description names each tool
for template in debian/control pj.spec.in; do
	(cd one && . packaging/version.sh && fill "packaging/$template") >filled 2>said
	missing=
	for tool in $tools pjflame pjprofile; do grep -qw "$tool" filled || missing="$missing $tool"; done
	is "$template names each tool" "$missing" ""
	ok "$template is filled" not grep -E '@[A-Z]+@' filled
done

# ---- Alpine: abuild is not here, so its phases are: checksums, unpacking, build() and package() with its variables. Names are Alpine's
ok "make apk" make -s -C one apk
cat >abuild <<'ABUILD'
set -e
mkdir -p apk/src apk/pkg
cp one/build/apk/* apk/
cd apk
srcdir=$PWD/src pkgdir=$PWD/pkg CFLAGS=-O0 LDFLAGS=
. ./APKBUILD
echo "$pkgver" | grep -qE '^[0-9]+([.][0-9]+)*(_(alpha|beta|pre|rc|git|p)[0-9]*)*$'
ls $install
echo "$sha512sums" | grep . | sha512sum -c
gzip -dc "$source" | tar -xf - -C "$srcdir"
cd "$builddir"
build
package
ABUILD
ok "APKBUILD: its checksums, build() and package()" sh abuild
for file in bin/pjflame bin/pjrecord share/man/man1/pjrecord.1 share/bash-completion/completions/pjfold share/zsh/site-functions/_pjfold \
	share/fish/vendor_completions.d/pjfold.fish share/doc/pj/examples/pjrecord.cron; do
	ok "APKBUILD: $file" test -e "apk/pkg/usr/$file"
done
ok "APKBUILD: the tools run" sh -c 'for tool in apk/pkg/usr/bin/pj*; do $tool --version || exit 1; done'
done_testing
