// table.js - the table of functions beside the graph, or of the largest changes. It has all rows; only those on the
// screen are elements.
import { toggleFunction } from './actions.js';
import { changeColour, nameColour } from './colours.js';
import { columnsOf } from './columns.js';
import { button, division, html, refill, setAttributes, setPressed } from './dom.js';
import { grouped } from './numbers.js';
import { focusPane, page, pane } from './page.js';
import { matchNames } from './search.js';
import { afterDrawing, diff, names, screen, view } from './state.js';

const ROW_PX = 24, SPARE_ROWS = 8, CHANGE_COLUMN = 3;

const filter = html('input', { placeholder: 'Filter', maxlength: 200, spellcheck: false });
const countLine = html('span', { role: 'status' });
const headRow = html('tr', {}), body = html('tbody');
const grid = html('table', {}, html('thead', {}, headRow), body), heading = html('b');
const scroller = division('ds', grid);
const close = button('b', 'Close the table (T)', () => toggleTable(), '\u00d7');
const dock = setAttributes(division('dk', division('dh', heading, countLine, close), filter, scroller), {
  role: 'region', hidden: '',
});

// What the table shows. First come names from A and the largest numbers; `isReversed`: last. `of`: the view that its
// rows are of.
const table = { columns: [], rows: [], sorted: 1, isReversed: false, of: null };

export function isTableOpen() {
  return !dock.hidden;
}

function colourOf(id) {
  if (!diff) return nameColour(id);
  const [, before, after] = table.columns;
  return changeColour(view.judge(before.value(id), after.value(id)).code);
}

function isRoot(id) {
  return view.rooted?.text === names.functionKey(id);
}

function rowElement(id, index) {
  const [, ...columns] = table.columns, box = html('i'), name = html('button', { type: 'button' }, names.text[id]);
  box.style.background = colourOf(id);
  setPressed(name, isRoot(id));
  const shareOf = share => share ? [' ', html('span', {}, share(id))] : [];
  const cells = columns.map(({ text, share }) => html('td', {}, text(id), ...shareOf(share)));
  const row = html('tr', { 'aria-rowindex': index + 2 }, html('th', { scope: 'row' }, box, name), ...cells);
  row.title = names.text[id];
  row.onclick = () => toggleFunction(id);
  return row;
}

function spacer(rows) {
  const row = html('tr', { 'aria-hidden': true });
  row.style.height = rows * ROW_PX + 'px';
  return row;
}

// The rows that can be seen. The focus stays at its row.
function renderRows() {
  const { rows } = table, focused = focusedRow();
  const first = Math.max(Math.floor(scroller.scrollTop / ROW_PX) - SPARE_ROWS, 0);
  const last = Math.min(first + Math.ceil(scroller.clientHeight / ROW_PX) + 2 * SPARE_ROWS, rows.length);
  const shown = rows.slice(first, last).map((id, at) => rowElement(id, first + at));
  refill(body, spacer(first), ...shown, spacer(rows.length - last));
  grid.setAttribute('aria-rowcount', rows.length + 1);
  if (focused >= first && focused < last) focusRow(focused);
}

function focusedRow() {
  const row = document.activeElement?.closest('tr[aria-rowindex]');
  return row && body.contains(row) ? row.getAttribute('aria-rowindex') - 2 : -1;
}

function focusRow(index) {
  body.querySelector('tr[aria-rowindex="' + (index + 2) + '"] button')?.focus({ preventScroll: true });
}

/** To the next row (1), the one before (-1), or further. */
function moveRow(by) {
  const index = Math.max(0, Math.min(focusedRow() + by, table.rows.length - 1)), top = index * ROW_PX;
  const room = scroller.clientHeight - 2 * ROW_PX;
  scroller.scrollTop = Math.max(Math.min(scroller.scrollTop, top), top - room);
  renderRows();
  focusRow(index);
}

function compareTexts(one, other) {
  return one < other ? -1 : Number(one > other);
}

function compareRows() {
  const { sorted, isReversed, columns } = table, { value } = columns[sorted] || columns[1];
  const sign = isReversed ? -1 : 1, [, first] = columns;
  if (!value) return (one, other) => sign * compareTexts(names.text[one], names.text[other]);
  const rank = id => Math.abs(value(id));
  return (one, other) => sign * (rank(other) - rank(one)) || first.value(other) - first.value(one);
}

function sortBy(index) {
  table.isReversed = table.sorted === index && !table.isReversed;
  table.sorted = index;
  scroller.scrollTop = 0;
  fillTable();
}

function headingOf({ title, unsorted }, index) {
  const order = table.sorted !== index ? 'none' : (index === 0) !== table.isReversed ? 'ascending' : 'descending';
  if (unsorted) return html('th', { scope: 'col' }, title);
  const sorter = button('b', 'Sort by ' + title, () => sortBy(index), title);
  return html('th', { scope: 'col', 'aria-sort': order }, sorter);
}

// Functions, or the changes of a difference, the largest first.
function setTitle() {
  const title = diff ? 'Changes' : 'Functions';
  if (heading.textContent === title) return;
  heading.textContent = title;
  setAttributes(filter, { 'aria-label': 'Filter ' + title.toLowerCase() });
  setAttributes(dock, { 'aria-label': title });
  setAttributes(grid, { 'aria-label': title, class: diff ? 'pj-df' : '' });
  table.sorted = diff ? CHANGE_COLUMN : 1;
  table.isReversed = false;
}

function makeRows() {
  setTitle();
  const { columns, ids, note } = columnsOf(view, screen.zoom);
  const hits = isTableOpen() && filter.value && matchNames(names, filter.value, {}).hits;
  table.columns = columns;
  table.rows = ids.filter(id => !hits || hits[id]).sort(compareRows());
  return { ids, hits, note };
}

/** {columns, rows: ids of functions} as the table has them now; while it is closed, without its filter. */
export function tableContent() {
  makeRows();
  return table;
}

function fillTable() {
  const { ids, hits, note } = makeRows(), { columns } = table;
  countLine.textContent = grouped(table.rows.length) + (hits ? ' of ' + grouped(ids.length) : '') + ' \u00b7 ' + note;
  refill(headRow, ...columns.map(headingOf));
  renderRows();
}

function stateOfView() {
  return [view.tree, screen.zoom, view.byShare, screen.dark];
}

// The rows follow the view.
function follow() {
  if (dock.hidden) return;
  const now = stateOfView();
  if (table.of?.every((part, index) => part === now[index])) return;
  table.of = now;
  fillTable();
}

export function toggleTable() {
  const hadFocus = dock.contains(document.activeElement);
  dock.hidden = !dock.hidden;
  page.classList.toggle('pj-docked', !dock.hidden);
  table.of = null;
  follow();
  if (hadFocus) focusPane();
}

const rowKeys = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };

function dockKey(event) {
  const by = rowKeys[event.key], inFilter = event.target === filter;
  if (!by || inFilter && event.key !== 'ArrowDown') return;
  event.preventDefault();
  event.stopPropagation();
  moveRow(by);
}

export function buildTable() {
  pane.before(dock);
  filter.oninput = () => {
    scroller.scrollTop = 0;
    fillTable();
  };
  scroller.onscroll = renderRows;
  dock.addEventListener('keydown', dockKey);
  new ResizeObserver(() => {
    if (!dock.hidden && table.of) renderRows();
  }).observe(scroller);
  afterDrawing(follow);
}
