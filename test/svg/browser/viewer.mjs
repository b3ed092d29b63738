// The viewer as its user meets it: mouse, keyboard and address in; visible text, pixels and address out.
// Numbers are computed here from the folded text, never taken from the viewer.
import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { encode } from '../encode.mjs';
import { test, ok, is, runTests, makeSvg, pjsvg, real, blank, open, settle, soon, resize, url, read, scratch, pixel, pixels, bar, box, said, frame, hover, click, find, hash, labels, value, fill } from './lib.mjs';

const folded = `app;main;run;a.b[c]* 1500
app;main;run;compute 4000
app;main;run;compute;compute 500
app;main;run;Computer 1000
app;main;run;read_[k] 1200
app;main;parse 3000
app;main;parse;read_[k] 1000
app;main;parse;java/util/HashMap.get_[j] 800
app;main;parse;tiny_one 1
app;main;parse;tiny_one;tiny_two 1
db;loop;java/util/HashMap.get_[j] 5000
db;loop;java/util/HashMap.get_[j];read_[k] 1998
`;
const stacks = folded.trim().split('\n').map(l => [l.replace(/ \d+$/, '').split(';'), Number(l.split(' ').pop())]);
const total = stacks.reduce((s, [, w]) => s + w, 0);
const inclusive = path => stacks.reduce((s, [f, w]) => s + ((f.join(';') + ';').startsWith(path + ';') ? w : 0), 0);
const self = path => stacks.reduce((s, [f, w]) => s + (f.join(';') === path ? w : 0), 0);
const bareName = f => f.replace(/_\[.\]$/, '');
function matched(test, under = '') {           // share of stacks with a match in them, and number of frames that match
  const k = under ? under.split(';').length - 1 : 0, frames = new Set();
  let w = 0;
  for (const [f, n] of stacks) {
    if (under && !(f.join(';') + ';').startsWith(under + ';')) continue;
    let any = 0;
    f.forEach((name, i) => { if (i >= k && test(bareName(name))) frames.add(f.slice(0, i + 1).join(';')), any = 1; });
    w += any * n;
  }
  return [w, frames.size];
}
const pct = (a, b) => {
  const p = 100 * a / b;
  return p === 0 ? '0%' : p === 100 ? '100%' : p < 0.005 ? '<0.01%' : p.toFixed(p < 1 ? 2 : 1) + '%';
};
const thousands = n => n.toLocaleString('en-US');
const svg = makeSvg('basic', folded, { title: 'A <b>title</b> & more' }), at = url(svg);
const healthy = page => is(page.trouble.join('\n'), '', 'trouble on the page');
const near = (a, c) => a.every((v, i) => Math.abs(v - c[i]) <= 3);
const clickAt = async (page, name) => { await page.getByRole('button', { name, exact: true }).click(); await settle(page); };

test('title, totals and legend are shown', async b => {
  const page = await open(b, at);
  ok(await page.getByText('A <b>title</b> & more', { exact: true }).last().isVisible(), 'title');
  ok(await page.getByText(`${thousands(total)} samples`).last().isVisible(), 'totals');
  const share = suffix => pct(stacks.reduce((s, [f, w]) => s + (f[f.length - 1].endsWith(suffix) ? w : 0), 0), total);
  is((await page.getByRole('button', { name: /^Java: / }).innerText()).replace(/\s+/g, ' '), 'Java ' + share('_[j]'), 'Java');
  is((await page.getByRole('button', { name: /^kernel: / }).innerText()).replace(/\s+/g, ' '), 'kernel ' + share('_[k]'), 'kernel');
  ok(!(await page.getByText('open in a browser').count()), 'static layer is gone');
  healthy(page);
});

test('hover bar: samples, % of total, % of caller, self', async b => {
  const page = await open(b, at);
  for (const [label, path] of [['run', 'app;main;run'], ['parse', 'app;main;parse'], ['Computer', 'app;main;run;Computer'], ['loop', 'db;loop'], ['main', 'app;main']]) {
    await hover(page, label);
    const t = inclusive(path), c = inclusive(path.replace(/;[^;]*$/, '')), s = self(path);
    const text = await bar(page);
    ok(text.startsWith(`Function: ${label} — ${thousands(t)} samples · ${pct(t, total)} of total · ${pct(t, c)} of caller · self ${thousands(s)} (${pct(s, total)})`), text);
  }
  await page.mouse.move(640, 20);
  await settle(page);
  ok(!/samples/.test(await bar(page)), 'the bar empties: ' + await bar(page));
  healthy(page);
});

test('--factor, --countname and --nametype', async b => {
  const page = await open(b, url(makeSvg('factor', folded, { factor: 2.5, unit: 'ticks', nametype: 'Method:' })));
  await hover(page, 'parse');
  const t = inclusive('app;main;parse');
  ok((await bar(page)).startsWith(`Method: parse — ${thousands(t * 2.5)} ticks · ${pct(t, total)} of total`), await bar(page));
  healthy(page);
});

