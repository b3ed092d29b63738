// select.js - one frame is selected by keys, by steps through matches, or by a first tap.
import { isAbove, rowOf } from './geometry.js';
import { outlines } from './page.js';
import { currentFrame, screen, view } from './state.js';
import { showCurrent } from './statusline.js';

export function choose(frame) {
  screen.selected = frame;
  screen.hovered = -1;
  showCurrent();
  outlines.selected.scrollIntoView({ block: 'nearest' });
}

/** To the widest callee or to the caller, whichever stands there: 1 up, -1 down on the screen. */
export function chooseAbove(by) {
  const { tree: { depth, caller, end }, total } = view, current = currentFrame();
  if (current < 0) return choose(0);
  const wanted = depth[current] + (screen.inverted ? -by : by);
  let best = depth[caller[current]] === wanted ? caller[current] : -1;
  for (let callee = current + 1; callee < end[current]; callee = end[callee]) {
    if (depth[callee] === wanted && total[callee] && !(total[callee] <= total[best])) best = callee;
  }
  if (best >= 0 && (isAbove(best) || best >= screen.zoom)) choose(best);
  return undefined;
}

/** To the neighbour in the row: 1 right, -1 left. */
export function chooseBeside(by) {
  const current = currentFrame();
  if (current < 0) return choose(0);
  const row = screen.rows[rowOf(view.tree.depth[current])] || [];
  const next = by > 0 ? row.find(frame => frame > current) : row.findLast(frame => frame < current);
  if (next >= 0) choose(next);
  return undefined;
}
