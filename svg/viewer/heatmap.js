// heatmap.js - draws the heat map above the graph: time in columns from left to right, parts of a column upwards.
import { division, drawn, html, refill, setAttributes, tracePath } from './dom.js';
import { HeatTimes, durationText } from './heattimes.js';
import { markerLegend, markersIn, markerText } from './heatflags.js';
import { counted, grouped, listed } from './numbers.js';
import { pane, page } from './page.js';
import { decodeSlots, matchSums, rangeSums, rangesOutside } from './slots.js';
import { config, profile, screen, svg, view, weights } from './state.js';

export const { heat } = config;
export const positions = heat.columns * heat.rows;
export const times = new HeatTimes(heat);
export const allTime = profile.base; // the tree of the file
const slotData = svg.querySelector('script.pj-t').textContent;
export const slots = decodeSlots(slotData, positions, allTime.total[0][0], heat.names?.length);

const GUTTER_PX = heat.names ? 160 : 48, LOW_NAME_PX = 12, MISSING_PX = 8;
const LOW_SLOT_PX = 2, HIGH_SLOT_PX = 6, MAP_SHARE = .26, WIDEST_PX = 32, AXIS_PX = 18;
const AXIS_LABEL_PX = 84, DIGIT_PX = 7, LABEL_GAP_PX = 10, SIDES_PX = 24, TAG_PX = 48;

/**
 * What is pointed at or chosen by keys, and the range that is being brushed; positions, or -1 and null. letter: t of
 * the first range, v of the one that is compared with it; isComparing: the next range is that one.
 */
export const brush = { cursor: -1, hovered: -1, range: null, letter: 't', isComparing: false };

const ground = drawn('path', { class: 'pj-hg' });
const hatch = drawn('path', { class: 'pj-hh2' });
const cells = drawn('g', { 'shape-rendering': 'crispEdges' });
const losses = drawn('path', { class: 'pj-hl' });
export const borders = drawn('g', { class: 'pj-hk' });
const shade = drawn('path', { class: 'pj-hs', 'fill-rule': 'evenodd' });
const rangeOutlines = drawn('g', {});
const mark = drawn('path', { class: 'pj-hc' });
const axes = drawn('g', {});
export const heatGrid = drawn('svg', { class: 'pj-hm' }, ground, hatch, cells, losses, shade, borders, rangeOutlines,
  mark, axes);
const legendText = division('hx'), readout = setAttributes(division('hr'), { role: 'status' });
export const buttons = division('hb');
export const heatBox = setAttributes(division('ht', division('hh', legendText, readout, buttons), heatGrid), {
  tabindex: 0, role: 'application',
  'aria-label': 'Heat map' + (heat.names ? ', a row for each ' + heat.label : '')
    + ': arrow keys move, Shift and arrow keys select a range of time, Enter draws its graph, '
    + 'V compares with another range' + (heat.markers?.length ? ', K goes to the next marker' : ''),
});

// Measures in px.
export const size = { column: 0, row: LOW_SLOT_PX, width: 0, height: 0 };

/** The ranges that are shown: {letter, range}; none: all times. */
export function shownRanges() {
  return ['t', 'v'].map(letter => {
    const isBrushed = brush.range && brush.letter === letter;
    return { letter, range: isBrushed ? brush.range : view.operation(letter)?.range };
  }).filter(({ range }) => range);
}

/** The position at a place in the window, and where that is: on the axis of times, at a row's name, or outside. */
export function placeAt({ clientX, clientY }, box = heatGrid.getBoundingClientRect()) {
  const column = Math.floor((clientX - box.left - GUTTER_PX) / size.column);
  const row = heat.rows - 1 - Math.floor((clientY - box.top) / size.row);
  const inside = Math.min(Math.max(column, 0), heat.columns - 1) * heat.rows;
  return {
    position: inside + Math.min(Math.max(row, 0), heat.rows - 1),
    isOutside: column < 0 || column >= heat.columns,
    isAxis: row < 0,
    isName: Boolean(heat.names) && column < 0 && row >= 0,
  };
}

export const left = column => Math.round((GUTTER_PX + column * size.column) * 10) / 10;
const topOfRow = row => (heat.rows - 1 - row) * size.row;

// At least a pixel wide, so that no slot vanishes where columns are narrower.
function cellPath(position, inset = 0) {
  const column = Math.floor(position / heat.rows), start = left(column), from = start + inset;
  const to = Math.max(left(column + 1), start + 1) - inset;
  return 'M' + from + ' ' + (topOfRow(position % heat.rows) + inset) + 'H' + to + 'v' + (size.row - 2 * inset)
    + 'H' + from + 'z';
}

function columnsPath(first, end) {
  return 'M' + left(first) + ' 0H' + left(end) + 'v' + size.height + 'H' + left(first) + 'z';
}

