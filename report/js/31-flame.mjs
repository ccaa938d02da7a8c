// SPDX-License-Identifier: MIT
// The flame graph: whole stacks, merged by function. A click zooms, Enter or a double click opens the code.
import { announce, differenceColour, hideTip, make, showTip, tintAt, TINT_COUNT, tintOf } from './10-dom.mjs';
import { baseName, count, duration, matcher, share, shortPath } from './01-text.mjs';
import { addressOf, before, data, fileOf, nameOf, objectOf, part } from './11-data.mjs';
import { buildTree, compareTrees, foldRecursion, layoutTree, REST } from './06-tree.mjs';
import { go, keep, left, link, view, views } from './21-shell.mjs';
import { searchBox } from './20-table.mjs';

const BOX_ROW = 20;

/** What colours tell apart: objects, else files, else functions. */
function palette() {
  for (const [what, of, shorten] of [['object', objectOf, baseName], ['source file', fileOf, (path) => baseName(path)]]) {
    const weights = new Map();
    data.functions.name.forEach((_, f) => weights.set(of(f), (weights.get(of(f)) ?? 0) + Number(data.functions.own[f])));
    if (weights.size < 2) continue;
    const order = [...weights.keys()].sort((a, b) => weights.get(b) - weights.get(a));
    const tints = new Map(order.slice(0, TINT_COUNT - 1).map((name, i) => [name, tintAt(i)]));
    return { what, of: (f) => tints.get(of(f)) ?? tintAt(TINT_COUNT - 1), legend: [...tints].slice(0, 8).map(([name, tint]) => [name ? shorten(shortPath(name)) : 'unknown', tint]) };
  }
  return { what: 'function', of: (f) => tintOf(nameOf(f)), legend: [] };
}

/** How much more or less of the whole a node is than in the baseline, from -1 to 1; 1 is a tenth of the whole. */
export function changeOf(node, whole, wholeBefore) {
  return whole > 0 && wholeBefore > 0 ? 10 * (node.total / whole - node.before / wholeBefore) : 0;
}

/** Boxes as elements, for the view and for print. */
function boxElement({ node, x, width, depth, below }, wide, colour, words) {
  const element = make('div', { class: 'box' + (below ? ' faded' : ''), text: width * wide > 24 ? nameOf(node.fn) : '', 'data-depth': depth, 'data-node': node.id });
  element.style.cssText = `left:${(100 * x).toFixed(4)}%;width:${(100 * width).toFixed(4)}%;top:${depth * BOX_ROW}px;background:${colour}`;
  if (words) element.setAttribute('aria-label', words);
  return element;
}

/** The tree as it is wanted: weight, recursion, baseline. */
function treeOf(flame, baseline, { weight, fold, compare }) {
  let root = buildTree(flame, weight);
  if (fold) root = foldRecursion(root);
  if (compare && baseline) {
    let other = buildTree(baseline.flame, weight);
    if (fold) other = foldRecursion(other);
    compareTrees(root, other, before);
    root.before = other.total;
  }
  return root;
}

function find(root, path) {
  let node = root;
  for (const text of path ? path.split('.') : []) {
    const next = node.children[Number(text)];
    if (!next) return node;
    node = next;
  }
  return node;
}

function pathOf(node) {
  const steps = [];
  for (; node.parent; node = node.parent) steps.unshift(node.parent.children.indexOf(node));
  return steps.join('.');
}

let standing = null; // the tree as it stands, for print

