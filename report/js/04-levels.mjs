// SPDX-License-Identifier: MIT
// The timeline's slices at the level that a zoom needs. A cell stands for several short calls; it has the name of the longest.

/** Columns as they are written, with differences, to arrays with times. */
function readLane(lane, finest) {
  const size = lane.start.length;
  const start = new Float64Array(size), end = new Float64Array(size), offset = new Float64Array(size);
  for (let i = 0, time = 0, at = 0; i < size; i++) {
    time += lane.start[i];
    at += lane.offset[i];
    start[i] = time;
    end[i] = time + lane.length[i];
    offset[i] = at;
  }
  const longest = Float64Array.from(lane.longest, (took, i) => (lane.count[i] > 1 ? took : lane.length[i]));
  return {
    size, start, end, offset, longest, finest,
    name: Uint32Array.from(lane.name), count: Uint32Array.from(lane.count),
    busy: Float64Array.from(lane.busy, (took, i) => (lane.count[i] > 1 ? took : lane.length[i])),
    estimated: Uint8Array.from(lane.estimated),
  };
}

/** Those of a lane for which test(i) holds, as another lane. */
function filterLane(lane, test) {
  const kept = [];
  for (let i = 0; i < lane.size; i++) if (test(i)) kept.push(i);
  const out = { size: kept.length, finest: lane.finest };
  for (const key of ['start', 'end', 'offset', 'longest', 'name', 'count', 'busy', 'estimated']) {
    const from = lane[key], to = new from.constructor(kept.length);
    for (let i = 0; i < kept.length; i++) to[i] = from[kept[i]];
    out[key] = to;
  }
  return out;
}

/** A track with lanes that know their levels. */
export function readTrack(track, finest) {
  const lanes = track.lanes.map((lane) => ({ whole: readLane(lane, finest), cells: new Map(), kept: new Map() }));
  for (const { level, lanes: coarse } of track.levels)
    coarse.forEach((lane, depth) => lanes[depth].cells.set(level, readLane(lane, finest)));
  return { ...track, lanes, finest, coarsest: finest + track.levels.length };
}

/** The level whose cells are about two pixels wide, where a pixel is so much time. */
export function levelFor(track, pixel) {
  const wanted = pixel > 0 ? Math.floor(Math.log2(2 * pixel)) : 0;
  return Math.max(track.finest, Math.min(track.coarsest, wanted));
}

/** What a lane shows at a level: one or two lists, each in the order of time. */
export function laneAt(track, depth, level) {
  const lane = track.lanes[depth];
  if (level <= track.finest) return [lane.whole];
  let long = lane.kept.get(level);
  if (!long) {
    const width = 2 ** level;
    long = filterLane(lane.whole, (i) => lane.whole.longest[i] >= width);
    lane.kept.set(level, long);
  }
  return [lane.cells.get(level), long];
}

/** The first of a list that ends at `time` or later. Lists are in order of both their starts and their ends. */
export function firstAt(list, time) {
  let low = 0, high = list.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list.end[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What is at a time of a lane, give or take `slack`: { list, i }, or null. The nearest counts. */
export function sliceAt(track, depth, level, time, slack) {
  let best = null, least = Infinity;
  for (const list of laneAt(track, depth, level))
    for (let i = firstAt(list, time - slack); i < list.size && list.start[i] <= time + slack; i++) {
      const far = Math.max(0, list.start[i] - time, time - list.end[i]);
      if (far < least) {
        least = far;
        best = { list, i };
      }
    }
  return best;
}
