// geometry.js - where frames are on the screen, in px.
import { config, screen, view } from './state.js';

export function rounded(value) {
  return Math.round(value * 100) / 100;
}

export function rowOf(depth) {
  return depth - screen.lowest;
}

export function topOf(depth) {
  return screen.inverted ? rowOf(depth) * config.fh : screen.height - (rowOf(depth) + 1) * config.fh;
}

/** The zoomed frame and its callers have the full width. */
export function isAbove(frame) {
  const { zoom } = screen, { end } = view.tree;
  return zoom > 0 && frame <= zoom && end[frame] >= end[zoom];
}

export const GAP = 8; // between the root and what is gone

export function leftOf(frame) {
  if (isAbove(frame)) return 0;
  const beside = !screen.zoom && view.isGone(frame) ? GAP : 0;
  return (view.left[frame] - view.left[screen.zoom]) * screen.perWeight + beside;
}

export function widthOf(frame) {
  return isAbove(frame) ? screen.width : view.total[frame] * screen.perWeight;
}

/** The end of the frames that are shown. */
export function lastShown() {
  return screen.zoom ? view.tree.end[screen.zoom] : view.count;
}

/** What a width has of colour: a gap separates neighbours, and no box vanishes. */
export function boxWidth(width) {
  return width < 2 ? Math.max(width * .9, .5) : width - 1;
}

export function boxPath(left, top, width, inset = 0) {
  const height = config.fh - 1 - 2 * inset;
  return 'M' + rounded(left + inset) + ' ' + (top + inset) + 'H' + rounded(left + width - inset)
    + 'v' + height + 'H' + rounded(left + inset) + 'z';
}

export function outlineOf(frame, width, inset = 0) {
  return boxPath(leftOf(frame), topOf(view.tree.depth[frame]), width, inset);
}

// Where a pointer is: px from the left, and the row.
function placeIn(event, element) {
  const box = element.getBoundingClientRect(), line = Math.floor((event.clientY - box.top) / config.fh);
  return { fromLeft: event.clientX - box.left, row: screen.inverted ? line : screen.height / config.fh - 1 - line };
}

/** The block of narrow frames at a place on the screen, if there is one. */
export function blockAt(event, element) {
  const { fromLeft, row } = placeIn(event, element);
  return screen.blocks[row]?.find(({ left, right }) => fromLeft >= left && fromLeft < Math.max(right, left + 1));
}

/** The frame at a place on the screen, or -1. */
export function frameAt(event, element) {
  const place = placeIn(event, element), { fromLeft } = place, row = screen.rows[place.row];
  const frame = row?.findLast(one => leftOf(one) <= fromLeft) ?? -1;
  return frame >= 0 && fromLeft < leftOf(frame) + Math.max(widthOf(frame), 1) ? frame : -1;
}
