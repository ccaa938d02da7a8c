// SPDX-License-Identifier: MIT
// Elements, the tip, colours.

/** An element; text never becomes markup. */
export function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === 'text') element.textContent = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key.startsWith('aria-') && typeof value === 'boolean') element.setAttribute(key, String(value));
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function showTip(x, y, text) {
  const tip = byId('tip');
  tip.textContent = text;
  tip.hidden = false;
  const left = Math.min(x + 12, innerWidth - tip.offsetWidth - 8);
  const below = y + 16 + tip.offsetHeight <= innerHeight;
  tip.style.left = Math.max(4, left) + 'px';
  tip.style.top = Math.max(4, below ? y + 16 : y - tip.offsetHeight - 8) + 'px';
}

export function hideTip() {
  byId('tip').hidden = true;
}

/** A sentence for who cannot see what changed. */
export function announce(text) {
  byId('status').textContent = text;
}

/** A command that can be copied. */
export function commandLine(command) {
  const button = make('button', { type: 'button', class: 'small', text: 'Copy', 'aria-label': `Copy the command ${command}` });
  button.addEventListener('click', () => {
    const done = () => { button.textContent = 'Copied'; announce('Copied'); };
    const area = make('textarea', { 'aria-hidden': 'true', class: 'offscreen' });
    if (navigator.clipboard && isSecureContext) {
      navigator.clipboard.writeText(command).then(done, () => {});
      return;
    }
    area.value = command;
    document.body.append(area);
    area.select();
    if (document.execCommand('copy')) done();
    area.remove();
  });
  return make('span', { class: 'command' }, make('code', { text: command, tabindex: 0 }), button);
}

/* Light tints that are told apart also without red or green; dark text stands on all of them. */
const TINTS = ['#f4c15d', '#8ecaf0', '#6fcfa8', '#f0a27c', '#e3b5d6', '#f1e27a', '#a9b8f0', '#c9d3a0', '#d6c2a8', '#9fd8d5', '#f2b8b5', '#c3c9d1'];

function hashOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  hash ^= hash >>> 15;
  return (Math.imul(hash, 0x2c1b3c6d) ^ hash >>> 12) >>> 0;
}

/** A colour that stays with a name. */
export const tintOf = (name) => TINTS[hashOf(name) % TINTS.length];
/** The n-th colour; there are so many. */
export const tintAt = (n) => TINTS[n % TINTS.length];
export const TINT_COUNT = TINTS.length;

/** "#rrggbb" as a pixel of ImageData on a little-endian host. */
export const pixelOf = (colour) => {
  const number = parseInt(colour.slice(1), 16);
  return (0xff000000 | (number & 0xff) << 16 | number & 0xff00 | number >> 16) >>> 0;
};

/** From blue (less) over grey to orange (more), for -1 to 1. */
export function differenceColour(part) {
  const strength = Math.min(1, Math.abs(part)), mix = (a, b) => Math.round(a + (b - a) * strength);
  const to = part < 0 ? [106, 174, 230] : [242, 150, 60];
  return '#' + [222, 226, 230].map((from, i) => mix(from, to[i]).toString(16).padStart(2, '0')).join('');
}
