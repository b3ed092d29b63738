// table.js - the table of functions, or of the largest changes.
import { searchFunction } from './actions.js';
import { changeColour, nameColour } from './colours.js';
import { button, html } from './dom.js';
import { changedFunctions, functionWeights, heaviestFunctions } from './functions.js';
import { grouped, percent } from './numbers.js';
import { openPanel, panel } from './page.js';
import { diff, nameOf, names, screen, view, weights } from './state.js';
import { changeText, ratioText } from './statusline.js';

const MOST_ROWS = 200, MOST_CHANGES = 50;

function closeButton() {
  return button('x2', 'Close (Esc)', () => panel.close(), '\u00d7');
}

function tableRow(id, colour, cells) {
  const box = html('i'), row = html('tr', {}, ...cells.map(text => html('td', {}, text)));
  box.style.background = colour;
  row.append(html('th', { scope: 'row' }, box, html('button', {}, names.text[id])));
  row.onclick = () => {
    panel.close();
    searchFunction(id);
  };
  return row;
}

function changeRow(id, before, after) {
  const cells = [weights.amount(before), weights.amount(after), changeText(before, after), ratioText(before, after)];
  return tableRow(id, changeColour(view.judge(before, after).code), cells);
}

function functionRow(id, self, total) {
  const whole = view.whole();
  return tableRow(id, nameColour(id), [percent(self, whole), weights.amount(self), percent(total, whole)]);
}

function tableOf(caption, headings, rows) {
  return html('table', {}, html('caption', {}, caption),
    html('thead', {}, html('tr', {}, ...headings)), html('tbody', {}, ...rows));
}

function heading(text) {
  return html('th', { scope: 'col' }, text);
}

function sortHeading(text, isSorted, sort) {
  const order = isSorted ? 'descending' : 'none';
  return html('th', { scope: 'col', 'aria-sort': order }, button('b', 'Sort by ' + text, sort, text));
}

function openChanges() {
  const sums = functionWeights(view, screen.zoom), [before, after] = sums.self, rows = changedFunctions(sums, view);
  const caption = rows.length ? 'significant ones, by ' + (view.byShare ? 'shares' : 'counts') : 'none';
  const shown = rows.slice(0, MOST_CHANGES).map(id => changeRow(id, before[id], after[id]));
  const headings = ['Before', 'After', 'Change', '', 'Function'].map(heading);
  openPanel('Changes of self ' + weights.unit, closeButton(), tableOf(caption, headings, shown));
}

function openFunctions(byTotal) {
  const sums = functionWeights(view, screen.zoom), rows = heaviestFunctions(sums, names, byTotal);
  const count = grouped(rows.length), caption = rows.length > MOST_ROWS ? 'the first 200 of ' + count : count;
  const shown = rows.slice(0, MOST_ROWS).map(id => functionRow(id, sums.self[0][id], sums.total[0][id]));
  const headings = [
    sortHeading('Self', !byTotal, () => openFunctions(false)), heading(''),
    sortHeading('Total', byTotal, () => openFunctions(true)), heading('Function'),
  ];
  const title = 'Functions' + (sums.first ? ' below ' + names.text[nameOf(sums.first)] : '');
  openPanel(title, closeButton(), tableOf(caption, headings, shown));
}

export function openTable() {
  if (diff) openChanges();
  else openFunctions(false);
}
