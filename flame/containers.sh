# containers.sh - lists containers, and selects one for pjrecord. Containers are found by the forms of their cgroups'
# paths (common/formats/containers.h), and their names in files of the container engines: no engine is called.

# memberships [NAME]: prints lines KEY<tab>1 or 0<tab>FOLDER<tab>PID<tab>WITHIN: for each process, one line for each
# container, unit outside of containers, or cgroup named NAME that it is in. KEY is id:DIGITS or name:NAME. 1: FOLDER is
# in the cgroup hierarchy that perf events use. A process in a container within another one has a line for both; WITHIN
# is the id or the cgroup of the outer one, or - if there is none.
memberships()
{
	hierarchy=second
	if LC_ALL=C grep -qs ' - cgroup [^ ]* \(.*,\)\{0,1\}perf_event\(,\|$\)' /proc/self/mountinfo; then hierarchy=first; fi
	LC_ALL=C grep -sH '' /proc/[0-9]*/cgroup | wanted=${1:-} hierarchy=$hierarchy c_awk '
	# returns the first run of exactly 64 hexadecimal digits in s; an empty string if there is none
	function digits(s,   run) {
		while (match(s, /[0-9a-f]+/)) {
			run = substr(s, RSTART, RLENGTH)
			if (RLENGTH == 64) return run
			s = substr(s, RSTART + RLENGTH)
		}
		return ""
	}
	function found(key, folder) { contained = 1; print key "\t" perf "\t" folder "\t" pid "\t" (within == "" || key == "id:" within ? "-" : within) }
	BEGIN { wanted = ENVIRON["wanted"]; first = ENVIRON["hierarchy"] == "first" }
	{
		pid = substr($0, 7); sub(/\/.*/, "", pid)
		line = $0; sub(/^[^:]*:/, "", line)
		second = line ~ /^0::/
		sub(/^[0-9]*:/, "", line)
		controllers = line; sub(/:.*/, "", controllers)
		sub(/^[^:]*:/, "", line)
		if (line ~ /\t/ || line ~ / \(deleted\)$/) next # of a zombie
		perf = first ? ("," controllers ",") ~ /,perf_event,/ : second
		n = split(line, part, "/")
		folder = within = unit = ""
		contained = 0
		for (i = 2; i <= n; i++) {
			folder = folder "/" part[i]
			if (part[i] == "") continue
			outer = ""
			if ((id = digits(part[i])) != "") { found("id:" id, folder); outer = id }
			else if (part[i] ~ /^lxc\.payload\../) { found("name:" substr(part[i], 13), folder); outer = part[i] }
			else if (part[i - 1] == "lxc") { found("name:" part[i], folder); outer = part[i] }
			else if (part[i] ~ /^machine-.*\.scope$/) { found("name:" substr(part[i], 9, length(part[i]) - 14), folder); outer = part[i] }
			else if (part[i] ~ /.\.(service|scope)$/) { unit = part[i]; unit_folder = folder }
			if (wanted != "" && part[i] == wanted) found("name:" wanted, folder)
			if (within == "") within = outer
		}
		if (unit != "" && !contained) found("name:" unit, unit_folder)
	}' | sort -u
}

# names: prints lines ID<tab>NAME from files of the container engines of this host. A Kubernetes container has three
# lines: CONTAINER, POD/CONTAINER and NAMESPACE/POD/CONTAINER.
names()
{
	for file in /var/lib/docker/containers/*/config.v2.json; do
		[ -f "$file" ] || continue
		id=${file%/*}
		LC_ALL=C grep -o '"Name":"/[^"]*"' "$file" 2>/dev/null | sed -n "1s|\"Name\":\"/\\(.*\\)\"|${id##*/}	\\1|p"
	done
	file=/var/lib/containers/storage/overlay-containers/containers.json
	if [ -f "$file" ]; then
		{ LC_ALL=C tr '{' '\n' <"$file"; echo; } | sed -n 's/^"id":"\([0-9a-f]*\)".*"names":\["\([^"]*\)".*/\1	\2/p'
	fi
	for file in /var/log/containers/*.log; do
		[ -L "$file" ] || continue
		printf '%s\n' "${file##*/}"
	done | sed -n 's/^\([^_]*\)_\([^_]*\)_\(.*\)-\([0-9a-f]*\)\.log$/\4	\3\n\4	\1\/\3\n\4	\2\/\1\/\3/p'
}

