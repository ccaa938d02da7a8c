// SPDX-License-Identifier: MIT
// node speedscope.mjs CHROMIUM APP FILE NAME...: speedscope itself (APP is its folder from npm) opens a timeline, and its table of
// functions has these names.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browse } from './browser.mjs';

const [program, app, file, ...names] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'speedscope-')), script = join(folder, 'local.js');
writeFileSync(script, `speedscope.loadFileFromBase64("timeline.json", "${readFileSync(file).toString('base64')}")`);
let bad = 1;
try {
  await browse(program, `${app}/index.html#localProfilePath=${script}`, async (page) => {
    for (let tries = 0; tries < 100 && bad; tries++) {
      await new Promise((go) => setTimeout(go, 100));
      await page.key('3', 'Digit3'); // the table of functions
      const text = await page.ask('document.body.innerText');
      bad = names.length > 0 && names.every((name) => text.includes(name)) ? 0 : 1;
      if (tries === 99) console.error(`the functions are not there: ${text}`);
    }
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(bad);
