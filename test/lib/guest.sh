# guest.sh - runs a script as root in a virtual machine (guest), for tests that need other sysctls, another init or a
# fault of the machine; source it after tap.sh. KVM is not needed: with TCG, Debian's kernel boots in about 10 seconds.
# shellcheck shell=sh disable=SC2154 # what tap.sh sets
#
#	guest_need                  skips the test, with the reason, if something is missing; otherwise creates
#	                            $guest_tree, the root file system of the guest, with busybox
#	guest_need_machine          the same without the tree, for a test that creates $guest_tree itself
#	guest_add FILE [PATH]       copies a file to the same path of the guest, or to PATH; a program, with libraries
#	guest_boot SECONDS <script  boots the guest, where busybox sh runs the script as root; prints the output of the
#	                            script; returns its status, 124 after the time limit, 125 if it has none
#
# The kernel is the newest boot/vmlinuz-* below $PJ_GUEST or /. Commands that fetch one without root or an installation:
#	cd $PJ_GUEST && apt-get download "$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: //p')" && dpkg -x linux-image*.deb .
# The guest has no drivers that are modules of Debian's kernel, so its files are in memory, and its output goes to a
# serial port. A test that needs another init (systemd) copies it into the tree and sets guest_init.

guest_folder=${PJ_GUEST:-/var/tmp/pj-guest}
guest_memory=${PJ_GUEST_MB:-1024}
guest_tree=$scratch/guest
guest_init=/init
guest_append=${PJ_GUEST_APPEND:-}

guest_need_machine()
{
	case $(uname -m) in
	x86_64) ;;
	*) skip_all "the guest is an x86-64 machine" ;;
	esac
	have qemu-system-x86_64 || skip_all "qemu-system-x86_64 is not installed"
	have busybox || skip_all "busybox (busybox-static) is not installed"
	have cpio || busybox cpio --help >/dev/null 2>&1 || skip_all "cpio is not installed"
	# only kernels of root or this user: another user may have put one there; -L: the folder may be a link
	guest_kernel=$(find -L "$guest_folder" /boot -maxdepth 3 -name 'vmlinuz-*' \( -user 0 -o -user "$(id -u)" \) -size +1000k 2>/dev/null | sort -V | tail -n 1)
	[ -n "$guest_kernel" ] || skip_all "no kernel for a guest in $guest_folder (see test/lib/guest.sh)"
}

guest_need()
{
	guest_need_machine
	mkdir -p "$guest_tree/bin" "$guest_tree/proc" "$guest_tree/sys" "$guest_tree/dev" "$guest_tree/tmp" "$guest_tree/etc" "$guest_tree/root"
	chmod 1777 "$guest_tree/tmp"
	guest_add "$(command -v busybox)" /bin/busybox
	for applet in $(busybox --list | grep -vx busybox); do ln -sf busybox "$guest_tree/bin/$applet"; done
	printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' >"$guest_tree/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$guest_tree/etc/group"
}

guest_add()
{
	guest_path=$guest_tree${2:-$1}
	mkdir -p "${guest_path%/*}"
	rm -f "$guest_path" # it may be an applet's link
	cp -L "$1" "$guest_path"
	guest_add_libraries "$1"
}

guest_add_libraries()
{
	for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		case $library in "$guest_tree"/*) continue ;; esac
		[ -e "$guest_tree$library" ] || { mkdir -p "$guest_tree${library%/*}" && cp -L "$library" "$guest_tree$library"; }
	done
}

guest_boot()
{
	cat >"$guest_tree/script"
	cat >"$guest_tree/init" <<-'INIT'
		#!/bin/sh
		export PATH=/usr/local/bin:/bin:/sbin:/usr/bin HOME=/root
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs devtmpfs /dev
		mkdir -p /dev/shm
		mount -t tmpfs -o mode=1777 tmpfs /dev/shm
		ln -s /proc/self/fd /dev/fd
		ln -s /proc/self/fd/0 /dev/stdin
		ln -s /proc/self/fd/1 /dev/stdout
		ln -s /proc/self/fd/2 /dev/stderr
		stty -F /dev/ttyS1 raw
		sh /script >/dev/ttyS1 2>&1
		echo "guest-status $?" >/dev/ttyS1
		poweroff -f
	INIT
	chmod 755 "$guest_tree/init"
	(cd "$guest_tree" && find . | if have cpio; then cpio -o -H newc --quiet; else busybox cpio -o -H newc 2>/dev/null; fi | gzip -1) >"$scratch/guest.img"
	: >"$scratch/guest.out"
	# The guest ends with this shell. It runs in the background, so that the shell handles a signal at once.
	dies=
	! have setpriv || dies="setpriv --pdeathsig KILL"
	# shellcheck disable=SC2086 # words
	$dies timeout --foreground -s KILL "$1" $dies qemu-system-x86_64 -machine q35 -cpu max -smp "${PJ_GUEST_CPUS:-1}" -m "$guest_memory" -nodefaults -no-user-config -no-reboot -display none \
		-kernel "$guest_kernel" -initrd "$scratch/guest.img" -append "console=ttyS0 quiet panic=-1 rdinit=$guest_init $guest_append" \
		-serial file:"$scratch/guest.console" -serial file:"$scratch/guest.out" </dev/null >"$scratch/guest.err" 2>&1 &
	wait $!
	guest_qemu=$?
	tr -d '\r' <"$scratch/guest.out" | grep -v '^guest-status '
	guest_status=$(tr -d '\r' <"$scratch/guest.out" | sed -n 's/^guest-status //p')
	rm -f "$scratch/guest.img"
	if [ -z "$guest_status" ]; then
		tail -n 5 "$scratch/guest.console" "$scratch/guest.err" | sed 's/^/# guest: /' >&2
		[ $guest_qemu = 137 ] && return 124
		return 125
	fi
	return "$guest_status"
}
