// menu.js - a menu at a place on the page: for the pointer, for keys, and as a menu for screen readers.
import { division, html, setAttributes } from './dom.js';
import { focusPane, page } from './page.js';
import { svg } from './state.js';

const MARGIN_PX = 4;

const menu = setAttributes(division('me'), { role: 'menu', tabindex: -1, hidden: '' });
let opener = null; // the button that has opened it

export function isMenuOpen() {
  return !menu.hidden;
}

export function closeMenu() {
  if (menu.hidden) return;
  menu.hidden = true;
  if (opener) opener.setAttribute('aria-expanded', false);
  if (menu.contains(document.activeElement)) {
    if (opener) opener.focus();
    else focusPane();
  }
  opener = null;
}

function items() {
  return [...menu.querySelectorAll('button:not(:disabled)')];
}

/** Goes to the next item (1), the one before (-1), or from an end. */
function moveBy(step) {
  const all = items(), at = all.indexOf(document.activeElement);
  all[(at + step + all.length) % all.length]?.focus();
}

function itemOf({ text, key, act, disabled, checked }) {
  const role = checked === undefined ? 'menuitem' : 'menuitemcheckbox';
  const hint = html('kbd', { 'aria-hidden': true }, key || '');
  const item = html('button', { type: 'button', role, tabindex: -1 }, html('span', {}, text), hint);
  if (checked !== undefined) item.setAttribute('aria-checked', Boolean(checked));
  if (key) item.setAttribute('aria-keyshortcuts', key);
  item.disabled = Boolean(disabled);
  item.onpointerenter = () => item.focus({ preventScroll: true });
  item.onclick = () => {
    closeMenu();
    act();
  };
  return item;
}

function sectionOf({ title, note, entries }) {
  const heading = title ? [html('p', {}, html('b', {}, title), note ? html('span', {}, note) : '')] : [];
  return html('div', { role: 'group', 'aria-label': title || 'View' }, ...heading, ...entries.map(itemOf));
}

// The menu stays inside of the picture, which may be higher than the page.
function place({ left, top }) {
  const box = svg.getBoundingClientRect();
  const most = (at, size, room) => Math.max(MARGIN_PX, Math.min(at, room - size - MARGIN_PX));
  menu.style.maxHeight = box.height - 2 * MARGIN_PX + 'px';
  menu.style.left = most(left - box.left, menu.offsetWidth, box.width) + 'px';
  menu.style.top = most(top - box.top, menu.offsetHeight, box.height) + 'px';
}

/** sections: [{title, note, entries: [{text, key, act, disabled, checked}]}]; at: {left, top} in the window. */
export function openMenu(label, sections, at, button = null) {
  closeMenu();
  setAttributes(menu, { 'aria-label': label });
  menu.replaceChildren(...sections.map(sectionOf));
  menu.hidden = false;
  menu.scrollTop = 0;
  place(at);
  opener = button;
  if (opener) opener.setAttribute('aria-expanded', true);
  items()[0]?.focus({ preventScroll: true });
}

const moves = {
  arrowdown: () => moveBy(1),
  arrowup: () => moveBy(-1),
  home: () => items()[0]?.focus(),
  end: () => items().at(-1)?.focus(),
  escape: closeMenu,
  tab: closeMenu,
};

/** What a key does while the menu is open, or undefined. */
export function menuAction(key) {
  return moves[key];
}

export function buildMenu() {
  page.append(menu);
  addEventListener('pointerdown', event => {
    if (!menu.contains(event.target) && !opener?.contains(event.target)) closeMenu();
  }, true);
  addEventListener('blur', closeMenu);
}
