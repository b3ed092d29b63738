// collect.js - which frames can be seen, and what stands for those that are too narrow.
import { lastShown, leftOf } from './geometry.js';
import { config, screen, view } from './state.js';

const LEAST_PX = .5, TOUCHING_PX = .5, MERGED_CALLER_PX = 1;

// In each row, narrow frames that touch are one block: {row, left, right, caller of the first frame, nearest common
// caller, widest frame, count, weight}. Blocks hold frames of several callers only where these are narrow themselves.
class Blocks {
  constructor() {
    this.open = []; // by row
    this.done = [];
  }

  add(frame, row, left, width) {
    const { tree: { caller, end }, total } = view, up = caller[frame];
    let block = this.open[row];
    const joins = block && left - block.right < TOUCHING_PX && (block.caller === up
      || Math.max(total[up], total[block.caller]) * screen.perWeight < MERGED_CALLER_PX);
    if (!joins) {
      block = this.open[row] = { row, left, right: left, caller: up, common: up, widest: frame, count: 0, weight: 0 };
      this.done.push(block);
    }
    while (frame >= end[block.common]) block.common = caller[block.common];
    block.right = left + width;
    block.count++;
    block.weight += total[frame];
    if (total[frame] > total[block.widest]) block.widest = frame;
  }
}

// The frames that stand on the zoomed one. Subtrees below config.min px are jumped over.
function collectAbove(seen, blocks) {
  const { tree: { depth, end, name }, total } = view, { zoom, hits, perWeight } = screen;
  const last = lastShown(), least = Math.max(config.min, LEAST_PX);
  let highest = Math.max(depth[zoom], 0), lowest = 0, next;
  for (let frame = zoom + 1; frame < last; frame = next) {
    const width = total[frame] * perWeight, row = depth[frame];
    next = width < config.min || !width ? end[frame] : frame + 1;
    if (!width) continue;
    if (row > highest) highest = row;
    else if (row < lowest) lowest = row;
    const isNarrow = width < least;
    if (isNarrow) blocks.add(frame, row, leftOf(frame), width);
    if (!isNarrow || hits?.[name[frame]]) seen.push(frame);
  }
  return { highest, lowest };
}

/**
 * {seen: the frames that are drawn, from the zoomed frame outwards and then in preorder; blocks: of narrow frames;
 * highest, lowest: depths}.
 */
export function collectFrames() {
  const { tree: { depth, caller } } = view, seen = [], blocks = new Blocks();
  let below = 0;
  for (let frame = screen.zoom; frame >= 0; frame = caller[frame]) {
    seen.push(frame);
    below = Math.min(below, depth[frame]);
  }
  const { highest, lowest } = collectAbove(seen, blocks);
  return { seen, blocks: blocks.done, highest, lowest: Math.min(below, lowest) };
}
