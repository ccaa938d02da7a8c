// SPDX-License-Identifier: MIT
// The answer first: how it ended, what that rests on, the last instructions, where it ran.
import { commandLine, make } from './10-dom.mjs';
import { baseName, count, plural, quoted, share, shortPath, value } from './01-text.mjs';
import { addressOf, data, functionNamed, hasSource, nameOf, objectOf, part, sampled, sourceOf, total, fileNumber, noCoverage } from './11-data.mjs';
import { left, link, linked, trustItem, view, views } from './21-shell.mjs';

const TRUST_SHOWN = 4; // sentences that are not folded
const LAST = 20; // instructions before a fault that the first screen shows

function card(title, className, ...children) {
  return make('section', { class: 'card ' + className }, title && make('h2', { text: title }), ...children);
}

/** The story of the capture that is most remarkable. */
function chief() {
  const stories = data.head.stories;
  return stories.find((story) => story.kind === 'fault') ?? stories.find((story) => story.ended.length) ?? null;
}

function headlineCard(story) {
  const words = story?.ended.length ? linked(story.ended) : [];
  const losses = data.head.stories.reduce((sum, { events }) => sum + events.filter((event) => event.kind === 'loss').length, 0);
  const lines = [];
  if (!words.length)
    words.push(document.createTextNode(total() > 0 ? sampled() ? `${plural(data.head.totals.samples, 'PC sample')} in ${plural(data.head.totals.functions, 'function')}.` : `${plural(data.head.totals.instructions, 'instruction')} of ${plural(data.head.totals.functions, 'function')} ran.` : 'No instructions were traced.'));
  const doubt = data.head.trust.find((point) => point.about === 'wrong' && point.text.includes('does not match'));
  if (doubt) lines.push(make('p', { class: 'doubt', text: `This is doubtful: ${doubt.text}` }));
  for (const { beginning } of data.head.stories) if (beginning) lines.push(make('p', { text: beginning }));
  if (losses) lines.push(make('p', {}, `Trace was lost ${losses >= 100 ? 'at least ' : ''}${plural(losses, 'time')}. `, link('Show them in the timeline', 'timeline'), '.'));
  return make('section', { class: 'hero ' + (story?.kind === 'fault' ? 'fault' : '') },
    make('p', { class: 'eyebrow', text: data.head.what }),
    make('h2', { class: 'headline', id: 'headline' }, ...words), ...lines);
}

function trustCard() {
  const { trust } = data.head;
  const order = ['wrong', 'lost', 'counts', 'times', 'checked'];
  const single = (point) => /^(error|warning): /.test(point.text); // what is concluded comes before single messages
  const sorted = [...trust].sort((a, b) => order.indexOf(a.about) - order.indexOf(b.about) || single(a) - single(b));
  const points = trust.length ? sorted.map(trustItem)
    : [make('li', { class: 'trust none' }, make('span', { class: 'mark', 'aria-hidden': 'true', text: '–' }), make('span', { text: 'Nothing was checked, and nothing is known to be wrong.' }))];
  const { left_out } = data.head;
  const shown = points.length > TRUST_SHOWN + 1 ? TRUST_SHOWN : points.length;
  return card('What this rests on', 'rests', make('ul', { class: 'trusts' }, ...points.slice(0, shown)),
    shown < points.length ? make('details', { class: 'rest' }, make('summary', { text: `and ${points.length - shown} more` }), make('ul', { class: 'trusts' }, ...points.slice(shown))) : null,
    left_out.length ? make('details', {}, make('summary', { text: `Not in this page, for its size: ${left_out[0]}${left_out.length > 1 ? ` and ${left_out.length - 1} more` : ''}` }),
      make('ul', {}, ...left_out.map((text) => make('li', { text }))), make('p', { class: 'soft', text: '`pugmark report --detail N` has N times as much room.' })) : null);
}

/** The text of the line that an instruction comes from, where it is in the page. */
async function texts(lines) {
  const found = new Map();
  for (const path of new Set(lines.map((line) => line[5]))) {
    const file = fileNumber(path);
    const source = file >= 0 && hasSource(file) ? await sourceOf(file) : null;
    if (source) found.set(path, source);
  }
  return (path, line) => found.get(path)?.text[line - found.get(path).first] ?? '';
}

/** Instructions as a list: the source line where it changes, then the instruction. */
export async function windowList(lines, most) {
  const shown = lines.slice(-most), text = await texts(shown);
  const list = make('div', { class: 'window code', role: 'list', 'aria-label': 'Instructions' });
  let before = '', within = '';
  for (const [address, words, outcome, name, offset, path, line] of shown) {
    const place = name + '\n' + path + ':' + line;
    const where = make('span', { class: 'place' });
    if (name !== within) where.append(name ? link(name, 'code', functionNamed(name) >= 0 ? { name } : { file: path, line }) : '', ' ');
    if (path && place !== before) where.append(make('span', { class: 'soft', text: `${baseName(path)}:${line} ` }), make('span', { class: 'source', text: text(path, line).trim() }));
    if (path) before = place;
    within = name;
    list.append(make('div', { class: 'step', role: 'listitem', title: name ? `${name}+0x${offset.toString(16)}` : undefined },
      make('span', { class: 'soft address', text: address }), make('span', { class: 'words', text: words }), make('span', { class: 'soft', text: outcome }), where));
  }
  return list;
}

