// JupyterLab alone: parameters as a form that writes itself into their cell, and other notebooks opened on the same source.
// It needs the application object, which the settings in lib/jupyter expose; elsewhere a person edits the cell.
(() => {
  if (window.casebookInLab) return;
  window.casebookInLab = true;
  const LINE = /^(?<head>(?<name>[A-Za-z_]\w*): (?<type>str|int|float|bool) = )(?<value>"(?:\\.|[^"\\])*"|[^\s#"]+)(?<help>\s*#.*)?$/;
  const GROUP = /^# (?<title>.+)$/;

  const panels = () => [...window.jupyterapp.shell.widgets('main')].filter(panel => panel.content?.model?.cells);
  const panelOf = element => window.jupyterapp && panels().find(panel => panel.node.contains(element));
  const cellOf = panel => [...panel.content.model.cells].find(cell => (cell.getMetadata('tags') || []).includes('parameters'));
  const textOf = (type, value) => type === 'str' ? JSON.parse(value) : value;

  function written(type, text) {
    if (type === 'str') return JSON.stringify(text);
    return /^(?:True|False|[+-]?\d+(?:\.\d+)?)$/.test(text) ? text : null;
  }

  function set(cell, name, text) {
    const lines = cell.sharedModel.getSource().split('\n').map(line => {
      const found = line.match(LINE)?.groups;
      const value = found?.name === name ? written(found.type, text) : null;
      return value === null ? line : `${found.head}${value}${found.help || ''}`;
    });
    cell.sharedModel.setSource(lines.join('\n'));
  }

  const element = (kind, words, more = {}) => Object.assign(document.createElement(kind), { textContent: words }, more);

  function rows(cell, changed) {
    const box = document.createElement('div');
    let group = box.appendChild(element('div', '', { className: 'cb-group' }));
    for (const line of cell.sharedModel.getSource().split('\n')) {
      const title = line.match(GROUP)?.groups.title, found = line.match(LINE)?.groups;
      if (title) {
        group = box.appendChild(element('details', '', { className: 'cb-group' }));
        group.append(element('summary', title));
      }
      if (!found) continue;
      const label = group.appendChild(element('label', ''));
      const input = found.type === 'bool' ? document.createElement('select') : element('input', '', { type: 'text' });
      if (found.type === 'bool') input.append(element('option', 'True'), element('option', 'False'));
      input.name = found.name;
      input.value = textOf(found.type, found.value);
      group.open ||= found.type === 'str' && input.value !== '';
      input.addEventListener('change', () => { set(cell, found.name, input.value); changed(found.name); });
      label.append(element('span', found.name), input, element('small', (found.help || '').replace(/^\s*#\s*/, '')));
    }
    return box;
  }

  function fill(place) {
    const panel = panelOf(place), cell = panel && cellOf(panel);
    if (!cell) return;
    place.dataset.cbFilled = '';
    const details = place.appendChild(element('details', '', { className: 'cb-parameters' }));
    const source = () => cell.sharedModel.getSource().match(/^source: str = (".*?")/m)?.[1] || '""';
    const summary = details.appendChild(element('summary', 'Parameters '));
    const shown = summary.appendChild(element('code', `source = ${source()}`));
    const said = element('span', '', { className: 'cb-quiet', ariaLive: 'polite' });
    const run = element('button', 'Run all cells', { type: 'button', className: 'cb-copy' });
    run.addEventListener('click', () => window.jupyterapp.commands.execute('notebook:run-all-cells'));
    details.addEventListener('toggle', () => {
      if (!details.open) return;
      details.replaceChildren(summary, rows(cell, name => {
        shown.textContent = `source = ${source()}`;
        said.textContent = ` ${name} stands in the cell above. It counts from the next run.`;
      }), run, said);
    });
  }

  async function open(link) {
    const panel = panelOf(link);
    const path = panel.context.path.replace(/[^/]*$/, `${link.dataset.cbNotebook}.ipynb`);
    const opened = await window.jupyterapp.commands.execute('docmanager:open', { path });
    await opened.context.ready;
    set(cellOf(opened), 'source', link.dataset.cbSource);
  }

  document.addEventListener('click', event => {
    const link = event.target.closest?.('a[data-cb-notebook]');
    if (!link || !panelOf(link)) return;
    event.preventDefault();
    event.stopPropagation();
    open(link);
  }, { capture: true });

  const refresh = () => [...document.querySelectorAll('[data-cb-parameters]:not([data-cb-filled])')].forEach(fill);
  let waiting = 0;
  new MutationObserver(() => { clearTimeout(waiting); waiting = setTimeout(refresh, 200); })
    .observe(document.documentElement, { childList: true, subtree: true });
  refresh();
})();
