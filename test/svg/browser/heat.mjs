// The heat map as its user meets it: mouse, finger, keys and address in; visible text, pixels and address out.
// Numbers are computed here from the folded text, never taken from the viewer.
import { execFileSync } from 'node:child_process';
import { writeFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { test, ok, is, runTests, pjsvg, blank, open, settle, soon, url, scratch, pixel, find, click, hash } from './lib.mjs';

const pjheat = join(dirname(pjsvg), 'pjheat');
// 30 s in slots of 20 ms: compact in the first 100 ms of each second, nothing from 600 to 800 ms, a burst of parse at 12 s.
const samples = [];
for (let slot = 0; slot < 1500; slot++) {
  const row = slot % 50;
  if (row >= 30 && row < 40) continue;
  samples.push([slot, row < 5 ? 'app;main;compact' : 'app;main;serve;handle_[j]', 2 + slot % 3]);
  if (slot >= 600 && slot < 610) samples.push([slot, 'app;main;parse', 7]);
}
const lost = [[645, 9]];
const line = ([slot, stack, weight]) => `${(100 + slot / 50).toFixed(2)};${stack} ${weight}\n`;
const thousands = n => n.toLocaleString('en-US');
const weight = (from, to, part = '') => samples.reduce((all, [slot, stack, one]) => all + (slot >= from && slot <= to && stack.includes(part) ? one : 0), 0);
const total = weight(0, 1500);
function makeHeat(name, text, ...options) {
  const path = join(scratch, name + '.svg');
  writeFileSync(path, execFileSync(pjheat, options, { input: text, maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'ignore'] }));
  return path;
}
const path = makeHeat('heat', samples.map(line).join('') + lost.map(([slot, n]) => line([slot, '[lost]', n])).join('')), at = url(path);
const healthy = page => is(page.trouble.join('\n'), '', 'trouble on the page');
const heatMap = page => page.getByRole('application', { name: /^Heat map/ });
const flame = page => page.getByRole('application', { name: 'Flame graph' });
const readout = async page => (await heatMap(page).getByRole('status').innerText()).trim();
const shown = async page => (await flame(page).locator('text').allTextContents()).map(one => one.trim());
const sums = async page => (await page.getByText(/ samples · \d+ frames/).last().innerText()).split(' · ')[0];
// The centre of a slot: columns of (1280 - 24 - 48) / 30 px, at most 32.
async function place(page, slot) {
  const box = await heatMap(page).locator('svg').boundingBox(), column = Math.min((box.width - 48) / 30, 32), row = (box.height - 18) / 50;
  return [box.x + 48 + (Math.floor(slot / 50) + .5) * column, box.y + (49 - slot % 50 + .5) * row];
}
const moveTo = async (page, slot) => { await page.mouse.move(...await place(page, slot)); await settle(page); };
async function brush(page, from, to) {
  await moveTo(page, from);
  await page.mouse.down();
  await moveTo(page, to);
  await page.mouse.up();
  await settle(page);
}

test('the map has a colour for each slot, and numbers under the pointer', async b => {
  const page = await open(b, at);
  for (const slot of [0, 7, 612, 1499]) {
    await moveTo(page, slot);
    is(await readout(page), `${Number((slot / 50).toFixed(2))} s: ${weight(slot, slot)} samples`, `slot ${slot}`);
  }
  await moveTo(page, 35);
  is(await readout(page), '0.7 s: no samples', 'a slot without samples');
  await moveTo(page, 645);
  is(await readout(page), `12.9 s: ${weight(645, 645)} samples · 9 lost`, 'losses');
  const few = await pixel(page, ...await place(page, 3)), none = await pixel(page, ...await place(page, 36)), many = await pixel(page, ...await place(page, 605));
  ok(String(few) !== String(none) && String(many) !== String(few) && String(many) !== String(none), `colours: ${few} / ${none} / ${many}`);
  ok(many.reduce((x, y) => x + y) < few.reduce((x, y) => x + y), 'more is darker');
  healthy(page);
});

