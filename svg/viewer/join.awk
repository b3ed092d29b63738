# SPDX-License-Identifier: Apache-2.0
# Joins the modules of the viewer into one script: awk -f join.awk main.js. Each module comes once, behind those that it
# imports, as a browser would evaluate them, and modules of the command line in its order; all share one function, so
# names of the outermost level are unique in all of them.
# Import lines, `export`, comments and empty lines are left out; strip.awk shortens what remains.
# Only this form of modules is understood, all else is an error: import { a, b } from './x.js'; and export before a declaration.
function fail(file, line, why) {
	printf "join.awk: %s: %s: %s\n", file, why, line >"/dev/stderr"
	failed = 1
	exit 1
}
# Adds the modules that the text of an import names, then nothing of the statement itself.
function imported(file, text) {
	if (text !~ /^import \{[^}]*\} from '\.\/[a-z0-9]+\.js';$/ || text ~ / as /) fail(file, text, "an import that is not understood")
	sub(/^[^']*'\.\//, "", text)
	sub(/';$/, "", text)
	add(folder text)
}
# Notes the names that a line declares at the outermost level: the first, and constants in capitals after it.
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
