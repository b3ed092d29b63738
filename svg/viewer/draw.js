// draw.js - draws the frames that can be seen. Cost follows pixels, not frames: subtrees below config.min px are jumped
// over, boxes of one colour share a path.
import { applyTheme, frameColour, hitColour, isLight } from './colours.js';
import { drawn, html, refill, setAttributes, tracePath } from './dom.js';
import { GAP, isAbove, lastShown, leftOf, outlineOf, rounded, rowOf, topOf, widthOf } from './geometry.js';
import { Labels } from './labels.js';
import { graph, hole, ink, outlines, page, pane } from './page.js';
import { LESS, MOVED, ONE_SIDED } from './significance.js';
import { config, diff, drawingDone, isDocument, nameOf, names, screen, svg, view } from './state.js';

const MOST_LABELS = 3000, LEAST_LABEL_PX = 24, LABEL_MARGIN_PX = 9, LEAST_ROUND_PX = 5, HATCH_PX = 7;

export let labels;

/** Measures characters once; a canvas also measures what is not shown (a closed tab's graph). */
export function measureLabels() {
  const pen = html('canvas').getContext('2d'), widths = [];
  pen.font = config.fs + 'px ' + config.font;
  for (let code = 33; code < 127; code++) {
    widths[code] = pen.measureText(String.fromCharCode(code)).width || config.cw * config.fs;
  }
  labels = new Labels(names, { truncate: config.truncate, widths, em: config.fs });
}

function setScale() {
  const { zoom } = screen, { total, gone } = view;
  screen.perWeight = zoom || !gone ? screen.width / (total[zoom] || 1)
    : (screen.width - GAP) / (total[0] + total[gone]);
  screen.lowest = 0;
}

// The frames that are wide enough; sets the lowest row and returns the highest as well. Of slivers, one for each half
// pixel can be seen.
function collectFrames() {
  const { tree: { depth, caller, end, name } } = view, { zoom, hits } = screen;
  const last = lastShown(), seen = [], edge = [];
  let highest = Math.max(depth[zoom], 0), lowest = 0, next;
  for (let frame = zoom; frame >= 0; frame = caller[frame]) {
    seen.push(frame);
    lowest = Math.min(lowest, depth[frame]);
  }
  for (let frame = zoom + 1; frame < last; frame = next) {
    const width = widthOf(frame), row = depth[frame];
    if (!width || width < config.min) {
      next = end[frame];
      continue;
    }
    next = frame + 1;
    highest = Math.max(highest, row);
    lowest = Math.min(lowest, row);
    const right = Math.ceil(2 * (leftOf(frame) + width));
    if (width < .5 && right === edge[row] && !hits?.[name[frame]]) continue;
    seen.push(frame);
    edge[row] = right;
  }
  screen.lowest = lowest;
  return { seen, highest };
}

// Growth is sky: what was seen stays where it was.
function setHeight(highest) {
  const wanted = (rowOf(highest) + 1) * config.fh;
  const grown = Math.max(wanted, screen.zoom && screen.height) - screen.height;
  const scrollTop = pane.scrollTop + (screen.inverted ? 0 : grown);
  screen.height += grown;
  setAttributes(graph, { width: screen.width, height: screen.height });
  if (grown) pane.scrollTop = scrollTop;
  screen.paneHeight = pane.clientHeight;
  screen.scrollTop = pane.scrollTop;
}

function isOnScreen(top) {
  return screen.printing || Math.abs(top - screen.scrollTop - screen.paneHeight / 2) <= screen.paneHeight;
}

function opacityOf(id, { isCaller, isDim, isHit }) {
  if (isCaller || isDim) return isCaller && isDim ? .2 : .3;
  return isHit || diff || !config.legend ? 1 : 1 - (names.hash(id) >>> 9 & 3) * .05;
}