// From the bottom of the first slot to the top of the last, column by column; with rows for labels, a rectangle.
function rangePath({ from, to }) {
  const first = Math.floor(from / heat.rows), last = Math.floor(to / heat.rows);
  const bottom = topOfRow(from % heat.rows) + size.row, top = topOfRow(to % heat.rows);
  const corner = 'M' + left(first) + ' ' + bottom, start = corner + 'H' + left(first + 1);
  if (slots.rows) return corner + 'H' + left(last + 1) + 'V' + top + 'H' + left(first) + 'z';
  if (first === last) return start + 'V' + top + 'H' + left(first) + 'z';
  return start + 'V' + size.height + 'H' + left(last + 1) + 'V' + top + 'H' + left(last) + 'V0H' + left(first) + 'z';
}

// By a search: the stacks of all times with a match, on a scale of their own; without a match, all.
function slotWeights() {
  const sums = screen.hits ? matchSums(allTime, slots, screen.hits) : [];
  const full = sums.reduce((most, one) => Math.max(most, one), 0);
  return full ? { sums, full, isSearch: true } : { sums: slots.sum, full: heat.full, isSearch: false };
}

// The first colour is for 1, the last for `full` and more.
function levelOf(sum, full) {
  const last = heat.levels[0].length - 1;
  return full > 1 ? Math.min(Math.round((sum - 1) * last / (full - 1)), last) : last;
}

function drawCells({ sums, full, isSearch }) {
  const paths = heat.levels[0].map(() => []), others = [], lost = [];
  for (let slot = 0; slot < slots.count; slot++) {
    const path = cellPath(slots.position[slot]);
    if (sums[slot]) paths[levelOf(sums[slot], full)].push(path);
    else if (isSearch && slots.sum[slot]) others.push(path);
    if (slots.lost[slot]) lost.push(path);
  }
  const colours = heat.levels[Number(screen.dark)];
  refill(cells, drawn('path', { class: 'pj-hn', d: others.join('') }),
    ...paths.map((parts, level) => drawn('path', { fill: colours[level], d: parts.join('') })));
  tracePath(losses, lost);
}

function drawGround() {
  tracePath(ground, heat.runs.map(([first, count]) => columnsPath(first, first + count)));
}

// The time that is missing in a row of a label.
function drawMissing() {
  const strokes = [];
  for (const [row, column, count] of heat.hatched || []) {
    for (let place = left(column); place + size.row <= left(column + count); place += MISSING_PX) {
      strokes.push('M' + place + ' ' + (topOfRow(row) + size.row) + 'l' + size.row + ' -' + size.row);
    }
  }
  tracePath(hatch, strokes);
}

// The full name is the tooltip, and what a screen reader has.
function drawRowNames() {
  return heat.names.map((name, row) => {
    const text = axisText(GUTTER_PX - 6, topOfRow(row) + size.row - 2, heat.briefs[row], 'end');
    text.append(drawn('title', {}, name));
    return setAttributes(text, { role: 'img', 'aria-label': name, class: 'pj-hw' });
  });
}

function drawParts() {
  return [
    axisText(GUTTER_PX - 6, size.height, '0', 'end'),
    axisText(GUTTER_PX - 6, size.height / 2 + 4, durationText(times.column / 2), 'end'),
    axisText(GUTTER_PX - 6, 9, durationText(times.column), 'end'),
  ];
}

function axisText(horizontal, vertical, text, anchor) {
  return drawn('text', { x: horizontal, y: vertical, 'text-anchor': anchor }, text);
}

function drawAxes() {
  const bottom = size.height + 13;
  const labelWidth = Math.max(AXIS_LABEL_PX, DIGIT_PX * times.columnText(0).length + LABEL_GAP_PX);
  const columns = times.labelled(labelWidth / size.column).filter(one => left(one) < size.width - labelWidth / 2);
  refill(axes,
    ...heat.names ? drawRowNames() : drawParts(),
    ...columns.map(one => axisText(left(one), bottom, times.columnText(one), 'start')));
}

function drawLegend({ full, isSearch }) {
  const ramp = heat.levels[Number(screen.dark)].map(colour => {
    const box = html('i');
    box.style.background = colour;
    return box;
  });
  const more = !isSearch && full < heat.max ? ' and more ' : ' ';
  refill(legendText,
    'Columns of ' + durationText(times.column)
      + (heat.names ? ', a row for each ' + heat.label : ', slots of ' + durationText(heat.slot)),
    division('k', '1', division('ra', ...ramp), weights.amount(full) + more + weights.unit
      + (isSearch ? ' with a match' : '') + ' in a slot'),
    division('k', html('i', { class: 'pj-hg' }), 'none'),
    ...isSearch ? [division('k', html('i', { class: 'pj-hn' }), 'no match')] : [],
    ...slots.lost.some(one => one) ? [division('k', html('i', { class: 'pj-hl' }), 'samples lost')] : [],
    ...[
      ...heat.names ? ['hatched: no samples in ' + heat.missing + ' columns or more'] : [],
      ...heat.runs.length > 1 ? ['blank: longer gaps'] : [],
      ...heat.wall ? ['UTC'] : [],
      ...markerLegend(heat),
    ].map(text => html('span', {}, text)));
}