test('a brush draws the graph of its range, also while the button is held', async b => {
  const page = await open(b, at);
  is(await sums(page), `${thousands(total)} samples`, 'all');
  await moveTo(page, 600);
  await page.mouse.down();
  await moveTo(page, 605);
  await soon(async () => is(await sums(page), `${weight(600, 605)} of ${thousands(total)} samples`, 'while the button is held'));
  await moveTo(page, 609);
  await page.mouse.up();
  await settle(page);
  is(await sums(page), `${weight(600, 609)} of ${thousands(total)} samples`, 'range');
  ok((await shown(page)).includes('parse'), 'parse is seen');
  is(await hash(page), '#o=t600-609', 'address');
  ok((await readout(page)).includes(`selected 12 s to 12.2 s (200 ms): ${weight(600, 609)} samples · 10 slots`), await readout(page));
  ok(await page.getByRole('button', { name: 'Undo: 12 s to 12.2 s (200 ms)' }).isVisible(), 'label below the graph');
  await brush(page, 720, 660); // backwards, over columns
  is(await hash(page), '#o=t660-720', 'the next range replaces it');
  ok(!(await shown(page)).includes('parse'), 'parse is not in it');
  await page.goBack();
  await soon(async () => is(await sums(page), `${weight(600, 609)} of ${thousands(total)} samples`, 'Back'));
  await page.keyboard.press('Escape');
  await settle(page);
  is(await sums(page), `${thousands(total)} samples`, 'Escape');
  is(await hash(page), '', 'address of all');
  healthy(page);
});

test('a click is one slot, Shift extends it, the axis is a column', async b => {
  const page = await open(b, at);
  await page.mouse.click(...await place(page, 105));
  await settle(page);
  is(await hash(page), '#o=t105-105', 'a slot');
  await page.keyboard.down('Shift');
  await page.mouse.click(...await place(page, 131));
  await page.keyboard.up('Shift');
  await settle(page);
  is(await hash(page), '#o=t105-131', 'Shift');
  const [x] = await place(page, 250), box = await heatMap(page).locator('svg').boundingBox();
  await page.mouse.click(x, box.y + box.height - 6);
  await settle(page);
  is(await hash(page), '#o=t250-299', 'the column of a time on the axis');
  is(await sums(page), `${weight(250, 299)} of ${thousands(total)} samples`, 'its samples');
  healthy(page);
});

