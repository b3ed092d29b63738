// draw.js - draws the frames that can be seen. Cost follows pixels, not frames: subtrees below config.min px are jumped
// over, boxes of one colour share a path.
import { collectFrames } from './collect.js';
import { applyTheme, frameColour, hitColour, isLight } from './colours.js';
import { drawn, html, refill, setAttributes, tracePath } from './dom.js';
import { boxPath, boxWidth, GAP, isAbove, leftOf, outlineOf, rounded, rowOf, topOf, widthOf } from './geometry.js';
import { Labels } from './labels.js';
import { grouped } from './numbers.js';
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
    if (!this.paths.has(paint)) {
      const filled = { fill, opacity, stroke: radius ? fill : 'none', 'stroke-width': 2 * radius };
      this.paths.set(paint, { attributes: isThin ? { class: 'pj-gh' } : filled, parts: [] });
    }
    this.paths.get(paint).parts.push(outlineOf(frame, boxWidth(width), isThin ? .5 : radius));
  }

  elements() {
    return [...this.paths.values()].map(({ attributes, parts }) => drawn('path', { ...attributes, d: parts.join('') }));
  }
}

function textAt(left, depth, fill, text) {
  const baseline = topOf(depth) + config.fh / 2 + config.fs * .3;
  return drawn('text', { x: rounded(left + 4), y: rounded(baseline), fill }, text);
}

function labelOf(frame, { isCaller, isDim, isThin, fill }) {
  const text = labels.label(nameOf(frame), widthOf(frame) - LABEL_MARGIN_PX);
  if (!text) return null;
  const muted = isCaller || isDim || isThin;
  const colour = muted ? 'var(--mu)' : isLight(fill) ? '#16181d' : '#fff';
  return textAt(leftOf(frame), view.tree.depth[frame], colour, text);
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

// Frames that are too narrow: one muted path, and the number of frames where there is room.
function drawBlocks(blocks) {
  const parts = [], texts = [];
  screen.blocks = [];
  for (const block of blocks) {
    const top = topOf(block.row), width = block.right - block.left;
    if (!isOnScreen(top)) continue;
    (screen.blocks[rowOf(block.row)] ||= []).push(block);
    parts.push(boxPath(block.left, top, boxWidth(width)));
    const text = width >= LEAST_LABEL_PX && labels.fitting(grouped(block.count) + ' narrow', width - LABEL_MARGIN_PX);
    if (text) texts.push(textAt(block.left, block.row, 'var(--fg)', text));
  }
  return parts.length ? [drawn('path', { class: 'pj-bl', d: parts.join('') }), ...texts] : [];
}

function drawFrames(seen, blocks) {
  const boxes = new Boxes(), texts = [], hatch = [], ring = [], { depth } = view.tree;
  screen.rows = [];
  for (const frame of seen) {
    if (!isOnScreen(topOf(depth[frame]))) continue;
    (screen.rows[rowOf(depth[frame])] ||= []).push(frame);
    const looks = looksOf(frame), width = widthOf(frame);
    boxes.add(frame, looks);
    if (diff && looks.isHit || !frame && view.rooted) ring.push(outlineOf(frame, Math.max(width - 1, 2)));
    if (diff) hatch.push(...hatchesOf(frame));
    const text = width >= LEAST_LABEL_PX && texts.length < MOST_LABELS && labelOf(frame, looks);
    if (text) texts.push(text);
  }
  refill(ink, ...drawBlocks(blocks), ...boxes.elements(), ...texts);
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
  const { seen, blocks, highest, lowest } = collectFrames();
  screen.lowest = lowest;
  for (const act of preparations) act();
  setHeight(highest);
  drawFrames(seen, blocks);
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
