// SPDX-License-Identifier: MIT
// node report.mjs CHROMIUM PAGE TABLE [FOLDER]: clicks through a report as a person would, and compares the numbers that the page
// shows with those of `pugmark profile --json` (TABLE). FOLDER takes a picture of each view.
import { readFileSync } from 'node:fs';
import { browse, complain, expect, outcome, plain } from './browser.mjs';

const [program, path, tablePath, folder] = process.argv.slice(2);
const rows = readFileSync(tablePath, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const wanted = rows.filter((row) => 'function' in row && 'with callees' in row);

await browse(program, path, async (page) => {
  const picture = async (name) => { if (folder) await page.picture(`${folder}/${name}.png`); };
  const view = () => page.ask('document.body.dataset.view');
  console.log(`opened in ${page.milliseconds} ms`);
  expect('view', await view(), 'overview');
  expect('markup from names', await page.ask('document.querySelectorAll("main script, h1 script, header script").length'), 0);
  const instructions = wanted.reduce((sum, row) => sum + row.instructions, 0);
  expect('instructions', plain(await page.ask(`[...document.querySelectorAll('dt')].find((e) => e.textContent === 'instructions').nextSibling.textContent`)), instructions);
  await picture('overview');

  await page.click('[data-view=functions]');
  expect('functions', plain(await page.ask('document.getElementById("found").textContent')), `${wanted.length}functions`);
  const shown = await page.ask(`[...document.querySelectorAll('.row')].map((row) => [...row.children].map((cell) => cell.textContent))`);
  const byName = new Map(wanted.map((row) => [row.function, row]));
  for (const cells of shown) {
    const row = byName.get(cells[5]);
    if (!row) { complain(`the page has a function ${cells[5]} that the profile has not`); continue; }
    expect(`own of ${row.function}`, plain(cells[0]), row.instructions);
    expect(`inclusive of ${row.function}`, plain(cells[2]), row['with callees']);
    expect(`calls of ${row.function}`, plain(cells[4]), row.calls);
  }
  await picture('functions');
  const name = shown[0][5];
  await page.key('/', 'Slash');
  await page.type(name);
  expect('found', plain(await page.ask('document.getElementById("found").textContent')),
    `${wanted.filter((row) => row.function.includes(name)).length}functions`);
  await page.key('Escape');
  await page.click('.row');
  expect('view after a click', await view(), 'code');
  expect('function that was opened', (await page.ask('document.getElementById("function").selectedOptions[0].textContent')).startsWith(name), true);
  await picture('code');

  await page.click('[data-view=flame]');
  const boxes = await page.ask('document.querySelectorAll(".flame [data-node]").length');
  expect('boxes in the flame graph', boxes > 0, true);
  await picture('flame');
  await page.click('.flame [data-node="1"]');
  expect('zoom', await page.ask('document.querySelectorAll(".flame .faded").length > 0'), true);
  await page.click('#unzoom');
  expect('boxes after zooming out', await page.ask('document.querySelectorAll(".flame [data-node]").length'), boxes);

  await page.click('[data-view=timeline]');
  const before = await page.ask('document.getElementById("window").textContent');
  await page.click('#closer');
  expect('zoom of the timeline', (await page.ask('document.getElementById("window").textContent')) !== before, true);
  await page.click('#whole');
  expect('whole time', await page.ask('document.getElementById("window").textContent'), before);
  await picture('timeline');
  await page.click('[data-view=coverage]');
  expect('view', await view(), 'coverage');
  await picture('coverage');

  await page.key('1', 'Digit1');
  expect('key 1', await view(), 'overview');
  const light = await page.ask('getComputedStyle(document.body).backgroundColor');
  await page.key('d', 'KeyD');
  expect('dark', (await page.ask('getComputedStyle(document.body).backgroundColor')) !== light, true);
  await picture('dark');
  expect('requests', page.seen.requests.filter((url) => url !== 'file://' + path).length, 0);
  expect('errors', page.seen.errors.join('; '), '');
});
process.exit(outcome());