test('keys: arrows move, Shift extends, Enter draws, Escape ends', async b => {
  const page = await open(b, at);
  await page.keyboard.press('g');
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowUp', 'ArrowUp', 'ArrowDown']) await page.keyboard.press(key);
  await settle(page);
  is(await readout(page), `2.02 s: ${weight(101, 101)} samples`, 'the first arrow begins at the first slot');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowUp');
  await page.keyboard.press('Enter');
  await settle(page);
  is(await hash(page), '#o=t101-152', 'address');
  is(await sums(page), `${weight(101, 152)} of ${thousands(total)} samples`, 'samples');
  ok(await flame(page).evaluate(e => e === document.activeElement), 'the graph has the focus');
  await page.keyboard.press('g');
  await page.keyboard.press('Space');
  await settle(page);
  is(await hash(page), '#o=t150-199', 'Space is the column');
  await page.keyboard.press('Escape');
  await settle(page);
  is(await hash(page), '', 'Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await settle(page);
  is(await hash(page), '#o=t1499-1499', 'Enter without a range is the slot');
  healthy(page);
});

test('a finger brushes, on a phone', async b => {
  const page = await open(b, at, { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true });
  const client = await page.context().newCDPSession(page);
  const [[left, top], [right, bottom]] = [await place(page, 100), await place(page, 420)];
  const touch = (type, ...points) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  await touch('touchStart', [left, top]);
  await touch('touchMove', [(left + right) / 2, top]);
  await touch('touchMove', [right, bottom]);
  await touch('touchEnd');
  await soon(async () => is(await hash(page), '#o=t100-420', 'address'));
  is(await sums(page), `${thousands(weight(100, 420))} of ${thousands(total)} samples`, 'samples');
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
  healthy(page);
});

test('a link opens the range, other operations go on in it, junk does nothing', async b => {
  const page = await open(b, at + '#o=t600-609');
  is(await sums(page), `${weight(600, 609)} of ${thousands(total)} samples`, 'range');
  await page.keyboard.press('r');
  await settle(page);
  ok((await shown(page)).includes('parse'), 'callers first of the range');
  is(await sums(page), `${weight(600, 609)} of ${thousands(total)} samples`, 'its samples');
  is(decodeURIComponent(await hash(page)), '#o=t600-609\nr', 'address');
  for (const junk of ['t', 't5', 't9-99999999', 'tx-y', 't1e3-5']) {
    const other = await open(b, at + '#o=' + junk);
    is(await sums(other), `${thousands(total)} samples`, junk);
    healthy(other);
  }
  healthy(page);
});

test('a search colours the slots with a match', async b => {
  const page = await open(b, at), before = await pixel(page, ...await place(page, 20));
  await find(page, 'compact');
  await settle(page);
  ok(await heatMap(page).getByText('no match').isVisible(), 'legend');
  const match = await pixel(page, ...await place(page, 2)), other = await pixel(page, ...await place(page, 20));
  ok(String(match) !== String(other) && String(other) !== String(before), `colours: ${match} / ${other} / ${before}`);
  healthy(page);
});

test('a search colours the slots of all times, also in a range without a match', async b => {
  const plain = await open(b, at), before = await pixel(plain, ...await place(plain, 20)), few = await pixel(plain, ...await place(plain, 603));
  const page = await open(b, at + '#o=t0-100;s=parse');
  ok(await heatMap(page).getByText('no match').isVisible(), 'legend');
  ok(await heatMap(page).getByText('7 samples with a match in a slot').isVisible(), 'scale');
  // not inside of the range, which is not shaded
  const match = await pixel(page, ...await place(page, 603)), other = await pixel(page, ...await place(page, 20));
  ok(String(other) !== String(before) && String(match) !== String(few), `colours: ${match} / ${other} / ${few} / ${before}`);
  await find(page, 'no such name');
  is(await heatMap(page).getByText('no match').count(), 0, 'without a match anywhere, all samples are shown');
  healthy(page);
});

test('keys of the page act on a range that is being selected, and accept it', async b => {
  const page = await open(b, at);
  for (const key of ['g', 'ArrowRight', 'Shift+ArrowRight']) {
    await page.keyboard.press(key);
    await settle(page);
  }
  is(await hash(page), '', 'a preview is no step');
  await page.keyboard.press('r');
  await page.keyboard.press('Enter');
  await settle(page);
  is(decodeURIComponent(await hash(page)), '#o=t0-50\nr', 'the range and the operation');
  await page.goBack();
  await soon(async () => is(await hash(page), '#o=t0-50', 'Back'));
  healthy(page);
});

test('Back drops a range that was not accepted', async b => {
  const page = await open(b, at), all = thousands(total);
  await page.mouse.click(...await place(page, 105));
  await page.mouse.click(...await place(page, 205));
  await settle(page);
  await page.keyboard.press('Shift+ArrowRight');
  await settle(page);
  is(await sums(page), `${weight(205, 255)} of ${all} samples`, 'preview');
  await page.goBack();
  await soon(async () => is(await sums(page), `${weight(105, 105)} of ${all} samples`, 'Back'));
  ok((await readout(page)).includes('selected 2.1 s: '), await readout(page));
  await page.keyboard.press('Tab');
  await settle(page);
  is(await hash(page), '#o=t105-105', 'Tab accepts nothing');
  healthy(page);
});

test('a range keeps the zoom, whatever it has on its way', async b => {
  const page = await open(b, at + '#o=t600-609');
  await click(page, 'parse');
  const zoomed = (await hash(page)).split(';').find(part => /^#?z=/.test(part));
  ok(zoomed, await hash(page));
  await brush(page, 700, 605); // first a slot without parse
  is(await hash(page), zoomed + ';o=t605-700', 'address');
  await brush(page, 700, 750);
  is(await hash(page), '#o=t700-750', 'without the frame there is no zoom');
  healthy(page);
});

test('all of 720 columns are on a phone', async b => {
  const text = Array.from({ length: 36000 }, (_, slot) => `${(slot / 50).toFixed(2)};app;f${slot % 3} 1\n`).join('');
  const page = await open(b, url(makeHeat('columns', text)), { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true });
  const box = await heatMap(page).locator('svg').boundingBox();
  ok(box.x + box.width <= 375, `width of the map: ${box.width}`);
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
  const client = await page.context().newCDPSession(page);
  const touch = (type, ...points) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  await touch('touchStart', [box.x + 49, box.y + 1]);
  await touch('touchMove', [box.x + 200, box.y + 1]);
  await touch('touchMove', [box.x + box.width + 4, box.y + 1]);
  await touch('touchEnd');
  await soon(async () => is((await hash(page)).split('-')[1], '35999', 'to the last slot'));
  ok(Number(/t(\d+)/.exec(await hash(page))[1]) < 250, 'from one of the first: ' + await hash(page));
  await page.keyboard.press('Escape');
  await settle(page);
  is(await hash(page), '', 'Escape');
  const none = await pixel(page, box.x + 20, box.y + 40);
  for (let x = 60; x < 340; x += 31) ok(String(await pixel(page, box.x + x, box.y + 41)) !== String(none), 'slots at ' + x);
  healthy(page);
});

test('the table has the range beside all times; the theme and a resize redraw the map', async b => {
  const page = await open(b, at + '#o=t600-609');
  await page.keyboard.press('t');
  await settle(page);
  const row = (await page.getByRole('row', { name: /^parse/ }).innerText()).replace(/\s+/g, ' ');
  ok(/^parse 70 \S+ 70 \S+ 70 \S+$/.test(row), 'self and total of parse in the range, and in all: ' + row);
  await page.keyboard.press('t');
  await page.keyboard.press('d');
  await settle(page);
  const dark = await pixel(page, ...await place(page, 36));
  ok(dark.every(value => value < 80), 'dark: ' + dark);
  await page.setViewportSize({ width: 700, height: 600 });
  await soon(async () => is((await heatMap(page).locator('svg').boundingBox()).width, 676, 'width of the map'));
  await moveTo(page, 612);
  ok((await readout(page)).startsWith(`12.24 s: ${weight(612, 612)} samples`), await readout(page));
  healthy(page);
});

test('without script there is a map and the graph of all times', async b => {
  const page = await blank(b, { javaScriptEnabled: false });
  await page.goto(at);
  for (const text of ['columns of 1 s, slots of 20 ms', 'handle']) {
    ok(await page.getByText(text).first().isVisible(), text);
  }
  const colours = new Set();
  for (let y = 110; y < 250; y += 7) colours.add(String(await pixel(page, 400, y)));
  ok(colours.size >= 3, 'colours of the map: ' + colours.size);
});

test('a strict policy with the hash of --csp-hash permits the script', async b => {
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src '${execFileSync(pjheat, ['--csp-hash'], { encoding: 'utf8' }).trim()}'`;
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'image/svg+xml');
    answer.setHeader('Content-Security-Policy', policy);
    answer.end(readFileSync(path));
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  const page = await open(b, `http://127.0.0.1:${server.address().port}/`);
  await brush(page, 600, 609);
  is(await sums(page), `${weight(600, 609)} of ${thousands(total)} samples`, 'range');
  healthy(page);
  server.close();
});

test('gaps are blank, and their slots have no numbers', async b => {
  const page = await open(b, url(makeHeat('gaps', '1.00;a 3\n9.98;a 2\n200.00;b 1\n')));
  const box = await heatMap(page).locator('svg').boundingBox();
  await page.mouse.move(box.x + 48 + 9.5 * 32, box.y + 30);
  await settle(page);
  is(await readout(page), 'a longer gap: no samples', 'gap');
  await page.mouse.move(box.x + 48 + 10.5 * 32, box.y + box.height - 20);
  await settle(page);
  is(await readout(page), '3:19: 1 sample', 'behind the gap');
  healthy(page);
});

// What the header has in a comparison.
const both = async page => (await page.getByText(/^before, .* → after, /).innerText()).split(' · ')[0];
const wanted = (from, to, one, other) => `before, ${one}: ${thousands(from)} → after, ${other}: ${thousands(to)} samples (${to < from ? '−' : '+'}${Math.abs(100 * (to / from - 1)).toFixed(1)}%)`;
const control = (page, name) => heatMap(page).getByRole('button', { name });
const early = [500, 549], late = [600, 649];
const compared = wanted(weight(...early), weight(...late), '10 s to 11 s (1 s)', '12 s to 13 s (1 s)');

test('two ranges by the button: the difference, what is new, and back', async b => {
  const page = await open(b, at);
  await brush(page, ...early);
  ok(!await control(page, 'Swap').isVisible(), 'nothing to swap');
  await control(page, 'Compare two ranges').click();
  ok((await readout(page)).startsWith('drag over the map: the time after'), await readout(page));
  await brush(page, ...late);
  is(await both(page), compared, 'header');
  is(decodeURIComponent(await hash(page)), '#o=t500-549\nv600-649', 'address');
  ok(await page.getByText('too few samples for a comparison: 800 a side').isVisible(), 'a verdict on few samples');
  ok((await shown(page)).includes('parse'), 'what is new');
  await find(page, 'parse');
  await page.keyboard.press('Enter');
  await settle(page);
  const line = (await page.getByRole('status').last().innerText()).replace(/\s+/g, ' ');
  ok(line.includes('before 0 (0%) → after 70 (') && line.includes('new'), line);
  await page.keyboard.press('Escape');
  await control(page, 'Swap').click();
  await settle(page);
  is(await both(page), wanted(weight(...late), weight(...early), '12 s to 13 s (1 s)', '10 s to 11 s (1 s)'), 'swapped');
  ok(await flame(page).getByText('only before').isVisible(), 'what is gone');
  await control(page, 'End the comparison').click();
  await settle(page);
  is(await sums(page), `${weight(...late)} of ${thousands(total)} samples`, 'the range before');
  is(await hash(page), '#o=t600-649', 'address of one range');
  await page.goBack();
  await soon(async () => ok((await both(page)).startsWith('before, 12 s'), 'Back'));
  healthy(page);
});

test('Ctrl and a drag compare, Escape goes back step by step', async b => {
  const page = await open(b, at);
  await page.keyboard.down('Control');
  await brush(page, ...early); // without a first range, it is the first
  is(await hash(page), '#o=t500-549', 'first');
  await brush(page, ...late);
  await page.keyboard.up('Control');
  is(await both(page), compared, 'header');
  ok(await page.getByRole('button', { name: 'Changes' }).isVisible(), 'the table has changes');
  await page.keyboard.press('Escape');
  await settle(page);
  is(await hash(page), '#o=t500-549', 'Escape ends the comparison');
  ok(await page.getByRole('button', { name: /^Table/ }).isVisible(), 'the table has functions');
  await page.keyboard.press('Escape');
  await settle(page);
  is(await hash(page), '', 'Escape ends the range');
  healthy(page);
});

test('keys: V and a second range, or Ctrl+Shift and arrows', async b => {
  const page = await open(b, at + '#o=t500-549');
  await page.keyboard.press('v');
  await settle(page);
  ok(await heatMap(page).evaluate(e => e === document.activeElement), 'the map has the focus');
  for (const key of ['Home', 'Home', 'Shift+ArrowRight']) await page.keyboard.press(key);
  await page.keyboard.press('Enter');
  await settle(page);
  is(decodeURIComponent(await hash(page)), '#o=t500-549\nv0-50', 'V');
  ok(await flame(page).evaluate(e => e === document.activeElement), 'the graph has the focus');
  await page.keyboard.press('b');
  await settle(page);
  is(decodeURIComponent(await hash(page)), '#o=t500-549\nv0-50;m=B', 'widths: before');
  await page.keyboard.press('v');
  await settle(page);
  is(await hash(page), '#o=t500-549', 'V ends it');
  for (const key of ['Home', 'ArrowRight', 'Control+Shift+ArrowUp', 'Control+Shift+ArrowUp', 'Enter']) await page.keyboard.press(key);
  await settle(page);
  is(decodeURIComponent(await hash(page)), '#o=t500-549\nv50-52;m=B', 'Ctrl');
  healthy(page);
});

test('a link opens a comparison with filters; one range is none', async b => {
  const page = await open(b, at + '#o=t0-749%0Av750-1499%0Ar');
  ok((await both(page)).startsWith('before, 0 s to 15 s (15 s): '), await both(page));
  ok(await page.getByText('3 of 6 functions changed').isVisible(), 'note: parse is gone, serve and handle have its share');
  ok((await shown(page)).includes('compact'), 'callers first');
  await page.keyboard.press('%');
  await settle(page);
  ok(await page.getByText('compared as counts').isVisible() || await page.getByText('compared as shares').isVisible(), 'shares or counts');
  for (const junk of ['v0-5', 'v600-609%0At', 'vx', 't9-99999%0Av1-2']) {
    const other = await open(b, at + '#o=' + junk);
    is(await sums(other), `${thousands(total)} samples`, junk);
    healthy(other);
  }
  const overlap = await open(b, at + '#o=t0-749%0Av700-1499');
  ok(await overlap.getByText('the ranges overlap: 50 slots on both sides').isVisible(), 'overlap');
  const empty = await open(b, at + '#o=t30-39%0Av700-1499');
  ok(await empty.getByText('no samples before: all is new').isVisible(), 'an empty side');
  for (const other of [page, overlap, empty]) healthy(other);
});

test('a finger compares, on a phone', async b => {
  const page = await open(b, at + '#o=t100-220', { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true });
  await control(page, 'Compare two ranges').tap();
  const client = await page.context().newCDPSession(page);
  const [[left, top], [right, bottom]] = [await place(page, 500), await place(page, 720)];
  const touch = (type, ...points) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x, y })) });
  await touch('touchStart', [left, top]);
  await touch('touchMove', [(left + right) / 2, top]);
  await touch('touchMove', [right, bottom]);
  await touch('touchEnd');
  await soon(async () => is(decodeURIComponent(await hash(page)), '#o=t100-220\nv500-720', 'address'));
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
  healthy(page);
});

