#!/usr/bin/env node
// node bench.mjs FILE.svg [RUNS]: medians (default of 9) of what a user waits for, in Chromium, in milliseconds.
// paint: navigation start to load and two animation frames. zoom, unzoom, search: input to the second frame after it.
import { launch, open, settle, url } from './lib.mjs';
import { resolve } from 'node:path';
import { statSync } from 'node:fs';

const file = resolve(process.argv[2]), runs = Number(process.argv[3] || 9), browser = await launch();
const times = {}, note = (k, v) => (times[k] ||= []).push(v);
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
for (let i = 0; i < runs; i++) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } }), page = await context.newPage();
  await page.addInitScript(() => addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }))));
  await page.goto(url(file));
  note('paint', await page.evaluate(() => new Promise(r => { const f = () => window.painted ? r(window.painted) : setTimeout(f, 5); f(); })));
  await settle(page);
  note('nodes', await page.evaluate(() => document.getElementsByTagName('*').length));
  await page.mouse.move(300, 600);
  await timed(page, 'zoom', 'click', () => page.mouse.click(300, 600));
  await timed(page, 'unzoom', 'keydown', () => page.keyboard.press('0'));
  await page.keyboard.press('/');
  await timed(page, 'search', 'input', () => page.keyboard.insertText('read'));
  note('nodes', await page.evaluate(() => document.getElementsByTagName('*').length));
  await context.close();
}
await browser.close();
const median = a => a.sort((x, y) => x - y)[a.length >> 1];
console.log(['file', 'bytes', ...Object.keys(times)].join('\t'));
console.log([file.replace(/.*\//, ''), statSync(file).size, ...Object.entries(times).map(([k, a]) => k === 'nodes' ? Math.max(...a) : median(a).toFixed(1))].join('\t'));
