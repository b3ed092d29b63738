# SPDX-License-Identifier: Apache-2.0
# What travels in every picture. viewer.css: without indentation, empty lines, comments that stand on lines of their own, and blanks
# that no rule needs.
# With -v script=1, the viewer's modules, joined (viewer/join.awk): the same, then without blanks, commas and line ends that no token
# needs, declarations in one where they follow each other, and with short names for what the script calls its own. Statements end
# with a semicolon in the source: a line end is none.
# A part is what stands between commas or semicolons of the script's function itself. A name that every part with it declares, and
# that stands in none outside of brackets, is local: the k-th local of each part gets the same short name. In a part where it is also
# a key of an object, is alone between braces and commas, or is the name of a method, it is kept.
# Other names are shortened everywhere or nowhere: a name is kept when it is also a property, a key or a method, a word of the
# language, or never assigned, declared or a parameter (then it is the browser's).
/^[\t ]*\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }
/^[\t ]*(\/\/.*)?$/ { next }
{ sub(/^[\t ]+/, "") }
!script { print_style($0); next }
{ split_line($0); tok[++n] = "\n" }

# Rules of the style, in one line, without blanks beside braces, colons, commas, semicolons and the combinators > and + (a sum in
# calc() would lose the blanks that it needs); strings stay as they are.
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

# Tokens: strings, regular expressions, words, and single characters. Blanks stay only between two words.
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

# Whether the bracket at token i begins the parameters of a function or a method.
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
# Gives the locals of a part their places, the most used first.
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
# What follows the bracket that closes the list that goes on at token i.
function closes(i,    d) {
	for (d = 1; i <= n && d > 0; i++) {
		if (tok[i] ~ /^[({[]$/) d++
		else if (tok[i] ~ /^[]})]$/) d--
	}
	i = near(i - 1, 1)
	return tok[i] tok[i + 1]
}

# The next name that is not in use. Letters are ordered by their number in the script: so it compresses better.
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
