// The viewer's modules that need no page, in node: node --test test/svg/viewer/modules.test.mjs.
// Expected numbers come from the folded text, computed here with strings.
import test from 'node:test';
import assert from 'node:assert/strict';
import { encode } from '../encode.mjs';
import { decodeProfile } from '../../../svg/viewer/decode.js';
import { changedFunctions, colourWeights, functionWeights, viewWeight } from '../../../svg/viewer/functions.js';
import { shorterForms } from '../../../svg/viewer/forms.js';
import { Labels } from '../../../svg/viewer/labels.js';
import { counted, grouped, percent, signed, Weights } from '../../../svg/viewer/numbers.js';
import { exactly, matchNames, mayBacktrack } from '../../../svg/viewer/search.js';
import { stacksCommand } from '../../../svg/viewer/shell.js';
import { judge } from '../../../svg/viewer/significance.js';
import { functionText, searchText, View } from '../../../svg/viewer/view.js';

const folded = `app;main;run;compute 4000
app;main;run;compute;compute 500
app;main;run;compute;helper;compute 60
app;main;run;read_[k] 1200
app;main;parse 3000
app;main;parse;java/util/HashMap.get_[j] 800
db;loop;java/util/HashMap.get_[j] 5000
db;loop;java/util/HashMap.get_[i];read_[k] 1998
`;
const stacks = folded.trim().split('\n').map(line => {
  const [, path, weight] = /^(.*) (\d+)$/.exec(line);
  return [path.split(';').map(name => name.replace(/_\[.\]$/, '')), Number(weight)];
});

function profileOf(text, options = {}) {
  const svg = encode(Buffer.from(text), options);
  const block = name => new RegExp(`class="${name}">([^]*?)</script>`).exec(svg)[1]
    .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return decodeProfile(JSON.parse(block('pj-c')), block('pj-d'));
}

function viewOf(text = folded, ...operations) {
  const view = new View(profileOf(text));
  for (const [letter, operand] of operations) view.add(letter, operand);
  view.rebuild();
  return view;
}

// Weights by path of names, of every frame; two frames of one function that differ in their kind are added up.
function weightsOf({ tree, total, profile: { names } }) {
  const paths = [''], sums = {};
  for (let frame = 1; frame < tree.count; frame++) {
    const up = tree.caller[frame];
    paths[frame] = (up ? paths[up] + ';' : '') + names.text[tree.name[frame]];
    sums[paths[frame]] = (sums[paths[frame]] || 0) + total[frame];
  }
  return sums;
}

function expected(list) {
  const sums = {};
  for (const [path, weight] of list) {
    for (let depth = 1; depth <= path.length; depth++) {
      const key = path.slice(0, depth).join(';');
      sums[key] = (sums[key] || 0) + weight;
    }
  }
  return sums;
}

const keyOf = (view, name) => view.profile.names.functionKey(view.profile.names.text.indexOf(name));

test('the tree of a picture has the weights of the folded text', () => {
  const view = viewOf();
  assert.deepEqual(weightsOf(view), expected(stacks));
  assert.equal(view.profile.deepest, 6);
  assert.equal(view.profile.names.functions, 10); // get of two kinds is one function
});

test('callers first', () => {
  assert.deepEqual(weightsOf(viewOf(folded, ['r', ''])), expected(stacks.map(([path, weight]) => [[...path].reverse(), weight])));
});

test('hidden functions leave their weight to the caller', () => {
  const view = viewOf(), key = keyOf(view, 'run'), hidden = viewOf(folded, ['h', key]);
  assert.deepEqual(weightsOf(hidden), expected(stacks.map(([path, weight]) => [path.filter(name => name !== 'run'), weight])));
});

test('only stacks, and no stacks: by a search and by a function', () => {
  const search = searchText('HASH', {}), has = path => path.some(name => name.includes('HashMap'));
  assert.deepEqual(weightsOf(viewOf(folded, ['f', search])), expected(stacks.filter(([path]) => has(path))));
  assert.deepEqual(weightsOf(viewOf(folded, ['x', search])), expected(stacks.filter(([path]) => !has(path))));
  const exact = functionText(keyOf(viewOf(), 'java/util/HashMap.get'));
  assert.deepEqual(weightsOf(viewOf(folded, ['f', exact])), expected(stacks.filter(([path]) => has(path))));
  assert.equal(viewOf(folded, ['f', searchText('no such name', {})]).operations.length, 0);
});

test('collapsed recursion: a function that calls itself is one frame', () => {
  const merged = stacks.map(([path, weight]) => [path.filter((name, at) => name !== path[at - 1]), weight]);
  assert.deepEqual(weightsOf(viewOf(folded, ['c', ''])), expected(merged));
});

