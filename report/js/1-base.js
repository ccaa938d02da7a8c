// SPDX-License-Identifier: MIT
// What all views share: the data, numbers in words, elements, the tip.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const view = document.getElementById('view');

/** An element; text never becomes markup. */
function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === 'text') element.textContent = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** Counts above 2^53 come as strings of digits: exact to show, near enough to compare. */
const value = (count) => Number(count || 0);

function count(number) {
  return BigInt(number || 0).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

const share = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(2) + ' %' : '–');

function duration(time, unit) {
  if (unit !== 'ns') return count(Math.round(time)) + (unit ? ' ' + unit : '');
  for (const [size, name] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']])
    if (Math.abs(time) >= size) return (time / size).toFixed(3) + ' ' + name;
  return time + ' ns';
}

const functions = data.functions;
const nameOf = (f) => (f >= 0 && functions.name[f]) || '[unknown]';
const objectOf = (f) => data.objects[functions.object[f]] || '';
const fileOf = (f) => data.files[functions.file[f]] || '';
const total = value(data.totals.instructions ?? data.totals.samples);

/** A colour that stays with a name. */
function colour(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  hash >>>= 0;
  return `hsl(${18 + hash % 38} ${62 + (hash >>> 8) % 25}% ${64 + (hash >>> 16) % 12}%)`;
}

const tip = document.getElementById('tip');
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const x = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
  const y = event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16;
  tip.style.left = Math.max(4, x) + 'px';
  tip.style.top = Math.max(4, y) + 'px';
}
const hideTip = () => { tip.hidden = true; };

function matcher(text) {
  const wanted = text.trim().toLowerCase();
  return wanted ? (name) => name.toLowerCase().includes(wanted) : null;
}
