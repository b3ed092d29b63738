// crumbs.js - above the graph's foot: the way to the zoomed frame, and the operations that made the view.
import { removeOperation, zoomTo } from './actions.js';
import { button, refill } from './dom.js';
import { beforeDrawing, labels } from './draw.js';
import { chosen, crumbs } from './page.js';
import { nameOf, names, screen, view } from './state.js';

const MOST_CRUMBS = 60;

function showPath() {
  const path = [];
  for (let frame = screen.zoom; screen.zoom && frame >= 0;) {
    const target = frame, id = nameOf(frame);
    path.unshift(button('b', names.text[id], () => zoomTo(target), labels.shortName(id)));
    frame = path.length < MOST_CRUMBS || !frame ? view.tree.caller[frame] : 0;
  }
  refill(crumbs, ...path);
  if (screen.zoom) crumbs.scrollLeft = 1e6;
}

function showOperations() {
  refill(chosen, ...view.operations.map(operation => {
    const text = view.describe(operation);
    return button('f', 'Undo: ' + text, () => removeOperation(operation), text);
  }));
}

export function buildCrumbs() {
  beforeDrawing(showPath);
  beforeDrawing(showOperations);
}
