# Checks folded stacks of off-CPU times of test/lib/loads/waits.py, .rb, .php or .pl (mode: python, ruby, php, perl): the interpreted frames of
# each must be a possible path, and blocked where that path waits. A line is one wait (--time-slice). Prints the sums of ns of all, of those
# with functions and names alone, and of impossible ones, the numbers of waits in left and right, of pauses, of those that are too short, and of
# places seen; impossible stacks go to stderr.
BEGIN {
	if (mode == "python") {
		start = "_bootstrap _bootstrap_inner run "
		main = "<module>( (join|start)( .*)?)?"
		outer = "_bootstrap( _bootstrap_inner( .*)?)?"
	} else if (mode == "ruby") {
		start = "block_[(]2_levels[)]_in_<main> "
		main = "<main>( each( join)?)?"
		outer = "block_[(]2_levels[)]_in_<main>( send)?"
		wait = "( sleep)?"
	} else if (mode == "perl") {
		start = "<main> "
		main = outer = "<main>"
		wait = ""
	} else {
		start = "<main> "
		main = "<main>( usleep)?"
		outer = "<main>"
		wait = "( usleep)?"
	}
	pause = "( pause" wait ")?"
	allowed["left"] = "alternates left" pause
	allowed["right"] = "alternates right" pause
	allowed["alternates"] = "alternates( going( clock_gettime)?)?"
	allowed["deep"] = "deep( down)*" pause
	allowed["receives"] = "receives( recv.*)?"
	allowed["takes"] = "takes( (get|pop)( .*)?)?"
	allowed["locks"] = "locks"
	allowed["calls_back"] = "calls_back( (sort_by( each( (block_in_)?calls_back)?)?|usort))?( slow_key" pause ")?"
	allowed["holds"] = "holds( (put|push|send)( .*)?| pause" wait ")?"
	for (place in allowed)
		allowed[place] = "^" start (mode == "ruby" ? "(send )?" : "") allowed[place] "$"
}
# Returns true if a thread may be blocked in this system call on this path.
function fits(path, place, call)
{
	if (mode == "ruby") return 1
	if (call == "recv") return place == "receives"
	if (call == "nanosleep") return path ~ / pause( usleep)?$/ || place == "locks" || place == "holds"
	return 1
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	path = ""; bad = 0; depth = 0
	for (i = 2; i <= n; i++)
		if (frame[i] ~ /_\[0\]$/) {
			name = frame[i]
			sub(/_\[0\]$/, "", name)
			if (name ~ /^\[/) bad = 1
			gsub(/ /, "_", name)
			sub(/^.*([.#]|::)/, "", name)
			depth += name == "down"
			path = path (path == "" ? "" : " ") name
		}
	all += weight
	if (path == "" || bad) next
	call = /nanosleep/ || (mode == "ruby" && path ~ / sleep$/ && /cond_timedwait|ppoll|select/) ? "nanosleep" : /recv/ ? "recv" : "other"
	# what a thread's run() calls is one of the places
	found = path ~ "^(" main "|" outer ")$" && path !~ /_bootstrap_inner run / ? "main" : ""
	for (place in allowed)
		if (path ~ allowed[place]) found = place
	# the last of 101 calls waits, and none before
	if (found == "deep" && path ~ / pause/ && depth != 101) found = ""
	if (found == "" || (found != "main" && !fits(path, found, call))) {
		impossible += weight
		print weight, call, path > "/dev/stderr"
		next
	}
	named += weight
	seen[found]++
	if (path ~ / pause/ && call == "nanosleep") {
		pauses++
		if (weight < (found == "left" ? 30 : 10) * 1e6) brief++
	}
}
END {
	for (place in seen) nplaces++
	printf "%.0f %.0f %.0f %d %d %d %d %d\n", all, named, impossible, seen["left"], seen["right"], pauses, brief, nplaces
}
