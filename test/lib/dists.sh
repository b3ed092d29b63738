# shellcheck shell=sh disable=SC2034,SC2154 # what tap.sh sets, and what tests use
# dists.sh - root file systems of Debian releases, for tests of packages; source it after tap.sh. Needs root and debootstrap.
#
#	dists_base SUITE        creates $PJ_DISTS/SUITE at the first call (100 MB, a minute); returns 1, and the reason
#	                        in $why, if that fails
#	dists_enter SUITE DIR   copies it to DIR, with the /proc of this machine; dists_leave DIR removes the copy
#	inside DIR COMMAND      runs shell text in the copy, as root, with an environment of its own
#
# PJ_DISTS is /var/tmp/pj-dists by default. Packages come from the package source of this machine, with its settings.

dists=${PJ_DISTS:-/var/tmp/pj-dists}

dists_mirror()
{
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | head -n 1
}

dists_base()
{
	why=
	if [ -e "$dists/$1/.complete" ]; then return 0; fi
	if [ "$(id -u)" != 0 ]; then why="not root"; return 1; fi
	have debootstrap || { why="debootstrap is not installed"; return 1; }
	mirror=$(dists_mirror)
	[ -n "$mirror" ] || { why="apt has no package sources"; return 1; }
	proxy=$(apt-config shell p Acquire::http::Proxy | sed "s/^p='\(.*\)'$/\1/")
	mkdir -p "$dists"
	rm -rf "$dists/$1.new"
	if http_proxy=${proxy:-${http_proxy:-}} debootstrap --variant=minbase "$1" "$dists/$1.new" "$mirror" >"$dists/$1.log" 2>&1; then
		echo "deb $mirror $1 main" >"$dists/$1.new/etc/apt/sources.list"
		apt-config dump | grep -E '^Acquire::(http|https)::|^Acquire::(Languages|IndexTargets)' >"$dists/$1.new/etc/apt/apt.conf.d/90host" || true
		cp /etc/resolv.conf "$dists/$1.new/etc/"
		: >"$dists/$1.new/.complete"
		rm -rf "${dists:?}/$1"
		mv "$dists/$1.new" "$dists/$1"
		return 0
	fi
	why="debootstrap $1 failed: $(tail -n 1 "$dists/$1.log")"
	rm -rf "$dists/$1.new"
	return 1
}

dists_enter()
{
	rm -rf --one-file-system "$2"
	cp -a --reflink=auto "$dists/$1" "$2"
	cp /etc/resolv.conf "$2/etc/"
	mount -t proc proc "$2/proc" && mount --rbind /sys "$2/sys" && mount --make-rslave "$2/sys" && mount --bind /dev "$2/dev"
}

dists_leave()
{
	for folder in dev sys proc; do umount -l "$1/$folder" 2>/dev/null; done
	rm -rf --one-file-system "$1"
}

inside()
{
	env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		chroot "$1" /bin/sh -c "$2" </dev/null
}
