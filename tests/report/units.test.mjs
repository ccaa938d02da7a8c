// SPDX-License-Identifier: MIT
// node --test units.test.mjs: the modules of the report's page that need no browser.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { count, duration, matcher, plural, quoted, rulerTicks, shortPath } from '../../report/js/01-text.mjs';
import { formatState, parseState } from '../../report/js/02-state.mjs';
import { fromBase64, unpack } from '../../report/js/03-unpack.mjs';
import { data, placeOf } from '../../report/js/11-data.mjs';
import { firstAt, laneAt, levelFor, readTrack, sliceAt } from '../../report/js/04-levels.mjs';
import { nearestBorder, readSums, sumSpan } from '../../report/js/05-sums.mjs';
import { buildTree, compareTrees, foldRecursion, layoutTree, REST } from '../../report/js/06-tree.mjs';

const blanks = (text) => text.replace(/[\u00a0\u202f]/g, ' ');

test('numbers in words', () => {
  assert.equal(blanks(count('18446744073709551615')), '18 446 744 073 709 551 615');
  assert.equal(plural(1, 'function'), '1 function');
  assert.equal(plural(0, 'function'), '0 functions');
  assert.equal(plural(2, 'branch', 'branches'), '2 branches');
  assert.equal(quoted("a b'c"), `'a b'\\''c'`);
  assert.equal(quoted('dir/x.data'), 'dir/x.data');
  assert.equal(shortPath('././a/./b.c'), 'a/b.c');
  assert.equal(matcher('  '), null);
  assert.equal(matcher('FIB')('my_fib'), true);
});

test('places of the timeline are offsets, and of several buffers one of these', () => {
  data.head = { stories: [{ buffers: [''] }, { buffers: ['a', 'b', 'c'] }] };
  assert.deepEqual(placeOf(0, 1234), { offset: 1234 });
  assert.deepEqual(placeOf(1, 1234 * 3 + 2), { offset: 1234, buffer: 'c' });
  assert.deepEqual(placeOf(2, 7), { offset: 7 });
  data.head = null;
});

test('times with their units', () => {
  assert.equal(blanks(duration(42, 'ns')), '42 ns');
  assert.equal(blanks(duration(1234567, 'ns')), '1.235 ms');
  assert.equal(blanks(duration(697, 'ticks')), '697 ticks');
  assert.equal(blanks(duration(10e6, 'ticks', 5e6)), '10 M ticks');
  assert.equal(blanks(duration(2.5e9, 'ns', 5e8)), '2.5 s');
});

test('labels of a ruler never overlap, and differ', () => {
  const wide = (text) => 7 * text.length;
  for (const unit of ['ns', 'ticks', 'cycles', 'instructions'])
    for (let power = 0; power < 16; power++)
      for (const width of [300, 1240]) {
        const to = 3 * 10 ** power, label = (time, step) => duration(time, unit, step);
        const { step, ticks } = rulerTicks(0, to, width, label, wide), labels = ticks.map((time) => label(time, step));
        assert.ok(ticks.length >= 1, `${unit} ${power}`);
        assert.equal(new Set(labels).size, labels.length, `${unit} ${to}: ${labels}`);
        ticks.slice(1).forEach((time, i) => assert.ok((time - ticks[i]) / to * width >= wide(labels[i]), `${unit} ${to}: ${labels}`));
      }
});

test('the address says what is shown, and nothing else', () => {
  const views = ['overview', 'code'];
  const state = { view: 'code', name: 'operator<<(std::ostream&)', line: '7' };
  assert.deepEqual(parseState(formatState(state), views), state);
  assert.equal(formatState({ view: 'code', name: '', line: undefined }), '#code');
  assert.deepEqual(parseState('#other?x=1', views), { view: 'overview', x: '1' });
  assert.deepEqual(parseState('#code?__proto__=1&view=x&long=' + 'a'.repeat(600), views), { view: 'code' });
});

test('parts are unpacked', async () => {
  for (let size = 0; size < 70; size++) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 37 + size) & 255);
    assert.deepEqual(fromBase64(Buffer.from(bytes).toString('base64')), bytes);
  }
  const value = { names: ['a', '</script>', 'ü'], numbers: [1, 2, 3] };
  assert.deepEqual(await unpack(gzipSync(JSON.stringify(value)).toString('base64'), 'gzip'), value);
  assert.deepEqual(await unpack(JSON.stringify(value), 'json'), value);
});

/** Columns of a lane, from slices [start, end, name, count, longest]. */
function columns(slices) {
  const lane = { start: [], length: [], name: [], count: [], busy: [], longest: [], offset: [], estimated: [] };
  slices.forEach(([start, end, name, n = 1, longest = 0], i) => {
    lane.start.push(start - (i ? slices[i - 1][0] : 0));
    lane.length.push(end - start);
    lane.name.push(name);
    lane.count.push(n);
    lane.busy.push(n > 1 ? end - start : 0);
    lane.longest.push(longest);
    lane.offset.push(1);
    lane.estimated.push(0);
  });
  return lane;
}

