// heatcontrols.js - the buttons of the heat map: compare two ranges, swap them, end; and the legend of a comparison.
import { changeView } from './actions.js';
import { button, division, setAttributes, setPressed } from './dom.js';
import { beforeDrawing } from './draw.js';
import { brush, buttons, heatBox, showBrush } from './heatmap.js';
import { buildScale } from './legend.js';
import { legend } from './page.js';
import { afterDrawing, diff, view } from './state.js';

const COMPARE = 'Compare two ranges of time (V)', END = 'End the comparison (V)';

/** Waits for the second range, or no longer; ends the comparison that is shown. */
export function switchCompare() {
  brush.isComparing = !diff && !brush.isComparing;
  if (diff) changeView(() => view.remove('v'));
  heatBox.focus({ preventScroll: true });
  showBrush();
}

/** Exchanges both ranges. */
export function swapRanges() {
  const before = view.operation('t'), after = view.operation('v');
  if (!after) return;
  changeView(() => {
    view.add('t', after.text);
    view.add('v', before.text);
  });
}

const compareButton = button('w', COMPARE, switchCompare, 'Compare');
const swapButton = button('w', 'Swap before and after', swapRanges, 'Swap');

/** Shows what the buttons do now. */
export function showButtons() {
  const text = diff ? END : COMPARE;
  compareButton.textContent = diff ? 'End comparison' : 'Compare';
  setAttributes(compareButton, { title: text, 'aria-label': text });
  setPressed(compareButton, brush.isComparing);
  swapButton.hidden = !diff;
}

// The scale of a difference stands in place of the kinds of code.
const scale = division('lg');

function chooseLegend() {
  if (diff && !scale.firstChild) {
    buildScale(scale);
    legend.after(scale);
  }
  legend.hidden = Boolean(diff);
  scale.hidden = !diff;
}

export function buildControls() {
  buttons.append(swapButton, compareButton);
  beforeDrawing(chooseLegend);
  afterDrawing(showButtons);
}
