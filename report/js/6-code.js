// SPDX-License-Identifier: MIT
// A function's source lines and instructions, with how often each ran and which way its branches went.

let chosen = -1;

function openCode(f) {
  chosen = f;
  show('code');
}

function countCell(number, most) {
  const cell = make('span', { class: 'count' });
  if (number === undefined || number === null) return cell;
  cell.append(make('i', { style: `width:${most ? (100 * value(number) / most).toFixed(1) : 0}%` }), make('b', { text: count(number) }));
  return cell;
}

const most = (counts) => counts.reduce((m, n) => Math.max(m, value(n)), 0);
const lineKey = (file, line) => file + ':' + line;

/** `chosenLine()` says which line is marked; a click on an instruction chooses its own. */
function instructionPane(code, chosenLine, choose) {
  const all = most(code.map((i) => i.count));
  return lineList('instructions', code, (i) => {
    const key = lineKey(i.file, i.line), bias = make('span');
    if (i.taken !== undefined) {
      const sum = value(i.taken) + value(i.not);
      bias.title = `taken ${count(i.taken)}, not taken ${count(i.not)}`;
      bias.append(make('span', { class: 'bias' }, make('i', { style: `width:${sum ? 100 * value(i.taken) / sum : 0}%` })), ` ${share(value(i.taken), sum)} taken`);
    }
    return make('div', { class: `line${value(i.count) === 0 ? ' never' : ''}${key === chosenLine() ? ' chosen' : ''}`, role: 'listitem', 'data-line': key, 'data-address': i.at, onclick: () => choose(key) },
      countCell(i.count, all), make('span', { class: 'soft', text: i.at }), make('span', { class: 'words', text: i.text }), bias);
  });
}

function sourcePane(file, chosenLine, choose) {
  const source = data.sources[file];
  if (!source) {
    const why = file >= 0 ? `The source ${data.files[file]} is not in this report: it was not found, is no text or too long, or lies outside of the folders that were permitted (--source-dir names them).` : 'This code has no line information.';
    return { element: make('div', { class: 'pane', id: 'source' }, make('p', { class: 'soft', style: 'padding:0 1em', text: why })), reveal() {}, redraw() {} };
  }
  const ran = new Map(source.counts), all = most([...ran.values()]);
  return lineList('source', source.text, (text, i) => {
    const number = source.first + i, n = ran.get(number), key = lineKey(file, number);
    return make('div', { class: `line${n !== undefined && value(n) === 0 ? ' never' : ''}${key === chosenLine() ? ' chosen' : ''}`, role: 'listitem', 'data-line': key, onclick: () => choose(key) },
      countCell(n, all), make('span', { class: 'soft number', text: number }), make('span', { class: 'words', text }));
  });
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
  const file = functions.file[chosen];
  let marked = '';
  const chosenLine = () => marked;
  /** Both sides show the line: of the source, and its first instruction. */
  function choose(key, from) {
    marked = key;
    const [where, line] = key.split(':').map(Number);
    source.redraw();
    instructions.redraw();
    if (where === file && from !== source) source.reveal(line - (data.sources[file]?.first ?? 1));
    if (from === source) instructions.reveal(code.findIndex((i) => lineKey(i.file, i.line) === key), true);
  }
  const source = sourcePane(file, chosenLine, (key) => choose(key, source));
  const instructions = instructionPane(code, chosenLine, (key) => choose(key, instructions));
  view.append(make('div', { class: 'split' }, source.element, instructions.element));
  const first = code.find((i) => i.file === file);
  if (first) source.reveal(first.line - (data.sources[file]?.first ?? 1), true);
}
