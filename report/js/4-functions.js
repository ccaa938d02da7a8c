// SPDX-License-Identifier: MIT
// All functions, by own and inclusive counts.

function functionTable() {
  const rows = functions.name.map((_, f) => f);
  const columns = [
    { title: 'own', number: true, width: '9em', key: (f) => functions.own[f], text: (f) => count(functions.own[f]) },
    { title: 'own %', number: true, width: '6em', key: (f) => functions.own[f], text: (f) => share(value(functions.own[f]), total) },
    { title: 'inclusive', number: true, width: '9em', key: (f) => functions.total[f], text: (f) => count(functions.total[f]) },
    { title: 'inclusive %', number: true, width: '7em', key: (f) => functions.total[f], text: (f) => share(value(functions.total[f]), total) },
    { title: 'calls', number: true, width: '8em', key: (f) => functions.calls[f], text: (f) => count(functions.calls[f]) },
    { title: 'function', key: nameOf, text: nameOf, width: 'minmax(14em, 3fr)' },
    { title: 'object', key: objectOf, text: (f) => objectOf(f).split('/').pop(), width: 'minmax(8em, 1fr)' },
    { title: 'file', key: fileOf, text: (f) => (fileOf(f) ? fileOf(f).split('/').pop() + ':' + functions.line[f] : ''), width: 'minmax(8em, 1fr)' },
  ];
  const result = table(rows, columns, { open: openCode, label: 'Functions' });
  const found = make('span', { class: 'soft', id: 'found', text: count(rows.length) + ' functions' });
  const search = searchBox('functions', (text) => {
    const test = matcher(text);
    found.textContent = count(result.filter(test && ((f) => test(nameOf(f)) || test(fileOf(f))))) + ' functions';
  });
  view.classList.add('full');
  view.append(make('div', { class: 'bar' }, search, found), result.element);
}
