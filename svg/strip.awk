# SPDX-License-Identifier: Apache-2.0
# strip.awk - shortens the style sheet and the script that are in every picture.
# A style sheet loses indentation, empty lines, comments on lines of their own, and blanks that no rule needs.
# A script (-v script=1: the modules of the viewer, joined by viewer/join.awk) also loses blanks, commas and line ends
# that no token needs; adjacent declarations become one; and names that the script defines become short. Each statement
# of the source must end with a semicolon, since a line end does not end it.
# A part of the script is the text between two commas or semicolons at the outermost level of its function. A name is
# local if each part that uses it declares it, and if no part has it outside of brackets: the k-th local name of each
# part gets the same short name. A local name is not shortened in a part in which it is also a key of an object, alone
# between braces and commas, or the name of a method.
# Other names are shortened everywhere or nowhere: not if the name is also a property, a key, a method or a word of the
# language, and not if the script never assigns it, declares it or has it as a parameter: then it is one of the browser.
/^[\t ]*\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }
/^[\t ]*(\/\/.*)?$/ { next }
{ sub(/^[\t ]+/, "") }
!script { print_style($0); next }
{ split_line($0); tok[++n] = "\n" }

# Prints a line of the style sheet without its line end, and without blanks beside braces, colons, commas, semicolons
# and the combinators > and +. Strings do not change. A style sheet must have no sum in calc(), which needs its blanks.
function print_style(line,    i, count, chunk) {
	count = split(line, chunk, "\"")
	for (i = 1; i <= count; i++) {
		if (i % 2) while (match(chunk[i], / [{};,>+]|[{};,>+] |[a-z]: /)) {
			line = substr(chunk[i], RSTART, RLENGTH)
			gsub(/ /, "", line)
			chunk[i] = substr(chunk[i], 1, RSTART - 1) line substr(chunk[i], RSTART + RLENGTH)
		}
		printf "%s%s", (i > 1 ? "\"" : ""), chunk[i]
	}
}

function fail(why) {
	print "strip.awk: " why >"/dev/stderr"
	bad = 1
}

