// search.js - names that match a search: a text, words, or a regular expression. Pure.

function quoted(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Whether a pattern might backtrack for long: more than one choice is repeated, or a group, or two groups choose.
 * Nothing may freeze the page, so such a pattern runs only after Enter.
 */
export function mayBacktrack(pattern) {
  return /\)[*+{?]|\\\d|([*+{?].*){2}|\|.*\).*\|/s.test(pattern.replace(/\\\W/g, ''));
}

function testNames(names, test) {
  return names.colour.map((colour, id) => test(names.text[id]) || test(names.folded(id)));
}

function byPattern(names, source, matchCase) {
  const pattern = new RegExp(source, matchCase ? '' : 'i');
  return testNames(names, text => pattern.test(text));
}

function byWords(names, words, matchCase) {
  const patterns = words.map(word => new RegExp(quoted(word), matchCase ? '' : 'i'));
  return testNames(names, text => patterns.every(pattern => pattern.test(text)));
}

/** A search for one name and no other. */
export function exactly(name) {
  return '"' + name + '"';
}

/** Whether a text that is not in any name is worth a try as a pattern. */
function looksLikePattern(text) {
  return /[\\^$.|?*+()[\]{}]/.test(text);
}

function tryPattern(names, text, matchCase) {
  try {
    return byPattern(names, text, matchCase);
  } catch {
    return null; // a text like any other
  }
}

/**
 * For each name of code, whether it matches; a name's suffix counts. With `regexp`, the text is a pattern, and a bad
 * one is thrown. Else the first that finds something: a name "in quotes", the text, all of its words, the text as a
 * pattern. {hits, waits: the text is a pattern that might run for long, and was not tried}.
 */
export function matchNames(names, text, { regexp, matchCase }) {
  if (regexp) return { hits: byPattern(names, text, matchCase), waits: false };
  const exact = /^"(.+)"$/s.exec(text);
  const ways = [
    () => exact && testNames(names, name => name === exact[1]),
    () => byPattern(names, quoted(text), matchCase),
    () => /\S\s+\S/.test(text) && byWords(names, text.trim().split(/\s+/), matchCase),
    () => looksLikePattern(text) && !mayBacktrack(text) && tryPattern(names, text, matchCase),
  ];
  for (const way of ways) {
    const hits = way();
    if (hits && hits.includes(true)) return { hits, waits: false };
  }
  return { hits: names.colour.map(() => false), waits: looksLikePattern(text) && mayBacktrack(text) };
}
