# Checks folded stacks of test/lib/loads/truth.rb: the interpreted frames of each must be a possible path. Prints the numbers of samples, of
# stacks with functions, from <main> or a thread's block with names alone, of impossible ones, and the leaves; impossible stacks go to stderr.
# call(F, INSIDE) is F alone, or with one of the calls in INSIDE; it may be absent.
function call(f, inside)
{
	return "(;" f inside ")?"
}
# one(A, B, C): one of three calls, or none
function one(a, b, c)
{
	return "(" a "|" b (c == "" ? "" : "|" c) ")"
}
BEGIN {
	left = call("Truth#left", call("Truth#fifty"))
	right = call("Truth#right", call("Truth#thirty"))
	middle = call("Truth#middle", call("Truth#twenty"))
	parents = call("Truth#parents", one(left, right, middle))
	in_mode["parents"] = parents
	in_mode["deep"] = call("Truth#deep", "(;Truth#down)*" parents)
	in_mode["deeper"] = call("Truth#deeper", "(;Truth#down)*" parents)
	in_each = call("Array#each", call("block [(]2 levels[)] in Truth#callbacks", left))
	in_map = call("Array#map", call("block [(]2 levels[)] in Truth#callbacks", right))
	in_mode["callbacks"] = call("Truth#callbacks", call("Enumerable#sort_by", call("Array#each",
		call("block in Truth#callbacks", one(in_each, in_map, one(middle, call("Integer#-@")))))))
	kept = call("block in Truth#closures", left)
	in_mode["closures"] = call("Truth#closures", one(call("Truth#keep", kept), kept, one(right, middle)))
	raised = "(;(Kernel#raise|Exception#|ArgumentError#|Class#new|Exception[.]).*)?"
	in_mode["exceptions"] = call("Truth#exceptions", "(;Truth#exceptions)?" one(left, call("Module#===|;Exception#===")) "|;Truth#exceptions" call("Truth#raises",
		"(;Truth#raises)?" one(call("Truth#twenty"), right, raised)))
	thrown = call("block in Truth#throws", call("Array#each", call("block [(]2 levels[)] in Truth#throws", one(left, "(;Kernel#throw.*)?"))))
	in_mode["catches"] = call("Truth#catches", one(call("Kernel#catch", call("block in Truth#catches", call("Truth#throws", call("Array#each", thrown)))), right, middle))
	given = call("Kernel#block_given[?]")
	resumed = call("Integer#times", one(call("block in Truth#fibers", one(call("Fiber#resume"), right)), given))
	in_mode["fibers"] = call("Truth#fibers", one("(;(Class#new|Fiber#initialize).*)?", resumed, middle))
	in_mode["renewed"] = call("Truth#renewed", one(call("Truth#made[0-6]", call("Truth#fifty")), "(;(Kernel#|Integer#|String#|Module#class_eval).*)?"))
	in_mode["singletons"] = call("Truth#singletons", one(call("Truth[.]single", left), call("block in <class:Truth>", left), one(call("Truth::Kind[.]extended", right), middle)))
	time = call("Truth#now", "(;Process[.]clock_gettime.*)?")
	fiber = "^block in Truth#fibers" call("Integer#times", one(call("block [(]2 levels[)] in Truth#fibers", one(call("Fiber[.]yield"), left)), given)) "$"
	threads = "^block in Truth#threads" one(time, left, right) "$"
	main = "^<main>(;Class#new.*|;Truth#main" one(time, "(;Kernel#send)?" in_mode[mode], "(;Truth#threads.*|;Float#.*)?") ")?$"
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	path = ""; leaf = ""; bad = 0
	for (i = 2; i <= n; i++) {
		if (frame[i] !~ /_\[0\]$/) continue
		name = substr(frame[i], 1, length(frame[i]) - 4)
		if (name ~ /^\[/) bad = 1
		path = path (path == "" ? "" : ";") name
		if (name ~ /^Truth#/) leaf = substr(name, 7)
	}
	all += weight
	if (path == "") next
	interpreted += weight
	if (bad || frame[n] == "[truncated]") next
	if (path !~ main && !(mode == "fibers" && path ~ fiber) && !(mode == "threads" && path ~ threads)) {
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
