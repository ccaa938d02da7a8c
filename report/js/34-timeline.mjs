// SPDX-License-Identifier: MIT
// Calls over time: a track for each thread, source and processor, with exceptions, losses, lines of text and counters.
import { announce, commandLine, hideTip, make, pixelOf, showTip, tintOf } from './10-dom.mjs';
import { count, duration, matcher, plural, rulerTicks } from './01-text.mjs';
import { data, functionNamed, part, placeOf } from './11-data.mjs';
import { firstAt, laneAt, levelFor, readTrack, sliceAt } from './04-levels.mjs';
import { nearestBorder, readSums, sumSpan } from './05-sums.mjs';
import { go, keep, left, view, views } from './21-shell.mjs';
import { aroundCommand, windowList } from './30-overview.mjs';
import { searchBox, table } from './20-table.mjs';
import { swatch } from './31-flame.mjs';

const RULER = 24, LANE_ROW = 17, TITLE = 22, POINTS = 16, COUNTER = 36, SPACE = 8, MINIMAP = 34;
const FOUND = '#b79cf2';

/* ---- what there is ---- */

const ready = new Map();

/** A timeline as it is drawn: tracks with lanes, points, the height of each. */
function readTimeline(raw) {
  if (ready.has(raw)) return ready.get(raw);
  let top = 0;
  const processorsFirst = [...raw.tracks].sort((a, b) => (a.task || !a.lanes.length) - (b.task || !b.lanes.length));
  const tracks = processorsFirst.map((it) => {
    const track = readTrack(it, raw.level);
    const byName = new Map();
    for (const row of it.counters) {
      if (!byName.has(row[1])) byName.set(row[1], []);
      byName.get(row[1]).push(row);
    }
    track.counterRows = [...byName].map(([name, rows]) => ({ name, rows, low: Math.min(...rows.map((r) => Number(r[5]))), high: Math.max(...rows.map((r) => Number(r[6]))) }));
    track.top = top;
    track.points = it.instants.length ? POINTS : 0;
    track.lanesTop = top + TITLE + track.points;
    track.countersTop = track.lanesTop + track.lanes.length * LANE_ROW;
    top = track.bottom = track.countersTop + track.counterRows.length * COUNTER + SPACE;
    return track;
  });
  const timeline = { ...raw, tracks, height: top, sums: readSums(raw.sums), tints: raw.names.map(tintOf) };
  timeline.pixels = timeline.tints.map(pixelOf);
  ready.set(raw, timeline);
  return timeline;
}

const isFault = (name) => /fault|abort|undefined|illegal|MemManage|misaligned|alignment|lockup|error/i.test(name);

/* ---- drawing ---- */

/** Colours from the style sheet, read once for a frame's theme. */
function themeColours() {
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
  return { ink: of('--ink'), soft: of('--soft'), line: of('--line'), paper: of('--paper'), panel: of('--panel'), accent: of('--accent'), hot: of('--hot'), bad: of('--bad'), shade: of('--shade'), loss: of('--loss') };
}

const widths = new Map();
/** How wide a text is, measured once. */
function widthOf(pen, text) {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 20000) widths.clear();
    widths.set(text, width = pen.measureText(text).width);
  }
  return width;
}

/** As much of a text as fits. */
function fitted(pen, text, room) {
  const width = widthOf(pen, text);
  if (width <= room) return text;
  const letters = Math.floor(text.length * room / width) - 1;
  return letters > 1 ? text.slice(0, letters) + '…' : '';
}

/** Draws one timeline into a canvas that shows a piece of it. */
class Painter {
  constructor(canvas, timeline) {
    this.canvas = canvas;
    this.timeline = timeline;
    this.strip = document.createElement('canvas');
    this.colours = themeColours();
    this.test = null;
  }

  /** The canvas has so many pixels of the page. */
  resize(width, height) {
    const scale = devicePixelRatio || 1;
    this.width = Math.max(50, Math.floor(width));
    this.height = Math.max(50, Math.floor(height));
    this.canvas.width = this.width * scale;
    this.canvas.height = this.height * scale;
    this.canvas.style.height = this.height + 'px';
    this.pen = this.canvas.getContext('2d', { alpha: false });
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.pen.font = '11px system-ui, sans-serif';
    widths.clear();
  }

