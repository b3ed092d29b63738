// functions.js - the rows of the table: weights of each function in a view. Pure.
import { MOVED } from './significance.js';

// The part of the view that the table is about: the stacks as they are, or what is below the zoomed frame.
function scopeOf(view, zoom) {
  const turned = view.operation('r') || view.rooted, tree = turned ? view.filtered : view.tree;
  if (turned || !zoom) return { tree, first: 0, last: tree.count };
  return { tree, first: zoom, last: tree.end[zoom] };
}

/**
 * {self, total: columns by function for each side; unmoved: functions of a difference that were only moved; first: the
 * frame that the table is below, or 0}. Totals count places inside of places once.
 */
export function functionWeights(view, zoom) {
  const { names, sides, config, base, verdicts } = view.profile, { tree, first, last } = scopeOf(view, zoom);
  const columns = () => sides.map(() => new Float64Array(names.count));
  const self = columns(), total = columns(), moved = new Uint8Array(names.count);
  const verdict = tree === base && verdicts[view.byShare ? 0 : 1];
  for (const side of sides) {
    const inside = new Int32Array(names.count);
    for (let frame = Math.max(first, 1); frame < last; frame++) {
      const id = names.functionOf[tree.name[frame]], weight = tree.total[side][frame];
      if (!config.reverse) self[side][id] += tree.self[side][frame];
      else if (tree.depth[frame] === 1) self[side][id] += weight;
      if (frame >= inside[id]) {
        total[side][id] += weight;
        inside[id] = tree.end[frame];
      }
      if (side && verdict) moved[id] |= verdict.code[frame] & MOVED;
    }
  }
  return { self, total, moved, first };
}

/** The functions that have weight, in the order of a column (self or total), the heaviest first. */
export function heaviestFunctions({ self, total }, names, byTotal) {
  const rank = byTotal ? total[0] : self[0], rows = [];
  for (let id = 0; id < names.colour.length; id++) if (total[0][id]) rows.push(id);
  return rows.sort((one, other) => rank[other] - rank[one] || total[0][other] - total[0][one]);
}

/** The functions of a difference whose self weight has changed, the largest change first. */
export function changedFunctions({ self: [before, after], total, moved }, view) {
  const judge = id => view.judge(before[id], after[id]), rank = id => Math.abs(judge(id).points), rows = [];
  for (let id = 0; id < view.profile.names.colour.length; id++) if (!moved[id] && judge(id).code) rows.push(id);
  return rows.sort((one, other) => rank(other) - rank(one) || total[0][other] - total[0][one]);
}
