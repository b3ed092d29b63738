// exports.js - the view as text for other programs: its table as CSV, its stacks as folded text. Pure.

const MOST_CHARACTERS = 2 ** 28;

// Spreadsheets compute a cell that begins like a formula: names come from strangers.
function csvCell(text) {
  return '"' + (/^[-=+@\t\r]/.test(text) ? "'" : '') + text.replace(/"/g, '""') + '"';
}

/** The rows of a table, columns as of columnsOf(): names, and numbers without units; factor: of weights. */
export function csvLines({ columns, rows }, names, factor) {
  const [, ...numbers] = columns, head = columns.map(({ title }) => title).join();
  const number = value => Number(value.toPrecision(15));
  const cell = ({ value, isShare, text }, id) => value ? number(value(id) * (isShare ? 1 : factor)) : csvCell(text(id));
  return [head, ...rows.map(id => [csvCell(names.text[id]), ...numbers.map(one => cell(one, id))].join())]
    .map(line => line + '\n');
}

// Names from a frame outwards, in this tree.
function namesUp({ name, caller, depth }, frame) {
  const path = [];
  for (let at = frame; depth[at]; at = caller[at]) path.push(name[at]);
  return path;
}

// For a zoom, whether a stack that ends in a frame passes it; of what is gone, only stacks without a weight after.
function zoomPart(view, zoom) {
  const { tree, filtered, isTurned } = view, path = namesUp(tree, zoom), isGone = view.isGone(zoom);
  path.reverse();
  return frame => {
    const stack = path.length ? namesUp(filtered, frame) : path;
    if (!isTurned) stack.reverse();
    return path.every((one, at) => stack[at] === one) && !(isGone && filtered.self[1][frame]);
  };
}

// For each frame, whether a stack that ends there is of the view: it passes the zoomed frame, or the function that is
// the root of a turned view.
function partOf(view, zoom) {
  const { filtered, rooted, profile: { names } } = view;
  if (!rooted) return zoomPart(view, zoom);
  const wanted = names.functionByKey(rooted.text), has = new Uint8Array(filtered.count);
  for (let frame = 1; frame < filtered.count; frame++) {
    has[frame] = names.functionOf[filtered.name[frame]] === wanted || has[filtered.caller[frame]] ? 1 : 0;
  }
  return frame => has[frame];
}

/**
 * The stacks of the view, outermost frame first, with a weight for each side; null: more than `most` characters. A
 * first frame '# ...' would make a line a comment.
 */
export function foldedLines(view, zoom, most = MOST_CHARACTERS) {
  const { filtered: { count, name, depth, self }, profile: { names, config } } = view, part = partOf(view, zoom);
  const hasUnit = config.factor === 1 && /^[\w-]+$/.test(config.unit);
  const paths = [''], lines = hasUnit ? ['# pj unit=' + config.unit + '\n'] : [];
  let length = 0;
  for (let frame = 1; frame < count; frame++) {
    const text = names.folded(name[frame]), up = paths[depth[frame] - 1];
    paths[depth[frame]] = up && (config.reverse ? text + ';' + up : up + ';' + text) || text;
    if (!self.some(column => column[frame]) || !part(frame)) continue;
    const line = paths[depth[frame]] + ' ' + self.map(column => column[frame]).join(' ') + '\n';
    length += line.length;
    if (length > most) return null;
    lines.push(line.replace(/^#(?=[ {])/, '_'));
  }
  return lines;
}
