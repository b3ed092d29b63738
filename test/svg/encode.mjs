#!/usr/bin/env node
// Reference encoder: folded text in, a complete SVG out, written from docs/SVG.md alone. It exists to develop and test
// the viewer without the C side, and to check the C side from outside. The static layer is a token one.
//   node encode.mjs [--key=value ...] <folded >out.svg      (keys are those of the config object)
import { readFileSync, writeSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { dirname, join } from 'node:path';

const here = dirname(fileURLToPath(import.meta.url));
const ALPHABET = [...Array(95).keys()].map(i => String.fromCharCode(32 + i)).filter(c => !'&<>"\'\\`'.includes(c)).join('');

export const KINDS = [['process', ''], ['kernel', '_[k]'], ['native', ''], ['C++', ''], ['Java', '_[j]'], ['Java inlined', '_[i]'], ['Java interpreted', '_[0]'], ['unknown', '']];
export const COLORS = [['#d9dce1', '#33373e', 0], ['#e7a639', '#844f00', 1], ['#f57f89', '#7a302c', 2], ['#f5d630', '#826d14', 3],
  ['#8add8d', '#456743', 4], ['#95f0ef', '#017087', 5], ['#e5f5c3', '#6a7169', 6], ['#bdc1c6', '#484c53', 7]];

// What no reader may see raw becomes visible text: control, invisible and direction-changing characters, broken UTF-8.
export function visible(bytes) {
  let out = '';
  const hex = (v, n) => v.toString(16).padStart(n, '0');
  for (let i = 0; i < bytes.length;) {
    const b = bytes[i];
    const len = b < 0x80 ? 1 : b >= 0xc2 && b < 0xe0 ? 2 : b >= 0xe0 && b < 0xf0 ? 3 : b >= 0xf0 && b < 0xf5 ? 4 : 0;
    const s = len ? new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes.subarray(i, i + len)) : '\ufffd';
    const c = s.codePointAt(0), real = len && [...s].length === 1 && Buffer.from(s).equals(Buffer.from(bytes.subarray(i, i + len)));
    if (!real) { out += '\\x' + hex(b, 2); i++; continue; }
    if (c === 0x5c && /^\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/.test(bytes.subarray(i, i + 10).toString('latin1'))) out += '\\x5c';
    else if (c < 0x20 || c === 0x7f) out += '\\x' + hex(c, 2);
    else if (c >= 0x80 && c < 0xa0 || c >= 0x200b && c <= 0x200f || c >= 0x2028 && c <= 0x202e || c >= 0x2060 && c <= 0x2069 || c === 0xfeff ||
      c >= 0xfdd0 && c <= 0xfdef) out += '\\u' + hex(c, 4);
    else if ((c & 0xfffe) === 0xfffe) out += c > 0xffff ? '\\U' + hex(c, 8) : '\\u' + hex(c, 4);
    else out += s;
    i += len;
  }
  return out;
}

export function parse(bytes, two) {            // folded text -> [[frames as bytes->text, weight, second weight], ...]
  const stacks = [];
  for (let b = 0; b < bytes.length;) {
    let e = bytes.indexOf(10, b);
    if (e < 0) e = bytes.length;
    let line = bytes.subarray(b, e), cut = line.lastIndexOf(32), second = 0;
    if (two && cut > 0) {
      second = Number(line.subarray(cut + 1).toString());
      line = line.subarray(0, cut), cut = line.lastIndexOf(32);
    }
    b = e + 1;
    if (cut < 0 || line[0] === 35 && line[1] === 32) continue;
    const frames = [];
    for (let f = 0; f <= cut;) {
      let g = line.indexOf(59, f);
      if (g < 0 || g > cut) g = cut;
      frames.push(visible(line.subarray(f, g)));
      f = g + 1;
    }
    stacks.push([frames, Number(line.subarray(cut + 1).toString()), second]);
  }
  return stacks;
}

export function colorOf(frame, depth) {        // [text without suffix, index into COLORS]
  const m = /^(.*)_\[([kji01])\]$/s.exec(frame);
  if (m) return [m[1], { k: 1, j: 4, 1: 4, i: 5, 0: 6 }[m[2]]];
  if (depth === 1) return [frame, 0];
  if (/^\[?unknown\]?$|^0x/.test(frame)) return [frame, 7];
  return [frame, frame.includes('::') ? 3 : 2];
}

