#!/bin/sh
# words.t - no comment, message, man page or document uses a banned word (words.allowed), and words.awk finds those that do.
# once: reads sources
# covers: test/words.awk test/words.allowed
# shellcheck source=test/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
words=$top/test/words.awk

# banned TEXT-FILE: the words that are found in it
banned()
{
	awk -f "$words" list "$1" | sed 's/ |.*//'
}

cat >list <<'X'
ban pieces?
ban "what is known of"
allow quoted.txt pieces? a title
X
printf 'A code blob.\nA piece, of text.\nWhat is  known of it.\npieces_of()\n' >plain.txt
is "a word and a construction in text" "$(banned plain.txt | sed '$d')" "plain.txt:2: pieces?
plain.txt:3: what is known of"
printf 'int piece; /* a blob */\n/* two\n * pieces */ char *s = "one \\"piece\\"", c = %s"%s;\n' "'" "'" >code.c
is "comments and strings of C, and no identifiers" "$(banned code.c | sed '$d')" "code.c:3: pieces?"
printf 'No banned word.\n' >clean.txt
ok "an exception that nothing needs is reported" sh -c 'awk -f "$1" list clean.txt | grep -q "list\|words.allowed.*quoted"' - "$words"
printf 'one piece\n' >quoted.txt
awk -f "$words" list quoted.txt >found
is "an exception holds" "$? $(cat found)" "0 "
printf 'ban told\nallow x told\n' >list
ok "an exception needs a reason" not awk -f "$words" list clean.txt

# shellcheck disable=SC2046 # names have no blanks
(
	cd "$top" || exit 1
	awk -f test/words.awk test/words.allowed README.md SECURITY.md CONTRIBUTING.md $(ls docs/*.md man/*.[1-9]) \
		$(find common unwind runtimes fold svg diff record jmap send -name '*.[ch]' | LC_ALL=C sort)
) >"$scratch/found"
ok "no banned word in the product" sh -c 'test ! -s "$1" || { head -n 40 "$1"; wc -l <"$1"; false; }' - "$scratch/found"
done_testing
