# words.awk - prints the banned words of comments, documents and messages: awk -f test/words.awk test/words.allowed FILE...
#
# The first file has the banned words and the exceptions:
#	ban WORD			a word (regular expression, small letters) that no text may have
#	ban "WORDS"			the same for a construction of several words
#	allow FILE-PATTERN WORD REASON	where the word is allowed, with the reason; WORD `*`: any
# Of C files the comments and the strings of messages are read, of others all text. One line each: FILE:LINE: WORD | TEXT.
# Unused exceptions are printed, too, so that the list shrinks with the text. The exit status is 1 if anything was printed.
function complain(word)
{
	print FILENAME ":" FNR ": " word " | " substr(shown, 1, 100)
	bad = 1
}

# The comments and strings of a line of C; `in_comment` goes on from line to line.
function text_of_c(line, out, at, c, two)
{
	out = ""
	for (at = 1; at <= length(line); at++) {
		c = substr(line, at, 1)
		two = substr(line, at, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				at++
				out = out " "
			} else
				out = out c
		} else if (two == "/*") {
			in_comment = 1
			at++
		} else if (c == "\"") {
			for (at++; at <= length(line) && (c = substr(line, at, 1)) != "\""; at++) {
				if (c == "\\")
					at++
				else
					out = out c
			}
			out = out " "
		} else if (c == "'") {
			at += substr(line, at + 1, 1) == "\\" ? 3 : 2
		}
	}
	return out
}

FNR == NR {
	if ($1 == "ban") {
		sub(/^ban +/, "")
		gsub(/"/, "")
		banned[++nbanned] = $0
	} else if ($1 == "allow") {
		pattern[++nallowed] = $2
		allowed_word[nallowed] = $3
		line_of[nallowed] = FNR
		if (NF < 4) {
			print FILENAME ":" FNR ": an exception without a reason"
			bad = 1
		}
	}
	next
}

FNR == 1 {
	in_comment = 0
	is_c = FILENAME ~ /[.][ch]$/
}

{
	shown = is_c ? text_of_c($0) : $0
	text = " " tolower(shown) " "
	gsub(/[^a-z0-9_%.\/-]+/, " ", text)
	gsub(/[.] | [.]|- | -/, " ", text)
	for (i = 1; i <= nbanned; i++) {
		if (text !~ "[ ]" banned[i] "[ ]")
			continue
		excused = 0
		for (k = 1; k <= nallowed && !excused; k++) {
			if (FILENAME ~ ("^" pattern[k] "$") && (allowed_word[k] == "*" || allowed_word[k] == banned[i])) {
				used[k] = 1
				excused = 1
			}
		}
		if (!excused)
			complain(banned[i])
	}
}

END {
	for (k = 1; k <= nallowed; k++) {
		if (!(k in used)) {
			print "test/words.allowed:" line_of[k] ": nothing needs this exception any more: " pattern[k] " " allowed_word[k]
			bad = 1
		}
	}
	exit bad
}
