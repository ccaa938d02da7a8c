// SPDX-License-Identifier: MIT
// node large.mjs CHROMIUM PAGE COUNT: walks through a report of a great many functions, each of which two captures called once.
import { browse, expect, outcome, plain, rowsOf } from './browser.mjs';

const [program, path, countText] = process.argv.slice(2);
const functions = Number(countText);

await browse(program, path, async (page) => {
  console.log(`opened in ${page.milliseconds} ms`);
  const timed = async (view) => {
    const begin = Date.now();
    await page.click(`[data-view=${view}]`);
    console.log(`${view}: ${Date.now() - begin} ms`);
  };
  await timed('functions');
  expect('functions', plain(await page.ask('document.getElementById("found").textContent')), `${functions + 1}functions`);
  expect('rows in the page', await page.ask('document.querySelectorAll(".row").length < 200'), true);
  expect('own of the caller', plain((await rowsOf(page))[0].own), 2 * (functions + 1));
  for (const [words, name] of [['function_54321', 'function_54321'], ['window.bad=1</', '<script>window.bad=1</script>'], ['onerror', '</script><img src=x onerror=window.bad=1>'], ['fib(', 'fib(unsigned int)']]) {
    await page.ask('document.getElementById("search").value = ""');
    await page.key('/', { code: 'Slash' });
    await page.type(words);
    expect(`found by ${words}`, plain(await page.ask('document.getElementById("found").textContent')), '1function');
    const [row] = await rowsOf(page);
    expect(`name found by ${words}`, row.function, name);
    expect(`own of ${name}`, plain(row.own), 2);
    expect(`calls of ${name}`, plain(row.calls), 2);
    await page.key('Escape');
  }
  await timed('code');
  expect('instructions in the page', await page.ask('document.querySelectorAll("#instructions .line").length < 400'), true);
  expect('count of the first one', plain(await page.ask('document.querySelector("#instructions [data-address=\\"400000\\"] b").textContent')), 2);
  await page.ask('document.getElementById("instructions").scrollTop = 1e9');
  await page.settle();
  expect('a later line after scrolling', await page.ask('parseInt(document.querySelector("#instructions .line").dataset.address, 16) > 0x400000'), true);
  await timed('timeline');
  expect('captures to choose from', await page.ask('document.querySelectorAll("#capture option").length'), 2);
  await timed('flame');
  expect('boxes', await page.ask('document.querySelectorAll(".flame [data-node]").length > 0'), true);
  await timed('coverage');
  expect('names that ran as scripts', await page.ask('window.bad'), undefined);
  expect('requests', page.seen.requests.filter((url) => !url.startsWith('file://' + path) && url !== 'about:blank').length, 0);
  expect('errors', page.seen.errors.join('; '), '');
});
process.exit(outcome());
