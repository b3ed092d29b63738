// heatcompare.js - a second range of the heat map: the graph is the difference, before and after, as pjdiff judges it.
import { comparisonTree, sharesByDefault, verdictsOf } from './comparison.js';
import { allTime, slots, times } from './heatmap.js';
import { normalGroups } from './normalnames.js';
import { counted, grouped, listed } from './numbers.js';
import { rangeSums } from './slots.js';
import { config, names, profile, screen, setDiff, view } from './state.js';
import { correctFunctions, neededSamples } from './verdicts.js';

const { rule, ramp } = config.heat;

// The last comparison: filters and zoom need it again.
const made = { key: '', diff: undefined, tree: null, verdicts: null, groups: null };

function overlapText([one, other]) {
  const slotsShared = times.slotsShared(one, other);
  return slotsShared > 0 && 'the ranges overlap: ' + counted(slotsShared, 'slots') + ' on both sides';
}

function resultText(diff, verdicts) {
  const { functions } = verdicts[view.byShare ? 0 : 1], [before, after] = diff.sums;
  if (!before || !after) return 'no samples ' + (before ? 'after: all is gone' : 'before: all is new');
  const result = correctFunctions(functions, view.byShare, diff);
  if (!result.isPossible) {
    return 'too few samples for a comparison: ' + grouped(neededSamples(diff)) + ' a side are needed to detect a '
      + 'growth from 0 to ' + diff.points + '%';
  }
  const moved = result.moved ? ', ' + grouped(result.moved) + ' more only moved' : '';
  return grouped(result.changed) + ' of ' + counted(result.functions, 'functions') + ' changed' + moved;
}

const noiseText = diff => diff.counted ? 'only counting noise is known' : 'not tested for noise';

function makeDiff(ranges) {
  const sums = ranges.map(({ from, to }) => rangeSums(slots, from, to).weight);
  const labels = ranges.map(({ from, to }, side) => (side ? 'after, ' : 'before, ') + times.rangeText(from, to) + ':');
  return { ...rule, sums, shares: sharesByDefault(sums), dispersion: 1, drift: 0, ramp, labels, note: '' };
}

function compare(ranges, key) {
  const diff = makeDiff(ranges);
  made.groups ||= normalGroups(names);
  const tree = comparisonTree(allTime, slots, made.groups, ranges), verdicts = verdictsOf(tree, names.count, diff);
  Object.assign(made, { key, diff, tree, verdicts });
  Object.defineProperty(diff, 'note', {
    get: () => listed([resultText(diff, verdicts), overlapText(ranges), noiseText(diff)]),
  });
}

function setProfile(base, diff, verdicts) {
  profile.base = base;
  profile.sides = diff ? [0, 1] : [0];
  profile.verdicts = verdicts;
  setDiff(diff);
}

/** Makes the profile the difference of two ranges of positions. */
export function startComparison(before, after) {
  const key = [before.from, before.to, after.from, after.to].join();
  if (made.key !== key) compare([before, after], key);
  screen.onlyKind = '';
  setProfile(made.tree, made.diff, made.verdicts);
}

/** Makes the profile that of all times again. */
export function endComparison() {
  setProfile(allTime, undefined, []);
}
