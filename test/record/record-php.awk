# Checks folded stacks of test/lib/loads/truth.php: the interpreted frames of each must be a possible path. Prints the numbers of samples, of
# stacks with functions, of those from <main> with names alone, of impossible ones, two shares in %, and the leaves; impossible stacks go
# to stderr. A frame without a name counts as any function.
BEGIN {
	leaf = "( parents( (left( fifty)?|right( thirty)?|Mid::middle( twenty)?))?)?"
	if (mode == "parents") allowed = leaf
	else if (mode == "deep") allowed = "( down)*" leaf
	else if (mode == "callbacks")
		allowed = "( callbacks( (usort( Order::__invoke( thirty)?)?|array_map( (strrev|Order::outer( usort( (Order::)?[{]closure[^ ]*( fifty)?)?)?))?|preg_replace_callback( matched( twenty)?)?))?)?"
	else if (mode == "compiling")
		allowed = leaf "|( compiling( (/[^ ]*( new[0-9_]+)?|include|microtime|tempnam|sys_get_temp_dir|file_put_contents|unlink|parents( (left( fifty)?|right( thirty)?|Mid::middle( twenty)?))?))?)?"
	else if (mode == "generators")
		allowed = "( generators( (twenty|numbers|doubled( (thirty|numbers( fifty)?))?|([{]yield from[}]|delegating)( numbers( fifty)?)?))?)?"
	else if (mode == "exceptions")
		allowed = "( exceptions( (thirty|raises( raises)*( (twenty|Ending::__destruct( fifty)?|Exception::__construct|RuntimeException))?))?)?"
	else if (mode == "ends")
		allowed = "( ends( (thirty|usort( (uses)?( ?Ending::__destruct( fifty)?)?)?))?)?"
	else if (mode == "fibers")
		allowed = "( fibers( (thirty|Fiber::[a-zA-Z_]+))?)?"
	else
		allowed = "( renewed( (/[^ ]*( (fifty|thirty))?|<eval>( twenty)?|include|register_shutdown_function|file_put_contents))?)?"
	allowed = "^<main>( (time|main( time)?|main(" allowed ")))?$"
	if (mode == "fibers") allowed = allowed "|^inside( (fifty|twenty|Fiber::suspend))?$"
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	path = ""; leaf = ""; bad = 0
	for (i = 2; i <= n; i++) {
		if (frame[i] !~ /_\[0\]$/) continue
		name = frame[i]
		sub(/_\[0\]$/, "", name)
		if (name ~ /^\[/) bad = 1
		path = path (path == "" ? "" : " ") name
		leaf = name
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
