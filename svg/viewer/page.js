// page.js - the elements of the page: HTML controls around an inner SVG. Modules give them their actions.
import { division, drawn, html, setAttributes } from './dom.js';
import { counted, listed, signed } from './numbers.js';
import { config, diff, names, profile, view, weights } from './state.js';

export const ARROW = ' \u2192 ';

export const input = html('input', {
  maxlength: 200, placeholder: 'Search (/)', 'aria-label': 'Search', spellcheck: false,
});
export const matchCount = html('span', { class: 'pj-n', 'aria-live': 'polite' });
export const searchBox = division('q', input, matchCount);
export const tools = division('tl', searchBox);
export const legend = division('lg');

/** The first line of the header: the weight of the view, and of all. */
export function showSums(size) {
  sums.textContent = sumsText(size);
}

export const sums = html('span');

function sidesText() {
  const [before, after] = diff.sums, [one, other] = diff.labels || ['before', 'after'];
  const change = before ? ' (' + signed(100 * (after / before - 1), 1) + '%)' : '';
  return one + ' ' + weights.amount(before) + ARROW + other + ' ' + weights.text(after) + change;
}

function sumsText(size) {
  const total = view.all();
  if (diff) return sidesText();
  return (size === total ? '' : weights.amount(size) + ' of ') + weights.text(total);
}

function totalsLine() {
  return listed([
    counted(profile.base.count - 1, 'frames'), counted(names.functions, 'functions'),
    'depth ' + profile.deepest, config.subtitle,
  ]);
}

const totals = division('t2', sums, ' \u00b7 ' + totalsLine());
totals.title = config.notes;
const head = division('hd', division('tt', division('t1', config.title), totals), tools, legend);

const overlay = name => drawn('path', { class: 'pj-ov ' + name });
export const ink = drawn('g', { 'font-family': config.font, 'font-size': config.fs });
export const outlines = {
  hatch: overlay('pj-ha'), same: overlay('pj-ki'), hits: overlay('pj-hi'), hovered: overlay(''),
  selected: overlay('pj-on'),
};
export const graph = drawn('svg', { class: 'pj-v' }, ink, ...Object.values(outlines));
export const pane = setAttributes(division('sc', graph), {
  tabindex: 0, role: 'application', 'aria-label': 'Flame graph',
});
export const chosen = setAttributes(division('cr'), { role: 'group', 'aria-label': 'View' });
export const crumbs = setAttributes(division('cr'), { role: 'navigation', 'aria-label': 'Zoomed to' });
export const status = setAttributes(division('st'), { role: 'status' });
export const panel = html('dialog', { class: 'pj-dl' });
export const page = division('x', head, division('bd', pane), chosen, crumbs, division('ft', status), panel);
export const hole = drawn('foreignObject', {}, page);

export function focusPane() {
  pane.focus({ preventScroll: true });
}

export function say(text) {
  status.replaceChildren(text);
}

/** A dialog; returns nothing. */
export function openPanel(name, closer, ...children) {
  setAttributes(panel, { 'aria-label': name });
  panel.replaceChildren(closer, html('h2', {}, name), ...children);
  if (!panel.open) panel.showModal();
}