test('a sandwich has the callers below its root, and weighs each stack once', () => {
  const view = viewOf(), sandwich = viewOf(folded, ['w', keyOf(view, 'compute')]), { tree, total, profile: { names } } = sandwich;
  const rows = {};
  for (let frame = 0; frame < tree.count; frame++) rows[tree.depth[frame] + names.text[tree.name[frame]]] = total[frame];
  assert.deepEqual(rows, { '0compute': 4560, '1compute': 500, '1helper': 60, '2compute': 60, '-1run': 4560, '-2main': 4560, '-3app': 4560 });
});

// Names of the frames of one depth, from left to right.
function namesAt({ tree, profile: { names } }, depth) {
  return [...tree.name.slice(0, tree.count)].filter((id, frame) => tree.depth[frame] === depth).map(id => names.text[id]);
}

test('widest first, and among callers always', () => {
  const text = 'a;b;f 1\na;f;g 2\na;f;h 30\na;z;f 5\nm 3\n', key = keyOf(viewOf(text), 'f');
  assert.deepEqual(namesAt(viewOf(text), 2), ['b', 'f', 'z']);
  assert.deepEqual(namesAt(viewOf(text, ['s', '']), 2), ['f', 'z', 'b']);
  assert.deepEqual(namesAt(viewOf(text, ['r', '']), 1), ['h', 'f', 'm', 'g']);
  for (const letter of ['w', 'b']) assert.deepEqual(namesAt(viewOf(text, [letter, key]), -1), ['a', 'z', 'b']);
  for (const letter of ['w', 'd']) assert.deepEqual(namesAt(viewOf(text, [letter, key]), 1), ['h', 'g']);
  const turned = viewOf(text, ['r', ''], ['s', '']); // has no effect there, so it is not in the address
  assert.deepEqual(turned.operations.map(one => one.letter), ['r']);
});

test('a picture of reversed stacks, reversed again, has the order of its file', () => {
  const view = new View(profileOf('h;f;a 9\nb;f;a 1\n', { reverse: true }));
  view.add('r');
  view.rebuild();
  assert.equal(view.widestFirst, false);
  assert.deepEqual(namesAt(view, 3), ['b', 'h']);
});

test('left edges are sums of the siblings before', () => {
  const { tree, total, left } = viewOf();
  for (let frame = 1; frame < tree.count; frame++) {
    const up = tree.caller[frame];
    let wanted = left[up];
    for (let sibling = up + 1; sibling < frame; sibling = tree.end[sibling]) wanted += total[sibling];
    assert.equal(left[frame], wanted);
  }
});

test('the hash of a path finds its frame', () => {
  const view = viewOf();
  for (let frame = 0; frame < view.tree.count; frame++) assert.equal(view.frameOf(view.pathOf(frame)), frame);
  assert.equal(view.frameOf('nonsense'), 0);
  const text = 'm;g;f;g;x 5\n', sandwich = viewOf(text, ['w', keyOf(viewOf(text), 'f')]); // g is caller and callee
  for (let frame = 0; frame < sandwich.tree.count; frame++) assert.equal(sandwich.frameOf(sandwich.pathOf(frame)), frame);
});

test('a picture of reversed stacks: colours of the functions that ran, and the command for their stacks', () => {
  const view = new View(profileOf('read_[k];parse;app 4\nread_[k];main;app 1\nHash.get_[j];main;app 5\n', { reverse: true }));
  view.rebuild();
  const { names, config } = view.profile, at = name => names.text.indexOf(name), frameOf = (name, caller) =>
    view.tree.name.findIndex((id, frame) => frame && id === at(name) && names.text[view.tree.name[view.tree.caller[frame]]] === caller);
  const weights = zoom => Object.fromEntries([...colourWeights(view, zoom)].map((sum, colour) => [colour, sum]).filter(([, sum]) => sum));
  const kernel = names.colour[at('read')], java = names.colour[at('Hash.get')];
  assert.notEqual(kernel, java);
  assert.ok(config.reverse);
  assert.deepEqual(weights(0), { [kernel]: 5, [java]: 5 });
  assert.deepEqual(weights(frameOf('parse', 'read')), { [kernel]: 4 });
  assert.equal(stacksCommand(view, frameOf('parse', 'read'), 'x.svg'),
    "pjsvg --unpack 'x.svg' | grep '\\(^\\|;\\)parse;read_\\[k\\] [0-9 ]*$'");
});

