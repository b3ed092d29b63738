# SPDX-License-Identifier: Apache-2.0
# join.awk - joins the modules of the viewer into one script: awk -f join.awk main.js.
# Each module occurs once, after those that it imports, in the order in which a browser would evaluate them; modules of
# the command line come in its order. All are in one function, so names at the outermost level must be unique.
# Import lines, `export`, comments and empty lines are left out; strip.awk shortens the rest.
# An import must have the form import { a, b } from './x.js'; and export must be before a declaration. All other forms
# are errors.
function fail(file, line, why) {
	printf "join.awk: %s: %s: %s\n", file, why, line >"/dev/stderr"
	failed = 1
	exit 1
}
# Adds the module that an import statement names. The statement itself is left out of the script.
function imported(file, text) {
	if (text !~ /^import \{[^}]*\} from '\.\/[a-z0-9]+\.js';$/ || text ~ / as /) fail(file, text, "an import that is not understood")
	sub(/^[^']*'\.\//, "", text)
	sub(/';$/, "", text)
	add(folder text)
}
# Records in owner[] the names that a line declares at the outermost level: the first name, and constants in capitals
# after it. A name that another module declares is an error.
function declared(file, line,    name) {
	if (line !~ /^(async )?(const|let|function|class) /) return
	name = line
	sub(/^(async )?(const|let|function|class) /, "", name)
	if (name ~ /^\{/) sub(/^\{ */, "", name)
	match(name, /^[A-Za-z0-9_$]+/)
	name = substr(name, 1, RLENGTH)
	if (name in owner) fail(file, line, "also declared in " owner[name])
	owner[name] = file
	line = substr(line, index(line, name) + length(name))
	if (match(line, /, [A-Z_]+ = /)) declared(file, "const " substr(line, RSTART + 2))
}
function add(file,    line, statement, comment, out) {
	if (file in seen) return
	seen[file]
	while ((getline line <file) > 0) {
		if (line ~ /^[ \t]*\/\*/) comment = 1
		if (comment) {
			if (line ~ /\*\//) comment = 0
			continue
		}
		if (line ~ /^[ \t]*(\/\/.*)?$/) continue
		if (statement != "" || line ~ /^import /) {
			statement = statement (statement == "" ? "" : " ") line
			if (line !~ /;$/) continue
			gsub(/ +/, " ", statement)
			imported(file, statement)
			statement = ""
			continue
		}
		if (line ~ /^export /) {
			sub(/^export /, "", line)
			if (line !~ /^(async )?(const|let|function|class) /) fail(file, line, "an export that is not understood")
		}
		declared(file, line)
		out = out line "\n"
	}
	close(file)
	if (out == "") fail(file, "", "no such module, or nothing in it")
	text = text out
}
BEGIN {
	folder = ARGV[1]
	sub(/[^\/]*$/, "", folder)
	for (i = 1; i < ARGC; i++) add(ARGV[i])
	printf "(() => {\n'use strict';\n%s})();\n", text
}
END { exit failed }
