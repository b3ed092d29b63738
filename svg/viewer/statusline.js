// statusline.js - the line below the graph: the numbers of the current frame; and the outlines of frames.
import { frameColour } from './colours.js';
import { html, refill, setAttributes, tracePath } from './dom.js';
import { isAbove, lastShown, outlineOf, widthOf } from './geometry.js';
import { counted, grouped, listed, percent, signed } from './numbers.js';
import { ARROW, outlines, status } from './page.js';
import { MOVED, STEP } from './significance.js';
import { config, currentFrame, diff, functionOf, names, nameOf, screen, view, weights } from './state.js';

export function shareOfBoth(before, after) {
  return weights.share(before, diff.sums[0]) + ARROW + weights.share(after, diff.sums[1]);
}

export function changeText(before, after) {
  const { points } = view.judge(before, after);
  return signed(points, 2).replace(/\.?0+$/, '') + (view.byShare ? ' pp' : '%');
}

export function ratioText(before, after) {
  const [allBefore, allAfter] = diff.sums;
  if (before && after) {
    return '\u00d7' + grouped(view.byShare ? after / allAfter / (before / allBefore) : after / before);
  }
  return after ? 'new' : before ? 'gone' : '';
}

function judgementOf(frame, test) {
  const { code, deviation } = view.verdict(frame);
  if (!frame && !view.rooted || view.isGone(frame) && view.thin.has(frame)) {
    return frame === view.gone && view.rest && 'and ' + weights.text(view.rest) + ' in stacks too small to judge';
  }
  if (code & MOVED) return 'moved: same code, reached another way';
  if (code & STEP) return deviation && 'z ' + grouped(Number(deviation.toFixed(1)));
  return diff.counted && test < diff.z ? 'within noise' : 'too small to matter';
}

function changeOf(frame) {
  const before = view.before(frame), after = view.after(frame), [ownBefore, ownAfter] = view.tree.self;
  const hasOwn = ownBefore[frame] || ownAfter[frame];
  return [
    'before ' + shareOfBoth(before, after).replace(ARROW, ARROW + 'after '),
    changeText(before, after),
    ratioText(before, after),
    hasOwn && 'self ' + shareOfBoth(ownBefore[frame], frame < view.tree.count ? ownAfter[frame] : 0),
    judgementOf(frame, view.judge(before, after).deviation),
  ];
}

export function shareOfTotal(weight) {
  return listed([weights.text(weight), percent(weight, view.all()) + ' of total']);
}

function sharesOf(frame) {
  const weight = view.total[frame], up = view.tree.caller[frame];
  const kin = view.isOutward(frame) ? ' of callee' : ' of caller';
  return [
    shareOfTotal(weight),
    frame && percent(weight, view.total[up]) + kin,
  ];
}

function placesText(frame) {
  const { count, weights: both } = view.places(frame);
  const share = diff ? shareOfBoth(...both) : percent(both[0], view.all());
  return count > 1 && grouped(count) + ' places, ' + share + ' together';
}

/** The numbers of a frame, as texts. */
export function numbersOf(frame) {
  const { zoom } = screen, id = nameOf(frame);
  return [
    ...diff ? changeOf(frame) : sharesOf(frame),
    zoom && frame >= zoom && percent(view.total[frame], view.total[zoom]) + ' of view',
    !diff && frame && !view.isOutward(frame) && 'self ' + weights.share(view.self[frame], view.all()),
    frame && placesText(frame),
    config.legend && !diff && names.kindLabel(id),
  ];
}

/** What a block of narrow frames holds. */
export function blockText({ count, weight }) {
  return counted(count, 'narrow frames') + ' \u2014 ' + listed([shareOfTotal(weight), 'click to zoom in']);
}

function traceFrame(element, frame, least) {
  const { zoom } = screen, shown = frame >= 0 && (isAbove(frame) || frame >= zoom && frame < lastShown());
  setAttributes(element, { d: shown ? outlineOf(frame, Math.max(widthOf(frame) - 1, least)) : '' });
}

// Other frames of the same function, where they are drawn.
function traceSame(current) {
  const parts = [];
  for (const row of current > 0 ? screen.rows : []) {
    for (const frame of row || []) {
      if (frame === current || functionOf(frame) !== functionOf(current) || widthOf(frame) < 1) continue;
      parts.push(outlineOf(frame, widthOf(frame) - 1));
    }
  }
  tracePath(outlines.same, parts);
}

export function showCurrent() {
  const current = currentFrame(), box = html('i');
  traceFrame(outlines.hovered, screen.hovered, 1);
  traceFrame(outlines.selected, screen.selected, 5);
  traceSame(current);
  if (current < 0) {
    refill(status);
    return;
  }
  const id = nameOf(current), extra = names.attributes(id), type = current && config.nametype;
  box.style.background = frameColour(current);
  const line = listed([extra?.[1], ...numbersOf(current), extra?.[2] && 'Ctrl+click: ' + extra[2]]);
  refill(status, box, type ? type + ' ' : '', html('b', {}, names.text[id]), html('span', {}, ' \u2014 ' + line));
}
