// search.js - names that match a text or a regular expression. Pure.

export function quoted(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * Whether a pattern might backtrack for long: more than one choice is repeated, or a group, or two groups choose.
 * Nothing may freeze the page, so such a pattern is not run before somebody asks for it.
 */
export function mayBacktrack(pattern) {
  return /\)[*+{?]|\\\d|([*+{?].*){2}|\|.*\).*\|/s.test(pattern.replace(/\\\W/g, ''));
}

/** For each name of code, whether the text or pattern is in it; its suffix counts. Throws on a bad pattern. */
export function matchNames(names, text, { regexp, matchCase }) {
  const pattern = new RegExp(regexp ? text : quoted(text), matchCase ? '' : 'i');
  return names.colour.map((colour, id) => pattern.test(names.text[id]) || pattern.test(names.folded(id)));
}
