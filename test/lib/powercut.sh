# shellcheck shell=sh disable=SC2154 # what tap.sh sets
# powercut.sh - simulates a power failure at one of the calls of a program, and restores the folder as the disk would
# have it then. Source it after tap.sh.
#
# powercut PROGRAM MODEL N ROOT DISK COMMAND...   runs COMMAND; kills the program named PROGRAM before its Nth call that
#                                                 changes files (0: never)
# powercut_restore ROOT DISK                      replaces ROOT by the files that were durable
# powercut_calls                                  prints the number of such calls in the last run that was not killed

powercut_so=${PJ_BUILD:-$top/build/std-cc}/test/send/preload/powercut.so
case $powercut_so in /*) ;; *) powercut_so=$top/$powercut_so ;; esac

powercut()
{
	powercut_who=$1 powercut_model=$2 powercut_at=$3 powercut_root=$4 powercut_disk=$5
	shift 5
	rm -rf "$powercut_disk"
	mkdir "$powercut_disk"
	# the inode of ROOT, from which powercut_restore starts
	printf '%s\n' "$(stat -c %i "$powercut_root")" >"$powercut_disk/root"
	PJ_CUT_WHO=$powercut_who PJ_CUT_MODEL=$powercut_model PJ_CUT_AT=$powercut_at PJ_CUT_ROOT=$PWD/$powercut_root PJ_CUT_DISK=$PWD/$powercut_disk \
		PJ_CUT_COUNT=$PWD/powercut.count LD_PRELOAD=$powercut_so "$@"
}

powercut_calls()
{
	cat powercut.count
}

# powercut_folder DISK KEY FOLDER: creates FOLDER with the durable entries of the folder KEY. It runs in a subshell,
# since it is recursive.
powercut_folder()
(
	mkdir -p "$3" || exit 1
	chmod 750 "$3"
	[ -e "$1/d.$2" ] || exit 0
	while read -r kind key name; do
		case $kind in
		d) powercut_folder "$1" "$key" "$3/$name" ;;
		f) if [ -e "$1/f.$key" ]; then cp "$1/f.$key" "$3/$name"; else : >"$3/$name"; fi ;;
		esac
	done <"$1/d.$2"
)

powercut_restore()
{
	powercut_key=$(printf '%x' "$(cat "$2/root")")
	powercut_key=$(find "$2" -name "d.$powercut_key-*" ! -name '*.new' | sed 's|.*/d\.||')
	rm -rf "$1"
	powercut_folder "$2" "$powercut_key" "$1"
}
