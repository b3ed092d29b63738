// heatflags.js - the markers of a heat map: events at known times, config.heat.markers [position, ns, label]. Pure.
import { counted } from './numbers.js';

const LISTED = 10;

/** "deploy 1.2 at 12.4 s" */
export function markerText(times, [, offset, label]) {
  return label + ' at ' + times.text(offset, true);
}

/** The markers in the slot of a position; with rows for labels, in its column. */
export function markersIn({ markers = [], names, rows }, position) {
  const first = names ? position - position % rows : position;
  return markers.filter(([at]) => at === first);
}

/** What a legend has of them: a list of at most one text. */
export function markerLegend({ markers, unmarked }) {
  const more = unmarked ? ', ' + unmarked + ' not shown' : '';
  return markers ? ['\u2691 ' + counted(markers.length, 'markers') + more] : [];
}

/**
 * The flags of markers: {left, room: width up to the next flag, first, end: markers that it stands for}. Markers less
 * than `least` px behind the first one of a flag share it. leftOf: the place of a marker in px; width: of all.
 */
export function groupFlags(markers, leftOf, least, width) {
  const flags = [];
  markers.forEach((marker, at) => {
    const place = leftOf(marker), last = flags.at(-1);
    if (last && place - last.left < least) {
      last.end = at + 1;
      return;
    }
    if (last) last.room = place - last.left;
    flags.push({ left: place, room: Math.max(width - place, least), first: at, end: at + 1 });
  });
  return flags;
}

/** The text on a flag. */
export function flagLabel(markers, { first, end }) {
  return '\u2691 ' + (end - first > 1 ? counted(end - first, 'markers') : markers[first][2]);
}

/** All markers of a flag, one a line. */
export function flagTitle(markers, times, { first, end }) {
  const lines = markers.slice(first, Math.min(end, first + LISTED)).map(marker => markerText(times, marker));
  return [...lines, ...end - first > LISTED ? ['and ' + (end - first - LISTED) + ' more'] : []].join('\n');
}

/** The positions from a marker to the marker `end` or the first one behind it at another position, or to the end. */
export function rangeAfter(markers, index, end, positions) {
  const [from] = markers[index], next = markers.slice(end).find(([position]) => position > from);
  return { from, to: (next ? next[0] : positions) - 1 };
}

/** The index of the nearest marker behind a position (sign 1) or before it (-1); -1: there is none. */
export function nearestMarker(markers, position, sign) {
  return sign > 0 ? markers.findIndex(([at]) => at > position) : markers.findLastIndex(([at]) => at < position);
}