/** The command that shows more of what is around an offset. */
export function aroundCommand(capture, offset, buffer) {
  const input = data.head.stories[capture]?.input ?? data.head.inputs[capture] ?? data.head.inputs[0];
  return `pugmark trace --around ${offset} ${buffer ? `--buffer ${quoted(buffer)} ` : ''}${quoted(input)}`;
}

async function lastCard(story) {
  const fault = story?.kind === 'fault' ? [...story.events].reverse().find((event) => event.kind === 'fault') : null;
  const event = fault ?? story?.events.find((one) => one.kind === 'end');
  if (!event || !event.lines.length) return null;
  const list = await windowList(event.lines, LAST);
  const after = fault ? make('div', { class: 'verdict', role: 'listitem' }, make('b', { text: event.title }), ' at ', ...linked(event.place)) : null;
  if (after) list.append(after);
  return card(fault ? `The last ${Math.min(LAST, event.lines.length)} instructions before the ${event.title}` : `The last ${Math.min(LAST, event.lines.length)} instructions`, 'last',
    list, make('p', { class: 'soft' }, 'All around it: ', commandLine(aroundCommand(data.head.stories.indexOf(story), event.offset, event.buffer))));
}

function bars(rows, label) {
  const most = Math.max(1, ...rows.map((row) => row.weight));
  return make('ol', { class: 'bars', 'aria-label': label }, ...rows.map((row) => {
    const item = make('li', {}, row.link, make('span', { class: 'number soft', text: row.text }));
    item.style.setProperty('--bar', row.weight / most);
    return item;
  }));
}

function functionsCard() {
  const { own } = data.functions;
  const most = own.map((_, i) => i).filter((f) => value(own[f]) > 0).sort((a, b) => value(own[b]) - value(own[a])).slice(0, 10);
  if (!most.length) return null;
  const objects = new Set(data.functions.object).size > 1;
  return card(sampled() ? 'Most samples' : 'Most instructions', 'hot', bars(most.map((f) => ({
    weight: value(own[f]), text: share(value(own[f]), total()),
    link: link(nameOf(f) + (objects && objectOf(f) ? ` · ${baseName(objectOf(f))}` : ''), 'code', addressOf(f), { title: `${nameOf(f)}: ${count(own[f])} ${sampled() ? 'samples' : 'instructions'}` }),
  })), 'Functions that ran most'), make('p', {}, link(`All ${plural(data.functions.name.length, 'function')}`, 'functions')));
}

async function coverageCard() {
  const files = (await part('coverage')) ?? [];
  if (!files.length) return card('Coverage', 'covered', make('p', { class: 'soft', text: noCoverage() }));
  const sum = (i) => files.reduce((all, row) => all + row[i], 0);
  const meter = (name, hit, all) => {
    const item = make('li', {}, make('span', { text: name }), make('span', { class: 'meter', 'aria-hidden': 'true' }, make('i', {})), make('span', { class: 'number soft', text: `${count(hit)} of ${count(all)} · ${share(hit, all)}` }));
    item.style.setProperty('--bar', all ? hit / all : 0);
    return item;
  };
  return card('Coverage', 'covered', make('ul', { class: 'meters' }, meter('Lines', sum(2), sum(1)), meter('Branch outcomes', sum(4), sum(3)), meter('Functions', sum(6), sum(5))),
    make('p', {}, link(plural(files.length, 'file'), 'coverage')));
}

function eventsCard() {
  const rows = [];
  data.head.stories.forEach((story, capture) => story.events.forEach((event, i) => {
    if (event.kind !== 'end' && rows.length < 12) rows.push(make('li', {}, link(event.title, 'timeline', { capture, event: i }), event.place.length ? ' in ' : '', ...linked(event.place)));
  }));
  const all = data.head.stories.reduce((sum, story) => sum + story.happened, 0);
  return rows.length > 1 ? card('Remarkable', 'events', make('ul', { class: 'plainlist' }, ...rows), all > rows.length ? make('p', { class: 'soft', text: `and ${count(all - rows.length)} more` }) : null) : null;
}

function factsCard() {
  const list = make('dl', { class: 'facts' });
  const add = (name, text) => list.append(make('dt', { text: name }), make('dd', { text }));
  for (const [name, text] of data.head.facts) add(name, name === 'Input' ? shortPath(text) : text);
  for (const [name, number] of Object.entries(data.head.totals)) add(name, count(number));
  add('Made by', data.head.made);
  return card('What was traced', 'traced', list);
}

function changesCard() {
  if (!data.head.baseline) return null;
  return card('Against the baseline', 'changes', make('p', {}, `Compared with ${data.head.baseline}: `, link('functions', 'functions'), ', ', link('flame graph', 'flame'), ' and ', link('coverage', 'coverage'), ' show what is different.'));
}

async function overview(wanted) {
  const story = chief();
  const [last, covered] = await Promise.all([lastCard(story), coverageCard()]);
  if (left(wanted)) return;
  const main = make('div', { class: 'column wide' }, headlineCard(story), trustCard(), last);
  const side = make('div', { class: 'column' }, functionsCard(), changesCard(), eventsCard(), covered, factsCard());
  view().append(make('div', { class: 'overview' }, main, side));
}

views.overview = { title: 'Overview', show: overview };
