#!/bin/sh
# static-curl.sh DIR - libcurl for `make static`: HTTP and HTTPS alone, with Mbed TLS, as DIR/lib/libcurl.a: make static-curl
#
# The sources are those of Debian's package curl, with its patches (apt-get source; network), or the folder CURL_SOURCE. libcurl.a of
# Debian cannot be linked: Kerberos and LDAP, which it refers to, have no static libraries. Mbed TLS is libmbedtls-dev's, 0.5 MB of a program;
# OpenSSL would be 4 MB.
set -eu
dir=${1:?static-curl.sh DIR}
CC=${CC:-cc}
export CC
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ -e /usr/include/mbedtls/ssl.h ] || { echo "static-curl: libmbedtls-dev is not installed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$dir/build.log

# fetch: the sources into $work/curl
fetch()
{
	suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources.list"
	cat >"$work/apt.conf" <<-CONF
		Dir::Etc::sourcelist "$work/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State::lists "$work/lists";
		Dir::Cache "$work/cache";
		APT::Sandbox::User "root";
	CONF
	(cd "$work" && APT_CONFIG=$work/apt.conf && export APT_CONFIG && apt-get -q update && apt-get -q source curl) >"$log" 2>&1 ||
		{ tail -n 5 "$log" >&2; echo "static-curl: the sources of curl cannot be fetched" >&2; exit 1; }
	mv "$work"/curl-[0-9]*/ "$work/curl"
}

# build: only what pjsend uses
build()
{
	cd "$work/curl"
	[ -x configure ] || autoreconf -fi
	./configure --prefix="$dir" --disable-shared --enable-static --with-mbedtls --without-openssl --without-gnutls --with-zlib \
		--without-brotli --without-zstd --without-libpsl --without-libidn2 --without-nghttp2 --without-librtmp --without-libssh2 \
		--without-ca-bundle --without-ca-path --enable-ipv6 --enable-http --enable-threaded-resolver --enable-pthreads \
		--disable-ftp --disable-file --disable-ldap --disable-ldaps --disable-rtsp --disable-dict --disable-telnet --disable-tftp \
		--disable-pop3 --disable-imap --disable-smb --disable-smtp --disable-gopher --disable-mqtt --disable-manual --disable-ntlm \
		--disable-ares --disable-unix-sockets --disable-alt-svc --disable-hsts --disable-websockets \
		CFLAGS="-O2 -g -fPIE -ffunction-sections -fdata-sections -ffile-prefix-map=$work=."
	make -j"$(nproc)" -C lib
	make -C lib install
	make -C include install
}

if [ -n "${CURL_SOURCE:-}" ]; then cp -R "$CURL_SOURCE" "$work/curl"; else fetch; fi
(build) >>"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "static-curl: see $log" >&2; exit 1; }
echo '-lmbedtls -lmbedx509 -lmbedcrypto -lz -pthread' >"$dir/libs"
echo "Mbed TLS $(sed -n 's/^#define MBEDTLS_VERSION_STRING *"\(.*\)".*/\1/p' /usr/include/mbedtls/version.h /usr/include/mbedtls/build_info.h 2>/dev/null | head -n 1)" >"$dir/tls"
echo "static-curl: $(sed -n 's/^#define LIBCURL_VERSION "\(.*\)"/libcurl \1/p' "$dir/include/curl/curlver.h") with $(cat "$dir/tls"): $dir"