  draw(from, to, scroll, span) {
    const { pen, width, height, colours, timeline } = this;
    this.from = from;
    this.to = to;
    this.factor = width / (to - from);
    pen.fillStyle = colours.paper;
    pen.fillRect(0, 0, width, height);
    this.ruler(true);
    pen.save();
    pen.beginPath();
    pen.rect(0, RULER, width, height - RULER);
    pen.clip();
    for (const track of timeline.tracks) {
      const shift = RULER - scroll;
      if (track.bottom + shift < RULER || track.top + shift > height) continue;
      this.gaps(track, shift);
      this.lanes(track, shift);
      this.counters(track, shift);
      this.instants(track, shift);
      pen.fillStyle = colours.paper;
      pen.globalAlpha = .8;
      pen.fillRect(0, track.top + shift + 3, widthOf(pen, track.name) + 12, TITLE - 5);
      pen.globalAlpha = 1;
      pen.fillStyle = colours.ink;
      pen.fillText(track.name, 6, track.top + shift + 15);
    }
    pen.restore();
    if (span) this.span(span);
  }

  x(time) { return (time - this.from) * this.factor; }

  ruler() {
    const { pen, width, height, colours, timeline } = this;
    const label = (time, step) => duration(time, timeline.unit, step);
    const { step, ticks } = rulerTicks(this.from, this.to, width, label, (text) => widthOf(pen, text));
    pen.fillStyle = colours.panel;
    pen.fillRect(0, 0, width, RULER);
    for (const time of ticks) {
      if (step < 1 && !Number.isInteger(time)) continue; // nothing happens between two ticks of a clock
      const x = Math.round(this.x(time)), words = label(time, step);
      pen.fillStyle = colours.line;
      pen.fillRect(x, RULER - 6, 1, height);
      if (x + 4 + widthOf(pen, words) > width) continue;
      pen.fillStyle = colours.soft;
      pen.fillText(words, x + 4, 15);
    }
  }

  gaps(track, shift) {
    const { pen, colours, width } = this;
    const height = Math.max(LANE_ROW, track.countersTop - track.lanesTop);
    let drawn = -1;
    for (const [begin, end, why] of track.gaps) {
      const a = Math.max(-2, this.x(begin)), b = Math.min(width + 2, Math.max(this.x(begin) + 3, this.x(end)));
      if (b < 0 || a > width || b <= drawn) continue;
      pen.fillStyle = why === 'not traced' ? colours.shade : colours.loss;
      pen.fillRect(Math.max(a, drawn), track.lanesTop + shift, b - Math.max(a, drawn), height);
      drawn = b;
    }
  }

  /** Narrow slices are pixels of a strip with a row for each depth, which is drawn at once; wide ones are boxes. */
  lanes(track, shift) {
    const { pen, width, timeline } = this;
    const first = Math.max(0, Math.floor((RULER - shift - track.lanesTop) / LANE_ROW)), depths = Math.min(track.lanes.length, Math.ceil((this.height - shift - track.lanesTop) / LANE_ROW));
    if (depths <= first) return;
    const level = levelFor(track, 1 / this.factor), rows = depths - first;
    if (this.strip.width !== width || this.strip.height < rows) {
      this.strip.width = width;
      this.strip.height = Math.max(rows, this.strip.height);
      this.brush = this.strip.getContext('2d', { willReadFrequently: true });
      this.image = null;
    }
    if (!this.image || this.image.height !== rows) this.image = this.brush.createImageData(width, rows);
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    const wide = [];
    let narrow = false;
    for (let depth = first; depth < depths; depth++) {
      const at = (depth - first) * width;
      for (const list of laneAt(track, depth, level)) {
        for (let i = firstAt(list, this.from); i < list.size; i++) {
          const a = this.x(list.start[i]);
          if (a > width) break;
          const b = this.x(list.end[i]);
          if (b - a > 4) { wide.push(depth, a, b, list.name[i], list.count[i]); continue; }
          const name = list.name[i], pixel = this.found && this.found[name] ? this.foundPixel : timeline.pixels[name];
          const left_ = Math.max(0, Math.min(width - 2, a | 0)), right = Math.min(width, Math.max(left_ + 2, Math.ceil(b)));
          for (let p = left_; p < right; p++) pixels[at + p] = pixel;
          narrow = true;
        }
      }
    }
    if (narrow) {
      this.brush.putImageData(this.image, 0, 0);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(this.strip, 0, 0, width, rows, 0, track.lanesTop + shift + first * LANE_ROW, width, rows * LANE_ROW);
      pen.fillStyle = this.colours.paper;
      for (let depth = first; depth < depths; depth++) pen.fillRect(0, track.lanesTop + shift + depth * LANE_ROW + LANE_ROW - 1, width, 1);
    }
    this.boxes(wide, track.lanesTop + shift);
  }

