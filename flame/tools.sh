# tools.sh - the other tools of pj and of the system.

# find_tools TOOL ...: dies if one of these is missing. Tools beside this one come first, also where it is called by a link.
find_tools()
{
	case $0 in
	*/*)
		here=$(readlink -f -- "$0" 2>/dev/null)
		here=${here%/*}
		if [ -x "$here/pjrecord" ]; then PATH=$here:$PATH; fi
		;;
	esac
	missing=
	for tool in "$@"; do
		command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
	done
	[ -z "$missing" ] || die "not found:$missing (pj's tools are installed together: make install; PATH is $PATH)"
	# A session of its own keeps the terminal's Ctrl-C from a recorder, which ends when this shell signals it.
	apart=
	if command -v setsid >/dev/null 2>&1; then apart=setsid; fi
}
