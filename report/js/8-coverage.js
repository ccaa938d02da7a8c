// SPDX-License-Identifier: MIT
// Which lines and branches of each file ran.

function coverageView() {
  const rows = data.coverage.map(([file, lines, linesHit, branches, branchesHit, fns, fnsHit]) => ({ file, lines, linesHit, branches, branchesHit, fns, fnsHit }));
  const ratio = (hit, all) => (all ? hit / all : 1);
  const columns = [
    { title: 'lines %', number: true, width: '7em', key: (r) => ratio(r.linesHit, r.lines), text: (r) => share(r.linesHit, r.lines) },
    { title: 'lines', number: true, width: '9em', key: (r) => r.lines, text: (r) => `${r.linesHit} / ${r.lines}` },
    { title: 'branches %', number: true, width: '8em', key: (r) => ratio(r.branchesHit, r.branches), text: (r) => share(r.branchesHit, r.branches) },
    { title: 'branches', number: true, width: '9em', key: (r) => r.branches, text: (r) => `${r.branchesHit} / ${r.branches}` },
    { title: 'functions', number: true, width: '9em', key: (r) => r.fns, text: (r) => `${r.fnsHit} / ${r.fns}` },
    { title: 'file', key: (r) => data.files[r.file], text: (r) => data.files[r.file], width: 'minmax(16em, 3fr)' },
  ];
  const sum = (key) => rows.reduce((s, r) => s + r[key], 0);
  const list = table(rows, columns, { label: 'Files', sort: 5, open: (row) => openSource(row.file) });
  view.classList.add('full');
  view.append(make('div', { class: 'bar' }, searchBox('files', (text) => { const test = matcher(text); list.filter(test && ((r) => test(data.files[r.file]))); }),
    make('span', { id: 'covered', text: `lines ${sum('linesHit')} of ${sum('lines')} (${share(sum('linesHit'), sum('lines'))}), branches ${sum('branchesHit')} of ${sum('branches')} (${share(sum('branchesHit'), sum('branches'))})` })), list.element);
}

function openSource(file) {
  view.replaceChildren();
  view.classList.add('full');
  view.append(make('div', { class: 'bar' }, make('button', { type: 'button', text: '← Files', onclick: () => show('coverage') }), make('span', { class: 'mono', text: data.files[file] })));
  let marked = '';
  const source = sourcePane(file, () => marked, (key) => { marked = key; source.redraw(); });
  view.append(source.element);
}
