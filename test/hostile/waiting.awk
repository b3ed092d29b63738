# waiting.awk - system calls by which a thread may wait for ever for another process, from `strace -y -s 0` of that thread alone.
#
# -v self=PID: the traced process; -v only="PID PID": calls on these processes alone are judged. Prints each call that opens, reads or
# looks up a file of /proc/PID whose readers may wait (docs/ARCHITECTURE.md, "Files of /proc whose readers may wait"), unless PID is of the
# process itself or of a child that it forked; then "N calls on other processes".

# A path below /proc/PID: the number, and what follows it; 0 if it is none.
function parse(path)
{
	gsub(/\/\.?\//, "/", path)
	if (path !~ /^\/proc\/[0-9]+(\/|$)/)
		return 0
	pid = file = substr(path, 7)
	sub(/\/.*/, "", pid)
	sub(/^[0-9]+\/?/, "", file)
	return 1
}

function judge(path)
{
	if (!parse(path) || pid == self || pid in children || (only != "" && index(" " only " ", " " pid " ") == 0))
		return
	calls++
	if (file !~ /^(status|statm|cgroup|comm|schedstat|fd|task|limits|mountinfo|task\/[0-9]+(\/(comm|status|schedstat))?)?$/)
		waiting[$0]
}

# The calls themselves are needed to know the children.
/^(clone3?|v?fork)\(.* = [0-9]+$/ { children[$NF] }

{
	call = $0
	sub(/\(.*/, "", call)
	folder = path = ""
	if (match($0, /^[a-z0-9_]+\((AT_FDCWD|[0-9]+)<[^>]*>/)) {
		folder = substr($0, RSTART, RLENGTH)
		sub(/^[^<]*</, "", folder)
		sub(/>$/, "", folder)
	}
	if (match($0, /^[a-z0-9_]+\([^"]*"[^"]*"/) && call !~ /^(p?readv?(64)?2?|getdents64|execve)$/) {
		path = substr($0, RSTART, RLENGTH)
		sub(/^[^"]*"/, "", path)
		sub(/"$/, "", path)
		judge(path ~ /^\// ? path : folder "/" path)
	} else if (folder != "") {
		judge(folder)
	}
}

END {
	for (line in waiting)
		print line
	print calls + 0 " calls on other processes"
}
