// The viewer as its user meets it: mouse, keyboard and address in; visible text, pixels and address out.
// Numbers are computed here from the folded text, never taken from the viewer.
import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, ok, is, runTests, makeSvg, real, open, settle, url, read, scratch, pixel, pixels, bar, box, said, frame, hover, click, find, hash, labels, value, fill } from './lib.mjs';

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
  const page = await open(b, url(makeSvg('factor', folded, { factor: 2.5, unit: 'ms', nametype: 'Method:' })));
  await hover(page, 'parse');
  const t = inclusive('app;main;parse');
  ok((await bar(page)).startsWith(`Method: parse — ${thousands(t * 2.5)} ms · ${pct(t, total)} of total`), await bar(page));
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
  await settle(page);
  ok(await frame(page, 'parse').isVisible() && !(await frame(page, 'loop').count()), 'back at app');
  await page.goBack();
  await settle(page);
  ok(await frame(page, 'loop').isVisible(), 'back at all');
  await page.goForward();
  await settle(page);
  is(await frame(page, 'loop').count(), 0, 'forward again');
  healthy(page);
});

test('search: literal, ignoring case, with the share of the view and without overlap', async b => {
  const page = await open(b, at);
  const expect = async (q, match, under) => {
    const [w, k] = matched(match, under), of = under ? inclusive(under) : total;
    is(await said(page), k ? `${pct(w, of)}${under ? ' of view' : ''} · ${thousands(k)}` : 'no match', 'search for ' + q);
  };
  for (const q of ['read', 'COMPUTE', 'a.b[c]*', 'HashMap', 'tiny', 'zzz', '(', '.*', 'main']) {
    await find(page, q);
    await expect(q, n => n.toLowerCase().includes(q.toLowerCase()));
  }
  await page.keyboard.press('Escape');
  await settle(page);
  is(await said(page), '', 'Escape clears');
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
    await page.keyboard.press('Enter');
    await settle(page);
    ok((await said(page)).endsWith(`${i} of ${k}`), await said(page));
    ok(/Function: read — /.test(await bar(page)), 'the bar tells of it: ' + await bar(page));
    seen.push(await bar(page));
    ok(seen.at(-1).startsWith(`Function: read — ${thousands(widths[i - 1])} samples`), `the widest first: ${seen.at(-1)}`);
  }
  is(new Set(seen).size, k, 'each match once');
  await page.keyboard.press('Enter');
  await settle(page);
  ok((await said(page)).endsWith(`1 of ${k}`), 'around');
  await page.keyboard.press('Shift+Enter');
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
    await page.keyboard.press('Enter');
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
    await page.setViewportSize({ width, height: 400 });
    await settle(page);
    await settle(page);
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
  const mixed = readFileSync(new URL('../cases/pjsvg/legend-mixed/in.folded', import.meta.url), 'utf8'), path = makeSvg('mixed', mixed);
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
  const page = await open(b, at), near = (a, c) => a.every((v, i) => Math.abs(v - c[i]) <= 3);
  const spot = await frame(page, 'parse').boundingBox(), other = await frame(page, 'loop').boundingBox();
  const was = await pixel(page, other.x - 2, other.y + 4);
  await find(page, 'parse');
  ok(near(await pixel(page, spot.x - 2, spot.y + 4), [0xd6, 0x24, 0x9f]), 'hit: ' + await pixel(page, spot.x - 2, spot.y + 4));
  const now = await pixel(page, other.x - 2, other.y + 4);
  ok(now.every((v, i) => v >= was[i]) && !near(now, was), `faded: ${was} -> ${now}`);
  healthy(page);
});

test('the address restores zoom, search, flags and theme; after reload too; nonsense in it does no harm', async b => {
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
  await settle(page);
  is(await value(page), 'main', 'a changed fragment counts');
  ok(await frame(page, 'run').isVisible(), 'and resets the rest');
  for (const bad of ['#z=zzzzzz', '#z=%', '#s=%E0%A4%A', '#s=(;f=r', '#;;=;z', '#f=rc;s=' + 'a'.repeat(5000), '#z=__proto__;d=constructor']) {
    const p = await open(b, at + bad);
    ok(await frame(p, 'run').isVisible(), bad);
    healthy(p);
  }
  const p = await open(b, at + '#s=' + encodeURIComponent('(a+)+$') + ';f=r');
  ok(/Enter/.test(await said(p)), 'a dangerous pattern waits: ' + await said(p));
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
  await page.setViewportSize({ width: 900, height: 700 });
  await settle(page);
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
  await settle(up);
  await settle(up);
  const tops = await labels(up);
  ok(tops.some(t => /^level[78]\d$/.test(t)) , 'scrolling shows the tips: ' + tops.slice(0, 5));
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
  const r = await frame(page, 'parse').boundingBox(), tap = async () => { await page.touchscreen.tap(r.x + 5, r.y + 5); await settle(page); };
  await tap();
  ok(/Function: parse/.test(await bar(page)) && await frame(page, 'loop').count(), 'told: ' + await bar(page));
  await tap();
  is(await frame(page, 'loop').count(), 0, 'zoomed');
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
    const page = await (await b.newContext({ viewport: { width: 1280, height: 800 } })).newPage();   // no script, so nothing to ask it
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
  await page.waitForTimeout(300);
  const inner = page.frames().filter(f => f !== page.mainFrame());
  is(inner.length, 2, 'frames');
  for (const f of inner) {
    const r = f.getByRole('application').getByText('run', { exact: true });
    const q = await r.boundingBox();
    await page.mouse.click(q.x + 3, q.y + 3);
    await page.waitForTimeout(150);
    is(await f.getByRole('application').getByText('loop', { exact: true }).count(), 0, 'zoomed');
  }
  is(page.trouble.filter(t => !/localStorage/.test(t)).join('\n'), '', 'trouble');
});

test('<img> shows the static picture, not a black one', async b => {
  const path = join(scratch, 'img.html');
  writeFileSync(path, `<!doctype html><title>img</title><body style="margin:0"><img src="${at}" width=800>`);
  const page = await open(b, url(path), { viewport: { width: 800, height: 600 } });
  await page.waitForTimeout(200);
  const shot = await pixels(page), seen = { light: 0, dark: 0, colour: 0 };
  for (let y = 0; y < 150; y += 3) for (let x = 0; x < 800; x += 3) {
    const c = shot.at(x, y), lo = Math.min(...c), hi = Math.max(...c);
    if (lo > 240) seen.light++; else if (hi < 60) seen.dark++; else if (hi - lo > 40) seen.colour++;
  }
  ok(seen.light > 1000 && seen.dark < seen.light / 5 && seen.colour > 50, JSON.stringify(seen));
});

test('print: one page', async b => {
  const page = await open(b, at), pdf = (await page.pdf({ format: 'A4', landscape: true })).toString('latin1');
  is((pdf.match(/\/Type\s*\/Page\b/g) || []).length, 1, 'pages');
  await settle(page);
  await click(page, 'run');
  is(await frame(page, 'loop').count(), 0, 'and works on after it');
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

test('hostile names: no dialog, no error, visible escapes', async b => {
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

test('the attack corpus of test/attack', async b => {
  const folder = new URL('../attack/', import.meta.url);
  for (const f of readdirSync(folder).filter(f => f.endsWith('.folded'))) {
    const page = await open(b, url(makeSvg(f, readFileSync(new URL(f, folder)))));
    ok(await frame(page, 'all').isVisible(), f + ' is drawn');
    for (const label of (await labels(page)).slice(0, 8)) await hover(page, label);
    healthy(page);
  }
});

await runTests();
