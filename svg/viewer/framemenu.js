// framemenu.js - what can be done with one frame, found by hand: right click, long press, the menu key, a click on the
// selected frame.
import {
  byFunction, copyCommand, copyName, copyStack, onlyFunction, searchFunction, toggleOperation, zoomTo,
} from './actions.js';
import { leftOf, topOf } from './geometry.js';
import { graph } from './page.js';
import { openMenu } from './menu.js';
import { currentFrame, diff, nameOf, names, screen, view } from './state.js';
import { shareOfTotal, showCurrent } from './statusline.js';
import { hideTooltip } from './tooltip.js';

function noteOf(frame) {
  return diff ? '' : shareOfTotal(view.total[frame]);
}

function functionEntries(isCode) {
  return [
    { text: 'Who calls this', act: () => byFunction('b'), disabled: !isCode },
    { text: 'What it calls', act: () => byFunction('d'), disabled: !isCode },
    { text: 'Callers and callees (sandwich)', key: 'W', act: () => byFunction('w'), disabled: !isCode },
    { text: 'Only stacks with it', act: () => onlyFunction('f'), disabled: !isCode },
    { text: 'Without it (drop its stacks)', act: () => onlyFunction('x'), disabled: !isCode },
    { text: 'Hide this function', key: 'H', act: () => byFunction('h'), disabled: !isCode },
  ];
}

/** The section of a menu for a frame. */
export function frameSection(frame) {
  const id = nameOf(frame), isCode = names.isCode(id);
  return {
    title: names.text[id],
    note: noteOf(frame),
    entries: [
      { text: 'Zoom', key: 'Enter', act: () => zoomTo(frame), disabled: frame === screen.zoom },
      ...functionEntries(isCode),
      { text: 'Collapse recursion', key: 'L', act: () => toggleOperation('c'), checked: Boolean(view.operation('c')) },
      { text: 'Search it', act: () => searchFunction(id), disabled: !isCode },
      { text: 'Copy name', key: 'C', act: copyName },
      { text: 'Copy stack', key: 'Shift+C', act: copyStack },
      { text: 'Copy command', act: () => copyCommand(frame), disabled: !isCode },
    ],
  };
}

/** Selects the frame of a menu, so that actions are about it wherever the pointer goes. */
export function selectForMenu(frame) {
  screen.selected = frame;
  screen.hovered = -1;
  hideTooltip();
  showCurrent();
}

/** Opens the menu of a frame, at a place in the window. */
export function openFrameMenu(frame, at) {
  selectForMenu(frame);
  openMenu(names.text[nameOf(frame)], [frameSection(frame)], at);
}

/** The menu of the current frame, below its left end; without one, of the root. */
export function openCurrentMenu() {
  const frame = Math.max(currentFrame(), 0), box = graph.getBoundingClientRect();
  const left = Math.max(box.left + leftOf(frame), box.left), top = box.top + topOf(view.tree.depth[frame]);
  openFrameMenu(frame, { left: left + 8, top: top + 20 });
}
