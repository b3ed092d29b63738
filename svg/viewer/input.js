// input.js - pointer and keyboard.
import { escape, zoomTo } from './actions.js';
import { commands, openHelp } from './commands.js';
import { draw } from './draw.js';
import { focusSearch, stepMatch } from './find.js';
import { openCurrentMenu, openFrameMenu } from './framemenu.js';
import { blockAt, frameAt } from './geometry.js';
import { closeMenu, isMenuOpen, menuAction } from './menu.js';
import { focusPane, graph, input, page, pane, panel, say } from './page.js';
import { choose, chooseAbove, chooseBeside } from './select.js';
import { isDocument, nameOf, names, screen } from './state.js';
import { blockText, showCurrent } from './statusline.js';
import { hideTooltip, moveTooltip, showBlockTooltip, showTooltip } from './tooltip.js';

const LONG_PRESS_MS = 500, LONG_PRESS_PX = 10;

// The block of narrow frames under the pointer.
const pointed = { block: null };

function leave() {
  pointed.block = null;
  screen.hovered = -1;
  hideTooltip();
  showCurrent();
}

function pointAtBlock(block, event) {
  say(blockText(block));
  showBlockTooltip(block, event);
}

// To the nearest common caller of the narrow frames; where that is zoomed, to the widest of them.
function zoomToBlock({ common, widest }) {
  zoomTo(common > screen.zoom ? common : widest);
}

function hover(event) {
  if (event.pointerType === 'touch' || isMenuOpen()) return;
  const frame = frameAt(event, graph), block = frame < 0 ? blockAt(event, graph) : null;
  if (frame === screen.hovered && block === pointed.block) {
    moveTooltip(event);
    return;
  }
  screen.hovered = frame;
  pointed.block = block;
  graph.style.cursor = frame < 0 && !block ? '' : 'pointer';
  showCurrent();
  if (frame >= 0) showTooltip(frame, event);
  else if (block) pointAtBlock(block, event);
  else hideTooltip();
}

// Addresses of the web only.
function openLink(frame) {
  const link = frame >= 0 && names.attributes(nameOf(frame))?.[2];
  if (link && /^(https?:|[^:]*$|[^:]*[/?#])/i.test(link)) open(link, '_blank', 'noopener');
}

const placeOf = event => ({ left: event.clientX, top: event.clientY });

function clickBlock(event) {
  const block = blockAt(event, graph);
  if (block) zoomToBlock(block);
}

// Of touches, the first selects and the second zooms. A click on what is selected or zoomed opens its menu.
function click(event) {
  const frame = frameAt(event, graph), isTouch = event.pointerType === 'touch';
  hideTooltip();
  if (event.ctrlKey || event.metaKey) openLink(frame);
  else if (frame < 0) clickBlock(event);
  else if (frame === screen.zoom || frame === screen.selected && !isTouch) openFrameMenu(frame, placeOf(event));
  else if (isTouch && frame !== screen.selected) choose(frame);
  else zoomTo(frame);
}

function openAt(event) {
  const frame = frameAt(event, graph);
  if (frame < 0) return;
  event.preventDefault();
  openFrameMenu(frame, placeOf(event));
}

// Not every browser makes a context menu of a long press.
const press = { timer: 0, left: 0, top: 0, isLong: false };

function startPress(event) {
  press.isLong = false;
  if (event.pointerType !== 'touch') return;
  Object.assign(press, placeOf(event));
  endPress();
  press.timer = setTimeout(() => {
    press.isLong = true;
    if (!isMenuOpen()) openAt(event);
  }, LONG_PRESS_MS);
}

function endPress() {
  clearTimeout(press.timer);
}

function movePress(event) {
  const distance = Math.hypot(event.clientX - press.left, event.clientY - press.top);
  if (distance > LONG_PRESS_PX) endPress();
}

const keys = {
  home: () => zoomTo(0),
  arrowup: () => chooseAbove(1),
  arrowdown: () => chooseAbove(-1),
  arrowleft: () => chooseBeside(-1),
  arrowright: () => chooseBeside(1),
  contextmenu: openCurrentMenu,
  'shift+f10': openCurrentMenu,
  '?': openHelp,
};
for (const { key, act } of commands) keys[key.toLowerCase()] = act;

// Enter goes to the graph with the match selected, where N steps on and Enter zooms.
function inputAction(event, key) {
  if (event.target !== input || key !== 'enter') return null;
  return () => {
    stepMatch(event.shiftKey ? -1 : 1);
    if (screen.found.length) focusPane();
  };
}

function letterAction(event, key) {
  const target = event.target.localName;
  if (target === 'input') return inputAction(event, key);
  if (key === 'enter' && target === 'button') return null;
  return keys[(event.shiftKey && /^([a-z]|f10)$/.test(key) ? 'shift+' : '') + key];
}

function keyAction(event) {
  const key = event.key.toLowerCase(), command = event.ctrlKey || event.metaKey;
  if (isMenuOpen()) return menuAction(key);
  if (panel.open) return key === 'escape' && (() => panel.close());
  if (key === 'f3' || command && key === 'f') return focusSearch;
  if (command || event.altKey) return null;
  if (key === 'escape') return event.target.localName === 'input' ? focusPane : escape;
  return letterAction(event, key);
}

function listenToPointer() {
  const acts = {
    pointerdown: startPress, pointerup: endPress, pointercancel: endPress, pointerleave: leave, contextmenu: openAt,
    pointermove: event => {
      hover(event);
      movePress(event);
    },
    click: event => {
      if (!press.isLong) click(event);
    },
  };
  for (const type in acts) graph.addEventListener(type, acts[type]);
  // The menu key: its keydown opens the frame's menu; some browsers open their own when it is released.
  page.addEventListener('contextmenu', event => {
    if (isMenuOpen()) event.preventDefault();
  });
}

export function listen() {
  listenToPointer();
  pane.onscroll = () => {
    hideTooltip();
    closeMenu();
    if (Math.abs(pane.scrollTop - screen.scrollTop) > screen.paneHeight / 2) draw();
  };
  panel.onclick = event => {
    if (event.target === panel) panel.close();
  };
  (isDocument ? document : page).addEventListener('keydown', event => {
    const act = keyAction(event);
    if (!act) return;
    event.preventDefault();
    hideTooltip();
    act();
  });
}
