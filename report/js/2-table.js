// SPDX-License-Identifier: MIT
// A table of any length: only the rows in sight are in the page.

/**
 * columns: {title, width, text(row), key(row), number}. Sorted by a column at a click; arrow keys move, Enter opens.
 */
function table(rows, columns, { sort = 0, open = () => {}, label }) {
  const height = 22, headHeight = 28;
  let order = rows.slice(), by = sort, down = true, current = -1, filter = null;
  const shape = columns.map((c) => c.width || 'minmax(8em, 1fr)').join(' ');
  const head = make('div', { class: 'head', role: 'row' });
  const body = make('div', { style: 'position:relative' });
  const grid = make('div', { class: 'grid', tabindex: 0, role: 'grid', 'aria-label': label }, head, body);

  columns.forEach((column, i) => {
    head.append(make('button', {
      type: 'button', class: column.number && 'number', 'data-column': column.title,
      onclick: () => { down = by === i ? !down : !!column.number; by = i; arrange(); },
    }));
  });
  head.style.gridTemplateColumns = shape;

  function arrange() {
    const { key, number } = columns[by];
    order = filter ? rows.filter(filter) : rows.slice();
    const keys = new Map(order.map((row) => [row, number ? value(key(row)) : String(key(row))]));
    order.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    [...head.children].forEach((button, i) => { button.textContent = columns[i].title + (i === by ? (down ? ' ▾' : ' ▴') : ''); });
    current = -1;
    body.style.height = order.length * height + 'px';
    grid.setAttribute('aria-rowcount', order.length);
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor((grid.scrollTop - headHeight) / height) - 4);
    const last = Math.min(order.length, first + Math.ceil((grid.clientHeight || 600) / height) + 8);
    const shown = [];
    for (let i = first; i < last; i++) {
      const row = make('div', { class: 'row' + (i === current ? ' current' : ''), role: 'row', 'data-row': i });
      row.style.top = i * height + 'px';
      row.style.gridTemplateColumns = shape;
      for (const column of columns)
        row.append(make('span', { text: column.text(order[i]), class: column.number && 'number', title: column.number ? undefined : column.text(order[i]) }));
      shown.push(row);
    }
    body.replaceChildren(...shown);
  }

  body.addEventListener('click', (event) => {
    const row = event.target.closest('.row');
    if (row) { current = Number(row.dataset.row); open(order[current]); draw(); }
  });
  grid.addEventListener('scroll', draw);
  grid.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[event.key];
    if (step) {
      current = Math.min(order.length - 1, Math.max(0, current + step));
      const top = current * height;
      if (top < grid.scrollTop) grid.scrollTop = top;
      if (top + height + headHeight > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + height + headHeight - grid.clientHeight;
      event.preventDefault();
      draw();
    } else if (event.key === 'Enter' && current >= 0) {
      open(order[current]);
    }
  });
  new ResizeObserver(draw).observe(grid);
  arrange();
  return { element: grid, filter(test) { filter = test; grid.scrollTop = 0; arrange(); return order.length; } };
}

/**
 * Lines of any number in a pane, of which only those in sight are in the page; make(line, i) makes the cells of one.
 * reveal(i) scrolls to it; redraw() asks for all cells anew.
 */
function lineList(id, lines, cells) {
  const height = 19;
  const body = make('div', { class: 'lines code', style: `height:${lines.length * height}px` });
  const pane = make('div', { class: 'pane', id, tabindex: 0, role: 'list' }, body);
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
function searchBox(what, apply) {
  return make('input', { type: 'search', id: 'search', placeholder: `Search ${what}  (/)`, 'aria-label': `Search ${what}`, oninput: (event) => apply(event.target.value) });
}