// An hour of three hosts in columns of 5 s: web1 without samples from 900 to 1800 s, a name that is markup, and losses.
const hosts = ['lost samples', '<b>cache</b>', 'web1', 'db']; // from bottom to top
const byHost = [];
for (let column = 0; column < 720; column++) {
  byHost.push([column, 3, 'db;sql;scan', 9]);
  if (column < 180 || column >= 360) byHost.push([column, 2, 'web1;app;serve', 3 + column % 2]);
  if (column >= 700) byHost.push([column, 1, '<b>cache</b>;get', 1]);
}
const hostText = byHost.map(([column, , stack, one]) => `${100000 + column * 5};${stack} ${one}\n`).join('') + '100050;[lost] 7\n';
const hostPath = makeHeat('hosts', hostText, '--rows=host'), hostAt = url(hostPath);
const hostWeight = (first, last, low, high) => byHost.reduce((all, [column, row, , one]) => all
  + (column >= first && column <= last && row >= low && row <= high ? one : 0), 0);
const hostTotal = thousands(hostWeight(0, 720, 0, 3));
async function hostPlace(page, column, row) {
  const box = await heatMap(page).locator('svg').boundingBox(), height = (box.height - 18) / 4;
  return [box.x + 160 + (column + .5) * (box.width - 160) / 720, box.y + (3 - row + .5) * height];
}
async function hostBrush(page, first, last) {
  await page.mouse.move(...await hostPlace(page, ...first));
  await page.mouse.down();
  await page.mouse.move(...await hostPlace(page, ...last));
  await page.mouse.up();
  await settle(page);
}