  boxes(wide, top) {
    const { pen, width, timeline } = this;
    let style = '';
    for (let n = 0; n < wide.length; n += 5) {
      const a = Math.max(-1, wide[n + 1]), b = Math.min(width + 1, wide[n + 2]), name = wide[n + 3];
      const colour = this.found && this.found[name] ? FOUND : timeline.tints[name];
      if (colour !== style) pen.fillStyle = style = colour;
      pen.fillRect(a, top + wide[n] * LANE_ROW, b - a - .5, LANE_ROW - 1);
    }
    pen.fillStyle = '#1b2127';
    for (let n = 0; n < wide.length; n += 5) {
      const a = Math.max(0, wide[n + 1]), room = Math.min(width, wide[n + 2]) - a - 8;
      if (room < 24) continue;
      const name = timeline.names[wide[n + 3]], words = fitted(pen, wide[n + 4] > 1 ? `${name} ×${wide[n + 4]}` : name, room);
      if (words) pen.fillText(words, a + 4, top + wide[n] * LANE_ROW + 12);
    }
  }

  instants(track, shift) {
    const { pen, colours, timeline, width } = this;
    const y = track.top + TITLE + shift;
    let drawn = -10;
    for (const [time, name, n, , detail] of track.instants) {
      const x = this.x(time);
      if (x < -5 || x > width + 5 || x - drawn < 1.5) continue;
      drawn = x;
      const at = Math.max(5, Math.min(width - 5, x));
      pen.fillStyle = isFault(timeline.names[name]) ? colours.bad : colours.accent;
      pen.beginPath();
      pen.moveTo(at, y + POINTS - 2);
      pen.lineTo(at - 5, y + 3);
      pen.lineTo(at + 5, y + 3);
      pen.fill();
      pen.globalAlpha = .35;
      pen.fillRect(Math.round(at), y + POINTS - 2, 1, Math.max(LANE_ROW, track.countersTop - track.lanesTop));
      pen.globalAlpha = 1;
      if (detail && n === 1) this.words(track, detail, at + 8, y + 12);
    }
  }

  /** A line of text beside its mark, where the next mark leaves room. */
  words(track, detail, x, y) {
    const next = track.instants.find(([time]) => this.x(time) > x - 7);
    const room = Math.min(this.width, next ? this.x(next[0]) - 12 : this.width) - x;
    if (room < 20) return;
    this.pen.fillStyle = this.colours.soft;
    this.pen.fillText(fitted(this.pen, detail.trim(), room), x, y);
  }

  counters(track, shift) {
    const { pen, colours, timeline, width } = this;
    track.counterRows.forEach((counter, n) => {
      const top = track.countersTop + shift + n * COUNTER + 12, height = COUNTER - 16;
      const y = (number) => top + height * (1 - (counter.high > counter.low ? (number - counter.low) / (counter.high - counter.low) : .5));
      pen.strokeStyle = colours.accent;
      pen.beginPath();
      let before = null, drawn = -9;
      for (const [time, , , , last, low, high] of counter.rows) {
        const x = this.x(time);
        if (x < 0) { before = Number(last); continue; }
        if (x > width) break;
        if (before !== null) { pen.lineTo(x, y(before)); }
        if (x - drawn >= 1) { pen.moveTo(x, y(Number(low))); pen.lineTo(x, y(Number(high))); drawn = x; }
        pen.moveTo(x, y(Number(last)));
        before = Number(last);
      }
      if (before !== null) pen.lineTo(width, y(before));
      pen.stroke();
      pen.fillStyle = colours.soft;
      pen.fillText(`${timeline.names[counter.name]}  ${count(counter.low)} … ${count(counter.high)}`, 6, top - 2);
    });
  }

  span({ begin, end }) {
    const { pen, height, colours, width } = this;
    const a = Math.max(-1, this.x(begin)), b = Math.min(width + 1, this.x(end));
    pen.fillStyle = colours.accent;
    pen.globalAlpha = .14;
    pen.fillRect(a, 0, Math.max(1, b - a), height);
    pen.globalAlpha = 1;
    pen.fillRect(a, 0, 1, height);
    pen.fillRect(b, 0, 1, height);
  }
}

/** How deep calls are over the whole time, for the small map: once. */
function silhouette(timeline, width) {
  const deep = new Float32Array(width);
  for (const track of timeline.tracks) {
    const own = new Float32Array(width), level = levelFor(track, timeline.span / width);
    track.lanes.forEach((_, depth) => {
      for (const list of laneAt(track, depth, level))
        for (let i = 0; i < list.size; i++) {
          const a = Math.floor(list.start[i] / timeline.span * width), b = Math.min(width - 1, Math.floor(list.end[i] / timeline.span * width));
          for (let x = Math.max(0, a); x <= b; x++) own[x] = depth + 1;
        }
    });
    for (let x = 0; x < width; x++) deep[x] += own[x];
  }
  return deep;
}

