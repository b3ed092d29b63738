// significance.js - what to think of a pair of weights, by the rule of common/significance.h: the same operations in
// the same order, so that both decide the same also at a limit. Pure.
// Codes: bits 0-2 the step of change (0: none that matters), 8: less, 16: new or gone, 32: moved.

export const STEP = 7, LESS = 8, ONE_SIDED = 16, MOVED = 32;

/** Whether shares are compared: a side without weight has none. */
export function comparesShares(byShare, { sums: [allBefore, allAfter] }) {
  return Boolean(byShare && allBefore && allAfter);
}

/** Two weights as parts: each of its own side; by counts, both of the larger side. */
export function partsOf(before, after, byShare, diff) {
  const [allBefore, allAfter] = diff.sums, larger = Math.max(allBefore, allAfter) || 1;
  return comparesShares(byShare, diff) ? [before / allBefore, after / allAfter] : [before / larger, after / larger];
}

/** After minus before, in shares or counts. */
export function differenceOf(before, after, byShare, diff) {
  if (!comparesShares(byShare, diff)) return after - before;
  const [from, to] = partsOf(before, after, byShare, diff);
  return to - from;
}

function varianceOf(before, after, byShare, diff) {
  const { sums: [allBefore, allAfter], dispersion, drift } = diff, mean = (before + after) / 2;
  if (!comparesShares(byShare, diff)) return dispersion * (before + after) + drift * drift * mean * mean;
  const part = (before + after) / (allBefore + allAfter), spread = part < 1 ? part * (1 - part) : 0;
  return dispersion * spread * (1 / allBefore + 1 / allAfter) + drift * drift * spread * spread;
}

/** Whether noise is tested: of counts, with a limit. */
export function isTested({ counted, z: least }) {
  return Boolean(counted && least > 0);
}

function stepOf(relative, tested, deviation) {
  if (tested && deviation < 3 || relative < .1) return 1;
  if (relative < .3) return 2;
  return relative < .6 ? 3 : 4;
}

function codeOf(step, from, to) {
  return step + (to < from ? LESS : 0) + (from && to ? 0 : ONE_SIDED);
}

function deviationOf(before, after, byShare, diff) {
  const variance = varianceOf(before, after, byShare, diff);
  return variance > 0 ? Math.abs(differenceOf(before, after, byShare, diff)) / Math.sqrt(variance) : 0;
}

/** {code, deviation (z), points: the change in points of the total, or in % of it by counts}. */
export function judge(before, after, byShare, diff) {
  const [from, to] = partsOf(before, after, byShare, diff), change = to - from;
  const relative = Math.abs(change) / Math.max(from, to) || 0, tested = isTested(diff);
  const deviation = tested ? deviationOf(before, after, byShare, diff) : 0, points = 100 * change;
  const isNoise = !change || tested && deviation < diff.z;
  const isSmall = Math.abs(points) < diff.points || relative < diff.relative;
  if (isNoise || isSmall) return { code: 0, deviation, points };
  return { code: codeOf(stepOf(relative, tested, deviation), from, to), deviation, points };
}
