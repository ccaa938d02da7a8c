// SPDX-License-Identifier: MIT
// Lists of any length, of which only what is in sight is in the page.
import { make } from './10-dom.mjs';
import { value } from './01-text.mjs';

const TABLE_ROW = 26, TABLE_HEAD = 32;
let tables = 0;

/**
 * A table: columns are { title, text(row), key(row), number, width, least, bar }. Sorted by a column at a click on its
 * head; arrow keys move, Enter opens. Columns whose `least` is more than the table is wide are left out.
 */
export function table(rows, columns, { sort = 0, open = () => {}, label, empty = 'Nothing is found.' }) {
  const id = 'table' + ++tables;
  let order = [], by = sort, down = !!columns[sort].number, current = -1, filter = null, shown = columns;
  const head = make('div', { class: 'head', role: 'row' });
  const body = make('div', { class: 'body', role: 'rowgroup' });
  const nothing = make('p', { class: 'soft pad', text: empty, hidden: true });
  const grid = make('div', { class: 'grid', tabindex: 0, role: 'grid', 'aria-label': label }, make('div', { role: 'rowgroup', class: 'heads' }, head), body);
  const element = make('div', { class: 'table' }, grid, nothing);

  const heads = columns.map((column, i) => make('div', { role: 'columnheader', class: column.number && 'number' }, make('button', {
    type: 'button', tabindex: -1, text: column.title, 'data-column': column.title,
    onclick: () => { down = by === i ? !down : !!column.number; by = i; arrange(); },
  })));

  function choose() {
    const width = grid.clientWidth || 1000;
    shown = columns.filter((column) => !column.least || width >= column.least);
    head.replaceChildren(...shown.map((column) => heads[columns.indexOf(column)]));
    const shape = shown.map((column) => column.width || 'minmax(9em, 1fr)').join(' ');
    grid.style.setProperty('--shape', shape);
  }

  function arrange() {
    const { key, number } = columns[by];
    const keys = new Map();
    order = filter ? rows.filter(filter) : rows.slice();
    for (const row of order) keys.set(row, number ? value(key(row)) : String(key(row)));
    order.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    heads.forEach((cell, i) => {
      cell.setAttribute('aria-sort', i === by ? (down ? 'descending' : 'ascending') : 'none');
      cell.dataset.sorted = i === by ? (down ? '▾' : '▴') : '';
    });
    current = -1;
    body.style.height = order.length * TABLE_ROW + 'px';
    nothing.hidden = order.length > 0;
    grid.setAttribute('aria-rowcount', order.length + 1);
    draw();
  }

  function cell(column, row) {
    const text = column.text(row);
    const span = make('span', { role: 'gridcell', text, class: column.number ? 'number' : column.mono && 'mono', title: column.number ? undefined : text });
    if (column.bar) span.style.setProperty('--bar', Math.max(0, Math.min(1, column.bar(row))));
    if (column.bar) span.classList.add('bar');
    if (column.tone) span.classList.add(column.tone(row) || 'even');
    return span;
  }

  function draw() {
    const first = Math.max(0, Math.floor((grid.scrollTop - TABLE_HEAD) / TABLE_ROW) - 4);
    const last = Math.min(order.length, first + Math.ceil((grid.clientHeight || 600) / TABLE_ROW) + 8);
    const lines = [];
    for (let i = first; i < last; i++) {
      const line = make('div', { class: 'row' + (i === current ? ' current' : ''), role: 'row', id: `${id}-${i}`, 'data-row': i, 'aria-rowindex': i + 2, 'aria-selected': i === current ? 'true' : undefined });
      line.style.top = i * TABLE_ROW + 'px';
      line.append(...shown.map((column) => cell(column, order[i])));
      lines.push(line);
    }
    body.replaceChildren(...lines);
    if (current >= first && current < last) grid.setAttribute('aria-activedescendant', `${id}-${current}`);
    else grid.removeAttribute('aria-activedescendant');
  }

  body.addEventListener('click', (event) => {
    const row = event.target.closest('.row');
    if (row && !String(getSelection())) open(order[current = Number(row.dataset.row)]);
  });
  grid.addEventListener('scroll', draw);
  grid.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(grid.clientHeight / TABLE_ROW) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[event.key];
    if (step) {
      current = Math.min(order.length - 1, Math.max(0, current + step));
      const top = current * TABLE_ROW;
      if (top < grid.scrollTop) grid.scrollTop = top;
      if (top + TABLE_ROW + TABLE_HEAD > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + TABLE_ROW + TABLE_HEAD - grid.clientHeight;
      event.preventDefault();
      draw();
    } else if (event.key === 'Enter' && current >= 0 && event.target === grid) {
      open(order[current]);
    } else if ((event.key === 'ArrowLeft' || event.key === 'ArrowRight') && event.target === grid) {
      const at = shown.indexOf(columns[by]), to = at + (event.key === 'ArrowLeft' ? -1 : 1);
      if (shown[to]) { by = columns.indexOf(shown[to]); down = !!shown[to].number; arrange(); }
      event.preventDefault();
    }
  });
  new ResizeObserver(() => { choose(); draw(); }).observe(grid);
  choose();
  arrange();
  return { element, filter(test) { filter = test; grid.scrollTop = 0; arrange(); return order.length; } };
}

/**
 * Lines of any number in a pane; cells(line, i) makes one of them. reveal(i) scrolls to it; redraw() makes all anew.
 */
export function lineList(id, label, lines, cells) {
  const height = 20;
  const body = make('div', { class: 'lines code', role: 'list', 'aria-label': label, style: `height:${lines.length * height}px` });
  const pane = make('div', { class: 'pane', id, tabindex: 0, role: 'region', 'aria-label': label }, body);
  let widest = 0;
  function redraw() {
    const first = Math.max(0, Math.floor(pane.scrollTop / height) - 20);
    const last = Math.min(lines.length, first + Math.ceil((pane.clientHeight || 600) / height) + 40);
    const shown = [];
    for (let i = first; i < last; i++) {
      const line = cells(lines[i], i);
      line.style.top = i * height + 'px';
      shown.push(line);
    }
    body.replaceChildren(...shown);
    for (const line of shown) widest = Math.max(widest, line.scrollWidth);
    body.style.minWidth = widest + 'px';
  }
  pane.addEventListener('scroll', redraw);
  new ResizeObserver(redraw).observe(pane);
  return {
    element: pane, redraw,
    reveal(i, middle) {
      const top = i * height;
      if (i < 0 || (!middle && top >= pane.scrollTop && top + height <= pane.scrollTop + pane.clientHeight)) return;
      pane.scrollTop = Math.max(0, top - pane.clientHeight / 2);
      redraw();
    },
  };
}

/** The box that filters a view by words; `/` puts the cursor there. */
export function searchBox(what, text, apply) {
  const box = make('input', { type: 'search', id: 'search', placeholder: `Search ${what}`, 'aria-label': `Search ${what}`, 'aria-keyshortcuts': '/', oninput: (event) => apply(event.target.value) });
  box.value = text || '';
  return box;
}
