// The texts that the viewer saves, in node: node --test test/svg/viewer/exports.test.mjs.
import test from 'node:test';
import assert from 'node:assert/strict';
import { encode } from '../encode.mjs';
import { decodeProfile } from '../../../svg/viewer/decode.js';
import { csvLines, foldedLines } from '../../../svg/viewer/exports.js';
import { View } from '../../../svg/viewer/view.js';

const stacks = ['app 2', 'app;main;parse 3', 'app;main;run;loop_[j] 60', 'app;main;run;loop_[j];run 4', 'db;parse 7', 'db;read_[k] 1'];

function viewOf(lines, options = {}) {
  const svg = encode(Buffer.from(lines.map(line => line + '\n').join('')), options);
  const block = name => new RegExp(`class="${name}">([^]*?)</script>`).exec(svg)[1]
    .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return new View(decodeProfile(JSON.parse(block('pj-c')), block('pj-d')));
}
const stacksOf = (view, zoom = 0) => foldedLines(view, zoom).map(line => line.trimEnd()).filter(line => !line.startsWith('#')).sort();
const frameOf = (view, text) => [...view.tree.name].findIndex((id, at) => at && view.profile.names.text[id] === text);
const keyOf = (view, text) => view.profile.names.functionKey(view.profile.names.text.indexOf(text));

test('all stacks, with the unit', () => {
  const view = viewOf(stacks);
  assert.deepEqual(stacksOf(view), [...stacks].sort());
  assert.equal(foldedLines(view, 0)[0], '# pj unit=samples\n');
  view.profile.config.factor = .001; // weights are not in the unit
  assert.equal(foldedLines(view, 0).length, stacks.length);
});

test('a first frame is no comment', () => {
  const view = viewOf(['app;f 3', 'app 2', 'db 1']), { text } = view.profile.names;
  text[text.indexOf('app')] = '# pj lost=9';
  text[text.indexOf('db')] = '#';
  assert.deepEqual(stacksOf(view), ['_ 1', '_ pj lost=9 2', '_ pj lost=9;f 3']);
});

test('a zoom has the stacks that pass its frame, complete', () => {
  const view = viewOf(stacks);
  assert.deepEqual(stacksOf(view, frameOf(view, 'run')), ['app;main;run;loop_[j] 60', 'app;main;run;loop_[j];run 4']);
});

test('filters count, turning does not', () => {
  const view = viewOf(stacks);
  view.add('x', '0loop');
  view.rebuild();
  const wanted = stacks.filter(line => !line.includes('loop')).sort();
  assert.deepEqual(stacksOf(view), wanted);
  view.add('r');
  view.rebuild();
  assert.deepEqual(stacksOf(view), wanted);
  // zoomed: loop is left out, parse is called by main and by db
  const zoom = [...view.tree.name].findIndex((id, at) => view.tree.depth[at] === 2 && view.profile.names.text[id] === 'db');
  assert.deepEqual(stacksOf(view, zoom), ['db;parse 7']);
  assert.deepEqual(stacksOf(view, view.tree.caller[zoom]), ['app;main;parse 3', 'db;parse 7']);
});

test('callers and callees of a function: the stacks with it', () => {
  for (const letter of ['w', 'b', 'd']) {
    const view = viewOf(stacks);
    view.add(letter, keyOf(view, 'parse'));
    view.rebuild();
    assert.deepEqual(stacksOf(view), ['app;main;parse 3', 'db;parse 7'], letter);
  }
});

test('stacks of a reversed picture are turned back', () => {
  const view = viewOf(['c;b;a 3', 'b;a 1']);
  view.profile.config.reverse = 1;
  assert.deepEqual(stacksOf(view), ['a;b 1', 'a;b;c 3']);
});

test('a difference has both weights', () => {
  const view = viewOf(stacks), { self } = view.filtered;
  view.filtered = { ...view.filtered, self: [self[0], self[0].map(weight => 2 * weight)] };
  assert.ok(stacksOf(view).includes('db;parse 7 14'));
});

test('a zoom into what is gone: those that are not after', () => {
  const view = viewOf(['app;main;new 5000', 'app;main;old 5000', 'app;other 4']), { profile: { base, names } } = view;
  const oldOf = tree => [...tree.name].findLastIndex(id => names.text[id] === 'old');
  view.filtered = view.tree = {
    ...base, self: [base.self[0], base.self[0].map((weight, frame) => frame === oldOf(base) ? 0 : weight)],
  };
  view.tree = { ...view.tree };
  for (const key of ['name', 'caller', 'depth']) {
    const column = base[key].slice(0, base.count);
    view.tree[key] = Int32Array.from([...column, ...column]);
  }
  view.tree.caller = view.tree.caller.map((up, frame) => frame > base.count ? up + base.count : up);
  view.gone = base.count;
  assert.deepEqual(stacksOf(view, oldOf(view.tree)), ['app;main;old 5000 0']);
  assert.deepEqual(stacksOf(view, base.count), ['app;main;old 5000 0']);
});

test('a table: quotes, numbers, and no formulas of strangers', () => {
  const text = ['plain', 'say "a, b"', '=HYPERLINK("x")', '-[NSView draw]', '+1', '@x', 'line\\x0aend'], names = { text };
  const columns = [
    { title: 'Function' }, { title: 'Self', value: id => id / 3, text: () => 'unused' }, { title: 'Ratio', text: id => id ? '=×2' : 'new' },
  ];
  assert.deepEqual(csvLines({ columns, rows: [0, 1, 2, 3, 4, 5, 6] }, names, 1), [
    'Function,Self,Ratio\n', '"plain",0,"new"\n', '"say ""a, b""",0.333333333333333,"\'=×2"\n', '"\'=HYPERLINK(""x"")",0.666666666666667,"\'=×2"\n',
    '"\'-[NSView draw]",1,"\'=×2"\n', '"\'+1",1.33333333333333,"\'=×2"\n', '"\'@x",1.66666666666667,"\'=×2"\n', '"line\\x0aend",2,"\'=×2"\n',
  ]);
});

test('a table: weights have the factor of the picture, shares do not', () => {
  const columns = [{ title: 'Function' }, { title: 'Self', value: () => 5000 }, { title: 'Change', isShare: true, value: () => -1.5 }];
  assert.equal(csvLines({ columns, rows: [0] }, { text: ['f'] }, .001)[1], '"f",5,-1.5\n');
});

test('stacks that are too long for a page are none', () => {
  const view = viewOf(stacks), size = stacks.join('\n').length + 1;
  assert.equal(foldedLines(view, 0, size).length, stacks.length + 1);
  assert.equal(foldedLines(view, 0, size - 1), null);
});
