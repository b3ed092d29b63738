// verdicts.js - what has changed between the two sides of a tree: the decisions of common/significance.h and of
// pjdiff's table, from the same numbers. Pure.
import {
  comparesShares, differenceOf, isTested, judge, LESS, MOVED, ONE_SIDED, partsOf, STEP,
} from './significance.js';

// The stacks that are examined below functions that may have moved; functions beyond them count as not moved.
const MOVED_WORK = 1e8;

// Totals and self weights of functions (by name), each side. A place inside of another place of the function is not
// counted again: head and next chain the outermost places, before[] counts the frames with self weight before a frame.
function sumFunctions({ count, name, end, self, total }, names) {
  const column = () => [new Float64Array(names), new Float64Array(names)], inside = new Int32Array(names);
  const sums = { self: column(), total: column(), head: new Int32Array(names), next: new Int32Array(count) };
  sums.owners = [];
  sums.before = new Int32Array(count + 1);
  for (let frame = 1; frame < count; frame++) {
    const id = name[frame], hasSelf = self[0][frame] || self[1][frame];
    sums.before[frame] = sums.owners.length;
    if (hasSelf) sums.owners.push(id);
    for (const side of [0, 1]) sums.self[side][id] += self[side][frame];
    if (frame < inside[id]) continue;
    inside[id] = end[frame];
    for (const side of [0, 1]) sums.total[side][id] += total[side][frame];
    sums.next[frame] = sums.head[id];
    sums.head[id] = frame;
  }
  sums.before[count] = sums.owners.length;
  return sums;
}

// The self weights, outside of a function, of all functions with self weight below it; null beyond the budget.
function weightsElsewhere(id, { end }, sums, seen, budget) {
  const { self, total, head, next, owners, before } = sums, weights = [-total[0][id], -total[1][id]];
  for (let frame = head[id]; frame; frame = next[frame]) {
    const first = before[frame], last = before[end[frame]];
    if (budget.left < last - first) return null;
    budget.left -= last - first;
    for (let at = first; at < last; at++) {
      const other = owners[at];
      if (seen[other] === id) continue;
      seen[other] = id;
      weights[0] += self[0][other];
      weights[1] += self[1][other];
    }
  }
  return weights;
}

// Whether what the function has gained is missing elsewhere in the code below it, beyond what a changed total explains.
function isMoved(inside, outside, byShare, diff) {
  const [from, to] = partsOf(...inside, byShare, diff), [outFrom, outTo] = partsOf(...outside, byShare, diff);
  const change = to - from, share = comparesShares(byShare, diff) && from < 1 ? change * outFrom / (1 - from) : 0;
  const moved = outTo - outFrom + share;
  return moved * change < 0 && Math.abs(moved) >= Math.abs(change) / 3;
}

/**
 * The verdicts on functions by name: {self, total: columns for each side; code, deviation}. Names are those of the
 * tree, `names` is their number.
 */
export function judgeFunctions(tree, names, byShare, diff) {
  const sums = sumFunctions(tree, names), { total } = sums, budget = { left: MOVED_WORK };
  const code = new Uint8Array(names), deviation = new Float32Array(names), seen = new Int32Array(names).fill(-1);
  for (let id = 0; id < names; id++) {
    if (!sums.head[id]) continue;
    const inside = [total[0][id], total[1][id]], verdict = judge(...inside, byShare, diff);
    code[id] = verdict.code;
    deviation[id] = verdict.deviation;
    const outside = verdict.code && weightsElsewhere(id, tree, sums, seen, budget);
    if (outside && isMoved(inside, outside, byShare, diff)) code[id] = verdict.code & ~STEP | MOVED;
  }
  return { self: sums.self, total, code, deviation };
}

// New or gone here, while its function as a whole changed by less than a third of that: its callers have changed.
function isElsewhere(here, all) {
  return (here < 0 ? -all : all) < Math.abs(here) / 3;
}

/** The verdicts on the frames of a tree: {code, deviation: columns; functions: those of judgeFunctions}. */
export function judgeFrames(tree, names, byShare, diff) {
  const { count, name, caller, total: [before, after] } = tree, functions = judgeFunctions(tree, names, byShare, diff);
  const code = new Uint8Array(count), deviation = new Float32Array(count), { total } = functions;
  for (let frame = 1; frame < count; frame++) {
    const verdict = judge(before[frame], after[frame], byShare, diff), id = name[frame];
    if (!verdict.code) continue;
    const less = verdict.code & LESS, movedSo = other => other & MOVED && (other & LESS) === less;
    const isOneSided = verdict.code & ONE_SIDED;
    const here = differenceOf(before[frame], after[frame], byShare, diff);
    const moved = movedSo(functions.code[id]) || isOneSided && (movedSo(code[caller[frame]])
      || isElsewhere(here, differenceOf(total[0][id], total[1][id], byShare, diff)));
    code[frame] = moved ? verdict.code & ~STEP | MOVED : verdict.code;
    if (!moved) deviation[frame] = verdict.deviation;
  }
  return { code, deviation, functions };
}

// ---- many tests: Benjamini-Hochberg, as in pjdiff's table

const SERIES_END = 2, FRACTION_STEPS = 120, LEAST_TERM = 1e-18;

/** The complementary error function of a value that is not negative. */
export function erfc(value) {
  const scale = Math.exp(-value * value) / Math.sqrt(Math.PI);
  if (value < SERIES_END) {
    let sum = 0, term = 2 * value;
    for (let odd = 3; term > LEAST_TERM; odd += 2) {
      sum += term;
      term *= 2 * value * value / odd;
    }
    return 1 - scale * sum;
  }
  let fraction = value;
  for (let step = FRACTION_STEPS; step; step--) fraction = value + step / 2 / fraction;
  return scale / fraction;
}

const twoSided = deviation => erfc(deviation / Math.sqrt(2));

// The largest p-value that is accepted among all, or -1.
function thresholdOf(values, least) {
  const sorted = Float64Array.from(values).sort();
  for (let at = sorted.length - 1; at >= 0; at--) {
    if (sorted[at] <= least * (at + 1) / sorted.length) return sorted[at];
  }
  return -1;
}

/** The samples that each side needs for a verdict; 0: any number. */
export function neededSamples(diff) {
  return isTested(diff) && diff.points > 0 ? Math.ceil(diff.z * diff.z * 100 / diff.points) : 0;
}

/**
 * The verdicts of pjdiff's table from those of judgeFunctions: {code: by name, corrected for the number of functions;
 * tested, functions, changed, moved: numbers of functions; isPossible: whether there are enough samples}.
 */
export function correctFunctions({ code: single, deviation, total: [before, after] }, byShare, diff) {
  const { sums } = diff, code = single.slice(), shown = [], isPossible = Math.min(...sums) >= neededSamples(diff);
  for (let id = 0; id < code.length; id++) if (before[id] || after[id]) shown.push(id);
  const canPass = id => judge(Math.min(before[id] + after[id], sums[0]), 0, byShare, diff).code
    || judge(0, Math.min(before[id] + after[id], sums[1]), byShare, diff).code;
  let tested = 0, limit = 1;
  if (isPossible && isTested(diff)) {
    const values = shown.filter(canPass).map(id => twoSided(deviation[id]));
    tested = values.length;
    limit = thresholdOf(values, twoSided(diff.z));
  }
  for (const id of shown) if (!isPossible || twoSided(deviation[id]) > limit) code[id] = 0;
  const number = bits => shown.filter(id => code[id] & bits).length;
  return { code, tested, functions: shown.length, changed: number(STEP), moved: number(MOVED), isPossible };
}
