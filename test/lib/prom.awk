# prom.awk - is this text what Prometheus reads? As strict as promtool check metrics about form: HELP and TYPE once and before the first
# value of a name, names and labels well-formed, each series once, counters end in _total and are not negative. Prints what is wrong.
function wrong(why)
{
	print FILENAME ":" FNR ": " why ": " $0
	failed = 1
}
BEGIN {
	name = "[a-zA-Z_:][a-zA-Z0-9_:]*"
}
/^# HELP / {
	if ($3 !~ "^" name "$") wrong("name")
	if ($3 in help) wrong("a second HELP")
	if ($3 in seen) wrong("HELP behind values")
	if (NF < 4) wrong("HELP without a text")
	help[$3] = 1
	next
}
/^# TYPE / {
	if ($3 in type) wrong("a second TYPE")
	if ($3 in seen) wrong("TYPE behind values")
	if ($4 !~ /^(counter|gauge)$/) wrong("type")
	if ($4 == "counter" && $3 !~ /_total$/) wrong("a counter without _total")
	if ($4 == "gauge" && $3 ~ /_total$/) wrong("a gauge with _total")
	type[$3] = $4
	next
}
/^#/ { wrong("comment"); next }
{
	if ($0 !~ "^" name "(\\{[a-z]+=\"[a-z]+\"(,[a-z]+=\"[a-z]+\")*\\})? -?[0-9]+(\\.[0-9]+)?$") { wrong("line"); next }
	base = $1
	sub(/\{.*/, "", base)
	if (!(base in type)) wrong("no TYPE")
	if (!(base in help)) wrong("no HELP")
	if ((base in seen) && base != last) wrong("values of a name are apart")
	if ($1 in series) wrong("a second value")
	if (type[base] == "counter" && $2 < 0) wrong("a negative counter")
	series[$1] = seen[base] = 1
	last = base
	n++
}
END {
	for (t in type) if (!(t in seen)) { print FILENAME ": no value of " t; failed = 1 }
	if (!n) { print FILENAME ": no values"; failed = 1 }
	exit failed
}