// How a frame looks.
function looksOf(frame) {
  const id = nameOf(frame), isCaller = frame !== screen.zoom && isAbove(frame);
  const isHit = !isCaller && screen.hits?.[id];
  const isDim = !isHit && (screen.found.length || screen.onlyKind && names.kindLabel(id) !== screen.onlyKind);
  const isThin = view.isGone(frame) && view.thin.has(frame);
  const fill = isHit && !diff ? hitColour() : frameColour(frame);
  return { isCaller, isHit, isDim, isThin, fill, opacity: opacityOf(id, { isCaller, isDim, isHit }) };
}

// Paths by paint. A stroke of the same colour rounds the corners.
class Boxes {
  constructor() {
    this.paths = new Map();
  }

  add(frame, { fill, opacity, isThin }) {
    const width = widthOf(frame), radius = width < LEAST_ROUND_PX ? 0 : 1.5, paint = fill + opacity + radius + isThin;
    const box = width < 2 ? Math.max(width * .9, .5) : width - 1;
    if (!this.paths.has(paint)) {
      const filled = { fill, opacity, stroke: radius ? fill : 'none', 'stroke-width': 2 * radius };
      this.paths.set(paint, { attributes: isThin ? { class: 'pj-gh' } : filled, parts: [] });
    }
    this.paths.get(paint).parts.push(outlineOf(frame, box, isThin ? .5 : radius));
  }

  elements() {
    return [...this.paths.values()].map(({ attributes, parts }) => drawn('path', { ...attributes, d: parts.join('') }));
  }
}

function labelOf(frame, { isCaller, isDim, isThin, fill }) {
  const text = labels.label(nameOf(frame), widthOf(frame) - LABEL_MARGIN_PX);
  if (!text) return null;
  const muted = isCaller || isDim || isThin;
  const baseline = topOf(view.tree.depth[frame]) + config.fh / 2 + config.fs * .3;
  const colour = muted ? 'var(--mu)' : isLight(fill) ? '#16181d' : '#fff';
  return drawn('text', { x: rounded(leftOf(frame) + 4), y: rounded(baseline), fill: colour }, text);
}

// New code is hatched: without colours, too, it looks different from more of the same.
function hatchesOf(frame) {
  const left = leftOf(frame), width = widthOf(frame), height = config.fh - 1;
  const bottom = topOf(view.tree.depth[frame]) + height;
  const { code } = view.verdict(frame), parts = [];
  const isNew = (code & (LESS | ONE_SIDED | MOVED)) === ONE_SIDED;
  for (let at = left; isNew && width > 3 && at + height / 2 < left + width; at += HATCH_PX) {
    parts.push('M' + rounded(at) + ' ' + bottom + 'l' + height / 2 + ' ' + -height);
  }
  return parts;
}

function drawFrames(seen) {
  const boxes = new Boxes(), texts = [], hatch = [], ring = [], { depth } = view.tree;
  screen.rows = [];
  for (const frame of seen) {
    if (!isOnScreen(topOf(depth[frame]))) continue;
    (screen.rows[rowOf(depth[frame])] ||= []).push(frame);
    const looks = looksOf(frame), width = widthOf(frame);
    boxes.add(frame, looks);
    if (diff && looks.isHit) ring.push(outlineOf(frame, Math.max(width - 1, 2)));
    if (diff) hatch.push(...hatchesOf(frame));
    const text = width >= LEAST_LABEL_PX && texts.length < MOST_LABELS && labelOf(frame, looks);
    if (text) texts.push(text);
  }
  refill(ink, ...boxes.elements(), ...texts);
  tracePath(outlines.hits, ring);
  tracePath(outlines.hatch, hatch);
}

// What stands around the graph and has a height of its own is filled before it is drawn.
const preparations = [];

export function beforeDrawing(act) {
  preparations.push(act);
}

export function draw() {
  applyTheme(svg);
  setScale();
  const { seen, highest } = collectFrames();
  for (const act of preparations) act();
  setHeight(highest);
  drawFrames(seen);
  drawingDone();
  if (isDocument || screen.printing) return; // a page gives no height
  setAttributes(hole, { height: innerHeight });
  setAttributes(svg, { height: page.offsetHeight });
}

/** A sandwich is shown from its middle. */
export function center() {
  pane.scrollTop = topOf(0) - screen.paneHeight / 2;
  draw();
}
