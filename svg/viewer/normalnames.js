// normalnames.js - names without what differs from build to build or from run to run, by the rule of
// diff/normalname.h: pjdiff compares functions by these names. Pure.

const MERGED_KINDS = ['_[j]', '_[i]', '_[1]', '_[0]'];

// What C compilers append to parts of a function: all but the first have a number behind them.
const CLONES = ['.cold', '.part', '.isra', '.constprop', '.lto_priv', '.llvm'];

// Where the last of these before `end` begins, with a name before it; else `end`.
function cloneStart(text, end) {
  let at = end;
  while (text[at - 1] >= '0' && text[at - 1] <= '9') at--;
  at = at < end && text[at - 1] === '.' ? at - 1 : end;
  const found = CLONES.find((clone, index) => (at < end || !index) && at > clone.length && text.endsWith(clone, at));
  return found ? at - found.length : end;
}

function withoutClones(text) {
  if (text.includes('/')) return text;
  let end = text.length, before;
  do {
    before = end;
    end = cloneStart(text, end);
  } while (end < before);
  return text.slice(0, end);
}

// Addresses; numbers of hidden classes, lambda forms, methods of lambdas, and classes that a JVM makes.
const NUMBERS = '(?:[$/.+](?:0x[\\da-fA-F]*|\\d+))*', WORD = '[\\w$\\u0080-\\uffff]';
const GENERATED = new RegExp('[/+]0x[\\da-fA-F]+'
  + '|(\\$\\$Lambda)' + NUMBERS
  + '|(LambdaForm\\$\\w*)' + NUMBERS
  + '|(?<![\\w$])(lambda\\$' + WORD + '+)\\$\\d+(?!' + WORD + ')'
  + '|(Generated(?:Method|Constructor|SerializationConstructor)Accessor|\\$Proxy|jdk/proxy)\\d*', 'g');
const LAMBDA_HASH = /^(lambda\$.+)\$[\da-fA-F]{6,}$/;

function withoutNumbers(text) {
  if (!/[$]|0x|Accessor|jdk\/proxy/.test(text)) return text;
  const named = text.replace(GENERATED, (match, hidden, form, lambda, other) =>
    hidden || form || lambda?.replace(LAMBDA_HASH, '$1') || other || '');
  return named || text;
}

/** The normalized name: kinds of code that are merged have no suffix in it. */
export function normalName(text, suffix) {
  return withoutNumbers(withoutClones(text)) + (MERGED_KINDS.includes(suffix) ? '' : suffix);
}

/** For each name, the first one of its normalized name. */
export function normalGroups(names) {
  const firsts = new Map(), groups = new Int32Array(names.count);
  for (let id = 0; id < names.count; id++) {
    const name = names.isCode(id) ? normalName(names.text[id], names.suffix(id)) : '';
    if (name && !firsts.has(name)) firsts.set(name, id);
    groups[id] = name ? firsts.get(name) : id;
  }
  return groups;
}
