# Checks stacks that pjfold --srcline folded, of test/lib/loads/truth.py, which is the first file: a frame of one of its leaves or of their
# callers has the file's name and a line of the function's body. Prints the number of such frames, of right ones, and of distinct lines;
# wrong frames go to stderr.
FNR == NR {
	if (/^def /) {
		name = substr($2, 1, index($2, "(") - 1)
		first[name] = FNR
	} else if (/^ /) {
		last[name] = FNR
	}
	next
}
{
	weight = $NF
	sub(/ [0-9]+$/, "")
	n = split($0, frame, ";")
	for (i = 2; i <= n; i++) {
		if (frame[i] !~ /^__main__[.](fifty|thirty|twenty|left|right)(:.*)?_\[0\]$/) continue
		split(substr(frame[i], length("__main__.") + 1), part, /[:_]/)
		all += weight
		if (frame[i] ~ /:truth[.]py:[0-9]+_\[0\]$/ && part[3] + 0 >= first[part[1]] && part[3] + 0 <= last[part[1]]) {
			right += weight
			distinct += !seen[part[3]]++
		} else {
			print frame[i] > "/dev/stderr"
		}
	}
}
END { print all + 0, right + 0, distinct + 0 }
