// SPDX-License-Identifier: MIT
// node pictures.mjs CHROMIUM PAGE KEPT [--keep]: pictures of each view of a report of examples/crash, compared with those in KEPT.
// They are those of one major version of Chromium and of certain fonts (KEPT/made-with): with others nothing is compared. --keep
// writes them anew.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { browse, complain, outcome } from './browser.mjs';

const [program, path, kept, keep] = process.argv.slice(2);
const MOST = .01, FAR = 32; // so many pixels may differ by more than so much, of 255

/** The browser and the fonts that the page gets, in a line. */
async function madeWith(page) {
  const font = (name) => { try { return execFileSync('fc-match', [name, 'file', 'fontversion'], { encoding: 'utf8' }).trim().replace(/^.*\//, ''); } catch { return 'no fc-match'; } };
  return `${(await page.version()).split('.')[0]}; ${['system-ui', 'sans-serif', 'monospace', 'DejaVu Sans Mono'].map(font).join('; ')}`;
}

/** Which share of the pixels of two pictures differ by more than FAR: 1 where their sizes differ. */
const differing = (page, a, b) => page.ask(`(async () => {
  const load = async (text) => { const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height); const pen = canvas.getContext('2d'); pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, image.width, image.height); };
  const [a, b] = [await load('${a.toString('base64')}'), await load('${b.toString('base64')}')];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let far = 0;
  for (let i = 0; i < a.data.length; i += 4)
    if (Math.max(Math.abs(a.data[i] - b.data[i]), Math.abs(a.data[i + 1] - b.data[i + 1]), Math.abs(a.data[i + 2] - b.data[i + 2])) > ${FAR}) far++;
  return far / (a.width * a.height);
})()`);

let compared = true;
await browse(program, path, async (page) => {
  const now = await madeWith(page), file = `${kept}/made-with`;
  if (keep) {
    mkdirSync(kept, { recursive: true });
    writeFileSync(file, now + '\n');
  }
  const was = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'nothing';
  if (was !== now) {
    console.log(`skipped: the pictures were made with ${was}; here is ${now}`);
    compared = false;
    return;
  }
  for (const [width, views] of [[1280, ['overview', 'flame', 'functions', 'code', 'timeline', 'coverage']], [360, ['overview', 'timeline']]]) {
    await page.size(width, 800);
    for (const view of views) {
      await page.open('#' + view);
      await new Promise((go) => setTimeout(go, 150));
      const name = `${kept}/${view}-${width}.png`, picture = await page.picture();
      if (keep) { writeFileSync(name, picture); continue; }
      const share = await differing(page, picture, readFileSync(name));
      if (share > MOST) complain(`${view} at ${width}: ${(100 * share).toFixed(2)} % of the pixels are others than in ${name}`);
      if (share > MOST && process.env.PUG_PICTURES) writeFileSync(`${process.env.PUG_PICTURES}/${view}-${width}.png`, picture);
    }
  }
});
process.exit(compared ? outcome() : 77);
