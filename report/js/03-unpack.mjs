// SPDX-License-Identifier: MIT
// A part of the data from its text in the page.

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A plain loop: atob() with Uint8Array.from() takes seconds for some megabytes. */
export function fromBase64(text) {
  const table = new Uint8Array(128);
  for (let i = 0; i < 64; i++) table[LETTERS.charCodeAt(i)] = i;
  let size = text.length;
  while (size > 0 && text.charCodeAt(size - 1) === 61) size--;
  const bytes = new Uint8Array(Math.floor(size * 3 / 4));
  for (let i = 0, at = 0; i < size; i += 4) {
    const word = table[text.charCodeAt(i)] << 18 | table[text.charCodeAt(i + 1)] << 12 |
      table[text.charCodeAt(i + 2) & 127] << 6 | table[text.charCodeAt(i + 3) & 127];
    bytes[at++] = word >> 16;
    if (at < bytes.length) bytes[at++] = word >> 8;
    if (at < bytes.length) bytes[at++] = word;
  }
  return bytes;
}

/** The value of a part: form is "gzip" (in base64) or "json". */
export async function unpack(text, form) {
  if (form !== 'gzip') return JSON.parse(text);
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}
