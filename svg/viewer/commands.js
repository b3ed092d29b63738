// commands.js - every command by name and key: the keys, the menu, the buttons and the help are made of this list.
import {
  bySearch, byFunction, changeView, copyName, copyStack, resetView, setWidths, switchComparison, switchTheme,
  toggleOperation, turnOver, zoomOut, zoomSelected, zoomTo,
} from './actions.js';
import { button, division, html } from './dom.js';
import { focusSearch, stepMatch } from './find.js';
import { openCurrentMenu } from './framemenu.js';
import { WIDTHS } from './legend.js';
import { openPanel, panel } from './page.js';
import { saveStacks, saveTable } from './save.js';
import { savePng, saveSvg } from './savepicture.js';
import { config, diff, screen, view } from './state.js';
import { isTableOpen, toggleTable } from './table.js';

const has = letter => () => view.operation(letter);

const widthCommands = WIDTHS.map(([key, text]) => ({
  key, text: 'Widths: ' + text, act: () => setWidths(key), isOn: () => view.widths === key, inMenu: true,
}));
const comparisons = [{ key: '%', text: 'Shares or counts', act: switchComparison, inMenu: true }];
/** Commands of a difference. */
export const comparing = [...widthCommands, ...comparisons];
const tableName = diff ? 'Largest changes' : 'Table of functions';
const turned = config.reverse ? 'Callees first' : 'Callers first';

/** {key, text, act; inMenu: it is in the menu of the view; isOn: whether it is in effect}. */
export const commands = [
  { key: '/', text: 'Search', act: focusSearch },
  { key: 'N', text: 'Next match', act: () => stepMatch(1) },
  { key: 'Shift+N', text: 'Previous match', act: () => stepMatch(-1) },
  { key: 'T', text: tableName, act: toggleTable, isOn: isTableOpen, inMenu: true },
  { key: 'R', text: turned, act: () => toggleOperation('r'), isOn: has('r'), inMenu: true },
  { key: 'W', text: 'Callers and callees', act: () => byFunction('w') },
  { key: 'H', text: 'Hide a function', act: () => byFunction('h') },
  { key: 'Shift+H', text: 'Show hidden', act: () => changeView(() => view.remove('h')), inMenu: true },
  { key: 'F', text: 'Only matches', act: () => bySearch('f'), inMenu: true },
  { key: 'X', text: 'Without matches', act: () => bySearch('x'), inMenu: true },
  { key: 'S', text: 'Widest first', act: () => toggleOperation('s'), isOn: () => view.widestFirst, inMenu: true },
  { key: 'L', text: 'Collapse recursion', act: () => toggleOperation('c'), isOn: has('c'), inMenu: true },
  { key: 'I', text: 'Turn over', act: turnOver, isOn: () => screen.inverted, inMenu: true },
  { key: 'C', text: 'Copy name', act: copyName },
  { key: 'Shift+C', text: 'Copy stack', act: copyStack },
  { key: 'E', text: 'Save the table (CSV)', act: saveTable, inMenu: true },
  { key: 'Shift+E', text: 'Save the stacks (folded)', act: saveStacks, inMenu: true },
  { key: 'P', text: 'Save the graph (SVG)', act: saveSvg, inMenu: true },
  { key: 'Shift+P', text: 'Save the graph (PNG)', act: savePng, inMenu: true },
  { key: 'D', text: 'Dark or light', act: switchTheme, inMenu: true },
  { key: '0', text: 'Whole graph', act: () => zoomTo(0), inMenu: true },
  { key: 'Backspace', text: 'Zoom out', act: zoomOut, inMenu: true },
  { key: 'Enter', text: 'Zoom in', act: zoomSelected },
  { key: 'M', text: 'Menu of a frame', act: openCurrentMenu },
  { key: 'Shift+R', text: 'Reset the view', act: resetView, inMenu: true },
  ...diff ? comparing : [],
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
