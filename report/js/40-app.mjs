// SPDX-License-Identifier: MIT
// The tabs, the keys, the theme, print.
import { byId, hideTip, make } from './10-dom.mjs';
import { data, loadFirst, part } from './11-data.mjs';
import { enterAddress, go, views } from './21-shell.mjs';
import { printFlame } from './31-flame.mjs';

const ORDER = ['overview', 'flame', 'functions', 'code', 'timeline', 'coverage', 'times'];

/** Views in the order of their tabs, which is not that of their files. */
function sortViews() {
  const all = { ...views };
  for (const name of Object.keys(views)) delete views[name];
  for (const name of ORDER) views[name] = all[name];
}

function makeTabs() {
  const tabs = byId('tabs');
  ORDER.forEach((name, i) => tabs.append(make('button', {
    type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'view', 'data-view': name, 'data-title': views[name].title, text: views[name].title, title: `${views[name].title} (${i + 1})`, tabindex: -1, onclick: () => go(name),
  })));
  tabs.addEventListener('keydown', (event) => {
    const list = [...tabs.children], at = list.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: list.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    const next = list[(to + list.length) % list.length];
    next.click();
    next.focus();
    event.preventDefault();
    event.stopPropagation();
  });
}

function setTheme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  byId('theme').setAttribute('aria-pressed', dark);
  document.dispatchEvent(new Event('theme'));
}

const KEYS = [['1 … 7', 'views'], ['/', 'search'], ['Tab', 'to the next part of a view'], ['↑ ↓ Page Home End', 'move in tables'], ['← →', 'in tables: sort by another column'], ['Enter', 'open'], ['arrows, space', 'in the flame graph: move, zoom'], ['+ − ← → Home', 'in the timeline: zoom, move, whole'], ['Shift and arrows', 'in the timeline: choose a slice'], ['n p', 'in the timeline: next and previous event'], ['s', 'in the timeline: what ran in what is shown'], ['Esc', 'out of a zoom, of the search'], ['d', 'light or dark'], ['?', 'this']];

function makeHelp() {
  const help = byId('help'), list = make('dl', { class: 'facts' });
  for (const [key, text] of KEYS) list.append(make('dt', {}, make('kbd', { text: key })), make('dd', { text }));
  help.append(make('h2', { id: 'help-title', text: 'Keys' }), list, make('button', { type: 'button', text: 'Close', onclick: () => help.close() }));
  byId('help-button').addEventListener('click', () => help.showModal());
}

function onKey(event) {
  const writing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== 'checkbox';
  if (event.ctrlKey || event.metaKey || event.altKey || byId('help').open) return;
  if (writing) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  const number = Number(event.key);
  if (number >= 1 && number <= ORDER.length) go(ORDER[number - 1]);
  else if (event.key === '/') {
    byId('search')?.focus();
    event.preventDefault();
  } else if (event.key === 'd') setTheme(!document.documentElement.classList.contains('dark'));
  else if (event.key === '?') byId('help').showModal();
  else if (event.key === 'Escape') hideTip();
}

async function start() {
  document.documentElement.classList.add('js');
  byId('app').hidden = false;
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => setTheme(event.matches));
  await loadFirst();
  document.title = `${data.head.title} – Pugmark`;
  byId('title').textContent = data.head.title;
  byId('title').title = data.head.inputs.join(' ') || data.head.title;
  sortViews();
  makeTabs();
  makeHelp();
  byId('theme').addEventListener('click', () => setTheme(!document.documentElement.classList.contains('dark')));
  document.addEventListener('keydown', onKey);
  addEventListener('popstate', enterAddress);
  addEventListener('beforeprint', () => printFlame(byId('printed-flame')));
  enterAddress();
  // The flame graph of print is there before anybody prints: beforeprint cannot wait for it.
  setTimeout(() => part('flame').then(() => { printFlame(byId('printed-flame')); document.body.dataset.print = 'ready'; }), 50);
}

start();
