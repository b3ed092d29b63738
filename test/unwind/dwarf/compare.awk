# compare.awk - user stacks of `perf script -F tid,time,ip --no-inline` (first file) against those of walk (second).
# Where perf 6.1 takes a word of the stack for code, behind exit() (seen in 1 of 20 recordings), its last address is dropped.
# Prints the stacks that differ, then "same N of N, longer N, shorter N, other N, N frames": longer is ours.
FNR == 1 { file++ }
file == 1 && /^ *[0-9]+ +[0-9]+\.[0-9]+: *$/ {
	key = $1 " " substr($2, 1, length($2) - 1)
	while (key in perf) key = key "+"
	perf[key] = ""
	next
}
file == 1 && NF == 1 && $1 !~ /^ffffffff[89a-f]/ { perf[key] = perf[key] " " $1 } # not the kernel's
file == 2 {
	key = $1 " " $2
	ours = substr($0, length(key) + 1)
	while (key in seen) key = key "+"
	seen[key] = 1
	total++
	sub(/ 7ff[0-9a-f]+$/, "", perf[key]) # no file: those are printed by their offset
	frames += NF - 2
	kind = ours == perf[key] ? "same" : index(ours, perf[key] " ") == 1 ? "longer" : index(perf[key], ours " ") == 1 ? "shorter" : "other"
	count[kind]++
	if (kind != "same") printf "%s %s\n  perf %s\n  pj   %s\n", kind, key, perf[key], ours
}
END { printf "same %d of %d, longer %d, shorter %d, other %d, %d frames\n", count["same"], total, count["longer"], count["shorter"], count["other"], frames }