test('rules beyond the bits of a number are not added', () => {
  const many = Array.from({ length: 40 }, (_, at) => `root;f${at} 1\n`).join(''), view = new View(profileOf(many));
  for (let at = 0; at < 31; at++) view.add('h', keyOf(view, `f${at}`));
  view.add('f', searchText('f39', {}));
  view.rebuild();
  assert.equal(view.total[0], 1);
  for (let at = 0; at < 40; at++) view.add('f', searchText(`f${39 - at}`, {}));
  assert.equal(view.operations.filter(one => one.kind === 'only').length, 30);
});

test('the table: self, and total of places inside of places once', () => {
  const view = viewOf(), sums = functionWeights(view, 0), { names } = view.profile, self = {}, total = {};
  for (const [path, weight] of stacks) {
    self[path.at(-1)] = (self[path.at(-1)] || 0) + weight;
    for (const name of new Set(path)) total[name] = (total[name] || 0) + weight;
  }
  const ids = names.functionOf.filter((id, at) => id === at && at < names.colour.length);
  for (const id of ids) { // read_[k] and read would be two; here each name is one function
    assert.equal(sums.self[0][id], self[names.text[id]] || 0, names.text[id]);
    assert.equal(sums.total[0][id], total[names.text[id]], names.text[id]);
  }
  assert.equal(ids.length, Object.keys(total).length);
  assert.equal(viewWeight(view, 0), stacks.reduce((sum, [, weight]) => sum + weight, 0));
});

const RULE = { sums: [10000, 10000], z: 2, points: .5, relative: .01, dispersion: 1, drift: 0, counted: 1 };

test('verdicts: noise, less, more, new, gone', () => {
  assert.equal(judge(1000, 1010, true, RULE).code, 0);
  assert.equal(judge(1000, 400, true, RULE).code, 8 + 4);
  assert.equal(judge(1000, 1900, true, RULE).code & 7, 3);
  assert.equal(judge(0, 500, true, RULE).code, 16 + 4);
  assert.equal(judge(500, 0, true, RULE).code, 16 + 8 + 4);
  assert.equal(judge(3, 0, true, RULE).code, 0);
});

test('a difference: what is gone stands beside the root, and the tree stays', () => {
  const text = 'app;fast 1000 400\napp;old;deep 900 0\napp;tiny 1 0\napp;rest 5000 6000\n', profile = profileOf(text, { diff: {} });
  const view = new View(profile);
  view.rebuild();
  const { count } = view.tree, gone = [];
  for (let frame = view.gone; frame < view.count; frame++) gone.push([profile.names.text[view.tree.name[frame]], view.total[frame]]);
  assert.deepEqual(gone, [['only before', 900], ['app', 900], ['old', 900], ['deep', 900]]);
  assert.equal(view.rest, 1);
  view.widths = 'B';
  view.rebuild();
  assert.equal(view.count, count);
  assert.ok(Number.isNaN(view.gone));
  const changed = changedFunctions(functionWeights(view, 0), view).map(id => profile.names.text[id]);
  assert.deepEqual(changed.slice(0, 2).sort(), ['deep', 'rest']);
});

test('a difference: the function of a sandwich has a verdict, and all has none', () => {
  const view = new View(profileOf('app;fast 1000 400\napp;rest 5000 5900\n', { diff: {} }));
  view.rebuild();
  assert.equal(view.verdict(0).code, 0);
  view.add('w', keyOf(view, 'fast'));
  view.rebuild();
  assert.ok(view.verdict(0).code);
  assert.deepEqual(view.verdict(0).code, view.judge(1000, 400).code);
});

test('a difference with an empty side: the larger of both is drawn', () => {
  for (const text of ['a;b 0 1000\n', 'a;b 1000 0\n']) {
    const view = new View(profileOf(text, { diff: { shares: 1 } }));
    view.widths = 'U';
    view.rebuild();
    assert.equal(view.total[1], 1000, text);
  }
});

test('numbers', () => {
  assert.equal(grouped(1234567.891), '1,234,567.89');
  assert.equal(signed(-1.25, 1), '\u22121.3');
  assert.deepEqual([1, 2].map(count => counted(count, 'samples')), ['1 sample', '2 samples']);
  assert.deepEqual([1, 1].map((count, at) => counted(count, ['class', 'ms'][at])), ['1 class', '1 ms']);
  assert.deepEqual([[0, 5], [5, 5], [1, 1e6], [1, 200], [1, 3]].map(([part, all]) => percent(part, all)), ['0%', '100%', '<0.01%', '0.50%', '33.3%']);
  assert.equal(new Weights({ unit: 'bytes', factor: 1 }).text(1536), '1.5 KiB');
  assert.equal(new Weights({ unit: 'us', factor: 1 }).text(3e6), '3 s');
  assert.equal(new Weights({ unit: '', factor: 2 }).text(3), '6 samples');
});

