// SPDX-License-Identifier: MIT
// A function's source lines and instructions, with how often each ran and which way its branches went.

let chosen = -1;

function openCode(f) {
  chosen = f;
  show('code');
}

function countCell(number, most) {
  const cell = make('td', { class: 'count' });
  if (number === undefined || number === null) return cell;
  cell.append(make('i', { style: `width:${most ? (100 * value(number) / most).toFixed(1) : 0}%` }), make('b', { text: count(number) }));
  return cell;
}

function instructionPane(code, chooseLine) {
  const body = make('table', { class: 'code' });
  const most = code.reduce((m, i) => Math.max(m, value(i.count)), 0);
  for (const i of code) {
    const row = make('tr', { 'data-line': i.file + ':' + i.line, 'data-address': i.at, class: value(i.count) === 0 && 'never', onclick: () => chooseLine(i.file, i.line) },
      countCell(i.count, most), make('td', { class: 'soft', text: i.at }), make('td', { text: i.text }));
    const bias = make('td');
    if (i.taken !== undefined) {
      const all = value(i.taken) + value(i.not);
      bias.title = `taken ${count(i.taken)}, not taken ${count(i.not)}`;
      bias.append(make('span', { class: 'bias' }, make('i', { style: `width:${all ? 100 * value(i.taken) / all : 0}%` })), ` ${share(value(i.taken), all)} taken`);
    }
    row.insertBefore(bias, row.lastChild.nextSibling);
    body.append(row);
  }
  return make('div', { class: 'pane', id: 'instructions', tabindex: 0 }, body);
}

function sourcePane(file, code) {
  const source = data.sources[file];
  const pane = make('div', { class: 'pane', id: 'source', tabindex: 0 });
  if (!source) {
    pane.append(make('p', { class: 'soft', style: 'padding:0 1em', text: file >= 0 ? `The source ${data.files[file]} was not found.` : 'This code has no line information.' }));
    return pane;
  }
  const lines = new Map(source.counts);
  const most = [...lines.values()].reduce((m, n) => Math.max(m, value(n)), 0);
  const body = make('table', { class: 'code' });
  source.text.forEach((text, i) => {
    const number = source.first + i, ran = lines.get(number);
    body.append(make('tr', { 'data-line': file + ':' + number, class: ran !== undefined && value(ran) === 0 && 'never' },
      countCell(ran, most), make('td', { class: 'soft number', text: number }), make('td', { text })));
  });
  pane.append(body);
  const first = code.find((i) => i.file === file);
  if (first) queueMicrotask(() => pane.querySelector(`[data-line="${file}:${first.line}"]`)?.scrollIntoView({ block: 'center' }));
  return pane;
}

function codeView() {
  view.classList.add('full');
  const names = make('datalist', { id: 'names' });
  const withCode = Object.keys(data.code).map(Number);
  if (chosen < 0 && withCode.length) chosen = withCode.reduce((a, b) => (value(functions.own[b]) > value(functions.own[a]) ? b : a));
  const list = make('select', { id: 'function', 'aria-label': 'Function', onchange: (event) => openCode(Number(event.target.value)) });
  for (const f of withCode.sort((a, b) => value(functions.own[b]) - value(functions.own[a])).slice(0, 2000))
    list.append(make('option', { value: f, text: `${nameOf(f)}  (${share(value(functions.own[f]), total)})`, selected: f === chosen }));
  if (chosen >= 0 && !withCode.includes(chosen)) list.prepend(make('option', { value: chosen, text: nameOf(chosen), selected: true }));
  const rows = data.code[chosen];
  view.append(make('div', { class: 'bar' }, list, names,
    make('span', { class: 'soft', text: chosen >= 0 ? `${objectOf(chosen)} · own ${count(functions.own[chosen])} · inclusive ${count(functions.total[chosen])} · calls ${count(functions.calls[chosen])}` : '' })));
  if (!rows) {
    view.append(make('p', { class: 'soft', text: chosen < 0 ? 'No code was counted.' : 'The instructions of this function are not in this report; it has those of the functions that ran most.' }));
    return;
  }
  const code = rows.map(([at, text, n, file, line, taken, not]) => ({ at, text, count: n, file, line, taken, not }));
  const choose = (file, line) => {
    for (const row of view.querySelectorAll('tr.chosen')) row.classList.remove('chosen');
    for (const row of view.querySelectorAll(`tr[data-line="${file}:${line}"]`)) row.classList.add('chosen');
    view.querySelector(`#source tr[data-line="${file}:${line}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  const file = functions.file[chosen];
  const source = sourcePane(file, code);
  source.addEventListener('click', (event) => {
    const line = event.target.closest('tr')?.dataset.line;
    if (!line) return;
    choose(...line.split(':'));
    view.querySelector(`#instructions tr[data-line="${line}"]`)?.scrollIntoView({ block: 'center' });
  });
  view.append(make('div', { class: 'split' }, source, instructionPane(code, choose)));
}
