// tree.js - a call tree as columns of numbers. Pure.
// Frames are in preorder, 0 is the root: the subtree of a frame is frame .. end[frame] - 1. self and total have a
// column for each side (one, or before and after). In a sandwich the callers begin at `half`, with depths below 0.

// In a difference there is room behind the tree for what is gone (layout.js).
export function makeTree(count, sides) {
  const room = sides.length > 1 ? 2 * count + 2 : count;
  const column = () => new Int32Array(room), weights = () => sides.map(() => new Float64Array(room));
  return {
    count, half: count, name: column(), caller: column(), depth: column(), end: column(),
    self: weights(), total: weights(), least: 0, from: null,
  };
}

/** Fills one column of totals, and where subtrees end: a loop through callees, from the last. */
export function sumColumn(self, total, { count, half, caller, end }) {
  for (let frame = count - 1; frame; frame--) {
    const up = caller[frame];
    end[frame] ||= frame + 1;
    end[up] ||= end[frame];
    total[frame] += self[frame];
    if (frame < half || up) total[up] += total[frame];
  }
  total[0] += self[0];
  end[0] = count;
  return total;
}

export function finishTree(tree) {
  tree.self.forEach((self, side) => sumColumn(self, tree.total[side], tree));
  return tree;
}
