// address.js - the view in the fragment of the address: #z=zoom;s=search;f=flags;o=operations;m=widths;d=theme.
import { config, diff, isDocument, screen, view } from './state.js';

const MOST_OPERATIONS = 20, LONGEST_TEXT = 210, LONGEST_SEARCH = 200;

function flagsOf({ regexp, matchCase, inverted }) {
  return (regexp ? 'r' : '') + (matchCase ? 'c' : '') + (inverted !== Boolean(config.inverted) ? 'i' : '');
}

function widthsOf({ widths, isSwitched }) {
  return diff && (widths === 'A' ? '' : widths) + (isSwitched ? '%' : '');
}

// What differs from the picture as its file has it: [key, text] each.
function addressParts() {
  const { zoom, query, theme } = screen;
  return [
    ['z', zoom && view.pathOf(zoom)],
    ['s', query],
    ['f', flagsOf(screen)],
    ['o', view.operations.map(one => one.letter + one.text).join('\n')],
    ['m', widthsOf(view)],
    ['d', theme],
  ].filter(([, text]) => text);
}

// Half of a surrogate pair, left where a limit has cut a text, would be an error of encodeURIComponent.
function encoded(text) {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd'));
}

function currentAddress() {
  return '#' + addressParts().map(([key, text]) => key + '=' + encoded(text)).join(';');
}

/** Whether the address has more than a theme. */
export function isViewChanged() {
  return addressParts().some(([key]) => key !== 'd');
}

/** `isStep`: Back undoes it. */
export function saveAddress(isStep) {
  const address = currentAddress();
  if (!isDocument || address === (location.hash || '#')) return;
  try {
    history[isStep ? 'pushState' : 'replaceState'](null, '', address);
  } catch {
    // no address bar
  }
}

function restoreOperations(text) {
  view.operations = [];
  for (const line of text.split('\n').slice(0, MOST_OPERATIONS)) {
    try {
      view.add(line[0], line.slice(1, LONGEST_TEXT), true);
    } catch {
      // not a pattern
    }
  }
}

// All but the theme.
function restoreView(value) {
  const flags = value('f'), widths = value('m');
  screen.query = value('s').slice(0, LONGEST_SEARCH);
  screen.regexp = flags.includes('r');
  screen.matchCase = flags.includes('c');
  screen.inverted = flags.includes('i') !== Boolean(config.inverted);
  view.widths = /[BAU]/.exec(widths)?.[0] || 'A';
  view.isSwitched = widths.includes('%');
  restoreOperations(value('o'));
  view.rebuild();
  screen.height = 0;
  screen.zoom = view.frameOf(value('z'));
  screen.hovered = screen.selected = -1;
}

/** Sets state and view to what the address has; anything else in it has no effect. */
export function readAddress() {
  const values = new URLSearchParams(isDocument ? location.hash.slice(1).replace(/;/g, '&') : '');
  const value = key => values.get(key) || '';
  screen.theme = /^(dark|light)$/.test(value('d')) ? value('d') : '';
  restoreView(value);
}

/** Sets state and view to what the file has; the theme stays. */
export function restoreFile() {
  restoreView(() => '');
}
