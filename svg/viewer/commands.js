// commands.js - every command by name and key: the keys, the buttons and the help are made of this list.
import {
  bySearch, byFunction, changeView, copyName, copyStack, setWidths, switchComparison, switchTheme, toggleOperation,
  turnOver, zoomOut, zoomSelected, zoomTo,
} from './actions.js';
import { button, division, html } from './dom.js';
import { focusSearch, stepMatch } from './find.js';
import { WIDTHS } from './legend.js';
import { openPanel, panel, tools } from './page.js';
import { config, diff, view } from './state.js';
import { openTable } from './table.js';

const comparing = diff ? [
  ...WIDTHS.map(([key, text]) => ({ key, text: 'Widths: ' + text, act: () => setWidths(key) })),
  { key: '%', text: 'Shares or counts', act: switchComparison },
] : [];

export const commands = [
  { key: '/', text: 'Search', act: focusSearch },
  { key: 'N', text: 'Next match', act: () => stepMatch(1) },
  { key: 'Shift+N', text: 'Previous match', act: () => stepMatch(-1) },
  { key: 'T', text: diff ? 'Largest changes' : 'Table of functions', act: openTable },
  { key: 'R', text: config.reverse ? 'Callees first' : 'Callers first', act: () => toggleOperation('r') },
  { key: 'W', text: 'Callers and callees', act: () => byFunction('w') },
  { key: 'H', text: 'Hide a function', act: () => byFunction('h') },
  { key: 'Shift+H', text: 'Show hidden', act: () => changeView(() => view.remove('h')) },
  { key: 'F', text: 'Only matches', act: () => bySearch('f') },
  { key: 'X', text: 'Without matches', act: () => bySearch('x') },
  { key: 'S', text: 'Widest first', act: () => toggleOperation('s') },
  { key: 'I', text: 'Turn over', act: turnOver },
  { key: 'C', text: 'Copy name', act: copyName },
  { key: 'Shift+C', text: 'Copy whole stack', act: copyStack },
  { key: 'D', text: 'Dark or light', act: switchTheme },
  { key: '0', text: 'Whole graph', act: () => zoomTo(0) },
  { key: 'Backspace', text: 'Zoom out', act: zoomOut },
  { key: 'Enter', text: 'Zoom in', act: zoomSelected },
  ...comparing,
];

function commandButton({ key, text, act }) {
  const element = html('button', {}, html('kbd', {}, key), text);
  element.onclick = () => {
    panel.close();
    act();
  };
  return element;
}

export function openHelp() {
  const close = button('x2', 'Close (Esc)', () => panel.close(), '\u00d7');
  openPanel('Keys and actions', close, division('mn', ...commands.map(commandButton)), html('p'));
}

export function buildTools() {
  tools.append(
    button('tb', diff ? 'Largest changes (T)' : 'Functions (T)', openTable, html('i')),
    button('b', 'Help (?)', openHelp, '?'),
    button('th', 'Theme (D)', switchTheme, html('i')),
  );
}
