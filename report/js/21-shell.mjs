// SPDX-License-Identifier: MIT
// Where views stand, and how one goes to another: through the address of the page, so that Back works.
import { byId, hideTip, make } from './10-dom.mjs';
import { data } from './11-data.mjs';
import { formatState, parseState } from './02-state.mjs';

/** Views by name: { title, show(state) }, in their order. Each file of a view adds its own. */
export const views = {};
export let state = {};
let shownView = null;

export const view = () => byId('view');

/** Go to a view. What is not said anew of it is forgotten. */
export function go(name, rest = {}) {
  const next = { view: name, ...rest };
  if (formatState(next) !== location.hash) history.pushState(null, '', formatState(next));
  enter(next);
}

/** Keep what a view is zoomed to, without a step for Back. */
export function keep(rest) {
  state = { ...state, ...rest };
  for (const key of Object.keys(state)) if (state[key] === '' || state[key] === null || state[key] === undefined) delete state[key];
  history.replaceState(null, '', formatState(state));
}

function enter(next) {
  state = next;
  hideTip();
  const pane = view();
  const changed = shownView !== next.view;
  shownView = next.view;
  pane.className = '';
  pane.replaceChildren();
  for (const tab of byId('tabs').children) {
    const chosen = tab.dataset.view === next.view;
    tab.setAttribute('aria-selected', chosen);
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) tab.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
  }
  pane.setAttribute('aria-labelledby', 'tab-' + next.view);
  document.body.dataset.view = next.view;
  if (changed) pane.scrollTop = 0;
  pane.append(...trustOf(next.view));
  const shown = state;
  Promise.resolve(views[next.view].show(next)).then(() => { if (state === shown || state.view === shown.view) document.body.dataset.ready = next.view; },
    (error) => { pane.append(make('p', { class: 'notice wrong', text: `This view cannot be shown: ${error.message}` })); throw error; });
}

export function enterAddress() {
  enter(parseState(location.hash, Object.keys(views)));
}

/** Has another view been opened meanwhile? */
export const left = (wanted) => state.view !== wanted.view;

/* ---- trust ---- */

const CONCERNS = {
  wrong: ['flame', 'functions', 'code', 'timeline', 'coverage', 'times'],
  lost: ['flame', 'functions', 'code', 'timeline', 'coverage', 'times'],
  counts: ['flame', 'functions', 'coverage'],
  times: ['timeline', 'times'],
  checked: [],
};
export const TRUST_NAMES = { wrong: 'Wrong', lost: 'Incomplete', counts: 'Counts', times: 'Times', checked: 'Checked' };
const MARKS = { wrong: '✕', lost: '!', counts: '!', times: '≈', checked: '✓' };

export function trustItem(point) {
  const named = point.input && (data.head.inputs.length > 1 || data.head.baseline);
  return make('li', { class: 'trust ' + point.about },
    make('span', { class: 'mark', 'aria-hidden': 'true', text: MARKS[point.about] }),
    make('span', {}, make('b', { text: TRUST_NAMES[point.about] + ': ' }), named ? point.input + ': ' + point.text : point.text));
}

/** What a view rests on, above what it concerns: in a line that opens. */
function trustOf(name) {
  const points = data.head.trust.filter((point) => CONCERNS[point.about].includes(name));
  if (name === 'overview' || points.length === 0) return [];
  const worst = points.some((point) => point.about === 'wrong') ? 'wrong' : points[0].about;
  const list = make('ul', { class: 'trusts' }, ...points.map(trustItem));
  const first = points.find((point) => point.about === worst && !/^(error|warning): /.test(point.text)) ?? points.find((point) => point.about === worst);
  if (points.length === 1) return [make('ul', { class: 'trusts strip' }, trustItem(first))];
  return [make('details', { class: 'strip ' + worst }, make('summary', {},
    make('span', { class: 'mark', 'aria-hidden': 'true', text: MARKS[worst] }),
    make('span', { class: 'cut', text: first.text }), make('span', { class: 'soft', text: ` and ${points.length - 1} more` })), list)];
}

/** Words of a sentence, of which some lead to the code. */
export function linked(words) {
  return words.map(({ text, function: name, file, line }) => {
    if (name !== undefined) return link(text, 'code', { name });
    if (file !== undefined) return link(text, 'code', { file, line });
    return document.createTextNode(text);
  });
}

/** A link to a view. */
export function link(text, name, rest = {}, options = {}) {
  return make('a', {
    href: formatState({ view: name, ...rest }), text, ...options,
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      go(name, rest);
    },
  });
}
