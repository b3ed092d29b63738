// address.js - the view in the fragment of the address: #z=zoom;s=search;f=flags;o=operations;m=widths;d=theme.
import { config, diff, isDocument, screen, view } from './state.js';

const MOST_OPERATIONS = 20, LONGEST_TEXT = 210, LONGEST_SEARCH = 200;

function flagsOf({ regexp, matchCase, inverted }) {
  return (regexp ? 'r' : '') + (matchCase ? 'c' : '') + (inverted !== Boolean(config.inverted) ? 'i' : '');
}

function widthsOf({ widths, byShare }) {
  return diff && (widths === 'A' ? '' : widths) + (!byShare === !diff.shares ? '' : '%');
}

function currentAddress() {
  const { zoom, query, theme } = screen, flags = flagsOf(screen), widths = widthsOf(view);
  const operations = view.operations.map(one => one.letter + one.text).join('\n');
  return '#' + [
    zoom && 'z=' + view.pathOf(zoom),
    query && 's=' + encodeURIComponent(query),
    flags && 'f=' + flags,
    operations && 'o=' + encodeURIComponent(operations),
    widths && 'm=' + encodeURIComponent(widths),
    theme && 'd=' + theme,
  ].filter(part => part).join(';');
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

/** Sets state and view to what the address has; anything else in it has no effect. */
export function readAddress() {
  const values = new URLSearchParams(isDocument ? location.hash.slice(1).replace(/;/g, '&') : '');
  const value = key => values.get(key) || '', flags = value('f'), widths = value('m');
  screen.query = value('s').slice(0, LONGEST_SEARCH);
  screen.regexp = flags.includes('r');
  screen.matchCase = flags.includes('c');
  screen.inverted = flags.includes('i') !== Boolean(config.inverted);
  screen.theme = /^(dark|light)$/.test(value('d')) ? value('d') : '';
  view.widths = /[BAU]/.exec(widths)?.[0] || 'A';
  view.byShare = Boolean(diff?.shares) !== widths.includes('%');
  restoreOperations(value('o'));
  view.rebuild();
  screen.height = 0;
  screen.zoom = view.frameOf(value('z'));
  screen.hovered = screen.selected = -1;
}