/* ---- the view ---- */

async function timelineView(wanted) {
  const timelines = (await part('timelines')) ?? [];
  if (left(wanted)) return;
  const capture = Math.min(timelines.length - 1, Math.max(0, Number(wanted.capture) || 0));
  view().classList.add('full');
  const raw = timelines[capture];
  if (!raw || !raw.tracks.length) {
    view().append(make('p', { class: 'soft pad', text: 'The trace has no times and no calls, or the input is a saved profile, which keeps neither.' }));
    return;
  }
  const timeline = readTimeline(raw), { unit } = timeline, last = Math.max(1, timeline.span);
  const story = data.head.stories[capture];
  const margin = last * .004; // so that what happens at the very end is in sight
  let from = Math.max(-margin, Number(wanted.from ?? -margin)), to = Math.min(last + margin, Number(wanted.to ?? last + margin));
  if (!(to > from)) { from = -margin; to = last + margin; }
  let span = wanted.a !== undefined ? { begin: Number(wanted.a), end: Number(wanted.b) } : null;
  let choosing = false, frame = 0;

  const canvas = make('canvas', { id: 'lanes', tabindex: 0, role: 'application', 'aria-label': 'Timeline. Left and right move, plus and minus zoom, Shift and arrows choose a slice, Enter opens its code, n and p go to the next and previous event.' });
  const pane = make('div', { class: 'timeline', id: 'tracks' }, canvas, make('div', { class: 'filler', style: `height:${timeline.height + RULER}px` }));
  const map = make('canvas', { id: 'minimap', 'aria-hidden': 'true' });
  const said = make('span', { class: 'soft', id: 'window' });
  const panel = make('div', { id: 'chosen', class: 'panel', hidden: true, 'aria-live': 'polite' });
  const painter = new Painter(canvas, timeline);
  let current = null; // the slice that keys chose: { track, depth, list, i }

  function draw() {
    frame = 0;
    painter.draw(from, to, pane.scrollTop, span);
    if (current) outline(current);
    said.textContent = `${duration(Math.max(0, from), unit)} to ${duration(Math.min(last, to), unit)}`;
    drawMap();
  }
  const soon = () => { if (!frame) frame = requestAnimationFrame(draw); };

  function outline({ track, depth, list, i }) {
    const { pen } = painter, x = painter.x(list.start[i]), wide = Math.max(3, painter.x(list.end[i]) - x);
    pen.strokeStyle = painter.colours.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x, track.lanesTop + depth * LANE_ROW + RULER - pane.scrollTop, wide, LANE_ROW - 1);
    pen.lineWidth = 1;
  }

  /* the small map */
  let depths = null, drawnMap = '';
  function drawMap() {
    const width = map.clientWidth, scale = devicePixelRatio || 1, pen = map.getContext('2d');
    if (!width) return;
    depths ??= silhouette(timeline, 600);
    const key = [width, from, to, document.documentElement.className].join();
    if (key === drawnMap) return;
    drawnMap = key;
    if (map.width !== width * scale) { map.width = width * scale; map.height = MINIMAP * scale; }
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.fillStyle = painter.colours.panel;
    pen.fillRect(0, 0, width, MINIMAP);
    const most = depths.reduce((high, depth) => Math.max(high, depth), 1);
    pen.fillStyle = painter.colours.soft;
    pen.globalAlpha = .5;
    depths.forEach((depth, i) => pen.fillRect(i * width / 600, MINIMAP - depth / most * (MINIMAP - 4), width / 600 + .5, MINIMAP));
    pen.globalAlpha = 1;
    const a = Math.max(0, from / last * width), b = Math.min(width, to / last * width);
    pen.fillStyle = painter.colours.accent;
    pen.globalAlpha = .22;
    pen.fillRect(a, 0, Math.max(2, b - a), MINIMAP);
    pen.globalAlpha = 1;
    pen.fillRect(a, 0, 2, MINIMAP);
    pen.fillRect(Math.max(a + 2, b - 2), 0, 2, MINIMAP);
  }
  function centre(event) {
    const box = map.getBoundingClientRect(), time = (event.clientX - box.left) / box.width * last;
    show(time - (to - from) / 2, time + (to - from) / 2);
  }
  map.addEventListener('pointerdown', (event) => { map.setPointerCapture(event.pointerId); centre(event); });
  map.addEventListener('pointermove', (event) => { if (event.buttons) centre(event); });

  /* moving and zooming */
  let kept = 0;
  function show(begin, end) {
    const wide = Math.min(last + 2 * margin, Math.max(end - begin, Math.min(last, 1) / 1000, 1e-3));
    from = Math.max(-margin, Math.min(begin, last + margin - wide));
    to = from + wide;
    soon();
    clearTimeout(kept);
    kept = setTimeout(() => { if (!left(wanted)) keep(to - from >= last ? { from: '', to: '' } : { from: Number(from.toPrecision(12)), to: Number(to.toPrecision(12)) }); }, 200);
  }
  const zoom = (about, factor) => show(about - (about - from) * factor, about + (to - about) * factor);
  const timeAt = (clientX) => { const box = canvas.getBoundingClientRect(); return from + (clientX - box.left) / box.width * (to - from); };

  canvas.addEventListener('wheel', (event) => {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = (event.deltaX || event.deltaY) / canvas.clientWidth * (to - from);
      show(from + shift, to + shift);
    } else zoom(timeAt(event.clientX), 1.0015 ** Math.max(-400, Math.min(400, event.deltaY)));
    event.preventDefault();
  }, { passive: false });

  /* what is under a point */
  function at(event) {
    const box = canvas.getBoundingClientRect(), y = event.clientY - box.top + pane.scrollTop - RULER, time = timeAt(event.clientX), slack = (to - from) / box.width * 3;
    const track = timeline.tracks.find((one) => y >= one.top && y < one.bottom);
    if (!track || event.clientY - box.top < RULER) return { time };
    if (track.points && y >= track.top + TITLE && y < track.lanesTop) {
      const near = track.instants.filter(([when]) => Math.abs(when - time) <= 3 * slack).sort((a, b) => Math.abs(a[0] - time) - Math.abs(b[0] - time));
      if (near.length) return { track, time, instant: near[0] };
    }
    const depth = Math.floor((y - track.lanesTop) / LANE_ROW);
    if (depth >= 0 && depth < track.lanes.length) {
      const found = sliceAt(track, depth, levelFor(track, 1 / painter.factor), time, slack);
      if (found) return { track, depth, time, ...found };
    }
    const counter = track.counterRows[Math.floor((y - track.countersTop) / COUNTER)];
    if (counter && y >= track.countersTop) {
      let row = null;
      for (const one of counter.rows) { if (one[0] > time) break; row = one; }
      if (row) return { track, time, counter, row };
    }
    const gap = track.gaps.find(([begin, end]) => begin - slack <= time && time <= end + slack);
    return { track, time, gap };
  }

  function sliceWords({ track, list, i }) {
    const name = timeline.names[list.name[i]], n = list.count[i];
    const lines = [name, `${duration(list.end[i] - list.start[i], unit)} from ${duration(list.start[i], unit)}`];
    if (n > 1) lines.splice(1, 1, `the longest of ${plural(n, 'call')} here: ${duration(list.longest[i], unit)}`, `all of them ${duration(list.busy[i], unit)}, from ${duration(list.start[i], unit)}`);
    if (list.estimated[i]) lines.push('≈ times are estimated between two timestamps');
    lines.push(track.name);
    return lines.join('\n');
  }

  function wordsFor(hit) {
    if (hit.list) return sliceWords(hit);
    if (hit.instant) {
      const [time, name, n, , detail] = hit.instant;
      return `${timeline.names[name]}${n > 1 ? ` and ${n - 1} more near it` : ''}\n${duration(time, unit)}${detail ? '\n' + detail : ''}`;
    }
    if (hit.counter) return `${timeline.names[hit.counter.name]}: ${count(hit.row[4])}\nfrom ${duration(hit.row[0], unit)}` + (hit.row[2] > 1 ? `\n${plural(hit.row[2], 'value')} near it, ${count(hit.row[5])} to ${count(hit.row[6])}` : '');
    if (hit.gap) return `${hit.gap[2]}${hit.gap[3] > 1 ? `, ${hit.gap[3]} times` : ''}\n${duration(hit.gap[1] - hit.gap[0], unit)} from ${duration(hit.gap[0], unit)}`;
    return '';
  }

  /* the panel below: an event, or what ran in a span */
  function openPanel(title, ...children) {
    panel.replaceChildren(make('div', { class: 'panelhead' }, make('h2', { text: title }), make('button', { type: 'button', class: 'small', text: 'Close', onclick: closePanel })), ...children);
    panel.hidden = false;
  }
  function closePanel() {
    panel.hidden = true;
    span = null;
    keep({ a: '', b: '', event: '' });
    soon();
  }

  const isAt = (event, { offset, buffer }) => event.offset === offset && (event.buffer || '') === (buffer || '');
  async function openEvent(title, place) {
    const known = story?.events.find((one) => isAt(one, place) && one.lines.length);
    const command = make('p', { class: 'soft' }, 'Instruction by instruction: ', commandLine(aroundCommand(capture, place.offset, place.buffer)));
    const list = known ? await windowList(known.lines, 50) : null;
    openPanel(title, list ?? command, list && command);
    if (list) list.scrollTop = list.scrollHeight;
  }

  function openSlice(hit) {
    const name = timeline.names[hit.list.name[hit.i]], place = placeOf(capture, hit.list.offset[hit.i]);
    if (functionNamed(name) >= 0) go('code', { name, at: String(place.offset), buffer: place.buffer ?? '', capture: String(capture) });
    else openEvent(name, place);
  }

  function act(hit) {
    if (hit.list) openSlice(hit);
    else if (hit.instant) openEvent(timeline.names[hit.instant[1]] + (hit.instant[4] ? ': ' + hit.instant[4] : ''), placeOf(capture, hit.instant[3]));
    else if (hit.gap) openEvent(hit.gap[2], placeOf(capture, hit.gap[4]));
  }

  function showSpan(begin, end) {
    span = { begin: Math.max(0, Math.min(begin, end)), end: Math.min(last, Math.max(begin, end)) };
    const { about, rows } = sumSpan(timeline.sums, span.begin, span.end), sign = about ? '≈\u202f' : '';
    const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
    const cells = [
      { title: 'time', number: true, width: '9em', key: (r) => r.time, text: (r) => sign + duration(Math.round(r.time), unit), bar: (r) => r.time / Math.max(1, sum('time')) },
      { title: 'instructions', number: true, width: '9em', key: (r) => r.instructions, text: (r) => sign + count(Math.round(r.instructions)) },
      { title: 'calls', number: true, width: '7em', least: 480, key: (r) => r.calls, text: (r) => sign + count(Math.round(r.calls)) },
      { title: 'function', mono: true, width: 'minmax(9em, 3fr)', key: (r) => timeline.names[r.name], text: (r) => timeline.names[r.name] },
    ];
    const inside = table(rows, cells, { label: 'What ran in the span', open: (row) => go('code', { name: timeline.names[row.name] }), empty: 'Nothing ran there.' });
    const snap = () => showSpan(nearestBorder(timeline.sums, span.begin), nearestBorder(timeline.sums, span.end));
    openPanel(`${duration(span.end - span.begin, unit)} from ${duration(span.begin, unit)}`,
      make('p', { id: 'span', text: `${sign}${plural(Math.round(sum('instructions')), 'instruction')} of ${plural(rows.filter((row) => row.instructions > 0).length, 'function')}, ${sign}${plural(Math.round(sum('calls')), 'call')}, ${sign}${duration(Math.round(sum('time')), unit)}` }),
      make('p', { class: 'soft' }, about ? 'A border lies inside a cell, whose part is estimated. ' : 'Exact: both borders are cell borders. ', about ? make('button', { type: 'button', class: 'small', id: 'snap', text: 'Move to cell borders', onclick: snap }) : null,
        ' ', make('button', { type: 'button', class: 'small', text: 'Zoom to it', onclick: () => show(span.begin, span.end) })),
      inside.element);
    keep({ a: Number(span.begin.toPrecision(12)), b: Number(span.end.toPrecision(12)) });
    soon();
  }

  /* pointers: one drags (a finger scrolls the page), two pinch, Shift or the button chooses a span */
  const pointers = new Map();
  let drag = null, pinch = null;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, event);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      pinch = { far: Math.max(10, Math.abs(a.clientX - b.clientX)), about: timeAt((a.clientX + b.clientX) / 2), from, to };
      drag = null;
      return;
    }
    drag = { x: event.clientX, from, to, moved: false, time: timeAt(event.clientX), span: event.shiftKey || choosing };
    if (event.pointerType !== 'touch' || drag.span) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event);
    if (pinch && pointers.size === 2) {
      const [a, b] = [...pointers.values()], factor = pinch.far / Math.max(10, Math.abs(a.clientX - b.clientX));
      const box = canvas.getBoundingClientRect(), part_ = ((a.clientX + b.clientX) / 2 - box.left) / box.width, wide = (pinch.to - pinch.from) * factor;
      show(pinch.about - part_ * wide, pinch.about + (1 - part_) * wide);
      return;
    }
    if (drag) {
      drag.moved ||= Math.abs(drag.x - event.clientX) > 3;
      if (drag.span && drag.moved) {
        span = { begin: Math.min(drag.time, timeAt(event.clientX)), end: Math.max(drag.time, timeAt(event.clientX)) };
        soon();
      } else if (event.pointerType !== 'touch' && drag.moved) {
        const shift = (drag.x - event.clientX) / canvas.clientWidth * (drag.to - drag.from);
        show(drag.from + shift, drag.to + shift);
      }
      return;
    }
    const words = wordsFor(at(event));
    if (words) showTip(event.clientX, event.clientY, words);
    else hideTip();
  });
  function release(event) {
    pointers.delete(event.pointerId);
    if (pointers.size < 2) pinch = null;
    if (drag && event.type === 'pointerup') {
      if (drag.span && drag.moved) { showSpan(drag.time, timeAt(event.clientX)); setChoosing(false); }
      else if (!drag.moved) act(at(event));
    }
    drag = null;
  }
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', hideTip);

  /* keys */
  function choose(hit) {
    if (!hit) return;
    current = hit;
    const begin = hit.list.start[hit.i], end = hit.list.end[hit.i];
    if (end < from || begin > to) show(begin - (to - from) / 2, begin + (to - from) / 2);
    const y = hit.track.lanesTop + hit.depth * LANE_ROW;
    if (y < pane.scrollTop || y + LANE_ROW + RULER > pane.scrollTop + pane.clientHeight) pane.scrollTop = Math.max(0, y - pane.clientHeight / 2);
    announce(sliceWords(hit).replace(/\n/g, ', '));
    soon();
  }
  const inLane = (track, depth, time, slack = 0) => { const found = track.lanes[depth] && sliceAt(track, depth, levelFor(track, 1 / painter.factor), time, slack); return found ? { track, depth, ...found } : null; };
  function step(key) {
    if (!current) {
      for (const track of timeline.tracks) {
        const list = track.lanes.length ? laneAt(track, 0, levelFor(track, 1 / painter.factor)).find((one) => one.size) : null;
        if (list) return choose({ track, depth: 0, list, i: Math.min(list.size - 1, firstAt(list, from)) });
      }
      return;
    }
    const { track, depth, list, i } = current, middle = (list.start[i] + list.end[i]) / 2;
    if (key === 'ArrowUp') return depth > 0 ? choose(inLane(track, depth - 1, middle)) : nextTrack(-1);
    if (key === 'ArrowDown') {
      const below = inLane(track, depth + 1, middle, (list.end[i] - list.start[i]) / 2);
      return below ? choose(below) : nextTrack(1);
    }
    const j = i + (key === 'ArrowRight' ? 1 : -1);
    if (j >= 0 && j < list.size) choose({ ...current, i: j });
  }
  function nextTrack(by) {
    for (let n = timeline.tracks.indexOf(current.track) + by; timeline.tracks[n]; n += by)
      if (timeline.tracks[n].lanes.length) return choose(inLane(timeline.tracks[n], 0, (current.list.start[current.i] + current.list.end[current.i]) / 2, last));
  }
  const happened = timeline.tracks.flatMap((track) => [...track.instants.map(([time, name, , place, detail]) => ({ time, ...placeOf(capture, place), title: timeline.names[name] + (detail ? ': ' + detail : '') })), ...track.gaps.map(([time, , why, , place]) => ({ time, ...placeOf(capture, place), title: why }))]).sort((a, b) => a.time - b.time);
  let where = -1;
  function event_(by) {
    if (!happened.length) return;
    where = (where + by + happened.length) % happened.length;
    toEvent(happened[where]);
  }
  function toEvent(it) {
    const wide = Math.min(to - from, last / 4);
    show(it.time - wide / 2, it.time + wide / 2);
    openEvent(it.title, it);
    announce(`${it.title} at ${duration(it.time, unit)}`);
  }
  canvas.addEventListener('keydown', (event) => {
    const shift = (to - from) / 5, middle = (from + to) / 2;
    if (event.shiftKey && event.key.startsWith('Arrow')) step(event.key);
    else if (event.key === '+' || event.key === '=') zoom(middle, .5);
    else if (event.key === '-') zoom(middle, 2);
    else if (event.key === 'ArrowLeft') show(from - shift, to - shift);
    else if (event.key === 'ArrowRight') show(from + shift, to + shift);
    else if (event.key === 'ArrowUp') pane.scrollTop -= 3 * LANE_ROW;
    else if (event.key === 'ArrowDown') pane.scrollTop += 3 * LANE_ROW;
    else if (event.key === 'Home') show(-margin, last + margin);
    else if (event.key === 'n') event_(1);
    else if (event.key === 'p') event_(-1);
    else if (event.key === 's') showSpan(Math.max(0, from), Math.min(last, to));
    else if (event.key === 'Enter' && current) openSlice(current);
    else if (event.key === 'Escape') { current = null; if (!panel.hidden) closePanel(); soon(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  /* the tools */
  function setChoosing(on) {
    choosing = on;
    chooser.setAttribute('aria-pressed', on);
    canvas.classList.toggle('choosing', on);
  }
  function search(text) {
    painter.test = matcher(text);
    painter.found = painter.test ? timeline.names.map((name) => painter.test(name)) : null;
    painter.foundPixel = pixelOf(FOUND);
    soon();
  }
  const button = (id, text, label, act_) => make('button', { type: 'button', id, text, 'aria-label': label, title: label, onclick: act_ });
  const chooser = make('button', { type: 'button', id: 'choose', text: 'Select a span', 'aria-pressed': 'false', title: 'Drag over a span; with a mouse Shift does the same', onclick: () => setChoosing(!choosing) });
  const bar = make('div', { class: 'tools' },
    timelines.length > 1 ? make('select', { id: 'capture', 'aria-label': 'Capture', onchange: (event) => go('timeline', { capture: event.target.value }) }, ...timelines.map(({ title }, i) => make('option', { value: i, text: title, selected: i === capture }))) : null,
    searchBox('functions', wanted.find, (text) => { keep({ find: text }); search(text); }),
    make('span', { class: 'group', role: 'group', 'aria-label': 'Zoom' }, button('closer', '+', 'Zoom in (+)', () => zoom((from + to) / 2, .5)), button('wider', '−', 'Zoom out (−)', () => zoom((from + to) / 2, 2)), button('whole', 'Whole', 'Whole time (Home)', () => show(-margin, last + margin))),
    make('span', { class: 'group', role: 'group', 'aria-label': 'Events' }, button('previous', '◂', 'Previous event (p)', () => event_(-1)), button('next', '▸', 'Next event (n)', () => event_(1))),
    chooser, said);
  const legend = make('div', { class: 'legend' }, make('span', { text: 'A colour for each function' }), swatch('found', FOUND),
    mark('exception, event or text', 'accent'), mark('fault', 'bad'), area('not traced', 'shade'), area('trace lost', 'loss'),
    make('span', { class: 'soft', text: (timeline.level ? `calls shorter than ${duration(2 ** timeline.level, unit)} are in cells of that width · ` : '') + 'wheel, pinch, + −: zoom · drag, ← →: move · click: code' }));
  const deep = timeline.too_deep ? make('p', { class: 'notice note', id: 'deep', text: `${plural(timeline.too_deep, 'call')} nested deeper than 256 ${timeline.too_deep === 1 ? 'is' : 'are'} counted in Functions, and not drawn here.` }) : null;
  view().append(...[bar, deep, map, pane, panel, legend].filter(Boolean));
  search(wanted.find || '');
  pane.addEventListener('scroll', soon);
  new ResizeObserver(() => { painter.colours = themeColours(); painter.resize(pane.clientWidth, pane.clientHeight); drawnMap = ''; draw(); }).observe(pane);
  painter.resize(pane.clientWidth, pane.clientHeight);
  document.addEventListener('theme', () => { painter.colours = themeColours(); drawnMap = ''; soon(); });
  if (wanted.event !== undefined && story?.events[wanted.event]) {
    const it = story.events[wanted.event];
    const there = happened.find((one) => isAt(it, one));
    if (there) { where = happened.indexOf(there); toEvent(there); } else openEvent(it.title, it);
  } else if (span) showSpan(span.begin, span.end);
  draw();
  // For a script that measures: a frame, and how it moves.
  canvas.measure = { draw, show, whole: () => show(-margin, last + margin), last };
}

function mark(text, colour) {
  return make('span', { class: 'swatch' }, make('i', { class: 'triangle', style: `border-top-color:var(--${colour})`, 'aria-hidden': 'true' }), text);
}

function area(text, colour) {
  return make('span', { class: 'swatch' }, make('i', { style: `background:var(--${colour})`, 'aria-hidden': 'true' }), text);
}

views.timeline = { title: 'Timeline', show: timelineView };
