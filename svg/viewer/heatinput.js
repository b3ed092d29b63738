// heatinput.js - pointer and keyboard of the heat map: a brush selects a range of time, the graph follows at once.
import { changeView } from './actions.js';
import { draw } from './draw.js';
import { countMatches } from './find.js';
import { showButtons } from './heatcontrols.js';
import { brush, heat, heatBox, heatGrid, placeAt, positions, showBrush, shownRanges, slots } from './heatmap.js';
import { focusPane, pane } from './page.js';
import { rangeBetween } from './slots.js';
import { diff, isDocument, screen, view } from './state.js';

// before: the operations before a brush, to which Back leads; path: what was zoomed then; isName: it began at a name.
const drag = { anchor: -1, isOn: false, before: null, path: '', frame: 0, isName: false };

// The range between two positions of this map.
function brushedRange(one, other) {
  return rangeBetween(one, other, slots.rows);
}

function setRange({ from, to }) {
  view.add(brush.letter, from + '-' + to);
}

/** Makes the brushed range that of the view: a step of the history. */
function commit() {
  const { range } = brush;
  if (!range) return;
  // changeView takes the zoom from the tree that is drawn: draw that of the range
  cancelAnimationFrame(drag.frame);
  if (drag.frame) drawPreview();
  brush.range = null;
  view.operations = drag.before || view.operations;
  drag.before = null;
  if (brush.letter === 'v') brush.isComparing = false;
  changeView(() => setRange(range));
}

// Ctrl, or a waiting comparison, is for the second range; without a first one, any range is the first.
function chooseLetter({ ctrlKey, metaKey }) {
  const letter = (ctrlKey || metaKey || brush.isComparing) && view.operation('t') ? 'v' : 't';
  if (letter !== brush.letter) drag.anchor = -1;
  brush.letter = letter;
}

/** Moves the cursor of the keys to a position, which Enter draws, and from which Shift extends. */
export function setCursor(position) {
  chooseLetter({});
  brush.cursor = drag.anchor = position;
  brush.hovered = -1;
  showBrush();
}

/** Makes a range that of the view; with Ctrl, or in a waiting comparison, the second one. */
export function selectRange(range, event) {
  chooseLetter(event);
  drag.anchor = range.from;
  brush.range = range;
  commit();
}

// Draws the graph of the brushed range without a step of the history, once for each frame of the screen.
function drawPreview() {
  drag.frame = 0;
  if (!brush.range) return;
  if (!drag.before) {
    drag.before = [...view.operations];
    drag.path = view.pathOf(screen.zoom);
  }
  setRange(brush.range);
  view.rebuild();
  pane.scrollTop = screen.height = 0;
  screen.zoom = view.frameOf(drag.path);
  screen.hovered = screen.selected = -1;
  countMatches();
  draw();
}

// Not of the second range: the header of a difference is higher, and would move the map below the pointer.
function preview(range) {
  brush.range = range;
  showBrush();
  if (brush.letter === 't') drag.frame ||= requestAnimationFrame(drawPreview);
}

// A brush that begins at the names of rows is of all times.
function endOfRow(position) {
  return drag.isName ? positions - heat.rows + position % heat.rows : position;
}

// A column of the axis, or one slot; Shift extends what is selected.
function startBrush(event) {
  const { position, isAxis, isOutside, isName } = placeAt(event), column = position - position % heat.rows;
  if (event.button || isOutside && !isName) return;
  event.preventDefault();
  heatBox.focus({ preventScroll: true });
  heatGrid.setPointerCapture(event.pointerId);
  drag.isOn = true;
  // the line above the map may wrap during the drag, which moves the map under the pointer
  drag.box = heatGrid.getBoundingClientRect();
  drag.isName = isName;
  brush.cursor = position;
  if (!event.shiftKey || event.ctrlKey || event.metaKey) chooseLetter(event);
  if (!event.shiftKey || drag.anchor < 0) drag.anchor = isAxis ? column : position;
  preview(brushedRange(drag.anchor, isAxis ? column + heat.rows - 1 : endOfRow(position)));
}

