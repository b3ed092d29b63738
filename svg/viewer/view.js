// view.js - the tree that is shown: operations on the profile, and where its frames stand. Pure.
import { filtered, reversed, sandwich } from './derive.js';
import { appendGone, leftEdges, unionWeights } from './layout.js';
import { base36 } from './names.js';
import { mayBacktrack, matchNames } from './search.js';
import { comparesShares, judge } from './significance.js';
import { numberTrie } from './trie.js';

// Operations have a letter in the address: what they do, and whether their text is a function's key or a search.
const OPERATIONS = {
  s: { kind: 'widest' },
  r: { kind: 'reverse' },
  c: { kind: 'collapse' },
  w: { kind: 'sandwich', key: true, callers: true, callees: true },
  b: { kind: 'sandwich', key: true, callers: true },
  d: { kind: 'sandwich', key: true, callees: true },
  h: { kind: 'hide', key: true },
  f: { kind: 'only', search: true },
  x: { kind: 'without', search: true },
};
// The first character of a search's text is a number of these bits.
const CASE = 1, REGEXP = 2, FUNCTION = 4;
const GOLDEN = 0x9e3779b1;

export function searchText(text, { regexp, matchCase }) {
  return (regexp ? REGEXP : 0) + (matchCase ? CASE : 0) + text;
}

export function functionText(key) {
  return FUNCTION + key;
}

export class View {
  constructor(profile) {
    this.profile = profile;
    this.tree = this.filtered = profile.base;
    this.operations = [];
    this.widths = 'A'; // of a difference: before, after, or U: both
    this.isSwitched = false; // the user chose the other of shares and counts
    this.hitsOf = {};
  }

  /** Whether a difference compares shares of the totals; else counts. */
  get byShare() {
    return Boolean(this.profile.diff?.shares) !== this.isSwitched;
  }

  operation(letter) {
    return this.operations.find(one => one.letter === letter);
  }

  /** The operation that shows the callers or callees of one function, if there is one. */
  get rooted() {
    return this.operations.find(one => one.kind === 'sandwich');
  }

  /** Whether stacks are reversed, or begin at one function. */
  get isTurned() {
    return Boolean(this.rooted || this.operation('r'));
  }

  /** Whether the widest siblings come first: always among callers, which would be slivers in the order of names. */
  get widestFirst() {
    return Boolean(this.operation('s') || this.rooted || this.operation('r') && !this.profile.config.reverse);
  }

  /** Removes the operations of a letter; returns whether there was one. */
  remove(letter) {
    const found = this.operation(letter);
    if (found) this.operations = this.operations.filter(one => one.letter !== letter);
    return Boolean(found);
  }

  toggle(letter) {
    if (!this.remove(letter)) this.add(letter);
  }

  /**
   * Adds an operation, if its text means something here. One stands for each thing: reversed and sandwich exclude each
   * other. `fromLink`: it comes from the address, not from the user.
   */
  add(letter, text = '', fromLink = false) {
    const known = Object.hasOwn(OPERATIONS, letter) && OPERATIONS[letter];
    if (!known || !this.isUseful(known, text, fromLink)) return;
    // each filter of kind `only` has a bit of a number (derive.js)
    if (known.kind === 'only' && this.operations.filter(one => one.kind === 'only').length > 29) return;
    const replaced = ['reverse', 'sandwich'].includes(known.kind) ? ['reverse', 'sandwich'] : [];
    this.operations = this.operations.filter(one => !replaced.includes(one.kind)
      && !(one.letter === letter && one.text === text));
    this.operations.push({ letter, text, kind: known.kind });
  }

  isUseful({ kind, key, search }, text, fromLink) {
    if (key) return this.profile.names.functionByKey(text) >= 0;
    if (!search) return !text && !(kind === 'widest' && (this.profile.config.chart || this.widestFirst));
    if (fromLink && text[0] & REGEXP && mayBacktrack(text)) return false;
    return this.hits(text).includes(true);
  }

  /** For each name of code, whether the text of an operation finds it. */
  hits(text) {
    const { names } = this.profile, flags = text[0];
    return this.hitsOf[text] ||= flags & FUNCTION ? this.sameFunction(text.slice(1))
      : matchNames(names, text.slice(1), { regexp: flags & REGEXP, matchCase: flags & CASE }).hits;
  }

  sameFunction(key) {
    const { names } = this.profile, wanted = names.functionByKey(key);
    return names.functionOf.slice(0, names.colour.length).map(id => id === wanted);
  }

  describe({ letter, text }) {
    const { names, config } = this.profile, least = this.tree.least ? ' (\u2265 0.001%)' : '';
    const named = () => names.text[names.functionByKey(text)];
    switch (letter) {
      case 's': return 'widest first';
      case 'r': return config.reverse ? 'callees first' : 'callers first' + least;
      case 'c': return 'recursion collapsed';
      case 'h': return 'without ' + named();
      case 'w': return 'sandwich: ' + named();
      case 'b': return 'callers of ' + named();
      case 'd': return 'callees of ' + named();
      default: return (letter === 'f' ? 'only ' : 'no stacks with ') + this.describeSearch(text);
    }
  }

  describeSearch(text) {
    const { names } = this.profile, query = text.slice(1);
    if (text[0] & FUNCTION) return names.text[names.functionByKey(query)];
    return text[0] & REGEXP ? '/' + query + '/' : '\u201c' + query + '\u201d';
  }

