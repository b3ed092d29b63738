# SPDX-License-Identifier: Apache-2.0
# What travels in every picture. viewer.css: without indentation, empty lines, and comments that stand on lines of their own.
# viewer.js: the same, then without blanks and line ends that no token needs, and with short names for what the script calls its own.
# A name is shortened everywhere or nowhere, so scopes do not matter; it is kept when it is also a property (after a dot, before a
# colon, or alone between braces and commas), a word of the language, or never assigned, declared or a parameter (then it is the browser's).
/^[\t ]*\/\*/ { comment = 1 }
comment { if (/\*\//) comment = 0; next }
/^[\t ]*(\/\/.*)?$/ { next }
{ sub(/^[\t ]+/, "") }
FILENAME !~ /\.js$/ { print; next }
{ split_line($0); tok[++n] = "\n" }

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
		if (c ~ /['"`]/ || c == "/" && tok[n] ~ /^([(,=>:&|?!{};\n]|return)$/) {
			q = c
			t = ""
			for (i = 2; i <= length(s); i++) {
				t = substr(s, i, 1)
				if (t == "\\") i++
				else if (q == "/" && t == "[") q = "]"
				else if (q == "]" && t == "]") q = "/"
				else if (t == q) break
			}
			if (q == "/") while (substr(s, i + 1, 1) ~ /[a-z]/) i++
		} else if (match(s, /^([A-Za-z0-9_$]+|\.\.\.)/)) i = RLENGTH
		else i = 1
		tok[++n] = substr(s, 1, i)
		if (q == "`" && index(tok[n], "${")) {
			print "strip.awk: names in a template: " tok[n] >"/dev/stderr"
			bad = 1
		}
		s = substr(s, i + 1)
	}
}

function is_word(t) { return t ~ /^[A-Za-z_$][A-Za-z0-9_$]*$/ }
function near(i, step) { do i += step; while (tok[i] == " " || tok[i] == "\n"); return i }

function study(    i, b, depth, p, q, w) {
	split("break case catch class const continue default delete do else false finally for function if in instanceof let new null of return switch this throw true try typeof undefined use void while", w, " ")
	for (i in w) keep[w[i]] = 1
	for (i = 1; i <= n; i++) {
		if (tok[i] ~ /^[({[]$/) open[++depth] = tok[i] == "{" && tok[near(i, -1)] !~ /^([(,=:[?&|]|let|const)$/ ? "block" : tok[i]
		else if (tok[i] ~ /^[]})]$/) depth--
		if (!is_word(tok[i])) continue
		count[tok[i]]++
		p = tok[near(i, -1)]
		q = tok[near(i, 1)]
		if (p == "." || q == ":" && p != "?" && p ~ /^[{,]$/ && open[depth] == "{" ||
		    open[depth] == "{" && p ~ /^[{,]$/ && q ~ /^[,}]$/) keep[tok[i]] = 1
		b = near(i, 1)
		if (q == "=" && tok[b + 1] != "=" || q == "=" && tok[b + 1] == ">" || p == "let" || p == "const" || open[depth] == "(" && p ~ /^[(,]$/ && closes(b) ~ /^=>/ ||
		    open[depth] == "[" && p ~ /^[[,]$/ && closes(b) ~ /^(=[^=>]|of)/) own[tok[i]] = 1
	}
}
# What follows the bracket that closes the list that goes on at token i.
function closes(i,    d) {
	for (d = 1; i <= n && d > 0; i++) {
		if (tok[i] ~ /^[({[]$/) d++
		else if (tok[i] ~ /^[]})]$/) d--
	}
	i = near(i - 1, 1)
	return tok[i] tok[i + 1]
}

# The next of a .. z, A .. Z, aa .. that nobody uses.
function fresh(    k, s, a) {
	a = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$"
	do {
		k = serial++
		s = substr(a, k % 54 + 1, 1)
		if (k >= 54) s = s substr(a, int(k / 54), 1)
	} while (s in keep || (s in count) && !(s in own))
	return s
}

BEGIN { # properties of the viewer's own objects, which no object of the browser has
	split("nm par dep end half from turned least same child owner code kids", ours)
}
END {
	if (!n || bad) exit bad
	study()
	for (t in ours) {
		delete keep[ours[t]]
		mine[ours[t]]
		own[ours[t]]
	}
	for (;;) { # the most used first
		best = ""
		for (t in own) if (!(t in keep) && !(t in short) && (best == "" || count[t] > count[best] || count[t] == count[best] && t < best)) best = t
		if (best == "") break
		short[best] = fresh()
	}
	for (i = 1; i <= n; i++) {
		t = tok[i]
		if (t == "\n" && last ~ /^[,;{(]$/) continue
		if (t == ";" && tok[near(i, 1)] == "}" && last != ")") continue
		if ((t in short) && (tok[near(i, -1)] != "." || t in mine)) t = short[t]
		if (t == "=" && tok[i + 1] ~ /^'/ && last == "=") continue # === and a string: == does
		last = (t == "const") ? "let" : t
		printf "%s", last
	}
	print ""
}
