// input.js - pointer and keyboard.
import { escape, zoomTo } from './actions.js';
import { commands, openHelp } from './commands.js';
import { draw } from './draw.js';
import { focusSearch, stepMatch } from './find.js';
import { frameAt } from './geometry.js';
import { graph, page, pane, panel } from './page.js';
import { choose, chooseAbove, chooseBeside } from './select.js';
import { isDocument, nameOf, names, screen } from './state.js';
import { showCurrent } from './statusline.js';

function hover(event) {
  const frame = event.pointerType === 'touch' ? screen.hovered : frameAt(event, graph);
  if (frame === screen.hovered) return;
  screen.hovered = frame;
  graph.style.cursor = frame < 0 ? '' : 'pointer';
  showCurrent();
}

// Addresses of the web only.
function openLink(frame) {
  const link = frame >= 0 && names.attributes(nameOf(frame))?.[2];
  if (link && /^(https?:|[^:]*$|[^:]*[/?#])/i.test(link)) open(link, '_blank', 'noopener');
}

// A first tap selects, the second zooms.
function click(event) {
  const frame = frameAt(event, graph);
  if (event.ctrlKey || event.metaKey) return openLink(frame);
  if (frame < 0) return undefined;
  return event.pointerType === 'touch' && screen.selected !== frame ? choose(frame) : zoomTo(frame);
}

const keys = {
  home: () => zoomTo(0),
  arrowup: () => chooseAbove(1),
  arrowdown: () => chooseAbove(-1),
  arrowleft: () => chooseBeside(-1),
  arrowright: () => chooseBeside(1),
  '?': openHelp,
};
for (const { key, act } of commands) keys[key.toLowerCase()] = act;

function letterAction(event, key) {
  const target = event.target.localName;
  if (target === 'input') return key === 'enter' && (() => stepMatch(event.shiftKey ? -1 : 1));
  if (key === 'enter' && target === 'button') return null;
  return keys[(event.shiftKey && /^[a-z]$/.test(key) ? 'shift+' : '') + key];
}

function keyAction(event) {
  const key = event.key.toLowerCase(), command = event.ctrlKey || event.metaKey;
  if (panel.open) return key === 'escape' && (() => panel.close());
  if (key === 'f3' || command && key === 'f') return focusSearch;
  if (command || event.altKey) return null;
  return key === 'escape' ? escape : letterAction(event, key);
}

export function listen() {
  graph.onpointermove = hover;
  graph.onpointerleave = () => {
    screen.hovered = -1;
    showCurrent();
  };
  graph.onclick = click;
  pane.onscroll = () => {
    if (Math.abs(pane.scrollTop - screen.scrollTop) > screen.paneHeight / 2) draw();
  };
  panel.onclick = event => {
    if (event.target === panel) panel.close();
  };
  (isDocument ? document : page).addEventListener('keydown', event => {
    const act = keyAction(event);
    if (!act) return;
    event.preventDefault();
    act();
  });
}
