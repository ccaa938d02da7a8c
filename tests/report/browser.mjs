// SPDX-License-Identifier: MIT
// Headless Chromium through its debugging pipe: open a page, evaluate in it, press, touch, take pictures, print. Nothing else is needed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--force-color-profile=srgb', '--font-render-hinting=none'];

/** Messages with the browser; `seen` keeps what it asked for and what went wrong. */
function connect(chromium) {
  const waiting = new Map(), seen = { requests: [], errors: [] }, events = new Map();
  let number = 0, rest = '';
  chromium.stdio[4].on('data', (bytes) => {
    const messages = (rest + bytes).split('\0');
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      if (message.id) {
        const { resolve, reject } = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.error) reject(new Error(message.error.message));
        else resolve(message.result);
      } else if (message.method === 'Network.requestWillBeSent') seen.requests.push(message.params.request.url);
      else if (message.method === 'Runtime.exceptionThrown') seen.errors.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
      else if (message.method === 'Log.entryAdded') seen.errors.push(message.params.entry.text);
      else events.get(message.method)?.();
    }
  });
  const link = {
    seen, session: undefined,
    send: (method, params = {}) => new Promise((resolve, reject) => {
      waiting.set(++number, { resolve, reject });
      chromium.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId: link.session }) + '\0');
    }),
    next: (method) => new Promise((resolve) => events.set(method, resolve)),
  };
  return link;
}

