// actions.js - what a user does with the graph.
import { isViewChanged, restoreFile, saveAddress } from './address.js';
import { storeTheme } from './colours.js';
import { html } from './dom.js';
import { center, draw } from './draw.js';
import { countMatches, search } from './find.js';
import { focusPane, input, page, pane, say } from './page.js';
import { exactly } from './search.js';
import { stacksCommand } from './shell.js';
import { currentFrame, isDocument, names, nameOf, screen, view } from './state.js';
import { showCurrent } from './statusline.js';
import { functionText, searchText } from './view.js';

const LONGEST_QUERY = 200;

function renew() {
  screen.hovered = screen.selected = -1;
  countMatches();
  draw();
  saveAddress(true);
}

export function zoomTo(frame) {
  if (frame === screen.zoom) return;
  screen.zoom = frame;
  renew();
}

export function zoomOut() {
  if (screen.zoom) zoomTo(Math.max(view.tree.caller[screen.zoom], 0));
}

export function zoomSelected() {
  if (screen.selected >= 0) zoomTo(screen.selected);
}

/** Changes the tree; the zoom stays where the same path is still there. */
export function changeView(how) {
  const path = view.pathOf(screen.zoom);
  how();
  view.rebuild();
  pane.scrollTop = screen.height = 0;
  screen.zoom = view.frameOf(path);
  renew();
  if (screen.lowest) center();
}

export function toggleOperation(letter) {
  changeView(() => view.toggle(letter));
}

export function removeOperation(operation) {
  changeView(() => {
    view.operations = view.operations.filter(one => one !== operation);
  });
}

/** An operation on the function of the current frame. */
export function byFunction(letter) {
  const frame = currentFrame();
  if (frame < 1) return say('Point at a frame.');
  return changeView(() => view.add(letter, names.functionKey(nameOf(frame))));
}

/** An operation on the stacks with the function of the current frame: only them (f), or without them (x). */
export function onlyFunction(letter) {
  const key = names.functionKey(nameOf(Math.max(currentFrame(), 0)));
  changeView(() => view.add(letter, functionText(key)));
}

/** An operation on what the search has found, or on the function of the current frame. */
export function bySearch(letter) {
  const { hits, query } = screen;
  if (!hits && currentFrame() > 0) return onlyFunction(letter);
  if (!hits || !screen.found.length) return say('Search first.');
  return changeView(() => view.add(letter, searchText(query, screen)));
}

export function isChanged() {
  return Boolean(screen.onlyKind) || isViewChanged();
}

/** Shows the picture as its file has it, in the theme that it has now; Back undoes it. */
export function resetView() {
  screen.onlyKind = input.value = '';
  restoreFile();
  pane.scrollTop = 0;
  search(true);
  saveAddress(true);
  if (screen.lowest) center();
  focusPane();
}

export function turnOver() {
  screen.inverted = !screen.inverted;
  pane.scrollTop = screen.height = 0;
  draw();
  saveAddress();
  if (screen.lowest) center();
}

export function switchTheme() {
  screen.theme = screen.dark ? 'light' : 'dark';
  storeTheme(screen.theme);
  draw();
  saveAddress();
}

function searchFor(query) {
  input.value = screen.query = query;
  screen.regexp = screen.matchCase = false; // modes are of one search
  screen.selected = -1;
  search();
}

/** One step back: the search, the selection, the dimming, the zoom, the last operation. */
export function escape() {
  if (screen.query) searchFor('');
  else if (screen.selected >= 0) {
    screen.selected = -1;
    showCurrent();
  } else if (screen.onlyKind) dimOthers('');
  else if (screen.zoom) zoomTo(0);
  else if (view.operations.length) changeView(() => view.operations.pop());
  focusPane();
}

/** Dims all kinds of code but one, or none. */
export function dimOthers(kind) {
  screen.onlyKind = screen.onlyKind === kind ? '' : kind;
  draw();
}

function stackOf(frame) {
  const path = [];
  for (let at = frame; at > 0 || at === 0 && view.rooted; at = view.tree.caller[at]) {
    path.push(names.folded(nameOf(at)));
  }
  return (view.isOutward(frame) ? path : path.reverse()).join(';');
}

export function copyName() {
  copyText(names.folded(nameOf(Math.max(currentFrame(), 0))));
}

export function copyStack() {
  copyText(stackOf(Math.max(currentFrame(), 0)));
}

/** The name of the picture's file, if it is the document; may be empty. */
export function fileName() {
  const { pathname } = location, name = isDocument ? pathname.slice(pathname.lastIndexOf('/') + 1) : '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // not UTF-8, or a % of its own
  }
}

/** The command that prints the folded stacks of a frame. */
export function copyCommand(frame) {
  copyText(stacksCommand(view, frame, fileName() || 'flame.svg'));
}

// Where there is no clipboard object: a page that is not secure, a sandbox.
function copyBySelection(text) {
  const box = html('textarea', {}, text);
  page.append(box);
  box.select();
  say((document.execCommand('copy') ? 'Copied: ' : 'Copy: ') + text);
  box.remove();
  focusPane();
}

export function copyText(text) {
  if (!navigator.clipboard) return copyBySelection(text);
  return navigator.clipboard.writeText(text).then(() => say('Copied: ' + text), () => copyBySelection(text));
}

export function setWidths(widths) {
  changeView(() => {
    view.widths = widths;
  });
}

export function switchComparison() {
  changeView(() => {
    view.isSwitched = !view.isSwitched;
  });
}

/** Shows the callers and callees of a function, or no longer. */
export function toggleFunction(id) {
  const key = names.functionKey(id), { rooted } = view;
  if (rooted?.text === key) removeOperation(rooted);
  else changeView(() => view.add('w', key));
}

/** Searches for one function, exactly. */
export function searchFunction(id) {
  const name = names.text[id], query = exactly(name);
  searchFor(query.length <= LONGEST_QUERY ? query : name.slice(0, LONGEST_QUERY));
  focusPane();
}

