// SPDX-License-Identifier: MIT
// What ran in a span of time: exact at the borders of cells, in proportion inside of them.

/** Columns as they are written to cells with their rows. */
export function readSums(sums) {
  const cells = [];
  for (let i = 0, cell = 0, current = null; i < sums.cell.length; i++) {
    cell += sums.cell[i];
    if (!current || current.cell !== cell) cells.push(current = { cell, from: i, to: i });
    current.to = i + 1;
  }
  return { ...sums, cells, width: 2 ** sums.level };
}

/** The border of cells that is nearest to a time. */
export function nearestBorder(sums, time) {
  return sums.begin + Math.round((time - sums.begin) / sums.width) * sums.width;
}

/**
 * What ran in [from, to): rows of { name, time, instructions, calls }, most time first. `about`: a border of the span
 * lies inside a cell, so that its part is estimated.
 */
export function sumSpan(sums, from, to) {
  const rows = new Map();
  let about = false;
  for (const { cell, from: first, to: last } of sums.cells) {
    const begin = sums.begin + cell * sums.width, end = begin + sums.width;
    const inside = Math.min(to, end) - Math.max(from, begin);
    if (inside <= 0) continue;
    const part = inside / sums.width;
    about ||= part < 1;
    for (let i = first; i < last; i++) {
      const row = rows.get(sums.name[i]) ?? { name: sums.name[i], time: 0, instructions: 0, calls: 0 };
      row.time += part * sums.time[i];
      row.instructions += part * sums.instructions[i];
      row.calls += part * sums.calls[i];
      rows.set(row.name, row);
    }
  }
  return { about, rows: [...rows.values()].sort((a, b) => b.time - a.time || b.instructions - a.instructions || a.name - b.name) };
}
