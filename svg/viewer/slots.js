// slots.js - the slots of a heat map (docs/SVG.md): weights of frames by time, as columns of numbers. Pure.
import { NumberReader } from './decode.js';
import { finishTree, makeTree } from './tree.js';

function check(isGood) {
  if (!isGood) throw new Error('pjheat: damaged slots; the static picture stays');
}

/**
 * The slots of a data block, ascending by position: {count, position, sum, lost: columns by slot; first: for each slot,
 * and behind the last, the place of its weights; frame, weight: columns of these; at: the slot of each position or -1}.
 * `total` is the weight of all; other data is damaged, an error.
 */
export function decodeSlots(text, positions, total) {
  const reader = new NumberReader(text), room = text.length >> 1;
  const position = [], sum = [], lost = [], first = [0], frame = new Int32Array(room), weight = new Float64Array(room);
  const at = new Int32Array(positions).fill(-1);
  let next = 0, pair = 0, whole = 0;
  while (reader.more) {
    const slot = position.length, place = next + reader.next();
    let all = 0, callee = 1; // frame 0 is the root
    lost.push(reader.next());
    for (let left = reader.next(); left; left--, pair++) {
      check(reader.more);
      callee += reader.next();
      frame[pair] = callee++;
      weight[pair] = reader.next() + 1;
      all += weight[pair];
    }
    position.push(place);
    sum.push(all);
    first.push(pair);
    at[place] = slot;
    next = place + 1;
    whole += all;
  }
  // above 2^53, the order of additions matters
  check(Math.abs(whole - total) <= total * 1e-9);
  const pairs = { frame: frame.slice(0, pair), weight: weight.slice(0, pair) };
  return { count: position.length, position, sum, lost, first, at, ...pairs };
}

/** The first slot that is not before a position. */
export function slotFrom({ position, count }, wanted) {
  let low = 0, high = count;
  while (low < high) {
    const middle = low + high >> 1;
    if (position[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** {weight, lost, slots: with samples} of the positions `from` to `to`, both included. */
export function rangeSums(slots, from, to) {
  const sums = { weight: 0, lost: 0, slots: 0 };
  for (let slot = slotFrom(slots, from); slots.position[slot] <= to; slot++) {
    sums.weight += slots.sum[slot];
    sums.lost += slots.lost[slot];
    if (slots.sum[slot]) sums.slots++;
  }
  return sums;
}

/** The self weight of each frame in the positions `from` to `to`. */
export function rangeWeights(count, slots, from, to) {
  const self = new Float64Array(count), { first, frame, weight } = slots;
  for (let pair = first[slotFrom(slots, from)], end = first[slotFrom(slots, to + 1)]; pair < end; pair++) {
    self[frame[pair]] += weight[pair];
  }
  return self;
}

/** The call tree of the positions `from` to `to`: the frames of `base` that have weight in them. */
export function rangeTree(base, slots, from, to) {
  const { count, name, caller, depth, end } = base, self = rangeWeights(count, slots, from, to);
  const total = self.slice(), number = new Int32Array(count);
  let kept = 1, made = 1;
  for (let frame = count - 1; frame; frame--) {
    total[caller[frame]] += total[frame];
    if (total[frame]) kept++;
  }
  const tree = makeTree(kept, base.self);
  tree.name[0] = name[0];
  tree.caller[0] = -1;
  for (let frame = 1; frame < count; frame++) {
    if (!total[frame]) {
      frame = end[frame] - 1;
      continue;
    }
    tree.name[made] = name[frame];
    tree.caller[made] = number[caller[frame]];
    tree.depth[made] = depth[frame];
    tree.self[0][made] = self[frame];
    number[frame] = made++;
  }
  return finishTree(tree);
}

/** For each slot, the weight of the stacks in which a frame has a name that `hits` finds. */
export function matchSums({ count, name, caller }, slots, hits) {
  const isHit = new Uint8Array(count), sums = new Float64Array(slots.count);
  for (let frame = 1; frame < count; frame++) isHit[frame] = hits[name[frame]] || isHit[caller[frame]] ? 1 : 0;
  for (let slot = 0; slot < slots.count; slot++) {
    for (let pair = slots.first[slot]; pair < slots.first[slot + 1]; pair++) {
      if (isHit[slots.frame[pair]]) sums[slot] += slots.weight[pair];
    }
  }
  return sums;
}

/** "12-40" as {from, to}, in order and inside of a map of so many positions; else null. */
export function parseRange(text, positions) {
  const [, one, other] = /^(\d{1,9})-(\d{1,9})$/.exec(text) || [];
  if (!one || Math.max(one, other) >= positions) return null;
  return { from: Math.min(one, other), to: Math.max(one, other) };
}
