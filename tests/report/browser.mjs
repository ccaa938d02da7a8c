// SPDX-License-Identifier: MIT
// Headless Chromium through its debugging pipe: open a page, evaluate in it, press, take pictures. Nothing else is needed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function browse(program, path, work) {
  const profile = mkdtempSync(join(tmpdir(), 'report-'));
  const chromium = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', `--user-data-dir=${profile}`,
    '--remote-debugging-pipe', 'about:blank'], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const waiting = new Map(), seen = { requests: [], errors: [] };
  let number = 0, rest = '', session, loaded = () => {};
  chromium.stdio[4].on('data', (bytes) => {
    const messages = (rest + bytes).split('\0');
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      if (message.id) {
        const { resolve, reject } = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      } else if (message.method === 'Page.loadEventFired') loaded();
      else if (message.method === 'Network.requestWillBeSent') seen.requests.push(message.params.request.url);
      else if (message.method === 'Runtime.exceptionThrown') seen.errors.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
      else if (message.method === 'Log.entryAdded') seen.errors.push(message.params.entry.text);
    }
  });
  const send = (method, params = {}) => new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    chromium.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId: session }) + '\0');
  });
  const limit = setTimeout(() => { process.kill(-chromium.pid, 'SIGKILL'); console.error('the browser does not answer'); process.exit(1); }, 120000);
  try {
    const { targetInfos } = await send('Target.getTargets');
    const target = targetInfos.find((info) => info.type === 'page').targetId;
    session = (await send('Target.attachToTarget', { targetId: target, flatten: true })).sessionId;
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await send(`${domain}.enable`);
    await send('Emulation.setDeviceMetricsOverride', { width: 1400, height: 850, deviceScaleFactor: 1, mobile: false });
    const begin = Date.now();
    const load = new Promise((resolve) => { loaded = resolve; });
    await send('Page.navigate', { url: 'file://' + path });
    await load;
    const page = {
      seen, milliseconds: Date.now() - begin,
      /** The value of an expression in the page. */
      async ask(expression) {
        const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
        return result.value;
      },
      /** A real click in the middle of the first element that a selector finds. */
      async click(selector, modifiers = 0) {
        const box = await page.ask(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); if (!e) return null;
          e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`);
        if (!box) throw new Error(`nothing to click: ${selector}`);
        for (const type of ['mousePressed', 'mouseReleased'])
          await send('Input.dispatchMouseEvent', { type, x: box[0], y: box[1], button: 'left', clickCount: 1, modifiers });
        await page.settle();
      },
      async type(text) {
        for (const letter of text) await send('Input.dispatchKeyEvent', { type: 'char', text: letter });
        await page.settle();
      },
      async key(key, code = key) {
        for (const type of ['keyDown', 'keyUp'])
          await send('Input.dispatchKeyEvent', { type, key, code, text: type === 'keyDown' && key.length === 1 ? key : undefined });
        await page.settle();
      },
      settle: () => page.ask('new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go(0))))'),
      async picture(file) {
        writeFileSync(file, Buffer.from((await send('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
      },
    };
    await page.settle();
    await work(page);
  } finally {
    clearTimeout(limit);
    const gone = new Promise((resolve) => chromium.once('exit', resolve));
    process.kill(-chromium.pid, 'SIGKILL'); // and those that it started
    await gone;
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    } catch { /* one of them wrote once more: a folder below /tmp stays */ }
  }
}

/** Text without blanks, which a page sets as it likes. */
export const plain = (text) => text.replace(/\s/g, '');

let bad = 0;
/** Something is wrong; the process will say so. */
export function complain(what) {
  console.error(what);
  bad = 1;
}
export function expect(what, got, want) {
  if (String(got) !== String(want)) complain(`${what}: the page has '${got}', wanted '${want}'`);
}
/** 1 if anything was not as expected. */
export const outcome = () => bad;
