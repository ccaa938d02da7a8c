// SPDX-License-Identifier: MIT
// node deep.mjs CHROMIUM PAGE: the timeline of calls nested deeper than it draws says so in a line or two, above what it draws.
import { browse, complain, expect, outcome } from './browser.mjs';

const [program, path] = process.argv.slice(2);
await browse(program, path, async (page) => {
  for (const width of [1280, 360]) {
    await page.size(width, 800);
    await page.open('#timeline');
    const [words, height, below] = await page.ask('(() => { const e = document.getElementById("deep"); if (!e) return ["", 0, false]; const box = e.getBoundingClientRect(); return [e.innerText, box.height, box.bottom <= document.getElementById("lanes").getBoundingClientRect().top]; })()');
    expect(`${width}: what is not drawn`, /^[\d\s\u202f]+ calls nested deeper than 256 are counted in Functions, and not drawn here\.$/.test(words), true);
    if (height < 20 || height > (width > 1000 ? 50 : 90)) complain(`${width}: the words are ${height} px high`);
    expect(`${width}: above the calls`, below, true);
  }
});
process.exit(outcome());
