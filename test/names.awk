# names.awk - checks the names of functions, parameters and locals: ctags ... | awk -f test/names.awk (make lint)
#
# Input: universal-ctags of all .c files of the tools with --kinds-C=fl --fields=+neSK. No two files define a function of the same name,
# but for main and usage. Below 15 % of the parameters, and below 20 % of the locals, have one letter, or two letters, except for
# the names in `allowed`.
BEGIN {
	FS = "\t"
	split("i n fd ip sp pc id p end", list, " ")
	for (k in list)
		allowed[list[k]] = 1
}

/^!/ { next }

function is_short(name)
{
	return length(name) < 3 && !(name in allowed)
}

{
	kind = signature = ""
	for (k = 4; k <= NF; k++) {
		if ($k == "function" || $k == "local")
			kind = $k
		if ($k ~ /^signature:/)
			signature = substr($k, 12, length($k) - 12)
	}
}

kind == "local" {
	locals++
	short_locals += is_short($1)
	next
}

kind == "function" {
	if ($1 != "main" && $1 != "usage" && ($1 in file) && file[$1] != $2) {
		print "names: " $1 " is defined in " file[$1] " and in " $2
		bad = 1
	}
	file[$1] = $2
	functions++
	# parameters of function pointers do not count
	while (gsub(/\([^()]*\)/, "", signature))
		;
	count = split(signature, parameter, ",")
	for (k = 1; k <= count; k++) {
		gsub(/\[[^]]*\]/, "", parameter[k])
		words = split(parameter[k], word, /[^A-Za-z0-9_]+/)
		if (words < 2)
			continue
		parameters++
		short_parameters += is_short(word[words])
	}
}

END {
	if (functions < 1000 || parameters < 1000 || locals < 1000) {
		print "names: ctags found only " functions + 0 " functions, " parameters + 0 " parameters, " locals + 0 " locals"
		exit 1
	}
	p = 100 * short_parameters / parameters
	l = 100 * short_locals / locals
	printf "names: %d functions; %.1f %% of %d parameters and %.1f %% of %d locals are short\n", functions, p, parameters, l, locals
	if (p >= 15 || l >= 20) {
		print "names: at least 15 % of the parameters or 20 % of the locals are short: give them words"
		bad = 1
	}
	exit bad
}
