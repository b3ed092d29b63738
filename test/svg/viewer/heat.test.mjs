// The modules of the heat map that need no page, in node: node --test test/svg/viewer/heat.test.mjs.
// Expected numbers come from the folded text, computed here with strings; the data is that of pjheat's encoder, written here anew.
import test from 'node:test';
import assert from 'node:assert/strict';
import { encode } from '../encode.mjs';
import { decodeProfile } from '../../../svg/viewer/decode.js';
import {
  flagLabel, flagTitle, groupFlags, markerLegend, markersIn, markerText, nearestMarker, rangeAfter,
} from '../../../svg/viewer/heatflags.js';
import { HeatTimes, durationText, roughDuration } from '../../../svg/viewer/heattimes.js';
import { decodeSlots, matchSums, parseRange, rangeBetween, rangeSums, rangesOutside, rangeTree, slotFrom } from '../../../svg/viewer/slots.js';

// [position, stack, weight]; frames are in the order of the tree: siblings by name
const samples = [
  [0, 'app;main;parse', 3], [0, 'app;main;run', 60], [1, 'app;main', 2], [7, 'app;main;run', 5], [7, 'db', 1],
  [150, 'db;loop', 2000], [150, 'app;main;parse', 1],
];
const losses = { 1: 4, 99: 12 };
const sum = list => list.reduce((all, [, , weight]) => all + weight, 0);

function profileOf(list) {
  const svg = encode(Buffer.from(list.map(([, stack, weight]) => stack + ' ' + weight + '\n').join('')), {});
  const block = name => new RegExp(`class="${name}">([^]*?)</script>`).exec(svg)[1]
    .replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return decodeProfile(JSON.parse(block('pj-c')), block('pj-d'));
}

const digits = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter(one => !'&<>"\'\\`'.includes(one));
function varint(value) {
  let text = '', rest = value;
  for (; rest >= 44; rest = Math.floor(rest / 44)) text += digits[44 + rest % 44];
  return text + digits[rest];
}

function pathsOf({ tree, names }) {
  const paths = [''];
  for (let frame = 1; frame < tree.count; frame++) {
    const up = tree.caller[frame];
    paths[frame] = (up ? paths[up] + ';' : '') + names.folded(tree.name[frame]);
  }
  return paths;
}

function dataOf(profile) {
  const paths = pathsOf({ tree: profile.base, names: profile.names }), places = new Set(samples.map(([at]) => at));
  Object.keys(losses).forEach(at => places.add(Number(at)));
  let text = '', next = 0, pairsText = '';
  for (const place of [...places].sort((one, other) => one - other)) {
    const pairs = samples.filter(([at]) => at === place).map(([, stack, weight]) => [paths.indexOf(stack) - 1, weight]);
    let frame = 0, one = '';
    for (const [index, weight] of pairs.sort((one, other) => one[0] - other[0])) {
      one += varint(index - frame) + varint(weight - 1);
      frame = index + 1;
    }
    text += varint(place - next) + varint(losses[place] || 0) + varint(pairs.length) + varint(one.length);
    text += varint(pairs.reduce((all, [, weight]) => all + weight, 0));
    pairsText += one;
    next = place + 1;
  }
  return text + '\n' + pairsText;
}

const profile = profileOf(samples), data = dataOf(profile), slots = decodeSlots(data, 200, sum(samples));

test('slots have the weights and losses of the input', () => {
  assert.deepEqual(slots.position, [0, 1, 7, 99, 150]);
  assert.deepEqual(slots.sum, [63, 2, 6, 0, 2001]);
  assert.deepEqual(slots.lost, [0, 4, 0, 12, 0]);
  assert.equal(slotFrom(slots, 8), 3);
  assert.equal(slotFrom(slots, 151), 5);
});