test('zoom: exact widths, callers stay, click on a caller zooms out', async b => {
  const page = await open(b, at);
  const all = await frame(page, 'all').boundingBox(), run = await frame(page, 'run').boundingBox();
  await click(page, 'run');
  ok(/^#z=\w+$/.test(await hash(page)), 'address: ' + await hash(page));
  const after = await frame(page, 'run').boundingBox();
  ok(Math.abs(after.y - run.y) < 1, 'the row does not move');
  ok(Math.abs(after.x - all.x) < 1, 'it begins at the left edge');
  ok(await frame(page, 'all').isVisible() && await frame(page, 'main').isVisible(), 'callers stay');
  is(await frame(page, 'parse').count() + await frame(page, 'loop').count(), 0, 'others are gone');
  // The box of compute is as wide as its share: look for its edges by what the bar says under the pointer.
  const name = await frame(page, 'compute').first().boundingBox(), y = name.y + name.height / 2, W = 1280 - 24;
  const before = inclusive('app;main;run;Computer') + inclusive('app;main;run;a.b[c]*'), share = inclusive('app;main;run;compute') / inclusive('app;main;run');
  const left = 12 + W * before / inclusive('app;main;run'), right = left + W * share;
  for (const [x, inside] of [[left + 1.5, true], [left - 1.5, false], [right - 1.5, true], [right + 1.5, false]]) {
    await page.mouse.move(x, y);
    await settle(page);
    is(/Function: compute /.test(await bar(page)), inside, `compute under ${x.toFixed(1)}`);
  }
  await hover(page, 'Computer');
  ok((await bar(page)).includes(`${pct(inclusive('app;main;run;Computer'), inclusive('app;main;run'))} of view`), await bar(page));
  await click(page, 'main');
  ok(await frame(page, 'parse').isVisible(), 'zoomed out to main');
  is(await frame(page, 'loop').count(), 0, 'but not further');
  await click(page, 'all');
  ok(await frame(page, 'loop').isVisible(), 'all is back');
  ok(/^#?$/.test(await hash(page)), 'address: ' + await hash(page));
  healthy(page);
});

test('breadcrumb, 0, Escape and Backspace', async b => {
  const page = await open(b, at), trail = page.getByRole('navigation', { name: 'Zoomed to' });
  is(await trail.isVisible(), false, 'no breadcrumb at first');
  await click(page, 'run');
  is((await trail.getByRole('button').allInnerTexts()).map(s => s.trim()).join(' '), 'all app main run', 'breadcrumb');
  await trail.getByRole('button', { name: 'app', exact: true }).click();
  await settle(page);
  ok(await frame(page, 'parse').isVisible() && !(await frame(page, 'loop').count()), 'zoomed to app');
  await page.keyboard.press('Backspace');
  await settle(page);
  ok(await frame(page, 'loop').isVisible(), 'Backspace zooms out');
  for (const key of ['0', 'Escape']) {
    await click(page, 'run');
    is(await frame(page, 'loop').count(), 0, 'zoomed');
    await page.keyboard.press(key);
    await settle(page);
    ok(await frame(page, 'loop').isVisible(), key + ' resets');
  }
  healthy(page);
});

test('Back undoes a zoom', async b => {
  const page = await open(b, at);
  await click(page, 'app');
  await click(page, 'run');
  await page.goBack();
  await soon(async () => ok(await frame(page, 'parse').isVisible() && !(await frame(page, 'loop').count()), 'back at app'));
  await page.goBack();
  await soon(async () => ok(await frame(page, 'loop').isVisible(), 'back at all'));
  await page.goForward();
  await soon(async () => is(await frame(page, 'loop').count(), 0, 'forward again'));
  healthy(page);
});

test('search: literal, ignoring case, with the share of the view and without overlap', async b => {
  const page = await open(b, at);
  const expect = async (q, match, under) => {
    const [w, k] = matched(match, under), of = under ? inclusive(under) : total;
    is(await said(page), k ? `${pct(w, of)}${under ? ' of view' : ''} · ${thousands(k)}` : 'no match', 'search for ' + q);
  };
  for (const q of ['read', 'COMPUTE', 'a.b[c]*', 'HashMap', 'tiny', 'zzz', '(', 'main']) {
    await find(page, q);
    await expect(q, n => n.toLowerCase().includes(q.toLowerCase()));
  }
  const kept = await said(page);
  await page.keyboard.press('Escape');
  await settle(page);
  is(await said(page), kept, 'Escape leaves the box and keeps the match');
  await page.keyboard.press('Escape');
  await settle(page);
  is(await said(page), '', 'then it clears');
  await click(page, 'parse');
  await find(page, 'read');
  await expect('read in parse', n => n.includes('read'), 'app;main;parse');
  healthy(page);
});

test('search: match case, regular expressions, bad ones', async b => {
  const page = await open(b, at);
  await find(page, 'Compute');
  await clickAt(page, 'Match case');
  let [w, k] = matched(n => n.includes('Compute'));
  is(await said(page), `${pct(w, total)} · ${k}`, 'case matters');
  await clickAt(page, 'Match case');
  await clickAt(page, 'Regexp');
  await find(page, '^comp.*r$');
  [w, k] = matched(n => /^comp.*r$/i.test(n));
  is(await said(page), `${pct(w, total)} · ${k}`, 'regexp');
  await find(page, 'a(b');
  ok(/regexp/.test(await said(page)), 'a bad one is said to be bad: ' + await said(page));
  await find(page, '(.?){40}' + '.?'.repeat(40) + '\\x00');
  ok(/Enter/.test(await said(page)), 'one that may take for ever is not run while it is typed: ' + await said(page));
  await find(page, '^(c.*|p.*)e$');
  ok(/Enter/.test(await said(page)), 'nor one that might: ' + await said(page));
  await page.keyboard.press('Enter');
  await settle(page);
  is((await said(page)).split(' · ')[1], String(matched(n => /^(c.*|p.*)e$/i.test(n))[1]), 'Enter runs it');
  await find(page, '_\\[k\\]');
  is((await said(page)).split(' · ')[1], String(new Set(stacks.flatMap(([f]) => f.map((n, i) => /_\[k\]$/.test(n) ? f.slice(0, i + 1).join(';') : null)).filter(Boolean)).size), 'the suffix can be searched for');
  is(await hash(page), '#s=' + encodeURIComponent('_\\[k\\]') + ';f=r', 'address');
  healthy(page);
});

test('search: next and previous', async b => {
  const page = await open(b, at);
  await find(page, 'read');
  const [, k] = matched(n => n.includes('read')), seen = [], paths = new Set();
  for (const [f] of stacks) f.forEach((n, i) => n.includes('read') && paths.add(f.slice(0, i + 1).join(';')));
  const widths = [...paths].map(inclusive).sort((a, b) => b - a);
  for (let i = 1; i <= k; i++) {
    await page.keyboard.press(i === 1 ? 'Enter' : 'n');   // Enter goes to the graph
    await settle(page);
    ok((await said(page)).endsWith(`${i} of ${k}`), await said(page));
    ok(/Function: read — /.test(await bar(page)), 'the bar tells of it: ' + await bar(page));
    seen.push(await bar(page));
    ok(seen.at(-1).startsWith(`Function: read — ${thousands(widths[i - 1])} samples`), `the widest first: ${seen.at(-1)}`);
  }
  is(new Set(seen).size, k, 'each match once');
  await page.keyboard.press('n');
  await settle(page);
  ok((await said(page)).endsWith(`1 of ${k}`), 'around');
  await page.keyboard.press('Shift+N');
  await settle(page);
  ok((await said(page)).endsWith(`${k} of ${k}`), 'and back');
  await page.mouse.click(640, 15);
  await page.getByRole('application').focus();
  await page.keyboard.press('n');
  await settle(page);
  ok((await said(page)).endsWith(`1 of ${k}`), 'N');
  await page.keyboard.press('Shift+N');
  await settle(page);
  ok((await said(page)).endsWith(`${k} of ${k}`), 'Shift+N');
  await clickAt(page, 'Previous (Shift+N)');
  ok((await said(page)).endsWith(`${k - 1} of ${k}`), 'button');
  // a frame that is too narrow to be drawn is still found, shown by its place and numbers
  await find(page, 'tiny_two');
  await page.keyboard.press('Enter');
  await settle(page);
  ok((await bar(page)).startsWith('Function: tiny_two — 1 sample ·'), await bar(page));
  healthy(page);
});

test('search: of matches of one width the left one comes first', async b => {
  const page = await open(b, url(makeSvg('ties', 'a;hit 5\nb;hit 5\nc;hit 9\nd;hit 5\n')));
  await find(page, 'hit');
  const at = [];
  for (let i = 0; i < 4; i++) {
    await page.keyboard.press(i ? 'n' : 'Enter');
    await settle(page);
    at.push((await page.locator('path.pj-on').boundingBox()).x);
  }
  is(at.map(x => at.filter(y => y < x).length).join(' '), '2 0 1 3', 'order');
  healthy(page);
});

test('labels: processes keep their beginning, functions what tells most; never half a template', async b => {
  const processes = ['kworker/1:1H-kb', 'ksoftirqd/1', 'GC_Thread#0', 'async/await.rs'], filler = 'x;a 60\n';
  for (const width of [700, 1000]) {
    const page = await open(b, url(makeSvg('processes', processes.map(p => `${p};r 10\n`).join('') + filler)), { viewport: { width, height: 400 } });
    const all = await labels(page);
    for (const p of processes) ok(all.some(t => t === p || /…$/.test(t) && t.length > 3 && p.startsWith(t.slice(0, -1))), `${width}: ${p} in ${all.join(' | ')}`);
    await click(page, all.find(t => t.startsWith('kw')));
    is((await page.getByRole('navigation').getByRole('button').allInnerTexts()).at(-1).trim(), processes[0], 'whole in the breadcrumb');
    healthy(page);
  }
  const sort = '__final_insertion_sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, __gnu_cxx::__ops::_Iter_comp_iter<main()::<lambda(int, int)> > >';
  const names = { [sort]: ['__final_insertion_sort'], 'std::sort<__gnu_cxx::__normal_iterator<int*, std::vector<int> > >': ['std::sort', 'sort'],
    'java/util/ComparableTimSort.binarySort_[j]': ['java/util/ComparableTimSort.binarySort', 'j.u.ComparableTimSort.binarySort', 'ComparableTimSort.binarySort', 'binarySort'],
    'java/util/Collections.sort_[j]': ['java/util/Collections.sort', 'j.u.Collections.sort', 'Collections.sort', 'sort'] };
  const page = await open(b, url(makeSvg('telling', Object.keys(names).map(n => `p;m;${n} 1\n`).join(''))));
  for (let width = 260; width < 1800; width += 44) {
    await resize(page, width, 400);
    for (const label of (await labels(page)).filter(t => !['all', 'p', 'm'].includes(t))) {
      const good = Object.values(names).flat().includes(label) || /^\w{2,}…$/.test(label)
        || [['ComparableTimSort', '.binarySort'], ['Collections', '.sort']].some(([c, m]) => /^…\w/.test(label) && (c + m).endsWith(label.slice(1)) && label.length - 1 - m.length >= c.length / 2);
      ok(good || sort.startsWith(label) || /^std::(sort|vector)/.test(label) && !/>$/.test(label), `${width}: ${label}`);
    }
  }
  healthy(page);
});

test('the legend says what the static one says', async b => {
  if (!real) return;
  const mixed = readFileSync(new URL('../cases/legend-mixed/in.folded', import.meta.url), 'utf8'), path = makeSvg('mixed', mixed);
  const chips = [...read(path).matchAll(/<tspan dx="5">([^<]+)<\/tspan><tspan dx="5" fill-opacity="[^"]*">([^<]+)</g)].map(m => m[1] + ' ' + m[2]);
  const page = await open(b, url(path));
  const shown = (await page.getByRole('button', { name: /: dim the rest$/ }).allInnerTexts()).map(t => t.replace(/\s+/g, ' ').trim());
  ok(chips.length > 5, chips.join(', '));
  is(shown.join(', '), chips.join(', '), 'chips');
  healthy(page);
});

test('frames have the colours that the static picture gives them', async b => {
  if (!real) return;
  const names = ['alpha', 'beta', 'delta', 'epsilon', 'gamma', 'read_[k]', 'ns::f', '\u{1f525}fire'], path = makeSvg('tints', names.map(n => `p;${n} 5\n`).join(''), { width: 1200 });
  const html = join(scratch, 'tints.html'), size = { viewport: { width: 1200, height: 400 } };
  writeFileSync(html, `<!doctype html><title>x</title><body style="margin:0"><img style="display:block" src="${url(path)}">`);
  const still = await open(b, url(html), size), high = await still.evaluate(() => document.images[0].height), page = await open(b, url(path), size);
  for (const [i, n] of names.entries()) {
    const r = await frame(page, bareName(n)).boundingBox(), x = r.x + 100, seen = await pixel(page, x, r.y + r.height / 2), was = await pixel(still, x, high - 32 - 2.5 * 18);
    ok(seen.every((v, k) => Math.abs(v - was[k]) <= 2), `${n} (${i}): ${seen}, in the static picture ${was}`);
  }
});

test('one of a unit', async b => {
  for (const [unit, said] of [['samples', '1 sample'], ['bytes', '1 byte'], ['ms', '1 ms'], ['class', '1 class']]) {
    const page = await open(b, url(makeSvg('one', 'alone 1\n', { unit })));
    ok(await page.getByText(`${said} · 1 frame · 1 function · depth 1`).last().isVisible(), unit);
    await hover(page, 'alone');
    ok((await bar(page)).startsWith(`Function: alone — ${said} ·`), await bar(page));
    healthy(page);
  }
});

test('/, Ctrl+F and F3 go to the search box', async b => {
  const page = await open(b, at);
  for (const key of ['/', 'Control+f', 'F3']) {
    await page.getByRole('application').focus();
    await page.keyboard.press(key);
    await page.keyboard.type('parse');
    await settle(page);
    is(await value(page), 'parse', key);
    await page.keyboard.press('Escape');
  }
  healthy(page);
});

test('matches are coloured, the rest fades', async b => {
  const page = await open(b, at);
  const spot = await frame(page, 'parse').boundingBox(), other = await frame(page, 'loop').boundingBox();
  const was = await pixel(page, other.x - 2, other.y + 4);
  await find(page, 'parse');
  ok(near(await pixel(page, spot.x - 2, spot.y + 4), [0xd6, 0x24, 0x9f]), 'hit: ' + await pixel(page, spot.x - 2, spot.y + 4));
  const now = await pixel(page, other.x - 2, other.y + 4);
  ok(now.every((v, i) => v >= was[i]) && !near(now, was), `faded: ${was} -> ${now}`);
  healthy(page);
});

test('the address restores zoom, search, flags and theme; after reload too', async b => {
  const page = await open(b, at);
  await click(page, 'parse');
  await find(page, 'READ');
  await page.getByRole('application').focus();
  await page.keyboard.press('d');
  await settle(page);
  const link = at + await hash(page), seen = await said(page);
  ok(/^#z=\w+;s=READ;d=dark$/.test(await hash(page)), await hash(page));
  for (const how of ['reload', 'fresh']) {
    const p = how === 'reload' ? page : await open(b, link);
    if (how === 'reload') await p.reload();
    await settle(p);
    is(await value(p), 'READ', how + ': box');
    is(await said(p), seen, how + ': share');
    ok(await frame(p, 'parse').isVisible() && !(await frame(p, 'run').count()), how + ': zoom');
    ok((await pixel(p, 3, 400)).every(v => v < 60), how + ': dark');
    healthy(p);
  }
  await page.goto(at + '#s=main');
  await soon(async () => is(await value(page), 'main', 'a changed fragment counts'));
  ok(await frame(page, 'run').isVisible(), 'and resets the rest');
});

test.full('hostile addresses and patterns do no harm', async b => {
  for (const bad of ['#z=zzzzzz', '#z=%', '#s=%E0%A4%A', '#s=(;f=r', '#;;=;z', '#f=rc;s=' + 'a'.repeat(5000), '#z=__proto__;d=constructor']) {
    const p = await open(b, at + bad);
    ok(await frame(p, 'run').isVisible(), bad);
    healthy(p);
  }
  for (const q of ['(a+)+$', '.?'.repeat(60) + '\\x00', '.*.*\\x00', '[^\n]?'.repeat(60) + '\\x00', '(.|.)'.repeat(39) + '\\x00', '(.|.)*\\x00', '(.*)\\1z']) {
    const p = await open(b, at + '#s=' + encodeURIComponent(q) + ';f=r');
    ok(/Enter/.test(await said(p)), `a dangerous pattern waits: ${q}: ${await said(p)}`);
    await p.context().close();
  }
  for (const q of ['read|compute|parse', 'comp.*r', '^(read|parse)$', 'a\\.b\\[c\\]\\*.*']) {
    const p = await open(b, at + '#s=' + encodeURIComponent(q) + ';f=r');
    ok(/ · [1-9]/.test(await said(p)), `a harmless one does not: ${q}: ${await said(p)}`);
    await p.context().close();
  }
});

test('dark by preference, light by button', async b => {
  const page = await open(b, at, { colorScheme: 'dark' });
  ok((await pixel(page, 3, 400)).every(v => v < 60), 'dark');
  await clickAt(page, 'Theme (D)');
  ok((await pixel(page, 3, 400)).every(v => v > 240), 'light');
  healthy(page);
});

test('600 px: nothing overlaps, nothing is cut off', async b => {
  for (const width of [600, 400]) {
    const page = await open(b, url(makeSvg('long', folded, { title: 'A title of considerable length that has to go somewhere when the window is as narrow as this' })), { viewport: { width, height: 700 } });
    await find(page, 'read');
    const parts = [page.getByText(/^A title/).last(), page.getByText(/samples · /).first(), box(page), page.getByRole('application'), ...width < 600 ? [] : [page.getByRole('status')],   // on phones long lines lie over the graph's foot
      ...await page.getByRole('button').all()], rects = [];
    for (const p of parts) if (await p.isVisible()) rects.push(await p.boundingBox());
    for (const r of rects) ok(r.x >= 0 && r.x + r.width <= width + .5, `${width}: inside the window: ${JSON.stringify(r)}`);
    for (let i = 0; i < rects.length; i++) for (let k = 0; k < i; k++) {
      const a = rects[i], c = rects[k];
      const over = Math.min(a.x + a.width, c.x + c.width) - Math.max(a.x, c.x) > .5 && Math.min(a.y + a.height, c.y + c.height) - Math.max(a.y, c.y) > .5;
      ok(!over, `${width}: ${JSON.stringify(a)} over ${JSON.stringify(c)}`);
    }
    for (const r of await page.getByRole('button').all()) { const q = await r.boundingBox(); ok(q.height >= 24 && q.width >= 24, 'targets of 24 px'); }
    healthy(page);
  }
});

test('fluid width follows the window; a fixed width does not', async b => {
  const page = await open(b, at);
  await resize(page, 900, 700);
  await page.mouse.move(900 - 14, 690 - 40);
  const fixed = await open(b, url(makeSvg('fixed', folded, { width: 800 })));
  const edge = async (p, x) => { const f = await frame(p, 'all').boundingBox(); await p.mouse.move(x, f.y + 5); await settle(p); return /all/.test(await bar(p)); };
  ok(await edge(page, 885) && !(await edge(page, 891)), 'the root ends at the edge of the window');
  ok(await edge(fixed, 785) && !(await edge(fixed, 792)), 'fixed');
  healthy(page);
});

test('a tall graph is shown from its root; inverted from its top', async b => {
  const deep = Array.from({ length: 90 }, (_, i) => Array.from({ length: i + 1 }, (_, k) => 'level' + k).join(';') + ' 5').join('\n') + '\n';
  const inWindow = async p => { const r = await frame(p, 'all').boundingBox(); return r && r.y > 60 && r.y < 860; };
  const up = await open(b, url(makeSvg('deep', deep))), down = await open(b, url(makeSvg('icicle', deep, { inverted: 1 })));
  ok(await inWindow(up), 'flame');
  ok(await inWindow(down), 'icicle');
  const a = await frame(up, 'all').boundingBox(), c = await frame(up, 'level0').boundingBox(), d = await frame(down, 'all').boundingBox(), e = await frame(down, 'level0').boundingBox();
  ok(c.y < a.y && e.y > d.y, 'up and down');
  await up.mouse.move(600, 500);
  await up.mouse.wheel(0, -5000);
  await soon(async () => {
    const tops = await labels(up);
    ok(tops.some(t => /^level[78]\d$/.test(t)), 'scrolling shows the tips: ' + tops.slice(0, 5));
  });
  healthy(up);
  healthy(down);
});

test('legend chip dims the rest', async b => {
  const page = await open(b, at), spot = async t => { const r = await frame(page, t).first().boundingBox(); return pixel(page, r.x - 2, r.y + 4); };
  const java = await page.getByRole('application').getByText(/HashMap/).last().boundingBox();
  const j0 = await pixel(page, java.x - 2, java.y + 4), r0 = await spot('run');
  await page.getByRole('button', { name: /^Java: / }).click();
  await page.mouse.move(640, 20);
  await settle(page);
  is(String(await pixel(page, java.x - 2, java.y + 4)), String(j0), 'Java stays');
  ok(String(await spot('run')) !== String(r0), 'the rest fades');
  await page.getByRole('button', { name: /^Java: / }).click();
  await page.mouse.move(640, 20);
  await settle(page);
  is(String(await spot('run')), String(r0), 'and returns');
  healthy(page);
});

test('keyboard reaches every control, with a visible focus', async b => {
  const page = await open(b, at), names = [];
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate(() => document.activeElement?.getAttribute('aria-label') || ''));
  }
  for (const want of ['Search', 'Match case', 'Regexp', 'Theme (D)', 'Flame graph']) ok(names.includes(want), `${want} in ${names}`);
  healthy(page);
});

test('touch: the first tap tells, the second zooms', async b => {
  const page = await open(b, at, { hasTouch: true, viewport: { width: 800, height: 700 } });
  const r = await frame(page, 'parse').boundingBox(), tap = () => page.touchscreen.tap(r.x + 5, r.y + 5);
  await tap();
  await soon(async () => ok(/Function: parse/.test(await bar(page)), 'told: ' + await bar(page)));
  is(await frame(page, 'loop').count(), 1, 'and no more');
  await tap();
  await soon(async () => is(await frame(page, 'loop').count(), 0, 'zoomed'));
  healthy(page);
});

test('two graphs in one HTML page, each on its own', async b => {
  const path = join(scratch, 'two.html'), one = makeSvg('one', folded), two = makeSvg('other', 'x;second;left 60\nx;second;right 40\n');
  writeFileSync(path, `<!doctype html><meta charset=utf-8><title>two</title><h1>Two</h1><div>${read(one)}</div><p>between</p><div>${read(two)}</div>`);
  const page = await open(b, url(path), { viewport: { width: 1000, height: 900 } });
  await click(page, 'run');
  is(await frame(page, 'loop').count(), 0, 'the first is zoomed');
  ok(await frame(page, 'right').count(), 'the second is not');
  is(await hash(page), '', 'the page keeps its address');
  await frame(page, 'right').scrollIntoViewIfNeeded();
  await hover(page, 'right');
  ok((await bar(page)).startsWith('Function: right — 40 samples · 40.0% of total'), await bar(page));
  await fill(page, 1, 'left');
  is(await value(page), '', 'one box each');
  healthy(page);
});

async function serve(handler) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await new Promise(r => server.on('listening', r));
  return [server, 'http://127.0.0.1:' + server.address().port];
}

test("Content-Security-Policy: script-src 'sha256-..' runs, 'none' shows the static picture", async b => {
  const text = read(svg), script = /<script><!\[CDATA\[([^]*)\]\]><\/script>/.exec(text)[1];
  const sha = createHash('sha256').update(script).digest('base64');
  const [server, base] = await serve((req, res) => {
    const inline = req.url.startsWith('/html'), none = req.url.endsWith('none');
    res.setHeader('Content-Type', inline ? 'text/html; charset=utf-8' : 'image/svg+xml');
    res.setHeader('Content-Security-Policy', none ? "sandbox; default-src 'none'; style-src 'self'" : `script-src 'sha256-${sha}'`);
    res.end(inline ? '<!doctype html><title>x</title>' + text : text);
  });
  try {
    for (const p of ['/svg', '/html']) {
      const page = await open(b, base + p);
      await click(page, 'run');
      is(await frame(page, 'loop').count(), 0, p + ' works');
      healthy(page);
    }
    const page = await blank(b);   // no script, so nothing to ask it
    await page.goto(base + '/none');
    const shot = await pixels(page), colours = new Set();
    for (let y = 0; y < 400; y += 4) for (let x = 0; x < 1200; x += 4) colours.add(String(shot.at(x, y)));
    is(String(shot.at(2, 2)), '255,255,255', 'background of the static picture');
    ok(colours.size > 4, 'the static picture has colours');
  } finally {
    server.close();
  }
});

test('<object> and a sandboxed iframe', async b => {
  const path = join(scratch, 'frames.html');
  writeFileSync(path, `<!doctype html><title>frames</title><object data="${at}" type="image/svg+xml" width=900 height=400></object><iframe sandbox="allow-scripts" src="${at}" width=900 height=400></iframe>`);
  const page = await open(b, url(path), { viewport: { width: 1000, height: 900 } });
  // (Listed anew each time: the frame of an object may be replaced, and may be there before clicks get into it.)
  for (const k of [0, 1]) await soon(async () => {
    const inner = page.frames().filter(f => f !== page.mainFrame());
    is(inner.length, 2, 'frames');
    const other = await frame(inner[k], 'loop').count(), run = await frame(inner[k], 'run').boundingBox({ timeout: 15000 });
    if (other) await page.mouse.click(run.x + 3, run.y + 3);
    is(await frame(inner[k], 'loop').count(), 0, 'zoomed');
  });
  is(page.trouble.filter(t => !/localStorage/.test(t)).join('\n'), '', 'trouble');
});

// What a key saves: {name, path, text}.
async function saved(page, key) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press(key)]), path = await download.path();
  return { name: download.suggestedFilename(), path, text: readFileSync(path, 'utf8') };
}

