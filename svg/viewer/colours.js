// colours.js - colours of frames, and of text on them.
import { config, diff, names, nameOf, screen, view } from './state.js';
import { LESS, STEP } from './significance.js';

/** Whether dark text is easier to read on #rrggbb. */
export function isLight(colour) {
  const luminance = [.2126, .7152, .0722].reduce((sum, share, index) => {
    const value = parseInt(colour.slice(2 * index + 1, 2 * index + 3), 16) / 255;
    return sum + share * value ** 2.2;
  }, 0);
  return luminance >= .18;
}

/** The colour of a step of change. */
export function changeColour(code) {
  return diff.ramp[Number(screen.dark)][4 + (code & LESS ? -1 : 1) * (code & STEP)];
}

export function nameColour(id) {
  return config.colors[names.colour[id]]?.[Number(screen.dark)] || (screen.dark ? '#323740' : '#d2d5d8');
}

export function frameColour(frame) {
  const id = nameOf(frame);
  return diff && names.isCode(id) ? changeColour(view.verdict(frame).code) : nameColour(id);
}

export function hitColour() {
  return config.search || (screen.dark ? '#ff5cc8' : '#d6249f');
}

const systemTheme = matchMedia('(prefers-color-scheme: dark)');

export function onSystemTheme(act) {
  systemTheme.onchange = act;
}

// A sandbox has no storage.
export function storedTheme() {
  try {
    return localStorage.pjTheme;
  } catch {
    return '';
  }
}

export function storeTheme(theme) {
  try {
    localStorage.pjTheme = theme;
  } catch {
    // this page only
  }
}

/** Sets the theme: the user's choice, else the file's, else the system's; paper is light. */
export function applyTheme(svg) {
  const chosenTheme = screen.theme || storedTheme(), lightPaper = config.bg && isLight(config.bg);
  const wanted = chosenTheme ? chosenTheme === 'dark' : config.bg ? !lightPaper : systemTheme.matches;
  screen.dark = !screen.printing && wanted;
  svg.classList.toggle('pj-dark', screen.dark);
  svg.style.setProperty('--bg', config.bg && lightPaper === !screen.dark ? config.bg : '');
}
