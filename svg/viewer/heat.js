// heat.js - the heat map of pjheat's pictures: joined before main.js, it adds time to the viewer's page and view.
// A range of time is an operation of the view, so that the address, Back, Esc and the labels below the graph have it.
import { changeView } from './actions.js';
import { commands, comparing } from './commands.js';
import { endComparison, startComparison } from './heatcompare.js';
import { buildControls, switchCompare } from './heatcontrols.js';
import { listenToHeat } from './heatinput.js';
import { allTime, drawHeat, heatBox, positions, slots, times } from './heatmap.js';
import { buildMarkers } from './heatmarkers.js';
import { pane } from './page.js';
import { parseRange, rangeTree } from './slots.js';
import { afterDrawing, diff, profile, view } from './state.js';
import { View } from './view.js';

const plainView = View.prototype;

Object.assign(view, {
  add(letter, text, fromLink) {
    const place = ['t', 'v'].indexOf(letter);
    if (place < 0) return plainView.add.call(view, letter, text, fromLink);
    const range = parseRange(text, positions, slots.rows);
    if (!range || place && !view.operation('t')) return undefined;
    view.remove(letter);
    view.operations.splice(place, 0, { letter, text, kind: 'range', range });
    return undefined;
  },

  describe(operation) {
    const { range, letter } = operation;
    if (!range) return plainView.describe.call(view, operation);
    return (letter === 'v' ? 'compared with ' : '') + times.rangeText(range.from, range.to);
  },

  // The stacks of the range take the place of all while the tree is made; what 100% is stays.
  rebuild() {
    const range = view.operation('t')?.range, after = range && view.operation('v')?.range;
    const { config } = profile, { total } = config;
    if (after) {
      startComparison(range, after);
      plainView.rebuild.call(view);
      return;
    }
    view.remove('v');
    endComparison();
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
  { key: 'V', text: 'Compare two ranges of time', act: switchCompare, isOn: () => Boolean(diff), inMenu: true },
);
for (const { act, ...command } of comparing) {
  const guarded = { ...command, act: () => diff && act() };
  commands.push(Object.defineProperty(guarded, 'inMenu', { get: () => Boolean(diff) }));
}
pane.parentElement.before(heatBox);
buildControls();
listenToHeat();
afterDrawing(drawHeat);
buildMarkers();
