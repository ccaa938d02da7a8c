// SPDX-License-Identifier: MIT
// Calls over time, a lane a thread; the wheel zooms, dragging moves.

let timelineChosen = 0; // one of each capture

/** The code of a function by its name, where it is in the page. */
function openNamed(name) {
  const f = functions.name.indexOf(name);
  if (f >= 0) openCode(f);
}

function timelineView() {
  const timeline = data.timelines[timelineChosen] ?? { tracks: [], unit: '', names: [] };
  const { tracks, unit, events = [], gaps = [], names } = timeline;
  const nameIn = (track, i) => names[track.name_of[i]];
  const colours = names.map(colour);
  view.classList.add('full');
  if (data.timelines.length > 1) {
    const list = make('select', { id: 'capture', 'aria-label': 'Capture', onchange: (event) => { timelineChosen = Number(event.target.value); show('timeline'); } });
    data.timelines.forEach(({ title }, i) => list.append(make('option', { value: i, text: title, selected: i === timelineChosen })));
    view.append(make('div', { class: 'bar' }, list));
  }
  if (!tracks.length) { view.append(make('p', { text: 'The trace has no times and no calls.' })); return; }
  const first = tracks.reduce((m, t) => Math.min(m, t.first), Infinity), last = tracks.reduce((m, t) => Math.max(m, t.last), first + 1);
  let from = first, to = last, test = null;
  const canvas = make('canvas', { id: 'lanes', tabindex: 0, 'aria-label': 'Timeline' });
  const pane = make('div', { class: 'grid' }, canvas);
  const said = make('span', { class: 'soft', id: 'window' });
  const rowHeight = 16, gapHeight = 26;
  let tops = [];

  function layout() {
    let top = 22;
    tops = tracks.map((track) => { const at = top; top += gapHeight + (track.deepest + 1) * rowHeight; return at; });
    return top + 8;
  }

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

  function draw() {
    const height = layout(), width = pane.clientWidth - 2, scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.height = height + 'px';
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.font = '11px system-ui, sans-serif';
    const x = (time) => (time - from) / (to - from) * width;
    ruler(pen, width, x);
    tracks.forEach((track, t) => {
      pen.fillStyle = style('--ink');
      pen.fillText(track.name, 4, tops[t] + 14);
      lane(pen, track, tops[t] + gapHeight - 6, x, width);
    });
    for (const [t, begin, end, why] of gaps) {
      pen.fillStyle = why === 'not traced' ? 'rgba(128, 128, 128, .25)' : 'rgba(200, 60, 20, .25)';
      pen.fillRect(x(begin), tops[t] + 18, Math.max(2, x(end) - x(begin)), (tracks[t].deepest + 1) * rowHeight);
    }
    for (const [t, time] of events) { pen.fillStyle = style('--hot'); pen.fillRect(x(time), tops[t] + 14, 2, 8); }
    said.textContent = `${duration(from - first, unit)} to ${duration(to - first, unit)}`;
  }

  function ruler(pen, width, x) {
    const step = 10 ** Math.floor(Math.log10((to - from) / 4 || 1));
    pen.fillStyle = style('--soft');
    for (let time = Math.ceil((from - first) / step) * step; time <= to - first; time += step) {
      pen.fillRect(x(first + time), 0, 1, 6);
      pen.fillText(duration(time, unit), x(first + time) + 3, 12);
    }
  }

  function lane(pen, track, top, x, width) {
    const drawn = [];
    for (let i = 0; i < track.start.length; i++) {
      const left = x(track.start[i]), right = x(track.end[i]), depth = track.depth[i];
      if (right < 0 || left > width) continue;
      const wide = right - left;
      if (wide < 0.7) { // many in one pixel: one is enough
        if (drawn[depth] === Math.floor(left)) continue;
        drawn[depth] = Math.floor(left);
      }
      const name = nameIn(track, i);
      pen.fillStyle = test && test(name) ? '#b388eb' : colours[track.name_of[i]];
      pen.fillRect(left, top + depth * rowHeight, Math.max(1, wide - 0.5), rowHeight - 1);
      if (wide > 30) {
        pen.save();
        pen.beginPath();
        pen.rect(left, top + depth * rowHeight, wide - 2, rowHeight);
        pen.clip();
        pen.fillStyle = '#1d2329';
        pen.fillText(name, Math.max(left, 0) + 3, top + depth * rowHeight + 12);
        pen.restore();
      }
    }
  }

  function at(event) {
    const box = canvas.getBoundingClientRect(), y = event.clientY - box.top;
    const time = from + (event.clientX - box.left) / box.width * (to - from);
    let t = tracks.length - 1;
    while (t > 0 && tops[t] > y) t--;
    const depth = Math.floor((y - tops[t] - gapHeight + 6) / rowHeight);
    const track = tracks[t];
    const slack = (to - from) / box.width;
    for (let i = 0; i < track.start.length; i++)
      if (track.depth[i] === depth && track.start[i] - slack <= time && time <= track.end[i] + slack) return { track, i, time };
    return { track, i: -1, time, gap: gaps.find(([of, begin, end]) => of === t && begin - slack <= time && time <= end + slack) };
  }

  function zoom(centre, factor) {
    const wide = Math.min(last - first, Math.max((to - from) * factor, 1));
    from = Math.max(first, centre - (centre - from) * wide / (to - from));
    to = Math.min(last, from + wide);
    from = Math.max(first, to - wide);
    draw();
  }

  canvas.addEventListener('wheel', (event) => { event.preventDefault(); zoom(at(event).time, event.deltaY > 0 ? 1.25 : 0.8); }, { passive: false });
  let drag = null;
  canvas.addEventListener('mousedown', (event) => { drag = { x: event.clientX, from, to, moved: false }; });
  canvas.addEventListener('mousemove', (event) => {
    if (drag && event.buttons) {
      const shift = (drag.x - event.clientX) / canvas.clientWidth * (drag.to - drag.from);
      const bounded = Math.min(Math.max(shift, first - drag.from), last - drag.to);
      drag.moved ||= Math.abs(drag.x - event.clientX) > 3;
      from = drag.from + bounded;
      to = drag.to + bounded;
      draw();
      return;
    }
    const { track, i, gap } = at(event);
    if (gap) showTip(event, `${gap[3]}\n${duration(gap[2] - gap[1], unit)} from ${duration(gap[1] - first, unit)}`);
    else if (i < 0) hideTip();
    if (i < 0) return;
    showTip(event, `${nameIn(track, i)}\n${duration(track.end[i] - track.start[i], unit)} from ${duration(track.start[i] - first, unit)}${track.estimated?.[i] ? '\ntimes are estimated' : ''}`);
  });
  canvas.addEventListener('mouseup', (event) => {
    if (drag && !drag.moved) { const { track, i } = at(event); if (i >= 0) openNamed(nameIn(track, i)); }
    drag = null;
  });
  canvas.addEventListener('mouseleave', hideTip);
  canvas.addEventListener('keydown', (event) => {
    const middle = (from + to) / 2, step = (to - from) / 5;
    if (event.key === '+' || event.key === '=') zoom(middle, 0.5);
    else if (event.key === '-') zoom(middle, 2);
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      const shift = event.key === 'ArrowLeft' ? Math.max(-step, first - from) : Math.min(step, last - to);
      from += shift;
      to += shift;
      draw();
    } else return;
    event.preventDefault();
  });
  view.append(make('div', { class: 'bar' }, searchBox('functions', (text) => { test = matcher(text); draw(); }),
    make('button', { type: 'button', text: 'Whole time', id: 'whole', onclick: () => { from = first; to = last; draw(); } }),
    make('button', { type: 'button', text: '+', id: 'closer', onclick: () => zoom((from + to) / 2, 0.5) }),
    make('button', { type: 'button', text: '−', onclick: () => zoom((from + to) / 2, 2) }), said,
    make('span', { class: 'soft', text: (timeline.note || '') + ' wheel: zoom · drag: move · click: code' })), pane);
  new ResizeObserver(draw).observe(pane);
}
