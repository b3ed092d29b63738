# header.awk - what perf report --header-only says, as pjfold --info says it: perf report --header-only -i X | awk -f header.awk
#
# ours=1: the lines of --info that are comparable.
ours {
	if ($1 == "event") sub(/, (every [0-9]+|[0-9]+ Hz), [0-9]+ samples?(, stack copies)?(, branches)?$/, "")
	if ($1 == "from" || $1 == "to") $0 = sprintf("%-10s %s", $1, substr($2, 1, length($2) - 3))
	if ($1 == "packed") sub(/ +zstd$/, "     zstd")
	if ($1 ~ /^(command|host|kernel|perf|machine|cpu|cpus|memory|event|packed)$/ || (times && $1 ~ /^(from|to)$/)) print
	next
}
function line(key, value)
{
	printf "%-10s %s\n", key, value
}
!/^# [a-z]/ { next }
{
	at = index($0, " : ")
	key = substr($0, 3, at - 3)
	sub(/ +$/, "", key)
	value = substr($0, at + 3)
}
key == "cmdline" { sub(/ $/, "", value); line("command", value) }
key == "hostname" { line("host", value) }
key == "os release" { line("kernel", value) }
key == "perf version" { line("perf", value) }
key == "arch" { line("machine", value) }
key == "cpudesc" { line("cpu", value) }
key == "nrcpus online" { online = value }
key == "nrcpus avail" { line("cpus", online " of " value " online") }
key == "total memory" { line("memory", int(value / 1024) " MiB") }
key == "event" { sub(/^name = /, "", value); sub(/,( ,)? (id = |type = ).*/, "", value); line("event", value) }
key == "compressed" { line("packed", tolower(value) ~ /^zstd/ ? "zstd" : value) }
times && key == "time of first sample" { line("from", value) }
times && key == "time of last sample" { line("to", value) }
