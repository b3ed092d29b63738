// The modules that compare two ranges, in node: node --test test/svg/viewer/comparison.test.mjs.
// test/svg/verdicts.mjs compares their verdicts with pjdiff's.
import test from 'node:test';
import assert from 'node:assert/strict';
import { comparisonTree, sharesByDefault } from '../../../svg/viewer/comparison.js';
import { normalName } from '../../../svg/viewer/normalnames.js';
import { correctFunctions, erfc, judgeFunctions, neededSamples } from '../../../svg/viewer/verdicts.js';
import { decodeSlots } from '../../../svg/viewer/slots.js';
import { finishTree, makeTree } from '../../../svg/viewer/tree.js';

const rule = { z: 2, points: .5, relative: .01, counted: 1, dispersion: 1, drift: 0 };

test('erfc has the values of tables', () => {
  const known = [[0, 1], [.5, .4795001221869535], [1, .15729920705028513], [1.99, .004888586800383177], [2, .004677734981047266],
    [3, 2.209049699858544e-5], [5, 1.5374597944280349e-12], [10, 2.088487583762545e-45]];
  for (const [value, wanted] of known) assert.ok(Math.abs(erfc(value) / wanted - 1) < 1e-12, `erfc(${value}) = ${erfc(value)}`);
  assert.equal(erfc(40), 0);
});

test('names are normalized as pjdiff does', () => {
  const cases = [['f.cold', '', 'f'], ['f.part.0.cold.12', '', 'f'], ['f.part', '', 'f.part'], ['.cold', '', '.cold'], ['a/b.cold', '', 'a/b.cold'],
    ['f', '_[j]', 'f'], ['f', '_[k]', 'f_[k]'], ['A$$Lambda$12/0x7f04bc.run', '_[0]', 'A$$Lambda.run'], ['A$$Lambda.0x80.run', '', 'A$$Lambda.run'],
    ['A.lambda$main$0', '', 'A.lambda$main'], ['A.lambda$main$7f6d5c3e$1', '', 'A.lambda$main'], ['A.lambda$0', '', 'A.lambda$0'], ['xlambda$main$0', '', 'xlambda$main$0'],
    ['LambdaForm$MH/0x12.invoke', '', 'LambdaForm$MH.invoke'], ['$Proxy12.call', '', '$Proxy.call'], ['jdk/proxy3/$Proxy4.x', '', 'jdk/proxy/$Proxy.x'],
    ['GeneratedMethodAccessor7.invoke', '', 'GeneratedMethodAccessor.invoke'], ['f+0x1c', '', 'f'], ['/0x7f00', '', '/0x7f00'], ['f/0', '', 'f/0']];
  for (const [text, suffix, wanted] of cases) assert.equal(normalName(text, suffix), wanted, text + suffix);
});

test('names of 64 kB take no time', () => {
  for (const part of ['lambda$', '$1', '.cold.1', '$$Lambda', '/0x', 'lambda$a;', '.0']) {
    const begin = performance.now();
    normalName(part.repeat(64000 / part.length), '');
    assert.ok(performance.now() - begin < 2000, part);
  }
});

// Frames of paths; equal names have one id.
function treeOf(stacks, sides) {
  const names = ['all'], frames = [['', 0, -1]], numbers = new Map([['', 0]]), tree = makeTree(100, sides);
  for (const path of [...new Set(stacks.flatMap(([stack]) => stack.split(';').map((_, at, all) => all.slice(0, at + 1).join(';'))))].sort()) {
    const name = path.slice(path.lastIndexOf(';') + 1), up = path.slice(0, Math.max(path.lastIndexOf(';'), 0));
    if (!names.includes(name)) names.push(name);
    numbers.set(path, frames.length);
    frames.push([path, names.indexOf(name), numbers.get(up)]);
  }
  frames.forEach(([, name, caller], frame) => {
    tree.name[frame] = name;
    tree.caller[frame] = caller;
    tree.depth[frame] = frame && tree.depth[caller] + 1;
  });
  for (const [stack, ...weights] of stacks) sides.forEach(side => { tree.self[side][numbers.get(stack)] = weights[side]; });
  tree.count = tree.half = frames.length;
  return { tree: finishTree(tree), names, numbers };
}

test('a function that is only called from elsewhere is moved; one that grows has changed', () => {
  const { tree, names } = treeOf([['a;run', 2000, 2000], ['a;f;g', 1000, 0], ['a;h;g', 0, 1000], ['a;new', 0, 1000], ['a;gone', 1000, 0]], [0, 1]);
  const diff = { ...rule, sums: [4000, 4000] }, functions = judgeFunctions(tree, names.length, false, diff), result = correctFunctions(functions, false, diff);
  const codeOf = name => result.code[names.indexOf(name)];
  assert.equal(codeOf('g'), 0);
  assert.equal(codeOf('f'), 32 + 16 + 8);
  assert.equal(codeOf('h'), 32 + 16);
  assert.equal(codeOf('new'), 16 + 4);
  assert.equal(codeOf('gone'), 16 + 8 + 4);
  assert.deepEqual([result.functions, result.changed, result.moved], [7, 2, 2]);
});

test('too few samples have no verdict', () => {
  const { tree, names } = treeOf([['a;f', 700, 0], ['a;g', 0, 700]], [0, 1]), diff = { ...rule, sums: [700, 700] };
  assert.equal(neededSamples(diff), 800);
  const result = correctFunctions(judgeFunctions(tree, names.length, true, diff), true, diff);
  assert.deepEqual([result.isPossible, result.changed, result.moved], [false, 0, 0]);
  assert.equal(neededSamples({ ...diff, counted: 0 }), 0);
});

test('shares are compared unless totals are alike', () => {
  for (const [before, after, wanted] of [[100, 98, false], [100, 97, true], [97, 100, true], [0, 100, false], [100, 0, false]]) {
    assert.equal(sharesByDefault([before, after]), wanted, before + ' ' + after);
  }
});

test('the tree of two ranges has both sides, and one frame for names of one function', () => {
  const { tree, numbers } = treeOf([['a;f1', 4], ['a;f1;g', 1], ['a;f2', 9], ['a;f2;g', 2]], [0]);
  const pairs = [[0, 'a;f1', 4], [0, 'a;f1;g', 1], [3, 'a;f2', 9], [3, 'a;f2;g', 2]];
  const digits = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter(one => !'&<>"\'\\`'.includes(one));
  const code = list => list.map(([, path, weight], at) => digits[numbers.get(path) - (at ? numbers.get(list[at - 1][1]) + 1 : 1)] + digits[weight - 1]).join('');
  const [one4, two11] = [pairs.slice(0, 2), pairs.slice(2)].map(code);
  const slots = decodeSlots([0, 0, 2, 4, 5, 2, 0, 2, 4, 11].map(value => digits[value]).join('') + '\n' + one4 + two11, 6, 16);
  const [f1, f2] = ['a;f1', 'a;f2'].map(path => tree.name[numbers.get(path)]), ranges = [{ from: 0, to: 1 }, { from: 2, to: 5 }];
  const groups = Int32Array.from({ length: 6 }, (_, id) => id);
  const apart = comparisonTree(tree, slots, groups, ranges);
  assert.equal(apart.count, tree.count);
  groups[f2] = f1;
  const one = comparisonTree(tree, slots, groups, ranges);
  assert.equal(one.count, 4);
  assert.equal(one.name[2], f2); // the heavier one
  assert.deepEqual([...one.total[0].slice(0, 4)], [5, 5, 5, 1]);
  assert.deepEqual([...one.total[1].slice(0, 4)], [11, 11, 11, 2]);
});