test('rows for hosts: a brush over one or several, a name, and a comparison', async b => {
  const page = await open(b, hostAt);
  for (const name of hosts) ok(await heatMap(page).locator('text').filter({ hasText: name }).count(), name);
  ok(await page.getByText('a row for each host').isVisible(), 'legend');
  await page.mouse.move(...await hostPlace(page, 10, 0));
  await settle(page);
  is(await readout(page), 'lost samples: 50 s: no samples · 7 lost (host unknown)', 'losses');
  await hostBrush(page, [20, 2], [60, 2]);
  is(await sums(page), `${hostWeight(20, 60, 2, 2)} of ${hostTotal} samples`, 'one row');
  ok(!(await shown(page)).includes('scan'), 'without the other host');
  ok(await page.getByRole('button', { name: /^Undo: web1: 100 s to / }).isVisible(), 'its label');
  await hostBrush(page, [60, 3], [20, 2]);
  is(await sums(page), `${hostWeight(20, 60, 2, 3)} of ${hostTotal} samples`, 'two rows, backwards');
  is(await hash(page), `#o=t${20 * 4 + 2}-${60 * 4 + 3}`, 'address');
  const [, webY] = await hostPlace(page, 0, 2), box = await heatMap(page).locator('svg').boundingBox();
  await page.mouse.click(box.x + 100, webY);
  await settle(page);
  is(await sums(page), `${thousands(hostWeight(0, 720, 2, 2))} of ${hostTotal} samples`, 'the name is the row');
  await hostBrush(page, [20, 2], [60, 2]);
  await page.keyboard.down('Control');
  await hostBrush(page, [400, 3], [500, 3]);
  await page.keyboard.up('Control');
  const header = await both(page);
  ok(header.startsWith('before, web1: ') && header.includes(String(hostWeight(20, 60, 2, 2))), header);
  ok(header.includes('after, db: ') && header.includes(String(hostWeight(400, 500, 3, 3))), header);
  healthy(page);
});

