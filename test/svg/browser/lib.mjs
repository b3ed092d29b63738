// What the browser tests share: a Chromium, pages that remember what went wrong in them, and SVGs made by the real
// pjsvg ($PJSVG), or by the reference encoder while there is none.
import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dirname, join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { inflateSync } from 'node:zlib';
import { encode } from '../encode.mjs';

const here = dirname(fileURLToPath(import.meta.url)), top = resolve(here, '../../..');
export const pjsvg = resolve(process.env.PJSVG || join(top, 'build/std-cc/bin/pjsvg'));
export const real = existsSync(pjsvg);

// A machine may be slow: what is expected is waited for this long (ms) before it counts as missing.
const PATIENCE = 60000;
// PJ_THROTTLE=6: pages on a processor that is six times slower.
const slower = Number(process.env.PJ_THROTTLE || 1);

export async function launch() {
  const { chromium } = createRequire(join(top, 'build/node/package.json'))('playwright-core');
  return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'], timeout: PATIENCE });
}

export const scratch = mkdtempSync(join(tmpdir(), 'pj-browser-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

// Options have the names of the config (docs/SVG.md); pjsvg has options of the same meaning.
const flags = { title: v => ['--title', v], subtitle: v => ['--subtitle', v], unit: v => ['--countname', v], nametype: v => ['--nametype', v],
  factor: v => ['--factor', String(v)], width: v => v ? ['--width', String(v)] : [], inverted: v => v ? ['--inverted'] : [], notes: v => ['--notes', v], chart: v => v ? ['--flamechart'] : [], min: v => ['--minwidth', String(v)] };
export function makeSvg(name, folded, options = {}) {
  const path = join(scratch, name + '.svg'), bytes = Buffer.isBuffer(folded) ? folded : Buffer.from(folded);
  if (real) {
    const args = Object.entries(options).flatMap(([k, v]) => flags[k](v));
    writeFileSync(path, execFileSync(pjsvg, args, { input: bytes, maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'ignore'] }));
  } else writeFileSync(path, encode(bytes, options));
  return path;
}
export const url = path => pathToFileURL(path).href;
export const read = path => readFileSync(path, 'utf8');

export async function blank(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  if (slower > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: slower });
  return page;
}
// A page that counts what must never happen.
export async function open(browser, address, options = {}) {
  const page = await blank(browser, options);
  page.trouble = [];
  page.on('dialog', d => { page.trouble.push('dialog: ' + d.message()); d.dismiss(); });
  page.on('pageerror', e => page.trouble.push('error: ' + e.message));
  page.on('console', m => m.type() === 'error' && page.trouble.push('console: ' + m.text()));
  await page.goto(address);
  await settle(page);
  return page;
}
// Enough after keys, the mouse's buttons and its moves: the viewer draws before these return. All else is for soon().
export const settle = page => page.evaluate(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))));
// Waits until a check no longer throws: for what comes in its own time (frames, history, sizes, scrolling, taps, the clipboard).
export async function soon(check) {
  for (const end = Date.now() + PATIENCE; ; await new Promise(r => setTimeout(r, 20))) try {
    return await check();
  } catch (e) {
    if (Date.now() > end) throw e;
  }
}

