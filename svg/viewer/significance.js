// significance.js - what to think of a pair of weights, by the rule of common/significance.h. Pure.
// Codes: bits 0-2 the step of change (0: none that matters), 8: less, 16: new or gone, 32: moved.

export const STEP = 7, LESS = 8, ONE_SIDED = 16, MOVED = 32;

function variance(before, after, byShare, diff) {
  const [allBefore, allAfter] = diff.sums;
  if (!byShare) return diff.dispersion * (after + before) + (diff.drift * (after + before) / 2) ** 2;
  const part = (after + before) / (allBefore + allAfter), spread = part * (1 - part);
  return diff.dispersion * spread * (1 / allBefore + 1 / allAfter) + (diff.drift * spread) ** 2;
}

function stepOf(relative, tested, deviation) {
  if (tested && deviation < 3 || relative < .1) return 1;
  if (relative < .3) return 2;
  return relative < .6 ? 3 : 4;
}

function codeOf(step, from, to) {
  return step + (to < from ? LESS : 0) + (from && to ? 0 : ONE_SIDED);
}

function isTested({ counted, z: least }) {
  return counted && least > 0;
}

/** {code, deviation (z), points: the change in points of the total, or in % of it by counts}. */
export function judge(before, after, byShare, diff) {
  const [allBefore, allAfter] = diff.sums, larger = Math.max(allBefore, allAfter);
  const from = byShare ? before / allBefore : before, to = byShare ? after / allAfter : after;
  const change = Math.abs(to - from), relative = change / Math.max(from, to) || 0;
  const tested = isTested(diff);
  const deviation = tested && change ? change / Math.sqrt(variance(before, after, byShare, diff)) : 0;
  const points = (to - from) * (byShare ? 100 : 100 / larger);
  const isNoise = !change || tested && deviation < diff.z;
  const isSmall = Math.abs(points) < diff.points || relative < diff.relative;
  if (isNoise || isSmall) return { code: 0, deviation, points };
  return { code: codeOf(stepOf(relative, tested, deviation), from, to), deviation, points };
}