test('rows for hosts: missing time is hatched; keys stay in a row', async b => {
  const page = await open(b, hostAt);
  const strokes = await heatMap(page).locator('path.pj-hh2').getAttribute('d'), starts = [...strokes.matchAll(/M([\d.]+) (\d+)l/g)];
  const [left] = await hostPlace(page, 180, 2), [right] = await hostPlace(page, 359, 2), box = await heatMap(page).locator('svg').boundingBox();
  const web = starts.filter(([, , y]) => Number(y) === 24).map(([, x]) => Number(x) + box.x);
  ok(web.length > 10 && Math.min(...web) >= left - 2 && Math.max(...web) <= right, `web1: ${web.length} strokes`);
  ok(!starts.some(([, , y]) => Number(y) === 12), 'none in the row of db');
  await page.keyboard.press('g');
  for (const key of ['ArrowRight', 'ArrowUp', 'ArrowUp', 'Home', 'Shift+End']) await page.keyboard.press(key);
  await settle(page);
  await page.keyboard.press('Enter');
  await settle(page);
  is(await hash(page), `#o=t2-${719 * 4 + 2}`, 'all of web1');
  is(await sums(page), `${thousands(hostWeight(0, 720, 2, 2))} of ${hostTotal} samples`, 'its samples');
  healthy(page);
});