function moveBrush(event) {
  const { position, isAxis, isOutside } = placeAt(event, drag.isOn ? drag.box : undefined);
  brush.hovered = !drag.isOn && (isOutside || isAxis) ? -1 : position;
  if (!drag.isOn) {
    showBrush();
    return;
  }
  brush.cursor = position;
  const column = position - position % heat.rows, top = isAxis ? heat.rows - 1 : 0;
  if (slots.rows && isAxis) {
    const anchor = drag.anchor - drag.anchor % heat.rows;
    preview({ from: Math.min(anchor, column), to: Math.max(anchor, column) + top });
    return;
  }
  if (!isAxis) {
    preview(brushedRange(drag.anchor, endOfRow(position)));
    return;
  }
  preview({ from: Math.min(drag.anchor, column), to: Math.max(drag.anchor, column + top) });
}

function endBrush() {
  if (!drag.isOn) return;
  drag.isOn = false;
  commit();
}

function leaveMap() {
  brush.hovered = -1;
  showBrush();
}

// A step ends at the edge of the map; with rows for labels, it stays in its row or its column.
function movedPosition(position, { columns = 0, rows = 0 }, sign = 1) {
  const clamp = (at, end) => Math.min(Math.max(at, 0), end), row = position % heat.rows;
  if (!slots.rows) return clamp(position + sign * (columns * heat.rows + rows), positions - 1);
  const column = clamp(Math.floor(position / heat.rows) + sign * columns, heat.columns - 1);
  return column * heat.rows + clamp(row + sign * rows, heat.rows - 1);
}

function moveCursor(by, isExtended) {
  const [first] = shownRanges();
  if (brush.cursor < 0) brush.cursor = first ? first.range.to : 0;
  else brush.cursor = movedPosition(brush.cursor, by);
  brush.hovered = -1;
  if (!isExtended || drag.anchor < 0) {
    drag.anchor = isExtended ? movedPosition(brush.cursor, by, -1) : brush.cursor;
  }
  if (isExtended) preview(brushedRange(drag.anchor, brush.cursor));
  else showBrush();
}

// Enter draws the graph of what is selected, else of the slot, and goes there.
function enter() {
  const { cursor } = brush;
  if (!brush.range && cursor >= 0 && cursor === drag.anchor) brush.range = brushedRange(cursor, cursor);
  const isWaiting = brush.isComparing && brush.letter === 't';
  commit();
  if (isWaiting) showBrush();
  else focusPane();
}

function selectColumn() {
  const column = Math.max(brush.cursor, 0) - Math.max(brush.cursor, 0) % heat.rows;
  drag.anchor = column;
  brush.cursor = column + heat.rows - 1;
  brush.range = brushedRange(column, brush.cursor);
  commit();
}

const steps = {
  ArrowUp: { rows: 1 }, ArrowDown: { rows: -1 }, ArrowRight: { columns: 1 }, ArrowLeft: { columns: -1 },
  Home: { columns: -heat.columns }, End: { columns: heat.columns },
};

function goBack() {
  if (brush.isComparing) {
    brush.isComparing = false;
    showBrush();
    showButtons();
    return;
  }
  commit();
  changeView(() => view.remove(diff ? 'v' : 't'));
}

// What a key does in the map, or undefined.
function actionOf({ key, shiftKey, ctrlKey, metaKey }) {
  const step = steps[key], isSecond = ctrlKey || metaKey;
  if (step && (shiftKey || !isSecond)) return () => moveCursor(step, shiftKey);
  if (isSecond) return undefined;
  if (key === 'Escape') return brush.isComparing || view.operation('t') ? goBack : undefined;
  return { Enter: enter, ' ': selectColumn }[key];
}

const MODIFIERS = ['Shift', 'Control', 'Meta'];

// The keys of the map; all others are the page's, and act on the view with the range.
function pressKey(event) {
  if (event.altKey || event.target !== heatBox || MODIFIERS.includes(event.key)) return;
  const act = actionOf(event);
  if (!act) {
    commit();
    return;
  }
  if (act !== goBack && !brush.range) chooseLetter(event);
  act();
  event.preventDefault();
  event.stopPropagation();
}

// Another address is another view: a range that was not accepted is not part of it.
function dropRange() {
  brush.range = drag.before = null;
  brush.isComparing = false;
}

export function listenToHeat() {
  const acts = {
    pointerdown: startBrush, pointermove: moveBrush, pointerup: endBrush, pointercancel: endBrush,
    pointerleave: leaveMap,
  };
  for (const type in acts) heatGrid.addEventListener(type, acts[type]);
  heatBox.addEventListener('keydown', pressKey);
  heatBox.addEventListener('blur', commit);
  if (isDocument) addEventListener('hashchange', dropRange);
}