function setSizes() {
  size.width = Math.max((pane.clientWidth || page.clientWidth) - SIDES_PX, GUTTER_PX + 1);
  const low = heat.names ? LOW_NAME_PX : LOW_SLOT_PX, high = heat.names ? LOW_NAME_PX : HIGH_SLOT_PX;
  size.row = Math.min(Math.max(Math.floor(innerHeight * MAP_SHARE / heat.rows), low), high);
  size.column = Math.min((size.width - GUTTER_PX) / heat.columns, WIDEST_PX);
  size.height = size.row * heat.rows;
  setAttributes(heatGrid, { width: size.width, height: size.height + AXIS_PX });
}

/** The border between the slots before a position and those from it on. */
export function borderPath(position) {
  const column = Math.floor(position / heat.rows), row = position % heat.rows, start = left(column);
  if (!row) return 'M' + start + ' ' + size.height + 'V0';
  return 'M' + left(column + 1) + ' ' + size.height + 'V' + (topOfRow(row) + size.row) + 'H' + start + 'V0';
}

function slotsText(from, to) {
  const sums = rangeSums(slots, from, to);
  const lost = sums.lost && grouped(sums.lost) + ' lost' + (heat.names ? ' (' + heat.label + ' unknown)' : '');
  return [sums.weight ? weights.text(sums.weight) : 'no samples', lost];
}

function hintText() {
  if (!brush.isComparing) return 'drag over the map: the graph shows that time';
  return 'drag over the map: the time ' + (view.operation('t') ? 'after' : 'before');
}

function rangeTexts(ranges) {
  return ranges.map(({ letter, range: { from, to } }) => {
    const label = ranges.length < 2 ? 'selected ' : letter === 't' ? 'before ' : 'after ';
    const slotCount = ranges.length < 2 && counted(times.slotsIn(from, to), 'slots');
    return label + times.rangeText(from, to) + ': ' + listed([...slotsText(from, to), slotCount]);
  });
}

function drawRanges(ranges) {
  const [one, other] = ranges.map(({ range }) => range);
  // the paths of what is not shaded have no common place, as fill-rule evenodd would shade it
  const clear = other ? [one, ...rangesOutside(other, one, slots.rows)] : [one];
  tracePath(shade, one ? [columnsPath(0, heat.columns), ...clear.map(rangePath)] : []);
  refill(rangeOutlines, ...ranges.flatMap(({ letter, range }, at) => {
    const path = drawn('path', { class: 'pj-ho' + (letter === 'v' ? ' pj-hv' : ''), d: rangePath(range) });
    if (ranges.length < 2) return [path];
    const column = Math.floor(range.from / heat.rows), first = Math.floor(ranges[0].range.from / heat.rows);
    const isBeside = at && Math.abs(left(column) - left(first)) < TAG_PX;
    const place = { x: left(column) + 3, y: isBeside ? 24 : 11, class: 'pj-hy' };
    return [path, drawn('text', place, letter === 't' ? 'before' : 'after')];
  }));
}

/** Shows the numbers of the slot that is pointed at, else of the ranges, else a hint; and the outlines of all. */
export function showBrush() {
  const ranges = shownRanges(), at = brush.hovered >= 0 ? brush.hovered : brush.cursor;
  drawRanges(ranges);
  tracePath(mark, at >= 0 ? [cellPath(at, -.5)] : []);
  const isGap = at >= 0 && times.isGap(Math.floor(at / heat.rows));
  const numbers = isGap ? 'a longer gap: no samples' : at >= 0 && times.rangeText(at, at) + ': '
    + listed(slotsText(at, at));
  const slotText = at >= 0 && listed([...markersIn(heat, at).map(marker => markerText(times, marker)), numbers]);
  const isWaiting = brush.isComparing && !brush.range;
  readout.textContent = listed([isWaiting && hintText(), slotText, ...rangeTexts(ranges)]) || hintText();
}

// What the map was drawn for.
const drawnFor = { key: '' };

/** Draws the map, where something of it has changed. */
export function drawHeat() {
  const { dark, hits, query, regexp, matchCase } = screen;
  const key = [pane.clientWidth, innerHeight, dark, hits && query, regexp, matchCase].join();
  if (key !== drawnFor.key) {
    drawnFor.key = key;
    setSizes();
    const sums = slotWeights();
    drawGround();
    drawMissing();
    drawCells(sums);
    drawAxes();
    drawLegend(sums);
  }
  showBrush();
}