test('rows for hosts: a range of any rows has the losses of its time', async b => {
  const page = await open(b, hostAt);
  await hostBrush(page, [5, 3], [20, 3]);
  ok((await readout(page)).includes(`selected db: 25 s to 105 s (1.33 min): ${hostWeight(5, 20, 3, 3)} samples · 7 lost (host unknown)`), await readout(page));
  await hostBrush(page, [15, 3], [20, 3]);
  ok(!(await readout(page)).includes('lost'), await readout(page));
  healthy(page);
});

test('rows for hosts: two rectangles that overlap are both clear', async b => {
  const page = await open(b, hostAt), plain = String(await pixel(page, ...await hostPlace(page, 350, 3)));
  await hostBrush(page, [300, 2], [400, 3]);
  await page.keyboard.down('Control');
  await hostBrush(page, [340, 3], [500, 3]);
  await page.keyboard.up('Control');
  is(decodeURIComponent(await hash(page)), `#o=t${300 * 4 + 2}-${400 * 4 + 3}\nv${340 * 4 + 3}-${500 * 4 + 3}`, 'address');
  for (const column of [335, 380, 450]) is(String(await pixel(page, ...await hostPlace(page, column, 3))), plain, 'colour at column ' + column);
  ok(String(await pixel(page, ...await hostPlace(page, 550, 3))) !== plain, 'the rest is shaded');
  healthy(page);
});

test('one row: Up and Down stay in their column', async b => {
  const text = Array.from({ length: 40 }, (_, at) => `${100000 + at * 5};db;sql 3\n`).join('');
  const page = await open(b, url(makeHeat('one', text, '--rows=host')));
  await page.keyboard.press('g');
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
  await settle(page);
  ok((await readout(page)).startsWith('db: 5 s: '), await readout(page));
  for (const key of ['Shift+ArrowUp', 'Shift+ArrowRight', 'Enter']) await page.keyboard.press(key);
  await settle(page);
  is(await hash(page), '#o=t1-2', 'a range');
  healthy(page);
});

test('names of rows that differ at their end only: the end is seen, the pointer and screen readers get all', async b => {
  const names = ['kubepods-burstable-frontend-eu-1', 'kubepods-burstable-frontend-eu-2'];
  const path = makeHeat('long', names.map((name, at) => `5;${name};f ${at + 1}\n10;${name};f ${at + 1}\n`).join(''), '--rows=pod'), page = await open(b, url(path));
  for (const [at, name] of names.entries()) {
    const label = heatMap(page).getByRole('img', { name, exact: true });
    ok((await label.evaluate(e => e.firstChild.data)).endsWith('frontend-eu-' + (at + 1)), name);
    const box = await label.boundingBox(), map = await heatMap(page).locator('svg').boundingBox();
    ok(box.x >= map.x, 'it is on the page');
    is(await page.evaluate(([x, y]) => document.elementFromPoint(x, y).querySelector('title')?.textContent, [box.x + box.width / 2, box.y + box.height / 2]), name, 'tooltip');
  }
  const still = await blank(b, { javaScriptEnabled: false });
  await still.goto(url(path));
  for (const at of [1, 2]) ok(await still.locator('text').filter({ hasText: '…frontend-eu-' + at }).isVisible(), 'without script');
  healthy(page);
});

// Markers of the first map: two in one slot, one in the middle of a column, a label that is markup, and one of another time.
const markerPath = join(scratch, 'markers.txt'), deploy = '<script>alert(1)</script>&"\u{1f525}';
writeFileSync(markerPath, `# deployments\n103.5\tdeploy 1.2\n112 cron\n112.01 backup\n120 ${deploy}\n9 before\n`);
const markedPath = makeHeat('marked', samples.map(line).join(''), '--markers', markerPath), markedAt = url(markedPath);