test('shorter forms of names', () => {
  const long = 'a::'.repeat(20000);
  assert.deepEqual(shorterForms(long), [long]);
  assert.deepEqual(shorterForms('java/util/HashMap.get'), ['java/util/HashMap.get', 'j.u.HashMap.get', 'HashMap.get', 'get']);
  assert.deepEqual(shorterForms('std::sort<int*>(int*)'), ['std::sort<int*>(int*)', 'std::sort', 'sort']);
  assert.deepEqual(shorterForms('github.com/x/y.(*T).Run'), ['github.com/x/y.(*T).Run', 'y.(*T).Run', '(*T).Run', 'Run']);
  assert.deepEqual(shorterForms('json.decoder.JSONDecoder.decode:decoder.py:338'), ['json.decoder.JSONDecoder.decode:decoder.py:338', 'json.decoder.JSONDecoder.decode', 'j.d.JSONDecoder.decode', 'JSONDecoder.decode', 'decode']);
  assert.deepEqual(shorterForms('Builtins_ArrayMap', 'JavaScript'), ['Builtins_ArrayMap', 'ArrayMap']);
  assert.deepEqual(shorterForms('__main__.main:tool:12'), ['__main__.main:tool:12', '__main__.main']);
  assert.deepEqual(shorterForms('asyncio.base_events.run.<locals>.step', 'Python'), ['asyncio.base_events.run.<locals>.step', 'base_events.run.<locals>.step', 'run.<locals>.step', 'step']);
  assert.deepEqual(shorterForms('tool.lines:tool.py:3', 'Python'), ['tool.lines:tool.py:3', 'tool.lines', 'lines']);
  assert.deepEqual(shorterForms('account_kernel_stack.isra.0', 'native'), ['account_kernel_stack.isra.0']);
  assert.deepEqual(shorterForms('run node:fs:3:4'), ['run node:fs:3:4']);
  assert.deepEqual(shorterForms('kworker/1:1H-kb', 'process'), ['kworker/1:1H-kb']);
});

test('labels fit, and say something or nothing', () => {
  const { names } = profileOf(folded), widths = Array(127).fill(6), labels = new Labels(names, { truncate: 'smart', widths, em: 11 });
  const id = names.text.indexOf('java/util/HashMap.get');
  for (let width = 0; width < 200; width++) {
    const label = labels.label(id, width);
    assert.ok([...label].length * 6 <= width, label);
  }
  assert.equal(labels.label(id, 70), 'HashMap.get');
});

test('labels are cut between words only', () => {
  const text = 'p_[=];a/Loop.binarySortOfAll_[j];read_pages_of_file;größe_lesen;sha256_update;SSL_CTX_new_ex;x 1\n', { names } = profileOf(text);
  const widths = Array(256).fill(1), labels = new Labels(names, { truncate: 'smart', widths, em: 2 });
  const all = name => [...new Set(Array.from({ length: name.length }, (_, width) => labels.label(names.text.indexOf(name), width)))];
  assert.deepEqual(all('a/Loop.binarySortOfAll'), ['', 'binary\u2026', 'binarySort\u2026', 'binarySortOf\u2026', 'binarySortOfAll', 'Loop.binarySortOfAll']);
  assert.deepEqual(all('gr\u00f6\u00dfe_lesen'), ['', 'gr\u00f6\u00dfe\u2026']);
  assert.deepEqual(all('sha256_update'), ['', 'sha256\u2026']);
  assert.deepEqual(all('SSL_CTX_new_ex'), ['', 'SSL\u2026', 'SSL_CTX\u2026', 'SSL_CTX_new\u2026']);
  assert.deepEqual(all('read_pages_of_file'), ['', 'read\u2026', 'read_pages\u2026', 'read_pages_of\u2026']);
});

test('a search is a name in quotes, a text, words, or a pattern: the first that finds something', () => {
  const { names } = profileOf(folded), found = text => names.text.filter((name, id) => matchNames(names, text, {}).hits[id]);
  assert.deepEqual([...new Set(found('READ'))], ['read']);
  assert.deepEqual([...new Set(found('get util'))], ['java/util/HashMap.get']);
  assert.deepEqual(found('^(run|db)$'), ['db', 'run']);
  assert.deepEqual(found(exactly('run')), ['run']);
  assert.deepEqual(found('('), []);
  assert.ok(matchNames(names, '(a+)+$', {}).waits);
  assert.throws(() => matchNames(names, '(', { regexp: true }));
});

test('patterns that might backtrack for long wait', () => {
  for (const pattern of ['(a+)+$', '.*.*x', '(.|.)*x', '(.*)\\1z']) assert.ok(mayBacktrack(pattern), pattern);
  for (const pattern of ['read|write', 'comp.*r', '^(read|parse)$']) assert.ok(!mayBacktrack(pattern), pattern);
});