test('damaged slots are an error, at once', () => {
  const count = varint(2 ** 52);
  for (const text of ['', '\n', data.slice(0, -4), data + data, varint(0) + varint(0) + count, varint(0) + varint(0) + count + '\n', data + varint(0) + varint(0) + count, data.replace('\n', '')]) {
    const begin = performance.now();
    assert.throws(() => decodeSlots(text, 200, sum(samples)), /damaged slots/);
    assert.ok(performance.now() - begin < 5000);
  }
});

test('damaged weights are an error when they are read', () => {
  for (const last of ['', '}', '}!']) {
    const damaged = decodeSlots(data.slice(0, data.length - last.length) + last, 200, sum(samples)), read = () => rangeTree(profile.base, damaged, 150, 150);
    if (last) assert.throws(read, /damaged slots/);
    else assert.equal(read().total[0][0], 2001);
  }
});

test('sums and the tree of each range are those of its samples', () => {
  for (let from = 0; from < 160; from += 3) {
    for (let to = from; to < 200; to += 7) {
      const wanted = samples.filter(([at]) => at >= from && at <= to), got = rangeSums(slots, from, to);
      assert.equal(got.weight, sum(wanted));
      const tree = rangeTree(profile.base, slots, from, to), paths = pathsOf({ tree, names: profile.names });
      assert.equal(tree.total[0][0], sum(wanted));
      const totals = {};
      for (const [, stack, weight] of wanted) {
        const frames = stack.split(';');
        frames.forEach((_, at) => {
          const path = frames.slice(0, at + 1).join(';');
          totals[path] = (totals[path] || 0) + weight;
        });
      }
      const seen = Object.fromEntries(paths.slice(1).map((path, at) => [path, tree.total[0][at + 1]]));
      assert.deepEqual(seen, totals);
    }
  }
});

test('all positions give the tree of the file', () => {
  const tree = rangeTree(profile.base, slots, 0, 199);
  assert.equal(tree.count, profile.base.count);
  assert.deepEqual([...tree.end], [...profile.base.end.slice(0, tree.count)]);
  assert.deepEqual([...tree.self[0]], [...profile.base.self[0].slice(0, tree.count)]);
});

test('a search has the weight of stacks with a match', () => {
  const hits = profile.names.text.map(name => name === 'main');
  assert.deepEqual([...matchSums(profile.base, slots, hits)], [63, 2, 5, 0, 1]);
});

test('ranges of an address', () => {
  assert.deepEqual(parseRange('3-7', 200), { from: 3, to: 7 });
  assert.deepEqual(parseRange('7-3', 200), { from: 3, to: 7 });
  for (const text of ['', '3', '3-', '-3-4', '3-200', '1e2-3', '3-4x', '9999999999-1', '3.5-4']) assert.equal(parseRange(text, 200), null);
});

const heat = { slot: 2e7, rows: 50, columns: 100, origin: 12, wall: 0, runs: [[0, 60, 0], [61, 39, 500]] };

test('times since the begin', () => {
  const times = new HeatTimes(heat);
  assert.equal(times.rangeText(617, 617), '12.34 s');
  assert.equal(times.rangeText(617, 727), '12.34 s to 14.56 s (2.22 s)');
  assert.equal(times.isGap(59), false);
  assert.equal(times.isGap(60), true);
  assert.equal(times.isGap(61), false);
  assert.equal(times.columnText(61), '8:20');
  assert.equal(times.rangeText(61 * 50 + 1, 61 * 50 + 1), '8:20.020');
});

test('the column of a gap has no slots', () => {
  const times = new HeatTimes(heat);
  assert.equal(times.slotsIn(3, 7), 5);
  assert.equal(times.slotsIn(59 * 50 + 49, 61 * 50), 2);
  assert.equal(times.slotsIn(60 * 50 + 3, 60 * 50 + 9), 0);
  assert.equal(times.slotsIn(0, 100 * 50 - 1), 99 * 50);
});

