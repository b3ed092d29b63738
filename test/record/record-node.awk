# record-node.awk - judges folded stacks of truth.js: node prints "SAMPLES NAMED WRONG UNNAMED fifty thirty twenty", and wrong pairs to stderr
function pair(caller, callee) { may[caller, callee] = 1; name[caller] = name[callee] = 1 }
BEGIN {
	FS = ";"
	n = split("main flat,main parents,main deep,main renewed,main callbacks,main über,main later,flat serve,parents alternate," \
		"über serve,serve fifty,serve thirty,serve twenty,alternate ping,alternate pong,ping shared,pong shared,deep deep," \
		"deep fifty,deep thirty,deep twenty,renewed leaf_of_closure,leaf_of_closure shared,callbacks compare,compare shared," \
		"later fifty,later thirty,later twenty", list, ",")
	for (i = 1; i <= n; i++) { split(list[i], two, " "); pair(two[1], two[2]) }
}
{
	count = $NF; sub(/.* /, "", count)
	sub(/ [0-9]+$/, "")
	samples += count
	last = ""
	unknown = 0
	for (i = 1; i <= NF; i++) {
		if ($i !~ /_\[[0ji]\]$/) continue
		unknown += $i ~ /^\[/
		frame = substr($i, 1, length($i) - 4)
		if (!(frame in name)) continue
		if (last != "" && !((last, frame) in may)) { wrong += count; print last " calls " frame ": " $0 > "/dev/stderr" }
		last = frame
	}
	if (last != "") { named += count; unnamed += unknown ? count : 0 }
	leaf[last] += count
}
END { print samples + 0, named + 0, wrong + 0, unnamed + 0, leaf["fifty"] + 0, leaf["thirty"] + 0, leaf["twenty"] + 0 }
