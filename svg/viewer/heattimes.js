// heattimes.js - times of a heat map as people read them. Pure.

const DAY = 864e11, HOUR = 36e11, MINUTE = 6e10;
const UNITS = [[DAY, 'd'], [HOUR, 'h'], [MINUTE, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s']];

/** A duration in its largest unit without decimals: "20 ms", "1 min". */
export function durationText(ns) {
  const [size, unit] = UNITS.find(([one]) => ns % one === 0) || [1, 'ns'];
  return ns / size + ' ' + unit;
}

/** A duration with at most three digits: "1.24 s". */
export function roughDuration(ns) {
  const [size, unit] = UNITS.find(([one]) => ns >= one) || [1, 'ns'];
  return Number((ns / size).toPrecision(3)) + ' ' + unit;
}

const twoDigits = value => String(value).padStart(2, '0');

/** Times at positions of a map: config.heat of a picture. */
export class HeatTimes {
  constructor(heat) {
    this.heat = heat;
    this.parts = heat.names ? 1 : heat.rows; // slots of time in a column
    this.column = heat.slot * this.parts;
    const [, count, number] = heat.runs.at(-1);
    this.hasDay = this.column >= HOUR || (number + count) * this.column > DAY;
  }

  // The run of a column, or of the gap before it: [position, number of columns, number of the first column].
  runOf(column) {
    return this.heat.runs.findLast(([first]) => first <= column) || this.heat.runs[0];
  }

  /** Whether no column of the recording stands there. */
  isGap(column) {
    const [first, count] = this.runOf(column);
    return column >= first + count;
  }

  /** ns from the begin of the map to the begin of a position. */
  offset(position) {
    const { rows, slot } = this.heat, column = Math.floor(position / rows), [first, , number] = this.runOf(column);
    return ((number + column - first) * this.parts + position % rows % this.parts) * slot;
  }

  /** The number of slots from a position to another, both included; the column of a gap has none. */
  slotsIn(from, to) {
    const { rows, runs, names } = this.heat;
    if (names) return to < from ? 0 : this.columnsIn(from, to) * (to % rows - from % rows + 1);
    const inRun = ([first, count]) => Math.min(to + 1, (first + count) * rows) - Math.max(from, first * rows);
    return runs.reduce((all, run) => all + Math.max(inRun(run), 0), 0);
  }

  columnsIn(from, to) {
    const { rows, runs } = this.heat, start = Math.floor(from / rows), last = Math.floor(to / rows);
    const inRun = ([first, count]) => Math.min(last + 1, first + count) - Math.max(start, first);
    return runs.reduce((all, run) => all + Math.max(inRun(run), 0), 0);
  }

  /** The number of slots in both ranges. */
  slotsShared(one, other) {
    const from = Math.max(one.from, other.from), to = Math.min(one.to, other.to), { rows, names } = this.heat;
    if (!names) return this.slotsIn(from, to);
    const start = Math.max(...[one, other].map(range => Math.floor(range.from / rows)));
    const end = Math.min(...[one, other].map(range => Math.floor(range.to / rows)));
    const low = Math.max(one.from % rows, other.from % rows), high = Math.min(one.to % rows, other.to % rows);
    return start > end || low > high ? 0 : this.slotsIn(start * rows + low, end * rows + high);
  }

  /** The names of the rows of a range, "web1 to db (3 rows): "; "" for all rows, and in maps without names. */
  rowsText(from, to) {
    const { rows, names } = this.heat, low = from % rows, high = to % rows;
    if (!names || high - low === rows - 1 && rows > 1) return '';
    return names[high] + (high > low ? ' to ' + names[low] + ' (' + (high - low + 1) + ' rows)' : '') + ': ';
  }

  // Of the clock or since the begin; with the digits that slots, or columns, need.
  text(offset, isFine) {
    const { heat } = this, seconds = heat.wall ? heat.origin + offset / 1e9 : offset / 1e9;
    if (heat.wall) return this.clockText(seconds, isFine);
    if (seconds < 120) return Number(seconds.toFixed(3)) + ' s';
    const whole = Math.floor(seconds + 1e-6), hasPart = isFine || this.column % 1e9;
    const part = hasPart && seconds - whole >= .001 ? seconds - whole : 0;
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60, rest = twoDigits(whole % 60);
    return (hours ? hours + ':' + twoDigits(minutes) : minutes) + ':' + rest + (part ? part.toFixed(3).slice(1) : '');
  }

  clockText(seconds, isFine) {
    const { heat: { slot }, column } = this, iso = new Date(Math.round(seconds * 1000)).toISOString();
    const end = (isFine ? slot : column) % 1e9 ? 23 : isFine || column % MINUTE ? 19 : 16;
    return (this.hasDay ? iso.slice(5, 10) + ' ' : '') + iso.slice(11, end);
  }

  /** The time at which a column begins, for the axis. */
  columnText(column) {
    return this.text(this.offset(column * this.heat.rows), false);
  }

  /** "12.34 s", or "12.34 s to 14.02 s (1.68 s)" for more than one slot. */
  rangeText(from, to) {
    const { slot } = this.heat, start = this.offset(from), end = this.offset(to) + slot;
    const rowsText = this.rowsText(from, to);
    if (start + slot === end) return rowsText + this.text(start, true);
    return rowsText + this.text(start, true) + ' to ' + this.text(end, true) + ' (' + roughDuration(end - start) + ')';
  }

  /** The columns that have a label, if labels are `least` columns apart. */
  labelled(least) {
    const { runs, wall, origin } = this.heat, steps = [1, 2, 5, 10, 15, 20, 30, 60, 120, 240, 360];
    const step = steps.find(one => one >= least) || 720, zero = wall && Math.round(origin / (this.column / 1e9));
    const columns = [];
    for (const [first, count, number] of runs) {
      for (let at = 0; at < count; at++) {
        const aligned = (zero + number + at) % step === 0 || at === 0;
        if (aligned && !(columns.at(-1) > first + at - least)) columns.push(first + at);
      }
    }
    return columns;
  }
}