  /** Makes the tree anew, after the operations, the widths or the comparison have changed. */
  rebuild() {
    const { profile } = this, rules = this.filterRules(), { rooted } = this;
    const collapse = Boolean(this.operation('c')), reverse = this.operation('r');
    const order = { names: profile.names.count, widestFirst: this.widestFirst };
    const sorted = order.widestFirst && !this.isTurned;
    let tree = profile.base;
    if (rules.length || collapse || sorted) tree = numberTrie(filtered(profile, rules, collapse), order);
    this.filtered = tree; // the stacks, not turned
    if (rooted) tree = numberTrie(sandwich(tree, profile, this.rootOf(rooted)), order);
    else if (reverse) tree = numberTrie(reversed(tree, profile), order);
    this.tree = tree;
    // What --total adds to the root is no stack: it stays while all stacks do.
    const total = tree.total[0];
    if (!profile.diff && !rules.length && !rooted) total[0] = Math.max(total[0], profile.config.total);
    this.layOut();
  }

  rootOf({ letter, text }) {
    const { callers, callees } = OPERATIONS[letter];
    return { wanted: this.profile.names.functionByKey(text), callers, callees };
  }

  filterRules() {
    return this.operations.filter(one => ['hide', 'only', 'without'].includes(one.kind))
      .map(({ kind, text }) => ({ kind, hits: kind === 'hide' ? this.sameFunction(text) : this.hits(text) }));
  }

  layOut() {
    const { tree, profile } = this, { diff } = profile, side = diff && this.widths === 'A' ? 1 : 0;
    this.count = tree.count; // with what is gone
    this.gone = NaN;
    this.thin = new Set();
    this.rest = 0;
    this.self = tree.self[side];
    this.total = tree.total[side];
    if (diff && this.widths === 'U') {
      const factor = comparesShares(this.byShare, diff) ? diff.sums[1] / diff.sums[0] : 1;
      Object.assign(this, unionWeights(tree, factor));
    }
    if (side && !this.rooted) {
      Object.assign(this, appendGone(tree, profile.onlyBefore, frame => this.verdict(frame).code));
    }
    this.chains = null;
    const pauses = tree === profile.base && profile.pauses;
    this.left = leftEdges(tree, this.count, this.total, this.gone, pauses);
  }

  isGone(frame) {
    return frame >= this.gone;
  }

  before(frame) {
    return this.tree.total[0][frame];
  }

  after(frame) {
    return this.isGone(frame) ? 0 : this.tree.total[1][frame];
  }

  judge(before, after) {
    return judge(before, after, this.byShare, this.profile.diff);
  }

  /** {code, deviation} of a frame in a difference: the file's, where the frame is in the file. */
  verdict(frame) {
    const { tree, profile: { base, verdicts } } = this, known = verdicts[this.byShare ? 0 : 1];
    if (frame >= tree.count) return { code: 28, deviation: 0 };
    if (!frame && !this.rooted) return { code: 0, deviation: 0 };
    const original = tree === base ? frame : tree.from ? tree.from[frame] : -1;
    if (original >= 0) return { code: known.code[original], deviation: known.deviation[original] };
    return this.judge(this.before(frame), this.after(frame));
  }

  /** Whether the frames that stand on this one are its callers. */
  isOutward(frame) {
    return this.tree.depth[frame] < 0 || !this.profile.config.reverse !== !this.operation('r');
  }

  /** The weight that 100% is. */
  all() {
    const { diff, base, config } = this.profile;
    return diff ? diff.sums[this.widths === 'B' ? 0 : 1] : Math.max(base.total[0][0], config.total);
  }

  /**
   * All places of the function in a frame: {count, weights: for each side}; places inside of places are counted, not
   * weighed. The frames of each function are a chain, made by the first call.
   */
  places(frame) {
    const { tree, profile: { names, sides } } = this, { name, half, end, total } = tree;
    const first = frame < half ? 1 : half, last = frame < half ? half : this.gone || this.count;
    const weights = [0, 0], { head, next } = this.chains ||= this.makeChains();
    let count = 0, inside = 0;
    for (let at = head[names.functionOf[name[frame]]]; at; at = next[at]) {
      if (at < first || at >= last) continue;
      count++;
      if (at < inside) continue;
      inside = end[at];
      for (const side of sides) weights[side] += total[side][at];
    }
    return { count, weights };
  }

  makeChains() {
    const { count, tree: { name }, profile: { names } } = this, { functionOf } = names;
    const head = new Int32Array(names.count), next = new Int32Array(count);
    for (let frame = count - 1; frame; frame--) {
      next[frame] = head[functionOf[name[frame]]];
      head[functionOf[name[frame]]] = frame;
    }
    return { head, next };
  }

  /** The hash of a frame in a path. Callers in a sandwich differ from callees of the same name in bit 0. */
  hashOf(frame) {
    const { tree: { name, depth } } = this;
    return this.profile.names.hash(name[frame]) ^ (depth[frame] < 0);
  }

  /** A path's hash is the sum of hash * GOLDEN ^ distance. Siblings may differ in kind only, so suffixes count. */
  pathOf(frame) {
    const { tree: { caller } } = this;
    let hash = 0, factor = 1;
    for (let at = frame; at > 0; at = caller[at]) {
      hash += Math.imul(this.hashOf(at), factor);
      factor = Math.imul(factor, GOLDEN);
    }
    return base36(hash);
  }

  /** The frame of a path's hash, or the root. */
  frameOf(path) {
    const { tree: { caller }, count } = this, all = new Int32Array(count);
    for (let frame = 1; path && frame < count; frame++) {
      all[frame] = this.hashOf(frame) + Math.imul(all[caller[frame]], GOLDEN);
      if (base36(all[frame]) === path) return frame;
    }
    return 0;
  }
}
