#!/usr/bin/env node
// Seeded generator of folded text: node generate.mjs FRAMES [SEED] >out.folded
// A call graph over a vocabulary of 6 000 functions (names of about 55 characters, Java, C++, C and kernel) grows stack by stack: mostly
// along well-trodden paths (a callee is chosen in proportion to how often it was chosen before), sometimes into a new
// one, up to 150 frames deep. Every stack is distinct, no part of the tree is a copy of another.
import { writeSync } from 'node:fs';

const want = Number(process.argv[2] || 10000);
let seed = Number(process.argv[3] || 1) >>> 0;
const random = () => {                         // mulberry32
  seed = (seed + 0x6d2b79f5) >>> 0;
  let t = Math.imul(seed ^ seed >>> 15, seed | 1);
  t ^= t + Math.imul(t ^ t >>> 7, t | 61);
  return ((t ^ t >>> 14) >>> 0) / 4294967296;
};
const below = n => Math.floor(random() * n);
const pick = a => a[below(a.length)];

const words = ('account adapter batch block buffer cache channel chunk codec config context cursor decode dispatch encode engine entry event factory fetch ' +
  'filter flush frame graph handler header index input invoke iterator key layer ledger limit link list loader lock lookup manager map merge message metric node ' +
  'object offset order output packet page parse partition path pipeline policy pool prepare process profile proxy query queue range reader record region ' +
  'registry request resolve response result router row schedule schema segment select server session shard signal slice socket sort source split stage ' +
  'state storage store stream string submit sync table task text thread token trace transform tree update validate value vector version view visit walk window worker write').split(' ');
const Cap = w => w[0].toUpperCase() + w.slice(1);
const names = [];
for (let i = 0; i < 6000; i++) {
  const r = i / 6000, cls = Cap(pick(words)) + Cap(pick(words)) + Cap(pick(words)), fn = pick(words) + Cap(pick(words)) + (i % 7 ? '' : i);
  names.push(r < .55 ? `com/${pick(words)}/${pick(words)}/${pick(words)}/${pick(words)}/${cls}.${fn}${pick(['_[j]', '_[j]', '_[i]', '_[0]'])}`
    : r < .75 ? `${pick(words)}::${pick(words)}::${cls}<${pick(words)}::${Cap(pick(words))}${Cap(pick(words))}, ${pick(words)}_t>::${fn}`
    : r < .85 ? `${pick(words)}_${pick(words)}_${pick(words)}_${pick(words)}_${i}`
    : `${pick(words)}_${pick(words)}_${pick(words)}_${pick(words)}_${pick(words)}_${i}_[k]`);
}

const kids = [new Map()], weight = [1], up = [-1], name = [-1], self = [0];
while (kids.length <= want) {
  let at = 0;
  const stay = random() < .006 ? 0 : 1;         // a few stacks are very deep
  for (let depth = 0; depth < 150; depth++) {
    weight[at]++;
    if (depth > 3 && random() < .02 * stay) break;
    let next = -1, r = random() * (weight[at] + 2 + depth / 6);
    for (const k of kids[at].values()) if ((r -= weight[k]) < 0) { next = k; break; }
    if (next < 0) {
      if (kids.length > want && kids[at].size) break;
      // callees of a function are a small part of the vocabulary, near to it
      const id = at ? (Math.imul(name[at], 37) + below(40) * 151) % 6000 : below(8) * 700;
      next = kids[at].get(id);
      if (next === undefined) {
        next = kids.length;
        kids.push(new Map()), weight.push(0), up.push(at), name.push(id < 0 ? id + 6000 : id), self.push(0);
        kids[at].set(id, next);
      }
    }
    at = next;
    if (weight[at] === 0 && depth > 8 && random() < .3 * stay) break;   // new ground ends soon, old paths go deep
  }
  self[at]++;
}
let out = '';
for (let i = 1; i < kids.length; i++) {
  const s = self[i] || (kids[i].size ? 0 : 1);
  if (!s) continue;
  const frames = [];
  for (let k = i; k > 0; k = up[k]) frames.push(names[name[k]]);
  out += frames.reverse().join(';') + ' ' + s + '\n';
  if (out.length > 1 << 20) flush();
}
flush();
function flush() {
  for (let b = Buffer.from(out); b.length;) {
    try { b = b.subarray(writeSync(1, b)); } catch (e) { if (e.code !== 'EAGAIN') throw e; }
  }
  out = '';
}
