// SPDX-License-Identifier: MIT
// The data of the page. `data.head` and `data.functions` are there before anything is shown, other parts when a view loads them.
import { unpack } from './03-unpack.mjs';
import { baseName, value } from './01-text.mjs';

export const data = { head: null, functions: null };
const loading = new Map();

/** A part by its name; null: it is not in the page. */
export function part(name) {
  if (!loading.has(name)) {
    const element = document.getElementById('part-' + name);
    loading.set(name, element ? unpack(element.textContent, element.dataset.form).then((got) => { data[name] = got; return got; }) : Promise.resolve(null));
  }
  return loading.get(name);
}

export async function loadFirst() {
  await Promise.all([part('head'), part('functions')]);
}

/** The text of a source file with the counts of its lines; null: it is not in the page. */
export const sourceOf = (file) => part('source-' + file);
export const hasSource = (file) => document.getElementById('part-source-' + file) !== null;

export const nameOf = (f) => (f >= 0 ? data.functions.name[f] : f === -2 ? '…' : '[unknown]');
export const objectOf = (f) => (f >= 0 && data.head.objects[data.functions.object[f]]) || '';
/** A path without steps that lead nowhere, as the page's files have it. */
export const plainPath = (path) => {
  const steps = [];
  for (const step of path.split('/')) {
    if (step === '..' && steps.length && steps.at(-1) !== '..' && steps.at(-1) !== '') steps.pop();
    else if (step !== '.' && (step !== '' || !steps.length)) steps.push(step);
  }
  return steps.join('/');
};
/** The number of a source file by any path to it; -1: it has none. */
export const fileNumber = (path) => data.head.files.indexOf(plainPath(path ?? ''));
export const fileOf = (f) => (f >= 0 && data.head.files[data.functions.file[f]]) || '';
export const sampled = () => 'samples' in data.head.totals;
/** Why there is no coverage. */
export const noCoverage = () => (sampled() ? 'Coverage is of counts of what ran, and these are PC samples.' : 'No source lines of what ran are known. Programs with debug information have them; --symfs, --symdir and --debug-dir say where these are.');
export const total = () => value(data.head.totals.instructions ?? data.head.totals.samples);

let numbers = null;
/** Functions of a name, that with most instructions first. */
function allNamed(name) {
  if (!numbers) {
    numbers = new Map();
    data.functions.name.forEach((text, i) => { if (numbers.has(text)) numbers.get(text).push(i); else numbers.set(text, [i]); });
    for (const list of numbers.values()) list.sort((a, b) => value(data.functions.own[b]) - value(data.functions.own[a]));
  }
  return numbers.get(name) ?? [];
}

/** The function of a name, in an object (by the last component of its path) if one is given; -1: there is none. */
export function functionNamed(name, object) {
  const list = allNamed(name);
  return (object === undefined ? list[0] : list.find((f) => baseName(objectOf(f)) === object)) ?? -1;
}

/** What the address of the page says of a function: its name, and its object where several have that name. */
export function addressOf(f) {
  const name = nameOf(f);
  return allNamed(name).length > 1 ? { name, object: baseName(objectOf(f)) } : { name };
}

/** What a place of the timeline is: an offset, and of several buffers the name of one. */
export function placeOf(capture, place) {
  const buffers = data.head.stories[capture]?.buffers ?? [];
  if (buffers.length < 2) return { offset: place };
  return { offset: Math.floor(place / buffers.length), buffer: buffers[place % buffers.length] };
}

/* ---- the baseline ---- */

let same = null;
/** The number in the baseline of a function: the same name, in an object of the same name. null: there is none. */
export function before(f) {
  const baseline = data.baseline;
  if (!baseline) return null;
  if (!same) {
    same = new Map();
    baseline.name.forEach((name, i) => same.set(baseline.object[i] + '\n' + name, i));
  }
  return same.get(baseName(objectOf(f)) + '\n' + nameOf(f)) ?? null;
}
