// SPDX-License-Identifier: MIT
// The tabs, the keys, the theme.

const views = {
  overview: ['Overview', overview], flame: ['Flame graph', flameGraph], functions: ['Functions', functionTable],
  code: ['Code', codeView], timeline: ['Timeline', timelineView], coverage: ['Coverage', coverageView],
};

function show(name) {
  hideTip();
  view.className = '';
  view.replaceChildren();
  for (const tab of document.getElementById('tabs').children) tab.setAttribute('aria-selected', tab.dataset.view === name);
  document.body.dataset.view = name;
  views[name][1]();
}

const tabs = document.getElementById('tabs');
Object.entries(views).forEach(([name, [title]], i) => {
  tabs.append(make('button', { type: 'button', role: 'tab', 'data-view': name, text: title, title: `${title} (${i + 1})`, onclick: () => show(name) }));
});

function setTheme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  if (document.body.dataset.view === 'timeline') show('timeline');
}
setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
document.getElementById('theme').addEventListener('click', () => setTheme(!document.documentElement.classList.contains('dark')));

const help = document.getElementById('help');
const keys = [['1 … 6', 'views'], ['/', 'search'], ['↑ ↓ Page Home End', 'move in tables'], ['Enter', 'open'], ['Esc', 'out of a zoom, of the search'], ['+ − ← →', 'zoom and move in the timeline'], ['d', 'light or dark'], ['?', 'this']];
const keyList = make('dl', { class: 'facts' });
for (const [key, text] of keys) keyList.append(make('dt', {}, make('kbd', { text: key })), make('dd', { text }));
help.append(make('h2', { text: 'Keys' }), keyList, make('button', { type: 'button', text: 'Close', onclick: () => help.close() }));
document.getElementById('help-button').addEventListener('click', () => help.showModal());

document.addEventListener('keydown', (event) => {
  const writing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (writing) { if (event.key === 'Escape') event.target.blur(); return; }
  const number = Number(event.key);
  if (number >= 1 && number <= Object.keys(views).length) show(Object.keys(views)[number - 1]);
  else if (event.key === '/') { document.getElementById('search')?.focus(); event.preventDefault(); }
  else if (event.key === 'd') setTheme(!document.documentElement.classList.contains('dark'));
  else if (event.key === '?') help.showModal();
});

document.title = data.title + ' – Pugmark';
document.getElementById('title').textContent = data.title;
document.getElementById('title').title = data.made;
show('overview');