test('times of the clock', () => {
  const times = new HeatTimes({ ...heat, origin: 1795711348, wall: 1 });
  assert.equal(times.columnText(0), '16:42:28');
  assert.equal(times.rangeText(3, 3), '16:42:28.060');
  const days = new HeatTimes({ ...heat, origin: 1795711348, wall: 1, runs: [[0, 60, 0], [61, 39, 200000]] });
  assert.equal(days.columnText(0), '11-26 16:42:28');
  assert.equal(days.rangeText(61 * 50 + 3, 61 * 50 + 3), '11-29 00:15:48.060');
  const short = new HeatTimes({ slot: 1e6, rows: 50, columns: 9, origin: 1795711348, wall: 1, runs: [[0, 9, 0]] });
  assert.equal(short.columnText(3), '16:42:28.150');
  assert.equal(new HeatTimes({ ...short.heat, origin: 0, wall: 0, runs: [[0, 1, 0], [2, 7, 2403]] }).columnText(2), '2:00.150');
  const day = new HeatTimes({ slot: 6e10, rows: 60, columns: 24, origin: 1795708800, wall: 1, runs: [[0, 24, 0]] });
  assert.equal(day.columnText(1), '11-26 17:00');
  assert.equal(day.rangeText(61, 61), '11-26 17:01:00');
});

test('labels of columns are round numbers, apart from each other, in each run', () => {
  const columns = new HeatTimes(heat).labelled(4);
  assert.deepEqual(columns.slice(0, 4), [0, 5, 10, 15]);
  assert.ok(columns.includes(61));
  columns.forEach((column, at) => assert.ok(at === 0 || column - columns[at - 1] >= 4));
});

test('durations', () => {
  assert.equal(durationText(2e7), '20 ms');
  assert.equal(durationText(3e11), '5 min');
  assert.equal(roughDuration(2.22e9), '2.22 s');
  assert.equal(roughDuration(36e11), '1 h');
});

test('with rows for labels, a range is the rectangle between its corners', () => {
  const rows = 4, byRow = decodeSlots(data, 200, sum(samples), rows);
  for (let one = 0; one < 160; one += 7) {
    for (let other = 0; other < 160; other += 11) {
      const { from, to } = rangeBetween(one, other, rows);
      const [first, last] = [one, other].map(at => Math.floor(at / rows)).sort((left, right) => left - right);
      const [low, high] = [one % rows, other % rows].sort((left, right) => left - right);
      const wanted = samples.filter(([at]) => {
        const column = Math.floor(at / rows), row = at % rows;
        return column >= first && column <= last && row >= low && row <= high;
      });
      assert.equal(rangeSums(byRow, from, to).weight, sum(wanted));
      assert.equal(rangeTree(profile.base, byRow, from, to).total[0][0], sum(wanted));
      assert.deepEqual(parseRange(other + '-' + one, 200, rows), { from, to });
    }
  }
});

const labelled = { slot: 5e9, rows: 4, columns: 30, origin: 10, wall: 0, runs: [[0, 20, 0], [21, 9, 500]], missing: 10, names: ['d', 'c', 'b', 'a'] };

test('times and names of rows', () => {
  const times = new HeatTimes(labelled);
  assert.equal(times.rangeText(2 * 4 + 3, 2 * 4 + 3), 'a: 10 s');
  assert.equal(times.rangeText(2 * 4 + 1, 3 * 4 + 3), 'a to c (3 rows): 10 s to 20 s (10 s)');
  assert.equal(times.rangeText(2 * 4, 3 * 4 + 3), '10 s to 20 s (10 s)');
  assert.equal(times.slotsIn(2 * 4 + 1, 3 * 4 + 3), 6);
  assert.equal(times.slotsIn(19 * 4 + 2, 21 * 4 + 2), 2);
  assert.equal(times.slotsShared({ from: 2 * 4 + 1, to: 5 * 4 + 2 }, { from: 4 * 4 + 2, to: 9 * 4 + 3 }), 2);
  assert.equal(times.slotsShared({ from: 2 * 4 + 1, to: 5 * 4 + 1 }, { from: 4 * 4 + 2, to: 9 * 4 + 3 }), 0);
});