// [level, less, |z|] of a pair of weights, as docs/SVG.md and common/significance.h say.
export function judge(diff, shares, b, a) {
  const [B, A] = diff.sums, p = (a + b) / (A + B);
  let by, large, v, points;
  if (shares) by = a / A - b / B, large = Math.max(a / A, b / B), points = 100 * by, v = diff.dispersion * p * (1 - p) * (1 / A + 1 / B) + (diff.drift * p * (1 - p)) ** 2;
  else by = a - b, large = Math.max(a, b), points = 100 * by / Math.max(A, B), v = diff.dispersion * (a + b) + (diff.drift * (a + b) / 2) ** 2;
  const z = diff.counted && diff.z && by ? Math.abs(by) / Math.sqrt(v) : 0, part = Math.abs(by) / large || 0;
  if (!by || diff.counted && diff.z && z < diff.z || Math.abs(points) < diff.points || part < diff.relative) return [0, by < 0, z];
  return [diff.counted && diff.z && z < 3 || part < 0.1 ? 1 : part < 0.3 ? 2 : part < 0.6 ? 3 : 4, by < 0, z];
}

export const RAMP = [['#5295dc', '#82b2e6', '#b2d0f1', '#cfe1f8', '#e8e9ec', '#fcdcca', '#f8c4a6', '#f09a6e', '#e2683a'],
  ['#1f69b6', '#265a92', '#2b4b6f', '#2b4158', '#3a3d44', '#5a3b2b', '#704329', '#934d1f', '#b4560f']];

