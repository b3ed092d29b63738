# words.sh - checks values of options, and suggests words for mistyped ones, for pjflame and pjprofile. Calls their
# functions c_awk, help and usage_error.

# check_interpreters VALUE: ends with a usage error if --interpreters has no such value
check_interpreters()
{
	case $1 in off | on | all | auto) ;; *) usage_error "--interpreters: '$1' is not off, on, all or auto" ;; esac
}

# take_duration NAME TIME INTEGER: sets $seconds to TIME in s; TIME has the format of opt_duration
# (common/filter/opt.h): 10, 1.5, 200ms, 5m, 1h. Ends with a usage error about the option NAME if TIME is not from
# 0.01 s to a day or, if INTEGER is not empty, not a whole number of seconds.
take_duration()
{
	seconds=$(printf '%s\n' "$2" | integer=$3 c_awk '
		NR == 1 && /^([0-9]+\.?[0-9]*|\.[0-9]+)(us|ms|s|m|h|d)?$/ && length($0) < 20 {
			unit = number = $0
			gsub(/[0-9.]/, "", unit)
			gsub(/[a-z]/, "", number)
			sub(/^0+/, "", number) # busybox reads octal numbers
			time = number * (unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86400 : 1)
			text = sprintf("%.6f", time)
			sub(/\.?0*$/, "", text)
			if (time >= 0.01 && time <= 86400 && (ENVIRON["integer"] == "" || text ~ /^[0-9]+$/)) good = text
		}
		END { if (NR == 1) print good }')
	[ -z "$seconds" ] || return 0
	if [ -n "$3" ]; then usage_error "$1: '$2' is not a time from 1s to 1d in whole seconds, such as 30, 5m or 1h"; fi
	usage_error "$1: '$2' is not a time from 10ms to 1d, such as 10, 1.5, 5m or 1h"
}

# similar WORD: prints the line of standard input that is most similar to WORD; prints nothing if none is similar. Same
# rule as common/similar.h.
similar()
{
	word=$1 c_awk '
	function least(a, b, c) { return a < b ? (a < c ? a : c) : (b < c ? b : c) }
	function distance(a, b,   i, k, row) {
		for (k = 0; k <= length(b); k++) row[0, k] = k
		for (i = 1; i <= length(a); i++) {
			row[i, 0] = i
			for (k = 1; k <= length(b); k++) {
				row[i, k] = least(row[i - 1, k] + 1, row[i, k - 1] + 1, row[i - 1, k - 1] + (substr(a, i, 1) != substr(b, k, 1)))
				if (i > 1 && k > 1 && substr(a, i, 1) == substr(b, k - 1, 1) && substr(a, i - 1, 1) == substr(b, k, 1))
					row[i, k] = least(row[i, k], row[i - 2, k - 2] + 1, row[i, k])
			}
		}
		return row[length(a), length(b)]
	}
	BEGIN { word = substr(ENVIRON["word"], 1, 40); limit = length(word) < 5 ? 2 : 3 }
	length(word) > 1 && length($0) > 1 && length($0) < 80 {
		n = substr($0, 1, length(word)) == word ? 1 : distance(word, $0)
		if (n < limit && n < length(word)) { limit = n; best = $0 }
	}
	END { print best }'
}

# unknown OPTION: ends with a usage error about an unknown option; the message suggests the option with the most similar
# spelling
unknown()
{
	word=${1#--}
	guess=
	case $1 in
	--*) guess=$(help | sed -n 's/^  -., --\([a-z][a-z-]*\).*/\1/p; s/^      --\([a-z][a-z-]*\).*/\1/p' | similar "${word%%=*}") ;;
	esac
	usage_error "unknown option '$1'${guess:+: did you mean --$guess?}"
}
