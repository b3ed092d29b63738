// state.js - the picture that this script is in, its view, and what is on the screen.
import { decodeProfile } from './decode.js';
import { Weights } from './numbers.js';
import { View } from './view.js';

export const svg = document.currentScript.ownerSVGElement;
export const isDocument = svg === document.documentElement; // else it stands in a page

function part(name) {
  return svg.querySelector('script.pj-' + name).textContent;
}

export const config = JSON.parse(part('c'));
if (config.v !== 1) throw new Error('pjsvg: a later layout; the static picture stays');

export const profile = decodeProfile(config, part('d'));
export const { names } = profile;
export let { diff } = profile; // what is compared, or undefined
export const weights = new Weights(config);
export const view = new View(profile);

export const screen = {
  // What the address has.
  zoom: 0, query: '', regexp: false, matchCase: false, inverted: false, theme: '',
  // What is of the moment: frames pointed at and selected, the kind of code that is not dimmed.
  hovered: -1, selected: -1, onlyKind: '', dark: false, printing: false,
  // What the search has found: for each name whether it matches, the frames, their weight, the current one.
  hits: null, found: [], foundWeight: 0, turn: -1, problem: '',
  // Measures in px; the drawn frames and the blocks of narrow ones by row; depth of the lowest row.
  width: 0, height: 0, paneHeight: 0, scrollTop: 0, perWeight: 0, rows: [], blocks: [],
  lowest: 0,
};

/** Makes the picture a difference, or no longer. */
export function setDiff(compared) {
  diff = profile.diff = compared;
}

/** The frame that actions are about: pointed at, else selected, else zoomed to. */
export function currentFrame() {
  if (screen.hovered >= 0) return screen.hovered;
  return screen.selected >= 0 ? screen.selected : screen.zoom || -1;
}

export function nameOf(frame) {
  return view.tree.name[frame];
}

export function functionOf(frame) {
  return names.functionOf[nameOf(frame)];
}

// What is done after each drawing.
const followers = [];

export function afterDrawing(act) {
  followers.push(act);
}

export function drawingDone() {
  for (const act of followers) act();
}