test('the table is saved as CSV, the stacks as folded text: what the view has', async b => {
  const page = await open(b, at), file = at.slice(at.lastIndexOf('/') + 1, -4);
  const all = await saved(page, 'Shift+E');
  is(all.name, file + '.folded', 'name');
  is(all.text.split('\n').filter(l => !l.startsWith('# pj unit=')).sort().join('\n').trim(), folded.trim().split('\n').sort().join('\n'), 'stacks');
  ok((await bar(page)).startsWith(`Saved: ${file}.folded`) && !(await bar(page)).includes('No file'), await bar(page));
  const table = await saved(page, 'e'), rows = table.text.trim().split('\n');
  is(table.name, file + '.csv', 'name');
  is(rows[0], 'Function,Self,Total', 'columns');
  const of = (name, part) => stacks.reduce((sum, [f, w]) => sum + (part(f.map(bareName), name) ? w : 0), 0);
  for (const name of ['compute', 'read', 'java/util/HashMap.get', 'parse', 'app']) {
    const wanted = `"${name}",${of(name, (f, n) => f.at(-1) === n)},${of(name, (f, n) => f.includes(n))}`;
    ok(rows.includes(wanted), wanted + ' / ' + rows.filter(row => row.includes(name)));
  }
  await click(page, 'parse');
  is((await saved(page, 'Shift+E')).text.split('\n').filter(l => l && !l.startsWith('#')).every(l => l.startsWith('app;main;parse')), true, 'zoomed');
  is((await saved(page, 'e')).text.split('\n')[0], 'Function,Self,Total,In all', 'columns of a part');
  await page.getByRole('button', { name: 'Menu' }).click();
  ok(await page.getByRole('menuitem', { name: 'Save the table (CSV)' }).isVisible(), 'menu');
  healthy(page);
});

