// columns.js - what the table of functions has in its columns.
import { changedFunctions, functionWeights, viewWeight } from './functions.js';
import { percent } from './numbers.js';
import { weights } from './state.js';
import { changeText, ratioText } from './statusline.js';

function weightColumn(title, column, size) {
  const text = id => weights.amount(column[id]), share = id => percent(column[id], size);
  return { title, value: id => column[id], text, share };
}

// Weights in all stacks do not change.
let inAll = null;

function functionColumns(view, zoom) {
  const { names, base } = view.profile, sums = functionWeights(view, zoom), [self] = sums.self, [total] = sums.total;
  const size = viewWeight(view, zoom), allWeight = view.all(), isPart = size !== allWeight, ids = [];
  const columns = [{ title: 'Function' }, weightColumn('Self', self, size), weightColumn('Total', total, size)];
  if (isPart) {
    inAll ||= functionWeights(view, 0, base).total[0];
    columns.push(weightColumn('In all', inAll, allWeight));
  }
  for (let id = 0; id < names.colour.length; id++) if (total[id]) ids.push(id);
  return { columns, ids, note: (isPart ? weights.amount(size) + ' of ' : '') + weights.text(allWeight) };
}

function changeColumns(view, zoom) {
  const sums = functionWeights(view, zoom), [before, after] = sums.self;
  const columns = [
    { title: 'Function' },
    { title: 'Before', value: id => before[id], text: id => weights.amount(before[id]) },
    { title: 'After', value: id => after[id], text: id => weights.amount(after[id]) },
    {
      title: 'Change', isShare: true, value: id => view.judge(before[id], after[id]).points,
      text: id => changeText(before[id], after[id]),
    },
    { title: 'Ratio', unsorted: true, text: id => ratioText(before[id], after[id]) },
  ];
  const note = 'self ' + weights.unit + ', significant by ' + (view.byShare ? 'shares' : 'counts');
  return { columns, ids: changedFunctions(sums, view), note };
}

/**
 * {columns: [{title, value(id), isShare: the value is no weight, text(id), share(id)}], ids: the functions that have
 * rows, note: of what they are}.
 */
export function columnsOf(view, zoom) {
  return view.profile.diff ? changeColumns(view, zoom) : functionColumns(view, zoom);
}
