// derive.js - other views of a profile as tries: reversed, sandwich, filtered. Pure.
import { Trie } from './trie.js';

// Above this number of steps a reversed tree leaves out what is too small to be seen: it may be very much larger.
const MANY_STEPS = 4e6, LEAST_TURNED = 1e-5;

function leastOf(tree, ends) {
  const { depth } = tree;
  let steps = 0;
  for (let at = 0; at < ends.count; at++) steps += Math.abs(depth[ends.frame[at]]);
  return steps > MANY_STEPS ? tree.total.at(-1)[0] * LEAST_TURNED : 0;
}

// The frames where stacks end, and their weights.
function makeEnds(tree) {
  return { count: 0, frame: new Int32Array(tree.count), weight: tree.self.map(() => new Float64Array(tree.count)) };
}

// Puts stacks from their ends outwards into the trie below its root, all by one step at a time, so that what is too
// small can end early. `plus` is added to names.
function climb(trie, tree, ends, plus) {
  const node = new Int32Array(ends.count), { frame, weight } = ends, sides = [...weight.keys()];
  let left = ends.count;
  trie.least = leastOf(tree, ends);
  while (left) {
    for (let at = 0; at < left; at++) {
      node[at] = trie.child(node[at], tree.name[frame[at]] + plus);
      frame[at] = tree.caller[frame[at]];
      for (const side of sides) trie.self[side][node[at]] += weight[side][at];
    }
    left = goOn(trie, node, left, ends, sides);
  }
}

// Moves the weights of the stacks that go on out of their nodes; returns their number.
function goOn(trie, node, left, { frame, weight }, sides) {
  const { self, least } = trie;
  const large = node.slice(0, left).map(at => sides.some(side => self[side][at] >= least));
  let kept = 0;
  for (let at = 0; at < left; at++) {
    if (frame[at] <= 0 || !large[at]) continue;
    for (const side of sides) {
      self[side][node[at]] -= weight[side][at];
      weight[side][kept] = weight[side][at];
    }
    node[kept] = node[at];
    frame[kept++] = frame[at];
  }
  return kept;
}

// Stacks that end in a frame, with the weight of another.
function addEnd(ends, frame, weights, weighed) {
  ends.frame[ends.count] = frame;
  ends.weight.forEach((column, side) => {
    column[ends.count] = weights[side][weighed];
  });
  ends.count++;
}

/** All stacks from their ends. */
export function reversed(tree, { root, sides }) {
  const trie = new Trie(tree.count, root, sides), ends = makeEnds(tree);
  for (let frame = 1; frame < tree.count; frame++) {
    if (tree.self.some(column => column[frame])) addEnd(ends, frame, tree.self, frame);
  }
  climb(trie, tree, ends, 0);
  return trie;
}

/** One function as root: its callees, and with names from `names.count` on, its callers; or one of both. */
export function sandwich(tree, { names, sides, config }, { wanted, callers, callees }) {
  const trie = new Trie(tree.count, wanted, sides), ends = makeEnds(tree), node = new Int32Array(tree.count);
  let inside = 0;
  for (let frame = 1; frame < tree.count; frame++) {
    if (frame < inside) {
      if (callees) node[frame] = trie.child(node[tree.caller[frame]], tree.name[frame]);
    } else if (names.functionOf[tree.name[frame]] === wanted) {
      inside = tree.end[frame];
      if (tree.caller[frame] > 0) addEnd(ends, tree.caller[frame], tree.total, frame);
    } else continue;
    for (const side of sides) trie.self[side][node[frame]] += tree.self[side][frame];
  }
  if (callers) climb(trie, tree, ends, names.count);
  trie.calleesBelow = Boolean(config.reverse);
  return trie;
}

const WITHOUT = 1 << 30;

/**
 * Bits of each name: what stacks must have (one for each rule, all in `wanted`), and WITHOUT for what they may not
 * have. `hidden` names leave their weight to the caller.
 */
function filterMasks(names, rules) {
  const bits = new Int32Array(names.count), hidden = new Uint8Array(names.count);
  let wanted = 0; // the bits of the first rules, so the next bit is one more
  rules.forEach(({ kind, hits }) => {
    const bit = kind === 'without' ? WITHOUT : kind === 'only' ? wanted + 1 : 0;
    if (kind === 'only') wanted |= bit;
    for (let id = 0; id < hits.length; id++) {
      if (!hits[id]) continue;
      if (kind === 'hide') hidden[id] = 1;
      else bits[id] |= bit;
    }
  });
  return { bits, hidden, wanted };
}

/**
 * The stacks that rules leave: [{kind: only, without, hide; hits: for each name of code}]. With `collapse`, a function
 * that calls itself is one frame.
 */
export function filtered({ base, names, root, sides }, rules, collapse) {
  const trie = new Trie(base.count + 1, root, sides), { bits, hidden, wanted } = filterMasks(names, rules);
  const { count, name, caller } = base, node = new Int32Array(count), seen = new Int32Array(count);
  const isSame = (one, other) => one && names.functionOf[trie.name[one]] === names.functionOf[other];
  for (let frame = 1; frame < count; frame++) {
    const id = name[frame], up = node[caller[frame]], has = seen[frame] = seen[caller[frame]] | bits[id];
    const merged = hidden[id] || collapse && isSame(up, id);
    node[frame] = merged ? up : trie.child(up, id);
    if ((has & wanted) !== wanted || has & WITHOUT) continue;
    for (const side of sides) trie.self[side][node[frame]] += base.self[side][frame];
  }
  trie.unchanged = !rules.length && !collapse && trie.count === count;
  return trie;
}
