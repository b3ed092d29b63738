// layout.js - where frames stand, in weights: each begins where its left neighbour ends. Pure.
import { LESS, ONE_SIDED, STEP } from './significance.js';
import { sumColumn } from './tree.js';

/**
 * The left edges of a tree's frames. `gone` is the frame of the area beside the root (or NaN), `pauses` the weight
 * before each frame (in order of time).
 */
export function leftEdges({ half, depth }, count, total, gone, pauses) {
  const left = new Float64Array(count), free = new Float64Array(count + 2);
  for (let frame = 1; frame < count; frame++) {
    if (frame === half) free.fill(0);
    const row = Math.abs(depth[frame]);
    if (pauses) free[row] += pauses[frame];
    if (frame === gone) free[1] = left[frame] = total[0];
    else {
      left[frame] = free[row + 1] = free[row];
      free[row] += total[frame];
    }
  }
  return left;
}

/** Widths for both sides at once: of each frame, the larger self weight. */
export function unionWeights(tree, factor) {
  const [before, after] = tree.self, self = before.map((weight, frame) => Math.max(weight * factor, after[frame]));
  return { self, total: sumColumn(self, new Float64Array(self.length), tree) };
}

/**
 * Appends to the columns of a difference what is only before, and has no width after: stacks that are gone by more than
 * noise are copied behind the last frame, with callers that are only outlines. tree.count stays. Returns {count, gone:
 * the frame of their root or NaN, thin: those callers, rest: the weight of what is too small to judge}.
 */
export function appendGone(tree, onlyBefore, codeOf) {
  const { count, caller, end, total: [before, after] } = tree, copies = new Map(), sink = { tree, count };
  let rest = 0;
  copies.set(0, copyFrame(sink, 0, -1));
  tree.name[count] = onlyBefore;
  for (let frame = 1; frame < count; frame++) {
    if (after[frame] || !before[frame]) continue;
    const code = codeOf(frame);
    if (code & ONE_SIDED && code & LESS && code & STEP) {
      copySubtree(sink, frame, copyCallers(sink, caller[frame], copies));
    } else rest += before[frame];
    frame = end[frame] - 1;
  }
  sumGone(tree, count, sink.count);
  if (before[count]) return { count: sink.count, gone: count, thin: new Set(copies.values()), rest };
  return { count, gone: NaN, thin: new Set(), rest };
}

function copyFrame(sink, frame, up) {
  const { tree } = sink, copy = sink.count++;
  tree.name[copy] = tree.name[frame];
  tree.caller[copy] = up;
  tree.depth[copy] = tree.depth[frame];
  tree.end[copy] = 0;
  for (const column of [...tree.self, ...tree.total]) column[copy] = 0;
  return copy;
}

function copyCallers(sink, frame, copies) {
  const missing = [], { caller } = sink.tree;
  let up = frame;
  for (; !copies.has(up); up = caller[up]) missing.push(up);
  while (missing.length) {
    up = missing.pop();
    copies.set(up, copyFrame(sink, up, copies.get(caller[up])));
  }
  return copies.get(frame);
}

function copySubtree(sink, frame, up) {
  const { tree } = sink, shift = sink.count - frame, last = tree.end[frame];
  for (let next = frame; next < last; next++) {
    const copy = copyFrame(sink, next, next > frame ? tree.caller[next] + shift : up);
    tree.self[0][copy] = tree.self[0][next];
  }
}

function sumGone({ caller, end, self: [own], total: [before, after] }, first, count) {
  for (let frame = count - 1; frame >= first; frame--) {
    end[frame] ||= frame + 1;
    before[frame] += own[frame];
    after[frame] = before[frame];
    if (frame === first) break;
    before[caller[frame]] += before[frame];
    end[caller[frame]] ||= end[frame];
  }
}
