// heat.js - the heat map of pjheat's pictures: joined before main.js, it adds time to the viewer's page and view.
// A range of time is an operation of the view, so that the address, Back, Esc and the labels below the graph have it.
import { changeView } from './actions.js';
import { commands } from './commands.js';
import { listenToHeat } from './heatinput.js';
import { allTime, drawHeat, heatBox, positions, slots, times } from './heatmap.js';
import { pane } from './page.js';
import { parseRange, rangeTree } from './slots.js';
import { afterDrawing, profile, view } from './state.js';
import { View } from './view.js';

const plainView = View.prototype;

Object.assign(view, {
  add(letter, text, fromLink) {
    if (letter !== 't') return plainView.add.call(view, letter, text, fromLink);
    const range = parseRange(text, positions);
    if (!range) return undefined;
    view.remove('t');
    view.operations.unshift({ letter, text, kind: 'range', range });
    return undefined;
  },

  describe(operation) {
    const { range } = operation;
    return range ? times.rangeText(range.from, range.to) : plainView.describe.call(view, operation);
  },

  // The stacks of the range take the place of all while the tree is made; what 100% is stays.
  rebuild() {
    const range = view.operation('t')?.range, { config } = profile, { total } = config;
    if (range) {
      profile.base = rangeTree(allTime, slots, range.from, range.to);
      config.total = 0;
    }
    try {
      plainView.rebuild.call(view);
    } finally {
      profile.base = allTime;
      config.total = total;
    }
  },
});

commands.push(
  { key: 'G', text: 'Heat map: arrows, Shift+arrows, Enter', act: () => heatBox.focus() },
  { key: 'Shift+G', text: 'All times', act: () => changeView(() => view.remove('t')), inMenu: true },
);
pane.parentElement.before(heatBox);
listenToHeat();
afterDrawing(drawHeat);
