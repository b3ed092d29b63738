#!/usr/bin/env node
// What the colours are worth, from the pictures themselves, as TAP: contrast of all text (WCAG 2.1), and the smallest
// distance between two kinds of code, and between more and less, as people with each kind of colour blindness see them
// (Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB; distances in OKLab x 100).
//   node test/svg/contrast.mjs PJSVG
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const pjsvg = process.argv[2] || 'build/std-cc/bin/pjsvg';
const config = (folded, ...args) => JSON.parse(/class="pj-c">(.*?)<\/script>/s.exec(execFileSync(pjsvg, args, { input: folded, stdio: ['pipe', 'pipe', 'ignore'] }).toString())[1]
  .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&'));

const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255);
const linear = c => c.map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
const mix = (a, b, part) => a.map((v, i) => v * part + b[i] * (1 - part));
const luminance = c => { const [r, g, b] = linear(c); return .2126 * r + .7152 * g + .0722 * b; };
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
const times = (m, v) => m.map(row => row.reduce((s, k, i) => s + k * v[i], 0));
const SIGHT = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[.152286, 1.052583, -.204868], [.114503, .786281, .099216], [-.003882, -.048116, 1.051998]],
  deuteranopia: [[.367322, .860646, -.227968], [.280085, .672501, .047413], [-.011820, .042940, .968881]],
  tritanopia: [[1.255528, -.076749, -.178779], [-.078411, .930809, .147602], [.004733, .691367, .303900]],
};
function oklab(c, sight) {
  const v = times(SIGHT[sight], linear(c)).map(x => Math.min(1, Math.max(0, x)));
  const lms = times([[.4122214708, .5363325363, .0514459929], [.2119034982, .6806995451, .1073969566], [.0883024619, .2817188376, .6299787005]], v).map(Math.cbrt);
  return times([[.2104542553, .793617785, -.0040720468], [1.9779984951, -2.428592205, .4505937099], [.0259040371, .7827717662, -.808675766]], lms);
}
const distance = (a, b, sight) => { const x = oklab(a, sight), y = oklab(b, sight); return 100 * Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]); };
const pairs = list => list.flatMap((a, i) => list.slice(i + 1).map(b => [a, b]));

let n = 0, failed = 0;
function least(what, values, limit) {
  const worst = values.reduce((w, v) => v[0] < w[0] ? v : w);
  n++;
  if (!(worst[0] >= limit)) failed = 1;
  console.log(`${worst[0] >= limit ? 'ok' : 'not ok'} ${n} - ${what}: ${worst[0].toFixed(1)} (${worst[1]}), at least ${limit}`);
}

// One frame of every kind.
const plain = config('java;java/lang/A.b_[j];c_[i];d_[0];do_sys_[k];std::x;plain 1\njava;[unknown] 1\nnode;Function:~a /x.js:1 1\npython3;py::f (a.py) 1\nx;a b.py:3 1\nprocess 1\n');
const diff = config('a;b 10 20\n').diff;
const css = readFileSync('svg/viewer.css', 'utf8'), variable = (name, dark) => [...css.matchAll(new RegExp(`--${name}: (#[0-9a-f]{3,6})`, 'g'))].map(m => m[1].length === 4 ? '#' + [...m[1].slice(1)].map(c => c + c).join('') : m[1])[dark];
const INK = ['#16181d', '#ffffff', '#f4f5f7'].map(rgb);
const LIMIT = [{ normal: 10.5, protanopia: 7.5, deuteranopia: 8.1, tritanopia: 6.9 }, { normal: 8, protanopia: 5.7, deuteranopia: 5.9, tritanopia: 5.3 }];
for (const dark of [0, 1]) {
  const theme = dark ? 'dark' : 'light', paper = rgb(variable('bg', dark)), fg = rgb(variable('fg', dark)), muted = rgb(variable('mu', dark));
  const kinds = [...new Map(plain.colors.map(c => [c[dark], plain.kinds[c[2]][0]]))].map(([hex, label]) => [rgb(hex), label]);
  const best = c => Math.max(...INK.slice(0, 2).map(i => contrast(c, i)));
  least(`${theme}: text on frames`, kinds.flatMap(([c, label]) => [1, .95, .9, .85].map(part => [best(mix(c, paper, part)), label])), 4.5);
  least(`${theme}: text on steps of change`, diff.ramp[dark].map((h, i) => [best(rgb(h)), 'step ' + (i - 4)]), 4.5);
  least(`${theme}: text and muted text on the page`, [[contrast(fg, paper), 'text'], [contrast(muted, paper), 'muted']], 4.5);
  least(`${theme}: text on a match`, [[best(rgb(variable('hit', dark))), 'hit']], 4.5);
  for (const sight in SIGHT) {
    least(`${theme}, ${sight}: between kinds of code`, pairs(kinds).map(([a, b]) => [distance(a[0], b[0], sight), a[1] + ' and ' + b[1]]), LIMIT[dark][sight]);
    least(`${theme}, ${sight}: between most less and most more`, [[distance(rgb(diff.ramp[dark][0]), rgb(diff.ramp[dark][8]), sight), 'steps -4 and 4']], 22);
  }
}
console.log('1..' + n);
process.exit(failed);
