// save.js - files of the view: the table as CSV, the stacks as folded text.
import { fileName } from './actions.js';
import { html } from './dom.js';
import { csvLines, foldedLines } from './exports.js';
import { page, say } from './page.js';
import { names, screen, view, weights } from './state.js';
import { tableContent } from './table.js';

const KEPT_MS = 6e4;
// A frame, or a page with the sandbox of a policy, may refuse a download without a word.
const mayRefuse = self !== top || location.protocol !== 'file:' && origin === 'null';
const REFUSED = '. No file? This page may forbid downloads: open the picture by itself.';

/** Offers a file of the picture's name: {lines: its parts, type}. */
export function saveFile(suffix, { lines, type = 'text/plain' }) {
  if (!lines) return say('The stacks are too long for a file of this page: pjsvg --unpack prints them.');
  const name = (fileName().replace(/\.svgz?$/, '') || 'flame') + suffix;
  const link = html('a', { href: URL.createObjectURL(new Blob(lines, { type })), download: name });
  page.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
  return say('Saved: ' + name + (mayRefuse ? REFUSED : ''));
}

export function saveTable() {
  saveFile('.csv', { lines: csvLines(tableContent(), names, weights.factor) });
}

export function saveStacks() {
  saveFile('.folded', { lines: foldedLines(view, screen.zoom) });
}
