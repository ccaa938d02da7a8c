// SPDX-License-Identifier: MIT
// node report.mjs CHROMIUM PAGE TABLE [FOLDER]: clicks through a report as a person would, and compares the numbers that the page
// shows with those of `pugmark profile --json` (TABLE). FOLDER takes a picture of each view.
import { readFileSync } from 'node:fs';
import { browse, complain, expect, outcome, plain, rowsOf } from './browser.mjs';

const [program, path, tablePath, folder] = process.argv.slice(2);
const rows = readFileSync(tablePath, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const wanted = rows.filter((row) => 'function' in row && 'with callees' in row);

await browse(program, path, async (page) => {
  const picture = async (name) => { if (folder) await page.picture(`${folder}/${name}.png`); };
  const view = () => page.ask('document.body.dataset.view');
  const found = async () => plain(await page.ask('document.getElementById("found").textContent'));
  const functions = (number) => `${number}function${number === 1 ? '' : 's'}`;
  console.log(`opened in ${page.milliseconds} ms`);
  expect('view', await view(), 'overview');
  expect('markup from names', await page.ask('document.querySelectorAll("main script, h1 script, header script").length'), 0);
  const instructions = wanted.reduce((sum, row) => sum + row.instructions, 0);
  expect('instructions', plain(await page.ask(`[...document.querySelectorAll('dt')].find((e) => e.textContent === 'instructions').nextSibling.textContent`)), instructions);
  await picture('overview');

  await page.click('[data-view=functions]');
  expect('functions', await found(), functions(wanted.length));
  const shown = await rowsOf(page);
  const byName = new Map(wanted.map((row) => [row.function, row]));
  for (const cells of shown) {
    const row = byName.get(cells.function);
    if (!row) { complain(`the page has a function ${cells.function} that the profile has not`); continue; }
    expect(`own of ${row.function}`, plain(cells.own), row.instructions);
    expect(`inclusive of ${row.function}`, plain(cells.inclusive), row['with callees']);
    expect(`calls of ${row.function}`, plain(cells.calls), row.calls);
  }
  await picture('functions');
  const name = shown[0].function;
  await page.key('/', { code: 'Slash' });
  await page.type(name);
  expect('found', await found(), functions(wanted.filter((row) => row.function.includes(name)).length));
  expect('the search in the address', await page.ask('new URLSearchParams(location.hash.split("?")[1]).get("find")'), name);
  await page.key('Escape');
  await page.click('.row');
  expect('view after a click', await view(), 'code');
  expect('function that was opened', (await page.ask('document.getElementById("function").selectedOptions[0].textContent')).startsWith(name), true);
  await picture('code');
  await page.ask('history.back()');
  await page.until('document.body.dataset.view === "functions"');
  await page.shown();
  expect('view after Back', await view(), 'functions');
  expect('search after Back', await page.ask('document.getElementById("search").value'), name);

  await page.click('[data-view=flame]');
  const boxes = await page.ask('document.querySelectorAll(".flame [data-node]").length');
  expect('boxes in the flame graph', boxes > 0, true);
  await picture('flame');
  await page.click('.flame [data-node="1"]');
  expect('zoom', await page.ask('document.querySelectorAll(".flame .faded").length > 0'), true);
  await page.open(await page.ask('location.hash'));
  expect('zoom after loading anew', await page.ask('document.querySelectorAll(".flame .faded").length > 0'), true);
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

  await page.key('1', { code: 'Digit1' });
  expect('key 1', await view(), 'overview');
  const light = await page.ask('getComputedStyle(document.body).backgroundColor');
  await page.key('d', { code: 'KeyD' });
  expect('dark', (await page.ask('getComputedStyle(document.body).backgroundColor')) !== light, true);
  await picture('dark');
  expect('requests', page.seen.requests.filter((url) => !url.startsWith('file://' + path) && url !== 'about:blank').length, 0);
  expect('errors', page.seen.errors.join('; '), '');
});
process.exit(outcome());