test('slices at the level that a zoom needs', () => {
  const fine = [[0, 100, 1], [104, 106, 2, 3, 1], [108, 109, 3], [200, 400, 1]];
  const coarse = [[104, 109, 2, 4, 1]];
  const track = readTrack({ lanes: [columns(fine)], levels: [{ level: 3, lanes: [columns(coarse)] }, { level: 4, lanes: [columns(coarse)] }] }, 2);
  assert.equal(levelFor(track, .1), 2);
  assert.equal(levelFor(track, 4), 3);
  assert.equal(levelFor(track, 1e9), 4);
  assert.equal(laneAt(track, 0, 2)[0].size, 4);
  const [cells, long] = laneAt(track, 0, 3);
  assert.deepEqual([...cells.start], [104]);
  assert.deepEqual([...long.start], [0, 200]);
  assert.equal(cells.count[0], 4);
  assert.deepEqual([...laneAt(track, 0, 2)[0].offset], [1, 2, 3, 4]);
  const whole = laneAt(track, 0, 2)[0];
  for (let time = -5; time < 410; time += 5) {
    const i = firstAt(whole, time);
    assert.ok(i === 0 || whole.end[i - 1] < time);
    assert.ok(i === whole.size || whole.end[i] >= time);
  }
  assert.equal(sliceAt(track, 0, 2, 108.5, 0).i, 2);
  assert.equal(sliceAt(track, 0, 2, 150, 10), null);
  assert.equal(sliceAt(track, 0, 2, 107.8, 1).i, 2);
});

test('what ran in a span is exact at the borders of cells', () => {
  const sums = readSums({ level: 2, begin: -2, cell: [0, 0, 1, 3], name: [7, 8, 7, 8], time: [3, 1, 4, 2], instructions: [30, 10, 40, 20], calls: [1, 1, 0, 2] });
  const whole = sumSpan(sums, -2, 14 + 4);
  assert.equal(whole.about, false);
  assert.deepEqual(whole.rows.map(({ name, time, instructions, calls }) => [name, time, instructions, calls]), [[7, 7, 70, 1], [8, 3, 30, 3]]);
  assert.deepEqual(sumSpan(sums, 2, 6).rows.map((row) => row.instructions), [40]);
  const half = sumSpan(sums, 0, 6);
  assert.equal(half.about, true);
  assert.deepEqual(half.rows.map(({ name, instructions }) => [name, instructions]), [[7, 55], [8, 5]]);
  assert.equal(nearestBorder(sums, 3), 2);
  assert.equal(sumSpan(sums, 6, 10).rows.length, 0);
});

const fib = { parent: [-1, 0, 1, 2, 1, -1], function: [0, 1, 1, 1, REST, 2], own: [[1, 10, 20, 30, 4, 5]] };

test('the flame graph adds up, folds recursion, and has a place for each box', () => {
  const root = buildTree(fib);
  assert.equal(root.total, 70);
  assert.deepEqual(root.children.map((node) => [node.fn, node.total]), [[0, 65], [2, 5]]);
  const folded = foldRecursion(root);
  assert.equal(folded.total, 70);
  const [caller] = folded.children, [once] = caller.children;
  assert.deepEqual([once.fn, once.own, once.total, once.folded], [1, 60, 64, true]);
  assert.deepEqual(once.children.map((node) => [node.fn, node.total]), [[REST, 4]]);
  for (const tree of [root, folded]) {
    const boxes = layoutTree(tree);
    for (const box of boxes) assert.ok(box.x >= 0 && box.x + box.width <= 1 + 1e-9);
    for (const { node, width, depth } of boxes) {
      assert.ok(Math.abs(width - node.total / 70) < 1e-9);
      assert.equal(depth === 0, node === tree);
    }
  }
  const zoomed = layoutTree(root, root.children[0].children[0]);
  assert.deepEqual(zoomed.filter((box) => box.below).map((box) => box.width), [1, 1]);
  assert.equal(layoutTree(root, root, .5).some((box) => box.width < .5), false);
});

test('two flame graphs are compared by their stacks', () => {
  const root = buildTree(fib), other = buildTree({ parent: [-1, 0], function: [5, 6], own: [[2, 8]] });
  compareTrees(root, other, (fn) => ({ 0: 5, 1: 6 })[fn] ?? null);
  assert.equal(root.before, 10);
  assert.equal(root.children[0].before, 10);
  assert.equal(root.children[0].children[0].before, 8);
  assert.equal(root.children[0].children[0].children.find((node) => node.fn === 1).before, 0);
  assert.equal(root.children[1].before, 0);
});

test('modules fit into one script: no name is declared twice, and imports come from before', () => {
  const folder = new URL('../../report/js/', import.meta.url), names = new Map(), seen = new Set();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.mjs')).sort()) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    for (const [, name] of text.matchAll(/^(?:export )?(?:async )?(?:const|let|function|class) +(\w+)/gm)) {
      assert.ok(!names.has(name), `${name} is in ${names.get(name)} and in ${file}`);
      names.set(name, file);
    }
    for (const [line, from] of text.matchAll(/^import .* from '\.\/(.*)';$/gm)) assert.ok(seen.has(from), `${file}: ${line}`);
    assert.ok(!/^import (?!.*';$)/m.test(text), `${file}: an import has several lines`);
    assert.ok(!text.includes('</script') && !text.includes('<!--'), `${file} ends the script`);
    seen.add(file);
  }
});
