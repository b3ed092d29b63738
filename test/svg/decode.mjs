#!/usr/bin/env node
// Takes the folded text back out of an SVG, from docs/SVG.md alone and with no code of the viewer or of encode.mjs:
//   node decode.mjs FILE.svg      prints `a;b;c N`, suffixes and the bytes of names included, sorted by bytes, equal stacks added up.
// Weights are BigInt, so that nothing is lost on the way. Any deviation from the format is an error.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

class Reader {
  static value = (() => {
    const v = new Map();
    for (let c = 0x20; c <= 0x7e; c++) if (![0x26, 0x3c, 0x3e, 0x22, 0x27, 0x5c, 0x60].includes(c)) v.set(c, v.size);
    if (v.size !== 88) throw new Error('the alphabet has ' + v.size + ' characters');
    return v;
  })();
  constructor(text, what) { this.text = text; this.at = 0; this.what = what; }
  get more() { return this.at < this.text.length; }
  digit() {
    const v = this.more ? Reader.value.get(this.text.charCodeAt(this.at)) : undefined;
    if (v === undefined) throw new Error(`${this.what}: no digit at ${this.at}`);
    this.at++;
    return v;
  }
  big() {
    const digits = [];
    let d;
    while ((d = this.digit()) >= 44) digits.push(BigInt(d - 44));
    let v = BigInt(d);
    while (digits.length) v = v * 44n + digits.pop();
    return v;
  }
  int() { return Number(this.big()); }
}

function unescape(s) {
  if (/[<>]|&(?!(amp|lt|gt);)/.test(s)) throw new Error('data block is not escaped as it should be');
  return s.replace(/&(amp|lt|gt);/g, (_, e) => ({ amp: '&', lt: '<', gt: '>' })[e]);
}
function block(svg, cls) {
  const m = new RegExp(`<script type="application/[a-z-]+" class="${cls}">([^]*?)</script>`).exec(svg);
  if (!m) throw new Error('no ' + cls);
  return unescape(m[1]);
}

// The bytes that visible text was made of.
export function bytesOf(s) {
  const b = Buffer.from(s), out = [];
  for (let i = 0; i < b.length;) {
    const m = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/.exec(b.subarray(i, i + 10).toString('latin1'));
    if (m) out.push(m[1] ? Buffer.from(m[1], 'hex') : Buffer.from(String.fromCodePoint(parseInt(m[2] ?? m[3], 16)))), i += m[0].length;
    else out.push(b.subarray(i, ++i));
  }
  return Buffer.concat(out);
}

export function decode(svg) {
  const config = JSON.parse(block(svg, 'pj-c'));
  if (config.v !== 1) throw new Error('layout ' + config.v);
  const sections = block(svg, 'pj-d').split('\n\n');
  if (sections.length !== (config.diff ? 6 : config.chart ? 4 : 3)) throw new Error('sections: ' + sections.length);
  const [nameText, treeText, selfText] = sections;

  const names = [], shown = [];
  let before = '', bytes = Buffer.alloc(0);
  for (const line of nameText === '' ? [] : nameText.split('\n')) {
    const r = new Reader(line, 'NAMES line ' + names.length), shared = r.digit(), color = r.int(), rest = line.slice(r.at);
    if (/[^\x20-\x7e]/.test(before.slice(0, shared)) || shared > before.length) throw new Error('NAMES: prefix of line ' + names.length);
    const text = before.slice(0, shared) + rest, now = Buffer.from(text);
    if (names.length && Buffer.compare(bytes, now) > 0) throw new Error('NAMES: not sorted at line ' + names.length);
    if (!config.colors[color]) throw new Error('NAMES: colour ' + color);
    before = text, bytes = now;
    names.push(text);
    shown.push(text + config.kinds[config.colors[color][2]][1]);
  }

  const lists = new Map(), path = [], frames = [];
  for (const r = new Reader(treeText, 'TREE'); r.more;) {
    const head = r.digit();
    let pop = head % 8, k = Math.floor(head / 8);
    if (pop === 7) pop += r.int();
    if (k === 10) k += r.int();
    if (pop > path.length) throw new Error('TREE: pops below the root at ' + r.at);
    path.length -= pop;
    const caller = path.length ? path[path.length - 1] : 'root';
    const list = lists.get(caller) ?? [];
    lists.set(caller, list);
    const id = k === 0 ? r.int() : list.splice(k - 1, 1)[0];
    if (!(id < names.length)) throw new Error('TREE: name ' + id);
    if (k === 0 && list.includes(id)) throw new Error('TREE: name was in the list');
    list.unshift(id);
    path.push(id);
    frames.push([path.length, id]);
  }

  const self = [];
  for (const r = new Reader(selfText, 'SELF'); r.more;) {
    const gap = r.int();
    for (let i = 0; i < gap; i++) self.push(0n);
    self.push(r.big() + 1n);
  }
  if (self.length > frames.length) throw new Error('SELF: more than frames');

  const sums = new Map(), stack = [];
  let total = 0n;
  frames.forEach(([depth, id], i) => {
    stack.length = depth - 1;
    stack.push(shown[id]);
    if (!self[i]) return;
    const key = stack.join(';');
    sums.set(key, (sums.get(key) ?? 0n) + self[i]);
    total += self[i];
  });
  if (Number(total) > config.total) throw new Error(`total: ${total} in the tree, ${config.total} in the config`);
  const lines = [...sums].map(([k, v]) => Buffer.concat([bytesOf(k), Buffer.from(' ' + v)])).sort(Buffer.compare);
  return { config, frames: frames.length, names: names.length, lines: lines.map(b => b.toString('latin1')) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const l of decode(readFileSync(process.argv[2], 'utf8')).lines) process.stdout.write(l + '\n', 'latin1');
  } catch (e) {
    console.error('decode.mjs: ' + e.message);
    process.exitCode = 1;
  }
}
