// main.js - the viewer in every SVG of pjsvg, the same bytes in each; docs/SVG.md describes what it reads.
// The tree is columns of numbers in preorder, the DOM only what can be seen. Every change draws the visible frames.
import { readAddress } from './address.js';
import { buildCrumbs } from './crumbs.js';
import { onSystemTheme } from './colours.js';
import { html, setAttributes } from './dom.js';
import { center, draw, measureLabels } from './draw.js';
import { buildSearch, search } from './find.js';
import { listen } from './input.js';
import { buildLegend } from './legend.js';
import { buildMenu } from './menu.js';
import { hole, input, page, pane } from './page.js';
import { afterDrawing, config, isDocument, screen, svg } from './state.js';
import { showCurrent } from './statusline.js';
import { buildTable } from './table.js';
import { buildToolbar } from './toolbar.js';
import { buildTooltip } from './tooltip.js';

const PANE_MARGINS_PX = 24, PAPER_PX = 1e6;

// The data was good: the page replaces the static picture; inside of another page also the title (it is a tooltip
// everywhere).
function replacePicture() {
  for (const element of [...svg.children]) {
    const stays = /desc|style|script/.test(element.localName) || isDocument && element.localName === 'title';
    if (!stays) element.remove();
  }
  svg.append(hole);
  page.classList.toggle('pj-full', isDocument);
  // Phones take 980 px otherwise.
  if (isDocument) svg.prepend(html('meta', { name: 'viewport', content: 'width=device-width' }));
}

function setSize(width = '100%', height = width) {
  svg.removeAttribute('viewBox');
  setAttributes(svg, { role: 'group', width: config.width || '100%', height: '100%' });
  setAttributes(hole, { width, height });
}

function showAddress() {
  readAddress();
  input.value = screen.query;
  search(true);
  if (screen.lowest) center();
}

function setWidth(width) {
  screen.width = Math.max(width - PANE_MARGINS_PX, 0);
}

// Of a lower pane, the lowest rows stay.
function followSize() {
  const width = pane.clientWidth - PANE_MARGINS_PX, lost = screen.paneHeight - pane.clientHeight;
  if (screen.printing || width <= 0) return;
  if (lost > 0 && !screen.inverted) pane.scrollTop += lost;
  screen.paneHeight = pane.clientHeight;
  if (width === screen.width && lost >= 0) return;
  screen.width = width;
  draw();
}

function setPrinting(printing) {
  screen.printing = printing;
  page.classList.toggle('pj-paper', printing);
}

function drawOnPaper(width) {
  setSize(width, PAPER_PX);
  setWidth(width);
  draw();
}

// On paper: the whole graph, on one page, light. A high graph is made as wide, so that it is no narrow strip.
function print() {
  setPrinting(true);
  drawOnPaper(page.offsetWidth);
  if (page.offsetHeight > page.offsetWidth) drawOnPaper(page.offsetHeight);
  setAttributes(svg, { viewBox: '0 0 ' + page.offsetWidth + ' ' + page.offsetHeight });
}

function printed() {
  setPrinting(false);
  setSize();
  setWidth(pane.clientWidth);
  draw();
}

function start() {
  buildSearch();
  buildToolbar();
  buildMenu();
  buildTable();
  buildTooltip();
  buildCrumbs();
  afterDrawing(showCurrent);
  replacePicture();
  buildLegend();
  setSize();
  measureLabels();
  setWidth(pane.clientWidth);
  listen();
  showAddress();
  new ResizeObserver(followSize).observe(pane);
  onSystemTheme(draw);
  if (isDocument) addEventListener('hashchange', showAddress);
  addEventListener('beforeprint', print);
  addEventListener('afterprint', printed);
}

start();
