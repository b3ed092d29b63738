// tooltip.js - the numbers of a frame beside the pointer. The line below the graph has the same for screen readers.
import { division, html, refill, setAttributes } from './dom.js';
import { page } from './page.js';
import { counted, percent } from './numbers.js';
import { diff, nameOf, names, screen, svg, view, weights } from './state.js';
import { changeText, ratioText, shareOfBoth, shareOfTotal } from './statusline.js';

const BESIDE_PX = 14, EDGE_PX = 4;
const tooltip = setAttributes(division('tip'), { 'aria-hidden': true, hidden: '' });

export function hideTooltip() {
  tooltip.hidden = true;
}

function differenceRows(frame) {
  const before = view.before(frame), after = view.after(frame);
  return [
    ['before \u2192 after', shareOfBoth(before, after)],
    ['change', changeText(before, after) + ' ' + ratioText(before, after)],
  ];
}

function weightRows(frame) {
  const { zoom } = screen, weight = view.total[frame], allWeight = view.all();
  const rows = [['total', weights.text(weight)], ['of total', percent(weight, allWeight)]];
  if (view.total[zoom] !== allWeight && frame >= zoom) rows.push(['of view', percent(weight, view.total[zoom])]);
  if (frame && !view.isOutward(frame)) rows.push(['self', weights.share(view.self[frame], allWeight)]);
  return rows;
}

// Below the pointer on the right, or where there is room.
function placeBeside({ clientX, clientY }) {
  const box = svg.getBoundingClientRect(), left = clientX - box.left + BESIDE_PX, top = clientY - box.top + BESIDE_PX;
  const fits = top + tooltip.offsetHeight + EDGE_PX < box.height;
  const most = Math.max(box.width - tooltip.offsetWidth - EDGE_PX, EDGE_PX);
  tooltip.style.left = Math.min(left, most) + 'px';
  tooltip.style.top = Math.max(fits ? top : top - 2 * BESIDE_PX - tooltip.offsetHeight, EDGE_PX) + 'px';
}

function showLines(event, ...lines) {
  refill(tooltip, ...lines);
  tooltip.hidden = false;
  placeBeside(event);
}

/** Shows a frame's numbers at the place of a pointer event. */
export function showTooltip(frame, event) {
  const rows = diff ? differenceRows(frame) : weightRows(frame);
  showLines(event, html('b', {}, names.text[nameOf(frame)]), html('dl', {}, ...rows.flatMap(([term, value]) => [
    html('dt', {}, term), html('dd', {}, value),
  ])));
}

export function showBlockTooltip({ count, weight }, event) {
  const name = html('b', {}, counted(count, 'narrow frames'));
  showLines(event, name, html('div', {}, shareOfTotal(weight)), html('div', {}, 'Click to zoom in'));
}

export function moveTooltip(event) {
  if (!tooltip.hidden) placeBeside(event);
}

export function buildTooltip() {
  page.append(tooltip);
}
