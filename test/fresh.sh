#!/bin/bash
# fresh.sh - ./check and ./quickstart on a fresh Debian, as root, as a user with sudo, and with sudo in front: make fresh
#
# The system is made by debootstrap from the package sources of this machine, kept in PJ_FRESH_DIR (/var/tmp/pj-fresh) and copied
# for each run, so that nothing is there that the scripts do not install themselves. Needs root; mounts live in a namespace of
# their own and are gone when this ends. PJ_FRESH=root, user, sudo chooses runs.
set -u
cd "$(dirname "$0")/.." || exit 1
suite=bookworm
home=${PJ_FRESH_DIR:-/var/tmp/pj-fresh}
runs=${PJ_FRESH:-root user sudo}

if [ "$(id -u)" != 0 ]; then echo "fresh: needs root" >&2; exit 1; fi
command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null || exit 1
if [ -z "${PJ_FRESH_INSIDE:-}" ]; then
	PJ_FRESH_INSIDE=1 exec unshare --mount --propagation private bash "test/${0##*/}"
fi

# URI SUITE COMPONENT of this machine's own sources
# shellcheck disable=SC2016 # apt's variables
sources=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | awk -v s=$suite '$2 ~ "^" s' | sort -u)
mirror=$(echo "$sources" | awk -v s=$suite '$2 == s { print $1; exit }')
if [ -z "$mirror" ]; then
	echo "fresh: no package source for $suite on this machine" >&2
	exit 1
fi

mkdir -p "$home/archives/partial"
if [ ! -e "$home/base/.complete" ]; then
	echo "== debootstrap $suite"
	rm -rf "$home/base"
	proxy=$(apt-config shell p Acquire::http::Proxy | sed "s/^p='\(.*\)'$/\1/")
	http_proxy=${proxy:-${http_proxy:-}} debootstrap --variant=minbase "$suite" "$home/base" "$mirror" >"$home/debootstrap.log" 2>&1 || {
		tail -n 20 "$home/debootstrap.log" >&2
		exit 1
	}
	touch "$home/base/.complete"
fi

# fresh_root: a new copy with this machine's sources and settings
fresh_root()
{
	for m in dev/shm dev/pts dev sys proc var/cache/apt/archives; do
		if mountpoint -q "$home/run/$m"; then umount -l "$home/run/$m"; fi
	done
	rm -rf --one-file-system "$home/run"
	cp -a --reflink=auto "$home/base" "$home/run" || exit 1
	awk '{ print "deb", $0 }' <<<"$sources" >"$home/run/etc/apt/sources.list"
	apt-config dump | grep -E '^Acquire::(http|https)::|^Acquire::(Languages|IndexTargets)' >"$home/run/etc/apt/apt.conf.d/90host" || true
	cp /etc/resolv.conf /etc/hosts "$home/run/etc/"
	# certificates that this machine trusts beside Debian's
	mkdir -p "$home/run/usr/local/share/ca-certificates"
	cp /usr/local/share/ca-certificates/*.crt "$home/run/usr/local/share/ca-certificates/" 2>/dev/null
	mount --bind "$home/archives" "$home/run/var/cache/apt/archives"
	echo 'APT::Keep-Downloaded-Packages "true";' >"$home/run/etc/apt/apt.conf.d/91keep"
	mount -t proc proc "$home/run/proc"
	mount --bind /sys "$home/run/sys"
	mount --bind /dev "$home/run/dev"
	mount -t tmpfs tmpfs "$home/run/dev/shm"
}

# inside COMMAND: sh text, as root, with a plain environment
inside()
{
	local registry=

	if command -v npm >/dev/null; then registry=$(npm config get registry 2>/dev/null); fi
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		${registry:+npm_config_registry="$registry"} chroot "$home/run" /bin/sh -c "$1" </dev/null
}

failed=0
# expect WHAT COMMAND: log in $home/WHAT.log
expect()
{
	local what=$1 start=$SECONDS

	shift
	if "$@" >"$home/$what.log" 2>&1; then
		echo "ok: $what ($((SECONDS - start)) s): $(tail -n 1 "$home/$what.log")"
	else
		echo "NOT OK: $what ($((SECONDS - start)) s), see $home/$what.log:"
		tail -n 30 "$home/$what.log" | sed 's/^/    /'
		failed=1
	fi
}

add_user()
{
	inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo >/dev/null 2>&1 &&
		useradd -m -s /bin/bash alex && echo "alex ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/alex' >"$home/user.log" 2>&1
	git clone -q . "$home/run/home/alex/pj"
	inside 'chown -R alex: /home/alex'
}

# shellcheck disable=SC2317 # called through expect
foreign_files()
{
	local found

	found=$(find "$home/run/home/alex" ! -user "$(stat -c %u "$home/run/home/alex")" | head -n 5)
	[ -z "$found" ] || { echo "not the user's: $found"; return 1; }
}

for run in $runs; do
	echo "== fresh $suite, $run"
	fresh_root
	case $run in
	root)
		git clone -q . "$home/run/root/pj"
		expect root-quickstart inside 'cd /root/pj && ./quickstart 3 && test -s flame.svg'
		expect root-check inside 'cd /root/pj && ./check'
		;;
	user)
		add_user
		expect user-quickstart inside 'cd /home/alex/pj && su alex -c "./quickstart 3" && test -s flame.svg'
		expect user-quickstart-tree foreign_files
		expect user-check inside 'cd /home/alex/pj && su -w npm_config_registry alex -c ./check'
		expect user-check-tree foreign_files
		;;
	sudo)
		add_user
		expect sudo-quickstart inside 'cd /home/alex/pj && su alex -c "sudo ./quickstart 3" && test -s flame.svg'
		expect sudo-quickstart-tree foreign_files
		expect sudo-quickstart-offline inside 'cd /home/alex/pj && mv /etc/apt/sources.list /etc/apt/sources.off && su alex -c "sudo ./quickstart 3"'
		;;
	esac
done
for m in dev/shm dev sys proc var/cache/apt/archives; do umount -l "$home/run/$m" 2>/dev/null; done
exit $failed
