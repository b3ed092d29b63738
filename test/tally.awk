# tally.awk - counts kept TAP files: what failed, what failed at first (keep.sh), each with its first lines of diagnosis, what was
# skipped and why, and `N passed, N failed, N skipped`.
# Ends with 1 when anything failed: a test, a plan that was not kept, a test program that died.

function end_of_file() {
	if (planned < 0 || planned != seen) {
		failed++
		failures = failures "  " name ": " over_limit (planned < 0 ? "ended without a plan" : seen " of " planned " tests ran") "\n"
	} else if (status != 0 && !failed_here) {
		failed++
		failures = failures "  " name ": exit status " status "\n"
	}
}

# build/VARIANT/tap/NAME.tap is VARIANT/NAME
function basename_of(path) {
	sub(/.*build\//, "", path)
	sub(/tap[^\/]*\//, "", path)
	sub(/\.tap$/, "", path)
	return path
}

FNR == 1 {
	if (name != "")
		end_of_file()
	name = basename_of(FILENAME)
	follows = over_limit = ""
	planned = -1
	seen = failed_here = 0
	status = 0
}

/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	if (planned == 0 && match($0, /# *[Ss][Kk][Ii][Pp][^ ]* */)) {
		skipped++
		skips = skips "  " name ": " substr($0, RSTART + RLENGTH) "\n"
	}
}

/^(not )?ok( |$)/ {
	seen++
	follows = ""
	lines = 0
	what = $0
	sub(/^(not )?ok *[0-9]* *(- )?/, "", what)
	if (match(what, / *# *[Ss][Kk][Ii][Pp][^ ]* */)) {
		skipped++
		skips = skips "  " name ": " substr(what, 1, RSTART - 1) ": " substr(what, RSTART + RLENGTH) "\n"
	} else if (/^not/) {
		failed++
		failed_here++
		failures = failures "  " name ": " what "\n"
		follows = "failure"
	} else {
		passed++
	}
}

/^# exit [0-9]+$/ {
	status = $3
	next
}

/^# over the limit / {
	over_limit = substr($0, 3) ": "
}

/^# unsteady / {
	unsteady_count++
	unsteady = unsteady "  " name ": " substr($0, 12) "\n"
	follows = "unsteady"
	lines = 0
	next
}

# At most 8 lines of diagnosis, each of at most 200 characters.
/^#/ && follows != "" && lines++ < 8 {
	line = "    " substr($0, 1, 200) "\n"
	if (follows == "failure")
		failures = failures line
	else
		unsteady = unsteady line
}

END {
	if (name != "")
		end_of_file()
	if (skipped)
		printf "\nskipped:\n%s", skips
	if (unsteady)
		printf "\nunsteady: %d failed, and passed or failed in a second run:\n%s", unsteady_count, unsteady
	if (failed)
		printf "\nfailed:\n%s", failures
	printf "%s%d passed, %d failed, %d skipped\n", (skipped || failed || unsteady) ? "\n" : "", passed, failed, skipped
	exit failed > 0
}