test('the graph is saved as a picture of its own, SVG and PNG: light, without script and style sheet', async b => {
  const page = await open(b, at, { colorScheme: 'dark' });
  await click(page, 'main');
  const { name, text } = await saved(page, 'p'), copy = join(scratch, 'copy.svg');
  ok(name.endsWith('.view.svg') && !/<script|<style|class=|var\(/.test(text), name);
  writeFileSync(copy, text);
  const still = await open(b, url(copy)), parse = still.locator('text').filter({ hasText: /^parse$/ });
  ok(await parse.isVisible() && await still.getByText('of 20,000 samples').isVisible(), 'labels, and what it is of');
  const place = await parse.boundingBox(), here = await frame(page, 'parse').boundingBox();
  ok(Math.abs(place.x - here.x) < 2, `at the same place: ${place.x}, ${here.x}`);
  const colour = await pixel(still, place.x + 60, place.y + 3), paper = await pixel(still, 3, 3);
  is(String(paper), '255,255,255', 'paper');
  ok(String(colour) !== '255,255,255' && String(colour) !== '0,0,0', 'colour of a frame: ' + colour);
  const image = await saved(page, 'Shift+P'), bytes = readFileSync(image.path);
  is(bytes.toString('latin1', 1, 4), 'PNG', 'PNG');
  is(bytes.readUInt32BE(16), 2 * 1280, 'its width: two pixels for one');
  ok((await pixel(page, 3, 3)).every(value => value < 60), 'the page is dark as before');
  ok(await frame(page, 'parse').isVisible(), 'and zoomed');
  await page.evaluate(() => { HTMLCanvasElement.prototype.toBlob = act => act(null); });
  await page.keyboard.press('Shift+P');
  await soon(async () => is(await bar(page), 'The browser makes no PNG of this size: save the picture as SVG.', 'a canvas that is too large'));
  for (const one of [page, still]) healthy(one);
});

test('a policy that forbids the conversion to PNG: the page has the advice', async b => {
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src '${execFileSync(pjsvg, ['--csp-hash'], { encoding: 'utf8' }).trim()}'`;
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'image/svg+xml');
    answer.setHeader('Content-Security-Policy', policy);
    answer.end(read(svg));
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const page = await open(b, `http://127.0.0.1:${server.address().port}/flame.svg`);
  is((await saved(page, 'p')).name, 'flame.view.svg', 'SVG');
  await page.keyboard.press('Shift+P');
  await soon(async () => is(await bar(page), 'The policy of this page forbids a PNG: save the picture as SVG.', 'advice'));
  server.close();
});

test('a sandboxed frame that forbids downloads: the page has the advice', async b => {
  const path = join(scratch, 'nodownload.html');
  writeFileSync(path, `<!doctype html><title>frames</title><iframe sandbox="allow-scripts" src="${at}" width=900 height=400></iframe>`);
  const page = await open(b, url(path), { viewport: { width: 1000, height: 900 } }), inner = page.frames()[1];
  await soon(async () => {
    const run = await frame(inner, 'run').boundingBox({ timeout: 15000 });
    await page.mouse.click(run.x + 3, run.y + 3);
    await page.keyboard.press('e');
    ok((await inner.getByRole('status').last().innerText()).includes('No file? This page may forbid downloads: open the picture by itself.'), 'advice');
  });
});

test('a graph that is not shown while it loads is drawn when it is', async b => {
  const path = join(scratch, 'closed.html');
  writeFileSync(path, `<!doctype html><title>closed</title><details><summary>show</summary><iframe src="${at}" width=900 height=400></iframe></details>`);
  const page = await open(b, url(path), { viewport: { width: 1000, height: 600 } }), inner = page.frames()[1];
  await inner.waitForLoadState('load');
  is(await frame(inner, 'run').count(), 0, 'no room, no frames');
  await page.getByText('show', { exact: true }).click();
  await soon(async () => ok(await frame(inner, 'run').isVisible(), 'drawn'));
  const run = await frame(inner, 'run').boundingBox(), all = await frame(inner, 'all').boundingBox();
  ok(run.x > 0 && run.x < 900 && all.y > run.y, JSON.stringify([run, all]));
  healthy(page);
});

test('<img> shows the static picture, not a black one', async b => {
  const path = join(scratch, 'img.html');
  writeFileSync(path, `<!doctype html><title>img</title><body style="margin:0"><img src="${at}" width=800>`);
  const page = await open(b, url(path), { viewport: { width: 800, height: 600 } });
  await soon(async () => {
    const shot = await pixels(page), seen = { light: 0, dark: 0, colour: 0 };
    for (let y = 0; y < 150; y += 3) for (let x = 0; x < 800; x += 3) {
      const c = shot.at(x, y), lo = Math.min(...c), hi = Math.max(...c);
      if (lo > 240) seen.light++; else if (hi < 60) seen.dark++; else if (hi - lo > 40) seen.colour++;
    }
    ok(seen.light > 1000 && seen.dark < seen.light / 5 && seen.colour > 50, JSON.stringify(seen));
  });
});

test('print: one page', async b => {
  const page = await open(b, at), pdf = (await page.pdf({ format: 'A4', landscape: true })).toString('latin1');
  is((pdf.match(/\/Type\s*\/Page\b/g) || []).length, 1, 'pages');
  await settle(page);
  await click(page, 'run');
  is(await frame(page, 'loop').count(), 0, 'and works on after it');
  healthy(page);
});

// The page as it is laid out for paper: its size in the picture's units.
async function onPaper(page) {
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  return (await page.locator('svg.pj').getAttribute('viewBox')).split(' ').slice(2).map(Number);
}

test('print: the table stays on the screen; a high graph is as wide', async b => {
  const page = await open(b, at), plain = await onPaper(page);
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  await press(page, 't');
  is(String(await onPaper(page)), String(plain), 'size, with the table open');
  ok(!await dock(page).isVisible(), 'no table on paper');
  ok(Math.abs((await frame(page, 'all').locator('xpath=ancestor::*[local-name()="svg"][1]').boundingBox()).width * plain[0] / 1280 - plain[0] + 24) < 3, 'the graph has the width');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  ok(await dock(page).isVisible(), 'it is there again');
  healthy(page);
  const high = await open(b, url(makeSvg('high', Array.from({ length: 200 }, (_, row) => 'f' + row).join(';') + ' 1\n'))), [width, height] = await onPaper(high);
  ok(height > 200 * 18 && width > .99 * height, `${width} x ${height}`);
  healthy(high);
});

test('a lower window keeps the lowest rows', async b => {
  const page = await open(b, url(makeSvg('deep-enough', Array.from({ length: 90 }, (_, row) => 'f' + row).join(';') + ' 1\n')));
  const lowest = async () => { const r = await frame(page, 'all').boundingBox(), p = await page.getByRole('application').boundingBox(); return r.y > p.y && r.y + r.height <= p.y + p.height; };
  ok(await lowest(), 'as it was opened');
  await page.setViewportSize({ width: 1280, height: 500 });
  await soon(async () => ok(await lowest(), 'lower'));
  await page.setViewportSize({ width: 1280, height: 800 });
  await soon(async () => ok(await lowest(), 'higher'));
  healthy(page);
});

test('the DOM has a ceiling, however large the tree is', async b => {
  const lines = [];
  for (let i = 0; i < 60; i++) for (let k = 0; k < 60; k++) lines.push(Array.from({ length: 120 }, (_, d) => `f${i}_${d % 7}` + (d > 60 ? '_' + k : '')).join(';') + ' 3');
  const page = await open(b, url(makeSvg('large', lines.join('\n') + '\n')));
  const nodes = () => page.evaluate(() => document.getElementsByTagName('*').length);
  ok(await nodes() <= 4000, await nodes() + ' nodes');
  await find(page, 'f1');
  ok(await nodes() <= 4000, await nodes() + ' nodes when searched');
  healthy(page);
});

test.full('hostile names: no dialog, no error, visible escapes', async b => {
  const nasty = [
    ['A</script><script>alert(1)</script>'], [']]><script xmlns="http://www.w3.org/2000/svg">alert(2)</script>'], ['" onerror="alert(3)" x="'],
    ["' onload='alert(4)"], ['&lt;script&gt;alert(5)&lt;/script&gt;'], ['--><svg onload=alert(6)>'], ['</title><script>alert(7)</script>'], ['${alert(8)}'],
    ["');alert(9)//"], ["\\');alert(10)//"], ['&amp;&#x41;&unknown'], ['<!DOCTYPE x [<!ENTITY a "b">]>'], ['<!--'], ['__proto__'], ['constructor'], ['toString'],
    ['nul\0here', 'nul\\x00here'], ['esc\x1bhere', 'esc\\x1bhere'], ['del\x7fhere', 'del\\x7fhere'], ['tab\there', 'tab\\x09here'], ['cr\rhere', 'cr\\x0dhere'],
    ['bidi\u202ehere', 'bidi\\u202ehere'], ['zero\u200bhere', 'zero\\u200bhere'], ['bom\ufeffhere', 'bom\\ufeffhere'], ['ls\u2028here', 'ls\\u2028here'],
    ['fffe\ufffehere', 'fffe\\ufffehere'], ['emoji\u{1f525}here'], ['ünïcödé'],
  ];
  // (text that begins with a NUL would be refused as binary)
  const bytes = Buffer.concat([Buffer.from(`# ${' '.repeat(66000)}\n`), ...nasty.map(([n]) => Buffer.from(`top;${n} 100\n`)), Buffer.from('top;bad'), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80]), Buffer.from('utf 100\n')]);
  nasty.push(['', 'bad\\xff\\xc0\\x80\\xed\\xa0\\x80utf']);
  for (const title of ['plain', '</title><script>alert(11)</script>"\'&]]>']) {
    const path = makeSvg('nasty', bytes, { title, subtitle: title, unit: title, nametype: title, notes: title });
    const html = join(scratch, 'nasty.html');
    writeFileSync(html, '<!doctype html><meta charset=utf-8><title>x</title>' + read(path));
    for (const where of [path, html]) {
      const page = await open(b, url(where));
      ok(await frame(page, 'top').isVisible(), 'drawn');
      for (const shown of nasty.flatMap(([raw, s = raw]) => s.split(';')).filter(s => s)) {   // a ; parts frames
        await fill(page, 0, shown);
        ok(/ · [1-9]/.test(await said(page)), `${where.slice(-4)} ${JSON.stringify(shown)} is found: ${await said(page)}`);
        await page.keyboard.press('Enter');
        await settle(page);
        ok((await page.getByRole('status').last().innerText()).includes(shown), `${JSON.stringify(shown)} in the bar: ${await bar(page)}`);
        await page.keyboard.press('Escape');
      }
      healthy(page);
    }
  }
});

test.full('the attack corpus of test/attack', async b => {
  const folder = new URL('../../attack/', import.meta.url);
  for (const f of readdirSync(folder).filter(f => f.endsWith('.folded'))) {
    const page = await open(b, url(makeSvg(f, readFileSync(new URL(f, folder)))));
    ok(await frame(page, 'all').isVisible(), f + ' is drawn');
    for (const label of (await labels(page)).slice(0, 8)) await hover(page, label);
    healthy(page);
  }
});

// ---- Derived views. Expected numbers come from the folded text: stacks are turned, cut and merged here, by strings.
const press = async (page, ...keys) => { for (const k of keys) { await page.keyboard.press(k); await settle(page); } };
const chips = async page => (await page.getByRole('group', { name: 'View' }).getByRole('button').allInnerTexts()).map(t => t.trim()).join(' | ');
const weightOf = (list, path) => list.reduce((s, [f, w]) => s + ((f.join(';') + ';').startsWith(path + ';') ? w : 0), 0);
const tells = async (page, label, w, what) => {
  await hover(page, label);
  ok((await bar(page)).startsWith(`Function: ${bareName(label)} — ${thousands(w)} sample`), `${what}: ${await bar(page)}, wanted ${w}`);
};
const top = name => stacks.map(([f, w]) => [f.map(bareName), w]).filter(([f]) => f.includes(name));

