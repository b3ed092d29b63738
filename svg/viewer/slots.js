// slots.js - the slots of a heat map (docs/SVG.md): weights of frames by time, as columns of numbers. Pure.
import { CONTINUES, digitValues, NumberReader } from './decode.js';
import { finishTree, makeTree } from './tree.js';

// Above 2^53, the order of additions matters.
const isSame = (one, other) => Math.abs(one - other) <= other * 1e-9;

function check(isGood) {
  if (!isGood) throw new Error('pjheat: damaged slots; the static picture stays');
}

/**
 * The slots of a data block, ascending by position: {count, position, sum, lost: columns by slot; pairs, start: for
 * each slot, and behind the last, the number of weights before it and the place of the first in the second line}.
 * Weights stay text until a range needs them: a day has millions. `total` is the weight of all; other data is damaged,
 * an error. `rows`: a map with a row for each label has so many, and ranges of it are rectangles; 0: ranges are times.
 */
export function decodeSlots(data, positions, total, rows = 0) {
  const split = data.indexOf('\n'), reader = new NumberReader(data.slice(0, Math.max(split, 0)));
  const position = [], sum = [], lost = [], pairs = [0], start = [0];
  let next = 0, weight = 0;
  check(split >= 0);
  while (reader.more) {
    const place = next + reader.next();
    position.push(place);
    lost.push(reader.next());
    const number = reader.next(), size = reader.next();
    sum.push(reader.next());
    check(place < positions && 2 * number <= size);
    pairs.push(pairs.at(-1) + number);
    start.push(start.at(-1) + size);
    next = place + 1;
    weight += sum.at(-1);
  }
  check(start.at(-1) === data.length - split - 1);
  check(isSame(weight, total));
  return { count: position.length, position, sum, lost, pairs, start, split, data, bytes: null, rows };
}

// Adds the weights of the slots `first` to `end` - 1 to the columns self (by frame) and sums (by slot, of the frames in
// `wanted`), where these are. A function of its own with few free variables, so that the engine compiles it soon.
function addWeights(bytes, { pairs, start, sum }, first, end, { self, sums, wanted, values }) {
  for (let slot = first; slot < end; slot++) {
    let at = start[slot], frame = 1, all = 0; // frame 0 is the root
    const number = () => {
      let value = 0, factor = 1, digit;
      for (; (digit = values[bytes[at++]]) >= CONTINUES; factor *= CONTINUES) value += (digit - CONTINUES) * factor;
      return value + digit * factor;
    };
    for (let left = pairs[slot + 1] - pairs[slot]; left; left--) {
      frame += number();
      const weight = number() + 1;
      all += weight;
      if (self) self[frame] += weight;
      else if (wanted[frame]) sums[slot] += weight;
      frame++;
    }
    check(at === start[slot + 1] && isSame(all, sum[slot]));
  }
}

function readWeights(slots, first, end, columns) {
  slots.bytes ||= new TextEncoder().encode(slots.data.slice(slots.split + 1));
  addWeights(slots.bytes, slots, first, end, { ...columns, values: digitValues });
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

// Whether a position between `from` and `to` is in their rows, too.
function isInRows(rows, position, from, to) {
  return !rows || position % rows >= from % rows && position % rows <= to % rows;
}

// The self weight of each frame in a rectangle: the slots between its corners that are in its rows.
function rowWeights(slots, from, to, self) {
  const end = slotFrom(slots, to + 1);
  for (let slot = slotFrom(slots, from); slot < end; slot++) {
    if (isInRows(slots.rows, slots.position[slot], from, to)) readWeights(slots, slot, slot + 1, { self });
  }
  return self;
}

/**
 * {weight, lost, slots: with samples} of the positions `from` to `to`, both included. Lost samples have no label: any
 * rows have those of their time.
 */
export function rangeSums(slots, from, to) {
  const sums = { weight: 0, lost: 0, slots: 0 }, rows = slots.rows || 1;
  const last = to - to % rows + rows - 1;
  for (let slot = slotFrom(slots, from - from % rows); slots.position[slot] <= last; slot++) {
    sums.lost += slots.lost[slot];
    if (!isInRows(slots.rows, slots.position[slot], from, to)) continue;
    sums.weight += slots.sum[slot];
    if (slots.sum[slot]) sums.slots++;
  }
  return sums;
}

/** The self weight of each frame in the positions `from` to `to`: of what is outside, if that is less to read. */
export function rangeWeights({ count, self: [all] }, slots, from, to) {
  const first = slotFrom(slots, from), end = slotFrom(slots, to + 1), self = new Float64Array(count), { pairs } = slots;
  if (slots.rows) return rowWeights(slots, from, to, self);
  const isMost = 2 * (pairs[end] - pairs[first]) > pairs[slots.count];
  if (!isMost) {
    readWeights(slots, first, end, { self });
    return self;
  }
  readWeights(slots, 0, first, { self });
  readWeights(slots, end, slots.count, { self });
  return self.map((outside, frame) => all[frame] - outside);
}

/** The call tree of the positions `from` to `to`: the frames of `base` that have weight in them. */
export function rangeTree(base, slots, from, to) {
  const { count, name, caller, depth, end } = base, self = rangeWeights(base, slots, from, to);
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
  const wanted = new Uint8Array(count), sums = new Float64Array(slots.count);
  for (let frame = 1; frame < count; frame++) wanted[frame] = hits[name[frame]] || wanted[caller[frame]] ? 1 : 0;
  readWeights(slots, 0, slots.count, { sums, wanted });
  return sums;
}

/** The range {from, to} between two positions; with rows for labels, the corners of the rectangle between them. */
export function rangeBetween(one, other, rows = 0) {
  const from = Math.min(one, other), to = Math.max(one, other);
  if (!rows) return { from, to };
  const low = Math.min(from % rows, to % rows), high = Math.max(from % rows, to % rows);
  return { from: from - from % rows + low, to: to - to % rows + high };
}

/** The parts of the range `other` outside of `one`: ranges without a common position. */
export function rangesOutside(other, one, rows = 0) {
  const height = rows || 1, columnOf = at => Math.floor(at / height), rowOf = at => at % height;
  const first = Math.max(columnOf(other.from), columnOf(one.from));
  const last = Math.min(columnOf(other.to), columnOf(one.to));
  const part = (start, end, low, high) => start > end || low > high ? []
    : [{ from: start * height + low, to: end * height + high }];
  if (first > last) return [other];
  const low = rowOf(other.from), high = rowOf(other.to);
  return [
    ...part(columnOf(other.from), first - 1, low, high),
    ...part(first, last, low, Math.min(high, rowOf(one.from) - 1)),
    ...part(first, last, Math.max(low, rowOf(one.to) + 1), high),
    ...part(last + 1, columnOf(other.to), low, high),
  ];
}

/** "12-40" as {from, to}, in order and inside of a map of so many positions; else null. */
export function parseRange(text, positions, rows = 0) {
  const [, one, other] = /^(\d{1,9})-(\d{1,9})$/.exec(text) || [];
  if (!one || Math.max(one, other) >= positions) return null;
  return rangeBetween(Number(one), Number(other), rows);
}