test('lost samples have no label: a range of any rows has those of its time', () => {
  const byRow = decodeSlots(data, 200, sum(samples), 4); // losses at 1 (4) and 99 (12): columns 0 and 24
  assert.equal(rangeSums(byRow, 2, 3).lost, 4);
  assert.equal(rangeSums(byRow, 2, 99).lost, 16);
  assert.equal(rangeSums(byRow, 6, 96).lost, 12);
  assert.equal(rangeSums(byRow, 6, 94).lost, 0);
  assert.equal(rangeSums(slots, 2, 98).lost, 0);
});

test('the parts of a range outside of another have each of its positions once, and none of the other', () => {
  for (const rows of [0, 1, 4]) {
    const isIn = ({ from, to }, at) => at >= from && at <= to && (!rows || at % rows >= from % rows && at % rows <= to % rows);
    for (let step = 0; step < 4000; step++) {
      const pick = factor => step * factor % 61 % 40, one = rangeBetween(pick(7), pick(11), rows), other = rangeBetween(pick(13), pick(17), rows);
      const parts = rangesOutside(other, one, rows);
      for (let at = 0; at < 40; at++) {
        assert.equal(parts.filter(part => isIn(part, at)).length, Number(isIn(other, at) && !isIn(one, at)));
      }
    }
  }
});

const markers = [[3, 6e7, 'one'], [3, 7e7, 'two'], [60, 12e8, 'three'], [150, 3e9, 'four']];

test('markers: texts, neighbours, and the time up to the next one', () => {
  const times = new HeatTimes(heat);
  assert.equal(markerText(times, markers[2]), 'three at 1.2 s');
  assert.deepEqual(markersIn({ markers, rows: 50 }, 3).map(([, , label]) => label), ['one', 'two']);
  assert.deepEqual(markersIn({ markers, rows: 50 }, 4), []);
  assert.deepEqual(markersIn({ markers: [[8, 0, 'a']], rows: 4, names: ['x'] }, 11).length, 1);
  assert.equal(nearestMarker(markers, -1, 1), 0);
  assert.equal(nearestMarker(markers, 3, 1), 2);
  assert.equal(nearestMarker(markers, 150, 1), -1);
  assert.equal(nearestMarker(markers, 60, -1), 1);
  assert.equal(nearestMarker(markers, 3, -1), -1);
  assert.deepEqual(rangeAfter(markers, 0, 1, 200), { from: 3, to: 59 });
  assert.deepEqual(rangeAfter(markers, 0, 3, 200), { from: 3, to: 149 });
  assert.deepEqual(rangeAfter(markers, 3, 4, 200), { from: 150, to: 199 });
  assert.deepEqual(markerLegend({ markers, unmarked: 5 }), ['\u2691 4 markers, 5 not shown']);
  assert.deepEqual(markerLegend({}), []);
});

test('flags that would lie on each other are one', () => {
  const flags = groupFlags(markers, ([position]) => position, 18, 200), times = new HeatTimes(heat);
  assert.deepEqual(flags, [{ left: 3, room: 57, first: 0, end: 2 }, { left: 60, room: 90, first: 2, end: 3 }, { left: 150, room: 50, first: 3, end: 4 }]);
  assert.equal(flagLabel(markers, flags[0]), '\u2691 2 markers');
  assert.equal(flagLabel(markers, flags[1]), '\u2691 three');
  assert.equal(flagTitle(markers, times, flags[0]), 'one at 0.06 s\ntwo at 0.07 s');
  const many = Array.from({ length: 200 }, (_, at) => [at, 0, 'm' + at]), [all] = groupFlags(many, () => 5, 18, 100);
  assert.equal(flagTitle(many, times, all).split('\n').length, 11);
  assert.ok(flagTitle(many, times, all).endsWith('and 190 more'));
});
