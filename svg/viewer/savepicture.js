// savepicture.js - the graph of the view as a picture of its own, which needs no style sheet: SVG or PNG.
import { drawn, html, setAttributes } from './dom.js';
import { draw } from './draw.js';
import { listed } from './numbers.js';
import { graph, page, say, sums } from './page.js';
import { saveFile } from './save.js';
import { config, screen, view } from './state.js';

const PAINT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity'], SIDE_PX = 12, HEAD_PX = 28;
const LARGEST_SCALE = 2, LONGEST_SIDE_PX = 16000, MOST_PIXELS = 16e6;
const NO_PNG = 'The browser makes no PNG of this size: save the picture as SVG.';

// What a style sheet says of each element becomes its attributes.
function plainCopy() {
  const copy = graph.cloneNode(true), copies = [copy, ...copy.querySelectorAll('*')];
  [graph, ...graph.querySelectorAll('*')].forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const key of PAINT) copies[at].setAttribute(key, style[key]);
    copies[at].removeAttribute('class');
  });
  return setAttributes(copy, { x: SIDE_PX, y: HEAD_PX });
}

// As on paper: all rows, light, without marks of the pointer. {type, width, height, lines: text of the file}
function makePicture() {
  const { hovered, selected } = screen;
  Object.assign(screen, { printing: true, hovered: -1, selected: -1 });
  draw();
  const width = screen.width + 2 * SIDE_PX, height = screen.height + HEAD_PX + SIDE_PX;
  const title = listed([config.title, sums.textContent, ...view.operations.map(one => view.describe(one))]);
  const paper = drawn('rect', { width, height, fill: getComputedStyle(page).backgroundColor });
  const head = drawn('text', { x: SIDE_PX, y: 18, 'font-family': 'sans-serif', 'font-size': 13 }, title);
  const root = drawn('svg', { width, height }, paper, head, plainCopy());
  Object.assign(screen, { printing: false, hovered, selected });
  draw();
  return { width, height, type: 'image/svg+xml', lines: [new XMLSerializer().serializeToString(root)] };
}

export function saveSvg() {
  saveFile('.view.svg', makePicture());
}

function savePixels(image, width, height) {
  const canvas = html('canvas', { width: Math.floor(width), height: Math.floor(height) });
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob(blob => blob ? saveFile('.png', { type: 'image/png', lines: [blob] }) : say(NO_PNG));
}

export function savePng() {
  const { width, height, type, lines } = makePicture();
  const image = html('img', { src: URL.createObjectURL(new Blob(lines, { type })) });
  const longest = LONGEST_SIDE_PX / Math.max(width, height);
  const scale = Math.min(LARGEST_SCALE, longest, Math.sqrt(MOST_PIXELS / width / height));
  const act = () => {
    URL.revokeObjectURL(image.src);
    try {
      savePixels(image, width * scale, height * scale);
    } catch {
      say(NO_PNG);
    }
  };
  image.addEventListener('load', act);
  image.addEventListener('error', () => {
    URL.revokeObjectURL(image.src);
    say('The policy of this page forbids a PNG: save the picture as SVG.');
  });
}
