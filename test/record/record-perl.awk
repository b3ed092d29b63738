# Checks folded stacks of test/lib/loads/truth.pl: the interpreted frames of each must be a possible path. Prints the numbers of samples, of
# stacks with functions, of those from <main> with names alone, of impossible ones, two shares in %, the leaves, and of samples in native
# functions that only the sub `making` calls, and in a match; impossible stacks go to stderr. A stack with a frame without a name counts as not
# named. Native functions that only one sub calls have it as the innermost frame.
BEGIN {
	leaf = "( parents( (left( fifty)?|right( thirty)?|Mid::middle( twenty)?))?)?"
	if (mode == "parents") allowed = leaf
	else if (mode == "deep") allowed = "( down)*" leaf
	else if (mode == "callbacks")
		allowed = "( callbacks( (by_number( thirty)?|[(]sort[)]( __ANON__( fifty)?)?|__ANON__( twenty)?|twenty|thirty))?)?"
	else if (mode == "catching")
		allowed = "( catching( (__ANON__( caught( ([(]eval[)]( twenty)?|fifty))?)?|[(]sort[)]( ([(]eval[)]( thirty)?|twenty))?))?)?"
	else if (mode == "exceptions")
		allowed = "( exceptions( (thirty|[(]eval[)]( raises( [(]eval[)] raises)*( ([(]eval[)]|twenty))?)?))?)?"
	else if (mode == "closures")
		allowed = "( closures( (thirty|__ANON__( fifty)?))?)?"
	else if (mode == "temporaries")
		allowed = "( temporaries( (temporary_left( called( __ANON__([[]left[.]pl:1\\])?( fifty)?)?)?|temporary_right( called( __ANON__([[]right[.]pl:1\\])?( thirty)?)?)?))?)?"
	else if (mode == "objects")
		allowed = "( objects( (Thing::text( fifty)?|Thing::DESTROY( twenty)?|[(]sort[)]( Thing::__ANON__( thirty)?)?|Thing::__ANON__( thirty)?))?)?"
	else
		allowed = "( renewed( [(]eval[)]( (fifty|Made::made( twenty)?))?)?)?"
	allowed = mode == "making" ? "^<main>( making( [(]eval[)]( twenty)?| [(]regexp[)])?)?$" : "^<main>( main" allowed ")?$"
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	path = ""; leaf = ""; bad = 0; native = ""
	for (i = 2; i <= n; i++) {
		if (frame[i] !~ /_\[0\]$/) { native = native " " frame[i]; continue }
		native = ""
		name = frame[i]
		sub(/_\[0\]$/, "", name)
		sub(/^main::/, "", name)
		sub(/\[truth[.]pl:[0-9]+\]$/, "", name)
		if (name ~ /^\[/) bad = 1
		path = path (path == "" ? "" : " ") name
		leaf = name
	}
	all += weight
	if (path == "") next
	interpreted += weight
	if (bad || frame[n] == "[truncated]") next
	makes = mode == "making" && native ~ /Perl_(pp_anoncode|cv_undef_flags|pp_subst|pp_match)/
	making += makes ? weight : 0
	matching += makes && native ~ /Perl_pp_match/ ? weight : 0
	if (path !~ allowed || (makes && leaf != "making")) {
		impossible += weight
		print weight, path, native > "/dev/stderr"
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
	printf " %d %d %d\n", inleaves, making, matching
}
