// Search and sort of tables, copy buttons, proof links, chart colours by scheme, charts that fit the printed page, the verdict first.
// Listens on the document, so it serves outputs that appear later; a second copy of it does nothing.
(() => {
  if (window.casebookReady) return;
  window.casebookReady = true;
  document.documentElement.classList.add('cb-scripted');
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const closest = (event, selector) => event.target.closest && event.target.closest(selector);

  // Search as you type. Rows are hidden, never removed; the count is said.
  document.addEventListener('input', event => {
    if (!closest(event, '[data-cb-search]')) return;
    const box = event.target.closest('[data-cb-table]');
    const words = event.target.value.trim().toLowerCase();
    const rows = all('tbody tr', box);
    rows.forEach(row => { row.hidden = !row.textContent.toLowerCase().includes(words); });
    const found = rows.filter(row => !row.hidden).length;
    box.querySelector('[data-cb-found]').textContent = words ? `${found} of ${rows.length} rows` : '';
  });

  document.addEventListener('click', event => {
    const copy = closest(event, '[data-cb-copy]');
    if (copy) copyBeside(copy);
    const sort = closest(event, '.cb-sort');
    if (sort) sortBy(sort.closest('th'));
    const link = closest(event, '.cb a[href^="#"]');
    if (link && reveal(link.hash)) event.preventDefault();
  });

  // The clipboard is closed to some pages: then the text is selected, and the keyboard copies.
  function copyBeside(button) {
    const code = button.parentElement.querySelector('code');
    const label = button.dataset.cbLabel ||= button.textContent;
    const said = word => { button.textContent = word; setTimeout(() => { button.textContent = label; }, 1500); };
    const select = () => {
      if (code.closest('details')) code.closest('details').open = true;
      getSelection().selectAllChildren(code);
      said('Selected');
    };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => said('Copied'), select); else select();
  }

  // A link into a closed <details> opens it. JupyterLab's own handling of # links would not.
  function reveal(hash) {
    const target = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return false;
    const box = target.closest('details') || target.querySelector('details');
    if (box) box.open = true;
    all('.cb-pointed').forEach(element => element.classList.remove('cb-pointed'));
    target.classList.add('cb-pointed');
    keepInView(target);
    return true;
  }

  // JupyterLab lays cells out as they come into view, and scrolls back when one grows: the page goes on moving for a while.
  // So the target is shown again whenever it has moved, until it has stood still for a moment or the person does something.
  const STILL = 30, MOST = 900, ACTS = ['wheel', 'keydown', 'pointerdown', 'touchstart'];
  let letGo = () => {};
  function keepInView(target) {
    letGo();
    let still = 0, frames = 0, place = null, held = true;
    const top = () => target.getBoundingClientRect().top;
    const step = () => {
      if (!held) return;
      still = top() === place ? still + 1 : 0;
      if (still === 0) target.scrollIntoView({ block: 'center' });
      place = top();
      if (still < STILL && ++frames < MOST) requestAnimationFrame(step); else letGo();
    };
    letGo = () => { held = false; ACTS.forEach(name => removeEventListener(name, letGo, true)); };
    ACTS.forEach(name => addEventListener(name, letGo, true));
    step();
  }
  addEventListener('hashchange', () => reveal(location.hash));

  // Sort by a column, numbers as numbers: the narrow spaces at their thousands are not part of them.
  const collator = new Intl.Collator('en', { numeric: true });
  function sortBy(head) {
    const table = head.closest('table');
    const column = [...head.parentElement.children].indexOf(head);
    const down = head.getAttribute('aria-sort') === 'ascending';
    all('thead th', table).forEach(th => th.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const cell = row => row.children[column];
    const text = row => cell(row).dataset.cbSort ?? cell(row).textContent.trim().replaceAll('\u202f', '');
    const rows = [...table.tBodies[0].rows].sort((a, b) => collator.compare(text(a), text(b)) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
  }
  function makeSortable() {
    all('table[data-cb-sortable]').forEach(table => {
      table.removeAttribute('data-cb-sortable');
      all('thead th', table).forEach(th => {
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'cb-sort';
        button.append(...th.childNodes);
        th.append(button);
      });
    });
  }

  // A chart comes in light colours. Its meta says which token each of them is: {"marker.color": "bar", ...}.
  const probe = document.createElement('span');
  probe.className = 'cb';
  probe.hidden = true;
  const colour = token => {
    probe.style.color = `var(--cb-${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = meta => Object.fromEntries(Object.entries(meta || {}).map(
    ([path, tokens]) => [path, Array.isArray(tokens) ? [tokens.map(colour)] : colour(tokens)]));
  function recolour(chart) {
    if (!window.Plotly || !chart.data) return;
    const scheme = colour('page');
    if (chart.dataset.cbScheme === scheme && chart.cbColoured === chart.layout) return;
    chart.dataset.cbScheme = scheme;
    chart.cbColoured = chart.layout; // another one comes with another figure in the same place
    window.Plotly.relayout(chart, colours(chart.layout.meta));
    chart.data.forEach((trace, index) => window.Plotly.restyle(chart, colours(trace.meta), [index]));
  }

  // A picture of lanes. Its labels stand where there is room, whatever is shown of it, and a stretch that is brushed in it
  // hides the rows that lie outside. The same rules as views/lanes.py: fitted().
  const LABELS = 112;
  const isLanes = chart => chart.layout && (chart.layout.annotations || []).some(note => (note.name || '').startsWith('lane|'));
  const axisOf = chart => chart._fullLayout.xaxis;
  const shownBy = chart => axisOf(chart).range.map(axisOf(chart).r2l);
  const wholeOf = chart => [chart.layout.xaxis.minallowed, chart.layout.xaxis.maxallowed].map(axisOf(chart).r2l);
  const around = chart => chart.closest('.jp-Notebook') || document;

  function fit(chart) {
    const whole = chart._fullLayout.width, narrow = whole < 560, width = whole - (narrow ? 8 : LABELS) - 2;
    const [first, last] = shownBy(chart), scale = width / (last - first);
    const state = [Math.round(width), first, last].join();
    if (chart.dataset.cbFitted === state && chart.cbFitted === chart.layout) return;
    chart.dataset.cbFitted = state;
    chart.cbFitted = chart.layout;
    const taken = {}, change = { 'margin.l': narrow ? 8 : LABELS };
    const free = (row, left, wide) => {
      const places = taken[row] ||= [];
      const clear = places.every(([begin, end]) => left + wide <= begin || end <= left);
      if (clear) places.push([left, left + wide]);
      return clear;
    };
    const put = (index, left) => Object.assign(change, { [`annotations[${index}].visible`]: left !== null },
      left === null ? {} : { [`annotations[${index}].x`]: 0, [`annotations[${index}].xref`]: 'paper', [`annotations[${index}].xanchor`]: 'left', [`annotations[${index}].xshift`]: left });
    const time = (text, open) => text ? axisOf(chart).r2l(text) : open;
    const standsIn = index => (chart.layout.annotations[index]?.name || '').endsWith('|instead');
    let seated = false;
    chart.layout.annotations.forEach((note, index) => {
      const [kind, ...said] = (note.name || '').split('|');
      if (kind === 'detail') {
        const [below, above, name, wide] = said.map(Number);
        change[`annotations[${index}].y`] = narrow ? above : below;
        return put(index, !narrow ? -LABELS : name + wide <= width && free(above - 8, name, wide) ? name : null);
      }
      if (kind === 'lane') {
        const [beside, above, wide] = said.map(Number);
        change[`annotations[${index}].y`] = narrow ? above : beside;
        if (narrow) free(above - 8, 0, wide);
        return put(index, narrow ? 0 : -LABELS);
      }
      const [from, to, side, wide, row] = [said[0], said[1], said[2], +said[3], +said[4]];
      if (standsIn(index) && seated) return put(index, null);
      const begin = kind === 'pinned' ? 0 : Math.max(0, (time(from, first) - first) * scale);
      const end = kind === 'pinned' ? width : Math.min(width, (time(to, last) - first) * scale);
      const sides = { left: begin, center: (begin + end - wide) / 2, right: end - wide };
      if (kind === 'pinned') sides.left = Math.max(0, ...(taken[row] || []).map(place => place[1]));
      const loose = kind === 'head' || kind === 'loose';
      const tries = (loose || kind === 'pinned' ? [side] : [side, 'right', 'left'])
        .map(name => loose ? Math.min(Math.max(0, sides[name]), width - wide) : sides[name]);
      const sure = kind === 'pinned' && !standsIn(index + 1);
      const room = sure || (loose ? end >= begin : end - begin >= wide && (kind !== 'pinned' || sides.left + wide <= width));
      const left = room ? tries.find(place => free(row, place, wide)) : undefined;
      seated = left !== undefined;
      put(index, seated ? left + 3 : null);
    });
    window.Plotly.relayout(chart, change);
    sideBySide(chart, width, [first, last]);
  }

  // Discs that would hide each other stand side by side around their mean: views/lanes.py, spread().
  const DISC = 19;
  function sideBySide(chart, width, [first, last]) {
    const index = chart.data.findIndex(trace => trace.name === 'numbers');
    if (index < 0) return;
    const trace = chart.data[index], axis = axisOf(chart), scale = width / (last - first);
    if (chart.cbNumbers !== trace.hovertext) [chart.cbNumbers, chart.cbTold] = [trace.hovertext, trace.x.map(axis.r2l)];
    const begin = heap => heap.reduce((sum, place) => sum + (chart.cbTold[place] - first) * scale, 0) / heap.length - heap.length * DISC / 2;
    const at = [...chart.cbTold];
    new Set(trace.y).forEach(row => {
      const heaps = [];
      [...chart.cbTold.keys()].filter(place => trace.y[place] === row && at[place] >= first && at[place] <= last)
        .sort((a, b) => at[a] - at[b] || a - b)
        .forEach(place => {
          heaps.push([place]);
          while (heaps.length > 1 && begin(heaps.at(-1)) < begin(heaps.at(-2)) + heaps.at(-2).length * DISC) {
            const heap = heaps.pop();
            heaps.at(-1).push(...heap);
          }
        });
      const order = heaps.flat(), wanted = heaps.flatMap(heap => heap.map((_, number) => begin(heap) + (number + 0.5) * DISC));
      for (let n = 0, low = DISC / 2; n < wanted.length; n++, low += DISC) wanted[n] = low = Math.max(wanted[n], low);
      for (let n = wanted.length - 1, high = width - DISC / 2; n >= 0; n--, high -= DISC) wanted[n] = high = Math.min(wanted[n], high);
      order.forEach((place, number) => { at[place] = first + wanted[number] / scale; });
    });
    trace.x = at.map(time => axis.l2r(time));
    window.Plotly.redraw(chart); // a restyle of times would forget that the axis is one of dates
  }

  const clock = time => new Date(time).toISOString().slice(11, 23);
  function atClock(text, day) {
    const parts = /^\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,3}))?)?\s*$/.exec(text);
    if (!parts) return Date.parse(text);
    return Math.floor(day / 86400000) * 86400000 + ((+parts[1] * 60 + +parts[2]) * 60 + +(parts[3] || 0)) * 1000 + +(parts[4] || '0').padEnd(3, '0');
  }

  // How many events a stretch holds: each is drawn, or the bins say about how many.
  function counted(chart, [first, last]) {
    const axis = axisOf(chart);
    let inside = 0, whole = 0, about = '';
    chart.data.forEach(trace => {
      if (trace.name !== 'ticks' && trace.name !== 'bins') return;
      if (trace.name === 'bins' && trace.customdata.length) about = 'about ';
      const begins = trace.name === 'bins' ? trace.base : trace.x;
      begins.forEach((begin, place) => {
        const at = axis.r2l(begin), count = trace.name === 'bins' ? trace.customdata[place] : 1;
        whole += count;
        if (at >= first && at <= last) inside += count;
      });
    });
    const grouped = count => count.toLocaleString('en').replaceAll(',', '\u202f');
    return `${about}${grouped(inside)} of ${grouped(whole)} events`;
  }

  function follow(chart) {
    const stretch = shownBy(chart), [first, last] = stretch, root = around(chart);
    const asAtFirst = stretch.every((end, place) => Math.abs(end - chart.cbFirst[place]) < 1);
    const wide = wholeOf(chart), whole = first <= wide[0] + 1 && last >= wide[1] - 1;
    const everything = asAtFirst || whole;
    all('[data-cb-from]', root).forEach(row => {
      const from = row.dataset.cbFrom === '' ? -Infinity : +row.dataset.cbFrom, to = row.dataset.cbTo === '' ? Infinity : +row.dataset.cbTo;
      row.classList.toggle('cb-out', !everything && (to < first || from > last));
    });
    const fields = root.querySelector('[data-cb-range]');
    if (fields) {
      fields.querySelector('[data-cb-since]').value = clock(first);
      fields.querySelector('[data-cb-until]').value = clock(last);
      fields.querySelector('[data-cb-range-said]').textContent = `UTC: ${counted(chart, stretch)}${everything ? '' : '; the tables below follow'}`;
    }
    write(root, 'cb-brushed', asAtFirst ? '' : stretch.map(end => new Date(end).toISOString()).join('|'));
  }

  // A kernel listens to fields that nobody sees.
  function write(root, name, value) {
    const field = root.querySelector(`.${name} input`);
    if (!field || field.value === value) return;
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }

  function makeLanes(chart) {
    if (chart.cbFirst || !window.Plotly || !chart._fullLayout || !isLanes(chart)) return;
    chart.cbFirst = shownBy(chart);
    if (matchMedia('(pointer: coarse)').matches) window.Plotly.relayout(chart, { dragmode: false });
    chart.on('plotly_afterplot', () => fit(chart));
    chart.on('plotly_relayout', change => { if (Object.keys(change).some(key => key.startsWith('xaxis.'))) follow(chart); });
    chart.on('plotly_click', ({ points }) => {
      const target = points[0].customdata;
      if (typeof target !== 'string' || !target) return;
      write(around(chart), 'cb-clicked', `${target}|${Date.now()}`);
      reveal(target);
    });
    const fields = around(chart).querySelector('[data-cb-range]');
    const show = stretch => window.Plotly.relayout(chart, { 'xaxis.range': stretch.map(end => axisOf(chart).l2r(end)) });
    if (fields) {
      fields.addEventListener('change', () => {
        const stretch = ['since', 'until'].map(end => atClock(fields.querySelector(`[data-cb-${end}]`).value, chart.cbFirst[0]));
        if (stretch[0] < stretch[1]) show(stretch);
      });
      fields.querySelector('[data-cb-back]').addEventListener('click', () => show(chart.cbFirst));
      fields.querySelector('[data-cb-whole]').addEventListener('click', () => show(wholeOf(chart)));
    }
    fit(chart);
  }

  // A kernel sends another figure for the place of the one that is there: JupyterLab's own renderer would keep the old one.
  function redraw(script) {
    const chart = all('.js-plotly-plot', around(script)).find(isLanes);
    if (!chart || !window.Plotly) return;
    const figure = JSON.parse(script.textContent);
    script.remove();
    chart.cbFirst = figure.layout.xaxis.range.map(axisOf(chart).r2l);
    window.Plotly.react(chart, figure.data, figure.layout).then(() => fit(chart));
  }

  // JupyterLab ends at the last cell. A run that ends takes the reader to the verdict, or to the error, unless they have done
  // anything since it began. A verdict names its run: shown again, it is no new one.
  const PENDING = '.cb-verdict.cb-is-pending', VERDICT = '.cb-verdict[data-cb-run]', ERROR = '[data-mime-type$=".stderr"]';
  const TICK = 150, SETTLED = 10, AT_ONCE = 300;
  const readers = new Map();
  let acted = 0;
  function guide(book) {
    const now = Date.now(), pending = book.querySelector(PENDING);
    const seen = readers.get(book) || { run: '' };
    if (pending && seen.pending !== pending) Object.assign(seen, { pending, since: now, place: null });
    readers.set(book, seen);
    const verdict = book.querySelector(VERDICT), error = verdict ? null : all(ERROR, book).pop();
    const isNew = verdict ? verdict.dataset.cbRun !== seen.run : error && error !== seen.error;
    if (isNew) Object.assign(seen, { run: verdict ? verdict.dataset.cbRun : seen.run, error, place: verdict || error, ticks: 0 });
    if (!seen.place) return;
    const acts = seen.since ? acted > seen.since : now - acted < AT_ONCE;
    if (!acts && ++seen.ticks <= SETTLED && seen.place.isConnected) {
      seen.place.scrollIntoView({ block: seen.place === verdict ? 'start' : 'center' });
      return;
    }
    seen.place.dataset.cbReached = 'yes';
    Object.assign(seen, { place: null, since: verdict ? 0 : seen.since });
  }
  if (document.querySelector('.jp-Notebook')) {
    const act = () => { acted = Date.now(); };
    ['wheel', 'keydown', 'pointerdown'].forEach(kind => document.addEventListener(kind, act, { capture: true, passive: true }));
    setInterval(() => all('.jp-Notebook').forEach(guide), TICK);
  }

  const refresh = () => {
    if (!probe.isConnected) document.body.append(probe);
    makeSortable();
    all('[data-cb-redrawn]').forEach(redraw);
    all('.js-plotly-plot').forEach(recolour);
    all('.js-plotly-plot').forEach(makeLanes);
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', refresh); else refresh();
  addEventListener('load', refresh);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
  let waiting = 0;
  new MutationObserver(() => { clearTimeout(waiting); waiting = setTimeout(refresh, 200); })
    .observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-jp-theme-light'] });

  // Paper: light colours, charts as wide as the page, short details open.
  addEventListener('beforeprint', () => {
    document.documentElement.classList.add('cb-on-paper');
    all('details:not([open], .cb-cited, .cb-aside)').filter(box => all('tbody tr', box).length <= 40).forEach(box => { box.open = true; box.dataset.cbPaper = 'yes'; });
    all('.js-plotly-plot').forEach(chart => { recolour(chart); window.Plotly.relayout(chart, { width: 640 }); });
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('cb-on-paper');
    all('details[data-cb-paper]').forEach(box => { box.open = false; delete box.dataset.cbPaper; });
    all('.js-plotly-plot').forEach(chart => { recolour(chart); window.Plotly.relayout(chart, { width: null, autosize: true }); });
  });
})();
