# Checks folded stacks of off-CPU times of test/lib/loads/waits.py (mode python), waits.rb or waits.php: the interpreted frames of each must
# be a possible path, with the kernel's frames of the place at its end. Prints the sum of ns, that of stacks with functions, that of
# impossible ones, and those of left and right; impossible stacks go to stderr.
BEGIN {
	run = mode == "python" ? "_bootstrap _bootstrap_inner run " : ""
	split("alternates deep receives takes locks calls_back holds spins", known, " ")
	allowed["alternates"] = "alternates( (left|right)( pause)?)?"
	allowed["deep"] = "deep( down){0,101}( pause)?"
	allowed["receives"] = "receives"
	allowed["takes"] = "takes( get( (wait|__enter__|__exit__|_qsize|_get|notify|.*))?)?"
	allowed["locks"] = "locks"
	allowed["calls_back"] = "calls_back( slow_key( pause)?)?"
	allowed["holds"] = "holds( put( .*)?)?"
	allowed["spins"] = "spins"
}
# Returns the frame that must be in the kernel's part of a path that ends in a wait; "": none is known.
function place(path)
{
	if (path ~ / pause$/) return "nanosleep"
	if (path ~ /receives$/) return "recv"
	if (path ~ / wait$/) return "futex"
	return ""
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	path = ""; bad = 0
	for (i = 2; i <= n; i++)
		if (frame[i] ~ /_\[0\]$/) {
			name = frame[i]
			sub(/_\[0\]$/, "", name)
			if (name ~ /^\[/) bad = 1
			sub(/^.*[.]/, "", name)
			path = path (path == "" ? "" : " ") name
		}
	all += weight
	if (path == "") next
	if (bad) next
	possible = path ~ /^<module>/ || path ~ "^" run "?$" || path ~ /^_bootstrap( _bootstrap_inner( [a-z_ ]*)?)?$/
	for (worker in allowed) {
		if (path !~ "^" run allowed[worker] "$") continue
		possible = 1
		# preempted, or waiting for the GIL, it may be anywhere; blocked elsewhere, it is wrong
		wanted = place(path)
		blocked = /nanosleep/ ? "nanosleep" : /recv/ ? "recv" : /futex/ ? "futex" : ""
		if (wanted != "" && blocked != "" && blocked != wanted && blocked != "futex") possible = 0
		if (worker == "alternates" && path ~ / left/) left += weight
		if (worker == "alternates" && path ~ / right/) right += weight
		if (blocked != "" && wanted == blocked) seen[worker] = 1
	}
	if (!possible) {
		impossible += weight
		print weight, path > "/dev/stderr"
		next
	}
	named += weight
}
END {
	for (worker in seen) nseen++
	printf "%.0f %.0f %.0f %.0f %.0f %d\n", all, named, impossible, left, right, nseen
}
