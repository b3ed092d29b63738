// decode.js - the data block of a picture (docs/SVG.md) as columns of numbers. Pure.
import { Names } from './names.js';
import { makeTree, finishTree } from './tree.js';

/** The values of the 88 characters of the alphabet, by character code. */
export const digitValues = new Uint8Array(256);
for (let code = 32, value = 0; code < 127; code++) {
  if (!'&<>"\'\\`'.includes(String.fromCharCode(code))) digitValues[code] = value++;
}

export const CONTINUES = 44; // digits from here on continue a number; its base is the same

export class NumberReader {
  constructor(text) {
    this.bytes = new TextEncoder().encode(text);
    this.at = 0;
  }

  get more() {
    return this.at < this.bytes.length;
  }

  digit() {
    return digitValues[this.bytes[this.at++]];
  }

  next() {
    let value = 0, factor = 1, digit;
    for (; (digit = this.digit()) >= CONTINUES; factor *= CONTINUES) value += (digit - CONTINUES) * factor;
    return value + digit * factor;
  }
}

// A line has the number of characters that it shares with the line before, a colour and the rest of the name.
function decodeNames(section, config) {
  const names = new Names(config), lines = section ? section.split('\n') : [];
  let text = '';
  for (const line of lines) {
    const shared = digitValues[line.charCodeAt(0)];
    let at = 1, colour = 0, factor = 1, digit;
    for (; (digit = digitValues[line.charCodeAt(at++)]) >= CONTINUES; factor *= CONTINUES) {
      colour += (digit - CONTINUES) * factor;
    }
    text = text.slice(0, shared) + line.slice(at);
    names.add(text, colour + digit * factor);
  }
  return names;
}

// Fills names, callers and depths; returns [frames, largest depth]. Each name has a list of its callees, the last used
// first: first[name] and after[] are its links, callee[] the names in them. The loop is in a function of its own with
// few free variables, so that the engine compiles it soon.
function decodeTree(bytes, { name, caller, depth }, digits, { first, after, callee }) {
  const path = [0], size = bytes.length;
  let frame = 1, at = 0, level = 0, links = 0, deepest = 0;
  const more = start => {
    let value = start, factor = 1, digit;
    for (; (digit = digits[bytes[at++]]) >= 44; factor *= 44) value += (digit - 44) * factor;
    return value + digit * factor;
  };
  for (; at < size; frame++) {
    const head = digits[bytes[at++]];
    let pop = head & 7, place = head >> 3, before = 0;
    if (pop === 7) pop = more(7);
    if (place === 10) place = more(10);
    level += 1 - pop;
    const up = path[level - 1], list = name[up];
    let link = place ? first[list] : ++links;
    if (!place) callee[link] = more(0);
    while (--place > 0) {
      before = link;
      link = after[link];
    }
    if (before) after[before] = after[link];
    if (first[list] !== link) {
      after[link] = first[list];
      first[list] = link;
    }
    name[frame] = callee[link];
    caller[frame] = up;
    depth[frame] = level;
    path[level] = frame;
    if (level > deepest) deepest = level;
  }
  return [frame, deepest];
}

// Pairs of (frames without a value, value - 1) in preorder from frame 1.
function decodeValues(values, section) {
  const reader = new NumberReader(section);
  for (let frame = 1; frame < values.length && reader.more; frame++) {
    frame += reader.next();
    values[frame] = reader.next() + 1;
  }
  return values;
}

// The verdict of pjsvg on each frame of a difference: a code, and |z| of those that it tested.
function decodeVerdicts(count, section) {
  const reader = new NumberReader(section), code = new Uint8Array(count), deviation = new Float32Array(count);
  for (let frame = 1; reader.more; frame++) {
    frame += reader.next();
    code[frame] = reader.next();
    if (code[frame] & 7) deviation[frame] = reader.next() / 10;
  }
  return { code, deviation };
}

/** The profile of a picture: its config (object) and its data block (text). */
export function decodeProfile(config, data) {
  const sections = data.split('\n\n'), sides = config.diff ? [0, 1] : [0];
  const names = decodeNames(sections[0], config);
  const root = names.addRoot(config.root), onlyBefore = names.addRoot('only before');
  const bytes = new TextEncoder().encode(sections[1]), room = sections[1].length + 1;
  const base = makeTree(room, sides);
  base.name[0] = root;
  base.caller[0] = -1;
  const links = { first: new Int32Array(names.count), after: new Int32Array(room), callee: new Int32Array(room) };
  const [count, deepest] = decodeTree(bytes, base, digitValues, links);
  base.count = base.half = count;
  for (const side of sides) decodeValues(base.self[side], sections[2 + side]);
  finishTree(base);
  return {
    config, names, root, onlyBefore, sides, base, deepest, diff: config.diff,
    // In order of time: what a frame's caller has of its own between it and the callee before.
    pauses: config.chart && decodeValues(new Float64Array(base.name.length), sections[3]),
    // By shares and by counts.
    verdicts: config.diff ? [4, 5].map(index => decodeVerdicts(count, sections[index])) : [],
  };
}