list_containers()
{
	{ names; echo; memberships; } | c_awk -F '\t' '
	!rest { if ($0 == "") rest = 1; else if (length($1) == 64 && length($2) > length(name[$1])) name[$1] = $2; next }
	!(($1, $4) in seen) {
		seen[$1, $4]
		if (!($1 in count)) order[++n] = $1
		count[$1]++
		if (!($1 in first) || $4 + 0 < first[$1]) first[$1] = $4 + 0
	}
	function masked(s) { gsub(/[^ -~]/, "?", s); return s }
	END {
		printf "%-12s  %-30s %9s  %s\n", "CONTAINER", "NAME", "PROCESSES", "FIRST"
		for (i = 1; i <= n; i++) {
			key = order[i]; id = key; sub(/^[a-z]*:/, "", id)
			comm = ""; getline comm <("/proc/" first[key] "/comm"); close("/proc/" first[key] "/comm")
			called = key ~ /^id:/ ? ((id in name) ? name[id] : "-") : id
			printf "%-12s  %-30s %9d  %d %s\n", key ~ /^id:/ ? substr(id, 1, 12) : "-", masked(called), count[key], first[key], masked(comm)
		}
	}'
}

# find_candidates NAME: writes the lines of memberships that match to $tmp/candidates, each with a word at its end:
# "exact" if the container has this name, "prefix" if its id begins with it
find_candidates()
{
	wanted=$1
	memberships "$wanted" >"$tmp/members"
	wanted=$wanted c_awk -F '\t' '
	BEGIN { w = ENVIRON["wanted"]; hex = w ~ /^[0-9a-f]+$/ }
	FILENAME == ARGV[1] { if ($2 == w) named[$1]; next }
	{ id = $1; sub(/^[a-z]*:/, "", id) }
	$1 == "name:" w || ($1 ~ /^id:/ && (id in named)) { print $0 "\texact"; next }
	$1 ~ /^id:/ && hex && length(w) <= 64 && substr(id, 1, length(w)) == w { print $0 "\tprefix" }' "$tmp/names" "$tmp/members" >"$tmp/candidates"
}

# Sets $recorded_as to the option of pjrecord that selects $container, and $what to its name in messages. Ends with a
# message if no container matches, or several.
choose_container()
{
	names >"$tmp/names"
	container=${container#*://} # as kubectl prints it
	find_candidates "$container"
	case $container in
	*.*) ;;
	*) [ -s "$tmp/candidates" ] || find_candidates "$container.service" ;; # as systemctl
	esac
	what="container $container"
	leave_out_forged
	c_awk -F '\t' '$6 == "exact" { exact[$1] } $6 == "prefix" { prefix[$1] } END {
		for (k in exact) { print k; n++ }
		if (!n) for (k in prefix) print k
	}' "$tmp/candidates" | sort >"$tmp/keys"
	case $(wc -l <"$tmp/keys" | tr -d ' ') in
	0)
		list_containers >"$tmp/list"
		near=$(c_awk 'NR > 1 { for (i = 1; i < 3; i++) if ($i != "-") { print $i; if (sub(/\.(service|scope)$/, "", $i)) print $i } }' "$tmp/list" | similar "$container")
		# without a similar word, suggests the shortest name that contains the word
		if [ -z "$near" ] && [ ${#container} -ge 3 ]; then
			near=$(word=$container c_awk 'NR > 1 && $2 != "-" && index($2, ENVIRON["word"]) { print length($2), $2 }' "$tmp/list" | LC_ALL=C sort -n | sed -n '1s/^[0-9]* //p')
		fi
		[ -z "$near" ] || die "no process is in a container, unit or cgroup called '$container': did you mean $near? (pjflame --list)"
		if [ "$(wc -l <"$tmp/list")" -gt 1 ]; then near="pjflame --list prints those that there are"; else near="there is none that this user may see: -p PID records a process, also in a container"; fi
		die "no process is in a container, unit or cgroup called '$container': $near"
		;;
	1) ;;
	*)
		say "'$container' is more than one container; give more of its id:"
		sed 's/^id://; s/^name://' "$tmp/keys" | head -n 20 >&2
		exit "$failure"
		;;
	esac
	key=$(cat "$tmp/keys")
	case $key in
	id:*)
		id=${key#id:}
		called=$(id=$id c_awk -F '\t' '$1 == ENVIRON["id"] { name = $2 } END { print name }' "$tmp/names")
		what="container ${called:+$called }$(printf '%.12s' "$id")"
		;;
	*.service | *.slice | *.scope) what=${key#name:} ;;
	esac
	choose_cgroups
}

