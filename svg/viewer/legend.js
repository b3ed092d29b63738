// legend.js - the kinds of code and their shares; in a difference, the scale of colours and what widths are.
import { dimOthers, setWidths, switchComparison } from './actions.js';
import { button, division, html, setAttributes, setPressed } from './dom.js';
import { beforeDrawing } from './draw.js';
import { percent } from './numbers.js';
import { colourWeights, viewWeight } from './functions.js';
import { legend, showSums } from './page.js';
import { afterDrawing, config, diff, screen, view } from './state.js';

const LEAST_SHARE = 1e-3;
export const WIDTHS = [['B', 'before'], ['A', 'after'], ['U', 'both']];

// Kinds that differ in their suffix only are one.
function weightsOfKinds() {
  const byColour = colourWeights(view, screen.zoom), byLabel = new Map();
  config.colors.forEach(([, , kind], colour) => {
    const label = config.kinds[kind]?.[0];
    byLabel.set(label, byColour[colour] + (byLabel.get(label) || 0));
  });
  return byLabel;
}

// The weights of the view that is shown now.
const shown = { tree: null, zoom: -1, kinds: null };

function kindsOfView() {
  if (shown.tree !== view.tree || shown.zoom !== screen.zoom) {
    Object.assign(shown, { tree: view.tree, zoom: screen.zoom, kinds: weightsOfKinds() });
  }
  return shown.kinds;
}

function chipOf(label) {
  const box = html('i'), colour = config.colors.find(([, , kind]) => config.kinds[kind]?.[0] === label);
  const share = html('span');
  const chip = button('k', label + ': dim the rest', () => dimOthers(label), box, label, share);
  afterDrawing(() => {
    box.style.background = colour[Number(screen.dark)];
    share.textContent = percent(kindsOfView().get(label), viewWeight(view, screen.zoom));
    setPressed(chip, screen.onlyKind === label);
  });
  return chip;
}

function widthButton([letter, text]) {
  const choice = button('b', 'Widths: ' + text + ' (' + letter + ')', () => setWidths(letter), text);
  afterDrawing(() => setPressed(choice, view.widths === letter));
  return choice;
}

/** The colours of a difference, what widths are, and the rule, for as long as there is a difference. */
export function buildScale(parent) {
  const boxes = diff.ramp[0].map(() => html('i'));
  const comparison = button('k', 'Shares or counts (%)', switchComparison, '');
  const widths = setAttributes(division('sg', ...WIDTHS.map(widthButton)), { role: 'group', 'aria-label': 'Widths' });
  const scale = division('k', 'less', division('ra', ...boxes), 'more'), note = html('span', { class: 'pj-no' });
  parent.append(scale, division('nw', 'new'), comparison, widths, note);
  beforeDrawing(() => {
    note.textContent = diff?.note;
  });
  afterDrawing(() => {
    if (!diff) return;
    boxes.forEach((box, step) => {
      box.style.background = diff.ramp[Number(screen.dark)][step];
    });
    comparison.textContent = 'compared as ' + (view.byShare ? 'shares' : 'counts');
  });
}

export function buildLegend() {
  afterDrawing(() => showSums(viewWeight(view, screen.zoom)));
  if (diff) return buildScale(legend);
  if (!config.legend) return undefined;
  const kinds = [...kindsOfView()].sort((one, other) => other[1] - one[1] || (one[0] < other[0] ? -1 : 1));
  for (const [label, weight] of kinds) if (weight >= view.all() * LEAST_SHARE) legend.append(chipOf(label));
  return undefined;
}