// options.diff (an object, may be empty): the text has two columns.
export function encode(bytes, options = {}) {
  const root = { kids: new Map(), self: 0, after: 0, depth: 0 };
  for (const [frames, w, w2] of parse(bytes, options.diff)) {
    let at = root;
    frames.forEach((f, k) => {
      let kid = at.kids.get(f);
      if (!kid) {
        const [text, color] = colorOf(f, k + 1);
        at.kids.set(f, kid = { text, color, kids: new Map(), self: 0, after: 0, depth: k + 1 });
      }
      at = kid;
    });
    at.self += w;
    at.after += w2;
  }
  const bytewise = (a, b) => Buffer.compare(Buffer.from(a.text), Buffer.from(b.text)) || a.color - b.color;
  const order = [], todo = [root];
  while (todo.length) {
    const f = todo.pop();
    if (f !== root) order.push(f);
    const kids = [...f.kids.values()].sort(bytewise);
    for (const k of kids.reverse()) { k.up = f; todo.push(k); }
  }

  const ids = new Map(), distinct = [];
  for (const f of order) {
    const key = f.color + ' ' + f.text;
    if (!ids.has(key)) { ids.set(key, 0); distinct.push({ key, text: f.text, color: f.color }); }
  }
  distinct.sort(bytewise);
  distinct.forEach((d, i) => ids.set(d.key, i));
  const varint = v => {
    let s = '';
    for (; v >= 44; v = Math.floor(v / 44)) s += ALPHABET[44 + v % 44];
    return s + ALPHABET[v];
  };
  let last = '';
  const names = distinct.map(({ text, color }) => {
    let p = 0;
    while (p < 87 && p < text.length && text[p] === last[p] && text.charCodeAt(p) < 128) p++;
    last = text;
    return ALPHABET[p] + varint(color) + text.slice(p);
  });

  let tree = '', D = 0;
  const lists = new Map();
  for (const f of order) {
    const id = ids.get(f.color + ' ' + f.text), caller = f.up === root ? -1 : ids.get(f.up.color + ' ' + f.up.text);
    if (!lists.has(caller)) lists.set(caller, []);
    const list = lists.get(caller), k = list.indexOf(id) + 1, pop = D + 1 - f.depth;
    tree += ALPHABET[Math.min(pop, 7) + 8 * Math.min(k, 10)] + (pop >= 7 ? varint(pop - 7) : '') + (k >= 10 ? varint(k - 10) : '') + (k ? '' : varint(id));
    if (k) list.splice(k - 1, 1);
    list.unshift(id);
    D = f.depth;
  }
  const column = key => {
    let s = '', run = 0;
    for (const f of order) if (f[key]) { s += varint(run) + varint(f[key] - 1); run = 0; } else run++;
    return s;
  };
  const sumOf = key => order.reduce((s, f) => s + f[key], 0), sections = [column('self')], extra = {};
  if (options.diff) {
    const diff = { sums: [sumOf('self'), sumOf('after')], shares: 1, z: 2, points: 0.5, relative: 0.01, dispersion: 1, drift: 0, counted: 1, ramp: RAMP, note: '', ...options.diff };
    for (const f of order) f.t = [f.self, f.after];
    for (const f of [...order].reverse()) if (f.up !== root) f.up.t = f.up.t.map((v, i) => v + f.t[i]);
    sections.push(column('after'));
    for (const shares of [1, 0]) {
      let s = '', run = 0;
      for (const f of order) {
        const [level, less, z] = judge(diff, shares, ...f.t), code = (level && level + (less ? 8 : 0) + (f.t.includes(0) ? 16 : 0)) + (diff.moved?.includes(f.text) && !level ? 32 : 0);
        if (code) s += varint(run) + varint(code) + (level ? varint(Math.round(z * 10)) : ''), run = 0; else run++;
      }
      sections.push(s);
    }
    extra.diff = diff;
  }
  const total = sumOf(options.diff ? 'after' : 'self');

  const config = { v: 1, title: 'Flame Graph', subtitle: '', notes: '', unit: 'samples', nametype: 'Function:', root: 'all', total, factor: 1, width: 0, inverted: 0,
    fh: 18, fs: 11, cw: 0.61, font: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace', min: 0.1, truncate: 'smart', search: '', bg: '',
    kinds: KINDS, colors: COLORS, reverse: 0, chart: 0, header: '', attrs: [], legend: options.diff ? 0 : 1, ...options, ...extra };
  if (config.total < total) config.total = total;
  const esc = s => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const source = n => execFileSync('sh', ['viewer/assemble', n], { cwd: join(here, '../../svg'), encoding: 'utf8' });
  const W = config.width || 1200, rects = [];
  let x = 12;
  for (const k of order.filter(f => f.depth === 1)) {   // token static layer: the first row
    const sum = f => [...f.kids.values()].reduce((a, c) => a + sum(c), f.self), w = order.length > 5000 ? 0 : sum(k) * (W - 24) / config.total;
    rects.push(`<path stroke="${COLORS[k.color][0]}" stroke-width="17" d="M${x.toFixed(1)} 70h${w.toFixed(1)}"/>`);
    x += w;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" class="pj" width="${W}" height="200" viewBox="0 0 ${W} 200" role="img">
<title>${esc(config.title)}</title><desc>${total} ${esc(config.unit)}</desc>
<style>${esc(source('viewer.css'))}</style>
<rect width="100%" height="100%" fill="#ffffff"/>
<g class="pj-h"><text x="12" y="30" font-family="sans-serif" font-size="17" fill="#16181d">${esc(config.title)}</text></g>
<g class="pj-s">${rects.join('')}</g>
<text class="pj-i" x="12" y="190" font-family="sans-serif" font-size="12" fill="#5b616b">open in a browser to zoom and search</text>
<script type="application/json" class="pj-c">${esc(JSON.stringify(config))}</script>
<script type="application/x-pjsvg" class="pj-d">${esc(names.join('\n'))}

${tree}

${sections.join('\n\n')}</script>
<script><![CDATA[${source('viewer.js')}]]></script>
</svg>
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {};
  for (const a of process.argv.slice(2)) {
    const m = /^--(\w+)=(.*)$/s.exec(a);
    if (!m) { console.error('encode.mjs: unknown argument ' + a); process.exit(2); }
    options[m[1]] = /^-?[\d.]+$/.test(m[2]) ? Number(m[2]) : /^[[{]/.test(m[2]) ? JSON.parse(m[2]) : m[2];
  }
  let out = Buffer.from(encode(readFileSync(0), options));
  while (out.length) {
    try { out = out.subarray(writeSync(1, out)); } catch (e) { if (e.code !== 'EAGAIN') throw e; }
  }
}
