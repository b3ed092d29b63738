# words.sh - checks of words, and answers to mistyped ones, of pjflame and pjprofile. Needs c_awk, help and usage_error.

# check_interpreters VALUE
check_interpreters()
{
	case $1 in off | on | all) ;; *) usage_error "--interpreters: '$1' is not off, on or all" ;; esac
}

# Sets $interpreters to on, unless it is set, where interpreters can be read: on x86-64, by root with CAP_SYS_NICE (bit 23) in the first user
# namespace, since real-time priority needs it. Elsewhere pjrecord would warn of an option that the user did not give.
default_interpreters()
{
	[ -z "$interpreters" ] && [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] || return 0
	[ "$(readlink /proc/self/ns/user 2>/dev/null)" = 'user:[4026531837]' ] || return 0
	effective=$(sed -n 's/^CapEff:[[:blank:]]*//p' /proc/self/status 2>/dev/null)
	if [ $((0x0$effective >> 23 & 1)) = 1 ]; then interpreters=on; fi
}

# similar WORD: of the lines of standard input, the one that a mistyped WORD most likely stands for, or nothing; as common/similar.h
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

# unknown OPTION: with the option that is spelled most like it
unknown()
{
	word=${1#--}
	guess=
	case $1 in
	--*) guess=$(help | sed -n 's/^  -., --\([a-z][a-z-]*\).*/\1/p; s/^      --\([a-z][a-z-]*\).*/\1/p' | similar "${word%%=*}") ;;
	esac
	usage_error "unknown option '$1'${guess:+: did you mean --$guess?}"
}
