# widths.awk - fits text into columns of a terminal. A character has one column; two if it is wide (CJK, emoji); none if
# it combines with the one before. Bytes that are not UTF-8, and characters that are invisible or reorder text, become
# escapes such as \x1b, as in pjsvg. The caller sets utf to 1 if the terminal uses UTF-8, and runs awk with LC_ALL=C.
function code(s, i, n,   c, k, b) {
	c = ord[substr(s, i, 1)] % (n == 2 ? 32 : n == 3 ? 16 : 8)
	for (k = 1; k < n; k++) {
		b = ord[substr(s, i + k, 1)]
		if (b < 128 || b > 191) return -1
		c = c * 64 + b - 128
	}
	if (c < (n == 2 ? 128 : n == 3 ? 2048 : 65536) || c > 1114111 || (c >= 55296 && c < 57344)) return -1
	return c
}
function hidden(c) {
	return c < 160 || c == 173 || c == 1564 || c == 6158 || (c >= 8203 && c <= 8207) || (c >= 8232 && c <= 8238) || (c >= 8288 && c <= 8303) ||
		c == 65279 || (c >= 65520 && c <= 65535) || (c >= 917504 && c < 918000)
}
function columns(c) {
	if ((c >= 768 && c < 880) || (c >= 6832 && c < 6912) || (c >= 7616 && c < 7680) || (c >= 8400 && c < 8448) || (c >= 65024 && c < 65040) || (c >= 65056 && c < 65072)) return 0
	return (c >= 4352 && c < 4448) || (c >= 11904 && c < 42192 && c != 12351) || (c >= 43360 && c < 43392) || (c >= 44032 && c < 55204) || (c >= 63744 && c < 64256) ||
		(c >= 65072 && c < 65136) || (c >= 65280 && c < 65377) || (c >= 65504 && c < 65511) || (c >= 127744 && c < 129792) || (c >= 131072 && c < 262142) ? 2 : 1
}
# Splits s into n characters or escapes: sets glyph[1..n] to their text and wide[1..n] to their columns; returns n.
function glyphs(s,   i, b, k, c, n) {
	for (i = 1; i <= length(s); i += k) {
		b = ord[substr(s, i, 1)]; k = 1; n++
		if (b >= 32 && b < 127) { glyph[n] = substr(s, i, 1); wide[n] = 1; continue }
		k = b >= 194 && b < 224 ? 2 : b >= 224 && b < 240 ? 3 : b >= 240 && b < 245 ? 4 : 1
		c = k > 1 && i + k - 1 <= length(s) ? code(s, i, k) : -1
		if (c < 0) { k = 1; glyph[n] = sprintf("\\x%02x", b); wide[n] = 4 }
		else if (hidden(c) || !utf) { glyph[n] = sprintf("\\u%04x", c); wide[n] = length(glyph[n]) }
		else { glyph[n] = substr(s, i, k); wide[n] = columns(c) }
	}
	return n
}
# Returns s, shortened to w columns at its start (from_left is not 0) or at its end; w = 0: not shortened.
function fit(s, w, from_left,   i, n, all, dots, t) {
	if (s !~ /[^ -~]/ && (!w || length(s) <= w)) return s
	n = glyphs(s)
	for (i = 1; i <= n; i++) all += wide[i]
	if (!w || all <= w) { for (i = 1; i <= n; i++) t = t glyph[i]; return t }
	dots = utf ? "\342\200\246" : "."
	w--
	if (from_left) {
		for (i = n; i > 0 && wide[i] <= w; i--) { t = glyph[i] t; w -= wide[i] }
		return dots t
	}
	for (i = 1; i <= n && wide[i] <= w; i++) { t = t glyph[i]; w -= wide[i] }
	return t dots
}
BEGIN { for (b = 1; b < 256; b++) ord[sprintf("%c", b)] = b }