test('R: callers first; the chip takes it back; the address keeps it', async b => {
  const page = await open(b, at), turned = stacks.map(([f, w]) => [[...f].reverse().map(bareName), w]);
  await press(page, 'r');
  is(await chips(page), 'callers first', 'chip');
  for (const n of ['compute', 'Computer', 'read']) {
    await page.mouse.move(640, 10);
    await tells(page, n, weightOf(stacks.map(([f, w]) => [[...f].reverse().map(bareName), w]), n) - (n === 'read' ? 0 : 0), 'first row: ' + n);
    ok(/% of callee/.test(await bar(page)) && (await bar(page)).includes(pct(weightOf(turned, n), total) + ' of total'), await bar(page));
  }
  const again = await open(b, at + await hash(page));
  is(await chips(again), 'callers first', 'from the address');
  await page.getByRole('button', { name: 'Undo: callers first' }).click();
  await settle(page);
  is(await chips(page), '', 'undone');
  await tells(page, 'parse', inclusive('app;main;parse'), 'as before');
  healthy(page);
  healthy(again);
});

test('H hides a function: its self goes to the caller, callees move up; Shift+H shows it again', async b => {
  const page = await open(b, at);
  await hover(page, 'run');
  await press(page, 'h');
  is(await chips(page), 'without run', 'chip');
  is(await frame(page, 'run').count(), 0, 'gone');
  const cut = stacks.map(([f, w]) => [f.filter(n => n !== 'run'), w]);
  await tells(page, 'compute', weightOf(cut, 'app;main;compute'), 'moved up');
  ok((await bar(page)).includes(pct(weightOf(cut, 'app;main;compute'), inclusive('app;main')) + ' of caller'), await bar(page));
  await tells(page, 'main', inclusive('app;main'), 'the caller keeps all');
  await press(page, 'Shift+H');
  is(await frame(page, 'run').count(), 1, 'back');
  is(await chips(page), '', 'no chip');
  healthy(page);
});

test('F and X: only stacks that match, or none of them; shares stay those of the whole profile', async b => {
  const page = await open(b, at);
  await find(page, 'read');
  await page.getByRole('application').focus();
  await press(page, 'f');
  is(await chips(page), 'only \u201cread\u201d', 'chip');
  const kept = stacks.filter(([f]) => f.some(n => n.includes('read')));
  await tells(page, 'main', weightOf(kept, 'app;main'), 'only');
  ok((await bar(page)).includes(pct(weightOf(kept, 'app;main'), total) + ' of total'), await bar(page));
  await page.goBack();
  await soon(async () => is(await chips(page), '', 'Back undoes it'));
  await page.getByRole('application').focus();
  await press(page, 'x');
  is(await chips(page), 'no stacks with \u201cread\u201d', 'chip');
  await tells(page, 'main', weightOf(stacks.filter(([f]) => !f.some(n => n.includes('read'))), 'app;main'), 'without');
  await press(page, 'Escape', 'Escape');
  is(await chips(page), '', 'Escape goes back');
  healthy(page);
});

test('W: sandwich of a function, callees above and callers below', async b => {
  const page = await open(b, at);
  await find(page, 'HashMap');
  await press(page, 'Enter');
  await page.getByRole('application').focus();
  await press(page, 'w', 'Escape');
  is(await chips(page), 'sandwich: java/util/HashMap.get', 'chip');
  const w = top('java/util/HashMap.get').reduce((s, [, n]) => s + n, 0);
  await page.mouse.move(640, 10);
  const root = await frame(page, 'java/util/HashMap.get').boundingBox(), loop = await frame(page, 'loop').boundingBox(), read = await frame(page, 'read').boundingBox();
  ok(read.y < root.y && root.y < loop.y, `callee above, caller below: ${read.y} ${root.y} ${loop.y}`);
  const edge = await pixel(page, root.x - 4, root.y + root.height / 2);
  ok(near(edge, [0xd6, 0x24, 0x9f]), 'the function has an outline: ' + edge);
  await tells(page, 'loop', weightOf(stacks, 'db;loop'), 'a caller');
  await tells(page, 'parse', weightOf(stacks, 'app;main;parse;java/util/HashMap.get_[j]'), 'another');
  await tells(page, 'read', weightOf(stacks, 'db;loop;java/util/HashMap.get_[j];read_[k]'), 'a callee');
  ok((await bar(page)).includes(pct(weightOf(stacks, 'db;loop;java/util/HashMap.get_[j];read_[k]'), w) + ' of caller'), await bar(page));
  const again = await open(b, at + await hash(page));
  is(await chips(again), 'sandwich: java/util/HashMap.get', 'from the address');
  healthy(page);
  healthy(again);
});

test('S: widest first, and by name again', async b => {
  const page = await open(b, at), order = async () => (await frame(page, 'compute').first().boundingBox()).x < (await frame(page, 'Computer').boundingBox()).x;
  is(await order(), false, 'by name');
  await press(page, 's');
  is(await order(), true, 'by weight');
  is(await chips(page), 'widest first', 'chip');
  await tells(page, 'parse', inclusive('app;main;parse'), 'the numbers stay');
  await press(page, 's');
  is(await order(), false, 'back');
  healthy(page);
});

test('all places of a function: how many, and together', async b => {
  const page = await open(b, at);
  await hover(page, 'compute');                 // one inside of the other: counted once
  ok((await bar(page)).includes(`2 places, ${pct(top('compute').reduce((s, [, w]) => s + w, 0), total)} together`), await bar(page));
  await find(page, 'HashMap');
  await press(page, 'Enter');
  ok((await bar(page)).includes(`2 places, ${pct(top('java/util/HashMap.get').reduce((s, [, w]) => s + w, 0), total)} together`), await bar(page));
  healthy(page);
});

const dock = page => page.getByRole('region', { name: /^(Functions|Changes)$/ });
const tableRows = async page => (await dock(page).getByRole('row').allInnerTexts()).slice(1).map(t => t.split(/\s+/).filter(Boolean).join(' '));

test('T: the table beside the graph: self and total, sorted, filtered; it stays', async b => {
  const page = await open(b, at), functions = [...new Set(stacks.flatMap(([f]) => f.map(bareName)))];
  const own = n => stacks.reduce((s, [f, w]) => s + (bareName(f.at(-1)) === n ? w : 0), 0), all = n => top(n).reduce((s, [, w]) => s + w, 0);
  await press(page, 't');
  const line = n => `${n} ${thousands(own(n))} ${pct(own(n), total)} ${thousands(all(n))} ${pct(all(n), total)}`;
  is((await tableRows(page))[0], line(functions.sort((x, y) => own(y) - own(x))[0]), 'the hottest');
  is((await tableRows(page)).sort().join('\n'), functions.map(line).sort().join('\n'), 'all');
  const g = await page.getByRole('application').boundingBox(), d = await dock(page).boundingBox();
  await soon(async () => ok((await page.getByRole('application').locator('svg').boundingBox()).width < 1280 - d.width, 'the graph makes room'));
  ok(d.x + d.width <= g.x + 1, 'beside the graph');
  await clickAt(page, 'Sort by Total');
  is(Math.max(...functions.map(all)), all((await tableRows(page))[0].split(' ')[0]), 'by total');
  is(await dock(page).getByRole('columnheader', { name: 'Total' }).getAttribute('aria-sort'), 'descending', 'said to be so');
  await clickAt(page, 'Sort by Function');
  const names = (await tableRows(page)).map(t => t.split(' ')[0]);
  is(names.join(), [...names].sort().join(), 'by name');
  const order = () => dock(page).getByRole('columnheader', { name: 'Function' }).getAttribute('aria-sort');
  is(await order(), 'ascending', 'from A');
  await clickAt(page, 'Sort by Function');
  is((await tableRows(page)).map(t => t.split(' ')[0]).join(), [...names].reverse().join(), 'the other way');
  is(await order(), 'descending', 'from Z');
  await dock(page).getByRole('textbox').click();
  await page.keyboard.insertText('tiny|get');
  await settle(page);
  is((await tableRows(page)).map(t => t.split(' ')[0]).sort().join(), 'java/util/HashMap.get,tiny_one,tiny_two', 'filtered');
  ok((await dock(page).innerText()).includes(`3 of ${functions.length}`), await dock(page).innerText());
  await page.keyboard.press('Escape');
  await press(page, 't');
  is(await dock(page).count(), 0, 'T closes');
  healthy(page);
});

test('a click on a row shows callers and callees at once; again, no longer; the numbers are those of the view', async b => {
  const page = await open(b, at), row = name => dock(page).getByRole('button', { name, exact: true });
  await press(page, 't');
  await row('compute').click();
  await settle(page);
  is(await chips(page), 'sandwich: compute', 'sandwich');
  is(await row('compute').getAttribute('aria-pressed'), 'true', 'marked');
  ok(await frame(page, 'main').isVisible(), 'its callers are seen');
  is(await said(page), '', 'no search is left behind');
  await row('compute').click();
  await settle(page);
  is(await chips(page), '', 'again: as before');
  await frame(page, 'run').first().waitFor();
  await click(page, 'run');
  const w = inclusive('app;main;run'), compute = inclusive('app;main;run;compute');
  const rows = await tableRows(page);
  ok(rows.includes(`compute ${thousands(compute)} ${pct(compute, w)} ${thousands(compute)} ${pct(compute, w)} ${thousands(compute)} ${pct(compute, total)}`), rows.join('\n'));
  ok(rows.includes(`read ${thousands(1200)} ${pct(1200, w)} ${thousands(1200)} ${pct(1200, w)} ${thousands(4198)} ${pct(4198, total)}`), 'in view and in all: ' + rows.join('\n'));
  ok(!rows.some(r => r.startsWith('loop')), 'only what is in the view');
  ok(await page.getByText(`${thousands(w)} of ${thousands(total)} samples`).first().isVisible(), 'header');
  is((await page.getByRole('button', { name: /^native: / }).innerText()).replace(/\s+/g, ' '), 'native ' + pct(w - 1200, w), 'legend');
  is((await page.getByRole('button', { name: /^Java: / }).innerText()).replace(/\s+/g, ' '), 'Java 0%', 'legend: not in view');
  healthy(page);
});

test('the table by keys; all of 20,000 rows, few elements', async b => {
  const lines = Array.from({ length: 20000 }, (_, k) => `a;f${k} ${k + 1}`).join('\n') + '\n', page = await open(b, url(makeSvg('rows', lines)));
  await press(page, 't');
  ok((await dock(page).innerText()).includes('20,001'), 'rows: ' + (await dock(page).innerText()).slice(0, 60));
  ok(await page.evaluate(() => document.getElementsByTagName('*').length) <= 4000, 'elements');
  const focused = () => page.evaluate(() => document.activeElement.innerText);
  await dock(page).getByRole('textbox').focus();
  await press(page, 'ArrowDown', 'ArrowDown');
  is(await focused(), 'f19998', 'down');
  await press(page, 'End');
  await soon(async () => is(await focused(), 'a', 'the last: no self'));
  await press(page, 'ArrowUp');
  is(await focused(), 'f0', 'up');
  await press(page, 'Enter');
  is(await chips(page), 'sandwich: f0', 'Enter');
  is(await focused(), 'f0', 'the focus stays at the row');
  healthy(page);
});