async function flameGraph(wanted) {
  const [loaded, baseline] = await Promise.all([part('flame'), data.head.baseline ? part('baseline') : null]);
  if (left(wanted)) return;
  view().classList.add('full');
  const flame = loaded?.flame;
  if (!flame || !flame.function.length) {
    view().append(make('p', { class: 'soft pad', text: 'No call stacks: the input has none. `pugmark profile --stacks` keeps them in a profile.' }));
    return;
  }
  const options = { weight: Math.max(0, flame.weights.indexOf(wanted.weight)), fold: wanted.fold === '1', compare: !!baseline && wanted.compare !== '0' };
  const unit = flame.weights[options.weight] === 'time' ? data.functions.unit : flame.weights[options.weight];
  const root = treeOf(flame, baseline, options);
  const colours = palette();
  let zoomed = find(root, wanted.zoom), test = matcher(wanted.find || ''), current = zoomed;
  let boxes = [], elements = new Map();
  const graph = make('div', { class: 'flame', role: 'tree', tabindex: 0, 'aria-label': 'Flame graph. Arrow keys move, space zooms, Enter opens the code, Escape zooms out.' });
  const said = make('span', { class: 'soft', id: 'matches' }), toCode = make('span', { class: 'cut' });

  const amount = (number) => (unit === 'ns' || unit === 'ticks' ? duration(number, unit) : `${count(Math.round(number))} ${unit}`);
  const changeColour = (node) => differenceColour(changeOf(node, root.total, root.before));
  const colourOf = (node) => (node.fn === REST ? '#d6dbe0' : test && test(nameOf(node.fn)) ? '#b79cf2' : node === root ? '#d6dbe0' : options.compare ? changeColour(node) : colours.of(node.fn));
  function wordsOf(node) {
    const name = node === root ? 'all' : node.fn === REST ? '… (each less than 1/10,000 of the whole)' : nameOf(node.fn);
    const lines = [name, `${amount(node.total)}, ${share(node.total, root.total)} of all; itself ${amount(node.own)}`];
    if (node.folded) lines.push('calls of itself are folded into it');
    if (options.compare) lines.push(`before: ${amount(node.before)}, ${share(node.before, root.before)} of all`);
    return lines.join('\n');
  }

  function draw() {
    const wide = graph.clientWidth || 1000;
    const focused = graph.contains(document.activeElement);
    boxes = layoutTree(root, zoomed, 1.5 / wide);
    elements = new Map();
    const list = boxes.map((box) => {
      const element = boxElement(box, wide, colourOf(box.node));
      if (box.node === root) element.textContent = 'all';
      element.setAttribute('role', 'treeitem');
      element.setAttribute('aria-level', box.depth + 1);
      element.setAttribute('aria-label', wordsOf(box.node).replace(/\n/g, ', '));
      element.setAttribute('aria-selected', box.node === current);
      element.tabIndex = box.node === current ? 0 : -1;
      if (test && test(nameOf(box.node.fn))) element.classList.add('found');
      element.node = box.node;
      elements.set(box.node, element);
      return element;
    });
    const deepest = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    graph.replaceChildren(...list, make('div', { class: 'filler', role: 'presentation', style: `height:${(deepest + 1) * BOX_ROW + 4}px` }));
    if (!elements.has(current)) current = zoomed;
    graph.tabIndex = -1;
    if (focused) elements.get(current)?.focus({ preventScroll: true });
    if (test) {
      const hits = outermost(root);
      said.textContent = `${share(hits, root.total)} in what is found`;
    } else said.textContent = '';
    out.disabled = zoomed === root;
    toCode.replaceChildren(...(zoomed.fn >= 0 ? [link(`Code of ${nameOf(zoomed.fn)}`, 'code', addressOf(zoomed.fn))] : []));
    standing = { boxes, root, colourOf };
  }

  /** What is found, without what is found above it. */
  function outermost(from) {
    let sum = 0;
    const work = [from];
    while (work.length) {
      const node = work.pop();
      if (test(nameOf(node.fn))) sum += node.total;
      else work.push(...node.children);
    }
    return sum;
  }

  function zoom(node) {
    zoomed = current = node;
    keep({ zoom: pathOf(node) });
    draw();
    announce(wordsOf(node));
  }

  function move(to) {
    if (!to || !elements.has(to)) return;
    elements.get(current).tabIndex = -1;
    elements.get(current).setAttribute('aria-selected', 'false');
    current = to;
    const element = elements.get(to);
    element.tabIndex = 0;
    element.setAttribute('aria-selected', 'true');
    element.focus();
  }

  const openNode = (node) => { if (node.fn >= 0) go('code', addressOf(node.fn)); };
  const out = make('button', { type: 'button', text: 'Zoom out', id: 'unzoom', onclick: () => zoom(root) });

  graph.addEventListener('click', (event) => { const node = event.target.closest('.box')?.node; if (node) (event.ctrlKey ? openNode : zoom)(node); });
  graph.addEventListener('dblclick', (event) => { const node = event.target.closest('.box')?.node; if (node) openNode(node); });
  graph.addEventListener('mousemove', (event) => { const node = event.target.closest('.box')?.node; if (node) showTip(event.clientX, event.clientY, wordsOf(node)); else hideTip(); });
  graph.addEventListener('mouseleave', hideTip);
  graph.addEventListener('keydown', (event) => {
    const siblings = (current.parent?.children ?? []).filter((node) => elements.has(node)), at = siblings.indexOf(current);
    if (event.key === 'ArrowDown') move(current.children.find((node) => elements.has(node)));
    else if (event.key === 'ArrowUp') move(current.parent);
    else if (event.key === 'ArrowRight') move(siblings[at + 1]);
    else if (event.key === 'ArrowLeft') move(siblings[at - 1]);
    else if (event.key === 'Home') move(root);
    else if (event.key === ' ') zoom(current);
    else if (event.key === 'Enter') openNode(current);
    else if (event.key === 'Escape') zoom(zoomed.parent ?? root);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const again = (rest) => go('flame', { ...wanted, zoom: undefined, ...rest });
  const bar = make('div', { class: 'tools' }, searchBox('functions', wanted.find, (text) => { test = matcher(text); keep({ find: text }); draw(); }),
    flame.weights.length > 1 ? make('label', {}, 'Weight ', select('weight', flame.weights, flame.weights[options.weight], (weight) => again({ weight }))) : null,
    make('label', { class: 'check' }, make('input', { type: 'checkbox', id: 'fold', checked: options.fold, onchange: (event) => again({ fold: event.target.checked ? '1' : '' }) }), ' Fold recursion'),
    baseline ? make('label', { class: 'check' }, make('input', { type: 'checkbox', id: 'compare', checked: options.compare, onchange: (event) => again({ compare: event.target.checked ? '' : '0' }) }), ' Differences') : null,
    out, toCode, said);
  const legend = make('div', { class: 'legend' });
  if (options.compare) legend.append(...[['less than before', -1], ['as before', 0], ['more than before, by a tenth of the whole', 1]].map(([text, part_]) => swatch(text, differenceColour(part_))));
  else {
    legend.append(make('span', { text: `A colour for each ${colours.what}` + (colours.legend.length ? ':' : '') }), ...colours.legend.map(([text, tint]) => swatch(text, tint)));
  }
  legend.append(make('span', { class: 'soft', text: 'Click: zoom · double click or Enter: code' }));
  view().append(bar, graph, legend);
  new ResizeObserver(draw).observe(graph);
}

export function select(id, texts, chosen, apply) {
  return make('select', { id, onchange: (event) => apply(event.target.value) }, ...texts.map((text) => make('option', { text, value: text, selected: text === chosen })));
}

export function swatch(text, colour) {
  return make('span', { class: 'swatch' }, make('i', { style: `background:${colour}`, 'aria-hidden': 'true' }), text);
}

/** The flame graph as it stands, or the whole of it, for print. */
export function printFlame(into) {
  let shown = standing;
  if (!shown) {
    const flame = data.flame?.flame;
    if (!flame || !flame.function.length) return;
    const root = buildTree(flame), colours = palette();
    shown = { root, boxes: layoutTree(root, root, 1 / 400), colourOf: (node) => (node.fn < 0 ? '#d6dbe0' : colours.of(node.fn)) };
  }
  const deepest = shown.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  into.replaceChildren(make('h2', { text: 'Flame graph' }), make('div', { class: 'flame', style: `height:${(deepest + 1) * BOX_ROW}px` },
    ...shown.boxes.map((box) => { const element = boxElement(box, 700, shown.colourOf(box.node)); if (box.node === shown.root) element.textContent = 'all'; return element; })));
}

views.flame = { title: 'Flame graph', show: flameGraph };
