// Verdicts of the page on two ranges of a heat map against those of pjdiff for the same samples:
// node verdicts.mjs BIN [PAIRS] [SEED], as TAP.
// Each pair is drawn from samples whose mix changes every three seconds. The functions are compared with the table of pjdiff
// (before, after, z, mark, changed), the frames of some pairs with the verdicts in the picture that pjsvg draws of its difference.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { comparisonTree, sharesByDefault, verdictsOf } from '../../svg/viewer/comparison.js';
import { decodeProfile } from '../../svg/viewer/decode.js';
import { normalGroups, normalName } from '../../svg/viewer/normalnames.js';
import { decodeSlots, rangeSums } from '../../svg/viewer/slots.js';
import { LESS, MOVED, ONE_SIDED, STEP } from '../../svg/viewer/significance.js';
import { correctFunctions } from '../../svg/viewer/verdicts.js';

const [bin, pairs = 200, seed = 1] = process.argv.slice(2), SLOTS = 1500, PHASE = 150, FRAMES_OF = 8;
const folder = mkdtempSync(join(tmpdir(), 'pj-verdicts-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let state = Number(seed) >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ state >>> 15, state | 1);
  mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
  return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
};
const below = n => Math.floor(random() * n), pick = list => list[below(list.length)];
const run = (tool, args, input) => execFileSync(join(bin, tool), args, { input, maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'ignore'] }).toString();

// Names in all forms that pjdiff normalizes, and some that only look so.
const functions = ['parse', 'render', 'query', 'hash_[j]', 'hash_[0]', 'hash_[i]', 'hash_[1]', 'java/util/Map.get_[j]', 'java/util/Map.get_[0]',
  'a.B$$Lambda$12/0x00007f04bc002aa0.run_[j]', 'a.B$$Lambda$14/0x00007f04bc003aa0.run_[j]', 'a.B$$Lambda.0x0000123.run_[0]', 'copy.part.0', 'copy', 'copy.cold',
  'copy.cold.3', 'read_[k]', 'read', 'write_[k]', 'vm.lambda$main$0_[j]', 'vm.lambda$main$1_[j]', 'lambda$x$7f6d5c3e$1', 'lambda$x$7f6d5c3e$2', 'lambda$7f6d5c3e$1',
  'GeneratedMethodAccessor12.invoke', 'GeneratedMethodAccessor3.invoke', 'x/y.z.cold', 'f.isra.0.constprop.2', 'f', '.cold', 'LambdaForm$MH.0x000012.invoke_[j]',
  'LambdaForm$MH/0x33.invoke_[j]', '$Proxy7.call_[i]', '$Proxy9.call_[j]', 'jdk/proxy2/$Proxy12.a_[j]', 'é$lambda$1', 'main+0x1c', '/0x7f00', 'sched_[w]'];
const stacks = Array.from({ length: 300 }, () => ['app', ...Array.from({ length: 1 + below(9) }, () => pick(functions))].join(';'));
const usual = stacks.map(() => Math.log(1 / (1e-9 + random())) ** 2), samples = [];
for (let slot = 0, weights; slot < SLOTS; slot++) {
  if (slot % PHASE === 0) weights = usual.map(weight => weight * pick([0, 1, 1, 1, 1, 2, .7]));
  const all = weights.reduce((sum, one) => sum + one);
  for (let left = slot % 50 < 45 ? 3 + below(40) : 0; left; left--) {
    let at = 0, place = random() * all;
    while ((place -= weights[at]) > 0 && at < stacks.length - 1) at++;
    samples.push([slot, stacks[at], 1 + below(3)]);
  }
}
const text = (from, to, withTime) => samples.filter(([slot]) => slot >= from && slot <= to)
  .map(([slot, stack, weight]) => (withTime ? (100 + slot / 50).toFixed(2) + ';' : '') + stack + ' ' + weight + '\n').join('');

function blocksOf(svg) {
  const block = name => new RegExp(`class="${name}">([^]*?)</script>`).exec(svg)?.[1]
    .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  const config = JSON.parse(block('pj-c'));
  return { profile: decodeProfile(config, block('pj-d')), config, data: block('pj-t') };
}

const normal = ({ names }, id) => normalName(names.text[id], names.suffix(id));
const plain = name => normalName(name.replace(/_\[[kji01w]\]$/, ''), /_\[[kji01w]\]$/.exec(name)?.[0] || '');

function pathsOf(profile, tree) {
  const paths = [''];
  for (let frame = 1; frame < tree.count; frame++) paths[frame] = paths[tree.caller[frame]] + ';' + normal(profile, tree.name[frame]);
  return paths;
}

const markOf = (code, before, after) => code & MOVED ? 'moved' : before ? after ? '-' : 'gone' : 'new';

function tableOfPage(profile, functions, byShare, diff) {
  const { code } = correctFunctions(functions, byShare, diff), [before, after] = functions.total, rows = {};
  for (let id = 0; id < code.length; id++) {
    if (!before[id] && !after[id]) continue;
    const less = byShare ? after[id] / diff.sums[1] < before[id] / diff.sums[0] : after[id] < before[id];
    const mark = markOf(code[id], before[id], after[id]), changed = code[id] & STEP ? 'yes' : 'no';
    rows[normal(profile, id)] = { text: [before[id], after[id], mark, changed].join(' '), z: (less ? -1 : 1) * functions.deviation[id] };
  }
  return rows;
}

