// SPDX-License-Identifier: MIT
// The flame graph: the root on top, a box as wide as what ran in it and below it.

function flameGraph() {
  const { parent, function: fn, own } = data.flame;
  const weights = data.flame.weights;
  const children = parent.map(() => []);
  const roots = [];
  parent.forEach((p, n) => (p < 0 ? roots : children[p]).push(n));
  const wide = weights.map((_, w) => {
    const sum = own[w].map(value);
    for (let n = parent.length - 1; n >= 0; n--) if (parent[n] >= 0) sum[parent[n]] += sum[n];
    return sum;
  });
  let weight = 0, top = -1, test = null;
  const graph = make('div', { class: 'flame', tabindex: 0, role: 'tree', 'aria-label': 'Flame graph' });
  const said = make('span', { class: 'soft', id: 'flame-said' });
  const rowHeight = 20;

  /** From the box that is zoomed into up to its root. */
  function path(node) {
    const nodes = [];
    for (; node >= 0; node = parent[node]) nodes.unshift(node);
    return nodes;
  }

  function box(node, depth, x, width, faded) {
    const name = nameOf(fn[node]);
    const element = make('div', { text: width > 24 ? name : '', role: 'treeitem', 'data-node': node, 'aria-label': name });
    element.style.cssText = `left:${x}px;top:${depth * rowHeight + 2}px;width:${Math.max(width, 1)}px;background:${colour(name)}`;
    if (width < 3) { element.style.padding = 0; element.style.borderWidth = 0; }
    element.classList.toggle('found', !!test && test(name));
    element.classList.toggle('faded', faded);
    return element;
  }

  function draw() {
    const sums = wide[weight], room = graph.clientWidth - 4, boxes = [];
    const above = top >= 0 ? path(parent[top]) : [];
    above.forEach((node, depth) => boxes.push(box(node, depth, 2, room, true)));
    const begin = top >= 0 ? [top] : roots;
    const all = begin.reduce((sum, node) => sum + sums[node], 0);
    let deepest = above.length;
    // An explicit stack: calls nest deeper than scripts may.
    const work = [];
    let x = 2;
    for (const node of begin) { work.push([node, above.length, x]); x += all ? sums[node] / all * room : 0; }
    while (work.length && boxes.length < 20000) {
      const [node, depth, left] = work.pop();
      const width = all ? sums[node] / all * room : 0;
      if (width < 0.4) continue;
      boxes.push(box(node, depth, left, width, false));
      deepest = Math.max(deepest, depth);
      let at = left;
      const below = children[node].slice().sort((a, b) => (nameOf(fn[a]) < nameOf(fn[b]) ? -1 : 1));
      for (const child of below) { work.push([child, depth + 1, at]); at += sums[child] / all * room; }
    }
    const floor = make('div', { style: `top:${(deepest + 1) * rowHeight + 8}px;left:0;width:1px;height:1px;padding:0;border:0` });
    graph.replaceChildren(...boxes, floor);
    tellFound(all);
  }

  /** What share of all is in boxes that were searched for; a box below another counts once. */
  function tellFound(all) {
    if (!test) { said.textContent = ''; return; }
    const sums = wide[weight];
    let sum = 0;
    const work = (top >= 0 ? [top] : roots).slice();
    while (work.length) {
      const node = work.pop();
      if (test(nameOf(fn[node]))) sum += sums[node];
      else for (const child of children[node]) work.push(child);
    }
    said.textContent = `${share(sum, all)} (${count(sum)}) in what was found`;
  }

  graph.addEventListener('click', (event) => {
    const node = Number(event.target.dataset.node ?? -1);
    if (node < 0) return;
    if (event.ctrlKey || event.metaKey) { openCode(fn[node]); return; }
    top = node === top ? parent[node] : node;
    draw();
  });
  graph.addEventListener('mousemove', (event) => {
    const node = Number(event.target.dataset.node ?? -1);
    if (node < 0) { hideTip(); return; }
    const sum = wide[weight][node], whole = roots.reduce((s, n) => s + wide[weight][n], 0);
    showTip(event, `${nameOf(fn[node])}\n${objectOf(fn[node])}\n${count(sum)} ${weights[weight]} (${share(sum, whole)}), own ${count(own[weight][node])}`);
  });
  graph.addEventListener('mouseleave', hideTip);
  graph.addEventListener('keydown', (event) => { if (event.key === 'Escape' || event.key === 'Backspace') { top = top >= 0 ? parent[top] : -1; draw(); } });

  const choose = make('select', { id: 'weight', 'aria-label': 'Width', onchange: (event) => { weight = Number(event.target.value); draw(); } });
  weights.forEach((name, w) => choose.append(make('option', { value: w, text: 'by ' + name })));
  view.classList.add('full');
  view.append(make('div', { class: 'bar' }, searchBox('functions', (text) => { test = matcher(text); draw(); }), choose,
    make('button', { type: 'button', text: 'Whole graph', id: 'unzoom', onclick: () => { top = -1; draw(); } }), said,
    make('span', { class: 'soft', text: 'click: zoom · Ctrl-click: code · Esc: out' })), graph);
  new ResizeObserver(draw).observe(graph);
  if (parent.length === 0) graph.append(make('p', { text: 'No calls are known.' }));
}
