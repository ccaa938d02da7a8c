// SPDX-License-Identifier: MIT
// Numbers in words. Nothing here knows the page.

/** Counts above 2^53 come as strings of digits: exact to show, near enough to compare. */
export const value = (count) => Number(count || 0);

/** A whole number with its thousands apart. */
export function count(number) {
  return BigInt(number || 0).toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
}

/** "1 function", "2 functions", "3 branches". */
export function plural(number, one, many = one + 's') {
  return `${count(number)} ${value(number) === 1 ? one : many}`;
}

export function share(part, whole) {
  return whole > 0 ? (100 * part / whole).toFixed(2) + '\u202f%' : '–';
}

const PREFIXES = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']];
const SECONDS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

/** Digits behind the point that a step of a ruler needs. */
function digitsFor(step, size) {
  return Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
}

/**
 * A time for people: "1.234 ms", "10 M ticks". `step` says how fine it is to be: without one there
 * are at most three digits behind the point.
 */
export function duration(time, unit, step = 0) {
  const seconds = unit === 'ns';
  const sizes = seconds ? SECONDS : PREFIXES;
  const scale = step > 0 ? Math.max(Math.abs(time), step) : Math.abs(time);
  if (!seconds && scale < 1e5) {
    const fine = step > 0 && step < 1;
    return (fine ? time.toFixed(digitsFor(step, 1)) : count(Math.round(time))) + (unit ? '\u00a0' + unit : '');
  }
  const [size, name] = sizes.find(([least]) => scale >= least) ?? sizes[sizes.length - 1];
  const digits = step > 0 ? digitsFor(step, size) : size === 1 ? 0 : 3;
  const words = (time / size).toFixed(digits);
  return seconds ? `${words}\u00a0${name}` : `${words}\u00a0${name}${unit ? '\u00a0' + unit : ''}`.replace(/\u00a0+/g, '\u00a0');
}

/** The last component of a path. */
export const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

/** A path without "./" in it. */
export const shortPath = (path) => path.replace(/^(?:\.\/)+/, '').replace(/\/(?:\.\/)+/g, '/');

/** Does a name have these words in it? null: there are none. */
export function matcher(text) {
  const wanted = text.trim().toLowerCase();
  return wanted ? (name) => name.toLowerCase().includes(wanted) : null;
}

/** A text as a shell takes it. */
export function quoted(text) {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

/**
 * Where the marks of a ruler are: steps of 1, 2 or 5 times a power of ten, as close as labels allow.
 * `width` pixels show [from, to); a label of the time t is label(t, step), which is wide(label) pixels.
 */
export function rulerTicks(from, to, width, label, wide) {
  const span = to - from;
  if (!(span > 0) || !(width > 0)) return { step: 1, ticks: [] };
  let power = 10 ** Math.floor(Math.log10(span / width));
  for (let tries = 0; tries < 60; tries++) {
    const step = power * [1, 2, 5][tries % 3];
    if (tries % 3 === 2) power *= 10;
    const first = Math.ceil(from / step) * step;
    const widest = Math.max(wide(label(first, step)), wide(label(Math.floor(to / step) * step, step)));
    if (step / span * width < widest + 16) continue;
    const ticks = [];
    for (let n = 0; first + n * step <= to; n++) ticks.push(first + n * step);
    return { step, ticks };
  }
  return { step: span, ticks: [] };
}