test('header and table count the same functions; the kernel has its own', async b => {
  const page = await open(b, url(makeSvg('kinds', 'p;read;read_[k] 5\np;f_[j] 2\np;f_[i] 2\np;write_[k] 1\n')));   // p, read, read of the kernel, f, write
  const told = (await page.getByText(/ functions /).last().innerText()).match(/(\d+) functions/)[1];
  await press(page, 't');
  is((await tableRows(page)).length, Number(told), 'rows');
  is(told, '5', 'functions');
  if (real) ok(read(join(scratch, 'kinds.svg')).includes(`${told} functions`), 'and the static layer');
  healthy(page);
});

test('search without a switch: words, regular expressions, one name in quotes', async b => {
  const page = await open(b, at), finds = async (q, match) => {
    await find(page, q);
    const [w, k] = matched(match);
    is(await said(page), `${pct(w, total)} · ${k}`, q);
  };
  await finds('read|parse', n => /read|parse/i.test(n));
  await finds('^comp.*r$', n => /^comp.*r$/i.test(n));
  await finds('get util', n => /get/.test(n) && /util/.test(n));
  await finds('"compute"', n => n === 'compute');
  await finds('a.b[c]*', n => n === 'a.b[c]*');   // in a name as it is: no pattern
  await page.getByRole('application').focus();
  await press(page, 'f');
  is(await chips(page), 'only “a.b[c]*”', 'only what was found');
  await find(page, '(x+x+)+y');
  ok(/Enter/.test(await said(page)), 'what may take long waits: ' + await said(page));
  is(await page.getByRole('button', { name: 'Regexp' }).getAttribute('aria-pressed'), 'false', 'no mode was set');
  healthy(page);
});

test('on a phone: its own width, nothing beside it, two taps to zoom, a table with names and shares', async b => {
  const page = await open(b, at, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
  await soon(async () => is(await page.evaluate(() => innerWidth), 390, 'width'));
  await soon(async () => is((await page.getByRole('application').locator('svg').boundingBox()).width, 390 - 24, 'width of the graph'));
  ok((await page.getByRole('status').last().boundingBox()).height <= 85, 'the foot is no higher than its place');
  await page.getByRole('button', { name: 'Table (T)' }).tap();
  for (const t of ['Self', 'Total']) ok(await dock(page).getByRole('button', { name: 'Sort by ' + t }).isVisible(), t);
  const r = await dock(page).boundingBox(), graph = await page.getByRole('application').boundingBox();
  ok(r.x >= 0 && r.x + r.width <= 390 && r.y >= graph.y + graph.height - 1, 'below the graph: ' + JSON.stringify([r, graph]));
  await page.getByRole('button', { name: 'Close the table (T)' }).tap();
  const f = await frame(page, 'parse').boundingBox(), tap = () => page.touchscreen.tap(f.x + 5, f.y + 5);
  await tap();
  await soon(async () => ok(/Function: parse/.test(await bar(page)), 'told: ' + await bar(page)));
  await tap();
  await soon(async () => is(await frame(page, 'db').count(), 0, 'zoomed'));
  healthy(page);
});

test('in narrow windows the foot has a place of its own', async b => {
  for (const width of [600, 480, 360]) {
    const name = 'std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, long, __gnu_cxx::__ops::_Iter_less_iter>'.repeat(3);
    const page = await open(b, url(makeSvg('foot', `p;${name} 50\np;${name};x 50\np;y;${name} 70\nq;z 10\n`)), { viewport: { width, height: 600 } });
    await find(page, 'introsort');
    await page.keyboard.press('Enter');
    await settle(page);
    const foot = await page.getByRole('status').last().boundingBox(), pane = await page.getByRole('application').boundingBox();
    ok(foot.y >= pane.y + pane.height - 1, `${width}: ${JSON.stringify([foot, pane])}`);
    ok(/places/.test(await bar(page)), await bar(page));
    const end = page.getByRole('status').last().locator('span').last();
    ok((r => r.y + r.height <= foot.y + foot.height + 1)(await end.boundingBox()), `${width}: numbers are cut`);
    healthy(page);
  }
});

test('? lists the keys; every one is a button', async b => {
  const page = await open(b, at), dialog = page.getByRole('dialog', { name: 'Keys and actions' });
  await press(page, '?');
  for (const t of ['Callers first', 'Hide a function', 'Copy name', 'Without matches']) ok(await dialog.getByRole('button', { name: t }).isVisible(), t);
  await dialog.getByRole('button', { name: 'Callers first' }).click();
  await settle(page);
  is(await dialog.count(), 0, 'closed');
  is(await chips(page), 'callers first', 'done');
  await clickAt(page, 'Help (?)');
  ok(await dialog.isVisible(), 'by button');
  await clickAt(page, 'Close (Esc)');
  is(await dialog.count(), 0, 'closed');
  healthy(page);
});

test('arrow keys go to callee, caller and neighbour; Enter zooms, Home goes back', async b => {
  const page = await open(b, at), name = async () => /Function: (\S+)|^(all)/.exec(await bar(page))?.slice(1).find(Boolean);
  await page.getByRole('application').focus();
  for (const [key, want] of [['ArrowUp', 'all'], ['ArrowUp', 'app'], ['ArrowUp', 'main'], ['ArrowUp', 'run'], ['ArrowLeft', 'parse'], ['ArrowRight', 'run'], ['ArrowUp', 'compute'], ['ArrowDown', 'run']]) {
    await press(page, key);
    is(await name(), want, key);
  }
  await press(page, 'Enter');
  is((await page.getByRole('navigation').getByRole('button').allInnerTexts()).at(-1).trim(), 'run', 'zoomed');
  await press(page, 'Home');
  is(await page.getByRole('navigation').isVisible(), false, 'Home');
  await press(page, 'i', 'ArrowDown', 'ArrowDown');
  is(await name(), 'app', 'upside down, a callee is below');
  healthy(page);
});

test('C copies the name, Shift+C the stack; the bar confirms', async b => {
  const page = await open(b, at);
  await hover(page, 'compute');
  await press(page, 'c');
  await soon(async () => ok(/^Cop(ied|y): compute$/.test(await bar(page)), await bar(page)));
  await press(page, 'Shift+C');
  await soon(async () => ok(/^Cop(ied|y): app;main;run;compute$/.test(await bar(page)), await bar(page)));
  healthy(page);
});

test('units are scaled for reading', async b => {
  for (const [unit, w, text] of [['bytes', 1536, '1.5 KiB'], ['bytes', 5 << 20, '5 MiB'], ['ns', 2500, '2.5 \u00b5s'], ['us', 3e6, '3 s'], ['ms', 90, '90 ms'], ['samples', 4096, '4,096 samples']]) {
    const page = await open(b, url(makeSvg('unit', `alone ${w}\n`, { unit })));
    await hover(page, 'alone');
    ok((await bar(page)).startsWith(`Function: alone — ${text} ·`), await bar(page));
    healthy(page);
  }
});

test.full('hostile addresses with filters do no harm', async b => {
  for (const bad of ['#o=f2(a+)%2B$', '#o=hzzz', '#o=w', '#o=q;m=zz', '#o=' + 'f0a%0A'.repeat(500), '#o=%E0%A4%A', '#o=f2(', '#o=r%0Ar%0Aw__proto__;m=%']) {
    const p = await open(b, at + bad);
    ok(await frame(p, 'all').isVisible(), bad);
    ok(!/\(a/.test(await chips(p)), 'a dangerous pattern is not run');
    healthy(p);
  }
});

// ---- The menu of a frame, the toolbar and the tooltip: what a user finds by hand.
const menu = page => page.getByRole('menu'), item = (page, name) => menu(page).getByRole(/^Collapse|first$|over$/.test(name) ? 'menuitemcheckbox' : 'menuitem', { name, exact: false });
const rightClick = async (page, text) => {
  const r = await frame(page, text).first().boundingBox();
  await page.mouse.click(r.x + 4, r.y + r.height / 2, { button: 'right' });
  await settle(page);
};
const doIn = async (page, text, name) => { await rightClick(page, text); await item(page, name).click(); await settle(page); };

test('the menu of a frame: by right click, by keys, by a click on the selected and on the zoomed frame', async b => {
  const page = await open(b, at), shown = async what => {
    ok(await menu(page).isVisible(), what);
    ok((await menu(page).innerText()).includes(`run\n${thousands(inclusive('app;main;run'))} samples · ${pct(inclusive('app;main;run'), total)} of total`), what + ': ' + await menu(page).innerText());
    await page.keyboard.press('Escape');
    is(await menu(page).count(), 0, what + ': Esc closes');
  };
  await rightClick(page, 'run');
  await shown('right click');
  is(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Flame graph', 'the focus returns');
  for (const key of ['ContextMenu', 'Shift+F10', 'm']) {
    await page.keyboard.press(key);   // (the frame stays selected)
    await shown(key);
  }
  await click(page, 'run');
  await shown('click on the selected frame');
  await press(page, 'Enter');
  is(await frame(page, 'parse').count(), 0, 'zoomed');
  await click(page, 'run');
  await shown('click on the zoomed frame');
  await rightClick(page, 'run');
  await page.mouse.click(5, 5);
  is(await menu(page).count(), 0, 'a click elsewhere closes');
  healthy(page);
});

test('the menu by keys: arrows, Home, End, Enter', async b => {
  const page = await open(b, at), focused = () => page.evaluate(() => document.activeElement.innerText.split('\n')[0]);
  await rightClick(page, 'compute');
  is(await focused(), 'Zoom', 'the first item has the focus');
  await press(page, 'ArrowDown');
  is(await focused(), 'Who calls this', 'down');
  await press(page, 'ArrowUp', 'ArrowUp');
  is(await focused(), 'Copy command', 'around');
  await press(page, 'Home', 'End', 'Home');
  await press(page, 'Enter');
  is((await page.getByRole('navigation').getByRole('button').allInnerTexts()).at(-1).trim(), 'compute', 'Enter does it');
  healthy(page);
});

test.full('the menu acts: callers, callees, sandwich, only, without, hidden, collapsed; links have them', async b => {
  const without = n => stacks.filter(([f]) => !f.includes(n)), only = n => stacks.filter(([f]) => f.includes(n));
  const get = 'java/util/HashMap.get', all = top(get).reduce((s, [, w]) => s + w, 0);
  const cases = [
    ['loop', 'Who calls this', 'callers of loop', async p => { await tells(p, 'db', inclusive('db;loop'), 'caller'); is(await frame(p, 'read').count(), 0, 'no callees'); }],
    [get, 'Who calls this', 'callers of ' + get, async p => { await hover(p, get); ok((await bar(p)).startsWith(`${get} — ${thousands(all)} samples`), 'all places: ' + await bar(p)); await tells(p, 'parse', inclusive('app;main;parse;' + get + '_[j]'), 'one caller'); await tells(p, 'loop', inclusive('db;loop;' + get + '_[j]'), 'another'); }],
    ['run', 'What it calls', 'callees of run', async p => { await tells(p, 'compute', inclusive('app;main;run;compute'), 'callee'); is(await frame(p, 'main').count(), 0, 'no callers'); }],
    ['run', 'Callers and callees', 'sandwich: run', async p => { await tells(p, 'compute', inclusive('app;main;run;compute'), 'callee'); await tells(p, 'main', inclusive('app;main;run'), 'caller'); }],
    ['run', 'Only stacks with it', 'only run', async p => { await tells(p, 'main', weightOf(only('run'), 'app;main'), 'only'); is(await frame(p, 'db').count(), 0, 'no others'); }],
    ['run', 'Without it', 'no stacks with run', async p => tells(p, 'main', weightOf(without('run'), 'app;main'), 'without')],
    ['run', 'Hide this function', 'without run', async p => { is(await frame(p, 'run').count(), 0, 'gone'); await tells(p, 'main', inclusive('app;main'), 'its caller'); }],
    ['compute', 'Collapse recursion', 'recursion collapsed', async p => { is(await frame(p, 'compute').count(), 1, 'one'); await tells(p, 'compute', inclusive('app;main;run;compute'), 'its weight'); }],
  ];
  for (const [label, name, chip, check] of cases) {
    const page = await open(b, at);
    await doIn(page, await frame(page, label).count() ? label : 'j.u.HashMap.get', name);
    is(await chips(page), chip, name);
    await page.mouse.move(640, 10);
    await check(page);
    const again = await open(b, at + await hash(page));
    is(await chips(again), chip, name + ', from the address');
    await check(again);
    healthy(page);
    healthy(again);
    await page.context().close();
    await again.context().close();
  }
});

test('the menu: search it, copy name, stack and command; the command prints the stacks of the frame', async b => {
  const page = await open(b, at);
  await doIn(page, 'compute', 'Search it');
  is(await said(page), `${pct(top('compute').reduce((s, [, w]) => s + w, 0), total)} · 2`, 'exactly that function');
  await page.keyboard.press('Escape');
  const copied = async () => { let text = ''; await soon(async () => { text = /^Cop(?:ied|y): (.*)$/.exec(await bar(page))?.[1]; ok(text, await bar(page)); }); return text; };
  for (const [name, want] of [['Copy name', 'compute'], ['Copy stack', 'app;main;run;compute']]) {
    await doIn(page, 'compute', name);
    is(await copied(), want, name);
  }
  for (const [label, path] of [['compute', 'app;main;run;compute'], ['a.b[c]*', 'app;main;run;a.b[c]*'], ['loop', 'db;loop']]) {
    await doIn(page, label, 'Copy command');
    const command = await copied();
    ok(command.startsWith("pjsvg --unpack 'basic.svg' | grep "), command);
    if (!real) continue;
    const out = execFileSync('sh', ['-c', command], { cwd: scratch, env: { ...process.env, PATH: dirname(pjsvg) + ':' + process.env.PATH }, encoding: 'utf8' });
    const want = stacks.filter(([f]) => (f.join(';') + ';').startsWith(path + ';')).map(([f, w]) => f.join(';') + ' ' + w);
    is(out.trim().split('\n').sort().join('\n'), want.sort().join('\n'), command);
  }
  healthy(page);
});

test('copy command: a file name that is no escape of UTF-8', async b => {
  const server = createServer((request, response) => response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(read(svg))).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const page = await open(b, `http://127.0.0.1:${server.address().port}/a%E9.svg`);
  await doIn(page, 'compute', 'Copy command');
  await soon(async () => ok((await bar(page)).includes("pjsvg --unpack 'a%E9.svg' | grep "), await bar(page)));
  healthy(page);
  server.close();
});

test('touch: a long press opens the menu and nothing else', async b => {
  const page = await open(b, at, { hasTouch: true, viewport: { width: 375, height: 700 }, isMobile: true });
  await soon(async () => is((await page.getByRole('application').locator('svg').boundingBox()).width, 375 - 24, 'width of the graph'));
  const r = await frame(page, 'parse').boundingBox(), cdp = await page.context().newCDPSession(page), point = { x: r.x + 5, y: r.y + 5 };
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] });
  await soon(async () => ok(await menu(page).isVisible(), 'menu'));
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await settle(page);
  ok(await menu(page).isVisible(), 'it stays');
  is(await frame(page, 'db').count(), 1, 'no zoom');
  const m = await menu(page).boundingBox();
  ok(m.x >= 0 && m.x + m.width <= 375 && m.y >= 0 && m.y + m.height <= 700, JSON.stringify(m));
  await item(page, 'Zoom').tap();
  await soon(async () => is(await frame(page, 'db').count(), 0, 'zoomed'));
  await page.getByRole('button', { name: 'Menu', exact: true }).tap();
  ok(await item(page, 'Hide this function').isVisible() && await item(page, 'Callers first').isVisible(), 'the button has the actions of frame and view');
  healthy(page);
});

