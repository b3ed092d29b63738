// names.js - the names of a picture: their text, kind of code, and the function that they belong to. Pure.

function hashOf(text) {
  let hash = 7;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ hash >>> 15, 33) + text.charCodeAt(at) | 0;
  }
  return hash;
}

export function base36(hash) {
  return (hash >>> 0).toString(36);
}

export class Names {
  constructor(config) {
    this.config = config;
    this.text = [];
    this.colour = [];
    this.functionOf = [];
    this.functions = 0;
    this.hashes = [];
  }

  get count() {
    return this.text.length;
  }

  /**
   * Adds a name of a frame. One function may have names of several kinds (compiled, inlined): functionOf is the first
   * of them. Functions of the kernel are of their own. Names come sorted.
   */
  add(text, colour) {
    const id = this.text.push(text) - 1;
    this.colour.push(colour);
    this.functionOf.push(id);
    for (let other = id; this.text[--other] === text;) {
      if (this.isKernel(other) === this.isKernel(id)) this.functionOf[id] = this.functionOf[other];
    }
    if (this.functionOf[id] === id) this.functions++;
  }

  /** Adds a name that is no code: a root. Returns its id. */
  addRoot(text) {
    const id = this.text.push(text) - 1;
    this.functionOf.push(id);
    return id;
  }

  isCode(id) {
    return id < this.colour.length;
  }

  kind(id) {
    return this.config.colors[this.colour[id]]?.[2] ?? -1;
  }

  kindLabel(id) {
    return this.config.kinds[this.kind(id)]?.[0];
  }

  suffix(id) {
    return this.config.kinds[this.kind(id)]?.[1] || '';
  }

  isKernel(id) {
    return this.suffix(id) === '_[k]';
  }

  /** The name with the suffix that it has in folded text. */
  folded(id) {
    return this.text[id] + this.suffix(id);
  }

  hash(id) {
    return this.hashes[id] ||= hashOf(this.folded(id));
  }

  functionKey(id) {
    return base36(this.hash(this.functionOf[id]));
  }

  /** The function of a key, or -1. */
  functionByKey(key) {
    return this.functionOf.find(id => base36(this.hash(id)) === key) ?? -1;
  }

  /** [name id, title, href] of a function that has attributes (--nameattr). */
  attributes(id) {
    return this.config.attrs?.find(([named]) => named === id);
  }
}
