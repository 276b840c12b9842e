// Search and sort of tables, copy buttons, chart colours by scheme, charts that fit the printed page.
// Listens on the document, so it serves outputs that appear later, and does nothing twice.
(() => {
  if (window.casebookReady) return;
  window.casebookReady = true;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  document.addEventListener('input', event => {
    const name = event.target.dataset && event.target.dataset.cbSearch;
    if (!name) return;
    const box = event.target.closest('[data-cb-table]');
    const words = event.target.value.trim().toLowerCase();
    const rows = all('tbody tr', box);
    rows.forEach(row => { row.hidden = !!words && !row.textContent.toLowerCase().includes(words); });
    const said = box.querySelector('[data-cb-found]');
    if (said) said.textContent = words ? `${rows.filter(row => !row.hidden).length} of ${rows.length} rows` : '';
  });

  document.addEventListener('click', event => {
    const copy = event.target.closest && event.target.closest('[data-cb-copy]');
    if (copy) {
      const text = copy.parentElement.querySelector('code').textContent;
      const done = () => { copy.textContent = 'Copied'; setTimeout(() => { copy.textContent = 'Copy'; }, 1500); };
      if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => select(copy)); else select(copy);
      return;
    }
    const sort = event.target.closest && event.target.closest('.cb-sort');
    if (sort) sortBy(sort.closest('th'));
  });

  // A proof link leads into a closed <details>: open it.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const box = target && target.closest('details');
    if (box && !box.open) { box.open = true; target.scrollIntoView({ block: 'center' }); }
  };
  addEventListener('hashchange', reveal);
  document.addEventListener('click', event => {
    const link = event.target.closest && event.target.closest('a.cb-proof[href^="#"]');
    const target = link && document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    target.closest('details').open = true;
    target.scrollIntoView({ block: 'center' });
  });

  function select(copy) {
    const range = document.createRange();
    range.selectNodeContents(copy.parentElement.querySelector('code'));
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }

  function sortBy(head) {
    const table = head.closest('table');
    const column = [...head.parentElement.children].indexOf(head);
    const down = head.getAttribute('aria-sort') === 'ascending';
    all('thead th', table).forEach(th => th.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const compare = new Intl.Collator('en', { numeric: true }).compare;
    const body = table.tBodies[0];
    const text = row => (row.children[column] ? row.children[column].textContent.trim() : '');
    [...body.rows].sort((a, b) => compare(text(a), text(b)) * (down ? -1 : 1)).forEach(row => body.append(row));
  }

  function makeSortable(root) {
    all('[data-cb-table] table', root).forEach(table => {
      if (table.dataset.cbSortable || table.tBodies[0].rows.length < 9) return;
      table.dataset.cbSortable = 'yes';
      all('thead th', table).forEach(th => {
        const button = document.createElement('button');
        button.type = 'button';
        button.className = 'cb-sort';
        button.append(...th.childNodes);
        th.append(button);
      });
    });
  }

  // Charts are made in light colours; what is drawn follows the scheme.
  const token = name => getComputedStyle(document.body).getPropertyValue(name).trim();
  function recolour(chart) {
    if (!window.Plotly || !chart.data || chart.dataset.cbScheme === token('--cb-page')) return;
    chart.dataset.cbScheme = token('--cb-page');
    const notes = (chart.layout.annotations || []).map(note => ({ ...note, font: { ...note.font, color: token('--cb-text') } }));
    window.Plotly.relayout(chart, { 'font.color': token('--cb-text'), annotations: notes });
    chart.data.forEach((trace, index) => {
      if (trace.meta === 'gone') window.Plotly.restyle(chart, { 'marker.line.color': token('--cb-edge'), 'marker.pattern.fgcolor': token('--cb-edge') }, [index]);
      if (trace.meta === 'left') {
        const light = ['#9E3D00', '#B34A00'];
        const colours = trace.marker.color.map(colour => token(light.includes(colour) ? '--cb-critical-bar' : '--cb-other'));
        window.Plotly.restyle(chart, { 'marker.color': [colours] }, [index]);
      }
    });
  }
  const refresh = () => { makeSortable(document); all('.js-plotly-plot').forEach(recolour); };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', refresh); else refresh();
  addEventListener('load', refresh);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
  let waiting = 0;
  new MutationObserver(() => { clearTimeout(waiting); waiting = setTimeout(refresh, 200); })
    .observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-jp-theme-light'] });

  addEventListener('beforeprint', () => {
    all('details').forEach(d => { if (!d.open && d.querySelectorAll('tbody tr').length <= 40) { d.open = true; d.dataset.cbPrint = 'opened'; } });
    if (window.Plotly) all('.js-plotly-plot').forEach(chart => window.Plotly.relayout(chart, { width: 640 }));
  });
  addEventListener('afterprint', () => {
    all('details[data-cb-print]').forEach(d => { d.open = false; delete d.dataset.cbPrint; });
    if (window.Plotly) all('.js-plotly-plot').forEach(chart => window.Plotly.relayout(chart, { width: null, autosize: true }));
  });
})();