test('markers: flags, legend, tooltips, and a click is the time up to the next one', async b => {
  const page = await open(b, markedAt), flag = name => heatMap(page).getByRole('button', { name });
  ok(await heatMap(page).getByText('4 markers, 1 not shown').isVisible(), 'legend');
  for (const text of ['deploy 1.2', '2 markers', deploy]) ok(await heatMap(page).getByRole('button').filter({ hasText: text }).isVisible(), text);
  ok((await flag(/^deploy 1.2 at 3.5 s/).getAttribute('title')).startsWith('deploy 1.2 at 3.5 s\n'), 'tooltip');
  ok((await flag(/^cron/).getAttribute('title')).startsWith('cron at 12 s\nbackup at 12.01 s\n'), 'tooltip of two');
  await flag(/^cron/).hover();
  await settle(page);
  is(await readout(page), `cron at 12 s · backup at 12.01 s · 12 s: ${weight(600, 600)} samples`, 'the flag under the pointer');
  await flag(/^deploy 1.2/).click();
  await settle(page);
  is(await hash(page), '#o=t175-599', 'from one marker to the next');
  is(await sums(page), `${thousands(weight(175, 599))} of ${thousands(total)} samples`, 'samples');
  await page.keyboard.down('Control');
  await flag(/^cron/).click();
  await page.keyboard.up('Control');
  await settle(page);
  is(decodeURIComponent(await hash(page)), '#o=t175-599\nv600-999', 'with Ctrl, compared with the time of another');
  const border = await heatMap(page).locator('.pj-hk path').last().getAttribute('d');
  const map = await heatMap(page).locator('svg').boundingBox(), [x, y] = await place(page, 175);
  const [, right, bottom] = /^M([\d.]+) \d+V([\d.]+)/.exec(border);
  ok(Math.abs(Number(right) + map.x - x - 16) < 2 && Math.abs(Number(bottom) + map.y - y) < 5, 'the line passes the slot of its time: ' + border);
  healthy(page);
});

test('markers: by keys, and for screen readers', async b => {
  const page = await open(b, markedAt);
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await settle(page);
  is(await readout(page), `cron at 12 s · backup at 12.01 s · 12 s: ${weight(600, 600)} samples`, 'the second, in the status line');
  ok(await heatMap(page).evaluate(e => e === document.activeElement), 'the map has the focus');
  await page.keyboard.press('Shift+K');
  await page.keyboard.press('j');
  await settle(page);
  is(await hash(page), '#o=t175-599', 'J: up to the next one');
  for (const key of ['v', 'k', 'j']) {
    await page.keyboard.press(key);
    await settle(page);
  }
  is(decodeURIComponent(await hash(page)), '#o=t175-599\nv600-999', 'V: compared with the next');
  ok((await heatMap(page).getAttribute('aria-label')).includes('K goes to the next marker'), 'name of the map');
  await page.keyboard.press('?');
  ok(await page.getByRole('button', { name: 'Next marker' }).isVisible(), 'help');
  healthy(page);
});

test('markers: Enter draws the slot of a marker, Shift extends from it', async b => {
  const page = await open(b, markedAt);
  for (const key of ['k', 'Enter']) await page.keyboard.press(key);
  await settle(page);
  is(await hash(page), '#o=t175-175', 'Enter');
  await page.mouse.click(...await place(page, 100));
  for (const key of ['k', 'k', 'Shift+ArrowRight', 'Enter']) await page.keyboard.press(key);
  await settle(page);
  is(await hash(page), '#o=t600-650', 'from the marker');
  await heatMap(page).getByRole('button', { name: /^deploy 1.2/ }).click();
  await page.keyboard.down('Shift');
  await page.mouse.click(...await place(page, 320));
  await page.keyboard.up('Shift');
  await settle(page);
  is(await hash(page), '#o=t175-320', 'Shift and a click, from the flag');
  for (const key of ['v', 'k', 'Enter']) await page.keyboard.press(key);
  await settle(page);
  is(decodeURIComponent(await hash(page)), '#o=t175-320\nv600-600', 'V and Enter: compared with the slot');
  healthy(page);
});

test('markers: without script, in rows, on a phone; a map without them has no commands of them', async b => {
  const still = await blank(b, { javaScriptEnabled: false });
  await still.goto(markedAt);
  for (const text of ['deploy 1.2', deploy, '4 markers, 1 not shown']) ok(await still.locator('text').filter({ hasText: text }).first().isVisible(), text);
  const hourly = join(scratch, 'hourly.txt');
  writeFileSync(hourly, '100900 web1 stops\n101800 web1 starts\n');
  const page = await open(b, url(makeHeat('hostmarks', hostText, '--rows=host', '--markers', hourly)), { viewport: { width: 375, height: 760 }, hasTouch: true, isMobile: true });
  await page.keyboard.press('k');
  await settle(page);
  is(await readout(page), 'web1 stops at 15:00 · db: 15:00: 9 samples', 'K: in the highest row');
  await heatMap(page).getByRole('button', { name: /^web1 stops/ }).tap();
  await soon(async () => is(await hash(page), `#o=t${180 * 4}-${360 * 4 - 1}`, 'all rows of its time'));
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing is wider than the phone');
  const plain = await open(b, at);
  await plain.keyboard.press('?');
  is(await plain.getByText('Next marker').count(), 0, 'no command');
  for (const one of [page, plain]) healthy(one);
});

await runTests();