test('toolbar: menu of the view, zoom out, reset', async b => {
  const page = await open(b, at), button = name => page.getByRole('button', { name, exact: true });
  for (const name of ['Zoom out (Backspace)', 'Reset the view (Shift+R)']) ok(await button(name).isDisabled(), name + ' has nothing to do');
  await click(page, 'run');
  await clickAt(page, 'Zoom out (Backspace)');
  ok(await frame(page, 'parse').isVisible() && !(await frame(page, 'loop').count()), 'one out');
  await clickAt(page, 'Menu');
  is(await button('Menu').getAttribute('aria-expanded'), 'true', 'expanded');
  await item(page, 'Callers first').click();
  await settle(page);
  is(await chips(page), 'callers first', 'done');
  await clickAt(page, 'Menu');
  is(await item(page, 'Callers first').getAttribute('aria-checked'), 'true', 'checked');
  await page.keyboard.press('Escape');
  is(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Menu', 'the focus returns to the button');
  await find(page, 'read');
  await clickAt(page, 'Reset the view (Shift+R)');
  is([await chips(page), await value(page), await hash(page)].join(), ',,', 'as it was opened');
  ok(await frame(page, 'loop').isVisible(), 'all of it');
  await page.goBack();
  await soon(async () => is(await chips(page), 'callers first', 'Back undoes it'));
  healthy(page);
});

test('reset: inverted, widths, comparison and the modes of the search, too; the theme stays', async b => {
  const page = await open(b, at), reset = page.getByRole('button', { name: 'Reset the view (Shift+R)', exact: true });
  const above = async () => (await frame(page, 'all').boundingBox()).y < (await frame(page, 'main').boundingBox()).y;
  await press(page, 'd');
  const theme = await hash(page);
  ok(/^#d=(dark|light)$/.test(theme) && await reset.isDisabled(), 'a theme is no change: ' + theme);
  const upright = await above();
  await press(page, 'i');
  is(await above(), !upright, 'turned over');
  await reset.click();
  await settle(page);
  is(await above(), upright, 'as in the file');
  for (const name of ['Match case', 'Regexp']) {
    await clickAt(page, name);
    await reset.click();
    await settle(page);
    is(await page.getByRole('button', { name, exact: true }).getAttribute('aria-pressed'), 'false', name);
  }
  is(await hash(page), theme, 'the theme stays');
  ok(await reset.isDisabled(), 'nothing is left');
  const diff = await open(b, diffSvg('reset')), pressed = name => diff.getByRole('button', { name, exact: true }).getAttribute('aria-pressed');
  await press(diff, 'u', '%');
  ok(await diff.getByText('compared as counts').isVisible(), 'counts');
  is(await pressed('Widths: both (U)'), 'true', 'both');
  await press(diff, 'Shift+R');
  is(await pressed('Widths: after (A)'), 'true', 'after');
  is(await diff.getByText('compared as counts').count(), 0, 'shares');
  is(await hash(diff), '', 'nothing in the address');
  healthy(page);
  healthy(diff);
});

test('the menu of a frame stays the only one; its frame stays that of the menu', async b => {
  const page = await open(b, at), prevented = () => page.evaluate(() => !(document.activeElement || document.documentElement).dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true })));
  is(await prevented(), false, 'without a menu, the menu of the browser');
  await hover(page, 'run');
  await press(page, 'm');
  is(await prevented(), true, 'no menu of the browser on the menu');
  await press(page, 'Escape', 'Escape');
  await hover(page, 'parse');
  await page.getByRole('button', { name: 'Menu', exact: true }).focus();   // the pointer stays on the graph
  await page.keyboard.press('Enter');
  await settle(page);
  await page.mouse.move(640, 10);
  await item(page, 'Hide this function').click();
  await settle(page);
  is(await chips(page), 'without parse', 'the frame that the menu was opened for');
  healthy(page);
});

test('tooltip at the pointer: name, samples, shares, self; gone with the pointer and with the menu', async b => {
  const page = await open(b, at), tip = page.locator('.pj-tip'), text = async () => (await tip.innerText()).replace(/\s+/g, ' ');
  await hover(page, 'parse');
  const w = inclusive('app;main;parse'), own = self('app;main;parse');
  is(await text(), `parse total ${thousands(w)} samples of total ${pct(w, total)} self ${thousands(own)} (${pct(own, total)})`, 'numbers');
  const r = await frame(page, 'parse').boundingBox(), t = await tip.boundingBox();
  ok(Math.abs(t.x - (r.x + r.width / 2)) < 40 && t.x >= 0 && t.x + t.width <= 1280 && t.y >= 0, 'beside the pointer: ' + JSON.stringify([r, t]));
  await click(page, 'run');
  await hover(page, 'Computer');
  ok((await text()).includes(`of view ${pct(inclusive('app;main;run;Computer'), inclusive('app;main;run'))}`), await text());
  await page.mouse.move(640, 15);
  await settle(page);
  is(await tip.isVisible(), false, 'gone');
  await hover(page, 'Computer');
  await rightClick(page, 'Computer');
  is(await tip.isVisible(), false, 'not beside the menu');
  healthy(page);
});

// ---- Frames that are too narrow to be drawn.
test('narrow frames are one block of their joint width, with count and share; a click zooms in', async b => {
  const many = 4000, big = 1000, sum = many * 2 + big, lines = Array.from({ length: many }, (_, k) => `app;parent;n${k} 2`).join('\n') + `\napp;other ${big}\n`;
  const page = await open(b, url(makeSvg('narrow', lines))), W = 1280 - 24, label = frame(page, '4,000 narrow');
  ok(await label.isVisible(), 'label: ' + await labels(page));
  const r = await label.boundingBox(), row = r.y + r.height / 2, width = W * many * 2 / sum, at0 = (await frame(page, 'parent').boundingBox()).x - 4;
  const shot = await pixels(page, { x: at0 + 1, y: row + 6, width: width - 3, height: 1 });
  for (let x = 0; x < shot.width; x++) ok(!shot.at(x, 0).every(v => v > 250), `white at ${x} of ${shot.width}`);
  await page.mouse.move(at0 + width / 2, row);
  await settle(page);
  is(await bar(page), `4,000 narrow frames — ${thousands(many * 2)} samples · ${pct(many * 2, sum)} of total · click to zoom in`, 'bar');
  ok((await page.locator('.pj-tip').innerText()).startsWith('4,000 narrow frames'), 'tooltip');
  await page.mouse.move(at0 + width + 3, row);
  await settle(page);
  ok(!/narrow/.test(await bar(page)), 'it ends where the frames end: ' + await bar(page));
  await page.mouse.click(at0 + width / 2, row);
  await settle(page);
  const crumb = async () => (await page.getByRole('navigation').getByRole('button').allInnerTexts()).at(-1).trim();
  is(await crumb(), 'parent', 'to their caller');
  await page.mouse.click(640, row);
  await settle(page);
  ok(/^n\d+$/.test(await crumb()), 'then to one of them: ' + await crumb());
  healthy(page);
});

