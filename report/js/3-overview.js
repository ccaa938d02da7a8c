// SPDX-License-Identifier: MIT
// What was traced, and what the answers rest on.

function overview() {
  const list = (pairs) => {
    const facts = make('dl', { class: 'facts' });
    for (const [name, text] of pairs) facts.append(make('dt', { text: name }), make('dd', { text }));
    return facts;
  };
  view.append(make('h2', { text: 'What was traced' }), list(data.facts));
  view.append(make('h2', { text: 'What ran' }));
  view.append(list(Object.entries(data.totals).map(([name, number]) => [name, count(number)])));
  view.append(make('h2', { text: 'What this rests on' }));
  if (data.warnings.length === 0)
    view.append(make('p', { class: 'fine', text: 'Nothing was lost, no program memory was missing, and the program agrees with the trace.' }));
  for (const text of data.warnings) view.append(make('p', { class: 'warning', text }));
  view.append(make('h2', { text: 'samples' in data.totals ? 'Most samples' : 'Most instructions' }));
  const rows = functions.name.map((_, f) => f).sort((a, b) => value(functions.own[b]) - value(functions.own[a])).slice(0, 15);
  const box = make('table');
  for (const f of rows) {
    box.append(make('tr', {}, make('td', { class: 'number', text: share(value(functions.own[f]), total) }),
      make('td', { class: 'number', style: 'padding:0 1em', text: count(functions.own[f]) }),
      make('td', {}, make('a', { href: '#', text: nameOf(f), onclick: (event) => { event.preventDefault(); openCode(f); } }))));
  }
  view.append(box);
}