/** What a test does with a page. */
function pageOf(link, path) {
  const { send } = link;
  let still = false;
  const page = {
    seen: link.seen,
    /** The value of an expression in the page. */
    async ask(expression) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
      return result.value;
    },
    /** Load it anew, at an address below its own; wait until its view is shown. */
    async open(hash = '') {
      const begin = Date.now(), load = link.next('Page.loadEventFired');
      await send('Page.navigate', { url: 'about:blank' });
      await load;
      const loaded = link.next('Page.loadEventFired');
      await send('Page.navigate', { url: 'file://' + path + hash });
      await loaded;
      await page.shown();
      page.milliseconds = Date.now() - begin;
    },
    /** Wait until a view is there, if the page has a script that runs. */
    async shown() {
      for (let tries = 0; tries < 400; tries++) {
        if (await page.ask('!document.documentElement.classList.contains("js") || document.body.dataset.ready === document.body.dataset.view && !!document.body.dataset.view')) break;
        await new Promise((go) => setTimeout(go, 25));
      }
      await page.settle();
    },
    /** Wait until an expression is true; false: it never was. */
    async until(expression) {
      for (let tries = 0; tries < 400; tries++) {
        if (await page.ask(expression)) return true;
        await new Promise((go) => setTimeout(go, 25));
      }
      return false;
    },
    /** A real click at a place, or in the middle of the first element that a selector finds. */
    async click(selector, modifiers = 0) {
      const at = typeof selector !== 'string' ? selector : await page.ask(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); if (!e) return null;
        e.scrollIntoView({block: 'nearest'}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`);
      if (!at) throw new Error(`nothing to click: ${selector}`);
      await page.ask('delete document.body.dataset.ready; document.body.dataset.before = document.body.dataset.view; 0');
      for (const type of ['mousePressed', 'mouseReleased'])
        await send('Input.dispatchMouseEvent', { type, x: at[0], y: at[1], button: 'left', clickCount: 1, modifiers });
      await page.entered();
    },
    /** After a click or key: wait for a view, if one was entered. */
    async entered() {
      await page.settle();
      if (await page.ask('document.body.dataset.view !== document.body.dataset.before')) await page.shown();
      else await page.ask('document.body.dataset.ready = document.body.dataset.view; 0');
    },
    async drag(from, to, modifiers = 0) {
      await send('Input.dispatchMouseEvent', { type: 'mousePressed', x: from[0], y: from[1], button: 'left', clickCount: 1, modifiers });
      for (let i = 1; i <= 5; i++)
        await send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: from[0] + (to[0] - from[0]) * i / 5, y: from[1] + (to[1] - from[1]) * i / 5, button: 'left', buttons: 1, modifiers });
      await send('Input.dispatchMouseEvent', { type: 'mouseReleased', x: to[0], y: to[1], button: 'left', clickCount: 1, modifiers });
      await page.settle();
    },
    async wheel(x, y, deltaY) {
      await send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: 0, deltaY });
      await page.settle();
    },
    /** Fingers at places, one list of them after the other; then none. */
    async touch(...steps) {
      for (const [i, points] of steps.entries()) {
        await send('Input.dispatchTouchEvent', { type: i ? 'touchMove' : 'touchStart', touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
        await page.settle();
      }
      await send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await page.settle();
    },
    async type(text) {
      for (const letter of text) await send('Input.dispatchKeyEvent', { type: 'char', text: letter });
      await page.settle();
    },
    async key(key, { code = key, modifiers = 0 } = {}) {
      const numbers = { Tab: 9, Enter: 13, Escape: 27, ' ': 32, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };
      await page.ask('document.body.dataset.before = document.body.dataset.view; 0');
      for (const type of ['keyDown', 'keyUp'])
        await send('Input.dispatchKeyEvent', { type, key, code, modifiers, windowsVirtualKeyCode: numbers[key], text: type === 'keyDown' && (key.length === 1 || key === 'Enter') ? (key === 'Enter' ? '\r' : key) : undefined });
      await page.settle();
      if (await page.ask('document.body.dataset.view !== document.body.dataset.before')) await page.shown();
    },
    /** Two frames; where scripts do not run there is none to wait for. */
    settle: async () => { if (!still) await page.ask('new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go(0))))'); },
    async size(width, height, touch = false) {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
      await send('Emulation.setTouchEmulationEnabled', { enabled: touch, maxTouchPoints: touch ? 5 : 1 });
      await page.settle();
    },
    media: (features) => send('Emulation.setEmulatedMedia', features),
    async scripts(on) {
      still = !on;
      await send('Emulation.setScriptExecutionDisabled', { value: !on });
    },
    async picture(file) {
      const { data } = await send('Page.captureScreenshot', { format: 'png' });
      if (file) writeFileSync(file, Buffer.from(data, 'base64'));
      return Buffer.from(data, 'base64');
    },
    async pdf(file) {
      const { data } = await send('Page.printToPDF', { printBackground: false });
      writeFileSync(file, Buffer.from(data, 'base64'));
    },
    version: async () => (await send('Browser.getVersion')).product,
  };
  return page;
}

export async function browse(program, path, work) {
  const profile = mkdtempSync(join(tmpdir(), 'report-'));
  const chromium = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, '--remote-debugging-pipe', 'about:blank'],
    { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const link = connect(chromium);
  const limit = setTimeout(() => { process.kill(-chromium.pid, 'SIGKILL'); console.error('the browser does not answer'); process.exit(1); }, 240000);
  try {
    const { targetInfos } = await link.send('Target.getTargets');
    const target = targetInfos.find((info) => info.type === 'page').targetId;
    link.session = (await link.send('Target.attachToTarget', { targetId: target, flatten: true })).sessionId;
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await link.send(`${domain}.enable`);
    await link.send('Page.setBypassCSP', { enabled: false });
    const page = pageOf(link, path);
    await page.size(1400, 850);
    await page.media({ features: [{ name: 'prefers-color-scheme', value: 'light' }] });
    await page.open();
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

/** The rows in sight of a table: an object each, by the titles of its columns. */
export const rowsOf = (page) => page.ask(`(() => { const titles = [...document.querySelectorAll('.head [data-column]')].map((e) => e.dataset.column);
  return [...document.querySelectorAll('.row')].map((row) => Object.fromEntries([...row.children].map((cell, i) => [titles[i], cell.textContent]))); })()`);

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
