// SPDX-License-Identifier: MIT
// Source and instructions side by side, with how often each ran and where branches went.
import { commandLine, make } from './10-dom.mjs';
import { baseName, count, plural, share, shortPath, value } from './01-text.mjs';
import { addressOf, data, fileOf, functionNamed, hasSource, nameOf, objectOf, part, sourceOf, total, fileNumber } from './11-data.mjs';
import { go, keep, left, link, view, views } from './21-shell.mjs';
import { lineList } from './20-table.mjs';
import { aroundCommand, windowList } from './30-overview.mjs';

const lineKey = (file, line) => file + ':' + line;

function countCell(number, most) {
  const cell = make('span', { class: 'count' });
  if (number === null) return cell;
  const bar = make('i', { 'aria-hidden': 'true' });
  bar.style.width = (most > 0 ? 100 * value(number) / most : 0) + '%';
  cell.append(bar, make('b', { text: count(number) }));
  return cell;
}

function biasOf(taken, not) {
  const all = value(taken) + value(not);
  const bar = make('span', { class: 'bias', role: 'img', 'aria-label': `taken ${count(taken)}, not taken ${count(not)}`, title: `taken ${count(taken)}, not ${count(not)}` }, make('i', {}));
  bar.firstChild.style.width = (all ? 100 * value(taken) / all : 0) + '%';
  return bar;
}

/** Lines gained and lost against the baseline. */
function marksOf(file) {
  const row = data.coverage?.find((one) => one[0] === file);
  return { gained: new Set(row?.[7] ?? []), lost: new Set(row?.[8] ?? []) };
}

/** A pane with the text of a file. choose(key) is called with the line that is clicked. */
function sourcePane(file, source, chosen, choose) {
  const counts = new Map(source.counts), marks = marksOf(file);
  const most = Math.max(1, ...source.counts.map(([, n]) => value(n)));
  return lineList('source', `Source of ${baseName(data.head.files[file])}`, source.text, (text, i) => {
    const line = source.first + i, key = lineKey(file, line), n = counts.get(line);
    const change = marks.gained.has(line) ? '+' : marks.lost.has(line) ? '−' : '';
    return make('div', {
      class: 'line' + (n === undefined ? '' : value(n) > 0 ? ' ran' : ' never') + (key === chosen() ? ' chosen' : '') + (change === '+' ? ' gained' : change ? ' lost' : ''), role: 'listitem', 'data-line': line, onclick: () => choose(key),
    }, countCell(n === undefined ? null : n, most), make('span', { class: 'soft lineno', text: change + line, title: change === '+' ? 'did not run in the baseline' : change ? 'ran in the baseline' : undefined }), make('span', { class: 'words', text: text || ' ' }));
  });
}

function instructionPane(code, chosen, choose) {
  const most = Math.max(1, ...code.map((one) => value(one.count)));
  return lineList('instructions', 'Instructions', code, (one) => {
    const key = lineKey(one.file, one.line);
    return make('div', { class: 'line' + (value(one.count) ? '' : ' never') + (key === chosen() ? ' chosen' : ''), role: 'listitem', 'data-address': one.at, title: one.file >= 0 && one.line > 0 ? `${data.head.files[one.file]}:${one.line}` : undefined, onclick: () => choose(key) },
      countCell(one.count, most), make('span', { class: 'soft', text: one.at }), make('span', { class: 'words', text: one.text }),
      one.taken !== undefined ? biasOf(one.taken, one.not) : null,
      one.file >= 0 && one.line > 0 ? make('span', { class: 'soft', text: `${baseName(data.head.files[one.file])}:${one.line}` }) : null);
  });
}

/** The lists of a file's lines and of a function's instructions, which choose each other's lines. */
async function panes(f, rows, file, wantedLine) {
  const code = rows?.map(([at, text, n, of, line, taken, not]) => ({ at, text, count: n, file: of, line, taken, not })) ?? [];
  const source = file >= 0 ? await sourceOf(file) : null;
  let marked = wantedLine ? lineKey(file, wantedLine) : '';
  const lists = {};
  const choose = (from) => (key) => {
    marked = key;
    lists.source?.redraw();
    lists.code?.redraw();
    const [of, line] = key.split(':').map(Number);
    if (of === file && line > 0) keep({ line });
    if (from === 'code' && of === file && source) lists.source.reveal(line - source.first);
    if (from === 'source') lists.code?.reveal(code.findIndex((one) => lineKey(one.file, one.line) === key), true);
  };
  if (source) lists.source = sourcePane(file, source, () => marked, choose('source'));
  if (code.length) lists.code = instructionPane(code, () => marked, choose('code'));
  const at = wantedLine || code.find((one) => one.file === file && one.line > 0)?.line || (f >= 0 && data.functions.line[f]);
  return { ...lists, start: () => { if (source && at) lists.source.reveal(at - source.first, true); } };
}

