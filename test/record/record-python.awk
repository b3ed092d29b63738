# Checks folded stacks of test/lib/loads/truth.py: the interpreted frames of each must be a possible path. Prints the numbers of samples, of
# stacks from <module> or a thread's start with names alone, of impossible ones, and the leaves; impossible stacks go to stderr.
# A call of a generator function runs its first instruction before the generator exists: then numbers is called by generators.
BEGIN {
	if (mode == "parents")
		allowed = "<module>( main( parents( (left( fifty)?|right( thirty)?|middle( twenty)?))?)?)?"
	else if (mode == "deep")
		allowed = "<module>( main( down)*( (left( fifty)?|right( thirty)?|middle( twenty)?))?)?"
	else if (mode == "callbacks")
		allowed = "<module>( main( callbacks( key_outer( key_inner( fifty)?)?)?)?)?"
	else if (mode == "generators")
		allowed = "<module>( main( generators( (twenty|numbers|doubled( (thirty|numbers( fifty)?))?))?)?)?"
	else if (mode == "exceptions")
		allowed = "<module>( main( exceptions( (thirty|raises( twenty)?))?)?)?"
	else if (mode == "renewed")
		allowed = "<module>( main( renewed( (<module>|made[0-6]( fifty)?))?)?)?"
	else
		allowed = "(<module>.*|_bootstrap( _bootstrap_inner( run( (work_left( left( fifty)?)?|work_right( right( thirty)?)?))?|( .*))?)?)"
	allowed = "^" allowed "$"
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	path = ""; leaf = ""; bad = 0; native = 0
	for (i = 2; i <= n; i++) {
		if (frame[i] ~ /_\[0\]$/) {
			name = frame[i]
			sub(/_\[0\]$/, "", name)
			if (name ~ /^\[/) bad = 1
			sub(/^.*\./, "", name)
			path = path (path == "" ? "" : " ") name
			leaf = name
		} else if (frame[i] ~ /^_PyEval_EvalFrameDefault/) {
			native = 1
		}
	}
	all += weight
	if (path == "") next
	interpreted += weight
	if (bad || frame[n] == "[truncated]") next
	if (path !~ allowed) {
		impossible += weight
		print weight, path > "/dev/stderr"
		next
	}
	named += weight
	leaves[leaf] += weight
	if (leaf == "fifty" || leaf == "thirty" || leaf == "twenty") inleaves += weight
}
END {
	printf "%d %d %d %d", all, interpreted, named, impossible
	printf " %.2f %.2f", all ? 100 * named / all : 0, interpreted ? 100 * named / interpreted : 0
	for (i = split("fifty thirty twenty", known, " "); i > 0; i--) printf " %.2f", inleaves ? 100 * leaves[known[i]] / inleaves : 0
	printf " %d\n", inleaves
}
