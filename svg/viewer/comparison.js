// comparison.js - two ranges of a heat map as the two sides of a difference. Pure.
import { rangeWeights } from './slots.js';
import { finishTree, makeTree, sumColumn } from './tree.js';
import { numberTrie, Trie } from './trie.js';
import { judgeFrames } from './verdicts.js';

const SIDES = [0, 1], SAME_WORK = .02;

// Of the names of one function, the heaviest one in both ranges.
function shownNames({ count, name }, groups, total) {
  const weight = new Float64Array(groups.length), shown = groups.slice();
  for (let frame = 1; frame < count; frame++) weight[name[frame]] += total[frame];
  groups.forEach((group, id) => {
    if (weight[id] > weight[shown[group]]) shown[group] = id;
  });
  return groups.map(group => shown[group]);
}

// The frames that have weight, by the names of their functions.
function growTrie(base, shown, self, total) {
  const trie = new Trie(base.count + 1, base.name[0], SIDES), node = new Int32Array(base.count);
  let kept = 1;
  for (let frame = 1; frame < base.count; frame++) {
    if (!total[frame]) {
      frame = base.end[frame] - 1;
      continue;
    }
    kept++;
    const place = node[frame] = trie.child(node[base.caller[frame]], shown[base.name[frame]]);
    for (const side of SIDES) trie.self[side][place] += self[side][frame];
  }
  return { trie, isSame: trie.count === kept };
}

// Where no two frames have become one, the nodes are in preorder: no sorting.
function copyTrie({ count, name, caller, self }) {
  const tree = makeTree(count, SIDES);
  for (const [column, of] of [[tree.name, name], [tree.caller, caller]]) column.set(of.subarray(0, count));
  for (const side of SIDES) tree.self[side].set(self[side].subarray(0, count));
  tree.caller[0] = -1;
  for (let frame = 1; frame < count; frame++) tree.depth[frame] = tree.depth[caller[frame]] + 1;
  return finishTree(tree);
}

/**
 * The call tree of two ranges {from, to}, with a side for each: names of one function (normalGroups) are one, the
 * heaviest.
 */
export function comparisonTree(base, slots, groups, ranges) {
  const self = ranges.map(({ from, to }) => rangeWeights(base, slots, from, to));
  const both = self[0].map((weight, frame) => weight + self[1][frame]);
  const total = sumColumn(both, new Float64Array(base.count), base);
  const { trie, isSame } = growTrie(base, shownNames(base, groups, total), self, total);
  return isSame ? copyTrie(trie) : numberTrie(trie, { names: groups.length, widestFirst: false });
}

/** Whether shares are compared unless the user chooses: the totals differ by more than 2 % of the larger one. */
export function sharesByDefault([before, after]) {
  const larger = Math.max(before, after);
  return Boolean(before && after) && larger - Math.min(before, after) > SAME_WORK * larger;
}

/** The verdicts of a difference by shares and by counts, each computed at its first use. */
export function verdictsOf(tree, names, diff) {
  const made = [], make = index => made[index] ||= judgeFrames(tree, names, !index, diff);
  return Object.defineProperties([], { 0: { get: () => make(0) }, 1: { get: () => make(1) } });
}
