// find.js - the search box: matches in the names (few), then one pass over the view.
import { button, setAttributes, setPressed } from './dom.js';
import { draw } from './draw.js';
import { grouped, listed, percent } from './numbers.js';
import { input, matchCount, searchBox } from './page.js';
import { matchNames, mayBacktrack } from './search.js';
import { saveAddress } from './address.js';
import { choose } from './select.js';
import { afterDrawing, names, profile, screen, view } from './state.js';

const caseButton = button('b', 'Match case', () => {
  screen.matchCase = !screen.matchCase;
  search();
}, 'Aa');
const regexpButton = button('b', 'Regexp', () => {
  screen.regexp = !screen.regexp;
  search();
}, '.*');
const previousButton = button('b', 'Previous (Shift+N)', () => stepMatch(-1), '\u2039');
const nextButton = button('b', 'Next (N)', () => stepMatch(1), '\u203a');

function findNames(runAnyway) {
  const { query, regexp, matchCase } = screen;
  screen.hits = null;
  screen.problem = regexp && !runAnyway && mayBacktrack(query) ? 'Enter to run' : '';
  if (!query || screen.problem) return;
  try {
    const { hits, waits } = matchNames(names, query, { regexp, matchCase });
    if (waits) screen.problem = 'Enter to run';
    else screen.hits = hits;
  } catch {
    screen.problem = 'not a regexp';
  }
}

/** Matches in the view; a match inside of a match weighs once. */
export function countMatches() {
  const { hits, zoom } = screen, { tree: { name, end }, total, count, gone } = view;
  const last = zoom ? end[zoom] : count, weighed = zoom ? last : gone || count;
  const found = [];
  let weight = 0;
  for (let frame = zoom, inside = 0; hits && frame < last; frame++) {
    if (!hits[name[frame]] || !total[frame]) continue;
    found.push(frame);
    if (frame < inside || frame >= weighed) continue;
    weight += total[frame];
    inside = end[frame];
  }
  Object.assign(screen, { found, foundWeight: weight, turn: -1 });
}

/** Searches for what the state has. `quiet`: the address stays; `runAnyway`: also a pattern that may run for long. */
export function search(quiet, runAnyway) {
  findNames(runAnyway);
  countMatches();
  draw();
  if (!quiet) saveAddress();
}

export function typed() {
  screen.query = input.value;
  screen.selected = -1;
  search();
}

function countText() {
  const { found, foundWeight, zoom, turn } = screen, count = found.length;
  if (!count) return 'no match';
  const isPart = zoom || view.filtered !== profile.base;
  // Both halves of a sandwich have the same stacks.
  const share = (zoom || !view.rooted) && percent(foundWeight, view.total[zoom]) + (isPart ? ' of view' : '');
  return listed([share, (turn < 0 ? '' : grouped(turn + 1) + ' of ') + grouped(count)]);
}

function showCount() {
  matchCount.textContent = screen.problem || screen.hits && countText();
  setAttributes(input, { 'aria-invalid': Boolean(screen.problem) });
  setPressed(caseButton, screen.matchCase);
  setPressed(regexpButton, screen.regexp);
  previousButton.disabled = nextButton.disabled = !screen.found.length;
}

/** Selects the next match (1) or the one before (-1): the widest first, of equals from left to right. */
export function stepMatch(by) {
  const { found } = screen, count = found.length;
  if (screen.turn < 0) found.sort((one, other) => view.total[other] - view.total[one] || one - other);
  if (!screen.hits) {
    screen.regexp ||= screen.problem !== ''; // what waits is a pattern
    return search(false, true);
  }
  if (!count) return undefined;
  screen.turn = screen.turn < 0 && by < 0 ? count - 1 : (screen.turn + by + count) % count;
  choose(found[screen.turn]);
  return showCount();
}

export function focusSearch() {
  input.focus();
  input.select();
}

export function buildSearch() {
  searchBox.append(caseButton, regexpButton);
  searchBox.append(previousButton, nextButton);
  input.oninput = typed;
  afterDrawing(showCount);
}
