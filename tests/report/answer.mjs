// SPDX-License-Identifier: MIT
// node answer.mjs CHROMIUM PAGE [AXE]: a report of examples/crash as its readers meet it. The answer is on the first screen; every
// view fits a phone; keys, fingers and the address do what they should; axe-core (AXE, its script) finds nothing; print and a
// browser without scripts have what they need.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { browse, complain, expect, outcome } from './browser.mjs';

const [program, path, axePath] = process.argv.slice(2);
const axe = axePath ? readFileSync(axePath, 'utf8') : null;
const VIEWS = ['overview', 'flame', 'functions', 'code', 'timeline', 'coverage', 'times'];

const text = (page, selector) => page.ask(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? 'nothing'`);
const boxOf = (page, selector) => page.ask(`(() => { const b = document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect(); return b ? [b.x, b.y, b.width, b.height] : [0, 0, 0, 0]; })()`);

/** How it ended, what that rests on and the last instructions, without scrolling. */
async function firstScreen(page) {
  await page.size(1280, 800);
  await page.open();
  expect('headline', await text(page, '#headline'), 'Ended in a data fault in read_line(), crash.c:64, 42 ticks after it was entered.');
  expect('trust', (await page.ask('[...document.querySelectorAll(".trust.checked")].map((e) => e.innerText).join()')).includes('246 branches were compared with the program; all agree'), true);
  expect('instructions', await page.ask('document.querySelectorAll(".last .step").length'), 20);
  const [, y, , height] = await boxOf(page, '.last .verdict');
  expect('the fault is on the first screen', y > 0 && y + height <= 800, true);
  expect('the last instruction', (await page.ask('[...document.querySelectorAll(".last .step")].at(-1).innerText')).replace(/\s+/g, ' '), '210408 ret taken crash.c:46 return value;');
  await page.click('#headline a');
  expect('a link of the headline leads to the code', await page.ask('document.getElementById("function").selectedOptions[0].textContent.split(" ")[0]'), 'read_line');
}

async function everyWidth(page) {
  for (const [width, touch] of [[1280, false], [390, true], [360, true]]) {
    await page.size(width, 800, touch);
    for (const view of VIEWS) {
      await page.open('#' + view);
      expect(`${view} at ${width}: the page's width`, await page.ask('document.documentElement.scrollWidth'), width);
      const tabs = await page.ask('[...document.querySelectorAll("[role=tab]")].filter((tab) => { const b = tab.getBoundingClientRect(); return b.left >= 0 && b.right <= innerWidth; }).length');
      expect(`${view} at ${width}: tabs in sight`, tabs, VIEWS.length);
      if (axe && width !== 390) await noViolation(page, `${view} at ${width}`);
    }
    await page.open('#functions');
    const columns = await page.ask('[...document.querySelectorAll(".head [data-column]")].map((e) => e.dataset.column)');
    expect(`functions at ${width}: the name`, columns.includes('function'), true);
    expect(`functions at ${width}: it is in sight`, await page.ask('(() => { const b = document.querySelector(".row .mono").getBoundingClientRect(); return b.width > 90 && b.right <= innerWidth; })()'), true);
    await page.open('#coverage');
    expect(`coverage at ${width}: the file`, await page.ask('document.querySelector(".row .mono").textContent'), 'crash.c');
    await page.open('#code?name=read_line');
    expect(`code at ${width}: source`, await page.ask('(() => { const b = document.querySelector("#source .words").getBoundingClientRect(); return b.left < innerWidth - 60; })()'), true);
  }
}

async function noViolation(page, where) {
  await page.ask(axe + '; 0');
  const found = await page.ask('axe.run().then(({ violations }) => violations.map((v) => `${v.id} (${v.nodes.length}): ${v.nodes[0].html.slice(0, 200)}`))');
  if (found.length) complain(`${where}: axe-core: ${found.join('; ')}`);
}