test('a match in a block is seen, and blocks of wide callers stay apart', async b => {
  const lines = ['a', 'b'].flatMap(p => Array.from({ length: 3000 }, (_, k) => `${p};${p}${k} 1`)).join('\n') + '\n', page = await open(b, url(makeSvg('apart', lines)));
  is((await labels(page)).filter(t => t === '3,000 narrow').length, 2, 'two blocks');
  const place = await frame(page, '3,000 narrow').last().boundingBox();
  await find(page, '"b1500"');
  const shot = await pixels(page, { x: 12, y: Math.round(place.y + 4), width: 1256, height: 1 }), pink = [];
  for (let x = 0; x < shot.width; x++) if ((([red, green, blue]) => red - green > 25 && blue - green > 15)(shot.at(x, 0))) pink.push(x);
  ok(pink.length >= 1 && pink.length <= 3 && pink[0] > 628, 'it has its colour at its place: ' + pink);
  await press(page, 'Enter');
  ok((await bar(page)).startsWith('Function: b1500 — 1 sample'), await bar(page));
  healthy(page);
});

test('labels are never cut inside of a word', async b => {
  const names = ['java/util/ComparableTimSort.binarySortOfAll_[j]', 'read_pages_of_file', 'Loop'];
  const page = await open(b, url(makeSvg('words', names.map(n => `p;m;${n} 1\n`).join(''))));
  const good = new Set(['all', 'p', 'm', 'java/util/ComparableTimSort.binarySortOfAll', 'j.u.ComparableTimSort.binarySortOfAll', 'ComparableTimSort.binarySortOfAll',
    'binarySortOfAll', 'binarySortOf…', 'binarySort…', 'binary…', 'read_pages_of_file', 'read_pages_of…', 'read_pages…', 'read…', 'Loop']);
  for (let width = 200; width < 1400; width += 37) {
    await resize(page, width, 400);
    for (const l of await labels(page)) ok(good.has(l), `${width}: ${l}`);
  }
  healthy(page);
});

// ---- Differences, as the reference encoder writes them.
const pairs = `app;run;fast 1000 400
app;run;slow 1000 1900
app;run;same 2000 2320
app;run;moved 600 700
app;run;old;deep 900 0
app;run;tiny 1 0
app;fresh 0 1200
`;
const two = pairs.trim().split('\n').map(l => { const m = /^(.*) (\d+) (\d+)$/.exec(l); return [m[1].split(';'), +m[2], +m[3]]; });
const sumOf = (side, path = '') => two.reduce((s, t) => s + (!path || (t[0].join(';') + ';').startsWith(path + ';') ? t[side] : 0), 0);
const diffSvg = (name, diff = {}, options = {}) => {
  const path = join(scratch, name + '.svg');
  writeFileSync(path, encode(Buffer.from(pairs), { title: 'Difference', ...options, diff: { note: 'one window', ...diff } }));
  return url(path);
};

test('a difference: header, bar, colours, and what is gone beside the root', async b => {
  const page = await open(b, diffSvg('diff', { moved: ['moved'] })), B = sumOf(1), A = sumOf(2);
  ok(await page.getByText(`before ${thousands(B)} \u2192 after ${thousands(A)} samples (+${(100 * (A / B - 1)).toFixed(1)}%)`).isVisible(), 'header');
  ok(await page.getByText('one window', { exact: true }).last().isVisible(), 'note');
  const slow = `before 1,000 (${pct(1000, B)}) \u2192 after 1,900 (${pct(1900, A)}) · +${+(100 * (1900 / A - 1000 / B)).toFixed(2)} pp · \u00d7${+(1900 / A / (1000 / B)).toFixed(2)}`;
  await hover(page, 'slow');
  ok((await bar(page)).includes(slow) && / · z \d/.test(await bar(page)), await bar(page));
  await hover(page, 'same');
  ok(/within noise|too small/.test(await bar(page)), await bar(page));
  await hover(page, 'moved');
  ok(/moved: same code, reached another way/.test(await bar(page)), await bar(page));
  const spot = async t => { const r = await frame(page, t).first().boundingBox(); await page.mouse.move(640, 10); await settle(page); return pixel(page, r.x - 2, r.y + 3); };
  ok((([r, , bl]) => r > bl + 20)(await spot('slow')), 'more is warm');
  ok((([r, , bl]) => bl > r + 20)(await spot('fast')), 'less is cold');
  ok((([r, , bl]) => Math.abs(r - bl) < 10)(await spot('same')), 'no change is grey');
  // Before the root the same scale: 900 samples of A wide
  const old = frame(page, 'old').first();
  ok(await old.isVisible(), 'what is gone is shown');
  const root = await frame(page, 'all').boundingBox(), gone = await frame(page, 'old').boundingBox();
  ok(gone.x > root.x + (1280 - 24 - 8) * A / (A + 900) - 1 && gone.x < root.x + (1280 - 24 - 8) * A / (A + 900) + 12, `beside the root: ${gone.x}`);
  await hover(page, 'only before');
  ok((await bar(page)).includes('and 1 sample in stacks too small to judge'), await bar(page));
  healthy(page);
});

test('a difference: widths of before, after and both; shares or counts', async b => {
  const page = await open(b, diffSvg('modes')), B = sumOf(1), A = sumOf(2), width = async t => {
    const r = await frame(page, t).first().boundingBox(), y = r.y + r.height / 2, on = async x => { await page.mouse.move(x, y); await settle(page); return (await bar(page)).includes(`Function: ${t} `); };
    let lo = r.x + 2, hi = 1270;
    while (hi - lo > 1) { const m = (lo + hi) / 2; if (await on(m)) lo = m; else hi = m; }
    return lo - r.x + 4;
  };
  for (const [key, share] of [['b', 1000 / B], ['u', Math.max(1000 * A / B, 1900) / two.reduce((s, t) => s + Math.max(t[1] * A / B, t[2]), 0)]]) {
    await press(page, key);
    is(await page.getByRole('button', { name: `Widths: ${key === 'b' ? 'before' : 'both'} (${key.toUpperCase()})` }).getAttribute('aria-pressed'), 'true', key);
    ok(Math.abs(await width('slow') - 1256 * share) < 3, `${key}: ${await width('slow')}, wanted ${1256 * share}`);
    is(await frame(page, 'only before').count(), 0, 'no area beside');
  }
  const link = diffSvg('modes') + await hash(page), again = await open(b, link);
  is(await again.getByRole('button', { name: 'Widths: both (U)' }).getAttribute('aria-pressed'), 'true', 'from the address');
  await press(page, 'a', '%');
  ok(await page.getByText('compared as counts').isVisible(), 'counts');
  await hover(page, 'slow');
  ok((await bar(page)).includes(`+${+(100 * 900 / Math.max(A, B)).toFixed(2)}% · \u00d71.9`), await bar(page));
  healthy(page);
});

test('a difference: T lists the largest changes; callers first computes its own', async b => {
  const page = await open(b, diffSvg('list')), B = sumOf(1), A = sumOf(2);
  await press(page, 't');
  const rows = (await tableRows(page)).map(t => t.split(' '));
  const own = {};
  for (const [f, x, y] of two) (own[f.at(-1)] ||= [0, 0]), own[f.at(-1)][0] += x, own[f.at(-1)][1] += y;
  const change = n => Math.abs(own[n][1] / A - own[n][0] / B);
  is(rows.map(r => r[0]).join(' '), ['fresh', 'slow', 'deep', 'fast', 'same'].filter(n => rows.some(r => r[0] === n)).sort((x, y) => change(y) - change(x)).join(' '), 'order');
  for (const n of ['fresh', 'slow', 'deep', 'fast']) ok(rows.some(r => r[0] === n && r[1] === thousands(own[n][0]) && r[2] === thousands(own[n][1])), n);
  ok(!rows.some(r => r[0] === 'tiny'), 'no noise');
  ok((await dock(page).getByRole('columnheader', { name: 'Function' }).boundingBox()).width > 170, 'names have room');
  await press(page, 't', 'r');
  await hover(page, 'slow');
  ok((await bar(page)).includes('before 1,000') && / · z \d/.test(await bar(page)), await bar(page));
  healthy(page);
});

test('a difference that pjsvg itself wrote', async b => {
  if (!real) return;
  const page = await open(b, url(makeSvg('written', pairs))), B = sumOf(1), A = sumOf(2);
  await hover(page, 'slow');
  ok((await bar(page)).includes(`before 1,000 (${pct(1000, B)}) \u2192 after 1,900 (${pct(1900, A)})`), await bar(page));
  ok(await frame(page, 'old').first().isVisible(), 'what is gone');
  healthy(page);
});

if (real) test('a difference: new code is striped, moved code is not', async b => {
  const page = await open(b, url(makeSvg('stripes', 'm;fast 1000 0\nm;fresh 0 700\nm;rest 3000 2700\nm;slow;fast 0 1000\n')));
  const left = (await page.getByRole('application').locator('svg').boundingBox()).x, spans = {};
  for (const n of ['fresh', 'rest', 'slow']) spans[n] = (await frame(page, n).first().boundingBox()).x;
  const stripes = [...(await page.getByRole('application').locator('path.pj-ha').getAttribute('d')).matchAll(/M([\d.]+)/g)].map(m => left + +m[1]);
  ok(stripes.length > 5 && stripes.every(x => x > spans.fresh - 6 && x < spans.rest - 4), `${stripes.length} stripes from ${Math.min(...stripes)} to ${Math.max(...stripes)}: ${JSON.stringify(spans)}`);
  await hover(page, 'slow');
  ok(/moved/.test(await bar(page)), await bar(page));
  healthy(page);
});

test('attributes of a function: title in the bar, Ctrl+click opens web addresses only', async b => {
  const path = join(scratch, 'attrs.svg');
  for (const [href, opens] of [['https://example.invalid/x', true], ['javascript:alert(1)', false], ['page.html', true], ['data:text/html,x', false], [' java\tscript:alert(1)', false]]) {
    writeFileSync(path, encode(Buffer.from('a;b 5\n'), { attrs: [[0, 'says more', href]] }));
    const page = await open(b, url(path));
    await page.evaluate(() => { window.opened = ''; window.open = u => { window.opened = u; }; });
    await hover(page, 'a');
    ok((await bar(page)).includes('says more'), await bar(page));
    const r = await frame(page, 'a').boundingBox();
    await page.keyboard.down('Control');
    await page.mouse.click(r.x + 2, r.y + 5);
    await page.keyboard.up('Control');
    is(await page.evaluate(() => window.opened), opens ? href : '', href);
    healthy(page);
  }
});

test('in order of time a pause has its place', async browser => {
  if (!real) return;
  const page = await open(browser, url(makeSvg('pause', 'app;work 30\napp 40\napp;work 30\n', { chart: 1 })));
  const boxes = await Promise.all((await frame(page, 'work').all()).map(f => f.boundingBox())), W = 1280 - 24;
  is(boxes.length, 2, 'the pause parts them');
  ok(Math.abs(boxes[0].x - 16) < 2, 'the first at the left: ' + boxes[0].x);
  ok(Math.abs(boxes[1].x - 16 - W * .7) < 2, 'the second behind the pause: ' + boxes[1].x);
  await click(page, 'app');
  is((await frame(page, 'work').all()).length, 2, 'zoomed, too');
});

await runTests();
