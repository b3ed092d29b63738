// What the browser tests share: a Chromium, pages that remember what went wrong in them, and SVGs made by the real
// pjsvg ($PJSVG), or by the reference encoder while there is none.
import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dirname, join, resolve } from 'node:path';
import { tmpdir } from 'node:os';
import { encode } from '../svg/encode.mjs';

const here = dirname(fileURLToPath(import.meta.url)), top = resolve(here, '../..');
export const pjsvg = resolve(process.env.PJSVG || join(top, 'build/std-cc/bin/pjsvg'));
export const real = existsSync(pjsvg);

export async function launch() {
  const { chromium } = createRequire(join(top, 'build/node/package.json'))('playwright-core');
  return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
}

export const scratch = mkdtempSync(join(tmpdir(), 'pj-browser-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

// Options have the names of the config (docs/SVG.md); pjsvg has options of the same meaning.
const flags = { title: v => ['--title', v], subtitle: v => ['--subtitle', v], unit: v => ['--countname', v], nametype: v => ['--nametype', v],
  factor: v => ['--factor', String(v)], width: v => v ? ['--width', String(v)] : [], inverted: v => v ? ['--inverted'] : [], notes: v => ['--notes', v], min: v => ['--minwidth', String(v)] };
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

// A page that counts what must never happen.
export async function open(browser, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.trouble = [];
  page.on('dialog', d => { page.trouble.push('dialog: ' + d.message()); d.dismiss(); });
  page.on('pageerror', e => page.trouble.push('error: ' + e.message));
  page.on('console', m => m.type() === 'error' && page.trouble.push('console: ' + m.text()));
  await page.goto(address);
  await settle(page);
  return page;
}
export const settle = page => page.evaluate(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))));
