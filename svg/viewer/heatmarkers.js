// heatmarkers.js - draws the markers of a heat map as lines over its columns, with flags above it; their commands.
import { commands } from './commands.js';
import { button, division, drawn, refill } from './dom.js';
import { flagLabel, groupFlags, flagTitle, nearestMarker, rangeAfter } from './heatflags.js';
import { selectRange, setCursor } from './heatinput.js';
import {
  borderPath, borders, brush, heat, heatBox, heatGrid, left, positions, showBrush, size, times,
} from './heatmap.js';
import { say } from './page.js';
import { afterDrawing, screen } from './state.js';

const LEAST_FLAG_PX = 18;
const { markers = [] } = heat, flagRow = division('hf');

// With rows for labels, a marker is in the row of the cursor, at first in the highest.
function markerPlace(index) {
  const [position] = markers[index];
  if (!heat.names) return position;
  return position + (brush.cursor < 0 ? heat.rows - 1 : brush.cursor % heat.rows);
}

function pointAt(index) {
  heatBox.focus({ preventScroll: true });
  setCursor(markerPlace(index));
}

// With rows for labels, a position is that of the lowest row: the marker of any row of its column.
function cursorPosition() {
  const { cursor } = brush;
  return cursor < 0 || !heat.names ? cursor : cursor - cursor % heat.rows;
}

function step(sign) {
  const index = nearestMarker(markers, brush.cursor < 0 && sign < 0 ? positions : cursorPosition(), sign);
  if (index >= 0) pointAt(index);
  else say('No marker ' + (sign > 0 ? 'after' : 'before') + ' this time.');
}

// From a marker to the marker `end`, or to the end of the map.
function selectAfter(index, end, event) {
  pointAt(index);
  selectRange(rangeAfter(markers, index, end, positions), event);
}

// The time from the last marker that is not behind the cursor.
function selectCurrent() {
  const index = Math.max(nearestMarker(markers, cursorPosition() + 1, -1), 0);
  selectAfter(index, index + 1, {});
}

function flagElement(flag) {
  const title = flagTitle(markers, times, flag) + '\nClick: the time until the next flag';
  const element = button('fl', title, event => selectAfter(flag.first, flag.end, event), flagLabel(markers, flag));
  element.tabIndex = -1; // the commands go from one to the next
  element.style.left = flag.left + 'px';
  element.style.maxWidth = flag.room - 2 + 'px';
  element.onpointerenter = () => {
    brush.hovered = markerPlace(flag.first);
    showBrush();
  };
  element.onpointerleave = () => {
    brush.hovered = -1;
    showBrush();
  };
  return element;
}

// What the flags were drawn for.
const flagsFor = { key: '' };

function drawMarkers() {
  const key = [size.width, size.height, screen.dark].join();
  if (key === flagsFor.key) return;
  flagsFor.key = key;
  const path = markers.map(([position]) => borderPath(position)).join('');
  refill(borders, drawn('path', { class: 'pj-hu', d: path }), drawn('path', { d: path }));
  const leftOf = ([position]) => left(Math.floor(position / heat.rows));
  refill(flagRow, ...groupFlags(markers, leftOf, LEAST_FLAG_PX, size.width).map(flagElement));
}

/** Shows the markers, if there are any. */
export function buildMarkers() {
  if (!markers.length) return;
  commands.push(
    { key: 'K', text: 'Next marker', act: () => step(1), inMenu: true },
    { key: 'Shift+K', text: 'Previous marker', act: () => step(-1), inMenu: true },
    { key: 'J', text: 'Time from the marker to the next one', act: selectCurrent, inMenu: true },
  );
  heatGrid.before(flagRow);
  afterDrawing(drawMarkers);
}