async function dark(page) {
  await page.size(1280, 800);
  await page.media({ features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  for (const view of ['overview', 'functions', 'timeline']) {
    await page.open('#' + view);
    expect('dark', await page.ask('document.documentElement.classList.contains("dark")'), true);
    if (axe) await noViolation(page, `${view}, dark`);
  }
  await page.media({ features: [{ name: 'prefers-color-scheme', value: 'light' }] });
}

/** All of it by keyboard. */
async function keyboard(page) {
  const focused = () => page.ask('document.activeElement.dataset.view ?? document.activeElement.id ?? ""');
  await page.size(1280, 800);
  await page.open();
  await page.key('Tab');
  expect('the first stop', await focused(), 'overview');
  await page.key('ArrowRight');
  expect('an arrow key on the tabs', await page.ask('document.body.dataset.view'), 'flame');
  await page.key('End');
  expect('End on the tabs', await focused(), 'times');
  await page.key('2');
  await page.ask('document.querySelector(".flame [tabindex=\\"0\\"]").focus()');
  await page.key('ArrowDown');
  await page.key('ArrowDown');
  expect('arrows in the flame graph', (await page.ask('document.activeElement.getAttribute("aria-label")')).split(',')[0], 'read_line');
  await page.key(' ');
  expect('space zooms', (await page.ask('location.hash')).includes('zoom='), true);
  await page.key('Enter');
  expect('Enter opens the code', await page.ask('location.hash'), '#code?name=read_line');
  await page.key('3');
  await page.ask('document.querySelector(".grid").focus()');
  await page.key('ArrowDown');
  await page.key('ArrowDown');
  expect('a row is chosen', await page.ask('document.getElementById(document.querySelector(".grid").getAttribute("aria-activedescendant")).dataset.row'), 1);
  await page.key('Enter');
  expect('Enter on a row', await page.ask('document.body.dataset.view'), 'code');
  await page.key('?');
  expect('the keys', await page.ask('document.getElementById("help").open'), true);
  await page.key('Escape');
}

async function timeline(page) {
  const window_ = () => text(page, '#window'), status = () => page.ask('document.getElementById("status").textContent');
  await page.size(1280, 800);
  await page.open('#timeline');
  const whole = await window_(), [x, y, width] = await boxOf(page, '#lanes');
  await page.wheel(x + width / 2, y + 60, -400);
  expect('the wheel zooms', (await window_()) !== whole, true);
  const zoomed = await window_();
  await page.drag([x + 500, y + 60], [x + 300, y + 60]);
  expect('dragging moves', (await window_()) !== zoomed, true);
  await page.until('location.hash.includes("from=")');
  const hash = await page.ask('location.hash'), shown = await window_();
  await page.open(hash);
  expect('the zoom is in the address', await window_(), shown);
  await page.open('#timeline');
  await page.ask('document.getElementById("lanes").focus()');
  await page.key('ArrowRight', { modifiers: 8 });
  await page.key('ArrowDown', { modifiers: 8 });
  expect('a slice chosen by keys', (await status()).split(',')[0], 'read_line');
  await page.key('n');
  await page.until('!document.getElementById("chosen").hidden');
  expect('the next event is the fault', (await text(page, '#chosen h2')), 'exception 12 (data fault)');
  expect('its window', await page.ask('document.querySelectorAll("#chosen .step").length'), 50);
  await page.open('#timeline');
  await page.drag([x + 200, y + 60], [x + 700, y + 60], 8);
  expect('a span', (await text(page, '#span')).includes('≈'), true);
  await page.click('#snap');
  expect('at the borders of cells it is exact', (await text(page, '#span')).includes('≈'), false);
  await page.open('#timeline?a=0&b=697');
  expect('all of it', (await text(page, '#span')).replace(/\s/g, ' '), '739 instructions of 6 functions, 29 calls, 697 ticks'.replace('739 instructions of 6 functions, 29 calls', await allThatRan(page)));
  await page.open('#timeline');
  await page.click([x + width / 4, y + 24 + 22 + 16 + 17 + 8]);
  expect('a click on a slice opens its code', await page.ask('document.body.dataset.view + " " + document.getElementById("function").selectedOptions[0].textContent.split(" ")[0]'), 'code read_line');
  expect('and offers the command', (await text(page, '.command code')).startsWith('pugmark trace --around '), true);
}

/** What the functions did together until the last time; those after it have none. */
const allThatRan = (page) => page.ask(`(() => { const rows = [...document.querySelectorAll('#chosen .row')].map((row) => [...row.children].map((cell) => Number(cell.textContent.replace(/\\D/g, ''))));
  const sum = (i) => rows.reduce((all, row) => all + row[i], 0); return sum(1) + ' instructions of ' + rows.filter((row) => row[1] > 0).length + ' functions, ' + sum(2) + ' calls'; })()`);

async function fingers(page) {
  await page.size(390, 800, true);
  await page.open('#timeline');
  const whole = await text(page, '#window'), [x, y] = await boxOf(page, '#lanes'), at = y + 100;
  await page.touch([[x + 150, at]], [[x + 150, at - 40]], [[x + 120, at - 80]]);
  expect('one finger does not move the timeline', await text(page, '#window'), whole);
  await page.touch([[x + 150, at], [x + 200, at]], [[x + 120, at], [x + 230, at]], [[x + 60, at], [x + 300, at]]);
  expect('two fingers zoom', (await text(page, '#window')) !== whole, true);
}

/** What Chromium writes to PDF, read back where pdftotext is. */
async function print(page) {
  await page.size(1280, 800);
  await page.open('#timeline');
  await page.until('document.body.dataset.print === "ready"');
  await page.media({ media: 'print' });
  expect('the app in print', await page.ask('getComputedStyle(document.getElementById("app")).display'), 'none');
  const file = `${path}.pdf`;
  await page.pdf(file);
  await page.media({ media: '' });
  let words;
  try {
    words = execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' });
  } catch { console.log('skipped: reading a PDF back needs pdftotext'); }
  rmSync(file);
  if (words === undefined) return;
  for (const wanted of ['Ended in a data fault in read_line(), crash.c:64', '246 branches were compared', 'Functions', 'is_name', 'Flame graph', 'Coverage', 'crash.c'])
    expect(`print has '${wanted}'`, words.replace(/\s+/g, ' ').includes(wanted), true);
}

async function withoutScript(page) {
  await page.scripts(false);
  await page.open();
  const words = await text(page, 'body');
  for (const wanted of ['Ended in a data fault in read_line(), crash.c:64', '246 branches were compared', 'read_line', 'crash.c', '80.65 %'])
    expect(`without scripts: '${wanted}'`, words.includes(wanted), true);
  expect('rows of functions', await page.ask('document.querySelectorAll("#plain table")[0].rows.length'), 9);
}

await browse(program, path, async (page) => {
  for (const step of [firstScreen, everyWidth, dark, keyboard, timeline, fingers, print, withoutScript]) {
    try {
      await step(page);
    } catch (error) { complain(`${step.name}: ${error.message}`); }
  }
  expect('requests', page.seen.requests.filter((url) => !url.startsWith('file://' + path) && url !== 'about:blank').length, 0);
  expect('errors', page.seen.errors.join('; '), '');
});
process.exit(outcome());
