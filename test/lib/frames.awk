# frames.awk - how many frames two folded texts differ in: diff OURS THEIRS | awk -v all="$(awk -f frames.awk -v count=1 OURS)" -f frames.awk
#
# Prints "DIFFERING ALL". Samples whose stacks only one side has are paired in the order of the files, and compared frame by frame:
# a stack that differs in one frame is one difference, not as many as it is deep. count=1: the frames of one text.
count {
	samples = $NF
	sub(/ [0-9]+$/, "")
	sum += samples * split($0, part, ";")
	next
}
/^[<>]/ {
	side = $1
	weight = $NF
	sub(/^. /, "")
	sub(/ [0-9]+$/, "")
	for (; weight > 0; weight--) stack[side, ++n[side]] = $0
}
END {
	if (count) {
		print sum + 0
		exit
	}
	most = n["<"] > n[">"] ? n["<"] : n[">"]
	for (i = 1; i <= most; i++) {
		x = split(stack["<", i], ours, ";")
		y = split(stack[">", i], theirs, ";")
		for (j = 1; j <= x || j <= y; j++) bad += j > x || j > y || ours[j] != theirs[j]
	}
	print bad + 0, all
}
