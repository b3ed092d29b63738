# tools.sh - finds the programs that pjflame and pjprofile run.

# find_tools TOOL ...: ends with a message if a tool is missing. Puts the folder of this script, also if it is called
# by a link, in front of PATH if the tools of pj are in it. Sets $apart.
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
	# $apart starts a recorder in a session of its own: Ctrl-C on the terminal does not reach the recorder, and this
	# shell ends it by a signal.
	apart=
	if command -v setsid >/dev/null 2>&1; then apart=setsid; fi
}
