// labels.js - labels that fit their frames. Pure: the widths of characters come from outside.
import { shorterForms } from './forms.js';

const ELLIPSIS = '\u2026', CAPITAL_M = 77, FIRST_WIDE = 0x1100;

export class Labels {
  /** widths: px of the characters 33 .. 126; em: px of a wide one. */
  constructor(names, { truncate, widths, em }) {
    Object.assign(this, { names, truncate, widths, em });
    this.known = [];
  }

  forms(id) {
    const { names } = this;
    return this.known[id] ||= shorterForms(names.text[id], names.kindLabel(id));
  }

  /** The shortest form that still has the class. */
  shortName(id) {
    return this.forms(id).at(-2) || this.names.text[id];
  }

  widthOf(character) {
    const code = character.codePointAt();
    return this.widths[code] || (code < FIRST_WIDE || character === ELLIPSIS ? this.widths[CAPITAL_M] : this.em);
  }

  /** The text, if it fits. */
  fitting(text, width) {
    let left = width;
    for (const character of text) if ((left -= this.widthOf(character)) < 0) return '';
    return text;
  }

  /** What fits beside an ellipsis: the beginning, or the end. */
  cut(text, width, keepEnd) {
    const all = [...text];
    let left = width - this.widthOf(ELLIPSIS), kept = 0;
    while (kept < all.length && (left -= this.widthOf(all.at(keepEnd ? -1 - kept : kept))) >= 0) kept++;
    if (kept < 2) return '';
    return keepEnd ? ELLIPSIS + all.slice(-kept).join('') : all.slice(0, kept).join('') + ELLIPSIS;
  }

  fittingOrCut(text, width, keepEnd) {
    return this.fitting(text, width) || this.cut(text, width, keepEnd);
  }

  /** Whole words of the beginning, and an ellipsis. A word ends before a capital, or a sign. */
  cutAtWord(text, width) {
    const { length } = this.cut(text, width, false); // with the ellipsis: one character beyond what fits
    const words = /^.*([\p{L}\d](?=[^\p{L}\d])|[\p{Ll}\d](?=\p{Lu}))/u.exec(text.slice(0, length))?.[0] || '';
    return words.length < 2 ? '' : words + ELLIPSIS;
  }

  label(id, width) {
    const name = this.names.text[id];
    if (this.truncate !== 'smart') return this.fittingOrCut(name, width, this.truncate === 'left');
    if (this.fitting(name, width)) return name;
    const all = this.forms(id), last = all.at(-1), found = all.find(form => this.fitting(form, width));
    if (found) return found;
    // A process has no words that could stand alone.
    return all.length === 1 && this.names.kindLabel(id) === 'process' ? this.cut(last, width, false)
      : this.cutAtWord(last, width);
  }
}
