// SPDX-License-Identifier: MIT
// node swo.mjs CHROMIUM PAGE EMPTY: the report of a stream of SWO, on a desk and on a telephone: handlers, text and watchpoints in
// the timeline, the flame graph of samples, and that nothing is shown as good which rests on nothing. EMPTY is of a stream without
// samples.
import { browse, expect, outcome } from './browser.mjs';

const [program, path, empty] = process.argv.slice(2);

/** Opens a view: it is as wide as the screen, and nothing in it is green. */
async function look(page, width, view) {
  await page.size(width, 800, width < 500);
  await page.open('#' + view);
  expect(`${view} at ${width}: its width`, await page.ask('document.documentElement.scrollWidth'), width);
  expect(`${view} at ${width}: green marks`, await page.ask('document.querySelectorAll(".trust.checked").length'), 0);
  return page.ask('document.body.innerText');
}

await browse(program, path, async (page) => {
  for (const width of [1280, 390]) {
    const text = await look(page, width, 'overview');
    for (const wanted of ['PC samples, 25.0 % of them asleep: samples, not counts of what ran', 'Most samples', 'Coverage is of counts of what ran'])
      expect(`overview at ${width} has '${wanted}'`, text.includes(wanted), true);
    await look(page, width, 'flame');
    const boxes = await page.ask(`[...document.querySelectorAll('.flame [data-node]')].map((e) => e.textContent.trim())`);
    for (const name of ['work', 'set_speed']) expect(`flame graph at ${width} has ${name}`, boxes.some((box) => box.startsWith(name)), true);
    await look(page, width, 'timeline');
    const told = () => page.ask('document.getElementById("status").textContent'), heard = [];
    await page.ask('document.getElementById("lanes").focus()');
    await page.key('ArrowRight', { modifiers: 8 });
    expect(`a handler at ${width}`, (await told()).replace(/[\d\s]+/g, ' '), 'SysTick_Handler, ticks from ticks, source x : interrupts');
    for (let n = 0; n < 4; n++) {
      await page.key('n');
      heard.push((await told()).replace(/ at [\d\s]+ticks$/, ''));
    }
    expect(`events at ${width}`, heard.join(', '), 'ITM port 0: round 1, work: PC sample 0x08000054, speed: speed = -1 at firmware.c:3, ITM port 0: round 2');
  }
  expect('complaints', page.seen.errors.join('; '), '');
});
await browse(program, empty, async (page) => {
  expect('a page of nothing says so', (await look(page, 390, 'overview')).includes('nothing was counted'), true);
  expect('complaints about nothing', page.seen.errors.join('; '), '');
});
process.exit(outcome());
