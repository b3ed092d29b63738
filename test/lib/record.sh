# lib.sh - what tests of a running pjrecord need, to be sourced behind tap.sh.
# shellcheck shell=sh

# until_ SECONDS COMMAND...: true as soon as the command is
until_()
{
	deadline=$(($(date +%s) + $1))
	shift
	while [ "$(date +%s)" -le "$deadline" ]; do
		if "$@" >/dev/null 2>&1; then return 0; fi
		sleep 0.05
	done
	return 1
}

# metric DIR NAME: its value in DIR's pjrecord.prom
metric()
{
	awk -v name="pj_record_$2" '$1 == name { print $2 }' "$1/pjrecord.prom"
}
