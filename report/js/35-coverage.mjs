// SPDX-License-Identifier: MIT
// Which lines and branches of each file ran; beside a baseline, which lines are gained and lost.
import { make } from './10-dom.mjs';
import { count, matcher, plural, share, shortPath } from './01-text.mjs';
import { data, hasSource, noCoverage, part, sourceOf, fileNumber } from './11-data.mjs';
import { go, keep, left, link, view, views } from './21-shell.mjs';
import { searchBox, table } from './20-table.mjs';
import { sourcePane } from './33-code.mjs';

const ratio = (hit, all) => (all ? hit / all : 1);

function columnsOf(compare) {
  const columns = [
    { title: 'lines %', number: true, width: '6.5em', key: (r) => ratio(r.linesHit, r.lines), text: (r) => share(r.linesHit, r.lines), bar: (r) => ratio(r.linesHit, r.lines) },
    { title: 'lines', number: true, width: '8em', least: 700, key: (r) => r.lines, text: (r) => `${count(r.linesHit)} / ${count(r.lines)}` },
    { title: 'branches %', number: true, width: '7em', least: 480, key: (r) => ratio(r.branchesHit, r.branches), text: (r) => share(r.branchesHit, r.branches) },
    { title: 'branches', number: true, width: '8em', least: 820, key: (r) => r.branches, text: (r) => `${count(r.branchesHit)} / ${count(r.branches)}` },
    { title: 'functions', number: true, width: '7em', least: 600, key: (r) => r.fns, text: (r) => `${count(r.fnsHit)} / ${count(r.fns)}` },
    { title: 'file', width: 'minmax(9em, 3fr)', mono: true, key: (r) => r.path, text: (r) => r.path },
  ];
  if (compare)
    columns.splice(1, 0,
      { title: 'gained', number: true, width: '5em', key: (r) => r.gained, text: (r) => (r.known ? '+' + count(r.gained) : 'new'), tone: (r) => (r.gained ? 'more' : 'even') },
      { title: 'lost', number: true, width: '5em', key: (r) => r.lost, text: (r) => (r.known ? '−' + count(r.lost) : ''), tone: (r) => (r.lost ? 'less' : 'even') });
  return columns;
}

async function oneFile(wanted) {
  const file = fileNumber(wanted.file);
  const source = file >= 0 && hasSource(file) ? await sourceOf(file) : null;
  if (left(wanted)) return;
  view().append(make('div', { class: 'tools' }, link('← Files', 'coverage'), make('span', { class: 'mono', text: shortPath(wanted.file) })));
  if (!source) {
    view().append(make('p', { class: 'soft pad', text: 'Its text is not in this page. `pugmark report --source-dir DIR` puts in sources below a folder.' }));
    return;
  }
  let marked = '';
  const pane = sourcePane(file, source, () => marked, (key) => { marked = key; pane.redraw(); });
  view().append(pane.element);
}

async function coverageView(wanted) {
  const files = (await part('coverage')) ?? [];
  if (left(wanted)) return;
  view().classList.add('full');
  if (wanted.file !== undefined) return oneFile(wanted);
  if (!files.length) {
    view().append(make('p', { class: 'soft pad', text: noCoverage() }));
    return;
  }
  const rows = files.map(([file, lines, linesHit, branches, branchesHit, fns, fnsHit, gained, lost]) => ({ file, path: shortPath(data.head.files[file]), lines, linesHit, branches, branchesHit, fns, fnsHit, known: !!gained, gained: gained?.length ?? 0, lost: lost?.length ?? 0 }));
  const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
  const columns = columnsOf(!!data.head.baseline);
  const list = table(rows, columns, { label: 'Files', sort: columns.length - 1, open: (row) => go('coverage', { file: data.head.files[row.file] }), empty: 'No file has such a name.' });
  const apply = (text) => { const test = matcher(text); list.filter(test && ((row) => test(row.path))); };
  view().append(make('div', { class: 'tools' }, searchBox('files', wanted.find, (text) => { keep({ find: text }); apply(text); }),
    make('span', { id: 'covered', text: `${plural(rows.length, 'file')} · lines ${count(sum('linesHit'))} of ${count(sum('lines'))} (${share(sum('linesHit'), sum('lines'))}) · branches ${count(sum('branchesHit'))} of ${count(sum('branches'))} (${share(sum('branchesHit'), sum('branches'))})` + (data.head.baseline ? ` · ${plural(sum('gained'), 'line')} gained, ${count(sum('lost'))} lost` : '') })), list.element);
  apply(wanted.find || '');
}

views.coverage = { title: 'Coverage', show: coverageView };
