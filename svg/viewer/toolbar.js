// toolbar.js - the buttons beside the search box.
import { isChanged, resetView, switchTheme, zoomOut } from './actions.js';
import { commands, openHelp } from './commands.js';
import { button, division, html, setAttributes, setPressed } from './dom.js';
import { frameSection, selectForMenu } from './framemenu.js';
import { openMenu } from './menu.js';
import { tools } from './page.js';
import { afterDrawing, currentFrame, diff, screen } from './state.js';
import { isTableOpen, toggleTable } from './table.js';

function viewSection() {
  const entries = commands.filter(({ inMenu }) => inMenu)
    .map(({ key, text, act, isOn }) => ({ key, text, act, checked: isOn ? Boolean(isOn()) : undefined }));
  return { entries: [...entries, { key: '?', text: 'All keys and actions', act: openHelp }] };
}

// With the actions of the selected or zoomed frame, so that a finger reaches them.
function openMainMenu() {
  const box = menuButton.getBoundingClientRect(), frame = currentFrame();
  if (frame > 0) selectForMenu(frame);
  const sections = [...frame > 0 ? [frameSection(frame)] : [], viewSection()];
  openMenu('Menu', sections, { left: box.left, top: box.bottom + 2 }, menuButton);
}

function switchTable() {
  toggleTable();
  setPressed(tableButton, isTableOpen());
}

const tableText = html('span');
const tableButton = button('w', '', switchTable, html('i', { class: 'pj-tb' }), tableText);
function showTableButton() {
  const text = diff ? 'Changes' : 'Table';
  tableText.textContent = text;
  setAttributes(tableButton, { title: text + ' (T)', 'aria-label': text + ' (T)' });
  setPressed(tableButton, isTableOpen());
}

const menuButton = setAttributes(button('w', 'Menu', openMainMenu, html('i', { class: 'pj-bu' }), 'Menu'),
  { 'aria-haspopup': 'menu', 'aria-expanded': false });
const outButton = button('w', 'Zoom out (Backspace)', zoomOut, 'Zoom out');
const resetButton = button('w', 'Reset the view (Shift+R)', resetView, 'Reset');
const themeButton = button('w', 'Theme (D)', switchTheme, html('i', { class: 'pj-th' }), 'Theme');
const helpButton = button('w', 'Help (?)', openHelp, '?');

export function buildToolbar() {
  tools.append(division('tw', tableButton, menuButton, outButton, resetButton, themeButton, helpButton));
  afterDrawing(() => {
    showTableButton();
    outButton.disabled = !screen.zoom;
    resetButton.disabled = !isChanged();
  });
}
