// SPDX-License-Identifier: MIT
// The flame graph's tree: built from columns, recursion folded, two of them compared, laid out in rows.

/** Function numbers below 0. */
export const NO_FUNCTION = -1, REST = -2;

/** A tree of { fn, own, total, children } from columns; `weight` chooses which of the weights counts. */
export function buildTree(flame, weight = 0) {
  const own = flame.own[weight] ?? [];
  const root = { fn: NO_FUNCTION, own: 0, total: 0, children: [], parent: null };
  const nodes = flame.function.map((fn, i) => ({ fn, own: Number(own[i] || 0), total: 0, children: [], parent: null, id: i }));
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i], parent = flame.parent[i] < 0 ? root : nodes[flame.parent[i]];
    node.parent = parent;
    parent.children.push(node);
  }
  sumUp(root);
  return root;
}

/** Totals from the leaves down, and the children of each node with the heaviest first. */
function sumUp(root) {
  const order = [root];
  for (let i = 0; i < order.length; i++) order.push(...order[i].children);
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    node.total = node.own;
    for (const child of node.children) node.total += child.total;
    node.children.sort((a, b) => b.total - a.total || a.fn - b.fn);
  }
}

/** Calls of a function below itself become that function's: recursion is one node, of all that it did. */
export function foldRecursion(root) {
  const folded = { fn: root.fn, own: root.own, total: 0, children: [], parent: null };
  const work = [{ from: root, to: folded, above: new Map() }];
  while (work.length) {
    const { from, to, above } = work.pop();
    for (const child of from.children) {
      let into = child.fn >= 0 ? above.get(child.fn) : null;
      let inner = above;
      if (into) {
        into.own += child.own;
        into.folded = true;
      } else {
        into = to.children.find((node) => node.fn === child.fn);
        if (into) into.own += child.own;
        else to.children.push(into = { fn: child.fn, own: child.own, total: 0, children: [], parent: to, id: child.id });
        if (child.fn >= 0) inner = new Map(above).set(child.fn, into);
      }
      work.push({ from: child, to: into, above: inner });
    }
  }
  sumUp(folded);
  return folded;
}

/**
 * Give each node `before`: what the same stack had in another tree, scaled by `scale`; same(fn) is the other's number of a
 * function. What only the other has gets nodes of its own, with a total of 0.
 */
export function compareTrees(root, other, same) {
  const work = [[root, other]];
  while (work.length) {
    const [node, was] = work.pop();
    node.before = was ? was.total : 0;
    for (const child of node.children)
      work.push([child, was?.children.find((c) => c.fn === (child.fn < 0 ? child.fn : same(child.fn))) ?? null]);
  }
  return root;
}

/**
 * Boxes of a tree in rows: [{ node, x, width, depth }], with x and width as shares of the whole. `zoomed` fills the width;
 * those below it do, too. Boxes narrower than `least` are left out, with all above them.
 */
export function layoutTree(root, zoomed = root, least = 0) {
  const boxes = [], path = [];
  for (let node = zoomed.parent; node; node = node.parent) path.unshift(node);
  path.forEach((node, depth) => boxes.push({ node, x: 0, width: 1, depth, below: true }));
  const work = [{ node: zoomed, x: 0, width: 1, depth: path.length }];
  while (work.length) {
    const box = work.pop();
    boxes.push(box);
    let x = box.x;
    for (const child of box.node.children) {
      const width = box.node.total > 0 ? box.width * child.total / box.node.total : 0;
      if (width >= least && width > 0) work.push({ node: child, x, width, depth: box.depth + 1 });
      x += width;
    }
  }
  return boxes;
}
