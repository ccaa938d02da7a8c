// SPDX-License-Identifier: MIT
// node times.mjs CHROMIUM PAGE FUNCTIONS CALLERS: the tab of times shows what `calls --by function --json` and `--by caller` say.
import { readFileSync } from 'node:fs';
import { browse, complain, expect, outcome, plain, rowsOf } from './browser.mjs';

const [program, path, functionsPath, callersPath] = process.argv.slice(2);
const lines = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
const functions = lines(functionsPath), callers = lines(callersPath);
const time = (text) => plain(text.replace(/[^0-9]/g, ''));

await browse(program, path, async (page) => {
  const compare = async (wanted, nameOf) => {
    const shown = await rowsOf(page);
    expect('rows', shown.length, wanted.length);
    const known = new Map(shown.map((cells) => [nameOf(cells.function, cells['called by']), cells]));
    for (const row of wanted) {
      const name = nameOf(row.function, row.caller), cells = known.get(name);
      if (!cells) { complain(`the page has no ${name}`); continue; }
      expect(`calls of ${name}`, plain(cells.calls), row.calls);
      for (const [title, key] of [['shortest', 'shortest'], ['mean', 'mean'], ['longest', 'longest'], ['total', 'total'], ['no interrupts', 'total_without_interrupts'], ['own', 'own'], ['own and interrupts', 'own_with_interrupts']])
        if (row.calls && title in cells) expect(`${title} of ${name}`, time(cells[title]), row[key]);
      if (row.apart && 'apart' in cells) expect(`apart of ${name}`, time(cells.apart), row.apart.mean);
    }
    return shown;
  };
  await page.click('[data-view=times]');
  const shown = await compare(functions, (name) => name);
  for (const title of ['shortest', 'longest', 'total', 'no interrupts', 'own', 'apart'])
    expect(`column ${title}`, title in shown[0], true);

  // The longest call and its path, and how calls are spread, of the function with most time.
  await page.click('.row');
  const text = (await page.ask('document.getElementById("worst").textContent')).replace(/\u202f/g, '').replace(/\s+/g, ' ');
  const first = functions.find((row) => row.function === shown[0].function);
  expect('the longest call and its path', text, `The longest call took ${first.worst.took} ${first.unit}, from trace offset ${first.worst.offset} on, called by ${first.worst.called_by.join(' ← ') || 'nobody that is known'}.`);
  const bars = await page.ask('[...document.querySelectorAll(".spread .bar")].map((e) => Number(e.textContent.replace(/\\D/g, "")))');
  expect('spread', bars.reduce((sum, calls) => sum + calls, 0), first.calls);
  expect('name in the address', await page.ask('new URLSearchParams(location.hash.split("?")[1]).get("name")'), first.function);

  await page.ask('(() => { const by = document.getElementById("by"); by.value = "caller"; by.dispatchEvent(new Event("change")); })()');
  await page.until('document.querySelector("[data-column=\\"called by\\"]") !== null');
  await page.shown();
  await compare(callers, (name, caller) => `${name} < ${caller}`);

  await page.key('1', { code: 'Digit1' });
  await page.key('7', { code: 'Digit7' });
  expect('key 7', await page.ask('document.body.dataset.view'), 'times');
  expect('errors', page.seen.errors.join('; '), '');
});
process.exit(outcome());
