// functions.js - the rows of the table: weights of each function in a view. Pure.
import { MOVED } from './significance.js';

/** What numbers of the view are about: the stacks that filters leave, or what is below the zoomed frame. */
export function scopeOf(view, zoom) {
  const { isTurned } = view, tree = isTurned ? view.filtered : view.tree;
  if (isTurned || !zoom) return { tree, first: 0, last: tree.count };
  return { tree, first: zoom, last: tree.end[zoom] };
}

/** The weight of that. */
export function viewWeight(view, zoom) {
  const { tree, first } = scopeOf(view, zoom);
  return tree.total.at(-1)[first];
}

/**
 * Of the view, or of all of a tree: {self, total: columns by function for each side; moved: functions of a difference
 * that were only moved}. Totals count places inside of places once.
 */
export function functionWeights(view, zoom, allTree = null) {
  const { names, sides, config, base, verdicts } = view.profile;
  const { tree, first, last } = allTree ? { tree: allTree, first: 0, last: allTree.count } : scopeOf(view, zoom);
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
  return { self, total, moved };
}

/** The self weight of each colour in the view. Among reversed stacks, the outermost frames are those that ran. */
export function colourWeights(view, zoom) {
  const { names: { colour }, config } = view.profile, { tree, first, last } = scopeOf(view, zoom);
  const { name, caller, depth, self: [own] } = tree, sums = new Float64Array(config.colors.length);
  for (let frame = Math.max(first, 1); frame < last; frame++) {
    let ran = frame;
    while (config.reverse && depth[ran] > 1) ran = caller[ran];
    sums[colour[name[ran]]] += own[frame];
  }
  return sums;
}

/** The functions of a difference whose self weight has changed, the largest change first. */
export function changedFunctions({ self: [before, after], total, moved }, view) {
  const judge = id => view.judge(before[id], after[id]), rank = id => Math.abs(judge(id).points), rows = [];
  for (let id = 0; id < view.profile.names.colour.length; id++) if (!moved[id] && judge(id).code) rows.push(id);
  return rows.sort((one, other) => rank(other) - rank(one) || total[0][other] - total[0][one]);
}
