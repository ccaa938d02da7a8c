// SPDX-License-Identifier: MIT
// How long calls of each function took, by function or by caller; the worst call and its path; how calls are spread.
import { make } from './10-dom.mjs';
import { count, duration, matcher, plural, value } from './01-text.mjs';
import { data, functionNamed, part } from './11-data.mjs';
import { go, keep, left, link, view, views } from './21-shell.mjs';
import { searchBox, table } from './20-table.mjs';

const calledLink = (name) => (functionNamed(name) >= 0 ? link(name, 'code', { name }, { class: 'mono' }) : make('span', { class: 'mono', text: name }));

function timeColumns(unit, callers) {
  const time = (title, key, width = '8em', least = 0) => ({ title, number: true, width, least, key, text: (row) => (row.calls ? duration(value(key(row)), unit) : '–') });
  const columns = [
    { title: 'calls', number: true, width: '6em', key: (row) => row.calls, text: (row) => count(row.calls) },
    time('shortest', (row) => row.shortest, '7.5em', 900),
    time('mean', (row) => row.mean, '7.5em', 500),
    time('longest', (row) => row.longest, '7.5em', 420),
    time('total', (row) => row.total),
    time('no interrupts', (row) => row.total_without_interrupts, '8.5em', 1000),
    time('own', (row) => row.own, '8em', 640),
    time('own and interrupts', (row) => row.own_with_interrupts, '9.5em', 1200),
    { title: 'function', width: 'minmax(9em, 3fr)', mono: true, key: (row) => row.function, text: (row) => row.function },
  ];
  if (callers)
    columns.push({ title: 'called by', width: 'minmax(8em, 2fr)', mono: true, key: (row) => row.caller, text: (row) => row.caller });
  else
    columns.splice(8, 0, { title: 'apart', number: true, width: '7.5em', least: 1100, key: (row) => row.apart?.mean, text: (row) => (row.apart ? duration(value(row.apart.mean), unit) : '–') });
  return columns;
}

/** Bars of a histogram. */
function spreadBars(row, unit) {
  const most = Math.max(...row.spread.map(([, , calls]) => value(calls)));
  return make('div', { class: 'spread', role: 'table', 'aria-label': 'How calls are spread' }, ...row.spread.map(([from, to, calls]) => make('div', { role: 'row' },
    make('span', { role: 'cell', class: 'soft', text: `${duration(value(from), unit)} – ${duration(Math.min(value(to), value(row.longest)), unit)}` }),
    make('span', { role: 'cell', class: 'bar', style: `--bar: ${value(calls) / most}`, text: count(calls) }))));
}

/** What there is of one function: its longest call, and by whom; how far entries are apart. */
function callDetail(row, unit) {
  const parts = [make('h2', {}, calledLink(row.function))];
  if (row.worst) {
    const path = [];
    row.worst.called_by.forEach((name, i) => path.push(i ? ' ← ' : '', calledLink(name)));
    parts.push(make('p', { id: 'worst' }, `The longest call took ${duration(value(row.worst.took), unit)}, from trace offset ${count(row.worst.offset)} on, called by `, ...(path.length ? path : ['nobody that is known']), '.'));
    if (row.worst.callees.length)
      parts.push(make('ul', { class: 'callees' }, ...row.worst.callees.map((callee) => make('li', {}, `${duration(value(callee.took), unit)} in ${plural(callee.calls, 'call')} of `, calledLink(callee.function)))));
  }
  if (row.apart)
    parts.push(make('p', { text: `Entries are ${duration(value(row.apart.nearest), unit)} to ${duration(value(row.apart.farthest), unit)} apart, ${duration(value(row.apart.mean), unit)} in the mean.` }));
  if (value(row.cut))
    parts.push(make('p', { class: 'soft', text: `Of ${plural(row.cut, 'more call')} only a part is in the trace.` }));
  if (row.spread?.length)
    parts.push(spreadBars(row, unit));
  return parts;
}

function chooser(label, id, options, chosen, change) {
  const select = make('select', { id, 'aria-label': label, onchange: (event) => change(event.target.value) });
  options.forEach(([name, text]) => select.append(make('option', { value: name, text, selected: name === chosen })));
  return select;
}

async function timesView(wanted) {
  const captures = (await part('times')) ?? [];
  if (left(wanted)) return;
  view().classList.add('full');
  const known = captures.map((capture, i) => i).filter((i) => captures[i]);
  if (!known.length) {
    view().append(make('p', { class: 'soft pad', text: 'How long calls took is not known: a saved profile has no order, and without program flow there are no calls.' }));
    return;
  }
  const number = known.includes(Number(wanted.capture)) ? Number(wanted.capture) : known[0];
  const { unit, functions, callers, ...rest } = captures[number], byCaller = wanted.by === 'caller';
  const rows = byCaller ? callers : functions, gone = byCaller ? rest.callers_left_out : rest.functions_left_out;
  const detail = make('section', { id: 'call-detail', class: 'panel', tabindex: 0, role: 'region', 'aria-label': 'Of one function' }, make('p', { class: 'soft', text: 'Choose a function for its longest call, and how its calls are spread.' }));
  const open = (row) => {
    const all = byCaller ? functions.find((one) => one.function === row.function) : row;
    if (!all) return;
    keep({ name: all.function });
    detail.replaceChildren(...callDetail(all, unit));
  };
  const list = table(rows, timeColumns(unit, byCaller), { label: 'Times', sort: 4, open, empty: 'No function has such a name.' });
  const found = make('span', { id: 'found', class: 'soft', role: 'status' });
  const apply = (text) => { const test = matcher(text); found.textContent = plural(list.filter(test && ((row) => test(row.function) || test(row.caller ?? ''))), 'row') + (gone ? ` and ${count(gone)} that took least left out` : ''); };
  view().append(make('div', { class: 'tools' }, searchBox('times', wanted.find, (text) => { keep({ find: text }); apply(text); }),
    chooser('Rows', 'by', [['function', 'by function'], ['caller', 'by caller']], wanted.by ?? 'function', (by) => go('times', { ...wanted, by })),
    known.length > 1 ? chooser('Input', 'capture', known.map((i) => [String(i), data.head.inputs[i] ?? String(i)]), String(number), (capture) => go('times', { ...wanted, capture })) : null,
    found, make('span', { class: 'soft', text: `times in ${unit}; own: without callees and interrupts` })), list.element, detail);
  apply(wanted.find || '');
  const named = wanted.name && functions.find((one) => one.function === wanted.name);
  if (named) detail.replaceChildren(...callDetail(named, unit));
}

views.times = { title: 'Times', show: timesView };
