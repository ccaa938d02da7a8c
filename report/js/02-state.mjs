// SPDX-License-Identifier: MIT
// What the address of the page says: which view, and what is chosen, searched and zoomed in it.

/** "#timeline?from=10&to=20" to { view: 'timeline', from: '10', to: '20' }; what is odd is left out. */
export function parseState(hash, views) {
  const [view, query = ''] = hash.replace(/^#/, '').split('?');
  const state = { view: views.includes(view) ? view : views[0] };
  for (const [key, text] of new URLSearchParams(query))
    if (/^[a-z]+$/.test(key) && key !== 'view' && text.length <= 500) state[key] = text;
  return state;
}

/** The other way; nothing is written of what is empty. */
export function formatState({ view, ...rest }) {
  const query = new URLSearchParams();
  for (const key of Object.keys(rest).sort())
    if (rest[key] !== undefined && rest[key] !== null && rest[key] !== '') query.set(key, String(rest[key]));
  const text = query.toString();
  return '#' + view + (text ? '?' + text : '');
}
