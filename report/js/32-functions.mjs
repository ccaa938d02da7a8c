// SPDX-License-Identifier: MIT
// All functions, to sort and search; beside a baseline what is different.
import { make } from './10-dom.mjs';
import { baseName, count, duration, matcher, plural, share, value } from './01-text.mjs';
import { addressOf, before, data, objectOf, part, total } from './11-data.mjs';
import { go, keep, left, view, views } from './21-shell.mjs';
import { searchBox, table } from './20-table.mjs';

const signed = (number) => (number > 0 ? '+' : number < 0 ? '−' : '±') + count(Math.abs(number));

/** What has the baseline that is not here: rows of its own, without code. */
function goneRows(baseline, rows) {
  const here = new Set(rows.map((row) => row.before));
  return baseline.name.map((name, i) => i).filter((i) => !here.has(i))
    .map((i) => ({ f: -1, name: baseline.name[i], object: baseline.object[i], own: 0, total: 0, calls: 0, before: i }));
}

function makeRows(baseline) {
  const { own, total: inclusive, calls, time } = data.functions;
  const rows = data.functions.name.map((name, f) => ({ f, name, object: baseName(objectOf(f)), own: own[f], total: inclusive[f], calls: calls[f], time: time?.[f] ?? 0, before: baseline ? before(f) : null }));
  return baseline ? rows.concat(goneRows(baseline, rows)) : rows;
}

async function functionTable(wanted) {
  const baseline = data.head.baseline ? await part('baseline') : null;
  if (left(wanted)) return;
  const all = total(), rows = makeRows(baseline);
  const delta = (row) => value(row.own) - value(row.before === null ? 0 : baseline.own[row.before]);
  const columns = [
    { title: 'own', number: true, width: '9em', key: (row) => row.own, text: (row) => count(row.own), bar: (row) => value(row.own) / all },
    { title: 'own %', number: true, width: '5.5em', least: 620, key: (row) => row.own, text: (row) => share(value(row.own), all) },
    { title: 'inclusive', number: true, width: '9em', least: 780, key: (row) => row.total, text: (row) => count(row.total), bar: (row) => value(row.total) / all },
    { title: 'inclusive %', number: true, width: '7em', least: 900, key: (row) => row.total, text: (row) => share(value(row.total), all) },
    { title: 'calls', number: true, width: '7em', least: 520, key: (row) => row.calls, text: (row) => count(row.calls) },
    { title: 'function', width: 'minmax(9em, 3fr)', mono: true, key: (row) => row.name, text: (row) => row.name },
    { title: 'object', width: 'minmax(6em, 1fr)', least: 700, key: (row) => row.object, text: (row) => row.object },
  ];
  if (data.functions.unit)
    columns.splice(5, 0, { title: 'own time', number: true, width: '8em', least: 1000, key: (row) => row.time, text: (row) => duration(value(row.time), data.functions.unit) });
  if (baseline)
    columns.splice(1, 0, { title: 'change', number: true, width: '8em', least: 430, key: (row) => Math.abs(delta(row)), text: (row) => (row.before === null ? 'new ' : row.f < 0 ? 'gone ' : '') + signed(delta(row)), tone: (row) => (delta(row) > 0 ? 'more' : delta(row) < 0 ? 'less' : 'even') });
  const found = make('span', { id: 'found', class: 'soft', role: 'status' });
  const list = table(rows, columns, { label: 'Functions', sort: baseline ? 1 : 0, open: (row) => { if (row.f >= 0) go('code', addressOf(row.f)); }, empty: 'No function has such a name.' });
  const apply = (text) => {
    const test = matcher(text);
    found.textContent = plural(list.filter(test && ((row) => test(row.name) || test(row.object))), 'function');
  };
  view().classList.add('full');
  view().append(make('div', { class: 'tools' }, searchBox('functions', wanted.find, (text) => { keep({ find: text }); apply(text); }), found,
    baseline ? make('span', { class: 'soft', text: `change of own instructions against ${data.head.baseline}` }) : null), list.element);
  apply(wanted.find || '');
}

views.functions = { title: 'Functions', show: functionTable };