/** Where in the trace one came from: the window of a remarkable event, or the command that shows it. */
async function cameFrom(wanted) {
  if (wanted.at === undefined) return null;
  const capture = Number(wanted.capture || 0);
  const event = data.head.stories[capture]?.events.find((one) => String(one.offset) === wanted.at && (one.buffer || '') === (wanted.buffer || '') && one.lines.length);
  const command = commandLine(aroundCommand(capture, Number(wanted.at), wanted.buffer));
  if (!event) return make('div', { class: 'tools from' }, make('span', { class: 'soft', text: 'What ran there, instruction by instruction:' }), command);
  return make('details', { class: 'from' }, make('summary', { text: `The last ${event.lines.length} instructions before: ${event.title}` }), await windowList(event.lines, 50), command);
}

function whyNoSource(file, path) {
  if (!path) return 'No source line is known of it: its program has no debug information here.';
  return `The text of ${shortPath(path)} is not in this page. \`pugmark report --source-dir DIR\` puts in sources below a folder.`;
}

async function codeView(wanted) {
  const [codes] = await Promise.all([part('code'), part('coverage')]);
  if (left(wanted)) return;
  const code = codes ?? {};
  const byOwn = Object.keys(code).map(Number).sort((a, b) => value(data.functions.own[b]) - value(data.functions.own[a]));
  let f = wanted.name !== undefined ? functionNamed(wanted.name, wanted.object) : wanted.file !== undefined ? -1 : byOwn[0] ?? -1;
  const wantedFile = wanted.file !== undefined ? fileNumber(wanted.file) : -1;
  if (wantedFile >= 0) {
    const near = byOwn.filter((one) => code[one].some((row) => row[3] === wantedFile && row[4] === Number(wanted.line)));
    f = near[0] ?? -1;
  }
  const file = wantedFile >= 0 ? wantedFile : f >= 0 ? data.functions.file[f] : -1;
  const path = wanted.file ?? fileOf(f);
  view().classList.add('full');
  const names = byOwn.slice(0, 2000);
  if (f >= 0 && !names.includes(f)) names.unshift(f);
  const list = make('select', { id: 'function', 'aria-label': 'Function', onchange: (event) => { const chosen = Number(event.target.value); if (chosen >= 0) go('code', addressOf(chosen)); } },
    f < 0 ? make('option', { value: -1, text: wanted.name ?? (path ? baseName(path) : 'No function'), selected: true }) : null,
    ...names.map((one) => make('option', { value: one, text: `${nameOf(one)}  (${share(value(data.functions.own[one]), total())})`, selected: one === f })));
  const facts = f >= 0 ? `${baseName(objectOf(f)) || 'no object'} · own ${count(data.functions.own[f])} · inclusive ${count(data.functions.total[f])} · ${plural(data.functions.calls[f], 'call')}` : '';
  const [from, lists] = await Promise.all([cameFrom(wanted), panes(f, code[f], hasSource(file) ? file : -1, Number(wanted.line) || 0)]);
  if (left(wanted)) return;
  const side = lists.source ? wanted.side || 'both' : 'code';
  const sides = make('div', { class: 'sides', role: 'group', 'aria-label': 'Sides' }, ...[['source', 'Source'], ['code', 'Instructions'], ['both', 'Both']].map(([name, text]) => make('button', {
    type: 'button', class: 'small', 'data-side': name, 'aria-pressed': name === side, text,
    onclick: (event) => {
      keep({ side: name });
      split.dataset.side = name;
      for (const button of event.target.parentNode.children) button.setAttribute('aria-pressed', button.dataset.side === name);
    },
  })));
  const split = make('div', { class: 'split', 'data-side': side }, lists.source?.element, lists.code?.element);
  view().append(make('div', { class: 'tools' }, list, f >= 0 ? link('In the flame graph', 'flame', { find: nameOf(f) }) : null, make('span', { class: 'soft', text: facts }),
    lists.source && lists.code ? sides : null));
  if (from) view().append(from);
  if (!lists.code) view().append(make('p', { class: 'soft pad', text: f < 0 && wanted.name === undefined && wanted.file === undefined ? 'No code was counted.' : 'Its instructions are not in this page, which has those of the functions that ran most.' }));
  if (!lists.source) view().append(make('p', { class: 'soft pad', text: whyNoSource(file, path) }));
  if (lists.source || lists.code) view().append(split);
  if (!lists.source || !lists.code) split.classList.add('one');
  lists.start();
}

views.code = { title: 'Code', show: codeView };

/** A pane with a file alone, for the coverage. */
export { sourcePane };
