# paths-check.awk - counts the stacks of threads paths-N in folded text (pjfold --root=thread) that Paths.java (loads/paths.awk) cannot have
#
# Frames of Work are compared in their order; any others may be between them (Step, intrinsics, the JVM). Work.run is level -1, Work.enter level
# 0. A frame of Java code without a name may be code of Work with inlined calls, so levels may be missing there. A complete stack begins with
# level -1.
# Prints: samples, those with frames of Work, impossible ones, those with a frame of Java code that has no name. Impossible stacks go to the file
# `bad`.
BEGIN {
	WIDTH = 4
	LEVELS = 12
}

# Sets level and number of a frame of Work. Returns false for other frames.
function place(name,   part)
{
	if (name !~ /^Paths\$Work\.(run|enter|d[0-9]+_[0-3])(_\[|$)/)
		return 0
	sub(/^Paths\$Work\./, "", name)
	sub(/_\[.*/, "", name)
	number = -1
	if (name == "run" || name == "enter") {
		level = name == "run" ? -1 : 0
		return 1
	}
	split(substr(name, 2), part, "_")
	level = part[1] + 0
	number = part[2] + 0
	return 1
}

# True if the call from the former level and number to the present ones does not exist. gap: there is an unnamed frame between them.
function impossible_call(from, from_number, gap,   down)
{
	down = level - from
	if (gap)
		return down < 1
	return down != 1 || (from >= 1 && (number - from_number + WIDTH) % WIDTH == WIDTH - 1)
}

/^paths-/ {
	weight = $NF
	line = $0
	sub(/ [0-9]+$/, "", line)
	n = split(line, frame, ";")
	samples += weight
	seen = wrong = gap = nameless = 0
	complete = frame[2] ~ /^(clone3?|__clone3?|start_thread)/
	for (i = 2; i <= n; i++) {
		if (frame[i] ~ /^\[(perf-|unknown|interpreted)/) {
			gap = nameless = 1
		}
		from = level
		from_number = number
		if (!place(frame[i]))
			continue
		if (seen ? impossible_call(from, from_number, gap) : complete && !gap && level != -1)
			wrong = 1
		seen = 1
		gap = 0
	}
	work += seen ? weight : 0
	unnamed += nameless ? weight : 0
	if (wrong) {
		impossible += weight
		print >bad
	}
}

END { printf "%d %d %d %d\n", samples, work, impossible, unnamed }
