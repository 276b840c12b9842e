// Search and sort of tables, copy buttons, proof links, chart colours by scheme, charts that fit the printed page.
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
    const said = word => { button.textContent = word; setTimeout(() => { button.textContent = 'Copy'; }, 1500); };
    const select = () => { getSelection().selectAllChildren(code); said('Selected'); };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => said('Copied'), select); else select();
  }

  // A link into a closed <details> opens it. JupyterLab's own handling of # links would not.
  function reveal(hash) {
    const target = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return false;
    const box = target.closest('details') || target.querySelector('details');
    if (box) box.open = true;
    target.scrollIntoView({ block: 'center' });
    return true;
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
    if (chart.dataset.cbScheme === scheme) return;
    chart.dataset.cbScheme = scheme;
    window.Plotly.relayout(chart, colours(chart.layout.meta));
    chart.data.forEach((trace, index) => window.Plotly.restyle(chart, colours(trace.meta), [index]));
  }

  const refresh = () => {
    if (!probe.isConnected) document.body.append(probe);
    makeSortable();
    all('.js-plotly-plot').forEach(recolour);
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
    all('details:not([open], .cb-cited)').filter(box => all('tbody tr', box).length <= 40).forEach(box => { box.open = true; box.dataset.cbPaper = 'yes'; });
    all('.js-plotly-plot').forEach(chart => { recolour(chart); window.Plotly.relayout(chart, { width: 640 }); });
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('cb-on-paper');
    all('details[data-cb-paper]').forEach(box => { box.open = false; delete box.dataset.cbPaper; });
    all('.js-plotly-plot').forEach(chart => { recolour(chart); window.Plotly.relayout(chart, { width: null, autosize: true }); });
  });
})();