# If root made one of the cgroups in $tmp/candidates on the host, removes the others: those that a user made, and those
# within another container. A user who may create cgroups can give one the name of any container; its processes would
# then be in the profile of that container, or in its place. If root made none (rootless engines, containers in
# containers), all stay.
leave_out_forged()
{
	c_awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); break }
		if (type ~ /^cgroup2?$/) print $5 }' /proc/self/mountinfo >"$tmp/hierarchies"
	cut -f 3,5 "$tmp/candidates" | sort -u >"$tmp/places"
	: >"$tmp/forged"
	genuine=
	while IFS='	' read -r folder within; do
		maker=$(maker_of "$folder")
		if [ "$within" != - ]; then
			if [ ${#within} = 64 ]; then within=$(printf '%.12s' "$within"); fi
			printf '%s\tcontainer %s\n' "$folder" "$(printf '%s' "$within" | LC_ALL=C tr -c ' -~' '?')" >>"$tmp/forged"
		elif [ "${maker:-0}" != 0 ]; then
			printf '%s\tuser %s\n' "$folder" "$maker" >>"$tmp/forged"
		else
			genuine=1
		fi
	done <"$tmp/places"
	if [ -z "$genuine" ] || [ ! -s "$tmp/forged" ]; then return; fi
	say "cgroups that $(cut -f 2 "$tmp/forged" | sort -u | tr '\n' ',' | sed 's/,$//; s/,/, /g') named as $what are left out"
	c_awk -F '\t' 'FILENAME == ARGV[1] { forged[$1]; next } !($3 in forged)' "$tmp/forged" "$tmp/candidates" >"$tmp/genuine"
	mv "$tmp/genuine" "$tmp/candidates"
}

# maker_of FOLDER: prints the id of the user who owns the parent of a cgroup, in the first hierarchy with that cgroup.
maker_of()
{
	while IFS= read -r mounted; do
		if [ -d "$mounted$1" ]; then
			stat -c %u "$mounted${1%/*}"
			return
		fi
	done <"$tmp/hierarchies" 2>/dev/null
}

# Sets $recorded_as to the cgroups of the container, so that processes that join later are recorded, too; or to its
# present processes, if perf events cannot use its cgroups, and for dump and --wall.
choose_cgroups()
{
	point=$(c_awk '{ for (i = 7; i < NF; i++) if ($i == "-") { type = $(i + 1); options = $(i + 3); break }
		if (type == "cgroup" && ("," options ",") ~ /,perf_event,/) own = $5
		if (type == "cgroup2" && !second) second = $5 } END { print own ? own : second }' /proc/self/mountinfo)
	key=$key c_awk -F '\t' '$1 == ENVIRON["key"] && $2 == 1 && !($3 in seen) { seen[$3]; print $3 }' "$tmp/candidates" >"$tmp/folders"
	all=
	while IFS= read -r folder; do
		case $folder in
		*,*) all=; break ;; # pjrecord would take it for two
		esac
		[ -d "$point$folder" ] || { all=; break; }
		all=${all:+$all,}$point$folder
	done <"$tmp/folders"
	# dump and --wall also need threads that sleep all the time, which pjrecord finds by their processes
	if [ -n "$all" ] && [ -z "$dump$wall" ]; then
		recorded_as="-G$all"
	else
		recorded_as="-p$(key=$key c_awk -F '\t' '$1 == ENVIRON["key"] && !($4 in seen) { seen[$4]; print $4 }' "$tmp/candidates" | sort -n | tr '\n' ',' | sed 's/,$//')"
		if [ -n "$wall" ]; then
			tell "--wall records processes, not cgroups: the present processes of $what and their children are recorded"
		elif [ -z "$dump" ]; then
			tell "perf events have no cgroup of $what: its present processes and their children are recorded"
		fi
	fi
}