# Appends the tokens of a line to tok: strings, regular expressions, words and single characters. A blank between two
# words, or between two equal signs + or -, is a token, too; other blanks are dropped.
function split_line(s,    c, q, i, t) {
	while (s != "") {
		c = substr(s, 1, 1)
		q = ""
		if (c == " ") {
			sub(/^ +/, "", s)
			if (tok[n] ~ /^[A-Za-z0-9_$]+$/ && s ~ /^[A-Za-z0-9_$]/) tok[++n] = " "
			else if (tok[n] ~ /^[+-]$/ && substr(s, 1, 1) == tok[n]) tok[++n] = " "
			if (s ~ /^\/\/ /) return
			continue
		}
		if (c ~ /['"`]/ || c == "/" && tok[near(n + 1, -1)] ~ /^([[(,=:>&|?!{};]|return|case|typeof)?$/) {
			q = c
			t = ""
			for (i = 2; i <= length(s); i++) {
				t = substr(s, i, 1)
				if (t == "\\") i++
				else if (q == "/" && t == "[") q = "]"
				else if (q == "]" && t == "]") q = "/"
				else if (t == q) break
			}
			if (i > length(s)) fail("not closed in its line: " s)
			if (q == "/") while (substr(s, i + 1, 1) ~ /[a-z]/) i++
		} else if (match(s, /^([A-Za-z0-9_$]+|\.\.\.)/)) i = RLENGTH
		else i = 1
		tok[++n] = substr(s, 1, i)
		if (q == "`" && index(tok[n], "${")) fail("names in a template: " tok[n])
		s = substr(s, i + 1)
	}
}

function is_word(t) { return t ~ /^[A-Za-z_$][A-Za-z0-9_$]*$/ }
function near(i, step) { do i += step; while (tok[i] == " " || tok[i] == "\n"); return i }

# Returns true if the bracket at token i begins the parameters of a function or a method.
function is_head(i,    name) {
	name = near(i, -1)
	return is_word(tok[name]) && closes(near(i, 1)) ~ /^[{]/ && tok[name] !~ /^(if|for|while|switch)$/
}

function study(    i, b, depth, p, q, t, w) {
	split("break case catch class const continue default delete do else false finally for function if in instanceof let new null of return switch this throw true try typeof undefined use void while", w, " ")
	for (i in w) keep[w[i]] = 1
	for (i = 1; i <= n; i++) {
		if (tok[i] ~ /^[({[]$/) open[++depth] = tok[i] == "{" && tok[near(i, -1)] !~ /^([(,=:[?&|]|let|const|return)$/ ? "block" : tok[i]
		else if (tok[i] ~ /^[]})]$/) depth--
		if (tok[i] == "class" && is_word(tok[near(i, 1)])) in_class = 1
		if (tok[i] == "{" && in_class) {
			open[depth] = "class"
			in_class = 0
		}
		if (tok[i] == "(") head[depth] = is_head(i)
		if (depth == 2 && tok[i] ~ /^[,;]$/) parts++
		part[i] = parts
		t = tok[i]
		if (!is_word(t)) continue
		p = tok[near(i, -1)]
		q = tok[near(i, 1)]
		b = near(i, 1)
		if (open[depth] == "class" && p ~ /^[{};]$/ && q ~ /^[=;]$/) fail("a field of a class, which is also a property: " t)
		if (p == ".") { # a property, also where locals have its name
			property[t]
			continue
		}
		if (q == ":" && p != "?" && p ~ /^[{,]$/ && open[depth] == "{" ||
		    open[depth] == "{" && p ~ /^[{,]$/ && q ~ /^[,}=]$/ || q == "(" && p != "function" && is_head(b)) {
			property[t]
			kept[parts, t]
			declared[parts, t]
		}
		count[t]++
		uses[parts, t]++
		if (depth == 2) shared[t]
		if (q == "=" && tok[b + 1] != "=" || q == "=" && tok[b + 1] == ">" || p ~ /^(let|const|function|class)$/ || open[depth] == "(" && p ~ /^[(,.]/ && (closes(b) ~ /^=>/ || head[depth]) ||
		    open[depth] == "[" && p ~ /^[[,]$/ && closes(b) ~ /^(=[^=>]|of)/) {
			own[t] = 1
			declared[parts, t]
		}
	}
	for (i in uses) if (!(i in declared)) {
		split(i, w, SUBSEP)
		shared[w[2]]
	}
	for (t in shared) if (t in property) keep[t] = 1
}
# Sets place[u, name] of the n local names of part u to their ranks by number of uses, 1 for the most used.
function rank_locals(u, names, n,    i, k, best) {
	for (k = 1; k <= n; k++) {
		best = k
		for (i = k + 1; i <= n; i++) if (uses[u, names[i]] > uses[u, names[best]] || uses[u, names[i]] == uses[u, names[best]] && names[i] < names[best]) best = i
		place[u, names[best]] = k
		weight[k " local"] += uses[u, names[best]]
		names[best] = names[k]
	}
}
function is_let(t) { return t ~ /^(let|const)$/ }
# Returns the two tokens after the closing bracket of a list; token i is the first one within the brackets.
function closes(i,    d) {
	for (d = 1; i <= n && d > 0; i++) {
		if (tok[i] ~ /^[({[]$/) d++
		else if (tok[i] ~ /^[]})]$/) d--
	}
	i = near(i - 1, 1)
	return tok[i] tok[i + 1]
}

# Returns the next short name that is not in use. Letters that are frequent in the script come first, because the script
# then compresses better.
function fresh(    k, s, a) {
	a = "etnraiosclfhdugpmvbxykwqjzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"
	do {
		k = serial++
		s = substr(a, k % 54 + 1, 1)
		if (k >= 54) s = s substr(a, int(k / 54), 1)
	} while (s in keep || s in property || (s in count) && !(s in own))
	return s
}

END {
	if (!script) print ""
	if (!n || bad) exit bad
	study()
	if (bad) exit bad
	for (u = 0; u <= parts; u++) {
		k = 0
		for (t in own) if (!(t in shared) && (u, t) in uses && !((u, t) in kept)) local[++k] = t
		rank_locals(u, local, k)
	}
	for (t in own) if (!(t in keep) && t in shared) weight[t] = count[t]
	for (;;) { # the most used first
		best = ""
		for (t in weight) if (!(t in short) && (best == "" || weight[t] > weight[best] || weight[t] == weight[best] && t < best)) best = t
		if (best == "") break
		short[best] = fresh()
	}
	for (i = 1; i <= n; i++) {
		if (tok[i] == " " && tok[i - 1] == "return" && tok[i + 1] == "undefined") i += 2
		t = tok[i]
		b = tok[near(i, 1)]
		if (t == "\n") {
			if (last ~ /[A-Za-z0-9_$]$/ && b ~ /^[A-Za-z0-9_$]/) printf " "
			continue
		}
		if (t == "," && b ~ /^[]})]$/) continue
		if (t == ";" && b == "}" && !(last == ")" && is_loop[depth + 1])) continue # a loop may have no body
		# let a = 1; let b = 2: one statement. Those of a loop's head are in brackets.
		if (last ~ /^[;{\n]$/) declares[depth] = is_let(t)
		if (t ~ /^[({[]$/) {
			declares[++depth] = 0
			is_loop[depth] = last ~ /^(for|while)$/
		}
		else if (t ~ /^[]})]$/) depth--
		if (t == ";" && declares[depth] && is_let(b)) {
			t = last = ","
			for (i++; !is_let(tok[i]); i++);
			if (tok[i + 1] == " ") i++
			printf "%s", t
			continue
		}
		if ((part[i], t) in place && tok[near(i, -1)] != ".") t = short[place[part[i], t] " local"]
		else if ((t in short) && tok[near(i, -1)] != ".") t = short[t]
		if (t == "=" && tok[i + 1] ~ /^'[A-Za-z]/ && last == "=") continue # === and a string that is no number: == does
		if (t ~ /^(true|false)$/ && last !~ /^[. ]$/) t = (t == "true") ? "!0" : "!1"
		last = (t == "const") ? "let" : t
		printf "%s", last
	}
	print ""
}