// TAP. A test is a name and a function that throws; `ok` and `is` throw with what was seen.
const tests = [];
export const test = (name, run) => tests.push([name, run]);
// A test that opens many pages or tries many inputs: PJ_FULL=0 (./check without --full) leaves it out.
test.full = (name, run) => { if (process.env.PJ_FULL !== '0') test(name, run); };
export function ok(truth, what) { if (!truth) throw new Error(what); }
export function is(got, wanted, what) { if (got !== wanted) throw new Error(`${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`); }
export async function runTests() {
  const browser = await launch(), only = process.argv[2];
  let k = 0, failures = 0;
  for (const [name, run] of tests) {
    if (only && !name.includes(only)) continue;
    k++;
    if (failures === 5) { console.log(`not ok ${k} - the rest: not run after ${failures} failures`); break; }   // each may wait for long
    try {
      let timer;
      await Promise.race([run(browser), new Promise((_, no) => { timer = setTimeout(() => no(new Error('took more than ten minutes')), 10 * PATIENCE); })]);
      clearTimeout(timer);
      console.log(`ok ${k} - ${name}`);
    } catch (e) {
      console.log(`not ok ${k} - ${name}\n` + String(e.stack || e).replace(/^/gm, '# '));
      process.exitCode = 1;
      failures++;
    }
    await Promise.all(browser.contexts().map(c => c.close()));
  }
  console.log('1..' + k);
  await browser.close();
  process.exit();                              // a test that timed out may still hold something
}

// Pixels of a screenshot (8 bits a channel, not interlaced: what Chromium writes).
export async function pixels(page, clip) {
  const png = await page.screenshot({ clip }), data = [];
  let w = 0, bytes = 0;
  for (let p = 8; p < png.length;) {
    const len = png.readUInt32BE(p), type = png.toString('latin1', p + 4, p + 8), body = png.subarray(p + 8, p + 8 + len);
    if (type === 'IHDR') { w = body.readUInt32BE(0); bytes = { 2: 3, 6: 4 }[body[9]]; }
    if (type === 'IDAT') data.push(body);
    p += len + 12;
  }
  const raw = inflateSync(Buffer.concat(data)), row = w * bytes, rows = raw.length / (row + 1), out = Buffer.alloc(row * rows);
  for (let y = 0; y < rows; y++) for (let x = 0; x < row; x++) {
    const a = x < bytes ? 0 : out[y * row + x - bytes], b = y ? out[(y - 1) * row + x] : 0, c = x < bytes || !y ? 0 : out[(y - 1) * row + x - bytes];
    const e = a + b - c, paeth = Math.abs(e - a) <= Math.abs(e - b) && Math.abs(e - a) <= Math.abs(e - c) ? a : Math.abs(e - b) <= Math.abs(e - c) ? b : c;
    out[y * row + x] = raw[y * (row + 1) + 1 + x] + [0, a, b, a + b >> 1, paeth][raw[y * (row + 1)]];
  }
  return { at: (x, y) => [...out.subarray(y * row + x * bytes, y * row + x * bytes + 3)], width: w, height: rows };
}
export async function pixel(page, x, y) { return (await pixels(page, { x: Math.round(x), y: Math.round(y), width: 1, height: 1 })).at(0, 0); }

// What a user sees and does.
export const bar = async page => (await page.getByRole('status').last().innerText()).replace(/\s+/g, ' ').trim();
export const box = page => page.getByRole('textbox', { name: 'Search' });
export const said = async page => (await box(page).locator('xpath=following-sibling::*[1]').innerText()).trim();
export const frame = (page, text) => page.getByRole('application').getByText(text, { exact: true });
export async function hover(page, text) {
  const b = await frame(page, text).first().boundingBox();
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2);
  await settle(page);
}
export async function click(page, text) {
  const b = await frame(page, text).first().boundingBox();
  await page.mouse.click(b.x + b.width / 2, b.y + b.height / 2);
  await settle(page);
}
export async function resize(page, width, height) {
  await page.setViewportSize({ width, height });
  await soon(async () => is((await page.getByRole('application').locator('svg').boundingBox()).width, width - 24, 'width of the graph'));
}
export async function find(page, text) {
  await page.keyboard.press('Control+f');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
  await settle(page);
}
// (Playwright's inputValue() and fill() know only the INPUT of HTML documents, not the input inside an SVG.)
export const value = page => box(page).first().evaluate(e => e.value);
export async function fill(page, k, text) {
  await box(page).nth(k).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
  await settle(page);
}
export const hash = page => page.evaluate(() => location.hash);
export const labels = async page => (await page.getByRole('application').locator('text').allTextContents()).map(s => s.trim());
