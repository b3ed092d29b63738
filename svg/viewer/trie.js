// trie.js - frames by (caller, name): derived trees are grown in it, then numbered in preorder. Pure.
import { finishTree, makeTree } from './tree.js';

function doubled(column) {
  const larger = new column.constructor(2 * column.length);
  larger.set(column);
  return larger;
}

function spread(caller, name) {
  const hash = Math.imul(Math.imul(caller, 0x9e3779b1) + name, 0x85ebca6b);
  return hash ^ hash >>> 15;
}

/** Node 0 is the root. Nodes have a name, a caller and a self weight of each side; slots are an open hash table. */
export class Trie {
  constructor(room, root, sides) {
    this.count = 1;
    this.name = new Int32Array(room);
    this.caller = new Int32Array(room);
    this.self = sides.map(() => new Float64Array(room));
    this.name[0] = root;
    this.least = 0; // weights below it end early (climb)
    this.calleesBelow = false; // in a picture of reversed stacks, a sandwich has its callees on the other side
    this.unchanged = false; // the same frames as in the file: its verdicts hold
    this.fillSlots();
  }

  fillSlots() {
    let size = 4;
    while (size < 2 * this.name.length) size *= 2;
    this.slots = new Int32Array(size);
    for (let node = 1; node < this.count; node++) {
      this.slots[this.slotOf(this.caller[node], this.name[node])] = node;
    }
  }

  slotOf(caller, name) {
    const { slots } = this, mask = slots.length - 1;
    let slot = spread(caller, name) & mask, node;
    while ((node = slots[slot]) && !(this.caller[node] === caller && this.name[node] === name)) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  /** The node of this name below a caller, made if it is new. */
  child(caller, name) {
    let slot = this.slotOf(caller, name);
    if (this.slots[slot]) return this.slots[slot];
    if (this.count === this.name.length) {
      this.grow();
      slot = this.slotOf(caller, name);
    }
    this.name[this.count] = name;
    this.caller[this.count] = caller;
    this.slots[slot] = this.count;
    return this.count++;
  }

  grow() {
    this.name = doubled(this.name);
    this.caller = doubled(this.caller);
    this.self = this.self.map(doubled);
    this.fillSlots();
  }
}

// Lists of callees, and the weight by which they are ordered; nodes without weight are left out.
function calleeLists({ count, caller, self }) {
  const weight = new Float64Array(count), first = new Int32Array(count), after = new Int32Array(count);
  for (const column of self) for (let node = 0; node < count; node++) weight[node] += column[node];
  for (let node = count - 1; node; node--) {
    if (!weight[node]) continue;
    weight[caller[node]] += weight[node];
    after[node] = first[caller[node]];
    first[caller[node]] = node;
  }
  return { weight, first, after };
}

function linked(first, after) {
  const nodes = [];
  for (let node = first; node; node = after[node]) nodes.push(node);
  return nodes;
}

/**
 * The tree of a trie, in preorder. Names from `names` on stand for callers (sandwich). Siblings are in the order of
 * names, or the widest first.
 */
export function numberTrie(trie, { names, widestFirst }) {
  const { count, name, caller, self } = trie, sides = [...self.keys()], { weight, first, after } = calleeLists(trie);
  const tree = makeTree(count, self), number = new Int32Array(count), todo = [0];
  const from = trie.unchanged ? new Int32Array(count) : null;
  const isCaller = node => name[node] >= names;
  const order = (one, other) => isCaller(other) - isCaller(one)
    || widestFirst && weight[one] - weight[other] || name[other] - name[one];
  let made = 0;
  while (todo.length) {
    const node = todo.pop(), frame = number[node] = made++, up = node ? number[caller[node]] : -1;
    tree.caller[frame] = up;
    tree.name[frame] = name[node] % names;
    tree.depth[frame] = node && tree.depth[up] + (isCaller(node) !== trie.calleesBelow ? -1 : 1);
    if (isCaller(node) && frame < tree.half) tree.half = frame;
    if (from) from[frame] = node;
    for (const side of sides) tree.self[side][frame] = self[side][node];
    for (const next of linked(first[node], after).sort(order)) todo.push(next);
  }
  tree.count = made;
  tree.half = Math.min(tree.half, made);
  return finishTree(Object.assign(tree, { from, least: trie.least }));
}
