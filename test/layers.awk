# layers.awk - checks the table of folders in docs/ARCHITECTURE.md against the sources: awk -f test/layers.awk docs/ARCHITECTURE.md FILE...
#
# Each .c and .h file of the tools may include headers of its own folder and of the folders that the table lists for it. A folder stands
# below all folders that it uses, so there are no cycles. Each folder has a row, each use is needed, and no folder has more than 35 files.
function complain(text)
{
	print "layers: " text
	bad = 1
}

function folder_of(path)
{
	sub("/[^/]*$", "", path)
	return path
}

FNR == 1 {
	in_table = 0
	if (FILENAME !~ /[.]md$/) {
		folder = folder_of(FILENAME)
		files[folder]++
		if (!(folder in row) && !(folder in unknown)) {
			complain(folder " has no row in the table of folders of docs/ARCHITECTURE.md")
			unknown[folder] = 1
		}
	}
}

FILENAME ~ /[.]md$/ && $0 == "| folder | holds | uses |" {
	in_table = 1
	next
}

FILENAME ~ /[.]md$/ && in_table && /^[|] [a-z]/ {
	split($0, column, / *[|] */)
	row[column[2]] = ++rows
	n = split(column[4], list, /, /)
	for (i = 1; i <= n; i++) {
		if (list[i] == "-")
			continue
		if (!(list[i] in row))
			complain(column[2] " uses " list[i] ", which does not stand above it")
		allowed[column[2], list[i]] = 1
	}
	next
}

FILENAME ~ /[.]md$/ {
	if (!/^[|]/)
		in_table = 0
	next
}

/^#include "/ {
	header = $2
	gsub(/"/, "", header)
	if (header !~ /\//)
		complain(FILENAME ":" FNR " includes " header " without its folder")
	else if (folder_of(header) != folder) {
		used[folder, folder_of(header)] = 1
		if (!((folder, folder_of(header)) in allowed))
			complain(FILENAME ":" FNR " includes " header ", but " folder " may not use " folder_of(header))
	}
}

END {
	if (!rows)
		complain("docs/ARCHITECTURE.md has no table of folders")
	for (name in row)
		if (!files[name])
			complain("there is no folder " name)
	for (pair in allowed)
		if (!(pair in used)) {
			split(pair, part, SUBSEP)
			complain(part[1] " does not use " part[2])
		}
	for (name in files)
		if (files[name] > 35)
			complain(name " has " files[name] " files; 35 are allowed")
	exit bad
}
