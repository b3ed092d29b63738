#!/usr/bin/env node
// node bench.mjs FILE.svg... [RUNS] [paint]: medians (default of 9) of what a user waits for, in Chromium, in milliseconds. Files take turns.
// paint: navigation start to load and two animation frames, and nothing more of pictures of other tools. pss: MB of the renderer. zoom, unzoom, search: input to the second frame after it.
import { launch, open, settle, url } from './lib.mjs';
import { resolve } from 'node:path';
import { readFileSync, statSync } from 'node:fs';

const args = process.argv.slice(2), runs = Number(args.find(a => /^\d+$/.test(a)) || 9), only = args.includes('paint'), browser = await launch();
const files = args.filter(a => a !== 'paint' && !/^\d+$/.test(a)).map(f => resolve(f)), taken = files.map(() => ({}));
let times;
const note = (k, v) => (times[k] ||= []).push(v);
// Timed inside the page from the event's own time stamp, so that the driver's latency is not part of it.
const timed = async (page, k, type, act) => {
  const t = page.evaluate(type => new Promise(r => addEventListener(type, ev => {
    requestAnimationFrame(() => requestAnimationFrame(() => r(performance.now() - ev.timeStamp)));
  }, { once: true, capture: true })), type);
  await settle(page);
  await act();
  note(k, await t);
  await settle(page);
};
// A frame to zoom into: of those called by what stands on the root, the one with the longest label. (A fixed place may be sky.)
const place = page => page.getByRole('application').locator('text').evaluateAll(all => {
  const at = all.map(e => [e.textContent.length, e.getBoundingClientRect()]), rows = [...new Set(at.map(([, r]) => r.y))].sort((a, b) => b - a);
  const [, r] = at.filter(([, r]) => r.y === rows[Math.min(2, rows.length - 1)]).sort((a, b) => b[0] - a[0])[0];
  return [r.x + r.width / 2, r.y + r.height / 2];
});
// The renderer's share of memory; the largest is ours, others are spare.
const pss = async () => {
  const cdp = await browser.newBrowserCDPSession(), { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  await cdp.detach();
  return Math.max(...processInfo.filter(p => p.type === 'renderer').map(p => {
    try { return +/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${p.id}/smaps_rollup`, 'utf8'))[1] / 1024; } catch (e) { return 0; }
  }));
};
for (let i = 0; i < runs * files.length; i++) {
  const file = files[i % files.length];
  times = taken[i % files.length];
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } }), page = await context.newPage();
  await page.addInitScript(() => addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }))));
  await page.goto(url(file));
  note('paint', await page.evaluate(() => new Promise(r => { const f = () => window.painted ? r(window.painted) : setTimeout(f, 5); f(); })));
  await settle(page);
  note('nodes', await page.evaluate(() => document.getElementsByTagName('*').length));
  if (only) { note('pss', await pss()); await context.close(); continue; }
  const [x, y] = await place(page), seen = await page.getByRole('navigation').isVisible();
  await page.mouse.move(x, y);
  await timed(page, 'zoom', 'click', () => page.mouse.click(x, y));
  if (seen || !await page.getByRole('navigation').isVisible()) throw new Error(`the click on ${x},${y} did not zoom`);
  await timed(page, 'unzoom', 'keydown', () => page.keyboard.press('0'));
  await page.keyboard.press('/');
  await timed(page, 'search', 'input', () => page.keyboard.insertText('read'));
  note('nodes', await page.evaluate(() => document.getElementsByTagName('*').length));
  note('pss', await pss());
  await context.close();
}
await browser.close();
const median = a => a.sort((x, y) => x - y)[a.length >> 1];
console.log(['file', 'bytes', ...Object.keys(times)].join('\t'));
files.forEach((file, i) => console.log([file.replace(/.*\//, ''), statSync(file).size, ...Object.entries(taken[i]).map(([k, a]) => k === 'nodes' ? Math.max(...a) : median(a).toFixed(1))].join('\t')));