function tableOfPjdiff(...files) {
  const [head, ...lines] = run('pjdiff', ['--tsv', '--all', '-q', ...files]).trimEnd().split('\n'), columns = head.split('\t'), rows = {};
  for (const line of lines) {
    const value = Object.fromEntries(line.split('\t').map((cell, at) => [columns[at], cell]));
    rows[plain(value.name)] = { text: [value.before, value.after, value.mark, value.changed].join(' '), z: Number(value.z) };
  }
  return rows;
}

function framesOf(profile, tree, { code, deviation }) {
  const paths = pathsOf(profile, tree), rows = {};
  for (let frame = 1; frame < tree.count; frame++) {
    rows[paths[frame]] = { text: String(code[frame] & (STEP | LESS | ONE_SIDED | MOVED)), z: code[frame] & STEP ? deviation[frame] : 0 };
  }
  return rows;
}

// The other side has z with few digits.
function firstDifference(got, wanted, digits) {
  for (const key of new Set([...Object.keys(got), ...Object.keys(wanted)])) {
    const one = got[key], other = wanted[key];
    if (one?.text !== other?.text || Math.abs(one.z - other.z) > .51 * 10 ** -digits) {
      return `${key}: the page has ${one?.text}, z ${one?.z}; wanted ${other?.text}, z ${other?.z}`;
    }
  }
  return '';
}

const counts = { functions: 0, changed: 0, moved: 0, oneSided: 0, frames: 0, coloured: 0, byCounts: 0, few: 0 };
function comparePair(index, unit, { profile, config, slots, groups }) {
  const length = pick([3, 20, 60, PHASE, 2 * PHASE]), from = below(SLOTS - length), to = below(SLOTS - length);
  const one = { from, to: from + length - 1 }, other = { from: to, to: to + (index % 3 ? length : Math.ceil(length / 3)) - 1 };
  if (index % 4 === 0) { // totals alike: counts are compared
    const sum = rangeSums(slots, one.from, one.to).weight;
    while (other.to < SLOTS - 1 && rangeSums(slots, other.from, other.to).weight < sum) other.to++;
  }
  const ranges = [one, other], sums = ranges.map(range => rangeSums(slots, range.from, range.to).weight);
  if (!sums[0] && !sums[1]) return '';
  const diff = { ...config.heat.rule, sums, shares: sharesByDefault(sums), dispersion: 1, drift: 0 };
  const tree = comparisonTree(profile.base, slots, groups, ranges), verdicts = verdictsOf(tree, profile.names.count, diff)[diff.shares ? 0 : 1];
  const files = ranges.map((range, side) => {
    const file = join(folder, 'side' + side);
    writeFileSync(file, unit + text(range.from, range.to));
    return file;
  });
  const rows = tableOfPage(profile, verdicts.functions, diff.shares, diff), wrong = firstDifference(rows, tableOfPjdiff(...files), 2);
  if (wrong) return 'function ' + wrong;
  counts.functions += Object.keys(rows).length;
  counts.changed += Object.values(rows).filter(row => row.text.endsWith('yes')).length;
  counts.moved += Object.values(rows).filter(row => row.text.includes('moved')).length;
  counts.oneSided += Object.values(rows).filter(row => /new|gone/.test(row.text)).length;
  counts.byCounts += diff.shares ? 0 : 1;
  counts.few += Math.min(...sums) < 800;
  if (index % FRAMES_OF) return '';
  const picture = blocksOf(run('pjsvg', [], run('pjdiff', ['-q', ...files])));
  const wanted = framesOf(picture.profile, picture.profile.base, picture.profile.verdicts[diff.shares ? 0 : 1]);
  const frames = framesOf(profile, tree, verdicts);
  counts.frames += Object.keys(frames).length;
  counts.coloured += Object.values(frames).filter(row => row.text !== '0').length;
  const bad = firstDifference(frames, wanted, 1);
  return bad && 'frame ' + bad;
}

let number = 0;
const ok = (isGood, name, why = '') => {
  console.log(`${isGood ? 'ok' : 'not ok'} ${++number} - ${name}${why ? '\n# ' + why : ''}`);
  if (!isGood) process.exitCode = 1;
};
for (const [name, unit, share] of [['samples', '', 1], ['ns, whose noise is not tested', '# pj unit=ns\n', .1]]) {
  const page = blocksOf(run('pjheat', [], unit + text(0, SLOTS, true)));
  const { profile, data, config } = page, slots = decodeSlots(data, config.heat.columns * config.heat.rows, profile.base.total[0][0]);
  const all = Math.ceil(pairs * share), setup = { profile, config, slots, groups: normalGroups(profile.names) };
  let wrong = '', index = 0;
  for (; index < all && !wrong; index++) wrong = comparePair(index, unit, setup);
  ok(!wrong, `${all} pairs of ranges have the verdicts of pjdiff: ${name}`, wrong && `pair ${index}: ${wrong}`);
}
console.log('# ' + Object.entries(counts).map(([key, value]) => `${key} ${value}`).join(', '));
for (const key in counts) ok(counts[key] > 0, `  among them are: ${key}`);
console.log('1..' + number);
